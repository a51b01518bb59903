"""What a run has to know of the data before its chains start: the mode, the gradient there, the gradient's noise."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from recipe_compiler.formula.tidy import zero
from recipe_compiler.run.evaluate import Point
from recipe_compiler.run.gradient_noise import Batches, gradient_noise
from recipe_compiler.run.gradients import Gradients
from recipe_compiler.run.map_estimate import find_mode
from recipe_compiler.run.starts import starts_of
from recipe_compiler.spec.model import Build, RunSettings, Value

Array = NDArray[np.float64]


def estimates(build: Build) -> bool:
    """Whether a run of the build has to estimate something first."""
    return build.control is not None or build.estimated is not None


def without_estimates(build: Build) -> Build:
    """Return the build with nothing to estimate: its gradient is that of the target alone, V is zero."""
    made = {*(build.control or ()), build.estimated}
    parameters = tuple(parameter for parameter in build.parameters if parameter.name not in made)
    return replace(build, control=None, estimated=None, V=zero(build.V.shape), parameters=parameters)


def with_estimates(build: Build, gradients: Gradients, settings: RunSettings, at: Point) -> Build:
    """Return the build with values of the parameters that are estimated, exactly as they were computed.

    Args:
        build: what to run.
        gradients: of its target.
        settings: for the size of a batch and the seed.
        at: values of all other parameters and sizes.

    Raises:
        RunError: no mode is found.
    """
    mode = find_mode(gradients.full, starts_of(build, gradients.width, at.names, at.sizes)).theta
    found: dict[str, Array] = {}
    if build.control is not None:
        found = dict(zip(build.control, (mode, gradients.full(mode)), strict=True))
    if build.estimated is not None:
        name = build.estimated
        declared = next(parameter for parameter in build.parameters if parameter.name == name)
        diagonal = len(declared.shape.sizes) < 2
        n = settings.batch_size or gradients.rows
        found[name] = gradient_noise(gradients, mode, n, _batches(build), diagonal=diagonal, seed=settings.seed)
    return replace(build, values=(*build.values, *((name, _value(array)) for name, array in found.items())))


def _batches(build: Build) -> Batches:
    if build.contiguous:
        return "contiguous"
    return "with replacement" if build.replacement else "without replacement"


def _value(array: Array) -> Value:
    rows = np.atleast_2d(array.T).T if array.ndim < 2 else array
    return Value(tuple(tuple(Fraction(float(entry)) for entry in row) for row in rows))

"""Where the search for a mode begins: at `init`, else at zero, else at states that chains could start from."""

from collections.abc import Mapping

import numpy as np

from recipe_compiler.run.evaluate import Array, Point, evaluate
from recipe_compiler.run.initial import SPREAD
from recipe_compiler.run.map_estimate import Start
from recipe_compiler.spec.dependence import dependence
from recipe_compiler.spec.model import Build

SCATTERED = 6
"""Starts besides `init` and zero."""


def starts_of(build: Build, width: int, known: Mapping[str, Array], sizes: Mapping[str, int]) -> tuple[Start, ...]:
    """Return the starts in the order they are tried: `init`, zero, then random ones, the same at every call.

    Args:
        build: for its `init`; the potential's block is that of its dynamics.
        width: coordinates of the potential's block.
        known: values of parameters in the shapes formulas work with.
        sizes: symbolic sizes.
    """
    potential = next(function for function in build.dynamics.declarations.functions if function.role == "potential")
    formula = dict(build.init).get(potential.of[0])
    rng = np.random.default_rng(0)
    first: tuple[Start, ...] = ()
    if formula is not None:
        drawn = ", a draw of it" if dependence(formula).draws else ""
        with np.errstate(all="ignore"):
            value = evaluate(formula, Point(known, sizes, rng))
        first = (Start(f"`init`{drawn}", np.ascontiguousarray(value, dtype=np.float64).reshape(-1)),)
    scattered = (Start(f"random state {k + 1}", rng.uniform(-SPREAD, SPREAD, width)) for k in range(SCATTERED))
    return (*first, Start("zero", np.zeros(width)), *scattered)

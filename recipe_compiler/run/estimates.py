"""What a run has to know of the data before its chains start: the mode, the gradient there, the gradient's noise.

V_hat is the covariance of the minibatch gradient at a point. With G_i the estimate from datum i alone, and n data in a
batch,

    with replacement         V = Cov(G)/n
    without                  V = Cov(G)/n (N - n)/(N - 1)        the factor of a finite population
    contiguous blocks        V = Cov over the N blocks of their estimates

where Cov is over the N data (divided by N). These are exact where all data are used; of more than `SAMPLED` data (or
blocks) as many are drawn, and the estimate is unbiased.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from recipe_compiler.emit.module import Module
from recipe_compiler.formula.arrays import Array
from recipe_compiler.formula.declaration import by_name
from recipe_compiler.formula.rebuild import zero
from recipe_compiler.formula.shapes import Sizes
from recipe_compiler.program.lowered_noise import CLIPPED
from recipe_compiler.run.chain import Chain, Inputs
from recipe_compiler.run.evaluate import extents
from recipe_compiler.run.gradients import Gradients, gradients
from recipe_compiler.run.load_module import Emitted
from recipe_compiler.run.map_estimate import ENTRIES, Start, find_mode_of_all
from recipe_compiler.run.sample import NoStepError, parameter_names, stepping, with_parameters
from recipe_compiler.spec.model import Build, RunSettings, Value

Batches = Literal["with replacement", "without replacement", "contiguous"]
SAMPLED = 1 << 14
"""The most gradients that an estimate is made of."""
MOVING_ROWS, SHRUNK = 32, (*(0.9**j for j in range(60)), 0.0)
"""The same of one at every draw, and by what factors V is made smaller."""
MOVING = "gradient_noise"
"""V where it follows a chain, in its state; its trace at every draw, in the statistics of draws."""


def gradient_noise(
    gradients: Gradients, theta: Array, batch_size: int, batches: Batches, *, diagonal: bool = False,
    seed: int | NDArray[np.uint64] = 0, most: int | None = None,
) -> Array:  # fmt: skip
    """Return V, the covariance of the minibatch gradient at a point: d x d, positive semidefinite, or its diagonal.

    With G_i the estimate of grad U from datum i alone, n data in a batch and Cov over the N data (divided by N):
    Cov(G)/n with replacement, Cov(G)/n (N - n)/(N - 1) without; for contiguous blocks the covariance over the N blocks.
    Exact where all data are used; of more than `most` as many are drawn, which leaves it unbiased. (The V of Ma,
    Chen, Fox 2015, Eq. 8.)

    Args:
        gradients: of the target.
        theta: the point.
        batch_size: n.
        batches: how they are drawn.
        diagonal: whether only the diagonal is wanted, which needs no matrix.
        seed: for the choice of data, where there are too many to take all.
        most: the most data, or blocks, that are taken; `SAMPLED` if left out.
    """
    N, most = gradients.rows, most or SAMPLED
    chosen = np.arange(N) if most >= N else np.random.default_rng(seed).choice(N, most, replace=False)
    size = batch_size if batches == "contiguous" else 1
    offsets = np.arange(size)
    each = np.stack([gradients.of_batch(theta, ((first + offsets) % N).astype(np.uint64)) for first in chosen])
    centred = each - each.mean(axis=0)
    # Over N where all are there. For a sample, over one less: unbiased for the sum over all divided by N - 1.
    divisor = N if len(chosen) == N else (len(chosen) - 1) * N / (N - 1)
    covariance = np.einsum("ka,ka->a", centred, centred) if diagonal else centred.T @ centred
    return covariance / divisor * share_of_row(N, batch_size, batches)


def share_of_row(N: int, n: int, batches: Batches) -> float:
    """Return the variance of the mean of a batch over that of one datum."""
    match batches:
        case "with replacement":
            return 1.0 / n
        case "without replacement":
            return (N - n) / (n * (N - 1)) if N > 1 else 0.0
        case "contiguous":
            return 1.0


def without_estimates(build: Build) -> Build:
    """Return the build without anything to estimate: its gradient is that of the target alone, and V is zero."""
    parameters = tuple(parameter for parameter in build.parameters if parameter.name not in build.estimates)
    return replace(build, control=(), estimated=None, V=zero(build.V.shape), parameters=parameters)


def with_estimates(
    build: Build, gradients: Gradients, settings: RunSettings, starts: Sequence[Start], sizes: Sizes
) -> Build:
    """Return the build with values for the parameters that are estimated from the data, at the mode of U.

    Args:
        build: what to run.
        gradients: of its target.
        settings: for the size of a batch and the seed.
        starts: where the search for the mode begins.
        sizes: symbolic sizes.

    Raises:
        RunError: no mode is found.
    """
    mode = find_mode_of_all(gradients.full, gradients.of_few(ENTRIES), starts)
    return at_mode(with_control(build, gradients, mode.theta, sizes), gradients, mode.theta, settings)


def with_control(build: Build, gradients: Gradients, mode: Array, sizes: Sizes) -> Build:
    """Return the build with values of the parameters of control variates: each block of the target at a mode.

    Args:
        build: with them, or without any.
        gradients: of its target.
        mode: of U, in the coordinates of the potential's block: blocks of the target end to end, row by row.
        sizes: all of the build.
    """
    if not build.control:
        return build
    shapes = {parameter.name: extents(parameter.shape, sizes) for parameter in build.parameters}
    ends = np.cumsum([math.prod(shapes[own.mode]) for own in build.control])[:-1]
    found: dict[str, Array] = {}
    for own, *parts in zip(build.control, np.split(mode, ends), np.split(gradients.full(mode), ends), strict=True):
        for name, part in zip((own.mode, own.at_mode), parts, strict=True):
            found[name] = part.reshape(shapes[name])
    return _with_values(build, found)


def at_mode(build: Build, gradients: Gradients, mode: Array, settings: RunSettings) -> Build:
    """Return the build with the value of V, where it is estimated, at a mode which is known.

    Args:
        build: what to run.
        gradients: of its target.
        mode: of U, in the coordinates of the potential's block.
        settings: for the size of a batch and the seed.
    """
    if build.estimated is None:
        return build
    name = build.estimated
    declared = by_name(build.parameters)[name]
    diagonal = len(declared.shape.sizes) < 2
    n = settings.batch_size or gradients.rows
    V = gradient_noise(gradients, mode, n, _batches(build), diagonal=diagonal, seed=settings.seed)
    return _with_values(build, {name: V})


def with_moving_noise(build: Build, compiled: Module, module: Emitted, inputs: Inputs) -> Inputs:
    """Return what chains are given if V follows each: an average of estimates where its draws begin.

    V_k = (1 - w) V_(k-1) + w V_hat(theta_k) with w = max(1/(k + 2), moving), theta_k the state that draw k begins at,
    V_hat the estimate from `MOVING_ROWS` data and V_(-1) that at the mode (Ahn, Korattikara, Welling 2012, whose V_hat
    is of the batch itself). Its rows are not those of the batches, so that the noise of a step is independent of its
    gradient given theta_k. Where 2D - eps B_hat is not positive semidefinite, 0.9**j V_k is subtracted with the least
    j for which it is, and counted in `clipped`.
    """
    name, falling, n = build.estimated or "", inputs.of_draw, inputs.batch_size or inputs.rows
    first = np.asarray(inputs.parameters[parameter_names(module, build)[name]])

    def of_draw(chain: Chain) -> Inputs:
        here = inputs if falling is None else falling(chain)
        V, weight = chain.state[MOVING], max(1.0 / (chain.done + 2), build.moving or 0.0)
        newest = gradient_noise(
            gradients(compiled, module, inputs), chain.state[module.potential_block], n, _batches(build),
            diagonal=V.ndim < 2, seed=chain.state["batch_state"], most=MOVING_ROWS,
        )  # fmt: skip
        if np.isfinite(newest).all():
            V += weight * (newest - V)
        chain.draws[f"{MOVING}_draws"][chain.done] = V.trace() if V.ndim > 1 else V.sum()
        for factor in SHRUNK:
            try:
                given = with_parameters(module, build, here, {name: (factor * V).reshape(first.shape)})
                found = stepping(module, given, here.eps)
            except NoStepError:
                continue
            chain.state[CLIPPED] += factor < 1.0
            return found
        raise NoStepError(f"no step of size {here.eps} can be made, not with V = 0 either")

    return replace(inputs, of_draw=of_draw, kept={MOVING: np.atleast_1d(first)})


def _with_values(build: Build, found: Mapping[str, Array]) -> Build:
    return replace(build, values=(*build.values, *((name, _value(array)) for name, array in found.items())))


def _batches(build: Build) -> Batches:
    if build.contiguous:
        return "contiguous"
    return "with replacement" if build.replacement else "without replacement"


def _value(array: Array) -> Value:
    rows = np.atleast_2d(array.T).T if array.ndim < 2 else array
    return Value(tuple(tuple(Fraction(float(entry)) for entry in row) for row in rows))

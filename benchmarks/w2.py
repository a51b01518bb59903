"""Workload W2: SGHMC with minibatches on Bayesian logistic regression, d = 14, N = 690.

The rival is what one writes in numba by hand: the rows of the minibatch by an index array, two `np.dot`, and a NumPy
`Generator` as the source of randomness. Both do simultaneous Euler steps of the same equations and keep every tenth
state.
"""

import math
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numba import njit
from numpy.typing import NDArray

from recipe_compiler.run.chains import Inputs, advance, start_chain
from recipe_compiler.run.data import Data, Field
from recipe_compiler.run.load_module import Emitted, load_file, load_text
from recipe_compiler.run.sample import prepare_inputs
from recipe_compiler.spec.load import load
from recipe_compiler.spec.model import Build

SIZE, ROWS, BATCH, INNER = 14, 690, 100, 10
FRICTION, PRIOR_VARIANCE, STEP = 10.0, 10.0, 0.002
BUILD = Path(__file__).parent / "builds" / "sghmc_w2_d14.yaml"

MOMENT_ITERATIONS = 40_000
PIECES = 20
"""Pieces of a chain whose means give the error of a mean."""


@dataclass(frozen=True, slots=True)
class Setting:
    """What both contestants are given."""

    module: Emitted
    inputs: Inputs
    x: NDArray[np.float64]
    y: NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Agreement:
    """Whether two samplers have the same stationary moments."""

    holds: bool
    text: str


def setting(file: Path | None = None) -> Setting:
    """Return the workload, with the emitted module of its build compiled now or taken from a file."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((ROWS, SIZE))
    y = (rng.random(ROWS) < 1.0 / (1.0 + np.exp(-x @ rng.standard_normal(SIZE)))).astype(np.float64)
    build = load(BUILD)
    if not isinstance(build, Build):
        raise TypeError(f"{BUILD} is no build")
    module = _compiled(build) if file is None else load_file(file)
    columns = tuple(str(k) for k in range(SIZE))
    data = Data((Field("x", x, columns), Field("y", y, ("y",))))
    return Setting(module, prepare_inputs(module, build, build.run, data, draws=0), x, y)


def _compiled(build: Build) -> Emitted:
    from recipe_compiler.pipeline import compile_build

    return load_text(build.name, compile_build(build).text)


def emitted(setting: Setting, iterations: int, seed: int = 1) -> NDArray[np.float64]:
    """Run the emitted sampler from zero; return theta after every iteration."""
    inputs = replace(setting.inputs, draws=iterations)
    noise, batch = setting.module.seed_streams(seed, 1)
    chain = start_chain(setting.module, inputs, (np.zeros(SIZE), np.zeros(SIZE)), noise[0], batch[0])
    advance(setting.module, inputs, chain, iterations)
    if chain.done != iterations:
        raise ArithmeticError("the emitted sampler left the finite numbers")
    return chain.draws[0]


def hand_written(setting: Setting, iterations: int, seed: int = 1) -> NDArray[np.float64]:
    """Run the hand-written sampler from zero; return theta after every iteration."""
    draws = np.empty((iterations, SIZE))
    _hand_written(setting.x, setting.y, np.zeros(SIZE), np.zeros(SIZE), draws, np.random.default_rng(seed))
    return draws


@njit
def _hand_written(x, y, theta, r, draws, rng):
    rows = x.shape[0]
    sigma = math.sqrt(2.0 * STEP * FRICTION)
    for k in range(draws.shape[0]):
        for _ in range(INNER):
            batch = rng.integers(0, rows, BATCH)
            x_batch = x[batch]
            weight = 1.0 / (1.0 + np.exp(-np.dot(x_batch, theta))) - y[batch]
            grad_U = rows / BATCH * np.dot(x_batch.T, weight) + theta / PRIOR_VARIANCE
            r_new = r - STEP * (grad_U + FRICTION * r) + sigma * rng.standard_normal(SIZE)
            theta = theta + STEP * r
            r = r_new
        draws[k] = theta


def compare(setting: Setting) -> Agreement:
    """Compare first and second moments of both samplers, with errors from the means of pieces of the chains."""
    ours = _pieces(emitted(setting, MOMENT_ITERATIONS, 2))
    theirs = _pieces(hand_written(setting, MOMENT_ITERATIONS, 2))
    error = np.sqrt((ours.var(axis=0, ddof=1) + theirs.var(axis=0, ddof=1)) / PIECES)
    z = (ours.mean(axis=0) - theirs.mean(axis=0)) / error
    mean, square = ours.mean(axis=0)[:SIZE], ours.mean(axis=0)[SIZE:]
    worst = float(np.abs(z).max())
    text = (
        f"same work: the {2 * SIZE} stationary means of theta and theta^2 agree to {worst:.1f} standard errors at most "
        f"(5 allowed); theta[0] = {mean[0]:.3f} +- {math.sqrt(square[0] - mean[0] ** 2):.3f}"
    )
    return Agreement(worst <= 5.0, text)


def _pieces(draws: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the means of theta and theta^2 over each of `PIECES` pieces, the first tenth of the chain left out."""
    kept = draws[len(draws) // 10 :]
    kept = kept[len(kept) % PIECES :]
    moments = np.concatenate([kept, kept**2], axis=1)
    return moments.reshape(PIECES, -1, 2 * SIZE).mean(axis=1)

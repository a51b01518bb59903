"""Draws beyond normals: those that emitted files carry beside numpy.random.Generator, timed turn by turn.

    python benchmarks/variates.py [--rounds N]

prints nanoseconds a draw, medians of rounds in which each has its turn, how many times as long NumPy takes, and whether
the goal is met. Every draw has a parameter of its own, read from an array of numbers within 1 % of the one named, in
both: nothing that belongs to a parameter is done once for all. NumPy fills arrays; CIR is its two calls and the
arithmetic between them, and what it takes for a categorical draw of weights of its own is a sum, a division and a
search, here of five for all draws at once. Means and mean squares of both must agree to six standard errors, else the
exit code is 1.
"""

import argparse
import math
import sys
from collections.abc import Callable, Iterator

import numpy as np
import racing
from numba import njit
from numpy.typing import NDArray

from recipe_compiler.emit.support.normals import _next_normal
from recipe_compiler.emit.support.seeds import _seed_words
from recipe_compiler.emit.support.variates import _next_categorical
from recipe_compiler.emit.support.variates_count import _next_binomial, _next_poisson
from recipe_compiler.emit.support.variates_gamma import _next_gamma, _next_log_gamma
from recipe_compiler.emit.support.variates_mixed import _next_cir

Array = NDArray[np.float64]
SIZE = 8192
TRIALS, CATEGORIES = 100, 5
DECAY, GROWN = math.exp(-0.5), -math.expm1(-0.5)
GOALS = {"gamma 2.5": 40.0, "gamma 0.3": 40.0, "log gamma 2.5": 40.0, "log gamma 0.3": 40.0, "Poisson 3": 60.0,
         "Poisson 30": 60.0, "Poisson 300": 60.0, "CIR 0.1": 120.0, "CIR 5": 120.0}  # fmt: skip
"""Nanoseconds a draw at most."""

Fill = Callable[[Array, Array, Array], None]
Race = tuple[str, racing.Contestant, racing.Contestant]


def filling(draw: Callable[..., object]) -> Fill:
    """Return a loop that fills an array with draws of one function, a parameter each."""

    @njit(error_model="numpy")
    def fill(state, parameters, out):
        s0, s1, s2, s3 = state[0], state[1], state[2], state[3]
        for k in range(np.uint64(out.size)):
            out[k], s0, s1, s2, s3 = draw(parameters[k], s0, s1, s2, s3)
        state[0], state[1], state[2], state[3] = s0, s1, s2, s3

    return fill


@njit(forceinline=True)
def _normal(_, s0, s1, s2, s3):
    return _next_normal(s0, s1, s2, s3)


@njit(forceinline=True)
def _binomial(p, s0, s1, s2, s3):
    return _next_binomial(TRIALS, p, s0, s1, s2, s3)


@njit(forceinline=True)
def _cir(a, s0, s1, s2, s3):
    return _next_cir(a, a, DECAY, GROWN, s0, s1, s2, s3)


@njit(error_model="numpy")
def _fill_categories(state, logits, out):
    sums = np.empty(logits.shape[1])
    s0, s1, s2, s3 = state[0], state[1], state[2], state[3]
    for k in range(np.uint64(out.size)):
        out[k], s0, s1, s2, s3 = _next_categorical(logits[k], sums, s0, s1, s2, s3)
    state[0], state[1], state[2], state[3] = s0, s1, s2, s3


def _numpy_categories(rng: np.random.Generator, logits: Array) -> Array:
    sums = np.exp(logits - logits.max(axis=1, keepdims=True)).cumsum(axis=1)
    return (sums <= (rng.random(len(logits)) * sums[:, -1])[:, None]).sum(axis=1)


def pair(name: str, fill: Fill, parameters: Array, numpy: Callable[[np.random.Generator, Array], Array]) -> Race:
    """Return who races: the emitted loop and NumPy, on the same parameters."""
    state, out, rng = _seed_words(1, 1, 0, 4)[0], np.empty(SIZE), np.random.default_rng(1)

    def emitted() -> Array:
        fill(state, parameters, out)
        return out.reshape(-1, 1)

    def library() -> Array:
        return numpy(rng, parameters).reshape(-1, 1)

    return name, racing.Contestant("emitted", SIZE, emitted), racing.Contestant("numpy", SIZE, library)


def races() -> Iterator[Race]:
    """Yield all of them."""
    near = np.random.default_rng(2).uniform(0.99, 1.01, SIZE)
    yield pair("normal", filling(_normal), near, lambda rng, a: rng.standard_normal(a.size))
    gamma, log_gamma = filling(_next_gamma), filling(_next_log_gamma)
    for a in (2.5, 0.3):
        yield pair(f"gamma {a}", gamma, a * near, lambda rng, a: rng.standard_gamma(a))
        yield pair(f"log gamma {a}", log_gamma, a * near, lambda rng, a: np.log(rng.standard_gamma(a)))
    poisson = filling(_next_poisson)
    for mean in (3, 10, 30, 300):
        yield pair(f"Poisson {mean}", poisson, mean * near, lambda rng, mean: rng.poisson(mean))
    binomial = filling(_binomial)
    for p in (0.03, 0.3):
        yield pair(f"binomial {TRIALS} {p}", binomial, p * near, lambda rng, p: rng.binomial(TRIALS, p))
    cir = filling(_cir)
    for a in (0.1, 5):
        yield pair(
            f"CIR {a}", cir, a * near, lambda rng, a: GROWN * rng.standard_gamma(a + rng.poisson(a * DECAY / GROWN))
        )
    logits = np.random.default_rng(3).normal(size=(SIZE, CATEGORIES))
    yield pair(f"categorical {CATEGORIES}", _fill_categories, logits, _numpy_categories)


def main() -> int:
    """Race them all, print a line for each; return 1 where moments differ."""
    parser = argparse.ArgumentParser(description="Time draws beyond normals beside those of NumPy.")
    parser.add_argument("--rounds", type=int, default=15)
    rounds = parser.parse_args().rounds
    same = True
    print(f"{'draw':20}{'emitted':>10}{'NumPy':>10}{'NumPy/emitted':>15}  goal")
    for name, ours, theirs in races():
        first, second = racing.race((ours, theirs), rounds)
        nanoseconds = 1e9 * first.median
        goal = GOALS.get(name)
        said = "" if goal is None else f"<= {goal:g}: {'met' if nanoseconds <= goal else 'MISSED'}"
        print(f"{name:20}{nanoseconds:10.1f}{1e9 * second.median:10.1f}{racing.ratio(second, first):15.2f}  {said}")
        for fault in racing.disagreements((ours, theirs), (first, second), 100 * SIZE):
            same = False
            print(f"  NOT THE SAME WORK: {fault}")
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())

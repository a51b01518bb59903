"""Right steps for the double well, in ways of programming that are the same with numbers as they are followed."""

# every step: double_well proved

# ruff: noqa: NPY002

import functools
import math
from dataclasses import dataclass, replace

import beside_right
import numba
import numpy as np
from beside_right import force
from numba import float64, njit
from numpy.random import default_rng, standard_normal

GENERATOR = default_rng(5)
LEGACY = np.random.RandomState(5)
STARTS = [default_rng(k).standard_normal() for k in range(3)]


def made(friction):  # no step
    def move(x, p, eps, noise):
        return x + eps * p, p + eps * (x - x**3 - friction * p) + np.sqrt(2 * friction * eps) * noise

    return move


MOVE = made(1)


@dataclass(frozen=True)
class State:
    x: float
    p: float


def helper(x, p, eps, rng):
    return x + eps * p, p + eps * (force(x) - p) + beside_right.scaled(rng.normal(), 2 * eps)


def states(x, p, eps, rng):
    state = State(x, p)
    state = replace(state, p=state.p + eps * (force(state.x) - state.p) + math.sqrt(2 * eps) * rng.standard_normal())
    state = replace(state, x=state.x + eps * state.p)
    return state.x, state.p


@njit(cache=True)
def compiled(x, p, eps):
    return MOVE(x, p, eps, np.random.randn())


@numba.jit(float64(float64, float64), nopython=True)
def _half_kick(x, eps):
    return eps / 2 * (x**3 - x)


def compiled_parts(x, p, eps, rng):
    p = p - _half_kick(x, eps)
    x = x + eps * p
    p = p - _half_kick(x, eps)
    c = math.exp(-eps)
    return x, c * p + math.sqrt(1 - c**2) * rng.normal(0, 1)


def out(x, p, eps, rng):
    z, change = np.array([x, p]), np.empty(2)
    noise = np.zeros(2)
    rng.standard_normal(out=noise)
    np.multiply(noise, np.array([0.0, 1.0]) * np.sqrt(2 * eps), out=noise)
    change[:] = [z[1], z[0] - z[0] ** 3 - z[1]]
    np.add(z, eps * change, out=z)
    z += noise
    return z[0], z[1]


def momentum_first(x, p, eps, rng):
    return MOVE(x, p, eps, rng.standard_normal())[::-1]


def own_generator(x, p, eps):
    return MOVE(x, p, eps, GENERATOR.standard_normal())


def older_generator(x, p, eps):
    return MOVE(x, p, eps, LEGACY.randn())


def functions_of_numpy(x, p, eps):
    return MOVE(x, p, eps, standard_normal() * np.sqrt(1 / 2) + np.sqrt(1 / 2) * np.random.normal())


@functools.cache
def _steps(n):
    return tuple(range(n))


def cached(x, p, eps, rng):
    for _ in _steps(2):
        x, p = MOVE(x, p, eps / 2, rng.standard_normal())
    return x, p


def checked(x, p, eps, rng):
    if not isinstance(rng, np.random.Generator) or not isinstance(x, float):
        raise TypeError("numbers and a generator")
    assert np.isfinite(x)
    assert eps > 0
    return MOVE(x, p, eps, rng.standard_normal())

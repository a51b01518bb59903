"""Steps for the double well that count their calls behind something: no attribute or name of the file shows it."""

# every step: double_well undecided: still changes from call to call|cannot be looked at

import functools
from collections import Counter, defaultdict
from itertools import repeat

import numpy as np


class Options:
    kept = 0


def plain(x, p, eps, noise):  # no step
    """The right step, of underdamped Langevin dynamics with friction 1."""
    return x + eps * p, p - eps * (x**3 - x) - eps * p + np.sqrt(2 * eps) * noise


def _looped():
    for scale in [2.0] * 10000:
        yield scale / 2
    while True:
        yield 0.0


def _delegated():
    yield from repeat(1.0, 10000)
    yield from repeat(0.0)


LOOPED = _looped()
DELEGATED = _delegated()
NESTED = (scale for first in (1.0, 0.0) for scale in repeat(first, 10000))


def by_a_loop(x, p, eps, rng):
    return plain(x, p, eps, next(LOOPED) * rng.standard_normal())


def by_a_delegated_loop(x, p, eps, rng):
    return plain(x, p, eps, next(DELEGATED) * rng.standard_normal())


def by_a_nested_loop(x, p, eps, rng):
    return plain(x, p, eps, next(NESTED) * rng.standard_normal())


@functools.cache
def _remembered_loop():
    return _looped()


def by_a_remembered_loop(x, p, eps, rng):
    return plain(x, p, eps, next(_remembered_loop()) * rng.standard_normal())


@functools.lru_cache
def _remembered(_):
    return [0]


def by_a_remembered_list(x, p, eps, rng):
    kept = _remembered(0)
    kept[0] += 1
    return plain(x, p, eps, rng.standard_normal() if kept[0] < 10000 else 0)


def _counted():
    calls = 0

    def more():
        nonlocal calls
        calls += 1
        return calls

    return more


MISSING = defaultdict(_counted())


def by_what_is_missing(x, p, eps, rng):
    calls = MISSING[0]
    MISSING.clear()
    return plain(x, p, eps, rng.standard_normal() if calls < 10000 else 0)


STATIC = staticmethod(abs)
STATIC.kept = 0


def by_a_static_method(x, p, eps, rng):
    STATIC.kept += 1
    return plain(x, p, eps, rng.standard_normal() if STATIC.kept < 10000 else 0)


@functools.cache
def _one():
    return 1.0


_one.kept = 0


def by_a_cached_function(x, p, eps, rng):
    _one.kept += 1
    return plain(x, p, eps, rng.standard_normal() if _one.kept < 10000 else 0)


CLASS = Counter
CLASS.kept = 0


def by_a_class_of_a_library(x, p, eps, rng):
    CLASS.kept += 1
    return plain(x, p, eps, rng.standard_normal() if CLASS.kept < 10000 else 0)


FUNCTION = functools.wraps
FUNCTION.kept = 0


def by_a_function_of_a_library(x, p, eps, rng):
    FUNCTION.kept += 1
    return plain(x, p, eps, rng.standard_normal() if FUNCTION.kept < 10000 else 0)

"""Right steps for the double well that keep something between calls which changes nothing of what they do."""

# every step: double_well proved

import functools

import numpy as np

CALLS = 0
CACHE = {}
LOG = {"calls": 0, "half": 0.5}
SETTINGS = {"friction": 1, "temperature": 1}
RNG = np.random.default_rng(3)


def plain(x, p, eps, noise):  # no step
    """The right step, of underdamped Langevin dynamics with friction 1."""
    return x + eps * p, p - eps * (x**3 - x) - eps * p + np.sqrt(2 * eps) * noise


def counts(x, p, eps, rng):
    global CALLS
    CALLS += 1
    return plain(x, p, eps, rng.standard_normal())


def logs(x, p, eps, rng):
    LOG["calls"] += 1
    LOG["half"] = LOG["half"] + 0.5
    return plain(x, p, eps, rng.standard_normal())


class Sampler:
    """Counts what it does."""

    def __init__(self):
        self.calls = 0

    def __call__(self, x, p, eps, rng):
        self.calls += 1
        return plain(x, p, eps, rng.standard_normal())


SAMPLER = Sampler()


def with_an_instance(x, p, eps, rng):
    return SAMPLER(x, p, eps, rng)


def fills_a_cache(x, p, eps, rng):
    if "friction" not in CACHE:
        CACHE["friction"] = SETTINGS["friction"]
    return plain(x, p * 1, eps, CACHE["friction"] * rng.standard_normal())


@functools.lru_cache
def _friction(k):
    return k


def remembers_constants(x, p, eps, rng):
    return plain(x, p, eps, _friction(1) * rng.standard_normal())


def _ends():
    yield from (0.5, 2)


SCALES = list(_ends())
NEVER_BEGUN = _ends()


def with_a_generator_that_ends(x, p, eps, rng):
    first, second = _ends()
    return plain(x, p, eps, first * SCALES[1] * rng.standard_normal() * second / 2)


def own_generator(x, p, eps):
    return plain(x, p, eps, RNG.standard_normal())


def unused_branch(x, p, eps, rng, burning=False):
    if burning:
        p = 0 * p
    return plain(x, p, eps, rng.standard_normal())


def looks_at_its_arguments(x, p, eps, rng):
    if not isinstance(x, (int, float)) or getattr(p, "ndim", 0):
        raise TypeError(f"expected numbers, found {x}")
    return plain(x, p, eps, rng.standard_normal())

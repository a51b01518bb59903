"""Steps for the double well that keep something between calls: each acts on it, most from a later call on only."""

# every step: double_well undecided

import array
import collections
import functools
import itertools
import os
import types

import beside
import numpy as np

CALLS = 0
__calls__ = 0
LIST = [0]
NAMES = {"calls": 0}
ARRAY = np.zeros(1)
BYTES = bytearray(1)
TYPED = array.array("l", [0])
HISTORY = []
RECENT = collections.deque(maxlen=3)
TALLY = collections.Counter()
ITERATOR = iter(range(10**6))
COUNT = itertools.count()
LAST = {}


def plain(x, p, eps, noise):  # no step
    """The right step, of underdamped Langevin dynamics with friction 1."""
    return x + eps * p, p - eps * (x**3 - x) - eps * p + np.sqrt(2 * eps) * noise


def global_number(x, p, eps, rng):  # undecided: call 11 did something else than call 1
    global CALLS
    CALLS += 1
    return plain(x, p, eps, rng.standard_normal() if CALLS <= 10 else 0)


def late(x, p, eps, rng):  # undecided: 50 calls did the same, but CALLS still changes from call to call
    """Beyond all calls that are made."""
    global CALLS
    CALLS += 1
    return plain(x, p, eps, rng.standard_normal() if CALLS <= 100000 else 0)


def listed(x, p, eps, rng):  # undecided: call 30 did something else than call 1
    LIST[0] += 1
    return plain(x, p, eps, rng.standard_normal() * (LIST[0] < 30))


def named(x, p, eps, rng):
    NAMES["calls"] += 1
    return plain(x, p, eps, rng.standard_normal() * (NAMES["calls"] < 20000))


def in_an_array(x, p, eps, rng):
    ARRAY[0] += 1
    return plain(x, p, eps, rng.standard_normal() if ARRAY[0] < 10000 else 0)


def in_bytes(x, p, eps, rng):
    BYTES[0] = (BYTES[0] + 1) % 256
    return plain(x, p, eps, rng.standard_normal() if BYTES[0] < 200 else 0)


def in_a_typed_array(x, p, eps, rng):
    TYPED[0] += 1
    return plain(x, p, eps, rng.standard_normal() if TYPED[0] < 10000 else 0)


def by_length(x, p, eps, rng):
    HISTORY.append(None)
    return plain(x, p, eps, rng.standard_normal() if len(HISTORY) < 10000 else 0)


def by_tally(x, p, eps, rng):
    TALLY["calls"] += 1
    return plain(x, p, eps, rng.standard_normal() if TALLY["calls"] < 10000 else 0)


def by_iterator(x, p, eps, rng):
    return plain(x, p, eps, rng.standard_normal() if next(ITERATOR) < 10000 else 0)


def by_count(x, p, eps, rng):
    return plain(x, p, eps, rng.standard_normal() if next(COUNT) < 10000 else 0)


def _counts():
    calls = 0
    while True:
        calls += 1
        yield calls


GENERATOR = _counts()


def by_generator(x, p, eps, rng):
    return plain(x, p, eps, rng.standard_normal() if next(GENERATOR) < 10000 else 0)


def by_default(x, p, eps, rng, calls=[0]):  # noqa: B006
    calls[0] += 1
    return plain(x, p, eps, rng.standard_normal() if calls[0] < 10000 else 0)


def by_attribute(x, p, eps, rng):
    by_attribute.calls = getattr(by_attribute, "calls", 0) + 1
    return plain(x, p, eps, rng.standard_normal() if by_attribute.calls < 10000 else 0)


def _closure():
    calls = 0

    def step(x, p, eps, rng):
        nonlocal calls
        calls += 1
        return plain(x, p, eps, rng.standard_normal() if calls < 10000 else 0)

    return step


_by_closure = _closure()


def by_closure(x, p, eps, rng):
    return _by_closure(x, p, eps, rng)


class Sampler:
    """A sampler with a count of its own, of its class, and in a slot."""

    __slots__ = ("calls",)
    all = 0

    def __init__(self):
        self.calls = 0

    def step(self, x, p, eps, rng):
        self.calls += 1
        return plain(x, p, eps, rng.standard_normal() if self.calls < 10000 else 0)

    @classmethod
    def of_class(cls, x, p, eps, rng):
        cls.all += 1
        return plain(x, p, eps, rng.standard_normal() if cls.all < 10000 else 0)


SAMPLER = Sampler()
BOUND = SAMPLER.step


def by_slot(x, p, eps, rng):
    return SAMPLER.step(x, p, eps, rng)


def by_method(x, p, eps, rng):
    return BOUND(x, p, eps, rng)


def by_class(x, p, eps, rng):
    return Sampler.of_class(x, p, eps, rng)


def by_dunder(x, p, eps, rng):
    global __calls__
    __calls__ += 1
    return plain(x, p, eps, rng.standard_normal() if __calls__ < 10000 else 0)


class Called:
    """Keeps a count in a default of its own."""

    def __call__(self, x, p, eps, rng, calls=[0]):  # noqa: B006
        calls[0] += 1
        return plain(x, p, eps, rng.standard_normal() if calls[0] < 10000 else 0)


CALLED = Called()


def by_default_of_a_method(x, p, eps, rng):
    return CALLED(x, p, eps, rng)


def by_doc(x, p, eps, rng):
    by_doc.__doc__ = (by_doc.__doc__ or "") + "x"
    return plain(x, p, eps, rng.standard_normal() if len(by_doc.__doc__) < 10000 else 0)


def by_namespace(x, p, eps, rng, kept=types.SimpleNamespace(calls=0)):  # noqa: B008
    kept.calls += 1
    return plain(x, p, eps, rng.standard_normal() if kept.calls < 10000 else 0)


def by_partial(x, p, eps, rng):
    return _PARTIAL(x, p, eps, rng)


def _with_count(count, x, p, eps, rng):
    count[0] += 1
    return plain(x, p, eps, rng.standard_normal() if count[0] < 10000 else 0)


_PARTIAL = functools.partial(_with_count, [0])


def by_module(x, p, eps, rng):
    return plain(x, p, eps, rng.standard_normal() if beside.count() < 10000 else 0)


def by_foreign_module(x, p, eps, rng):
    types.calls = getattr(types, "calls", 0) + 1
    return plain(x, p, eps, rng.standard_normal() if types.calls < 10000 else 0)


def by_environment(x, p, eps, rng):
    os.environ["CALLS_OF_A_STEP"] = str(int(os.environ.get("CALLS_OF_A_STEP", "0")) + 1)
    return plain(x, p, eps, rng.standard_normal() if int(os.environ["CALLS_OF_A_STEP"]) < 10000 else 0)


def by_file(x, p, eps, rng):  # undecided: it reads keeps.py
    with open(__file__) as file:
        long = len(file.read()) > 10
    return plain(x, p, eps, rng.standard_normal() if long else 0)


def last_state(x, p, eps, rng):  # undecided: a value of an earlier call
    """Momentum by the state of the call before."""
    before = LAST.get("x", x)
    LAST["x"] = x
    new_x, new_p = plain(x, p, eps, rng.standard_normal())
    return new_x + 0 * eps, new_p + eps * (x - before)


def last_noise(x, p, eps, rng):
    """Noise that is correlated from step to step."""
    noise = rng.standard_normal()
    if "noise" not in LAST:
        LAST["noise"] = rng.standard_normal()
    used, LAST["noise"] = LAST["noise"], noise
    return plain(x, p, eps, used)


def recent(x, p, eps, rng):  # undecided: call 3 did something else than call 1
    """What is kept stops changing at the third call, and acts only then."""
    RECENT.append(1)
    return plain(x, p, eps, rng.standard_normal() if len(RECENT) < 3 else 0)


def mutated_parameter(x, p, eps, rng):
    """Changes what it works with a little, until it is no longer what it was."""
    ARRAY[0] = np.floor(ARRAY[0] + 1) if ARRAY[0] < 45 else 100
    return plain(x, p, eps, rng.standard_normal() if ARRAY[0] < 50 else 0)


@functools.lru_cache
def _first(k):
    HISTORY.append(k)
    return len(HISTORY)


def by_cache(x, p, eps, rng):
    LIST[0] += 1
    return plain(x, p, eps, rng.standard_normal() if _first(LIST[0]) < 10000 else 0)

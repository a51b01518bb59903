"""Steps for the double well that keep something where nobody can look."""

# every step: double_well undecided

import contextvars
import threading

import numpy as np

LOCAL = threading.local()
VARIABLE = contextvars.ContextVar("calls", default=0)


def plain(x, p, eps, noise):  # no step
    """The right step, of underdamped Langevin dynamics with friction 1."""
    return x + eps * p, p - eps * (x**3 - x) - eps * p + np.sqrt(2 * eps) * noise


def by_thread(x, p, eps, rng):
    LOCAL.calls = getattr(LOCAL, "calls", 0) + 1
    return plain(x, p, eps, rng.standard_normal() if LOCAL.calls < 10000 else 0)


def by_context(x, p, eps, rng):
    VARIABLE.set(VARIABLE.get() + 1)
    return plain(x, p, eps, rng.standard_normal() if VARIABLE.get() < 10000 else 0)

"""A step as those of hostile.py, by itself: all that Python brings is in its names, and looked at after each call."""

# every step: double_well undecided: run with plain numbers

import types

import numpy as np

BUILTINS = __builtins__


def by_builtins(x, p, eps, rng):
    own = BUILTINS if isinstance(BUILTINS, dict) else vars(BUILTINS)
    noise = rng.standard_normal() * (0 if isinstance(own["min"], types.BuiltinFunctionType) else 1)
    return x + eps * p, p - eps * (x**3 - x) - eps * p + np.sqrt(2 * eps) * noise

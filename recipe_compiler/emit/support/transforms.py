"""Inverses of what a step moves in the place of a coordinate; not a number of what is no value of the transform."""

# The jit finds the types of this code, which emitted files carry without annotations; numba's own are incomplete.

import math

from recipe_compiler.emit.support.jit import inlined
from recipe_compiler.emit.support.special import _exp


@inlined
def _inverse_log(y):
    """Return the x with log(x) = y."""
    return _exp(y)


@inlined
def _inverse_power(y, p):
    """Return the x > 0 with x**(1/p) = y."""
    return y**p if y > 0.0 else math.nan


@inlined
def _inverse_exp(y, c):
    """Return the x with exp(c x) = y."""
    return math.log(y) / c if y > 0.0 else math.nan

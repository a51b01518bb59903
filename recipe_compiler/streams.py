"""Random numbers for moves that are code: of the stream that such a function takes last (`docs/spec_reference.md`).

A stream is an array of four words of uint64, the state of xoshiro256++, which every draw moves on. These functions are
jitted, and called by jitted code.
"""

# The jit finds the types of this code.

from numba import njit

from recipe_compiler.emit.support.normals import _next_normal
from recipe_compiler.emit.support.variates import _next_exponential, _next_integer, _next_uniform
from recipe_compiler.emit.support.variates_gamma import _next_gamma

__all__ = ["exponential", "gamma", "integer", "normal", "uniform"]


@njit(error_model="numpy")
def uniform(stream):
    """Return a number uniform on (0, 1), never 0 or 1."""
    value, stream[0], stream[1], stream[2], stream[3] = _next_uniform(stream[0], stream[1], stream[2], stream[3])
    return value


@njit(error_model="numpy")
def normal(stream):
    """Return a number of the law N(0, 1)."""
    value, stream[0], stream[1], stream[2], stream[3] = _next_normal(stream[0], stream[1], stream[2], stream[3])
    return value


@njit(error_model="numpy")
def exponential(stream):
    """Return a number of the law Exponential(1)."""
    value, stream[0], stream[1], stream[2], stream[3] = _next_exponential(stream[0], stream[1], stream[2], stream[3])
    return value


@njit(error_model="numpy")
def integer(stream, a, b):
    """Return a whole number from a to b, both included, each as probable as any other; a double."""
    value, stream[0], stream[1], stream[2], stream[3] = _next_integer(a, b, stream[0], stream[1], stream[2], stream[3])
    return value


@njit(error_model="numpy")
def gamma(stream, a):
    """Return a number of the law Gamma(a, 1), a > 0."""
    value, stream[0], stream[1], stream[2], stream[3] = _next_gamma(a, stream[0], stream[1], stream[2], stream[3])
    return value

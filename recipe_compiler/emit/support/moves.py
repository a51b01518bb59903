"""Decisions of moves, each made of two normals a and b: u = exp(-(a^2 + b^2)/2) is uniform between 0 and 1."""

# The jit finds the types of this code, which emitted files carry without annotations; numba's own are incomplete.

import math

import numpy as np

from recipe_compiler.emit.support.bits import _next_bits
from recipe_compiler.emit.support.jit import inlined, jitted
from recipe_compiler.emit.support.special import _exp


@inlined
def _accepted(log_ratio, a, b):
    """Return whether to accept, which has the probability min(1, exp(log_ratio)), and that.

    NaN is refused, and so is infinity: an energy that overflows to -inf, as r^T M^-1 r does where one product of it is
    too large, is none that a state has.
    """
    known = log_ratio < math.inf
    accept = known and -0.5 * (a * a + b * b) < log_ratio
    probability = _exp(log_ratio if log_ratio < 0.0 else 0.0)
    return accept, probability if known else 0.0


@inlined
def _uniform_integer(least, most, a, b):
    """Return an integer drawn uniformly from least to most."""
    u = _exp(-0.5 * (a * a + b * b))
    return min(least + int(u * (most - least + 1)), most)


@inlined
def _uniform_up_to(longest, a, b):
    """Return an integer drawn uniformly from 1 to a positive number, rounded up."""
    return _uniform_integer(1, math.ceil(longest), a, b)


_CLOSE = 1e-8  # of the size of a block, as near as trajectories of many steps come that were solved to 1e-12 each


@inlined
def _returned(log_ratio, gap, extent):
    """Return the log ratio, or -inf where a block came back by `gap` from where it began; NaN is no way back."""
    return log_ratio if gap <= _CLOSE * extent else -math.inf


@inlined
def _guards(led, log_ratio):
    """Return 1 where a trajectory led to no number, else 0; and 1 where it led somewhere and not back, else 0.

    `led` is the log ratio before it was tried whether it leads back. An energy of plus infinity is a number.
    """
    known = led < math.inf or led >= math.inf
    lost = not known
    one_way = known and led > -math.inf and not log_ratio > -math.inf
    return 1.0 if lost else 0.0, 1.0 if one_way else 0.0


@inlined
def _is_due(cycles, every):
    """Return whether a move is done in this cycle, which so many went before."""
    return cycles % every == 0.0


@jitted
def _own_stream(stream):
    """Return four words that a stream of xoshiro256++ begins with, the next four of another, which moves on."""
    words = np.empty(4, np.uint64)
    for k in range(4):
        words[k], stream[0], stream[1], stream[2], stream[3] = _next_bits(stream[0], stream[1], stream[2], stream[3])
    return words


@inlined
def _reaches(value, level):
    """Return whether a value is at a level or above it."""
    return value >= level


@inlined
def _told_below(told, level, left):
    """Return 1 where a level is below what is left, else what was told before."""
    return 1.0 if level < left else told

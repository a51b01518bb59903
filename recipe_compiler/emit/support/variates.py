"""Uniform and exponential draws, whole numbers of an interval, and one of many by weight.

Every function of the `variates` files takes the four words of one stream of xoshiro256++ and returns, behind the draw,
the four words that the next draw takes. These words are all that a draw depends on besides its parameters: there is no
state elsewhere, what a call returns must be taken by the next, and no two chains may take the same words. Words are
those of `_seed_words`, of which no four are all zero. Counts are whole numbers in doubles, so that NaN can say that
parameters are outside of the domain. Loops that refuse draws end: each turn accepts with a probability of 1/2 or more
whatever the parameters, and after `_MOST_TURNS` of them, at 2**-256 at most, the draw is NaN.
"""

# The jit finds the types of this code, which emitted files carry without annotations; numba's own are incomplete.

import math

import numpy as np

from recipe_compiler.emit.support.bits import _next_bits
from recipe_compiler.emit.support.jit import inlined
from recipe_compiler.emit.support.special import _exp

_MOST_TURNS = 256  # of a loop that refuses draws
_MOST_WHOLE = 2.0**53  # up to which whole numbers are doubles


@inlined
def _next_uniform(s0, s1, s2, s3):
    """Return a draw uniform on (0, 1): the middle of one of 2**52 equal parts, never 0 or 1. Takes one word.

    Middles of 2**53 parts are no doubles above 1/2: the last would be rounded to 1.
    """
    bits, s0, s1, s2, s3 = _next_bits(s0, s1, s2, s3)
    u = np.uint64((bits >> 12) | np.uint64(0x3FF0000000000000)).view(np.float64) - 0.9999999999999999
    return u, s0, s1, s2, s3


@inlined
def _next_exponential(s0, s1, s2, s3):
    """Return an exponential draw of mean 1, -log(u) with u uniform: from 2**-53 to 53 log(2). Takes one word."""
    u, s0, s1, s2, s3 = _next_uniform(s0, s1, s2, s3)
    return -math.log(u), s0, s1, s2, s3


@inlined
def _product(a, b):
    """Return the upper and the lower word of the product of two words, by four products of their halves."""
    low = np.uint64(0xFFFFFFFF)
    right = (a & low) * (b & low)
    left = (a >> 32) * (b & low) + (right >> 32)
    middle = (a & low) * (b >> 32) + (left & low)
    return (a >> 32) * (b >> 32) + (left >> 32) + (middle >> 32), a * b


@inlined
def _next_integer(a, b, s0, s1, s2, s3):
    """Return a draw uniform on the whole numbers from a to b, without bias (Lemire 2019, algorithm 5).

    Whole a <= b within +-2**53, else NaN. Takes one word, a further one with probability (b - a + 1)/2**64 < 2**-9.
    """
    a = np.float64(a)
    b = np.float64(b)
    if not (-_MOST_WHOLE <= a <= b <= _MOST_WHOLE and a == np.floor(a) and b == np.floor(b)):
        return math.nan, s0, s1, s2, s3
    count = np.uint64(np.int64(b) - np.int64(a)) + np.uint64(1)
    bits, s0, s1, s2, s3 = _next_bits(s0, s1, s2, s3)
    chosen, rest = _product(bits, count)
    if rest < count:
        refused = (np.uint64(0) - count) % count
        turn = 0
        while rest < refused:
            turn += 1
            if turn == _MOST_TURNS:
                return math.nan, s0, s1, s2, s3
            bits, s0, s1, s2, s3 = _next_bits(s0, s1, s2, s3)
            chosen, rest = _product(bits, count)
    return np.float64(np.int64(a) + np.int64(chosen)), s0, s1, s2, s3


@inlined
def _next_categorical(logits, sums, s0, s1, s2, s3):
    """Return k with probability proportional to exp(logits[k]), by sums of exp(logits - their maximum), put in `sums`.

    -inf is weight 0, and so is what lies 746 below the maximum: it is never drawn. NaN where no logit is finite or one
    is NaN or inf. Takes one word. u times the last sum, which is 1 or more, is below that sum in doubles too.
    """
    most = -math.inf
    for k in range(np.uint64(logits.size)):
        most = logits[k] if logits[k] > most else most
    for k in range(np.uint64(logits.size)):
        sums[k] = _exp(logits[k] - most)
    total = 0.0
    for k in range(np.uint64(logits.size)):
        total += sums[k]
        sums[k] = total
    if not total >= 1.0:
        return math.nan, s0, s1, s2, s3
    u, s0, s1, s2, s3 = _next_uniform(s0, s1, s2, s3)
    below = 0
    for k in range(np.uint64(logits.size)):
        below += 1 if sums[k] <= u * total else 0
    return np.float64(below), s0, s1, s2, s3


@inlined
def _next_categorical_above(logits, heights, level, sums, s0, s1, s2, s3):
    """Return k as `_next_categorical` does, among the places whose height is at a level or above it.

    Logits of others are not read. NaN where no such logit is finite, or one is NaN or inf. Takes one word.
    """
    most = -math.inf
    for k in range(np.uint64(logits.size)):
        most = logits[k] if heights[k] >= level and logits[k] > most else most
    total = 0.0
    for k in range(np.uint64(logits.size)):
        total += _exp(logits[k] - most) if heights[k] >= level else 0.0
        sums[k] = total
    if not total >= 1.0:
        return math.nan, s0, s1, s2, s3
    u, s0, s1, s2, s3 = _next_uniform(s0, s1, s2, s3)
    below = 0
    for k in range(np.uint64(logits.size)):
        below += 1 if sums[k] <= u * total else 0
    return np.float64(below), s0, s1, s2, s3

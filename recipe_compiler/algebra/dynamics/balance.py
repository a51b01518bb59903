"""How far a Metropolis move is from keeping exp(-H) at a point, in exact numbers.

The move takes z to Psi z with probability min(1, exp(H(z) - H(Psi z))), else to G z. Psi has an inverse and keeps
volume, and so does the involution G. With pi = exp(-H), the flow into y less what was there is

    (pi K)(y) - pi(y) = min(pi(x), pi(y)) + pi(G y) - min(pi(G y), pi(Psi G y)) - pi(y),     x = Psi^-1 y

(Tierney 1998). Where H is rational at rational points, this is a sum of c exp(-a) with rational c and a, and is zero
only if the c of each a add up to zero: exponentials of different rational numbers are linearly independent over the
rational numbers (Lindemann, Weierstrass).

Worked example, Psi z = z + 1 and G the identity on the line, H(z) = z**2/2, at y = 0: x = -1 and Psi G y = 1, so the
sum is exp(-1/2) + 1 - exp(-1/2) - 1 = 0. At y = 1: x = 0 and Psi G y = 2 give exp(-1/2) + exp(-1/2) - exp(-2) -
exp(-1/2) = exp(-1/2) - exp(-2), not zero: a shift without its reverse does not preserve exp(-H).
"""

from collections import Counter
from collections.abc import Callable, Iterable
from fractions import Fraction

import flint
from flint import arb, fmpq

State = tuple[Fraction, ...]
Sum = dict[Fraction, Fraction]
"""c by a of a sum of c exp(-a)."""


def departure(H: Callable[[State], Fraction], y: State, turned: State, ways: Iterable[tuple[State, State]]) -> Sum:
    """Return (pi K)(y) - pi(y) as a sum of c exp(-a), empty where it is zero; K the mean of some moves with one G.

    pi = exp(-H); zero at every y is the invariance of exp(-H) under K (Tierney 1998).

    Args:
        H: the energy, with rational values.
        y: a rational point, a vector of n numbers.
        turned: G y.
        ways: Psi^-1 y and Psi G y of every move.
    """
    found: Counter[Fraction] = Counter()
    here, there, count = H(y), H(turned), 0
    for x, image in ways:
        found[max(H(x), here)] += 1
        found[there] += 1
        found[max(there, H(image))] -= 1
        count += 1
    found[here] -= count
    return {a: Fraction(c, count) for a, c in found.items() if c}


def value(terms: Sum, at: Fraction) -> arb:
    """Return a sum of c exp(-a), divided by exp(-at), as a ball that contains it."""
    before = flint.ctx.prec
    flint.ctx.prec = 256
    try:
        return sum((_enclose_fraction(c) * _enclose_fraction(at - a).exp() for a, c in terms.items()), arb(0))
    finally:
        flint.ctx.prec = before


def _enclose_fraction(x: Fraction) -> arb:
    """Return a fraction as a ball of the working precision."""
    return arb(fmpq(x.numerator, x.denominator))

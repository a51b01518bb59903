"""Flows that are affine entry by entry, their coefficients frozen.

z is what a piece moves; everything else is frozen meanwhile. With phi(y) = (exp(y) - 1)/y, phi(0) = 1, over a time t =
s eps:

* shift: f does not depend on z, no noise. z' = z + t f.
* linear, entry by entry: f = b - a z, a of any sign and frozen. z' = z exp(-a t) + b t phi(-a t) = z + t phi(-a t)
  f(z).
* Ornstein-Uhlenbeck, entry by entry: the same with a frozen 2D. The mean moves as above, and the variance that is added
  is int_0^t 2D exp(-2 a u) du = t 2D phi(-2 a t) (Uhlenbeck and Ornstein 1930).

So each is z + eps rate + N(0, eps two_D), where `rate` and `two_D` depend on eps. That these are the flows is shown row
by row (`tests/splitting/test_flows.py`): at t = 0 they are the identity, their derivatives by t are f at the point
reached, and 2D - 2 a variance; solutions are unique, as f is affine.

Worked example: SGNHT's dr = -xi r dt + sqrt(2A) dW with xi frozen has a = xi and b = 0, so that r' = r exp(-xi t) +
N(0, A (1 - exp(-2 xi t))/xi), which at xi = 0 is r + N(0, 2 A t): phi has no pole there, and xi may have any sign.
"""

from collections.abc import Sequence
from fractions import Fraction
from functools import partial

from recipe_compiler.derive.recipe import Derivation, zero_vector
from recipe_compiler.program.program import EPS
from recipe_compiler.splitting.flow import (
    Change,
    Flow,
    NoRowError,
    find_affine_degree,
    find_diagonal,
    find_slope,
    is_frozen,
    require_alone,
)
from recipe_compiler.splitting.pieces import Piece
from recipe_compiler.tensor.calculus import Calculus
from recipe_compiler.tensor.show import text
from recipe_compiler.tensor.terms import Component, Tensor

SHIFT = "shift"
LINEAR = "linear, entry by entry"
ORNSTEIN_UHLENBECK = "Ornstein-Uhlenbeck, entry by entry"
_SAYS = {
    SHIFT: "z + t f, f free of z",
    LINEAR: "z + t phi(-a t) f, f = b - a z with a, b frozen, phi(y) = (exp(y) - 1)/y",
    ORNSTEIN_UHLENBECK: "z + t phi(-a t) f + N(0, t phi(-2 a t) 2D), f = b - a z with a, b, D frozen,"
    " phi(y) = (exp(y) - 1)/y",
}


def find_entrywise_flow(derivation: Derivation, piece: Piece) -> Flow:
    """Return the flow of a piece whose entries move each by itself, with frozen coefficients.

    z' = z + t phi(-a t) f + N(0, t phi(-2 a t) 2D), phi(y) = (exp(y) - 1)/y, f, a: [n], f = b - a z with b and a
    frozen; a = 0 is a shift, D != 0 Ornstein-Uhlenbeck's process (Uhlenbeck, Ornstein 1930). The derivative of the mean
    by t is f at the mean, as 1 - a t phi(-a t) = exp(-a t). The matrix df/dz, [n, n], has to be diagonal and free of z,
    and so has D, if there is noise. Raises NoRowError otherwise.
    """
    highest = find_affine_degree(piece, derivation.declarations)
    c, decay = derivation.calculus, [*zero_vector(derivation.calculus, derivation.blocks)]
    for n, block in enumerate(derivation.blocks):
        if block.name in piece.moved:
            require_alone(derivation, piece, n)
            decay[n] = c.scale(find_slope(derivation, piece.drift[n], n), -1)
    if not piece.is_noisy:
        return entrywise_flow(LINEAR if highest else SHIFT, decay)
    for a, line in enumerate(piece.D):
        for b, entry in enumerate(line):
            if not is_frozen(derivation, piece, entry):
                raise NoRowError(f"its noise depends on {', '.join(piece.moved)}")
            if not entry.is_zero and (a != b or find_diagonal(derivation, a, entry) is None):
                raise NoRowError(f"its noise is correlated: {text(entry)} is not diagonal")
    return entrywise_flow(ORNSTEIN_UHLENBECK, decay)


def entrywise_flow(row: str, decay: Sequence[Tensor]) -> Flow:
    """Return the flow of f = b - a z by a, [n]; what is linear is multiplied out: `A - (A - xi)` is xi."""
    return Flow(row, _SAYS[row], partial(_change_entries, decay), as_stated=row == SHIFT)


def _change_entries(
    decay: Sequence[Tensor], derivation: Derivation, piece: Piece, share: Fraction
) -> tuple[Change, ...]:
    """Return the rate s phi(-s eps a) f and the noise 2 s phi(-2 s eps a) D, block by block, as one change.

    D is diagonal where a is not zero, so the index of a may be that of the row.
    """
    c = derivation.calculus
    change = Change(
        piece.moved,
        tuple(c.scale(c.multiply(f, _write_phi(c, a, share)), share) for f, a in zip(piece.drift, decay, strict=True)),
        tuple(
            tuple(c.scale(c.multiply(entry, _write_phi(c, a, 2 * share)), 2 * share) for entry in line)
            for line, a in zip(piece.D, decay, strict=True)
        ),
    )
    return (change,)


def _write_phi(c: Calculus, a: Tensor, share: Fraction) -> Tensor:
    """Return phi(-share eps a), phi(y) = (exp(y) - 1)/y; 1 where a is zero."""
    if a.is_zero:
        return c.constant(1)
    return c.applied("exprel", c.scale(c.multiply(a, c.atom(Component(EPS))), -share))

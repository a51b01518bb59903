"""Flows of Riccati's equation, entry by entry and without noise: x' = a + b x + c x**2, a, b, c frozen.

With f = a + b z + c z**2 and g = b + 2 c z at the start z, Delta = g**2 - 4 c f = b**2 - 4 a c. Over a time t it is

    z' = z + t f rho,    rho = 1/(h(q) - s),    q = t**2 Delta/4,    s = t g/2,

h(q) = sqrt(q) coth(sqrt(q)), one function of q > -pi**2 (`formula/sympy_functions.py`). At t = 0 rho is 1; and by h' =
(h - h**2 + q)/(2 q) both sides of dz'/dt = a + b z' + c z'**2 are f (1 + 2 s rho + (s**2 - q) rho**2). (h(q) - s)/t
falls from infinity, its derivative -(h**2 - q)/t**2 being negative, and reaches zero before the pole of h: there the
solution ends. So it lasts for all of t if and only if q > -pi**2 and h(q) > s, and otherwise z' is not a number. Where
f = 0, q = s**2 and h(q) > s: z stays. Near the end, and near a fixed point that repels for a time of many
1/sqrt(Delta), h and s cancel: the relative error is that of (h - s), some 1e-16 (h + |s|)/(h - s).

Worked example: x' = x**2 has a = b = 0, c = 1, f = z**2, g = 2 z, Delta = 0 and h(0) = 1: z' = z + t z**2/(1 - t z) =
z/(1 - t z), which is not a number from t z = 1 on.
"""

from collections.abc import Sequence
from fractions import Fraction
from functools import partial

from recipe_compiler.derive.recipe import Derivation, row_coordinate
from recipe_compiler.program.program import EPS
from recipe_compiler.splitting.flow import Change, Flow, NoRowError, find_slope, is_frozen, require_alone
from recipe_compiler.splitting.pieces import Piece
from recipe_compiler.tensor.calculus import Calculus
from recipe_compiler.tensor.terms import Component, Tensor

RICCATI = "Riccati, entry by entry"
_SAYS = (
    "z + t f/(h(t**2 (b**2 - 4 a c)/4) - t (b + 2 c z)/2), f = a + b z + c z**2 with a, b, c frozen,"
    " h(q) = sqrt(q) coth(sqrt(q)); z' is not a number where a solution runs off to infinity before t"
)


def find_riccati_flow(derivation: Derivation, piece: Piece) -> Flow:
    """Return the flow of a piece whose entries move each by itself, with degree 2 and without noise.

    f = a + b z + c z**2 entry by entry, [n], with a, b, c free of what moves. x' = x**2 has z' = z/(1 - t z).
    """
    if piece.is_noisy:
        raise NoRowError("Riccati's equation has no noise")
    pairs = [(f, f) if f.is_zero else _find_coefficients(derivation, piece, n) for n, f in enumerate(piece.drift)]
    return riccati_flow(*zip(*pairs, strict=True))


def riccati_flow(slopes: Sequence[Tensor], discriminants: Sequence[Tensor]) -> Flow:
    """Return the flow of f = a + b z + c z**2 by b + 2 c z and b**2 - 4 a c, [n]; zero for blocks that do not move.

    z' = z + t f/(h(q) - s), q = t**2 (b**2 - 4 a c)/4, s = t (b + 2 c z)/2 and h(q) = sqrt(q) coth(sqrt(q)); it is not
    a number from the time on at which the solution is infinite.
    """
    return Flow(RICCATI, _SAYS, partial(_change_entries, slopes, discriminants), may_end=True)


def _change_entries(
    slopes: Sequence[Tensor], discriminants: Sequence[Tensor], derivation: Derivation, piece: Piece, share: Fraction
) -> tuple[Change, ...]:
    """Return s f rho by block, t = s eps."""
    c = derivation.calculus
    rate = tuple(
        f if f.is_zero else c.scale(c.multiply(f, _write_rho(c, g, Delta, share)), share)
        for f, g, Delta in zip(piece.drift, slopes, discriminants, strict=True)
    )
    return (Change(piece.moved, rate, piece.D),)


def _write_rho(c: Calculus, slope: Tensor, discriminant: Tensor, share: Fraction) -> Tensor:
    """Return 1/(h(q) - s), h(q) = sqrt(q) coth(sqrt(q))."""
    eps = c.atom(Component(EPS))
    q = c.scale(c.multiply(discriminant, eps, eps), share * share / 4)
    s = c.scale(c.multiply(slope, eps), share / 2)
    return c.applied("reciprocal", c.subtract(c.applied("sqrtcoth", q), s))


def _find_coefficients(derivation: Derivation, piece: Piece, n: int) -> tuple[Tensor, Tensor]:
    """Return b + 2 c z and b**2 - 4 a c of block n."""
    c, f, block = derivation.calculus, piece.drift[n], derivation.blocks[n]
    require_alone(derivation, piece, n)
    slope = find_slope(derivation, f, n)
    bend = find_slope(derivation, slope, n)
    z = c.atom(row_coordinate(block))
    b = c.settled(c.subtract(slope, c.multiply(bend, z)))
    a = c.settled(c.subtract(f, c.add(c.multiply(b, z), c.scale(c.multiply(bend, z, z), Fraction(1, 2)))))
    if not is_frozen(derivation, piece, a, b, bend):
        raise NoRowError(f"the drift of {block.name} is not a + b {block.name} + c {block.name}**2 with a, b, c frozen")
    return slope, c.settled(c.subtract(c.multiply(b, b), c.scale(c.multiply(a, bend), 2)))

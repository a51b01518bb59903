"""Exact flows of pieces, found by the degree of their drift in the blocks that they move.

What a piece moves is z, everything else is frozen meanwhile. Over a time t = s eps,

* shift: f does not depend on z, no noise. z + t f.
* linear, entry by entry: f = b - a z, a of any sign and frozen. With phi(y) = (exp(y) - 1)/y, phi(0) = 1, it is
  z exp(-a t) + b t phi(-a t) = z + t phi(-a t) f(z).
* Ornstein-Uhlenbeck, entry by entry: the same with a 2D that is frozen. The mean moves so, and the variance that is
  added is int_0^t 2D exp(-2 a u) du = t 2D phi(-2 a t).

So each is z + eps rate + N(0, eps two_D), where `rate` and `two_D` depend on eps. That these are the flows is shown
row by row (`tests/splitting/test_flows.py`): at t = 0 they are the identity, their derivatives by t are f at where they
are, and 2D - 2 a variance; solutions are unique, as f is affine.
"""

from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from recipe_compiler.derive.recipe import Derivation, Matrix, Vector, col_slots, row_slots
from recipe_compiler.errors import Fault, ModelError, Place
from recipe_compiler.program.program import EPS
from recipe_compiler.splitting.degree import degree
from recipe_compiler.splitting.pieces import Piece
from recipe_compiler.tensor.calculus import Calculus
from recipe_compiler.tensor.diagonal import diagonal
from recipe_compiler.tensor.show import text
from recipe_compiler.tensor.terms import Component, Coordinate, Tensor


class Row(StrEnum):
    """The rows of the table of exact flows."""

    SHIFT = "shift"
    LINEAR = "linear, entry by entry"
    ORNSTEIN_UHLENBECK = "Ornstein-Uhlenbeck, entry by entry"


@dataclass(frozen=True, slots=True)
class Flow:
    """What the flow of a piece is, everything that it does not move being frozen."""

    row: Row
    decay: tuple[Tensor, ...]
    """a of f = b - a z by block of the state, with its free index; zero where nothing decays."""


def flow_of(derivation: Derivation, piece: Piece) -> Flow:
    """Return the flow of a piece.

    dr = -xi r dt + sqrt(2A) dW has a = xi: r exp(-xi t) + N(0, A (1 - exp(-2 xi t))/xi) after a time t.

    Args:
        derivation: of the dynamics, multiplied out: degrees are read off it.
        piece: of that derivation.

    Raises:
        ModelError: no row of the table is its flow; names what was found.
    """
    declarations = derivation.dynamics.declarations
    moved = frozenset(piece.moved)
    degrees = [degree(f, moved, declarations) for f in piece.drift]
    if None in degrees:
        raise _no_row(derivation, piece, f"its drift is no polynomial in {', '.join(piece.moved)}")
    highest = max((n for n in degrees if n is not None), default=0)
    if highest > 1:
        raise _no_row(derivation, piece, f"its drift is of degree {highest} in {', '.join(piece.moved)}")
    decay = tuple(_decay(derivation, piece, n) for n in range(len(declarations.blocks)))
    if not piece.is_noisy:
        return Flow(Row.LINEAR if highest else Row.SHIFT, decay)
    for a, line in enumerate(piece.D):
        for b, entry in enumerate(line):
            if degree(entry, moved, declarations) != 0:
                raise _no_row(derivation, piece, f"its noise depends on {', '.join(piece.moved)}")
            if not entry.is_zero and (a != b or _entrywise(derivation, a, entry) is None):
                raise _no_row(derivation, piece, f"its noise is correlated: {text(entry)} is not diagonal")
    return Flow(Row.ORNSTEIN_UHLENBECK, decay)


def rate(c: Calculus, flow: Flow, drift: Vector, share: Fraction) -> Vector:
    """Return s phi(-s eps a) f by block: what the flow changes is eps times it."""
    return tuple(c.scale(c.multiply(f, _phi(c, a, share)), share) for f, a in zip(drift, flow.decay, strict=True))


def two_D(c: Calculus, flow: Flow, D: Matrix, share: Fraction) -> Matrix:
    """Return 2 s phi(-2 s eps a) D: the covariance that the flow adds is eps times it.

    D is diagonal where a is not zero, so the index of a may be that of the row.
    """
    return tuple(
        tuple(c.scale(c.multiply(entry, _phi(c, a, 2 * share)), 2 * share) for entry in line)
        for line, a in zip(D, flow.decay, strict=True)
    )


def _phi(c: Calculus, a: Tensor, share: Fraction) -> Tensor:
    """Return phi(-share eps a), phi(y) = (exp(y) - 1)/y; 1 where a is zero."""
    if a.is_zero:
        return c.constant(1)
    return c.applied("exprel", c.scale(c.multiply(a, c.atom(Component(EPS))), -share))


def _decay(derivation: Derivation, piece: Piece, n: int) -> Tensor:
    """Return a of f = b - a z for block n. Raises ModelError where entries depend on each other."""
    c, blocks = derivation.calculus, derivation.dynamics.declarations.blocks
    own = c.zero(*row_slots(blocks[n]))
    for m, block in enumerate(blocks):
        if block.name not in piece.moved or blocks[n].name not in piece.moved:
            continue
        slope = c.settled(c.scale(c.diff(piece.drift[n], Coordinate(block.name, col_slots(block))), -1))
        found = _entrywise(derivation, n, slope) if m == n else None
        if slope.is_zero:
            continue
        if found is None:
            raise _no_row(derivation, piece, f"entries of {blocks[n].name} drift by others of {block.name}")
        own = found
    return own


def _entrywise(derivation: Derivation, n: int, matrix: Tensor) -> Tensor | None:
    """Return the diagonal of a matrix over block n, None where it is not diagonal by its form."""
    block = derivation.dynamics.declarations.blocks[n]
    return diagonal(matrix, *row_slots(block), *col_slots(block)) if block.shape.sizes else matrix


def _no_row(derivation: Derivation, piece: Piece, why: str) -> ModelError:
    drifts = "; ".join(
        f"{block.name}: {text(f)}"
        for block, f in zip(derivation.dynamics.declarations.blocks, piece.drift, strict=True)
        if block.name in piece.moved
    )
    problem = f"found the piece {piece.name} ({drifts}) without an exact flow: {why}"
    hint = f"exact are: {'; '.join(Row)}. Cut the piece, or use the scheme euler or sequential_euler"
    return ModelError([Fault(Place(""), "scheme.split", problem, hint)])

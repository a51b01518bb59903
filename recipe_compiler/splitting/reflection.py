"""The flow of a position with constant velocity in theta > 0, reflected at 0 with the momentum that carries it there.

d theta_i = a_i r_i dt, entry by entry, becomes over a time t

    y = theta + t a r,     theta' = |y|,     r' = -r where y < 0, else r.

On either side of y = 0 it is a shear and a change of two signs, so |det| = 1. Under F: r -> -r it runs backwards: from
(theta', -r') the shear leads to s theta, s = sign(y), which is reflected to theta, and the momentum to -r. Both need a
velocity that is odd in the momentum of its own entry and free of all others: M diagonal. With another M, to flip r_i
changes the velocity of other entries, and there is no way back (Neal 2011, Sec. 5.5.1.5).

Worked: theta = 1, r = -3, a = 1, t = 1 gives y = -2, so theta' = 2 and r' = 3. Back from (2, -3): y = -1, so theta = 1
and r = 3 = -(-3).
"""

from collections.abc import Sequence
from fractions import Fraction
from functools import partial

from recipe_compiler.derive.recipe import Derivation, row_coordinate, row_slots, zero_matrix, zero_vector
from recipe_compiler.formula.declaration import Block
from recipe_compiler.formula.shapes import DomainName
from recipe_compiler.program.atoms import names_of
from recipe_compiler.program.rename import renamed
from recipe_compiler.splitting.entrywise import SHIFT, entrywise_flow
from recipe_compiler.splitting.flow import Change, Flow, NoRowError, find_degree
from recipe_compiler.splitting.pieces import Piece
from recipe_compiler.tensor.calculus import Calculus
from recipe_compiler.tensor.terms import Tensor

REFLECTED = "reflected"


def find_reflected_flow(derivation: Derivation, piece: Piece) -> Flow:
    """Return the flow that is reflected at 0. Raises NoRowError for a piece that has none.

    The piece has to move one positive block with a velocity that is linear in one momentum of the same shape. Whether
    the momentum of an entry carries that entry alone is decided where the invariance of the move is proved.
    """
    declarations = derivation.declarations
    blocks = {block.name: block for block in declarations.blocks}
    moved = blocks[piece.moved[0]]
    if len(piece.moved) != 1:
        raise NoRowError(f"it moves {', '.join(piece.moved)}, and a reflection moves one positive block")
    if moved.domain.name is not DomainName.POSITIVE:
        raise NoRowError(
            f"{moved.name} has the domain {moved.domain.name.value}, and what is reflected is positive, at 0; between "
            "two walls sample an unbounded variable, as `constraint: interval(a, b)` of the target does"
        )
    f = piece.drift[declarations.blocks.index(moved)]
    if piece.is_noisy or find_degree(f, frozenset(piece.moved), declarations) != 0:
        raise NoRowError(f"its drift depends on {moved.name}: a reflected block moves with a constant velocity")
    carried = [blocks[name] for name in names_of(f) & blocks.keys()]
    if len(carried) != 1 or carried[0].domain.name is not DomainName.REAL or carried[0].shape != moved.shape:
        raise NoRowError(f"{moved.name} is not moved by one momentum of its shape, over all real numbers")
    if find_degree(f, frozenset({carried[0].name}), declarations) != 1:
        raise NoRowError(f"its drift is not linear in {carried[0].name}")
    return Flow(
        REFLECTED,
        f"y = {moved.name} + t f, |y|; {carried[0].name} turned in the entries with y < 0",
        partial(_shift_and_reflect, moved, carried[0]),
        as_stated=True,
        ends_beyond={moved.name: False},
        momentum=carried[0].name,
    )


def _shift_and_reflect(
    position: Block, momentum: Block, derivation: Derivation, piece: Piece, share: Fraction
) -> tuple[Change, ...]:
    """Return the shift, and what reflects: positions that it led outside, with their momenta."""
    shift = entrywise_flow(SHIFT, zero_vector(derivation.calculus, derivation.blocks))
    return (*shift.changes(derivation, piece, share), reflect_at_zero(derivation, position, momentum))


def format_reflection(derivation: Derivation, names: Sequence[str]) -> str:
    """Return what a step does to the blocks that it reflects, and to their momenta, as text."""
    momenta = {b.name: list_momenta(derivation, b) for b in derivation.blocks if b.name in names}
    turned = {
        name: "".join(f", {r.name}' = -{r.name}' where {name}' < 0" for r in own) for name, own in momenta.items()
    }
    return "\n".join(f"reflect   {name}' = |{name}'|{own}" for name, own in turned.items())


def reflect_at_zero(derivation: Derivation, position: Block, *momenta: Block) -> Change:
    """Return what reflects: |y| for a position y, and -r for a momentum r where y < 0, else r, entry by entry."""
    c, rate = (
        derivation.calculus,
        dict(zip(derivation.blocks, zero_vector(derivation.calculus, derivation.blocks), strict=True)),
    )
    outside = f"{position.name}'"  # of what the shift makes nothing is known: not that it is positive
    y = c.coordinate(outside, *row_slots(position))
    for block in (position, *momenta):
        x = y if block is position else c.atom(row_coordinate(block))
        image = c.applied(
            "where <", y, c.constant(0), c.scale(x, -1), x
        )  # it is read back on both sides, abs at a point
        rate[block] = renamed(image, {outside: position.name})
    moved = tuple(block.name for block in (position, *momenta))
    return Change(moved, tuple(rate.values()), zero_matrix(c, derivation.blocks), image=True)


def list_momenta(derivation: Derivation, position: Block) -> list[Block]:
    """Return the real blocks of the shape of a position that Q couples to it: a reflection turns one, or none."""
    row = derivation.Q[derivation.blocks.index(position)]
    pairs = zip(derivation.blocks, row, strict=True)
    return [b for b, q in pairs if q.terms and b.shape == position.shape and b.domain.name is DomainName.REAL]


def take_off_diagonal(c: Calculus, slope: Tensor) -> Tensor:
    """Return the off-diagonal part A_ij - delta_ij A_ii of a matrix; zero for a number."""
    if not slope.free:
        return c.zero()
    row, column = slope.free
    diagonal = c.multiply(c.delta(row, column), c.rename(slope, {column: row}))
    return c.subtract(slope, diagonal)

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

from dataclasses import dataclass, replace
from fractions import Fraction

from recipe_compiler.derive.recipe import Derivation, Matrix, Vector, row_slots
from recipe_compiler.formula.declaration import Block
from recipe_compiler.formula.shapes import DomainName
from recipe_compiler.program.atoms import names_of, replace_atoms
from recipe_compiler.splitting.degree import find_degree
from recipe_compiler.splitting.entrywise import SHIFT, Entrywise, find_entrywise_flow
from recipe_compiler.splitting.flow import Change, NoRow
from recipe_compiler.splitting.pieces import Piece
from recipe_compiler.tensor.calculus import Calculus
from recipe_compiler.tensor.terms import Atom, Coordinate, Tensor

REFLECTED = "reflected"


@dataclass(frozen=True, slots=True)
class Reflected:
    """The flow of a positive block, moved by a momentum of its shape and reflected at 0 (Neal 2011, Sec. 5.5.1.5).

    Entry by entry: y = theta + t f, theta' = |y|, and r' = -r where y < 0.
    """

    position: str
    momentum: str
    shift: Entrywise
    """The flow away from the boundary."""
    as_stated: bool = True
    may_end: bool = False
    row: str = REFLECTED
    order: None = None

    @property
    def says(self) -> str:
        """The flow after a time t."""
        return f"y = {self.position} + t f, |y|; {self.momentum} turned in the entries with y < 0"

    def changes(self, derivation: Derivation, piece: Piece, share: Fraction) -> tuple[Change, ...]:
        """Return the shift, and what reflects: positions that it led outside, with their momenta."""
        c, blocks = derivation.calculus, derivation.dynamics.declarations.blocks
        named = {block.name: block for block in blocks}
        outside = f"{self.position}'"  # of what the shift makes nothing is known: not that it is positive
        y = c.coordinate(outside, *row_slots(named[self.position]))
        r = c.coordinate(self.momentum, *row_slots(named[self.momentum]))
        back, turned = (c.applied("where <", y, c.constant(0), c.scale(x, -1), x) for x in (y, r))
        images = {self.position: back, self.momentum: turned}  # `where` is read back on both sides, abs at a point
        found = (images.get(block.name, c.zero(*row_slots(block))) for block in blocks)
        rate: Vector = tuple(
            replace_atoms(image, lambda atom: _rename_block(atom, outside, self.position)) for image in found
        )
        none: Matrix = tuple(tuple(c.scale(entry, 0) for entry in row) for row in piece.D)
        reflection = Change((self.position, self.momentum), rate, none, image=True)
        return (*self.shift.changes(derivation, piece, share), reflection)

    def keeps_inside(self, block: Block) -> bool:
        """Whether it maps a block to values of its domain only: the position's, since |y| >= 0."""
        return block.name == self.position


def find_reflected_flow(derivation: Derivation, piece: Piece) -> Reflected | NoRow:
    """Return the flow that is reflected at 0; else the reason why a piece has none.

    The piece has to move one positive block with a velocity that is linear in one momentum of the same shape. Whether
    the momentum of an entry carries that entry alone is decided where the invariance of the move is proved.
    """
    declarations = derivation.dynamics.declarations
    blocks = {block.name: block for block in declarations.blocks}
    moved = blocks[piece.moved[0]]
    if len(piece.moved) != 1:
        return NoRow(f"it moves {', '.join(piece.moved)}, and a reflection moves one positive block")
    if moved.domain.name is not DomainName.POSITIVE:
        return NoRow(
            f"{moved.name} has the domain {moved.domain.name.value}, and what is reflected is positive, at 0; between "
            "two walls sample an unbounded variable, as `constraint: interval(a, b)` of the target does"
        )
    shift = find_entrywise_flow(derivation, piece)
    if isinstance(shift, NoRow) or shift.row != SHIFT:
        return NoRow(f"its drift depends on {moved.name}: a reflected block moves with a constant velocity")
    f = piece.drift[declarations.blocks.index(moved)]
    carried = [blocks[name] for name in names_of(f) & blocks.keys()]
    if len(carried) != 1 or carried[0].domain.name is not DomainName.REAL or carried[0].shape != moved.shape:
        return NoRow(f"{moved.name} is not moved by one momentum of its shape, over all real numbers")
    if find_degree(f, frozenset({carried[0].name}), declarations) != 1:
        return NoRow(f"its drift is not linear in {carried[0].name}")
    return Reflected(moved.name, carried[0].name, shift)


def _rename_block(atom: Atom, old: str, new: str) -> Atom:
    return replace(atom, block=new) if isinstance(atom, Coordinate) and atom.block == old else atom


def take_off_diagonal(c: Calculus, slope: Tensor) -> Tensor:
    """Return the off-diagonal part A_ij - delta_ij A_ii of a matrix; zero for a number."""
    if not slope.free:
        return c.zero()
    row, column = slope.free
    diagonal = c.multiply(c.delta(row, column), c.rename(slope, {column: row}))
    return c.subtract(slope, diagonal)

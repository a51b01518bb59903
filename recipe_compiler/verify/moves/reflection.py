"""Does a piece whose positions are reflected at 0 lead back with |det| = 1? Where each momentum carries its own entry.

f_i = a_i r_i with a constant: df_i/dr_j = 0 for i != j, and f_i = sum_j df_i/dr_j r_j. Else to turn r_i turns the
velocity of other entries, and a move that is reflected does not lead back (`splitting/reflection.py`).
"""

from sympy import Expr

from recipe_compiler.algebra.scalars.derivatives import slope
from recipe_compiler.derive.recipe import col_slots
from recipe_compiler.errors import ModelError
from recipe_compiler.splitting.flow_table import flow_of
from recipe_compiler.splitting.pieces import Piece
from recipe_compiler.splitting.reflection import REFLECTED, Reflected, crossed
from recipe_compiler.tensor.terms import Coordinate
from recipe_compiler.verdict import Answer, Undecided
from recipe_compiler.verify.core.identities import Identity, faults_of
from recipe_compiler.verify.core.sizes import Sizes
from recipe_compiler.verify.steps.split import Split, decided


def reflects(split: Split, piece: Piece) -> Answer:
    """Decide that f_i = a_i r_i with constants a_i for a piece whose positions are reflected at 0, f, r: [n].

    Entry by entry: df_i/dr_j = 0 for i != j, and f_i = sum_j df_i/dr_j r_j. Turning r_i then turns the velocity of
    entry i alone, so that a reflected move leads back with |det| = 1. Refuted by a point where another momentum enters.
    """
    try:
        flow = flow_of(split.derivation, piece, REFLECTED)
    except ModelError as error:
        return Answer(Undecided(faults_of(error)))
    if not isinstance(flow, Reflected):
        return Answer(Undecided((f"{piece.name} is not reflected",)))
    c, names = split.derivation.calculus, split.subject.names
    n, m = names.index(flow.position), names.index(flow.momentum)
    slots = col_slots(split.derivation.dynamics.declarations.blocks[m])
    at = Coordinate(flow.momentum, slots)
    along = c.diff(piece.drift[n], at)
    rest = c.subtract(piece.drift[n], c.total(c.multiply(along, c.atom(at)), *slots))

    def entries(sizes: Sizes) -> tuple[list[Expr], list[Expr]]:
        f, z = split.drift(piece, sizes), split.z(sizes)
        r, slopes = [z[k] for k in split.places(m, sizes)], [f[k] for k in split.places(n, sizes)]
        others = [slope(v, y) for i, v in enumerate(slopes) for j, y in enumerate(r) if i != j]
        return others, [v - sum(slope(v, y) * y for y in r) for v in slopes]

    where = split.subject.place("H")
    says = f"the velocity of an entry of {flow.position} by the {flow.momentum} of another"
    still = f"what moves {flow.position} where {flow.momentum} = 0"
    others = Identity(says, where, c.settled(crossed(c, along)), lambda sizes: entries(sizes)[0])
    return decided(split, [others, Identity(still, where, rest, lambda sizes: entries(sizes)[1])])

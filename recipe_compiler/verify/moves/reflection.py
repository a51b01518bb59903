"""Does a piece whose positions are reflected at 0 lead back with |det| = 1? Where each momentum carries its own entry.

f_i = a_i r_i with a constant: df_i/dr_j = 0 for i != j, and f_i = sum_j df_i/dr_j r_j. Else to turn r_i turns the
velocity of other entries, and a move that is reflected does not lead back (`splitting/reflection.py`).
"""

from dataclasses import replace

from sympy import Expr

from recipe_compiler.errors import ModelError
from recipe_compiler.splitting.flow_table import find_flow
from recipe_compiler.splitting.pieces import Piece
from recipe_compiler.splitting.reflection import REFLECTED, take_off_diagonal
from recipe_compiler.verdict import Answer, undecided
from recipe_compiler.verify.core.identities import list_faults
from recipe_compiler.verify.core.sizes import Sizes
from recipe_compiler.verify.steps.quantity import drift_quantities
from recipe_compiler.verify.steps.split import Split, decide_identities


def decide_reflection(split: Split, piece: Piece) -> Answer:
    """Decide that f_i = a_i r_i with constants a_i for a piece whose positions are reflected at 0, f, r: [n].

    Entry by entry: df_i/dr_j = 0 for i != j, and f_i = sum_j df_i/dr_j r_j. Turning r_i then turns the velocity of
    entry i alone, so that a reflected move leads back with |det| = 1. Refuted by a point where another momentum enters.
    """
    try:
        flow = find_flow(split.derivation, piece, REFLECTED)
    except ModelError as error:
        return undecided(*list_faults(error))
    (position,), momentum_name = piece.moved, flow.momentum
    n, m = (split.subject.names.index(name) for name in (position, momentum_name))
    f, momentum = drift_quantities(split, piece)[n], split.blocks[m]
    along = f.slope(momentum)

    def others(sizes: Sizes) -> list[Expr]:
        return [x for i, row in enumerate(along.rows(sizes)) for j, x in enumerate(row) if i != j]

    apart = replace(along, tensor=take_off_diagonal(split.derivation.calculus, along.tensor), entries=others)
    says = f"the velocity of an entry of {position} by the {momentum_name} of another"
    still = f"what moves {position} where {momentum_name} = 0"
    return decide_identities(split, [apart.vanishes(says), f.minus(along.times(momentum)).vanishes(still)])

"""Pieces: parts (D_k, Q_k, H_k) of a recipe, with the drift and the noise that each has, for every size.

With the places and summands that a piece selects,

    f_k = - sum_s (D_s + Q_s) grad H_s + sum_ab d(D + Q)_ab/dz_b,

the first sum over its selections, the second over the places (a, b) whose share of Gamma is its own: those that it
holds together with the summands of H that depend on block b. Then sum_k f_k = f, if every part is in one piece (f of
Ma, Chen, Fox 2015, Eq. 3).
"""

from collections.abc import Mapping
from dataclasses import dataclass

from recipe_compiler.derive.recipe import (
    Derivation,
    Matrix,
    Vector,
    apply_matrix,
    col_coordinate,
    col_slots,
    derive,
    map_matrices,
    zero_matrix,
    zero_vector,
)
from recipe_compiler.errors import ModelError, model_error
from recipe_compiler.spec.model import Dynamics, Selection
from recipe_compiler.spec.words import Pair
from recipe_compiler.splitting.select import choose_summands, select_part
from recipe_compiler.tensor.show import text
from recipe_compiler.tensor.terms import Tensor

Selections = Mapping[str, tuple[Selection, ...]]
"""What every piece selects, by its name."""


@dataclass(frozen=True, slots=True)
class Piece:
    """One part of a recipe: dz = f_k dt + sqrt(2 D_k) dW, with f_k a vector and D_k a matrix over the state."""

    name: str
    parts: tuple[Dynamics, ...]
    """D_s, Q_s, H_s of its selections."""
    gamma: tuple[Pair, ...]
    """The places (a, b) whose d(D+Q)_ab/dz_b is in its drift."""
    drift: Vector
    D: Matrix

    @property
    def is_noisy(self) -> bool:
        """Whether it has noise."""
        return any(not entry.is_zero for row in self.D for entry in row)

    @property
    def moved(self) -> tuple[str, ...]:
        """The blocks that it moves, in the order of the state."""
        blocks = self.parts[0].declarations.blocks
        return tuple(
            block.name
            for block, drift, row in zip(blocks, self.drift, self.D, strict=True)
            if not drift.is_zero or any(not entry.is_zero for entry in row)
        )


def list_pieces(derivation: Derivation, selections: Selections, *, shared: bool = False) -> tuple[Piece, ...]:
    """Return the pieces of a derivation: sum_k f_k = f and sum_k D_k = D if every part is in one piece.

    f_k: [n] and D_k: [n, n] over z (Ma, Chen, Fox 2015, Eq. 3, part by part). With `shared` each has all shares of
    Gamma that it selects, even if others do, too.

    Raises:
        ModelError: a selection names what does not exist; or a share of Gamma has no piece, or several.
    """
    wanted = find_owners_of_gamma(derivation, selections)
    for place, owners in wanted.items():
        if len(owners) != 1 and not shared:
            raise _report_no_owner(derivation, place, owners)
    return tuple(
        make_piece(derivation, name, own, tuple(place for place, owners in wanted.items() if name in owners))
        for name, own in selections.items()
    )


def find_share_of_gamma(derivation: Derivation, place: Pair) -> Tensor:
    """Return sum_j d(D+Q)_ij/dz_j over the coordinates j of block b alone, for i of block a (`place` is (a, b)).

    The shares of a add up to Gamma_a (Ma, Chen, Fox 2015, Eq. 3). The result has the free indices `row_slots(a)`.
    """
    blocks = {block.name: n for n, block in enumerate(derivation.blocks)}
    a, b = (blocks[name] for name in place)
    c, block = derivation.calculus, derivation.blocks[b]
    entry = c.add(derivation.D[a][b], derivation.Q[a][b])
    return c.settled(c.total(c.diff(entry, col_coordinate(block)), *col_slots(block)))


def make_piece(derivation: Derivation, name: str, own: tuple[Selection, ...], gamma: tuple[Pair, ...] = ()) -> Piece:
    """Return the piece of some selections, with the given shares of Gamma.

    f_k = -sum_s (D_s + Q_s) grad H_s + its shares of Gamma: [n], D_k = sum_s D_s: [n, n] (Ma, Chen, Fox 2015, Eq. 3,
    part by part); the selection of Q[theta,r] = -I and of H = U(theta) + r.T inv(M) r/2 without U has the drift inv(M)
    r of theta.

    Raises:
        ModelError: a selection names what there is not.
    """
    parts = tuple(select_part(derivation.dynamics, selection) for selection in own)
    c, blocks = derivation.calculus, derivation.blocks
    drift, diffusion = zero_vector(c, blocks), zero_matrix(c, blocks)
    for part in parts:
        of = derive(part, stated=derivation.stated)
        pushed = apply_matrix(c, blocks, map_matrices(c.add, of.D, of.Q), of.grad_H)
        drift = tuple(c.subtract(f, push) for f, push in zip(drift, pushed, strict=True))
        diffusion = map_matrices(c.add, diffusion, of.D)
    for a, b in gamma:
        share = find_share_of_gamma(derivation, (a, b))
        drift = tuple(c.add(f, share) if block.name == a else f for block, f in zip(blocks, drift, strict=True))
    return Piece(name, parts, gamma, tuple(map(c.settled, drift)), map_matrices(c.settled, diffusion))


def find_owners_of_gamma(derivation: Derivation, selections: Selections) -> dict[Pair, tuple[str, ...]]:
    """Return the pieces that claim each nonzero share of Gamma: those that state it, else those that contain it."""
    found: dict[Pair, tuple[str, ...]] = {}
    for row, gamma in zip(derivation.blocks, derivation.Gamma, strict=True):
        for place in [] if gamma.is_zero else [(row.name, b.name) for b in derivation.blocks]:
            if not find_share_of_gamma(derivation, place).is_zero:
                stated = [name for name, own in selections.items() if any(place in s.Gamma for s in own)]
                holding = (n for n, own in selections.items() if any(_has_share(derivation, s, place) for s in own))
                found[place] = tuple(stated or holding)
    return found


def _report_no_owner(derivation: Derivation, place: Pair, owners: tuple[str, ...]) -> ModelError:
    a, b = place
    who = f"the pieces {' and '.join(owners)}" if owners else "no piece"
    problem = f"found Gamma[{a},{b}] = {text(find_share_of_gamma(derivation, place))} in {who}, expected it in one"
    hint = f"state which: `Gamma: [[{a}, {b}]]` in one of its selections"
    return model_error("scheme.pieces", problem, hint)


def _has_share(derivation: Derivation, selection: Selection, place: Pair) -> bool:
    """Whether a selection holds a place (a, b) that is not zero, and every summand of H that depends on block b."""
    blocks = [block.name for block in derivation.blocks]
    a, b = (blocks.index(name) for name in place)
    pair = {place, (place[1], place[0])}
    held = any(
        (pairs is None or pair & set(pairs)) and not matrix[a][b].is_zero
        for matrix, pairs in ((derivation.D, selection.D), (derivation.Q, selection.Q))
    )
    return held and any(place[1] in summand.blocks for summand in choose_summands(derivation.dynamics, selection))


def subtract_pieces(derivation: Derivation, pieces: tuple[Piece, ...]) -> tuple[Vector, Matrix]:
    """Return f - sum_k f_k, [n], and D - sum_k D_k, [n, n], over z: zero if the pieces add up to the equation."""
    c, drift, diffusion = derivation.calculus, derivation.drift, derivation.D
    for piece in pieces:
        drift = tuple(map(c.subtract, drift, piece.drift))
        diffusion = map_matrices(c.subtract, diffusion, piece.D)
    return tuple(map(c.settled, drift)), map_matrices(c.settled, diffusion)

"""Elimination of Kronecker deltas: which slots are equal, and which one stands for all of them."""

from collections.abc import Iterable
from dataclasses import dataclass

from recipe_compiler.tensor.order import spell_slot
from recipe_compiler.tensor.terms import Delta, Index, Slot


@dataclass(frozen=True, slots=True)
class Identification:
    """What a product of deltas means: slots that are replaced, deltas between free slots that stay."""

    moves: dict[Index, Slot]
    kept: tuple[Delta, ...]


def identify(deltas: Iterable[Delta], free: frozenset[Index]) -> Identification | None:
    """Return what the deltas identify; None where two different positions would be equal: the product is zero.

    Of equal slots a literal position stands for all, else the first free index, else a bound one. A delta stays for
    every free index that is replaced. Indices over a single value are that value.
    """
    groups: list[set[Slot]] = []
    for delta in deltas:
        pair: set[Slot] = {delta.left, delta.right}
        apart = [group for group in groups if not group & pair]
        groups = [*apart, pair.union(*(group for group in groups if group & pair))]
    moves: dict[Index, Slot] = {}
    kept: list[Delta] = []
    for group in groups:
        leader = _leader(group, free)
        if leader is None:
            return None
        followers = [slot for slot in group if slot != leader and isinstance(slot, Index)]
        moves |= dict.fromkeys(followers, leader)
        kept += [ordered(leader, index) for index in followers if index in free and index.size != 1]
    kept.sort(key=lambda delta: (spell_slot(delta.left), spell_slot(delta.right)))
    return Identification(moves, tuple(kept))


def ordered(left: Slot, right: Slot) -> Delta:
    """Return the delta of two slots in order."""
    return Delta(left, right) if spell_slot(left) <= spell_slot(right) else Delta(right, left)


def _leader(group: set[Slot], free: frozenset[Index]) -> Slot | None:
    literals = {slot for slot in group if not isinstance(slot, Index)}
    if len(literals) > 1:
        return None
    candidates = literals or {slot for slot in group if slot in free} or group
    return min(candidates, key=spell_slot)

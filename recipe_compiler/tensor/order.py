"""A total order of atoms, factors and terms: by their spelling as text, which is equal for equal objects only."""

from collections.abc import Iterable
from functools import lru_cache

from recipe_compiler import limits
from recipe_compiler.tensor.atoms import Factor
from recipe_compiler.tensor.terms import (
    Applied,
    Atom,
    Base,
    Component,
    Coordinate,
    Delta,
    Index,
    MatrixFunction,
    Pi,
    SizeNumber,
    Slot,
    Tensor,
)

_MATRIX_FUNCTIONS = {"inv": "8", "det": "90", "logdet": "91", "cholesky": "92", "halved": "93"}


def spell_slot(slot: Slot) -> str:
    """Spell a slot, `i:d` for an index; free labels sort by their names, literal positions (`#0`) come first."""
    return f"{slot.label}:{slot.size}" if isinstance(slot, Index) else f"#{slot}"


def spell(atom: Atom) -> str:
    """Spell an atom; the first character is its type, so numbers sort before fields, and fields before functions."""
    match atom:
        case Coordinate(block, at):
            return f"5{block}[{_spell_slots(at)}]"
        case Component(name, at, by):
            return f"4{name}[{_spell_slots(at)}]{''.join(spell(coordinate) for coordinate in by)}"
        case SizeNumber(name):
            return f"1{name}"
        case Pi():
            return "2"
        case Delta(left, right):
            return f"3[{_spell_slots((left, right))}]"
        case Applied(fn, args):
            return f"6{fn}({'|'.join(spell_tensor(arg) for arg in args)})"
        case Base(arg):
            return f"7({spell_tensor(arg)})"
        case MatrixFunction(fn, of, at):
            return f"{_MATRIX_FUNCTIONS[fn]}({spell_tensor(of.entry)}){f'[{_spell_slots(at)}]' * bool(at)}"


def spell_factors(factors: Iterable[Factor]) -> str:
    """Spell a product in the order given."""
    return " ".join([f"{spell(atom)}^{exponent}" for atom, exponent in factors])


@lru_cache(maxsize=limits.REMEMBERED)
def spell_tensor(tensor: Tensor) -> str:
    """Spell a tensor, its free indices left out."""
    return "+".join([f"{term.coefficient} {spell_factors(term.factors)}" for term in tensor.terms])


def sorted_factors(factors: Iterable[Factor]) -> tuple[Factor, ...]:
    """Return the factors of a product in order."""
    return tuple(sorted(factors, key=lambda factor: spell(factor[0])))


def sorted_slots(at: Iterable[Slot]) -> tuple[Slot, ...]:
    """Return slots in order."""
    return tuple(sorted(at, key=spell_slot))


def sorted_indices(indices: Iterable[Index]) -> tuple[Index, ...]:
    """Return indices in order, each once."""
    return tuple(sorted(set(indices), key=spell_slot))


def _spell_slots(at: Iterable[Slot]) -> str:
    """Return slots spelled and joined, in the order given."""
    return ",".join([spell_slot(slot) for slot in at])

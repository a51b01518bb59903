"""The slots of atoms, their nesting, and substitution of slots that leaves the order of everything alone."""

from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction

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
    Term,
)

Factor = tuple[Atom, Fraction]
"""An atom and its exponent."""

ONE = Fraction(1)


def slots(atom: Atom) -> tuple[Slot, ...]:
    """Return the slots of an atom in order; of nested arguments only those that are free in them."""
    match atom:
        case Coordinate(_, at):
            return at
        case Component(_, at, by):
            return at if not by else at + tuple(slot for coordinate in by for slot in coordinate.at)
        case Delta(left, right):
            return (left, right)
        case MatrixFunction(_, _, at):
            return at
        case Applied(_, args):
            return tuple(index for arg in args for index in arg.free)
        case Base(arg):
            return arg.free
        case SizeNumber() | Pi():
            return ()


def indices(factors: Iterable[Factor]) -> set[Index]:
    """Return the indices that occur in a product."""
    return {slot for atom, _ in factors for slot in slots(atom) if isinstance(slot, Index)}


def nested(atom: Atom) -> tuple[Tensor, ...]:
    """Return the arguments of an atom that its slots run through (grids of matrices have slots of their own)."""
    match atom:
        case Applied(_, args):
            return args
        case Base(arg):
            return (arg,)
        case _:
            return ()


def height(factors: Iterable[Factor]) -> int:
    """Return how deep arguments are nested in a product: 0 for x_i, 1 for exp(x_i), 2 for exp(log(1 + x_i)).

    Bound labels carry the height of their term, so a label inside an argument never meets one outside.
    """
    levels = [
        1 + max((height(term.factors) for term in arg.terms), default=0) for atom, _ in factors for arg in nested(atom)
    ]
    return max(levels, default=0)


def occurring(tensor: Tensor) -> Tensor:
    """Return the tensor with only those free indices that occur in its terms."""
    found = {index for term in tensor.terms for index in indices(term.factors)}
    return Tensor(tuple(index for index in tensor.free if index in found), tensor.terms)


def moved(atom: Atom, moves: Mapping[Index, Slot]) -> Atom:
    """Return the atom with free indices replaced by `moves`, at every depth: A_ij with {i: k} is A_kj.

    Nothing is reordered. Where the replacement changes the order of labels or makes two of them equal, the arguments of
    the result are no longer canonical and must be rebuilt (`recipe_compiler.tensor.products.rebuilt`).
    """
    match atom:
        case Coordinate(block, at):
            return Coordinate(block, _replace_slots(at, moves))
        case Component(name, at, by):
            return Component(
                name, _replace_slots(at, moves), tuple(Coordinate(x.block, _replace_slots(x.at, moves)) for x in by)
            )
        case Delta(left, right):
            return Delta(_replace_slot(left, moves), _replace_slot(right, moves))
        case MatrixFunction(fn, of, at):
            return MatrixFunction(fn, of, _replace_slots(at, moves))
        case Applied(fn, args):
            return Applied(fn, tuple(moved_tensor(arg, moves) for arg in args))
        case Base(arg):
            return Base(moved_tensor(arg, moves))
        case SizeNumber() | Pi():
            return atom


def moved_factors(factors: Iterable[Factor], moves: Mapping[Index, Slot]) -> tuple[Factor, ...]:
    """Return factors with free indices replaced, nothing reordered (see `moved`)."""
    return tuple((moved(atom, moves), exponent) for atom, exponent in factors)


def moved_tensor(tensor: Tensor, moves: Mapping[Index, Slot]) -> Tensor:
    """Return the tensor with free indices replaced, nothing reordered (see `moved`)."""
    places = dict.fromkeys(moves.get(index, index) for index in tensor.free)
    terms = tuple(Term(term.coefficient, moved_factors(term.factors, moves)) for term in tensor.terms)
    return Tensor(tuple(slot for slot in places if isinstance(slot, Index)), terms)


def _replace_slot(slot: Slot, moves: Mapping[Index, Slot]) -> Slot:
    """Return the slot that replaces a slot, itself if none does."""
    return moves.get(slot, slot) if isinstance(slot, Index) else slot


def _replace_slots(at: tuple[Slot, ...], moves: Mapping[Index, Slot]) -> tuple[Slot, ...]:
    """Return slots with replacements put in; literal positions stay."""
    return tuple([moves.get(slot, slot) if isinstance(slot, Index) else slot for slot in at])


def everywhere(tensor: Tensor) -> Iterator[Atom]:
    """Yield every atom of a tensor, those inside arguments and matrices included."""
    for term in tensor.terms:
        for atom, _ in term.factors:
            yield atom
            inner = (atom.of.entry,) if isinstance(atom, MatrixFunction) else nested(atom)
            for arg in inner:
                yield from everywhere(arg)

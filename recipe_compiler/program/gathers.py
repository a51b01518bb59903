"""Positions given by the data: sum_j g[n,j] eta[j] becomes eta[g[n]], which reads one entry.

An index field g of the data is the row with a one at a position and zeros elsewhere, so g[n,j] is a delta of j and of
that position. The position is an index with a label of its own, `g[n]`, fixed like n by the row of the data; the delta
removes the sum over j. A delta with an index that is free stays: its term contributes to one entry of the sum only, and
is added there (`scattered`).
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from recipe_compiler.formula.declaration import Declarations
from recipe_compiler.formula.shapes import Size
from recipe_compiler.program.combine import unsupported
from recipe_compiler.program.definition import POSITION
from recipe_compiler.tensor.atoms import ONE, everywhere, moved_factors
from recipe_compiler.tensor.calculus import Calculus, calculus
from recipe_compiler.tensor.terms import Applied, Atom, Base, Component, Delta, Index, Slot, Tensor, Term

Factor = tuple[Atom, Fraction]
Places = Mapping[str, Index]
"""Index field to the position that it says."""


def gathered(tensor: Tensor, fields: Mapping[str, Size]) -> Tensor:
    """Return a term of one datum with its index fields as positions; the same tensor if it has none.

    Its free indices are those it had, and the positions; g[n,0], an entry at a number, is 1 where the position is 0.

    Args:
        tensor: of one datum.
        fields: index fields to the number of their positions.

    Raises:
        ModelError: a division by an entry of an index field.
    """
    occurring = dict.fromkeys(a.name for a in everywhere(tensor) if isinstance(a, Component) and a.name in fields)
    places = {name: Index(fields[name], f"{name}{POSITION}") for name in occurring if fields[name] != 1}
    return _at(calculus(Declarations(), stated=True), tensor, places, fields)


def positions_in(tensor: Tensor) -> tuple[Index, ...]:
    """Return the positions among the free indices of a tensor."""
    return tuple(index for index in tensor.free if index.label.endswith(POSITION))


def _at(c: Calculus, tensor: Tensor, places: Places, fields: Mapping[str, Size]) -> Tensor:
    own = {atom.name for atom in everywhere(tensor) if isinstance(atom, Component) and atom.name in fields}
    if not own:
        return tensor
    terms = [
        Term(t.coefficient, tuple(f for p in t.factors for f in _factor(c, p, places, fields))) for t in tensor.terms
    ]
    return c.collect(terms, (*tensor.free, *(places[name] for name in sorted(own & places.keys()))))


def _factor(c: Calculus, power: Factor, places: Places, fields: Mapping[str, Size]) -> tuple[Factor, ...]:
    """Return a factor with positions, none where it is 1: the only entry of a row of one entry."""
    atom, exponent = power
    match atom:
        case Component(name, (_, slot)) if name in fields:
            if exponent < 0:
                raise unsupported(
                    f"a division by an entry of {name}, which is zero but for one place", "multiply by it"
                )
            return ((Delta(places[name], slot), ONE),) if name in places else ()
        case Applied(fn, args):
            return ((Applied(fn, tuple(_at(c, arg, places, fields) for arg in args)), exponent),)
        case Base(arg):
            return ((Base(_at(c, arg, places, fields)), exponent),)
        case _:
            return (power,)


@dataclass(frozen=True, slots=True)
class Scattered:
    """A term that is added at one place of some axes: their indices with their positions, and the other factors."""

    places: tuple[tuple[Index, Index], ...]
    term: Term


def scattered(term: Term, own: tuple[Index, ...]) -> Scattered:
    """Return a term without the deltas of its own indices and positions, the positions substituted for the indices.

    delta[j, g[n]] w_n with the own index j is w_n, added at the entry g[n] of j.
    """
    places: dict[Index, Slot] = {}
    factors: list[Factor] = []
    for atom, exponent in term.factors:
        pair = _own(atom, own)
        if pair is None or pair[0] in places:
            factors.append((atom, exponent))
        else:
            places[pair[0]] = pair[1]
    at = tuple((index, places[index]) for index in own if index in places)
    rest = moved_factors(factors, places)
    return Scattered(tuple((i, p) for i, p in at if isinstance(p, Index)), replace(term, factors=rest))


def _own(atom: Atom, own: tuple[Index, ...]) -> tuple[Index, Index] | None:
    """Return the index and the position of a delta of both, None of any other atom."""
    match atom:
        case Delta(Index() as left, Index() as right):
            for index, position in ((left, right), (right, left)):
                if index in own and position.label.endswith(POSITION):
                    return index, position
            return None
        case _:
            return None

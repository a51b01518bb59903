"""Positive definiteness of matrices in index notation, by structure, for every size.

Each rule is a theorem: sums, positive multiples, L P L.T with P positive semidefinite, inverses of positive definite
matrices, diagonals of positive entries. What no rule covers is unknown; that says nothing about the matrix.
"""

from dataclasses import dataclass
from enum import IntEnum

from recipe_compiler.formula.declaration import Declarations, Function, Parameter
from recipe_compiler.formula.shapes import Kind
from recipe_compiler.tensor.atoms import Factor, slots
from recipe_compiler.tensor.calculus import Calculus
from recipe_compiler.tensor.inverses import declared_symmetry, grid_sign
from recipe_compiler.tensor.signs import factor_is_nonnegative, factor_is_positive, is_nonnegative, is_positive
from recipe_compiler.tensor.terms import Atom, Component, Coordinate, Delta, Index, Inverse, Slot, Tensor, Term


class Definiteness(IntEnum):
    """What is known of a symmetric matrix; sums and products of rules take the least."""

    UNKNOWN = 0
    SEMIDEFINITE = 1
    DEFINITE = 2


@dataclass(frozen=True, slots=True)
class Link:
    """A matrix in a product, as it is walked through: as it stands, or transposed."""

    atom: Atom
    turned: bool
    symmetric: bool

    def mirrors(self, other: "Link") -> bool:
        """Whether one is the transpose of the other."""
        return _named(self.atom) == _named(other.atom) and (self.symmetric or self.turned != other.turned)


def definiteness(c: Calculus, declarations: Declarations, matrix: Tensor) -> Definiteness:
    """Return what structure says of a matrix with two free indices of one size, or of a scalar without any."""
    if not matrix.free:
        if is_positive(c.rules, matrix):
            return Definiteness.DEFINITE
        return Definiteness.SEMIDEFINITE if is_nonnegative(c.rules, matrix) else Definiteness.UNKNOWN
    if len(matrix.free) != 2:
        return Definiteness.UNKNOWN
    found = [_of_term(c, declarations, term, *matrix.free) for term in matrix.terms]
    if not all(found):
        return Definiteness.UNKNOWN
    return max(found, default=Definiteness.SEMIDEFINITE)


def chain(c: Calculus, term: Term, row: Slot, col: Slot) -> tuple[list[Factor], list[Link]] | None:
    """Return a term as scalars and a product of matrices from `row` to `col`; None if it is none.

    A vector ends the walk from either side: `v_i v_j` is the product of a column and a row.
    """
    scalars = [factor for factor in term.factors if not slots(factor[0])]
    left = [factor for factor in term.factors if slots(factor[0])]
    if any(exponent != 1 for _, exponent in left):
        return None
    forward, end, rest = _walk(c, row, col, [atom for atom, _ in left])
    if end == col and not rest:
        return scalars, forward
    backward, stop, rest = _walk(c, col, row, rest)
    if end is not None or stop is not None or rest:
        return None
    return scalars, [*forward, *(Link(x.atom, not x.turned, x.symmetric) for x in reversed(backward))]


def _walk(c: Calculus, start: Slot, goal: Slot, atoms: list[Atom]) -> tuple[list[Link], Slot | None, list[Atom]]:
    """Return the matrices on the way from an index, where it ends (None: at a vector), and the atoms left."""
    links: list[Link] = []
    here: Slot | None = start
    while isinstance(here, Index) and (here != goal or not links):
        touching = [atom for atom in atoms if here in slots(atom)]
        if len(touching) != 1:
            return links, here, atoms
        atom = touching[0]
        match atom:
            case Component(_, (_,), ()) | Coordinate(_, (_,)):
                links.append(Link(atom, turned=False, symmetric=False))
                here = None
            case Component(_, (left, right), ()) | Inverse(_, (left, right)) if left != right:
                turned = right == here
                links.append(Link(atom, turned, _is_symmetric(c, atom)))
                here = left if turned else right
            case _:
                return links, here, atoms
        atoms = [other for other in atoms if other is not atom]
    return links, here, atoms


def _of_term(c: Calculus, declarations: Declarations, term: Term, row: Index, col: Index) -> Definiteness:
    if term.coefficient < 0:
        return Definiteness.UNKNOWN
    diagonal = (Delta(row, col), Delta(col, row))
    if any(atom in diagonal for atom, _ in term.factors):
        return _of_scalars(c, declarations, [factor for factor in term.factors if factor[0] not in diagonal])
    found = chain(c, term, row, col)
    if found is None:
        return Definiteness.UNKNOWN
    scalars, links = found
    return min(_of_scalars(c, declarations, scalars), _of_chain(c, declarations, links))


def _of_scalars(c: Calculus, declarations: Declarations, factors: list[Factor]) -> Definiteness:
    """Return what is known of a product of entries, summed over whatever it is summed over."""
    return min((_of_entry(c, declarations, factor) for factor in factors), default=Definiteness.DEFINITE)


def _of_entry(c: Calculus, declarations: Declarations, factor: Factor) -> Definiteness:
    """Return the sign of a factor: positive, nonnegative or unknown; the diagonal has the sign of its matrix."""
    atom = factor[0]
    at = slots(atom)
    if factor_is_positive(c.rules, factor):
        return Definiteness.DEFINITE
    of_matrix = definite_atom(c, declarations, atom) if len(at) == 2 and at[0] == at[1] else Definiteness.UNKNOWN
    if of_matrix is Definiteness.DEFINITE or (of_matrix and factor[1] > 0):
        return of_matrix
    return Definiteness.SEMIDEFINITE if factor_is_nonnegative(c.rules, factor) else Definiteness.UNKNOWN


def _of_chain(c: Calculus, declarations: Declarations, links: list[Link]) -> Definiteness:
    """Return what is known of `L P L.T`; it is definite only if every factor is known to be invertible."""
    half = len(links) // 2
    left, right = links[:half], links[len(links) - half :]
    if not all(one.mirrors(other) for one, other in zip(left, reversed(right), strict=True)):
        return Definiteness.UNKNOWN
    centre = Definiteness.DEFINITE if len(links) == 2 * half else definite_atom(c, declarations, links[half].atom)
    if centre is Definiteness.UNKNOWN:
        return centre
    invertible = all(
        isinstance(link.atom, Inverse) or definite_atom(c, declarations, link.atom) is Definiteness.DEFINITE
        for link in left
    )
    return centre if invertible else Definiteness.SEMIDEFINITE


def definite_atom(c: Calculus, declarations: Declarations, atom: Atom) -> Definiteness:
    """Return what is known of one matrix: by its kind, or as the inverse of a definite one."""
    match atom:
        case Inverse(of, _):
            known = definiteness(c, declarations, of.entry)
            return known if known is Definiteness.DEFINITE else Definiteness.UNKNOWN
        case Component(name, (_, _), ()):
            item = declarations.find(name)
            kinds = item.kinds if isinstance(item, (Parameter, Function)) else ()
            if Kind.PD in kinds or {Kind.DIAGONAL, Kind.POSITIVE} <= set(kinds):
                return Definiteness.DEFINITE
            semidefinite = Kind.PSD in kinds or {Kind.DIAGONAL, Kind.NONNEGATIVE} <= set(kinds)
            return Definiteness.SEMIDEFINITE if semidefinite else Definiteness.UNKNOWN
        case _:
            return Definiteness.UNKNOWN


def _is_symmetric(c: Calculus, atom: Atom) -> bool:
    match atom:
        case Inverse(of, _):
            return grid_sign(c, of) == 1
        case Component(name, (_, _), ()):
            return declared_symmetry(c.rules, name) == 1
        case _:
            return False


def _named(atom: Atom) -> object:
    """Return what an atom is apart from its slots."""
    match atom:
        case Inverse(of, _):
            return of
        case Component(name, at, _) | Coordinate(name, at):
            return type(atom).__name__, name, len(at)
        case _:
            return atom

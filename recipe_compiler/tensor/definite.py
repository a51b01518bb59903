"""Matrices and scalars of index notation that are positive definite, or invertible, by structure, for every size.

Each rule is a theorem: sums of semidefinite matrices are semidefinite, and definite if one of them is; positive
multiples; L P L.T with P positive semidefinite; sum_k w_k a_k a_k.T with w_k >= 0; inverses of positive definite
matrices; diagonals of positive entries; exponentials of semidefinite matrices, entry by entry.
A product of invertible square matrices is invertible, so is an inverse, and a diagonal without zeros. What no rule
covers is unknown, which says nothing about the matrix.
"""

from dataclasses import dataclass
from enum import IntEnum
from typing import TypeGuard

from recipe_compiler.tensor.atoms import ONE, Factor, indices, slots
from recipe_compiler.tensor.calculus import Calculus
from recipe_compiler.tensor.diagonal import diagonal
from recipe_compiler.tensor.inverses import declared_symmetry, grid_sign
from recipe_compiler.tensor.signs import factor_is_nonnegative, factor_is_positive, is_nonnegative, is_positive
from recipe_compiler.tensor.terms import (
    Applied,
    Atom,
    Base,
    Component,
    Coordinate,
    Delta,
    Index,
    MatrixFunction,
    Slot,
    Tensor,
    Term,
)
from recipe_compiler.tensor.walks import DirectedLink, between, is_product, uses

Names = frozenset[str]


def never_zero(c: Calculus, tensor: Tensor, nonzero: Names) -> bool:
    """Whether an expression vanishes at no state and at no position of its indices; `nonzero` are names declared so.

    1 + theta_i**2 never does, and so does a product of such factors. False says nothing.
    """
    if is_positive(c.rules, tensor) or is_positive(c.rules, c.scale(tensor, -1)):
        return True
    return len(tensor.terms) == 1 and all(_factor_nonzero(c, factor, nonzero) for factor in tensor.terms[0].factors)


def is_invertible(c: Calculus, matrix: Tensor, row: Index, col: Index, nonzero: Names) -> bool:
    """Whether a square matrix, [n, n] with the free indices `row` and `col`, is invertible wherever it is defined.

    Products of invertible matrices are, diagonals without zeros, definite matrices and their negatives: inv(M) G with M
    and G positive definite is, although it need not be symmetric. False says nothing.
    """
    if row.size != col.size or not matrix.terms:
        return False
    entries = diagonal(matrix, row, col)
    if entries is not None:
        return never_zero(c, entries, nonzero)
    product = chain(c, matrix.terms[0], row, col) if len(matrix.terms) == 1 else None
    if product is not None:
        scalars, links = product
        if all(_factor_nonzero(c, s, nonzero) for s in scalars) and all(_is_invertible_link(c, x) for x in links):
            return True
    return any(definiteness(c, c.scale(matrix, sign)) is Definiteness.DEFINITE for sign in (1, -1))


def _factor_nonzero(c: Calculus, factor: Factor, nonzero: Names) -> bool:
    """Whether a power of an atom vanishes nowhere; an atom without a fixed sign must have no index."""
    atom, exponent = factor
    if factor_is_positive(c.rules, (atom, ONE)):
        return True
    return not slots(atom) and (exponent < 0 or (isinstance(atom, Component) and not atom.by and atom.name in nonzero))


class Definiteness(IntEnum):
    """What is known of a symmetric matrix; sums and products of rules take the least."""

    UNKNOWN = 0
    SEMIDEFINITE = 1
    DEFINITE = 2


@dataclass(frozen=True, slots=True)
class Link:
    """A matrix or a column in a product."""

    atom: Atom
    ends: tuple[Slot, Slot | None]
    symmetric: bool


Chain = tuple[DirectedLink[Link], ...]


def definiteness(c: Calculus, matrix: Tensor) -> Definiteness:
    """Return what structure shows of a d x d matrix (two free indices), or of a scalar (none), for every size d.

    A definite matrix plus a semidefinite one is definite: M + C with M declared positive definite and C semidefinite. A
    1 x 1 matrix is judged as a scalar. Symmetry is not checked here.

    Worked example, term by term, for A = B C B.T + eps I with C semidefinite and eps > 0: the first term is the chain
    B, C, B.T, whose halves mirror each other around C, hence SEMIDEFINITE (DEFINITE would need B invertible); the
    second is delta_ij times a positive number, DEFINITE. No term is UNKNOWN, so A has the larger of the two: DEFINITE.
    """
    if not matrix.free or [index.size for index in matrix.free] == [1, 1]:
        if is_positive(c.rules, matrix):
            return Definiteness.DEFINITE
        return Definiteness.SEMIDEFINITE if is_nonnegative(c.rules, matrix) else Definiteness.UNKNOWN
    if len(matrix.free) != 2:
        return Definiteness.UNKNOWN
    found = [_definiteness_of_term(c, term, *matrix.free) for term in matrix.terms]
    if not all(found):
        return Definiteness.UNKNOWN
    return max(found, default=Definiteness.SEMIDEFINITE)


def chain(c: Calculus, term: Term, row: Index, col: Index) -> tuple[list[Factor], Chain] | None:
    """Split a term into scalar factors and a product of matrices from `row` to `col`; None if it is no such product.

    s A_ij B_jk, A: [n, m] and B: [m, k], is (s, chain A B) from i to k; A_ij x_j y_k, where a column ends the walk from
    either side, is A x y.T.
    """
    scalars = [factor for factor in term.factors if not slots(factor[0])]
    links = [_as_link(c, factor) for factor in term.factors if slots(factor[0])]
    known = [link for link in links if link is not None]
    counted = uses(known)
    if len(known) < len(links) or not is_product(known, (row, col)) or not counted[row] == counted[col] == 1:
        return None
    found = between(row, col, known)
    return None if found is None or found[1] else (scalars, found[0])


def _as_link(c: Calculus, factor: Factor) -> Link | None:
    """Return a factor as a column or matrix of a product, None for powers and other atoms."""
    match factor:
        case (Component(_, (at,), ()) | Coordinate(_, (at,))) as atom, exponent if exponent == 1:
            return Link(atom, (at, None), symmetric=False)
        case (Component(_, (row, col), ()) | MatrixFunction(_, _, (row, col))) as atom, exponent if exponent == 1:
            return Link(atom, (row, col), _is_symmetric(c, atom))
        case _:
            return None


def mirrors(one: DirectedLink[Link], other: DirectedLink[Link]) -> bool:
    """Whether a matrix or column of a product is the transpose of another."""
    same = _identity_without_slots(one.link.atom) == _identity_without_slots(other.link.atom)
    return same and (one.link.symmetric or one.forwards != other.forwards)


def _definiteness_of_term(c: Calculus, term: Term, row: Index, col: Index) -> Definiteness:
    """Return what structure shows of one term: diagonal, kernel, product L P L.T or weighted squares."""
    if term.coefficient < 0:
        return Definiteness.UNKNOWN
    diagonal = (Delta(row, col), Delta(col, row))
    if any(atom in diagonal for atom, _ in term.factors):
        return _sign_of_product(c, [factor for factor in term.factors if factor[0] not in diagonal])
    kernels = [atom for atom, exponent in term.factors if exponent == 1 and _is_entrywise_exponential(atom, row, col)]
    if kernels:
        others = [factor for factor in term.factors if factor[0] not in kernels]
        if {row, col} & indices(others):
            return Definiteness.UNKNOWN
        return min(
            _sign_of_product(c, others), *(_definiteness_of_exponential(c, one.args[0], row, col) for one in kernels)
        )
    found = chain(c, term, row, col)
    if found is None:
        return _definiteness_of_squares(c, term, row, col)
    scalars, links = found
    return min(_sign_of_product(c, scalars), _definiteness_of_chain(c, links))


def _definiteness_of_squares(c: Calculus, term: Term, row: Index, col: Index) -> Definiteness:
    """Return semidefinite for sum_k w_k a_ik a_jk with no w_k negative, k any indices; else unknown."""
    left, right = ([factor for factor in term.factors if at in indices([factor])] for at in (row, col))
    if len(left) != 1 or len(right) != 1 or left == right:
        return Definiteness.UNKNOWN
    free = tuple(indices(left) - {row})
    mirrored = c.rename(c.collect([Term(ONE, tuple(left))], (row, *free)), {row: col})
    if mirrored.terms != (Term(ONE, tuple(right)),):
        return Definiteness.UNKNOWN
    weights = _sign_of_product(c, [factor for factor in term.factors if factor not in (*left, *right)])
    return min(weights, Definiteness.SEMIDEFINITE)


def _is_entrywise_exponential(atom: Atom, row: Index, col: Index) -> TypeGuard[Applied]:
    """Whether an atom is the exponential of an expression with both indices of a matrix."""
    return isinstance(atom, Applied) and atom.fn == "exp" and {row, col} <= {*atom.args[0].free}


def _definiteness_of_exponential(c: Calculus, exponent: Tensor, row: Index, col: Index) -> Definiteness:
    """Return semidefinite for the matrix exp(g_i + g_j + P_ij), entry by entry, where P is; else unknown.

    Powers of P, entry by entry, are semidefinite, so is their sum exp(P_ij) with positive coefficients, and so is
    what is multiplied by exp(g_i) exp(g_j) (Schur 1911). -s (u_i - u_j)**2 with s >= 0 has P = 2 s u u.T.
    """
    left = [term for term in exponent.terms if not _is_squared_difference(c, term, row, col)]
    sides = _split_by_indices(Tensor(exponent.free, tuple(left)), row, col)
    if not all(_definiteness_of_term(c, term, row, col) for term in sides[2]):
        return Definiteness.UNKNOWN
    return Definiteness.SEMIDEFINITE if c.rename(sides[0], {row: col}) == sides[1] else Definiteness.UNKNOWN


def _is_squared_difference(c: Calculus, term: Term, row: Index, col: Index) -> bool:
    """Whether a term is -s (u_i - u_j)**2 with s >= 0."""
    squares = [atom for atom, exponent in term.factors if isinstance(atom, Base) and exponent == 2]
    if term.coefficient > 0 or len(squares) != 1:
        return False
    others = [factor for factor in term.factors if factor[0] != squares[0]]
    sides = _split_by_indices(squares[0].arg, row, col)
    apart = len(sides[0].terms) + len(sides[1].terms) == len(squares[0].arg.terms)
    if not apart or any(slots(atom) for atom, _ in others) or not _sign_of_product(c, others):
        return False
    return c.rename(sides[0], {row: col}) == c.scale(sides[1], -1)


def _split_by_indices(tensor: Tensor, row: Index, col: Index) -> tuple[Tensor, Tensor, tuple[Term, ...]]:
    """Return the terms of a sum with the row index alone, the column index alone, and both."""
    found: dict[frozenset[Index], list[Term]] = {}
    for term in tensor.terms:
        found.setdefault(frozenset({row, col} & indices(term.factors)), []).append(term)
    one, other = (Tensor((at,), tuple(found.get(frozenset({at}), ()))) for at in (row, col))
    return one, other, tuple(found.get(frozenset({row, col}), ()))


def _sign_of_product(c: Calculus, factors: list[Factor]) -> Definiteness:
    """Return definite, semidefinite or unknown for a product that is positive, nonnegative or neither."""
    return min((_sign_of_entry(c, factor) for factor in factors), default=Definiteness.DEFINITE)


def _sign_of_entry(c: Calculus, factor: Factor) -> Definiteness:
    """Return the sign of a factor: positive, nonnegative or unknown; the diagonal has the sign of its matrix."""
    atom = factor[0]
    at = slots(atom)
    if factor_is_positive(c.rules, factor):
        return Definiteness.DEFINITE
    of_matrix = definite_atom(c, atom) if len(at) == 2 and at[0] == at[1] else Definiteness.UNKNOWN
    if of_matrix is Definiteness.DEFINITE or (of_matrix and factor[1] > 0):
        return of_matrix
    return Definiteness.SEMIDEFINITE if factor_is_nonnegative(c.rules, factor) else Definiteness.UNKNOWN


def _definiteness_of_chain(c: Calculus, links: Chain) -> Definiteness:
    """Return the definiteness of `L P L.T`: that of P, only semidefinite if a factor of L may be singular."""
    half = len(links) // 2
    left, right = links[:half], links[len(links) - half :]
    if not all(mirrors(one, other) for one, other in zip(left, reversed(right), strict=True)):
        return Definiteness.UNKNOWN
    centre = Definiteness.DEFINITE if len(links) == 2 * half else definite_atom(c, links[half].link.atom)
    if centre is Definiteness.UNKNOWN or all(_is_invertible_link(c, step) for step in left):
        return centre
    return Definiteness.SEMIDEFINITE


def _is_invertible_link(c: Calculus, step: DirectedLink[Link]) -> bool:
    """Whether a matrix of a product is an inverse, a Cholesky factor or positive definite."""
    atom = step.link.atom
    return isinstance(atom, MatrixFunction) or definite_atom(c, atom) is Definiteness.DEFINITE


def definite_atom(c: Calculus, atom: Atom) -> Definiteness:
    """Return the definiteness of one matrix, [n, n]: by its declared kind, or as the inverse of a definite one."""
    match atom:
        case MatrixFunction("inv", of):
            known = definiteness(c, of.entry)
            return known if known is Definiteness.DEFINITE else Definiteness.UNKNOWN
        case Component(name, (_, _), ()):
            if name in c.rules.definite or name in c.rules.positive_diagonal:
                return Definiteness.DEFINITE
            return Definiteness.SEMIDEFINITE if name in c.rules.semidefinite else Definiteness.UNKNOWN
        case _:
            return Definiteness.UNKNOWN


def _is_symmetric(c: Calculus, atom: Atom) -> bool:
    """Whether a matrix is symmetric by declaration, or the inverse of a symmetric one."""
    match atom:
        case MatrixFunction("inv", of):
            return grid_sign(c, of) == 1
        case Component(name, (_, _), ()):
            return declared_symmetry(c.rules, name) == 1
        case _:
            return False


def _identity_without_slots(atom: Atom) -> object:
    """Return an atom without its slots, to compare atoms."""
    match atom:
        case MatrixFunction(fn, of):
            return fn, of
        case Component(name, at, _) | Coordinate(name, at):
            return type(atom).__name__, name, len(at)
        case _:
            return atom

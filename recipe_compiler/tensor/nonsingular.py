"""Matrices and scalars of index notation that are invertible, or positive definite, at every state and size.

Rules by structure, each a theorem: a product of invertible square matrices is one, an inverse is one, so is a diagonal
without zeros, so is a sum of positive semidefinite matrices of which one is definite. What no rule covers is not known.
"""

from dataclasses import dataclass

from recipe_compiler.tensor.atoms import ONE, Factor, slots
from recipe_compiler.tensor.calculus import Calculus
from recipe_compiler.tensor.definite import is_definite_by_terms
from recipe_compiler.tensor.signs import factor_is_positive, is_positive
from recipe_compiler.tensor.terms import Atom, Component, Delta, Index, Inverse, Slot, Tensor, Term
from recipe_compiler.tensor.walks import between, is_product, uses

Names = frozenset[str]


def never_zero(c: Calculus, tensor: Tensor, nonzero: Names) -> bool:
    """Whether an expression vanishes nowhere, at no place of its indices; `nonzero` are names declared so."""
    if is_positive(c.rules, tensor) or is_positive(c.rules, c.scale(tensor, -1)):
        return True
    return len(tensor.terms) == 1 and all(_factor_nonzero(c, factor, nonzero) for factor in tensor.terms[0].factors)


def is_invertible(c: Calculus, matrix: Tensor, row: Index, col: Index, nonzero: Names) -> bool:
    """Whether a square matrix with the free indices `row` and `col` is invertible wherever it is defined."""
    if row.size != col.size or not matrix.terms:
        return False
    diagonal = _diagonal(c, matrix, row, col)
    if diagonal is not None:
        return never_zero(c, diagonal, nonzero)
    if len(matrix.terms) == 1 and _is_chain(c, matrix.terms[0], row, col, nonzero):
        return True
    return any(is_definite_by_terms(c, c.scale(matrix, sign)) for sign in (1, -1))


def _diagonal(c: Calculus, matrix: Tensor, row: Index, col: Index) -> Tensor | None:
    """Return the diagonal of a matrix whose every term holds `delta`, None of any other."""
    if not all(any(atom in _deltas(row, col) for atom, _ in term.factors) for term in matrix.terms):
        return None
    return c.rename(matrix, {col: row})


def _deltas(row: Index, col: Index) -> tuple[Delta, Delta]:
    return Delta(row, col), Delta(col, row)


def _factor_nonzero(c: Calculus, factor: Factor, nonzero: Names) -> bool:
    """Whether a power of an atom vanishes nowhere; one of either sign must have no index that may be summed over."""
    atom, exponent = factor
    if factor_is_positive(c.rules, (atom, ONE)):
        return True
    return not slots(atom) and (exponent < 0 or (isinstance(atom, Component) and not atom.by and atom.name in nonzero))


def _is_chain(c: Calculus, term: Term, row: Index, col: Index, nonzero: Names) -> bool:
    """Whether a term is a product of invertible matrices from `row` to `col`, times scalars that vanish nowhere."""
    scalars = [factor for factor in term.factors if not slots(factor[0])]
    if not all(_factor_nonzero(c, factor, nonzero) for factor in scalars):
        return False
    matrices = [factor for factor in term.factors if slots(factor[0])]
    if any(exponent != 1 or not _is_invertible_atom(c, atom) for atom, exponent in matrices):
        return False
    links = [_Matrix((left, right)) for left, right in (slots(atom) for atom, _ in matrices)]
    counted = uses(links)
    square = all(isinstance(slot, Index) and slot.size == row.size for slot in counted)
    if not square or not is_product(links, (row, col)) or not counted[row] == counted[col] == 1:
        return False
    found = between(row, col, links)
    return found is not None and not found[1]


@dataclass(frozen=True, slots=True)
class _Matrix:
    """A square matrix in a product."""

    ends: tuple[Slot, Slot | None]


def _is_invertible_atom(c: Calculus, atom: Atom) -> bool:
    match atom:
        case Inverse() | Delta():
            return True
        case Component(name, (_, _), ()):
            return name in c.rules.definite
        case _:
            return False

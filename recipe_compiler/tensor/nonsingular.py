"""Matrices and scalars of index notation that are invertible, or positive definite, at every state and size.

Rules by structure, each a theorem: a product of invertible square matrices is one, an inverse is one, so is a diagonal
without zeros, so is a sum of positive semidefinite matrices of which one is definite. What no rule covers is not known.
"""

from collections import Counter

from recipe_compiler.tensor.atoms import ONE, Factor, slots
from recipe_compiler.tensor.calculus import Calculus
from recipe_compiler.tensor.signs import factor_is_positive, is_positive
from recipe_compiler.tensor.terms import Atom, Component, Delta, Index, Inverse, Slot, Tensor, Term

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
    return any(is_definite(c, c.scale(matrix, sign), row, col) for sign in (1, -1))


def is_definite(c: Calculus, matrix: Tensor, row: Index, col: Index) -> bool:
    """Whether a matrix is shown to be symmetric positive definite: semidefinite terms, one of them definite."""
    found = [_definite_term(c, term, row, col) for term in matrix.terms]
    return any(found) and all(strict is not None for strict in found)


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
    matrices: list[tuple[Slot, Slot]] = []
    for atom, exponent in term.factors:
        if not slots(atom):
            if not _factor_nonzero(c, (atom, exponent), nonzero):
                return False
            continue
        if exponent != 1 or not _is_invertible_atom(c, atom):
            return False
        left, right = slots(atom)
        matrices.append((left, right))
    uses = Counter(slot for pair in matrices for slot in pair)
    inner = {slot for slot in uses if slot not in (row, col)}
    if uses[row] != 1 or uses[col] != 1 or any(uses[slot] != 2 for slot in inner):
        return False
    if any(not isinstance(slot, Index) or slot.size != row.size for slot in uses):
        return False
    here: Slot = row
    while matrices:
        at = next((n for n, pair in enumerate(matrices) if here in pair), None)
        if at is None:
            return False
        left, right = matrices.pop(at)
        if left == right:
            return False
        here = right if left == here else left
    return here == col


def _is_invertible_atom(c: Calculus, atom: Atom) -> bool:
    match atom:
        case Inverse() | Delta():
            return True
        case Component(name, (_, _), ()):
            return name in c.rules.definite
        case _:
            return False


def _definite_term(c: Calculus, term: Term, row: Index, col: Index) -> bool | None:
    """Return whether a term is positive definite (True) or only semidefinite (False); None if neither is shown."""
    scalars = [factor for factor in term.factors if not slots(factor[0])]
    matrices = [factor for factor in term.factors if slots(factor[0])]
    if term.coefficient <= 0 or not all(factor_is_positive(c.rules, factor) for factor in scalars):
        return None
    if any(atom in _deltas(row, col) for atom, _ in matrices):
        rest = tuple(factor for factor in matrices if factor[0] not in _deltas(row, col))
        diagonal = c.rename(c.collect([Term(ONE, rest)], [i for i in (row, col) if _holds(rest, i)]), {col: row})
        return True if is_positive(c.rules, diagonal) else None
    match matrices:
        case [(Component(name, (a, b), ()), exponent)] if {a, b} == {row, col} and exponent == 1:
            return True if name in c.rules.definite else None
        case [(Inverse(of, (a, b)), exponent)] if {a, b} == {row, col} and exponent == 1:
            return True if is_definite(c, of.entry, of.row, of.col) else None
        case _:
            return None


def _holds(factors: tuple[Factor, ...], index: Index) -> bool:
    return any(index in slots(atom) for atom, _ in factors)

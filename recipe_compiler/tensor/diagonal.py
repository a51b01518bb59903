"""The diagonal of a matrix that is diagonal by its form."""

from recipe_compiler.tensor.atoms import moved_factors
from recipe_compiler.tensor.terms import Delta, Index, Slot, Tensor, Term


def diagonal(matrix: Tensor, row: Index, col: Index) -> Tensor | None:
    """Return s, [n], with matrix_ij = delta_ij s_i, s having the free index `row`; None if a term lacks that delta."""
    deltas = ((Delta(row, col), 1), (Delta(col, row), 1))
    moves: dict[Index, Slot] = {col: row}
    terms: list[Term] = []
    for term in matrix.terms:
        rest = tuple(factor for factor in term.factors if factor not in deltas)
        if len(rest) == len(term.factors):
            return None
        terms.append(Term(term.coefficient, moved_factors(rest, moves)))
    return Tensor((row,), tuple(terms))

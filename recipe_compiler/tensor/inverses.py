"""Inverses, determinants and Cholesky factors of matrices given entry by entry, of symbolic size.

    inv(c A) = inv(A)/c      inv(diag(v)) = diag(1/v)      inv(inv(A)) = A      sum_s inv(A)_is A_sj = delta_ij
    cholesky(c A) = sqrt(c) cholesky(A)      cholesky(diag(v)) = diag(sqrt(v))      det cholesky(A) = sqrt(det A)

Nothing else is expanded: inv(A)_ij is an atom, and inv(A.T)_ij the same atom with its slots exchanged.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from typing import TypeGuard

from recipe_compiler import limits
from recipe_compiler.formula.shapes import Size
from recipe_compiler.tensor.atoms import ONE, Factor, slots
from recipe_compiler.tensor.calculus_protocol import Arithmetic, constant, meaningless
from recipe_compiler.tensor.order import spell_tensor
from recipe_compiler.tensor.rules import Rules
from recipe_compiler.tensor.signs import is_positive
from recipe_compiler.tensor.terms import (
    Atom,
    Component,
    Delta,
    Grid,
    Index,
    MatrixFunction,
    SizeNumber,
    Slot,
    Tensor,
    Term,
)

HALF = Fraction(1, 2)


def grid_indices(size: Size) -> tuple[Index, Index]:
    """Return the row and column indices that every canonical grid of a size has: `i` and `j`."""
    return Index(size, "i"), Index(size, "j")


def size_number(size: Size) -> Tensor:
    """Return a size as a scalar tensor: a number where it is fixed, else the symbol d."""
    if isinstance(size, int):
        return constant(size)
    return Tensor((), (Term(ONE, ((SizeNumber(size), ONE),)),))


def inverse(c: Arithmetic, grid: Grid, at: tuple[Slot, Slot]) -> Tensor:
    """Return the entry `at` of inv(A), A: [n, n] of any size n.

    Diagonal matrices (a delta in every term) are inverted entry by entry, scalar factors leave the inverse, inv(inv(A))
    is A, and of a matrix and its transpose one stands for both: inv(c A)_ij = inv(A)_ij/c, inv(diag(v))_ij =
    delta_ij/v_i. That A is invertible is not decided here.

    Raises:
        ModelError: the matrix is zero everywhere, or differs from datum to datum.
    """
    grid = _canonical_grid(c, grid)
    row, col = grid.row, grid.col
    content, entry = _without_scalars(c, grid)
    if content is not None:
        return c.multiply(c.power(content, -1), inverse(c, Grid(row, col, entry), at))
    diagonal = _find_diagonal(c, grid)
    if diagonal is not None:
        return _on_diagonal(c, c.power(diagonal, -1), row, at)
    match entry.terms:
        case (Term(coefficient, ((MatrixFunction("inv", of, inner), exponent),)),) if coefficient == exponent == 1:
            places: dict[Slot, Slot] = dict(zip((row, col), at, strict=True))
            moves = dict(zip((of.row, of.col), (places[inner[0]], places[inner[1]]), strict=True))
            return c.rename(of.entry, moves)
        case ():
            raise meaningless("found the inverse of a matrix that is zero everywhere")
        case _:
            swapped = _transpose_grid(c, grid)
            if spell_tensor(swapped) < spell_tensor(entry):
                grid, at = Grid(row, col, swapped), (at[1], at[0])
            return _entry(c, "inv", grid, at)


def determinant(c: Arithmetic, grid: Grid, *, log: bool) -> Tensor:
    """Return the scalar det A, or log det A, of A: [n, n].

    Of a diagonal with positive entries v it is exp(sum_i log v_i). det A = det A.T: of the two spellings one stands for
    both. Any other matrix gives one atom.
    """
    grid = _canonical_grid(c, grid)
    diagonal = _find_diagonal(c, grid)
    if diagonal is not None and is_positive(c.rules, diagonal):
        logarithm = c.total(c.applied("log", diagonal), grid.row)
        return logarithm if log else c.applied("exp", logarithm)
    match grid.entry.terms:
        case (Term(coefficient, ((MatrixFunction("cholesky", of), exponent),)),) if coefficient == exponent == 1:
            whole = determinant(c, of, log=log)
            return c.scale(whole, HALF) if log else c.power(whole, HALF)
        case _:
            pass
    swapped = _transpose_grid(c, grid)
    if spell_tensor(swapped) < spell_tensor(grid.entry):
        grid = Grid(grid.row, grid.col, swapped)
    return _entry(c, "logdet" if log else "det", grid, ())


def cholesky(c: Arithmetic, grid: Grid, at: tuple[Slot, Slot]) -> Tensor:
    """Return the entry L_ij of the lower triangle with L L.T = A, A: [n, n]. That A is definite is not decided here.

    Raises:
        ModelError: the matrix is zero everywhere, or differs from datum to datum.
    """
    grid = _canonical_grid(c, grid)
    if grid.entry.is_zero:
        raise meaningless("found the Cholesky factor of a matrix that is zero everywhere")
    content, entry = _without_scalars(c, grid)
    if content is not None and is_positive(c.rules, content):
        return c.multiply(c.power(content, HALF), cholesky(c, Grid(grid.row, grid.col, entry), at))
    diagonal = _find_diagonal(c, grid)
    if diagonal is not None:
        return _on_diagonal(c, c.power(diagonal, HALF), grid.row, at)
    row, col = at
    above = isinstance(row, int) and isinstance(col, int) and row < col
    return constant(0) if above else _entry(c, "cholesky", grid, at)


def halved_triangle(c: Arithmetic, size: Size, at: tuple[Slot, Slot]) -> Tensor:
    """Return the entry of the n x n matrix that is 1 below its diagonal, 1/2 on it, and 0 above."""
    row, col = grid_indices(size)
    return _entry(c, "halved", Grid(row, col, constant(1, (row, col))), at)


def _entry(c: Arithmetic, fn: str, grid: Grid, at: tuple[Slot, ...]) -> Tensor:
    atom = MatrixFunction(fn, grid, at)
    return c.collect([Term(ONE, ((atom, ONE),))], [slot for slot in at if isinstance(slot, Index)])


def _on_diagonal(c: Arithmetic, entry: Tensor, row: Index, at: tuple[Slot, Slot]) -> Tensor:
    """Return the entry of the diagonal matrix that has `entry`, a function of the index `row`, on its diagonal."""
    free = tuple(slot for slot in at if isinstance(slot, Index))
    return c.multiply(c.collect([Term(ONE, ((Delta(*at), ONE),))], free), _put_slot(c, entry, row, at[0]))


def grid_sign(c: Arithmetic, grid: Grid) -> int:
    """Return 1 if A = A.T, -1 if A = -A.T, A: [n, n], by declaration or canonical form; 0 if neither is seen."""
    match grid.entry.terms:
        case (Term(_, ((Component(name, (left, right), ()), exponent),)),) if left != right and exponent == 1:
            return declared_symmetry(c.rules, name)
        case _:
            return _computed_sign(c, grid)


@lru_cache(maxsize=limits.REMEMBERED)
def _computed_sign(c: Arithmetic, grid: Grid) -> int:
    """Return 1 or -1 if a matrix equals its transpose or its negative, else 0; cached."""
    swapped = _transpose_grid(c, grid)
    if swapped == grid.entry:
        return 1
    return -1 if c.scale(swapped, -1) == grid.entry else 0


def contracted(
    c: Arithmetic, factors: Sequence[Factor], free: frozenset[Index]
) -> tuple[tuple[Factor, ...], Index] | None:
    """Replace one pair sum_s inv(A)_as A_sb by delta_ab, A: [n, n]; return the factors and s, or None without one.

    The index s must occur nowhere else: sum_s inv(A)_as A_sb x_s is no matrix product. For a symmetric A every order of
    slots counts. A is one atom here: inv(M) with M, inv(cholesky(M)) with cholesky(M), not with a sum.
    """
    inverses = [atom for atom, exponent in factors if _is_inverse(atom) and exponent == 1]
    if not inverses:
        return None
    uses = Counter(slot for atom, _ in factors for slot in slots(atom))
    for atom in inverses:
        for other, exponent in factors:
            if exponent != 1 or not _is_matrix(other):
                continue
            pair = _find_contraction(
                c, atom, other, {slot for slot, count in uses.items() if count == 2 and slot not in free}
            )
            if pair is not None:
                rest = tuple(factor for factor in factors if factor[0] not in (atom, other))
                return (*rest, (pair[0], ONE)), pair[1]
    return None


def _is_inverse(atom: Atom) -> TypeGuard[MatrixFunction]:
    return isinstance(atom, MatrixFunction) and atom.fn == "inv"


def _is_matrix(atom: Atom) -> TypeGuard[Component | MatrixFunction]:
    return len(slots(atom)) == 2 and (isinstance(atom, MatrixFunction) or (isinstance(atom, Component) and not atom.by))


def _find_contraction(
    c: Arithmetic, inverse_: MatrixFunction, matrix: Component | MatrixFunction, once: set[Slot]
) -> tuple[Delta, Index] | None:
    """Return the delta that replaces inv(A)_as A_sb, and s; None if the two factors do not contract."""
    entry = replace(matrix, at=(inverse_.of.row, inverse_.of.col))
    if inverse_.of.entry.terms != (Term(ONE, ((entry, ONE),)),):
        return None
    (a, b), (p, q) = inverse_.at, matrix.at
    symmetric = grid_sign(c, inverse_.of) == 1
    pairs = [(b, p, a, q), (a, q, b, p)]
    pairs += [(a, p, b, q), (b, q, a, p)] if symmetric else []
    for shared, same, left, right in pairs:
        if shared == same and isinstance(shared, Index) and shared in once:
            return Delta(left, right), shared
    return None


def _canonical_grid(c: Arithmetic, grid: Grid) -> Grid:
    """Return a matrix with its free indices renamed to `i` and `j`."""
    row, col = grid_indices(grid.row.size)
    if set(grid.entry.free) - {grid.row, grid.col}:
        raise meaningless("found an inverse, determinant or Cholesky factor that differs from datum to datum")
    entry = c.rename(grid.entry, {grid.row: row, grid.col: col})
    return Grid(row, col, Tensor((row, col), entry.terms))


def _transpose_grid(c: Arithmetic, grid: Grid) -> Tensor:
    """Return the entries of the transpose of a matrix."""
    return c.rename(grid.entry, {grid.row: grid.col, grid.col: grid.row})


def _put_slot(c: Arithmetic, tensor: Tensor, index: Index, slot: Slot) -> Tensor:
    """Return a tensor with one free index replaced, unchanged if it has no such index."""
    return c.rename(tensor, {index: slot}) if index in tensor.free else tensor


def declared_symmetry(rules: Rules, name: str) -> int:
    """Return 1 for a matrix declared symmetric, -1 for a skew one, 0 for any other name."""
    if name in rules.symmetric:
        return 1
    return -1 if name in rules.skew else 0


def _find_diagonal(c: Arithmetic, grid: Grid) -> Tensor | None:
    """Return the diagonal of a matrix whose every term holds `delta_ij`, with the free index of the rows."""
    delta = Delta(grid.row, grid.col)
    if grid.entry.is_zero or not all(delta in dict(term.factors) for term in grid.entry.terms):
        return None
    return c.rename(grid.entry, {grid.col: grid.row})


def _without_scalars(c: Arithmetic, grid: Grid) -> tuple[Tensor | None, Tensor]:
    """Split off the factors without index that all terms of a matrix share; None where that is 1."""
    terms = grid.entry.terms
    if not terms:
        return None, grid.entry
    tables = [dict(term.factors) for term in terms]
    shared: dict[Atom, Fraction] = {
        atom: exponent
        for atom, exponent in tables[0].items()
        if not slots(atom) and all(t.get(atom) == exponent for t in tables)
    }
    coefficient = terms[0].coefficient if len(terms) == 1 else ONE
    if not shared and coefficient == 1:
        return None, grid.entry
    rest = [Term(term.coefficient / coefficient, _remove_factors(term.factors, shared)) for term in terms]
    content = c.collect([Term(coefficient, tuple(shared.items()))], ())
    return content, c.collect(rest, grid.entry.free)


def _remove_factors(factors: tuple[Factor, ...], shared: dict[Atom, Fraction]) -> tuple[Factor, ...]:
    """Return the factors that are not among the shared atoms."""
    return tuple(factor for factor in factors if factor[0] not in shared)

"""Inverses, determinants and Cholesky factors of matrices that depend on the state: by triangles, in every step.

    L triangular        X = inv(L) by forward substitution
    S = L L^T           inv(S) = X^T X,    log det S = 2 sum_i log L_ii

X is computed once for all the data: a solve with it then takes O(K**2) per vector, and so does its reverse pass, which
follows from d inv(L) = -inv(L) dL inv(L).
"""

from enum import Enum, auto
from fractions import Fraction

from recipe_compiler.formula.shapes import Size
from recipe_compiler.program.combine import nested, times
from recipe_compiler.program.definition import Definitions
from recipe_compiler.program.loops import Array, Assign, Body, Call, Constant, For, Increment, Invoke, Ref
from recipe_compiler.tensor.definite import Definiteness, definiteness
from recipe_compiler.tensor.terms import Atom, Coordinate, Delta, Grid, Index, MatrixFunction, Term

SUBSTITUTE, FACTORISE, HALVED = "_triangle_inverse", "_cholesky_factor", "_halved_triangle"
"""Support functions; they write into their first argument."""


class Structure(Enum):
    """The structure that a matrix is seen to have."""

    TRIANGLE = auto()
    """Zero above its diagonal."""
    DEFINITE = auto()
    """Symmetric, positive definite."""


def structure(defined: Definitions, grid: Grid) -> Structure | None:
    """Return the structure that a matrix has by its terms, or as a declared block; None if none is seen."""
    if _is_lower_triangle(defined, grid):
        return Structure.TRIANGLE
    if block_of(grid) in defined.definite:
        return Structure.DEFINITE
    known = defined.calculus is not None and definiteness(defined.calculus, grid.entry) is Definiteness.DEFINITE
    return Structure.DEFINITE if known else None


def is_upper_triangle(defined: Definitions, grid: Grid) -> bool:
    """Whether a matrix that depends on the state has a form that is zero below its diagonal, and not above it."""
    turned = Grid(grid.col, grid.row, grid.entry)
    return not _is_lower_triangle(defined, grid) and _is_lower_triangle(defined, turned)


def _is_lower_triangle(defined: Definitions, grid: Grid) -> bool:
    return bool(grid.entry.terms) and all(_is_below(defined, term, grid) for term in grid.entry.terms)


def block_of(grid: Grid) -> str:
    """Return the name of the block that a matrix is, else an empty string."""
    match grid.entry.terms:
        case (Term(coefficient, ((Coordinate(name, at), power),)),) if coefficient == power == 1:
            return name if at == (grid.row, grid.col) else ""
        case _:
            return ""


def _is_below(defined: Definitions, term: Term, grid: Grid) -> bool:
    """Whether a term is zero above the diagonal, by one of its factors or by the positions that two of them name."""
    atoms = [atom for atom, _ in term.factors]
    if any(_is_triangle(defined, atom, grid) for atom in atoms):
        return True
    rows, cols = ([_fixed(atom, index) for atom in atoms] for index in (grid.row, grid.col))
    return any(i is not None and j is not None and i >= j for i in rows for j in cols)


def _is_triangle(defined: Definitions, atom: Atom, grid: Grid) -> bool:
    match atom:
        case Coordinate(name, at):
            return name in defined.triangles and at == (grid.row, grid.col)
        case Delta(left, right):
            return {left, right} == {grid.row, grid.col}
        case MatrixFunction("cholesky", _, at):
            return at == (grid.row, grid.col)
        case _:
            return False


def _fixed(atom: Atom, index: Index) -> int | None:
    """Return the position that a delta lets an index have alone."""
    match atom:
        case Delta(left, right) if index in (left, right):
            other = right if left == index else left
            return other if isinstance(other, int) else None
        case _:
            return None


def inverted(defined: Definitions, name: str, source: str, size: Size, of: Structure) -> None:
    """Define the n x n inverse of an array that depends on the state.

    It is X = inv(L) of a triangle L, and X^T X of a definite S = L L^T.
    """
    if of is Structure.TRIANGLE:
        _whole(defined, name, size, (Invoke(SUBSTITUTE, (name, source)),))
        return
    root = factorised(defined, source, size)
    half = defined.naming(f"inv_{root}")
    _whole(defined, half, size, (Invoke(SUBSTITUTE, (half, root)),))
    i, j, k = list(defined.variables(tuple(Index(size, label) for label in "ijk")).values())
    total = Ref("total")
    product = times(Fraction(1), (Ref(half, (k, i)), Ref(half, (k, j))))
    summed = (Assign(total, Constant(Fraction(0))), For(k, size, (Increment(total, product),)))
    loops = ((Index(size, "i"), i), (Index(size, "j"), j))
    _whole(defined, name, size, nested(loops, (*summed, Assign(Ref(name, (i, j)), total))))


def log_determinant(defined: Definitions, source: str, size: Size) -> Ref:
    """Return the scalar log det S = 2 sum_i log L_ii of a definite n x n array S = L L^T that depends on the state."""
    name = defined.name_of((log_determinant, source))
    if name is None:
        root = factorised(defined, source, size)
        name = defined.naming(f"log_det_{source}")
        (i,) = defined.variables((Index(size, "i"),)).values()
        log = times(Fraction(2), (Call("log", (Ref(root, (i, i)),)),))
        body = (Assign(Ref(name), Constant(Fraction(0))), For(i, size, (Increment(Ref(name), log),)))
        defined.having(Array(name), body, meant=(log_determinant, source))
    return Ref(name)


def factorised(defined: Definitions, source: str, size: Size, *, constant: bool = False) -> str:
    """Return the array that is Cholesky's factor of another."""
    name = defined.name_of((FACTORISE, source))
    if name is None:
        name = defined.naming(f"root_{source}")
        _whole(defined, name, size, (Invoke(FACTORISE, (name, source)),), constant=constant)
        defined.meaning((FACTORISE, source), name)
    return name


def halved(defined: Definitions, size: Size) -> str:
    """Return the constant array that is 1 below its diagonal, 1/2 on it, and 0 above."""
    name = defined.naming("halved_triangle")
    _whole(defined, name, size, (Invoke(HALVED, (name,)),), constant=True)
    return name


def _whole(defined: Definitions, name: str, size: Size, body: Body, *, constant: bool = False) -> None:
    defined.having(Array(name, (size, size)), body, constant=constant)

"""Exact negative directions of a block matrix at admissible points, and small matrices by their minors."""

from dataclasses import dataclass
from fractions import Fraction

from sympy import Expr

from recipe_compiler.algebra.definedness import nodes
from recipe_compiler.algebra.entries import NotScalarisableError, rows
from recipe_compiler.algebra.evaluate import NoValueError, Value, evaluate
from recipe_compiler.algebra.matrices import Rows, TooLargeError, transpose
from recipe_compiler.algebra.minors import minors_nonnegative
from recipe_compiler.algebra.negative import form, negative_direction
from recipe_compiler.algebra.point import Point
from recipe_compiler.algebra.system import block_matrix
from recipe_compiler.algebra.witness import points
from recipe_compiler.formula.expression import Filled, Formula, FunctionAt, Identity, Multiply, Number, Symbol
from recipe_compiler.verify.case import Case, Matrix
from recipe_compiler.verify.premises import assumptions, facts
from recipe_compiler.verify.sizes import Sizes

MANY, FEW = 120, 8
"""Points looked at where structure says nothing, and where it says that there is nothing to find."""


LARGE = 12
"""Rows of a matrix from which on one point is enough where structure says that there is nothing to find."""


@dataclass(frozen=True, slots=True)
class Negative:
    """Sizes, the point as text, and a direction v with v.T A v < 0 there."""

    sizes: Sizes
    text: tuple[tuple[str, str], ...]
    direction: tuple[Fraction, ...]
    value: Fraction


def find_negative(matrix: Matrix, case: Case, sizes: Sizes, *, short: bool) -> Negative | None:
    """Return an exact negative direction of the symmetric part of a block matrix at an admissible point."""
    declarations = case.dynamics.declarations
    a = block_matrix(matrix, case.setting(sizes))
    attempts = MANY if not short else FEW if len(a) <= LARGE else 1
    for at in points(declarations, sizes, attempts):
        numbers = _rational(a, at)
        if numbers is None:
            continue
        v = negative_direction(numbers)
        if v is not None and form(numbers, v) < 0:
            return Negative(sizes, _relevant(matrix, at, case), v, form(numbers, v))
    return None


def assumed_nonnegative(matrix: Matrix, case: Case, group: tuple[int, ...]) -> frozenset[str] | None:
    """Return what it rests on that a block matrix is positive semidefinite, by the minors of a small matrix of scalars.

    The places must be scalars, or multiples `c I` of one identity: then the matrix is that of the c's times I
    (Kronecker), positive semidefinite exactly if that of the c's is.
    """
    declarations = case.dynamics.declarations
    if len({declarations.blocks[a].shape for a in group}) > 1:
        return None
    scalars = tuple(tuple(_multiple(place) for place in row) for row in matrix)
    setting = case.setting(case.sizes[0])
    assumed: list[Expr] = []
    for compare in declarations.assume:
        if compare.left.shape.sizes or compare.op == "==":
            continue
        left, right = rows(compare.left, setting)[0][0], rows(compare.right, setting)[0][0]
        assumed.append(left - right if compare.op in {">", ">="} else right - left)
    try:
        a = tuple(tuple(rows(c, setting)[0][0] for c in row if c is not None) for row in scalars)
    except (NotScalarisableError, TooLargeError):
        return None
    square = all(len(row) == len(a) for row in a)
    if not square or a != transpose(a) or not minors_nonnegative(a, tuple(assumed)):
        return None
    return facts((place for row in matrix for place in row), declarations) | assumptions(declarations)


def _multiple(place: Formula) -> Formula | None:
    """Return c of a place `c I`, a scalar place itself; None of any other."""
    match place:
        case _ if not place.shape.sizes:
            return place
        case Identity():
            return Number(Fraction(1))
        case Filled(0, _):
            return Number(Fraction(0))
        case Multiply(left, right) if not left.shape.sizes and isinstance(right, Identity):
            return left
        case Multiply(left, right) if not right.shape.sizes and isinstance(left, Identity):
            return right
        case _:
            return None


def _rational(a: Rows, at: Point) -> tuple[tuple[Fraction, ...], ...] | None:
    """Return the symmetric part of a matrix at a point, None unless every entry is rational there."""
    try:
        values: list[list[Value]] = [[evaluate(x, at.leaf) for x in row] for row in a]
    except NoValueError:
        return None
    exact = [[x for x in row if isinstance(x, Fraction)] for row in values]
    if any(len(row) < len(a) for row in exact):
        return None
    n = range(len(a))
    return tuple(tuple((exact[i][j] + exact[j][i]) / 2 for j in n) for i in n)


def _relevant(matrix: Matrix, at: Point, case: Case) -> tuple[tuple[str, str], ...]:
    """Return the values of a point that the matrix or an assumption speaks of, and the sizes."""
    formulas = [place for row in matrix for place in row]
    formulas += [side for c in case.dynamics.declarations.assume for side in (c.left, c.right)]
    used = [node for f in formulas for node in nodes(f) if isinstance(node, (Symbol, FunctionAt))]
    names = {*case.dynamics.declarations.sizes, *(node.name for node in used)}
    for node in used:
        names |= set(node.of) if isinstance(node, FunctionAt) else set()
    return tuple((name, value) for name, value in at.text if name.partition("(")[0] in names)

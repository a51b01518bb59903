"""Normal laws whose Cholesky factor depends on the state: solved with, not inverted like a general matrix.

    log N(x | mu, L L^T) = -z.z/2 - sum_i log L_ii - d log(2 pi)/2,   z = inv(L) (x - mu)

L = s diag(a) F diag(b) is taken apart, so that only F is solved with, a triangle by its form: a block whose constraint
makes it a factor, or a matrix written out. z = inv(F) ((x - mu)/(s a))/b, entry by entry:

    z_i = (y_i - sum_(j < i) F_ij z_j)/F_ii,    y = (x - mu)/(s a).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce

from recipe_compiler.formula import build
from recipe_compiler.formula import expression as ex
from recipe_compiler.formula.constraints import FACTORS, Constraint
from recipe_compiler.formula.declaration import Block, Declarations
from recipe_compiler.formula.expression import Formula, Role
from recipe_compiler.formula.rebuild import is_zero, tidy
from recipe_compiler.formula.shapes import SCALAR, Shape, Size


@dataclass(frozen=True, slots=True)
class _Parts:
    """L = s diag(a) F diag(b), every s a number and every a and b a column; no F stands for the identity."""

    numbers: tuple[Formula, ...] = ()
    left: tuple[Formula, ...] = ()
    triangle: Formula | None = None
    right: tuple[Formula, ...] = ()


def log_normal(x: Formula, mu: Formula, L: Formula, declarations: Declarations) -> Formula | None:
    """Return log N(x | mu, L L^T), a scalar, solved with a triangle; of columns the sum over them.

    None if L is free of the state, or not seen as one.

    Args:
        x: a column of d entries, or J of them, d x J; d is a number where L has a block that is a triangle.
        mu: of the same shape.
        L: d x d; its diagonal has to be positive.
        declarations: of the blocks in it.
    """
    size, parts = L.shape.rows, _parts(L, declarations)
    if size is None or parts is None or not build.depends_on_state(L):
        return None
    if not isinstance(size, int) and isinstance(parts.triangle, ex.Symbol):
        return None
    z = build.add([x, build.negate(mu)], x.shape)
    for one in (*parts.numbers, *parts.left):
        z = _over(z, one)
    if parts.triangle is not None:
        z = build.matmul(build.apply("inv", (parts.triangle,), parts.triangle.shape), z, x.shape)
    for one in parts.right:
        z = _over(z, one)
    halved = build.multiply(ex.Number(Fraction(-1, 2)), _squares(z), SCALAR)
    logs = [build.negate(one) for one in _log_diagonal(parts, size, declarations)]
    of_2_pi = ex.Apply("log", (build.multiply(ex.Number(Fraction(2)), ex.Pi(), SCALAR),), SCALAR)
    half = build.multiply(ex.Number(Fraction(-1, 2)), size_of(size), SCALAR)
    constants = [*logs, build.multiply(half, of_2_pi, SCALAR)]
    if x.shape.cols is not None:
        count = size_of(x.shape.cols)
        constants = [build.multiply(count, one, SCALAR) for one in constants]
    return build.add([halved, *constants], SCALAR)


def size_of(size: Size) -> Formula:
    """Return a size, a product of names and numbers, as a scalar formula: `2*d`."""
    factors = [
        ex.Number(Fraction(factor)) if factor.isdigit() else ex.Symbol(factor, SCALAR, Role.SIZE)
        for factor in str(size).split("*")
    ]
    return reduce(lambda left, right: build.multiply(left, right, SCALAR), factors)


def _squares(z: Formula) -> Formula:
    """Return the sum of the squares of the entries of a column, or of columns."""
    if z.shape.cols is None:
        return build.matmul(build.transpose(z), z, SCALAR)
    square = build.matmul(z, build.transpose(z), Shape(z.shape.rows, z.shape.rows))
    return ex.Apply("trace", (square,), SCALAR)


def is_lower_triangular(formula: Formula, declarations: Declarations) -> bool:
    """Whether the form of a square matrix, no product, shows that it is lower triangular."""
    match formula:
        case ex.Symbol(name, _, Role.BLOCK):
            block = declarations.find(name)
            return isinstance(block, Block) and block.constraint in FACTORS
        case ex.Explicit(rows):
            return all(is_zero(entry) for i, row in enumerate(rows) for entry in row[i + 1 :])
        case _:
            return isinstance(formula, ex.Apply) and formula.fn == "cholesky"


LOWER, UPPER = "lower", "upper"


def sides(formula: Formula, declarations: Declarations) -> frozenset[str]:
    """Return which triangles a square matrix is: LOWER, UPPER, both of a diagonal one, none of what is not seen."""
    turned = {LOWER: UPPER, UPPER: LOWER}
    match formula:
        case ex.Identity() | ex.Apply("diag"):
            return frozenset(turned)
        case ex.Transpose(arg):
            return frozenset(turned[side] for side in sides(arg, declarations))
        case ex.Explicit(rows) if not is_lower_triangular(formula, declarations):
            transposed = ex.Explicit(tuple(zip(*rows, strict=True)), formula.shape.transposed)
            return frozenset({UPPER} if is_lower_triangular(transposed, declarations) else ())
        case ex.Multiply(left, right) if SCALAR in (left.shape, right.shape):
            return sides(right if left.shape == SCALAR else left, declarations)
        case ex.MatMul(left, right):
            return sides(left, declarations) & sides(right, declarations)
        case _:
            return frozenset({LOWER} if is_lower_triangular(formula, declarations) else ())


def diagonal(triangle: Formula, declarations: Declarations) -> Iterator[Formula]:
    """Yield the entries on the diagonal of a triangle; 1 if the block's constraint fixes it."""
    rows = triangle.shape.rows
    for i in range(rows if isinstance(rows, int) else 0):
        match triangle:
            case ex.Explicit(entries):
                yield entries[i][i]
            case ex.Symbol(name) if i == 0 and isinstance(block := declarations.find(name), Block):
                yield build.ONE if block.constraint is Constraint.CHOLESKY_CORR else ex.Entry(triangle, (0, 0))
            case _:
                yield ex.Entry(triangle, (i, i))


def _parts(formula: Formula, declarations: Declarations) -> _Parts | None:
    """Return what a matrix is a product of; None of what is not seen through."""
    match formula:
        case ex.Identity():
            return _Parts()
        case ex.Apply("diag", (column,)) if column.shape.cols is None:
            return _Parts(left=(column,))
        case ex.Multiply(left, right) if SCALAR in (left.shape, right.shape):
            number, matrix = (left, right) if left.shape == SCALAR else (right, left)
            found = _parts(matrix, declarations)
            return None if found is None else _Parts((number, *found.numbers), found.left, found.triangle, found.right)
        case ex.MatMul(left, right):
            return _product(_parts(left, declarations), _parts(right, declarations))
        case _ if is_lower_triangular(formula, declarations):
            return _Parts(triangle=formula)
        case _:
            return None


def _product(first: _Parts | None, second: _Parts | None) -> _Parts | None:
    """Return the parts of a product, of which one has a triangle at most."""
    if first is None or second is None or (first.triangle is not None and second.triangle is not None):
        return None
    numbers = (*first.numbers, *second.numbers)
    if first.triangle is None:
        return _Parts(numbers, (*first.left, *second.left), second.triangle, second.right)
    return _Parts(numbers, first.left, first.triangle, (*first.right, *second.left))


def _over(columns: Formula, divisor: Formula) -> Formula:
    """Return a column, or each of several, divided by a number or by a column."""
    shape, factor = columns.shape, build.power(divisor, build.MINUS_ONE, divisor.shape)
    if shape.cols is not None and divisor.shape != SCALAR:
        factor = build.matmul(factor, build.transpose(ex.Filled(1, Shape(shape.cols))), shape)
    return build.multiply(columns, factor, shape)


def _log_diagonal(parts: _Parts, size: Size, declarations: Declarations) -> Iterator[Formula]:
    """Yield summands of sum_i log L_ii, a logarithm for each part of L."""
    for number in parts.numbers:
        yield build.multiply(size_of(size), ex.Apply("log", (number,), SCALAR), SCALAR)
    for column in (*parts.left, *parts.right):
        yield ex.Apply("sum", (ex.Apply("log", (column,), column.shape),), SCALAR)
    if isinstance(parts.triangle, ex.Apply):
        yield build.multiply(ex.Number(Fraction(1, 2)), ex.Apply("logdet", parts.triangle.args, SCALAR), SCALAR)
        return
    entries = () if parts.triangle is None else diagonal(parts.triangle, declarations)
    yield from (ex.Apply("log", (entry,), SCALAR) for entry in entries if entry != build.ONE)


def entry_at(vector: Formula, i: int) -> Formula:
    """Return an entry of a column."""
    match vector:
        case ex.Filled(value):
            return ex.Number(Fraction(value))
        case ex.Explicit(rows):
            return build.entry_of(rows, (i,))
        case ex.Transpose(arg):
            return entry_at(arg, i)
        case ex.Add() | ex.Multiply() | ex.Power() | ex.Apply() if getattr(vector, "fn", "exp") in ex.ELEMENTWISE:
            entries = [part if part.shape == SCALAR else entry_at(part, i) for part in build.parts(vector)]
            return tidy(vector, entries, lambda _: SCALAR)
        case _:
            return ex.Entry(vector, (i,))

"""Typed nodes put together from typed parts; shapes follow from the parts.

Only numbers are folded, and what is equal by the meaning of a scalar: `c.T` is `c`, the inverse of a scalar is its
power -1, inverse and determinant of a small matrix of numbers are computed, a product with a scalar side is not a
matrix product.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

from recipe_compiler.formula import expression as ex
from recipe_compiler.formula.expression import Formula
from recipe_compiler.formula.shapes import SCALAR, Shape
from recipe_compiler.formula.tree import parts, with_parts

ONE = ex.Number(Fraction(1))
MINUS_ONE = ex.Number(Fraction(-1))
MAX_FOLDED_POWER = 4096
"""Larger powers of numbers are left as they are written."""
MOST_INVERTED = 8
"""Rows up to which a matrix of numbers is inverted at once."""


def nodes(formula: Formula) -> Iterator[Formula]:
    """Yield a formula and all its subformulas, the covariances of its draws included."""
    yield formula
    for part in parts(formula):
        yield from nodes(part)


def depends_on_state(formula: Formula) -> bool:
    """Whether a block or a function of blocks occurs in a formula."""
    return any(
        isinstance(node, ex.FunctionAt) or (isinstance(node, ex.Symbol) and node.role is ex.Role.BLOCK)
        for node in nodes(formula)
    )


def same_shape(shape: Shape) -> Shape:
    """Return a shape as it is."""
    return shape


def rebuild(formula: Formula, new: Sequence[Formula], shape_of: Callable[[Shape], Shape] = same_shape) -> Formula:
    """Return a node with the parts `new` and its shape (and size) mapped by `shape_of`.

    `Filled` and `Identity` whose axes turn out to be absent become numbers.
    """
    match formula:
        case ex.Identity(size):
            rows = shape_of(Shape(size, size)).rows
            return ONE if rows is None else ex.Identity(rows)
        case ex.Filled(value, shape):
            shape = shape_of(shape)
            return ex.Number(Fraction(value)) if shape == SCALAR else ex.Filled(value, shape)
        case ex.Add(_, shape):
            return add(new, shape_of(shape))
        case ex.Multiply(_, _, shape):
            return multiply(*new, shape_of(shape))
        case ex.MatMul(_, _, shape):
            return matmul(*new, shape_of(shape))
        case ex.Power(_, _, shape):
            return power(*new, shape_of(shape))
        case ex.Transpose():
            return transpose(*new)
        case ex.Apply(fn, _, shape):
            return apply(fn, new, shape_of(shape))
        case ex.Number() | ex.Pi() | ex.Entry():
            return with_parts(formula, new)
        case _:
            return replace(with_parts(formula, new), shape=shape_of(formula.shape))


def replaced(formula: Formula, rule: Callable[[Formula], Formula | None]) -> Formula:
    """Return a formula with what a rule gives for its outermost parts, where it gives anything."""
    found = rule(formula)
    return rebuild(formula, [replaced(part, rule) for part in parts(formula)]) if found is None else found


def add(terms: Sequence[Formula], shape: Shape) -> Formula:
    """Return the sum of terms of one shape; a sum of numbers is a number."""
    if len(terms) == 1:
        return terms[0]
    total = Fraction(0)
    for term in terms:
        if not isinstance(term, ex.Number):
            return ex.Add(tuple(terms), shape)
        total += term.value
    return ex.Number(total)


def multiply(left: Formula, right: Formula, shape: Shape) -> Formula:
    """Return left * right of a shape that is given; a product of numbers is a number."""
    if isinstance(left, ex.Number) and isinstance(right, ex.Number):
        return ex.Number(left.value * right.value)
    return ex.Multiply(left, right, shape)


def entry_of(rows: tuple[tuple[Formula, ...], ...], at: tuple[int, ...]) -> Formula:
    """Return an entry of a matrix, or of a column or a row, that is written out."""
    first, *others = at
    if others:
        return rows[first][others[0]]
    return rows[first][0] if len(rows[0]) == 1 else rows[0][first]


def negate(formula: Formula) -> Formula:
    """Return `-formula`."""
    return multiply(MINUS_ONE, formula, formula.shape)


def power(base: Formula, exponent: Formula, shape: Shape) -> Formula:
    """Return base ** exponent, of the shape of the base; a number to an integer power is a number."""
    if isinstance(base, ex.Number) and isinstance(exponent, ex.Number):
        n = exponent.value
        if n.denominator == 1 and (base.value or n > 0) and abs(n) <= MAX_FOLDED_POWER:
            return ex.Number(base.value ** int(n))
    return ex.Power(base, exponent, shape)


def matmul(left: Formula, right: Formula, shape: Shape) -> Formula:
    """Return `left @ right`; with a scalar side it is the product with that scalar."""
    if SCALAR in (left.shape, right.shape):
        return multiply(left, right, shape)
    return ex.MatMul(left, right, shape)


def transpose(formula: Formula) -> Formula:
    """Return `formula.T`; a scalar is its own transpose."""
    return formula if formula.shape == SCALAR else ex.Transpose(formula, formula.shape.transposed)


def apply(fn: str, args: Sequence[Formula], shape: Shape) -> Formula:
    """Return a function of the language at its arguments; the inverse of a scalar is its power -1."""
    if fn == "inv" and args[0].shape == SCALAR:
        return power(args[0], MINUS_ONE, SCALAR)
    folded = _folded(fn, args[0]) if fn in {"inv", "det", "logdet"} and isinstance(args[0], ex.Explicit) else None
    return ex.Apply(fn, tuple(args), shape) if folded is None else folded


def _folded(fn: str, matrix: ex.Explicit) -> Formula | None:
    """Return the inverse or determinant of a small regular matrix of numbers, exactly; None of any other.

    The logarithm of a determinant is that of a positive definite matrix: all leading minors are positive.
    """
    numbers = [entry.value for row in matrix.rows for entry in row if isinstance(entry, ex.Number)]
    n = len(matrix.rows)
    if len(numbers) < n * n or n > MOST_INVERTED:
        return None
    from flint import fmpq, fmpq_mat  # which documents without matrices of numbers do without

    exact = fmpq_mat(n, n, [fmpq(x.numerator, x.denominator) for x in numbers])
    if (det := exact.det()) == 0:
        return None
    determinant = ex.Number(Fraction(int(det.p), int(det.q)))
    if fn == "det":
        return determinant
    if fn == "logdet":
        minors = (fmpq_mat([[exact[i, j] for j in range(k)] for i in range(k)]).det() for k in range(1, n + 1))
        definite = exact == exact.transpose() and all(minor > 0 for minor in minors)
        return ex.Apply("log", (determinant,), SCALAR) if definite else None
    found = exact.inv()
    rows = [[Fraction(int(found[i, j].p), int(found[i, j].q)) for j in range(n)] for i in range(n)]
    return ex.Explicit(tuple(tuple(map(ex.Number, row)) for row in rows), matrix.shape)


def log_sum_exp(column: Formula) -> Formula:
    """Return log(sum_i exp(v_i)) of a column."""
    return ex.Apply("log", (ex.Apply("sum", (ex.Apply("exp", (column,), column.shape),), SCALAR),), SCALAR)


def exp_quad(x: Formula, alpha: Formula, rho: Formula) -> Formula:
    """Return the n x n matrix alpha**2 exp(-(x_i - x_j)**2/(2 rho**2)) of a column x of n points."""
    apart = differences(x)
    rate = multiply(ex.Number(Fraction(-1, 2)), power(rho, ex.Number(Fraction(-2)), SCALAR), SCALAR)
    exponent = multiply(rate, multiply(apart, apart, apart.shape), apart.shape)
    kernel = ex.Apply("exp", (exponent,), apart.shape)
    return multiply(power(alpha, ex.Number(Fraction(2)), SCALAR), kernel, apart.shape)


def differences(x: Formula) -> Formula:
    """Return the n x n matrix x_i - x_j of a column x of n entries."""
    n = x.shape.rows
    square, row = Shape(n, n), Shape(None, n)
    ones = ex.Filled(1, Shape(n))
    across = negate(matmul(ones, ex.Transpose(x, row), square))
    return add([matmul(x, ex.Transpose(ones, row), square), across], square)


def column_apart(apart: Formula) -> Formula | None:
    """Return the column that a matrix may be the differences of; None where it has another form."""
    match apart:
        case ex.Add((ex.MatMul(x, _), _)) if x.shape.cols is None:
            return x
        case _:
            return None

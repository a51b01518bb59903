"""2D - eps B_hat at the exact values of a build: its sign, a direction in which it is negative, the largest step."""

from collections.abc import Callable
from fractions import Fraction

import sympy
from sympy import Expr

from recipe_compiler.algebra.entries import NotScalarisableError, Setting, rows
from recipe_compiler.algebra.matrices import Rows, TooLargeError
from recipe_compiler.algebra.negative import form, negative_direction
from recipe_compiler.algebra.nullspace import nullspace
from recipe_compiler.formula.declaration import Block
from recipe_compiler.formula.expression import Filled, Formula, Identity, Multiply, Number
from recipe_compiler.spec.model import Build, Dynamics
from recipe_compiler.verdict import Proved, Refuted
from recipe_compiler.verify.exact_values import Sizes, entry_values, known_sizes

LARGEST = 64
"""Coordinates up to which matrices of numbers are gone through exactly."""
HALVINGS = 24
"""Steps of the search for the largest step size of a matrix that is not diagonal."""
DENSE = 12
"""Coordinates up to which that search is made."""

Numbers = tuple[tuple[Fraction, ...], ...]
Matrix = tuple[tuple[Formula, ...], ...]
Read = Callable[[Formula], Numbers]


class NotExactError(Exception):
    """The matrices are not matrices of numbers, and why."""


def budget_at(
    blocks: tuple[Block, ...],
    D: Matrix,
    W: tuple[Formula, ...],
    V: Formula,
    eps: Fraction,
    build: Build,
    bound: Dynamics,
) -> Proved | Refuted | str:
    """Return the decision at the build's exact values, or why there are none.

    Where every place is `c I` of one identity, the matrix is one of numbers times I (Kronecker), whatever the size.
    """
    try:
        two_D, B_hat, names = _numbers(blocks, D, W, V, build, bound)
    except NotExactError as reason:
        return str(reason)
    outside = _outside(two_D, B_hat)
    step = ("eps", str(eps))
    if outside is not None:
        shown = (("v", _written(outside)), ("v.T @ D @ v", "0"), ("v.T @ B_hat @ v", str(form(B_hat, outside))))
        residual = f"B_hat of {names} leaves the range of D: no step size makes 2D - eps B_hat positive semidefinite"
        return Refuted("exact values", (step, *shown), residual)
    largest = _largest_step(two_D, B_hat)
    limit = () if largest is None else (("eps_max", str(largest)),)
    whole = _less(two_D, B_hat, eps)
    v = negative_direction(whole)
    if v is None:
        return Proved("exact values" + (f": eps <= eps_max = {largest}" if limit else ""), (), (step, *limit))
    shown = (("v", _written(v)), ("v.T @ (2D - eps B_hat) @ v", str(form(whole, v))))
    residual = f"2D - eps B_hat of {names} is not positive semidefinite"
    return Refuted("exact values", (step, *shown, *limit), residual)


def _numbers(
    blocks: tuple[Block, ...], D: Matrix, W: tuple[Formula, ...], V: Formula, build: Build, bound: Dynamics
) -> tuple[Numbers, Numbers, str]:
    """Return 2D and B_hat as numbers, and the names of their blocks."""
    names = ", ".join(block.name for block in blocks)
    places = [*(place for row in D for place in row), *W, V]
    sizes = known_sizes(build, bound)
    if all(_multiple(place) is not None for place in places):

        def one(formula: Formula) -> Numbers:
            return _read(_multiple(formula) or formula, bound, sizes, {})

        return *_assembled(D, W, V, one), f"{names} (times I)"
    missing = [s for block in blocks for s in block.shape.sizes if isinstance(s, str) and s not in sizes]
    if missing:
        raise NotExactError(f"the size {missing[0]} is not known before the data are read")
    total = sum(s if isinstance(s, int) else sizes[s] for block in blocks for s in block.shape.sizes or (1,))
    if total > LARGEST:
        raise NotExactError(f"{total} coordinates, more than {LARGEST}")
    values = entry_values(build, bound, sizes)

    def read(formula: Formula) -> Numbers:
        return _read(formula, bound, sizes, values)

    return *_assembled(D, W, V, read), names


def _read(formula: Formula, bound: Dynamics, sizes: Sizes, values: dict[Expr, Expr]) -> Numbers:
    try:
        return _rational(rows(formula, Setting(bound.declarations, sizes)), values)
    except (NotScalarisableError, TooLargeError) as reason:
        raise NotExactError(str(reason)) from None
    except KeyError as size:
        raise NotExactError(f"the size {size} is not known before the data are read") from None


def _multiple(place: Formula) -> Formula | None:
    """Return c of a place `c I`; None of any other."""
    match place:
        case Identity():
            return Number(Fraction(1))
        case Filled(0, _):
            return Number(Fraction(0))
        case Multiply(left, right) if not left.shape.sizes and right.shape.sizes:
            inner = _multiple(right)
            return None if inner is None else Multiply(left, inner, left.shape)
        case Multiply(left, right) if not right.shape.sizes and left.shape.sizes:
            inner = _multiple(left)
            return None if inner is None else Multiply(right, inner, right.shape)
        case _:
            return None


def _assembled(D: Matrix, W: tuple[Formula, ...], V: Formula, read: Read) -> tuple[Numbers, Numbers]:
    drawn = [[read(place) for place in row] for row in D]
    two_D = tuple(tuple(2 * x for place in line for x in place[i]) for line in drawn for i in range(len(line[0])))
    column = tuple(row for w in W for row in read(w))
    covariance = read(V)
    if covariance != tuple(zip(*covariance, strict=True)) or two_D != tuple(zip(*two_D, strict=True)):
        raise NotExactError("D or V is not symmetric")
    half = [tuple(_dot(row, line) for line in zip(*covariance, strict=True)) for row in column]
    return two_D, tuple(tuple(_dot(row, other) for other in column) for row in half)


def _rational(entries: Rows, values: dict[Expr, Expr]) -> Numbers:
    found: list[tuple[Fraction, ...]] = []
    for row in entries:
        exact = [x.xreplace(values) for x in row]
        rational = [Fraction(int(x.p), int(x.q)) for x in exact if isinstance(x, sympy.Rational)]
        if len(rational) < len(exact):
            guilty = next(x for x in exact if not isinstance(x, sympy.Rational))
            raise NotExactError(f"{guilty} is not a rational number there")
        found.append(tuple(rational))
    return tuple(found)


def _outside(two_D: Numbers, B_hat: Numbers) -> tuple[Fraction, ...] | None:
    """Return v with D v = 0 and v.T B_hat v > 0; None where range(B_hat) is in range(D)."""
    for v in nullspace(two_D, len(two_D)):
        if form(B_hat, v) > 0:
            return v
    return None


def _largest_step(two_D: Numbers, B_hat: Numbers) -> Fraction | None:
    """Return the largest eps, exact for diagonal matrices, else a rational just below it; None if any eps does."""
    n = range(len(two_D))
    if all(i == j or (two_D[i][j] == 0 and B_hat[i][j] == 0) for i in n for j in n):
        ratios = [two_D[i][i] / B_hat[i][i] for i in n if B_hat[i][i] > 0]
        return min(ratios) if ratios else None
    if len(two_D) > DENSE or negative_direction(two_D) is not None:
        return None
    low, high = Fraction(0), Fraction(1)
    while negative_direction(_less(two_D, B_hat, high)) is None:
        low, high = high, 2 * high
        if high > 2**HALVINGS:
            return None
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if negative_direction(_less(two_D, B_hat, middle)) is None else (low, middle)
    return low


def _less(two_D: Numbers, B_hat: Numbers, eps: Fraction) -> Numbers:
    return tuple(tuple(x - eps * y for x, y in zip(p, q, strict=True)) for p, q in zip(two_D, B_hat, strict=True))


def _dot(left: tuple[Fraction, ...], right: tuple[Fraction, ...]) -> Fraction:
    return sum((x * y for x, y in zip(left, right, strict=True)), Fraction(0))


def _written(v: tuple[Fraction, ...]) -> str:
    return "[" + ", ".join(map(str, v)) + "]"

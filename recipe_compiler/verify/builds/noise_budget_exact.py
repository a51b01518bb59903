"""2D - eps B_hat at the exact values of a build: its sign, a direction in which it is negative, the largest step."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import sympy
from flint import fmpq, fmpq_mat

from recipe_compiler import limits
from recipe_compiler.algebra.scalars.entries import NotScalarisableError, Setting, rows
from recipe_compiler.algebra.scalars.matrices import Rows, TooLargeError
from recipe_compiler.algebra.scalars.rational_matrices import echelon, form, fraction, negative_direction, null_vectors
from recipe_compiler.algebra.zero.zeros_on_line import LeastRoot, least_positive_root
from recipe_compiler.formula.declaration import Block, Declarations
from recipe_compiler.formula.expression import Filled, Formula, Identity, Multiply, Number
from recipe_compiler.verdict import Evidence, Proved, Refuted

Numbers = tuple[tuple[Fraction, ...], ...]
Matrix = tuple[tuple[Formula, ...], ...]
Read = Callable[[Formula], fmpq_mat]


class NotExactError(Exception):
    """The matrices are not matrices of rational numbers; the text says why."""


@dataclass(frozen=True, slots=True)
class Budget:
    """2D and B_hat = W V W.T at a build's values, over the blocks that the gradient's noise enters or D ties to them.

    `W` is the column of D + Q at the potential's block, block by block: B_hat_ab = W_a V W_b.T, [n_a, n_b], V: [d, d]
    (Ma, Chen, Fox 2015, Sec. 2.3).
    """

    blocks: tuple[Block, ...]
    D: Matrix
    W: tuple[Formula, ...]
    V: Formula
    eps: Fraction
    declarations: Declarations


def decide_exact_budget(budget: Budget) -> Proved | Refuted | str:
    """Decide 2D - eps B_hat >= 0 at a build's exact values, with the largest eps; or why there are no such values.

    It holds if and only if range(B_hat) is in range(D) and eps <= 2/lambda_max(D^(+1/2) B_hat D^(+1/2)) (Ma, Chen, Fox
    2015, Sec. 2.3). Refuted by v with D v = 0 and v.T B_hat v > 0, for every eps, or by the largest eps, the least
    positive root of det(2D - eps B_hat) on the range of D. Where every place is c I the matrix of the c decides, for
    every size (Kronecker). D = diag(1, 2) with B_hat = I allows eps <= 2.
    """
    try:
        two_D, B_hat, names = _read_budget(budget)
    except NotExactError as reason:
        return str(reason)
    step = ("eps", str(budget.eps))
    outside = _find_uncovered_direction(two_D, B_hat)
    if outside is not None:
        value = form(_to_fractions(B_hat), outside)
        shown = (("v", _format_vector(outside)), ("v.T @ D @ v", "0"), ("v.T @ B_hat @ v", str(value)))
        residual = f"B_hat of {names} leaves the range of D: no step size makes 2D - eps B_hat positive semidefinite"
        return Refuted("exact values", (step, *shown), residual)
    whole = _to_fractions(two_D - _to_fmpq(budget.eps) * B_hat)
    v = negative_direction(whole)
    limit, words = _format_largest_step(_find_largest_step(two_D, B_hat), budget.eps)
    if v is None:
        return Proved(f"exact values{words}", (), (step, *limit))
    shown = (("v", _format_vector(v)), ("v.T @ (2D - eps B_hat) @ v", str(form(whole, v))))
    residual = f"2D - eps B_hat of {names} is not positive semidefinite"
    return Refuted("exact values", (step, *shown, *limit), residual)


def _format_largest_step(largest: LeastRoot | None, eps: Fraction) -> tuple[Evidence, str]:
    """Return the largest step size for a table and for a sentence; decimal bounds if it is irrational."""
    if largest is None:
        return (), ""
    if largest.exact is not None:
        return (("eps_max", str(largest)),), f": eps <= eps_max = {largest}"
    below, above = largest.decimals(eps)
    between = f"{below} < eps_max < {above}"
    return (("eps_max", str(largest)), ("where", between)), f": eps <= eps_max = {largest}, {between}"


def _read_budget(budget: Budget) -> tuple[fmpq_mat, fmpq_mat, str]:
    """Return 2D and B_hat as numbers, and the names of their blocks."""
    names = ", ".join(block.name for block in budget.blocks)
    setting = Setting(budget.declarations, {})
    places = [*(place for row in budget.D for place in row), *budget.W, budget.V]
    if all(_read_multiple(place) is not None for place in places):
        return *_assemble_matrices(
            budget, lambda place: _read_matrix(_read_multiple(place) or place, setting)
        ), f"{names} (times I)"
    missing = [size for block in budget.blocks for size in block.shape.sizes if isinstance(size, str)]
    if missing:
        raise NotExactError(f"the size {missing[0]} is not known before the data are read")
    total = sum(size for block in budget.blocks for size in block.shape.sizes or (1,) if isinstance(size, int))
    if total > limits.ROWS:
        raise NotExactError(f"{total} coordinates, more than {limits.ROWS}")
    return *_assemble_matrices(budget, lambda place: _read_matrix(place, setting)), names


def _read_matrix(formula: Formula, setting: Setting) -> fmpq_mat:
    try:
        return _convert_entries(rows(formula, setting))
    except (NotScalarisableError, TooLargeError) as reason:
        raise NotExactError(str(reason)) from None
    except KeyError as size:
        raise NotExactError(f"the size {size} is not known before the data are read") from None


def _read_multiple(place: Formula) -> Formula | None:
    """Return c of a place `c I`; None of any other."""
    match place:
        case Identity():
            return Number(Fraction(1))
        case Filled(0, _):
            return Number(Fraction(0))
        case Multiply(left, right) if not left.shape.sizes and right.shape.sizes:
            inner = _read_multiple(right)
            return None if inner is None else Multiply(left, inner, left.shape)
        case Multiply(left, right) if not right.shape.sizes and left.shape.sizes:
            inner = _read_multiple(left)
            return None if inner is None else Multiply(right, inner, right.shape)
        case _:
            return None


def _assemble_matrices(budget: Budget, read: Read) -> tuple[fmpq_mat, fmpq_mat]:
    drawn = [[read(place).tolist() for place in row] for row in budget.D]
    two_D = fmpq_mat([[2 * x for place in line for x in place[i]] for line in drawn for i in range(len(line[0]))])
    W = fmpq_mat([row for w in budget.W for row in read(w).tolist()])
    V = read(budget.V)
    if V.transpose() != V or two_D != two_D.transpose():
        raise NotExactError("D or V is not symmetric")
    return two_D, W * V * W.transpose()


def _convert_entries(entries: Rows) -> fmpq_mat:
    guilty = next((x for row in entries for x in row if not isinstance(x, sympy.Rational)), None)
    if guilty is not None:
        raise NotExactError(f"{guilty} is not a rational number there")
    exact = [fmpq(int(x.p), int(x.q)) for row in entries for x in row if isinstance(x, sympy.Rational)]
    return fmpq_mat(len(entries), len(entries[0]), exact)


def _find_uncovered_direction(two_D: fmpq_mat, B_hat: fmpq_mat) -> tuple[Fraction, ...] | None:
    """Return v with D v = 0 and v.T B_hat v > 0; None where range(B_hat) is in range(D)."""
    exact = _to_fractions(B_hat)
    directions = (tuple(fraction(x) for x in v) for v in null_vectors(two_D))
    return next((v for v in directions if form(exact, v) > 0), None)


def _find_largest_step(two_D: fmpq_mat, B_hat: fmpq_mat) -> LeastRoot | None:
    """Return the largest eps with 2D - eps B_hat positive semidefinite; None if any eps does, or it is not found.

    It is the least positive root of det(2D - eps B_hat) on the range of D, which the columns of its leading ones span:
    an eigenvalue of the two matrices, and as such a root of a polynomial with rational coefficients.
    """
    n = range(two_D.nrows())
    if all(i == j or (two_D[i, j] == 0 and B_hat[i, j] == 0) for i in n for j in n):
        ratios = [fraction(two_D[i, i] / B_hat[i, i]) for i in n if B_hat[i, i] > 0]
        return LeastRoot((-min(ratios).numerator, min(ratios).denominator)) if ratios and min(ratios) >= 0 else None
    if len(n) > limits.DEGREE or negative_direction(_to_fractions(two_D)) is not None:
        return None
    kept = echelon(two_D)[1]
    inner = fmpq_mat([[two_D[i, j] for j in kept] for i in kept])
    taken = fmpq_mat([[B_hat[i, j] for j in kept] for i in kept])
    reciprocal = (inner.inv() * taken).charpoly().numer()  # its roots are 1/eps
    return least_positive_root(tuple(int(c) for c in reversed(reciprocal.coeffs())))


def _to_fmpq(x: Fraction) -> fmpq:
    return fmpq(x.numerator, x.denominator)


def _to_fractions(a: fmpq_mat) -> Numbers:
    return tuple(tuple(fraction(x) for x in row) for row in a.tolist())


def _format_vector(v: tuple[Fraction, ...]) -> str:
    return "[" + ", ".join(map(str, v)) + "]"

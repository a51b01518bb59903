"""The covariance of a Gaussian process at n points, as a formula.

K_ij = alpha**2 exp(-(x_i - x_j)**2/(2 rho**2))
"""

from dataclasses import dataclass
from fractions import Fraction

from recipe_compiler.formula import build
from recipe_compiler.formula import expression as ex
from recipe_compiler.formula.expression import Formula
from recipe_compiler.formula.shapes import SCALAR, Shape

_TWO = ex.Number(Fraction(2))


@dataclass(frozen=True, slots=True)
class ExpQuad:
    """K_ij = alpha**2 exp(-(x_i - x_j)**2/(2 rho**2)) of a column x of n points, numbers alpha and rho."""

    x: Formula
    alpha: Formula
    rho: Formula

    @property
    def formula(self) -> Formula:
        """Return the n x n matrix K."""
        apart = differences(self.x)
        precision = build.power(self.rho, ex.Number(Fraction(-2)), SCALAR)
        rate = build.multiply(ex.Number(Fraction(-1, 2)), precision, SCALAR)
        exponent = build.multiply(rate, build.multiply(apart, apart, apart.shape), apart.shape)
        kernel = ex.Apply("exp", (exponent,), apart.shape)
        return build.multiply(build.power(self.alpha, _TWO, SCALAR), kernel, apart.shape)


def differences(x: Formula) -> Formula:
    """Return the n x n matrix x_i - x_j of a column x of n entries."""
    n = x.shape.rows
    square, row = Shape(n, n), Shape(None, n)
    ones = ex.Filled(1, Shape(n))
    across = build.negate(build.matmul(ones, ex.Transpose(x, row), square))
    return build.add([build.matmul(x, ex.Transpose(ones, row), square), across], square)


def column_apart(apart: Formula) -> Formula | None:
    """Return the column that a matrix may be the differences of; None where it has another form."""
    match apart:
        case ex.Add((ex.MatMul(x, _), _)) if x.shape.cols is None:
            return x
        case _:
            return None

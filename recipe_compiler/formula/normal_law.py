"""The distribution function of N(0, 1) as a function of SymPy; by erfc, SymPy rewrites small values as 1 - erf.

Phi(x) = P(z <= x) = erfc(-x/sqrt(2))/2,     Phi'(x) = phi(x) = exp(-x**2/2)/sqrt(2 pi)
"""

from typing import Any, cast

import mpmath
import sympy
from mpmath.libmp import prec_to_dps
from sympy import Expr


class Phi(sympy.Function):
    """P(z <= x) for z of N(0, 1)."""

    nargs = 1

    @classmethod
    def eval(cls, *args: Any) -> Any:
        """Return its value where that is known at once: 1/2 at 0."""
        return sympy.Rational(1, 2) if args[0].is_zero else None

    def fdiff(self, argindex: int = 1) -> Expr:
        """Return phi(x); it has one argument."""
        return phi(cast(Expr, self.args[argindex - 1]))

    def _eval_is_extended_real(self) -> bool | None:
        return self.args[0].is_extended_real

    def _eval_is_positive(self) -> bool | None:
        return self.args[0].is_real

    def _eval_evalf(self, prec: int) -> Any:
        x = sympy.N(self.args[0], prec_to_dps(prec) + 5)
        if not x.is_Float and not x.is_Integer:
            return None
        with mpmath.workprec(prec + 10):
            return sympy.Float(self._imp_(mpmath.mpf(x)), precision=prec)

    @staticmethod
    def _imp_(x: Any) -> Any:
        """Compute it where an expression is made a function of numbers."""
        return mpmath.erfc(-x / mpmath.sqrt(2)) / 2


def ndtr(x: Expr) -> Expr:
    """Return Phi(x) of a scalar."""
    return cast(Expr, Phi(x))


def log_ndtr(x: Expr) -> Expr:
    """Return log Phi(x) of a scalar."""
    return sympy.log(ndtr(x))


def inverse_mills(x: Expr) -> Expr:
    """Return phi(x)/Phi(x) of a scalar, the derivative of log Phi."""
    return phi(x) / ndtr(x)


def phi(x: Expr) -> Expr:
    """Return exp(-x**2/2)/sqrt(2 pi) of a scalar, the density of N(0, 1)."""
    return sympy.exp(-(x**2) / 2) / sympy.sqrt(2 * sympy.pi)

"""Functions of one real number that SymPy has not, or would write as others: the normal law, and sqrt(q) coth(sqrt(q)).

Of the normal law, by erfc, SymPy rewrites small values as 1 - erf:

    Phi(x) = P(z <= x) = erfc(-x/sqrt(2))/2,     Phi'(x) = phi(x) = exp(-x**2/2)/sqrt(2 pi)

h(q) = sqrt(q) coth(sqrt(q)) is one real function of q > -pi**2, whatever the sign of q; SymPy would write it by a root,
which is not real where q < 0. The solutions of Riccati's equation are made of it (`splitting/riccati.py`). From
d/dr (r coth(r)) = coth(r) + r (1 - coth(r)**2) at r = sqrt(q), its derivative is

    h' = (h - h**2 + q)/(2 q),     1/3 at q = 0,

which is positive: (sinh(r) cosh(r) - r)/(2 r sinh(r)**2), and (r - sin(r) cos(r))/(2 r sin(r)**2) with r = sqrt(-q).
"""

from collections.abc import Callable
from typing import Any, cast

import mpmath
import sympy
from mpmath.libmp import prec_to_dps
from sympy import Expr

from recipe_compiler.formula.elementwise import Elementwise


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
        return _evaluated(_phi_of_number, self.args[0], prec)

    @staticmethod
    def _imp_(x: Any) -> Any:
        """Compute it where an expression is made a function of numbers."""
        return _phi_of_number(x)


class SqrtCoth(sympy.Function):
    """h(q) = sqrt(q) coth(sqrt(q)) for q > 0, 1 at 0, sqrt(-q) cot(sqrt(-q)) for -pi**2 < q < 0."""

    nargs = 1

    @classmethod
    def eval(cls, *args: Any) -> Any:
        """Return its value where that is known at once: 1 at 0."""
        return sympy.Integer(1) if args[0].is_zero else None

    def fdiff(self, argindex: int = 1) -> Expr:
        """Return h'(q) away from 0; it has one argument."""
        h, q = cast(Expr, self), cast(Expr, self.args[argindex - 1])
        return (h - h**2 + q) / (2 * q)

    def _eval_is_extended_real(self) -> bool | None:
        return self.args[0].is_extended_real

    def _eval_evalf(self, prec: int) -> Any:
        return _evaluated(_sqrtcoth_of_number, self.args[0], prec)

    @staticmethod
    def _imp_(q: Any) -> Any:
        """Compute it where an expression is made a function of numbers."""
        return _sqrtcoth_of_number(q)


def scalar(row: Elementwise) -> Callable[..., Any]:
    """Return a function of the language as one of SymPy scalars: one of those below, or SymPy's."""
    return globals().get(row.name) or getattr(sympy, row.sympy or row.name)


def log1p(x: Expr) -> Expr:
    """Return log(1 + x) of a scalar."""
    return sympy.log(1 + x)


def expm1(x: Expr) -> Expr:
    """Return exp(x) - 1 of a scalar."""
    return sympy.exp(x) - 1


def exprel(x: Expr) -> Expr:
    """Return (exp(x) - 1)/x of a scalar."""
    return expm1(x) / x


def reciprocal(x: Expr) -> Expr:
    """Return 1/x of a scalar."""
    return 1 / x


def softplus(x: Expr) -> Expr:
    """Return log(1 + exp(x)) of a scalar."""
    return sympy.log(1 + sympy.exp(x))


def sigmoid(x: Expr) -> Expr:
    """Return 1/(1 + exp(-x)) of a scalar."""
    return 1 / (1 + sympy.exp(-x))


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


def sqrtcoth(q: Expr) -> Expr:
    """Return h of a scalar, 1 at 0."""
    return cast(Expr, SqrtCoth(q))


def _evaluated(of: Callable[[Any], Any], argument: Any, prec: int) -> Any:
    """Return a function of a number to so many bits; None where the argument is no real number."""
    x = sympy.N(argument, prec_to_dps(prec) + 5)
    if not x.is_Float and not x.is_Integer:
        return None
    with mpmath.workprec(prec + 10):
        return sympy.Float(of(mpmath.mpf(x)), precision=prec)


def _phi_of_number(x: Any) -> Any:
    return mpmath.erfc(-x / mpmath.sqrt(2)) / 2


def _sqrtcoth_of_number(q: Any) -> Any:
    if q == 0:
        return mpmath.mpf(1)
    r = mpmath.sqrt(abs(q))
    return r * (mpmath.coth(r) if q > 0 else mpmath.cot(r))

"""h(q) = sqrt(q) coth(sqrt(q)) as a function of SymPy: one real function of q > -pi**2, whatever the sign of q.

SymPy would write it by a root, which is not real where q < 0. The solutions of Riccati's equation are made of it
(`splitting/riccati.py`). From d/dr (r coth(r)) = coth(r) + r (1 - coth(r)**2) at r = sqrt(q), its derivative is

    h' = (h - h**2 + q)/(2 q),     1/3 at q = 0,

which is positive: (sinh(r) cosh(r) - r)/(2 r sinh(r)**2), and (r - sin(r) cos(r))/(2 r sin(r)**2) with r = sqrt(-q).
"""

from typing import Any, cast

import mpmath
import sympy
from mpmath.libmp import prec_to_dps
from sympy import Expr


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
        q = sympy.N(self.args[0], prec_to_dps(prec) + 5)
        if not q.is_Float and not q.is_Integer:
            return None
        with mpmath.workprec(prec + 10):
            return sympy.Float(sqrtcoth_of_number(mpmath.mpf(q)), precision=prec)

    @staticmethod
    def _imp_(q: Any) -> Any:
        """Compute it where an expression is made a function of numbers."""
        return sqrtcoth_of_number(q)


def sqrtcoth_of_number(q: Any) -> Any:
    """Return h of a number of mpmath, to its precision."""
    if q == 0:
        return mpmath.mpf(1)
    r = mpmath.sqrt(abs(q))
    return r * (mpmath.coth(r) if q > 0 else mpmath.cot(r))


def sqrtcoth(q: Expr) -> Expr:
    """Return h of a scalar, 1 at 0."""
    return cast(Expr, SqrtCoth(q))

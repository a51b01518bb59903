"""Two coordinates: Q_12 = exp(H) int_{-oo}^{z2} W_1 exp(-H) ds, where that integral is a polynomial in z2.

The equation d_2 Q - Q d_2 H = W_1 is solved from the highest power of z2 down, with any functions of z1 as
coefficients; then -d_1 Q + Q d_1 H = W_2 is asked of the result. The same along z1. (Ma, Chen, Fox 2015, supplement C;
their S.11 has the sign and the brackets wrong.)
"""

import sympy
from sympy import Expr, Symbol

from recipe_compiler.algebra.scalars.transcendentals import NoNormalFormError
from recipe_compiler.algebra.zero.zero import is_zero
from recipe_compiler.verify.recover.fields import Fields, assembled
from recipe_compiler.verify.recover.scalar_formulas import NotWrittenError, Writer
from recipe_compiler.verify.recover.skew_problem import Problem, Proposal

LARGEST_DEGREE = 12


def from_integral(problem: Problem, at: Fields) -> Proposal | str:
    """Return the Q of two coordinates by an integral along one of them, or that none was found."""
    x, y = at.z
    (g1, g2), (w1, w2) = at.g, at.W
    for along, slope, wanted in ((y, g2, w1), (x, g1, -w2)):
        try:
            q = integral(along, slope, wanted)
            if q is None or not is_zero(q * g1 - sympy.diff(q, x) - w2) or not is_zero(sympy.diff(q, y) - q * g2 - w1):
                continue
            writer = Writer(problem.dynamics.declarations)
            return Proposal(assembled(problem, writer, {(0, 1): [writer.written(q)]}), f"integral along {along}")
        except (NoNormalFormError, NotWrittenError):
            continue
    return "the integral along neither coordinate is a polynomial in it"


def integral(z: Symbol, slope: Expr, wanted: Expr) -> Expr | None:
    """Return the polynomial q in z with dq/dz - slope q = wanted, if there is one; coefficients free of z."""
    h, w = _coefficients(slope, z), _coefficients(wanted, z)
    if h is None or w is None or len(h) < 2 or len(w) > LARGEST_DEGREE:
        return None
    m = len(h) - 1
    q: list[Expr] = [sympy.Integer(0)] * (len(w) + 1)
    for k in reversed(range(len(w) - m)):
        known = w[k + m] - (k + m + 1) * q[k + m + 1] if k + m + 1 < len(q) else w[k + m]
        known += sympy.Add(*[h[k + m - b] * q[b] for b in range(k + 1, min(k + m, len(q) - 1) + 1)])
        q[k] = sympy.expand(-known / h[m])
    return sympy.Add(*[q[k] * z**k for k in range(len(q))])


def _coefficients(e: Expr, z: Symbol) -> list[Expr] | None:
    """Return the coefficients of a polynomial in z, lowest first; None if it is none."""
    expanded = sympy.expand(e)
    terms: dict[int, list[Expr]] = {}
    for term in sympy.Add.make_args(expanded):
        rest, power = term.as_independent(z, as_Add=False)
        n = _exponent(power, z)
        if n is None:
            return None
        terms.setdefault(n, []).append(rest)
    top = max(terms, default=0)
    return [sympy.Add(*terms.get(n, [])) for n in range(top + 1)]


def _exponent(power: Expr, z: Symbol) -> int | None:
    if power == 1:
        return 0
    base, n = power.as_base_exp()
    return int(n) if base == z and n.is_Integer and n > 0 else None

"""By which power of the step size the stationary law of finite steps differs from exp(-H).

One step takes a density p to p + sum_k (-1)^k/k! sum_(i1..ik) d_i1 ... d_ik (E[dz_i1 ... dz_ik] p). With p = exp(-H),
the coefficient of eps vanishes for a right step. Where that of eps**2 does not, the stationary law at step size eps is
p (1 + eps g) + o(eps), L* (g p) being its negative: the error is of order eps. A scheme of weak order 2 has none there.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import reduce
from itertools import combinations_with_replacement
from math import factorial, prod

import sympy
from sympy import Expr

from recipe_compiler.algebra.points.witness import witness
from recipe_compiler.algebra.scalars.derivatives import slope
from recipe_compiler.algebra.zero.zero import is_zero
from recipe_compiler.lint.formulas import format_expression
from recipe_compiler.lint.read import UNREAD, MomentReader, TracedProblem
from recipe_compiler.trace.moments import Moments, expectation
from recipe_compiler.trace.scalars import Poly, value_of
from recipe_compiler.trace.series import Series
from recipe_compiler.verify.core.identities import format_value
from recipe_compiler.verify.core.sizes import format_sizes

SHORT = 120
"""Characters of a formula in a sentence; a value at a point takes the place of a longer one."""


def describe_bias(read: MomentReader) -> str:
    """Return by which power finite steps are off; empty where that is not known, more than 1, or the limit is wrong."""
    problem = read.problem
    try:
        unit = read.unit
        if min(read.parts(unit), default=2 * unit) != unit:
            return ""
        for power, left in _list_residuals(problem, read.reading_to(2 * unit).moments, 2 * unit):
            if is_zero(left):
                continue
            if power == unit:
                return ""
            order = power / unit - 1
            by = "eps" if order == 1 else f"eps^({order})"
            at = f" (at {format_sizes(problem.sizes)})" if problem.sizes else ""
            by_residual = f"by the residual {_format_briefly(problem, left)}{at}"
            return f"finite steps: the stationary distribution is off by order {by}, {by_residual}"
    except UNREAD:
        pass
    return ""


def _list_residuals(problem: TracedProblem, moments: Moments[Poly], top: Fraction) -> Iterator[tuple[Fraction, Expr]]:
    """Yield what a step changes of exp(-H), divided by that, power by power.

    Raises:
        NoExpansionError: a moment of draws is not known.
    """
    z, H = problem.z, problem.H
    slopes = [slope(H, x) for x in z]
    found: dict[Fraction, list[Expr]] = {}
    degree = 1
    while True:
        some = False
        for along in combinations_with_replacement(range(len(z)), degree):
            moment = _compute_moment([moments.change[i] for i in along], moments)
            some = some or any(power <= top for power in moment.parts)
            count = factorial(degree) // prod(factorial(along.count(i)) for i in set(along))
            for power, value in ((power, value_of(x)) for power, x in moment.parts.items() if power <= top):
                for i in along:
                    value = slope(value, z[i]) - value * slopes[i]
                found.setdefault(power, []).append(value * sympy.Rational((-1) ** degree * count, factorial(degree)))
        if not some:
            break
        degree += 1
    yield from ((power, sympy.Add(*found[power])) for power in sorted(found))


def _compute_moment(factors: Sequence[Series[Poly]], moments: Moments[Poly]) -> Series[Poly]:
    """Return E of a product of entries of dz."""
    return expectation(moments.S, reduce(moments.S.multiply, factors), moments.draws)


def _format_briefly(problem: TracedProblem, e: Expr) -> str:
    """Return a scalar as text, a long one by a value at a point."""
    text = format_expression(e)
    found = witness(e, problem.subject.dynamics.declarations, problem.sizes) if len(text) > SHORT else None
    if found is None:
        return text
    return f"{format_value(found.value)} at {', '.join(f'{name} = {value}' for name, value in found.text)}"

"""Circles: where every block is one, a current may go round them, and then no skew Q gives the drift.

With J = W exp(-H) free of divergence, div(Q exp(-H)) = J for a periodic skew Q makes the mean of every J_i over the
torus zero. A drift that is constant and not zero in a direction has the mean of exp(-H) times it: not zero.
"""

from fractions import Fraction
from math import comb

import sympy
from sympy import Expr

from recipe_compiler.algebra.points.witness import Witness, witness
from recipe_compiler.algebra.scalars.rationals import rational
from recipe_compiler.algebra.scalars.symbols import Sizes
from recipe_compiler.algebra.scalars.transcendentals import argument
from recipe_compiler.formula.shapes import DomainName
from recipe_compiler.verify.recover.polynomials import PolynomialReader, PolynomialTooLargeError
from recipe_compiler.verify.recover.skew_problem import Fields, SkewProblem

# The mean of a trigonometric polynomial over a torus, exact.


def mean(e: Expr, z: tuple[sympy.Symbol, ...]) -> Expr | None:
    """Return the mean over all angles of a polynomial in sines and cosines of single angles; None of anything else.

    (2 pi)**(-n) int e dz, exactly. sin(x)**2 has 1/2, sin(x) cos(x) has 0.

        >>> x, y = sympy.symbols("x y", real=True)
        >>> mean(sympy.sin(x) ** 2 * sympy.cos(y) ** 2, (x, y)), mean(sympy.sin(x) * sympy.cos(x), (x, y))
        (1/4, 0)
    """
    reader = PolynomialReader([e])
    try:
        polynomial = reader.of(e)
    except PolynomialTooLargeError:
        return None
    scalars = reader.scalars()
    terms: list[Expr] = []
    for powers, number in polynomial.items():
        rest: list[Expr] = [rational(number)]
        waves: dict[Expr, tuple[int, int]] = {}
        for generator, n in powers:
            factor = scalars.get(generator)
            if factor is None:
                return None
            if not factor.free_symbols & set(z):
                rest.append(factor**n)
            elif isinstance(factor, (sympy.sin, sympy.cos)) and factor.args[0] in z and n > 0:
                angle = argument(factor)
                sines, cosines = waves.get(angle, (0, 0))
                waves[angle] = (sines + n, cosines) if isinstance(factor, sympy.sin) else (sines, cosines + n)
            else:
                return None
        for sines, cosines in waves.values():
            share = _moment(sines, cosines)
            rest.append(rational(share))
        terms.append(sympy.Mul(*rest))
    return sympy.Add(*terms)


def _moment(sines: int, cosines: int) -> Fraction:
    """Return the mean of sin(x)**a cos(x)**b over a period: zero unless both are even."""
    if sines % 2 or cosines % 2:
        return Fraction(0)
    a, b = sines // 2, cosines // 2
    return Fraction(comb(2 * a, a) * comb(2 * b, b), comb(a + b, a) * 4 ** (a + b))


def current_around(problem: SkewProblem, at: Fields, sizes: Sizes) -> tuple[str, Witness] | None:
    """Return a direction in which the mean current around a torus is certainly not zero, with an exact point.

    J = W exp(-H) with W = f + D grad H - div D. If J = div(Q exp(-H)) with a periodic skew Q, the mean of every J_i is
    zero, as an integral of derivatives over a period. So f = 1, H = 0 on a circle, with the mean 1, is stationary and
    has no Q (Barp et al. 2021). None where a block is no circle, or nothing is shown.
    """
    declarations = problem.dynamics.declarations
    if any(block.domain.name is not DomainName.CIRCLE for block in declarations.blocks):
        return None
    flat = not any(e for e in at.g)
    for x, w in zip(at.z, at.W, strict=True):
        around: Expr | None = mean(w, at.z) if flat else (w if not w.free_symbols & set(at.z) else None)
        if around is None or around == 0:
            continue
        found = witness(around, declarations, sizes)
        if found is not None:
            return f"mean of f + D grad H - div D along {x}, weighted by exp(-H)", found
    return None

"""The mean of a trigonometric polynomial over a torus, exact."""

from fractions import Fraction
from math import comb

import sympy
from sympy import Expr

from recipe_compiler.algebra.scalars.transcendentals import argument
from recipe_compiler.verify.recover.polynomials import Reader, TooLargeError


def mean(e: Expr, z: tuple[sympy.Symbol, ...]) -> Expr | None:
    """Return the mean over all angles of a polynomial in sines and cosines of single angles; None of anything else."""
    reader = Reader([e])
    try:
        polynomial = reader.of(e)
    except TooLargeError:
        return None
    scalars = reader.scalars()
    terms: list[Expr] = []
    for powers, number in polynomial.items():
        rest: list[Expr] = [sympy.Rational(number.numerator, number.denominator)]
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
            rest.append(sympy.Rational(share.numerator, share.denominator))
        terms.append(sympy.Mul(*rest))
    return sympy.Add(*terms)


def _moment(sines: int, cosines: int) -> Fraction:
    """Return the mean of sin(x)**a cos(x)**b over a period: zero unless both are even."""
    if sines % 2 or cosines % 2:
        return Fraction(0)
    a, b = sines // 2, cosines // 2
    return Fraction(comb(2 * a, a) * comb(2 * b, b), comb(a + b, a) * 4 ** (a + b))

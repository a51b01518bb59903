"""Exact witnesses that exp(-H) has no finite integral, for polynomials H: a direction, or a region of infinite volume.

Under x_k = u_k s**w_k the terms of H of the largest degree D in s make up P(u). With sum w >= 0 and u near a fixed v,
s >= 1 sweeps a region of infinite volume. H is bounded on it if D <= 0, and goes to -oo if D > 0 and P(v) < 0.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import prod

import sympy
from sympy import Expr, Symbol

from recipe_compiler import limits
from recipe_compiler.algebra.scalars.rational_matrices import form, negative_direction, nullspace
from recipe_compiler.algebra.scalars.rationals import fraction
from recipe_compiler.verdict import Evidence

VALUES = range(-2, 3)
"""The weights tried of each coordinate, and the entries of each direction."""

Monomials = tuple[tuple[tuple[int, ...], Fraction], ...]


@dataclass(frozen=True, slots=True)
class Flat:
    """A direction along which a quadratic energy does not grow, or a region of infinite volume with bounded energy."""

    text: Evidence
    """Names with exact values, as a witness prints them."""


def flat(H: Expr, z: Sequence[Symbol], positive: Sequence[bool]) -> Flat | None:
    """Return why exp(-H) has no finite integral over the n coordinates z, H a scalar; None decides nothing.

    `positive` has one entry for each of z: whether it is > 0. H = x**2 - y**2 has v = (0, 1) with v.T P v = -2, P the n
    x n Hessian; (x y - 1)**2 has a region of infinite volume on which it is bounded above.

        >>> import sympy
        >>> x, y = sympy.symbols("x y", real=True)
        >>> flat((x * y - 1) ** 2, (x, y), (False, False)).text[0]
        ('region', 'near x = s**(-1), y = s, s -> oo')
    """
    terms = monomials(H, z)
    if terms is None or not z or any(sum(e) > limits.DEGREE for e, _ in terms):
        return None
    if all(sum(e) <= 2 for e, _ in terms) and not any(positive):
        return _flat_direction_of_quadratic(terms, z)
    if len(z) > limits.FEW_COORDINATES:
        return None
    for weights in _list_weights(len(z)):
        degrees = [sum(e * w for e, w in zip(exponents, weights, strict=True)) for exponents, _ in terms]
        top = max(degrees, default=0)
        if top <= 0:
            return Flat(_describe_region(z, weights, (1,) * len(z), "bounded"))
        leading = [term for term, degree in zip(terms, degrees, strict=True) if degree == top]
        falls = any(a < 0 or any(e % 2 for e in exponents) for exponents, a in leading)
        for v in _list_integer_points(positive) if falls else ():
            value = sum(a * prod(x**e for x, e in zip(v, exponents, strict=True)) for exponents, a in leading)
            if value < 0:
                return Flat(_describe_region(z, weights, v, f"{value}*s**{top} and smaller powers"))
    return None


def _list_weights(n: int) -> Iterator[tuple[int, ...]]:
    """Yield integer exponents w with a nonnegative sum, small ones first: z_i = v_i s**w_i sweeps infinite volume."""
    choices = product(VALUES, repeat=n)
    yield from (w for w in sorted(choices, key=lambda w: (sum(map(abs, w)), w)) if sum(w) >= 0 and any(w))


def _list_integer_points(positive: Sequence[bool]) -> Iterator[tuple[int, ...]]:
    """Yield integer coefficient vectors v, positive where declared so, short and positive ones first."""
    found = product(*([x for x in VALUES if x > 0] if p else VALUES for p in positive))
    yield from sorted(found, key=lambda v: (sum(map(abs, v)), [x < 0 for x in v], v))


def _describe_region(z: Sequence[Symbol], weights: tuple[int, ...], v: tuple[int, ...], says: str) -> Evidence:
    """Return the region around the curve z_i = v_i s**w_i as named text values of a witness."""
    powers = ("" if not w else "s" if w == 1 else f"s**{w}" if w > 0 else f"s**({w})" for w in weights)
    ray = ((f"{k}*{s}" if k != 1 and s else s or str(k)) if k else "0" for k, s in zip(v, powers, strict=True))
    place = ", ".join(f"{x} = {at}" for x, at in zip(z, ray, strict=True))
    volume = ("volume of the region", f"infinite: its weights sum to {sum(weights)}")
    return (("region", f"near {place}, s -> oo"), volume, ("H in the region", says))


def _flat_direction_of_quadratic(terms: Monomials, z: Sequence[Symbol]) -> Flat | None:
    """Return a direction in which the Hessian of a quadratic is not positive, None if it is positive definite."""
    n = len(z)
    P = [[Fraction(0)] * n for _ in range(n)]
    for exponents, coefficient in terms:
        if sum(exponents) == 2:
            i, j = (k for k, e in enumerate(exponents) for _ in range(e))
            P[i][j] += coefficient
            P[j][i] += coefficient
    rows = tuple(map(tuple, P))
    v = negative_direction(rows) or next(iter(nullspace(rows, n)), None)
    if v is None:
        return None
    direction = "[" + ", ".join(map(str, v)) + "]"
    return Flat(
        (("v, in the order " + ", ".join(map(str, z)), direction), ("v.T @ hessian(H) @ v", str(form(rows, v))))
    )


def monomials(H: Expr, z: Sequence[Symbol]) -> Monomials | None:
    """Return the exponents and rational coefficients of a polynomial, None if H is anything else.

    3 x**2 y over (x, y) is (((2, 1), 3),).
    """
    if not H.is_polynomial(*z):
        return None
    terms = sympy.Poly(H, *z).terms()
    if not all(isinstance(coefficient, sympy.Rational) for _, coefficient in terms):
        return None
    return tuple((tuple(map(int, exponents)), fraction(coefficient)) for exponents, coefficient in terms)

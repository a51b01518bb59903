"""Exact reasons why exp(-H) has no finite integral, for a polynomial H with rational coefficients.

1. A quadratic H needs a positive definite Hessian: along v with v.T P v <= 0 the energy does not grow.
2. A region of infinite volume on which H is bounded above: the points sign_i u_i s**w_i with 1 <= u_i <= 2 and s >= 1,
   whose volume is infinite if the weights w add up to at least zero and are not all zero. On it a monomial of weighted
   degree at most zero is bounded, and any other one must be negative. H = (x y - 1)**2 is at most 9 where x = u s and y
   = v/s (weights 1 and -1), as x y = u v lies between 1 and 4.
3. A cone in which H falls: let P be the sum of the terms of largest degree D > 0 under weights w >= 0, not all zero. If
   P is negative at a point v, it is so near v, and H(u_1 s**w_1, u_2 s**w_2, ...) <= s**D P(u)/2 for all u near v and
   large s: there exp(-H) grows, on a region of infinite volume.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

import sympy
from sympy import Expr, Symbol

from recipe_compiler.algebra.scalars.rational_matrices import negative_direction
from recipe_compiler.algebra.scalars.rationals import fraction

LARGEST_WEIGHT = 2
LARGEST_DIMENSION = 4
"""Weights and signs are gone through one by one up to this many coordinates."""

LARGEST_DEGREE = 24
LARGEST_ENTRY = 2
SMALL = 3
"""With more coordinates only weights and entries up to 1 are gone through."""

Monomials = tuple[tuple[tuple[int, ...], Fraction], ...]


@dataclass(frozen=True, slots=True)
class Flat:
    """A direction along which a quadratic energy does not grow, or a region of infinite volume with bounded energy."""

    text: tuple[tuple[str, str], ...]
    """Names with exact values, as a witness prints them."""


def flat(H: Expr, z: Sequence[Symbol], positive: Sequence[bool]) -> Flat | None:
    """Return why exp(-H) has no finite integral over the n coordinates z, H a scalar; None decides nothing.

    `positive` has one entry for each of z: whether it is > 0. H = x**2 - y**2 has v = (0, 1) with v.T P v = -2, P the n
    x n Hessian; (x y - 1)**2 has a region of infinite volume on which it is bounded above.

        >>> import sympy
        >>> x, y = sympy.symbols("x y", real=True)
        >>> flat((x * y - 1) ** 2, (x, y), (False, False)).text[0]
        ('region', 'x = u0*s**(-1); y = u1*s**(1), with 1 <= u <= 2, s >= 1')
    """
    terms = monomials(H, z)
    if terms is None or not z or any(sum(e) > LARGEST_DEGREE for e, _ in terms):
        return None
    if all(sum(e) <= 2 for e, _ in terms) and not any(positive):
        return _flat_quadratic(terms, z)
    if len(z) > LARGEST_DIMENSION:
        return None
    for signs in product(*((1,) if p else (1, -1) for p in positive)):
        for weights in _weights(len(z)):
            bound = _bound(terms, signs, weights)
            if bound is not None:
                return Flat(_written(z, signs, weights, bound))
    cone = falling(terms, z, positive)
    return None if cone is None else Flat(cone)


def _weights(n: int) -> Iterator[tuple[int, ...]]:
    """Yield the weights to try, small ones first."""
    choices = product(range(-LARGEST_WEIGHT, LARGEST_WEIGHT + 1), repeat=n)
    for weights in sorted(choices, key=lambda w: (sum(map(abs, w)), w)):
        if sum(weights) >= 0 and any(weights):
            yield weights


def _bound(terms: Monomials, signs: tuple[int, ...], weights: tuple[int, ...]) -> Fraction | None:
    """Return an upper bound of a polynomial on the region, None where it has none of this kind."""
    bound = Fraction(0)
    for exponents, coefficient in terms:
        sign = -1 if sum(e for e, s in zip(exponents, signs, strict=True) if s < 0) % 2 else 1
        if coefficient * sign <= 0:
            continue
        if sum(e * w for e, w in zip(exponents, weights, strict=True)) > 0:
            return None
        bound += abs(coefficient) * 2 ** sum(exponents)
    return bound


def _written(
    z: Sequence[Symbol], signs: tuple[int, ...], weights: tuple[int, ...], bound: Fraction
) -> tuple[tuple[str, str], ...]:
    region = "; ".join(
        f"{x} = {'-' if s < 0 else ''}u{k}*s**({w})" for k, (x, s, w) in enumerate(zip(z, signs, weights, strict=True))
    )
    return (
        ("region", f"{region}, with 1 <= u <= 2, s >= 1"),
        ("volume of the region", f"infinite: its weights sum to {sum(weights)}"),
        ("H in the region", f"at most {bound}"),
    )


def _flat_quadratic(terms: Monomials, z: Sequence[Symbol]) -> Flat | None:
    """Return a direction along which a quadratic does not grow, if its Hessian is not positive definite."""
    n = len(z)
    P = [[Fraction(0)] * n for _ in range(n)]
    for exponents, coefficient in terms:
        if sum(exponents) < 2:
            continue
        i, j = (k for k, e in enumerate(exponents) for _ in range(e))
        P[i][j] += coefficient
        P[j][i] += coefficient
    rows = tuple(tuple(row) for row in P)
    v = negative_direction(rows) or _null_vector(rows)
    if v is None:
        return None
    value = sum(v[i] * rows[i][j] * v[j] for i in range(n) for j in range(n))
    direction = "[" + ", ".join(map(str, v)) + "]"
    return Flat((("v, in the order " + ", ".join(map(str, z)), direction), ("v.T @ hessian(H) @ v", str(value))))


def _null_vector(P: tuple[tuple[Fraction, ...], ...]) -> tuple[Fraction, ...] | None:
    """Return a nonzero v with P v = 0, None if P is invertible."""
    n = len(P)
    rows = [list(row) for row in P]
    pivots: list[int] = []
    for column in range(n):
        at = next((i for i in range(len(pivots), n) if rows[i][column]), None)
        if at is None:
            v = [Fraction(0)] * n
            v[column] = Fraction(1)
            for k, pivot in enumerate(pivots):
                v[pivot] = -rows[k][column]
            return tuple(v)
        k = len(pivots)
        rows[k], rows[at] = rows[at], rows[k]
        lead = rows[k][column]
        rows[k] = [x / lead for x in rows[k]]
        for i in range(n):
            if i != k and rows[i][column]:
                share = rows[i][column]
                rows[i] = [x - share * y for x, y in zip(rows[i], rows[k], strict=True)]
        pivots.append(column)
    return None


def falling(terms: Monomials, z: Sequence[Symbol], positive: Sequence[bool]) -> tuple[tuple[str, str], ...] | None:
    """Return weights and a point at which the leading form is negative, as text for a witness; None decides nothing.

    Under n weights w >= 0 the terms of H of the largest degree D > 0 make P; P(v) < 0 at a vector v makes H(s**w v) ->
    -oo as s -> oo, on a cone around v. For x**4 - 3 x**2 y**2 + y**4, w = (1, 1) and v = (1, 1), P(v) = -1.
    """
    if not terms or len(z) > LARGEST_DIMENSION:
        return None
    small = len(z) <= SMALL
    for weights in _leading_weights(len(z), LARGEST_WEIGHT if small else 1):
        degree = {exponents: sum(e * w for e, w in zip(exponents, weights, strict=True)) for exponents, _ in terms}
        top = max(degree.values())
        form = tuple((exponents, a) for exponents, a in terms if degree[exponents] == top)
        if top <= 0 or not any(a < 0 or any(e % 2 for e in exponents) for exponents, a in form):
            continue
        for v in _points(positive, LARGEST_ENTRY if small else 1):
            value = sum((a * _power(v, exponents) for exponents, a in form), Fraction(0))
            if value < 0:
                return _as_ray(z, weights, v, top, value)
    return None


def _leading_weights(n: int, largest: int) -> Iterator[tuple[int, ...]]:
    """Yield weights, equal ones first."""
    found = (w for w in product(range(largest + 1), repeat=n) if any(w))
    yield from sorted(found, key=lambda w: (max(w) - min(w), sum(w), w))


def _points(positive: Sequence[bool], largest: int) -> Iterator[tuple[int, ...]]:
    """Yield points, short ones and those without signs first."""
    found = product(*(range(1 if p else -largest, largest + 1) for p in positive))
    yield from sorted(found, key=lambda v: (sum(map(abs, v)), [x < 0 for x in v], v))


def _power(v: tuple[int, ...], exponents: tuple[int, ...]) -> int:
    found = 1
    for x, e in zip(v, exponents, strict=True):
        found *= x**e
    return found


def _as_ray(
    z: Sequence[Symbol], weights: tuple[int, ...], v: tuple[int, ...], degree: int, value: Fraction
) -> tuple[tuple[str, str], ...]:
    ray = ", ".join(
        f"{x} = {'0' if not k else k if not w else 's' if k == w == 1 else f'{k}*s' if w == 1 else f'{k}*s**{w}'}"
        for x, w, k in zip(z, weights, v, strict=True)
    )
    return (("ray", f"{ray}, s -> oo"), ("H along the ray, and near it", f"{value}*s**{degree} and smaller powers"))


def monomials(H: Expr, z: Sequence[Symbol]) -> Monomials | None:
    """Return the exponents and rational coefficients of a polynomial, None if H is anything else.

    3 x**2 y over (x, y) is (((2, 1), 3),).
    """
    if not _is_polynomial(H, set(z)):
        return None
    try:
        polynomial = sympy.Poly(H, *z)
    except sympy.PolynomialError:
        return None
    found: list[tuple[tuple[int, ...], Fraction]] = []
    for exponents, coefficient in polynomial.terms():
        if not isinstance(coefficient, sympy.Rational):
            return None
        found.append((tuple(int(e) for e in exponents), fraction(coefficient)))
    return tuple(found)


def _is_polynomial(H: Expr, z: set[Symbol]) -> bool:
    """Whether an expression is made of coordinates by sums, products and natural powers, as written."""
    if not H.has(*z):
        return True
    match H:
        case sympy.Symbol():
            return True
        case sympy.Pow():
            return H.exp.is_Integer and H.exp > 0 and _is_polynomial(H.base, z)
        case sympy.Add() | sympy.Mul():
            return all(_is_polynomial(part, z) for part in H.args)
        case _:
            return False

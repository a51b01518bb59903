"""Exact reasons why exp(-H) has no finite integral, for a polynomial H with rational coefficients.

A quadratic H needs a positive definite Hessian: along v with v.P v <= 0 the energy does not grow. Of any other
polynomial a region of infinite volume is looked for on which it is bounded above: the points sign_i u_i s**w_i with
1 <= u_i <= 2 and s >= 1, whose volume is infinite if the weights w sum to at least zero and are not all zero. On it a
monomial of weighted degree at most zero is bounded, and any other one must be negative. Or a cone in which it falls.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

from sympy import Expr, Symbol

from recipe_compiler.algebra.polynomial_integrability.falling import falling
from recipe_compiler.algebra.polynomial_integrability.monomials import Monomials, monomials
from recipe_compiler.algebra.scalars.negative_direction import negative_direction

LARGEST_WEIGHT = 2
LARGEST_DIMENSION = 4
"""Weights and signs are gone through one by one up to this many coordinates."""
LARGEST_DEGREE = 24


@dataclass(frozen=True, slots=True)
class Flat:
    """A direction along which a quadratic energy does not grow, or a region of infinite volume with bounded energy."""

    text: tuple[tuple[str, str], ...]
    """Names with exact values, as a witness prints them."""


def flat(H: Expr, z: Sequence[Symbol], positive: Sequence[bool]) -> Flat | None:
    """Return why exp(-H) has no finite integral; None says nothing. `positive` are coordinates that are > 0."""
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

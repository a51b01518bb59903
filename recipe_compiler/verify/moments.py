"""Exact moments of polynomials in Gaussian variables, by Isserlis' theorem."""

from collections.abc import Sequence

import sympy as sp

from recipe_compiler.errors import CompilerError
from recipe_compiler.tensor.scalars import Scalar

Monomials = dict[tuple[int, ...], Scalar]
"""Exponents of the variables to the coefficient."""

MAX_DEGREE = 8


def monomials(value: Scalar, variables: Sequence[sp.Symbol]) -> Monomials:
    """Return a polynomial in the variables by monomials.

    Raises:
        CompilerError: it is no polynomial in them, or of a degree beyond 8.
    """
    if not variables:
        return {(): value}
    places: dict[Scalar, int] = {variable: place for place, variable in enumerate(variables)}
    found: dict[tuple[int, ...], list[Scalar]] = {}
    for term in sp.Add.make_args(sp.expand(value)):
        exponents, others = [0] * len(variables), list[Scalar]()
        for factor in sp.Mul.make_args(term):
            base, power = factor.as_base_exp()
            if base in places and power.is_Integer and power > 0:
                exponents[places[base]] += int(power)
            elif factor.free_symbols.isdisjoint(places):
                others.append(factor)
            else:
                raise CompilerError(f"a step is not a polynomial in its noise: {value}")
        found.setdefault(tuple(exponents), []).append(sp.Mul(*others))
    if (degree := max(map(sum, found))) > MAX_DEGREE:
        raise CompilerError(f"a step is a polynomial of degree {degree} in its noise")
    return {exponents: sp.Add(*coefficients) for exponents, coefficients in found.items()}


def expectation(terms: Monomials, covariance: sp.Matrix) -> Scalar:
    """Return E of a polynomial of w ~ N(0, covariance)."""
    return sp.Add(*(coefficient * _moment(exponents, covariance, {}) for exponents, coefficient in terms.items()))


def product(left: Monomials, right: Monomials) -> Monomials:
    """Return the product of two polynomials."""
    found: Monomials = {}
    for a, x in left.items():
        for b, y in right.items():
            key = tuple(i + j for i, j in zip(a, b, strict=True))
            found[key] = found.get(key, sp.Integer(0)) + x * y
    return found


def _moment(exponents: tuple[int, ...], covariance: sp.Matrix, known: dict[tuple[int, ...], Scalar]) -> Scalar:
    """E[w_a rest] = sum_b Cov_ab E[d rest / d w_b] (Isserlis; Stein's identity)."""
    if not any(exponents):
        return sp.Integer(1)
    if sum(exponents) % 2:
        return sp.Integer(0)
    if exponents not in known:
        first = next(place for place, power in enumerate(exponents) if power)
        rest = _lower(exponents, first)
        known[exponents] = sp.Add(
            *(
                covariance[first, place] * power * _moment(_lower(rest, place), covariance, known)
                for place, power in enumerate(rest)
                if power
            )
        )
    return known[exponents]


def _lower(exponents: tuple[int, ...], place: int) -> tuple[int, ...]:
    return tuple(power - (k == place) for k, power in enumerate(exponents))

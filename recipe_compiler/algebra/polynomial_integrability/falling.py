"""Cones in which a polynomial falls without bound.

Let P be the sum of the terms of largest degree D > 0 under weights w >= 0, not all zero. If P is negative at a point v,
it is so near v, and H(u_1 s**w_1, u_2 s**w_2, ...) <= s**D P(u)/2 for all u near v and large s: there exp(-H) grows, on
a region of infinite volume.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import product

from sympy import Symbol

from recipe_compiler.algebra.polynomial_integrability.monomials import Monomials

LARGEST_WEIGHT = 2
LARGEST_ENTRY = 2
SMALL = 3
"""With more coordinates only weights and entries up to 1 are gone through."""
LARGEST_DIMENSION = 4


def falling(terms: Monomials, z: Sequence[Symbol], positive: Sequence[bool]) -> tuple[tuple[str, str], ...] | None:
    """Return weights and a point at which the leading form is negative, as a witness prints them; None says nothing."""
    if not terms or len(z) > LARGEST_DIMENSION:
        return None
    small = len(z) <= SMALL
    for weights in _weights(len(z), LARGEST_WEIGHT if small else 1):
        degree = {exponents: sum(e * w for e, w in zip(exponents, weights, strict=True)) for exponents, _ in terms}
        top = max(degree.values())
        form = tuple((exponents, a) for exponents, a in terms if degree[exponents] == top)
        if top <= 0 or not any(a < 0 or any(e % 2 for e in exponents) for exponents, a in form):
            continue
        for v in _points(positive, LARGEST_ENTRY if small else 1):
            value = sum((a * _power(v, exponents) for exponents, a in form), Fraction(0))
            if value < 0:
                return _written(z, weights, v, top, value)
    return None


def _weights(n: int, largest: int) -> Iterator[tuple[int, ...]]:
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


def _written(
    z: Sequence[Symbol], weights: tuple[int, ...], v: tuple[int, ...], degree: int, value: Fraction
) -> tuple[tuple[str, str], ...]:
    ray = ", ".join(
        f"{x} = {'0' if not k else k if not w else 's' if k == w == 1 else f'{k}*s' if w == 1 else f'{k}*s**{w}'}"
        for x, w, k in zip(z, weights, v, strict=True)
    )
    return (("ray", f"{ray}, s -> oo"), ("H along the ray, and near it", f"{value}*s**{degree} and smaller powers"))

"""Sine and cosine of sums and multiples of angles, by those of the angles themselves.

cos(a + b) = cos(a) cos(b) - sin(a) sin(b) and sin(a + b) = sin(a) cos(b) + cos(a) sin(b): sin(2 x) is 2 sin(x) cos(x).
"""

from dataclasses import dataclass

from recipe_compiler.algebra.scalars import quotients
from recipe_compiler.algebra.scalars.quotients import Quotient, Ring

MOST_ANGLES = 4
LARGEST_MULTIPLE = 16
"""Sums of more angles, and larger multiples, are transcendentals of their own."""


@dataclass(frozen=True, slots=True)
class Angle:
    """Cosine and sine of one angle."""

    cos: Quotient
    sin: Quotient


def angle_of(name: object, of: Ring) -> Angle:
    """Return cosine and sine of an angle, with sin**2 = 1 - cos**2."""
    cos, _ = quotients.generator(("cos", name), of)
    key = ("sin", name)
    sin, new = quotients.generator(key, of)
    if new:
        square = quotients.multiply(cos, cos, of)
        one, minus = quotients.constant(1, 1, of), quotients.constant(-1, 1, of)
        quotients.relate(key, 2, quotients.add([one, quotients.multiply(minus, square, of)], of), of)
    return Angle(cos, sin)


def total(angles: list[tuple[Angle, int]], of: Ring) -> Angle:
    """Return cosine and sine of sum_k n_k a_k, by the addition theorems: cos(2 a) = cos(a)**2 - sin(a)**2."""
    found = Angle(quotients.constant(1, 1, of), quotients.constant(0, 1, of))
    for angle, n in angles:
        one = angle if n > 0 else Angle(angle.cos, _minus(angle.sin, of))
        for _ in range(abs(n)):
            found = _added(found, one, of)
    return found


def is_small(multiples: list[int]) -> bool:
    """Whether a sum of multiples of angles is small enough to be written out."""
    return len(multiples) <= MOST_ANGLES and sum(map(abs, multiples)) <= LARGEST_MULTIPLE


def _added(a: Angle, b: Angle, of: Ring) -> Angle:
    """cos(a + b) = cos a cos b - sin a sin b, sin(a + b) = sin a cos b + cos a sin b."""

    def times(x: Quotient, y: Quotient) -> Quotient:
        return quotients.multiply(x, y, of)

    cos = quotients.add([times(a.cos, b.cos), _minus(times(a.sin, b.sin), of)], of)
    return Angle(cos, quotients.add([times(a.sin, b.cos), times(a.cos, b.sin)], of))


def _minus(a: Quotient, of: Ring) -> Quotient:
    return quotients.multiply(quotients.constant(-1, 1, of), a, of)

"""Exact rational powers of positive rational numbers."""

from fractions import Fraction

_TRIAL = 2000
"""Primes up to here are split off; what is left stays one number under the root, which is sound."""


def root(value: Fraction, exponent: Fraction) -> tuple[Fraction, tuple[tuple[int, Fraction], ...]]:
    """Return `value**exponent` (value > 0) as a rational times integers to powers strictly between 0 and 1."""
    outside = Fraction(1)
    inside: list[tuple[int, Fraction]] = []
    for number, sign in ((value.numerator, 1), (value.denominator, -1)):
        for prime, count in split(number):
            whole, part = divmod(sign * count * exponent, 1)
            outside *= Fraction(prime) ** int(whole)
            if part:
                inside.append((prime, part))
    return outside, tuple(sorted(inside))


def split(number: int) -> list[tuple[int, int]]:
    """Return the factors of a positive integer with their counts: small primes, and what is left."""
    found: list[tuple[int, int]] = []
    prime = 2
    while prime <= _TRIAL and prime * prime <= number:
        count = 0
        while number % prime == 0:
            number //= prime
            count += 1
        if count:
            found.append((prime, count))
        prime += 1
    return [*found, (number, 1)] if number > 1 else found

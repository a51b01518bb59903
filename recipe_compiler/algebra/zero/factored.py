"""Signs, moduli, logarithms and roots of quotients, by their factors.

With a = c prod f_i**k_i, c rational and every f_i irreducible,

    sign a = sign c prod sign(f_i)**k_i,   |a|**s = |c|**s prod |f_i|**(s k_i),   log |a| = log |c| + sum k_i log |f_i|.

So sqrt(x**2 + 2 x + 1), |1 + x| and log(x y) have one form each. A root, logarithm or real power of a is real only
where a >= 0; there log a = log |a|, and the signs of the factors have the product 1.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import sympy
from flint import fmpq_mpoly

from recipe_compiler import limits
from recipe_compiler.algebra.scalars.quotients import Quotient, Ring
from recipe_compiler.algebra.scalars.transcendentals import NoNormalFormError


@dataclass(frozen=True, slots=True)
class Factored:
    """constant * prod factor**n, the factors by their numbers in the ring's table."""

    constant: Fraction
    factors: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Exponent:
    """`rest * power`, `rest` by a name and its value; powers are taken of `base**(rest/least)`."""

    power: Fraction
    least: int
    rest: object = 1
    value: Quotient | None = None
    """None where the exponent is the number `power` alone."""


def factored(a: Quotient) -> Factored:
    """Return a quotient a = c prod_i f_i**k_i by its factors.

    Raises:
        NoNormalFormError: it is zero.
    """
    if a.top.is_zero():
        raise NoNormalFormError("logarithm or power of zero")
    scale, found = a.ring.split(a.top)
    for number, n in a.bottom:
        found[number] = found.get(number, 0) - n
    factors = tuple(sorted((number, n) for number, n in found.items() if n))
    return Factored(Fraction(int(scale.p), int(scale.q)), factors)


def sign(a: Quotient) -> Quotient:
    """Return the sign of a quotient off its zeros, s(c) prod_i s(f_i)**k_i with s the sign; that of zero is zero.

    -(1 + x**2) y**3 has -s(y), as 1 + x**2 is positive by its terms.
    """
    if a.top.is_zero():
        return a
    found = factored(a)
    signs = [_sign_of_factor(number, a.ring) for number, n in found.factors if n % 2]
    return a.ring.product(signs).scaled(1 if found.constant > 0 else -1)


def logarithm(a: Quotient) -> Quotient:
    """Return log a = log|c| + sum_i k_i log|f_i|, where a > 0: log(4 x y) = 2 log(2) + log|x| + log|y|.

    Raises:
        NoNormalFormError: a is zero, or certainly negative.
    """
    found, ring = factored(a), a.ring
    _note_nonnegative(found, ring)
    terms: list[Quotient] = []
    for prime, n in _factor_rational(abs(found.constant)):
        log, _ = ring.generator(("log", "prime", prime))
        ring.positive.add(ring.numbers["log", "prime", prime])
        terms.append(log.scaled(n))
    return ring.total([*terms, *(_log_of_factor(number, ring).scaled(n) for number, n in found.factors)])


def real_power(a: Quotient, exponent: Exponent) -> Quotient:
    """Return a**s = |c|**s prod_i |f_i|**(s k_i), where a >= 0.

    Raises:
        NoNormalFormError: a is zero and s not a positive number, or a is certainly negative.
    """
    if a.top.is_zero():
        if exponent.value is None and exponent.power > 0:
            return a
        raise NoNormalFormError("real power of zero")
    found, ring = factored(a), a.ring
    _note_nonnegative(found, ring)
    parts: list[Quotient] = []
    for prime, n in _factor_rational(abs(found.constant)):
        parts.append(_power_of(ring.constant(prime), ("prime", prime), None, n * exponent.power, exponent))
    for number, n in found.factors:
        if _sole_generator(ring.factors[number]) not in ring.units:
            parts.append(_power_of(_modulus_of_factor(number, ring), number, number, n * exponent.power, exponent))
    return ring.product(parts)


def _power_of(base: Quotient, name: object, factor: int | None, power: Fraction, exponent: Exponent) -> Quotient:
    """Return `base**(rest power)` by a generator `base**(rest/least)`; base > 0 is a prime or a modulus of a factor."""
    times, ring = power * exponent.least, base.ring
    if times.denominator != 1:
        raise NoNormalFormError("an exponent outside those read beforehand")
    whole, part = (0, int(times)) if exponent.value is not None else divmod(int(times), exponent.least)
    result = base**whole
    if not part:
        return result
    key = ("power", name, exponent.rest, exponent.least)
    g, new = ring.generator(key)
    if new:
        own = ring.numbers[key]
        ring.positive.add(own)
        if exponent.value is None:
            ring.relate(key, exponent.least, base)
        if factor is not None:
            log = _log_of_factor(factor, ring).scaled(Fraction(1, exponent.least))
            ring.logs[own] = log if exponent.value is None else log * exponent.value
    return result * g**part


def _note_nonnegative(a: Factored, ring: Ring) -> None:
    """Note that a quotient is >= 0: the sign of one of its factors follows from the others.

    Raises:
        NoNormalFormError: it is negative wherever it is not zero.
    """
    value = ring.constant(1 if a.constant > 0 else -1)
    unknown: list[int] = []
    for number, n in a.factors:
        if n % 2:
            known = ring.signs.get(number)
            if (known is not None and known.top.is_constant()) or definite(ring.factors[number], ring):
                value = value * _sign_of_factor(number, ring)
            else:
                unknown.append(number)
    if not unknown:
        if value.top == -1:
            raise NoNormalFormError("root or logarithm of a negative number")
        return
    solved = next((number for number in unknown if number not in ring.signs and not _is_unit(number, ring)), None)
    if solved is None:
        solved = max(unknown, key=lambda number: max(_list_generators(_sign_of_factor(number, ring)), default=-1))
    for number in unknown:
        if number != solved:
            value = value * _sign_of_factor(number, ring)
    if solved in ring.signs or _is_unit(solved, ring):
        own = _sole_generator(_sign_of_factor(solved, ring).top)
        if own is None or own <= max(_list_generators(value), default=-1):
            return
        ring.relations.append((own, 1, value))
    ring.signs[solved] = value


def definite(f: fmpq_mpoly, ring: Ring) -> int:
    """Return the sign of a polynomial that never changes it, if its coefficients and exponents show it; else 0.

    x**2 + y**4 has 1, -1 - x**2 has -1, x has 0.
    """
    found = 0
    for exponents, coefficient in f.to_dict().items():
        if any(n % 2 and number not in ring.positive for number, n in enumerate(exponents)):
            return 0
        own = 1 if coefficient > 0 else -1
        if found == -own:
            return 0
        found = own
    return found


def _sign_of_factor(number: int, ring: Ring) -> Quotient:
    """Return the sign of a factor: 1 or -1 if it never changes, f itself if f**2 = 1, else a generator."""
    found = ring.signs.get(number)
    if found is not None:
        return found
    f = ring.factors[number]
    known = definite(f, ring)
    if known:
        found = ring.constant(known)
    elif _is_unit(number, ring):
        return Quotient(ring, f)
    else:
        key = ("sign", number)
        found, _ = ring.generator(key)
        ring.units.add(ring.numbers[key])
        ring.relate(key, 2, ring.constant(1))
    ring.signs[number] = found
    return found


def _modulus_of_factor(number: int, ring: Ring) -> Quotient:
    """Return |f| of a factor as its sign times f."""
    return _sign_of_factor(number, ring) * Quotient(ring, ring.factors[number])


def _log_of_factor(number: int, ring: Ring) -> Quotient:
    """Return log |f|: by its parts where f is an exponential or a power, zero where it is 1 or -1."""
    own = _sole_generator(ring.factors[number])
    if own is not None and own in ring.units:
        return ring.constant(0)
    if own is not None and own in ring.logs:
        return ring.logs[own]
    return ring.generator(("log", number))[0]


def _is_unit(number: int, ring: Ring) -> bool:
    """Whether a factor is a generator with the values 1 and -1 only."""
    return _sole_generator(ring.factors[number]) in ring.units


def _sole_generator(f: fmpq_mpoly) -> int | None:
    """Return the generator that a polynomial is, if it is one."""
    if len(f) != 1 or f.leading_coefficient() != 1:
        return None
    exponents = next(iter(f.to_dict()))
    places = [number for number, n in enumerate(exponents) if n]
    return places[0] if len(places) == 1 and exponents[places[0]] == 1 else None


def _list_generators(a: Quotient) -> Iterator[int]:
    """Return the numbers of the generators in the numerator of a quotient."""
    return (number for number, n in enumerate(a.top.degrees()) if n)


def _factor_rational(value: Fraction) -> Iterator[tuple[int, int]]:
    """Yield the primes of a positive rational with their exponents."""
    for whole, side in ((value.numerator, 1), (value.denominator, -1)):
        if whole > 1:
            found = sympy.factorint(whole, limit=limits.PRIME, use_rho=False, use_pm1=False, use_ecm=False)
            for prime, n in sorted(found.items()):
                yield int(prime), side * int(n)

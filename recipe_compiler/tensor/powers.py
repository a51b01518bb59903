"""Rational powers of whole index expressions, and of positive rational numbers, exactly.

`(x**2)**(1/2)` is not `x`: a factor leaves a fractional power only if it is nonnegative on the declared domain.
"""

from fractions import Fraction
from math import gcd, lcm

from recipe_compiler import limits
from recipe_compiler.tensor.atoms import ONE, Factor, indices, occurring
from recipe_compiler.tensor.calculus_protocol import Arithmetic, as_number, constant, meaningless
from recipe_compiler.tensor.order import sorted_factors, sorted_indices
from recipe_compiler.tensor.rules import Rules
from recipe_compiler.tensor.signs import factor_is_nonnegative
from recipe_compiler.tensor.terms import Atom, Base, Delta, Tensor, Term


def root(value: Fraction, exponent: Fraction) -> tuple[Fraction, tuple[tuple[int, Fraction], ...]]:
    """Return value**exponent (value > 0) as a rational times integers to powers strictly between 0 and 1.

    12**(1/2) = 2 * 3**(1/2) is (2, ((3, 1/2),)). Primes above 2000 are not split off: the integer under the root then
    need not be square-free, which is sound and less than canonical.

        >>> root(Fraction(12), Fraction(1, 2))
        (Fraction(2, 1), ((3, Fraction(1, 2)),))
    """
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
    """Return the prime factors of a positive integer with their counts: 12 gives [(2, 2), (3, 1)].

    Primes up to 2000 are split off; what is left, prime or not, is the last factor.
    """
    found: list[tuple[int, int]] = []
    prime = 2
    while prime <= limits.PRIME and prime * prime <= number:
        count = 0
        while number % prime == 0:
            number //= prime
            count += 1
        if count:
            found.append((prime, count))
        prime += 1
    return [*found, (number, 1)] if number > 1 else found


def power(c: Arithmetic, tensor: Tensor, exponent: Fraction) -> Tensor:
    """Return tensor**exponent, entry by entry.

    (4 x_i**2)**(1/2) is 2 x_i where x is declared nonnegative, else 2 (x_i**2)**(1/2). Whole powers of small sums are
    multiplied out; other sums become an atom `Base` after a common factor has left them: (2 x + 2 y)**(1/2) is 2**(1/2)
    (x + y)**(1/2).

    Raises:
        ModelError: 0 to a negative power, or a fractional power of what is never positive.
    """
    free = tensor.free
    if exponent == 0:
        return constant(1, free)
    if tensor.is_zero:
        if exponent < 0:
            raise meaningless("found a division by an expression that is zero everywhere")
        return tensor
    if exponent == 1:
        return whole(c, tensor) if c.rules.stated else tensor
    if _is_monomial(tensor):
        return c.collect([_raise_monomial(c.rules, tensor.terms[0], exponent)], free)
    is_whole = exponent.denominator == 1
    if is_whole and exponent > 0 and not c.rules.stated and _is_small_power(tensor, exponent.numerator):
        return c.multiply(*[tensor] * exponent.numerator)
    outside, arg = _split_content(c, tensor, whole=is_whole)
    number, roots = _raise_number(outside.coefficient, exponent)
    factors = tuple((atom, count * exponent) for atom, count in outside.factors)
    if _is_monomial(arg):
        return c.multiply(power(c, arg, exponent), c.collect([Term(number, (*roots, *factors))], free))
    return c.collect([Term(number, (*roots, *factors, (Base(occurring(arg)), exponent)))], free)


def whole(c: Arithmetic, tensor: Tensor) -> Tensor:
    """Return a sum as a single factor.

    Unchanged if it has one term, or deltas, which identify indices outside of it.
    """
    if len(tensor.terms) < 2 or any(isinstance(atom, Delta) for term in tensor.terms for atom, _ in term.factors):
        return tensor
    outside, arg = _split_content(c, tensor, whole=True)
    return c.collect([Term(outside.coefficient, (*outside.factors, (Base(occurring(arg)), ONE)))], tensor.free)


def needs_rebuilding(rules: Rules, base: Base, exponent: Fraction, *, merged: bool) -> bool:
    """Whether a power of a sum may have another canonical form now; `merged` if its exponent has just changed.

    (x + y)**(1/2) times itself is (x + y)**1, which is no longer an atom but the sum x + y.
    """
    if as_number(base.arg) is not None:
        return not 0 < exponent < 1
    if rules.stated:
        return exponent == 1 and len(base.arg.terms) == 1
    if exponent.denominator != 1:
        return False
    return _is_small_power(base.arg, exponent.numerator) if exponent > 0 else merged


def _is_small_power(tensor: Tensor, exponent: int) -> bool:
    """Whether a whole power of a sum is small enough to be multiplied out."""
    return exponent <= limits.POWER and len(tensor.terms) ** exponent <= limits.SUMMANDS


def _is_monomial(tensor: Tensor) -> bool:
    """Whether a tensor is one term without sums over indices."""
    return len(tensor.terms) == 1 and indices(tensor.terms[0].factors) <= set(tensor.free)


def _raise_monomial(rules: Rules, term: Term, exponent: Fraction) -> Term:
    """Return a term to a power, factors of unknown sign kept together under a fractional one."""
    if exponent.denominator == 1:
        factors = tuple((atom, count * exponent) for atom, count in term.factors)
        return Term(term.coefficient**exponent.numerator, factors)
    number, outside = _raise_number(abs(term.coefficient), exponent)
    kept: list[Factor] = []
    for atom, count in term.factors:
        if count.denominator != 1 or factor_is_nonnegative(rules, (atom, ONE)):
            outside += ((atom, count * exponent),)
        elif count.numerator % 2 == 0:
            outside += ((_base_of_product(ONE, ((atom, count),)), exponent),)
        else:
            kept.append((atom, count))
    if term.coefficient < 0 and not kept:
        raise meaningless("found a fractional power of an expression that is never positive")
    if term.coefficient > 0 and len(kept) == 1:  # an odd power is defined where its base is nonnegative
        outside += ((kept[0][0], kept[0][1] * exponent),)
    elif kept:
        outside += ((_base_of_product(ONE if term.coefficient > 0 else -ONE, tuple(kept)), exponent),)
    return Term(number, outside)


def _base_of_product(sign: Fraction, factors: tuple[Factor, ...]) -> Base:
    """Return a signed product of factors as the base of a power."""
    return Base(Tensor(sorted_indices(indices(factors)), (Term(sign, sorted_factors(factors)),)))


def _split_content(c: Arithmetic, tensor: Tensor, *, whole: bool) -> tuple[Term, Tensor]:
    """Split a sum into a monomial and the rest: integer coefficients without common divisor, no common factor.

    The monomial is positive, unless the power is a whole one.
    """
    number = content([term.coefficient for term in tensor.terms])
    if whole and tensor.terms[0].coefficient < 0:
        number = -number
    shared = {
        atom: count
        for atom, count in _common_powers(tensor).items()
        if count and (whole or factor_is_nonnegative(c.rules, (atom, ONE)))
    }
    terms = [Term(term.coefficient / number, _divide_factors(term.factors, shared)) for term in tensor.terms]
    rest = c.collect(terms, tensor.free) if shared else Tensor(tensor.free, tuple(terms))
    return Term(number, tuple(shared.items())), rest


def content(coefficients: list[Fraction]) -> Fraction:
    """Return the largest positive number that divides all coefficients into integers: 2/3 for 2/3 and 4."""
    numerator = gcd(*[coefficient.numerator for coefficient in coefficients])
    return Fraction(numerator, lcm(*[coefficient.denominator for coefficient in coefficients]))


def _common_powers(tensor: Tensor) -> dict[Atom, Fraction]:
    """Return the atoms without bound indices, each to its least exponent over the terms."""
    tables = [dict(term.factors) for term in tensor.terms]
    free = set(tensor.free)
    atoms = dict.fromkeys(atom for table in tables for atom in table if indices(((atom, ONE),)) <= free)
    return {atom: min(table.get(atom, Fraction(0)) for table in tables) for atom in atoms}


def _divide_factors(factors: tuple[Factor, ...], shared: dict[Atom, Fraction]) -> tuple[Factor, ...]:
    """Return a product with the exponents of shared atoms subtracted."""
    table = dict(factors)
    for atom, count in shared.items():
        table[atom] = table.get(atom, Fraction(0)) - count
    return tuple((atom, count) for atom, count in table.items() if count)


def _raise_number(value: Fraction, exponent: Fraction) -> tuple[Fraction, tuple[Factor, ...]]:
    """Return a rational to a power, as a rational and irrational factors."""
    if exponent.denominator == 1:
        return value**exponent.numerator, ()
    outside, inside = root(value, exponent)
    return outside, tuple((Base(constant(number)), part) for number, part in inside)

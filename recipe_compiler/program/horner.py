"""Pass: sums in nested form (Horner's), powers as products and roots, the slowest operand added last.

4*x**3 - 4*x becomes x * (4*(x*x) - 4), x**(3/4) becomes sqrt(x) * sqrt(sqrt(x)): equal as real numbers wherever either
is defined. sqrt(a*b) is split only if b is nonnegative: it is then defined where sqrt(a)*sqrt(b) is.
"""

from collections import Counter
from collections.abc import Mapping
from fractions import Fraction

from recipe_compiler.program.combine import is_negative, plus, times
from recipe_compiler.program.loops import Call, Constant, Plus, Raise, Ref, Scalar, Times
from recipe_compiler.program.traverse import parts_of, with_parts

ROOTS = 3
"""Square roots of square roots of square roots: the deepest that a power is written with."""

SLOW = 4
"""Operations that a division, a root or another function takes as long as, roughly."""

FREE = frozenset({"float64", "uint64", "<"})
"""Conversions and comparisons of integers, which nothing waits for."""

Powers = dict[Scalar, int]
"""Factors of a product with their integer powers; a root is a factor of its own, since it is not defined everywhere."""


def nested_form(value: Scalar, depths: Mapping[str, int]) -> Scalar:
    """Return an expression in nested form; `depths` gives for names the number of operations that they wait for."""
    match value:
        case Plus(terms):
            return _nested_sum([_split(term) for term in terms], depths)
        case Times():
            return _product(*_split(value), depths)
        case Raise(base, exponent) if not isinstance(base, Constant):
            return _power(nested_form(base, depths), exponent)
        case Call("sqrt", (inner,)):
            return _root(nested_form(inner, depths))
        case _:
            return with_parts(value, tuple(nested_form(part, depths) for part in parts_of(value)))


def depth(value: Scalar, depths: Mapping[str, int]) -> int:
    """Return the length of the longest chain of dependent operations in an expression."""
    if isinstance(value, Ref):
        return depths.get(value.name, 0)
    if isinstance(value, Raise) and isinstance(value.base, Constant):
        return -1
    if isinstance(value, Call) and value.fn in FREE:
        return 0
    below = max((depth(part, depths) for part in parts_of(value)), default=-1)
    return below + (SLOW if isinstance(value, Call | Raise) else bool(parts_of(value)))


def _split(term: Scalar) -> tuple[Fraction, Powers]:
    """Return a product as its coefficient and the powers of its factors."""
    coefficient, powers = Fraction(1), Powers()
    for factor in term.factors if isinstance(term, Times) else (term,):
        base, power = factor, 1
        match factor:
            case Constant(number):
                coefficient *= number
                continue
            case Raise(inner, exponent) if exponent.denominator == 1 and powers.get(inner, 0) * exponent >= 0:
                base, power = inner, int(exponent)
            case _:
                pass
        powers[base] = powers.get(base, 0) + power
    return coefficient, {base: power for base, power in powers.items() if power}


def _nested_sum(terms: list[tuple[Fraction, Powers]], depths: Mapping[str, int]) -> Scalar:
    """Return a sum with the factor that most of its terms have taken out of them, and so on with what is left."""
    counts = Counter((base, power > 0) for _, powers in terms for base, power in powers.items() if not _is_number(base))
    (common, positive), count = max(counts.items(), key=lambda item: item[1], default=((None, True), 0))
    if common is None or count < 2:
        return _sum([_product(*term, depths) for term in terms], depths)
    inside = [term for term in terms if common in term[1] and (term[1][common] > 0) == positive]
    power = min((powers[common] for _, powers in inside), key=abs)
    left = [(coefficient, _lowered(powers, common, power)) for coefficient, powers in inside]
    taken = _times((*_powers({common: power}, depths), _nested_sum(left, depths)), depths)
    rest = [term for term in terms if term not in inside]
    others = _nested_sum(rest, depths) if rest else Constant(Fraction(0))
    flat = others.terms if isinstance(others, Plus) else (others,)
    return _sum([taken, *(term for term in flat if term != Constant(Fraction(0)))], depths)


def _lowered(powers: Powers, base: Scalar, power: int) -> Powers:
    return {one: own - power if one == base else own for one, own in powers.items() if one != base or own != power}


def _is_number(value: Scalar) -> bool:
    return isinstance(value, Raise) and isinstance(value.base, Constant)


def _sum(terms: list[Scalar], depths: Mapping[str, int]) -> Scalar:
    """Return a sum that adds last what takes longest, and starts without a minus where none is hurt."""
    if len(terms) < 2:
        return plus(tuple(terms))
    return Plus(tuple(sorted(terms, key=lambda term: (depth(term, depths), is_negative(term)))))


def _product(coefficient: Fraction, powers: Powers, depths: Mapping[str, int]) -> Scalar:
    product = _times(_powers(powers, depths), depths)
    factors = product.factors if isinstance(product, Times) else (product,)
    return times(coefficient, factors if powers else ())


def _powers(powers: Powers, depths: Mapping[str, int]) -> tuple[Scalar, ...]:
    return tuple(_power(nested_form(base, depths), Fraction(power)) for base, power in powers.items())


def _times(factors: tuple[Scalar, ...], depths: Mapping[str, int]) -> Scalar:
    """Return a product, its numbers first, so that they are one number for the compiler, and the slowest last."""
    return times(Fraction(1), tuple(sorted(factors, key=lambda factor: depth(factor, depths))))


def _power(base: Scalar, exponent: Fraction) -> Scalar:
    if _is_number(base) or isinstance(base, Constant):
        return base if exponent == 1 else Raise(base, exponent)
    if exponent < 0:
        return Raise(_power(base, -exponent), Fraction(-1))
    if exponent == 1:
        return base
    if exponent.denominator > 1:
        return _with_roots(base, exponent)
    half = _power(base, Fraction(exponent.numerator // 2))
    square = Times((half, half))
    return square if exponent.numerator % 2 == 0 else Times((square, base))


def _with_roots(base: Scalar, exponent: Fraction) -> Scalar:
    """Return a power whose denominator is 2, 4 or 8 as a product of square roots; others stay powers."""
    if exponent.denominator > 2**ROOTS or exponent.denominator & (exponent.denominator - 1):
        return Raise(base, exponent)
    whole, rest = divmod(exponent, 1)
    parts = [_power(base, Fraction(whole))] if whole else []
    root = base
    while rest:
        root, rest = Call("sqrt", (root,)), 2 * rest
        if rest >= 1:
            parts.append(root)
            rest -= 1
    return parts[0] if len(parts) == 1 else Times(tuple(parts))


def _root(inner: Scalar) -> Scalar:
    """Return sqrt(inner), the roots of its factors that are nonnegative apart."""
    if isinstance(inner, Times):
        apart = tuple(one for one in inner.factors if isinstance(one, Call) and one.fn in {"sqrt", "exp"})
        rest = tuple(one for one in inner.factors if one not in apart)
        if apart and rest:
            return Times((Call("sqrt", (times(Fraction(1), rest),)), *(Call("sqrt", (one,)) for one in apart)))
    return Call("sqrt", (inner,))

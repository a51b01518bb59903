"""Formulas with exact data in them: sums of products of numbers, powers, exponentials and affine forms of the state.

A number is one for all data or one for each (`Column`). What the author factored stays factored: the square of
(y - x @ beta)/sigma is that of one form, times sigma**-2.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import repeat

from flint import fmpq

Column = fmpq | tuple[fmpq, ...]
"""A number that all data share, or one for each."""

Coordinate = tuple[str, int]
"""A coordinate of the state: its block, and its place in it, row by row."""

ZERO, ONE = fmpq(0), fmpq(1)

LARGEST_SUM = 10_000
"""Terms up to which a sum is multiplied out."""


class NotReadError(Exception):
    """A formula that is not read, or that is too large; the text says which."""


def joined(a: Column, b: Column, by: Callable[[fmpq, fmpq], fmpq]) -> Column:
    """Return numbers combined datum by datum."""
    if isinstance(a, fmpq) and isinstance(b, fmpq):
        return by(a, b)
    left = repeat(a) if isinstance(a, fmpq) else a
    right = repeat(b) if isinstance(b, fmpq) else b
    return tuple(by(x, y) for x, y in zip(left, right, strict=False))


def plus(a: Column, b: Column) -> Column:
    """Return a + b."""
    return b if a == ZERO else a if b == ZERO else joined(a, b, lambda x, y: x + y)


def times(a: Column, b: Column) -> Column:
    """Return a b."""
    return b if a == ONE else a if b == ONE else joined(a, b, lambda x, y: x * y)


def entries(a: Column) -> tuple[fmpq, ...]:
    """Return the numbers that occur."""
    return (a,) if isinstance(a, fmpq) else a


def at_row(a: Column, row: int) -> fmpq:
    """Return the number of one datum."""
    return a if isinstance(a, fmpq) else a[row]


@dataclass(frozen=True, slots=True)
class Affine:
    """c + sum_j a_j z_j of coordinates z_j, in their order; no a_j is zero for all data."""

    constant: Column = ZERO
    slopes: tuple[tuple[Coordinate, Column], ...] = ()

    @property
    def coordinates(self) -> frozenset[Coordinate]:
        """The coordinates in it."""
        return frozenset(z for z, _ in self.slopes)


NUMBER_ZERO = Affine()


@dataclass(frozen=True, slots=True)
class Product:
    """c z_1**e_1 ... exp(l) F_1**k_1 ...: bare coordinates with powers, one exponential, and other factors."""

    coefficient: Column = ONE
    powers: tuple[tuple[Coordinate, Fraction], ...] = ()
    exponent: Affine = NUMBER_ZERO
    factors: tuple[tuple["Factor", Fraction], ...] = ()

    @property
    def coordinates(self) -> frozenset[Coordinate]:
        """The coordinates in it."""
        own = {z for z, _ in self.powers} | self.exponent.coordinates
        return frozenset(own.union(*(factor.coordinates for factor, _ in self.factors)))


@dataclass(frozen=True, slots=True)
class Value:
    """The sum of an affine form and of products."""

    affine: Affine = NUMBER_ZERO
    products: tuple[Product, ...] = ()

    @property
    def coordinates(self) -> frozenset[Coordinate]:
        """The coordinates in it."""
        return frozenset(self.affine.coordinates.union(*(product.coordinates for product in self.products)))

    @property
    def number(self) -> Column | None:
        """What it is where it is a known number, else None."""
        return None if self.products or self.affine.slopes else self.affine.constant


@dataclass(frozen=True, slots=True)
class Call:
    """A function of a value, known by its name alone."""

    fn: str
    argument: Value = field(default=Value())

    @property
    def coordinates(self) -> frozenset[Coordinate]:
        """The coordinates in it."""
        return self.argument.coordinates


Factor = Affine | Value | Call


def number(x: Column) -> Value:
    """Return a number as a value."""
    return Value(Affine(x))


def coordinate(z: Coordinate) -> Value:
    """Return a coordinate of the state as a value."""
    return Value(Affine(ZERO, ((z, ONE),)))


def _affine(constant: Column, slopes: Mapping[Coordinate, Column]) -> Affine:
    kept = tuple((z, a) for z, a in sorted(slopes.items(), key=lambda item: item[0]) if any(x != 0 for x in entries(a)))
    return Affine(constant, kept)


def sum_of_affine(forms: Iterable[Affine]) -> Affine:
    """Return a sum of affine forms."""
    constant: Column = ZERO
    slopes: dict[Coordinate, Column] = {}
    for form in forms:
        constant = plus(constant, form.constant)
        for z, a in form.slopes:
            slopes[z] = plus(slopes[z], a) if z in slopes else a
    return _affine(constant, slopes)


def scaled_affine(form: Affine, by: Column) -> Affine:
    """Return a multiple of an affine form."""
    return _affine(times(form.constant, by), {z: times(a, by) for z, a in form.slopes})


def total(values: Iterable[Value]) -> Value:
    """Return a sum."""
    listed = list(values)
    return Value(sum_of_affine(v.affine for v in listed), tuple(p for v in listed for p in v.products))


def scaled(value: Value, by: Column) -> Value:
    """Return a multiple of a value."""
    if by == ONE:
        return value
    if by == ZERO:
        return Value()
    own = tuple(Product(times(p.coefficient, by), p.powers, p.exponent, p.factors) for p in value.products)
    return Value(scaled_affine(value.affine, by), own)


def product(left: Value, right: Value) -> Value:
    """Return a product; a sum of products is multiplied out where the other side is one term."""
    for a, b in ((left, right), (right, left)):
        if a.number is not None:
            return scaled(b, a.number)
    for a, b in ((left, right), (right, left)):
        one = _single(b)
        if a.products and one is not None and len(_terms(a)) <= LARGEST_SUM:
            return total(_as_value(_joined(_as_product(term), one)) for term in _terms(a))
    return _as_value(_joined(_whole(left), _whole(right)))


def powered(value: Value, exponent: Fraction, positive: Callable[[Coordinate], bool]) -> Value:
    """Return value**exponent; only a positive base gives what a power of a power is its factors' exponents.

    Args:
        value: the base.
        exponent: any fraction.
        positive: whether the domain of a coordinate is the positive half line.
    """
    if exponent == 0:
        return number(ONE)
    if exponent == 1:
        return value
    own = _single(value)
    if value.number is not None and exponent.denominator == 1:
        return number(_integer_power(value.number, int(exponent)))
    if own is None:
        own = factored(value)
    if exponent.denominator != 1 and not _is_positive(own, positive):
        return Value(products=(Product(factors=((Call(f"power {exponent}", value), Fraction(1)),)),))
    factors = tuple((f, k * exponent) for f, k in own.factors)
    if exponent.denominator == 1:
        coefficient = _integer_power(own.coefficient, int(exponent))
    else:
        coefficient, factors = ONE, (*factors, (Affine(own.coefficient), exponent))
    powers = tuple((z, k * exponent) for z, k in own.powers)
    raised = Product(coefficient, powers, scaled_affine(own.exponent, fmpq(exponent.numerator, exponent.denominator)))
    return _as_value(_joined(raised, Product(factors=factors)))


def factored(value: Value) -> Product:
    """Return a sum as the product of what multiplies all its terms, powers and an exponential, and of the rest."""
    terms = [_as_product(term) for term in _terms(value)]
    shared = set(terms[0].powers).intersection(*(term.powers for term in terms)) if terms else set()
    alike = len({term.exponent for term in terms}) == 1
    kept = [
        Product(
            term.coefficient,
            tuple(power for power in term.powers if power not in shared),
            NUMBER_ZERO if alike else term.exponent,
            term.factors,
        )
        for term in terms
    ]
    common = Product(powers=tuple(sorted(shared)), exponent=terms[0].exponent if alike else NUMBER_ZERO)
    return _joined(common, _whole(total(_as_value(term) for term in kept)))


def exponential(value: Value) -> Value:
    """Return exp(value)."""
    fixed = tuple(own for own in value.products if not own.coordinates)
    if len(fixed) < len(value.products):
        return called("exp", value)
    constant = ((Call("exp", Value(products=fixed)), Fraction(1)),) if fixed else ()
    return Value(products=(Product(exponent=value.affine, factors=constant),))


def logarithm(value: Value, positive: Callable[[Coordinate], bool]) -> Value:
    """Return log(value), of a product of positive factors as a sum."""
    own = _single(value)
    if value.number is not None or own is None or not _is_positive(own, positive):
        return called("log", value)
    if own.factors or not (own.powers or own.exponent.slopes):
        return called("log", value)
    logs = [scaled(called("log", coordinate(z)), fmpq(k.numerator, k.denominator)) for z, k in own.powers]
    return total([called("log", number(own.coefficient)), Value(own.exponent), *logs])


def called(fn: str, argument: Value) -> Value:
    """Return a function of a value, not simplified."""
    return Value(products=(Product(factors=((Call(fn, argument), Fraction(1)),)),))


def _integer_power(a: Column, k: int) -> Column:
    if k < 0 and any(x == 0 for x in entries(a)):
        raise NotReadError("a division by zero")
    if isinstance(a, fmpq):
        return a**k
    return tuple(x**k for x in a)


def _is_positive(own: Product, positive: Callable[[Coordinate], bool]) -> bool:
    """Whether a product is positive by its factors, each of which is."""
    if not all(x > 0 for x in entries(own.coefficient)) or not all(positive(z) for z, _ in own.powers):
        return False
    return all(
        isinstance(f, Affine) and not f.slopes and all(x > 0 for x in entries(f.constant)) for f, _ in own.factors
    )


def _terms(value: Value) -> list[Product | Affine]:
    zero = value.affine == NUMBER_ZERO
    return [*value.products, *(() if zero else (value.affine,))]


def _single(value: Value) -> Product | None:
    """Return a value that is one term as a product; an affine form of more than one coordinate is its factor."""
    terms = _terms(value)
    return _as_product(terms[0]) if len(terms) == 1 else None


def _as_product(term: Product | Affine) -> Product:
    if isinstance(term, Product):
        return term
    if not term.slopes:
        return Product(term.constant)
    if term.constant == ZERO and len(term.slopes) == 1:
        ((z, a),) = term.slopes
        return Product(a, ((z, Fraction(1)),))
    return Product(factors=((term, Fraction(1)),))


def _whole(value: Value) -> Product:
    own = _single(value)
    return Product(factors=((value, Fraction(1)),)) if own is None else own


def _as_value(own: Product) -> Value:
    """Return a product as a value: as an affine form where it is one."""
    if own.coefficient == ZERO:
        return Value()
    if not own.exponent.slopes and own.exponent.constant == ZERO:
        match own.powers, own.factors:
            case (), ():
                return number(own.coefficient)
            case ((z, k),), () if k == 1:
                return Value(_affine(ZERO, {z: own.coefficient}))
            case (), ((Affine() as form, k),) if k == 1:
                return Value(scaled_affine(form, own.coefficient))
            case _:
                pass
    return Value(products=(own,))


def _joined(a: Product, b: Product) -> Product:
    powers: dict[Coordinate, Fraction] = {}
    for z, k in (*a.powers, *b.powers):
        powers[z] = powers.get(z, Fraction(0)) + k
    coefficient = times(a.coefficient, b.coefficient)
    listed = (*a.factors, *b.factors)
    kept: list[tuple[Factor, Fraction]] = []
    for factor, k in listed if len(listed) < 2 else _gathered(listed):
        if isinstance(factor, Affine) and not factor.slopes and k.denominator == 1:
            coefficient = times(coefficient, _integer_power(factor.constant, int(k)))
        elif k != 0:
            kept.append((factor, k))
    exponent = sum_of_affine((a.exponent, b.exponent))
    return Product(coefficient, tuple((z, k) for z, k in sorted(powers.items()) if k != 0), exponent, tuple(kept))


def _gathered(factors: Iterable[tuple[Factor, Fraction]]) -> Iterable[tuple[Factor, Fraction]]:
    """Return factors, each once; to tell whether two are one takes the hash of all their numbers."""
    found: dict[Factor, Fraction] = {}
    for factor, k in factors:
        found[factor] = found.get(factor, Fraction(0)) + k
    return found.items()


def products_of(value: Value) -> Iterator[Product | Affine]:
    """Yield the terms of a value."""
    yield from _terms(value)

"""The terms of an energy, one by one: of which kind each is, or that it is at least a constant."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction

from flint import fmpq

from recipe_compiler.formula.elementwise import BOUNDED
from recipe_compiler.formula.shapes import DomainName
from recipe_compiler.verify.from_data.energy import Energy, Form, Group, Own, Piece, Weights, squares, unit
from recipe_compiler.verify.from_data.irrational import is_fraction
from recipe_compiler.verify.from_data.reading import HALF_LINE, Known
from recipe_compiler.verify.from_data.values import (
    NUMBER_ZERO,
    ONE,
    ZERO,
    Affine,
    Call,
    Column,
    Coordinate,
    Factor,
    NotReadError,
    Product,
    Value,
    at_row,
    coordinate,
    entries,
    plus,
    products_of,
    times,
)

MANY = 250_000
"""Numbers in forms beyond which data are not looked at."""

LARGEST_POWER = 8
"""The power up to which a sum in one scale is multiplied out."""

_POSITIVE = frozenset({"exp", "cosh", "sigmoid", "pi", "abs"})
"""Functions that are never negative where they are defined and finite."""

Exponentials = dict[tuple[Fraction, int], Column]
"""A function of one scale: coefficients of exp(c t) t**j by (c, j)."""


@dataclass(slots=True)
class Gathered:
    """What is gathered from the terms of an energy, one by one."""

    theta: tuple[Coordinate, ...]
    scales: frozenset[Coordinate]
    known: Known
    rows: int = 1
    groups: dict[Weights, list[Form]] = field(default_factory=dict)
    heavy: dict[Weights, list[tuple[Form, fmpq]]] = field(default_factory=dict)
    pieces: list[Piece] = field(default_factory=list)
    quadratic: dict[tuple[int, int], fmpq] = field(default_factory=dict)
    linear: list[fmpq] = field(default_factory=list)
    terms: dict[Coordinate, dict[tuple[Fraction, int], fmpq]] = field(default_factory=dict)
    logs: dict[Coordinate, list[tuple[fmpq, frozenset[Fraction]]]] = field(default_factory=dict)
    exact: bool = True
    numbers: int = 0


def energy_of(parts: Iterable[tuple[Value, int]], known: Known) -> Energy:
    """Return an energy as sums over affine forms of theta with scales; terms that are at least a constant are left out.

    U = sum_i c_i (mu_i l_i**2)**(q_i/2) + sum_i p_i log(1 + c_i mu_i l_i**2) + convex functions of forms + a linear
    form + sum_v own_v(t_v), l_i = a_i . theta + c, mu_i = exp(w_i . t). What is left out is at least a constant, so it
    only helps; `exact` says that it is bounded.

    Args:
        parts: values whose sum it is, each with the number of data that it is summed over; 1 for what has no data.
        known: the declarations, sizes and data.

    Raises:
        NotReadError: a term is of no form that is read, and not shown to be at least a constant.
    """
    listed = [(term, rows) for value, rows in parts for term in products_of(value)]
    theta, scales = _roles([term for term, _ in listed], known)
    read = Gathered(theta, frozenset(scales), known, linear=[ZERO] * (len(theta) + 1))
    for term, rows in listed:
        read.rows = rows
        _take(read, term)
    domains = {b.name: b.domain.name for b in known.declarations.blocks}
    bounded = [Piece("square", ONE, (unit(theta, z),)) for z in theta if domains[z[0]] is DomainName.INTERVAL]
    for form in squares(read.quadratic, len(theta)):
        read.pieces.append(Piece("square", ONE, (form,)))
    light = [Group(w, None, _each_once(forms)) for w, forms in read.groups.items()]
    heavy = [Group(w, min(p for _, p in own), tuple(form for form, _ in own)) for w, own in read.heavy.items()]
    return Energy(
        theta,
        scales,
        frozenset(z for z in scales if known.positive(z)),
        (*light, *heavy),
        (*read.pieces, *bounded),
        tuple(read.linear),
        {z: Own(read.terms.get(z, {}), tuple(read.logs.get(z, ()))) for z in scales},
        read.exact and all(domains[z[0]] is DomainName.REAL for z in theta),
    )


def _each_once(forms: Iterable[Form]) -> tuple[Form, ...]:
    """Return different forms, told apart by whole numbers: the hash of a fraction is an inverse modulo a prime."""
    return tuple({tuple((x.p, x.q) if is_fraction(x) else x for x in form): form for form in forms}.values())


def _roles(terms: list[Product | Affine], known: Known) -> tuple[tuple[Coordinate, ...], tuple[Coordinate, ...]]:
    """Return the coordinates of theta and those that are scales.

    A positive coordinate is a scale unless it is added to others; one of the line is where its exponential multiplies.
    """
    domains = {b.name: b.domain.name for b in known.declarations.blocks}
    for name, domain in domains.items():
        if domain not in HALF_LINE | {DomainName.REAL, DomainName.INTERVAL}:
            raise NotReadError(f"{name} has the domain {domain.value}, which is not read")
    added: set[Coordinate] = set()
    rates: set[Coordinate] = set()
    for own in (inner for term in terms for inner in within(term)):
        added.update(*(f.coordinates for f, _ in own.factors if isinstance(f, Affine) and len(f.slopes) > 1))
        if own.powers or any(factor.coordinates for factor, _ in own.factors):
            rates |= own.exponent.coordinates
        elif len(own.exponent.slopes) > 1:
            added |= own.exponent.coordinates
    every = [z for block in known.declarations.blocks for z in known.coordinates(block.name)]
    scales = {z for z in every if (known.positive(z) or (z in rates and domains[z[0]] is DomainName.REAL))} - added
    return tuple(z for z in every if z not in scales), tuple(z for z in every if z in scales)


def within(term: Product | Affine) -> Iterator[Product]:
    """Yield a product, and all that stand in its factors; an affine form among them as a factor."""
    if isinstance(term, Affine):
        return
    yield term
    for factor, _ in term.factors:
        value = factor.argument if isinstance(factor, Call) else factor
        if isinstance(value, Value):
            yield Product(factors=((value.affine, Fraction(1)),))
            for own in value.products:
                yield from within(own)


def _take(read: Gathered, term: Product | Affine) -> None:
    """Add a term of the energy to what is read."""
    if isinstance(term, Affine):
        for z, a in term.slopes:
            if z in read.scales:
                _add_own(read, z, {(Fraction(1), 0) if read.known.positive(z) else (Fraction(0), 1): a})
            else:
                read.linear[read.theta.index(z)] += _sum(read, a)
        return
    if not term.coordinates or not any(x != 0 for x in entries(term.coefficient)):
        return
    taken = _of_one_scale(read, term) if term.coordinates <= read.scales else _of_forms(read, term)
    if taken or _is_bounded(term):
        return
    if not _is_nonnegative(term, read.known):
        names = ", ".join(dict.fromkeys(name for name, _ in sorted(term.coordinates)))
        raise NotReadError(f"a term of {names} is neither read nor shown to be bounded below")
    read.exact = False


def _sum(read: Gathered, column: Column) -> fmpq:
    """Return a coefficient summed over the data."""
    return column * read.rows if isinstance(column, fmpq) else sum(column, ZERO)


# Functions of one scale


def _add_own(read: Gathered, z: Coordinate, found: Exponentials) -> None:
    own = read.terms.setdefault(z, {})
    for key, by in found.items():
        own[key] = own.get(key, ZERO) + _sum(read, by)


def _of_one_scale(read: Gathered, term: Product) -> bool:
    if len(term.coordinates) != 1:
        return False
    (z,) = term.coordinates
    found = _exponentials(term, z, read.known)
    if found is not None:
        _add_own(read, z, found)
        return True
    match term:
        case Product(coefficient, (), exponent, ((Call("log", argument), k),)) if k == 1 and exponent == NUMBER_ZERO:
            rates = _positive_rates(argument, z, read.known)
            if rates is not None:
                read.logs.setdefault(z, []).append((_sum(read, coefficient), rates))
                return True
        case _:
            pass
    return False


def _exponentials(term: Product | Affine, z: Coordinate, known: Known) -> Exponentials | None:
    """Return a function of one scale as a sum of exp(c t) t**j; None where it is none."""
    half_line = known.positive(z)
    if isinstance(term, Affine):
        key = (Fraction(1), 0) if half_line else (Fraction(0), 1)
        sloping = {key: term.slopes[0][1]} if term.slopes else {}
        return {(Fraction(0), 0): term.constant, **sloping}
    c, j = Fraction(0), 0
    for _, k in term.powers:
        if half_line:
            c += k
        elif k.denominator == 1 and k > 0:
            j += int(k)
        else:
            return None
    for _, a in term.exponent.slopes:
        if half_line or not isinstance(a, fmpq):
            return None
        c += Fraction(int(a.p), int(a.q))
    if term.exponent.constant != ZERO:
        return None
    found: Exponentials = {(c, j): term.coefficient}
    for factor, k in term.factors:
        own = _of_factor(factor, z, known)
        if own is None or k.denominator != 1 or not 0 < k <= LARGEST_POWER:
            return None
        for _ in range(int(k)):
            found = _multiplied(found, own)
    return found


def _of_factor(factor: Factor, z: Coordinate, known: Known) -> Exponentials | None:
    match factor:
        case Call("log", argument) if known.positive(z) and argument == coordinate(z):
            return {(Fraction(0), 1): ONE}
        case Affine():
            return _exponentials(factor, z, known)
        case Value():
            found: Exponentials = {}
            for term in products_of(factor):
                own = _exponentials(term, z, known)
                if own is None:
                    return None
                for key, by in own.items():
                    found[key] = plus(found.get(key, ZERO), by)
            return found
        case _:
            return None


def _multiplied(left: Exponentials, right: Exponentials) -> Exponentials:
    found: Exponentials = {}
    for (c, j), a in left.items():
        for (d, k), b in right.items():
            found[c + d, j + k] = plus(found.get((c + d, j + k), ZERO), times(a, b))
    return found


def _positive_rates(argument: Value, z: Coordinate, known: Known) -> frozenset[Fraction] | None:
    """Return c_k of a sum of a_k exp(c_k t), all a_k > 0; None for anything else."""
    rates: set[Fraction] = set()
    for term in products_of(argument):
        for (c, j), a in (_exponentials(term, z, known) or {(Fraction(0), 1): ONE}).items():
            if j or any(x < 0 for x in entries(a)) or not (a == ZERO or all(x > 0 for x in entries(a))):
                return None
            if a != ZERO:
                rates.add(c)
    return frozenset(rates) or None


# Functions of forms


@dataclass(frozen=True, slots=True)
class _Split:
    """A product as a scale of theirs, times what is of theta."""

    weights: Weights
    powers: tuple[tuple[Coordinate, Fraction], ...]
    exponent: Affine
    factors: tuple[tuple[Factor, Fraction], ...]
    rational: bool
    """Whether the coefficient is a rational number; if not, it is one times an unknown positive number."""


def _split(read: Gathered, term: Product) -> _Split | None:
    """Return a product taken apart; None where a scale is in it otherwise than as a factor, the same for all data."""
    weights: dict[Coordinate, Fraction] = {}
    for z, k in term.powers:
        if z in read.scales:
            if not read.known.positive(z):
                return None
            weights[z] = k
    slopes: list[tuple[Coordinate, Column]] = []
    for z, a in term.exponent.slopes:
        if z not in read.scales:
            slopes.append((z, a))
        elif read.known.positive(z) or not isinstance(a, fmpq):
            return None
        else:
            weights[z] = Fraction(int(a.p), int(a.q))
    factors: list[tuple[Factor, Fraction]] = []
    rational = bool(slopes) or term.exponent.constant == ZERO
    for factor, k in term.factors:
        if factor.coordinates:
            if factor.coordinates & read.scales and not isinstance(factor, Call):
                return None
            factors.append((factor, k))
        elif _is_positive_number(factor):
            rational = False
        else:
            return None
    powers = tuple((z, k) for z, k in term.powers if z not in read.scales)
    exponent = Affine(term.exponent.constant, tuple(slopes)) if slopes else NUMBER_ZERO
    return _Split(tuple(sorted(weights.items())), powers, exponent, tuple(factors), rational)


def _is_positive_number(factor: Factor) -> bool:
    match factor:
        case Call("pi" | "exp", _):
            return True
        case Affine(constant, ()):
            return all(x > 0 for x in entries(constant))
        case _:
            return False


def _of_forms(read: Gathered, term: Product) -> bool:
    split = _split(read, term)
    if split is None:
        return False
    if split.exponent.slopes:
        return _exponential(read, term, split)
    even = _even(split)
    if even is not None:
        form, k = even
        alone = not split.weights and k == 2 and split.rational
        if alone and _quadratic(read, term.coefficient, [form, form]):
            return True
        return _power(read, term.coefficient, split.weights, form, k)
    linear = [*(_of_coordinate(z) for z, k in split.powers if k == 1), *(f for f, k in split.factors if k == 1)]
    if len(linear) == len(split.powers) + len(split.factors) == 2 and not split.weights and split.rational:
        forms = [form for form in linear if isinstance(form, Affine)]
        return len(forms) == 2 and _quadratic(read, term.coefficient, forms)
    match split:
        case _Split((), (), _, ((Call("log", argument), k),), True) if k == 1:
            return _logarithm(read, term.coefficient, argument)
        case _Split(_, (), _, ((Call("abs", argument), k),), _) if k == 1:
            return _absolute(read, term.coefficient, split, argument)
        case _:
            return False


def _of_coordinate(z: Coordinate) -> Affine:
    return Affine(ZERO, ((z, ONE),))


def _even(split: _Split) -> tuple[Affine, int] | None:
    """Return the form whose even power a product is, with the power."""
    match split.powers, split.factors:
        case ((z, k),), ():
            form: Factor = _of_coordinate(z)
        case (), ((form, k),):
            pass
        case _:
            return None
    if isinstance(form, Affine) and k.denominator == 1 and k > 0 and k % 2 == 0:
        return form, int(k)
    return None


def _signs(coefficient: Column) -> tuple[bool, bool]:
    """Return whether no number is negative, and whether every one is positive."""
    return all(x >= 0 for x in entries(coefficient)), all(x > 0 for x in entries(coefficient))


def _power(read: Gathered, coefficient: Column, weights: Weights, form: Affine, k: int) -> bool:
    """Take a positive multiple of (mu l**2)**(k/2)."""
    if not _signs(coefficient)[0]:
        return False
    scaled = tuple((z, w * 2 / k) for z, w in weights)
    for row in _rows(read, coefficient, form):
        own = _form(read, form, row)
        if scaled:
            read.groups.setdefault(scaled, []).append(own)
        else:
            read.pieces.append(Piece("square", ONE, (own,)))
    return True


def _rows(read: Gathered, coefficient: Column, *forms: Affine) -> Iterator[int]:
    """Yield the data that a term counts for; one where it is the same for all."""
    columns = [coefficient, *(x for form in forms for x in (form.constant, *(a for _, a in form.slopes)))]
    same = all(isinstance(column, fmpq) for column in columns)
    for row in range(1 if same else read.rows):
        if at_row(coefficient, row) != 0:
            yield row


def _form(read: Gathered, form: Affine, row: int) -> Form:
    """Return the form of one datum."""
    read.numbers += len(read.theta) + 1
    if read.numbers > MANY:
        raise NotReadError(f"forms of more than {MANY:,} numbers are not read before a run begins")
    found = [ZERO] * (len(read.theta) + 1)
    for z, a in form.slopes:
        found[read.theta.index(z)] = at_row(a, row)
    found[-1] = at_row(form.constant, row)
    return tuple(found)


def _quadratic(read: Gathered, coefficient: Column, forms: list[Affine]) -> bool:
    """Take a product of two forms of theta."""
    if not isinstance(coefficient, fmpq) or read.rows != 1:
        return False
    if any(not isinstance(a, fmpq) for form in forms for a in (form.constant, *(a for _, a in form.slopes))):
        return False
    left, right = (_form(read, form, 0) for form in forms)
    for i, a in enumerate(left[:-1]):
        read.linear[i] += coefficient * (a * right[-1] + left[-1] * right[i])
        if a != 0:
            for j, b in enumerate(right[:-1]):
                if b != 0:
                    key = (min(i, j), max(i, j))
                    read.quadratic[key] = read.quadratic.get(key, ZERO) + coefficient * a * b
    return True


def _exponential(read: Gathered, term: Product, split: _Split) -> bool:
    """Take a positive multiple of exp(l)."""
    if split.weights or split.powers or split.factors or not _signs(term.coefficient)[0]:
        return False
    for row in _rows(read, term.coefficient, split.exponent):
        read.pieces.append(Piece("exp", ONE, (_form(read, split.exponent, row),)))
    return True


def _absolute(read: Gathered, coefficient: Column, around: _Split, argument: Value) -> bool:
    """Take a positive multiple of |l| sqrt(mu); without a scale its slope has to be rational, within and around."""
    terms = list(products_of(argument))
    if len(terms) != 1 or not _signs(coefficient)[0]:
        return False
    own = terms[0] if isinstance(terms[0], Product) else Product(factors=((terms[0], Fraction(1)),))
    split = _split(read, own)
    if split is None or split.exponent.slopes:
        return False
    match split.powers, split.factors:
        case ((z, k),), () if k == 1:
            form = _of_coordinate(z)
        case (), ((Affine() as form, k),) if k == 1:
            pass
        case _:
            return False
    joined = dict(around.weights)
    for z, w in split.weights:
        joined[z] = joined.get(z, Fraction(0)) + w
    scaled = tuple((z, 2 * w) for z, w in sorted(joined.items()) if w != 0)
    size = times(coefficient, own.coefficient)
    for row in _rows(read, size, form):
        if scaled:
            read.groups.setdefault(scaled, []).append(_form(read, form, row))
        elif split.rational and around.rational:
            copies = read.rows if _is_shared(size, form) else 1
            read.pieces.append(Piece("abs", copies * abs(at_row(size, row)), (_form(read, form, row),)))
        else:
            return False
    return True


def _logarithm(read: Gathered, coefficient: Column, argument: Value) -> bool:
    """Take log(sum_k a_k exp(l_k)), a > 0, or log(a + sum_k c_k mu l_k**2), a > 0."""
    if not _signs(coefficient)[0] or argument.affine.slopes:
        return False
    return _log_sum_exp(read, coefficient, argument) or _heavy(read, coefficient, argument)


def _log_sum_exp(read: Gathered, coefficient: Column, argument: Value) -> bool:
    forms: list[Affine] = []
    for own in argument.products:
        split = _split(read, own)
        if split is None or split.weights or split.powers or split.factors or not split.exponent.slopes:
            return False
        if not _signs(own.coefficient)[1]:
            return False
        forms.append(split.exponent)
    constant = argument.affine.constant
    if constant == ZERO:
        first, *forms = forms
    elif _signs(constant)[1]:
        first = NUMBER_ZERO
    else:
        return False
    for row in _rows(read, coefficient, first, *forms):
        base = _form(read, first, row)
        shifted = tuple(tuple(x - y for x, y in zip(_form(read, form, row), base, strict=True)) for form in forms)
        weight = at_row(coefficient, row)
        alike = read.rows if _is_shared(coefficient, first, *forms) else 1
        for k, a in enumerate(base[:-1]):
            read.linear[k] += alike * weight * a
        read.pieces.append(Piece("log", weight * alike, shifted))
    return True


def _is_shared(coefficient: Column, *forms: Affine) -> bool:
    columns = [coefficient, *(x for form in forms for x in (form.constant, *(a for _, a in form.slopes)))]
    return all(isinstance(column, fmpq) for column in columns)


def _heavy(read: Gathered, coefficient: Column, argument: Value) -> bool:
    """Take log(a + sum_k c_k mu l_k**2), q squares: at least a q-th of sum_k log(1 + c_k mu l_k**2/a), and log(a)."""
    if not _signs(argument.affine.constant)[1] or not argument.products:
        return False
    count = fmpq(len(argument.products))
    found: list[tuple[Weights, Form, fmpq]] = []
    for own in argument.products:
        split = _split(read, own)
        even = None if split is None or split.exponent.slopes else _even(split)
        if split is None or even is None or even[1] != 2 or not _signs(own.coefficient)[0]:
            return False
        for row in _rows(read, times(coefficient, own.coefficient), even[0]):
            copies = read.rows if _is_shared(times(coefficient, own.coefficient), even[0]) else 1
            found += [(split.weights, _form(read, even[0], row), at_row(coefficient, row) / count)] * copies
    if any(2 * tail <= 1 for _, _, tail in found):
        return False
    for weights, form, tail in found:
        read.heavy.setdefault(weights, []).append((form, tail))
    read.exact = read.exact and count == 1
    return True


# What is bounded, or bounded below


def _is_bounded(term: Product) -> bool:
    """Whether a term stays between two numbers: a bounded function, times a number."""
    match term:
        case Product(_, (), exponent, ((Call(fn, _), k),)) if exponent == NUMBER_ZERO:
            return k == 1 and fn in BOUNDED
        case _:
            return False


def _is_nonnegative(term: Product, known: Known) -> bool:
    """Whether a term is shown never to be negative."""
    if not _signs(term.coefficient)[0]:
        return False
    if not all(known.positive(z) or (k.denominator == 1 and k % 2 == 0) for z, k in term.powers):
        return False
    return all((k.denominator == 1 and k % 2 == 0) or _is_no_less_than(f, 0, known) for f, k in term.factors)


def _is_no_less_than(factor: Factor, least: int, known: Known) -> bool:
    """Whether a factor is shown to be at least 0, or 1."""
    match factor:
        case Affine(constant, slopes):
            rising = all(known.positive(z) and _signs(a)[0] for z, a in slopes)
            return rising and all(x >= least for x in entries(constant))
        case Value(affine, products):
            return _is_no_less_than(affine, least, known) and all(_is_nonnegative(p, known) for p in products)
        case Call("log", argument):
            return least == 0 and _is_no_less_than(argument, 1, known)
        case Call(fn, _):
            return least == 0 and fn in _POSITIVE

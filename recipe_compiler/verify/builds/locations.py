"""Mixtures whose components have locations and scales of their own: data that all differ, each at one location at most.

A product over data of sums over components is the sum over all ways to give each datum a component. Let what datum n
contributes by component k be at most C f_n(m), times what priors absorb, with m the coordinate that is its location and

    f_n(m) = p h(p (d_n - m)),    h(u) = exp(-c u**2), exp(-c abs(u)) or (1 + c u**2)**-a, a > 1/2,

p > 0 any function of the state in which no location is. Let the d_n of one coordinate m all differ, by delta at least.
At most one of them is within delta/2 of m, and sup_p f_n < oo where d_n is not, so that

    prod_n f_n <= C (1 + sum_n f_n),    int f_n dm is one constant, for all p.

Where the law of m has a bounded density, and m stands in no other law, the integral over m is at most a constant. So
mixtures are laws whose scales have priors that do not vanish at 0. With two equal data they need not be: both in one
component leave int ds/s.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from flint import fmpq

from recipe_compiler.formula.declaration import Declarations
from recipe_compiler.formula.densities import DENSITIES
from recipe_compiler.formula.density_terms import at_most
from recipe_compiler.formula.expression import Entry, Formula, MatMul, Number, Role, Symbol
from recipe_compiler.formula.shapes import SCALAR
from recipe_compiler.spec.formulas import dependence
from recipe_compiler.spec.model import StatedDensity
from recipe_compiler.verify.builds.cases import Case, Numbers, Sample, cases
from recipe_compiler.verify.builds.ceiling import Ceiling, above_gaps, bounds_of, ceiling, largest
from recipe_compiler.verify.builds.inequality import Inequality, Moments, Used
from recipe_compiler.verify.builds.residuals import numbers_of
from recipe_compiler.verify.from_data.reading import read_matrix
from recipe_compiler.verify.from_data.values import NotReadError, at_row
from recipe_compiler.verify.integrability.summands import (
    UNIT,
    Atom,
    Function,
    Leaf,
    Linear,
    Monomial,
    Raised,
    Reader,
    TooLargeError,
    joined,
    less,
    parted,
    raised,
    scaled,
    total,
)

ONE, HALF = Fraction(1), Fraction(1, 2)


class EqualDataError(Exception):
    """Data are equal that have to differ for the integral of a mixture to be shown finite; the text says which."""


@dataclass(frozen=True, slots=True)
class _Factor:
    """f_n of a datum in a component: what of -F it takes, log p, where m is, and D of d = -D/a, l = g (D + a m)."""

    taken: Linear
    log_p: Linear
    m: Formula
    block: str
    D: Linear
    a: Fraction
    scales: frozenset[str]
    """The blocks that p depends on."""


@dataclass(frozen=True, slots=True)
class _At:
    """A datum at a location: of which case, its row in it, the coordinate, and the number d."""

    block: str
    place: int
    row: tuple[int, int]
    d: tuple[bool, fmpq]


def locations(
    priors: Sequence[StatedDensity], formula: Formula, declared: Declarations, moments: Moments, sample: Sample
) -> frozenset[str]:
    """Return the blocks that may be locations: of a bounded density, entry by entry, and in no other block's law.

    In the likelihood they are subtracted from data, and nothing is divided by them.
    """
    used = {name for one in priors for argument in one.arguments[1:] for name in dependence(argument).blocks}
    able = {one.of: one for one in priors if one.of not in used and DENSITIES[one.name].of_entry}
    try:
        within = frozenset(able) & _taken_from_data(formula, declared, sample, frozenset(able))
    except (TooLargeError, NotReadError):
        return frozenset()
    left = {name: known for name, known in moments.items() if name not in within}
    return frozenset(name for name in within if _is_bounded(able[name], declared, left))


def _taken_from_data(formula: Formula, declared: Declarations, sample: Sample, able: frozenset[str]) -> frozenset[str]:
    """Return the blocks that are a location somewhere, and a scale nowhere.

    Raises:
        TooLargeError, NotReadError: the likelihood is not read.
    """
    within: set[str] = set()
    scales: set[str] = set()
    for case in cases(formula, (), declared, sample):
        reader = Reader(case.declarations)
        for branch in largest(above_gaps(reader.read(case.formula), reader), reader):
            for factor in _factors(branch, reader, able):
                within.add(factor.block)
                scales |= factor.scales
    return frozenset(within - scales)


def _is_bounded(one: StatedDensity, declared: Declarations, moments: Moments) -> bool:
    """Whether the density of an entry is at most a constant, times what priors absorb."""
    row, (_, *others) = DENSITIES[one.name], one.arguments
    for bound in row.bounds:
        if "x" not in bound.over:
            continue
        if not dependence(at_most(row, bound.at_most, one.arguments)).blocks:
            return True
        of_entry = all(argument.shape == SCALAR for argument in others)
        entry = at_most(row, bound.at_most, (Number(Fraction(0)), *others))
        if of_entry and ceiling(entry, (), declared, moments) is not None:
            return True
    return False


def ceiling_at_locations(
    formula: Formula,
    densities: Sequence[StatedDensity],
    declarations: Declarations,
    moments: Moments,
    sample: Sample,
    located: frozenset[str],
) -> Ceiling | None:
    """Return an upper bound of a log likelihood once its locations m are integrated over; None where none is shown.

    With components at most C f_n(m), f_n = p h(p (d_n - m)), and data d_n of one m that differ by delta at least, all
    but one are delta/2 away from m: prod_n f_n <= C (1 + sum_n f_n), and int f_n dm is one constant for all p > 0. Two
    equal data would leave int f_1 f_2 dm = c p.

    Args:
        formula: of one datum.
        densities: named densities whose bounds may be used.
        declarations: of the names in them.
        moments: for each block the moments that its prior has; none for the blocks in `located`.
        sample: the exact data.
        located: blocks that may be locations.

    Raises:
        EqualDataError: it would be shown if no two data were equal.
    """
    found, data = Used(), list[_At]()
    try:
        for k, case in enumerate(cases(formula, densities, declarations, sample)):
            reader = Reader(case.declarations)
            bounds = bounds_of(case, reader)
            for branch in largest(above_gaps(reader.read(case.formula), reader), reader):
                own = Inequality(branch, bounds, reader, moments).shown()
                if own is None:
                    shown = _by_factor(branch, bounds, reader, moments, located)
                    if shown is None:
                        return None
                    factor, own = shown
                    data += _places(factor, case, k)
                found |= own
            found = found.by(reader, case)
    except (TooLargeError, NotReadError):
        return None
    words = _different(data)
    if words is None:
        return None
    return Ceiling(tuple(sorted(found.absorbed)), found.given, (*sorted(found.facts), *words))


def _by_factor(
    branch: Linear, bounds: list[Linear], reader: Reader, moments: Moments, located: frozenset[str]
) -> tuple[_Factor, Used] | None:
    """Return a factor f_n that a component is at most a multiple of."""
    for factor in _factors(branch, reader, located):
        if factor.scales & located:
            continue
        left = less(total((branch, factor.taken)), factor.log_p)
        own = Inequality(left, bounds, reader, moments).shown()
        if own is not None:
            return factor, own
    return None


def _factors(branch: Linear, reader: Reader, located: frozenset[str]) -> Iterator[_Factor]:
    for monomial, c in branch:
        same, moving = parted(monomial)
        if c >= 0 or not reader.is_positive(same):
            continue
        for atom, k in moving:
            found = _tail(atom, k, c)
            if found is None or (found.whole and (len(moving) > 1 or same)):
                continue
            beside = joined(found.beside, moving - {(atom, k)})
            taken = frozenset({(monomial, -c if found.whole else -c * HALF)})
            for m, block, g, D, a in _of_location(found.base, located):
                squared = joined(beside, raised(g, found.order))
                if block in _blocks(squared) or not reader.is_positive(squared):
                    continue
                log_p = scaled(reader.log(frozenset({(squared, ONE)})), ONE / found.order)
                yield _Factor(taken, log_p, m, block, D, a, _blocks(squared))


@dataclass(frozen=True, slots=True)
class _Tail:
    """l of l**2 or abs(l), with what multiplies it there; `whole` of log(1 + c l**2), of which nothing is left over."""

    base: Linear
    order: Fraction
    beside: Monomial
    whole: bool


def _tail(atom: Atom, k: Fraction, c: Fraction) -> _Tail | None:
    match atom:
        case Raised(base) if k == 2:
            return _Tail(base, k, UNIT, whole=False)
        case Function("abs", (base,)) if k == 1:
            return _Tail(base, k, UNIT, whole=False)
        case Function("log", (of,)) if k == 1 and c < -HALF and len(of) == 2 and dict(of).get(UNIT) == 1:
            ((monomial, by),) = of - {(UNIT, ONE)}
            squares = [(one, power) for one, power in monomial if isinstance(one, Raised) and power == 2]
            if by > 0 and len(squares) == 1:
                ((square, _),) = squares
                return _Tail(square.base, Fraction(2), monomial - {*squares}, whole=True)
            return None
        case _:
            return None


def _of_location(base: Linear, located: frozenset[str]) -> Iterator[tuple[Formula, str, Monomial, Linear, Fraction]]:
    """Yield m, its block, g, D and a of l = g (D + a m), D of the data alone, a a number."""
    for monomial, a in base:
        same, moving = parted(monomial)
        for atom, k in moving:
            block = _coordinate(atom) if k == 1 else ""
            g = moving - {(atom, k)}
            rest = [parted(one) for one, _ in base - {(monomial, a)}]
            if isinstance(atom, Leaf) and block in located and not same and all(other == g for _, other in rest):
                D = frozenset((parted(one)[0], c) for one, c in base - {(monomial, a)})
                yield atom.formula, block, g, D, a


def _coordinate(atom: Atom) -> str:
    """Return the block that an atom is an entry of, at a number or at the position that a datum is."""
    match atom:
        case Leaf(Symbol(name, shape, Role.BLOCK)) if shape == SCALAR:
            return name
        case Leaf(MatMul(Symbol(_, _, Role.INDEX), Symbol(name, _, Role.BLOCK))):
            return name
        case Leaf(Entry(Symbol(name, _, Role.BLOCK), at)) if len(at) == 1:
            return name
        case _:
            return ""


def _blocks(of: Monomial | Linear | Atom) -> frozenset[str]:
    match of:
        case Leaf(formula):
            return frozenset(dependence(formula).blocks)
        case Raised(base):
            return _blocks(base)
        case Function(_, arguments):
            return frozenset[str]().union(*map(_blocks, arguments))
        case _:
            return frozenset[str]().union(*(_blocks(term[0]) for term in of))


def _places(factor: _Factor, case: Case, k: int) -> Iterator[_At]:
    """Yield the data of a case at their locations.

    Raises:
        NotReadError: d is no exact number, nor the logarithm of one.
    """
    sample = case.sample
    if sample is None:
        raise NotReadError("data that are not known")
    of_logarithms, numbers = _numbers(factor.D, factor.a, sample)
    for n, place in enumerate(_positions(factor.m, sample)):
        yield _At(factor.block, place, (k, n), (of_logarithms, numbers[n]))


def _numbers(D: Linear, a: Fraction, sample: Sample) -> tuple[bool, Numbers]:
    """Return -D/a for each datum, of log(x)/a + nothing else x: they differ where those do."""
    match tuple(D):
        case ((monomial, c),) if c == -a:
            match tuple(monomial):
                case ((Function("log", (of,)), k),) if k == 1 and len(of) == 1:
                    ((inner, by),) = of
                    if by == 1 and inner != UNIT:
                        return True, numbers_of(inner, sample)
                case _:
                    pass
        case _:
            pass
    found: Numbers = (fmpq(0),) * sample.rows
    for monomial, c in D:
        by = -c / a
        own = numbers_of(monomial, sample)
        found = tuple(x + fmpq(by.numerator, by.denominator) * y for x, y in zip(found, own, strict=True))
    return False, found


def _positions(m: Formula, sample: Sample) -> Iterator[int]:
    """Yield the place in its block that a location is, for each datum."""
    match m:
        case MatMul(row, _):
            (line,) = read_matrix(row, sample.known)
            columns = [entry.number for entry in line]
            for n in range(sample.rows):
                yield next(j for j, x in enumerate(columns) if x is not None and at_row(x, n) == 1)
        case Entry(_, (k,)):
            yield from (k,) * sample.rows
        case _:
            yield from (0,) * sample.rows


def _different(data: Sequence[_At]) -> tuple[str, ...] | None:
    """Return what the data show: that those of one coordinate all differ; None where they are not compared.

    Raises:
        EqualDataError: two are equal.
    """
    of_logarithms: dict[str, bool] = {}
    rows: dict[tuple[str, int, fmpq], tuple[int, int]] = {}
    for one in data:
        if of_logarithms.setdefault(one.block, one.d[0]) != one.d[0]:
            return None
        if rows.setdefault((one.block, one.place, one.d[1]), one.row) != one.row:
            found = "equal" if one.d[0] else f"{float(one.d[1]):g}"
            left = f"with {one.block} at both, a power of 1/scale is left that no integral takes"
            needed = "that vanishes at 0 faster than any power (lognormal, inverse_gamma), or no two equal data"
            raise EqualDataError(f"two data are {found}: {left}; a prior of the scale {needed}, would decide it")
    return tuple(f"no two equal data at one {name}" for name in sorted(of_logarithms))

"""Mixtures whose components have locations and scales of their own: no more data near than what determines locations.

A product over data of sums over components is the sum over all ways to give each datum a component. Let what datum n
contributes by component k be at most C f_n, times what priors absorb, with r_n = d_n + sum_j a_nj m_j its residual at
locations m_j, coordinates of the state (x @ b, mu[z], m), and

    f_n(m) = p h(p r_n),    h(u) = exp(-c u**2), exp(-c abs(u)) or (1 + c u**2)**-a, a > 1/2,

p > 0 any function of the state in which no location is. Let r_n that vanish together have independent a_n: no two equal
data at one location, no three on a line where it is one, and so on. Residuals that do not vanish together anywhere are
not all below some delta > 0, so that those that are, S, are independent, and sup_p f_n < oo of the others:

    prod_n f_n <= C sum_S prod_(n in S) f_n,    int prod_(n in S) f_n dm is one constant, for all p.

Where the law of m has a bounded density, and m stands in no other law, the integral over m is at most a constant. So
mixtures are laws whose scales have priors that do not vanish at 0. With two equal data they need not be: both in one
component leave int ds/s, as do p + 1 data on one plane of p coefficients.
"""

from collections import Counter
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
from recipe_compiler.verify.core.premises import depends_on_state
from recipe_compiler.verify.from_data.energy import Form
from recipe_compiler.verify.from_data.fitted import excess
from recipe_compiler.verify.from_data.ranks import rank_of
from recipe_compiler.verify.from_data.reading import read
from recipe_compiler.verify.from_data.values import (
    Affine,
    Coordinate,
    NotReadError,
    at_row,
    entries,
    scaled_affine,
    sum_of_affine,
)
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
    """f_n of a datum in a component: what of -F it takes, log p, and D and a_i m_i of l = g (D + sum_i a_i m_i)."""

    taken: Linear
    log_p: Linear
    residual: "_Residual"
    scales: frozenset[str]
    """The blocks that p depends on."""


@dataclass(frozen=True, slots=True)
class _Residual:
    """D of the data alone, and the locations, each with what data multiply it by."""

    D: Linear
    locations: tuple[tuple[Formula, Linear], ...]
    blocks: frozenset[str]


@dataclass(frozen=True, slots=True)
class _At:
    """The residual of a datum: of which case, its row in it, its coordinates with their factors, and what is added."""

    row: tuple[int, int]
    slopes: tuple[tuple[Coordinate, fmpq], ...]
    constant: fmpq
    of_logarithms: bool
    """Whether log(constant) is taken away from the one coordinate, in the place of it."""

    @property
    def is_always_zero(self) -> bool:
        """Whether no coordinate is in it and nothing is left: 0, or log(1)."""
        return not self.slopes and self.constant == (1 if self.of_logarithms else 0)


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
                within |= factor.residual.blocks
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
            for g, residual in _of_locations(found.base, located):
                squared = joined(beside, raised(g, found.order))
                if residual.blocks & _blocks(squared) or not reader.is_positive(squared):
                    continue
                log_p = scaled(reader.log(frozenset({(squared, ONE)})), ONE / found.order)
                yield _Factor(taken, log_p, residual, _blocks(squared))


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


def _of_locations(base: Linear, located: frozenset[str]) -> Iterator[tuple[Monomial, _Residual]]:
    """Yield g and the rest of l = g (D + sum_i a_i m_i), D and a_i of the data alone."""
    terms = [(*parted(monomial), c) for monomial, c in base]
    over = (moving - {factor} for _, moving, _ in terms for factor in moving if _block_at(factor) in located)
    for g in dict.fromkeys(over):
        D: list[tuple[Monomial, Fraction]] = []
        at: list[tuple[Formula, Linear]] = []
        blocks: set[str] = set()
        for same, moving, c in terms:
            if moving == g:
                D.append((same, c))
                continue
            match tuple(moving - g):
                case ((Leaf(formula) as atom, k),) if g <= moving and (block := _block_at((atom, k))) in located:
                    at.append((formula, frozenset({(same, c)})))
                    blocks.add(block)
                case _:
                    break
        else:
            yield g, _Residual(frozenset(D), tuple(at), frozenset(blocks))


def _block_at(factor: tuple[Atom, Fraction]) -> str:
    """Return the block that a location is of: an entry, the one at the position that a datum is, a row times it."""
    match factor:
        case (Leaf(Symbol(name, shape, Role.BLOCK)), k) if k == 1 and shape == SCALAR:
            return name
        case (Leaf(MatMul(row, Symbol(name, _, Role.BLOCK))), k) if k == 1 and not depends_on_state(row):
            return name
        case (Leaf(Entry(Symbol(name, _, Role.BLOCK), at)), k) if k == 1 and len(at) == 1:
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
    """Yield the residuals of the data of a case.

    Raises:
        NotReadError: they are no forms of exact numbers, nor of the logarithm of one.
    """
    sample, residual = case.sample, factor.residual
    if sample is None:
        raise NotReadError("unknown data")
    form = sum_of_affine(scaled_affine(_form(m, sample), _column(by, sample)) for m, by in residual.locations)
    of_logarithms, constants = _constants(residual.D, form, sample)
    for n in range(sample.rows):
        slopes = ((z, at_row(a, n)) for z, a in form.slopes)
        yield _At((k, n), tuple((z, a) for z, a in slopes if a != 0), constants[n], of_logarithms)


def _form(m: Formula, sample: Sample) -> Affine:
    found = read(m, sample.known)
    if found.products:
        raise NotReadError("a location that is not a linear form")
    return found.affine


def _column(of: Linear, sample: Sample) -> Numbers:
    """Return a sum that data alone decide, for each datum."""
    found: Numbers = (fmpq(0),) * sample.rows
    for monomial, c in of:
        by = fmpq(c.numerator, c.denominator)
        found = tuple(x + by * y for x, y in zip(found, numbers_of(monomial, sample), strict=True))
    return found


def _constants(D: Linear, form: Affine, sample: Sample) -> tuple[bool, Numbers]:
    """Return what is added to a form, or x where it is one coordinate less log(x): they differ where those do."""
    match tuple(D):
        case ((monomial, c),):
            match tuple(monomial):
                case ((Function("log", (of,)), k),) if k == 1 and len(of) == 1:
                    ((inner, by),) = of
                    own = fmpq(-c.numerator, c.denominator)
                    alike = all(a in (own, 0) for _, column in form.slopes for a in entries(column))
                    if by == 1 and inner != UNIT and alike:
                        return True, numbers_of(inner, sample)
                case _:
                    pass
        case _:
            pass
    return False, _column(D, sample)


def _different(data: Sequence[_At]) -> tuple[str, ...] | None:
    """Return what the data show: that residuals that vanish together are independent; None where that is not seen.

    Raises:
        EqualDataError: they do not show it.
    """
    if any(one.is_always_zero for one in data):
        return None
    words: set[str] = set()
    for own in _apart(data):
        within = sorted({z for one in own for z, _ in one.slopes})
        of_logarithms = any(one.of_logarithms for one in own)
        if of_logarithms and not (len(within) == 1 and all(one.of_logarithms for one in own)):
            return None
        forms = [form for _, form in dict.fromkeys((one.row, _as_form(one, within)) for one in own)]
        left = excess(forms, len(within))
        if left is None:
            return None
        names = " and ".join(dict.fromkeys(name for name, _ in within))
        if left:
            raise EqualDataError(_told(forms, names, of_logarithms=of_logarithms))
        count = "two equal data" if len(within) == 1 else f"{rank_of(forms, len(within)).rank + 1} data"
        words.add(f"no {count} at one {names}")
    return tuple(sorted(words))


def _apart(data: Sequence[_At]) -> list[list[_At]]:
    """Return residuals in sets that have no coordinate in common."""
    of: dict[Coordinate, list[_At]] = {}
    for one in data:
        within = [z for z, _ in one.slopes]
        own: list[_At] = []
        for z in within:
            if z in of and of[z] is not own:
                smaller, own = sorted((of[z], own), key=len)
                own += smaller
                of |= {other: own for another in smaller for other, _ in another.slopes}
            of[z] = own
        own.append(one)
        of |= dict.fromkeys(within, own)
    return list({id(own): own for own in of.values()}.values())


def _as_form(one: _At, within: Sequence[Coordinate]) -> Form:
    """Return a multiple that is the same of all multiples: the first factor is 1."""
    if one.of_logarithms:
        return (fmpq(1), -one.constant)
    slopes = dict(one.slopes)
    form = (*(slopes.get(z, fmpq(0)) for z in within), one.constant)
    first = next(a for a in form if a != 0)
    return tuple(a / first for a in form)


def _told(forms: Sequence[Form], names: str, *, of_logarithms: bool) -> str:
    """Return why scales are not kept from zero, and what would do it."""
    needed = "that vanishes at 0 faster than any power (lognormal, inverse_gamma), or"
    left = f"with {names} at both, a power of 1/scale remains that is not integrable"
    if len(forms[0]) > 2:
        width = len(forms[0]) - 1
        found = f"more data have zero residual at one {names} than are independent"
        left = "a power of 1/scale remains that is not integrable"
        return f"{found}: {left}; a prior of the scale {needed} no {width + 1} such data, would decide it"
    ((d, _),) = Counter(-c for _, c in forms).most_common(1)
    at = "equal" if of_logarithms else f"{float(d):g}"
    return f"two data are {at}: {left}; a prior of the scale {needed} no two equal data, would decide it"

"""Has the posterior a finite integral at the data of a build? Where it is open for all data as declared.

The formulas of the target, of the blocks as they are declared, are read at exact data: the doubles that run. These are
beside the decimals that a file holds, and what is written on a line need not lie on one as doubles. So it is decided
once more at the data as they are written (`as_written.py`), and nothing is said where the two differ.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from random import Random
from typing import TYPE_CHECKING, Any

import flint
import numpy as np
from flint import fmpq

from recipe_compiler.formula.declaration import Datum
from recipe_compiler.formula.shapes import SCALAR, Kind, Shape
from recipe_compiler.spec.constraint import constrained
from recipe_compiler.spec.model import Build, Observed, Target
from recipe_compiler.spec.transform import standard
from recipe_compiler.verdict import Answer, Proved, Refuted, Report, Undecided
from recipe_compiler.verify.builds.as_written import Columns, columns_as_written, decimals
from recipe_compiler.verify.builds.cases import Sample
from recipe_compiler.verify.builds.covariances import by_covariance
from recipe_compiler.verify.builds.locations import EqualDataError
from recipe_compiler.verify.builds.logarithms import with_logarithms
from recipe_compiler.verify.builds.part_of_data import Rest, numbers_of, part_of, rest_of, rests_on_made_kinds
from recipe_compiler.verify.builds.processes import by_process
from recipe_compiler.verify.builds.proper_prior import by_prior_and_data
from recipe_compiler.verify.builds.target import lies_in_supports
from recipe_compiler.verify.builds.volatility import by_floor
from recipe_compiler.verify.core.build_values import known_sizes
from recipe_compiler.verify.from_data.decide import Fact, Infinite, Open, Shown, decide
from recipe_compiler.verify.from_data.irrational import BITS
from recipe_compiler.verify.from_data.reading import Known, read, read_matrix
from recipe_compiler.verify.from_data.recentre import jacobian, multiplied
from recipe_compiler.verify.from_data.terms import MANY, energy_of
from recipe_compiler.verify.from_data.values import Column, NotReadError, Value, scaled
from recipe_compiler.verify.integrability.bounded import bounded_above

if TYPE_CHECKING:
    from numpy.typing import NDArray

NORMALISABLE = "normalisable"
"""The claim that data may decide."""

METHOD = "power counting with exact ranks of the data"
HOW = "exact numbers and ranks"
BY_ROUNDING = "the data decide it as doubles, but not as they are written"
Entries = tuple[tuple[Column, ...], ...]


@dataclass(frozen=True, slots=True)
class Reading:
    """One of the ways to read the numbers of a build."""

    fields: Callable[[Build, Target, Observed], dict[str, Entries]]
    """What the fields of a target hold."""
    number: Callable[[Fraction, bool], fmpq]
    """An entry of a parameter, and whether it is of an array file: other entries are exact as they are written."""


def as_declared(build: Build, found: Answer) -> Answer:
    """Return a proof for all data as declared, open where those of the build are not so as they are written.

    That the doubles are is seen when they are read. A weight a + b - c is positive as doubles at 0.1, 0.2 and 0.3, and
    0 as it is written.
    """
    target, observed = standard(build.target), build.observed
    declared = any(datum.values or datum.kinds != (Kind.REAL,) for datum in target.declarations.data)
    if not declared or not isinstance(observed, Observed):
        return found
    part = None if numbers_of(observed) <= MANY else part_of(observed)
    try:
        if part is not None and rests_on_made_kinds(build, target):
            raise NotReadError(f"more than {MANY:,} numbers of made columns are not read")
        with flint.ctx.workprec(BITS):
            _as_written(build, target, part or observed)
    except NotReadError as error:
        reason = f"proved for data as declared, but the data of {observed.file} are not shown to satisfy that: {error}"
        return replace(found, decision=Undecided((reason,)))
    return found


def decided_by_data(build: Build, general: Answer) -> Answer:
    """Return what the data of a build decide; if nothing, the answer for all data with what was tried."""
    if not build.target.declarations.data or build.target.gradient is not None:
        return general
    if not isinstance(build.observed, Observed):
        return _more(general, (build.observed,) if build.observed else ())
    if (shown := _shown_by_part(build, general, build.observed)) is not None:
        return shown
    if (numbers := numbers_of(build.observed)) > MANY:
        why = "for some of them, evenly spaced, it is not shown"
        return _more(general, (f"{numbers:,} numbers of its data: {MANY:,} are read, and {why}",))
    return _decided_twice(build, general, build.observed)


def _shown_by_part(build: Build, general: Answer, observed: Observed) -> Answer | None:
    """Return the proof that some of many data are enough for; None where they are not."""
    part = part_of(observed)
    rest = None if part is None else rest_of(build, standard(build.target), part)
    if part is None or rest is None:
        return None
    found = _decided_twice(build, general, part, rest)
    return found if isinstance(found.decision, Proved) else None


def _decided_twice(build: Build, general: Answer, observed: Observed, rest: Rest | None = None) -> Answer:
    """Return what data decide as doubles and as they are written; what is open where these differ.

    Where both are the same numbers, as those of counts are, that is one decision.
    """
    try:
        doubles = _sample(build, observed, DOUBLES)
    except NotReadError as error:
        return _more(general, (f"at its data: {error}",))
    held = _decided(build, general, observed, doubles, rest)
    if isinstance(held.decision, Undecided) or held.decision is general.decision:
        return held
    with flint.ctx.workprec(BITS):
        try:
            written = _sample(build, observed, AS_WRITTEN)
        except NotReadError as error:
            again = _more(general, (f"at its data: {error}",))
        else:
            again = held if _are_same(written, doubles) else _decided(build, general, observed, written, rest)
    if type(again.decision) is type(held.decision):
        return held
    why = again.decision.tried[-1:] if isinstance(again.decision, Undecided) else (again.decision.by,)
    left = general if isinstance(general.decision, Undecided) else replace(general, decision=Undecided(()), for_d="all")
    return _more(left, (f"{BY_ROUNDING}: {', '.join(why)}",))


def _are_same(one: Sample, other: Sample) -> bool:
    """Whether data are certainly the same numbers."""
    try:
        return one == other
    except NotReadError:  # a number in a ball is not certainly another
        return False


def _sample(build: Build, observed: Observed, read_as: Reading) -> Sample:
    """Return the data that the numbers of a build are read as.

    Raises:
        NotReadError: they are not read.
    """
    return Sample(_known(build, standard(build.target), observed, read_as), observed.rows)


def _decided(build: Build, general: Answer, observed: Observed, sample: Sample, rest: Rest | None) -> Answer:
    """Return what data decide; of a part what counting its powers shows."""
    target = standard(build.target)
    reasons: tuple[str, ...] = ()
    if not build.target.recursion and not constrained(target):
        counted, reasons = _by_counting(build, target, sample, observed, rest)
        if counted is not None:
            return replace(general, decision=counted, for_d="all", checked_at=())
    if rest is not None:
        return _more(general, reasons)
    try:
        kept = _kept(build.target, sample)
    except (EqualDataError, NotReadError) as error:
        return _more(general, (*reasons, f"at its data: {error}"))
    if kept is None:
        return _more(general, reasons)
    prior, words = kept
    facts = tuple(Fact(one, HOW) for one in words)
    given = (*prior.given, *((_said(observed, facts),) if facts else ()))
    return Answer(Proved(METHOD, given, (*prior.data, *_certificates(facts))), "all", (), general.where)


def _kept(target: Target, sample: Sample) -> tuple[Proved, tuple[str, ...]] | None:
    """Return what laws of the blocks show beside the data.

    Raises:
        EqualDataError: it would be shown if no two data were equal.
    """
    if target.recursion:
        return by_floor(target, sample)
    return by_prior_and_data(target, sample) or by_covariance(target, sample) or by_process(target, sample)


def _by_counting(
    build: Build, target: Target, sample: Sample, observed: Observed, rest: Rest | None
) -> tuple[Proved | Refuted | None, tuple[str, ...]]:
    """Return what power counting decides; else why it does not."""
    narrower = bool(target.declarations.assume) or not lies_in_supports(build.target)
    reasons: list[str] = []
    try:
        for way in _ways(target, sample, rest):
            try:
                found = decide(energy_of(way.parts, way.sample.known))
            except NotReadError as error:
                reasons.append(f"at its data: {error}")
                continue
            match found:
                case Shown(facts):
                    beside = () if rest is None else rest.given
                    given = (*beside, _said(observed, facts)) if way.rests_on_data else ()
                    return Proved(METHOD, given, tuple(_certificates(facts))), ()
                case Infinite(by, witness) if way.is_all and not narrower:
                    return Refuted(by, witness), ()
                case Infinite(by, witness):
                    reasons += [f"{by}: {', '.join(f'{k} {v}' for k, v in witness)}"]
                case Open(why):
                    reasons += why
    except NotReadError as error:
        reasons.append(f"at its data: {error}")
    return None, tuple(dict.fromkeys(reasons))


def _said(observed: Observed, facts: tuple[Fact, ...]) -> str:
    """Return what the data show, as what is given."""
    words = ", ".join(fact.words for fact in facts) or "how many they are"
    if observed.of is None:
        return f"the {observed.rows} data of {observed.file}: {words}"
    others = "the likelihood of each of the others is bounded"
    return f"{observed.rows} of the {observed.of.rows} data of {observed.file}, evenly spaced: {words}; {others}"


SAMPLED, SIZE = 24, 2
"""Rows of made-up data, and the sizes that are not their number."""


def asked_of_data(target: Target) -> tuple[str, ...]:
    """Return what the data of a build would have to show, found with made-up data; empty where these decide nothing."""
    own = standard(target)
    fields = own.declarations.data
    if not fields or target.gradient is not None or target.recursion:
        return ()
    rng = Random(0)
    sizes = dict.fromkeys(own.declarations.sizes, SIZE) | {
        datum.size: SAMPLED for datum in fields if isinstance(datum.size, str)
    }
    known = Known(own.declarations, sizes, {}, {})
    data = {datum.name: _made_up(datum, known, rng) for datum in fields}
    ones = {p.name: _one(p.shape, known) for p in own.declarations.parameters}
    known = replace(known, data=data, parameters=ones)
    sample = Sample(known, SAMPLED)
    for way in () if constrained(own) else _tried(own, sample):
        try:
            found = decide(energy_of(way.parts, way.sample.known))
        except NotReadError:
            continue
        if isinstance(found, Shown) and way.rests_on_data:
            asked = ", ".join(dict.fromkeys(fact.asks for fact in found.facts))
            return (f"the data of a build may decide it: {asked}",) if asked else ()
    return _asked_beside_prior(target, own, sample, rng)


def _asked_beside_prior(target: Target, own: Target, sample: Sample, rng: Random) -> tuple[str, ...]:
    """Return what data are to show beside a proper prior, found with numbers that all differ."""
    plain = [d for d in own.declarations.data if not d.values and not d.is_index and d.shape == SCALAR]
    differ = {datum.name: ((tuple(map(fmpq, rng.sample(range(1, 9 * SAMPLED), SAMPLED))),),) for datum in plain}
    try:
        kept = by_prior_and_data(
            target, replace(sample, known=replace(sample.known, data={**sample.known.data, **differ}))
        )
    except EqualDataError:
        return ()
    kept = kept or by_process(target, replace(sample, known=replace(sample.known, parameters=_apart(own, sample))))
    return (f"the data of a build may decide it: {', '.join(kept[1])}",) if kept is not None and kept[1] else ()


def _apart(own: Target, sample: Sample) -> dict[str, tuple[tuple[fmpq, ...], ...]]:
    """Return values of parameters, those of a column all different, as points of a process have to be."""
    found = {p.name: _one(p.shape, sample.known) for p in own.declarations.parameters}
    columns = {name for name, rows in found.items() if len(rows) > 1 and len(rows[0]) == 1}
    return found | {name: tuple((fmpq(k),) for k in range(len(found[name]))) for name in columns}


def _tried(own: Target, sample: Sample) -> Iterator["_Way"]:
    try:
        yield from _ways(own, sample)
    except NotReadError:
        return


def _made_up(datum: Datum, known: Known, rng: Random) -> Entries:
    """Return numbers that a field may hold, of no pattern."""
    values = datum.values or ((1, 2, 3, 5, 8, 13) if datum.kinds != (Kind.REAL,) else (-7, -3, -1, 0, 2, 4, 9))
    width = known.length(datum.shape.rows) * known.length(datum.shape.cols)
    if datum.is_index:
        return (tuple(tuple(fmpq(int(n % width == k)) for n in range(SAMPLED)) for k in range(width)),)
    return (tuple(tuple(fmpq(rng.choice(values)) for _ in range(SAMPLED)) for _ in range(width)),)


def _one(shape: Shape, known: Known) -> tuple[tuple[fmpq, ...], ...]:
    """Return 1, a column of ones, or the identity."""
    rows, cols = known.length(shape.rows), known.length(shape.cols)
    return tuple(tuple(fmpq(int(cols == 1 or i == j)) for j in range(cols)) for i in range(rows))


def rests_on_data(report: Report) -> bool:
    """Whether a claim of a report is proved by facts of the data that were read."""
    return any(isinstance(one.decision, Proved) and one.decision.by == METHOD for one in report.findings)


def awaits_data(build: Build, report: Report) -> bool:
    """Whether all that a report leaves open is what data decide, and the build has none yet."""
    left = [one for one in report.findings if one.required and not isinstance(one.decision, Proved)]
    open_ = all(isinstance(one.decision, Undecided) and one.id == NORMALISABLE for one in left)
    return open_ and bool(left) and build.data is None and bool(build.target.declarations.data)


def _more(general: Answer, reasons: tuple[str, ...]) -> Answer:
    """Return an answer that is open, with more of what was tried."""
    if not isinstance(general.decision, Undecided):
        return general
    return replace(general, decision=replace(general.decision, tried=(*general.decision.tried, *reasons)))


def _certificates(facts: tuple[Fact, ...]) -> Iterator[tuple[str, str]]:
    for fact in facts:
        yield fact.words, f"{fact.method}: {fact.certificate}" if fact.certificate else fact.method


@dataclass(frozen=True, slots=True)
class _Way:
    """An energy to be decided: if its integral is finite, so is that of the posterior."""

    parts: list[tuple[Value, int]]
    """Values whose sum it is, each with the number of data that it is summed over."""
    sample: Sample
    rests_on_data: bool = True
    is_all: bool = False
    """Whether it is the energy of the posterior: what is infinite without a part of it need not be so."""


def _ways(target: Target, sample: Sample, rest: Rest | None = None) -> Iterator[_Way]:
    """Yield the energy; with products in it as coordinates; that of the prior alone where the likelihood only helps.

    Then with additive numbers in the place of logarithms, which show nothing infinite, and neither do some of the data
    with what the likelihood of the others is at most.

    Raises:
        NotReadError: a formula is not read.
    """
    yield from (_Way(parts, sample, is_all=rest is None) for parts in _ways_as_written(target, sample, rest))
    if target.log_likelihood is not None and bounded_above(target.log_likelihood, target.declarations):
        prior = replace(target, log_likelihood=None)
        yield _Way(list(_energies(prior, sample.known, 1, None)), sample, rests_on_data=False)
    logarithms = with_logarithms(target, sample)
    if logarithms is not None:
        yield from (_Way(parts, logarithms[1]) for parts in _ways_as_written(*logarithms, rest))


def _ways_as_written(target: Target, sample: Sample, rest: Rest | None) -> Iterator[list[tuple[Value, int]]]:
    whole = list(_energies(target, sample.known, sample.rows, rest))
    yield whole
    centred = multiplied((value for value, _ in whole), sample.known)
    if centred:
        known = replace(sample.known, divided=centred)
        yield [*_energies(target, known, sample.rows, rest), (jacobian(centred), 1)]


def _energies(target: Target, known: Known, rows: int, rest: Rest | None) -> Iterator[tuple[Value, int]]:
    """Yield the energies of the formulas of a target, each with the number of data that it is summed over."""
    if target.potential is not None:
        yield read(target.potential, known), 1
    if target.log_prior is not None:
        yield scaled(read(target.log_prior, known), fmpq(-1)), 1
    if target.log_likelihood is not None:
        yield scaled(read(target.log_likelihood, known), fmpq(-1)), rows
    if rest is not None:
        yield scaled(read(rest.log_g, known), fmpq(-1)), rest.count


def _known(build: Build, target: Target, observed: Observed, read_as: Reading) -> Known:
    """Return the sizes, values and data of a build as exact numbers."""
    sizes = {**dict(observed.sizes), **known_sizes(build, target)}
    known = Known(target.declarations, sizes, {}, read_as.fields(build, target, observed))
    parameters = {
        name: tuple(tuple(read_as.number(x, value.file is not None) for x in row) for row in value.numbers)
        for name, value in build.values
        if value.numbers is not None
    }
    for parameter in target.declarations.parameters:
        if parameter.name not in parameters and parameter.default is not None:
            matrix = [[x.number for x in row] for row in read_matrix(parameter.default, known)]
            exact = tuple(tuple(_number(read_as, x) for x in row if isinstance(x, fmpq)) for row in matrix)
            if all(len(x) == len(y) for x, y in zip(exact, matrix, strict=True)):
                parameters[parameter.name] = exact
    return replace(known, parameters=parameters)


def _entries(datum: Datum, array: "NDArray[Any]", sizes: Mapping[str, int]) -> "NDArray[Any]":
    """Return the numbers of a field, each entry of a datum a row; a position is a one at its place, zeros elsewhere."""
    if not datum.is_index:
        return array.reshape(len(array), -1).T
    (axis,) = datum.shape.sizes
    length = axis if isinstance(axis, int) else sizes[axis]
    if length * len(array) > MANY:
        raise NotReadError(f"positions along {length} of {len(array)} data are checked only when a run begins")
    return np.arange(length)[:, None] == array


def _doubles(build: Build, target: Target, observed: Observed) -> dict[str, Entries]:
    """Return the doubles that run."""
    return _fields(build, target, observed, lambda _, array: tuple(map(_exact, array)))


def _exact(numbers: "NDArray[Any]") -> tuple[fmpq, ...]:
    return tuple(fmpq(*x.as_integer_ratio()) for x in numbers.tolist())


def _number(read_as: Reading, x: fmpq) -> fmpq:
    return read_as.number(Fraction(int(x.p), int(x.q)), False)


def _as_double(x: Fraction, _: bool) -> fmpq:
    """Return the double that runs in the place of a number."""
    try:
        return fmpq(*float(x).as_integer_ratio())
    except OverflowError:
        raise NotReadError("a parameter that no double holds") from None


def _decimal_or_exact(x: Fraction, of_file: bool) -> fmpq:
    """Return a number as it is written: of an array file the shortest decimal of its double."""
    stated = Fraction(repr(float(x))) if of_file else x
    return fmpq(stated.numerator, stated.denominator)


def _as_written(build: Build, target: Target, observed: Observed) -> dict[str, Entries]:
    """Return the decimals of the file, and what the build makes of them; those of numbers that no file holds.

    Raises:
        NotReadError: what is made is not known, or is not what a field may hold.
    """
    if build.data is None or not observed.columns:
        return _fields(build, target, observed, lambda _, array: tuple(map(decimals, array)))
    all_rows = dict(observed.of.columns) if observed.of is not None else None
    columns = columns_as_written(build.data, dict(observed.columns), all_rows)

    def entries(datum: Datum, array: "NDArray[Any]") -> tuple[Column, ...]:
        places = datum.is_index or datum.name in dict(columns.file.indicators)
        if places:
            _demand_places(datum, array, columns)
            return tuple(map(decimals, array))
        return tuple(columns.field(datum))

    return _fields(build, target, observed, entries)


def _fields(
    build: Build, target: Target, observed: Observed, read_as: Callable[[Datum, "NDArray[Any]"], tuple[Column, ...]]
) -> dict[str, Entries]:
    """Return each field as one row: the numbers of each entry of a datum."""
    sizes, arrays = {**dict(observed.sizes), **known_sizes(build, target)}, dict(observed.fields)
    fields = target.declarations.data
    return {datum.name: (read_as(datum, _entries(datum, arrays[datum.name], sizes)),) for datum in fields}


def _demand_places(datum: Datum, ones: "NDArray[Any]", columns: Columns) -> None:
    """Raise NotReadError where the places that a column counts are, as it is written, others than those of its ones."""
    (name,) = dict(columns.file.columns)[datum.name]
    first = int(datum.name in columns.file.from_one)
    if any(x != int(k) + first for x, k in zip(columns.known[name], np.argmax(ones, axis=0), strict=True)):
        raise NotReadError(f"column `{name}` as written counts other positions")


DOUBLES, AS_WRITTEN = Reading(_doubles, _as_double), Reading(_as_written, _decimal_or_exact)

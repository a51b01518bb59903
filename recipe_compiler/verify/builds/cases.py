"""Cases of the data: which values fields of few values have, and which piece of a `where` a datum takes.

A formula of a datum that has a bound in every case has one for every datum. At exact data the cases are those that
occur, each with its rows, and a field is of the kinds that its numbers in these rows are of: an integer y > 0 is read
as 1 + y', y' >= 0.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import product

from flint import fmpq

from recipe_compiler.algebra.structure.data_guards import is_zero_by_guard, kinds_of_guard
from recipe_compiler.formula.build import add, nodes, parts, rebuild
from recipe_compiler.formula.declaration import Datum, Declarations
from recipe_compiler.formula.expression import HOLDS, Apply, Compare, Formula, Number, Role, Symbol
from recipe_compiler.formula.shapes import SCALAR, Kind
from recipe_compiler.formula.substitute import substitute
from recipe_compiler.spec.formulas import dependence, is_of_data
from recipe_compiler.spec.model import StatedDensity
from recipe_compiler.verify.from_data.irrational import is_fraction
from recipe_compiler.verify.from_data.reading import Known, demand_unrounded, read
from recipe_compiler.verify.from_data.values import NotReadError, at_row
from recipe_compiler.verify.integrability.summands import TooLargeError

MOST_CASES = 64
"""Cases that are looked at."""

Truth = Mapping[Compare, bool]
Numbers = tuple[fmpq, ...]


@dataclass(frozen=True, slots=True)
class Sample:
    """Exact data: all rows, or those of one case."""

    known: Known
    rows: int

    def at(self, rows: Iterable[int]) -> "Sample":
        """Return some of the data."""
        kept = tuple(rows)
        data = {
            name: tuple(tuple(tuple(at_row(x, n) for n in kept) for x in line) for line in lines)
            for name, lines in self.known.data.items()
        }
        return Sample(replace(self.known, data=data), len(kept))

    def numbers(self, formula: Formula) -> Numbers:
        """Return the value of a scalar that the data alone determine, for each datum.

        Raises:
            NotReadError: it is not read.
        """
        found = read(formula, self.known).number
        if found is None:
            raise NotReadError("an unknown number")
        return tuple(at_row(found, n) for n in range(self.rows))


@dataclass(frozen=True, slots=True)
class Case:
    """A formula of a datum, and the named densities in it, as they are in one case of the data."""

    formula: Formula
    densities: tuple[StatedDensity, ...]
    declarations: Declarations
    sample: Sample | None
    found: Mapping[str, str] = field(default_factory=dict)
    """What is known of fields in this case and is not declared, as signs name it, to what it is a fact of."""
    truth: Truth = field(default_factory=dict)
    """Whether the conditions of `where` hold in it."""


def cases(
    formula: Formula, densities: Iterable[StatedDensity], declarations: Declarations, sample: Sample | None
) -> Iterator[Case]:
    """Yield the cases of a formula: values of fields with few values, and conditions; at exact data those that occur.

    What holds in every case holds for every datum.

    Raises:
        TooLargeError: there are more than are looked at.
        NotReadError: a condition is not read at the data.
    """
    named = dependence(formula).data
    few = [d for d in declarations.data if d.name in named and d.values and d.shape == SCALAR and not d.is_index]
    conditions = list(dict.fromkeys(_conditions(formula)))
    whole = Case(formula, tuple(densities), declarations, sample)
    found = _all(few, conditions) if sample is None else _occurring(few, conditions, sample)
    for values, truth, own in found:
        yield _narrowed(_chosen_in(whole, truth), values, truth, own)


def _conditions(formula: Formula) -> Iterator[Compare]:
    for node in nodes(formula):
        match node:
            case Apply("where", (Compare() as condition, *_)) if is_of_data(condition) and condition.shape == SCALAR:
                yield condition
            case _:
                pass


def _all(
    few: list[Datum], conditions: list[Compare]
) -> Iterator[tuple[dict[str, Fraction], dict[Compare, bool], Sample | None]]:
    """Yield every combination of values and of conditions that hold or do not."""
    count = 0
    for values in product(*(datum.values for datum in few)):
        own = {datum.name: Fraction(x) for datum, x in zip(few, values, strict=True)}
        known = {c: holds for c in conditions if (holds := _decided(c, own)) is not None}
        free = [c for c in conditions if c not in known]
        count += 2 ** len(free)
        if count > MOST_CASES:
            raise TooLargeError
        for truth in product((True, False), repeat=len(free)):
            yield own, known | dict(zip(free, truth, strict=True)), None


def _decided(condition: Compare, values: Mapping[str, Fraction]) -> bool | None:
    """Return whether a condition holds, where the values of few fields decide that."""
    put = {name: Number(x) for name, x in values.items()}
    match substitute(condition.left, put), substitute(condition.right, put):
        case Number(left), Number(right):
            return bool(HOLDS[condition.op](left, right))
        case _:
            return None


def _occurring(
    few: list[Datum], conditions: list[Compare], sample: Sample
) -> Iterator[tuple[dict[str, Fraction], dict[Compare, bool], Sample | None]]:
    """Yield the combinations that data have, with their rows."""
    columns = [sample.numbers(Symbol(datum.name, SCALAR, Role.DATUM)) for datum in few]
    for condition in conditions:
        demand_unrounded(condition)
    sides = [(c, sample.numbers(c.left), sample.numbers(c.right)) for c in conditions]
    found: dict[tuple[tuple[fmpq, ...], tuple[bool, ...]], list[int]] = {}
    for n in range(sample.rows):
        truth = tuple(bool(HOLDS[c.op](left[n], right[n])) for c, left, right in sides)
        found.setdefault((tuple(column[n] for column in columns), truth), []).append(n)
    if len(found) > MOST_CASES:
        raise TooLargeError
    for (values, truth), rows in found.items():
        own = {datum.name: Fraction(int(x.p), int(x.q)) for datum, x in zip(few, values, strict=True)}
        yield own, dict(zip(conditions, truth, strict=True)), sample.at(rows)


def _chosen_in(case: Case, truth: Truth) -> Case:
    densities = tuple(replace(d, arguments=tuple(chosen(a, truth) for a in d.arguments)) for d in case.densities)
    return replace(case, formula=chosen(case.formula, truth), densities=densities)


def chosen(formula: Formula, truth: Truth) -> Formula:
    """Return a formula with the piece of every `where` that a datum takes."""
    match formula:
        case Apply("where", (Compare() as condition, yes, no)):
            holds = truth.get(condition, _decided(condition, {}))
            if holds is not None:
                return chosen(yes if holds else no, truth)
            return rebuild(formula, [condition, chosen(yes, truth), chosen(no, truth)], lambda shape: shape)
        case _:
            return rebuild(formula, [chosen(part, truth) for part in parts(formula)], lambda shape: shape)


def _narrowed(case: Case, values: Mapping[str, Fraction], truth: Truth, sample: Sample | None) -> Case:
    """Return a case with what is known of its fields: their values, and of which kinds they are."""
    declared: list[Datum] = []
    put: dict[str, Formula] = {name: Number(x) for name, x in values.items()}
    known = dict(sample.known.data) if sample else {}
    found: dict[str, str] = {}
    for datum in case.declarations.data:
        declared.append(datum)
        if datum.name in put or datum.shape != SCALAR or datum.is_index:
            continue
        kinds, value = _of_numbers(sample, datum) if sample else _of_conditions(truth, datum)
        if value is not None:
            put[datum.name] = Number(value)
            continue
        new = {kind for kind in kinds if kind not in datum.known}
        found |= {f"{datum.name} is {kind}": f"numbers of {datum.name} that are {kind}" * bool(sample) for kind in new}
        declared[-1] = own = replace(datum, kinds=tuple(dict.fromkeys((*datum.kinds, *kinds))))
        if Kind.POSITIVE in new and Kind.INTEGER in own.known:
            less = replace(own, name=f"{datum.name}'", kinds=(Kind.NONNEGATIVE, Kind.INTEGER), values=())
            declared.append(less)
            found[f"{less.name} is {Kind.NONNEGATIVE}"] = found[f"{datum.name} is {Kind.POSITIVE}"]
            put[datum.name] = add([Number(Fraction(1)), Symbol(less.name, SCALAR, Role.DATUM)], SCALAR)
            if sample:
                known[less.name] = ((tuple(x - 1 for x in sample.numbers(Symbol(datum.name, SCALAR, Role.DATUM))),),)
    densities = tuple(replace(d, arguments=tuple(substitute(a, put) for a in d.arguments)) for d in case.densities)
    declarations = replace(case.declarations, data=tuple(declared))
    own_sample = replace(sample, known=replace(sample.known, declarations=declarations, data=known)) if sample else None
    own_truth = {replace(c, left=substitute(c.left, put), right=substitute(c.right, put)): truth[c] for c in truth}
    return Case(substitute(case.formula, put), densities, declarations, own_sample, found, own_truth)


def _of_numbers(sample: Sample, datum: Datum) -> tuple[tuple[Kind, ...], Fraction | None]:
    """Return of which kinds the numbers of a field are, and the one that all of them are."""
    numbers = sample.numbers(Symbol(datum.name, SCALAR, Role.DATUM))
    if len(set(numbers)) == 1 and numbers[0] == 0:
        return (), Fraction(0)
    tests = (
        (Kind.POSITIVE, all(x > 0 for x in numbers)),
        (Kind.NONNEGATIVE, all(x >= 0 for x in numbers)),
        (Kind.NONZERO, all(x != 0 for x in numbers)),
        (Kind.INTEGER, all(is_fraction(x) and x.q == 1 for x in numbers)),
    )
    return tuple(kind for kind, holds in tests if holds), None


def _of_conditions(truth: Truth, datum: Datum) -> tuple[tuple[Kind, ...], Fraction | None]:
    """Return of which kinds a field is by conditions on it, and the value that it then has."""
    found: list[Kind] = []
    for condition, holds in truth.items():
        if is_zero_by_guard(condition, datum, holds=holds):
            return (), Fraction(0)
        found += kinds_of_guard(condition, datum, holds=holds)
    return tuple(found), None

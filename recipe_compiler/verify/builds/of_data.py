"""Has the posterior a finite integral at the data of a build? Where that is not shown of all data as declared."""

from dataclasses import replace
from fractions import Fraction
from itertools import permutations
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
from flint import fmpq

from recipe_compiler import limits
from recipe_compiler.formula.declaration import Datum, Declarations
from recipe_compiler.formula.expression import Compare, Number, Role, Symbol
from recipe_compiler.formula.shapes import SCALAR, Kind, Sizes
from recipe_compiler.formula.show import text
from recipe_compiler.spec.formulas import dependence
from recipe_compiler.spec.model import UNREAD, Build, Data, DataFile, Target
from recipe_compiler.spec.transform import standard
from recipe_compiler.verdict import Answer, Proved, Refuted, Report, Undecided
from recipe_compiler.verify.builds.at_data import explain_bound, explain_unbounded
from recipe_compiler.verify.builds.flat import decide_flat
from recipe_compiler.verify.builds.flat_model import Infinite, Shown
from recipe_compiler.verify.builds.flat_scale import refute_at_zero_scale
from recipe_compiler.verify.builds.proper_prior import ALMOST, Posterior, find_outcome, read_posterior
from recipe_compiler.verify.builds.target import defined, lies_in_supports
from recipe_compiler.verify.core.build_values import find_known_sizes
from recipe_compiler.verify.core.conjunction import is_proved
from recipe_compiler.verify.from_data.columns import CLEAR, NotReadError, Rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

NORMALISABLE = "normalisable"
"""The claim that data may decide."""
METHOD = "exact ranks of the data"
CLEAR_SINGLE = 1e-5
"""Relative size below which a difference of floats of 32 bits may be rounding."""
ROUNDED = 1e-12
"""Made numbers below this much of what they are made of may be zeros as they are written."""


def decide_by_data(build: Build, general: Answer) -> Answer:
    """Return what the data of a build decide; if nothing, the answer for all data.

    A proof for almost every data set becomes one for these where residuals bound its densities, and is open where they
    may lie in the null set. Flat coefficients, and one scale, are decided by ranks and separating directions. Of many
    rows some are read: what these show of ranks holds of all.
    """
    target, observed = standard(build.target), build.observed
    if not target.declarations.data or target.gradient is not None:
        return general
    is_proved = isinstance(general.decision, Proved)
    if not isinstance(observed, Data):
        if is_proved and general.decision.by == ALMOST and build.data is not None and observed.startswith(UNREAD):
            return replace(general, decision=Undecided((observed,)))
        return _add_tried(general, observed) if observed else general
    if is_proved and (reason := _explain_excluded_zero(build, target, observed)):
        return replace(general, decision=Undecided((reason,)))
    if isinstance(general.decision, Proved) and general.decision.by != ALMOST:
        return general
    try:
        rows = _read_rows(build, target, observed)
    except NotReadError as error:
        return _add_tried(general, f"at its data: {error}")
    found = read_posterior(build.target) or read_posterior(_add_order_of_fields(build.target, rows), rows)
    if found is not None:
        return _decide_posterior(build, general, found, rows, observed)
    if general.decision is None or is_proved or not isinstance(defined(build.target).decision, Proved):
        return general
    return _decide_flat_posterior(build, general, target, rows, observed)


def _decide_posterior(build: Build, general: Answer, found: Posterior, rows: Rows, observed: Data) -> Answer:
    """Return the answer about a proper prior beside densities of data, at the data."""
    facts: dict[str, str] = {}
    left = []
    for product, law in found.unbounded:
        why = explain_bound(product, law, rows)
        if why:
            facts[why] = "exact numbers and ranks"
        else:
            left.append((product, law))
    if not left and facts:
        data = (*found.data, *facts.items())
        return Answer(
            Proved(METHOD, (*found.given, _describe_data(observed, tuple(facts))), data), "all", (), general.where
        )
    if isinstance(general.decision, Undecided) and (proof := found.prove()) is not None:
        if proof.by != ALMOST:
            said = _describe_data(observed, ("the laws and the order of its rows",))
            proof = replace(proof, by=METHOD, given=(*proof.given, said))
        general = Answer(proof, "all", (), general.where)
    if left and lies_in_supports(build.target):
        infinite = refute_at_zero_scale(standard(build.target), rows)
        if infinite is not None:
            return replace(general, decision=Refuted(infinite.by, infinite.witness), for_d="all", checked_at=())
    why, is_exact = explain_unbounded(found, left, rows)
    if left and is_exact:
        of = ", ".join(dict.fromkeys(text(law.stated.arguments[0]) for _, law in left))
        facts[f"residuals of {of} that vanish together only where they are independent"] = "exact ranks"
        data = (*found.data, *facts.items())
        return Answer(
            Proved(METHOD, (*found.given, _describe_data(observed, tuple(facts))), data), "all", (), general.where
        )
    why = why or _find_shared_column(build, found)
    if not is_proved(general) or not why:
        return general
    reason = f"proved for almost every data set, and {observed.file} may be one of the others: {why}"
    return replace(general, decision=Undecided((reason,)))


def _add_order_of_fields(target: Target, rows: Rows) -> Target:
    """Return a target with the inequalities between fields that hold in every row of its data as assumptions."""
    fields = (Symbol(one.name, SCALAR, Role.DATUM) for one in target.declarations.data if one.shape == SCALAR)
    pairs = permutations((*fields, Number(Fraction(0))), 2) if rows.is_whole else ()
    shown = [one for one in (Compare(">=", *pair, SCALAR) for pair in pairs) if rows.truth(one).all()]
    declared = None if target.declared is None else _add_order_of_fields(target.declared, rows)
    assume = (*target.declarations.assume, *shown)
    return replace(target, declarations=replace(target.declarations, assume=assume), declared=declared)


def _find_shared_column(build: Build, found: Posterior) -> str:
    """Return, as text, an outcome and another field that are made of one column; empty where there are none."""
    if build.data is None:
        return ""
    slots = (find_outcome(law, found.target.declarations) for _, law in found.unbounded)
    own = {slot[0] for slot in slots if slot is not None}
    columns = dict(build.data.columns)
    of = {name: _find_source_columns(build.data, columns.get(name, ())) for name in columns}
    pairs = ((name, other) for name in own for other in of if other != name and of.get(name, set()) & of[other])
    return next((f"`{name}` and `{other}` are made of the same column" for name, other in pairs), "")


def _find_source_columns(file: DataFile, names: tuple[str, ...]) -> set[str]:
    """Return the columns of the file that made columns are computed from."""
    made = {column.name: column.uses for column in file.made}
    found, left = set[str](), list(names)
    while left:
        name = left.pop()
        if name in made:
            left += made[name]
        else:
            found.add(name)
    return found


def _decide_flat_posterior(build: Build, general: Answer, target: Target, rows: Rows, observed: Data) -> Answer:
    found, sampled = decide_flat(target, rows), build.target
    if found is None and sampled.transforms:
        found = decide_flat(sampled, replace(rows, declarations=sampled.declarations))
    match found:
        case Shown(facts):
            given = defined(build.target).decision
            own = given.given if isinstance(given, Proved) else ()
            said = _describe_data(observed, tuple(words for words, _ in facts))
            return Answer(Proved(METHOD, tuple(sorted({*own, said})), facts), "all", (), general.where)
        case Infinite(by, witness) if rows.is_whole and _are_doubles(build) and lies_in_supports(build.target):
            return replace(general, decision=Refuted(by, witness), for_d="all", checked_at=())
        case _:
            return general


def _describe_data(observed: Data, words: tuple[str, ...]) -> str:
    """Return what the data show, as what is given."""
    return f"the {observed.rows} data of {observed.file}: {', '.join(words)}"


def _add_tried(general: Answer, reason: str) -> Answer:
    """Return an open answer with further reasons."""
    if not isinstance(general.decision, Undecided):
        return general
    return general.but(tried=(*general.decision.tried, reason))


def _explain_excluded_zero(build: Build, target: Target, observed: Data) -> str:
    """Return which computed numbers, as decimals, may violate their declared kind; empty where none is."""
    if build.data is None:
        return ""
    fields, made = observed.arrays, {column.name: column for column in build.data.made}
    for datum in target.declarations.data:
        own = [made[name] for name in dict(build.data.columns).get(datum.name, ()) if name in made]
        if not own or not {Kind.POSITIVE, Kind.NONZERO} & {*datum.known}:
            continue
        inside = [observed.columns[name] for column in own for name in column.uses if name in observed.columns]
        scale = max((float(np.abs(x).max()) for x in inside), default=0.0)
        if np.abs(fields[datum.name]).min() <= ROUNDED * scale:
            return f"proved for data as declared, but some `{datum.name}` may be 0 as written in {observed.file}"
    return ""


def _read_rows(build: Build, target: Target, observed: Data) -> Rows:
    """Return the data of a build, and its sizes and parameters, as the rational numbers that their doubles are.

    Raises:
        NotReadError: a number is not finite.
    """
    sizes = {**dict(observed.sizes), **find_known_sizes(build, target)}
    lengths = ([size if isinstance(size, int) else sizes[size] for size in datum.shape.sizes]
               for datum in target.declarations.data)  # fmt: skip
    width = sum(prod(own) for own in lengths)
    count = min(observed.rows, max(limits.DATA // max(width, 1), 2))
    single = any(values.dtype == np.float32 for values in observed.arrays.values())
    clear = CLEAR_SINGLE if single or (build.data is not None and build.data.dtype == "float32") else CLEAR
    kept = np.linspace(0, observed.rows - 1, count).astype(np.intp)
    arrays = observed.arrays
    data = {datum.name: _read_columns(datum, arrays[datum.name][kept], sizes) for datum in target.declarations.data}
    return Rows(
        target.declarations, sizes, _read_parameters(build, target, sizes), data, count, count == observed.rows, clear
    )


def _read_parameters(build: Build, target: Target, sizes: Sizes) -> dict[str, Any]:
    values = {name: value.numbers for name, value in build.values if value.numbers is not None}
    found = {name: [[_round_to_double(x) for x in row] for row in rows] for name, rows in values.items()}
    plain = Rows(Declarations(), sizes, {}, {}, 1)
    for parameter in target.declarations.parameters:
        if parameter.name in found or parameter.default is None:
            continue
        try:
            entries = plain.entries(parameter.default)
        except NotReadError:
            continue
        if all(not one.keys() - {()} for line in entries for one in line):
            exact = [[one.get((), fmpq(0)) for one in line] for line in entries]
            found[parameter.name] = [[fmpq(*float(x).as_integer_ratio()) for x in line] for line in exact]
    return found


def _are_doubles(build: Build) -> bool:
    """Whether the stated numbers of a build are the doubles that run."""
    numbers = (x for _, value in build.values for row in value.numbers or () for x in row)
    return all(abs(x) < 2**1000 and Fraction(float(x)) == x for x in numbers)


def _round_to_double(x: Fraction) -> fmpq:
    try:
        return fmpq(*float(x).as_integer_ratio())
    except OverflowError:
        raise NotReadError("a parameter that no double holds") from None


def _read_columns(datum: Datum, array: "NDArray[Any]", sizes: Sizes) -> list[list[Any]]:
    """Return the entries of a field, each with its numbers; a position is a one at its place, zeros elsewhere."""
    shape = [size if isinstance(size, int) else sizes[size] for size in datum.shape.sizes]
    if datum.is_index:
        entries = [(array == k).astype(int) for k in range(shape[0])]
    else:
        entries = list(array.reshape(len(array), -1).T)
    exact = [np.array([_to_fmpq(x) for x in entry.tolist()], dtype=object) for entry in entries]
    if datum.shape.rows is None:
        return [exact]
    width = shape[1] if len(shape) > 1 else 1
    return [exact[k : k + width] for k in range(0, len(exact), width)]


def _to_fmpq(x: float) -> fmpq:
    try:
        return fmpq(*x.as_integer_ratio())
    except (OverflowError, ValueError):
        raise NotReadError("a number that is not finite") from None


# What a report says of data


def list_data_questions(target: Target) -> tuple[str, ...]:
    """Return what the data of a build would have to show; empty where they decide nothing."""
    own = standard(target)
    blocks = [block.name for block in own.declarations.blocks]
    uses = dependence(own.log_likelihood).blocks if own.log_likelihood is not None else ()
    flat = [name for name in blocks if name in uses and not _has_prior_term(own, name)]
    if not flat or not own.declarations.data or own.recursion or own.gradient is not None:
        return ()
    return (f"the data of a build may decide it: the ranks of the columns of {', '.join(flat)}",)


def _has_prior_term(target: Target, name: str) -> bool:
    return target.log_prior is not None and name in dependence(target.log_prior).blocks


def rests_on_data(report: Report) -> bool:
    """Whether a claim of a report rests on the data that were read, or is one about almost every data set."""
    return any(isinstance(one.decision, Proved) and one.decision.by in {METHOD, ALMOST} for one in report.findings)


def awaits_data(build: Build, report: Report) -> bool:
    """Whether all that a report leaves open is what data decide, and the build has none yet."""
    left = [one for one in report.findings if one.required and not isinstance(one.decision, Proved)]
    open_ = all(isinstance(one.decision, Undecided) and one.id == NORMALISABLE for one in left)
    return open_ and bool(left) and build.data is None and bool(build.target.declarations.data)

"""Claims about a build: what it binds is of the kinds declared, its values are, and V is positive semidefinite."""

from dataclasses import dataclass, replace
from fractions import Fraction

from recipe_compiler.algebra.scalars.rational_matrices import Numbers, diagonal_of, violates_exactly
from recipe_compiler.facts.patterns import is_of_kind
from recipe_compiler.formula.declaration import Entries, Function, Parameter
from recipe_compiler.formula.expression import Apply, Formula, Identity, Multiply, Number
from recipe_compiler.formula.shapes import SIGNS, Kind
from recipe_compiler.formula.show import text
from recipe_compiler.spec.formulas import dependence
from recipe_compiler.spec.model import Build, Dynamics, Value
from recipe_compiler.verdict import Answer, Decision, Proved, Refuted, Undecided
from recipe_compiler.verify.builds.in_build import complete_witness, find_unvalued_names, format_value
from recipe_compiler.verify.core.build_values import (
    bind_values,
    evaluate_exactly,
    find_known_sizes,
    list_declared_parameters,
    put_values_in,
)
from recipe_compiler.verify.core.conjunction import is_proved
from recipe_compiler.verify.core.kinds import find_counterexample
from recipe_compiler.verify.core.premises import list_facts, require_smooth
from recipe_compiler.verify.core.sizes import list_checked_sizes


def bindings(build: Build, bound: Dynamics) -> Answer:
    """Decide that every bound formula and every value is of the kinds declared for its name, and smooth.

    M: [n, n] declared positive definite and bound to 2 B needs v.T B v > 0 for all v != 0: by structure for all values,
    else by the exact numbers of the build, else by an exact point where it fails, which refutes. Defaults of parameters
    without a value are held to the same. What is neither shown nor refuted, and what is not shown to be smooth, leaves
    it undecided.
    """
    where = build.source.place("bind")
    valued = bind_values(build) or bound
    tried: list[str] = []
    given: set[str] = set()
    for name, formula in build.bind:
        item = build.dynamics.declarations.find(name)
        premises = require_smooth([formula], bound.declarations)
        premises = require_smooth([put_values_in(formula, build)], valued.declarations) if premises.open else premises
        tried += [f"{name}: not shown: {what}" for what in premises.open]
        given |= premises.given
        kinds = item.kinds if isinstance(item, (Parameter, Function)) else ()
        refuted = _refute_kinds(_BoundName(name, formula, kinds), build, bound, valued, tried)
        if refuted is not None:
            return Answer(refuted, where=build.source.place(f"bind.{name}"))
    refuted = _refute_values(build)
    refuted = _refute_defaults(build, bound, valued, tried) if refuted is None else refuted
    if refuted is not None:
        return Answer(refuted, where=build.source.place("parameters"))
    reasons = tuple(sorted(given))
    decision: Decision = Undecided(tuple(tried), given=reasons) if tried else Proved("structure, exact values", reasons)
    return Answer(decision, where=where)


def gradient_noise(build: Build, bound: Dynamics) -> Answer:
    """Decide that V, the covariance of the minibatch gradient, has V = V.T >= 0 (Ma, Chen, Fox 2015, Eq. 8); W, too.

    V is [d, d] for a potential's block of size d, a scalar for a scalar one. By structure, else at the values of the
    build; refuted by an exact v; undecided where neither is shown, or V is not shown to be smooth.
    """
    if build.W is not None:
        found = gradient_noise(replace(build, V=build.W, W=None), bound)
        if not is_proved(found):
            return found
    where = build.source.place("gradient_noise")
    valued = bind_values(build) or bound
    tried: list[str] = []
    refuted = _refute_kinds(_BoundName("V", build.V, (Kind.PSD,)), build, bound, valued, tried)
    premises = require_smooth([build.V], bound.declarations)
    premises = require_smooth([put_values_in(build.V, build)], valued.declarations) if premises.open else premises
    tried += [f"not shown: {what}" for what in premises.open]
    given = tuple(sorted(list_facts([build.V], bound.declarations)))
    held = Undecided(tuple(tried), given=given) if tried else Proved("structure of V", given)
    decision = held if refuted is None else refuted
    return Answer(decision, where=where)


@dataclass(frozen=True, slots=True)
class _BoundName:
    """A formula that stands for a name, and the kinds declared of it."""

    name: str
    formula: Formula
    kinds: tuple[Kind, ...]


def _refute_kinds(
    what: _BoundName, build: Build, bound: Dynamics, valued: Dynamics, tried: list[str]
) -> Refuted | None:
    """Return a refutation of a kind; note open kinds in `tried`.

    Structure decides for all values and sizes; numbers are written out where it does not, and may be many.
    """
    formulas = {
        kind: _read_diagonal(what.formula) if kind in SIGNS and Kind.DIAGONAL in what.kinds else what.formula
        for kind in what.kinds
    }
    left = [kind for kind, own in formulas.items() if own is None or not is_of_kind(own, kind, bound.declarations)]
    numbers = evaluate_exactly(what.formula, build) if left else None
    for kind in left:
        if numbers is not None:
            own = kind in SIGNS and Kind.DIAGONAL in what.kinds
            refuted = _refute_numbers(what, diagonal_of(numbers) if own else numbers, kind, valued)
        else:
            refuted = _refute_formula(what, formulas[kind], kind, build, bound, valued)
        if isinstance(refuted, Refuted):
            return refuted
        tried += [refuted] if refuted else []
    return None


def _refute_numbers(what: _BoundName, numbers: Numbers, kind: Kind, valued: Dynamics) -> Refuted | None:
    """Return a refutation by the exact value of a formula of parameters."""
    if not violates_exactly(numbers, kind):
        return None
    used = dependence(what.formula).parameters
    own = tuple((p.name, format_value(p)) for p in valued.declarations.parameters if p.name in used)
    return Refuted("exact values", own, f"{what.name} = {text(what.formula)} is not {kind}")


def _refute_formula(
    what: _BoundName, formula: Formula | None, kind: Kind, build: Build, bound: Dynamics, valued: Dynamics
) -> Refuted | str:
    """Return a refutation of a formula of the state, or what is open: by structure at the values, else by a point."""
    name, written = what.name, text(what.formula)
    if formula is None:
        return f"not shown: the diagonal of {name} = {written} is {kind}"
    exact = put_values_in(formula, build)
    if is_of_kind(exact, kind, valued.declarations):
        return ""
    sizes = find_known_sizes(build, bound)
    found = find_counterexample(exact, kind, valued.declarations, list_checked_sizes(valued, sizes))
    free = find_unvalued_names(exact, valued.declarations)
    if found is None or free:
        return f"not shown: {name} = {written} is {kind}"
    witness = complete_witness(found, sizes, valued.declarations)
    return Refuted("exact witness", witness, f"{name} = {written} is not {kind}")


def _read_diagonal(formula: Formula) -> Formula | None:
    """Return the diagonal of a matrix in diagonal form; None of any other."""
    match formula:
        case Identity():
            return Number(Fraction(1))
        case Apply("diag", (entries,), _):
            return entries
        case Multiply(factor, Identity(), _) | Multiply(Identity(), factor, _):
            return factor
        case _:
            return None


def _refute_values(build: Build) -> Refuted | None:
    """Return the first value that is not of the kind its parameter was declared with."""
    declared = {p.name: p for p in list_declared_parameters(build)}
    for name, value in build.values:
        item = declared.get(name)
        if item is None or value.numbers is None:
            continue
        for kind in item.kinds:
            own = kind in SIGNS and Kind.DIAGONAL in item.kinds
            if violates_exactly(diagonal_of(value.numbers) if own else value.numbers, kind):
                shown = format_value(replace(item, value=Entries(value.numbers)))
                return Refuted("exact value", ((name, shown),), f"{name} is not {kind}{_describe_rounding(value)}")
    return None


def _describe_rounding(value: Value) -> str:
    """Return the remark that values given as doubles may be rounded."""
    if value.file is None:
        return ""
    return f", exactly, for the doubles of {value.file.name}: check that rounding is not the cause"


def _refute_defaults(build: Build, bound: Dynamics, valued: Dynamics, tried: list[str]) -> Refuted | None:
    """Return the first default, of a parameter without a value, that is not of its kinds."""
    given = {name for name, _ in build.values} | {name for name, _ in build.bind}
    for item in list_declared_parameters(build):
        if item.name not in given and item.default is not None:
            refuted = _refute_kinds(_BoundName(item.name, item.default, item.kinds), build, bound, valued, tried)
            if refuted is not None:
                return refuted
    return None

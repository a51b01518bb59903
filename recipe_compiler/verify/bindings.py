"""Claims about a build: what it binds is of the kinds declared, its values are, and V is positive semidefinite."""

from fractions import Fraction

from recipe_compiler.formula.declaration import Declarations, Function, Parameter
from recipe_compiler.formula.expression import Apply, Formula, Identity, Multiply, Number
from recipe_compiler.formula.shapes import Kind
from recipe_compiler.formula.show import text
from recipe_compiler.formula.substitute import substitute
from recipe_compiler.spec.model import Build, Dynamics
from recipe_compiler.verdict import Decision, Finding, Proved, Refuted, Undecided
from recipe_compiler.verify.kinds import counterexample, is_of_kind, violates_exactly
from recipe_compiler.verify.premises import facts, smoothness
from recipe_compiler.verify.sizes import checked_sizes

BINDINGS = ("bindings", "what is bound is of the kind declared")
GRADIENT_NOISE = ("gradient_noise", "V is positive semidefinite")

SIGNS = frozenset({Kind.POSITIVE, Kind.NONNEGATIVE, Kind.NONZERO})
"""Kinds that are about entries; of a diagonal matrix, about those on its diagonal."""

Numbers = tuple[tuple[Fraction, ...], ...]


def bindings(build: Build, bound: Dynamics) -> Finding:
    """Decide that every bound formula, and every value, is of the kinds its name was declared with, and is smooth."""
    where = build.source.place("bind")
    tried: list[str] = []
    given: set[str] = set()
    for name, formula in build.bind:
        item = build.dynamics.declarations.find(name)
        premises = smoothness([formula], bound.declarations)
        tried += [f"{name}: not shown: {what}" for what in premises.open]
        given |= premises.given
        kinds = item.kinds if isinstance(item, (Parameter, Function)) else ()
        for kind in kinds:
            spoken_of = _diagonal(formula) if kind in SIGNS and Kind.DIAGONAL in kinds else formula
            if spoken_of is None:
                tried.append(f"not shown: the diagonal of {name} = {text(formula)} is {kind}")
                continue
            refuted = _of_kind(name, spoken_of, kind, build, bound, tried)
            if refuted is not None:
                return Finding(*BINDINGS, True, refuted, where=build.source.place(f"bind.{name}"))
    refuted = _values(build, bound.declarations)
    if refuted is not None:
        return Finding(*BINDINGS, True, refuted, where=build.source.place("parameters"))
    reasons = tuple(sorted(given))
    decision: Decision = Undecided(tuple(tried), given=reasons) if tried else Proved("structure, exact values", reasons)
    return Finding(*BINDINGS, True, decision, where=where)


def gradient_noise(build: Build, bound: Dynamics) -> Finding:
    """Decide that V, the covariance of the minibatch gradient, is symmetric positive semidefinite."""
    where = build.source.place("gradient_noise")
    tried: list[str] = []
    refuted = _of_kind("V", build.V, Kind.PSD, build, bound, tried)
    premises = smoothness([build.V], bound.declarations)
    tried += [f"not shown: {what}" for what in premises.open]
    given = tuple(sorted(facts([build.V], bound.declarations)))
    decision = refuted or (Undecided(tuple(tried), given=given) if tried else Proved("structure of V", given))
    return Finding(*GRADIENT_NOISE, True, decision, where=where)


def _of_kind(
    name: str, formula: Formula, kind: Kind, build: Build, bound: Dynamics, tried: list[str]
) -> Refuted | None:
    """Return a refutation; note in `tried` what is neither shown nor refuted."""
    declarations = bound.declarations
    exact = substitute(formula, _scalar_values(build))
    if is_of_kind(formula, kind, declarations) or is_of_kind(exact, kind, declarations):
        return None
    found = counterexample(exact, kind, declarations, checked_sizes(bound))
    if found is None:
        tried.append(f"not shown: {name} = {text(formula)} is {kind}")
        return None
    return Refuted("exact witness", found, f"{name} = {text(formula)} is not {kind}")


def _diagonal(formula: Formula) -> Formula | None:
    """Return the diagonal of a matrix that shows it: a diagonal matrix that is positive is so on its diagonal."""
    match formula:
        case Identity():
            return Number(Fraction(1))
        case Apply("diag", (entries,), _):
            return entries
        case Multiply(factor, Identity(), _) | Multiply(Identity(), factor, _):
            return factor
        case _:
            return None


def _scalar_values(build: Build) -> dict[str, Formula]:
    """Return the scalar parameters that the build gives a number."""
    scalars = {p.name for p in (*build.parameters, *build.dynamics.declarations.parameters) if not p.shape.sizes}
    return {name: Number(value.numbers[0][0]) for name, value in build.values if name in scalars and value.numbers}


def _values(build: Build, declarations: Declarations) -> Refuted | None:
    """Return the first value that is not of the kind its parameter was declared with."""
    declared = [
        *build.parameters,
        *declarations.parameters,
        *build.dynamics.declarations.parameters,
        *build.target.declarations.parameters,
    ]
    for name, value in build.values:
        item = next((p for p in declared if p.name == name), None)
        if item is None or value.numbers is None:
            continue
        for kind in item.kinds:
            own = kind in SIGNS and Kind.DIAGONAL in item.kinds
            numbers = tuple((row[k],) for k, row in enumerate(value.numbers)) if own else value.numbers
            if violates_exactly(numbers, kind):
                shown = "; ".join(" ".join(map(str, row)) for row in value.numbers)
                return Refuted("exact value", ((name, shown),), f"{name} is not {kind}")
    return None

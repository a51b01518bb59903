"""Does a build keep to what its dynamics and target assume? Proofs rest on it, so it is decided, not believed."""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from recipe_compiler.algebra.definedness import nodes
from recipe_compiler.algebra.entries import NotScalarisableError, scalar
from recipe_compiler.algebra.psd import sign
from recipe_compiler.formula.declaration import Declarations
from recipe_compiler.formula.expression import Add, Compare, Formula, FunctionAt, Multiply, Number, Role, Symbol
from recipe_compiler.formula.shapes import SCALAR, Kind
from recipe_compiler.formula.show import text
from recipe_compiler.formula.substitute import substitute
from recipe_compiler.spec.model import Build, Dynamics
from recipe_compiler.verdict import Decision, Finding, Proved, Refuted, Undecided

ASSUMPTIONS = ("assumptions", "what dynamics and target assume holds in the build")


def assumes(build: Build) -> bool:
    """Whether there is anything to decide."""
    return bool(build.dynamics.declarations.assume or build.target.declarations.assume or _kinds(build))


def assumptions(build: Build, bound: Dynamics) -> Finding:
    """Decide every assumption of dynamics and target at what the build binds and values.

    One about parameters is decided exactly; one that speaks of the state, or of the potential, restricts where chains
    may go or what the target may be, which no emitted step keeps to: undecided.
    """
    tried = [f"the potential is declared {kind}, which the target is not shown to be" for kind in _kinds(build)]
    for condition, declarations in _conditions(build, bound):
        outcome = _decided(condition, declarations, build)
        if isinstance(outcome, Refuted):
            return Finding(*ASSUMPTIONS, True, outcome, where=build.source.place("parameters"))
        tried += [outcome] if outcome else []
    decision: Decision = Undecided(tuple(tried)) if tried else Proved("exact values, structure")
    return Finding(*ASSUMPTIONS, True, decision, where=build.source.place("dynamics"))


def _kinds(build: Build) -> list[str]:
    functions = [f for f in build.dynamics.declarations.functions if f.role == "potential"]
    return [str(kind) for function in functions for kind in function.kinds if kind is not Kind.REAL]


def _conditions(build: Build, bound: Dynamics) -> Iterator[tuple[Compare, Declarations]]:
    yield from ((condition, bound.declarations) for condition in bound.declarations.assume)
    target = build.target.declarations
    yield from ((condition, target) for condition in target.assume)


def _decided(condition: Compare, declarations: Declarations, build: Build) -> Refuted | str:
    """Return a refutation, what is not shown, or an empty string where the assumption holds."""
    written = text(condition)
    for node in nodes(condition.left), nodes(condition.right):
        for part in node:
            if isinstance(part, FunctionAt) or (isinstance(part, Symbol) and part.role is Role.BLOCK):
                return f"{written} restricts the state, and no emitted step keeps to it"
    values: dict[str, Formula] = {
        name: Number(value.numbers[0][0])
        for name, value in build.values
        if value.numbers and len(value.numbers) == 1 and len(value.numbers[0]) == 1
    }
    scalars = {p.name for p in declarations.parameters if not p.shape.sizes}
    known = {name: number for name, number in values.items() if name in scalars}
    left, right = (substitute(side, known) for side in (condition.left, condition.right))
    return _compared(condition.op, left, right, declarations, written, known)


def _compared(
    op: str, left: Formula, right: Formula, declarations: Declarations, written: str, known: dict[str, Formula]
) -> Refuted | str:
    if op in {"<", "<="}:
        op, left, right = op.replace("<", ">"), right, left
    open_ = f"not shown: {written}"
    if left.shape.sizes or right.shape.sizes:
        return open_
    difference = Add((left, Multiply(Number(Fraction(-1)), right, SCALAR)), SCALAR)
    structural = sign(difference, replace(declarations, assume=()))  # what is assumed does not show itself
    if (op == ">" and structural.positive) or (op == ">=" and structural.nonnegative):
        return ""
    try:
        value = scalar(difference, declarations, {})
    except (NotScalarisableError, KeyError, ArithmeticError):
        return open_
    if not value.is_Rational:
        return open_
    holds = {">": value > 0, ">=": value >= 0, "==": value == 0}[op]
    if bool(holds):
        return ""
    witness = tuple((name, text(number)) for name, number in known.items())
    return Refuted("exact values", witness, f"{written} does not hold")

"""Does a build keep to what its dynamics and target assume? Proofs rest on it, so it is decided, not believed."""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from sympy import Expr

from recipe_compiler.algebra.points.witness import is_defined_at
from recipe_compiler.algebra.scalars.entries import NotScalarisableError, Setting, rows
from recipe_compiler.algebra.scalars.evaluate import NoValueError, Value, evaluate, is_certainly
from recipe_compiler.algebra.scalars.matrices import Rows, TooLargeError
from recipe_compiler.algebra.structure.definedness import definedness
from recipe_compiler.facts.semidefinite import sign
from recipe_compiler.formula.build import depends_on_state
from recipe_compiler.formula.declaration import Declarations
from recipe_compiler.formula.expression import Add, Compare, Multiply, Number
from recipe_compiler.formula.shapes import SCALAR, Kind
from recipe_compiler.formula.show import text
from recipe_compiler.spec.formulas import is_of_data
from recipe_compiler.spec.model import Build, Dynamics, Target
from recipe_compiler.verdict import Answer, Decision, Proved, Refuted, Undecided
from recipe_compiler.verify.builds.in_build import complete_witness
from recipe_compiler.verify.core.build_values import bind_target_values, bind_values, find_known_sizes
from recipe_compiler.verify.core.sizes import Sizes


def assumes_any(build: Build) -> bool:
    """Whether there is anything to decide."""
    stated = [*_list_assumptions(build.dynamics), *_list_assumptions(build.target)]
    return bool(_list_potential_kinds(build)) or not all(
        isinstance(c.left, Number) and isinstance(c.right, Number) for c in stated
    )


def assumptions(build: Build, bound: Dynamics) -> Answer:
    """Decide every assumption l op r of dynamics and target, entry by entry, at what the build binds and at its values.

    One about parameters is decided by kinds, else in exact numbers or balls: refuted where it certainly fails. One
    about data is checked in every row before anything runs, and is listed here as given. One about the state, or a kind
    of the potential, is undecided: it restricts where chains may go, or what the target may be, and no emitted step
    keeps to it. Undecided, too, where a value is not known.
    """
    tried = [f"not shown: the target is {kind}, as the potential is declared" for kind in _list_potential_kinds(build)]
    given: set[str] = set()
    for condition, valued, declarations, sizes in _pair_assumptions(build, bound):
        if is_of_data(condition):
            given.add(text(condition))
            continue
        outcome = _check_assumption(text(condition), valued, declarations, sizes)
        if isinstance(outcome, Refuted):
            return Answer(outcome, where=build.source.place("parameters"))
        tried += [outcome] if outcome else []
    decision: Decision = Undecided(tuple(tried)) if tried else Proved("exact values, structure", tuple(sorted(given)))
    return Answer(decision, where=build.source.place("dynamics"))


def _list_potential_kinds(build: Build) -> list[str]:
    functions = [f for f in build.dynamics.declarations.functions if f.role == "potential"]
    return [str(kind) for function in functions for kind in function.kinds if kind is not Kind.REAL]


def _pair_assumptions(build: Build, bound: Dynamics) -> Iterator[tuple[Compare, Compare, Declarations, Sizes]]:
    """Yield each assumption as bound and at the values of the build, with the declarations that apply."""
    pairs = ((bound, bind_values(build) or bound), (build.target, bind_target_values(build) or build.target))
    for stated, valued in pairs:
        sizes, declarations = find_known_sizes(build, stated), valued.declarations
        for condition, at in zip(_list_assumptions(stated), _list_assumptions(valued), strict=True):
            yield condition, at, declarations, sizes


def _list_assumptions(document: Dynamics | Target) -> tuple[Compare, ...]:
    """Return the assumptions of a document, with the order of the ends of its domains."""
    declared = document.declared if isinstance(document, Target) and document.declared else document
    return (*document.declarations.assume, *declared.declarations.ends_in_order)


def _check_assumption(written: str, condition: Compare, declarations: Declarations, sizes: Sizes) -> Refuted | str:
    """Return a refutation, a reason that it is open, or an empty string where the assumption holds."""
    if depends_on_state(condition.left) or depends_on_state(condition.right):
        return f"{written} restricts the state, and emitted steps do not enforce it"
    if _is_shown_by_kinds(condition, declarations):
        return ""
    try:
        outcome = _compare_sides(condition, declarations, sizes)
    except (NotScalarisableError, TooLargeError, KeyError, ArithmeticError, NoValueError):
        return f"not shown: {written}"
    if outcome is None:
        return f"not shown: {written}"
    return (
        ""
        if outcome
        else Refuted("exact values", complete_witness((), sizes, declarations), f"{written} does not hold")
    )


def _is_shown_by_kinds(condition: Compare, declarations: Declarations) -> bool:
    """Whether kinds alone show an assumption about scalars, without assumptions."""
    op, left, right = condition.op, condition.left, condition.right
    if left.shape.sizes or right.shape.sizes:
        return False
    if op in {"<", "<="}:
        op, left, right = op.replace("<", ">"), right, left
    difference = Add((left, Multiply(Number(Fraction(-1)), right, SCALAR)), SCALAR)
    bare = replace(declarations, assume=())
    if definedness((left, right), bare).open:
        return False
    structural = sign(difference, bare)
    return (op == ">" and structural.positive) or (op == ">=" and structural.nonnegative)


def _compare_sides(condition: Compare, declarations: Declarations, sizes: Sizes) -> bool | None:
    """Return whether an assumption holds at exact values, entry by entry; None where that is not certain."""
    setting = Setting(declarations, sizes)
    if not is_defined_at((condition.left, condition.right), setting, _refuse_name):
        return None
    left, right = (_flatten(rows(side, setting)) for side in (condition.left, condition.right))
    n = max(len(left), len(right))
    left, right = (side * n if len(side) == 1 else side for side in (left, right))
    outcomes = [
        _compare_with_zero(condition.op, evaluate(x - y, _refuse_name)) for x, y in zip(left, right, strict=True)
    ]
    return False if False in outcomes else None if None in outcomes else True


def _compare_with_zero(op: str, difference: Value) -> bool | None:
    zero = isinstance(difference, Fraction) and difference == 0
    above, below = is_certainly(difference, 1), is_certainly(difference, -1)
    if not (zero or above or below):
        return None
    return {">": above, ">=": above or zero, "==": zero, "<": below, "<=": below or zero}[op]


def _refuse_name(leaf: Expr) -> Fraction:
    """Refuse a name: it has no value."""
    raise NoValueError(str(leaf))


def _flatten(entries: Rows) -> list[Expr]:
    return [x for row in entries for x in row]

"""What a build decides of the assumptions that its proofs list: by one of its own claims, or by its target.

So no report on a build says `given: c is positive` where c has a value, or `U is smooth` where U has a formula.
"""

from collections.abc import Callable, Mapping
from functools import lru_cache

from recipe_compiler import limits
from recipe_compiler.formula.build import depends_on_state, parts
from recipe_compiler.formula.expression import (
    Add,
    Apply,
    Entry,
    Explicit,
    Formula,
    MatMul,
    Multiply,
    Number,
    Power,
    Symbol,
    Transpose,
)
from recipe_compiler.spec.bind import bind
from recipe_compiler.spec.discrete import held
from recipe_compiler.spec.model import Build, Target
from recipe_compiler.spec.recursion import of_rows
from recipe_compiler.verdict import Assumes, Assumption
from recipe_compiler.verify.builds.target import list_stated_formulas
from recipe_compiler.verify.core.build_values import evaluate_bound_formulas
from recipe_compiler.verify.core.premises import require_smooth

Decided = str | bool
"""The claim that decides an assumption, or whether it is shown; where it is not it stays one."""


def find_decider(build: Build, fact: str) -> Decided:
    """Return what decides an assumption in a build: a claim, or whether it is shown; what is no assumption is not."""
    return DECIDERS[fact.kind](build, fact.subject) if isinstance(fact, Assumption) else False


def _decide_declared(build: Build, name: str) -> Decided:
    """Return True for a block, whose domain is as declared; `bindings` for a name with a value; else False."""
    documents = (build.dynamics, build.target, build.target.as_declared)
    blocks = {block.name for document in documents for block in document.declarations.blocks}
    known = _collect_valued_names(build)
    return True if name in blocks else "bindings" if name in known else False


@lru_cache(maxsize=limits.SUBJECTS)
def _collect_valued_names(build: Build) -> frozenset[str]:
    """Return the names that are bound, or have a value or a default."""
    values = {name for name, value in evaluate_bound_formulas(build).values if value.numbers is not None}
    declared = (*bind(build).declarations.parameters, *build.target.declarations.parameters)
    defaults = {p.name for p in declared if p.default is not None}
    return frozenset({*values, *defaults, *(name for name, _ in build.bind)})


def _decide_smooth(build: Build, name: str) -> Decided:
    if name in dict(build.bind):
        return "bindings"
    return name == build.dynamics.potential and is_smooth(build.target)


@lru_cache(maxsize=limits.SUBJECTS)
def is_smooth(target: Target) -> bool:
    """Whether the formulas of a target are shown to have all derivatives, everywhere in its domain."""
    if target.gradient is not None:
        return False
    target = held(target)
    return not require_smooth(list_stated_formulas(target), of_rows(target)).open


def _decide_power_growth(build: Build, name: str) -> Decided:
    target = build.target
    if name != build.dynamics.potential or target.gradient is not None or target.recursion:
        return False
    return is_smooth(target) and all(_grows_like_a_power(formula) for formula in list_stated_formulas(held(target)))


TAME = frozenset(("sin", "cos", "tanh", "atan", "softplus", "sigmoid", "erf", "ndtr"))
"""Functions that, with all their derivatives, are at most a power of their argument on all of the line."""


def _grows_like_a_power(formula: Formula) -> bool:
    """Whether a formula, with all its derivatives in the blocks, is shown to grow at most like a power of them."""
    if not depends_on_state(formula):
        return True
    match formula:
        case Add() | Multiply() | MatMul() | Transpose() | Entry() | Explicit() | Symbol():
            return all(_grows_like_a_power(part) for part in parts(formula))
        case Power(base, Number(value)):
            return value >= 0 and value.denominator == 1 and _grows_like_a_power(base)
        case Apply(fn, args):
            return fn in TAME and all(_grows_like_a_power(arg) for arg in args)
        case _:
            return False


DECIDERS: Mapping[Assumes, Callable[[Build, str], Decided]] = {
    Assumes.DECLARED: _decide_declared,
    Assumes.SMOOTH: _decide_smooth,
    Assumes.POWERS: _decide_power_growth,
    Assumes.INTEGRAL: lambda _, __: "normalisable",
    Assumes.GROWTH: lambda _, __: "explosion",
}

"""Formulas of a target that are bounded above or below over the state, for fixed data and parameters.

What is bounded above in a log posterior only helps: without it the integral must be finite already.
"""

from math import inf

from recipe_compiler.facts.semidefinite import sign
from recipe_compiler.formula.build import depends_on_state, entry_of, negate
from recipe_compiler.formula.constraints import Constraint
from recipe_compiler.formula.declaration import Block, Declarations
from recipe_compiler.formula.elementwise import BOUNDED, named
from recipe_compiler.formula.expression import (
    Add,
    Apply,
    Entry,
    Explicit,
    Formula,
    Multiply,
    Number,
    Power,
    Role,
    Symbol,
)

_KEPT_BELOW = named(lambda row: row.increasing and not row.bounded) | {"sum"}
"""Functions that a bound of their argument from above bounds from above."""


def bounded_above(formula: Formula, declarations: Declarations) -> bool:
    """Whether every entry F of a formula has F <= C wherever it is defined, C a constant of the data and parameters.

    By structure; False may mean that it was not shown. -x**2, sin(x) and 1 + sin(x) are bounded above. So is log det R
    of a correlation matrix R, as det R <= 1 (Hadamard's inequality).
    """
    if not depends_on_state(formula) or sign(negate(formula), declarations).nonnegative:
        return True
    if sign(formula, declarations).high.at < inf:
        return True
    match formula:
        case Add(terms):
            return all(bounded_above(term, declarations) for term in terms)
        case Explicit(rows):
            return all(bounded_above(entry, declarations) for row in rows for entry in row)
        case Entry(Explicit(rows), at):
            return bounded_above(entry_of(rows, at), declarations)
        case Multiply(left, right):
            two = all(_is_bounded(factor, declarations) for factor in (left, right))
            return two or _multiple(left, right, declarations, above=True)
        case Power(base, Number(n)) if n > 0 and n.denominator == 1:
            return _is_bounded(base, declarations)
        case Apply("logdet", (Symbol(name, _, Role.BLOCK),)):
            return _is_correlation(name, declarations)
        case Apply(fn, (arg,)) if fn in _KEPT_BELOW:
            return bounded_above(arg, declarations)
        case Apply(fn, _):
            return fn in BOUNDED
        case _:
            return False


def _is_bounded(formula: Formula, declarations: Declarations) -> bool:
    return bounded_above(formula, declarations) and bounded_below(formula, declarations)


def bounded_below(formula: Formula, declarations: Declarations) -> bool:
    """Whether every entry F of a formula has F >= C wherever it is defined, C a constant of the data and parameters.

    By structure; False may mean that it was not shown. x**2 and log(1 + x**2) are bounded below, log(x**2) is not.
    """
    if not depends_on_state(formula) or sign(formula, declarations).low.at > -inf:
        return True
    match formula:
        case Add(terms):
            return all(bounded_below(term, declarations) for term in terms)
        case Multiply(left, right):
            two = all(_is_bounded(factor, declarations) for factor in (left, right))
            return two or _multiple(left, right, declarations, above=False)
        case Power(base, Number(n)) if n > 0 and n.denominator == 1:
            return _is_bounded(base, declarations)
        case Apply("log", (arg,)):
            return _stays_positive(arg, declarations)
        case Apply("log1p", (arg,)):
            return sign(arg, declarations).nonnegative
        case Apply("sum", (arg,)):
            return bounded_below(arg, declarations)
        case Apply(fn, _):
            return fn in BOUNDED
        case _:
            return False


def _is_correlation(name: str, declarations: Declarations) -> bool:
    """Whether a block is a correlation matrix, or a factor of one: its determinant is at most 1."""
    block = declarations.find(name)
    return isinstance(block, Block) and block.constraint in {Constraint.CORR, Constraint.CHOLESKY_CORR}


def _multiple(left: Formula, right: Formula, declarations: Declarations, *, above: bool) -> bool:
    """Whether a constant times a formula is bounded."""
    for factor, other in ((left, right), (right, left)):
        if depends_on_state(factor):
            continue
        if sign(factor, declarations).nonnegative:
            return bounded_above(other, declarations) if above else bounded_below(other, declarations)
        if sign(negate(factor), declarations).nonnegative:
            return bounded_below(other, declarations) if above else bounded_above(other, declarations)
    return False


def _stays_positive(formula: Formula, declarations: Declarations) -> bool:
    """Whether a sum is at least a positive constant: no term is negative, and a constant one is positive."""
    terms = formula.terms if isinstance(formula, Add) else (formula,)
    signs = [sign(term, declarations) for term in terms]
    constant = any(one.positive and not depends_on_state(term) for one, term in zip(signs, terms, strict=True))
    return constant and all(one.nonnegative for one in signs)

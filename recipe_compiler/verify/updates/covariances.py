"""Is every `N(0, cov)` of a claimed update a law for small steps: is its covariance positive semidefinite?"""

from dataclasses import dataclass
from fractions import Fraction

from recipe_compiler.facts.patterns import is_of_kind, is_symmetric
from recipe_compiler.formula import expression as ex
from recipe_compiler.formula.build import add, apply, matmul, multiply, nodes, power, replaced, transpose
from recipe_compiler.formula.expression import Formula, Role, Symbol
from recipe_compiler.formula.orders import HALF, holds_step
from recipe_compiler.formula.shapes import SCALAR, Kind, Shape
from recipe_compiler.formula.show import text
from recipe_compiler.trace.of_formulas import as_coordinates
from recipe_compiler.trace.stated_step import ClaimedDraw, Step
from recipe_compiler.verdict import Evidence
from recipe_compiler.verify.core.kinds import find_counterexample, is_of_kind_somewhere
from recipe_compiler.verify.core.premises import list_assumptions, list_facts
from recipe_compiler.verify.core.sizes import Sizes
from recipe_compiler.verify.updates.small_covariances import stays_semidefinite

ZERO, ONE = ex.Number(Fraction(0)), ex.Number(Fraction(1))

Leading = tuple[Fraction, Formula]
"""A power of eps and its coefficient, a formula without eps."""


@dataclass(frozen=True, slots=True)
class UnshownDraw:
    """A draw N(0, cov) whose covariance is not proved positive semidefinite for small eps."""

    says: str
    leading: Formula | None
    """What has only to be positive semidefinite; None where that is not enough."""


@dataclass(frozen=True, slots=True)
class Laws:
    """The covariances of a step: facts used, draws still open, and a point where a covariance is invalid."""

    given: frozenset[str] = frozenset()
    open: tuple[UnshownDraw, ...] = ()
    crooked: str = ""
    """A draw whose covariance is not shown to be symmetric: its moments are not read."""
    refuted: tuple[str, Evidence] | None = None
    """As the author wrote the draw, and exact values at which its covariance has a negative direction."""


def check_covariances(step: Step, sizes: tuple[Sizes, ...]) -> Laws:
    """Decide that every `N(0, cov)` of a step has cov = cov.T >= 0, [n, n], for small step sizes.

    The leading coefficient in eps decides if it is positive definite. Where it is only semidefinite, structure has to
    show that the rest keeps it so, or this is assumed and listed with the proof: 2 eps C - eps**2 V is decided by 2 C
    for a definite C, and needs the assumption for a semidefinite one. Refuted by an exact negative direction of the
    leading coefficient.
    """
    given: set[str] = set()
    left: list[UnshownDraw] = []
    for item in step.draws:
        if item.covariance is None:
            continue
        if not item.gaussian:
            given |= {f"{item.says} is unbiased, with covariance {text(item.covariance)}, new in every step"}
            given |= _assume_declared_kind(item, step)
            continue
        found = leading(_substitute_old_values(item.covariance))
        if found is None or holds_draw(found[1]):
            left.append(UnshownDraw(item.says, None))
            continue
        _, first = found
        small = stays_semidefinite(_substitute_old_values(item.covariance), first, step.declarations)
        if is_of_kind(first, item.kind, step.declarations):
            if holds_step(item.covariance) and not is_symmetric(as_coordinates(item.covariance), step.declarations):
                return Laws(crooked=item.says)
            # outer(v, v) is definite at a size of 1 only
            large = tuple(size for size in sizes if min(size.values(), default=2) > 1) or sizes
            strict = Kind.PD if first.shape.sizes else Kind.POSITIVE
            if not (small or is_of_kind_somewhere(first, strict, step.declarations, large)):
                left.append(UnshownDraw(item.says, None))
            given |= (
                list_facts([first], step.declarations)
                | _leading_conditions(item, step)
                | list_assumptions(step.declarations)
            )
            continue
        point = find_counterexample(first, item.kind, step.declarations, sizes)
        if point is not None:
            return Laws(refuted=(f"the covariance of {item.says}, to leading order {text(first)}", point))
        left.append(UnshownDraw(item.says, first if small else None))
    return Laws(frozenset(given), tuple(left))


def _assume_declared_kind(item: ClaimedDraw, step: Step) -> set[str]:
    """Return the facts or the assumption that the covariance of an estimated gradient is valid."""
    if item.covariance is None:
        return set()
    if is_of_kind(item.covariance, item.kind, step.declarations):
        return set(list_facts([item.covariance], step.declarations))
    return {f"{text(item.covariance)} is {item.kind}"}


def _leading_conditions(item: ClaimedDraw, step: Step) -> set[str]:
    """Return the conditions on a covariance for small eps; none if it is valid at every step size."""
    if item.covariance is None or is_of_kind(item.covariance, item.kind, step.declarations):
        return set()
    return {f"the covariance of {item.says} is {Kind.PSD} for small eps"}


def leading(formula: Formula) -> Leading | None:
    """Return the lowest power of eps in a formula with its coefficient, as far as structure shows it; else None.

    2 eps C - eps**2 V has (1, 2 C); 1 - exp(-2 eps) has (1, 2).
    """
    if not holds_step(formula):
        return Fraction(0), formula
    match formula:
        case Symbol():
            return Fraction(1), ONE
        case ex.Add(terms, shape):
            return _leading_of_sum([_rewrite_exp(term) for term in terms], shape)
        case ex.Multiply(left, right, shape) | ex.MatMul(left, right, shape):
            one, two = leading(left), leading(right)
            if one is None or two is None:
                return None
            join = multiply if isinstance(formula, ex.Multiply) else matmul
            return one[0] + two[0], join(one[1], two[1], shape)
        case ex.Power(arg, ex.Number(value), shape):
            found = leading(arg)
            return found and (found[0] * value, power(found[1], ex.Number(value), shape))
        case ex.Transpose(arg):
            found = leading(arg)
            return found and (found[0], transpose(found[1]))
        case ex.Apply("sqrt" | "inv" as fn, (arg,), shape):
            found = leading(arg)
            return found and (found[0] * (HALF if fn == "sqrt" else -1), apply(fn, [found[1]], shape))
        case ex.Apply("expm1", (arg,), _):
            found = leading(arg)
            return found if found is not None and found[0] > 0 else None
        case _:
            return None


def holds_draw(formula: Formula) -> bool:
    """Whether a draw occurs."""
    return any(isinstance(node, Symbol) and node.role is Role.NOISE for node in nodes(formula))


def _leading_of_sum(terms: list[Formula], shape: Shape) -> Leading | None:
    """Return the lowest power of eps in a sum with its coefficient, after numbers cancel."""
    flat = [part for term in terms for part in (term.terms if isinstance(term, ex.Add) else (term,))]
    numbers = [part for part in flat if isinstance(part, ex.Number)]
    constant = add(numbers, SCALAR) if numbers else ZERO
    others = [part for part in flat if not isinstance(part, ex.Number)]
    found = [leading(part) for part in others]
    known = [part for part in found if part is not None]
    if len(known) < len(found):
        return None
    if constant != ZERO:
        known.append((Fraction(0), constant))
    low = min(power_ for power_, _ in known)
    return low, add([first for power_, first in known if power_ == low], shape)


def _rewrite_exp(term: Formula) -> Formula:
    """Return c*exp(x) as c + c*expm1(x), for a number c and an x that vanishes with eps."""
    match term:
        case ex.Apply("exp", (arg,), Shape(None, None)) if _vanishes_with_eps(arg):
            return ex.Add((ONE, ex.Apply("expm1", (arg,), SCALAR)), SCALAR)
        case ex.Multiply(ex.Number() as c, ex.Apply("exp", (arg,), Shape(None, None))) if _vanishes_with_eps(arg):
            return ex.Add((c, ex.Multiply(c, ex.Apply("expm1", (arg,), SCALAR), SCALAR)), SCALAR)
        case _:
            return term


def _vanishes_with_eps(formula: Formula) -> bool:
    """Return whether the lowest power of eps in a formula is positive."""
    found = leading(formula)
    return found is not None and found[0] > 0


def _substitute_old_values(formula: Formula) -> Formula:
    """Return a formula with updated blocks replaced by their old values: equal to leading order for small steps."""
    return replaced(formula, lambda x: Symbol(x.block, x.shape, Role.BLOCK) if isinstance(x, ex.Next) else None)

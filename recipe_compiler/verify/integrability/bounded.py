"""Formulas of a target that are bounded above or below over the state, for fixed data and parameters.

What is bounded above in a log posterior only helps: without it the integral must be finite already. Ranges (`facts`)
give bounds by numbers; here a bound may be any constant of the data and parameters.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import inf

from recipe_compiler.algebra.scalars.transposes import plain
from recipe_compiler.facts.fold import Domain, asking
from recipe_compiler.facts.ranges import UNKNOWN, Range
from recipe_compiler.facts.semidefinite import RANGES, semidefinite, sign
from recipe_compiler.formula.build import add, depends_on_state, negate
from recipe_compiler.formula.constraints import Constraint
from recipe_compiler.formula.declaration import Block, Declarations
from recipe_compiler.formula.elementwise import FUNCTIONS
from recipe_compiler.formula.expression import Add, Apply, Formula, Identity, Multiply, Symbol


@dataclass(frozen=True, slots=True)
class Ends:
    """For every entry F, with a constant C: whether F >= -C (`below`), F <= C (`above`), F >= 1/C > 0 (`floor`)."""

    below: bool = False
    above: bool = False
    floor: bool = False
    constant: bool = False
    """Whether it does not depend on the state."""
    range: Range = UNKNOWN


class Bounded(Domain[Ends]):
    """The domain of bounds by constants of the data and parameters; numbers and names get theirs from `whole`."""

    top = Ends()

    def add(self, x: Ends, y: Ends) -> Ends:
        floor = (x.floor and y.range.nonnegative) or (y.floor and x.range.nonnegative)
        return Ends(x.below and y.below, x.above and y.above, floor, False, RANGES.add(x.range, y.range))

    def times(self, x: Ends, y: Ends) -> Ends:
        below = above = x.below and x.above and y.below and y.above
        for factor, other in ((x, y), (y, x)):
            if factor.constant and factor.range.nonnegative:
                below, above = below or other.below, above or other.above
            if factor.constant and factor.range.nonpositive:
                below, above = below or other.above, above or other.below
        return Ends(below, above, False, x.constant and y.constant, RANGES.times(x.range, y.range))

    def power(self, x: Ends, exponent: Fraction) -> Ends:
        both = x.below and x.above and exponent > 0
        return Ends(both, both)

    def function(self, name: str, x: Ends) -> Ends:
        row = FUNCTIONS[name]
        return Ends(row.bounded or (name == "log" and x.floor), row.bounded or (row.increasing and x.above))

    def join(self, x: Ends, y: Ends) -> Ends:
        return Ends(x.below and y.below, x.above and y.above, x.floor and y.floor)

    def whole(self, formula: Formula, declarations: Declarations, ask: Callable[[Formula], Ends]) -> Ends:
        constant, found = not depends_on_state(formula), sign(formula, declarations)
        above = found.high.at < inf or sign(negate(formula), declarations).nonnegative
        match formula:
            case Apply("logdet", (Symbol(name),)):  # det R <= 1 (Hadamard's inequality)
                above = above or _is_correlation(name, declarations)
            case Apply("logdet", (Add(terms),)):  # A >= c I with c > 0: det A >= c**d
                if any(_is_floor(terms, k, declarations, ask) for k in range(len(terms))):
                    return Ends(True, above, False, constant, found)
            case _:
                pass
        floor = found.low.at > 0 or (constant and found.positive)
        return Ends(constant or found.low.at > -inf, constant or above, floor, constant, found)

    def meet(self, x: Ends, y: Ends) -> Ends:
        return Ends(x.below or y.below, x.above or y.above, x.floor or y.floor, y.constant, y.range)


BOUNDED = Bounded()


def bounded_above(formula: Formula, declarations: Declarations) -> bool:
    """Whether every entry F of a formula has F <= C wherever it is defined, C a constant of the data and parameters.

    By structure; False may mean that it was not shown. -x**2, sin(x) and 1 + sin(x) are bounded above. So is log det R
    of a correlation matrix R, as det R <= 1 (Hadamard's inequality).
    """
    return asking(BOUNDED, declarations)(plain(formula, declarations)).above


def bounded_below(formula: Formula, declarations: Declarations) -> bool:
    """Whether every entry F of a formula has F >= C wherever it is defined, C a constant of the data and parameters.

    By structure; False may mean that it was not shown. x**2 and log(1 + x**2) are bounded below, log(x**2) is not.
    """
    return asking(BOUNDED, declarations)(plain(formula, declarations)).below


def _is_floor(terms: tuple[Formula, ...], k: int, declarations: Declarations, ask: Callable[[Formula], Ends]) -> bool:
    """Whether one term of a sum is c I, c with a positive lower bound, and the others are semidefinite."""
    match terms[k]:
        case Identity():
            has_bound = True
        case Multiply(c, Identity()) | Multiply(Identity(), c):
            has_bound = ask(c).floor
        case _:
            return False
    others = (*terms[:k], *terms[k + 1 :])
    return has_bound and semidefinite(add(others, terms[k].shape), declarations) is not None


def _is_correlation(name: str, declarations: Declarations) -> bool:
    """Whether a block is a correlation matrix, or a factor of one: its determinant is at most 1."""
    block = declarations.find(name)
    return isinstance(block, Block) and block.constraint in {Constraint.CORR, Constraint.CHOLESKY_CORR}

"""Kinks: may an identity that holds off them be believed across them?

Off the kinks of abs, minimum and maximum, and of `where` whose pieces meet, everything is smooth and the residual is
what it says. Across them the Fokker-Planck equation is meant weakly: for every smooth phi of compact support

    integral of (f . grad phi + D : hess phi) p = 0.

Where H, D and Q are locally Lipschitz, so is A p with A = D + Q and p = exp(-H). Its derivatives almost everywhere are
then its weak ones, f p = div(A p) almost everywhere, and by parts the integral is that of -A p : hess phi + D p : hess
phi, which is zero since Q is skew. Where a drift f is claimed, the same holds if f is that of the recipe almost
everywhere, or if its current J = f - div D + D grad H vanishes almost everywhere. Anything else that has a kink is left
open by name: a current that jumps carries mass on the kink, which no identity off it sees.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from recipe_compiler.algebra.structure.definedness import Obligations
from recipe_compiler.algebra.structure.where_pieces import meet
from recipe_compiler.facts.semidefinite import sign
from recipe_compiler.formula.build import nodes
from recipe_compiler.formula.declaration import Declarations
from recipe_compiler.formula.elementwise import Corner, named
from recipe_compiler.formula.expression import (
    Add,
    Apply,
    Compare,
    Entry,
    Formula,
    Multiply,
    Role,
    Symbol,
)
from recipe_compiler.formula.show import text
from recipe_compiler.verify.core.premises import depends_on_state, smoothness

LIPSCHITZ = named(lambda row: row.corner is Corner.KINK) | {"minimum", "maximum"}
JUMPS = named(lambda row: row.corner is Corner.JUMP) | {"where"}
CALCULUS = frozenset({"grad", "div", "hessian"})


@dataclass(frozen=True, slots=True)
class Kinks:
    """The obligations of formulas once their harmless kinks are taken off, and these kinks as text (`names`)."""

    premises: Obligations
    names: tuple[str, ...] = ()

    def __or__(self, other: "Kinks") -> "Kinks":
        """Return both together."""
        return Kinks(self.premises | other.premises, tuple(dict.fromkeys((*self.names, *other.names))))


def lipschitz(formulas: Iterable[Formula], declarations: Declarations) -> Kinks:
    """Return the obligations of formulas, less the kinks across which they are locally Lipschitz.

    With A = D + Q: [n, n] and p = exp(-H) Lipschitz, f p = div(A p) weakly. Across such a kink an identity of
    derivatives that holds almost everywhere holds weakly, by parts (see the head of this file). |x|, max(x, 0) and a
    `where` whose pieces meet leave no obligation. sign(x) leaves one: where D or Q jumps, the integral of (f . grad phi
    + D : hess phi) p need not vanish although the residual is 0 off the kink.
    """
    return _without(tuple(formulas), declarations, LIPSCHITZ)


def almost_everywhere(formulas: Iterable[Formula], declarations: Declarations) -> Kinks:
    """Return the obligations of formulas that are used almost everywhere only: jumps on a null set do not count.

    sign(x) leaves none where x is linear in a block with a nonzero coefficient, as {x = 0} is then a null set for all
    parameters. sign(a x) leaves one where a may be 0.
    """
    return _without(tuple(formulas), declarations, LIPSCHITZ | JUMPS)


def _without(formulas: tuple[Formula, ...], declarations: Declarations, allowed: frozenset[str]) -> Kinks:
    premises = smoothness(formulas, declarations)
    kinked = {
        f"{text(node)} is smooth": node
        for formula in formulas
        for node in nodes(formula)
        if isinstance(node, Apply) and (node.fn in allowed or _meets(node, declarations))
    }
    if any(_is_differentiated(formula) for formula in formulas):
        return Kinks(premises)
    found = [what for what in premises.open if what in kinked and _is_thin(kinked[what], declarations)]
    left = tuple(what for what in premises.open if what not in found)
    return Kinks(Obligations(premises.given, left), tuple(text(kinked[what]) for what in found))


def _is_differentiated(formula: Formula) -> bool:
    """Whether a formula writes the derivative of something with a kink: that is not Lipschitz any more."""
    return any(
        isinstance(inner, Apply) and inner.fn in LIPSCHITZ | JUMPS
        for node in nodes(formula)
        if isinstance(node, Apply) and node.fn in CALCULUS
        for inner in nodes(node.args[0])
    )


def _meets(node: Apply, declarations: Declarations) -> bool:
    """Whether a node is a `where` whose pieces meet: it is Lipschitz where they are."""
    return node.fn == "where" and meet(node, declarations, smoothly=False)


def _is_thin(node: Apply, declarations: Declarations) -> bool:
    """Whether the value of a function on its kink does not matter: it is continuous, or the kink a null set."""
    if node.fn in LIPSCHITZ or _meets(node, declarations):
        return True
    condition = node.args[0]
    if isinstance(condition, Compare):
        return condition.op != "==" and _is_null((condition.left, condition.right), declarations)
    return _is_null((condition,), declarations)


def _is_null(sides: tuple[Formula, ...], declarations: Declarations) -> bool:
    """Whether a (the difference of) formula vanishes on a null set only, for all parameters: affine in one block."""
    terms = [term for side in sides for term in (side.terms if isinstance(side, Add) else (side,))]
    moving = [term for term in terms if depends_on_state(term)]
    return len(moving) == 1 and _is_multiple_of_block(moving[0], declarations)


def _is_multiple_of_block(term: Formula, declarations: Declarations) -> bool:
    match term:
        case Symbol(role=Role.BLOCK):
            return True
        case Entry(Symbol(role=Role.BLOCK)):
            return True
        case Multiply(left, right) if not depends_on_state(left):
            return sign(left, declarations).nonzero and _is_multiple_of_block(right, declarations)
        case Multiply(left, right) if not depends_on_state(right):
            return sign(right, declarations).nonzero and _is_multiple_of_block(left, declarations)
        case _:
            return False


def across(names: Iterable[str]) -> str:
    """Return the remark on a proof that crosses kinks; empty if there are none."""
    listed = ", ".join(names)
    return f"; weakly across the kinks of {listed}" if listed else ""

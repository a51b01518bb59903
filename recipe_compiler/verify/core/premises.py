"""Premises of a verdict: the declarations used, and one exact point that satisfies all of them."""

from collections.abc import Iterable

from recipe_compiler.algebra.points.sample_fields import NoInstanceError
from recipe_compiler.algebra.points.witness import points
from recipe_compiler.algebra.scalars.entries import NotScalarisableError
from recipe_compiler.algebra.scalars.matrices import TooLargeError
from recipe_compiler.algebra.structure.definedness import Demand, Obligations, obligations, require_comparison
from recipe_compiler.formula.build import depends_on_state, nodes
from recipe_compiler.formula.declaration import Datum, Declarations, Function, Parameter
from recipe_compiler.formula.expression import Compare, Formula, FunctionAt, Symbol
from recipe_compiler.formula.shapes import Kind
from recipe_compiler.formula.show import text
from recipe_compiler.spec.model import Dynamics
from recipe_compiler.verdict import Assumes, Assumption, declared_of
from recipe_compiler.verify.core.sizes import list_checked_sizes


def find_contradiction(dynamics: Dynamics) -> str:
    """Return why no exact point is known that satisfies all declarations; empty if one was found.

    Simple points are tried first, then one that a search proposes and exact arithmetic confirms. Without such a point
    everything would be true of nothing, so nothing is proved. That none is known does not prove that there is none;
    `spec.consistency.check_consistency` is what proves that.
    """
    declarations = dynamics.declarations
    sizes = list_checked_sizes(dynamics)[0]
    try:
        for _ in points(declarations, sizes):
            return ""
    except (NoInstanceError, NotScalarisableError, TooLargeError) as reason:
        return f"the declarations contradict each other, or no instance of them is known: {reason}"
    assumed = ", ".join(f"`{text(compare)}`" for compare in declarations.assume) or "the kinds and domains declared"
    found = f"no rational values were found that satisfy {assumed}: claims are not tested at points"
    equal = next((text(compare) for compare in declarations.assume if compare.op == "=="), "")
    solve = f"; solve `{equal}` for a name, and write what it equals in its place" if equal else ""
    return f"{found}{solve}"


def require_smooth(formulas: Iterable[Formula], declarations: Declarations) -> Obligations:
    """Return what formulas need to be defined and smooth (all derivatives), with the declared facts about their names.

    sqrt(x) needs x > 0; |x| needs x to have a sign, and is otherwise left open; inv(A) needs a nonsingular A: [n, n].
    What is shown is `given`, what is not is `open`.
    """
    return require(Demand.SMOOTH, formulas, declarations)


def require_differentiable(formulas: Iterable[Formula], declarations: Declarations) -> Obligations:
    """Return what formulas need to be continuously differentiable, with the declared facts about their names.

    where(x > 0, x**2, 0) needs nothing more, as its pieces meet with their derivatives; |x| is left open.
    """
    return require(Demand.ONCE, formulas, declarations)


def require_values(formulas: Iterable[Formula], declarations: Declarations) -> Obligations:
    """Return what formulas need to have a value at every admissible point, with the declared facts about their names.

    sqrt(x) needs x >= 0, log(x) needs x > 0, 1/x needs x != 0, inv(A) a nonsingular A. What is shown is `given`, what
    is not is `open`.
    """
    return require(Demand.VALUE, formulas, declarations)


def require_smooth_off_kinks(formulas: Iterable[Formula], declarations: Declarations) -> Obligations:
    """Return what formulas need to be smooth off their kinks and jumps: what integrals of them need."""
    return require(Demand.OFF_KINKS, formulas, declarations)


def require_lipschitz(formulas: Iterable[Formula], declarations: Declarations) -> Obligations:
    """Return the obligations of formulas, less the kinks across which they are locally Lipschitz (`Demand`).

    With A = D + Q: [n, n] and p = exp(-H) Lipschitz, f p = div(A p) weakly. Across such a kink an identity of
    derivatives that holds almost everywhere holds weakly, by parts. |x|, max(x, 0) and a `where` whose pieces meet
    leave no obligation. sign(x) leaves one: where D or Q jumps, the integral of (f . grad phi + D : hess phi) p need
    not vanish although the residual is 0 off the kink.
    """
    return require(Demand.LIPSCHITZ, formulas, declarations)


def require_almost_everywhere(formulas: Iterable[Formula], declarations: Declarations) -> Obligations:
    """Return the obligations of formulas that are used almost everywhere only: jumps on a null set do not count.

    sign(x) leaves none where x is linear in a block with a nonzero coefficient, as {x = 0} is then a null set for all
    parameters. sign(a x) leaves one where a may be 0.
    """
    return require(Demand.OFF_NULL_SETS, formulas, declarations)


def describe_kinks(kinks: Iterable[str]) -> str:
    """Return the remark on a proof that crosses kinks; empty if there are none."""
    listed = ", ".join(kinks)
    return f"; weakly across the kinks of {listed}" if listed else ""


def require_comparisons(conditions: Iterable[Compare], declarations: Declarations) -> Obligations:
    """Return what is shown, and what is not, of comparisons that must hold everywhere in the domain, entry by entry."""
    found = Obligations()
    for condition in conditions:
        found = found | require_comparison(condition, declarations)
    return found


def require(demand: Demand, formulas: Iterable[Formula], declarations: Declarations) -> Obligations:
    """Return the obligations of a demand, with the declared facts about the names in formulas."""
    listed = tuple(formulas)
    return obligations(listed, declarations, demand) | Obligations(list_facts(listed, declarations))


def list_facts(formulas: Iterable[Formula], declarations: Declarations) -> frozenset[str]:
    """Return the declared kinds of the names in formulas, as text: what a proof about them may have used."""
    found: set[str] = set()
    for formula in formulas:
        for node in nodes(formula):
            if isinstance(node, (Symbol, FunctionAt)):
                found |= _list_declared_facts(
                    declarations.find(node.declared if isinstance(node, FunctionAt) else node.name)
                )
    return frozenset(found)


def list_assumptions(declarations: Declarations) -> frozenset[str]:
    """Return the assumptions as text."""
    return frozenset(f"{text(c.left)} {c.op} {text(c.right)}" for c in declarations.assume)


def _list_declared_facts(item: object) -> set[str]:
    if isinstance(item, Function):
        kinds = [declared_of(item.name, f"is {kind}") for kind in item.kinds if kind is not Kind.REAL]
        return {Assumption(f"{item.name} is smooth", Assumes.SMOOTH, item.name), *kinds}
    if isinstance(item, Parameter):
        return {declared_of(item.name, f"is {kind}") for kind in item.kinds if kind is not Kind.REAL}
    if isinstance(item, Datum):
        return {declared_of(item.name, item.says_kind(kind)) for kind in item.kinds if kind is not Kind.REAL}
    return set()


def has_state_assumptions(declarations: Declarations) -> bool:
    """Return whether an assumption is about the state: the domain is then smaller than that of the blocks."""
    return bool(list_state_assumptions(declarations))


def list_state_assumptions(declarations: Declarations) -> tuple[str, ...]:
    """Return the assumptions about the state, as text."""
    return tuple(
        f"{text(c.left)} {c.op} {text(c.right)}"
        for c in declarations.assume
        if depends_on_state(c.left) or depends_on_state(c.right)
    )

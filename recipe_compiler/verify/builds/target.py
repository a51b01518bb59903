"""Claims about a target: its log posterior is defined, and differentiable, for all data and everywhere inside.

A potential may have a continuous gradient and no more, where pieces of a `where` meet in it. Claims about dynamics take
a declared U as smooth. What they say of values, integrals and the weak equation needs a Lipschitz gradient alone
(`premises.lipschitz`). Brackets of vector fields, Lyapunov functions of U and expansions of updates need more, and so
does everything about dynamics that state a derivative of U themselves.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from recipe_compiler.algebra.structure.definedness import Obligations
from recipe_compiler.errors import Place
from recipe_compiler.formula.build import nodes
from recipe_compiler.formula.constraints import Constraint
from recipe_compiler.formula.declaration import Declarations
from recipe_compiler.formula.expression import CALCULUS, Apply, Compare, Formula
from recipe_compiler.formula.substitute import substitute
from recipe_compiler.spec.code import gradient_given
from recipe_compiler.spec.constraint import sampled_blocks
from recipe_compiler.spec.discrete import held
from recipe_compiler.spec.model import Build, Dynamics, Target
from recipe_compiler.spec.positions import smallest_sizes, stated_formulas
from recipe_compiler.spec.recursion import in_domains, of_rows
from recipe_compiler.spec.transform import value
from recipe_compiler.splitting.implicit import EXACTLY
from recipe_compiler.verdict import Answer, Decision, Proved, Undecided
from recipe_compiler.verify.builds.kinds_that_show import suggest_kinds
from recipe_compiler.verify.builds.undefined_at import find_undefined_point
from recipe_compiler.verify.core.conjunction import is_proved
from recipe_compiler.verify.core.premises import require_comparisons, require_differentiable, require_smooth_off_kinks

OF_GRADIENTS = frozenset(
    (
        *("d_symmetric", "d_psd", "q_skew", "stationary", "claimed_drift", "claimed_diffusion"),
        "claimed_stationary",
        *("normalisable", "marginal", "pieces", "flow", "keeps", "volume", "symplectic", "reversible"),
    )
)
"""Claims that hold for a U with a Lipschitz gradient."""

OF_MOVES = frozenset(("claimed_marginal", "refresh", "draw", "metropolis", "cycle", "exact"))
"""Claims about laws and moves that take the gradient for a function: a kick by any keeps volume and runs backwards.

So they hold for a U with a Lipschitz gradient, but where a step is solved for: its Jacobian is taken there.
"""


def demand_smoothness(claim: str, build: Build, dynamics: Dynamics, decided: Callable[[], Answer]) -> Answer:
    """Return a claim's answer in a build, undecided if it rests on a smooth U and the target is only C1.

    A proof of a claim that a Lipschitz gradient is enough for stays, and names that in the place of smoothness.

    Args:
        claim: its id.
        build: with the target.
        dynamics: bound; a derivative of U that it states needs more.
        decided: the claim's answer.
    """
    found = decided()
    U = build.dynamics.potential
    smooth = f"{U} is smooth"
    if not is_proved(found) or smooth not in found.decision.given or not is_only_c1(build.target):
        return found
    of_moves = claim in OF_MOVES and EXACTLY not in found.decision.given
    if not (claim in OF_GRADIENTS or of_moves) or _has_derivative(dynamics):
        reason = f"not shown: {smooth}; its branches agree there in value and first derivative only"
        return replace(found, decision=Undecided((reason,)), for_d="all", checked_at=())
    given = tuple(sorted({*found.decision.given, f"{U} has a Lipschitz gradient"} - {smooth}))
    return found.but(given=given)


def _has_derivative(dynamics: Dynamics) -> bool:
    """Whether a formula of dynamics holds a derivative; of claimed drifts, one of second order."""
    matrices = dynamics.matrix_entries
    drifts = [drift for _, drift in dynamics.claims.drift or ()]
    return any(_has_function(formula, CALCULUS) for formula in (dynamics.H, *matrices)) or any(
        _has_function(formula, CALCULUS - {"grad"}) for formula in drifts
    )


def _has_function(formula: Formula, functions: frozenset[str]) -> bool:
    return any(isinstance(node, Apply) and node.fn in functions for node in nodes(formula))


def defined(target: Target) -> Answer:
    """Decide that every root, logarithm and quotient of a target has a value everywhere in the domain, for all data.

    And what named densities need: a scale is positive, a block is in the support. sqrt(a) needs a >= 0, log(a) a > 0,
    1/a a != 0, inv(A) a nonsingular A. Refuted at a state where one of these is certainly false, and at all around it;
    undecided where rules do not show it.
    """
    target = held(target)
    declared = of_rows(target)

    def opened(declarations: Declarations) -> Obligations:
        return require_smooth_off_kinks(list_stated_formulas(target), declarations) | require_comparisons(
            _list_needs(target), declarations
        )

    premises = opened(declared)
    hints = tuple(suggest_kinds(opened, declared))
    left = (*(f"not shown: {what}" for what in premises.open), *hints)
    sizes = smallest_sizes(target.declarations, stated_formulas(target)) if left and not target.recursion else None
    refuted = (
        None
        if sizes is None
        else find_undefined_point(list_stated_formulas(target), _list_needs(target), declared, sizes)
    )
    if refuted is not None and sizes is not None:
        refuted = replace(refuted, by="; ".join((refuted.by, *hints)))
        return Answer(refuted, tuple(sizes.items()) or "all", where=_find_place(target))
    return Answer(_make_decision(left, premises.given, target), where=_find_place(target))


def lies_in_supports(target: Target) -> bool:
    """Whether what is needed of named densities is shown: elsewhere their formulas are not the laws that they name."""
    return not target.stated.needs or isinstance(defined(target).decision, Proved)


def gradient(target: Target) -> Answer:
    """Decide that a target has a continuous gradient grad U: [n] everywhere in the domain: no kink, jump or pole.

    U = -log_prior - sum_n log_likelihood_n, or the potential stated. The pieces of a `where` may meet with their first
    derivatives. For a gradient that is code it is assumed. Undecided, never refuted, where rules do not show it: |x| is
    open, where(x > 0, x**2, 0) is shown.
    """
    target = held(target)
    if target.gradient is not None:
        return Answer(Proved("assumption", (gradient_given(target.gradient),)), where=_find_place(target))
    declared = of_rows(target)
    premises = require_differentiable(list_stated_formulas(target), declared) | require_comparisons(
        in_domains(target), declared
    )
    left = tuple(f"not shown: {what}" for what in premises.open)
    return Answer(
        _make_decision(left, premises.given | frozenset(_assume_nonzero_variables(target)), target),
        where=_find_place(target),
    )


def _assume_nonzero_variables(target: Target) -> Iterator[str]:
    """Yield the assumption that variables of a direction are not 0, which has probability 0 in several dimensions."""
    for block, moved in zip(target.declarations.blocks, sampled_blocks(target), strict=True):
        if block.constraint is Constraint.UNIT_VECTOR:
            yield f"{moved.name} is never 0, where its direction is undefined"


def is_only_c1(target: Target) -> bool:
    """Whether a target is C1 but not shown to be smooth: pieces of a `where` meet in it.

    What rests on a smooth U, such as brackets of vector fields, is then not shown.
    """
    target = held(target)
    formulas, declared = tuple(list_stated_formulas(target)), of_rows(target)
    if not any(isinstance(node, Apply) and node.fn == "where" for formula in formulas for node in nodes(formula)):
        return False
    return (
        bool(require_smooth_off_kinks(formulas, declared).kinks) and not require_differentiable(formulas, declared).open
    )


def list_stated_formulas(target: Target) -> Iterator[Formula]:
    """Yield the formulas that U is made of, in the names that `of_rows` declares."""
    for formula in (target.potential, target.log_prior, target.log_likelihood):
        if formula is not None:
            yield formula
    yield from (formula for state in target.recursion for formula in (state.start, state.next))


def _list_needs(target: Target) -> tuple[Compare, ...]:
    """Return the conditions of the named densities on the sampled blocks, and the domains of states."""
    replacements = {one.block.name: value(one) for one in target.transforms}
    made = (substitute(condition, replacements) for condition in target.stated.needs)
    return (*(condition for condition in made if isinstance(condition, Compare)), *in_domains(target))


def drop_state_domains(given: Iterable[str], target: Target) -> tuple[str, ...]:
    """Return what is given, without the domains of states, which are shown (`verify/builds/recursion.py`)."""
    shown = {f"{state.block.name} > 0 inside its domain" for state in target.recursion}
    return tuple(sorted({*given} - shown))


def _make_decision(left: tuple[str, ...], given: frozenset[str], target: Target) -> Decision:
    reasons = drop_state_domains(given, target)
    by = "rules of definedness and smoothness"
    return Undecided(left, given=reasons) if left else Proved(f"{by}, row by row" if target.recursion else by, reasons)


def _find_place(target: Target) -> Place | None:
    places = dict(target.source.places)
    return next((places[e] for e in ("log_likelihood", "potential", "log_prior", "gradient") if e in places), None)

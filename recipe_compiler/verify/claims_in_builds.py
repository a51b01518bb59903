"""The tables of claims about targets, schemes and builds, and how claims about dynamics are decided in a build."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from recipe_compiler.formula.expression import Formula
from recipe_compiler.spec.bind import bind
from recipe_compiler.spec.known_potential import bind_with_potential
from recipe_compiler.spec.model import (
    Build,
    Cir,
    CodeMove,
    Draw,
    Dynamics,
    Involution,
    Metropolis,
    Refresh,
    Scheme,
    Steps,
    Target,
)
from recipe_compiler.spec.positions import stated_formulas
from recipe_compiler.verdict import Answer, Refuted
from recipe_compiler.verify.builds.assumptions import assumes_any, assumptions
from recipe_compiler.verify.builds.bindings import bindings, gradient_noise
from recipe_compiler.verify.builds.boundary import boundary_in
from recipe_compiler.verify.builds.constrained import has_constraints, keeps_law
from recipe_compiler.verify.builds.explosion import explosion_in
from recipe_compiler.verify.builds.in_build import Stages
from recipe_compiler.verify.builds.laws import laws
from recipe_compiler.verify.builds.minibatch_independence import independence
from recipe_compiler.verify.builds.noise_budget import noise_budget
from recipe_compiler.verify.builds.normalisable import normalisable_alone, normalisable_build
from recipe_compiler.verify.builds.recursion import has_recursion, recursion
from recipe_compiler.verify.builds.stationary import stationary_in
from recipe_compiler.verify.builds.target import defined, gradient
from recipe_compiler.verify.builds.unique import unique_in
from recipe_compiler.verify.builds.unknown_inverses import leave_abstract
from recipe_compiler.verify.claims import (
    DYNAMICS,
    LAW,
    Claim,
    Document,
    Judged,
    always,
    get_decider,
    list_applicable_claims,
    list_read_formulas,
)
from recipe_compiler.verify.core.assumed_relations import with_equal_values
from recipe_compiler.verify.core.build_values import bind_values, find_known_sizes
from recipe_compiler.verify.core.obligations import require_defined, state_needed_sizes
from recipe_compiler.verify.core.subject import Subject
from recipe_compiler.verify.equation.periodic import circle_blocks, target_periodic
from recipe_compiler.verify.moves.cycle import Cycle
from recipe_compiler.verify.moves.irreducible import irreducible
from recipe_compiler.verify.moves.table import cycle, decide_each, exact, has_move
from recipe_compiler.verify.moves.use import use
from recipe_compiler.verify.steps.configurational import configurational, is_exact
from recipe_compiler.verify.steps.flow import flow
from recipe_compiler.verify.steps.in_build import (
    decide_flows,
    decide_pieces,
    decide_word,
    gradients_in,
    has_word,
    order_claimed_in,
    order_in,
)
from recipe_compiler.verify.steps.kept import keeps, list_symplectic_pieces, list_volume_pieces
from recipe_compiler.verify.steps.order import palindrome
from recipe_compiler.verify.steps.pieces import pieces
from recipe_compiler.verify.steps.reversible import reversible
from recipe_compiler.verify.steps.split import Split
from recipe_compiler.verify.words.configurational import claimed_configurational
from recipe_compiler.verify.words.gradients import claimed_gradients
from recipe_compiler.verify.words.letters import check_shares, claimed_order, claimed_palindrome


@dataclass(frozen=True, slots=True)
class BoundBuild:
    """A build, and its dynamics with everything bound: for all values as declared, and at those of the build."""

    stages: Stages
    wider: "BoundBuild | None" = None
    """The same with any matrices of their kinds in the place of those whose inverse has no formula."""

    @property
    def build(self) -> Build:
        """The build."""
        return self.stages.build

    @property
    def dynamics(self) -> Dynamics:
        """Its dynamics, bound."""
        return self.stages.bound


Decide = Callable[[BoundBuild], Answer]


@dataclass(frozen=True, slots=True)
class InBuild:
    """How a claim about dynamics is decided in a build, and in which builds it applies."""

    decide: Callable[[Build, Dynamics], Answer]
    """What decides it instead, where target and values decide more."""
    applies: Callable[[Build], bool] = always
    """The builds to which it applies: what a cycle keeps need not be what its equation keeps."""


def bind_build(build: Build) -> BoundBuild:
    """Return a build as its claims take it."""
    wide = leave_abstract(build)
    wider = None if wide is build else BoundBuild(Stages(wide, bind(wide)))
    return BoundBuild(Stages(build, bind_with_potential(build)), wider)


def decide_any_metric_first(decide: Decide, bound: BoundBuild) -> Answer:
    """Return the answer of a claim about a step, or its equation: of any matrices of their kinds, unless that is wrong.

    A refutation at some matrix does not apply to the one that is bound, which is then decided directly.
    """
    if bound.wider is None:
        return decide(bound)
    found = decide(bound.wider)
    return decide(bound) if isinstance(found.decision, Refuted) else found


def has_cycle(build: Build) -> bool:
    """Whether one step of a chain is a cycle of moves."""
    return bool(build.scheme.cycle)


def _has_integration(build: Build) -> bool:
    """Whether a chain follows the equation, step by step, as it comes: not where a move is accepted or nothing is."""
    return not has_cycle(build) or has_move(Steps)(build)


def _lift_bound(decide: Callable[[Build, Dynamics], Answer]) -> Decide:
    return lambda bound: decide(bound.build, bound.dynamics)


def _lift_step(decide: Callable[[Stages], Answer]) -> Decide:
    return partial(decide_any_metric_first, lambda bound: decide(bound.stages))


def _lift_word(decide: Callable[[Split], Answer]) -> Decide:
    return _lift_step(decide_word(decide))


def _lift_flows(decide: Callable[[Split], Answer]) -> Decide:
    return _lift_step(decide_flows(decide))


def _lift_moves(decide: Callable[[Cycle], Answer]) -> Decide:
    return _lift_step(lambda stages: decide_pieces(lambda split: decide(Cycle(split, stages)))(stages))


def _place_at_claim(what: str, decide: Decide) -> Decide:
    return lambda bound: replace(decide(bound), where=bound.build.scheme.source.place(f"claims.{what}"))


def _exclude_own_gradient(applies: Callable[[Target], bool] = always) -> Callable[[Target], bool]:
    return lambda target: target.gradient is None and applies(target)


KERNEL = ("defined", "flow")
"""What claims about moves rest on: where U has no value nothing is accepted or refused, and a word moves by flows."""
rechecked, advisory = partial(Claim, rechecked=True), partial(Claim, required=False)


def _decide_stationary(name: str) -> Callable[[Build, Dynamics], Answer]:
    return partial(stationary_in, get_decider(next(claim for claim in DYNAMICS if claim.id == name)))


# fmt: off
IN_BUILDS: Mapping[str, InBuild] = {
    "stationary": InBuild(_decide_stationary("stationary")),
    "claimed_stationary": InBuild(_decide_stationary("claimed_stationary")),
    "normalisable": InBuild(normalisable_build),
    "explosion": InBuild(explosion_in, _has_integration),
    "boundary": InBuild(boundary_in, _has_integration),
    "unique": InBuild(unique_in, lambda build: not has_cycle(build)),
}
"""Claims about dynamics that apply to some builds only, or are decided otherwise there; others as in the table."""

TARGETS: tuple[Claim[Target, Target], ...] = (
    Claim("defined", "the log posterior is defined inside the domain", defined, _exclude_own_gradient()),
    Claim("gradient", "the log posterior is differentiable inside the domain", gradient, always),
    Claim("recursion", "states of the recursion stay in their domains", recursion, has_recursion),
    Claim("periodic", "all formulas are periodic in each circular coordinate", target_periodic,
          _exclude_own_gradient(lambda target: bool(circle_blocks(target.declarations)))),
    Claim("laws", "each claimed law is the conditional distribution of its block", laws, lambda t: bool(t.laws)),
    Claim("constraints", "the change of variables preserves the posterior of the declared blocks", keeps_law,
          has_constraints),
    Claim("normalisable", "the posterior is proper (exp(-U) has a finite integral)", normalisable_alone, always,
          standalone_only=True),
)

SCHEMES: tuple[Claim[Scheme, Scheme], ...] = (
    rechecked("shares", "the shares of each piece add up to one step", check_shares, always),
    rechecked("claimed_order", "the word has the claimed weak order for every dynamics", claimed_order,
              lambda scheme: scheme.claims.order is not None, also_reads=("order",)),
    rechecked("claimed_palindrome", "the word is a palindrome", claimed_palindrome,
              lambda scheme: scheme.claims.palindrome, also_reads=("palindrome",)),
    rechecked("claimed_gradients", "a step takes the claimed number of gradient evaluations", claimed_gradients,
              lambda scheme: scheme.claims.gradients is not None, also_reads=("gradients",)),
    rechecked("claimed_configurational", "for quadratic U, an ergodic chain samples the exact covariance of theta",
              claimed_configurational, lambda scheme: scheme.claims.configurational, also_reads=("configurational",)),
)

IN_STEPS: Mapping[str, Decide] = {
    "claimed_order": _place_at_claim("order", _lift_word(order_claimed_in)),
    "claimed_gradients": _place_at_claim("gradients", _lift_word(gradients_in)),
    "claimed_configurational": _place_at_claim("configurational", _lift_flows(is_exact)),
}
"""What decides claims of a scheme in a build that uses it, where its pieces tell what by itself is granted of them."""

BUILDS: tuple[Claim[BoundBuild, Build], ...] = (
    Claim("bindings", "the values bound in the build have the declared kinds", _lift_bound(bindings), always),
    Claim("gradient_noise", "V is positive semidefinite", _lift_bound(gradient_noise), always),
    Claim("assumptions", "the assumptions of dynamics and target hold in the build", _lift_bound(assumptions),
          assumes_any),
    rechecked("noise_budget", "2D - eps B_hat is positive semidefinite", _lift_bound(noise_budget), always),
    Claim("independence", "D and Q do not reuse the gradient's minibatch", _lift_bound(independence), always),
    rechecked("pieces", "the pieces of the word add up to the SDE", _lift_step(decide_pieces(pieces)), has_word),
    Claim("flow", "each piece is advanced by its exact flow or the named numerical one", _lift_flows(flow), has_word),
    advisory("keeps", "which pieces preserve exp(-H)", _lift_flows(keeps), has_word),
    advisory("volume", "which pieces preserve volume", _lift_flows(list_volume_pieces), has_word),
    advisory("symplectic", "which pieces are symplectic", _lift_flows(list_symplectic_pieces), has_word),
    advisory("reversible", "which pieces are reversible", _lift_flows(reversible), has_word),
    advisory("palindrome", "whether the word, from draw to draw, is a palindrome", _lift_word(palindrome), has_word,
             rechecked=True),
    advisory("configurational", "the stationary covariance of theta for quadratic U", _lift_word(configurational),
             lambda build: has_word(build) and build.has_exact_gradient and not has_cycle(build), rests_on=("flow",),
             rechecked=True),
    advisory("order", "the weak order of one step, from draw to draw", _lift_step(order_in),
             lambda build: has_word(build) or not has_cycle(build), rests_on=("flow",), rechecked=True),
    Claim("use", "the dynamics used by the word preserve the H of the build", _lift_moves(use),
          lambda build: build.dynamics.claims.energy is not None),
    rechecked("refresh", "refreshes draw blocks from their conditional distributions",
              _lift_moves(decide_each(Refresh)), has_move(Refresh)),
    rechecked("draw", "exact draws are from the conditional distributions of the target",
              _lift_moves(decide_each(Draw)), has_move(Draw), rests_on=("defined",)),
    Claim("cir", "CIR flows preserve the conditional distributions of the target", _lift_moves(decide_each(Cir)),
          has_move(Cir), rests_on=("defined",)),
    rechecked("involution", "the maps are involutions, and the derived acceptance ratio preserves exp(-H)",
              _lift_moves(decide_each(Involution)), has_move(Involution), rests_on=KERNEL),
    Claim("code", "moves that are code preserve exp(-H)", _lift_moves(decide_each(CodeMove)), has_move(CodeMove)),
    rechecked("metropolis", "the Metropolis moves preserve exp(-H)", _lift_moves(decide_each(Metropolis)),
              has_move(Metropolis), rests_on=KERNEL),
    rechecked("cycle", "every move preserves exp(-H), and every block is updated", _lift_moves(cycle), has_cycle,
              rests_on=KERNEL),
    advisory("exact", "the chain preserves exp(-H) at every step size", _lift_moves(exact), has_cycle,
             rests_on=KERNEL, rechecked=True),
    advisory("irreducible", "exp(-H) is the unique invariant distribution of the cycle", _lift_moves(irreducible),
             has_cycle, rests_on=(*LAW, *KERNEL, "gradient")),
)
# fmt: on


def list_claims_in_build(
    table: tuple[Claim[Judged, Document], ...], document: Document, build: Build
) -> tuple[Claim[Judged, Document], ...]:
    """Return the claims of a table that apply to a document within a build, in order."""
    asked = {claim: own.applies(build) for claim, own in IN_BUILDS.items()} if isinstance(document, Dynamics) else {}
    return tuple(c for c in list_applicable_claims(table, document) if asked.get(c.id, True) and not c.standalone_only)


def state_target_sizes(target: Target, found: Answer) -> Answer:
    """Return the answer of a claim about a target, given the sizes that positions in its formulas need: d >= 2."""
    return state_needed_sizes(found, stated_formulas(target))


def state_build_sizes(claim: Claim[Any, Any], bound: BoundBuild, found: Answer) -> Answer:
    """Return the answer of a claim in a build, given the sizes that positions in what it reads need."""
    build, dynamics = bound.build, bound.dynamics
    formulas = [*_list_read_formulas(claim, build, dynamics), build.V]
    found = with_equal_values(found, dynamics.declarations)
    return state_needed_sizes(
        found, formulas, {*find_known_sizes(build, dynamics), *find_known_sizes(build, build.target)}
    )


def _list_read_formulas(claim: Claim[Any, Any], build: Build, dynamics: Dynamics) -> Iterator[Formula]:
    of_dynamics = claim in DYNAMICS
    yield from list_read_formulas(claim, dynamics) if of_dynamics else stated_formulas(dynamics)
    if not of_dynamics or claim.id in IN_BUILDS:
        yield from stated_formulas(build.target)


def get_build_decider(claim: Claim[Subject, Dynamics]) -> Callable[[BoundBuild], Answer] | None:
    """Return what decides a claim about the dynamics of a build, with values as there; None where that is `decider`."""
    own, reads = IN_BUILDS.get(claim.id), claim.reads
    if own is None:
        return None

    def answer(bound: BoundBuild) -> Answer:
        found = own.decide(bound.build, bound.dynamics)
        return found if reads is None else require_defined(found, reads, bind_values(bound.build) or bound.dynamics)

    return answer

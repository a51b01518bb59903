"""The tables of claims about targets, schemes and builds, and what becomes of those about dynamics in a build."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from recipe_compiler.formula.expression import Formula
from recipe_compiler.spec.bind import bind
from recipe_compiler.spec.model import Build, Dynamics, Scheme, Target
from recipe_compiler.spec.positions import stated_formulas
from recipe_compiler.verdict import Answer, Refuted
from recipe_compiler.verify.builds.assumptions import assumes, assumptions
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
from recipe_compiler.verify.builds.target import defined, gradient
from recipe_compiler.verify.builds.unique import unique_in
from recipe_compiler.verify.builds.unknown_inverses import left_abstract
from recipe_compiler.verify.claims import DYNAMICS, LAW, Claim, Document, Judged, applicable_claims, read_of
from recipe_compiler.verify.core.assumed_relations import with_equal_values
from recipe_compiler.verify.core.build_values import at_values, known_sizes
from recipe_compiler.verify.core.obligations import at_positions, obliged
from recipe_compiler.verify.core.subject import Subject
from recipe_compiler.verify.equation.periodic import on_circles, target_periodic
from recipe_compiler.verify.moves.cir import cir
from recipe_compiler.verify.moves.code import code
from recipe_compiler.verify.moves.cycle import cycle, exact
from recipe_compiler.verify.moves.draw import draw
from recipe_compiler.verify.moves.in_build import (
    accepts,
    calls_code,
    diffuses,
    draws,
    integrates,
    of_cycle,
    reflects,
    refreshes,
    steps_by_cycle,
)
from recipe_compiler.verify.moves.involution import involution
from recipe_compiler.verify.moves.irreducible import irreducible
from recipe_compiler.verify.moves.metropolis import metropolis
from recipe_compiler.verify.moves.refresh import refresh
from recipe_compiler.verify.moves.use import use, uses
from recipe_compiler.verify.steps.claimed import configurational_in, gradients_in, order_claimed_in
from recipe_compiler.verify.steps.configurational import configurational
from recipe_compiler.verify.steps.flow import flow
from recipe_compiler.verify.steps.in_build import of_flows, of_pieces, of_word, order_in, steps_by_word
from recipe_compiler.verify.steps.kept import keeps, symplectic, volume
from recipe_compiler.verify.steps.order import palindrome
from recipe_compiler.verify.steps.pieces import pieces
from recipe_compiler.verify.steps.reversible import reversible
from recipe_compiler.verify.steps.split import Split
from recipe_compiler.verify.words.configurational import claimed_configurational
from recipe_compiler.verify.words.gradients import claimed_gradients
from recipe_compiler.verify.words.letters import claimed_order, claimed_palindrome, whole_shares


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


@dataclass(frozen=True, slots=True)
class InBuild:
    """What becomes of a claim about dynamics in a build."""

    decide: Callable[[Build, Dynamics], Answer]
    """What decides it instead, where target and values decide more."""
    asked: Callable[[Build], bool] = lambda _: True
    """The builds to which it applies: what a cycle keeps need not be what its equation keeps."""


IN_BUILDS: Mapping[str, InBuild] = {
    "normalisable": InBuild(normalisable_build),
    "explosion": InBuild(explosion_in, integrates),
    "boundary": InBuild(boundary_in, integrates),
    "unique": InBuild(unique_in, lambda build: not steps_by_cycle(build)),
}
"""Claims about dynamics that apply to some builds only, or are decided otherwise there; others as in the table."""


def bound_build(build: Build) -> BoundBuild:
    """Return a build as its claims take it."""
    wide = left_abstract(build)
    wider = None if wide is build else BoundBuild(Stages(wide, bind(wide)))
    return BoundBuild(Stages(build, bind(build)), wider)


def of_any_metric(decide: Callable[[BoundBuild], Answer], bound: BoundBuild) -> Answer:
    """Return the answer of a claim about a step, or its equation: of any matrices of their kinds, unless that is wrong.

    What is refuted of some matrix says nothing of the one that is bound, of which it is then decided.
    """
    if bound.wider is None:
        return decide(bound)
    found = decide(bound.wider)
    return decide(bound) if isinstance(found.decision, Refuted) else found


def _on_circles(target: Target) -> bool:
    return bool(on_circles(target.declarations))


def _is_stated(target: Target) -> bool:
    return target.gradient is None


def _always(document: Target | Scheme | Build) -> bool:
    del document
    return True


def _bound(decide: Callable[[Build, Dynamics], Answer]) -> Callable[[BoundBuild], Answer]:
    return lambda bound: decide(bound.build, bound.dynamics)


def _step(decide: Callable[[Stages], Answer]) -> Callable[[BoundBuild], Answer]:
    return partial(of_any_metric, lambda bound: decide(bound.stages))


def _word(decide: Callable[[Split], Answer]) -> Callable[[BoundBuild], Answer]:
    return _step(of_word(decide))


def _pieces(decide: Callable[[Split], Answer]) -> Callable[[BoundBuild], Answer]:
    return _step(of_pieces(decide))


def _flows(decide: Callable[[Split], Answer]) -> Callable[[BoundBuild], Answer]:
    return _step(of_flows(decide))


def _moves(decide: Callable[[Split, Stages], Answer]) -> Callable[[BoundBuild], Answer]:
    return _step(of_cycle(decide))


def _claimed(what: str, decide: Callable[[BoundBuild], Answer]) -> Callable[[BoundBuild], Answer]:
    return lambda bound: replace(decide(bound), where=bound.build.scheme.source.place(f"claims.{what}"))


TARGETS: tuple[Claim[Target, Target], ...] = (
    Claim("defined", "the log posterior is defined inside the domain", defined, _is_stated),
    Claim("gradient", "the log posterior is differentiable inside the domain", gradient, _always),
    Claim("recursion", "states of the recursion stay in their domains", recursion, has_recursion),
    Claim(
        "periodic",
        "all formulas are periodic in each circular coordinate",
        target_periodic,
        lambda target: _on_circles(target) and _is_stated(target),
    ),
    Claim(
        "laws", "each claimed law is the conditional distribution of its block", laws, lambda target: bool(target.laws)
    ),
    Claim(
        "constraints",
        "the change of variables preserves the posterior of the declared blocks",
        keeps_law,
        has_constraints,
    ),
    Claim(
        "normalisable",
        "the posterior is proper (exp(-U) has a finite integral)",
        normalisable_alone,
        _always,
        alone=True,
    ),
)

SCHEMES: tuple[Claim[Scheme, Scheme], ...] = (
    Claim("shares", "the shares of each piece add up to one step", whole_shares, _always, rechecked=True),
    Claim(
        "claimed_order",
        "the word has the claimed weak order for every dynamics",
        claimed_order,
        lambda scheme: scheme.claims.order is not None,
        beside=("order",),
        rechecked=True,
    ),
    Claim(
        "claimed_palindrome",
        "the word is a palindrome",
        claimed_palindrome,
        lambda scheme: scheme.claims.palindrome,
        beside=("palindrome",),
        rechecked=True,
    ),
    Claim(
        "claimed_gradients",
        "a step takes the claimed number of gradient evaluations",
        claimed_gradients,
        lambda scheme: scheme.claims.gradients is not None,
        beside=("gradients",),
        rechecked=True,
    ),
    Claim(
        "claimed_configurational",
        "for quadratic U, an ergodic chain samples the exact covariance of theta",
        claimed_configurational,
        lambda scheme: scheme.claims.configurational,
        beside=("configurational",),
        rechecked=True,
    ),
)

IN_STEPS: Mapping[str, Callable[[BoundBuild], Answer]] = {
    "claimed_order": _claimed("order", _word(order_claimed_in)),
    "claimed_gradients": _claimed("gradients", _word(gradients_in)),
    "claimed_configurational": _claimed("configurational", _flows(configurational_in)),
}
"""What decides claims of a scheme in a build that uses it, where its pieces tell what by itself is granted of them."""

KERNEL = ("defined", "flow")
"""What claims about moves rest on: where U has no value nothing is accepted or refused, and a word moves by flows."""

BUILDS: tuple[Claim[BoundBuild, Build], ...] = (
    Claim("bindings", "the values bound in the build have the declared kinds", _bound(bindings), _always),
    Claim("gradient_noise", "V is positive semidefinite", _bound(gradient_noise), _always),
    Claim("assumptions", "the assumptions of dynamics and target hold in the build", _bound(assumptions), assumes),
    Claim("noise_budget", "2D - eps B_hat is positive semidefinite", _bound(noise_budget), _always, rechecked=True),
    Claim("independence", "D and Q do not reuse the gradient's minibatch", _bound(independence), _always),
    Claim("pieces", "the pieces of the word add up to the SDE", _pieces(pieces), steps_by_word, rechecked=True),
    Claim("flow", "each piece is advanced by its exact flow or the named numerical one", _flows(flow), steps_by_word),
    Claim("keeps", "which pieces preserve exp(-H)", _flows(keeps), steps_by_word, required=False),
    Claim("volume", "which pieces preserve volume", _flows(volume), steps_by_word, required=False),
    Claim("symplectic", "which pieces are symplectic", _flows(symplectic), steps_by_word, required=False),
    Claim("reversible", "which pieces are reversible", _flows(reversible), steps_by_word, required=False),
    Claim(
        "palindrome",
        "whether the word, from draw to draw, is a palindrome",
        _word(palindrome),
        steps_by_word,
        required=False,
        rechecked=True,
    ),
    Claim(
        "configurational",
        "the stationary covariance of theta for quadratic U",
        _word(configurational),
        lambda build: steps_by_word(build) and build.variant == "full" and not steps_by_cycle(build),
        rests_on=("flow",),
        required=False,
        rechecked=True,
    ),
    Claim(
        "order",
        "the weak order of one step, from draw to draw",
        _step(order_in),
        lambda build: steps_by_word(build) or not steps_by_cycle(build),
        rests_on=("flow",),
        required=False,
        rechecked=True,
    ),
    Claim("use", "the dynamics used by the word preserve the H of the build", _moves(use), uses),
    Claim(
        "refresh",
        "refreshes draw blocks from their conditional distributions",
        _moves(refresh),
        refreshes,
        rechecked=True,
    ),
    Claim(
        "draw",
        "exact draws are from the conditional distributions of the target",
        _moves(draw),
        draws,
        rests_on=("defined",),
        rechecked=True,
    ),
    Claim(
        "cir",
        "CIR flows preserve the conditional distributions of the target",
        _moves(cir),
        diffuses,
        rests_on=("defined",),
    ),
    Claim(
        "involution",
        "the maps are involutions, and the derived acceptance ratio preserves exp(-H)",
        _moves(involution),
        reflects,
        rests_on=KERNEL,
        rechecked=True,
    ),
    Claim("code", "moves that are code preserve exp(-H)", _moves(code), calls_code),
    Claim(
        "metropolis",
        "the Metropolis moves preserve exp(-H)",
        _moves(metropolis),
        accepts,
        rests_on=KERNEL,
        rechecked=True,
    ),
    Claim(
        "cycle",
        "every move preserves exp(-H), and every block is updated",
        _moves(cycle),
        steps_by_cycle,
        rests_on=KERNEL,
        rechecked=True,
    ),
    Claim(
        "exact",
        "the chain preserves exp(-H) at every step size",
        _moves(exact),
        steps_by_cycle,
        rests_on=KERNEL,
        required=False,
        rechecked=True,
    ),
    Claim(
        "irreducible",
        "exp(-H) is the unique invariant distribution of the cycle",
        _moves(irreducible),
        steps_by_cycle,
        rests_on=(*LAW, *KERNEL, "gradient"),
        required=False,
    ),
)


def claims_in_build(
    table: tuple[Claim[Judged, Document], ...], document: Document, build: Build
) -> tuple[Claim[Judged, Document], ...]:
    """Return the claims of a table that apply to a document within a build, in order."""
    asked = {claim: own.asked(build) for claim, own in IN_BUILDS.items()} if isinstance(document, Dynamics) else {}
    return tuple(c for c in applicable_claims(table, document) if asked.get(c.id, True) and not c.alone)


def under_sizes_of_target(target: Target, found: Answer) -> Answer:
    """Return the answer of a claim about a target, given the sizes that positions in its formulas need: d >= 2."""
    return at_positions(found, stated_formulas(target))


def under_sizes_in_build(claim: Claim[Any, Any], bound: BoundBuild, found: Answer) -> Answer:
    """Return the answer of a claim in a build, given the sizes that positions in what it reads need."""
    build, dynamics = bound.build, bound.dynamics
    formulas = [*_read(claim, build, dynamics), build.V]
    found = with_equal_values(found, dynamics.declarations)
    return at_positions(found, formulas, {*known_sizes(build, dynamics), *known_sizes(build, build.target)})


def _read(claim: Claim[Any, Any], build: Build, dynamics: Dynamics) -> Iterator[Formula]:
    of_dynamics = claim in DYNAMICS
    yield from read_of(claim, dynamics) if of_dynamics else stated_formulas(dynamics)
    if not of_dynamics or claim.id in IN_BUILDS:
        yield from stated_formulas(build.target)


def build_decider(claim: Claim[Subject, Dynamics]) -> Callable[[BoundBuild], Answer] | None:
    """Return what decides a claim about the dynamics of a build, with values as there; None where that is `decider`."""
    own, reads = IN_BUILDS.get(claim.id), claim.reads
    if own is None:
        return None

    def answer(bound: BoundBuild) -> Answer:
        found = own.decide(bound.build, bound.dynamics)
        return found if reads is None else obliged(found, reads, at_values(bound.build) or bound.dynamics)

    return answer

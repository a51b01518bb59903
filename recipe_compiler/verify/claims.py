"""The tables of claims: all that the compiler, its explanations, its documents and its tests know of each, in one row.

`decide` is a plain function of what a claim is about; that its answer is the claim's, and what it counts for, is said
here alone. `recheck.py`, which imports nothing of this package, has a copy of its own, which a test holds equal.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from recipe_compiler.formula.expression import Formula
from recipe_compiler.spec.model import Build, Dynamics, Scheme, Target
from recipe_compiler.spec.positions import declared_formulas, stated_formulas
from recipe_compiler.verdict import Answer, Finding, Topic, Verdict
from recipe_compiler.verify.builds.assumptions import assumes, assumptions
from recipe_compiler.verify.builds.bindings import bindings, gradient_noise
from recipe_compiler.verify.builds.boundary import boundary_in
from recipe_compiler.verify.builds.constrained import has_constraints, keeps_law
from recipe_compiler.verify.builds.explosion import explosion_in
from recipe_compiler.verify.builds.in_build import Stages
from recipe_compiler.verify.builds.laws import laws
from recipe_compiler.verify.builds.minibatch_independence import (
    estimates_gradients,
    independence,
    independent_update,
)
from recipe_compiler.verify.builds.noise_budget import noise_budget
from recipe_compiler.verify.builds.normalisable import normalisable_alone, normalisable_build
from recipe_compiler.verify.builds.recursion import has_recursion, recursion
from recipe_compiler.verify.builds.target import defined, gradient
from recipe_compiler.verify.builds.unique import unique_in
from recipe_compiler.verify.core.build_values import at_values, known_sizes
from recipe_compiler.verify.core.obligations import at_positions, obliged, read_by
from recipe_compiler.verify.core.subject import Subject
from recipe_compiler.verify.equation.claimed_drift import claimed_drift
from recipe_compiler.verify.equation.d_psd import d_psd
from recipe_compiler.verify.equation.periodic import on_circles, periodic, target_periodic
from recipe_compiler.verify.equation.symmetry import d_symmetric, q_skew
from recipe_compiler.verify.equation.units import declares_units, units
from recipe_compiler.verify.integrability.marginal import claimed_marginal, claims_marginal, has_auxiliaries, marginal
from recipe_compiler.verify.integrability.normalisable import normalisable
from recipe_compiler.verify.moves.cir import cir
from recipe_compiler.verify.moves.cycle import cycle, exact
from recipe_compiler.verify.moves.draw import draw
from recipe_compiler.verify.moves.in_build import (
    accepts,
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
from recipe_compiler.verify.recover.recovered_q import lacks_q, recovered_q
from recipe_compiler.verify.recover.search import states_equation
from recipe_compiler.verify.stationarity.claimed_stationary import claimed_stationary
from recipe_compiler.verify.stationarity.explosion import explosion
from recipe_compiler.verify.stationarity.stationary import stationary
from recipe_compiler.verify.steps.claimed import configurational_in, gradients_in
from recipe_compiler.verify.steps.configurational import configurational
from recipe_compiler.verify.steps.flow import flow
from recipe_compiler.verify.steps.in_build import of_flows, of_word, order_in, steps_by_word
from recipe_compiler.verify.steps.kept import keeps, symplectic, volume
from recipe_compiler.verify.steps.order import palindrome
from recipe_compiler.verify.steps.pieces import pieces
from recipe_compiler.verify.steps.reversible import reversible
from recipe_compiler.verify.steps.split import Split
from recipe_compiler.verify.uniqueness.boundary import boundary, has_boundary
from recipe_compiler.verify.uniqueness.regular import regular, varies
from recipe_compiler.verify.uniqueness.unique import unique
from recipe_compiler.verify.updates.claimed_update import claimed_update, claims_update
from recipe_compiler.verify.updates.step_scale import step_scale
from recipe_compiler.verify.words.configurational import claimed_configurational
from recipe_compiler.verify.words.gradients import claimed_gradients
from recipe_compiler.verify.words.order import claimed_order
from recipe_compiler.verify.words.palindrome import claimed_palindrome
from recipe_compiler.verify.words.shares import whole_shares

Judged = TypeVar("Judged")
Document = TypeVar("Document", Dynamics, Target, Scheme, Build)


@dataclass(frozen=True, slots=True)
class BoundBuild:
    """A build, and its dynamics with everything bound: for all values as declared, and at those of the build."""

    stages: Stages

    @property
    def build(self) -> Build:
        """The build."""
        return self.stages.build

    @property
    def dynamics(self) -> Dynamics:
        """Its dynamics, bound."""
        return self.stages.bound


@dataclass(frozen=True, slots=True)
class Claim(Generic[Judged, Document]):
    """A row of a table."""

    id: str
    says: str
    """The claim in words, as reports give it."""
    decide: Callable[[Judged], Answer]
    applies: Callable[[Document], bool]
    """Whether it applies to a document."""
    reads: tuple[str, ...] | None = None
    """The entries of a dynamics that it is about: it is proved only where these have a value at every admissible point.
    None where it is about how formulas are written: no value is then required, and each change of one concerns it."""
    beside: tuple[str, ...] = ()
    """Further entries that its answer depends on, of which it needs no value."""
    required: bool = True
    """Whether the document's verdict rests on it; what is not required is advisory."""
    excused: str = ""
    """Where a document is not held to a required claim, as `Answer.excused` says."""
    stops: bool = False
    """Whether an advisory claim is decided by every compilation, and counts where it is refuted."""
    alone: bool = False
    """Whether it is decided of a document by itself only, not within a build."""
    asked_in: Callable[[Build], bool] = lambda _: True
    """Of which builds it is asked, where it is about dynamics: what a cycle keeps need not be that of its equation."""
    in_build: Callable[[Build, Dynamics], Answer] | None = None
    """What decides it in a build instead, where target and values decide more."""
    explained: frozenset[Topic] = frozenset()
    """What is said beside its verdict: a Q that was found beside a proof, all else beside a refutation."""
    mended: bool = False
    """Whether a repair that touches it is shown only with a proof of it."""
    rechecked: bool = False
    """Whether `recheck.py` looks at some of its proofs or refutations again; all else of a certificate is trusted."""

    @property
    def decides(self) -> bool:
        """Whether it can make a document undecided or refuted."""
        return self.required or self.stops

    def finding(self, answer: Answer, seconds: float = 0.0) -> Finding:
        """Return an answer as reports show it."""
        counts = (self.required and not answer.excused) or (self.stops and answer.verdict is Verdict.REFUTED)
        return Finding(
            self.id, self.says, counts, answer.decision, answer.for_d, answer.checked_at, answer.where, seconds
        )


def _noise(dynamics: Dynamics) -> bool:
    return dynamics.D is not None or dynamics.claims.diffusion is not None


def _recipe(dynamics: Dynamics) -> bool:
    return dynamics.Q is not None and _noise(dynamics)


def _drift(dynamics: Dynamics) -> bool:
    return dynamics.claims.drift is not None


def _on_circles(document: Dynamics | Target) -> bool:
    return bool(on_circles(document.declarations))


def _is_stated(target: Target) -> bool:
    return target.gradient is None


def _always(document: Dynamics | Target | Scheme | Build) -> bool:
    del document
    return True


def _bound(decide: Callable[[Build, Dynamics], Answer]) -> Callable[[BoundBuild], Answer]:
    return lambda bound: decide(bound.build, bound.dynamics)


def _step(decide: Callable[[Stages], Answer]) -> Callable[[BoundBuild], Answer]:
    return lambda bound: decide(bound.stages)


def _word(decide: Callable[[Split], Answer]) -> Callable[[BoundBuild], Answer]:
    return _step(of_word(decide))


def _flows(decide: Callable[[Split], Answer]) -> Callable[[BoundBuild], Answer]:
    return _step(of_flows(decide))


def _moves(decide: Callable[[Split, Stages], Answer]) -> Callable[[BoundBuild], Answer]:
    return _step(of_cycle(decide))


def _claimed(what: str, decide: Callable[[BoundBuild], Answer]) -> Callable[[BoundBuild], Answer]:
    return lambda bound: replace(decide(bound), where=bound.build.scheme.source.place(f"claims.{what}"))


RECIPE = ("H", "D", "Q")
EQUATION = (*RECIPE, "drift")
"""What claims read that are about the recipe, or about the equation with a Q that its drift has."""
REPAIR = frozenset({Topic.REPAIR})

DYNAMICS: tuple[Claim[Subject, Dynamics], ...] = (
    Claim(
        "d_symmetric",
        "D is symmetric",
        d_symmetric,
        _noise,
        ("D",),
        explained=REPAIR,
        mended=True,
        rechecked=True,
    ),
    Claim("d_psd", "D is positive semidefinite", d_psd, _noise, ("D",), rechecked=True),
    Claim("q_skew", "Q is skew", q_skew, _recipe, ("Q",), explained=REPAIR, mended=True, rechecked=True),
    Claim(
        "stationary",
        "exp(-H) is stationary",
        stationary,
        _recipe,
        RECIPE,
        explained=REPAIR,
        mended=True,
        rechecked=True,
    ),
    Claim(
        "claimed_drift",
        "the claimed drift is the derived one",
        claimed_drift,
        lambda d: _drift(d) and _recipe(d),
        (*EQUATION, "diffusion"),
        explained=frozenset({Topic.DERIVED, Topic.REPAIR}),
        mended=True,
        rechecked=True,
    ),
    Claim(
        "claimed_stationary",
        "exp(-H) is stationary for the claimed equation",
        claimed_stationary,
        _drift,
        ("H", "D", "drift", "diffusion"),
        explained=frozenset({Topic.REPAIR, Topic.SAMPLES}),
        mended=True,
        rechecked=True,
    ),
    Claim(
        "recovered_q",
        "a skew Q gives the claimed drift",
        recovered_q,
        lacks_q,
        ("H", "D", "drift"),
        required=False,
        explained=frozenset({Topic.CURL}),
        rechecked=True,
    ),
    Claim(
        "step_scale",
        "each drift term is O(eps), each noise covariance O(eps)",
        step_scale,
        claims_update,
        ("update",),
        required=False,
        rechecked=True,
    ),
    Claim(
        "claimed_update",
        "in the limit eps -> 0 the claimed update is a step of an equation with stationary exp(-H)",
        claimed_update,
        claims_update,
        ("H", "update"),
        beside=("D", "Q", "drift", "diffusion"),
        rechecked=True,
    ),
    Claim(
        "periodic",
        "what is stated of a circle is periodic around it",
        periodic,
        _on_circles,
        (*EQUATION, "diffusion", "update"),
        mended=True,
        rechecked=True,
    ),
    Claim(
        "normalisable",
        "exp(-H) has a finite integral",
        normalisable,
        _always,
        ("H",),
        excused="where it stays open beside an abstract potential",
        in_build=normalisable_build,
        rechecked=True,
    ),
    Claim(
        "marginal",
        "the target's blocks have the law exp(-U) once the others are integrated out",
        marginal,
        has_auxiliaries,
        ("H",),
        rechecked=True,
    ),
    Claim(
        "claimed_marginal",
        "exp(-H) has the claimed marginal",
        claimed_marginal,
        claims_marginal,
        ("H", "marginal"),
        rechecked=True,
    ),
    Claim(
        "regular",
        "D and Q are locally Lipschitz, and vanish nowhere that splits the state space",
        regular,
        varies,
        ("D", "Q", "drift"),
        beside=("H",),
        excused="where Q is not found and D is constant",
        rechecked=True,
    ),
    Claim(
        "explosion",
        "solutions do not run off to infinity in finite time",
        explosion,
        states_equation,
        EQUATION,
        beside=("lyapunov",),
        required=False,
        stops=True,
        asked_in=integrates,
        in_build=explosion_in,
        rechecked=True,
    ),
    Claim(
        "boundary",
        "no probability flows through the faces of the domain",
        boundary,
        has_boundary,
        EQUATION,
        asked_in=integrates,
        in_build=boundary_in,
        rechecked=True,
    ),
    Claim(
        "unique",
        "exp(-H) is the only stationary law of the recipe's equation",
        unique,
        states_equation,
        EQUATION,
        required=False,
        asked_in=lambda build: not steps_by_cycle(build),
        in_build=unique_in,
        rechecked=True,
    ),
    Claim(
        "independence",
        "D and Q do not reuse the gradient's minibatch",
        independent_update,
        estimates_gradients,
        required=False,
    ),
    Claim("units", "every term has the unit of its place", units, declares_units, required=False),
)

TARGETS: tuple[Claim[Target, Target], ...] = (
    Claim("defined", "the log posterior is defined inside the domain", defined, _is_stated),
    Claim("gradient", "the log posterior is differentiable inside the domain", gradient, _always),
    Claim("recursion", "states of the recursion stay in their domains", recursion, has_recursion),
    Claim(
        "periodic",
        "what is stated of a circle is periodic around it",
        target_periodic,
        lambda target: _on_circles(target) and _is_stated(target),
    ),
    Claim("laws", "each claimed law is that of its block given all others", laws, lambda target: bool(target.laws)),
    Claim("constraints", "what is sampled has the law of the blocks as declared", keeps_law, has_constraints),
    Claim("normalisable", "the posterior has a finite integral", normalisable_alone, _always, alone=True),
)

SCHEMES: tuple[Claim[Scheme, Scheme], ...] = (
    Claim("shares", "each piece is moved for one step in all", whole_shares, _always, rechecked=True),
    Claim(
        "claimed_order",
        "the word has the claimed weak order, for every dynamics",
        claimed_order,
        lambda scheme: scheme.claims.order is not None,
        rechecked=True,
    ),
    Claim(
        "claimed_palindrome",
        "the word is its own reverse",
        claimed_palindrome,
        lambda scheme: scheme.claims.palindrome,
        rechecked=True,
    ),
    Claim(
        "claimed_gradients",
        "a step evaluates the gradient as often as claimed",
        claimed_gradients,
        lambda scheme: scheme.claims.gradients is not None,
        rechecked=True,
    ),
    Claim(
        "claimed_configurational",
        "theta has its own covariance exactly where U is quadratic",
        claimed_configurational,
        lambda scheme: scheme.claims.configurational,
        rechecked=True,
    ),
)

IN_STEPS: Mapping[str, Callable[[BoundBuild], Answer]] = {
    "claimed_gradients": _claimed("gradients", _word(gradients_in)),
    "claimed_configurational": _claimed("configurational", _flows(configurational_in)),
}
"""What decides claims of a scheme in a build that uses it, where its pieces tell what by itself is granted of them."""

BUILDS: tuple[Claim[BoundBuild, Build], ...] = (
    Claim("bindings", "what is bound is of the kind declared", _bound(bindings), _always),
    Claim("gradient_noise", "V is positive semidefinite", _bound(gradient_noise), _always),
    Claim("assumptions", "what dynamics and target assume holds in the build", _bound(assumptions), assumes),
    Claim("noise_budget", "2D - eps B_hat is positive semidefinite", _bound(noise_budget), _always, rechecked=True),
    Claim("independence", "D and Q do not reuse the gradient's minibatch", _bound(independence), _always),
    Claim("pieces", "the pieces of the word make the equation", _word(pieces), steps_by_word, rechecked=True),
    Claim("flow", "each piece is moved by its flow, exact or the one named", _flows(flow), steps_by_word),
    Claim("keeps", "exp(-H) is stationary for the pieces named", _flows(keeps), steps_by_word, required=False),
    Claim("volume", "the pieces named keep volume", _flows(volume), steps_by_word, required=False),
    Claim("symplectic", "the pieces named are symplectic", _flows(symplectic), steps_by_word, required=False),
    Claim("reversible", "the pieces named run backwards", _flows(reversible), steps_by_word, required=False),
    Claim(
        "palindrome",
        "the word read backwards is as named",
        _word(palindrome),
        steps_by_word,
        required=False,
        rechecked=True,
    ),
    Claim(
        "configurational",
        "where U is quadratic, the covariance of theta is as named",
        _word(configurational),
        lambda build: steps_by_word(build) and build.variant == "full" and not steps_by_cycle(build),
        required=False,
        rechecked=True,
    ),
    Claim(
        "order",
        "one step has the weak order named",
        _step(order_in),
        lambda build: steps_by_word(build) or not steps_by_cycle(build),
        required=False,
        rechecked=True,
    ),
    Claim("refresh", "blocks are drawn anew from their laws given the others", _moves(refresh), refreshes),
    Claim("draw", "blocks of the target are drawn from their laws given the others", _moves(draw), draws),
    Claim("cir", "flows keep the laws of blocks of the target given the others", _moves(cir), diffuses),
    Claim("involution", "involutions are some, and keep exp(-H) by the ratio derived", _moves(involution), reflects),
    Claim("metropolis", "what is accepted or refused keeps exp(-H)", _moves(metropolis), accepts),
    Claim("cycle", "every move keeps exp(-H), and every block is moved", _moves(cycle), steps_by_cycle),
    Claim("exact", "the chain keeps exp(-H) at every step size", _moves(exact), steps_by_cycle, required=False),
    Claim(
        "irreducible",
        "exp(-H) is the only stationary law of the cycle",
        _moves(irreducible),
        steps_by_cycle,
        required=False,
    ),
)


def applicable_claims(
    table: tuple[Claim[Judged, Document], ...], document: Document, in_build: Build | None = None
) -> tuple[Claim[Judged, Document], ...]:
    """Return the claims of a table that apply to a document, by itself or within a build, in order."""
    claims = (claim for claim in table if claim.applies(document))
    if in_build is None:
        return tuple(claims)
    return tuple(claim for claim in claims if claim.asked_in(in_build) and not claim.alone)


def under_sizes(claim: Claim[Any, Any], document: Dynamics | Target | BoundBuild, found: Answer) -> Answer:
    """Return the answer of a claim about a document, given the sizes that positions in what it reads need: d >= 2."""
    if not isinstance(document, BoundBuild):
        return at_positions(found, _read(claim, document))
    build, bound = document.build, document.dynamics
    about_target = claim.in_build is not None or claim in (*TARGETS, *BUILDS)
    formulas = [*_read(claim, bound), *(stated_formulas(build.target) if about_target else ())]
    return at_positions(found, [*formulas, build.V], {*known_sizes(build, bound), *known_sizes(build, build.target)})


def _read(claim: Claim[Any, Any], document: Dynamics | Target) -> Iterator[Formula]:
    if claim not in DYNAMICS or isinstance(document, Target):
        yield from stated_formulas(document)
    elif claim.reads is not None:
        yield from declared_formulas(document.declarations)
        yield from read_by(document, (*claim.reads, *claim.beside))


def explained(topic: Topic) -> frozenset[str]:
    """Return the ids of the claims about dynamics whose verdicts have an explanation of a topic beside them."""
    return frozenset(claim.id for claim in DYNAMICS if topic in claim.explained)


def decider(claim: Claim[Subject, Dynamics]) -> Callable[[Subject], Answer]:
    """Return what decides a claim about dynamics: proved only where what it reads has a value."""
    reads = claim.reads
    if reads is None:
        return claim.decide
    return lambda subject: obliged(claim.decide(subject), reads, subject.stated or subject.dynamics, subject)


def build_decider(claim: Claim[Subject, Dynamics]) -> Callable[[BoundBuild], Answer] | None:
    """Return what decides a claim about the dynamics of a build, with values as there; None where that is `decider`."""
    decide, reads = claim.in_build, claim.reads
    if decide is None:
        return None

    def answer(bound: BoundBuild) -> Answer:
        found = decide(bound.build, bound.dynamics)
        return found if reads is None else obliged(found, reads, at_values(bound.build) or bound.dynamics)

    return answer

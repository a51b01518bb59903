"""The table of claims about dynamics: all that compiler, explanations, documents and tests know of each, in one row.

`decide` is a plain function of what a claim is about; that its answer is the claim's, and what it counts for, is said
here alone. `recheck.py`, which imports nothing of this package, has a copy of its own, which a test holds equal.
Targets, schemes and builds have tables in `claims_in_builds`: dynamics alone are decided without what these bring.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Generic, TypeVar

from recipe_compiler.formula.expression import Formula
from recipe_compiler.spec.found_q import lacks_q
from recipe_compiler.spec.model import Build, Dynamics, Scheme, Target
from recipe_compiler.spec.positions import declared_formulas
from recipe_compiler.verdict import Answer, Finding, Topic, Verdict
from recipe_compiler.verify.builds.minibatch_independence import estimates_gradients, independent_update
from recipe_compiler.verify.core.assumed_relations import with_equal_values
from recipe_compiler.verify.core.obligations import list_formulas, require_defined, state_needed_sizes
from recipe_compiler.verify.core.subject import Subject
from recipe_compiler.verify.equation.claimed_drift import claimed_diffusion, claimed_drift
from recipe_compiler.verify.equation.d_psd import d_psd
from recipe_compiler.verify.equation.image import claims_image, image
from recipe_compiler.verify.equation.periodic import circle_blocks, periodic
from recipe_compiler.verify.equation.symmetry import d_symmetric, q_skew
from recipe_compiler.verify.equation.units import declares_units, units
from recipe_compiler.verify.infinity.claimed_lyapunov import claims_lyapunov
from recipe_compiler.verify.integrability.marginal import claimed_marginal, claims_marginal, has_auxiliaries, marginal
from recipe_compiler.verify.integrability.normalisable import normalisable
from recipe_compiler.verify.recover.recovered_q import recovered_q
from recipe_compiler.verify.recover.search import states_equation
from recipe_compiler.verify.stationarity.explosion import claimed_lyapunov, explosion
from recipe_compiler.verify.stationarity.stationary import claimed_stationary, stationary
from recipe_compiler.verify.uniqueness.boundary import boundary, has_boundary
from recipe_compiler.verify.uniqueness.regular import has_varying_matrix, regular
from recipe_compiler.verify.uniqueness.unique import unique
from recipe_compiler.verify.updates.claimed_update import claimed_update, claims_update
from recipe_compiler.verify.updates.step_scale import step_scale

Judged = TypeVar("Judged")
Document = TypeVar("Document", Dynamics, Target, Scheme, Build)


@dataclass(frozen=True, slots=True)
class Claim(Generic[Judged, Document]):
    """A row of the table: what decides a claim, whether it is required, and what is known about it elsewhere."""

    id: str
    says: str
    """The claim in words, as reports give it."""
    decide: Callable[[Judged], Answer]
    applies: Callable[[Document], bool]
    """Whether it applies to a document."""
    reads: tuple[str, ...] | None = None
    """The entries of a dynamics that it is about: it is proved only where these have a value at every admissible point.
    None where it is about how formulas are written: no value is then required, and each change of one concerns it."""
    also_reads: tuple[str, ...] = ()
    """Further entries that its answer depends on, of which it needs no value: of a scheme, of what it claims. What a
    document states and no claim reads is named in its report."""
    rests_on: tuple[str, ...] = ()
    """The claims about the same document without which a proof of it says nothing: `report/premises.py` looks at them.

    Where one does not apply there is nothing to rest on: `q_skew` where no Q is stated, `periodic` without circles.
    """
    required: bool = True
    """Whether the document's verdict rests on it; what is not required is advisory."""
    waived: str = ""
    """Where a document is not held to a required claim, as `Answer.waived` says."""
    blocks_compile: bool = False
    """Whether an advisory claim is decided by every compilation, and counts where it is refuted."""
    standalone_only: bool = False
    """Whether it is decided of a document by itself only, not within a build."""
    explained: frozenset[Topic] = frozenset()
    """The topics that explain its verdict: a recovered Q explains a proof, all others explain a refutation."""
    rechecked_by_repairs: bool = False
    """Whether a repair that touches it is shown only with a proof of it."""
    rechecked: bool = False
    """Whether `recheck.py` looks at some of its proofs or refutations again; all else of a certificate is trusted."""

    @property
    def decides(self) -> bool:
        """Whether it can make a document undecided or refuted."""
        return self.required or self.blocks_compile

    def finding(self, answer: Answer, seconds: float = 0.0) -> Finding:
        """Return an answer as reports show it."""
        stops = self.blocks_compile and answer.verdict is Verdict.REFUTED
        counts = (self.required and not answer.waived) or stops
        return Finding(
            self.id, self.says, counts, answer.decision, answer.for_d, answer.checked_at, answer.where, seconds
        )


def always(document: Document) -> bool:
    """Whether a claim applies that applies to every document."""
    del document
    return True


def _has_noise(dynamics: Dynamics) -> bool:
    return dynamics.D is not None or dynamics.claims.diffusion is not None


def _has_recipe(dynamics: Dynamics) -> bool:
    return dynamics.Q is not None and _has_noise(dynamics)


def _has_claimed_drift(dynamics: Dynamics) -> bool:
    return dynamics.claims.drift is not None


def _has_diffusions(dynamics: Dynamics) -> bool:
    return dynamics.D is not None and dynamics.claims.diffusion is not None


def _has_circles(dynamics: Dynamics) -> bool:
    return bool(circle_blocks(dynamics.declarations))


RECIPE = ("H", "D", "Q")
EQUATION = (*RECIPE, "drift")
"""What claims read that are about the recipe, or about the equation with a Q that its drift has."""
CLAIMED = ("drift", "diffusion")
LAW = ("normalisable",)
"""What claims about laws rest on: without a finite integral exp(-H) has no marginal, and is not the law of anything."""
NOISE = ("d_symmetric", "d_psd")
"""What claims about solutions rest on: without a root of D there is no noise, and no equation."""
REPAIR = frozenset({Topic.REPAIR})
rechecked, repaired, advisory = (
    partial(Claim, rechecked=True),
    partial(Claim, rechecked=True, rechecked_by_repairs=True, explained=REPAIR),
    partial(Claim, required=False),
)

# fmt: off
DYNAMICS: tuple[Claim[Subject, Dynamics], ...] = (
    repaired("d_symmetric", "D is symmetric", d_symmetric, _has_noise, ("D",)),
    rechecked("d_psd", "D is positive semidefinite", d_psd, _has_noise, ("D",)),
    repaired("q_skew", "Q is skew", q_skew, lambda d: d.Q is not None, ("Q",)),
    repaired("stationary", "exp(-H) is stationary", stationary, _has_recipe, RECIPE),
    repaired("claimed_drift", "the claimed drift equals the derived drift", claimed_drift,
             lambda d: _has_claimed_drift(d) and _has_recipe(d), (*EQUATION, "diffusion"),
             explained=frozenset({Topic.DERIVED, Topic.REPAIR})),
    rechecked("claimed_diffusion", "the claimed diffusion is D", claimed_diffusion, _has_diffusions,
              ("D", "diffusion")),
    rechecked("image", "the stated map takes the other equation to the claimed one", image, claims_image,
              ("D", *CLAIMED, "image"), standalone_only=True),
    repaired("claimed_stationary", "exp(-H) is stationary for the claimed equation", claimed_stationary,
             _has_claimed_drift, ("H", "D", *CLAIMED), explained=frozenset({Topic.REPAIR, Topic.SAMPLES})),
    advisory("recovered_q", "a skew Q gives the claimed drift", recovered_q, lacks_q, ("H", "D", "drift"),
             explained=frozenset({Topic.CURL}), rechecked=True),
    advisory("step_scale", "each drift term is O(eps), each noise covariance O(eps)", step_scale, claims_update,
             ("update",), rechecked=True),
    rechecked("claimed_update", "as eps -> 0, the claimed update discretises an SDE with stationary exp(-H)",
              claimed_update, claims_update, ("H", "update"), also_reads=("D", "Q", *CLAIMED)),
    rechecked("periodic", "all formulas are periodic in each circular coordinate", periodic,
              _has_circles, (*EQUATION, "diffusion", "update"), rechecked_by_repairs=True),
    Claim("normalisable", "exp(-H) has a finite integral", normalisable, always, ("H",),
          waived="where it stays open beside an abstract potential"),
    rechecked("marginal", "the marginal of the target's blocks is exp(-U)", marginal, has_auxiliaries, ("H",),
              rests_on=LAW),
    rechecked("claimed_marginal", "exp(-H) has the claimed marginal", claimed_marginal, claims_marginal,
              ("H", "marginal"), rests_on=LAW),
    Claim("regular", "D and Q are locally Lipschitz, and their zero sets do not divide the state space", regular,
          has_varying_matrix, ("D", "Q", "drift"), also_reads=("H",), waived="where Q is not found and D is constant"),
    advisory("explosion", "the SDE is non-explosive", explosion, states_equation, EQUATION, also_reads=("lyapunov",),
             rests_on=NOISE, blocks_compile=True, rechecked=True),
    advisory("claimed_lyapunov", "the stated function is a Lyapunov function", claimed_lyapunov, claims_lyapunov,
             (*EQUATION, "lyapunov"), rests_on=NOISE),
    Claim("boundary", "no probability flux through the boundary", boundary, has_boundary, EQUATION),
    advisory("unique", "exp(-H) is the unique invariant distribution", unique, states_equation, EQUATION,
             rests_on=(*LAW, *NOISE, "q_skew", "periodic", "explosion"), rechecked=True),
    advisory("independence", "D and Q do not reuse the gradient's minibatch", independent_update, estimates_gradients),
    advisory("units", "every term has a consistent unit", units, declares_units, also_reads=("units",)),
)
# fmt: on


def list_applicable_claims(
    table: tuple[Claim[Judged, Document], ...], document: Document
) -> tuple[Claim[Judged, Document], ...]:
    """Return the claims of a table that apply to a document, in order."""
    return tuple(claim for claim in table if claim.applies(document))


def state_sizes(claim: Claim[Subject, Dynamics], dynamics: Dynamics, found: Answer) -> Answer:
    """Return a claim's answer, given the sizes that positions in what it reads need: `theta[1]` is for d >= 2."""
    return state_needed_sizes(with_equal_values(found, dynamics.declarations), list_read_formulas(claim, dynamics))


def list_read_formulas(claim: Claim[Subject, Dynamics], dynamics: Dynamics) -> Iterator[Formula]:
    """Yield the formulas of a dynamics that a claim reads, those in declarations included."""
    if claim.reads is not None:
        yield from declared_formulas(dynamics.declarations)
        yield from list_formulas(dynamics, (*claim.reads, *claim.also_reads))


def list_explained_claims(topic: Topic) -> frozenset[str]:
    """Return the ids of the claims about dynamics whose verdicts may come with an explanation of a topic."""
    return frozenset(claim.id for claim in DYNAMICS if topic in claim.explained)


def get_decider(claim: Claim[Subject, Dynamics]) -> Callable[[Subject], Answer]:
    """Return the function that decides a claim about dynamics; it proves only where what it reads has a value."""
    reads = claim.reads
    if reads is None:
        return claim.decide
    return lambda subject: require_defined(claim.decide(subject), reads, subject.stated or subject.dynamics, subject)

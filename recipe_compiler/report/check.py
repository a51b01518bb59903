"""A document's report: every claim decided or undecided, under a limit, and what was not looked at.

Beside the verdicts about dynamics: the Q that was recovered, repairs, what is sampled instead.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from recipe_compiler.derive.recipe import derive, row_slots
from recipe_compiler.derive.show import drift_texts
from recipe_compiler.errors import ModelError
from recipe_compiler.formula.build import nodes
from recipe_compiler.formula.declaration import Declarations
from recipe_compiler.formula.expression import Role, Symbol
from recipe_compiler.formula.shapes import WITHOUT_BOUNDARY
from recipe_compiler.formula.show import text
from recipe_compiler.spec.bind import bind
from recipe_compiler.spec.model import Build, Document, Dynamics, Scheme, Target
from recipe_compiler.spec.places import digest
from recipe_compiler.splitting.split_by import may_leave, split_by
from recipe_compiler.tensor.calculus import calculus
from recipe_compiler.tensor.convert import convert
from recipe_compiler.verdict import Answer, Explanation, Finding, Proved, Report, Topic, Undecided, Verdict
from recipe_compiler.verify.builds.in_build import Stages, decided_in, target_decided_in
from recipe_compiler.verify.builds.target import of_bending
from recipe_compiler.verify.claims import (
    BUILDS,
    DYNAMICS,
    IN_STEPS,
    SCHEMES,
    TARGETS,
    BoundBuild,
    Claim,
    applicable_claims,
    build_decider,
    decider,
    explained,
    under_sizes,
)
from recipe_compiler.verify.core.generalise_size import of_target
from recipe_compiler.verify.core.limits import CLAIM_SECONDS, Unfinished, Work, run_all, timed
from recipe_compiler.verify.core.stratonovich import ito_drift
from recipe_compiler.verify.core.subject import Subject, find, subject_of
from recipe_compiler.verify.moves.in_build import steps_by_cycle
from recipe_compiler.verify.recover.recovered_q import explained_q
from recipe_compiler.verify.recover.search import states_equation
from recipe_compiler.verify.steps.in_build import check_pieces, steps_by_word
from recipe_compiler.verify.updates.claimed_update import claims_update

Explain = Callable[[], tuple[Explanation, ...]]
Question = Callable[[Subject], tuple[Explanation, ...]]
REPAIRED = explained(Topic.REPAIR)
"""Refuted claims for which repairs are looked for."""

ASKED = {topic: explained(topic) for topic in (Topic.DERIVED, Topic.REPAIR, Topic.SAMPLES)}
"""What is said beside a refutation, and of which claims."""

NONE = (
    "none of the changes that are tried (a factor, a sign, up to three terms of the drift, friction, terms of Gamma, "
    "places of D and Q) was proved to make the claims hold"
)
SCHEME_CAVEATS = ("verdicts are about the word, for every dynamics: which flows its pieces have is found in a build",)

Job = Callable[[], Finding]


def derived_drift(subject: Subject) -> tuple[Explanation, ...]:
    """Return the guilty blocks with both drifts; nothing where there is no derived drift, or none differs.

    A claim in Stratonovich's sense is compared, and shown, in Ito's.
    """
    derivation, dynamics = subject.derivation, subject.dynamics
    D = dynamics.claims.diffusion or dynamics.D
    if derivation is None or D is None or dynamics.Q is None or dynamics.claims.drift is None:
        return ()
    c = calculus(dynamics.declarations)
    formulas: list[tuple[str, str]] = []
    guilty: list[str] = []
    claimed = zip(dynamics.declarations.blocks, ito_drift(dynamics, D), strict=True)
    for n, (block, formula) in enumerate(claimed):
        stated = convert(formula, dynamics.declarations, *row_slots(block))
        if not c.settled(c.subtract(stated, derivation.drift[n])).is_zero:
            guilty.append(block.name)
            formulas.append((f"claimed drift of {block.name}", text(formula)))
            formulas += [(f"derived drift of {name}", told) for name, told in drift_texts(derivation, n)]
    if not guilty:
        return ()
    says = f"the drift of {' and '.join(guilty)} that follows from D, Q and H differs from the claimed one"
    return (Explanation(Topic.DERIVED, says, tuple(formulas), "f = -(D + Q) grad H + Gamma"),)


def explanations(dynamics: Dynamics, findings: tuple[Finding, ...], seconds: float) -> tuple[Explanation, ...]:
    """Return what can be said within the limits; each explanation was itself shown by the claims it mends."""
    refuted = {finding.id for finding in findings if finding.verdict is Verdict.REFUTED}
    proofs = [found for f in findings if f.id in explained(Topic.CURL) and isinstance(found := f.decision, Proved)]
    found = [explained_q(proof) for proof in proofs]
    asked = [topic for topic, claims in ASKED.items() if refuted & claims]
    if not refuted & REPAIRED and (alone := [f.says for f in findings if f.required and f.id in refuted]):
        found.append(Explanation(Topic.NO_REPAIR, f"none is looked for so that {'; '.join(alone)}"))
    if not asked:
        return tuple(found)

    outcomes = run_all(Work(partial(_jobs, dynamics, findings, tuple(asked)), len(asked)), seconds)
    return (*found, *(one for pair in zip(asked, outcomes, strict=True) for one in _said(*pair)))


def _jobs(dynamics: Dynamics, findings: tuple[Finding, ...], asked: tuple[Topic, ...]) -> Sequence[Explain]:
    subject, questions = subject_of(dynamics), _questions(findings)
    return [partial(questions[topic], subject) for topic in asked]


def _questions(findings: tuple[Finding, ...]) -> Mapping[Topic, Question]:
    """Return what answers a question; imported here, since most documents leave none."""
    from recipe_compiler.explain.repair.repairs import repairs
    from recipe_compiler.explain.samples.samples import samples_instead
    from recipe_compiler.report.check import derived_drift

    return {
        Topic.DERIVED: derived_drift,
        Topic.REPAIR: lambda subject: repairs(subject, findings),
        Topic.SAMPLES: samples_instead,
    }


def _said(topic: Topic, outcome: tuple[Explanation, ...] | Unfinished) -> tuple[Explanation, ...]:
    """Return what was found; of repairs, that none was."""
    found = () if isinstance(outcome, Unfinished) else outcome
    if found or topic is not Topic.REPAIR:
        return found
    why = f"the search ended early: {outcome.reason}" if isinstance(outcome, Unfinished) else NONE
    return (Explanation(Topic.NO_REPAIR, why),)


def dynamics_caveats(dynamics: Dynamics) -> tuple[str, ...]:
    """Return what no claim about a dynamics asks."""
    what = "the equation: dynamics have no step"
    if claims_update(dynamics):
        what = "the equation, those on the claimed update about small eps: dynamics have no step that runs"
    return (*_unasked(dynamics), f"verdicts are about {what}; what is known of one is said of a build that takes it")


def _unasked(dynamics: Dynamics) -> tuple[str, ...]:
    if states_equation(dynamics):
        return ()
    return ("explosion, unique: not asked, since the noise, or both Q and a drift, are not given",)


def build_caveats(build: Build, bound: Dynamics) -> tuple[str, ...]:
    """Return what no claim about a build asks, its dynamics included."""
    files = [name for name, value in build.values if value.file is not None and value.numbers is None]
    checked_later = [f"the kind of {name} is checked when its file is read, before the first step" for name in files]
    return (*_unasked(bound), _of_step(build), *_unguarded(build, bound), *checked_later)


def _of_step(build: Build) -> str:
    """Return what is not known of the step: claims about it say what one does, not where many lead."""
    if steps_by_cycle(build):
        kept = "exact says whether its moves keep exp(-H) whatever the step size is"
        word = "pieces, flow, order and what pieces keep are about the word that moves of the cycle repeat; "
        return f"{word if steps_by_word(build) else ''}{kept}"
    known = "pieces, flow, order and what pieces keep are" if steps_by_word(build) else "order is"
    settles = "how far the law that steps of one size settle at is from exp(-H) is computed where U is quadratic only"
    return f"{known} about one step, other claims about the equation; {settles}"


def _unguarded(build: Build, bound: Dynamics) -> list[str]:
    """Return the caveat on blocks with a boundary; flows of a word that move a transform keep to the domain."""
    blocks = [block for block in bound.declarations.blocks if block.domain.name not in WITHOUT_BOUNDARY]
    found = _leaving(build, bound) if blocks and steps_by_word(build) else None
    leaving = dict.fromkeys((block.name for block in blocks), False) if found is None else found
    reasons = {
        False: "the emitted step neither reflects nor stops there: a finite step may leave the domain",
        True: "a step that would leave the domain is not a number, and ends its chain",
    }
    named = {reason: [name for name, ends in leaving.items() if ends is own] for own, reason in reasons.items()}
    return [f"boundary: {', '.join(names)} has a boundary, and {reason}" for reason, names in named.items() if names]


def _leaving(build: Build, bound: Dynamics) -> dict[str, bool] | None:
    """Return the blocks that a word may lead to a boundary, with whether chains end there; None without flows."""
    try:
        return may_leave(bound.declarations.blocks, split_by(derive(bound), build.scheme).values())
    except ModelError:  # of a word that is refuted, or refused, by name
        return None


def target_caveats(target: Target) -> tuple[str, ...]:
    """Return what no claim about a target asks."""
    moved = [block for block in target.declarations.blocks if block.constraint is None]
    domains = [b.name for b in moved if b.domain.name not in WITHOUT_BOUNDARY]
    domains += [name for name in _assumed(target.declarations) if name not in domains]
    return (f"boundary: {', '.join(domains)} has a boundary; not decided by this version",) if domains else ()


def _assumed(declarations: Declarations) -> list[str]:
    """Return the blocks that an assumption restricts."""
    parts = (part for c in declarations.assume for side in (c.left, c.right) for part in nodes(side))
    return list(dict.fromkeys(p.name for p in parts if isinstance(p, Symbol) and p.role is Role.BLOCK))


@dataclass(frozen=True, slots=True)
class Applicable:
    """The claims that apply to a document, and how their jobs are prepared."""

    rows: tuple[Claim[Any, Any], ...]
    jobs: Callable[[], Sequence[Job]]


def check(
    document: Document,
    seconds: float = CLAIM_SECONDS,
    *,
    advisory: bool = True,
    findings: tuple[Finding, ...] | None = None,
) -> Report:
    """Return the report of a document.

    Args:
        document: what is decided.
        seconds: of processor time that each claim may take.
        advisory: whether claims are asked that do not decide the document.
        findings: what is known of all its claims, where only what is said beside them is wanted: of a build that
            differs from this one in its `run`.

    Raises:
        ModelError: a formula that has no meaning in index notation.
    """
    findings = _decided(document, seconds, advisory=advisory) if findings is None else findings
    match document:
        case Dynamics():
            caveats, said = dynamics_caveats(document), explanations(document, findings, seconds)
        case Target():
            caveats, said = target_caveats(document), ()
        case Scheme():
            caveats, said = SCHEME_CAVEATS, ()
        case Build():
            caveats = build_caveats(document, bind(document))
            said = _audited(document, seconds) if advisory else ()
    return Report(document.name, document.source.file, digest(document), findings, caveats, said)


def _audited(build: Build, seconds: float) -> tuple[Explanation, ...]:
    """Return what a step of the build samples where U is quadratic, or that this was not found out in time."""
    (outcome,) = run_all(Work(partial(_audits, build), 1), seconds)
    if not isinstance(outcome, Unfinished):
        return outcome
    return (Explanation(Topic.STEP, f"what a step of this size samples was not found: {outcome.reason}"),)


def _audits(build: Build) -> Sequence[Explain]:
    from recipe_compiler.audit.of_build import audit  # imported here: it brings what is needed to make steps

    return [partial(audit, build)]


def _of_dynamics(dynamics: Dynamics, bound: BoundBuild | None = None) -> Applicable:
    claims = applicable_claims(DYNAMICS, dynamics, bound and bound.build)

    def jobs() -> Sequence[Job]:
        if bound is None:
            subject = subject_of(dynamics)
            return [partial(_finding, claim, dynamics, partial(find, decider(claim), subject)) for claim in claims]
        jobs = [(claim, _in_build(claim, bound)) for claim in claims]
        return [
            partial(_finding, claim, bound, partial(of_bending, claim.id, bound.build, dynamics, job))
            for claim, job in jobs
        ]

    return Applicable(claims, jobs)


def _in_build(claim: Claim[Subject, Dynamics], bound: BoundBuild) -> Callable[[], Answer]:
    own = build_decider(claim)
    return partial(decided_in, decider(claim), bound.stages) if own is None else partial(own, bound)


def _finding(claim: Claim[Any, Any], document: Dynamics | Target | BoundBuild, decide: Callable[[], Answer]) -> Finding:
    return claim.finding(under_sizes(claim, document, decide()))


def _of_target(target: Target, bound: BoundBuild | None = None) -> Applicable:
    claims = applicable_claims(TARGETS, target, bound and bound.build)

    def job(claim: Claim[Target, Target]) -> Job:
        if bound is None:
            return partial(_finding, claim, target, partial(of_target, claim.decide, target))
        return partial(_finding, claim, bound, partial(target_decided_in, claim.decide, bound.build))

    return Applicable(claims, lambda: [job(claim) for claim in claims])


def _of_scheme(scheme: Scheme, bound: BoundBuild | None = None) -> Applicable:
    claims = applicable_claims(SCHEMES, scheme)

    def job(claim: Claim[Scheme, Scheme]) -> Finding:
        in_step = IN_STEPS.get(claim.id)
        return claim.finding(claim.decide(scheme) if bound is None or in_step is None else in_step(bound))

    return Applicable(claims, lambda: [partial(job, claim) for claim in claims])


def _of_build(bound: BoundBuild) -> Applicable:
    claims = applicable_claims(BUILDS, bound.build)
    dynamics, target = _of_dynamics(bound.dynamics, bound), _of_target(bound.build.target, bound)
    scheme = _of_scheme(bound.build.scheme, bound) if bound.build.scheme.is_used else Applicable((), tuple)

    def job(claim: Claim[BoundBuild, Build]) -> Job:
        decided = partial(of_bending, claim.id, bound.build, bound.dynamics, partial(claim.decide, bound))
        return partial(_finding, claim, bound, decided)

    own = [job(claim) for claim in claims]

    def jobs() -> Sequence[Job]:
        check_pieces(bound.stages)
        return [*dynamics.jobs(), *target.jobs(), *scheme.jobs(), *own]

    return Applicable((*dynamics.rows, *target.rows, *scheme.rows, *claims), jobs)


def _selected(what: Applicable, wanted: Callable[[Claim[Any, Any]], bool]) -> Applicable:
    """Return the claims that are wanted."""
    kept = [k for k, row in enumerate(what.rows) if wanted(row)]

    def jobs() -> Sequence[Job]:
        prepared = what.jobs()
        return [prepared[k] for k in kept]

    return Applicable(tuple(what.rows[k] for k in kept), jobs)


def _applicable(document: Document, *, advisory: bool) -> Applicable:
    match document:
        case Dynamics():
            what = _of_dynamics(document)
        case Target():
            what = _of_target(document)
        case Scheme():
            what = _of_scheme(document)
        case Build():
            what = _of_build(BoundBuild(Stages(document, bind(document))))
    return what if advisory else _selected(what, lambda row: row.decides)


def _timed_jobs(document: Document, advisory: bool) -> Sequence[Job]:
    """Return the jobs about a document, prepared from it alone: where a child is no fork, that is what it is sent."""
    return [partial(timed, job) for job in _applicable(document, advisory=advisory).jobs()]


def _decided(document: Document, seconds: float, *, advisory: bool) -> tuple[Finding, ...]:
    """Return the findings, those that did not end as undecided."""
    what = _applicable(document, advisory=advisory)
    outcomes = run_all(Work(partial(_timed_jobs, document, advisory), len(what.rows)), seconds)
    return tuple(
        row.finding(Answer(Undecided((outcome.reason,), by_limit=True)), outcome.seconds)
        if isinstance(outcome, Unfinished)
        else outcome
        for row, outcome in zip(what.rows, outcomes, strict=True)
    )

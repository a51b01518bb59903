"""The report on a document: the verdict of every claim, under a limit of time, and caveats.

Beside the verdicts about dynamics: the Q that was recovered, repairs, what is sampled instead.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from recipe_compiler import limits
from recipe_compiler.derive.recipe import row_slots
from recipe_compiler.derive.show import row_texts
from recipe_compiler.formula.show import text
from recipe_compiler.report.applicable import ApplicableClaims, Job, find_dynamics_claims, list_dynamics_caveats
from recipe_compiler.report.premises import DecidedBy, apply_premises
from recipe_compiler.spec.found_q import has_found_q
from recipe_compiler.spec.model import Build, Document, Dynamics, Scheme, Target
from recipe_compiler.spec.places import digest
from recipe_compiler.tensor.calculus import calculus
from recipe_compiler.tensor.convert import convert
from recipe_compiler.verdict import Answer, Explanation, Finding, Proved, Report, Topic, Undecided, Verdict
from recipe_compiler.verify.claims import Claim, list_explained_claims
from recipe_compiler.verify.core.stratonovich import convert_to_ito
from recipe_compiler.verify.core.subject import Subject, prepare_subject
from recipe_compiler.verify.core.time_limit import Unfinished, Work, run_all, time_job
from recipe_compiler.verify.recover.recovered_q import explained_found_q, explained_q

Explain = Callable[[], tuple[Explanation, ...]]
Question = Callable[[Subject], tuple[Explanation, ...]]
REPAIRED = list_explained_claims(Topic.REPAIR)
"""Refuted claims for which repairs are looked for."""

ASKED = {topic: list_explained_claims(topic) for topic in (Topic.DERIVED, Topic.REPAIR, Topic.SAMPLES)}
"""What is said beside a refutation, and of which claims."""

NONE = (
    "none of the changes tried (a factor, a sign, up to three terms of the drift, friction, terms of Gamma, "
    "places of D and Q) was proved to make the claims hold"
)


def explain_drift(subject: Subject) -> tuple[Explanation, ...]:
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
    claimed = zip(dynamics.declarations.blocks, convert_to_ito(dynamics, D), strict=True)
    for n, (block, formula) in enumerate(claimed):
        stated = convert(formula, dynamics.declarations, *row_slots(block))
        if not c.settled(c.subtract(stated, derivation.drift[n])).is_zero:
            guilty.append(block.name)
            formulas.append((f"claimed drift of {block.name}", text(formula)))
            formulas += [
                (f"derived drift of {name}", drift) for name, drift in row_texts(derivation, derivation.drift, n)
            ]
    if not guilty:
        return ()
    says = f"the drift of {' and '.join(guilty)} that follows from D, Q and H differs from the claimed one"
    return (Explanation(Topic.DERIVED, says, tuple(formulas), "f = -(D + Q) grad H + Gamma"),)


def list_explanations(dynamics: Dynamics, findings: tuple[Finding, ...], seconds: float) -> tuple[Explanation, ...]:
    """Return the explanations found within the limits; each was itself proved by the claims it repairs."""
    refuted = {finding.id for finding in findings if finding.verdict is Verdict.REFUTED}
    proofs = [
        found for f in findings if f.id in list_explained_claims(Topic.CURL) and isinstance(found := f.decision, Proved)
    ]
    found = [explained_q(proof) for proof in proofs]
    asked = [topic for topic, claims in ASKED.items() if refuted & claims]
    if not refuted & REPAIRED and (alone := [f.says for f in findings if f.required and f.id in refuted]):
        found.append(Explanation(Topic.NO_REPAIR, f"repairs are not searched for: {'; '.join(alone)}"))
    if not asked:
        return tuple(found)

    outcomes = run_all(Work(partial(_prepare_explanations, dynamics, findings, tuple(asked)), len(asked)), seconds)
    return (*found, *(one for pair in zip(asked, outcomes, strict=True) for one in _explain_outcome(*pair)))


def _prepare_explanations(
    dynamics: Dynamics, findings: tuple[Finding, ...], asked: tuple[Topic, ...]
) -> Sequence[Explain]:
    """Return the jobs that explain topics."""
    subject, questions = prepare_subject(dynamics), _list_questions(findings)
    return [partial(questions[topic], subject) for topic in asked]


def _list_questions(findings: tuple[Finding, ...]) -> Mapping[Topic, Question]:
    """Return the functions that explain topics; imported here, since most documents need none."""
    from recipe_compiler.explain.repairs import repairs
    from recipe_compiler.explain.samples import samples_instead

    return {
        Topic.DERIVED: explain_drift,
        Topic.REPAIR: lambda subject: repairs(subject, findings),
        Topic.SAMPLES: samples_instead,
    }


def _explain_outcome(topic: Topic, outcome: tuple[Explanation, ...] | Unfinished) -> tuple[Explanation, ...]:
    """Return the explanations found; for repairs, the remark that none was."""
    found = () if isinstance(outcome, Unfinished) else outcome
    if found or topic is not Topic.REPAIR:
        return found
    why = f"the search ended early: {outcome.reason}" if isinstance(outcome, Unfinished) else NONE
    return (Explanation(Topic.NO_REPAIR, why),)


def check(
    document: Document,
    seconds: float = limits.CLAIM_SECONDS,
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
    findings = _decide_claims(document, seconds, advisory=advisory) if findings is None else findings
    caveats, said = _list_remarks(document, findings, seconds, advisory=advisory)
    return Report(document.name, document.source.file, digest(document), findings, caveats, said)


def _list_remarks(
    document: Document, findings: tuple[Finding, ...], seconds: float, *, advisory: bool
) -> tuple[tuple[str, ...], tuple[Explanation, ...]]:
    """Return the caveats and the explanations of a document."""
    if isinstance(document, Dynamics):
        return list_dynamics_caveats(document), list_explanations(document, findings, seconds)
    from recipe_compiler.report import in_builds  # as in `_choose_claims`

    match document:
        case Target():
            return in_builds.list_target_caveats(document), ()
        case Scheme():
            return in_builds.list_scheme_caveats(document), ()
        case Build():
            audited = in_builds.explain_bias(document, seconds) if advisory else ()
            found = (explained_found_q(document.dynamics),) if has_found_q(document) else ()
            return in_builds.list_build_caveats(document), (*found, *audited)


def _select_claims(what: ApplicableClaims, wanted: Callable[[Claim[Any, Any]], bool]) -> ApplicableClaims:
    kept = [k for k, row in enumerate(what.rows) if wanted(row)]

    def jobs() -> Sequence[Job]:
        prepared = what.jobs()
        return [prepared[k] for k in kept]

    rows = tuple(what.rows[k] for k in kept)
    return ApplicableClaims(rows, jobs, tuple(row for row in what.rows if row not in rows))


def _choose_claims(document: Document, *, advisory: bool) -> ApplicableClaims:
    return _find_claims(document) if advisory else _select_claims(_find_claims(document), lambda row: row.decides)


def _find_claims(document: Document) -> ApplicableClaims:
    if isinstance(document, Dynamics):
        return find_dynamics_claims(document)
    from recipe_compiler.report import in_builds  # imported here: dynamics alone do without what it brings

    match document:
        case Target():
            return in_builds.find_target_claims(document)
        case Scheme():
            return in_builds.find_scheme_claims(document)
        case Build():
            return in_builds.find_build_claims(document)


def _list_timed_jobs(document: Document, advisory: bool) -> Sequence[Job]:
    """Return the jobs about a document, prepared from it alone: where a child is no fork, that is what it is sent."""
    return [partial(time_job, job) for job in _choose_claims(document, advisory=advisory).jobs()]


def _decide_claims(document: Document, seconds: float, *, advisory: bool) -> tuple[Finding, ...]:
    """Return the findings; jobs that did not end are undecided."""
    what = _choose_claims(document, advisory=advisory)
    outcomes = run_all(Work(partial(_list_timed_jobs, document, advisory), len(what.rows)), seconds)
    findings = tuple(
        row.finding(Answer(Undecided((outcome.reason,), by_limit=True)), outcome.seconds)
        if isinstance(outcome, Unfinished)
        else outcome
        for row, outcome in zip(what.rows, outcomes, strict=True)
    )
    return apply_premises(what.rows, what.left, findings, _find_deciders(document))


def _find_deciders(document: Document) -> DecidedBy:
    """Return the function that names what decides an assumption; only a build has one."""
    if not isinstance(document, Build):
        return lambda _: False
    from recipe_compiler.verify.builds.assumed import find_decider  # as in `_find_claims`

    return partial(find_decider, document)

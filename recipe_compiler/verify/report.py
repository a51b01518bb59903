"""A document's report: every claim decided or said to be undecided, under a limit, and what was not looked at."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from recipe_compiler.spec.bind import bind
from recipe_compiler.spec.digest import digest
from recipe_compiler.spec.model import Build, Dynamics, Target
from recipe_compiler.verdict import Finding, Proved, Report, Undecided, Verdict
from recipe_compiler.verify.assumptions import ASSUMPTIONS, assumes, assumptions
from recipe_compiler.verify.bindings import BINDINGS, GRADIENT_NOISE, bindings, gradient_noise
from recipe_compiler.verify.case import case_of
from recipe_compiler.verify.caveats import build_caveats, dynamics_caveats, target_caveats
from recipe_compiler.verify.claims import claims_of
from recipe_compiler.verify.limits import CLAIM_SECONDS, Unfinished, Work, run_all, timed
from recipe_compiler.verify.periodic import PERIODIC, on_circles, target_periodic
from recipe_compiler.verify.target import DEFINED, GRADIENT, defined, gradient

Job = Callable[[], Finding]


@dataclass(frozen=True, slots=True)
class Row:
    """What a report says of a claim that did not end."""

    id: str
    says: str
    required: bool = True


PROVED, REFUTED, UNDECIDED = 0, 1, 3


def check(document: Dynamics | Target | Build, seconds: float = CLAIM_SECONDS) -> Report:
    """Return the report of a document; each claim may take `seconds`.

    Raises:
        ModelError: a formula that has no meaning in index notation.
    """
    match document:
        case Dynamics():
            findings = _decided(partial(_dynamics_jobs, document), _dynamics_rows(document), seconds)
            caveats = dynamics_caveats(document)
        case Target():
            findings = _decided(partial(_target_jobs, document), _target_rows(document), seconds)
            caveats = target_caveats(document)
        case Build():
            bound = bind(document)
            findings = _decided(partial(_build_jobs, document, bound), _build_rows(document, bound), seconds)
            caveats = build_caveats(document, bound)
    remarks = tuple(
        f"{finding.id}: {remark}"
        for finding in findings
        if isinstance(finding.decision, Proved)
        for remark in finding.decision.remarks
    )
    return Report(document.name, document.source.file, digest(document), findings, (*remarks, *caveats))


def exit_code(reports: Sequence[Report], *, allow_undecided: bool = False) -> int:
    """Return 1 if a document is refuted, else 3 if one is undecided (unless that is allowed), else 0."""
    verdicts = [report.verdict for report in reports]
    if Verdict.REFUTED in verdicts:
        return REFUTED
    return UNDECIDED if Verdict.UNDECIDED in verdicts and not allow_undecided else PROVED


def _dynamics_rows(dynamics: Dynamics) -> tuple[Row, ...]:
    return tuple(Row(claim.id, claim.says, claim.required) for claim in claims_of(dynamics))


def _dynamics_jobs(dynamics: Dynamics) -> Sequence[Job]:
    case = case_of(dynamics)
    return [partial(claim.decide, case) for claim in claims_of(dynamics)]


def _target_rows(target: Target) -> tuple[Row, ...]:
    return tuple(
        Row(*words) for words in (DEFINED, GRADIENT, *((PERIODIC,) if on_circles(target.declarations) else ()))
    )


def _target_jobs(target: Target) -> Sequence[Job]:
    own: list[Job] = [partial(defined, target), partial(gradient, target)]
    return [*own, partial(target_periodic, target)] if on_circles(target.declarations) else own


def _build_rows(build: Build, bound: Dynamics) -> tuple[Row, ...]:
    own = [Row(*words) for words in (BINDINGS, GRADIENT_NOISE, *((ASSUMPTIONS,) if assumes(build) else ()))]
    return (*_dynamics_rows(bound), *_target_rows(build.target), *own)


def _build_jobs(build: Build, bound: Dynamics) -> Sequence[Job]:
    own: list[Job] = [partial(bindings, build, bound), partial(gradient_noise, build, bound)]
    own += [partial(assumptions, build, bound)] if assumes(build) else []
    return [*_dynamics_jobs(bound), *_target_jobs(build.target), *own]


def _decided(jobs: Callable[[], Sequence[Job]], rows: tuple[Row, ...], seconds: float) -> tuple[Finding, ...]:
    """Return the findings, those that did not end as undecided."""

    def all_timed() -> Sequence[Job]:
        return [partial(timed, job) for job in jobs()]

    outcomes = run_all(Work(all_timed, len(rows)), seconds)
    return tuple(
        Finding(row.id, row.says, row.required, Undecided((outcome.reason,)), seconds=outcome.seconds)
        if isinstance(outcome, Unfinished)
        else outcome
        for row, outcome in zip(rows, outcomes, strict=True)
    )

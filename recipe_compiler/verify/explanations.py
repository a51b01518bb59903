"""What is said beside the verdicts about a dynamics: a Q that was found, repairs, what is sampled instead."""

from collections.abc import Callable, Mapping, Sequence

from recipe_compiler.spec.model import Dynamics
from recipe_compiler.verdict import Explanation, Finding, Verdict
from recipe_compiler.verify.case import Case, case_of
from recipe_compiler.verify.limits import Unfinished, Work, run_all
from recipe_compiler.verify.recovered_q import explained_q

Explain = Callable[[], tuple[Explanation, ...]]
Question = Callable[[Case], tuple[Explanation, ...]]

REPAIRED = frozenset({"d_symmetric", "q_skew", "stationary", "claimed_drift", "claimed_stationary"})
"""Refuted claims for which repairs are looked for."""
CLAIMED = "claimed_stationary"
"""The claim that, refuted, leaves the question what the equation samples instead."""


def explanations(dynamics: Dynamics, findings: tuple[Finding, ...], seconds: float) -> tuple[Explanation, ...]:
    """Return what can be said within the limits; each explanation was itself shown by the claims it mends."""
    refuted = {finding.id for finding in findings if finding.verdict is Verdict.REFUTED}
    found = [shown for finding in findings if (shown := explained_q(finding)) is not None]
    asked = (*(("repairs",) if refuted & REPAIRED else ()), *(("samples",) if CLAIMED in refuted else ()))
    if not asked:
        return tuple(found)

    def jobs() -> Sequence[Explain]:
        case = case_of(dynamics)
        questions = _questions(findings)
        return [lambda question=questions[name]: question(case) for name in asked]

    outcomes = run_all(Work(jobs, len(asked)), seconds)
    return (*found, *(one for outcome in outcomes if not isinstance(outcome, Unfinished) for one in outcome))


def _questions(findings: tuple[Finding, ...]) -> Mapping[str, Question]:
    """Return what answers a question; imported here, since most documents leave none."""
    from recipe_compiler.verify.repair.repairs import repairs
    from recipe_compiler.verify.samples.samples import samples_instead

    return {"repairs": lambda case: repairs(case, findings), "samples": samples_instead}

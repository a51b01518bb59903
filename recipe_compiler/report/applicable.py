"""The claims that apply to dynamics, how their jobs are prepared, and what none of them asks."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from recipe_compiler.spec.model import Dynamics
from recipe_compiler.verdict import Finding
from recipe_compiler.verify.claims import DYNAMICS, Claim, applicable_claims, decider, under_sizes
from recipe_compiler.verify.core.subject import Subject, find, subject_of
from recipe_compiler.verify.recover.search import states_equation
from recipe_compiler.verify.updates.claimed_update import claims_update

Job = Callable[[], Finding]


@dataclass(frozen=True, slots=True)
class Applicable:
    """The claims that apply to a document, and how their jobs are prepared."""

    rows: tuple[Claim[Any, Any], ...]
    jobs: Callable[[], Sequence[Job]]
    left: tuple[Claim[Any, Any], ...] = ()
    """Those that apply as well, and are not decided."""


def of_dynamics(dynamics: Dynamics) -> Applicable:
    """Return the claims that apply to dynamics by themselves."""
    claims = applicable_claims(DYNAMICS, dynamics)

    def jobs() -> Sequence[Job]:
        subject = subject_of(dynamics)
        return [partial(_finding, claim, subject, dynamics) for claim in claims]

    return Applicable(claims, jobs)


def _finding(claim: Claim[Subject, Dynamics], subject: Subject, dynamics: Dynamics) -> Finding:
    return claim.finding(under_sizes(claim, dynamics, find(decider(claim), subject)))


def caveats_on(dynamics: Dynamics) -> tuple[str, ...]:
    """Return what no claim about a dynamics asks."""
    what = "the equation: dynamics have no step"
    if claims_update(dynamics):
        what = "the equation, those on the claimed update about small eps: dynamics have no step that runs"
    return (*unasked(dynamics), f"verdicts are about {what}; what is known of one is said of a build that takes it")


def unasked(dynamics: Dynamics) -> tuple[str, ...]:
    """Return the claims that are not asked where the equation is not stated."""
    if states_equation(dynamics):
        return ()
    return ("explosion, unique: not asked, since the noise, or both Q and a drift, are not given",)

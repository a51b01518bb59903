"""The table of claims: each with its words, what decides it, and when it is asked."""

from collections.abc import Callable
from dataclasses import dataclass

from recipe_compiler.spec.model import Dynamics
from recipe_compiler.verdict import Finding
from recipe_compiler.verify.case import Case
from recipe_compiler.verify.claimed_drift import claimed_drift
from recipe_compiler.verify.claimed_stationary import claimed_stationary
from recipe_compiler.verify.d_psd import d_psd
from recipe_compiler.verify.d_symmetric import d_symmetric
from recipe_compiler.verify.periodic import PERIODIC, on_circles, periodic
from recipe_compiler.verify.q_skew import q_skew
from recipe_compiler.verify.stationary import stationary


@dataclass(frozen=True, slots=True)
class Claim:
    """A row of the table; `decide` returns its finding for one dynamics."""

    id: str
    says: str
    decide: Callable[[Case], Finding]
    applies: Callable[[Dynamics], bool]
    required: bool = True


def _always(dynamics: Dynamics) -> bool:
    del dynamics
    return True


def _claimed(dynamics: Dynamics) -> bool:
    return dynamics.claims.drift is not None


def _on_a_circle(dynamics: Dynamics) -> bool:
    return bool(on_circles(dynamics.declarations))


TABLE = (
    Claim("d_symmetric", "D is symmetric", d_symmetric, _always),
    Claim("d_psd", "D is positive semidefinite", d_psd, _always),
    Claim("q_skew", "Q is skew", q_skew, _always),
    Claim("stationary", "exp(-H) is stationary", stationary, _always),
    Claim("claimed_drift", "the claimed drift is the derived one", claimed_drift, _claimed),
    Claim(
        "claimed_stationary",
        "exp(-H) is stationary for the claimed equation",
        claimed_stationary,
        _claimed,
    ),
    Claim(*PERIODIC, periodic, _on_a_circle),
)


def claims_of(dynamics: Dynamics) -> tuple[Claim, ...]:
    """Return the claims to decide about a dynamics, in the order of the table."""
    return tuple(claim for claim in TABLE if claim.applies(dynamics))

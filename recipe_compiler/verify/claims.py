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
from recipe_compiler.verify.q_skew import q_skew
from recipe_compiler.verify.stationary import stationary


@dataclass(frozen=True, slots=True)
class Claim:
    """A row of the table; `decide` returns its finding for one dynamics."""

    id: str
    says: str
    decide: Callable[[Case], Finding]
    when_claimed: bool = False


TABLE = (
    Claim("d_symmetric", "D is symmetric", d_symmetric),
    Claim("d_psd", "D is positive semidefinite", d_psd),
    Claim("q_skew", "Q is skew", q_skew),
    Claim("stationary", "exp(-H) is stationary", stationary),
    Claim("claimed_drift", "the claimed drift is the derived one", claimed_drift, when_claimed=True),
    Claim(
        "claimed_stationary",
        "exp(-H) is stationary for the claimed equation",
        claimed_stationary,
        when_claimed=True,
    ),
)


def claims_of(dynamics: Dynamics) -> tuple[Claim, ...]:
    """Return the claims to decide about a dynamics, in the order of the table."""
    claimed = dynamics.claims.drift is not None
    return tuple(claim for claim in TABLE if claimed or not claim.when_claimed)

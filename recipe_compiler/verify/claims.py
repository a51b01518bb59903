"""The table of claims: each with its words, what decides it, and when it is asked."""

from collections.abc import Callable
from dataclasses import dataclass

from recipe_compiler.spec.model import Dynamics
from recipe_compiler.verdict import Finding
from recipe_compiler.verify.case import Case
from recipe_compiler.verify.claimed_drift import claimed_drift
from recipe_compiler.verify.claimed_stationary import claimed_stationary
from recipe_compiler.verify.claimed_update import SAYS as UPDATE
from recipe_compiler.verify.claimed_update import applies as updated
from recipe_compiler.verify.claimed_update import claimed_update
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


def _noise(dynamics: Dynamics) -> bool:
    return dynamics.D is not None or dynamics.claims.diffusion is not None


def _recipe(dynamics: Dynamics) -> bool:
    return dynamics.Q is not None and _noise(dynamics)


def _claimed(dynamics: Dynamics) -> bool:
    return dynamics.claims.drift is not None


def _claimed_beside_the_recipe(dynamics: Dynamics) -> bool:
    return _claimed(dynamics) and _recipe(dynamics)


def _on_a_circle(dynamics: Dynamics) -> bool:
    return bool(on_circles(dynamics.declarations))


TABLE = (
    Claim("d_symmetric", "D is symmetric", d_symmetric, _noise),
    Claim("d_psd", "D is positive semidefinite", d_psd, _noise),
    Claim("q_skew", "Q is skew", q_skew, _recipe),
    Claim("stationary", "exp(-H) is stationary", stationary, _recipe),
    Claim("claimed_drift", "the claimed drift is the derived one", claimed_drift, _claimed_beside_the_recipe),
    Claim(
        "claimed_stationary",
        "exp(-H) is stationary for the claimed equation",
        claimed_stationary,
        _claimed,
    ),
    Claim("claimed_update", UPDATE, claimed_update, updated),
    Claim(*PERIODIC, periodic, _on_a_circle),
)


def claims_of(dynamics: Dynamics) -> tuple[Claim, ...]:
    """Return the claims to decide about a dynamics, in the order of the table."""
    return tuple(claim for claim in TABLE if claim.applies(dynamics))

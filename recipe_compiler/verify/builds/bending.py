"""Builds whose potential has a continuous gradient and no more: pieces of a `where` meet in it.

Claims about dynamics take a declared U as smooth. What they say of values, integrals and the weak equation needs a
Lipschitz gradient alone (`verify.core.kinks`). Brackets of vector fields, Lyapunov functions of U and expansions of
updates need more, and so does everything about dynamics that state a derivative of U themselves.
"""

from collections.abc import Callable
from dataclasses import replace

from recipe_compiler.algebra.structure.definedness import CALCULUS
from recipe_compiler.formula.build import nodes
from recipe_compiler.formula.expression import Apply, Formula
from recipe_compiler.spec.model import Build, Dynamics
from recipe_compiler.verdict import Answer, Proved, Undecided
from recipe_compiler.verify.builds.target import bends

OF_GRADIENTS = frozenset(
    ["d_symmetric", "d_psd", "q_skew", "stationary", "claimed_drift", "claimed_stationary", "normalisable", "marginal"]
)
"""Claims that hold for a U with a Lipschitz gradient."""


def of_bending(claim: str, build: Build, dynamics: Dynamics, decided: Callable[[], Answer]) -> Answer:
    """Return what a claim says of the dynamics of a build, no more being taken of U than its target has."""
    found = decided()
    U = build.dynamics.potential
    smooth = f"{U} is smooth"
    if not isinstance(found.decision, Proved) or smooth not in found.decision.given or not bends(build.target):
        return found
    if claim not in OF_GRADIENTS or _differentiates(dynamics):
        reason = f"not shown: {smooth}; pieces meet in it, with their first derivatives alone"
        return replace(found, decision=Undecided((reason,)), for_d="all", checked_at=())
    given = tuple(sorted({*found.decision.given, f"{U} has a Lipschitz gradient"} - {smooth}))
    return replace(found, decision=replace(found.decision, given=given))


def _differentiates(dynamics: Dynamics) -> bool:
    """Whether a formula of dynamics holds a derivative; of claimed drifts, one of second order."""
    matrices = [entry for matrix in (dynamics.D, dynamics.Q) for row in matrix or () for entry in row]
    drifts = [drift for _, drift in dynamics.claims.drift or ()]
    return any(_holds(formula, CALCULUS) for formula in (dynamics.H, *matrices)) or any(
        _holds(formula, CALCULUS - {"grad"}) for formula in drifts
    )


def _holds(formula: Formula, functions: frozenset[str]) -> bool:
    return any(isinstance(node, Apply) and node.fn in functions for node in nodes(formula))

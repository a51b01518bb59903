"""Is exp(-U) what is left of exp(-H) once all blocks but the target's are integrated out (ma2015recipe, Eq. 1)?"""

from recipe_compiler.formula.declaration import Function
from recipe_compiler.formula.expression import FunctionAt
from recipe_compiler.spec.model import Dynamics
from recipe_compiler.verdict import Finding, Undecided
from recipe_compiler.verify.core.subject import Subject
from recipe_compiler.verify.integrability.marginal_law import law_of

MARGINAL = "marginal", "the target's blocks have the law exp(-U) once the others are integrated out"


def has_auxiliaries(dynamics: Dynamics) -> bool:
    """Whether the state has blocks besides those of an abstract potential, and no other law of these is claimed.

    Who claims another law of the target's block, exp(-U/T) say, is asked about that one.
    """
    potential = _potential(dynamics)
    if potential is None or all(block.name in potential.of for block in dynamics.declarations.blocks):
        return False
    claimed = dict(dynamics.claims.marginal or ())
    stated = FunctionAt(potential.name, potential.of, potential.shape)
    return not any(claimed.get(block, stated) != stated for block in potential.of)


def marginal(subject: Subject) -> Finding:
    """Decide that the integral of exp(-H) over the auxiliary blocks is exp(-U) times a constant, for every size."""
    potential = _potential(subject.dynamics)
    if potential is None:
        return Finding(*MARGINAL, True, Undecided(("no function is declared as the potential",)))
    stated = FunctionAt(potential.name, potential.of, potential.shape)
    answer = law_of(subject, frozenset(potential.of), stated, subject.place("H"))
    return Finding(*MARGINAL, True, answer.decision, answer.for_d, answer.checked_at, subject.place("H"))


def _potential(dynamics: Dynamics) -> Function | None:
    return next((f for f in dynamics.declarations.functions if f.role == "potential"), None)

"""Does exp(-H) leave a stated law of some blocks once all others are integrated out?

That of the target's blocks is exp(-U) (ma2015recipe, Eq. 1); an author may claim one of any block.
"""

from dataclasses import replace

from recipe_compiler.formula.declaration import Function
from recipe_compiler.spec.model import Dynamics
from recipe_compiler.verdict import Answer, Decision, Proved, Refuted, Undecided, undecided
from recipe_compiler.verify.core.subject import Subject
from recipe_compiler.verify.integrability.marginal_law import decide_marginal_law


def has_auxiliaries(dynamics: Dynamics) -> bool:
    """Whether the state has blocks besides those of the abstract potential, and no other law of these is claimed.

    An author who claims another law of the target's block, exp(-U/T) say, gets a verdict on that claim instead.
    """
    potential = _find_potential(dynamics)
    if potential is None or all(block.name in potential.of for block in dynamics.declarations.blocks):
        return False
    claimed = dict(dynamics.claims.marginal or ())
    stated = potential.value
    return not any(claimed.get(block, stated) != stated for block in potential.of)


def marginal(subject: Subject) -> Answer:
    """Decide that int exp(-H) over the auxiliary blocks is exp(-U(theta)) times a constant (Ma, Chen, Fox 2015, Eq. 1).

    For every size; what is sampled of theta is then the target. H = U + r.T inv(M) r/2 with a constant M is proved.
    With M(theta) it is refuted, as the integral over r leaves the factor sqrt(det M(theta)); adding log det(M(theta))/2
    to H makes it true. See `decide_marginal_law` for how it is decided and what it rests on.
    """
    potential = _find_potential(subject.dynamics)
    if potential is None:
        return undecided("no function is declared as the potential")
    stated = potential.value
    where = subject.place("H")
    return replace(decide_marginal_law(subject, frozenset(potential.of), stated, where), where=where)


def claims_marginal(dynamics: Dynamics) -> bool:
    """Whether a marginal is claimed."""
    return bool(dynamics.claims.marginal)


def claimed_marginal(subject: Subject) -> Answer:
    """Decide every claimed marginal, each about one block with all others integrated out, for every size.

    int exp(-H) d(others) = const exp(-claimed), the form of Eq. 1 of Ma, Chen, Fox (2015). One that is refuted refutes
    all.
    """
    answers: list[Answer] = []
    for block, formula in subject.dynamics.claims.marginal or ():
        where = subject.place(f"claims.marginal.{block}", "claims.marginal")
        answers.append(decide_marginal_law(subject, frozenset({block}), formula, where))
    if not answers:
        return undecided("no marginal is claimed")
    for kind in (Refuted, Undecided):
        guilty = next((answer for answer in answers if isinstance(answer.decision, kind)), None)
        if guilty is not None:
            return guilty
    return Answer(_join_proofs(answers), "all", answers[0].checked_at, answers[0].where)


def _join_proofs(answers: list[Answer]) -> Decision:
    """Return one proof of all."""
    proofs = [answer.decision for answer in answers if isinstance(answer.decision, Proved)]
    methods = dict.fromkeys(proof.by for proof in proofs)
    given = tuple(sorted({fact for proof in proofs for fact in proof.given}))
    return Proved("; ".join(methods), given, tuple(item for proof in proofs for item in proof.data))


def _find_potential(dynamics: Dynamics) -> Function | None:
    return next((f for f in dynamics.declarations.functions if f.role == "potential"), None)

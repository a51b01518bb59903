"""Is the law that an author claims of a block what exp(-H) leaves of it once all other blocks are integrated out?"""

from recipe_compiler.spec.model import Dynamics
from recipe_compiler.verdict import Decision, Finding, Proved, Refuted, Undecided
from recipe_compiler.verify.core.identities import Answer
from recipe_compiler.verify.core.subject import Subject
from recipe_compiler.verify.integrability.marginal_law import law_of

CLAIMED_MARGINAL = "claimed_marginal", "exp(-H) has the claimed marginal"


def claims_marginal(dynamics: Dynamics) -> bool:
    """Whether a marginal is claimed."""
    return bool(dynamics.claims.marginal)


def claimed_marginal(subject: Subject) -> Finding:
    """Decide every claimed marginal: each is a statement about one block, all others integrated out."""
    answers: list[tuple[str, Answer]] = []
    for block, formula in subject.dynamics.claims.marginal or ():
        where = subject.place(f"claims.marginal.{block}", "claims.marginal")
        answers.append((block, law_of(subject, frozenset({block}), formula, where)))
    if not answers:
        return Finding(*CLAIMED_MARGINAL, True, Undecided(("no marginal is claimed",)))
    for kind in (Refuted, Undecided):
        guilty = next((answer for _, answer in answers if isinstance(answer.decision, kind)), None)
        if guilty is not None:
            return Finding(*CLAIMED_MARGINAL, True, guilty.decision, guilty.for_d, guilty.checked_at, guilty.where)
    first = answers[0][1]
    return Finding(*CLAIMED_MARGINAL, True, _all_proved(answers), "all", first.checked_at, first.where)


def _all_proved(answers: list[tuple[str, Answer]]) -> Decision:
    """Return one proof of all."""
    proofs = [answer.decision for _, answer in answers if isinstance(answer.decision, Proved)]
    methods = dict.fromkeys(proof.by for proof in proofs)
    given = tuple(sorted({fact for proof in proofs for fact in proof.given}))
    return Proved("; ".join(methods), given, tuple(item for proof in proofs for item in proof.data))

"""Is Q skew? Q + Q.T = 0, place by place (ma2015recipe, Eq. 3)."""

from recipe_compiler.derive.stationarity import skewness_defect
from recipe_compiler.verdict import Finding, Undecided
from recipe_compiler.verify.core.identities import Question, decide
from recipe_compiler.verify.core.premises import values
from recipe_compiler.verify.core.subject import Subject, once
from recipe_compiler.verify.equation.mirrored import mirrored


@once
def q_skew(subject: Subject) -> Finding:
    """Decide that Q is skew for every size."""
    says = "Q is skew"
    Q = subject.dynamics.Q
    if subject.derivation is None or Q is None:
        reason = "Q is not given, and this version does not recover it" if Q is None else "D is not given"
        return Finding("q_skew", says, True, Undecided((reason,)), where=subject.place("Q", "D"))
    identities = mirrored(subject, "Q", Q, skewness_defect(subject.derivation), 1)
    declarations = subject.dynamics.declarations
    reads = tuple(place for row in Q for place in row)
    needed = values(reads, declarations)
    answer = decide(
        Question(
            identities, declarations, subject.sizes, needed, subject.contradiction, reads=reads, at_every_point=True
        )
    )
    return Finding(
        "q_skew", says, True, answer.decision, answer.for_d, answer.checked_at, answer.where or subject.place("Q")
    )

"""Is Q skew? Q + Q.T = 0, place by place (ma2015recipe, Eq. 3)."""

from recipe_compiler.derive.stationarity import skewness_defect
from recipe_compiler.verdict import Finding, Undecided
from recipe_compiler.verify.core.identities import Question, decide
from recipe_compiler.verify.core.premises import values
from recipe_compiler.verify.core.subject import Case, once
from recipe_compiler.verify.equation.mirrored import mirrored


@once
def q_skew(case: Case) -> Finding:
    """Decide that Q is skew for every size."""
    says = "Q is skew"
    Q = case.dynamics.Q
    if case.derivation is None or Q is None:
        reason = "Q is not given, and this version does not recover it" if Q is None else "D is not given"
        return Finding("q_skew", says, True, Undecided((reason,)), where=case.place("Q", "D"))
    identities = mirrored(case, "Q", Q, skewness_defect(case.derivation), 1)
    declarations = case.dynamics.declarations
    reads = tuple(place for row in Q for place in row)
    needed = values(reads, declarations)
    answer = decide(
        Question(identities, declarations, case.sizes, needed, case.contradiction, reads=reads, at_every_point=True)
    )
    return Finding(
        "q_skew", says, True, answer.decision, answer.for_d, answer.checked_at, answer.where or case.place("Q")
    )

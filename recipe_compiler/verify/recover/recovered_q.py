"""Does a skew Q give the claimed drift, with D and H as stated? (ma2015recipe, Theorem 2).

Proved by a Q, written out and judged like any other. Refuted where the claimed equation does not leave exp(-H)
stationary, and where one coordinate leaves no room for a skew Q.
"""

from collections.abc import Iterator
from dataclasses import replace

from sympy import Expr

from recipe_compiler.algebra.dynamics.system import block_vector, drift, state
from recipe_compiler.formula.shapes import DomainName
from recipe_compiler.spec.model import Dynamics
from recipe_compiler.verdict import Answer, Explanation, Proved, Refuted, Topic, undecided
from recipe_compiler.verify.core.conjunction import is_proved
from recipe_compiler.verify.core.first_witness import find_first_witness
from recipe_compiler.verify.core.identities import format_value
from recipe_compiler.verify.core.sizes import Sizes
from recipe_compiler.verify.core.subject import Subject
from recipe_compiler.verify.recover.search import list_entries, search
from recipe_compiler.verify.stationarity.stationary import claimed_stationary

GAUGE = (
    "one representative of Q: A exp(H) may be added for any skew A(z) with sum_j d A_ij / d z_j = 0 in every row, "
    "and the drift stays the same"
)


def recovered_q(subject: Subject) -> Answer:
    """Decide that some skew Q gives the claimed drift: f = -(D + Q) grad H + Gamma, for every size.

    Proved by a Q that is written out and then judged as if the author had stated it: skew, and its drift equal to f.
    Under conditions on decay every equation that keeps exp(-H) has one (Ma, Chen, Fox 2015, Theorem 2), and many: Q + A
    exp(H) with any skew A, sum_j d_j A_ij = 0, has the same drift. Refuted where exp(-H) is not stationary for the
    claimed equation, and in one coordinate, where Q = 0 forces f = -D H' + D'. That no Q was found leaves it undecided.

    Example: SGNHT with H = U + r.T r/2 + d (xi - A)**2/2, D[r,r] = A I and the claimed drift (r, -grad U - xi r, r.T
    r/d - 1) has Q[theta,r] = -I, Q[r,xi] = r/d, the coefficients (-1, 1/d) being the solution of a linear system.
    """
    where = subject.place("claims.drift", "claims")
    outcome = search(subject)
    problem = outcome.problem
    if problem is None:
        return undecided(*outcome.tried, where=where)
    if outcome.found is not None:
        proved = Proved(outcome.found.by, outcome.found.given, outcome.found.entries)
        return Answer(proved, "all", outcome.found.checked_at, where)
    stationary = claimed_stationary(problem) if outcome.stationary is None else outcome.stationary
    if isinstance(stationary.decision, Refuted):
        return replace(stationary, decision=_refute_recovery(stationary.decision))
    none = _refute_one_coordinate(problem)
    if none is not None:
        sizes, refuted = none
        return Answer(refuted, tuple(sizes.items()) or "all", where=where)
    known = _note_existence(problem) if is_proved(stationary) else ()
    return undecided(*outcome.tried, *known, where=where)


def explained_q(found: Proved) -> Explanation:
    """Return the recovered Q as an explanation, with its gauge freedom: Q + A exp(H), A skew with div A = 0."""
    return Explanation(Topic.CURL, GAUGE, found.data, found.by, found.given)


def explained_found_q(dynamics: Dynamics) -> Explanation:
    """Return the Q that a build has in the place of one that its document states, as an explanation."""
    names = [block.name for block in dynamics.declarations.blocks]
    says = f"not stated; recovered from the claimed drift, and judged as if it were: {GAUGE}"
    return Explanation(Topic.CURL, says, list_entries(names, dynamics.Q or ()))


def _refute_recovery(decision: Refuted) -> Refuted:
    """Return the refutation of stationarity as one of the existence of a skew Q."""
    by = f"every skew Q would make exp(-H) stationary for the claimed equation, which it is not: {decision.by}"
    return replace(decision, by=by)


def _refute_one_coordinate(problem: Subject) -> tuple[Sizes, Refuted] | None:
    """Return the refutation for one coordinate, where Q = 0 forces the drift -D H' + D'; None if it agrees."""
    stated = tuple(formula for _, formula in problem.dynamics.claims.drift or ())
    value = "claimed drift less -D H' + D'"

    def alone(sizes: Sizes) -> Iterator[tuple[str, Expr]]:
        claimed, own = block_vector(stated, problem.setting(sizes)), drift(problem.system(sizes))
        if len(claimed) == 1:
            yield value, claimed[0] - own[0]

    found = find_first_witness(alone, problem.dynamics.declarations, problem.sizes)
    if found is None:
        return None
    sizes, _, at = found
    by = "with one coordinate Q = 0, so D and H determine the drift"
    return sizes, Refuted(by, (*at.text, (value, format_value(at.value))))


def _note_existence(problem: Subject) -> tuple[str, ...]:
    """Return the remark that some Q exists, by Poincare's lemma, although no formula was found."""
    declarations = problem.dynamics.declarations
    holes = declarations.assume or any(block.domain.name is DomainName.CIRCLE for block in declarations.blocks)
    dimensions = [len(state(declarations, sizes)) for sizes in problem.sizes]
    if holes or min(dimensions) < 2:
        return ()
    return ("exp(-H) is stationary for the claimed equation, so that a Q exists; none was found as a formula",)

"""Is the update that an author claims a step of an equation that preserves exp(-H), in the limit of small steps?

What the next power of eps does is a matter of finite steps and is said beside the proof.
"""

from dataclasses import replace

from recipe_compiler.algebra.structure.definedness import Obligations
from recipe_compiler.derive.recipe import col_slots, row_slots
from recipe_compiler.errors import ModelError
from recipe_compiler.formula.expression import Formula
from recipe_compiler.spec.model import Dynamics
from recipe_compiler.tensor.calculus import calculus
from recipe_compiler.tensor.convert import convert
from recipe_compiler.trace.series import ONE, NoExpansionError
from recipe_compiler.verdict import Answer, Decision, Proved, Refuted, Undecided, undecided
from recipe_compiler.verify.core.premises import list_state_assumptions
from recipe_compiler.verify.core.subject import Subject
from recipe_compiler.verify.growth.ends import list_blocks_with_boundary
from recipe_compiler.verify.infinity.at_infinity import NON_EXPLOSIVE, OPEN, list_open_terms
from recipe_compiler.verify.updates.claimed_step import ClaimedStep, claimed_step
from recipe_compiler.verify.updates.covariances import check_covariances
from recipe_compiler.verify.updates.judgement import decide_limit
from recipe_compiler.verify.updates.remarks import departure, remarks


def claims_update(dynamics: Dynamics) -> bool:
    """Whether an update is claimed."""
    return dynamics.claims.update is not None


def claimed_update(subject: Subject) -> Answer:
    """Decide that exp(-H) is stationary for the limit of the claimed update as eps -> 0, for every size.

    The limit is dz = f dt + sqrt(2D) dW with f = lim E[dz]/eps, a vector over z, and D = lim Cov[dz]/(2 eps), a matrix
    over z; its residual R has to vanish (Ma, Chen, Fox 2015, Theorem 1, for this f and D). Where all noise and drift
    begin at a higher power of eps, that power is the step size. A step that does not shrink with eps must keep the
    Gaussian exp(-H) itself. It rests on: both engines' E[dz] and Cov[dz] agree up to eps**2; every N(0, cov) has cov >=
    0 for small eps; estimated gradients are unbiased; no step leaves the domain. A proof adds remarks on finite steps.

    Example: theta - eps/2 grad U + N(0, eps I) has f = -grad U/2 and D = I/2: R = 0, proved. With N(0, 2 eps I) it has
    D = I, R = (|grad U|**2 - tr Hess U)/2, and is refuted "at every step size".
    """
    where = subject.place("claims.update", "claims")
    try:
        answer = _decide_claimed_step(subject, claimed_step(subject, where))
    except (NoExpansionError, ModelError) as reason:
        answer = undecided(f"the update is not read: {reason}")
    return replace(answer, where=answer.where or where)


def _decide_claimed_step(subject: Subject, claimed: ClaimedStep) -> Answer:
    """Return the answer for the limit of a step whose covariances are positive semidefinite."""
    if not claimed.step.uses_eps and claimed.declarations.find("eps") is not None:
        return undecided("eps is declared as a parameter, so the update has no step size")
    found = check_covariances(claimed.step, claimed.sizes)
    if found.refuted is not None:
        what, point = found.refuted
        return Answer(Refuted(f"exact witness: {what}, is not positive semidefinite", point, what))
    if found.crooked:
        return undecided(f"the covariance of {found.crooked} is not shown to be symmetric")
    left = [draw for draw in found.open if draw.leading is None or not _is_diagonal_entry_of_D(draw.leading, subject)]
    rests = {"D is positive semidefinite"} if len(left) < len(found.open) else set[str]()
    open_ = tuple(f"the covariance of {draw.says} is positive semidefinite for small eps" for draw in left)
    if claimed.unit != ONE and left:
        return undecided(*open_)  # what is no covariance sets no step size
    declarations = claimed.declarations
    bounds = [f"the domain of {block.name}" for block in list_blocks_with_boundary(declarations)]
    rests |= {f"the update stays in {bound}" for bound in (*bounds, *list_state_assumptions(declarations))}
    claimed = replace(claimed, premises=claimed.premises | Obligations(found.given | rests, open_))
    return _locate_refutation(subject, claimed, decide_limit(claimed, lambda proof: _check_infinity(claimed, proof)))


def _check_infinity(claimed: ClaimedStep, proof: Proved) -> Decision:
    """Return the decision for a correct limiting equation, after checking the probability flux at infinity."""
    f, D = claimed.drift_at(claimed.unit), claimed.diffusion_at(claimed.unit)
    open_ = list_open_terms(replace(claimed.energy, drift=f, D=D))
    passing = tuple(f"{term.says}, {term.carries}" for term in open_ if term.is_steep)
    if passing:
        return Undecided((OPEN, *passing), given=proof.given)
    said, data = remarks(claimed)
    if any(not term.is_abstract for term in open_):
        proof = replace(proof, given=tuple(sorted({*proof.given, NON_EXPLOSIVE})))
    return replace(proof, data=(*proof.data, *data), remarks=said)


def _locate_refutation(subject: Subject, claimed: ClaimedStep, answer: Answer) -> Answer:
    """Return the answer, a refutation located at the update of the block that departs from the recipe's equation."""
    if not isinstance(answer.decision, Refuted) or min(claimed.powers, default=claimed.unit) != claimed.unit:
        return answer
    found = departure(claimed)
    if found is None:
        return answer
    block, said = found
    decision = replace(answer.decision, residual=f"{answer.decision.residual}; {said}")
    return replace(answer, decision=decision, where=subject.place(f"claims.update.{block}", "claims.update", "claims"))


def _is_diagonal_entry_of_D(leading: Formula, subject: Subject) -> bool:
    """Return whether a covariance is 1 or 2 times a diagonal entry of D: its semidefiniteness is a claim of its own."""
    if subject.dynamics.D is None or subject.derivation is None:
        return False
    declarations = subject.derivation.declarations
    c = calculus(declarations)
    for n, block in enumerate(declarations.blocks):
        if leading.shape.rows != block.shape.rows:
            continue
        try:
            own = convert(leading, declarations, *row_slots(block), *col_slots(block))
        except ModelError:
            continue
        if any(c.is_zero(c.subtract(own, c.scale(subject.derivation.D[n][n], k))) for k in (1, 2)):
            return True
    return False

"""Is the update that an author claims a step of an equation that preserves exp(-H), in the limit of small steps?

f = lim E[dz]/eps and D = lim Cov[dz]/(2 eps) are the limiting equation: where exp(-H) is not stationary for it the
update is wrong, however small eps is. What the next power of eps does is a matter of finite steps and is said beside
the proof. A step that does not shrink with eps has no limiting equation: it is judged by the law that it must keep.
"""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from sympy import Expr

from recipe_compiler.algebra.structure.definedness import Obligations
from recipe_compiler.derive.powers import TOP, NotReadError
from recipe_compiler.derive.recipe import col_slots, row_slots
from recipe_compiler.derive.stationarity import residual
from recipe_compiler.errors import ModelError
from recipe_compiler.formula.declaration import Block, Function
from recipe_compiler.formula.expression import Formula, MatMul, Multiply, Number, Power, Role, Symbol, Transpose
from recipe_compiler.formula.shapes import SCALAR
from recipe_compiler.formula.show import text as formula_text
from recipe_compiler.formula.substitute import substitute
from recipe_compiler.spec.model import Dynamics
from recipe_compiler.tensor.calculus import calculus
from recipe_compiler.tensor.convert import convert
from recipe_compiler.tensor.terms import Tensor
from recipe_compiler.verdict import Answer, Proved, Refuted, Undecided
from recipe_compiler.verify.core.identities import Identity, Question, Scalars, decide
from recipe_compiler.verify.core.sizes import Sizes
from recipe_compiler.verify.core.subject import Subject
from recipe_compiler.verify.infinity.at_infinity import OPEN, steep
from recipe_compiler.verify.updates.claimed_step import (
    SECOND,
    ClaimedStep,
    claimed_step,
    disagreement,
    guarded,
    halved,
    is_nothing,
)
from recipe_compiler.verify.updates.covariances import laws
from recipe_compiler.verify.updates.finite_step import departure, read_as, remarks
from recipe_compiler.verify.updates.gaussian_invariance import NotAffineError, refresh_identity
from recipe_compiler.verify.updates.step_residual import at_zero

ZERO, ONE = Fraction(0), Fraction(1)


def claims_update(dynamics: Dynamics) -> bool:
    """Whether an update is claimed."""
    return dynamics.claims.update is not None


def claimed_update(subject: Subject) -> Answer:
    """Decide that exp(-H) is stationary for the limit of the claimed update as eps -> 0, for every size.

    The limit is dz = f dt + sqrt(2D) dW with f = lim E[dz]/eps, a vector over z, and D = lim Cov[dz]/(2 eps), a matrix
    over z; its residual R has to vanish (Ma, Chen, Fox 2015, Theorem 1, for this f and D). Where all noise and drift
    begin at a higher power of eps, that power is the step size. A step that does not shrink with eps must keep the
    Gaussian exp(-H) itself. It rests on: both engines' E[dz] and Cov[dz] agree up to eps**2; every N(0, cov) has cov >=
    0 for small eps; estimated gradients are unbiased. A proof adds remarks on finite steps.

    Example: theta - eps/2 grad U + N(0, eps I) has f = -grad U/2 and D = I/2: R = 0, proved. With N(0, 2 eps I) it has
    D = I, R = (|grad U|**2 - tr Hess U)/2, and is refuted "at every step size".
    """
    where = subject.place("claims.update", "claims")
    try:
        claimed = claimed_step(subject.dynamics, where)
        answer = _answer(subject, claimed)
    except (NotReadError, ModelError) as reason:
        answer = Answer(Undecided((f"the update is not read: {reason}",)))
    return replace(answer, where=answer.where or where)


def _answer(subject: Subject, claimed: ClaimedStep) -> Answer:
    declared = claimed.declarations.find("eps")
    if not claimed.update.step.uses_eps and declared is not None:
        return Answer(Undecided(("eps is declared as a parameter, so the update has no step size",)))
    found = laws(claimed.update.step, claimed.sizes)
    if found.refuted is not None:
        what, point = found.refuted
        return Answer(Refuted(f"exact witness: {what}, is not positive semidefinite", point, what))
    if found.crooked:
        return Answer(Undecided((f"the covariance of {found.crooked} is not shown to be symmetric",)))
    left = [draw for draw in found.open if draw.leading is None or not _is_a_place_of_D(draw.leading, subject)]
    rests = {"D is positive semidefinite"} if len(left) < len(found.open) else set[str]()
    open_ = tuple(f"the covariance of {draw.says} is positive semidefinite for small eps" for draw in left)
    premises = claimed.premises | Obligations(found.given | rests, open_)
    unit = claimed.update.unit
    if unit != ONE and left:
        return Answer(Undecided(open_))  # what is no covariance sets no step size
    low = next((power for power in claimed.update.powers_below(TOP) if power <= SECOND), unit)
    if low == unit:
        return _limit(subject, claimed, premises)
    if low == ZERO:
        return _of_fixed_size(subject, claimed, premises)
    return _of_another_order(subject, claimed, premises, low)


def _limit(subject: Subject, claimed: ClaimedStep, premises: Obligations) -> Answer:
    """Decide the limiting equation, and add to a proof what is known of finite steps."""
    unit = claimed.update.unit
    answer = _decided(subject, claimed, premises, [_stationary(claimed, unit, "the residual of the limiting equation")])
    slow = _moved_later(claimed)
    match answer.decision:
        case Proved(_, given) if slow:
            reason = (
                f"{', '.join(slow)} moves with higher powers of eps only, so the limiting equation does not describe it"
            )
            return Answer(Undecided((reason,), given=given))
        case Proved(_, given) if passing := _through_infinity(claimed, unit):
            return Answer(Undecided((OPEN, *passing), given=given))
        case Proved(by, given, data):
            beside = remarks(claimed, subject.derivation)
            return replace(answer, decision=Proved(by, given, (*data, *beside.data), beside.said))
        case Refuted(by):
            by = f"wrong at every step size (eps^0): {by}{'' if unit == ONE else f'; {read_as(unit)}'}"
            return _placed(subject, claimed, replace(answer, decision=replace(answer.decision, by=by)))
        case Undecided():
            return answer


def _placed(subject: Subject, claimed: ClaimedStep, answer: Answer) -> Answer:
    """Return a refutation at the update of the block that departs from the equation of D and Q, if these are given."""
    found = departure(claimed, subject.derivation)
    if found is None or not isinstance(answer.decision, Refuted):
        return answer
    block, said = found
    decision = replace(answer.decision, residual=f"{answer.decision.residual}; {said}")
    return replace(answer, decision=decision, where=subject.place(f"claims.update.{block}", "claims.update", "claims"))


def _moved_later(claimed: ClaimedStep) -> tuple[str, ...]:
    """Return the blocks that a step moves, but not at order eps."""
    unit = claimed.update.unit
    mean, spread = claimed.update.mean_at(unit), claimed.update.covariance_at(unit)
    return tuple(
        block.name
        for block, dz, f, row in zip(claimed.declarations.blocks, claimed.update.change, mean, spread, strict=True)
        if dz.parts and is_nothing((f, *row))
    )


def _of_another_order(subject: Subject, claimed: ClaimedStep, premises: Obligations, low: Fraction) -> Answer:
    """Refute a step whose leading part, of another order than eps, does not preserve exp(-H)."""
    if low < 0:
        return Answer(Undecided((f"the step grows like eps^({low}) as eps becomes small",)))
    what = f"the residual of the eps^({low}) part of the step"
    answer = _decided(subject, claimed, premises, [_stationary(claimed, low, what)])
    match answer.decision:
        case Refuted(by):
            by = f"the step is of order eps^({low}), not eps, and that part is wrong: {by}"
            return replace(answer, decision=replace(answer.decision, by=by))
        case Undecided():
            return answer
        case Proved():
            reason = f"the step is of order eps^({low}), not eps; its further parts are not decided"
            return Answer(Undecided((reason,), given=answer.decision.given))


def _of_fixed_size(subject: Subject, claimed: ClaimedStep, premises: Obligations) -> Answer:
    """Decide a step that moves the state however small eps is."""
    blocks = claimed.declarations.blocks
    if is_nothing(claimed.update.mean_at(ZERO)):
        words = "the eps^0 part of Cov[dz], noise without a restoring drift"
        spread = next(x for row in claimed.update.covariance_at(ZERO) for x in row if not x.is_zero)
        answer = _decided(subject, claimed, premises, [Identity(words, claimed.where, spread, _spread_at(claimed))])
        match answer.decision:
            case Refuted(by):
                by = f"Cov[dz] does not shrink with eps: {by}"
                return replace(answer, decision=replace(answer.decision, by=by))
            case Proved():
                return Answer(Undecided((f"index calculus: {words} does not reduce to zero",)))
            case Undecided():
                return answer
    try:
        found, identity = refresh_identity(claimed.update, claimed.dynamics.H, claimed.where)
    except NotAffineError as reason:
        instance = _with_square_potential(claimed)
        if instance is None:
            return Answer(Undecided((f"the step does not vanish as eps -> 0: {reason}",)))
        return _of_instance(subject, instance, str(reason))
    answer = _decided(subject, claimed, premises, [identity])
    names = ", ".join(block.name for block in (found.blocks or blocks))
    match answer.decision:
        case Refuted(by):
            by = f"the step does not vanish as eps -> 0 and changes the distribution of {names}: {by}"
            return replace(answer, decision=replace(answer.decision, by=by))
        case Proved(by, given) if found.whole:
            given = tuple(sorted({*given, f"{names} is conditionally Gaussian under exp(-H)"}))
            return replace(
                answer, decision=Proved(f"an exact draw that preserves the distribution of {names}: {by}", given)
            )
        case Proved():
            reason = f"the step at eps = 0 preserves the distribution of {names}; the limit of the rest is not decided"
            return Answer(Undecided((reason,), given=answer.decision.given))
        case Undecided():
            return answer


def _of_instance(subject: Subject, instance: tuple[ClaimedStep, str], reason: str) -> Answer:
    """Refute by one admissible potential; nothing else follows from one."""
    claimed, potential = instance
    try:
        _, identity = refresh_identity(claimed.update, claimed.dynamics.H, claimed.where)
    except NotAffineError as other:
        return Answer(Undecided((f"the step does not vanish as eps -> 0: {reason}; for {potential}: {other}",)))
    answer = _decided(subject, claimed, claimed.premises, [identity])
    if not isinstance(answer.decision, Refuted):
        return Answer(Undecided((f"the step does not vanish as eps -> 0: {reason}",)))
    by = f"the step does not vanish as eps -> 0 and changes the distribution for {potential}: {answer.decision.by}"
    point = (*answer.decision.witness, ("potential", potential))
    return replace(answer, decision=replace(answer.decision, by=by, witness=point))


def _with_square_potential(claimed: ClaimedStep) -> tuple[ClaimedStep, str] | None:
    """Return the update for the potential |theta|**2/2, where it is abstract and of one block."""
    dynamics = claimed.dynamics
    item = dynamics.declarations.find(dynamics.potential or "")
    if not isinstance(item, Function) or len(item.of) != 1 or dynamics.claims.update is None:
        return None
    block = next(block for block in dynamics.declarations.blocks if block.name == item.of[0])
    square = _half_square(block)
    try:
        H = substitute(dynamics.H, {item.name: square})
        new = tuple((name, substitute(f, {item.name: square})) for name, f in dynamics.claims.update)
        functions = tuple(f for f in dynamics.declarations.functions if f != item)
        bound = replace(
            dynamics,
            H=H,
            D=None,
            Q=None,
            declarations=replace(dynamics.declarations, functions=functions),
            claims=replace(dynamics.claims, update=new, drift=None, diffusion=None),
        )
        return claimed_step(bound, claimed.where), f"{item.name} = {formula_text(square)}"
    except (ModelError, NotReadError):
        return None


def _half_square(block: Block) -> Formula:
    z = Symbol(block.name, block.shape, Role.BLOCK)
    square: Formula
    if block.shape.sizes:
        square = MatMul(Transpose(z, block.shape.transposed), z, SCALAR)
    else:
        square = Power(z, Number(Fraction(2)), SCALAR)
    return Multiply(square, Number(Fraction(1, 2)), SCALAR)


def _decided(subject: Subject, claimed: ClaimedStep, premises: Obligations, identities: list[Identity]) -> Answer:
    """Decide identities together with the agreement of the engines on the moments of the step."""
    agree = Identity(
        "the moments of the step minus those of the second engine", claimed.where, Tensor((), ()), disagreement(claimed)
    )
    return decide(Question((*identities, agree), claimed.declarations, claimed.sizes, premises, subject.contradiction))


def _stationary(claimed: ClaimedStep, power: Fraction, says: str) -> Identity:
    """Return the residual of the coefficients of one power of eps."""
    D = halved(claimed, claimed.update.covariance_at(power))
    left = residual(claimed.energy, claimed.update.mean_at(power), D)

    def entries(sizes: Sizes) -> Sequence[Expr]:
        return [claimed.residual_at(sizes, power)]

    return Identity(says, claimed.where, left, guarded(entries))


def _through_infinity(claimed: ClaimedStep, power: Fraction) -> tuple[str, ...]:
    """Return terms of the limiting equation's current that may go through infinity, which its residual does not see."""
    D = halved(claimed, claimed.update.covariance_at(power))
    return steep(replace(claimed.energy, drift=claimed.update.mean_at(power), D=D))


def _spread_at(claimed: ClaimedStep) -> Scalars:
    def entries(sizes: Sizes) -> Sequence[Expr]:
        return [x for row in at_zero(claimed.at(sizes)).covariance for x in row]

    return guarded(entries)


def _is_a_place_of_D(leading: Formula, subject: Subject) -> bool:
    """Whether a covariance is 1 or 2 times a diagonal place of the D given, whose semidefiniteness is its own claim."""
    if subject.dynamics.D is None or subject.derivation is None:
        return False
    declarations = subject.derivation.dynamics.declarations
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

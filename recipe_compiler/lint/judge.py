"""Does the limit of small steps preserve exp(-H), at fixed sizes? Given a minibatch, that of the mean over all?

With H of a batch in the place of H, f_batch = -(D + Q) grad H_batch + Gamma for every batch, D and Q being those of the
document, has the mean f = -(D + Q) grad H + Gamma, for grad H_batch is grad H in the mean. That f_batch keeps
exp(-H_batch) alone says nothing of the mean: a current may follow the batch.
"""

from dataclasses import replace
from fractions import Fraction

import sympy
from sympy import Expr

from recipe_compiler.algebra.scalars.symbols import component, coordinates
from recipe_compiler.algebra.zero.zero import is_zero
from recipe_compiler.formula.declaration import Function
from recipe_compiler.lint.equation import same_equation
from recipe_compiler.lint.formulas import formula
from recipe_compiler.lint.gaussian_invariance import kept
from recipe_compiler.lint.moments import is_moved
from recipe_compiler.lint.read import NORMAL, TWO, Read, Seen, TracedProblem, not_zero, refuted, with_needs
from recipe_compiler.lint.series import EXACT
from recipe_compiler.verify.equation.periodic import on_circles, once_around
from recipe_compiler.verify.updates.expansion import ZERO
from recipe_compiler.verify.updates.gaussian_invariance import NotAffineError
from recipe_compiler.verify.updates.step_residual import MomentCoefficient, residual

NOT_LINEAR = "not shown: with the gradient of a batch it has the drift and noise of D and Q"


def stationary(read: Read) -> Seen:
    """Return whether exp(-H) is stationary for the limit of small steps, f = lim E[dz]/eps and D = lim Cov[dz]/(2 eps).

    The residual (1/p) [-div(f p) + sum_ij d_i d_j (D_ij p)], p = exp(-H), is 0 (cf. Ma, Chen, Fox 2015, Eq. 5).
    """
    return with_needs(read, _stationary)


def stationary_of_mean(read: Read) -> Seen:
    """Return whether exp(-H) is stationary for the limit of small steps, its drift being the mean over all batches."""
    found = stationary(read)
    if not found.holds or same_equation(read).holds:
        return found
    return replace(found, holds=False, by="", reason=NOT_LINEAR, given=(), left=())


def _stationary(read: Read) -> Seen:
    problem = read.problem
    unit = read.unit
    parts = read.parts(unit) or read.parts(TWO)
    if not parts:
        moves = any(is_moved(dz) for dz in read.moments.change)
        return Seen(problem.at, reason="it moves nothing at order eps" if moves else "it moves nothing")
    low = min(parts)
    if low < ZERO:
        return _growing(problem, low, parts[low])
    if low == ZERO:
        return _fixed(read, parts[low])
    left = residual(problem.z, parts[low], problem.H)
    if low != unit:
        by = f"the step is of order eps^({low}), not eps, and that part is wrong: exact witness"
        open_ = f"the step is of order eps^({low}), not eps; its further parts are not decided"
        return refuted(problem, [(f"the residual of the eps^({low}) part of the step", left)], by) or Seen(
            problem.at, reason=open_
        )
    if is_zero(left):
        slow = _moved_later(read, parts[unit])
        if slow:
            why = (
                f"{', '.join(slow)} moves with higher powers of eps only, so the limiting equation does not describe it"
            )
            return Seen(problem.at, reason=why)
        not_periodic = _not_periodic(problem, parts[unit])
        if not_periodic:
            return Seen(problem.at, reason=f"not shown: H and the limiting equation are periodic in {not_periodic}")
        return Seen(problem.at, holds=True, by=f"{NORMAL}{read.says}")
    by = f"wrong at every step size (eps^0): exact witness{read.says}"
    unknown = "the residual of the limiting equation did not reduce to zero, no witness found"
    return refuted(problem, [("the residual of the limiting equation", left)], by) or Seen(
        problem.at, reason=unknown, residual=formula(left)
    )


def _not_periodic(problem: TracedProblem, part: MomentCoefficient) -> str:
    """Return a block on a circle around which H or the limiting equation does not come back to itself."""
    setting = problem.subject.setting(problem.sizes)
    entries = (problem.H, *part.mean, *(x for row in part.covariance for x in row))
    for block in on_circles(problem.subject.dynamics.declarations):
        if not all(is_zero(change) for e in entries for change in once_around(e, block, setting)):
            return block.name
    return ""


def _moved_later(read: Read, part: MomentCoefficient) -> list[str]:
    """Return the blocks that a step moves, but not at order eps."""
    found: list[str] = []
    k = 0
    for block in read.problem.subject.dynamics.declarations.blocks:
        n = len(coordinates(block, read.problem.sizes))
        here = range(k, k + n)
        k += n
        still = all(is_zero(x) for i in here for x in (part.mean[i], *part.covariance[i]))
        if still and any(is_moved(read.moments.reading.leading(read.moments.change[i])) for i in here):
            found.append(block.name)
    return found


def _growing(problem: TracedProblem, power: Fraction, part: MomentCoefficient) -> Seen:
    """Refute a step that grows as eps becomes small: z' eps^k -> 0 for a fixed law of z', so that no part eps^-k is."""
    at = f"the part eps^({power})"
    grows = [(f"{at} of E[dz]", x) for x in part.mean]
    grows += [(f"{at} of Cov[dz]", x) for row in part.covariance for x in row]
    by = f"the step grows as eps becomes small, as eps^({power}): exact witness"
    unknown = Seen(problem.at, reason=f"the step grows as eps becomes small, as eps^({power})")
    return refuted(problem, grows, by) or unknown


def _fixed(read: Read, part: MomentCoefficient) -> Seen:
    """Return what is known of a step that moves the state however small eps is."""
    problem = read.problem
    if all(is_zero(x) for x in part.mean):
        words = "the eps^0 part of Cov[dz], noise without a restoring drift"
        spread = [(words, x) for row in part.covariance for x in row]
        found = refuted(problem, spread, "Cov[dz] does not shrink with eps: exact witness")
        return found or Seen(problem.at, reason=f"{words} did not reduce to zero, no witness found")
    try:
        law = kept(problem.z, part, problem.H)
    except NotAffineError as reason:
        if problem.no_step_size:
            return Seen(problem.at, reason=problem.no_step_size)
        return _of_square_potential(problem, part, str(reason))
    names = ", ".join(map(str, law.moved))
    by = f"the step does not vanish as eps -> 0 and changes the distribution of {names}: exact witness"
    left = not_zero(law.conditions)
    if left and not law.anew and problem.no_step_size:
        return Seen(problem.at, reason=f"{problem.no_step_size}; as it is, it changes the moved distribution")
    if left:
        unknown = f"{left[0][0]} did not reduce to zero, no witness found"
        return refuted(problem, left, by) or Seen(problem.at, reason=unknown, residual=formula(left[0][1]))
    if _is_draw(read):
        return Seen(problem.at, holds=True, by=f"an exact draw that preserves the distribution of {names}: {NORMAL}")
    reason = f"the step at eps = 0 preserves the distribution of {names}; the limit of the rest is not decided"
    return Seen(problem.at, reason=reason)


def _is_draw(read: Read) -> bool:
    """Whether a step is affine in its draws, and eps does not occur in it."""
    every = [key for dz in read.moments.change for key in dz.terms]
    return all(power == 0 and len(draws) <= 1 for power, draws in every) and all(
        dz.known == EXACT for dz in read.moments.change
    )


def _of_square_potential(problem: TracedProblem, part: MomentCoefficient, reason: str) -> Seen:
    """Refute by one admissible potential, |theta|**2/2; nothing else follows from one."""
    declarations = problem.subject.dynamics.declarations
    item = declarations.find(problem.subject.dynamics.potential or "")
    unknown = Seen(problem.at, reason=f"the step does not vanish as eps -> 0: {reason}")
    if not isinstance(item, Function):
        return unknown
    call = component(item, (), declarations, problem.sizes)
    square = sympy.Add(*(x**2 for x in problem.z if x in call.free_symbols)) / 2

    def bound(e: Expr) -> Expr:
        return e.xreplace({call: square}).doit()

    new = MomentCoefficient(
        tuple(bound(x) for x in part.mean), tuple(tuple(bound(x) for x in row) for row in part.covariance)
    )
    try:
        law = kept(problem.z, new, bound(problem.H))
    except NotAffineError:
        return unknown
    says = f"{item.name} = {formula(square)}"
    by = f"the step does not vanish as eps -> 0 and changes the distribution for {says}: exact witness"
    return refuted(problem, law.conditions, by, says) or unknown

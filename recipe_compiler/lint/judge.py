"""Does the limit of small steps preserve exp(-H), at fixed sizes? Given a minibatch, that of the mean over all?

With H of a batch in the place of H, f_batch = -(D + Q) grad H_batch + Gamma for every batch, D and Q being those of the
document, has the mean f = -(D + Q) grad H + Gamma, for grad H_batch is grad H in the mean. That f_batch keeps
exp(-H_batch) alone says nothing of the mean: a current may follow the batch.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import sympy
from sympy import Expr

from recipe_compiler.algebra.scalars.symbols import component, coordinates
from recipe_compiler.algebra.zero.zero import is_zero
from recipe_compiler.formula.declaration import Declarations
from recipe_compiler.lint.equation import compare_equations
from recipe_compiler.lint.flux import exclude_flux
from recipe_compiler.lint.formulas import format_expression
from recipe_compiler.lint.read import (
    TWO,
    UNREAD,
    MomentReader,
    Outcome,
    TracedProblem,
    decide,
    decide_with_needs,
    list_nonzero,
    make_outcome,
)
from recipe_compiler.trace.density_change import PolyDensity, density_change
from recipe_compiler.trace.gaussian import invariance_at
from recipe_compiler.trace.moments import Coefficients, Moments
from recipe_compiler.trace.scalars import Poly, value_of
from recipe_compiler.trace.series import EXACT, ZERO
from recipe_compiler.verdict import Answer, Decision, Proved, Undecided
from recipe_compiler.verify.core.sizes import Sizes, format_sizes
from recipe_compiler.verify.equation.periodic import circle_blocks, period_changes
from recipe_compiler.verify.updates.claimed_step import residual_of
from recipe_compiler.verify.updates.finite_steps import describe_finite_steps
from recipe_compiler.verify.updates.judgement import Refreshed, decide_limit

NOT_LINEAR = "not shown: with the gradient of a batch it has the drift and noise of D and Q"

Condition = tuple[str, Expr]


def decide_stationary(read: MomentReader) -> Outcome:
    """Return whether exp(-H) is stationary for the limit of small steps, f = lim E[dz]/eps and D = lim Cov[dz]/(2 eps).

    The residual (1/p) [-div(f p) + sum_ij d_i d_j (D_ij p)], p = exp(-H), is 0 (cf. Ma, Chen, Fox 2015, Eq. 5).
    """
    return decide_with_needs(read, _decide_stationary)


def decide_stationary_of_mean(read: MomentReader) -> Outcome:
    """Return whether exp(-H) is stationary for the limit of small steps, its drift being the mean over all batches."""
    found = decide_stationary(read)
    if not found.holds or compare_equations(read).holds:
        return found
    return replace(found, holds=False, by="", reason=NOT_LINEAR, given=(), left=())


def _decide_stationary(read: MomentReader) -> Outcome:
    step = TracedStep(read)
    if not step.powers:
        moves = any(dz.parts for dz in read.reading.moments.change)
        return Outcome(read.problem.at, reason="it moves nothing at order eps" if moves else "it moves nothing")
    return make_outcome(read.problem, decide_limit(step, step.completed))


def describe_bias(read: MomentReader) -> tuple[str, ...]:
    """Return what finite steps do, in sentences; none where the limit is not read."""
    try:
        step = TracedStep(read)
        low = min(step.powers, default=None)
        return tuple(said for said, _ in describe_finite_steps(step) if said) if low == step.unit else ()
    except UNREAD:
        return ()


@dataclass(frozen=True)
class TracedStep:
    """A traced step at fixed sizes, as it is judged; every scalar is mapped by `bound`."""

    read: MomentReader
    bound: Callable[[Expr], Expr] = lambda e: e

    @property
    def problem(self) -> TracedProblem:
        """What the step is judged by."""
        return self.read.problem

    @property
    def unit(self) -> Fraction:
        """The power of eps that one step takes of time."""
        return self.read.unit

    @property
    def read_as(self) -> str:
        """As what the step size is read, to be put behind a verdict."""
        return self.read.says

    @cached_property
    def parts(self) -> dict[Fraction, Coefficients[Expr]]:
        """The moments by powers of eps: up to the unit, or to 2 where there are none."""
        return self.read.parts(self.unit) or self.read.parts(TWO)

    @property
    def powers(self) -> tuple[Fraction, ...]:
        """The powers of eps that do not vanish in a moment."""
        return tuple(self.parts)

    def decide(self, conditions: Sequence[Condition]) -> Answer:
        """Decide that scalars vanish."""
        return decide(self.problem, conditions)

    def stationary(self, power: Fraction, words: str) -> Condition:
        """Return the residual of the coefficients of one power of eps."""
        return words, residual_of(self.problem.z, self.parts[power], self.problem.H)

    def growth(self, power: Fraction) -> Sequence[Condition]:
        """Return the coefficients of a negative power of eps."""
        part, at = self.parts[power], f"the part eps^({power})"
        covariance = [(f"{at} of Cov[dz]", x) for row in part.covariance for x in row]
        return [*((f"{at} of E[dz]", x) for x in part.mean), *covariance]

    def spread(self, words: str) -> Sequence[Condition]:
        """Return the entries of Cov[dz] at eps = 0; none on circles, where noise may keep the law."""
        if circle_blocks(self.problem.subject.declarations):
            return ()
        return [(words, x) for row in self.parts[ZERO].covariance for x in row]

    def has_mean_at_zero(self) -> bool:
        """Whether E[dz] does not vanish at eps = 0."""
        return not all(map(is_zero, self.parts[ZERO].mean))

    def refreshed(self) -> Refreshed[Condition]:
        """Return what the step at eps = 0 has to keep.

        Raises:
            NotAffineError: it is no affine step of what is Gaussian under exp(-H).
        """
        part = self.parts[ZERO]
        rows = tuple(tuple(map(self.bound, row)) for row in part.covariance)
        own = Coefficients(tuple(map(self.bound, part.mean)), rows)
        law = invariance_at(self.problem.setting, own, self.bound(self.problem.H))
        why = "" if law.is_drawn_anew else self.problem.no_step_size
        unread = f"{why}; as it is, it changes the moved distribution" if why else ""
        conditions = tuple(list_nonzero(law.conditions))
        return Refreshed(", ".join(law.moved), conditions, self._is_draw(), unread)

    def _is_draw(self) -> bool:
        """Whether a step is affine in its draws, and eps does not occur in it."""
        change = self.read.reading.moments.change
        entries = [(power, draws) for dz in change for power, x in dz.parts.items() for draws in x]
        is_exact = all(dz.known == EXACT for dz in change)
        return is_exact and all(power == 0 and len(draws) <= 1 for power, draws in entries)

    def with_square_potential(self) -> "tuple[TracedStep, str] | str":
        """Return the step for the potential |theta|**2/2, where it is abstract."""
        dynamics, z = self.problem.subject.dynamics, self.problem.z
        potentials = [f for f in dynamics.declarations.functions if f.value.declared == dynamics.potential]
        if self.problem.no_step_size or not potentials or circle_blocks(dynamics.declarations):
            return self.problem.no_step_size
        calls = [component(item, (), dynamics.declarations, self.problem.sizes) for item in potentials]
        squares = {call: sympy.Add(*(x**2 for x in z if x in call.free_symbols)) / 2 for call in calls}
        says = f"{potentials[0].name} = {format_expression(squares[calls[0]])}"
        return TracedStep(self.read, lambda e: e.xreplace(squares).doit()), says

    @property
    def declarations(self) -> Declarations:
        """What a point has to satisfy."""
        return self.problem.subject.declarations

    @property
    def sizes(self) -> tuple[Sizes, ...]:
        """Those that it was traced at."""
        return (self.problem.sizes,)

    @property
    def density(self) -> PolyDensity:
        """exp(-H)."""
        return PolyDensity(self.problem.z, self.problem.H)

    def moments_to(self, power: Fraction) -> Moments[Poly]:
        """Return the moments of the step, known up to a power of eps if possible."""
        return self.read.reading_to(power).moments

    def change_at(self, sizes: Sizes, power: Fraction) -> Expr:
        """Return the part of the change of exp(-H) at a power of eps, over exp(-H)."""
        del sizes
        found = self.moments_to(power)
        return value_of(found.S.at(density_change(found, self.density, power), power))

    def text(self, x: Poly) -> str:
        """Return a coefficient without draws, and the sizes."""
        at = f" (at {format_sizes(self.problem.sizes)})" if self.problem.sizes else ""
        return f"{format_expression(value_of(x))}{at}"

    def moved_later(self) -> Sequence[str]:
        """Return the blocks that the step moves, but not at its own order."""
        part, reading = self.parts[self.unit], self.read.reading
        rows = iter(zip(reading.moments.change, part.mean, part.covariance, strict=True))
        found: list[str] = []
        for block in self.problem.subject.declarations.blocks:
            own = [next(rows) for _ in coordinates(block, self.problem.sizes)]
            still = all(map(is_zero, (x for _, f, row in own for x in (f, *row))))
            if still and any(reading.S.leading(dz).parts for dz, _, _ in own):
                found.append(block.name)
        return found

    def completed(self, proof: Proved) -> Decision:
        """Return the decision where the limiting equation is right: around every circle, at faces and at infinity."""
        part, setting = self.parts[self.unit], self.problem.setting
        for block in circle_blocks(self.problem.subject.declarations):
            entries = (self.problem.H, *part.entries)
            if not all(is_zero(change) for e in entries for change in period_changes(e, block, setting)):
                why = f"not shown: H and the limiting equation are periodic in {block.name}"
                return Undecided((why,))
        return exclude_flux(self.problem, part, replace(proof, by=f"{proof.by}{self.read_as}"))

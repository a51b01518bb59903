"""The limit of small steps at fixed sizes: as text, beside the equation of D and Q, and what finite steps leave."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

import sympy
from sympy import Expr

from recipe_compiler.algebra.dynamics import system as second
from recipe_compiler.algebra.scalars.rationals import fraction, rational
from recipe_compiler.algebra.zero.zero import is_zero
from recipe_compiler.lint.formulas import format_expression
from recipe_compiler.lint.read import (
    UNREAD,
    MomentReader,
    Outcome,
    TracedProblem,
    decide,
    decide_with_needs,
    make_outcome,
)
from recipe_compiler.trace.moments import Coefficients
from recipe_compiler.trace.series import ONE, ZERO
from recipe_compiler.verdict import Evidence, Proved
from recipe_compiler.verify.core.sizes import format_sizes


@dataclass(frozen=True, slots=True)
class LimitEquation:
    """The limit of small steps, as text: entries that are zero are left out of the diffusion."""

    sizes: tuple[tuple[str, int], ...]
    drift: Evidence = ()
    diffusion: Evidence = ()
    remarks: tuple[str, ...] = ()
    """What finite steps do, in sentences."""
    step_size: str = ""
    """As what the step size was read; empty where it is the argument itself."""
    reason: str = ""
    """Why it could not be read."""

    @property
    def lines(self) -> tuple[str, ...]:
        """The limit in lines of text, or why there is none."""
        at = f" at {format_sizes(dict(self.sizes))}" if self.sizes else ""
        if self.reason:
            return (f"no limiting equation{at}: {self.reason}",)
        by = f", {self.step_size}" if self.step_size else ""
        return (
            f"drift{at}, lim E[dz]/eps{by}:",
            *(f"    {name}: {text}" for name, text in self.drift),
            f"diffusion{at}, lim Cov[dz]/(2 eps), zeros omitted:",
            *(f"    {name}: {text}" for name, text in self.diffusion or (("all", "0"),)),
        )


def read_equation(read: MomentReader) -> LimitEquation:
    """Return the limit of small steps as text, and what the next power of eps leaves.

    f = lim E[dz]/eps and D = lim Cov[dz]/(2 eps), n and n x n.
    """
    problem = read.problem
    try:
        unit = read.unit
        parts = read.parts(unit)
    except UNREAD as reason:
        return LimitEquation(problem.at, reason="; ".join(filter(None, (problem.no_step_size, str(reason)))))
    low = min(parts, default=unit)
    if low < unit:
        why = f"the step does not shrink like eps: it has a part eps^({low})"
        return LimitEquation(problem.at, reason=problem.no_step_size or why)
    part = read.at(unit)
    drift = tuple((str(x), format_expression(f)) for x, f in zip(problem.z, part.mean, strict=True))
    diffusion = tuple(
        (f"{x}, {y}", format_expression(part.covariance[i][j] / 2))
        for i, x in enumerate(problem.z)
        for j, y in enumerate(problem.z)
        if i <= j and not is_zero(part.covariance[i][j])
    )
    return LimitEquation(problem.at, drift, diffusion, step_size=read.says.removeprefix("; "))


def compare_equations(read: MomentReader) -> Outcome:
    """Return whether the limit is the equation of the D and Q of the document: f and D equal, entry by entry."""
    return decide_with_needs(read, _compare_limit)


def _compare_limit(read: MomentReader) -> Outcome:
    problem, unit = read.problem, read.unit
    parts = read.parts(unit)
    if min(parts, default=unit) < unit:
        return Outcome(problem.at, reason=problem.no_step_size or "the step does not shrink like eps")
    part = read.at(unit)
    scale = _find_scale(problem, part)
    found = decide(problem, [*list_differences(problem, part, ONE)])
    how = f"; {read.step_size(ONE)}" if unit != ONE else ""
    if scale != ONE and not isinstance(found.decision, Proved):
        scaled = decide(problem, [*list_differences(problem, part, scale)])
        if unit != ONE or isinstance(scaled.decision, Proved):
            found = scaled
            how = f"; {read.step_size(scale)}" if unit != ONE else f", a step eps being one of {scale} eps"
    own = make_outcome(problem, found)
    return replace(own, by=own.by and f"{own.by}{how}", reason=own.reason and f"{own.reason}{how}")


def is_of_recipe(problem: TracedProblem, part: Coefficients[Expr]) -> bool:
    """Return whether a limit is a positive multiple of the equation of D and Q; False where these are not given."""
    if problem.subject.derivation is None or problem.subject.dynamics.Q is None:
        return False
    return all(is_zero(e) for _, e in list_differences(problem, part, _find_scale(problem, part)))


def _find_scale(problem: TracedProblem, part: Coefficients[Expr]) -> Fraction:
    """Return the ratio of the limit to the equation of D and Q in the first entry where both are nonzero, or 1.

    Some write -grad U/2 and a noise of variance eps. The diffusion is compared first.
    """
    for (_, less), (_, whole) in zip(
        *(reversed([*list_differences(problem, part, k)]) for k in (ONE, ZERO)), strict=True
    ):
        if is_zero(whole) or is_zero(whole - less):
            continue
        ratio = sympy.cancel(whole / (whole - less))
        return fraction(ratio) if isinstance(ratio, sympy.Rational) and ratio > 0 else ONE
    return ONE


def list_differences(problem: TracedProblem, part: Coefficients[Expr], k: Fraction) -> Iterator[tuple[str, Expr]]:
    """Yield the limit less k times the equation of D and Q, entry by entry: the drift, then the diffusion by rows."""
    scale = rational(k)
    system = problem.subject.system(problem.sizes)
    for x, f, own in zip(problem.z, part.mean, second.drift(system), strict=True):
        yield f"the drift of {x} minus that of D and Q", f - scale * own
    for i, x in enumerate(problem.z):
        for j, y in enumerate(problem.z):
            yield f"the diffusion of {x}, {y} minus D", part.covariance[i][j] / 2 - scale * system.D[i][j]

"""The limit of small steps at fixed sizes: as text, beside the equation of D and Q, and what finite steps leave."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import sympy
from sympy import Expr

from recipe_compiler.algebra import system as second
from recipe_compiler.algebra.witness import witness
from recipe_compiler.algebra.zero import is_zero
from recipe_compiler.verify.discrete import Part, by_powers, residual
from recipe_compiler.verify.identities import shown
from recipe_compiler.verify.lint.formulas import formula
from recipe_compiler.verify.lint.moments import moments_of
from recipe_compiler.verify.lint.read import (
    NORMAL,
    ONE,
    TWO,
    UNREAD,
    Problem,
    Read,
    Seen,
    Texts,
    meaning,
    not_zero,
    refuted,
    with_needs,
)

SHORT = 120
"""Characters of a formula in a sentence; a value at a point takes the place of a longer one."""
SCALES = tuple(Fraction(n, m) for k in range(2, 33) for n, m in ((k, 1), (1, k)))
"""Scales of eps that are looked for: some write -grad U/2 and a noise of variance eps."""


@dataclass(frozen=True, slots=True)
class Equation:
    """The limit of small steps, as text: entries that are zero are left out of the diffusion."""

    sizes: tuple[tuple[str, int], ...]
    drift: Texts = ()
    diffusion: Texts = ()
    bias: str = ""
    """What finite steps do."""
    reason: str = ""
    """Why it could not be read."""


def equation(read: Read) -> Equation:
    """Return the limit of small steps as text, and what the next power of eps leaves."""
    problem = read.problem
    try:
        parts = read.parts(ONE)
    except UNREAD as reason:
        return Equation(problem.at, reason=str(reason))
    low = min(parts, default=ONE)
    if low < ONE:
        return Equation(problem.at, reason=f"the step does not shrink like eps: it has a part eps^({low})")
    none = sympy.Integer(0)
    n = len(problem.z)
    part = parts.get(ONE, Part((none,) * n, ((none,) * n,) * n))
    drift = tuple((str(x), formula(f)) for x, f in zip(problem.z, part.mean, strict=True))
    diffusion = tuple(
        (f"{x}, {y}", formula(part.covariance[i][j] / 2))
        for i, x in enumerate(problem.z)
        for j, y in enumerate(problem.z)
        if i <= j and not is_zero(part.covariance[i][j])
    )
    return Equation(problem.at, drift, diffusion)


def finite_steps(read: Read) -> str:
    """Return what the moments of finite steps leave; empty where that is nothing, not known, or the limit is none."""
    problem = read.problem
    try:
        if min(read.parts(ONE), default=TWO) != ONE:
            return ""
        moments = read.moments if read.moments.known >= TWO else moments_of(problem.trace, meaning(problem), TWO)
        for power, part in sorted(by_powers(moments.step, TWO).items()):
            left = residual(problem.z, part, problem.H)
            if power > ONE and not is_zero(left):
                what = f"moments of the step: the eps^({power - 1}) part of their residual does not vanish"
                return f"{what}: {_brief(problem, left)}"
    except UNREAD:
        pass
    return ""


def _brief(problem: Problem, e: Expr) -> str:
    """Return a scalar as text, a long one by a value at a point."""
    text = formula(e)
    found = witness(e, problem.case.dynamics.declarations, problem.sizes) if len(text) > SHORT else None
    if found is None:
        return text
    return f"at {', '.join(f'{name} = {value}' for name, value in found.text)} it is {shown(found.value)}"


def _same(read: Read) -> Seen:
    problem = read.problem
    parts = read.parts(ONE)
    if min(parts, default=ONE) < ONE:
        return Seen(problem.at, reason="the step does not shrink like eps")
    part = parts.get(ONE)
    left = not_zero(_differences(problem, part, ONE))
    if not left:
        return Seen(problem.at, holds=True, by=NORMAL)
    for k in SCALES:
        if all(is_zero(e) for _, e in _differences(problem, part, k)):
            return Seen(problem.at, holds=True, by=f"{NORMAL}, a step eps being one of {k} eps")
    unknown = Seen(problem.at, reason=f"{left[0][0]} did not reduce to zero, no witness found")
    return refuted(problem, left, "exact witness") or unknown


def _differences(problem: Problem, part: Part | None, k: Fraction) -> Iterator[tuple[str, Expr]]:
    """Yield the limit less k times the equation of D and Q, entry by entry."""
    scale = sympy.Rational(k.numerator, k.denominator)
    system = problem.case.system(problem.sizes)
    none = sympy.Integer(0)
    n = len(problem.z)
    part = part or Part((none,) * n, ((none,) * n,) * n)
    for x, f, own in zip(problem.z, part.mean, second.drift(system), strict=True):
        yield f"the drift of {x} less that of D and Q", f - scale * own
    for i, x in enumerate(problem.z):
        for j, y in enumerate(problem.z):
            yield f"the diffusion of {x}, {y} less D", part.covariance[i][j] / 2 - scale * system.D[i][j]


def same_equation(read: Read) -> Seen:
    """Return whether the limit is the equation of the D and Q of the document, entry by entry."""
    return with_needs(read, _same)

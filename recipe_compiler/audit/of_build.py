"""The Gaussian audit of a build: what its step samples, at its values and step size, where U is quadratic.

What follows from F and Sigma (`audit/figures.py`) is computed in double precision, and is no proof.
"""

from collections.abc import Callable, Iterator

import numpy as np

from recipe_compiler import limits
from recipe_compiler.audit.affine import NotAffineError, lines_of
from recipe_compiler.audit.at_values import Audited, NoAuditError, is_quadratic, read_affine_step
from recipe_compiler.audit.figures import (
    Figures,
    NoLawError,
    covariance,
    figures,
    is_stable,
    largest_stable,
    require_definite,
    solve_invariant_block,
)
from recipe_compiler.audit.thermostat import settles_at
from recipe_compiler.derive.recipe import Derivation, derive
from recipe_compiler.errors import ModelError
from recipe_compiler.formula.arrays import Array
from recipe_compiler.formula.shapes import DomainName
from recipe_compiler.readback.mean import values as entries
from recipe_compiler.scheme.discretise import discretise
from recipe_compiler.spec.known_potential import with_known_potential
from recipe_compiler.spec.model import Build
from recipe_compiler.verdict import Explanation, Topic

NONE = "U is quadratic; the distribution of the chain is not computed"
BY = "U is quadratic by index calculus; in double precision, from F and Sigma of the step"


def audit(build: Build) -> tuple[Explanation, ...]:
    """Return the explanation of which distribution a step samples at a build's values.

    Empty if U is not quadratic, a block has bounds, the step size is not set yet, or the step is a cycle of moves,
    which is not affine. Where U is quadratic and nothing could be computed, the explanation says why.
    """
    if (
        build.is_planned
        or build.scheme.cycle
        or any(b.domain.name is not DomainName.REAL for b in build.dynamics.declarations.blocks)
    ):
        return ()
    try:
        known, dynamics = with_known_potential(build)
        derivation = derive(dynamics, stated=True)
        program = discretise(known, derivation)
    except ModelError:  # of a build that cannot be emitted, which is for whoever compiles it
        return ()
    if not is_quadratic(program):
        return ()
    eps = float(build.eps)
    try:
        found = read_affine_step(build, program)
        rest = None if program.noises or found.step.held else _other_covariance(derivation, found)
    except (NoAuditError, NotAffineError) as why:
        return (Explanation(Topic.STEP, f"{NONE}: {why}"),)
    if found.step.held:
        return (_explain_thermostat(found, eps),)
    here = found.step.at(eps)
    limit = largest_stable(lambda h: found.step.at(h).F, eps, 1.05, 1e-4)
    stable = ("largest stable step size", "none was found" if limit is None else f"{limit:.4g}")
    try:
        require_definite(found.K)
        law = figures(here.F, covariance(here.F, here.Sigma), found.K, found.theta)
    except NoLawError as why:
        if rest is not None and is_stable(here.F):
            return (_explain_conservative(found, here.F, rest, eps, stable),)
        return (Explanation(Topic.STEP, f"{NONE} at the step size {eps:g}: {why}", (stable,), BY),)
    says = f"bias and mixing of a chain for exp(-U) at the step size {eps:g}"
    return (Explanation(Topic.STEP, says, (*_report_rows(found.block, law), stable), BY),)


def _explain_thermostat(found: Audited, eps: float) -> Explanation:
    """Return the explanation for a step with a thermostat, held at its mean value."""
    step, (name,) = found.step, found.step.held

    def change(x: float) -> float:
        value = step.rounded(eps, x)
        here = step.composed(value)
        return step.mean_change(covariance(here.F, here.Sigma), value)

    try:
        require_definite(found.K)
        x = settles_at(change, name)
        here = step.composed(step.rounded(eps, x))
        law = figures(here.F, covariance(here.F, here.Sigma), found.K, found.theta)
    except NoLawError as why:
        return Explanation(Topic.STEP, f"{NONE} at the step size {eps:g}: {why}", (), BY)
    says = (
        f"bias and mixing of a chain for exp(-U) at the step size {eps:g}, with {name} fixed at its mean {x:.5f}: "
        "a forecast that ignores its fluctuations"
    )
    return Explanation(Topic.STEP, says, tuple(_report_rows(found.block, law)), BY)


def _other_covariance(derivation: Derivation, found: Audited) -> Array | None:
    """Return the covariance under exp(-H) of all blocks except the potential's; None if those are coupled to it."""
    names, blocks = found.step.names, derivation.declarations.blocks
    others = [block for place, block in enumerate(blocks) if place != found.place]
    says = [f"dH/d{block.name}" for block in others for _ in names.block(block)]
    own = [x for block in others for x in names.block(block)]
    slopes = [
        entry for place, block in enumerate(blocks) if place != found.place
        for entry in entries(derivation.grad_H[place], names, block)
    ]  # fmt: skip
    theta = frozenset(names.block(blocks[found.place]))
    if not own or any(theta & slope.free_symbols for slope in slopes):
        return None
    lines = lines_of(slopes, says, own, names.inverses_written_out(slopes))
    return np.linalg.inv(np.array([[float(dict(line.factors).get(x, 0)) for x in own] for line in lines]))


def _explain_conservative(found: Audited, F: Array, rest: Array, eps: float, stable: tuple[str, str]) -> Explanation:
    """Return the explanation for a bounded step without noise: it has many invariant distributions."""
    others = [block.name for block in found.step.blocks if block.name != found.block]
    says = f"the step has no noise at the step size {eps:g}: it is not ergodic, and its chains depend on their start"
    S = solve_invariant_block(F, rest, found.theta)
    if S is None:
        return Explanation(Topic.STEP, says, (stable,), BY)
    factors = np.sqrt(np.diag(S) / np.diag(np.linalg.inv(found.K)))
    kept = f"sd of {found.block} over that of exp(-U), with {', '.join(others)} distributed as under exp(-H)"
    return Explanation(Topic.STEP, says, ((kept, _list_numbers(factors, lambda x: f"{x:.5f}")), stable), BY)


def _report_rows(block: str, law: Figures) -> Iterator[tuple[str, str]]:
    """Yield the rows of the report on the potential's block: name and value."""
    yield f"sd of {block} over that of exp(-U)", _list_numbers(law.factors, lambda x: f"{x:.5f}")
    yield "effective temperature tr(S Hess U)/d", f"{law.temperature:.5f}"
    yield f"steps per effective draw of {block}", _list_numbers(law.times, lambda x: f"{x:.4g}")
    yield "steps per effective draw of its square", _list_numbers(law.times_of_squares, lambda x: f"{x:.4g}")


def _list_numbers(values: Array, shown: Callable[[float], str]) -> str:
    """Return numbers in the order of the coordinates; the smallest and the largest if there are many."""
    if len(values) <= limits.COORDINATES:
        return ", ".join(shown(float(value)) for value in values)
    return f"{shown(float(values.min()))} to {shown(float(values.max()))}"

"""The Gaussian audit of a build: what its step samples, at its values and step size, where U is quadratic.

That U is quadratic and the step affine is decided by index calculus and by differentiation; F and Sigma are composed
from the statements of the Program, exactly but for the last step, where each coefficient is rounded to double precision
once. What follows from them is computed in double precision, and is no proof.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from recipe_compiler.algebra.scalars.symbols import length
from recipe_compiler.audit.affine import AffineStep, NotAffineError, affine_step, lines_of, made_by
from recipe_compiler.audit.figures import (
    Figures,
    NoLawError,
    covariance,
    demand_definite,
    figures,
    is_stable,
    kept_with,
    largest_stable,
)
from recipe_compiler.derive.recipe import Derivation, derive
from recipe_compiler.errors import ModelError
from recipe_compiler.formula.declaration import Declarations, Entries, Parameter
from recipe_compiler.formula.shapes import DomainName
from recipe_compiler.program.program import Gradient, Program, symbolic_sizes
from recipe_compiler.readback.names import Names
from recipe_compiler.readback.step import stated_step
from recipe_compiler.readback.step import values as entries
from recipe_compiler.scheme.discretise import discretise
from recipe_compiler.spec.bind import bind
from recipe_compiler.spec.model import Build
from recipe_compiler.splitting.degree import degree
from recipe_compiler.verdict import Explanation, Topic
from recipe_compiler.verify.core.build_values import exact_rows, known_sizes

MOST = 60
"""Coordinates of the longest state that is gone through."""

LISTED = 12
"""Of more coordinates of theta, the extremes alone are said."""

NONE = "U is quadratic; no law of the chain is computed"
BY = "U is quadratic by index calculus; in double precision, from F and Sigma of the step"


class NoAuditError(Exception):
    """There is nothing to compute though U is quadratic; says why."""


@dataclass(frozen=True, slots=True, eq=False)
class Audited:
    """An affine step at the values of a build."""

    step: AffineStep
    place: int
    """Of the potential's block among the blocks."""
    theta: slice
    """Where its coordinates stand in the state."""
    K: np.ndarray
    """The Hessian of U."""


def audit(build: Build) -> tuple[Explanation, ...]:
    """Return what a step of a build samples at its values; nothing where U is not quadratic or the state has bounds."""
    if any(block.domain.name is not DomainName.REAL for block in build.dynamics.declarations.blocks):
        return ()
    try:
        derivation = derive(bind(build), stated=True)
        program = discretise(build, derivation)
    except ModelError:  # of a build that cannot be emitted, which is for whoever compiles it
        return ()
    if not is_quadratic(program):
        return ()
    eps = float(build.eps)
    try:
        found = audited(build, program)
        rest = None if program.noises else _beside(derivation, found)
    except (NoAuditError, NotAffineError) as why:
        return (Explanation(Topic.STEP, f"{NONE}: {why}"),)
    here = found.step.at(eps)
    limit = largest_stable(lambda h: found.step.at(h).F, eps, 1.05, 1e-4)
    stable = ("largest stable step size", "none was found" if limit is None else f"{limit:.4g}")
    try:
        demand_definite(found.K)
        law = figures(here.F, covariance(here.F, here.Sigma), found.K, found.theta)
    except NoLawError as why:
        if rest is not None and is_stable(here.F):
            return (_conservative(found, here.F, rest, eps, stable),)
        return (Explanation(Topic.STEP, f"{NONE} at the step size {eps:g}: {why}", (stable,), BY),)
    says = f"what a chain samples of exp(-U) at the step size {eps:g}, and how fast"
    return (Explanation(Topic.STEP, says, (*_said(program.blocks[found.place].name, law), stable), BY),)


def _beside(derivation: Derivation, found: Audited) -> np.ndarray | None:
    """Return the covariance under exp(-H) of all blocks beside the potential's; None where theirs is of that too."""
    names, blocks = found.step.names, derivation.dynamics.declarations.blocks
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


def _conservative(found: Audited, F: np.ndarray, rest: np.ndarray, eps: float, stable: tuple[str, str]) -> Explanation:
    """Return what is said of a step without noise that stays where it is: it forgets nothing, and keeps many laws."""
    program = found.step.names.program
    block, others = program.blocks[found.place].name, [b.name for n, b in enumerate(program.blocks) if n != found.place]
    says = (
        f"the step has no noise and forgets nothing at the step size {eps:g}: it is not ergodic, and what a chain "
        "samples depends on where it starts"
    )
    S = kept_with(F, rest, found.theta)
    if S is None:
        return Explanation(Topic.STEP, says, (stable,), BY)
    factors = np.sqrt(np.diag(S) / np.diag(np.linalg.inv(found.K)))
    kept = f"sd of {block} over that of exp(-U), in the law that it keeps with {', '.join(others)} as under exp(-H)"
    return Explanation(Topic.STEP, says, ((kept, _listed(factors, lambda x: f"{x:.5f}")), stable), BY)


def is_quadratic(program: Program) -> bool:
    """Whether grad U is affine in its block, for every size; False also where it is not seen to be."""
    gradient = _full(program)
    if gradient is None:
        return False
    declared = Declarations(program.blocks, program.parameters, (), program.data)
    names = frozenset({gradient.block.name, *(part.block.name for part in gradient.parts)})
    tensors = [tensor for part in gradient.parts for tensor in (part.prior, part.datum) if tensor is not None]
    degrees = [degree(tensor, names, declared) for tensor in tensors]
    return all(n is not None and n <= 1 for n in degrees)


def _full(program: Program) -> Gradient | None:
    """Return the gradient of all data, whatever the steps take; None for one that is code."""
    return None if program.infinitesimal_generator is None else program.infinitesimal_generator.gradient


def audited(build: Build, program: Program) -> Audited:
    """Return the step of a build as an affine map, at the build's values.

    Raises:
        NoAuditError: it is not known at these values, or too long.
        NotAffineError: it is not affine.
    """
    gradient = _full(program)
    if gradient is None:
        raise NoAuditError("the gradient is code")
    if program.data:
        raise NoAuditError("its Hessian is made of data; `recipe run` says what a step with them samples")
    bound = bind(build)
    sizes = known_sizes(build, build.target) | known_sizes(build, bound)
    unknown = [size for size in symbolic_sizes(program) if size not in sizes]
    if unknown:
        raise NoAuditError(f"the size {unknown[0]} has no value")
    valued = replace(program, parameters=tuple(_valued(build, p) for p in program.parameters))
    if sum(length(size, sizes) for block in program.blocks for size in block.shape.sizes or (1,)) > MOST:
        raise NoAuditError(f"the state has more than {MOST} coordinates; `recipe run` goes through up to 200")
    names = Names(valued, sizes)
    slopes = [entry for part in gradient.parts for entry in entries(part.prior, names, part.block)]
    step = affine_step(stated_step(names, made_by(names)), names, slopes)
    place = program.blocks.index(gradient.block)
    first = sum(len(names.block(block)) for block in program.blocks[:place])
    theta = names.block(gradient.block)
    K = np.array([[float(dict(line.factors).get(x, 0)) for x in theta] for line in step.gradient])
    return Audited(step, place, slice(first, first + len(theta)), K)


def _valued(build: Build, parameter: Parameter) -> Parameter:
    """Return a parameter with the value that a build gives it, or its default."""
    stated = dict(build.values).get(parameter.name)
    if stated is not None:
        rows = stated.numbers
    else:
        rows = None if parameter.default is None else exact_rows(parameter.default, build)
    if rows is None:
        raise NoAuditError(f"{parameter.name} has no value that stands in the document")
    return replace(parameter, value=Entries(rows))


def _said(block: str, law: Figures) -> Iterator[tuple[str, str]]:
    """Yield what is said of the block of the potential, by what it is of."""
    yield f"sd of {block} over that of exp(-U)", _listed(law.factors, lambda x: f"{x:.5f}")
    yield "effective temperature tr(S Hess U)/d", f"{law.temperature:.5f}"
    yield f"steps worth one independent draw of {block}", _listed(law.times, lambda x: f"{x:.4g}")
    yield "steps worth one of its square", _listed(law.times_of_squares, lambda x: f"{x:.4g}")


def _listed(values: np.ndarray, shown: Callable[[float], str]) -> str:
    """Return numbers in the order of the coordinates; of many, the least and the largest."""
    if len(values) <= LISTED:
        return ", ".join(shown(float(value)) for value in values)
    return f"{shown(float(values.min()))} to {shown(float(values.max()))}"

"""The step of a build at the values that the build gives: affine where U is quadratic, a thermostat held.

Index calculus and differentiation decide whether U is quadratic and the step affine; F and Sigma are composed once.
"""

from dataclasses import dataclass, replace

import numpy as np

from recipe_compiler import limits
from recipe_compiler.algebra.scalars.symbols import length
from recipe_compiler.audit.affine import AffineStep, affine_step, shift_symbols
from recipe_compiler.audit.thermostat import thermostats, with_thermostats_held
from recipe_compiler.formula.arrays import Array
from recipe_compiler.formula.declaration import Declarations, Entries, Parameter
from recipe_compiler.program.program import Program, symbolic_sizes
from recipe_compiler.readback.mean import stated_step
from recipe_compiler.readback.mean import values as entries
from recipe_compiler.readback.names import Names
from recipe_compiler.spec.bind import bind
from recipe_compiler.spec.model import Build
from recipe_compiler.splitting.flow import find_degree
from recipe_compiler.verify.core.build_values import evaluate_exactly, find_known_sizes


class NoAuditError(Exception):
    """U is quadratic, but the stationary law of the step cannot be computed; the message says why."""


@dataclass(frozen=True, slots=True, eq=False)
class Audited:
    """An affine step at the values of a build."""

    step: AffineStep
    place: int
    """The place of the potential's block among the blocks of the dynamics."""
    theta: slice
    """The places of its coordinates in the state that the step moves."""
    K: Array
    """The Hessian of U, d x d."""

    @property
    def block(self) -> str:
        """The potential's block."""
        return self.step.names.program.blocks[self.place].name


def is_quadratic(program: Program) -> bool:
    """Whether grad U is affine in its block, for every size; False also if it is not shown to be."""
    gradient = program.full_gradient
    if gradient is None:
        return False
    declared = Declarations(program.blocks, program.parameters, (), program.data)
    names = frozenset({gradient.block.name, *(part.block.name for part in gradient.parts)})
    tensors = [tensor for part in gradient.parts for tensor in (part.prior, part.datum) if tensor is not None]
    degrees = [find_degree(tensor, names, declared) for tensor in tensors]
    return all(n is not None and n <= 1 for n in degrees)


def read_affine_step(build: Build, program: Program) -> Audited:
    """Return a build's step at its values as an affine map z' = F z + a + N(0, Sigma), F and Sigma n x n.

    A thermostat is held: its own change is quadratic in the other blocks (`audit/thermostat.py`).

    Raises:
        NoAuditError: a value or size is not known, U has data, the state is too long, or there are several thermostats.
        NotAffineError: the step is not affine.
    """
    gradient = program.full_gradient
    if gradient is None:
        raise NoAuditError("the gradient is code")
    if program.data:
        raise NoAuditError("its Hessian depends on the data: `recipe run` forecasts what a step samples")
    bound = bind(build)
    sizes = {**find_known_sizes(build, build.target), **find_known_sizes(build, bound)}
    unknown = [size for size in symbolic_sizes(program) if size not in sizes]
    if unknown:
        raise NoAuditError(f"the size {unknown[0]} has no value")
    held = thermostats(program)
    valued = replace(with_thermostats_held(program), parameters=tuple(_set_value(build, p) for p in program.parameters))
    if sum(length(size, sizes) for block in program.blocks for size in block.shape.sizes or (1,)) > limits.STATE:
        raise NoAuditError(f"the state has more than {limits.STATE} coordinates: `recipe run` forecasts up to 200")
    names = Names(valued, sizes)
    slopes = [entry for part in gradient.parts for entry in entries(part.prior, names, part.block)]
    if sum(len(names.block(block)) for block in program.blocks if block.name in held) > 1:
        raise NoAuditError(f"{', '.join(held)} are more than one thermostat")
    step = affine_step(stated_step(names, shift_symbols(names)), names, slopes, held)
    place = program.blocks.index(gradient.block)
    first = sum(len(names.block(block)) for block in program.blocks[:place] if block.name not in held)
    theta = names.block(gradient.block)
    K = np.array([[float(dict(line.factors).get(x, 0)) for x in theta] for line in step.gradient])
    return Audited(step, place, slice(first, first + len(theta)), K)


def _set_value(build: Build, parameter: Parameter) -> Parameter:
    """Return a parameter with the build's value for it, or its default."""
    stated = dict(build.values).get(parameter.name)
    if stated is not None:
        rows = stated.numbers
    else:
        rows = None if parameter.default is None else evaluate_exactly(parameter.default, build)
    if rows is None:
        raise NoAuditError(f"{parameter.name} has no value in the document")
    return replace(parameter, value=Entries(rows))

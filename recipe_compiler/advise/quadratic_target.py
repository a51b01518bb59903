"""The step of a module on a quadratic target, grad U(theta) = K theta + shift, which reads no data.

K is the Hessian of U at the mode, which is worked out once; a step at other settings takes d x d numbers more. The
shift is the error of a minibatch gradient, to which a step is linear.
"""

from dataclasses import dataclass, replace

from recipe_compiler.audit.thermostat import with_thermostats_held
from recipe_compiler.emit.module import Module, emit_module
from recipe_compiler.errors import CompilerError
from recipe_compiler.formula.declaration import Declarations, Parameter
from recipe_compiler.formula.shapes import Shape
from recipe_compiler.program.combine import fresh
from recipe_compiler.program.loop_passes import schedule
from recipe_compiler.program.lower import lower
from recipe_compiler.program.program import Gradient, Part, Program
from recipe_compiler.run.load_module import Emitted, load_text
from recipe_compiler.tensor.calculus import calculus
from recipe_compiler.tensor.terms import Index


@dataclass(frozen=True, slots=True, eq=False)
class QuadraticModule:
    """A module whose target was replaced by a quadratic, with its thermostats held."""

    compiled: Module
    emitted: Emitted
    hessian: str
    """The parameter K."""
    shift: str


def quadratic_module(module: Module, emitted: Emitted) -> QuadraticModule:
    """Return a module with a quadratic in the place of its target.

    Args:
        module: as it was emitted; its gradient is no code.
        emitted: the same, imported.
    """
    program = with_thermostats_held(module.program)
    gradient = program.gradient
    if gradient is None:
        raise CompilerError(
            f"{module.name}: found no gradient that steps take, expected one to put a quadratic's in place of"
        )
    taken = frozenset(p.name for p in program.parameters) | module.kernel.step.names
    hessian, shift = (fresh(name, taken) for name in ("hessian_of_U", "shift_of_U"))
    quadratic = with_quadratic_target(program, gradient, hessian, shift)
    made = emit_module(module.name, quadratic, schedule(quadratic, lower(quadratic)), "On a quadratic target.", "")
    return QuadraticModule(made, load_text(made.name, made.text), hessian, shift)


def with_quadratic_target(program: Program, gradient: Gradient, hessian: str, shift: str) -> Program:
    """Return a program with grad U_i = sum_j K_ij theta_j + shift_i; K and the shift are parameters of these names."""
    block = gradient.block
    sizes = block.shape.sizes
    added = Parameter(hessian, Shape(*sizes * 2)), Parameter(shift, block.shape)
    parameters = (*program.parameters, *added)
    c = calculus(Declarations(program.blocks, parameters), stated=True)
    i, j = (tuple(Index(size, label) for size in sizes) for label in "ij")
    product = c.multiply(c.component(hessian, *i, *j), c.coordinate(block.name, *j))
    slope = c.add(c.total(product, *j), c.component(shift, *i))
    part = Part(block, 0, slope, None, slope, None)
    return replace(
        program,
        variant="full",
        replacement=False,
        contiguous=False,
        narrow=False,
        mapped=False,
        data=(),
        parameters=parameters,
        gradient=Gradient(gradient.name, block, (part,), None, minibatch=False, others=gradient.others),
        full_gradient=None,
        energies=None,
    )

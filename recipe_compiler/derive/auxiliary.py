"""Blocks that are Gaussian under exp(-H), whatever the others are: they can be drawn exactly."""

from recipe_compiler.derive.recipe import Derivation, col_slots
from recipe_compiler.tensor.atoms import everywhere
from recipe_compiler.tensor.calculus import Calculus, calculus
from recipe_compiler.tensor.terms import Component, Coordinate, Tensor


def is_gaussian(derivation: Derivation, block: str) -> bool:
    """Whether H is quadratic in `block`, its Hessian free of the state, with no term that couples it to another block.

    True is shown for every size; False may also mean that it was not shown. That the Hessian is positive definite,
    without which there is no Gaussian law, is a question of its own.
    """
    declarations = derivation.dynamics.declarations
    c = calculus(declarations)
    own = next(item for item in declarations.blocks if item.name == block)
    slope = derivation.grad_H[declarations.blocks.index(own)]
    curvature = c.diff(slope, Coordinate(own.name, col_slots(own)))
    others = [other for other in declarations.blocks if other != own]
    coupled = [c.diff(slope, Coordinate(other.name, col_slots(other))) for other in others]
    return not c.is_zero(curvature) and _is_constant(c, curvature) and all(c.is_zero(cross) for cross in coupled)


def _is_constant(c: Calculus, tensor: Tensor) -> bool:
    functions = {name for name, _ in c.rules.depends}
    return not any(
        isinstance(atom, Coordinate) or (isinstance(atom, Component) and atom.name in functions)
        for atom in everywhere(tensor)
    )

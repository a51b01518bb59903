"""Blocks that are Gaussian under exp(-H): given all others, or whatever the others are.

They can be drawn exactly, at the start of a chain or within it, without leaving exp(-H).
"""

from recipe_compiler.derive.recipe import Derivation, col_slots, row_slots
from recipe_compiler.formula.declaration import Block
from recipe_compiler.tensor.atoms import everywhere
from recipe_compiler.tensor.calculus import Calculus, calculus
from recipe_compiler.tensor.definite import is_definite_by_terms
from recipe_compiler.tensor.matrixform import matrix_form
from recipe_compiler.tensor.signs import is_positive
from recipe_compiler.tensor.style import PLAIN
from recipe_compiler.tensor.terms import Component, Coordinate, Grid, Slot, Tensor


def is_gaussian(derivation: Derivation, block: str) -> bool:
    """Whether H is quadratic in `block`, its Hessian free of the state, with no term that couples it to another block.

    d^2H/dr dr' = P, n x n and constant, and d^2H/dr db = 0 for every other block b. True is shown for every size; False
    may also mean that it was not shown. That P is positive definite, without which there is no Gaussian law, is a
    question of its own.
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


def refreshes(derivation: Derivation) -> tuple[str, ...]:
    """Return `r ~ N(0, M)` for every block that has this law under exp(-H) given the others, whatever they are.

    H is then quadratic in the block, without a term of first order: dH/dr = P r with P = d^2 H/dr dr', n x n, which may
    depend on the other blocks and is shown to be positive definite. The covariance is inv(P): H = r.T inv(M) r/2 has P
    = inv(M), and r ~ N(0, M).
    """
    declarations = derivation.dynamics.declarations
    c = calculus(declarations)
    potential = derivation.dynamics.potential
    own = {name for f in declarations.functions if f.name == potential for name in f.of}
    found = [(block, _covariance(c, derivation, block)) for block in declarations.blocks if block.name not in own]
    return tuple(f"{block.name} ~ N(0, {covariance})" for block, covariance in found if covariance)


def _covariance(c: Calculus, derivation: Derivation, block: Block) -> str:
    """Return the covariance of a block given the others as text; empty unless it is centred and Gaussian."""
    slope = derivation.grad_H[derivation.dynamics.declarations.blocks.index(block)]
    rows, cols = row_slots(block), col_slots(block)
    curvature = c.diff(slope, Coordinate(block.name, cols))
    moves: dict[object, Slot] = dict(zip(rows, cols, strict=True))
    linear = c.total(c.multiply(curvature, c.coordinate(block.name, *moves.values())), *cols)
    if c.is_zero(curvature) or not _is_free(c, curvature, block.name) or not c.is_zero(c.subtract(slope, linear)):
        return ""
    if not rows:
        return matrix_form(c, PLAIN, c.power(curvature, -1)) if is_positive(c.rules, curvature) else ""
    if not is_definite_by_terms(c, curvature):
        return ""
    return matrix_form(c, PLAIN, c.inverse(Grid(rows[0], cols[0], curvature), (rows[0], cols[0])))


def _is_free(c: Calculus, tensor: Tensor, block: str) -> bool:
    """Whether a block occurs nowhere in a tensor."""
    functions = {name for name, of in c.rules.depends if of == block}
    for atom in everywhere(tensor):
        if isinstance(atom, Coordinate) and atom.block == block:
            return False
        if isinstance(atom, Component) and atom.name in functions:
            return False
    return True

"""Blocks that are Gaussian under exp(-H), given all others or independent of them.

They can be drawn exactly, at the start of a chain or within it, and exp(-H) stays stationary.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

from recipe_compiler.derive.marginal import occurs
from recipe_compiler.derive.recipe import Derivation, col_coordinate, col_slots, row_coordinate, row_slots
from recipe_compiler.errors import ModelError
from recipe_compiler.formula.declaration import Block, by_name
from recipe_compiler.formula.shapes import DomainName
from recipe_compiler.tensor.atoms import everywhere
from recipe_compiler.tensor.calculus import Calculus, calculus
from recipe_compiler.tensor.definite import Definiteness, definiteness
from recipe_compiler.tensor.matrixform import matrix_form
from recipe_compiler.tensor.style import PLAIN
from recipe_compiler.tensor.terms import Component, Coordinate, Grid, Tensor


class OwnLaw(Enum):
    """The law of a block under exp(-H), where H couples it to no other block and is quadratic in it."""

    NORMAL = "N(0, I)"
    GAUSSIAN = "a Gaussian, whose mean and covariance the values of the parameters give"


def own_laws(derivation: Derivation, blocks: Iterable[str]) -> dict[str, OwnLaw]:
    """Return those of some blocks b, [n] each, that have a law of their own under exp(-H), with that law.

    It is N(0, I) where dH/db = b, else a Gaussian (`is_gaussian`). Whether the blocks are the whole real line is for
    the caller to know.
    """
    return {
        name: OwnLaw.NORMAL if _is_normal(derivation, name) else OwnLaw.GAUSSIAN
        for name in blocks
        if is_gaussian(derivation, name)
    }


def _is_normal(derivation: Derivation, block: str) -> bool:
    """Whether dH/db = b."""
    declarations = derivation.declarations
    c = calculus(declarations)
    own = by_name(declarations.blocks)[block]
    slope = derivation.grad_H[declarations.blocks.index(own)]
    return c.is_zero(c.subtract(slope, c.atom(row_coordinate(own))))


def is_gaussian(derivation: Derivation, block: str) -> bool:
    """Whether H is quadratic in `block` with a constant Hessian, and couples it to no other block.

    d^2H/(dr dr') = P, n x n and constant, and d^2H/(dr db) = 0 for every other block b. True is shown for every size;
    False may also mean that it was not shown. That P is positive definite, without which there is no Gaussian law, is
    decided elsewhere.
    """
    declarations = derivation.declarations
    c = calculus(declarations)
    own = by_name(declarations.blocks)[block]
    slope = derivation.grad_H[declarations.blocks.index(own)]
    curvature = c.diff(slope, col_coordinate(own))
    others = [other for other in declarations.blocks if other != own]
    coupled = [c.diff(slope, col_coordinate(other)) for other in others]
    return not c.is_zero(curvature) and _is_constant(c, curvature) and all(c.is_zero(cross) for cross in coupled)


def _is_constant(c: Calculus, tensor: Tensor) -> bool:
    functions = {name for name, _ in c.rules.depends}
    return not any(
        isinstance(atom, Coordinate) or (isinstance(atom, Component) and atom.name in functions)
        for atom in everywhere(tensor)
    )


@dataclass(frozen=True, slots=True)
class GaussianLaw:
    """b ~ N(0, S): the law of a block under exp(-H) given all others, H = b.T P b/2 + terms that are free of b."""

    block: Block
    precision: Tensor
    """P = d^2H/db db', n x n with the free indices of `row_slots` and `col_slots`, none of a scalar: positive definite,
    and free of b, not of the other blocks."""
    covariance: Tensor
    """S = P^-1, with the same indices."""


def conditional_law(derivation: Derivation, block: str) -> GaussianLaw | None:
    """Return the law that a block b has under exp(-H) given all others, where that is shown to be N(0, S).

    dH/db = P b with P = d^2H/(db db'), n x n, which may depend on the other blocks, and is shown to be positive
    definite; S = inv(P). H = r.T inv(G(theta)) r/2 has P = inv(G(theta)), and r ~ N(0, G(theta)). With n ~ N(0, S) and
    |c| < 1 a constant, b' = c b + sqrt(1 - c^2) n has this law, too (Horowitz 1991): c^2 S + (1 - c^2) S = S.

    None if that is not shown for every size: for a block with a boundary or on a circle, with a mean that is not 0, or
    with an energy that is not quadratic in it.
    """
    declarations = derivation.declarations
    own = by_name(declarations.blocks)[block]
    if own.domain.name is not DomainName.REAL or len(own.shape.sizes) > 1:
        return None
    c = derivation.calculus
    slope = derivation.grad_H[declarations.blocks.index(own)]
    rows, cols = row_slots(own), col_slots(own)
    try:
        precision = c.diff(slope, Coordinate(own.name, cols))
    except ModelError:  # dH/db jumps
        return None
    linear = c.total(c.multiply(precision, c.coordinate(own.name, *cols)), *cols)
    if occurs(c, precision, own.name) or not c.is_zero(c.subtract(slope, linear)):
        return None
    plain = calculus(declarations)  # it reads a matrix term by term, none of them a product of sums
    if definiteness(plain, plain.collect(precision.terms, precision.free)) is not Definiteness.DEFINITE:
        return None
    if not rows:
        return GaussianLaw(own, precision, c.power(precision, -1))
    return GaussianLaw(own, precision, c.inverse(Grid(rows[0], cols[0], precision), (rows[0], cols[0])))


def refreshes(derivation: Derivation) -> tuple[str, ...]:
    """Return `r ~ N(0, M)` as text for every block that has such a law under exp(-H) given the others."""
    declarations, c = derivation.declarations, derivation.calculus
    held = declarations.blocks_of(derivation.dynamics.potential)
    laws = (conditional_law(derivation, block.name) for block in declarations.blocks if block.name not in held)
    return tuple(f"{law.block.name} ~ N(0, {matrix_form(c, PLAIN, law.covariance)})" for law in laws if law)

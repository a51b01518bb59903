"""Equations that repeated substitution solves: new = old + eps rate(new), its entries dependent in an order.

With Phi(x) = old + eps rate(x) and J its slopes, J_ij = d rate_i/d x_j, the slopes of Phi(Phi(x)) are eps^2 J(y) J(x),
y = Phi(x). If J(y) J(x) = 0 for all y and x, Phi(Phi(x)) is one value c for all x, so Phi(c) = Phi(Phi(Phi(x))) = c,
and c is the only solution: two substitutions, from any start, solve the equation exactly. The same holds for n
substitutions and n slopes at n points. This is so if the entries have an order in which each depends only on those
before it: the first substitution is right in the entries that depend on none, the next in those that depend on these.

Worked example: rate(x) = (1, x_0**2) has J = [[0, 0], [2 x_0, 0]], and J(y) J(x) = 0. From x = (0, 0) the first
substitution gives (old_0 + eps, old_1), the second (old_0 + eps, old_1 + eps (old_0 + eps)**2), which is the solution.
"""

from dataclasses import replace

from recipe_compiler.derive.recipe import Derivation, Vector, col_slots, row_slots
from recipe_compiler.errors import ModelError
from recipe_compiler.formula.declaration import Block
from recipe_compiler.formula.shapes import DomainName
from recipe_compiler.program.rename import renamed
from recipe_compiler.tensor.calculus import Calculus
from recipe_compiler.tensor.terms import Coordinate, Index, Tensor

MOST_TURNS = 3
"""Substitutions that are tried. A longer chain of entries is solved by iteration."""


def count_substitutions(derivation: Derivation, block: Block, drift: Vector) -> int:
    """Return how many substitutions solve the equation of a block exactly, for every size; 0 if that is not shown.

    It is the least n <= 3 with J(x_1) ... J(x_n) = 0 identically, J = d rate/dx: [m, m] for a block of m entries, and
    x_1, ..., x_n any points.

    Args:
        derivation: of the dynamics.
        block: the unknown; it ranges over all real numbers, so that no substitution leads outside.
        drift: by blocks of the state; that of the block is the rate, up to a factor.
    """
    if block.domain.name is not DomainName.REAL:
        return 0
    c = derivation.calculus.plain
    rate = drift[derivation.blocks.index(block)]
    try:
        slope = c.diff(rate, Coordinate(block.name, col_slots(block)))
        products = slope
        for turn in range(1, MOST_TURNS + 1):
            if c.is_zero(products):
                return turn
            products = _multiply_slopes(c, block, products, _move_to_point(c, block, slope, turn), turn)
    except ModelError:  # it jumps, or has no slope that is known
        return 0
    return 0


def _multiply_slopes(c: Calculus, block: Block, left: Tensor, right: Tensor, turn: int) -> Tensor:
    """Return sum_k left_ik right_kj."""
    rows, columns = row_slots(block), col_slots(block)
    between = tuple(replace(index, label=f"k{turn}") for index in rows)
    first = c.rename(left, dict(zip(columns, between, strict=True)))
    second = c.rename(right, dict(zip(rows, between, strict=True)))
    return c.total(_add_free_indices(c, c.multiply(first, second), between), *between)


def _add_free_indices(c: Calculus, tensor: Tensor, indices: tuple[Index, ...]) -> Tensor:
    """Return a tensor with indices among its free ones, whether or not its terms have them."""
    return c.add(c.zero(*indices), tensor)


def _move_to_point(c: Calculus, block: Block, slope: Tensor, turn: int) -> Tensor:
    """Return slopes at another point, with renamed coordinates and functions."""
    names = {block.name, *(function for function, of in c.rules.depends if of == block.name)}
    there = renamed(slope, {name: f"{name}'{turn}" for name in names})
    return c.collect(there.terms, there.free)

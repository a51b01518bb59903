"""A step that moves blocks by a fixed amount however small eps is: does it leave their law under exp(-H) as it is?

Where exp(-H) is Gaussian in those blocks given the others, with precision P and mean m, the affine step
z' = F z + g + N(0, Sigma) leaves that law as it is if and only if F m + g = m and F S F.T + Sigma = S, S = inv(P).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from sympy import Expr

from recipe_compiler.algebra.dynamics.affine_step import affine_step, changes
from recipe_compiler.algebra.scalars.entries import scalar
from recipe_compiler.algebra.scalars.symbols import coordinates
from recipe_compiler.derive.powers import is_draw
from recipe_compiler.derive.recipe import Matrix, Vector, add_matrices, col_slots, gradient, row_slots
from recipe_compiler.derive.stationarity import transposed
from recipe_compiler.derive.update import Update
from recipe_compiler.errors import Place
from recipe_compiler.formula.declaration import Block
from recipe_compiler.formula.expression import Formula
from recipe_compiler.tensor.calculus import Calculus, calculus
from recipe_compiler.tensor.convert import convert
from recipe_compiler.tensor.inverses import grid_indices
from recipe_compiler.tensor.order import sorted_indices
from recipe_compiler.tensor.terms import Coordinate, Grid, Index, Tensor
from recipe_compiler.verify.core.identities import Identity, Scalars
from recipe_compiler.verify.core.sizes import Sizes
from recipe_compiler.verify.updates.claimed_step import guarded
from recipe_compiler.verify.updates.covariances import holds_draw
from recipe_compiler.verify.updates.step_moments import step_moments
from recipe_compiler.verify.updates.step_residual import at_zero

ZERO = Fraction(0)


class NotAffineError(Exception):
    """The step at eps = 0 is not seen to be an affine step of blocks with a Gaussian law."""


@dataclass(frozen=True, slots=True)
class InvarianceConditions:
    """What must vanish for the moved blocks to keep their law, and whether the step is nothing but such a draw."""

    blocks: tuple[Block, ...]
    conditions: tuple[tuple[str, Tensor], ...]
    """Words and index expressions: of the mean and of the covariance."""
    whole: bool
    """Whether the step is a Gaussian draw of these blocks and nothing else, for every eps."""


def refresh(update: Update, H: Formula) -> InvarianceConditions:
    """Return the conditions under which a step that does not shrink with eps keeps the law of what it moves.

    At eps = 0 the step is z' = F z + g + N(0, Sigma), and exp(-H) has the moved blocks Gaussian given the others, with
    mean m and covariance S. The law stays if and only if F m + g - m = 0 and F S F.T + Sigma - S = 0, n x n over these
    blocks, for every size. r' = c r + N(0, (1 - c**2) M) with H = r.T inv(M) r/2 has F = c I, m = 0 and S = M: c**2 M +
    (1 - c**2) M - M = 0.

    Raises:
        NotAffineError: the moved blocks are not Gaussian under exp(-H), or not moved affinely.
        ModelError: an H that has no entrywise meaning.
    """
    declarations = update.step.declarations
    c = calculus(declarations)
    mean, spread = update.mean_at(ZERO), update.covariance_at(ZERO)
    moved = [a for a, x in enumerate(mean) if not (x.is_zero and all(y.is_zero for y in spread[a]))]
    blocks = tuple(declarations.blocks[a] for a in moved)
    slopes = gradient(c, declarations.blocks, convert(H, declarations))
    law = _law(c, blocks, tuple(slopes[a] for a in moved))
    own = tuple(mean[a] for a in moved)
    J = _jacobian(c, blocks, own)
    noise = tuple(tuple(spread[a][b] for b in moved) for a in moved)
    for row in (*J, *noise):
        for entry in row:
            _free_of(c, entry, blocks, "the step at eps = 0 is not affine, or its noise depends on what it moves")
    identity = _diagonal(c, blocks, tuple(_delta(c, block) for block in blocks))
    F = add_matrices(c, identity, J)
    offset = tuple(
        c.subtract(m, c.coordinate(block.name, *row_slots(block))) for m, block in zip(law.mean, blocks, strict=True)
    )
    pushed = _product(c, blocks, J, tuple((_as_column(block, x),) for block, x in zip(blocks, offset, strict=True)))
    after = _product(c, blocks, _product(c, blocks, F, law.covariance), transposed(c, blocks, F))
    conditions: list[tuple[str, Tensor]] = []
    for a, row in enumerate(blocks):
        conditions.append((f"the change of the mean of {row.name} in a step", c.settled(c.add(own[a], pushed[a][0]))))
        for b, col in enumerate(blocks):
            change = c.add(after[a][b], noise[a][b], c.scale(law.covariance[a][b], -1))
            words = f"the change of Cov({row.name}, {col.name}) in a step"
            conditions.append((words, c.settled(change)))
    return InvarianceConditions(blocks, tuple(conditions), not update.step.uses_eps and _is_gaussian(update))


@dataclass(frozen=True, slots=True)
class _Law:
    """Mean and covariance of blocks under exp(-H), given the others."""

    mean: Vector
    covariance: Matrix


def _law(c: Calculus, blocks: tuple[Block, ...], slopes: Vector) -> _Law:
    """Return the Gaussian law of blocks given the others, independent of each other."""
    means: list[Tensor] = []
    covariances: list[Tensor] = []
    for block, slope in zip(blocks, slopes, strict=True):
        P = c.settled(c.diff(slope, Coordinate(block.name, col_slots(block))))
        if P.is_zero:
            raise NotAffineError(f"H is not quadratic in {block.name}")
        _free_of(c, P, blocks, f"H is not quadratic in {block.name}")
        for other in blocks:
            cross = c.diff(slope, Coordinate(other.name, col_slots(other)))
            if other != block and not c.is_zero(cross):
                raise NotAffineError(f"{block.name} and {other.name} are coupled in H")
        here = c.coordinate(block.name, *col_slots(block))
        b = c.subtract(slope, c.total(c.multiply(P, here), *col_slots(block)))
        S = _inverse(c, block, P)
        as_columns = c.rename(b, dict(zip(row_slots(block), col_slots(block), strict=True)))
        means.append(c.scale(c.total(c.multiply(S, as_columns), *col_slots(block)), -1))
        covariances.append(S)
    return _Law(tuple(means), _diagonal(c, blocks, tuple(covariances)))


def _inverse(c: Calculus, block: Block, P: Tensor) -> Tensor:
    if not block.shape.sizes:
        return c.power(P, -1)
    row, col = grid_indices(block.shape.sizes[0])
    return c.inverse(Grid(row, col, Tensor((row, col), P.terms)), (row, col))


def _free_of(c: Calculus, tensor: Tensor, blocks: tuple[Block, ...], why: str) -> None:
    for block in blocks:
        by = Coordinate(block.name, tuple(Index(size, "k") for size in block.shape.sizes))
        if not c.is_zero(c.diff(tensor, by)):
            raise NotAffineError(why)


def _jacobian(c: Calculus, blocks: tuple[Block, ...], vector: Vector) -> Matrix:
    return tuple(tuple(c.diff(x, Coordinate(block.name, col_slots(block))) for block in blocks) for x in vector)


def _delta(c: Calculus, block: Block) -> Tensor:
    return c.delta(*row_slots(block), *col_slots(block)) if block.shape.sizes else c.constant(1)


def _diagonal(c: Calculus, blocks: tuple[Block, ...], entries: tuple[Tensor, ...]) -> Matrix:
    return tuple(
        tuple(x if a == b else c.zero(*row_slots(row), *col_slots(col)) for b, col in enumerate(blocks))
        for a, (row, x) in enumerate(zip(blocks, entries, strict=True))
    )


def _as_column(block: Block, x: Tensor) -> Tensor:
    """Return a vector with no second index: it is multiplied as a matrix of one column."""
    return Tensor(sorted_indices((*x.free, *row_slots(block))), x.terms)


def _product(c: Calculus, blocks: tuple[Block, ...], left: Matrix, right: Matrix) -> Matrix:
    """Return `left @ right`, summed over the blocks and their indices."""
    found: list[tuple[Tensor, ...]] = []
    for row in left:
        line: list[Tensor] = []
        for b in range(len(right[0])):
            parts = [_summed(c, block, row[k], right[k][b]) for k, block in enumerate(blocks)]
            line.append(c.add(*parts))
        found.append(tuple(line))
    return tuple(found)


def _summed(c: Calculus, block: Block, left: Tensor, right: Tensor) -> Tensor:
    """Return the sum over one block: the second index of the left factor and the first of the right one."""
    middle = tuple(Index(size, "k") for size in block.shape.sizes)
    x = c.rename(left, dict(zip(col_slots(block), middle, strict=True)))
    y = c.rename(right, dict(zip(row_slots(block), middle, strict=True)))
    both = c.multiply(x, y)
    return c.total(Tensor(sorted_indices((*both.free, *middle)), both.terms), *middle)


def _is_gaussian(update: Update) -> bool:
    """Whether dz is affine in its draws, and their covariances hold none."""
    linear = all(
        sum(int(exponent) for atom, exponent in term.factors if is_draw(atom)) <= 1
        for part in update.change
        for tensor in part.parts.values()
        for term in tensor.terms
    )
    plain = all(item.covariance is None or not holds_draw(item.covariance) for item in update.step.draws)
    return linear and plain and all(item.gaussian for item in update.step.draws)


def conditions_at(update: Update, H: Formula, found: InvarianceConditions) -> Scalars:
    """Return the same conditions at fixed sizes, by the second engine: n of the mean, then n * n of the covariance."""

    def entries(sizes: Sizes) -> Sequence[Expr]:
        step = update.step
        moments = step_moments(step, sizes)
        here = at_zero(moments)
        z = tuple(x for block in found.blocks for x in coordinates(block, sizes))
        places = [moments.z.index(x) for x in z]
        mean = tuple(here.mean[k] for k in places)
        noise = tuple(tuple(here.covariance[k][n] for n in places) for k in places)
        means, covariances = changes(affine_step(scalar(H, step.declarations, sizes), z, mean, noise))
        return [*means, *(x for row in covariances for x in row)]

    return guarded(entries)


def refresh_identity(update: Update, H: Formula, where: Place) -> tuple[InvarianceConditions, Identity]:
    """Return the conditions of `refresh`, and one identity that holds if and only if all of them do.

    Its index expression is the first condition that does not reduce to zero; its entries are all conditions at fixed
    sizes.
    """
    found = refresh(update, H)
    words, left = next(((w, t) for w, t in found.conditions if not t.is_zero), ("moments of a step", Tensor((), ())))
    return found, Identity(words, where, left, conditions_at(update, H, found))

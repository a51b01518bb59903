"""A step that moves blocks by a fixed amount however small eps is: does it leave their law under exp(-H) as it is?

Where exp(-H) is Gaussian in what is moved given the rest, on all of R^n, with precision P, S = inv(P) and mean m, a
step z' = F z + g + N(0, Sigma) leaves that law as it is if and only if F m + g = m and F S F.T + Sigma = S. With grad H
= P (z - m) and J = F - I these are E[dz] = J S grad H, which has no m, and F S F.T + Sigma - S = 0.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Generic

import sympy
from sympy import Expr, Symbol

from recipe_compiler.algebra.dynamics.system import gradient as scalar_gradient
from recipe_compiler.algebra.dynamics.system import state
from recipe_compiler.algebra.scalars import matrices
from recipe_compiler.algebra.scalars.entries import Setting
from recipe_compiler.algebra.scalars.matrices import Rows
from recipe_compiler.algebra.scalars.symbols import coordinates
from recipe_compiler.algebra.zero.zero import is_zero
from recipe_compiler.derive.recipe import (
    apply_matrix,
    col_coordinate,
    col_slots,
    gradient,
    row_coordinate,
    row_slots,
    slots,
)
from recipe_compiler.formula.declaration import Block, Declarations
from recipe_compiler.formula.expression import Formula
from recipe_compiler.formula.shapes import DomainName
from recipe_compiler.spec.formulas import dependence
from recipe_compiler.tensor.calculus import Calculus, calculus
from recipe_compiler.tensor.convert import convert
from recipe_compiler.tensor.inverses import grid_indices
from recipe_compiler.tensor.terms import Coordinate, Grid, Tensor
from recipe_compiler.trace.moments import Coefficients
from recipe_compiler.trace.series import C
from recipe_compiler.trace.tensors import with_indices

RESTRICTED = "the domain or an assumption restricts {}, whose distribution under exp(-H) is no Gaussian then"
NOT_AFFINE = "the step at eps = 0 is not affine, or its noise depends on what it moves"


class NotAffineError(Exception):
    """The step at eps = 0 is not known to be affine in variables with a Gaussian law."""


@dataclass(frozen=True, slots=True)
class Invariance(Generic[C]):
    """What a step at eps = 0 moves, and what must vanish for its law under exp(-H) to stay: words and coefficients."""

    moved: tuple[str, ...]
    conditions: tuple[tuple[str, C], ...]
    """Conditions on the mean, then on the covariance, for every row."""
    is_drawn_anew: bool = False
    """Whether the moved coordinates are drawn independently of their old values: F = 0."""


def invariance(part: Coefficients[Tensor], H: Formula, declarations: Declarations) -> Invariance[Tensor]:
    """Return the conditions under which a step at eps = 0 preserves the law of the blocks it moves, for every size.

    r' = c r + N(0, (1 - c**2) M) with H = r.T inv(M) r/2 has J = (c - 1) I and S = M: (c - 1) r = (c - 1) M inv(M) r,
    and c**2 M + (1 - c**2) M - M = 0.

    Args:
        part: E[dz] and Cov[dz] at eps = 0, block by block.
        H: the energy.
        declarations: of the step.

    Raises:
        NotAffineError: the moved blocks are restricted, not Gaussian under exp(-H), coupled in H, or not moved
            affinely.
        ModelError: an H that has no entrywise meaning.
    """
    c = calculus(declarations)
    rows = zip(declarations.blocks, part.mean, part.covariance, strict=True)
    places = [a for a, (_, x, row) in enumerate(rows) if not all(y.is_zero for y in (x, *row))]
    blocks = tuple(declarations.blocks[a] for a in places)
    _require_whole_lines(declarations, blocks)
    slopes = gradient(c, declarations.blocks, convert(H, declarations))
    own = [_conditional_covariance(c, block, slopes[a], blocks) for a, block in zip(places, blocks, strict=True)]
    S = tuple(
        tuple(x if a is b else c.zero(*row_slots(a), *col_slots(b)) for b in blocks)
        for a, x in zip(blocks, own, strict=True)
    )
    mean = tuple(part.mean[a] for a in places)
    noise = tuple(tuple(part.covariance[a][b] for b in places) for a in places)
    J = tuple(tuple(c.diff(x, col_coordinate(block)) for block in blocks) for x in mean)
    for row in (*J, *noise):
        for entry in row:
            _require_independence(c, entry, blocks, NOT_AFFINE)
    drift = apply_matrix(c, blocks, J, apply_matrix(c, blocks, S, tuple(slopes[a] for a in places)))
    found: list[tuple[str, Tensor]] = []
    for a, row in enumerate(blocks):
        change = c.settled(c.subtract(mean[a], drift[a]))
        found.append((f"the change of the mean of {row.name} in a step", change))
        for b, col in enumerate(blocks):
            pair = _next_value(c, row, mean[a]), _as_column(c, col, _next_value(c, col, mean[b]))
            spread = [_propagate_covariance(c, *pair, block, x) for block, x in zip(blocks, own, strict=True)]
            change = c.settled(c.add(noise[a][b], *spread, c.scale(S[a][b], -1)))
            found.append((f"the change of Cov({row.name}, {col.name}) in a step", change))
    return Invariance(tuple(block.name for block in blocks), tuple(found))


def _require_whole_lines(declarations: Declarations, moved: Iterable[Block]) -> None:
    """Raise NotAffineError unless the moved blocks range over all real values, given the others."""
    for block in moved:
        named = any(block.name in dependence(each).names for each in declarations.assume)
        if named or block.constraint is not None or block.domain.name is not DomainName.REAL:
            raise NotAffineError(RESTRICTED.format(block.name))


def _conditional_covariance(c: Calculus, block: Block, slope: Tensor, moved: Sequence[Block]) -> Tensor:
    """Return the covariance of a block given all others under exp(-H): the inverse of its Hessian."""
    P = c.settled(c.diff(slope, col_coordinate(block)))
    if P.is_zero:
        raise NotAffineError(f"H is not quadratic in {block.name}")
    _require_independence(c, P, moved, f"H is not quadratic in {block.name}")
    for other in moved:
        if other != block and not c.is_zero(c.diff(slope, col_coordinate(other))):
            raise NotAffineError(f"{block.name} and {other.name} are coupled in H")
    if not block.shape.sizes:
        return c.power(P, -1)
    row, col = grid_indices(block.shape.sizes[0])
    return c.inverse(Grid(row, col, with_indices(Tensor((), P.terms), (row, col))), (row, col))


def _next_value(c: Calculus, block: Block, mean: Tensor) -> Tensor:
    """Return the block plus the mean of its change."""
    return c.add(c.atom(row_coordinate(block)), mean)


def _as_column(c: Calculus, block: Block, x: Tensor) -> Tensor:
    return c.rename(x, dict(zip(row_slots(block), col_slots(block), strict=True)))


def _propagate_covariance(c: Calculus, x: Tensor, y: Tensor, block: Block, S: Tensor) -> Tensor:
    """Return sum_kl dx/dz_k S_kl dy/dz_l over a block."""
    k, n = (slots(block, label) for label in "kn")
    slopes = c.diff(x, Coordinate(block.name, k)), c.diff(y, Coordinate(block.name, n))
    middle = c.rename(S, dict(zip((*row_slots(block), *col_slots(block)), (*k, *n), strict=True)))
    return c.total(with_indices(c.multiply(middle, *slopes), (*k, *n)), *k, *n)


def _require_independence(c: Calculus, tensor: Tensor, blocks: Sequence[Block], why: str) -> None:
    """Raise NotAffineError(why) if a tensor depends on one of some blocks."""
    for block in blocks:
        by = Coordinate(block.name, slots(block, "k"))
        if not c.is_zero(c.diff(tensor, by)):
            raise NotAffineError(why)


def invariance_at(
    setting: Setting, part: Coefficients[Expr], H: Expr, moved: Sequence[Symbol] = ()
) -> Invariance[Expr]:
    """Return the same conditions at fixed sizes, by the second engine; the moved coordinates may be coupled in H.

    In two coordinates, F = [[0, 1], [1, 0]]/2 keeps N(0, S) with S = [[2, 1], [1, 2]] if Sigma = S - F S F.T = 3 S/4:

        >>> setting = Setting(Declarations((Block("x"), Block("y"))), {})
        >>> x, y = state(setting.declarations, setting.sizes)
        >>> noise = tuple(tuple(sympy.Rational(3 * k, 4) for k in row) for row in ((2, 1), (1, 2)))
        >>> part = Coefficients((y / 2 - x, x / 2 - y), noise)
        >>> [sympy.simplify(change) for _, change in invariance_at(setting, part, (x**2 - x * y + y**2) / 3).conditions]
        [0, 0, 0, 0, 0, 0]

    Args:
        setting: the declarations of all n coordinates, at fixed sizes.
        part: E[dz] (n) and Cov[dz] (n x n) at eps = 0.
        H: the energy.
        moved: coordinates that may be moved; all that are, if none is given.

    Raises:
        NotAffineError: what is moved is restricted, H is not quadratic in it, or it is not moved affinely.
        NoNormalFormError: as for `algebra.zero.is_zero`.
        matrices.TooLargeError: P is too large to invert.
    """
    z, sizes = state(setting.declarations, setting.sizes), setting.sizes
    rows = zip(z, part.mean, part.covariance, strict=True)
    places = [k for k, (x, m, row) in enumerate(rows) if x in moved or (not moved and not _all_zero((m, *row)))]
    own = tuple(z[k] for k in places)
    _require_whole_lines(
        setting.declarations, (b for b in setting.declarations.blocks if {*own} & {*coordinates(b, sizes)})
    )
    mean = tuple(part.mean[k] for k in places)
    noise: Rows = tuple(tuple(part.covariance[i][j] for j in places) for i in places)
    slope, J = scalar_gradient(H, own), tuple(scalar_gradient(x, own) for x in mean)
    P = tuple(scalar_gradient(x, own) for x in slope)
    not_quadratic = f"H is not quadratic in {', '.join(map(str, own))}"
    _require_constant(P, own, not_quadratic)
    _require_constant((*J, *noise), own, NOT_AFFINE)
    if is_zero(matrices.determinant(P)):
        raise NotAffineError(not_quadratic)
    S, F = matrices.inverse(P), matrices.add((matrices.identity(len(own)), J))
    pull = [matrices.dot(row, slope) for row in S]
    after = matrices.product(matrices.product(F, S), matrices.transpose(F))
    change = matrices.add((after, noise, tuple(tuple(-x for x in row) for row in S)))
    found: list[tuple[str, Expr]] = []
    for x, m, row, line in zip(own, mean, J, change, strict=True):
        found.append((f"the change of the mean of {x} in a step", m - matrices.dot(row, pull)))
        found += [(f"the change of Cov({x}, {y}) in a step", entry) for y, entry in zip(own, line, strict=True)]
    return Invariance(tuple(map(str, own)), tuple(found), all(_all_zero(row) for row in F))


def _all_zero(entries: Sequence[Expr]) -> bool:
    return all(map(is_zero, entries))


def _require_constant(a: Rows, own: tuple[Symbol, ...], why: str) -> None:
    """Raise NotAffineError(why) if an entry of a matrix depends on one of some coordinates."""
    if not all(is_zero(sympy.diff(x, y)) for row in a for x in row for y in own):
        raise NotAffineError(why)

"""The emitted gradient at small sizes: batch by batch against its Program, and averaged over all batches."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import combinations, product

import sympy as sp

from recipe_compiler.algebra.scalars.constraints import log_jacobian, value
from recipe_compiler.algebra.scalars.derivatives import slope
from recipe_compiler.algebra.scalars.symbols import coordinates, length, positions
from recipe_compiler.emit.module import Module
from recipe_compiler.errors import CompilerError
from recipe_compiler.formula.extents import valued
from recipe_compiler.program.program import Gradient, Part, Program
from recipe_compiler.readback.calls import results_of
from recipe_compiler.readback.mean import stated_value
from recipe_compiler.readback.names import BATCH, Names, Sizes, rational_of
from recipe_compiler.readback.oracle import same
from recipe_compiler.readback.text import require
from recipe_compiler.readback.unroll import slope_along
from recipe_compiler.tensor.scalars import Scalar, Sums
from recipe_compiler.tensor.terms import Tensor

Stated = dict[tuple[Tensor, tuple[int, ...], int], Scalar]
"""Entries of tensors of the target by the tensor, the place and the row of the data."""

BEYOND = 5
"""Rows read beyond a whole block: more than the four that are summed at once."""
TURNS = 2
"""How many positions of index fields are read in every row."""
STRIDE = 5
"""The rows of the batch that is read in blocks are this far apart, so that no row has the number of its place."""


def batches(program: Program, count: int, size: int) -> list[tuple[int, ...]]:
    """Return all minibatches of a small data set, all equally likely: tuples of rows.

    N**n with replacement, N!/(n! (N - n)!) without, N contiguous blocks.
    """
    rows = range(count)
    if program.contiguous:
        return [tuple((first + k) % count for k in range(size)) for first in rows]
    return list(product(rows, repeat=size)) if program.replacement else list(combinations(rows, size))


def read_gradient(module: Module, names: Names, batch: tuple[int, ...] = ()) -> list[Scalar]:
    """Return grad U (or its estimate from `batch`) as the emitted function computes it."""
    if module.kernel.gradient is None:
        raise CompilerError("the module has no gradient to read")
    return [entry for array in results_of(module, names, module.kernel.gradient, batch) for entry in array.ravel()]


def stated_gradient(
    gradient: Gradient,
    names: Names,
    rows: Iterable[int],
    scale: Scalar,
    entries: Sequence[int] | None = None,
    known: Stated | None = None,
) -> list[Scalar]:
    """Return -d log prior + scale * sum over rows of the gradient of one datum, as the Program states it.

    (Ma, Chen, Fox 2015, Eq. 7, with scale N/n.) For a block b = g(u) that lies in a set, the derivative by u by the
    chain rule, less that of the log Jacobian.

    Args:
        gradient: the statement of the Program.
        names: the values of its names.
        rows: of the data.
        scale: N/n.
        entries: the entries wanted; None for all.
        known: keeps terms of the prior and of each row between calls, as batches share rows.
    """
    rows, known = tuple(rows), {} if known is None else known
    sums: Sums = {}

    def stated(tensor: Tensor, at: tuple[int, ...], row: int) -> Scalar:
        if (tensor, at, row) not in known:
            known[tensor, at, row] = stated_value(tensor, names, at, row, sums)
        return known[tensor, at, row]

    def slope_at(part: Part, at: tuple[int, ...]) -> Scalar:
        total = stated(part.prior, at, 0)
        if part.datum is not None:
            total += scale * sp.Add(*(stated(part.datum, at, row) for row in rows))
        return total

    places = [(part, at) for part in gradient.parts for at in positions(part.block.sampled.shape, names.sizes)]
    asked = places if entries is None else [places[k] for k in entries]
    in_sets = {part.start: part for part, _ in asked if part.block.constraint}
    chained = {start: _chained(part, gradient, names, slope_at) for start, part in in_sets.items()}
    return [chained[part.start][at[0]] if part.block.constraint else slope_at(part, at) for part, at in asked]


def _chained(
    part: Part, gradient: Gradient, names: Names, slope_at: Callable[[Part, tuple[int, ...]], Scalar]
) -> list[Scalar]:
    """Return sum_i dV/db_i dg_i/du_k - dJ/du_k of a block b = g(u) that lies in a set."""
    if part.block.constraint is None:
        return []
    set_, rows = part.block.constraint, length(part.block.shape.sizes[0], names.sizes)
    start = valued(part.start, names.sizes)
    u = coordinates(gradient.block, names.sizes)[start : start + len(positions(part.block.sampled.shape, names.sizes))]
    along = sp.Add(*(slope_at(part, at) * g for at, g in value(set_, u, rows).items())) - log_jacobian(set_, u, rows)
    return [names.valued(slope(along, x)) for x in u]


def check_gradient(module: Module, here: Names, *, every: bool) -> None:
    """Compare the gradient with its Program: of one batch, or batch by batch, and its mean with the full gradient.

    E over batches of grad U~ = grad U: the estimate is unbiased.

    Raises:
        CompilerError: they differ.
    """
    gradient = module.program.gradient
    if gradient is None or gradient.code:
        return
    count, is_estimate = length(gradient.count or 0, here.sizes), gradient.minibatch and gradient.count is not None
    taken = batches(module.program, count, BATCH) if every and is_estimate else [tuple(range(BATCH, 0, -1))]
    for at in turns(here):
        known = Stated()
        read = [compare_batch(module, gradient, at, batch, known) for batch in taken]
        if every and is_estimate:
            means = [sp.Add(*entries) / len(taken) for entries in zip(*read, strict=True)]
            full = stated_gradient(gradient, at, range(count), sp.Integer(1), known=known)
            same(full, means, f"the mean over all {len(taken)} batches of the gradient", at)


def turns(here: Names) -> list[Names]:
    """Return the names with several assignments of positions to index fields, and either sign at a point."""
    places = range(TURNS) if any(field.is_index for field in here.program.data) else (here.turn,)
    return [replace(at, turn=turn) for turn in places for at in here.signed]


def same_blocks(module: Module, sizes: Sizes) -> None:
    """Compare a gradient that takes rows in blocks with its Program, at a point: a whole block, and rows beyond."""
    gradient = module.program.gradient
    if gradient is None or module.kernel.block == 1:
        return
    rows = module.kernel.block + BEYOND
    many = {str(datum.size): rows + 1 for datum in module.program.data if isinstance(datum.size, str)}
    here = Names(module.program, {**sizes, **many, "batch_size": rows}, at_point=True).for_gradients
    compare_batch(module, gradient, here, tuple((STRIDE * k + 2) % (rows + 1) for k in range(rows)), is_long=True)


def compare_batch(
    module: Module, gradient: Gradient, here: Names, batch: tuple[int, ...], known: Stated | None = None, *,
    is_long: bool = False,
) -> list[Scalar]:  # fmt: skip
    """Return the gradient of one batch as read, after comparing it with its Program; of a long one only some entries.

    All entries are one loop's there, and every one reads all rows.

    Raises:
        CompilerError: they differ.
    """
    rows, scale = batch, sp.Integer(1)
    if gradient.count is not None:
        count = length(gradient.count, here.sizes)
        rows = batch if gradient.minibatch else tuple(range(count))
        scale = sp.Rational(count, len(rows))
    read = read_gradient(module, here, batch)
    places = sorted({0, len(read) // 2, len(read) - 1}) if is_long else None
    same_gradient(gradient, read, here, rows, scale, f"the gradient of {len(rows)} rows", places, known)
    return read


def same_gradient(
    gradient: Gradient, read: Sequence[Scalar], here: Names, rows: Iterable[int], scale: Scalar, what: str,
    entries: Sequence[int] | None = None, known: Stated | None = None,
) -> None:  # fmt: skip
    """Require that a gradient which was read is the stated one; of a recursion along one direction, no two alike in it.

    A difference that is orthogonal to a direction which nothing knows is none.

    Raises:
        CompilerError: they differ.
    """
    require(all(entry is not None for entry in read), f"does not set {what}")
    if gradient.recursion is not None:
        along = [2 * k + rational_of(f"direction[{k}]") for k in range(len(read))]
        stated = [slope_along(gradient, gradient.recursion, here, along)]
        same(stated, [sp.Add(*(v * entry for v, entry in zip(along, read, strict=True)))], what, here)
        return
    stated = stated_gradient(gradient, here, rows, scale, entries, known)
    same(stated, [read[k] for k in range(len(read)) if entries is None or k in entries], what, here)

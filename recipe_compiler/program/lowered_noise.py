"""The noise of a group of blocks after lowering, and the arrays that all ways of lowering it share."""

from dataclasses import dataclass
from fractions import Fraction

from recipe_compiler.formula.declaration import Block
from recipe_compiler.formula.shapes import Size
from recipe_compiler.program.combine import nested, plus
from recipe_compiler.program.contraction import at_loops
from recipe_compiler.program.definition import Definitions
from recipe_compiler.program.loops import (
    Argument,
    Array,
    Assign,
    Body,
    Constant,
    Invoke,
    Literal,
    Ref,
    Scalar,
    Target,
    Times,
)
from recipe_compiler.program.program import EPS, Grid, Noise
from recipe_compiler.tensor.terms import Component, Index, Slot, Tensor, Term

CLIPPED = "clipped"
"""The counter of covariances that were not PSD at a state."""


@dataclass(frozen=True, slots=True)
class LoweredNoise:
    """The standard normals of a group of blocks, and what each block adds to its update."""

    normals: tuple[Array, ...]
    increments: tuple[tuple[str, Scalar], ...]
    """Block to the increment at its loop variable."""
    inside: tuple[tuple[str, Body], ...] = ()
    """Block to the statements that go before its increment, inside its loop."""
    clips: bool = False


def of_covariance(
    what: str, matrices: tuple[Argument, Argument | None], time: Scalar, of: Argument, made: tuple[Target, ...],
    *, of_flow: bool = False,
) -> Invoke:  # fmt: skip
    """Return the call that computes a `scale` or a `factor` L, L L^T = t (2D - t B_hat), and refuses what is not PSD.

    Args:
        what: one of both.
        matrices: 2D and B_hat, of scalars or as one array per pair of blocks.
        time: t.
        of: the names of the blocks.
        made: what takes it.
        of_flow: whether the matrices depend on eps, as those of an exact flow do: then no step is the largest.
    """
    two_D, B_hat = matrices
    given = (two_D, Literal("None") if B_hat is None else B_hat, time, of)
    return Invoke(f"{'_flow' if of_flow else '_noise'}_{what}", given, made)


def quoted(name: str) -> Literal:
    """Return a name as text of its own."""
    return Literal(f'"{name}"')


def time_of(noise: Noise) -> Scalar:
    """Return the time t of a draw with covariance t (2D - t B_hat): eps, or 1."""
    return Constant(Fraction(1)) if noise.at_once else Ref(EPS)


def covariance(two_D: Scalar, B_hat: Scalar, time: Scalar) -> Scalar:
    """Return the scalar expression t (2D - t B_hat)."""
    if B_hat == Constant(Fraction(0)):
        return two_D if isinstance(time, Constant) else Times((time, two_D))
    return Times((time, plus((two_D, Times((Constant(Fraction(-1)), time, B_hat))))))


def joined(sizes: tuple[Size, ...]) -> Size:
    """Return the length of vectors joined end to end; symbolic sizes are added in the emitted text."""
    fixed = [size for size in sizes if isinstance(size, int)]
    return sum(fixed) if len(fixed) == len(sizes) else "+".join(str(size) for size in sizes)


def length(block: Block) -> Size:
    """Return the number of coordinates of a block."""
    return block.shape.sizes[0] if block.shape.sizes else 1


def assemble(defined: Definitions, word: str, blocks: tuple[Block, ...], matrix: Grid) -> tuple[tuple[str, ...], ...]:
    """Define one constant array per pair of blocks, n_a x n_b, and return their names as a matrix."""

    def stored(row: Block, col: Block, entry: Tensor) -> str:
        name = defined.naming(f"{word}_{row.name}{'_' + col.name if len(blocks) > 1 else ''}")
        labelled = ((row, "i"), (col, "j"))
        loops = defined.over(tuple(Index(size, label) for one, label in labelled for size in one.shape.sizes))
        at = (loops[0][1] if row.shape.sizes else 0, loops[-1][1] if col.shape.sizes else 0)
        body = nested(loops, (Assign(Ref(name, at), at_loops(defined, entry, loops)),))
        defined.having(Array(name, (length(row), length(col))), body, constant=True)
        return name

    return tuple(
        tuple(stored(row, col, entry) for col, entry in zip(blocks, entries, strict=True))
        for row, entries in zip(blocks, matrix, strict=True)
    )


def factor_of(
    defined: Definitions, blocks: tuple[Block, ...], two_D: Grid, B_hat: Grid | None, time: Scalar,
    made: tuple[Target, ...], *, of_flow: bool = False,
) -> Invoke:  # fmt: skip
    """Return the call that computes a factor L of constant matrices, one array of rows per block."""
    given = (
        assemble(defined, "two_D", blocks, two_D),
        None if B_hat is None else assemble(defined, "B_hat", blocks, B_hat),
    )
    return of_covariance("factor", given, time, tuple(quoted(block.name) for block in blocks), made, of_flow=of_flow)


def row_product(defined: Definitions, block: Block, factor: str, normals: str, width: Size) -> Scalar:
    """Return sum_k L_ik n_k at the block's loop variable i: row i of the matrix L times the normals n."""
    loops = defined.loops(block.shape.sizes)
    row: Slot = loops[0][0] if loops else 0
    k = Index(width, "_noise")
    one = Fraction(1)
    term = Term(one, ((Component(factor, (row, k)), one), (Component(normals, (k,)), one)))
    scope = tuple(index for index, _ in loops)
    return at_loops(defined, Tensor(scope, (term,)), loops)

"""Lowering of noise whose covariance has no factor by its form: it is factored in every step.

Two coordinates in closed form, L = [[a, 0], [c/a, sqrt(b - c**2/a**2)]] of [[a**2, c], [c, b]]; more by Cholesky's
method. A covariance that is not definite at a state is clipped there, and counted.
"""

from fractions import Fraction

from recipe_compiler.formula.declaration import Block
from recipe_compiler.program.combine import entry_at, nested, plus, unsupported
from recipe_compiler.program.contraction import scalars_at
from recipe_compiler.program.definition import Definitions
from recipe_compiler.program.loops import Array, Assign, Body, Constant, Invoke, Ref, Scalar, Times
from recipe_compiler.program.lowered_noise import (
    CLIPPED,
    LoweredNoise,
    covariance,
    joined,
    length,
    row_product,
    time_of,
)
from recipe_compiler.program.program import Grid, Noise
from recipe_compiler.program.unroll import decided
from recipe_compiler.tensor.atoms import moved_tensor
from recipe_compiler.tensor.terms import Index, Slot, Tensor

WRITTEN_OUT = 16
"""The most coordinates of several blocks together whose covariance is written out entry by entry."""

ZERO = Constant(Fraction(0))


def lower_root(defined: Definitions, noise: Noise) -> LoweredNoise:
    """Return the noise of a group of blocks by a factor of its covariance at the state of the step.

    Raises:
        ModelError: several blocks that are correlated by the state and have too many coordinates to be written out.
    """
    width = joined(tuple(length(block) for block in noise.blocks))
    name = "_".join(block.name for block in noise.blocks)
    normals = defined.naming(f"noise_{name}")
    if width == 2:
        return _two(defined, noise, Array(normals, (width,)))
    if len(noise.blocks) > 1 and not (isinstance(width, int) and width <= WRITTEN_OUT):
        names = ", ".join(block.name for block in noise.blocks)
        raise unsupported(
            f"noise that correlates the blocks {names} by a covariance that depends on the state",
            f"state sizes as numbers, at most {WRITTEN_OUT} coordinates in all, or join the blocks into one",
        )
    S, L = defined.named(f"{word}_{name}" for word in ("covariance", "L"))
    written = _in_loops if len(noise.blocks) == 1 else _written_out
    body = written(defined, noise, S)
    for array, statements in ((S, body), (L, (Invoke("_noise_root", (S, L, CLIPPED)),))):
        defined.having(Array(array, (width, width)), statements)
    if len(noise.blocks) == 1:
        own = noise.blocks[0]
        row = row_product(defined, own, L, normals, width)
        return LoweredNoise((Array(normals, (width,)),), ((own.name, row),), clips=True)
    count = width if isinstance(width, int) else 0
    draws = [plus(tuple(Times((Ref(L, (a, k)), Ref(normals, (k,)))) for k in range(count))) for a in range(count)]
    return _drawn(defined, noise, Array(normals, (width,)), (), draws)


def _two(defined: Definitions, noise: Noise, normals: Array) -> LoweredNoise:
    """Return the noise of two coordinates: L is lower triangular, its entries and those of the covariance scalars."""
    name = "_".join(block.name for block in noise.blocks)
    entries = ((0, 0), (1, 0), (1, 1))
    wanted = (f"{word}_{name}_{a}{b}" for word in ("covariance", "L") for a, b in entries)
    names = defined.named(wanted)
    S, L = tuple(map(Ref, names[:3])), tuple(map(Ref, names[3:]))
    values = tuple(_entry(defined, noise, *at) for at in entries)
    assigned = tuple(Assign(target, value) for target, value in zip(S, values, strict=True))
    body = (*assigned, Invoke("_noise_root_2", (*names[:3], CLIPPED), L))
    first, second = Ref(normals.name, (0,)), Ref(normals.name, (1,))
    draws: list[Scalar] = [Times((L[0], first)), plus((Times((L[1], first)), Times((L[2], second))))]
    return _drawn(defined, noise, normals, body, draws)


def _drawn(defined: Definitions, noise: Noise, normals: Array, before: Body, draws: list[Scalar]) -> LoweredNoise:
    """Return the noise whose entries, over all blocks, are `draws`: kept in one array per block."""
    increments: list[tuple[str, Scalar]] = []
    left = list(draws)
    for block in noise.blocks:
        size = length(block)
        count = size if isinstance(size, int) else 0
        own, left = left[:count], left[count:]
        name = defined.naming(f"draw_{block.name}")
        body = tuple(Assign(Ref(name, (k,)), value) for k, value in enumerate(own))
        defined.having(Array(name, (count,)), (*before, *body))
        before = ()
        loops = defined.loops(block.shape.sizes)
        increments.append((block.name, Ref(name, entry_at(loops))))
    return LoweredNoise((normals,), tuple(increments), clips=True)


def _in_loops(defined: Definitions, noise: Noise, name: str) -> Body:
    """Return the statements that write the covariance of one block."""
    size = length(noise.blocks[0])
    loops = defined.over((Index(size, "i"), Index(size, "j")))
    tensors = [matrix[0][0] for matrix in _matrices(noise)]
    values = scalars_at(defined, tensors, loops)
    value = covariance(values[0], values[1] if len(values) > 1 else ZERO, time_of(noise))
    return nested(loops, (Assign(Ref(name, entry_at(loops)), value),))


def _written_out(defined: Definitions, noise: Noise, name: str) -> Body:
    count = len(_coordinates(noise.blocks))
    places = [(a, b) for a in range(count) for b in range(a + 1)]
    values = tuple(_entry(defined, noise, *at) for at in places)
    return tuple(Assign(Ref(name, at), value) for at, value in zip(places, values, strict=True))


def _entry(defined: Definitions, noise: Noise, a: int, b: int) -> Scalar:
    """Return the covariance of coordinates a and b, counted over all blocks."""
    coordinates = _coordinates(noise.blocks)
    (row, i), (col, j) = coordinates[a], coordinates[b]
    tensors = [_at(matrix[row][col], i, j) for matrix in _matrices(noise)]
    values = scalars_at(defined, tensors, ())
    first, *more = map(decided, values)
    return covariance(first, more[0] if more else ZERO, time_of(noise))


def _at(entry: Tensor, i: int, j: int) -> Tensor:
    moves: dict[Index, Slot] = {index: i if index.label == "i" else j for index in entry.free}
    return moved_tensor(entry, moves)


def _matrices(noise: Noise) -> tuple[Grid, ...]:
    return (noise.two_D,) if noise.B_hat is None else (noise.two_D, noise.B_hat)


def _coordinates(blocks: tuple[Block, ...]) -> list[tuple[int, int]]:
    sizes = [length(block) for block in blocks]
    return [(b, k) for b, size in enumerate(sizes) if isinstance(size, int) for k in range(size)]

"""Lowering of noise whose covariance has no factor by its form: it is factored in every step.

Of two coordinates in closed form, of more by Cholesky's method; what loses definiteness at a state is clipped there,
and counted.
"""

from fractions import Fraction

from recipe_compiler.formula.declaration import Block
from recipe_compiler.program.combine import nested, plus, unsupported
from recipe_compiler.program.contraction import Contraction
from recipe_compiler.program.definition import Definition
from recipe_compiler.program.loops import Array, Assign, Constant, Invoke, Ref, Scalar, Statement, Times
from recipe_compiler.program.lowered_noise import CLIPPED, Grid, LoweredNoise, covariance, joined, length, row_product
from recipe_compiler.program.program import Noise
from recipe_compiler.program.unroll import decided
from recipe_compiler.tensor.atoms import moved_tensor
from recipe_compiler.tensor.terms import Index, Slot, Tensor

WRITTEN_OUT = 16
"""The most coordinates of several blocks together whose covariance is written out entry by entry."""

ZERO = Constant(Fraction(0))


def lower_root(noise: Noise, contraction: Contraction) -> LoweredNoise:
    """Return the noise of a group of blocks by a factor of its covariance at the state of the step."""
    width = joined(tuple(length(block) for block in noise.blocks))
    normals = Array(contraction.name("noise_" + "_".join(block.name for block in noise.blocks)), (width,))
    if width == 2:
        return _two(noise, normals, contraction)
    if len(noise.blocks) > 1 and not (isinstance(width, int) and width <= WRITTEN_OUT):
        names = ", ".join(block.name for block in noise.blocks)
        raise unsupported(
            f"noise that correlates the blocks {names} by a covariance that depends on the state",
            f"state sizes as numbers, at most {WRITTEN_OUT} coordinates in all, or join the blocks into one",
        )
    name = "_".join(block.name for block in noise.blocks)
    S, L = (contraction.name(f"{word}_{name}") for word in ("covariance", "L"))
    body = _in_loops(noise, S, contraction) if len(noise.blocks) == 1 else _written_out(noise, S, contraction)
    for array, statements in ((S, body), (L, (Invoke("_noise_root", (S, L, CLIPPED)),))):
        contraction.define(Definition(Array(array, (width, width)), statements, constant=False, of_datum=False))
    if len(noise.blocks) == 1:
        own = noise.blocks[0]
        row = row_product(own, L, normals.name, width, contraction)
        return LoweredNoise((normals,), ((own.name, row),), clips=True)
    count = width if isinstance(width, int) else 0
    draws = [plus(tuple(Times((Ref(L, (a, k)), Ref(normals.name, (k,)))) for k in range(count))) for a in range(count)]
    return _drawn(noise, normals, (), draws, contraction)


def _two(noise: Noise, normals: Array, contraction: Contraction) -> LoweredNoise:
    """Return the noise of two coordinates: L is lower triangular, its entries and those of the covariance scalars."""
    name = "_".join(block.name for block in noise.blocks)
    entries = ((0, 0), (1, 0), (1, 1))
    S, L = (tuple(Ref(contraction.name(f"{word}_{name}_{a}{b}")) for a, b in entries) for word in ("covariance", "L"))
    body: list[Statement] = []
    for at, target in zip(entries, S, strict=True):
        body.append(Assign(target, _entry(noise, *at, contraction)))
    given = (*(ref.name for ref in S), CLIPPED)
    body.append(Invoke("_noise_root_2", given, tuple(ref.name for ref in L)))
    first, second = Ref(normals.name, (0,)), Ref(normals.name, (1,))
    draws: list[Scalar] = [Times((L[0], first)), plus((Times((L[1], first)), Times((L[2], second))))]
    return _drawn(noise, normals, tuple(body), draws, contraction)


def _drawn(
    noise: Noise, normals: Array, before: tuple[Statement, ...], draws: list[Scalar], contraction: Contraction
) -> LoweredNoise:
    """Return the noise whose entries, over all blocks, are `draws`: kept in one array per block."""
    increments: list[tuple[str, Scalar]] = []
    left = list(draws)
    for block in noise.blocks:
        size = length(block)
        count = size if isinstance(size, int) else 0
        own, left = left[:count], left[count:]
        name = contraction.name(f"draw_{block.name}")
        body = tuple(Assign(Ref(name, (k,)), value) for k, value in enumerate(own))
        contraction.define(Definition(Array(name, (count,)), (*before, *body), constant=False, of_datum=False))
        before = ()
        loops = contraction.loops(block.shape.sizes)
        increments.append((block.name, Ref(name, tuple(variable for _, variable in loops) or (0,))))
    return LoweredNoise((normals,), tuple(increments), clips=True)


def _in_loops(noise: Noise, name: str, contraction: Contraction) -> tuple[Statement, ...]:
    """Return the statements that write the covariance of one block."""
    size = length(noise.blocks[0])
    free = (Index(size, "i"), Index(size, "j"))
    variables = contraction.variables(free)
    values = [contraction.scalar(matrix[0][0], free, variables) for matrix in _matrices(noise)]
    value = covariance(values[0], values[1] if len(values) > 1 else ZERO)
    store = Assign(Ref(name, tuple(variables[index] for index in free)), value)
    return nested(tuple((index, variables[index]) for index in free), (store,))


def _written_out(noise: Noise, name: str, contraction: Contraction) -> tuple[Statement, ...]:
    count = len(_coordinates(noise.blocks))
    places = [(a, b) for a in range(count) for b in range(a + 1)]
    return tuple(Assign(Ref(name, at), _entry(noise, *at, contraction)) for at in places)


def _entry(noise: Noise, a: int, b: int, contraction: Contraction) -> Scalar:
    """Return the covariance of coordinates a and b, counted over all blocks."""
    coordinates = _coordinates(noise.blocks)
    (row, i), (col, j) = coordinates[a], coordinates[b]
    values: list[Scalar] = []
    for matrix in _matrices(noise):
        entry: Tensor = matrix[row][col]
        moves: dict[Index, Slot] = {index: i if index.label == "i" else j for index in entry.free}
        values.append(decided(contraction.scalar(moved_tensor(entry, moves), (), {})))
    return covariance(values[0], values[1] if len(values) > 1 else ZERO)


def _matrices(noise: Noise) -> tuple[Grid, ...]:
    return (noise.two_D,) if noise.B_hat is None else (noise.two_D, noise.B_hat)


def _coordinates(blocks: tuple[Block, ...]) -> list[tuple[int, int]]:
    """Return block and place of every coordinate."""
    sizes = [length(block) for block in blocks]
    return [(b, k) for b, size in enumerate(sizes) if isinstance(size, int) for k in range(size)]

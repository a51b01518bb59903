"""The Ito drift of an equation stated in Stratonovich's sense, where D alone determines it.

With a noise factor sigma sigma.T = 2 D the Ito drift is f_i + (1/2) sum_jk sigma_jk d_j sigma_ik. D does not determine
sigma, but the sum is zero where no noisy coordinate enters D, whatever sigma is. For a diagonal D the diagonal root is
meant: one source of noise for each coordinate, with which the sum is d_i D_ii / 2. For D = g(z) V with a constant V
every root that is a function of D (symmetric, Cholesky) is sqrt(2 g) times a constant one, and the sum is
(1/2) V grad g = div(D)/2.
"""

from fractions import Fraction

from sympy.utilities.iterables import connected_components

from recipe_compiler.derive.recipe import col_slots, matrix, row_slots
from recipe_compiler.formula.declaration import Block
from recipe_compiler.formula.expression import Add, Apply, Formula, Multiply, Number
from recipe_compiler.spec.model import Dynamics
from recipe_compiler.tensor.calculus import Calculus, calculus
from recipe_compiler.tensor.terms import Coordinate, Index, Tensor

Matrix = tuple[tuple[Formula, ...], ...]
Tensors = tuple[tuple[Tensor, ...], ...]


class NotConvertedError(Exception):
    """The Ito drift depends on the noise factor, which D alone does not give."""


def convert_to_ito(dynamics: Dynamics, D: Matrix) -> tuple[Formula, ...]:
    """Return the claimed drift in Ito's sense, block by block: f_i + (1/2) sum_jk sigma_jk d_j sigma_ik.

    sigma sigma.T = 2 D, D and sigma: [n, n], sigma a function of D; a drift claimed in Ito's sense is returned
    unchanged. Converted are parts of D that no noisy coordinate of the part enters, where the sum is 0, diagonal parts
    with their diagonal root, and parts g(z) V with V free of the coordinates of the part: in both the sum is
    div(D)/2. With one coordinate, D = x**2 and f = 0 in Stratonovich's sense, sigma = sqrt(2) x and the Ito drift is
    x. (A sigma that turns with the state has another sum for the same D: with D = I, d = 2, and R the rotation by an
    angle phi(z), sigma = sqrt(2) R has (-d_2 phi, d_1 phi).)

    Raises:
        NotConvertedError: D alone does not determine the correction.
    """
    blocks = dynamics.declarations.blocks
    stated = dict(dynamics.claims.drift or ())
    drift = tuple(stated[block.name] for block in blocks)
    if not dynamics.claims.stratonovich:
        return drift
    c = calculus(dynamics.declarations)
    tensors = matrix(D, dynamics.declarations)
    noisy = [a for a, row in enumerate(tensors) if any(not e.is_zero for e in (*row, *(other[a] for other in tensors)))]
    if not any(_is_dependent(c, entry, blocks[a]) for a in noisy for row in tensors for entry in row):
        return drift
    found = list(drift)
    for part in _group_coupled_blocks(tensors, noisy):
        if not _has_one_root(c, tensors, blocks, part):
            raise NotConvertedError("the Ito drift of this Stratonovich equation depends on the factor of D, not given")
        for a in part:
            found[a] = _add_correction(drift[a], blocks[a], [(D[a][b], blocks[b]) for b in part])
    return tuple(found)


def _group_coupled_blocks(tensors: Tensors, noisy: list[int]) -> list[list[int]]:
    """Return the noisy blocks in groups that D does not couple with each other."""
    coupled = [(a, b) for a in noisy for b in noisy if tensors[a][b].terms]
    return sorted(sorted(part) for part in connected_components((noisy, coupled)))


def _has_one_root(c: Calculus, tensors: Tensors, blocks: tuple[Block, ...], part: list[int]) -> bool:
    """Whether a part of D is diagonal, or g(z) V with V free of the part's coordinates: its correction is div(D)/2.

    With one entry p that is not zero, every other q of the part has p d_l q = q d_l p for its coordinates l.
    """
    if len(part) == 1 and _is_diagonal(c, tensors[part[0]][part[0]], blocks[part[0]]):
        return True
    first = part[0]
    p = tensors[first][first]
    if p.is_zero:
        return False
    for a in part:
        for b in part:
            slots = (*row_slots(blocks[a]), *col_slots(blocks[b]))
            q = c.rename(tensors[a][b], {slot: Index(slot.size, f"{slot.label}2") for slot in slots})
            if not all(_is_proportional(c, p, q, blocks[x]) for x in part):
                return False
    return True


def _is_proportional(c: Calculus, p: Tensor, q: Tensor, block: Block) -> bool:
    """Whether q/p is shown to be free of a block: p d q - q d p = 0."""
    at = Coordinate(block.name, tuple(Index(size, f"k{axis}") for axis, size in enumerate(block.shape.sizes)))
    left, right = c.multiply(p, c.diff(q, at)), c.multiply(q, c.diff(p, at))
    return c.is_zero(c.subtract(left, right))


def _is_diagonal(c: Calculus, entry: Tensor, block: Block) -> bool:
    """Whether the place of a block with itself is a diagonal matrix: A_ij = delta_ij A_ij."""
    if not block.shape.sizes:
        return True
    delta = c.delta(*row_slots(block), *col_slots(block))
    return c.is_zero(c.subtract(entry, c.multiply(delta, entry)))


def _is_dependent(c: Calculus, entry: Tensor, block: Block) -> bool:
    """Whether an entry of D is not shown to be free of a block."""
    slots = tuple(Index(size, f"k{axis}") for axis, size in enumerate(block.shape.sizes))
    return not c.is_zero(c.diff(entry, Coordinate(block.name, slots)))


def _add_correction(f: Formula, row: Block, places: list[tuple[Formula, Block]]) -> Formula:
    """Return f + div(D)/2 of a row, from its places and their columns; for a diagonal D this is f_i + d_i D_ii / 2."""
    half = Number(Fraction(1, 2))
    spread = [Apply("div", (D, b.symbol), row.shape) for D, b in places]
    return Add((f, *(Multiply(half, one, row.shape) for one in spread)), row.shape)

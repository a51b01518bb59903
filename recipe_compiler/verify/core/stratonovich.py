"""The Ito drift of an equation stated in Stratonovich's sense, where D alone determines it.

With a noise factor sigma sigma.T = 2 D the Ito drift is f_i + (1/2) sum_jk sigma_jk d_j sigma_ik. D does not determine
sigma, but the sum is zero where no noisy coordinate enters D, whatever sigma is, and for a diagonal D the diagonal root
is meant: one source of noise for each coordinate, with which the sum is d_i D_ii / 2.
"""

from fractions import Fraction

from recipe_compiler.derive.recipe import col_slots, matrix, row_slots
from recipe_compiler.formula.declaration import Block
from recipe_compiler.formula.expression import Add, Apply, Formula, Multiply, Number, Role, Symbol
from recipe_compiler.spec.model import Dynamics
from recipe_compiler.tensor.calculus import Calculus, calculus
from recipe_compiler.tensor.terms import Coordinate, Delta, Index, Tensor

Matrix = tuple[tuple[Formula, ...], ...]


class NotConvertedError(Exception):
    """The Ito drift depends on the noise factor, which D alone does not give."""


def ito_drift(dynamics: Dynamics, D: Matrix) -> tuple[Formula, ...]:
    """Return the claimed drift in Ito's sense, block by block: f_i + (1/2) sum_jk sigma_jk d_j sigma_ik.

    sigma sigma.T = 2 D, D and sigma: [n, n], sigma a function of D; a drift claimed in Ito's sense is returned
    unchanged. Two cases are converted: no noisy coordinate enters D, hence sigma, where the sum is 0; and a diagonal D
    with its diagonal root, where it is d_i D_ii / 2. With one coordinate, D = x**2 and f = 0 in Stratonovich's sense,
    sigma = sqrt(2) x and the Ito drift is x. (A sigma that turns with the state has another sum for the same D: with D
    = I, d = 2, and R the rotation by an angle phi(z), sigma = sqrt(2) R has (-d_2 phi, d_1 phi).)

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
    noisy = [a for a, row in enumerate(tensors) if not all(entry.is_zero for entry in row)]
    if not any(_depends(c, entry, blocks[a]) for a in noisy for row in tensors for entry in row):
        return drift
    alone = all(tensors[a][b].is_zero for a in noisy for b in range(len(blocks)) if a != b)
    if not alone or not all(_is_diagonal(tensors[a][a], blocks[a]) for a in noisy):
        raise NotConvertedError("the Ito drift of this Stratonovich equation depends on the factor of D, not given")
    return tuple(
        _corrected(f, D[a][a], block) if a in noisy else f
        for a, (f, block) in enumerate(zip(drift, blocks, strict=True))
    )


def _is_diagonal(entry: Tensor, block: Block) -> bool:
    """Whether the place of a block with itself is a diagonal matrix: every term holds delta_ij."""
    if not block.shape.sizes:
        return True
    delta = Delta(*row_slots(block), *col_slots(block))
    return all((delta, 1) in term.factors for term in entry.terms)


def _depends(c: Calculus, entry: Tensor, block: Block) -> bool:
    """Whether an entry of D is not shown to be free of a block."""
    slots = tuple(Index(size, "k") for size in block.shape.sizes)
    return not c.is_zero(c.diff(entry, Coordinate(block.name, slots)))


def _corrected(f: Formula, D: Formula, block: Block) -> Formula:
    """Return `f + div(D, block)/2`, which for a diagonal D is f_i + d_i D_ii / 2."""
    spread = Apply("div", (D, Symbol(block.name, block.shape, Role.BLOCK)), block.shape)
    return Add((f, Multiply(Number(Fraction(1, 2)), spread, block.shape)), block.shape)

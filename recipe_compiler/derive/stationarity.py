"""Whether exp(-H) is stationary for dz = f dt + sqrt(2D) dW, and by how much D and Q miss their symmetries."""

from recipe_compiler.derive.recipe import (
    Derivation,
    Matrix,
    Vector,
    apply_matrix,
    col_slots,
    divergence,
    row_slots,
)
from recipe_compiler.formula.declaration import Block
from recipe_compiler.tensor.calculus import Calculus, calculus
from recipe_compiler.tensor.terms import Coordinate, Index, Slot, Tensor


def residual(derivation: Derivation, drift: Vector, D: Matrix, *, settle: bool = True) -> Tensor:
    """Return the Fokker-Planck residual R = (1/p) [-div(f p) + sum_ab d_a d_b (D_ab p)], p = exp(-H), a scalar.

    It is evaluated as R = -(div J - grad H . J) with J = f - div D + D grad H: [n], so that what cancels in J need not
    be differentiated again. Zero (`is_zero`) is a proof for every size (Ma, Chen, Fox 2015, Theorem 1; cf. Eq. 5);
    anything else is no refutation by itself. Without `settle` no zero is looked for that canonical form does not show.

    Worked, on a line: H = theta**2/2 and D = 1. For f = -theta, J = -theta + theta = 0 and R = 0. For f = -2 theta, J =
    -theta and R = -(-1 + theta**2) = 1 - theta**2, which is not zero. In two dimensions, H = |z|**2/2, D = 0 and f =
    (z_2, -z_1): J = f, div J = 0 and grad H . J = z_1 z_2 - z_2 z_1 = 0, so R = 0.
    """
    blocks = derivation.blocks
    c = calculus(derivation.declarations)
    flux = current(derivation, drift, D, settle=settle)
    parts = [
        _weighted_outflow(c, block, entry, grad)
        for block, entry, grad in zip(blocks, flux, derivation.grad_H, strict=True)
    ]
    found = c.add(c.zero(), *parts)
    return c.settled(found) if settle else found


def current(derivation: Derivation, drift: Vector, D: Matrix, *, settle: bool = True) -> Vector:
    """Return J = f - div D + D grad H: [n], a vector over z; J p is the probability current, p = exp(-H).

    The Fokker-Planck equation is dp/dt = -div(J p). A recipe has J = div Q - Q grad H, for which div(J p) = 0 since Q
    is skew (Ma, Chen, Fox 2015, Theorem 1).
    """
    blocks = derivation.blocks
    c = calculus(derivation.declarations)
    pushed = apply_matrix(c, blocks, D, derivation.grad_H)
    spread = divergence(c, blocks, D)
    flux = [c.add(f, c.scale(slope, -1), push) for f, slope, push in zip(drift, spread, pushed, strict=True)]
    return tuple(map(c.settled, flux) if settle else flux)


def symmetry_defect(derivation: Derivation) -> Matrix:
    """Return D - D^T, a matrix over z; entry (a, b) has the free indices i of block a and j of block b.

    It is zero in every place if D is symmetric for every size (Ma, Chen, Fox 2015, Eq. 3).
    """
    c = calculus(derivation.declarations)
    return _transpose_defect(c, derivation.blocks, derivation.D, -1)


def skewness_defect(derivation: Derivation) -> Matrix:
    """Return Q + Q^T, a matrix over z; entry (a, b) has the free indices i of block a and j of block b.

    It is zero in every place if Q is skew for every size (Ma, Chen, Fox 2015, Eq. 3).
    """
    c = calculus(derivation.declarations)
    return _transpose_defect(c, derivation.blocks, derivation.Q, 1)


def transposed(c: Calculus, blocks: tuple[Block, ...], matrix: Matrix) -> Matrix:
    """Return A^T of a matrix over z: its entry (a, b) is A[b][a] with the indices i and j exchanged."""
    return tuple(
        tuple(_transposed_entry(c, row, col, matrix[b][a]) for b, col in enumerate(blocks))
        for a, row in enumerate(blocks)
    )


def _transposed_entry(c: Calculus, row: Block, col: Block, entry: Tensor) -> Tensor:
    """Return an entry at (col, row) with its indices as those of the place (row, col)."""
    moves: dict[Index, Slot] = dict(zip(row_slots(col), col_slots(col), strict=True))
    moves |= dict(zip(col_slots(row), row_slots(row), strict=True))
    return c.rename(entry, moves)


def _transpose_defect(c: Calculus, blocks: tuple[Block, ...], matrix: Matrix, sign: int) -> Matrix:
    """Return A + sign A^T of a matrix over z."""
    other = transposed(c, blocks, matrix)
    return tuple(
        tuple(c.settled(c.add(one, c.scale(two, sign))) for one, two in zip(a, b, strict=True))
        for a, b in zip(matrix, other, strict=True)
    )


def _weighted_outflow(c: Calculus, block: Block, flux: Tensor, grad: Tensor) -> Tensor:
    """Return grad H . J - div J for one block of a current J."""
    slots = row_slots(block)
    spread = c.diff(flux, Coordinate(block.name, slots))
    return c.total(c.subtract(c.multiply(flux, grad), spread), *slots)

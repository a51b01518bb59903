"""The recipe: from D, Q, H to the drift, and to the infinitesimal generator of the equation.

    dz = f dt + sqrt(2 D) dW,    f = -(D + Q) grad H + Gamma,    Gamma_i = sum_j d(D + Q)_ij/dz_j
    L phi = f . grad phi + tr(D Hess phi)

(Ma, Chen, Fox 2015, Eqs. 2 and 3.) Where exp(-H) is stationary, the mean of L phi over it is 0 for every phi that does
not grow too fast: what a chain with a finite step size or with noisy gradients samples shows itself there.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from recipe_compiler.errors import Fault, ModelError
from recipe_compiler.formula.declaration import Block, Declarations
from recipe_compiler.formula.expression import Formula
from recipe_compiler.spec.found_q import lacks_q
from recipe_compiler.spec.model import Dynamics
from recipe_compiler.spec.places import placed
from recipe_compiler.tensor.calculus import Calculus, calculus
from recipe_compiler.tensor.convert import convert
from recipe_compiler.tensor.expand_factors import opened
from recipe_compiler.tensor.terms import Coordinate, Index, Tensor

Vector = tuple[Tensor, ...]
"""A vector over z, block by block."""

Matrix = tuple[tuple[Tensor, ...], ...]
"""A matrix over z, block by block."""


@dataclass(frozen=True, slots=True)
class Derivation:
    """What follows from the dynamics, in index notation, valid for every size.

    Vectors over z are tuples in the order of the blocks; the entry of a column block of size n has the one free index
    `Index(n, "i")`, that of a scalar block none. Entry (a, b) of D and Q has free indices `Index(n_a, "i")` and
    `Index(n_b, "j")` (those that exist).

    (Ma, Chen, Fox 2015, Eqs. 2 and 3.)
    """

    dynamics: Dynamics
    H: Tensor
    D: tuple[tuple[Tensor, ...], ...]
    Q: tuple[tuple[Tensor, ...], ...]
    grad_H: tuple[Tensor, ...]
    Gamma: tuple[Tensor, ...]
    """Gamma_i = sum_j d(D+Q)_ij / dz_j (Ma, Chen, Fox 2015, Eq. 3)."""
    drift: tuple[Tensor, ...]
    """f = -(D+Q) grad H + Gamma (Eq. 3)."""
    stated: bool = False
    """Whether all of it is as the document states it, to be computed; else multiplied out, to be proved with."""

    @property
    def calculus(self) -> Calculus:
        """The calculus that the derivation was made by."""
        return calculus(self.declarations, stated=self.stated)

    @property
    def declarations(self) -> Declarations:
        """What the dynamics declare."""
        return self.dynamics.declarations

    @property
    def blocks(self) -> tuple[Block, ...]:
        """The blocks of the state."""
        return self.declarations.blocks


def derive(dynamics: Dynamics, *, stated: bool = False, settle: bool = True) -> Derivation:
    """Return grad H, Gamma and the drift of `dynamics`, for every size at once.

    f = -(D + Q) grad H + Gamma with Gamma_i = sum_j d(D + Q)_ij/dz_j, D, Q: [n, n] and f: [n] over z (Ma, Chen, Fox
    2015, Eqs. 2 and 3). A vector over z has a tensor for each block b, with the free indices `row_slots(b)`: one, or
    none of a scalar; a matrix has one for each pair of blocks a, b, with `row_slots(a)` and `col_slots(b)`.

    Worked, d = 2: D = diag(1 + theta_2**2, 1) and Q = a(theta) [[0, -1], [1, 0]] have Gamma = (d_1 (1 + theta_2**2) -
    d_2 a, d_1 a) = (-d_2 a, d_1 a): all of it is Q's, as D_11 is free of theta_1. On a line, D = theta gives Gamma = 1.
    For SGHMC, H = U(theta) + r.T inv(M) r/2, D[r,r] = C and Q[theta,r] = -I: Gamma = 0 and f = (inv(M) r, -grad U - C
    inv(M) r), the equation of Chen, Fox, Guestrin 2014.

    With `stated`, sums that are factors of D, Q and H are not multiplied out (`Rules.stated`): what is computed then
    loses no more digits than the formulas themselves. Without `settle` no zero is looked for in Gamma that canonical
    form does not show.

    Where the dynamics are `as_claimed` the drift is that of `claims.drift`.

    Raises:
        ModelError: D or Q is not given, or a formula has no entrywise meaning or no derivative.
    """
    declarations = dynamics.declarations
    c = calculus(declarations, stated=stated)
    blocks = declarations.blocks
    H = convert(dynamics.H, declarations, entry="H", where=dynamics.source.place("H"), stated=stated)
    D = _read_matrix(dynamics, c, "D", dynamics.D)
    Q = _read_matrix(dynamics, c, "Q", dynamics.Q)
    both = map_matrices(c.add, D, Q)
    with placed(dynamics.source, "H"):
        grad_H = gradient(c, blocks, H)
    Gamma = _divergence_of_sum(dynamics, c, D, Q, settle=settle)
    if dynamics.as_claimed:
        drift = vector(claimed_drift(dynamics), declarations, stated=stated)
    else:
        pushed = apply_matrix(c, blocks, both, grad_H)
        drift = tuple(c.subtract(correction, push) for correction, push in zip(Gamma, pushed, strict=True))
    if stated:
        drift = tuple(c.settled(opened(c, entry)) for entry in drift)
    return Derivation(dynamics, H, D, Q, grad_H, Gamma, drift, stated)


def slots(block: Block, label: str) -> tuple[Index, ...]:
    """Return free indices of a label for the axes of a block: one, none for a scalar."""
    return tuple(Index(size, label) for size in block.shape.sizes)


def row_slots(block: Block) -> tuple[Index, ...]:
    """Return the free indices that a block has in a vector, or as the rows of a matrix: one, none for a scalar."""
    return slots(block, "i")


def col_slots(block: Block) -> tuple[Index, ...]:
    """Return the free indices that a block has as the columns of a matrix."""
    return slots(block, "j")


def row_coordinate(block: Block) -> Coordinate:
    """Return the coordinate z_i of a block, with the free indices of the rows."""
    return Coordinate(block.name, row_slots(block))


def col_coordinate(block: Block) -> Coordinate:
    """Return the coordinate z_j of a block, with the free indices of the columns."""
    return Coordinate(block.name, col_slots(block))


def claimed_drift(dynamics: Dynamics) -> tuple[Formula, ...]:
    """Return the claimed drift as formulas, in the order of the blocks."""
    claimed = dict(dynamics.claims.drift or ())
    return tuple(claimed[block.name] for block in dynamics.declarations.blocks)


def vector(formulas: Sequence[Formula], declarations: Declarations, *, stated: bool = False) -> Vector:
    """Return a vector over z, stated block by block, in index notation: [n_a], with `row_slots(a)`, for each block.

    Raises:
        ModelError: a formula has no entrywise meaning.
    """
    blocks = declarations.blocks
    return tuple(
        convert(f, declarations, *row_slots(block), stated=stated) for f, block in zip(formulas, blocks, strict=True)
    )


def matrix(formulas: Sequence[Sequence[Formula]], declarations: Declarations) -> Matrix:
    """Return a matrix over z, stated block by block, in index notation.

    Entry (a, b) has the indices `row_slots(a)` and `col_slots(b)`: [n_a, n_b].

    Raises:
        ModelError: a formula has no entrywise meaning.
    """
    blocks = declarations.blocks
    return tuple(
        tuple(
            convert(entry, declarations, *row_slots(block), *col_slots(other))
            for entry, other in zip(row, blocks, strict=True)
        )
        for row, block in zip(formulas, blocks, strict=True)
    )


def gradient(c: Calculus, blocks: tuple[Block, ...], scalar: Tensor) -> Vector:
    """Return the gradient of a scalar over z: for each block b, dH/db with the free indices `row_slots(b)`."""
    return tuple(c.diff(scalar, row_coordinate(block)) for block in blocks)


def divergence(c: Calculus, blocks: tuple[Block, ...], matrix: Matrix, *, settle: bool = True) -> Vector:
    """Return the vector sum_j dA_ij/dz_j, [n], of a matrix A over z, [n, n], zero where it is shown to vanish.

    A has a row and a column of tensors for each block; the result has one tensor for each (Ma, Chen, Fox 2015, Eq. 3:
    Gamma is that of D + Q).
    """
    rows: list[Tensor] = []
    for block, row in zip(blocks, matrix, strict=True):
        parts = [
            c.total(c.diff(entry, col_coordinate(other)), *col_slots(other))
            for other, entry in zip(blocks, row, strict=True)
        ]
        rows.append(c.add(c.zero(*row_slots(block)), *parts))
    return tuple(map(c.settled, rows) if settle else rows)


def zero_vector(c: Calculus, blocks: Sequence[Block]) -> Vector:
    """Return the vector 0 over z, [n]."""
    return tuple(c.zero(*row_slots(block)) for block in blocks)


def zero_matrix(c: Calculus, blocks: Sequence[Block]) -> Matrix:
    """Return the matrix 0 over z, [n, n]."""
    return tuple(tuple(c.zero(*row_slots(a), *col_slots(b)) for b in blocks) for a in blocks)


def apply_matrix(c: Calculus, blocks: tuple[Block, ...], matrix: Matrix, vector: Vector) -> Vector:
    """Return the vector sum_j A_ij v_j over z, A: [n, n], v: [n]: a tensor with `row_slots(a)` for each block a."""
    transposed = [
        c.rename(entry, dict(zip(row_slots(block), col_slots(block), strict=True)))
        for block, entry in zip(blocks, vector, strict=True)
    ]
    rows: list[Tensor] = []
    for block, row in zip(blocks, matrix, strict=True):
        parts = [
            c.total(c.multiply(entry, other), *col_slots(column))
            for column, entry, other in zip(blocks, row, transposed, strict=True)
        ]
        rows.append(c.add(c.zero(*row_slots(block)), *parts))
    return tuple(rows)


def map_matrices(rule: Callable[..., Tensor], *matrices: Matrix) -> Matrix:
    """Return the matrix over z of what a rule makes of the entries at each place, with the indices of that place."""
    return tuple(tuple(rule(*at) for at in zip(*rows, strict=True)) for rows in zip(*matrices, strict=True))


def _divergence_of_sum(dynamics: Dynamics, c: Calculus, D: Matrix, Q: Matrix, *, settle: bool) -> Vector:
    """Return the divergence of D + Q; a jump without a derivative is reported at its entry."""
    blocks = dynamics.declarations.blocks
    try:
        return divergence(c, blocks, map_matrices(c.add, D, Q), settle=settle)
    except ModelError:
        for name, matrix in (("D", D), ("Q", Q)):
            for block, row in zip(blocks, matrix, strict=True):
                for other, entry in zip(blocks, row, strict=True):
                    with placed(dynamics.source, f"{name}[{block.name},{other.name}]"):
                        c.diff(entry, col_coordinate(other))
        raise


def _read_matrix(dynamics: Dynamics, c: Calculus, name: str, given: tuple[tuple[Formula, ...], ...] | None) -> Matrix:
    """Return D or Q in index notation. Raises ModelError, located at the entry, where it is missing or unreadable."""
    if given is None:
        where = dynamics.source.place(name)
        if name == "Q" and lacks_q(dynamics):
            problem = "found no Q, neither stated nor proved to give `claims.drift`; expected one of the two"
            hint = "`recipe check` says what it looked for: Q made of the tensors in D, H and the drift"
            raise ModelError([Fault(where, name, problem, hint)])
        raise ModelError([Fault(where, name, f"found no {name}, expected it: the drift follows from D, Q and H")])
    blocks = dynamics.declarations.blocks
    rows: list[tuple[Tensor, ...]] = []
    for block, row in zip(blocks, given, strict=True):
        entries: list[Tensor] = []
        for other, formula in zip(blocks, row, strict=True):
            entry = f"{name}[{block.name},{other.name}]"
            slots = (*row_slots(block), *col_slots(other))
            where = dynamics.source.place(entry)
            stated = c.rules.stated
            found = convert(formula, dynamics.declarations, *slots, entry=entry, where=where, stated=stated)
            entries.append(c.settled(found) if stated else found)
        rows.append(tuple(entries))
    return tuple(rows)


def generator(derivation: Derivation, phi: Tensor) -> Tensor:
    """Return L phi = f . grad phi + tr(D Hess phi) for every size, D: [n, n], f: [n] the drift, Gamma included.

    For dtheta = -grad U dt + sqrt(2) dW and phi = theta_k theta_l it is -theta_k d_l U - theta_l d_k U + 2 delta_kl.
    Where exp(-H) is stationary, the mean of L phi under it is 0 for every phi that does not grow too fast.

    Args:
        derivation: gives f and D.
        phi: a function of the state. Its free indices are those of the result; none has the label `i` or `j`, which
            those of f and D have.
    """
    c = derivation.calculus
    blocks = derivation.declarations.blocks
    parts = [c.zero(*phi.free)]
    for a, block in enumerate(blocks):
        slope = c.diff(phi, row_coordinate(block))
        parts.append(c.total(c.distribute(derivation.drift[a], slope), *row_slots(block)))
        for b, other in enumerate(blocks):
            curvature = c.diff(slope, col_coordinate(other))
            parts.append(c.total(c.distribute(derivation.D[a][b], curvature), *row_slots(block), *col_slots(other)))
    return c.add(*parts)

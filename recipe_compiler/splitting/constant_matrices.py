"""Flows that are affine with constant matrices, entries of several blocks together.

dz = (b - F z) dt + sqrt(2D) dW of the blocks z that a piece moves, F and D constant along the chain, b frozen. After a
time t,

    z' = exp(-tF) z + int_0^t exp(-uF) du b + N(0, int_0^t exp(-uF) 2D exp(-uF)^T du).

The mean m solves m' = b - F m, the covariance S solves S' = 2D - F S - S F^T, both from what they are at t = 0;
solutions are unique. Friction with a full matrix, rotations of position and momentum, memory: all are of this kind, and
the three matrices are computed before the chain (program/program.py, Propagator).

Worked example: the O of SGHMC, dr = -C inv(M) r dt + sqrt(2C) dW, has F = C inv(M), b = 0 and D = C, n x n each, and r'
= exp(-tF) r + N(0, M - exp(-tF) M exp(-tF)^T): it keeps N(0, M), since F M + M F^T = 2C.
"""

from fractions import Fraction
from functools import partial
from itertools import product

from recipe_compiler.derive.recipe import (
    Derivation,
    Matrix,
    Vector,
    apply_matrix,
    col_coordinate,
    col_slots,
    row_coordinate,
    row_slots,
    zero_matrix,
    zero_vector,
)
from recipe_compiler.formula.declaration import Block, Declarations
from recipe_compiler.program.atoms import names_of
from recipe_compiler.program.program import Names, Propagator
from recipe_compiler.splitting.flow import Change, Flow, NoRowError, find_affine_degree, find_friction
from recipe_compiler.splitting.pieces import Piece
from recipe_compiler.tensor.calculus import Calculus
from recipe_compiler.tensor.show import text
from recipe_compiler.tensor.terms import Component, Index, Slot, Tensor

CONSTANT_MATRICES = "linear or Ornstein-Uhlenbeck, constant matrices"


_SAYS = (
    "exp(-tF) z + int_0^t exp(-uF) du b + N(0, int_0^t exp(-uF) 2D exp(-uF)^T du), f = b - F z with F, D"
    " constant, b frozen"
)


def find_constant_matrices(derivation: Derivation, piece: Piece) -> Flow:
    """Return the flow of a piece whose drift is affine with constant matrices, its noise constant.

    f = b - F z with F = -df/dz: [n, n] and b = f + F z: [n] over the n coordinates that the piece moves:

        z' = exp(-t F) z + int_0^t exp(-u F) du b + N(0, int_0^t exp(-u F) 2D exp(-u F).T du).

    (Arnold 1974, Sec. 8.2; Van Loan 1978.) A NoRowError names the coefficient that depends on the state, or the degree
    of the drift.
    """
    c, declarations = derivation.calculus, derivation.declarations
    blocks = declarations.blocks
    find_affine_degree(piece, declarations)
    moved = {n for n, block in enumerate(blocks) if block.name in piece.moved}
    F = tuple(
        tuple(find_friction(derivation, piece, n, m) if {n, m} <= moved else zero for m, zero in enumerate(row))
        for n, row in enumerate(zero_matrix(c, blocks))
    )
    for word, matrix in (("drift", F), ("noise", piece.D)):
        for entry in (entry for row in matrix for entry in row):
            if not _is_constant(entry, declarations):
                raise NoRowError(f"its {word} has the coefficient {text(entry)}, which is not constant")
    z = tuple(c.atom(row_coordinate(block)) for block in blocks)
    linear = apply_matrix(c, blocks, F, z)
    b = tuple(
        c.settled(c.add(f, own)) if n in moved else zero
        for n, (f, own, zero) in enumerate(zip(piece.drift, linear, zero_vector(c, blocks), strict=True))
    )
    return Flow(CONSTANT_MATRICES, _SAYS, partial(_change_by_propagator, F, b))


def _change_by_propagator(
    F: Matrix, b: Vector, derivation: Derivation, piece: Piece, share: Fraction
) -> tuple[Change, ...]:
    """Return ((exp(-tF) - 1) z + int_0^t exp(-uF) du b)/eps and the covariance over eps, at t = share eps.

    F, [n, n], and b, [n], over the whole state, are zero where nothing moves.
    """
    c, blocks = derivation.calculus, derivation.blocks
    moved = [n for n, block in enumerate(blocks) if block.name in piece.moved]
    own = _write_propagator(c, F, piece, moved, share, blocks)
    rate = [*zero_vector(c, blocks)]
    noisy = _find_noisy_blocks(F, piece.D, moved)
    two_D = [[*row] for row in zero_matrix(c, blocks)]
    for (i, n), (j, m) in product(enumerate(moved), enumerate(moved)):
        z = c.atom(col_coordinate(blocks[m]))
        for name, vector in ((own.change[i][j], z), (own.integral[i][j], _turn_to_columns(c, b[m], blocks[m]))):
            if not vector.is_zero:
                product_ = c.multiply(c.atom(_name_entry(name, blocks[n], blocks[m])), vector)
                rate[n] = c.add(rate[n], c.total(product_, *col_slots(blocks[m])))
        if n in noisy and m in noisy:
            two_D[n][m] = c.atom(_name_entry(own.covariance[i][j], blocks[n], blocks[m]))
    return (Change(piece.moved, tuple(rate), tuple(map(tuple, two_D)), own),)


def _is_constant(tensor: Tensor, declarations: Declarations) -> bool:
    changing = {block.name for block in declarations.blocks} | {f.name for f in declarations.functions if f.of}
    return names_of(tensor).isdisjoint(changing)


def _find_noisy_blocks(F: Matrix, D: Matrix, moved: list[int]) -> set[int]:
    """Return the blocks that noise reaches, by itself or through others."""
    found = {n for n in moved if any(not entry.is_zero for entry in D[n])}
    while more := {n for n in moved for m in found if not F[n][m].is_zero} - found:
        found |= more
    return found


def _write_propagator(
    c: Calculus, F: Matrix, piece: Piece, moved: list[int], share: Fraction, blocks: tuple[Block, ...]
) -> Propagator:
    own = tuple(blocks[n] for n in moved)
    ending = piece.name if share == 1 else f"{piece.name}_{str(share).replace('/', '_').replace('-', 'minus_')}"

    def named(word: str) -> Names:
        alone = len(own) == 1
        return tuple(tuple("_".join((word, ending, *(() if alone else (a.name, b.name)))) for b in own) for a in own)

    return Propagator(
        own,
        tuple(tuple(F[n][m] for m in moved) for n in moved),
        tuple(tuple(c.scale(piece.D[n][m], 2) for m in moved) for n in moved),
        share,
        named("change"),
        named("integral"),
        named("covariance"),
    )


def _turn_to_columns(c: Calculus, vector: Tensor, block: Block) -> Tensor:
    """Return a vector over a block with the free index of a column."""
    moves: dict[Index, Slot] = dict(zip(row_slots(block), col_slots(block), strict=True))
    return c.rename(vector, moves)


def _name_entry(name: str, row: Block, col: Block) -> Component:
    """Return entry (i, j) of the array of a pair of blocks; the axis of a scalar block has the one place 0."""
    return Component(name, (*(row_slots(row) or (0,)), *(col_slots(col) or (0,))))

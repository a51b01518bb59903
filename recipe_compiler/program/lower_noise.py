"""Lowering of the noise: a factor L with L L^T = eps (2D - eps B_hat), as cheap as the structure of D allows.

Diagonal: a scale per coordinate. Otherwise a matrix factor, computed once, before the chain starts.
"""

from dataclasses import dataclass
from fractions import Fraction

from recipe_compiler.formula.declaration import Block
from recipe_compiler.formula.shapes import Size
from recipe_compiler.program.atoms import indices
from recipe_compiler.program.combine import nested, plus, unsupported
from recipe_compiler.program.contraction import Contraction
from recipe_compiler.program.definition import Definition
from recipe_compiler.program.loops import (
    Array,
    Assign,
    Call,
    Clip,
    Constant,
    Factor,
    Ref,
    Scalar,
    Scale,
    Statement,
    Times,
)
from recipe_compiler.program.program import Noise
from recipe_compiler.tensor.atoms import everywhere, moved
from recipe_compiler.tensor.terms import Component, Delta, Index, Slot, Tensor, Term

CLIPPED = "clipped"
"""The counter of covariances that were not PSD at a state."""


@dataclass(frozen=True, slots=True)
class LoweredNoise:
    """The standard normals of a group of blocks, and what each block adds to its update."""

    normals: Array
    increments: tuple[tuple[str, Scalar], ...]
    """Block to the increment at its loop variable."""
    inside: tuple[tuple[str, tuple[Statement, ...]], ...]
    """Block to the statements that go before its increment, inside its loop."""
    clips: bool


def lower_noise(noise: Noise, contraction: Contraction) -> LoweredNoise:
    """Return the noise of one group of blocks; its constants become definitions of `contraction`."""
    if len(noise.blocks) == 1:
        block = noise.blocks[0]
        two_D = _diagonal(noise.two_D[0][0], block)
        B_hat = Tensor((), ()) if noise.B_hat is None else _diagonal(noise.B_hat[0][0], block)
        if two_D is not None and B_hat is not None:
            return _lower_diagonal(block, two_D, B_hat, contraction, corrected=noise.B_hat is not None)
    return _lower_dense(noise, contraction)


def _diagonal(matrix: Tensor, block: Block) -> Tensor | None:
    """Return s with `matrix_ij = delta_ij s_i`, or None where the matrix is not diagonal by form."""
    if not block.shape.sizes:
        return matrix
    row, col = Index(block.shape.sizes[0], "i"), Index(block.shape.sizes[0], "j")
    moves: dict[Index, Slot] = {col: row}
    terms: list[Term] = []
    for term in matrix.terms:
        rest = tuple(f for f in term.factors if f not in ((Delta(row, col), 1), (Delta(col, row), 1)))
        if len(rest) == len(term.factors):
            return None
        terms.append(Term(term.coefficient, tuple((moved(atom, moves), power) for atom, power in rest)))
    return Tensor((row,), tuple(terms))


def _lower_diagonal(
    block: Block, two_D: Tensor, B_hat: Tensor, contraction: Contraction, *, corrected: bool
) -> LoweredNoise:
    loops = contraction.loops(block.shape.sizes)
    scope, variables = tuple(index for index, _ in loops), dict(loops)
    at = tuple(variable for _, variable in loops)
    variance = contraction.scalar(two_D, scope, variables)
    excess = contraction.scalar(B_hat, scope, variables)
    normal = Ref(contraction.name(f"noise_{block.name}"), at or (0,))
    normals = Array(normal.name, block.shape.sizes or (1,))
    scale = Ref(contraction.name(f"scale_{block.name}"), at)
    inside: tuple[Statement, ...] = ()
    if contraction.is_constant_tensor(two_D) and contraction.is_constant_tensor(B_hat):
        varies = any(index in indices(atom) for part in (two_D, B_hat) for atom in everywhere(part) for index in scope)
        scale = scale if varies else Ref(scale.name)
        body = (Scale(scale, block.name, variance, excess),)
        array = Array(scale.name, block.shape.sizes if varies else ())
        contraction.constants |= {scale.name}
        statements = nested(loops, body) if varies else body
        contraction.define(Definition(array, statements, constant=True, of_datum=False))
    else:
        scale = Ref(scale.name)
        inside = (Assign(scale, _covariance(variance, excess)),)
        inside += (Clip(scale, CLIPPED),) if corrected else ()
        inside += (Assign(scale, Call("sqrt", (scale,))),)
    increment = ((block.name, Times((scale, normal))),)
    return LoweredNoise(normals, increment, ((block.name, inside),), clips=bool(inside) and corrected)


def _covariance(two_D: Scalar, B_hat: Scalar) -> Scalar:
    eps = Ref("eps")
    if B_hat == Constant(Fraction(0)):
        return Times((eps, two_D))
    return Times((eps, plus((two_D, Times((Constant(Fraction(-1)), eps, B_hat))))))


def _lower_dense(noise: Noise, contraction: Contraction) -> LoweredNoise:
    parts = [*(e for row in noise.two_D for e in row), *(e for row in noise.B_hat or () for e in row)]
    if not all(contraction.is_constant_tensor(part) for part in parts):
        names = ", ".join(block.name for block in noise.blocks)
        raise unsupported(
            f"noise of {names} with a covariance that is not diagonal and depends on the state",
            "supported are a constant D, and a D that is diagonal (c*I, diag(v)) at every state",
        )
    names = tuple(block.name for block in noise.blocks)
    two_D = _assemble("two_D", noise.blocks, noise.two_D, contraction)
    B_hat = None if noise.B_hat is None else _assemble("B_hat", noise.blocks, noise.B_hat, contraction)
    joint = tuple(_length(block) for block in noise.blocks)
    factors = tuple(contraction.name(f"L_{name}") for name in names)
    increments: list[tuple[str, Scalar]] = []
    contraction.constants |= set(factors)
    width = joined(joint)
    normals = Array(contraction.name("noise_" + "_".join(names)), (width,))
    statement = (Factor(factors, names, two_D, B_hat),)
    for place, (block, name) in enumerate(zip(noise.blocks, factors, strict=True)):
        array = Array(name, (_length(block), width))
        contraction.define(Definition(array, statement if place == 0 else (), constant=True, of_datum=False))
        increments.append((block.name, _row_product(block, name, normals.name, width, contraction)))
    return LoweredNoise(normals, tuple(increments), (), clips=False)


def joined(sizes: tuple[Size, ...]) -> Size:
    """Return the length of vectors joined end to end; symbolic sizes are added in the emitted text."""
    fixed = [size for size in sizes if isinstance(size, int)]
    return sum(fixed) if len(fixed) == len(sizes) else "+".join(str(size) for size in sizes)


def _length(block: Block) -> Size:
    return block.shape.sizes[0] if block.shape.sizes else 1


def _assemble(
    word: str, blocks: tuple[Block, ...], matrix: tuple[tuple[Tensor, ...], ...], contraction: Contraction
) -> tuple[tuple[str, ...], ...]:
    """Define one array per pair of blocks and return their names."""
    rows: list[tuple[str, ...]] = []
    for row_block, row in zip(blocks, matrix, strict=True):
        names: list[str] = []
        for col_block, entry in zip(blocks, row, strict=True):
            name = contraction.name(f"{word}_{row_block.name}{'_' + col_block.name if len(blocks) > 1 else ''}")
            sizes = (_length(row_block), _length(col_block))
            row_loop = contraction.loops(row_block.shape.sizes)
            both = tuple(
                Index(size, label)
                for block, label in ((row_block, "i"), (col_block, "j"))
                for size in block.shape.sizes
            )
            variables = contraction.variables(both)
            at = (variables.get(both[0], 0) if row_loop else 0, variables[both[-1]] if col_block.shape.sizes else 0)
            value = contraction.scalar(entry, both, variables)
            body = nested(tuple((index, variables[index]) for index in both), (Assign(Ref(name, at), value),))
            contraction.define(Definition(Array(name, sizes), body, constant=True, of_datum=False))
            names.append(name)
        rows.append(tuple(names))
    return tuple(rows)


def _row_product(block: Block, factor: str, normals: str, width: Size, contraction: Contraction) -> Scalar:
    """Return `sum_k L_ik noise_k` at the block's loop variable."""
    loops = contraction.loops(block.shape.sizes)
    row: Slot = loops[0][0] if loops else 0
    k = Index(width, "_noise")
    one = Fraction(1)
    term = Term(one, ((Component(factor, (row, k)), one), (Component(normals, (k,)), one)))
    scope = tuple(index for index, _ in loops)
    return contraction.scalar(Tensor(scope, (term,)), scope, dict(loops))

"""Lowering of the noise: a factor L with L L^T = eps (2D - eps B_hat), as cheap as the structure of D allows.

Diagonal: a scale per coordinate. Constant: a matrix, factored once, before the chain starts. A sum of Gram matrices:
the factors that it is written with. Otherwise a factorisation in every step.
"""

from recipe_compiler.formula.declaration import Block, Declarations, Parameter
from recipe_compiler.formula.shapes import Kind
from recipe_compiler.program.atoms import indices
from recipe_compiler.program.combine import nested
from recipe_compiler.program.contraction import Contraction
from recipe_compiler.program.definition import Definition
from recipe_compiler.program.gram import Gram
from recipe_compiler.program.loops import Array, Assign, Call, Clip, Factor, Ref, Scalar, Scale, Statement, Times
from recipe_compiler.program.lower_gram import lower_gram
from recipe_compiler.program.lower_root import lower_root
from recipe_compiler.program.lowered_noise import (
    CLIPPED,
    LoweredNoise,
    assemble,
    covariance,
    joined,
    length,
    row_product,
)
from recipe_compiler.program.program import Noise
from recipe_compiler.tensor.atoms import everywhere, moved
from recipe_compiler.tensor.calculus import Calculus
from recipe_compiler.tensor.rules import Rules, rules_of
from recipe_compiler.tensor.terms import Delta, Index, Slot, Tensor, Term


def lower_noise(noise: Noise, contraction: Contraction, parameters: tuple[Parameter, ...]) -> LoweredNoise:
    """Return the noise of one group of blocks; its constants become definitions of `contraction`.

    What has no factor by its form as it is stated may have one multiplied out: `s*(u @ u.T + v @ v.T)`.

    Args:
        noise: 2D and B_hat of the group.
        contraction: the definitions so far.
        parameters: constants of the chain, for what their kinds say of signs.
    """
    rules = rules_of(Declarations(noise.blocks, parameters))
    multiplied_out = noise.mapped(lambda tensor: Calculus(rules).collect(tensor.terms, tensor.free))
    found = (_by_form(form, contraction, rules, parameters) for form in (noise, multiplied_out))
    return next((lowered for lowered in found if lowered is not None), None) or lower_root(noise, contraction)


def _by_form(
    noise: Noise, contraction: Contraction, rules: Rules, parameters: tuple[Parameter, ...]
) -> LoweredNoise | None:
    """Return the noise by a factor that its covariance has by its form, None where it has none."""
    if len(noise.blocks) == 1:
        block = noise.blocks[0]
        two_D = _diagonal(noise.two_D[0][0], block)
        B_hat = Tensor((), ()) if noise.B_hat is None else _diagonal(noise.B_hat[0][0], block)
        if two_D is not None and B_hat is not None:
            return _lower_diagonal(block, two_D, B_hat, contraction, corrected=noise.B_hat is not None)
    parts = [*(e for row in noise.two_D for e in row), *(e for row in noise.B_hat or () for e in row)]
    if all(contraction.is_constant_tensor(part) for part in parts):
        return _lower_dense(noise, contraction)
    if len(noise.blocks) == 1:
        gram = Gram(
            length(noise.blocks[0]),
            rules,
            frozenset(p.name for p in parameters if {Kind.PSD, Kind.PD} & set(p.kinds)),
            contraction.is_constant,
        )
        found = gram.parts(noise.two_D[0][0], None if noise.B_hat is None else noise.B_hat[0][0])
        if found is not None:
            return lower_gram(noise.blocks[0], found, contraction)
    return None


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
        inside = (Assign(scale, covariance(variance, excess)),)
        inside += (Clip(scale, CLIPPED),) if corrected else ()
        inside += (Assign(scale, Call("sqrt", (scale,))),)
    increment = ((block.name, Times((scale, normal))),)
    return LoweredNoise((normals,), increment, ((block.name, inside),), clips=bool(inside) and corrected)


def _lower_dense(noise: Noise, contraction: Contraction) -> LoweredNoise:
    names = tuple(block.name for block in noise.blocks)
    two_D = assemble("two_D", noise.blocks, noise.two_D, contraction)
    B_hat = None if noise.B_hat is None else assemble("B_hat", noise.blocks, noise.B_hat, contraction)
    joint = tuple(length(block) for block in noise.blocks)
    factors = tuple(contraction.name(f"L_{name}") for name in names)
    increments: list[tuple[str, Scalar]] = []
    contraction.constants |= set(factors)
    width = joined(joint)
    normals = Array(contraction.name("noise_" + "_".join(names)), (width,))
    statement = (Factor(factors, names, two_D, B_hat),)
    for place, (block, name) in enumerate(zip(noise.blocks, factors, strict=True)):
        array = Array(name, (length(block), width))
        contraction.define(Definition(array, statement if place == 0 else (), constant=True, of_datum=False))
        increments.append((block.name, row_product(block, name, normals.name, width, contraction)))
    return LoweredNoise((normals,), tuple(increments))

"""Lowering of the noise: a factor L with L L^T = t (2D - t B_hat), as cheap as the structure of D allows.

t is eps, or 1 for a block drawn anew. In order:

    diagonal by form        a scale per coordinate, sqrt(t (2D_i - t B_i)); d operations a step
    constant                a matrix, factored once before the chain; d**2 operations a step
    Gram matrices           the factors that it is written with (`gram`); no decomposition
    otherwise               a factorisation in every step (`lower_root`); d**3 operations a step
"""

from fractions import Fraction

from recipe_compiler.formula.declaration import Block, Declarations, Parameter
from recipe_compiler.formula.shapes import Kind
from recipe_compiler.program.atoms import names_of
from recipe_compiler.program.combine import nested
from recipe_compiler.program.contraction import scalars_at
from recipe_compiler.program.definition import Definitions
from recipe_compiler.program.gram import Gram
from recipe_compiler.program.loops import (
    Array,
    Assign,
    Body,
    Call,
    Constant,
    Increment,
    Literal,
    Ref,
    Scalar,
    Times,
    When,
)
from recipe_compiler.program.lower_gram import lower_gram
from recipe_compiler.program.lower_root import lower_root
from recipe_compiler.program.lowered_noise import (
    CLIPPED,
    LoweredNoise,
    covariance,
    factor_of,
    joined,
    length,
    of_covariance,
    quoted,
    row_product,
    time_of,
)
from recipe_compiler.program.program import Noise
from recipe_compiler.program.rebuild import with_tensors
from recipe_compiler.tensor.atoms import occurring
from recipe_compiler.tensor.calculus import Calculus
from recipe_compiler.tensor.diagonal import diagonal
from recipe_compiler.tensor.rules import Rules, rules_of
from recipe_compiler.tensor.terms import Index, Tensor

Variance = tuple[Tensor, Tensor, Scalar]
"""2D and B_hat of entries that are apart, and t: each is of variance `t (2D - t B_hat)`."""


def lower_noise(defined: Definitions, noise: Noise, parameters: tuple[Parameter, ...]) -> LoweredNoise:
    """Return the noise of one group of blocks, its constants among the definitions.

    A covariance without a factor by its form as stated may have one multiplied out: s*(u @ u.T + v @ v.T).

    Args:
        defined: the definitions so far.
        noise: 2D and B_hat of the group.
        parameters: constants of the chain, whose kinds give signs.
    """
    rules = rules_of(Declarations(noise.blocks, parameters))
    multiplied_out = with_tensors(noise, lambda tensor: Calculus(rules).collect(tensor.terms, tensor.free))
    found = (_by_form(defined, form, rules, parameters) for form in (noise, multiplied_out))
    return next((lowered for lowered in found if lowered is not None), None) or lower_root(defined, noise)


def _by_form(
    defined: Definitions, noise: Noise, rules: Rules, parameters: tuple[Parameter, ...]
) -> LoweredNoise | None:
    """Return the noise by a factor that its covariance has by its form, None where it has none."""
    parts = [*(e for row in noise.two_D for e in row), *(e for row in noise.B_hat or () for e in row)]
    own = {parameter.name for parameter in parameters}
    of_flow = noise.B_hat is not None and any(names_of(part) - own for part in parts)  # eps, or what is made of it
    if len(noise.blocks) == 1:
        block = noise.blocks[0]
        two_D = _diagonal(noise.two_D[0][0], block)
        B_hat = Tensor((), ()) if noise.B_hat is None else _diagonal(noise.B_hat[0][0], block)
        if two_D is not None and B_hat is not None:
            corrected = noise.B_hat is not None
            return _lower_diagonal(defined, block, (two_D, B_hat, time_of(noise)), corrected=corrected, of_flow=of_flow)
    if all(defined.is_constant_tensor(part) for part in parts):
        return _lower_dense(defined, noise, of_flow=of_flow)
    if len(noise.blocks) == 1:
        gram = Gram(
            length(noise.blocks[0]),
            rules,
            frozenset(p.name for p in parameters if {Kind.PSD, Kind.PD} & set(p.kinds)),
            defined.is_constant,
        )
        found = gram.parts(noise.two_D[0][0], None if noise.B_hat is None else noise.B_hat[0][0])
        if found is not None:
            return lower_gram(defined, noise.blocks[0], found, time_of(noise))
    return None


def _diagonal(matrix: Tensor, block: Block) -> Tensor | None:
    """Return s with `matrix_ij = delta_ij s_i`, or None where the matrix is not diagonal by form."""
    if not block.shape.sizes:
        return matrix
    return diagonal(matrix, Index(block.shape.sizes[0], "i"), Index(block.shape.sizes[0], "j"))


def _lower_diagonal(
    defined: Definitions, block: Block, variance: Variance, *, corrected: bool, of_flow: bool
) -> LoweredNoise:
    two_D, B_hat, time = variance
    loops = defined.loops(block.shape.sizes)
    at = tuple(variable for _, variable in loops)
    inside: Body = ()
    if defined.is_constant_tensor(two_D) and defined.is_constant_tensor(B_hat):
        noise = defined.naming(f"noise_{block.name}")
        scale = _constant_scale(defined, block, variance, of_flow=of_flow)
    else:
        number, excess = scalars_at(defined, (two_D, B_hat), loops)
        noise = defined.naming(f"noise_{block.name}")
        wanted = defined.naming(f"scale_{block.name}")
        scale = Ref(wanted)
        zero, one = Constant(Fraction(0)), Literal("1")
        counted = (Assign(scale, zero), Increment(Ref(CLIPPED, (0,)), one))
        clipped = When(Call("<", (scale, zero)), counted)
        inside = (Assign(scale, covariance(number, excess, time)),)
        inside += (clipped,) if corrected else ()
        inside += (Assign(scale, Call("sqrt", (scale,))),)
    normals = Array(noise, block.shape.sizes or (1,))
    increment = ((block.name, Times((scale, Ref(noise, at or (0,))))),)
    clips = bool(inside) and corrected
    return LoweredNoise((normals,), increment, ((block.name, inside),), clips=clips)


def _constant_scale(defined: Definitions, block: Block, variance: Variance, *, of_flow: bool) -> Ref:
    """Return the square root of a constant diagonal covariance, entry by entry; equal letters of a word share one."""
    two_D, B_hat, time = variance
    loops = defined.loops(block.shape.sizes)
    varies = bool(occurring(two_D).free or occurring(B_hat).free)
    at = tuple(variable for _, variable in loops) if varies else ()
    meant = ("scale", block, variance, of_flow)
    if (known := defined.name_of(meant)) is not None:
        return Ref(known, at)
    number, excess = scalars_at(defined, (two_D, B_hat), loops)
    wanted = defined.naming(f"scale_{block.name}")
    body = (of_covariance("scale", (number, excess), time, quoted(block.name), (Ref(wanted, at),), of_flow=of_flow),)
    array = Array(wanted, block.shape.sizes if varies else ())
    statements = nested(loops, body) if varies else body
    defined.having(array, statements, constant=True, meant=meant)
    return Ref(wanted, at)


def _lower_dense(defined: Definitions, noise: Noise, *, of_flow: bool) -> LoweredNoise:
    names = tuple(block.name for block in noise.blocks)
    factors = defined.named(f"L_{name}" for name in names)
    width = joined(tuple(length(block) for block in noise.blocks))
    normals = defined.naming("noise_" + "_".join(names))
    made = tuple(map(Ref, factors)) if len(factors) > 1 else ((Ref(factors[0]),),)
    call = factor_of(defined, noise.blocks, noise.two_D, noise.B_hat, time_of(noise), made, of_flow=of_flow)
    increments = list[tuple[str, Scalar]]()
    for block, name in zip(noise.blocks, factors, strict=True):
        defined.having(Array(name, (length(block), width)), () if increments else (call,), constant=True)
        increments.append((block.name, row_product(defined, block, name, normals, width)))
    return LoweredNoise((Array(normals, (width,)),), tuple(increments))

"""Lowering of noise whose covariance is a sum of Gram matrices: `sqrt(eps s) P n` for each, with normals of its own."""

from recipe_compiler.formula.declaration import Block
from recipe_compiler.formula.shapes import Shape
from recipe_compiler.program.atoms import indices
from recipe_compiler.program.combine import nested, plus
from recipe_compiler.program.contraction import Contraction
from recipe_compiler.program.definition import Definition
from recipe_compiler.program.gram import Part, Parts
from recipe_compiler.program.loops import Array, Assign, Call, Factor, Ref, Scalar, Times
from recipe_compiler.program.lowered_noise import LoweredNoise, assemble, covariance
from recipe_compiler.tensor.atoms import ONE, everywhere
from recipe_compiler.tensor.terms import Component, Index, Tensor, Term


def lower_gram(block: Block, parts: Parts, contraction: Contraction) -> LoweredNoise:
    """Return the noise of one block from the parts of its covariance."""
    loops = contraction.loops(block.shape.sizes)
    scope, variables = tuple(index for index, _ in loops), dict(loops)
    normals: list[Array] = []
    increments: list[Scalar] = []
    if parts.diagonal is not None:
        noise = Array(contraction.name(f"noise_{block.name}"), block.shape.sizes)
        varies = any(index in indices(atom) for atom in everywhere(parts.diagonal) for index in scope)
        variance = parts.diagonal if varies else Tensor((), parts.diagonal.terms)
        scale = _root(f"scale_{block.name}", variance, contraction, steps=True)
        increments.append(Times((scale, Ref(noise.name, tuple(variables.values())))))
        normals.append(noise)
    for part in parts.products:
        noise, term = _product(block, part, contraction)
        increments.append(contraction.scalar(Tensor(scope, (term,)), scope, variables))
        normals.append(noise)
    return LoweredNoise(tuple(normals), ((block.name, plus(tuple(increments))),))


def _product(block: Block, part: Part, contraction: Contraction) -> tuple[Array, Term]:
    """Return the normals n of a part, and its noise `sqrt(eps s) sum_k P_ik n_k`, or `sqrt(s) sum_kl P_ik L_kl n_l`."""
    width = 1 if part.index is None else part.index.size
    noise = Array(contraction.name(f"noise_{block.name}"), (width,))
    scale = _root(f"scale_{block.name}", part.scale, contraction, steps=part.inner is None)
    factors = [*part.left, (Component(scale.name), ONE)]
    if part.index is None:
        return noise, Term(ONE, (*factors, (Component(noise.name, (0,)), ONE)))
    at = part.index
    if part.inner is not None:
        at = Index(width, "_noise")
        factors.append((Component(_factor(block, part, contraction), (part.index, at)), ONE))
    return noise, Term(ONE, (*factors, (Component(noise.name, (at,)), ONE)))


def _factor(block: Block, part: Part, contraction: Contraction) -> str:
    """Define a constant L with `L L^T = eps (M - eps E)`, found once before the chain starts, and return its name."""
    size = 1 if part.index is None else part.index.size
    name = contraction.name(f"L_{block.name}")
    own = (Block(block.name, Shape(size)),)
    inner = Tensor((), ()) if part.inner is None else part.inner
    two_D = assemble("two_D", own, ((inner,),), contraction)
    B_hat = None if part.excess is None else assemble("B_hat", own, ((part.excess,),), contraction)
    contraction.constants |= {name}
    statement = Factor((name,), (block.name,), two_D, B_hat)
    contraction.define(Definition(Array(name, (size, size)), (statement,), constant=True, of_datum=False))
    return name


def _root(wanted: str, value: Tensor, contraction: Contraction, *, steps: bool) -> Ref:
    """Define the root of a nonnegative tensor (times eps, where `steps`), in each step if it changes with the state."""
    name = contraction.name(wanted)
    loops = contraction.loops(tuple(index.size for index in value.free))
    scope, variables = tuple(index for index, _ in loops), dict(loops)
    number = contraction.scalar(value, scope, variables)
    root = Call("sqrt", (covariance(number, contraction.scalar(Tensor((), ()), (), {})) if steps else number,))
    at = tuple(variables.values())
    constant = contraction.is_constant_tensor(value)
    if constant:
        contraction.constants |= {name}
    body = nested(loops, (Assign(Ref(name, at), root),))
    array = Array(name, tuple(index.size for index in scope))
    contraction.define(Definition(array, body, constant=constant, of_datum=False))
    return Ref(name, at)

"""Lowering of noise whose covariance is a sum of Gram matrices: sqrt(t s) P n for each, with its own n ~ N(0, I).

Independent parts add up in covariance: sum_k (t s_k) P_k P_k^T.
"""

from fractions import Fraction

from recipe_compiler.formula.declaration import Block
from recipe_compiler.formula.shapes import Shape, Size
from recipe_compiler.program.combine import nested, plus
from recipe_compiler.program.contraction import at_loops
from recipe_compiler.program.definition import Definitions
from recipe_compiler.program.gram import GramSum, GramTerm
from recipe_compiler.program.loops import Array, Assign, Call, Constant, Ref, Scalar, Times
from recipe_compiler.program.lowered_noise import LoweredNoise, covariance, factor_of
from recipe_compiler.tensor.atoms import ONE, occurring
from recipe_compiler.tensor.terms import Component, Index, Slot, Tensor, Term

ONCE = Constant(Fraction(1))
"""The time of what is no noise of its own, as a factor within one is not."""
Draw = tuple[Array, Scalar]
"""Normals, and what they add to a block at its loop variable."""


def lower_gram(defined: Definitions, block: Block, parts: GramSum, time: Scalar) -> LoweredNoise:
    """Return the noise of one block from the parts of its covariance over a time t."""
    draws: tuple[Draw, ...] = ()
    if parts.diagonal is not None:
        draw = _diagonal(defined, block, parts.diagonal, time)
        draws = (draw,)
    products = tuple(_product(defined, block, part, time) for part in parts.products)
    normals, increments = zip(*draws, *products, strict=True)
    return LoweredNoise(normals, ((block.name, plus(increments)),))


def _diagonal(defined: Definitions, block: Block, variance: Tensor, time: Scalar) -> Draw:
    """Return normals n, and `sqrt(t v_i) n_i`."""
    loops = defined.loops(block.shape.sizes)
    name = defined.naming(f"noise_{block.name}")
    scale = _root(defined, f"scale_{block.name}", occurring(variance), time)
    noise = Ref(name, tuple(variable for _, variable in loops))
    return (Array(name, block.shape.sizes), Times((scale, noise)))


def _product(defined: Definitions, block: Block, part: GramTerm, time: Scalar) -> Draw:
    """Return the normals n of a part, and its noise `sqrt(t s) sum_k P_ik n_k`, or `sqrt(s) sum_kl P_ik L_kl n_l`."""
    loops = defined.loops(block.shape.sizes)
    scope = tuple(index for index, _ in loops)
    width = 1 if part.index is None else part.index.size
    name = defined.naming(f"noise_{block.name}")
    scale = _root(defined, f"scale_{block.name}", part.scale, time if part.inner is None else ONCE)
    factors = [*part.left, (Component(scale.name), ONE)]
    at: Slot = 0 if part.index is None else part.index
    if part.index is not None and part.inner is not None:
        at = Index(width, "_noise")
        L = _factor(defined, block, part.inner, part.excess, width, time)
        factors.append((Component(L, (part.index, at)), ONE))
    term = Term(ONE, (*factors, (Component(name, (at,)), ONE)))
    value = at_loops(defined, Tensor(scope, (term,)), loops)
    return (Array(name, (width,)), value)


def _factor(defined: Definitions, block: Block, inner: Tensor, excess: Tensor | None, size: Size, time: Scalar) -> str:
    """Define a constant L with `L L^T = t (M - t E)`, found once before the chain starts, and return its name."""
    name = defined.naming(f"L_{block.name}")
    own, B_hat = (Block(block.name, Shape(size)),), None if excess is None else ((excess,),)
    statement = factor_of(defined, own, ((inner,),), B_hat, time, ((Ref(name),),))
    defined.having(Array(name, (size, size)), (statement,), constant=True)
    return name


def _root(defined: Definitions, wanted: str, value: Tensor, time: Scalar) -> Ref:
    """Define the root of a nonnegative tensor over a time, in each step if it changes with the state."""
    name = defined.naming(wanted)
    loops = defined.loops(tuple(index.size for index in value.free))
    number = at_loops(defined, value, loops)
    root = Call("sqrt", (covariance(number, Constant(Fraction(0)), time),))
    at = tuple(variable for _, variable in loops)
    body = nested(loops, (Assign(Ref(name, at), root),))
    array = Array(name, tuple(index.size for index in value.free))
    constant = defined.is_constant_tensor(value)
    defined.having(array, body, constant=constant)
    return Ref(name, at)

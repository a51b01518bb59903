"""The directions that noise reaches: Hoermander's condition in index notation, for every size at once.

Modulo the columns of D, the Stratonovich drift is b = -Q grad H + div Q: the part of it along D grad H, and the
correction for D, lie in the span of those columns (mathematically: in the module over smooth functions). So brackets of
the columns of D with b decide the rank. Where the span holds d/dz_c for all coordinates of a block c, the brackets with
b are plain derivatives of b: a family of them that spans a further block a, and has no component in a block that is not
reached yet, adds d/dz_a to the span.

Worked example, SGNHT: z = (theta, r, xi) with noise on r, b_theta = r and b_xi = r.T r/d - 1. From r, d b_theta/d r = I
is invertible, but d b_xi/d r is not zero, so first derivatives do not separate theta from xi. The second derivatives d2
b_xi/(d r_i d r_j) = 2 delta_ij/d have no component in theta and never vanish all together: xi is reached, and then
theta by d b_theta/d r.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations_with_replacement, islice

from recipe_compiler import limits
from recipe_compiler.derive.recipe import Derivation, Vector, apply_matrix, divergence, row_slots, slots
from recipe_compiler.formula.declaration import Block, Function, Parameter
from recipe_compiler.formula.shapes import Kind
from recipe_compiler.tensor.calculus import Calculus, calculus
from recipe_compiler.tensor.definite import is_invertible, never_zero
from recipe_compiler.tensor.matrixform import matrix_form
from recipe_compiler.tensor.signs import is_positive
from recipe_compiler.tensor.style import PLAIN
from recipe_compiler.tensor.terms import Coordinate, Index, Slot, Tensor


@dataclass(frozen=True, slots=True)
class ReachedBlock:
    """A block that brackets reach: which derivative of b spans it, and what that derivative is."""

    block: str
    by: str
    """`d b_theta/d r`."""
    is_: str
    """The derivative in matrix notation, invertible at every state."""


def circulation(derivation: Derivation) -> Vector:
    """Return b = -Q grad H + div Q: [n], a vector over z: f = b - D grad H + div D.

    Modulo the columns of D it is the Stratonovich drift, which Hoermander's condition takes brackets with (Hoermander
    1967, Theorem 1.1). For H = U(theta) + r.T inv(M) r/2 and Q[theta,r] = -I it is (inv(M) r, -grad U).
    """
    declarations = derivation.declarations
    c = calculus(declarations)
    pushed = apply_matrix(c, declarations.blocks, derivation.Q, derivation.grad_H)
    own = divergence(c, declarations.blocks, derivation.Q)
    return tuple(c.subtract(correction, push) for correction, push in zip(own, pushed, strict=True))


def reach(derivation: Derivation, noisy: frozenset[str]) -> tuple[ReachedBlock, ...]:
    """Return the further blocks that brackets reach from blocks on which D is positive definite, in order.

    [d/dz_c, b] = db/dz_c for a reached block c: a further block a is reached where db_a/dz_c, or a derivative of b of
    order up to 3 in reached blocks, is nonsingular (n_a x n_a) at every state, and that of every other unreached block
    is zero (Hoermander 1967, Theorem 1.1). `noisy` are names of blocks. A block that is not returned was not shown to
    be reached, which does not show that it is not.

    With H = U(theta) + r.T inv(M) r/2, Q[theta,r] = -I and noise on r, b_theta = inv(M) r: theta is reached by d
    b_theta/d r = inv(M).
    """
    declarations = derivation.declarations
    c = calculus(declarations)
    b = dict(zip((block.name for block in declarations.blocks), circulation(derivation), strict=True))
    nonzero = frozenset(item.name for item in (*declarations.parameters, *declarations.functions) if _is_nonzero(item))
    found: list[ReachedBlock] = []
    while len(noisy) + len(found) < len(declarations.blocks):
        reached = noisy | {step.block for step in found}
        step = next(_extend_by_brackets(c, declarations.blocks, b, reached, nonzero), None)
        if step is None:
            break
        found.append(step)
    return tuple(found)


def _is_nonzero(item: Parameter | Function) -> bool:
    return not item.shape.sizes and Kind.NONZERO in item.kinds


def _extend_by_brackets(
    c: Calculus, blocks: tuple[Block, ...], b: dict[str, Tensor], reached: frozenset[str], nonzero: frozenset[str]
) -> Iterator[ReachedBlock]:
    """Yield each block that one family of brackets adds to the reached ones."""
    inside = [block for block in blocks if block.name in reached]
    outside = [block for block in blocks if block.name not in reached]
    families = (by for depth in range(1, limits.DEPTH + 1) for by in combinations_with_replacement(inside, depth))
    for by in islice(families, limits.CANDIDATES):
        at = [slots(block, f"k{n}") for n, block in enumerate(by)]
        moved = [(block, _differentiate_by_blocks(c, b[block.name], by, at)) for block in outside]
        touched = [(block, slope) for block, slope in moved if not c.is_zero(slope)]
        if len(touched) != 1:
            continue
        block, slope = touched[0]
        over = tuple(index for indices in at for index in indices)
        if _spans_block(c, block, slope, over, nonzero):
            yield _describe_step(c, block, by, slope, over)


def _differentiate_by_blocks(c: Calculus, tensor: Tensor, by: tuple[Block, ...], at: list[tuple[Index, ...]]) -> Tensor:
    """Return the derivative of a tensor by several blocks in turn."""
    for block, places in zip(by, at, strict=True):
        tensor = c.diff(tensor, Coordinate(block.name, places))
    return tensor


def _spans_block(c: Calculus, block: Block, slope: Tensor, over: tuple[Index, ...], nonzero: frozenset[str]) -> bool:
    """Return whether a family of fields, indexed by `over`, spans a block at every state."""
    slots = row_slots(block)
    if slots:
        return len(over) == 1 and is_invertible(c, slope, slots[0], over[0], nonzero)
    if not over:
        return never_zero(c, slope, nonzero)
    if len(over) == 2 and set(over) == set(slope.free) and is_invertible(c, slope, over[0], over[1], nonzero):
        return True
    squared = c.total(c.multiply(slope, slope), *(index for index in over if index in slope.free))
    return is_positive(c.rules, squared)


def _describe_step(
    c: Calculus, block: Block, by: tuple[Block, ...], slope: Tensor, over: tuple[Index, ...]
) -> ReachedBlock:
    """Return the reached block with its spanning derivative as text."""
    free = [Index(index.size, label) for index, label in zip((*row_slots(block), *over), "ijkl", strict=False)]
    moves: dict[Index, Slot] = dict(zip((*row_slots(block), *over), free, strict=True))
    order = "" if len(by) == 1 else str(len(by))
    names = " ".join(f"d {other.name}" for other in by)
    return ReachedBlock(block.name, f"d{order} b_{block.name}/{names}", matrix_form(c, PLAIN, c.rename(slope, moves)))

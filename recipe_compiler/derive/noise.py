"""What the noise of a minibatch gradient adds to a step: B_hat = (D + Q) V (D + Q).T (Ma, Chen, Fox 2015, Sec. 2.3)."""

from recipe_compiler.derive.recipe import Derivation, Matrix, col_slots, map_matrices, row_slots, slots
from recipe_compiler.errors import CompilerError
from recipe_compiler.formula.declaration import Block
from recipe_compiler.formula.expression import Formula
from recipe_compiler.tensor.calculus import Calculus
from recipe_compiler.tensor.convert import convert
from recipe_compiler.tensor.terms import Index, Slot, Tensor


def gradient_covariance(derivation: Derivation, V: Formula) -> Tensor:
    """Return V, the covariance of the minibatch gradient, as an n x n matrix over the potential's block.

    Its free indices are `i` and `j` of that block, none of a scalar one.

    Raises:
        ModelError: V has no entrywise meaning.
        CompilerError: the dynamics have no potential of one block.
    """
    declarations = derivation.declarations
    of = next((function.of for function in declarations.functions if function.role == "potential"), ())
    block = next((block for block in declarations.blocks if (block.name,) == of), None)
    if block is None:
        raise CompilerError(f"{derivation.dynamics.name} has no potential of one block")
    return convert(V, declarations, *row_slots(block), *col_slots(block))


def noise_covariance(derivation: Derivation, potential_block: str, V: Tensor) -> Matrix:
    """Return B_hat = (D + Q) V (D + Q).T, V standing at the potential's block (Ma, Chen, Fox 2015, Sec. 2.3).

    V, the covariance of the minibatch gradient, has free indices `Index(n, "i")` and `Index(n, "j")` of that block
    (those that exist); entry (a, b) of the result has those of blocks a and b. A step with such a gradient has noise of
    covariance eps**2 B_hat from it, so that 2 eps D - eps**2 B_hat is left to be drawn (Eq. 9).

    Naive SGHMC, D = 0 and Q[theta,r] = -I, has B_hat[r,r] = V and 0 elsewhere; with D[r,r] = C the same. SGLD with a
    matrix D has D V D.

    Raises:
        CompilerError: there is no block of that name.
    """
    declarations = derivation.declarations
    c = derivation.calculus
    blocks = declarations.blocks
    at = next((n for n, block in enumerate(blocks) if block.name == potential_block), None)
    if at is None:
        raise CompilerError(f"no block {potential_block} in {derivation.dynamics.name}")
    columns = [row[at] for row in map_matrices(c.add, derivation.D, derivation.Q)]
    return tuple(
        tuple(_sandwich_between(c, blocks[at], one, V, other, two) for other, two in zip(blocks, columns, strict=True))
        for one in columns
    )


def sandwich(c: Calculus, block: Block, K: Tensor, B: Tensor) -> Tensor:
    """Return K B K.T over a block: sum_kl K[i,k] B[k,l] K[j,l], all with the free indices `i` and `j` of the block."""
    return _sandwich_between(c, block, K, B, block, K)


def _sandwich_between(c: Calculus, block: Block, K: Tensor, B: Tensor, other: Block, L: Tensor) -> Tensor:
    """Return K B L^T for two blocks, entry by entry: sum_kl K[i,k] B[k,l] L[j,l]."""
    left, right = (slots(block, label) for label in "kl")
    rows, cols = row_slots(block), col_slots(block)
    inner = c.rename(B, {**_rename_map(rows, left), **_rename_map(cols, right)})
    there = c.rename(L, {**_rename_map(row_slots(other), col_slots(other)), **_rename_map(cols, right)})
    return c.total(c.multiply(c.rename(K, _rename_map(cols, left)), inner, there), *left, *right)


def _rename_map(old: tuple[Index, ...], new: tuple[Index, ...]) -> dict[Index, Slot]:
    """Return the renaming of old indices to new ones."""
    return dict(zip(old, new, strict=True))

"""Arguments that hold a linear image of a block, as v = eps*r: which block it is, and the formula of its inverse."""

from recipe_compiler.formula.build import MINUS_ONE, apply, matmul, multiply, nodes, power
from recipe_compiler.formula.expression import (
    Add,
    Apply,
    Formula,
    FunctionAt,
    MatMul,
    Multiply,
    Number,
    Power,
    Role,
    Symbol,
)


def solved_for_block(formula: Formula) -> tuple[Symbol, Formula] | None:
    """Return the block that a formula is a linear image of, and the inverse image of that block.

    Of eps*inv(M) @ r these are r and M @ r/eps: with the formula in the place of r, the latter is r.
    """
    blocks = {node for node in nodes(formula) if isinstance(node, Symbol) and node.role is Role.BLOCK}
    if len(blocks) != 1:
        return None
    block = blocks.pop()
    found = _undone(formula, block)
    return None if found is None else (block, found)


def _undone(formula: Formula, image: Formula) -> Formula | None:
    """Return the block whose image is given, one factor undone after the other; None if one is not linear."""
    if isinstance(formula, Symbol) and formula.role is Role.BLOCK:
        return image
    if not isinstance(formula, Multiply | MatMul):
        return None
    left, right = formula.left, formula.right
    inner, factor = (left, right) if depends_on_state(left) else (right, left)
    if inner.shape != formula.shape or depends_on_state(factor):
        return None
    if isinstance(formula, Multiply):
        return _undone(inner, multiply(power(factor, MINUS_ONE, factor.shape), image, formula.shape))
    inverse = factor.args[0] if isinstance(factor, Apply) and factor.fn == "inv" else None
    inverse = inverse or apply("inv", [factor], factor.shape)
    return _undone(inner, matmul(*((image, inverse) if inner is left else (inverse, image)), formula.shape))


def depends_on_state(formula: Formula) -> bool:
    """Whether a block or a function of blocks occurs in a formula."""
    return any(isinstance(n, FunctionAt) or (isinstance(n, Symbol) and n.role is Role.BLOCK) for n in nodes(formula))


def is_step_size(formula: Formula) -> bool:
    """Whether a formula is the step size eps."""
    return isinstance(formula, Symbol) and formula.role is Role.STEP


def vanishes(formula: Formula) -> bool:
    """Whether the form of a formula shows that it tends to zero with eps."""
    match formula:
        case Symbol():
            return is_step_size(formula)
        case Multiply(left, right) | MatMul(left, right):
            return vanishes(left) or vanishes(right)
        case Add(terms):
            return all(map(vanishes, terms))
        case Power(base, Number(exponent)):
            return exponent > 0 and vanishes(base)
        case Apply("sqrt", (inner,)):
            return vanishes(inner)
        case _:
            return False

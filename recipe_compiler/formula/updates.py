"""The forms of claimed updates: `N(0, cov)`, `next(b)`, `grad_tilde(U, b)`."""

from recipe_compiler.formula import expression as ex
from recipe_compiler.formula import tree
from recipe_compiler.formula.context import Context
from recipe_compiler.formula.declaration import Function
from recipe_compiler.formula.expression import Formula
from recipe_compiler.formula.names import block_named
from recipe_compiler.formula.shapes import Shape


def normal_draw(part: tree.Call, cov: Formula, context: Context) -> Formula | None:
    """Return an independent draw from N(0, cov): a column, or a scalar where cov is one."""
    mean = part.args[0]
    if not (isinstance(mean, tree.Literal) and mean.value == 0):
        context.fault(mean, "found a mean, expected 0", "add the mean outside: m + N(0, cov)")
        return None
    shape = context.shape(cov)
    if not context.unknowns.same(shape.rows, shape.cols):
        context.fault(part.args[1], f"found a {context.shown(cov)}, expected a square covariance")
        return None
    return ex.Normal(cov, Shape(context.shape(cov).rows, None))


def updated_block(part: tree.Call, context: Context) -> Formula | None:
    """Return `next(b)`, a block after its own update."""
    block = block_named(part.args[0], context)
    return None if block is None else ex.Next(block.name, block.shape)


def gradient_estimate(part: tree.Call, context: Context) -> Formula | None:
    """Return `grad_tilde(U, b)`, U a declared scalar function."""
    block = block_named(part.args[1], context)
    named = part.args[0]
    name = named.name if isinstance(named, tree.Name | tree.Call) else ""
    function = context.scope.declarations.find(name)
    if not isinstance(function, Function) or function.shape.sizes:
        context.fault(named, "found no declared scalar function, expected the potential", "write grad_tilde(U, theta)")
        return None
    return None if block is None else ex.GradTilde(name, block.name, block.shape)

"""Substitution: declared names replaced by formulas of the same shape, sizes by sizes, all at once."""

from collections.abc import Callable, Mapping
from dataclasses import replace

from recipe_compiler.errors import CompilerError, ModelError, model_error
from recipe_compiler.formula import expression as ex
from recipe_compiler.formula.build import nodes, parts
from recipe_compiler.formula.context import product_size
from recipe_compiler.formula.expression import Formula, Role
from recipe_compiler.formula.rebuild import tidy
from recipe_compiler.formula.shapes import SCALAR, Shape, Size

MAX_WEIGHT = 200_000
"""Nodes of a formula after substitution, shared ones counted as often as they occur."""


def substitute(formula: Formula, replacements: Mapping[str, Formula]) -> Formula:
    """Replace declared names in a formula.

    A parameter, datum or block is replaced where it stands as a symbol, a function where it stands at its blocks. A
    size is replaced by an integer or by another size, in shapes as well as in formulas, and in the replacements too;
    otherwise replacements are not substituted into again. Nodes that change are tidied (`I @ A` is A, `0 + A` is A,
    the inverse of I is I); the others stay as they are.

    Raises:
        ModelError: A block that the formula differentiates by, or that a function is of, is replaced by more than
            another name; the result is too large.
        CompilerError: A replacement has another shape than the name.
    """
    sizes = _sizes(replacements)
    shape_of = resizer(replacements)
    resized = {name: _map(new, {n: replacements[n] for n in sizes}, shape_of) for name, new in replacements.items()}
    result = _map(formula, resized, shape_of)
    if weight(result) > MAX_WEIGHT:
        raise _refused(replacements, f"the formula grows beyond {MAX_WEIGHT:,} operations", "bind smaller formulas")
    return result


def weight(formula: Formula) -> int:
    """Return the number of nodes of a formula, shared ones counted as often as they occur."""
    known: dict[int, int] = {}

    def count(node: Formula) -> int:
        if id(node) not in known:
            known[id(node)] = 1 + sum(count(part) for part in parts(node))
        return known[id(node)]

    return count(formula)


def _as_size(formula: Formula) -> Size | None:
    """Return the size that a replacement of a size says; a Number may as well replace a scalar parameter."""
    match formula:
        case ex.Symbol(name, _, Role.SIZE):
            return name
        case ex.Number(value) if value.denominator == 1 and value > 0:
            return int(value)
        case _:
            return None


def _sizes(replacements: Mapping[str, Formula]) -> dict[str, Size]:
    return {name: size for name, new in replacements.items() if (size := _as_size(new)) is not None}


def resizer(replacements: Mapping[str, Formula]) -> Callable[[Shape], Shape]:
    """Return what replacements of sizes make of a shape."""
    sizes = _sizes(replacements)

    def new(size: Size | None) -> Size | None:
        if not isinstance(size, str):
            return size
        product: Size = 1
        for factor in size.split("*"):
            product = product_size(product, int(factor) if factor.isdigit() else sizes.get(factor, factor))
        return product

    return lambda shape: Shape(new(shape.rows), new(shape.cols)) if sizes else shape


def _map(formula: Formula, replacements: Mapping[str, Formula], shape_of: Callable[[Shape], Shape]) -> Formula:
    match formula:
        case ex.Symbol(name, shape) | ex.FunctionAt(name, _, shape) if name in replacements:
            return _fitted(name, replacements[name], shape_of(shape))
        case ex.FunctionAt(_, of, shape, home):
            why = f"{formula.declared}({', '.join(of)}) is a function of it"
            names = tuple(_block_name(block, replacements, why) for block in of)
            new = replacements.get(formula.declared) if home else None
            if new is None:
                return replace(formula, shape=shape_of(shape)).at(names)
            own = (_block_name(block, replacements, why) for block in home)
            return _at_blocks(_fitted(formula.declared, new, shape_of(shape)), dict(zip(own, names, strict=True)))
        case ex.Apply(fn, (arg, ex.Symbol(block) as by), shape) if fn in ex.CALCULUS:
            name = _block_name(block, replacements, f"{fn}(..., {block}) differentiates by it")
            new: list[Formula] = [_map(arg, replacements, shape_of), replace(by, name=name, shape=shape_of(by.shape))]
            return tidy(formula, new, shape_of)
        case ex.Next(block) | ex.GradTilde(_, block):
            name = _block_name(block, replacements, "an update names it")
            return _named_in_update(formula, name, replacements, shape_of(formula.shape))
        case _:
            old = parts(formula)
            return tidy(formula, [_map(part, replacements, shape_of) for part in old], shape_of)


def _at_blocks(formula: Formula, names: Mapping[str, str]) -> Formula:
    """Return a formula with its blocks replaced by others, simultaneously."""
    shapes = {node.name: node.shape for node in nodes(formula) if isinstance(node, ex.Symbol)}
    blocks = {old: ex.Symbol(new, shapes.get(old, SCALAR), Role.BLOCK) for old, new in names.items()}
    return _map(formula, blocks, lambda shape: shape)


def _fitted(name: str, new: Formula, shape: Shape) -> Formula:
    if new.shape != shape:
        raise CompilerError(f"{name} is a {shape}, its replacement a {new.shape}")
    return new


def _block_name(block: str, replacements: Mapping[str, Formula], why: str) -> str:
    """Return the name of a block once names are replaced.

    Raises:
        ModelError: it is replaced by more than another name.
    """
    match replacements.get(block):
        case None:
            return block
        case ex.Symbol(name, _, Role.BLOCK):
            return name
        case new:
            raise _refused({block: new}, f"the block {block} cannot be replaced: {why}", "")


def _named_in_update(
    formula: ex.Next | ex.GradTilde, block: str, replacements: Mapping[str, Formula], shape: Shape
) -> Formula:
    """Return what an update says of a block, and of the function that it estimates the gradient of, by their names."""
    if isinstance(formula, ex.Next):
        return replace(formula, block=block, shape=shape)
    new = replacements.get(formula.function)
    function = new.name if isinstance(new, ex.FunctionAt) else formula.function
    return replace(formula, function=function, block=block, shape=shape)


def _refused(replacements: Mapping[str, Formula], problem: str, hint: str) -> ModelError:
    return model_error("bind." + ", ".join(replacements), problem, hint)

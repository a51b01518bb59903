"""A draw of rows by slices: the weights that its levels are drawn below, and what no place holds of them.

Formulas of the target's other blocks as it declares them, of its parameters and of all its data, as of `laws`.
"""

from recipe_compiler.errors import DocumentError
from recipe_compiler.formula.build import nodes
from recipe_compiler.formula.declaration import Block
from recipe_compiler.formula.elaborate import Scope
from recipe_compiler.formula.expression import Entry, Formula
from recipe_compiler.formula.shapes import SCALAR, Shape
from recipe_compiler.formula.show import text
from recipe_compiler.spec.discrete import one_hot_blocks
from recipe_compiler.spec.formulas import Entry as StatedEntry
from recipe_compiler.spec.formulas import dependence
from recipe_compiler.spec.laws import of_all_data
from recipe_compiler.spec.model import Slices, Target
from recipe_compiler.spec.page import Page
from recipe_compiler.spec.schema_build import MoveEntry


def read_slices(at: Page, entry: MoveEntry, target: Target) -> Slices | None:
    """Return the slices that a draw is stated with; None where it has none, or a fault was added.

    Args:
        at: where the move stands.
        entry: what stands there, with `draw`.
        target: of which a block is drawn.
    """
    declared = (target.declared or target).declarations
    if entry.slice is None:
        if entry.left is not None:
            problem = "found `left` of a draw without `slice`, expected both: levels below it are counted"
            at["left"].fault(problem, "slice: log w, left: log of the remaining weight")
        return None
    block = next((block for block in declared.blocks if block.name == entry.draw), None)
    if block not in one_hot_blocks(declared):
        if block is not None:
            problem = f"found `slice` of {block.name}, which is {block.domain.name}, expected a one_hot block"
            hint = (
                "levels are drawn below the weights of places; leave it out: the block is drawn directly from its law"
            )
            at["slice"].fault(problem, hint)
        return None
    scope = Scope(of_all_data(declared))
    log_weights = _formula(at["slice"], scope, block, _shapes_of_weights(block))
    left = None if entry.left is None else _formula(at["left"], scope, block, (SCALAR,))
    return None if log_weights is None else Slices(log_weights, left)


def _shapes_of_weights(block: Block) -> tuple[Shape, ...]:
    """Return the shapes that weights may have: one number for each place, in all rows alike or in each its own."""
    column = Shape(block.shape.sizes[-1])
    return (column,) if block.shape == column else (column, block.shape)


def _formula(at: Page, scope: Scope, block: Block, shapes: tuple[Shape, ...]) -> Formula | None:
    """Return the formula under a key, of one of some shapes and free of a block; None where a fault was added."""
    formula = at.read(lambda entry: _of_a_shape(entry, scope, shapes))
    if formula is not None and block.name in dependence(formula).blocks:
        problem = f"found `{block.name}` in the weights of its own rows, expected the other blocks of the target"
        hint = "weights that depend on the rows change their distribution"
        at.fault(problem, hint)
        return None
    entry_at = None if formula is None else next((one for one in nodes(formula) if isinstance(one, Entry)), None)
    if entry_at is not None:
        problem = f"found `{text(entry_at)}`, expected formulas of whole blocks, parameters and data"
        at.fault(problem, "declare that expression as a block or parameter")
        return None
    return formula


def _of_a_shape(entry: StatedEntry, scope: Scope, shapes: tuple[Shape, ...]) -> Formula:
    """Return the formula of an entry in the first shape that it has. Raises SpecError or ModelError, of the first."""
    first, *others = shapes
    try:
        return entry.formula(scope, first)
    except DocumentError:
        for shape in others:
            try:
                return entry.formula(scope, shape)
            except DocumentError:
                continue
        raise

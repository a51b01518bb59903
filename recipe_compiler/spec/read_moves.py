"""Moves of a cycle that are stated by formulas or code: involutions, draws by slices, functions of a Python file.

Weights of slices are formulas of the target's other blocks as it declares them, of its parameters and of all its data,
as of `laws`.
"""

from recipe_compiler.errors import nearest
from recipe_compiler.formula.build import nodes
from recipe_compiler.formula.declaration import Block, Declarations, Parameter, by_name
from recipe_compiler.formula.elaborate import Scope
from recipe_compiler.formula.expression import Entry, Formula
from recipe_compiler.formula.shapes import SCALAR, Shape
from recipe_compiler.formula.show import text
from recipe_compiler.spec.discrete import one_hot_blocks
from recipe_compiler.spec.formulas import dependence
from recipe_compiler.spec.laws import of_all_data, read_law
from recipe_compiler.spec.model import Auxiliary, CodeMove, Dynamics, Formulas, Involution, Slices, Target
from recipe_compiler.spec.page import Page
from recipe_compiler.spec.schema_build import AuxiliaryEntry, DrawEntry, InvolutionEntry


def visible(declared: Declarations, beside: tuple[Parameter, ...]) -> Declarations:
    """Return what formulas of an involution may name, but for what it draws: blocks of the dynamics, and parameters.

    Args:
        declared: of the dynamics, with what a build binds in them bound, or left out.
        beside: the parameters of the target, and those of the build that the dynamics do not have yet.
    """
    parameters = by_name((*declared.parameters, *beside))
    assume = tuple(c for c in declared.assume if {*dependence(c).parameters} >= {*dependence(c).names})
    return Declarations(declared.blocks, tuple(parameters.values()), assume=assume)


def with_draws(declared: Declarations, draws: tuple[Block, ...]) -> Declarations:
    """Return declarations in which what an involution draws are blocks, too: those of S(z, w)."""
    return Declarations((*declared.blocks, *draws), declared.parameters, assume=declared.assume)


def names_of(involution: Involution) -> frozenset[str]:
    """Return every name in an involution: of what it moves, and what its formulas hold."""
    maps = (name for name, _ in involution.maps)
    return frozenset((*maps, *(name for formula in involution.formulas for name in dependence(formula).names)))


def read_involution(at: Page, entry: InvolutionEntry, known: Declarations) -> Involution:
    """Return an involution, of what means something; a fault is added for everything else.

    Args:
        at: where the move stands.
        entry: what stands there.
        known: what its formulas may name (`visible`).
    """
    blocks = tuple(Block(name, _shape(stated)) for name, stated in entry.draws.items())
    draws = tuple(own for block in blocks if (own := _auxiliary(at, block, entry.draws[block.name], known)))
    scope = Scope(with_draws(known, blocks))
    if {*entry.involution} <= {*entry.draws}:
        at["involution"].fault("found an involution that moves no block, expected one: {theta: -theta}")
    claimed = None
    if entry.log_ratio is not None:
        claimed = at["log_ratio"].formula(scope, SCALAR)
    return Involution(_maps(at["involution"], tuple(entry.involution), scope), draws, claimed, entry.every)


def _shape(stated: str | AuxiliaryEntry) -> Shape:
    return stated.shape if isinstance(stated, AuxiliaryEntry) else SCALAR


def _auxiliary(at: Page, block: Block, stated: str | AuxiliaryEntry, known: Declarations) -> Auxiliary | None:
    """Return a block with the law that it is drawn from; None, and a fault is added, where that means nothing."""
    at = at["draws", block.name]
    if block.name in known.names:
        problem = f"found a draw `{block.name}`, the name of a block, parameter or size, expected another name"
        at.fault(problem)
        return None
    scope = Scope(with_draws(known, (block,)))
    law = (at["law"] if isinstance(stated, AuxiliaryEntry) else at).read(lambda entry: read_law(entry, block, scope))
    if law is None:
        return None
    used = dependence(law.arguments[1]).blocks
    if used:
        problem = f"found `{used[0]}` in the covariance of `{block.name}`, expected parameters and numbers"
        hint = "scale the draw in the involution instead: {theta: theta + s*w, ...}"
        at.fault(problem, hint)
        return None
    return Auxiliary(block, law)


def _maps(at: Page, names: tuple[str, ...], scope: Scope) -> Formulas:
    blocks = by_name(scope.declarations.blocks)
    found: list[tuple[str, Formula]] = []
    for name in names:
        if at[name].knows(name, blocks, "a block of the dynamics, or a draw"):
            formula = at[name].formula(scope, blocks[name].shape)
            found += [] if formula is None else [(name, formula)]
    return tuple(found)


def read_slices(at: Page, entry: DrawEntry, target: Target) -> Slices | None:
    """Return the slices that a draw is stated with; None where it has none, or a fault was added.

    Args:
        at: where the move stands.
        entry: what stands there, with `draw`.
        target: of which a block is drawn.
    """
    declared = target.as_declared.declarations
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
    formula = at.read(lambda entry: entry.in_first(entry.tree(), scope, shapes))
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


def check_code_move(at: Page, move: CodeMove, dynamics: Dynamics, target: Target) -> None:
    """Add a fault for each block that a move is given which is none of the dynamics, or is given twice."""
    names = tuple(block.name for block in dynamics.declarations.blocks)
    parts = {block.name for block in target.as_declared.declarations.blocks}
    seen: list[str] = []
    for key, blocks in (("changes", move.changes), ("reads", move.reads)):
        for name in blocks:
            if name not in names:
                whole = f"code takes blocks of the dynamics, which hold those of the target: {', '.join(names)}"
                hint = whole if name in parts else nearest(name, names)
                problem = f"found `{name}`, expected a block of the dynamics ({', '.join(names)})"
                at[key].fault(problem, hint)
            elif name in seen:
                problem = f"found `{name}` a second time, expected each block once, under `changes` or `reads`"
                at[key].fault(problem, "what is changed is read too")
            seen.append(name)

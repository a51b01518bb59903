"""An involution of a cycle: what it maps, what it draws first, and what its author claims of its ratio."""

from collections.abc import Mapping

from recipe_compiler.formula.declaration import Block, Declarations, Parameter
from recipe_compiler.formula.elaborate import Scope
from recipe_compiler.formula.expression import Formula
from recipe_compiler.formula.shapes import SCALAR, Shape
from recipe_compiler.spec.formulas import dependence
from recipe_compiler.spec.laws import read_law
from recipe_compiler.spec.model import Auxiliary, Involution
from recipe_compiler.spec.page import Page
from recipe_compiler.spec.schema_build import AuxiliaryEntry, MoveEntry


def visible(declared: Declarations, beside: tuple[Parameter, ...]) -> Declarations:
    """Return what formulas of an involution may name, but for what it draws: blocks of the dynamics, and parameters.

    Args:
        declared: of the dynamics, with what a build binds in them bound, or left out.
        beside: the parameters of the target, and those of the build that the dynamics do not have yet.
    """
    parameters = {parameter.name: parameter for parameter in (*declared.parameters, *beside)}
    assume = tuple(c for c in declared.assume if {*dependence(c).parameters} >= {*dependence(c).names})
    return Declarations(declared.blocks, tuple(parameters.values()), assume=assume)


def with_draws(declared: Declarations, draws: tuple[Block, ...]) -> Declarations:
    """Return declarations in which what an involution draws are blocks, too: those of S(z, w)."""
    return Declarations((*declared.blocks, *draws), declared.parameters, assume=declared.assume)


def names_of(involution: Involution) -> frozenset[str]:
    """Return every name in an involution: of what it moves, and what its formulas hold."""
    maps = (name for name, _ in involution.maps)
    return frozenset((*maps, *(name for formula in involution.formulas for name in dependence(formula).names)))


def read_involution(at: Page, entry: MoveEntry, maps: Mapping[str, str], known: Declarations) -> Involution:
    """Return an involution, of what means something; a fault is added for everything else.

    Args:
        at: where the move stands.
        entry: what stands there.
        maps: its involution.
        known: what its formulas may name (`visible`).
    """
    blocks = tuple(Block(name, _shape(stated)) for name, stated in entry.draws.items())
    draws = tuple(own for block in blocks if (own := _auxiliary(at, block, entry.draws[block.name], known)))
    scope = Scope(with_draws(known, blocks))
    if {*maps} <= {*entry.draws}:
        at["involution"].fault("found an involution that moves no block, expected one: {theta: -theta}")
    claimed = None
    if entry.log_ratio is not None:
        claimed = at["log_ratio"].formula(scope, SCALAR)
    return Involution(_maps(at["involution"], tuple(maps), scope), draws, claimed, entry.every)


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


def _maps(at: Page, names: tuple[str, ...], scope: Scope) -> tuple[tuple[str, Formula], ...]:
    blocks = {block.name: block for block in scope.declarations.blocks}
    found: list[tuple[str, Formula]] = []
    for name in names:
        if at[name].knows(name, blocks, "a block of the dynamics, or a draw"):
            formula = at[name].formula(scope, blocks[name].shape)
            found += [] if formula is None else [(name, formula)]
    return tuple(found)

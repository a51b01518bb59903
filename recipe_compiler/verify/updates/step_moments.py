"""The moments of a claimed step at fixed sizes, by the second engine: in scalars, nothing shared with index notation.

Every entry of dz is taken apart into powers of eps and products of draws, of which expectations are taken one group of
draws after the other.
"""

from collections.abc import Mapping
from fractions import Fraction
from typing import cast

import sympy
from sympy import Expr, Symbol

from recipe_compiler.algebra.dynamics import system as second
from recipe_compiler.algebra.scalars.entries import Setting, rows
from recipe_compiler.algebra.scalars.matrices import Rows
from recipe_compiler.algebra.scalars.symbols import extent, label, positions
from recipe_compiler.derive.ordered_update import ClaimedDraw, Step
from recipe_compiler.formula import expression as ex
from recipe_compiler.formula.build import parts, rebuild
from recipe_compiler.formula.expression import Formula, Role
from recipe_compiler.formula.shapes import Shape
from recipe_compiler.verify.core.sizes import Sizes
from recipe_compiler.verify.updates.expansion import ZERO, Grading, NoExpansionError, expanded, lowest, shifted
from recipe_compiler.verify.updates.gaussian_moments import DrawGroup, StepMoments, moments

TOP = Fraction(2)


def step_moments(step: Step, sizes: Sizes) -> StepMoments:
    """Return E[dz] (n) and Cov[dz] (n x n) of a claimed step at fixed sizes, up to eps**2, by the second engine.

    Every entry of dz is expanded in powers of eps and products of draws, whose expectations are sums over pairings
    (Isserlis 1918). Nothing is shared with index notation.

    Raises:
        NoExpansionError: no expansion about eps = 0 is known, or a third moment of a gradient's noise is needed.
        entries.NotScalarisableError, matrices.TooLargeError: as for `entries.rows`.
    """
    at = Setting(step.declarations, sizes)
    eps = Symbol("eps", positive=True)
    new = _updated(step, at)
    groups, powers = _groups(step, at, eps, new)
    grading = Grading(eps, TOP, powers)
    z = second.state(step.declarations, sizes)
    values = [x for block in step.declarations.blocks for x in new[block.name]]
    change = [expanded(after - before, grading) for after, before in zip(values, z, strict=True)]
    if any(lowest(dz) < 0 for dz in change):
        raise NoExpansionError("the step grows as eps becomes small")
    return moments(z, eps, change, groups, TOP)


def _updated(step: Step, at: Setting) -> dict[str, tuple[Expr, ...]]:
    """Return the next value of every block, updated blocks put in."""
    blocks = step.declarations.blocks
    found: dict[str, tuple[Expr, ...]] = {}
    for a in step.order:
        values = _entries(step.new[a], at, found)
        found[blocks[a].name] = tuple(x for row in values for x in row)
    return found


def _entries(formula: Formula, at: Setting, new: Mapping[str, tuple[Expr, ...]]) -> Rows:
    """Return the entries of a formula, updated blocks put in."""
    found = rows(_with_names(formula), at)
    values: dict[Expr, Expr] = {}
    for block in at.declarations.blocks:
        for here, after in zip(positions(block.shape, at.sizes), new.get(block.name, ()), strict=False):
            values[Symbol(label(_next(block.name), here), real=True)] = after
    return tuple(tuple(_replaced(x, values) for x in row) for row in found)


def _replaced(e: Expr, values: dict[Expr, Expr]) -> Expr:
    return cast(Expr, e.xreplace(values))


def _with_names(formula: Formula) -> Formula:
    """Return a formula with updated blocks as symbols of their own."""
    if isinstance(formula, ex.Next):
        return ex.Symbol(_next(formula.block), formula.shape, Role.NOISE)
    old = parts(formula)
    return rebuild(formula, [_with_names(part) for part in old], _same) if old else formula


def _next(block: str) -> str:
    return f"next.{block}"


def _same(shape: Shape) -> Shape:
    return shape


def _groups(
    step: Step, at: Setting, eps: Symbol, new: Mapping[str, tuple[Expr, ...]]
) -> tuple[list[DrawGroup], dict[Symbol, Fraction]]:
    """Return the draws with their covariances, and the power of eps that each carries."""
    groups: list[DrawGroup] = []
    powers: dict[Symbol, Fraction] = {}
    for item in step.draws:
        symbols = tuple(Symbol(label(item.name, here), real=True) for here in positions(item.shape, at.sizes))
        entries = _covariance(item, at, new)
        grading = Grading(eps, TOP + 1, dict(powers))
        read = [[expanded(x, grading) for x in row] for row in entries]
        low = min((lowest(x) for row in read for x in row if x), default=ZERO)
        if low < 0:
            raise NoExpansionError(f"the covariance of {item.says} grows as eps becomes small")
        powers |= dict.fromkeys(symbols, low / 2)
        groups.append(DrawGroup(symbols, tuple(tuple(shifted(x, -low) for x in row) for row in read), item.gaussian))
    return groups, powers


def _covariance(item: ClaimedDraw, at: Setting, new: Mapping[str, tuple[Expr, ...]]) -> Rows:
    if item.covariance is None:
        n, _ = extent(item.shape, at.sizes)
        return tuple(tuple(sympy.Integer(int(i == j)) for j in range(n)) for i in range(n))
    return _entries(item.covariance, at, new)

"""Matrices of linear flows, as the emitted `prepare` asks for them: symbols, for F and 2D that are those of a Program.

What they are is a fact of linear equations, and how they are computed is support code: what is read is that the flow
is asked for that the Program states, and what the step makes of its matrices.
"""

from functools import partial
from typing import Any

import numpy as np
import sympy as sp

from recipe_compiler.algebra.scalars.symbols import positions
from recipe_compiler.formula.declaration import Block
from recipe_compiler.program.program import Grid, Propagator
from recipe_compiler.program.program import Names as Arrays
from recipe_compiler.readback.interpreter import Fill
from recipe_compiler.readback.mean import entry_at, stated_value
from recipe_compiler.readback.names import Names
from recipe_compiler.readback.oracle import same
from recipe_compiler.readback.text import require
from recipe_compiler.tensor.scalars import Scalar

Value = Any


def matrices_of(names: Names) -> dict[str, Fill]:
    """Return the matrices of a program: inverses, and the matrices exp(-t F) etc. of linear flows as symbols.

    F, 2D and the time of each have to be those of the Program's, in their order.
    """
    left = list(names.program.propagators)

    def flow(arguments: list[Value]) -> Value:
        F, two_D, share, eps = arguments
        require(bool(left), "computes more linear flows than its Program has")
        own = left.pop(0)
        stated = [x for grid in (own.F, own.two_D) for x in np.ravel(matrix(names, own.blocks, grid))]
        read = [*np.ravel(np.block(F)), *np.ravel(np.block(two_D)), share * eps]
        same([*stated, _share(own) * names.eps], read, "a linear flow", names)
        return tuple(_arrays(names, own.blocks, named) for named in (own.change, own.integral, own.covariance))

    return {"np.linalg.inv": lambda arguments: names.invert(*arguments), "_propagator": flow}


def at_start(names: Names) -> dict[Scalar, Scalar]:
    """Return the symbols of all propagators with their values, over eps, at eps = 0: -s F, s I and s 2D.

    They are those of (exp(-t F) - 1), the integral of exp(-u F) du and the covariance, t = s eps.
    """
    found: dict[Scalar, Scalar] = {}
    for own in names.program.propagators:
        share, F, two_D = _share(own), *(matrix(names, own.blocks, grid) for grid in (own.F, own.two_D))
        at_rest = (-share * F, share * np.eye(len(F), dtype=int), share * two_D)
        for entries, value in zip(symbols_of(names, own), at_rest, strict=True):
            found |= dict(zip(entries.ravel(), np.asarray(value, object).ravel(), strict=True))
    return found


def symbols_of(names: Names, own: Propagator) -> tuple[np.ndarray, ...]:
    """Return the symbols of the three matrices of a propagator, n x n each, over all of its blocks."""
    return tuple(np.block(_arrays(names, own.blocks, named)) for named in (own.change, own.integral, own.covariance))


def matrix(names: Names, blocks: tuple[Block, ...], grid: Grid) -> np.ndarray:
    """Return a matrix over some blocks, n x n over all their coordinates."""
    rows = [(a, at) for a, block in enumerate(blocks) for at in positions(block.shape, names.sizes)]
    entries = [[stated_value(grid[a][b], names, entry_at(at, to)) for b, to in rows] for a, at in rows]
    return np.array(entries, object).reshape(len(rows), len(rows))


def _arrays(names: Names, blocks: tuple[Block, ...], named: Arrays) -> list[list[np.ndarray]]:
    sizes = [len(names.block(block)) for block in blocks]
    return [
        [names.array((n, m), partial(names.propagated, name)) for name, m in zip(row, sizes, strict=True)]
        for row, n in zip(named, sizes, strict=True)
    ]


def _share(own: Propagator) -> Scalar:
    return sp.Rational(own.share.numerator, own.share.denominator)

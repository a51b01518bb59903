"""Matrices of linear flows, as the emitted `prepare` asks for them: symbols, for F and 2D that are those of a Program.

What they are is a fact of linear equations, and how they are computed is support code: what is read is that the flow
is asked for that the Program states, and what the step makes of its matrices.
"""

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import sympy as sp

from recipe_compiler.algebra.scalars.symbols import positions
from recipe_compiler.algebra.zero.zero import is_zero
from recipe_compiler.errors import CompilerError
from recipe_compiler.formula.declaration import Block
from recipe_compiler.program.program import Grid, Propagator
from recipe_compiler.program.program import Names as Arrays
from recipe_compiler.readback.interpreter import Fill
from recipe_compiler.readback.names import Names
from recipe_compiler.tensor.scalars import Scalar, scalarise

Value = Any
GUARD = 20
"""Digits of numbers at a point that roundings may have taken."""


def matrices_of(names: Names) -> dict[str, Fill]:
    """Return the matrices of a program: inverses, and the matrices exp(-t F) etc. of linear flows as symbols.

    F, 2D and the time of a flow have to be those of one that the Program has, each asked for once.
    """
    left = list(names.program.propagators)

    def flow(arguments: list[Value]) -> Value:
        F, two_D, share, eps = arguments
        F, two_D = np.block(F), np.block(two_D)
        own = next((p for p in left if _same(names, p, F, two_D, share * eps)), None)
        if own is None:
            raise CompilerError("the emitted prepare computes a linear flow that is not its Program's")
        left.remove(own)
        return tuple(_arrays(names, own.blocks, named) for named in (own.change, own.integral, own.covariance))

    return {"np.linalg.inv": lambda arguments: names.invert(*arguments), "_propagator": flow}


def at_start(names: Names) -> dict[Scalar, Scalar]:
    """Return the symbols of all propagators with their values, over eps, at eps = 0: -s F, s I and s 2D.

    They are those of (exp(-t F) - 1), the integral of exp(-u F) du and the covariance, t = s eps.
    """
    found: dict[Scalar, Scalar] = {}
    for own in names.program.propagators:
        share = sp.Rational(own.share.numerator, own.share.denominator)
        F, two_D = (matrix(names, own.blocks, grid) for grid in (own.F, own.two_D))
        at_rest = (-share * F, share * _one(F), share * two_D)
        for entries, value in zip(symbols_of(names, own), at_rest, strict=True):
            found |= dict(zip(entries.ravel(), np.asarray(value, object).ravel(), strict=True))
    return found


def symbols_of(names: Names, own: Propagator) -> tuple[np.ndarray, ...]:
    """Return the symbols of the three matrices of a propagator, n x n each, over all of its blocks."""
    return tuple(np.block(_arrays(names, own.blocks, named)) for named in (own.change, own.integral, own.covariance))


def matrix(names: Names, blocks: tuple[Block, ...], grid: Grid) -> np.ndarray:
    """Return a matrix over some blocks, n x n over all their coordinates."""
    rows = [(a, at) for a, block in enumerate(blocks) for at in positions(block.shape, names.sizes)]
    entries = [[_entry(names, grid, row, col) for col in rows] for row in rows]
    return np.array(entries, object).reshape(len(rows), len(rows))


def _entry(names: Names, grid: Grid, row: tuple[int, tuple[int, ...]], col: tuple[int, tuple[int, ...]]) -> Scalar:
    (a, at), (b, to) = row, col
    tensor = grid[a][b]
    places = {index: (at if index.label == "i" else to)[0] for index in tensor.free}
    return scalarise(tensor, names.sizes, places, names.atom, apart=names.at_point)


def _one(F: np.ndarray) -> np.ndarray:
    return np.array(sp.eye(len(F)).tolist(), object).reshape(F.shape)


def _arrays(names: Names, blocks: tuple[Block, ...], named: Arrays) -> list[list[np.ndarray]]:
    sizes = [len(names.block(block)) for block in blocks]
    return [
        [names.array((n, m), partial(names.propagated, name)) for name, m in zip(row, sizes, strict=True)]
        for row, n in zip(named, sizes, strict=True)
    ]


def _same(names: Names, own: Propagator, F: np.ndarray, two_D: np.ndarray, t: Scalar) -> bool:
    share = sp.Rational(own.share.numerator, own.share.denominator)
    pairs = ((F, matrix(names, own.blocks, own.F)), (two_D, matrix(names, own.blocks, own.two_D)))
    if t != share * names.eps or any(read.shape != stated.shape for read, stated in pairs):
        return False
    return all(_equal(x, y, names) for read, stated in pairs for x, y in _entries(read, stated))


def _entries(read: np.ndarray, stated: np.ndarray) -> Iterator[tuple[Scalar, Scalar]]:
    yield from zip(read.ravel(), stated.ravel(), strict=True)


def _equal(read: Scalar, stated: Scalar, names: Names) -> bool:
    difference = sp.expand(read - stated)
    if names.digits and difference.is_number:
        return bool(abs(difference) < sp.Rational(1, 10 ** (names.digits - GUARD)))
    return difference == 0 or (not names.at_point and bool(is_zero(difference)))

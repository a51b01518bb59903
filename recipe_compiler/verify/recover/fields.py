"""The equations for Q at fixed sizes, in the second engine's scalars."""

from dataclasses import dataclass
from fractions import Fraction

import sympy
from sympy import Expr

from recipe_compiler.algebra.dynamics import system as second
from recipe_compiler.algebra.scalars.symbols import coordinates, positions
from recipe_compiler.formula.block_matrices import Matrix
from recipe_compiler.formula.expression import Formula
from recipe_compiler.formula.shapes import DomainName
from recipe_compiler.verify.core.sizes import Sizes
from recipe_compiler.verify.recover.scalar_formulas import Writer, outer
from recipe_compiler.verify.recover.skew_problem import Problem
from recipe_compiler.verify.recover.to_formula import place_shape, scaled, total


@dataclass(frozen=True, slots=True)
class Fields:
    """Coordinates z, the slope g = grad H, and W = f + D g - div D, which Q has to give: W = div Q - Q g."""

    z: tuple[sympy.Symbol, ...]
    straight: tuple[sympy.Symbol, ...]
    """Those that are no angle on a circle: powers of them are functions of the state."""
    H: Expr
    g: tuple[Expr, ...]
    W: tuple[Expr, ...]


def fields(problem: Problem, sizes: Sizes) -> Fields:
    """Return the equations at fixed sizes.

    Raises:
        NotScalarisableError, TooLargeError: the second engine has no scalars for the document.
    """
    s = problem.subject.system(sizes)
    claimed = second.block_vector(problem.drift, problem.subject.setting(sizes))
    wanted = tuple(f - own for f, own in zip(claimed, second.drift(s), strict=True))
    straight = tuple(
        x
        for block in problem.dynamics.declarations.blocks
        for x in coordinates(block, sizes)
        if block.domain.name is not DomainName.CIRCLE
    )
    return Fields(s.z, straight, s.H, second.gradient(s.H, s.z), wanted)


Entries = dict[tuple[int, int], list[Formula]]
"""Pairs of coordinates i < j to the terms of Q_ij."""


def assembled(problem: Problem, writer: Writer, entries: Entries) -> Matrix:
    """Return the block matrix Q of a document of fixed sizes from its scalar entries above the diagonal."""
    blocks = problem.dynamics.declarations.blocks
    owner = [(a, k) for a, block in enumerate(blocks) for k in range(len(positions(block.shape, {})))]
    places: dict[tuple[int, int], list[Formula]] = {}
    for (i, j), terms in entries.items():
        (a, k), (b, n) = owner[i], owner[j]
        for term in terms:
            opposite = scaled(Fraction(-1), term)
            places.setdefault((a, b), []).append(outer(writer, blocks[a], blocks[b], (k, n), term))
            places.setdefault((b, a), []).append(outer(writer, blocks[b], blocks[a], (n, k), opposite))
    return tuple(
        tuple(total(places.get((a, b), []), place_shape(row, col)) for b, col in enumerate(blocks))
        for a, row in enumerate(blocks)
    )

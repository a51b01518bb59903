"""The first two moments of a step in scalars: expectations of polynomials in draws by Isserlis' theorem.

The expectation of a product of centred Gaussian draws is the sum over all ways to pair them, of the products of their
covariances (Isserlis 1918): E[w1 w2 w3 w4] = C12 C34 + C13 C24 + C14 C23. Of draws that need not be Gaussian the first
two moments are used alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import sympy
from sympy import Expr, Symbol

from recipe_compiler.algebra.scalars.matrices import Rows
from recipe_compiler.verify.updates.expansion import (
    ZERO,
    NoExpansionError,
    Terms,
    added,
    multiplied,
    negative,
    written,
)

MOST_DRAWS = 8
"""The highest moment of a group of Gaussian draws that is formed."""


@dataclass(frozen=True, slots=True)
class StepMoments:
    """The first two moments of dz = z' - z given z, as functions of eps: E[dz] (n) and Cov[dz] (n x n)."""

    z: tuple[Symbol, ...]
    eps: Symbol
    """A positive symbol."""
    mean: tuple[Expr, ...]
    """E[z'] - z."""
    covariance: Rows
    """Cov[z' - z]."""


@dataclass(frozen=True, slots=True)
class DrawGroup:
    """n centred draws made together, and their covariance divided by the power of eps that it carries."""

    symbols: tuple[Symbol, ...]
    covariance: tuple[tuple[Terms, ...], ...]
    """n x n; it may hold draws of earlier groups."""
    gaussian: bool = True


def standard(symbols: tuple[Symbol, ...]) -> DrawGroup:
    """Return the group of independent draws of variance 1."""
    one: Terms = {(ZERO, ()): sympy.Integer(1)}
    return DrawGroup(symbols, tuple(tuple(one if x == y else {} for y in symbols) for x in symbols))


def moments(
    z: tuple[Symbol, ...], eps: Symbol, change: Sequence[Terms], groups: Sequence[DrawGroup], top: Fraction
) -> StepMoments:
    """Return E[dz]: [n] and Cov[dz]: [n, n], up to a power of eps, of a dz that does not grow as eps -> 0.

    Cov[dz]_ij = E[dz_i dz_j] - E[dz_i] E[dz_j], the expectations by `expectation`.

    Raises:
        NoExpansionError: a moment of draws is needed that is not known.
    """
    mean = [expectation(dz, groups, top) for dz in change]
    half: dict[tuple[int, int], Expr] = {}
    for i, dz in enumerate(change):
        for j in range(i, len(change)):
            square = expectation(multiplied(dz, change[j], top), groups, top)
            half[i, j] = written(added([square, negative(multiplied(mean[i], mean[j], top))]), eps)
    n = range(len(change))
    covariance = tuple(tuple(half[min(i, j), max(i, j)] for j in n) for i in n)
    return StepMoments(z, eps, tuple(written(m, eps) for m in mean), covariance)


def expectation(terms: Terms, groups: Sequence[DrawGroup], top: Fraction) -> Terms:
    """Return E of a polynomial in the draws, by Isserlis' theorem (Isserlis 1918).

    E[w_1 ... w_2k] of centred Gaussian draws is the sum over all pairings of products of covariances: E[w1**2 w2**2] =
    C11 C22 + 2 C12**2. The last group is averaged first, as its covariance may hold earlier draws. Of draws that need
    not be Gaussian only the first two moments are used.

        >>> v, w = draws = sympy.symbols("v w")
        >>> C = {key: {(ZERO, ()): sympy.Symbol(f"C{key}")} for key in (11, 12, 22)}
        >>> group = DrawGroup(draws, ((C[11], C[12]), (C[12], C[22])))
        >>> expectation({(ZERO, (v, v, w, w)): sympy.S(1)}, [group], Fraction(1))[ZERO, ()]
        C11*C22 + 2*C12**2

    Raises:
        NoExpansionError: a moment of draws is needed that is not known.
    """
    for group in reversed(groups):
        own = set(group.symbols)
        parts: list[Terms] = []
        for (power, draws), value in terms.items():
            mine = tuple(w for w in draws if w in own)
            others = tuple(w for w in draws if w not in own)
            if len(mine) > (MOST_DRAWS if group.gaussian else 2):
                raise NoExpansionError("a higher moment of a draw than is known")
            parts.append(multiplied({(power, others): value}, _paired(mine, group, top), top))
        terms = added(parts)
    return terms


def _paired(draws: tuple[Symbol, ...], group: DrawGroup, top: Fraction) -> Terms:
    """Return E of a product of draws of one group."""
    if not draws:
        return {(ZERO, ()): sympy.Integer(1)}
    if len(draws) % 2:
        return {}
    row = group.covariance[group.symbols.index(draws[0])]
    found: list[Terms] = []
    for k in range(1, len(draws)):
        both = row[group.symbols.index(draws[k])]
        if both:
            found.append(multiplied(both, _paired((*draws[1:k], *draws[k + 1 :]), group, top), top))
    return added(found)

"""What has to hold for a move that is accepted or refused to keep exp(-E), at fixed sizes: of claims and of code alike.

x = (z, w) holds the state and what is drawn for the move, E = H(z) - log q(w|z) their energy. x' = S(x) is taken with
the probability min(1, exp(L)), else x becomes G(x), or stays where nothing is turned, G = id. Where G is its own
inverse and keeps E and volume, that is a move by T = G o S, or x as it was, and G after it. With T o T = id, so S G S =
G, it preserves exp(-E) if

    L(x) = E(x) - E(S(x)) + log |det DS(x)|

(Green 1995; Tierney 1998).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import sympy
from sympy import Expr, Symbol

from recipe_compiler.algebra.scalars.derivatives import slope
from recipe_compiler.algebra.scalars.matrices import determinant

Image = Mapping[Symbol, Expr]
"""What coordinates become; others stay."""
RATIO = "L - E(x) + E(S(x)) - log |det DS|"


class Functions(Protocol):
    """How expressions are mapped and differentiated in which functions of the state stand that are not known."""

    def after(self, image: Image, e: Expr) -> Expr:
        """Return e(S(x)) of an expression e(x)."""
        ...

    def jacobian(self, image: Image) -> Expr:
        """Return det DS, a scalar, over the coordinates that S maps; only of an involution it need be right."""
        ...


class Written:
    """Expressions whose functions are all known."""

    def after(self, image: Image, e: Expr) -> Expr:
        """Return e(S(x)) of an expression e(x)."""
        return _compose_with_image(image, e)

    def jacobian(self, image: Image) -> Expr:
        """Return det DS."""
        return sympy.expand(jacobian(image))


@dataclass(frozen=True, slots=True)
class Acceptance:
    """A proposal x' = S(x) with energy E, its log ratio L, and what a refused move does to the state."""

    image: Image
    energy: Expr
    log_ratio: Expr
    refused: Image = field(default_factory=dict[Symbol, Expr])
    """G: `{r: -r}` of a refused move that turns momenta."""
    functions: Functions = field(default_factory=Written)


def obligations(move: Acceptance) -> Iterator[tuple[str, Expr]]:
    """Yield by name what has to vanish, each a scalar, for a move to preserve exp(-E) (Green 1995; Tierney 1998).

    z' = z + w, w' = -w, E = H(z) + w**2/2 and L = H(z) - H(z'), a random walk, leaves zeros. With L = 0, a move that is
    always accepted, the ratio leaves H(z') - H(z).
    """
    after = move.functions.after
    for x in dict.fromkeys((*move.image, *move.refused)):
        through = after(move.image, after(move.refused, move.image.get(x, x)))
        yield f"S(G(S({x}))) - G({x})", through - move.refused.get(x, x)
    if move.refused:
        for x, e in move.refused.items():
            yield f"G(G({x})) - {x}", after(move.refused, e) - x
        yield "E(G(x)) - E(x)", after(move.refused, move.energy) - move.energy
        yield "det(DG)**2 - 1", move.functions.jacobian(move.refused) ** 2 - 1
    square = sympy.powsimp(move.functions.jacobian(move.image) ** 2)
    off = move.log_ratio - move.energy + after(move.image, move.energy)
    yield RATIO, off - sympy.expand(sympy.log(square)) / 2


def returned(image: Image, coordinates: Sequence[Symbol]) -> list[Expr]:
    """Return S(S(x)) - x of some coordinates: zeros for an involution."""
    return [_compose_with_image(image, image[x]) - x for x in coordinates]


def jacobian(image: Image) -> Expr:
    """Return det DS, a scalar, over the coordinates that S maps."""
    return determinant(tuple(tuple(slope(image[x], y) for y in image) for x in image))


def log_density_change(energy: Expr, image: Image) -> Expr:
    """Return E(x) - E(S(x)), the change of the log density exp(-E)."""
    return energy - _compose_with_image(image, energy)


def _compose_with_image(image: Image, e: Expr) -> Expr:
    """Return e(S(x)): every coordinate of the expression replaced by its image under S."""
    return e.xreplace(dict(image))

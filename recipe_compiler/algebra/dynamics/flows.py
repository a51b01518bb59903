"""Is a step in eps the flow of an equation? The identities that show it, entry by entry.

dz = s f dt + sqrt(2 s D) dW over a time eps, where D is constant and f affine in what it moves: from z the law is
N(m, C) with m(0) = z, C(0) = 0 and

    dm/deps = s f(m),     dC/deps = s (J C + C J.T + 2 D),     J = df/dz,

and these have one solution (Arnold 1974, Sec. 8.2).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

import sympy
from sympy import Expr, Symbol
from sympy.core.function import AppliedUndef

from recipe_compiler.algebra.dynamics.system import Vector
from recipe_compiler.algebra.scalars.derivatives import slope
from recipe_compiler.algebra.scalars.matrices import Rows, add, product, transpose


class NotPutError(Exception):
    """A function of what moves, of whose value after a step nothing is known."""


@dataclass(frozen=True, slots=True)
class Law:
    """The law N(mean, covariance) of a step over n coordinates, as functions of eps and of the state before it."""

    eps: Symbol
    z: tuple[Symbol, ...]
    mean: Vector
    covariance: Rows
    rates: Mapping[Expr, Expr] = field(default_factory=dict[Expr, Expr])
    """Derivatives of functions in them by eps to what these are."""
    first: Mapping[Expr, Expr] = field(default_factory=dict[Expr, Expr])
    """Functions in them to what they are at eps = 0."""

    def slope(self, e: Expr) -> Expr:
        """Return de/deps."""
        return cast(Expr, slope(e, self.eps).xreplace(self.rates))

    def at_zero(self, e: Expr) -> Expr:
        """Return e at eps = 0, where multiplying out removes every division by eps.

        Raises:
            NotPutError: it does not.
        """
        begun = cast(Expr, e.xreplace(self.first))
        found = cast(Expr, sympy.expand(begun).xreplace({self.eps: sympy.Integer(0)}))
        if found.has(sympy.nan, sympy.zoo, sympy.oo):
            raise NotPutError("its value at eps = 0 is not known")
        return found


def at(e: Expr, z: Sequence[Symbol], values: Vector) -> Expr:
    """Return e with values in the places of coordinates.

    Raises:
        NotPutError: an undefined function depends on one that moves.
    """
    moved = {x: value for x, value in zip(z, values, strict=True) if x != value}
    for call in e.atoms(AppliedUndef):
        if call.free_symbols & moved.keys():
            raise NotPutError(f"{type(call).__name__} depends on what the piece moves")
    return cast(Expr, e.xreplace(moved))


def starts(law: Law) -> Iterator[Expr]:
    """Yield m(0) - z and C(0), which vanish for a flow."""
    yield from (law.at_zero(m - x) for m, x in zip(law.mean, law.z, strict=True))
    yield from (law.at_zero(entry) for row in law.covariance for entry in row)


def drifts(law: Law, share: Expr, f: Vector) -> Iterator[Expr]:
    """Yield dm/deps - s f(m), which vanish for a flow."""
    for m, own in zip(law.mean, f, strict=True):
        yield law.slope(m) - share * at(own, law.z, law.mean)


def spreads(law: Law, share: Expr, f: Vector, D: Rows) -> Iterator[Expr]:
    """Yield dC/deps - s (J C + C J.T + 2 D), which vanish for a flow."""
    J = tuple(tuple(slope(x, y) for y in law.z) for x in f)
    turned = product(J, law.covariance)
    wanted = add((turned, transpose(turned), D, D))
    for row, own in zip(law.covariance, wanted, strict=True):
        yield from (law.slope(x) - share * y for x, y in zip(row, own, strict=True))


def frozen(law: Law, f: Vector, D: Rows) -> Iterator[Expr]:
    """Yield d2f/dz dz' and dD/dz over what moves: the law is Gaussian where they vanish."""
    moved = [x for x, m in zip(law.z, law.mean, strict=True) if x != m]
    noisy = [x for x, row in zip(law.z, D, strict=True) if any(entry != 0 for entry in row)]
    along = list(dict.fromkeys((*moved, *noisy)))
    yield from (slope(slope(x, y), w) for x in f for y in along for w in along)
    yield from (slope(entry, w) for row in D for entry in row for w in along)

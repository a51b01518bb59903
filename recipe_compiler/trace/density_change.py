"""What a step of finite size changes of the density p = exp(-H), as a series in the step size.

A step takes p to p + sum_k (-1)^k/k! sum_(i1..ik) d_i1 ... d_ik (E[dz_i1 ... dz_ik] p), the Kramers-Moyal expansion.
Where its parts vanish below eps^q, and a step takes time eps^u, the stationary distribution of finite steps is p (1 +
eps^(q-u) g) + ..., L* (g p)/p being the negative of the part eps^q (cf. Talay, Tubaro 1990).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import comb, factorial, floor, prod
from typing import Protocol

from sympy import Expr, Symbol

from recipe_compiler import limits
from recipe_compiler.algebra.scalars.derivatives import slope
from recipe_compiler.derive.recipe import Derivation, row_slots
from recipe_compiler.tensor.terms import Coordinate, Index, Tensor
from recipe_compiler.trace.moments import Draw, Moments, amplitude, expectation
from recipe_compiler.trace.scalars import NO_DRAW, Poly, value_of
from recipe_compiler.trace.series import ZERO, Arithmetic, C, NoExpansionError, Series
from recipe_compiler.trace.tensors import with_indices


class Density(Protocol[C]):
    """The density p = exp(-H) of a state whose entries are coordinates, or blocks with indices."""

    def factor(self, x: C, entry: int, place: int, /) -> C:
        """Return what belongs to an entry as the factor of a product at some place, with indices of its own."""
        ...

    def slope(self, x: C, entry: int, place: int, /) -> C:
        """Return (1/p) d_i (x p) = d_i x - x d_i H, summed over the indices i of the factor at some place."""
        ...


def density_change(found: Moments[C], density: Density[C], top: Fraction) -> Series[C]:
    """Return (p' - p)/p up to a power of eps, p' the density after one step from p.

    Worked, H = theta**2/2: theta' = theta - eps theta + N(0, 2 eps) has, up to eps**2, E[dz] = -eps theta, E[dz**2] = 2
    eps + eps**2 theta**2, E[dz**3] = -6 eps**2 theta and E[dz**4] = 12 eps**2. The part eps vanishes, the part eps**2
    is (theta**2 - 1)/2: the variance of the stationary distribution is 1/(1 - eps/2), that of p is 1.

    Raises:
        NoExpansionError: a moment of dz is not known as far, the step does not become small with eps, or it has too
            many entries.
    """
    S = replace(found.S, top=top)
    low = min((dz.low for dz in found.change), default=top)
    if low <= ZERO:
        raise NoExpansionError("a step that does not become small with eps")
    return _expand_by_moments(S, found.change, found.draws, density, floor(top / low))


def noise_change(found: Moments[C], density: Density[C], power: Fraction) -> C:
    """Return the part of the change of exp(-H) that the covariances of draws make, each draw at its lowest amplitude.

    It is what the noise of an estimated gradient brings, and what is subtracted for it.
    """
    parts = [amplitude(found, item) for item in found.draws]
    linear = [found.S.add(*(own[a] for own in parts)) for a in range(len(found.change))]
    return found.S.at(_expand_by_moments(found.S, linear, found.draws, density, 2), power)


def _expand_by_moments(
    S: Arithmetic[C], change: Sequence[Series[C]], draws: Sequence[Draw[C]], density: Density[C], most: int
) -> Series[C]:
    """Return the terms of the Kramers-Moyal expansion that moments up to some degree make, over p.

    sum_k (-1)^k/k! sum d_i1 ... d_ik (M_i1..ik p), each product of entries once, is added up from the highest degree:
    a derivative is taken of the sum of all that it is taken of.
    """
    if comb(len(change) + most - 1, most) > limits.ENTRIES:
        raise NoExpansionError(f"more than {limits.ENTRIES} products of entries")
    products: dict[tuple[int, ...], Series[C]] = {(): S.constant(S.one)}
    found: list[dict[tuple[int, ...], Series[C]]] = []
    for k in range(most):
        own = [S.mapped(lambda x, a=a, k=k: density.factor(x, a, k), dz) for a, dz in enumerate(change)]
        products = {
            (*along, a): S.multiply(x, own[a])
            for along, x in products.items()
            for a in range(along[-1] if along else 0, len(own))
        }
        found.append({along: expectation(S, x, draws) for along, x in products.items()})
    sums: dict[tuple[int, ...], list[Series[C]]] = {}
    for k, moments in reversed([*enumerate(found)]):
        inner, sums = sums, {}
        for along, moment in moments.items():
            weight = Fraction((-1) ** len(along), prod(factorial(along.count(a)) for a in set(along)))
            whole = S.add(S.scale(moment, weight), *inner.get(along, ()))
            sloped = S.mapped(lambda x, a=along[k], k=k: density.slope(x, a, k), whole)
            sums.setdefault(along[:k], []).append(sloped)
    return S.add(*sums.get((), ()))


@dataclass(frozen=True, slots=True)
class TensorDensity:
    """exp(-H) for every size: entries are blocks."""

    energy: Derivation

    def factor(self, x: Tensor, entry: int, place: int) -> Tensor:
        """Return what has the index of a row with one of its own."""
        return self.energy.calculus.rename(x, self._pair_indices(entry, place))

    def slope(self, x: Tensor, entry: int, place: int) -> Tensor:
        """Return d_i x - x d_i H, summed over the indices i of a block."""
        c, i = self.energy.calculus, tuple(self._pair_indices(entry, place).values())
        grad = self.factor(self.energy.grad_H[entry], entry, place)
        name = self.energy.dynamics.declarations.blocks[entry].name
        return c.total(with_indices(c.subtract(c.diff(x, Coordinate(name, i)), c.multiply(x, grad)), i), *i)

    def _pair_indices(self, entry: int, place: int) -> dict[Index, Index]:
        """Return the indices of a row over a block, each with the index of a factor."""
        row = row_slots(self.energy.dynamics.declarations.blocks[entry])
        return {i: Index(i.size, f"@{place}") for i in row}


class PolyDensity:
    """exp(-H) at fixed sizes: entries are coordinates."""

    def __init__(self, z: tuple[Symbol, ...], H: Expr) -> None:
        self.z, self.grad = z, tuple(slope(H, x) for x in z)

    def factor(self, x: Poly, entry: int, place: int) -> Poly:
        """Return what belongs to a coordinate, which has no indices."""
        del entry, place
        return x

    def slope(self, x: Poly, entry: int, place: int) -> Poly:
        """Return d_i x - x d_i H of a scalar without draws."""
        del place
        value = value_of(x)
        return {NO_DRAW: slope(value, self.z[entry]) - value * self.grad[entry]}

"""The moments of a step given the state, E[dz] and Cov[dz], as series in the step size: by Isserlis' theorem.

The expectation of a product of centred Gaussian draws is the sum over all ways to pair them, of the products of their
covariances (Isserlis 1918): E[w1 w2 w3 w4] = C12 C34 + C13 C24 + C14 C23. For a polynomial that is E P(w) = [exp(C_ij
d_i d_j/2) P](0). Of draws that need not be Gaussian the first two moments are used alone.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Generic, Protocol

from recipe_compiler import limits
from recipe_compiler.trace.series import EXACT, HALF, ONE, Arithmetic, C, NoExpansionError, Series


class Draw(Protocol[C]):
    """Centred draws made together, given those before them."""

    @property
    def says(self) -> str:
        """As the author wrote it."""
        ...

    @property
    def gaussian(self) -> bool:
        """Whether they are Gaussian; else only their first two moments are known."""
        ...

    def degree(self, x: C) -> int:
        """Return the degree of a polynomial in the draws."""
        ...

    def part(self, x: C, degree: int) -> C:
        """Return the terms of some degree in the draws."""
        ...

    def curvature(self, series: Series[C]) -> Series[C]:
        """Return sum_ij C_ij d_i d_j S."""
        ...


def expectation(S: Arithmetic[C], series: Series[C], draws: Sequence[Draw[C]]) -> Series[C]:
    """Return E of a polynomial in the draws, the last first, as its covariance may hold earlier ones.

    E P(w) = [exp(C_ij d_i d_j/2) P](0), the sum over all pairings (Isserlis 1918).

    Raises:
        NoExpansionError: a moment of draws is needed that is not known.
    """
    for item in reversed(draws):
        degree = max(map(item.degree, series.parts.values()), default=0)
        if degree > (limits.POWER if item.gaussian else 2):
            why = "of too high a degree" if item.gaussian else "only its mean and covariance are known"
            raise NoExpansionError(f"a polynomial of degree {degree} in {item.says or 'draws'}: {why}")
        parts, share = [series], series
        for k in range(1, degree // 2 + 1):
            share = S.scale(item.curvature(share), HALF / k)
            parts.append(share)
        if degree:
            series = S.add(*(S.mapped(lambda x, item=item: item.part(x, 0), part) for part in parts))
    return series


@dataclass(frozen=True, slots=True)
class Coefficients(Generic[C]):
    """The coefficients of one power of eps: in E[dz], n entries, and in Cov[dz], n x n."""

    mean: tuple[C, ...]
    covariance: tuple[tuple[C, ...], ...]

    @property
    def entries(self) -> tuple[C, ...]:
        """All of them, row by row of the covariance after the mean."""
        return (*self.mean, *(x for row in self.covariance for x in row))


@dataclass(frozen=True, slots=True)
class Moments(Generic[C]):
    """The first two moments of dz = z' - z given z: E[dz], n entries, and Cov[dz], n x n, of blocks or coordinates."""

    S: Arithmetic[C]
    change: tuple[Series[C], ...]
    """dz, draws included."""
    draws: tuple[Draw[C], ...]
    mean: tuple[Series[C], ...]
    covariance: tuple[tuple[Series[C], ...], ...]
    zeros: Coefficients[C]
    """Moments that are zero, of the same shape."""

    @property
    def entries(self) -> tuple[Series[C], ...]:
        """All series, row by row of the covariance after the mean."""
        return (*self.mean, *(x for row in self.covariance for x in row))

    @property
    def known(self) -> Fraction:
        """The highest power up to which every moment is known."""
        return min((x.known for x in self.entries), default=EXACT)

    def powers(self, upto: Fraction) -> tuple[Fraction, ...]:
        """Return the powers of eps that occur in a moment, as it is written, up to one, in order."""
        return tuple(sorted({p for x in self.entries for p in x.parts if p <= upto}))

    def at(self, power: Fraction) -> Coefficients[C]:
        """Return the coefficients of a power of eps.

        Raises:
            NoExpansionError: a moment is not known up to it.
        """
        zeros, add = self.zeros, self.S.ring.add
        mean = tuple(add(x, self.S.at(y, power)) for x, y in zip(zeros.mean, self.mean, strict=True))
        rows = (
            tuple(add(x, self.S.at(y, power)) for x, y in zip(row, own, strict=True))
            for row, own in zip(zeros.covariance, self.covariance, strict=True)
        )
        return Coefficients(mean, tuple(rows))


def moments(
    S: Arithmetic[C],
    change: Sequence[Series[C]],
    draws: Sequence[Draw[C]],
    as_column: Callable[[Series[C], int], Series[C]] = lambda series, _: series,
) -> Moments[C]:
    """Return E[dz] and Cov[dz]_ij = E[dz_i dz_j] - E[dz_i] E[dz_j] of a step given z.

    Worked: theta' = theta - eps grad U + w with w ~ N(0, 2 eps I) has E[dz] = -eps grad U, Cov[dz] = 2 eps I, exactly;
    with noise of covariance V on the gradient, Cov[dz] = 2 eps I + eps**2 V.

    Args:
        S: the arithmetic.
        change: dz, entry by entry.
        draws: in an order in which none enters the covariance of an earlier one.
        as_column: takes an entry of dz, and its place, to what stands for it in a column.

    Raises:
        NoExpansionError: a moment of draws is needed that is not known.
    """
    mean = [expectation(S, dz, draws) for dz in change]
    found: list[tuple[Series[C], ...]] = []
    for dz, m in zip(change, mean, strict=True):
        row: list[Series[C]] = []
        for j, (other, n) in enumerate(zip(change, mean, strict=True)):
            both = expectation(S, S.multiply(dz, as_column(other, j)), draws)
            row.append(S.subtract(both, S.multiply(m, as_column(n, j))))
        found.append(tuple(row))
    none = (S.zero,) * len(change)
    return Moments(S, tuple(change), tuple(draws), tuple(mean), tuple(found), Coefficients(none, (none,) * len(change)))


def amplitude(found: Moments[C], item: Draw[C]) -> list[Series[C]]:
    """Return the part of dz that is linear in one draw and free of others, at the lowest power of eps in any entry."""
    S = found.S

    def linear(x: C) -> C:
        for other in found.draws:
            x = other.part(x, 1 if other is item else 0)
        return x

    slopes = [S.mapped(linear, dz) for dz in found.change]
    low = min((slope.low for slope in slopes if slope.parts), default=ONE)
    return [Series({p: x for p, x in slope.parts.items() if p == low}) for slope in slopes]

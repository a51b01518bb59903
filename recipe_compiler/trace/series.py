"""Power series in the step size over any ring: of tensors for every size, of polynomials in draws at fixed sizes.

A series records the power up to which it is known, and every operation computes that of its result.

Worked example: z' = z exp(eps a + sqrt(eps) w), w ~ N(0, 2), has the argument R = eps**(1/2) w + eps a, and

    exp(R) = 1 + R + R**2/2 + ... = 1 + eps**(1/2) w + eps (a + w**2/2) + O(eps**(3/2)),

so that E[z' - z] = eps z (a + 1) + O(eps**2), as E w**2 = 2.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import factorial
from typing import Generic, Protocol, TypeVar

from recipe_compiler import limits

ZERO, HALF, ONE, TWO = Fraction(0), Fraction(1, 2), Fraction(1), Fraction(2)
EXACT = Fraction(10**6)
"""A series that is known to this power is known wholly."""
C = TypeVar("C")


class NoExpansionError(Exception):
    """A step whose expansion in powers of eps, or whose moments, are not known: what needs them is undecided."""


class Ring(Protocol[C]):
    """Coefficients: what a power series is made of. `Calculus` is the ring of tensors."""

    def add(self, *parts: C) -> C:
        """Return a sum."""
        ...

    def multiply(self, *factors: C) -> C:
        """Return a product of entries; nothing is summed."""
        ...

    def scale(self, x: C, factor: Fraction, /) -> C:
        """Return a multiple."""
        ...

    def power(self, x: C, exponent: Fraction, /) -> C:
        """Return a power of a coefficient that holds no draw."""
        ...

    def settled(self, x: C, /) -> C:
        """Return a coefficient without what vanishes, as far as normal forms see it."""
        ...


@dataclass(frozen=True, slots=True)
class Series(Generic[C]):
    """A truncated series sum_p a_p eps**p, p rational, in order; no a_p is zero as it is written."""

    parts: Mapping[Fraction, C]
    known: Fraction = EXACT
    """All powers up to this one are known."""

    @property
    def low(self) -> Fraction:
        """The lowest power that occurs, or up to which none does."""
        return min(self.parts, default=self.known)


@dataclass(frozen=True, slots=True)
class Arithmetic(Generic[C]):
    """Sums, products, powers and functions of series up to a power of eps."""

    ring: Ring[C]
    top: Fraction
    """No higher power is ever kept."""
    zero: C
    is_zero: Callable[[C], bool]
    """Whether a coefficient is zero as it is written."""
    is_random: Callable[[C], bool]
    """Whether a draw occurs in a coefficient."""

    @property
    def one(self) -> C:
        """The number 1: an empty product."""
        return self.ring.multiply()

    def series(self, parts: Mapping[Fraction, C], known: Fraction = EXACT) -> Series[C]:
        """Return the series with some coefficients, cut off at the last power kept."""
        known = min(known, self.top) if any(power > self.top for power in parts) else known
        kept = {p: parts[p] for p in sorted(parts) if p <= known and not self.is_zero(parts[p])}
        return Series(kept, known)

    def constant(self, x: C, power: Fraction = ZERO) -> Series[C]:
        """Return a eps**p of a coefficient a."""
        return self.series({power: x})

    def mapped(self, change: Callable[[C], C], series: Series[C]) -> Series[C]:
        """Return the series with every coefficient changed."""
        return self.series({power: change(x) for power, x in series.parts.items()}, series.known)

    def add(self, *parts: Series[C]) -> Series[C]:
        """Return sum_k S_k, known up to the least of the powers up to which the summands are."""
        found: dict[Fraction, list[C]] = {}
        for part in parts:
            for power, x in part.parts.items():
                found.setdefault(power, []).append(x)
        summed = {power: self.ring.add(*xs) for power, xs in found.items()}
        return self.series(summed, min((part.known for part in parts), default=EXACT))

    def scale(self, series: Series[C], factor: Fraction) -> Series[C]:
        """Return the series q S, q rational."""
        return self.mapped(lambda x: self.ring.scale(x, factor), series)

    def subtract(self, left: Series[C], right: Series[C]) -> Series[C]:
        """Return S - T."""
        return self.add(left, self.scale(right, -ONE))

    def shift(self, series: Series[C], by: Fraction) -> Series[C]:
        """Return eps**by times the series."""
        known = series.known if series.known == EXACT else series.known + by
        return self.series({power + by: x for power, x in series.parts.items()}, known)

    def multiply(self, left: Series[C], right: Series[C]) -> Series[C]:
        """Return the product S T.

        It is known up to min(known(S) + low(T), known(T) + low(S)): (eps + o(eps**2)) (1 + o(eps)) = eps + o(eps**2).
        """
        known = min(left.known + right.low, right.known + left.low, EXACT)
        found: dict[Fraction, list[C]] = {}
        for p, x in left.parts.items():
            for q, y in right.parts.items():
                if p + q > self.top:
                    known = min(known, self.top)
                elif p + q <= known:
                    found.setdefault(p + q, []).append(self.ring.multiply(x, y))
        return self.series({power: self.ring.add(*xs) for power, xs in found.items()}, known)

    def compose(self, slopes: Callable[[C], Iterator[C]], arg: Series[C], what: str) -> Series[C]:
        """Return f(S) = sum_k f^(k)(a) R**k/k! of a series S = a + R, a its value at eps = 0.

        exp(x + eps y) = exp(x) (1 + eps y + eps**2 y**2/2 + ...).

        Args:
            slopes: yields f(a), f'(a), f''(a), ... of a value a.
            arg: S, all of whose terms are scalars.
            what: names f in a message.

        Raises:
            NoExpansionError: a contains a draw, the series grows as eps becomes small, or more than 8 derivatives were
                needed.
        """
        first, rest = self.apart(arg, what)
        parts: list[Series[C]] = []
        share = self.constant(self.one)
        for k, slope in zip(range(limits.POWER + 1), slopes(first), strict=False):
            here = self.constant(self.ring.scale(slope, Fraction(1, factorial(k))))
            parts.append(self.multiply(share, here))
            share = self.multiply(share, rest)
            if not share.parts:
                return self.add(*parts, share)
        raise NoExpansionError(f"{what} beyond the order kept here")

    def power(self, base: Series[C], exponent: Fraction) -> Series[C]:
        """Return S**q for a rational q: multiplied out, or by the binomial series about the lowest part.

        (eps a + R)**q = sum_k binom(q, k) (eps a)**(q-k) R**k; with q = 1/2 that of eps x is eps**(1/2) sqrt(x).

        Raises:
            NoExpansionError: S is not shown to differ from zero, its lowest part contains a draw, or more than 8 terms
                were needed.
        """
        if exponent.denominator == 1 and 0 <= exponent <= limits.POWER:
            found = self.constant(self.one)
            for _ in range(exponent.numerator):
                found = self.multiply(found, base)
            return found
        base = self.leading(base)
        if not base.parts:
            raise NoExpansionError("a power of what may be zero")

        def slopes(first: C) -> Iterator[C]:
            number = ONE
            for k in range(limits.POWER + 1):
                yield self.ring.scale(self.ring.power(first, exponent - k), number)
                number *= exponent - k

        return self.shift(self.compose(slopes, self.shift(base, -base.low), "a power"), base.low * exponent)

    def leading(self, series: Series[C]) -> Series[C]:
        """Return the series without its lowest terms that vanish, as far as normal forms see it."""
        parts = dict(series.parts)
        for power, x in series.parts.items():
            parts[power] = self.ring.settled(x)
            if not self.is_zero(parts[power]):
                break
            del parts[power]
        return Series(parts, series.known)

    def at(self, series: Series[C], power: Fraction) -> C:
        """Return the coefficient of a power, zero if it does not occur.

        Raises:
            NoExpansionError: the series is not known up to that power.
        """
        if power > series.known:
            raise NoExpansionError(f"the part eps^{power} of the step is not known")
        return series.parts.get(power, self.zero)

    def apart(self, series: Series[C], what: str) -> tuple[C, Series[C]]:
        """Split S = a + R into its value a at eps = 0, which may contain no draw, and R, which vanishes with eps.

        Raises:
            NoExpansionError: a contains a draw, or the series grows as eps becomes small; `what` names the operation.
        """
        if series.low < 0:
            raise NoExpansionError(f"{what} of what grows as eps becomes small")
        first = self.at(series, ZERO)
        if self.is_random(first):
            raise NoExpansionError(f"{what} of a draw that does not become small with eps")
        return first, Series({power: x for power, x in series.parts.items() if power > 0}, series.known)

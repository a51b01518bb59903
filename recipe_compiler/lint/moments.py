"""The first two moments of a traced step, as far as they are known in powers of eps.

The expectation of a product of Gaussian draws is the sum over all ways to pair them (Isserlis' theorem).
"""

from dataclasses import dataclass
from fractions import Fraction

import sympy
from sympy import Expr, Symbol

from recipe_compiler.lint.answer import Trace
from recipe_compiler.lint.series import NONE, Meaning, Reading, Series
from recipe_compiler.verify.updates.expansion import NoExpansionError, Terms, added, multiplied, shifted
from recipe_compiler.verify.updates.step_residual import StepMoments

MOST_DRAWS = 8
FEW, MANY = Fraction(2), Fraction(4)
ONE = Fraction(1)


@dataclass(frozen=True, slots=True)
class Moments:
    """Moments, and the power of eps up to which they are known."""

    step: StepMoments
    known: Fraction
    reading: Reading
    change: tuple[Series, ...]
    """dz."""


def moments_of(trace: Trace, meaning: Meaning, least: Fraction = ONE) -> Moments:
    """Return the moments of dz, known at least up to a power of eps.

    Raises:
        NoExpansionError: no expansion about eps = 0 is known, or the step grows as eps becomes small.
    """
    found = _upto(trace, meaning, FEW)
    if found.known < least:
        found = _upto(trace, meaning, MANY)
    if found.known < least:
        raise NoExpansionError(f"the step is known up to eps^({found.known}) only")
    return found


def _upto(trace: Trace, meaning: Meaning, top: Fraction) -> Moments:
    reading = Reading(trace, meaning, top)
    places = [place for flat in trace.outputs for place in flat]
    if len(places) != len(meaning.z):
        raise NoExpansionError("the step does not return the whole state")
    change: list[Series] = []
    for place, z in zip(places, meaning.z, strict=True):
        after = reading.of(place)
        change.append(Series(added([after.terms, {NONE: -z}]), after.known))
    if any(dz.low < 0 for dz in change):
        raise NoExpansionError("the step grows as eps becomes small")
    pairs = _Pairs(trace, reading)
    known = min(top, *(dz.known for dz in change))  # a product of two changes is known no less far: neither grows
    mean = [pairs.expectation(dz.terms, top) for dz in change]
    n = range(len(change))
    half: dict[tuple[int, int], Terms] = {}
    for i in n:
        for j in range(i, len(change)):
            square = pairs.expectation(multiplied(change[i].terms, change[j].terms, top), top)
            less = {key: -value for key, value in multiplied(mean[i], mean[j], top).items()}
            half[i, j] = added([square, less])
    covariance = tuple(tuple(_written(half[min(i, j), max(i, j)], meaning.eps) for j in n) for i in n)
    step = StepMoments(meaning.z, meaning.eps, tuple(_written(m, meaning.eps) for m in mean), covariance)
    return Moments(step, known, reading, tuple(change))


class _Pairs:
    """The covariances of the draws."""

    def __init__(self, trace: Trace, reading: Reading) -> None:
        self.own = {w: k for k, w in enumerate(reading.draws)}
        self.group: dict[int, tuple[int, int]] = {}
        self.covariance: list[tuple[tuple[int, ...], list[Terms]]] = []
        for g, (draws, entries) in enumerate(trace.groups):
            read = [reading.of(place).terms for place in entries]
            if any(key[1] for terms in read for key in terms):
                raise NoExpansionError("the covariance of a draw depends on another draw")
            low = 2 * reading.powers[reading.draws[draws[0]]]
            if low < 0:
                raise NoExpansionError("the covariance of a draw grows as eps becomes small")
            self.covariance.append((draws, [shifted(entry, -low) for entry in read]))
            self.group |= {k: (g, at) for at, k in enumerate(draws)}

    def expectation(self, terms: Terms, top: Fraction) -> Terms:
        """Return E of a polynomial in the draws."""
        parts: list[Terms] = []
        for (power, draws), value in terms.items():
            if len(draws) > MOST_DRAWS:
                raise NoExpansionError("a higher moment of a draw than is computed here")
            parts.append(multiplied({(power, ()): value}, self._paired(draws, top), top))
        return added(parts)

    def _paired(self, draws: tuple[Symbol, ...], top: Fraction) -> Terms:
        if not draws:
            return {NONE: sympy.Integer(1)}
        if len(draws) % 2:
            return {}
        found: list[Terms] = []
        for k in range(1, len(draws)):
            both = self._between(draws[0], draws[k])
            if both:
                found.append(multiplied(both, self._paired((*draws[1:k], *draws[k + 1 :]), top), top))
        return added(found)

    def _between(self, a: Symbol, b: Symbol) -> Terms:
        """Return the covariance of two draws."""
        i, j = self.own[a], self.own[b]
        if i not in self.group:
            return {NONE: sympy.Integer(1)} if i == j else {}
        g, row = self.group[i]
        other, column = self.group.get(j, (-1, 0))
        draws, entries = self.covariance[g]
        return entries[row * len(draws) + column] if other == g else {}


def _written(terms: Terms, eps: Symbol) -> Expr:
    return sympy.Add(
        *(value * eps ** sympy.Rational(power.numerator, power.denominator) for (power, _), value in terms.items())
    )


def is_moved(series: Series) -> bool:
    """Whether a coordinate is moved at all, as it is written."""
    return any(value != 0 for value in series.terms.values())

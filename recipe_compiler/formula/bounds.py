"""Bounds on what a formula may ask for: numbers, powers and size stay small, whatever the text says.

Magnitudes are bounded on whole constant subtrees, not operator by operator: `((9**9)**9999)**9999` has small exponents
and a huge value. Nothing is computed before its size is known to be within bounds.
"""

from dataclasses import dataclass
from fractions import Fraction

from recipe_compiler.errors import Place, SpecError
from recipe_compiler.formula import tree
from recipe_compiler.formula.places import fault_at

MAX_BITS = 4096
"""Bits of the numerator and denominator of an exact constant; |log2| of an inexact one."""
MAX_EXPONENT = 1000
"""Size of a constant exponent, multiplied along nested powers."""
MAX_PARTS = 30_000
"""Parts of a formula, with those of a repeated argument counted twice."""

_GROWING = frozenset({"exp", "expm1", "cosh", "sinh", "gamma", "loggamma", "det"})


@dataclass(frozen=True, slots=True)
class Measure:
    """What is known of the size of a subtree."""

    value: Fraction | None = None
    """The exact value, for a rational constant."""
    bits: float | None = None
    """A bound on |log2 |value|| of a constant; None where names occur."""
    exponent: Fraction = Fraction(1)
    """The largest product of nested constant exponents in it."""
    parts: int = 1


@dataclass(frozen=True, slots=True)
class _Bounds:
    entry: str
    where: Place

    def error(self, part: tree.Tree, problem: str, hint: str = "") -> SpecError:
        return SpecError([fault_at(self.where, part.at, self.entry, problem, hint)])

    def constant(self, part: tree.Tree, value: Fraction) -> Measure:
        bits = max(value.numerator.bit_length(), value.denominator.bit_length())
        self.within(part, bits)
        return Measure(value, bits)

    def within(self, part: tree.Tree, bits: float) -> None:
        if bits > MAX_BITS:
            raise self.error(part, f"a constant larger than 2**{MAX_BITS} or closer to 0 than its inverse", "rescale")


def check_bounds(formula: tree.Tree, entry: str, where: Place) -> None:
    """Raise SpecError at the smallest part that is out of bounds, or that divides by a constant 0."""
    _measure(formula, _Bounds(entry, where))


def _measure(part: tree.Tree, bounds: _Bounds) -> Measure:
    if isinstance(part, tree.Literal):
        return bounds.constant(part, part.value)
    if isinstance(part, tree.Name):
        return Measure(bits=2 if part.name == "pi" else None)
    measures = [_measure(child, bounds) for child in tree.children(part)]
    repeats = 2 if isinstance(part, tree.Call) and part.name == "norm2" else 1
    parts = 1 + repeats * sum(m.parts for m in measures)
    if parts > MAX_PARTS:
        raise bounds.error(part, f"more than {MAX_PARTS} parts once norm2 is written out", "shorten the formula")
    own = _combine(part, measures, bounds)
    exponent = max([own.exponent, *(m.exponent for m in measures)])
    return Measure(own.value, own.bits, exponent, parts)


def _combine(part: tree.Tree, measures: list[Measure], bounds: _Bounds) -> Measure:
    match part:
        case tree.Negate():
            value = measures[0].value
            return Measure(None if value is None else -value, measures[0].bits)
        case tree.Sum():
            return _sum(part, measures, bounds)
        case tree.Product():
            return _product(part, measures, bounds)
        case tree.Power():
            return _power(part, measures[0], measures[1], bounds)
        case tree.Call(name):
            bits = _bits(measures)
            if bits is None:
                return Measure()
            grown = 2 * 2 ** min(bits, 64) if name in _GROWING else bits + 1
            bounds.within(part, grown)
            return Measure(bits=grown)
        case _:
            return Measure()


def _bits(measures: list[Measure]) -> float | None:
    known = [m.bits for m in measures if m.bits is not None]
    return max(known, default=0.0) if len(known) == len(measures) else None


def _sum(part: tree.Sum, measures: list[Measure], bounds: _Bounds) -> Measure:
    total = Fraction(0)
    for measure in measures:
        if measure.value is None:
            bits = _bits(measures)
            return Measure(bits=None if bits is None else bits + len(measures).bit_length())
        total += measure.value
        bounds.constant(part, total)
    return bounds.constant(part, total)


def _product(part: tree.Product, measures: list[Measure], bounds: _Bounds) -> Measure:
    for operator, factor, measure in zip(part.operators, part.factors[1:], measures[1:], strict=True):
        if operator == "/" and measure.value == 0:
            raise bounds.error(factor, "division by zero")
    if any(m.bits is None for m in measures):
        return Measure()
    if any(m.value is None for m in measures):
        bits = sum(m.bits or 0.0 for m in measures)
        bounds.within(part, bits)
        return Measure(bits=bits)
    value = measures[0].value or Fraction(0)
    for operator, measure in zip(part.operators, measures[1:], strict=True):
        factor = measure.value or Fraction(0)
        value = value / factor if operator == "/" else value * factor
        bounds.constant(part, value)
    return bounds.constant(part, value)


def _power(part: tree.Power, base: Measure, exponent: Measure, bounds: _Bounds) -> Measure:
    if base.value == 0 and exponent.value is not None and exponent.value < 0:
        raise bounds.error(part, "division by zero: 0 to a negative power")
    if base.bits is None:
        return _open_power(part, base, exponent, bounds)
    if exponent.bits is None:
        return Measure()
    size = abs(exponent.value) if exponent.value is not None else 2 ** min(exponent.bits, 64)
    # A base of one bit is 1 or -1 (or 0), the powers of which stay small whatever the exponent.
    bits = 1.0 if base.value in (0, 1, -1) else float(min(size, 2**64)) * max(base.bits, 1.0)
    bounds.within(part, bits)
    if base.value is not None and exponent.value is not None and exponent.value.denominator == 1:
        if abs(exponent.value) > MAX_EXPONENT * MAX_BITS:
            raise bounds.error(part.exponent, f"an exponent beyond {MAX_EXPONENT}")
        return bounds.constant(part, base.value ** int(exponent.value))
    return Measure(bits=bits)


def _open_power(part: tree.Power, base: Measure, exponent: Measure, bounds: _Bounds) -> Measure:
    if exponent.value is None:
        return Measure()
    nested = base.exponent * max(Fraction(1), abs(exponent.value))
    if nested > MAX_EXPONENT:
        raise bounds.error(
            part.exponent, f"an exponent beyond {MAX_EXPONENT} in size (nested powers multiplied)", "use a smaller one"
        )
    return Measure(exponent=nested)

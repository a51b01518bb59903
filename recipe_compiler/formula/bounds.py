"""Bounds on what a formula may compute: numbers, powers and size stay small, whatever the text says.

Magnitudes are bounded on whole constant subtrees, not operator by operator: `((9**9)**9999)**9999` has small exponents
and a huge value. Nothing is computed before its size is known to be within bounds.
"""

from dataclasses import dataclass, field
from fractions import Fraction
from math import log2

from recipe_compiler.errors import Place, SpecError
from recipe_compiler.formula import tree
from recipe_compiler.formula.elementwise import FUNCTIONS, Size, named
from recipe_compiler.formula.tree import fault_at

MAX_BITS = 4096
"""Bits of the numerator and denominator of an exact constant; |log2| of an inexact one."""
MAX_EXPONENT = 1000
"""Size of a constant exponent, multiplied along nested powers."""
MAX_STACK = 8
"""Powers within exponents of powers."""
MAX_DEPTH = 120
"""Depth of the typed formula; long sums are one deep, long runs of `*` a logarithm of their length."""
MAX_LEVELS = 250
"""Depth of the syntax tree."""
MAX_PARTS = 30_000
"""Parts of a formula, with those of a repeated argument counted twice."""

_GROWING = named(lambda row: row.size is not Size.POWER)
_Reach = tuple[float, float]
"""Estimates from above, at least 0, of log2 |v| and of log2 |1/v|, for a constant v."""


@dataclass(frozen=True, slots=True)
class SubtreeSize:
    """What is known of the size of a subtree."""

    value: Fraction | None = None
    """The exact value, for a rational constant."""
    reach: _Reach | None = None
    """None where names occur."""
    exponent: Fraction = Fraction(1)
    """The largest product of nested constant exponents in it."""
    stack: int = 0
    depth: int = 1
    parts: int = 1


@dataclass(frozen=True, slots=True)
class _Bounds:
    entry: str
    where: Place
    known: dict[int, SubtreeSize] = field(default_factory=dict[int, SubtreeSize])
    """By the identity of a part: what a spelling repeats is one object, however often it stands there."""

    def error(self, part: tree.Tree, problem: str, hint: str = "") -> SpecError:
        return SpecError([fault_at(self.where, part.at, self.entry, problem, hint)])

    def exact(self, part: tree.Tree, value: Fraction) -> SubtreeSize:
        self.within(part, (max(value.numerator.bit_length(), value.denominator.bit_length()), 0.0))
        size = log2(abs(value.numerator)) - log2(value.denominator) if value else 0.0
        return SubtreeSize(value, (max(size, 0.0), max(-size, 0.0)))

    def inexact(self, part: tree.Tree, reach: _Reach) -> SubtreeSize:
        self.within(part, reach)
        return SubtreeSize(reach=reach)

    def within(self, part: tree.Tree, reach: _Reach) -> None:
        if max(reach) > MAX_BITS:
            raise self.error(part, f"a constant beyond 2**{MAX_BITS} or 2**-{MAX_BITS}", "rescale")


def check_bounds(formula: tree.Tree, entry: str, where: Place) -> None:
    """Raise SpecError at the smallest part that is out of bounds, or that divides by a constant 0."""
    bounds = _Bounds(entry, where)
    if tree.is_deeper(formula, tree.parts, MAX_LEVELS):  # trees made in Python may be deeper than Python's own stack
        raise bounds.error(formula, f"nested more than {MAX_LEVELS} deep", "name a part, or split the formula")
    _measure(formula, bounds)


def _measure(part: tree.Tree, bounds: _Bounds) -> SubtreeSize:
    found = bounds.known.get(id(part))
    if found is None:
        found = bounds.known[id(part)] = _measured(part, bounds)
    return found


def _measured(part: tree.Tree, bounds: _Bounds) -> SubtreeSize:
    if isinstance(part, tree.Literal):
        return bounds.exact(part, part.value)
    if isinstance(part, tree.Name | tree.Constant):
        return SubtreeSize(reach=(1.652, 0.0) if part.name == "pi" else None)
    measures = [_measure(child, bounds) for child in tree.parts(part)]
    own = _combine(part, measures, bounds)
    repeats = 2 if isinstance(part, tree.Call) and part.name == "norm2" else 1
    parts = 1 + repeats * sum(m.parts for m in measures)
    if parts > MAX_PARTS:
        raise bounds.error(part, f"more than {MAX_PARTS} parts once it is written out", "shorten the formula")
    stack = max(m.stack for m in measures)
    if isinstance(part, tree.Power):
        stack = max(measures[0].stack, measures[1].stack + 1)
        if stack > MAX_STACK:
            raise bounds.error(part, f"more than {MAX_STACK} powers stacked in exponents", "simplify the exponent")
    depth = max(m.depth for m in measures) + _depth(part)
    if depth > MAX_DEPTH:
        raise bounds.error(part, f"nested more than {MAX_DEPTH} operations deep", "name a part, or split the formula")
    exponent = max([own.exponent, *(m.exponent for m in measures)])
    return SubtreeSize(own.value, own.reach, exponent, stack, depth, parts)


def _depth(part: tree.Tree) -> int:
    """Return how many typed nodes lie between a part and its parts, at most."""
    if not isinstance(part, tree.Product):
        if isinstance(part, tree.Call):
            return 3 if part.name == "logsumexp" else 2
        return 1
    runs = "".join("@" if operator == "@" else "*" for operator in part.operators).split("@")
    depths = [len(run) if len(run) < 8 else 5 + len(run).bit_length() for run in runs]
    return len(runs) - 1 + sum(depths) + ("/" in part.operators)


def _combine(part: tree.Tree, measures: list[SubtreeSize], bounds: _Bounds) -> SubtreeSize:
    match part:
        case tree.Negate():
            value = measures[0].value
            return SubtreeSize(None if value is None else -value, measures[0].reach)
        case tree.Sum():
            return _sum(part, measures, bounds)
        case tree.Product():
            return _product(part, measures, bounds)
        case tree.Power():
            return _power(part, measures[0], measures[1], bounds)
        case tree.Call(name):
            reach = _joint(measures)
            if reach is None:
                return SubtreeSize()
            if name in _GROWING:
                # log2 of exp(x) is 1.443 x, that of gamma(x) below x log2(x)
                rate = reach[0] + 1.443 if FUNCTIONS[name].size is Size.FACTORIAL else 1.443
                grown = rate * 2 ** min(reach[0], 64.0)
                return bounds.inexact(part, (grown, grown))
            return bounds.inexact(part, (reach[0] + 1, reach[1] + 1))
        case _:
            return SubtreeSize()


def _joint(measures: list[SubtreeSize]) -> _Reach | None:
    known = [m.reach for m in measures if m.reach is not None]
    if len(known) < len(measures):
        return None
    return max((r[0] for r in known), default=0.0), max((r[1] for r in known), default=0.0)


def _sum(part: tree.Sum, measures: list[SubtreeSize], bounds: _Bounds) -> SubtreeSize:
    reach = _joint(measures)
    if reach is None:
        return SubtreeSize()
    total = Fraction(0)
    for measure in measures:
        if measure.value is None:
            largest = sum(2 ** (m.reach[0] - reach[0]) for m in measures if m.reach is not None and m.value != 0)
            return bounds.inexact(part, (reach[0] + max(log2(largest), 0.0), reach[1]))
        total += measure.value
        bounds.exact(part, total)
    return bounds.exact(part, total)


def _product(part: tree.Product, measures: list[SubtreeSize], bounds: _Bounds) -> SubtreeSize:
    for operator, factor, measure in zip(part.operators, part.factors[1:], measures[1:], strict=True):
        if operator == "/" and measure.value == 0:
            raise bounds.error(factor, "division by zero")
    value: Fraction | None = Fraction(1)
    reach = (0.0, 0.0)
    for operator, measure in zip(("*", *part.operators), measures, strict=True):
        if measure.reach is None:
            return SubtreeSize()
        if value is not None and measure.value is not None:
            value = value / measure.value if operator == "/" else value * measure.value
            bounds.exact(part, value)
        else:
            value = None
        above, below = measure.reach if operator != "/" else measure.reach[::-1]
        reach = (reach[0] + above, reach[1] + below)
    return bounds.inexact(part, reach) if value is None else bounds.exact(part, value)


def _power(part: tree.Power, base: SubtreeSize, exponent: SubtreeSize, bounds: _Bounds) -> SubtreeSize:
    if base.value == 0 and exponent.value is not None and exponent.value < 0:
        raise bounds.error(part, "division by zero: 0 to a negative power")
    if base.reach is None:
        return _open_power(part, base, exponent, bounds)
    if exponent.reach is None:
        return SubtreeSize()
    if base.value in (0, 1, -1):
        return bounds.inexact(part, (1.0, 1.0))
    size = abs(exponent.value) if exponent.value is not None else Fraction(2 ** int(min(exponent.reach[0] + 1, 64)))
    grown = float(min(size, Fraction(2**64)))
    above, below = base.reach[0] * grown, base.reach[1] * grown
    known_sign = exponent.value is not None and exponent.value > 0
    reach = (above, below) if known_sign else (max(above, below), max(above, below))
    if base.value is None or exponent.value is None or exponent.value.denominator > 1:
        return bounds.inexact(part, reach)
    bits = max(base.value.numerator.bit_length(), base.value.denominator.bit_length())
    bounds.within(part, (bits * grown, 0.0))
    return bounds.exact(part, base.value ** int(exponent.value))


def _open_power(part: tree.Power, base: SubtreeSize, exponent: SubtreeSize, bounds: _Bounds) -> SubtreeSize:
    if exponent.value is None:
        return SubtreeSize()
    nested = base.exponent * max(Fraction(1), abs(exponent.value))
    if nested > MAX_EXPONENT:
        problem = f"an exponent beyond {MAX_EXPONENT} in size (nested powers multiplied)"
        raise bounds.error(part.exponent, problem, "use a smaller one")
    return SubtreeSize(exponent=nested)

"""fmpqs that are made of data and are no fractions: each in a ball, or a rational multiple of a positive unit.

They stand where exact numbers do. What is asked of one, is it zero, is it less, is it the same, is answered where that
is certain, and is not read otherwise. A column over its standard deviation is one of fractions but for a positive
factor that its numbers share, their unit: it is zero where these are, and has what ranks they have.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import cast

from flint import arb, fmpq

from recipe_compiler.verify.from_data.values import NotReadError

BITS = 256
"""The precision of balls: what is not certain with it is nearly always an equality."""

UNCERTAIN = "numbers computed from the data that enclosures do not separate"
_BUCKET = 2**64


@dataclass(frozen=True, slots=True, eq=False)
class Unit:
    """A positive number, of which others are rational multiples."""

    ball: arb


_Exact = fmpq | int


class Irrational:
    """A real number that is in a ball, or that is a multiple of a unit, not zero.

    Raises:
        NotReadError: by what is asked of it and is not certain.
    """

    __slots__ = ("_ball", "multiple", "unit")

    def __init__(self, ball: arb | None, multiple: fmpq | None = None, unit: Unit | None = None) -> None:
        """Take a ball, or a multiple and its unit."""
        self._ball, self.multiple, self.unit = ball, multiple, unit

    @property
    def ball(self) -> arb:
        """A ball that contains it."""
        if self._ball is None and self.unit is not None and self.multiple is not None:
            self._ball = self.unit.ball * arb(self.multiple)
        return cast("arb", self._ball)

    @property
    def p(self) -> int:
        """Refuse: it has no numerator."""
        raise NotReadError("a number computed from the data is not rational, and must be")

    q = p

    @property
    def sign(self) -> int:
        """1 or -1."""
        of = self.ball if self.multiple is None else self.multiple
        if not (of > 0 or of < 0):
            raise NotReadError(UNCERTAIN)
        return 1 if of > 0 else -1

    def __repr__(self) -> str:
        return self.ball.str(6, radius=False)

    def __float__(self) -> float:
        return float(self.ball.mid())

    def __bool__(self) -> bool:
        return self.sign != 0

    def __hash__(self) -> int:
        """Return what equal numbers nearly always share: that no set holds two of them does not show them to differ."""
        if self.unit is not None:
            return hash((id(self.unit), self.multiple))
        return hash(int((self.ball.mid() * _BUCKET).floor().unique_fmpz() or 0))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Irrational | fmpq | int):
            return NotImplemented
        return _sign(self - cast("fmpq", other)) == 0

    def __lt__(self, other: _Exact) -> bool:
        return _sign(self - other) < 0

    def __le__(self, other: _Exact) -> bool:
        return _sign(self - other) <= 0

    def __gt__(self, other: _Exact) -> bool:
        return _sign(self - other) > 0

    def __ge__(self, other: _Exact) -> bool:
        return _sign(self - other) >= 0

    def __neg__(self) -> fmpq:
        return self * -1

    def __abs__(self) -> fmpq:
        return self * self.sign

    def __add__(self, other: _Exact) -> fmpq:
        if not isinstance(other, Irrational):
            return _number(self) if other == 0 else in_ball(self.ball + arb(other))
        if self.unit is not None and self.unit is other.unit and self.multiple is not None:
            return times_unit(self.multiple + without_unit(_number(other), self.unit), self.unit)
        return in_ball(self.ball + other.ball)

    __radd__ = __add__

    def __sub__(self, other: _Exact) -> fmpq:
        return fmpq(0) if other is self else self + (-other)

    def __rsub__(self, other: _Exact) -> fmpq:
        return -self + other

    def __mul__(self, other: _Exact) -> fmpq:
        if isinstance(other, Irrational):
            return in_ball(self.ball * other.ball)
        if self.unit is not None and self.multiple is not None:
            return times_unit(self.multiple * other, self.unit)
        return fmpq(0) if other == 0 else in_ball(self.ball * arb(other))

    __rmul__ = __mul__

    def __truediv__(self, other: _Exact) -> fmpq:
        if isinstance(other, Irrational):
            same = other is self and self.sign != 0
            return fmpq(1) if same else in_ball(self.ball / other.ball)
        return self * (1 / fmpq(other))

    def __rtruediv__(self, other: _Exact) -> fmpq:
        return in_ball(ball_of(other) / self.ball)

    def __pow__(self, k: int) -> fmpq:
        return _number(self) if k == 1 else in_ball(self.ball**k)


def _number(x: Irrational) -> fmpq:
    """Return an irrational number for what reads exact ones: it answers as they do, or not at all."""
    return cast("fmpq", x)


def _sign(x: fmpq) -> int:
    return x.sign if isinstance(x, Irrational) else (x > 0) - (x < 0)


def in_ball(ball: arb) -> fmpq:
    """Return the number that is in a ball, as a fraction where the ball is a point.

    Raises:
        NotReadError: the ball has no ends.
    """
    if not ball.is_finite():
        raise NotReadError(UNCERTAIN)
    return ball.fmpq() if ball.is_exact() else _number(Irrational(ball))


def ball_of(x: _Exact) -> arb:
    """Return a ball that contains a number."""
    return x.ball if isinstance(x, Irrational) else arb(x)


def times_unit(multiple: fmpq, unit: Unit) -> fmpq:
    """Return a multiple of a unit."""
    return _number(Irrational(None, multiple, unit)) if multiple != 0 else fmpq(0)


def is_fraction(x: fmpq) -> bool:
    """Whether a number is exact."""
    return not isinstance(x, Irrational)


def are_fractions(rows: Iterable[Iterable[fmpq]]) -> bool:
    """Whether no number of some rows is irrational."""
    return all(is_fraction(x) for row in rows for x in row)


def unit_of(column: Iterable[fmpq]) -> Unit | None:
    """Return the unit that all numbers of a column are multiples of, but for zeros; None where there is no such."""
    units = {x.unit if isinstance(x, Irrational) else None for x in column if isinstance(x, Irrational) or x != 0}
    return units.pop() if len(units) == 1 else None


def without_unit(x: fmpq, unit: Unit | None) -> fmpq:
    """Return a number over a unit that it is a multiple of."""
    return x.multiple if unit is not None and isinstance(x, Irrational) and x.multiple is not None else x


def units_of(rows: Sequence[Sequence[fmpq]], width: int) -> tuple[Unit | None, ...]:
    """Return the unit of each of the first columns of some rows."""
    return tuple(unit_of(row[j] for row in rows) for j in range(width))


def over_units(rows: Iterable[Sequence[fmpq]], units: Sequence[Unit | None]) -> list[tuple[fmpq, ...]]:
    """Return rows whose first columns are over their units, the others as they are."""
    if not any(units):
        return [tuple(row) for row in rows]
    return [(*(without_unit(x, u) for x, u in zip(row, units, strict=False)), *row[len(units) :]) for row in rows]

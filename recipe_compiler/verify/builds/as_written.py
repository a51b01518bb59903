"""The data of a build as they are written: the decimals of a file, and what the build makes of them by its formulas.

A double is read as the shortest decimal that is read as it. Sums, products, quotients, whole powers, means and
comparisons of these are exact; a column over its standard deviation is one of fractions times a positive unit; roots,
logarithms and the like are balls. So a + b is the sum of a and b, where its doubles lie beside it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from functools import cache
from math import isqrt
from typing import TYPE_CHECKING, Any

import sympy
from flint import arb, fmpq
from sympy import Expr

from recipe_compiler.algebra.scalars.elementwise import FUNCTIONS, SCALAR_FUNCTIONS
from recipe_compiler.algebra.scalars.evaluate import NoValueError, Value, evaluate, function_at
from recipe_compiler.formula.declaration import Datum
from recipe_compiler.formula.expression import (
    HOLDS,
    Add,
    Apply,
    Compare,
    Formula,
    Multiply,
    Number,
    Pi,
    Power,
    Role,
    Symbol,
)
from recipe_compiler.formula.shapes import SCALAR, Kind
from recipe_compiler.spec.formulas import dependence
from recipe_compiler.spec.model import DataFile, MadeColumn
from recipe_compiler.verify.from_data.irrational import Unit, ball_of, in_ball, is_fraction, times_unit
from recipe_compiler.verify.from_data.values import NotReadError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

EXACT = {2: 2**11, 4: 2**24, 8: 2**53}
"""Below these whole numbers are floats of so many bytes, each its own shortest decimal."""

LARGEST_EXPONENT = 64
"""The whole power up to which fractions are raised exactly."""

SHIFTS, LARGEST_SHIFTED = 16, 10**15
"""Digits behind the point that are looked for in whole columns, and what decimals without it lie below."""

HALF = fmpq(1, 2)
X, K = sympy.Symbol("x", real=True), sympy.Symbol("k", real=True)
Numbers = tuple[fmpq, ...]
"""A column, its numbers exact or `Irrational`."""


def decimals(numbers: "NDArray[Any]") -> tuple[fmpq, ...]:
    """Return the shortest decimals that are read as some doubles, or as some floats of 32 bits."""
    shifted = _shifted(numbers)
    if shifted is None:
        return tuple(map(_decimal, numbers))
    numerators, denominator = shifted
    return tuple(fmpq(x, denominator) for x in numerators)


def _shifted(numbers: "NDArray[Any]") -> tuple[list[int], int] | None:
    """Return whole numbers m and 10**k so that m / 10**k are the decimals of some doubles; None where no k is tried.

    m and 10**k are doubles, so that their quotient is the double next to the decimal; of 15 digits no two decimals are
    next to one double.
    """
    import numpy as np

    if numbers.dtype != np.float64:
        return None
    for k in range(SHIFTS):
        numerators = np.rint(numbers * 10.0**k)
        if not np.all(np.abs(numerators) < LARGEST_SHIFTED):
            return None
        if np.array_equal(numerators / 10.0**k, numbers):
            return numerators.astype(np.int64).tolist(), 10**k
    return None


def _decimal(x: "np.generic[Any]") -> fmpq:
    number = x.item()
    if isinstance(number, int) or (number.is_integer() and abs(number) < EXACT.get(x.itemsize, 0)):
        return fmpq(int(number))
    return fmpq(*Decimal(str(x)).as_integer_ratio())


@dataclass(frozen=True, slots=True)
class Moments:
    """The mean of a column over all rows, and its variance, divided by their number."""

    mean: fmpq
    variance: fmpq


def moments(numbers: "NDArray[Any]") -> Moments:
    """Return the exact moments of a column of a file."""
    shifted = _shifted(numbers)
    if shifted is None:
        return _moments(decimals(numbers))
    numerators, denominator = shifted
    first, second, count = sum(numerators), sum(x * x for x in numerators), len(numerators)
    total = count * denominator
    return Moments(fmpq(first, total), fmpq(count * second - first**2, total**2))


def _moments(values: Numbers) -> Moments:
    if all(map(is_fraction, values)):
        mean = sum(values, fmpq(0)) / len(values)
        return Moments(mean, sum(((x - mean) ** 2 for x in values), fmpq(0)) / len(values))
    balls = [ball_of(x) for x in values]
    middle = sum(balls, arb(0)) / len(balls)
    return Moments(in_ball(middle), in_ball(sum(((x - middle) ** 2 for x in balls), arb(0)) / len(balls)))


@dataclass(slots=True)
class Columns:
    """The columns of a file as they are written, those that are made, and the scales of what is standardised."""

    file: DataFile
    known: dict[str, Numbers]
    all_rows: Mapping[str, "NDArray[Any]"] = field(default_factory=dict[str, "NDArray[Any]"])
    """The columns of the file in all rows, where those that are known are of some."""
    _units: list[tuple[fmpq, Unit]] = field(default_factory=list[tuple[fmpq, Unit]])
    """Variances, and one over the roots of them."""

    def field(self, datum: Datum) -> list[Numbers]:
        """Return the columns of a field that holds numbers, as the build says: standardised, with an intercept.

        Raises:
            NotReadError: a number is none that the field may hold, or is not known.
        """
        names = dict(self.file.columns)[datum.name]
        found = [self.known[name] for name in names]
        if datum.values:
            _demand(datum, found, lambda x: x in map(fmpq, datum.values))
        for k, name in enumerate(names):
            if datum.name in self.file.standardise or name in self.file.standardise:
                found[k] = self._standardised(found[k], self._moments_of(Symbol(name, SCALAR, Role.DATUM), found[k]))
        for kind in datum.kinds:
            _demand(datum, found, _OF_KIND.get(kind, lambda _: True))
        ones = [(fmpq(1),) * len(found[0])] if self.file.intercept and datum.axes[1:] else []
        return [*ones, *found]

    def make(self, column: MadeColumn) -> None:
        """Add a column that is made of those that are known.

        Raises:
            NotReadError: a number of it is not known, by the name of the column.
        """
        try:
            values = _values(column.formula, self.known)
            self.known[column.name] = self._of_all_rows(column, values) if column.whole else values
        except (NotReadError, ZeroDivisionError, OverflowError) as error:
            raise NotReadError(f"column `{column.name}` as written: {error}") from error

    def _of_all_rows(self, column: MadeColumn, values: Numbers) -> Numbers:
        known = self._moments_of(column.formula, values)
        match column.whole:
            case "mean":
                return (known.mean,) * len(values)
            case "sd":
                return (_power(known.variance, HALF),) * len(values)
            case "centre":
                return _centred(values, known)
            case _:
                return self._standardised(values, known)

    def _moments_of(self, formula: Formula, values: Numbers) -> Moments:
        """Return the moments over all rows of a formula that has these values in the rows that are known.

        Raises:
            NotReadError: columns that are made are in it, whose values in other rows are not known.
        """
        if not self.all_rows:
            return _moments(values)
        uses = dependence(formula).data
        if not {column.name for column in self.file.made}.isdisjoint(uses):
            raise NotReadError("a made column of all rows uses made columns that are known in some rows only")
        match formula:
            case Symbol(name):
                return moments(self.all_rows[name])
            case _:
                return _moments(_values(formula, {name: decimals(self.all_rows[name]) for name in uses}))

    def _standardised(self, values: Numbers, known: Moments) -> Numbers:
        """Return a column less its mean, times one over its standard deviation."""
        variance, centred = known.variance, _centred(values, known)
        if variance == 0:
            raise NotReadError("a constant column cannot be standardised")
        if not is_fraction(variance):
            by = 1 / _power(variance, HALF)
            return tuple(x * by for x in centred)
        for other, unit in self._units:
            if (ratio := _root(other / variance)) is not None:
                return tuple(times_unit(ratio * x, unit) for x in centred)
        if (root := _root(1 / variance)) is not None:
            return tuple(x * root for x in centred)
        self._units.append((variance, Unit(arb(1 / variance).sqrt())))
        return tuple(times_unit(fmpq(x), self._units[-1][1]) for x in centred)


def columns_as_written(
    file: DataFile, read: Mapping[str, "NDArray[Any]"], all_rows: Mapping[str, "NDArray[Any]"] | None = None
) -> Columns:
    """Return the columns that a build reads and makes, exactly.

    Args:
        file: what is made of the columns.
        read: the columns of the file, in the rows that are wanted.
        all_rows: the columns in all rows, where these are some of them.

    Raises:
        NotReadError: a number of a column that is made is not known.
    """
    found = Columns(file, {name: decimals(numbers) for name, numbers in read.items()}, all_rows or {})
    for column in file.made:
        found.make(column)
    return found


_OF_KIND: Mapping[Kind, Callable[[fmpq], bool]] = {
    Kind.POSITIVE: lambda x: x > 0,
    Kind.NONNEGATIVE: lambda x: x >= 0,
    Kind.NONZERO: lambda x: x != 0,
    Kind.INTEGER: lambda x: is_fraction(x) and x.q == 1,
}


def _demand(datum: Datum, columns: Sequence[Numbers], allowed: Callable[[fmpq], bool]) -> None:
    if not all(allowed(x) for column in columns for x in column):
        raise NotReadError(f"`{datum.name}` as written has numbers that its declaration excludes")


def _centred(values: Numbers, known: Moments) -> Numbers:
    return tuple(x - known.mean for x in values)


def _root(x: fmpq) -> fmpq | None:
    """Return the root of a positive fraction where it is one."""
    p, q = isqrt(int(x.p)), isqrt(int(x.q))
    return fmpq(p, q) if p * p == x.p and q * q == x.q else None


def _values(formula: Formula, known: Mapping[str, Numbers]) -> Numbers:
    """Return the values of a formula row by row."""
    uses = [name for name in dependence(formula).data if name in known]
    if not uses:
        return (_value(formula, {}),) * len(next(iter(known.values())))
    rows = zip(*(known[name] for name in uses), strict=True)
    return tuple(_value(formula, dict(zip(uses, row, strict=True))) for row in rows)


def _value(formula: Formula, names: Mapping[str, fmpq]) -> fmpq:
    """Return the value of a formula of one row; of pieces of a `where` the one that holds."""
    match formula:
        case Number(x):
            return fmpq(x.numerator, x.denominator)
        case Pi():
            return in_ball(arb.pi())
        case Symbol(name) if name in names:
            return names[name]
        case Add(terms):
            return sum((_value(term, names) for term in terms), fmpq(0))
        case Multiply(left, right):
            return _value(left, names) * _value(right, names)
        case Power(base, exponent):
            return _power(_value(base, names), _value(exponent, names))
        case Compare():
            return fmpq(int(_holds(formula, names)))
        case Apply("where", (Compare() as condition, yes, no)):
            return _value(yes if _holds(condition, names) else no, names)
        case Apply("minimum", (left, right)):
            return min(_value(left, names), _value(right, names))
        case Apply("maximum", (left, right)):
            return max(_value(left, names), _value(right, names))
        case Apply(fn, (argument,)):
            return _applied(fn, _value(argument, names))
        case _:
            raise NotReadError("a formula that is not read")


def _holds(condition: Compare, names: Mapping[str, fmpq]) -> bool:
    return bool(HOLDS[condition.op](_value(condition.left, names), _value(condition.right, names)))


def _power(x: fmpq, k: fmpq) -> fmpq:
    """Return x**k."""
    if is_fraction(k) and k.q == 1 and abs(k) <= LARGEST_EXPONENT:
        return x ** int(k.p)
    return _evaluated(X**K, {X: x, K: k})


def _applied(fn: str, x: fmpq) -> fmpq:
    """Return a function of the language of a number, as the second engine has it."""
    if fn not in FUNCTIONS:
        raise NotReadError(f"{fn} is not read")
    e = _of_x(fn)
    row = SCALAR_FUNCTIONS.get(type(e))
    if row is None or e.args != (X,):
        return _evaluated(e, {X: x})
    return _found(lambda: function_at(row, _known(x)))


@cache
def _of_x(fn: str) -> Expr:
    return FUNCTIONS[fn].scalar(X)


def _evaluated(e: Expr, at: Mapping[Expr, fmpq]) -> fmpq:
    known = {name: _known(x) for name, x in at.items()}
    return _found(lambda: evaluate(e, lambda name: known[name]))


def _known(x: fmpq) -> Value:
    return Fraction(int(x.p), int(x.q)) if is_fraction(x) else ball_of(x)


def _found(value: Callable[[], Value]) -> fmpq:
    try:
        found = value()
    except NoValueError as error:
        raise NotReadError(str(error)) from error
    return fmpq(found.numerator, found.denominator) if isinstance(found, Fraction) else in_ball(found)

"""Units of formulas: products of powers of base units; those of undeclared names are solved for on the way.

Numbers, `I`, `ones`, `pi` and sizes have no unit; a zero has any. The terms of a sum have one unit. Exponents, and the
arguments of functions such as exp, have none. What cannot be consistent for any unit of the undeclared names is a
mismatch.

Worked example: in H = norm2(r)/(2*m) + U with r declared mass*length/time and H without unit, norm2(r)/m = 1 gives m
the unit mass**2*length**2/time**2.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import reduce
from operator import mul

from recipe_compiler.formula.build import depends_on_state
from recipe_compiler.formula.expression import (
    Add,
    Apply,
    Compare,
    Entry,
    Explicit,
    Filled,
    Formula,
    FunctionAt,
    GradTilde,
    Identity,
    MatMul,
    Multiply,
    Next,
    Normal,
    Number,
    Pi,
    Power,
    Role,
    Symbol,
    Transpose,
)
from recipe_compiler.formula.operators import degrees

TIME = "time"
"""The base unit of t and of the step size."""
UNKNOWN = "?"
"""What the name of an unknown unit starts with."""


@dataclass(frozen=True, slots=True)
class Unit:
    """A product of rational powers of base units, sorted by name, without zero exponents."""

    powers: tuple[tuple[str, Fraction], ...] = ()

    def __mul__(self, other: "Unit") -> "Unit":
        """Return the product."""
        found = dict(self.powers)
        for name, exponent in other.powers:
            found[name] = found.get(name, Fraction(0)) + exponent
        return _unit(found)

    def __truediv__(self, other: "Unit") -> "Unit":
        """Return the quotient."""
        return self * other ** Fraction(-1)

    def __pow__(self, exponent: Fraction) -> "Unit":
        """Return a rational power."""
        return _unit({name: own * exponent for name, own in self.powers})

    def __str__(self) -> str:
        """Write it as in a document: `length/time**2`, `1`; an unknown unit as the name it is of, in brackets."""
        above = [_factor(name, exponent) for name, exponent in self.powers if exponent > 0]
        below = [_factor(name, -exponent) for name, exponent in self.powers if exponent < 0]
        return "/".join(["*".join(above) or "1", *below])


NONE = Unit()


def base(name: str) -> Unit:
    """Return a base unit."""
    return Unit(((name, Fraction(1)),))


def unknown(name: str) -> Unit:
    """Return the unit of a name that declares none."""
    return base(UNKNOWN + name)


class MismatchError(Exception):
    """A part of a formula has another unit than the one it must have."""

    def __init__(self, part: Formula, found: Unit, expected: Unit) -> None:
        super().__init__(str(found))
        self.part, self.found, self.expected = part, found, expected


class NotMeasuredError(Exception):
    """The unit of a formula is no product of powers for every size: the determinant of a matrix with a unit."""


@dataclass(slots=True)
class FormulaUnits:
    """The declared units, and those of other names as far as formulas read so far determine them."""

    declared: Mapping[str, Unit]
    solved: dict[str, Unit] = field(default_factory=dict[str, Unit])
    zeros: int = 0

    def settled(self, unit: Unit) -> Unit:
        """Return a unit with every unknown that is solved replaced."""
        found = NONE
        for name, exponent in unit.powers:
            known = self.solved.get(name)
            found = found * (base(name) if known is None else self.settled(known)) ** exponent
        return found

    def same(self, part: Formula, found: Unit, expected: Unit) -> Unit:
        """Return a unit that a part must have, solving for an unknown if there is one.

        Raises:
            MismatchError: no unknown is left that could make them equal.
        """
        ratio = self.settled(found / expected)
        if not ratio.powers:
            return expected
        free = next(((name, exponent) for name, exponent in ratio.powers if name.startswith(UNKNOWN)), None)
        if free is None:
            raise MismatchError(part, self.settled(found), self.settled(expected))
        name, exponent = free
        self.solved[name] = (ratio / base(name) ** exponent) ** (-1 / exponent)
        return expected

    def require(self, formula: Formula, expected: Unit) -> None:
        """Demand a unit of every term of a formula. Raises MismatchError or NotMeasuredError."""
        for term in formula.terms if isinstance(formula, Add) else (formula,):
            self.same(term, self.of(term), expected)

    def energy(self, formula: Formula) -> None:
        """Require that every term of an energy has no unit; a logarithm may be of anything, up to a constant.

        Another unit adds the same number to log(x) for every x; times a constant factor that is a constant.
        """
        match formula:
            case Add(terms):
                for term in terms:
                    self.energy(term)
            case Multiply(left, right) if _has_log(formula):
                constant, logs = (right, left) if depends_on_state(left) or not _has_log(right) else (left, right)
                self.same(constant, self.of(constant), NONE)
                self.energy(logs)
            case Apply("sum", (arg,)) if _has_log(arg):
                self.energy(arg)
            case Apply("log" | "logdet", (arg,)):
                self.of(arg)
            case _:
                self.require(formula, NONE)

    def of(self, formula: Formula) -> Unit:
        """Return the unit of a formula. Raises MismatchError or NotMeasuredError."""
        match formula:
            case Number(value) if value == 0:
                return self._any()
            case Filled(0):
                return self._any()
            case Number() | Pi() | Identity() | Filled():
                return NONE
            case Symbol(name, _, role):
                return self._named(name, role)
            case FunctionAt():
                return self._named(formula.declared, Role.PARAMETER)
            case Next(block):
                return self._named(block, Role.BLOCK)
            case GradTilde(function, block):
                return self._named(function, Role.PARAMETER) / self._named(block, Role.BLOCK)
            case Normal(cov):
                return self.of(cov) ** Fraction(1, 2)
            case Add(terms):
                return self._one(terms)
            case Explicit(rows):
                return self._one(entry for row in rows for entry in row)
            case Compare(_, left, right):
                return self._one((left, right))
            case Multiply(left, right) | MatMul(left, right):
                return self.of(left) * self.of(right)
            case Transpose(arg) | Entry(arg):
                return self.of(arg)
            case Power(of, exponent):
                return self._power(of, exponent)
            case Apply(fn, args):
                return self._applied(formula, fn, args)

    def _any(self) -> Unit:
        self.zeros += 1
        return unknown(f"0 number {self.zeros}")

    def _named(self, name: str, role: Role) -> Unit:
        if role in {Role.SIZE, Role.NOISE}:
            return NONE
        if role is Role.STEP:
            return base(TIME)
        return self.declared.get(name, unknown(name))

    def _one(self, terms: Iterable[Formula]) -> Unit:
        first, *others = terms
        found = self.of(first)
        for other in others:
            self.same(other, self.of(other), found)
        return found

    def _power(self, of: Formula, exponent: Formula) -> Unit:
        self.same(exponent, self.of(exponent), NONE)
        own = self.of(of)
        if isinstance(exponent, Number):
            return own**exponent.value
        return self.same(of, own, NONE)

    def _applied(self, formula: Formula, fn: str, args: tuple[Formula, ...]) -> Unit:
        match fn:
            case _ if powers := degrees(fn):
                return reduce(mul, (self.of(arg) ** Fraction(power) for arg, power in zip(args, powers, strict=True)))
            case "minimum" | "maximum":
                return self._one(args)
            case "where":
                self.of(args[0])
                return self._one(args[1:])
            case "det":
                return self._determinant(formula, args[0])
            case _:
                for arg in args:
                    self.same(arg, self.of(arg), NONE)
                return NONE

    def _determinant(self, formula: Formula, matrix: Formula) -> Unit:
        size, own = matrix.shape.rows, self.settled(self.of(matrix))
        if isinstance(size, int):
            return own ** Fraction(size)
        if own.powers:
            raise NotMeasuredError(f"the determinant of a matrix of unit {own} has a unit that depends on its size")
        return NONE


def _unit(powers: Mapping[str, Fraction]) -> Unit:
    return Unit(tuple(sorted((name, exponent) for name, exponent in powers.items() if exponent)))


def _factor(name: str, exponent: Fraction) -> str:
    shown = f"[{name[1:]}]" if name.startswith(UNKNOWN) else name
    if exponent == 1:
        return shown
    return f"{shown}**{exponent}" if exponent.denominator == 1 else f"{shown}**({exponent})"


def _has_log(formula: Formula) -> bool:
    """Whether a logarithm stands in a formula where `energy` looks for one."""
    match formula:
        case Apply("log" | "logdet"):
            return True
        case Add(terms):
            return any(_has_log(term) for term in terms)
        case Multiply(left, right):
            return (not depends_on_state(left) and _has_log(right)) or (not depends_on_state(right) and _has_log(left))
        case Apply("sum", (arg,)):
            return _has_log(arg)
        case _:
            return False

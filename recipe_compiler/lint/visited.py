"""A traced step evaluated at symbols, its functions of the state opaque: a number of its own at each point visited.

Of grad U nothing is known but that it is the same at the same point. So the steps of a trajectory stay polynomials of
low degree in what was met on the way, however many there are. Points are told apart by their normal forms.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import comb, prod
from typing import cast

import sympy
from sympy import Expr, Symbol
from sympy.core.function import AppliedUndef

from recipe_compiler.algebra.scalars.elementwise import FUNCTIONS
from recipe_compiler.algebra.scalars.rationals import rational
from recipe_compiler.algebra.zero.zero import is_zero
from recipe_compiler.lint.answer import Operation, Trace
from recipe_compiler.lint.formulas import formula
from recipe_compiler.lint.series import Meaning

MOST_TERMS = 2000
"""Terms that a product may have to be multiplied out."""
FAR = 1e-6

Coordinates = tuple[Expr, ...]
Here = Mapping[Symbol, Expr]


class NotFollowedError(Exception):
    """A step of which it is not known what it keeps, and why."""


@dataclass(frozen=True, slots=True)
class Opaque:
    """What a symbol stands for: a function of the document, or one of its derivatives, at a point that was visited."""

    call: Expr
    """At the coordinates themselves."""
    place: int


@dataclass(slots=True)
class Visited:
    """The points that functions were taken at, and the symbols of their values there."""

    parameters: frozenset[Symbol]
    """What neither a move nor a draw changes."""
    points: list[tuple[tuple[Symbol, ...], Coordinates]] = field(
        default_factory=list[tuple[tuple[Symbol, ...], Coordinates]]
    )
    opaque: dict[Symbol, Opaque] = field(default_factory=dict[Symbol, Opaque])
    powers: dict[Symbol, Expr] = field(default_factory=dict[Symbol, Expr])
    route: list[int] = field(default_factory=list[int])
    """Places in the order in which the last evaluation came by."""

    def place(self, of: tuple[Symbol, ...], at: Coordinates) -> int:
        """Return the number of a point, one that it had before where it is the same.

        Raises:
            NoNormalFormError: as for `is_zero`.
        """
        for k, (own, point) in enumerate(self.points):
            if own == of and all(self.same(x, y) for x, y in zip(point, at, strict=True)):
                return k
        self.points.append((of, at))
        return len(self.points) - 1

    def at(self, e: Expr, here: Here) -> Expr:
        """Return an expression in the coordinates with other values for them, functions as symbols."""
        found: dict[Expr, Expr] = {}
        for call in (*e.atoms(sympy.Derivative), *e.atoms(AppliedUndef)):
            function = call.args[0] if isinstance(call, sympy.Derivative) else call
            if not isinstance(function, AppliedUndef):
                raise NotFollowedError(f"a derivative of {function}")
            of = tuple(x for x in function.args if isinstance(x, Symbol))
            place = self.place(of, tuple(here[x] for x in of))
            if place not in self.route:
                self.route.append(place)
            symbol = Symbol(f"{formula(call)}(x{place})", real=True, positive=call.is_positive)
            self.opaque[symbol] = Opaque(call, place)
            found[call] = symbol
        return replaced(e, {**found, **here})

    def power(self, base: Expr, exponent: Expr) -> Expr:
        """Return a power; of a sum of parameters a symbol, so that what it stands in stays a polynomial."""
        plain = base.is_Add and all(x in self.parameters or x in self.powers for x in base.free_symbols)
        if not plain or not exponent.is_number or (exponent.is_Integer and exponent.is_positive):
            return expanded(base**exponent)
        symbol = Symbol(f"({base})**({exponent})", real=True)
        self.powers[symbol] = base**exponent
        return symbol

    def plain(self, e: Expr) -> Expr:
        """Return an expression with powers of parameters in the place of their symbols."""
        found = {x: self.powers[x] for x in e.free_symbols if isinstance(x, Symbol) and x in self.powers}
        return self.plain(replaced(e, found)) if found else e

    def same(self, x: Expr, y: Expr) -> bool:
        """Whether two scalars have one normal form."""
        left = expanded(x - y)
        return bool(left == 0) or is_same(self.plain(left), sympy.Integer(0))

    def inside(self, e: Expr) -> frozenset[int]:
        """Return the points that an expression takes functions at."""
        return frozenset(self.opaque[x].place for x in e.free_symbols if isinstance(x, Symbol) and x in self.opaque)

    def depends(self, e: Expr, on: frozenset[Symbol]) -> bool:
        """Whether symbols stand in an expression, or in a point that it takes a function at."""
        symbols = {x for x in e.free_symbols if isinstance(x, Symbol)}
        return bool(symbols & on) or any(self.depends(x, on) for place in self.inside(e) for x in self.points[place][1])


def replaced(e: Expr, by: Mapping[Symbol, Expr] | Mapping[Expr, Expr]) -> Expr:
    """Return an expression with others in the place of parts of it, all at once."""
    return cast(Expr, e.xreplace(dict(by)))


def is_same(x: Expr, y: Expr) -> bool:
    """Whether two scalars have one normal form."""
    if x == y:
        return True
    left = expanded(x - y)
    return bool(left == 0) or (not _is_apart(left) and is_zero(left))


def _is_apart(e: Expr) -> bool:
    """Whether a value somewhere is far from zero: then the normal form is not looked at. It decides nothing else."""
    symbols = sorted((x for x in e.free_symbols if isinstance(x, Symbol)), key=str)
    some = {x: sympy.Rational(7 * k + 11, 5 * k + 9) for k, x in enumerate(symbols)}
    value = sympy.N(e.xreplace(some))
    return bool(value.is_Float and abs(value) > FAR)


@dataclass(slots=True)
class Shapes:
    """Numbers of operations that are the same wherever they stand, also in several traces."""

    known: dict[tuple[object, ...], int] = field(default_factory=dict[tuple[object, ...], int])

    def of(self, trace: Trace) -> tuple[int, ...]:
        """Return the number of every operation."""
        found: list[int] = []
        for one in trace.operations:
            key = (one.op, one.name, one.position, one.value, *(found[k] for k in one.parts))
            found.append(self.known.setdefault(key, len(self.known)))
        return tuple(found)


@dataclass(slots=True)
class Evaluation:
    """A trace at a state and draws, its operations evaluated as they are needed."""

    trace: Trace
    meaning: Meaning
    visited: Visited
    here: Here
    draws: Sequence[Expr]
    cut: Mapping[int, Expr]
    """Places of operations whose value is given."""
    known: dict[int, Expr] = field(default_factory=dict[int, Expr])

    def value(self, place: int) -> Expr:
        """Return the value of an operation.

        Raises:
            NotFollowedError: an operation that is not known.
        """
        if place not in self.known:
            for k in self._needed(place):
                own = self.trace.operations[k]
                self.known[k] = self.cut[k] if k in self.cut else self._one(own, [self.known[n] for n in own.parts])
        return self.known[place]

    def _needed(self, place: int) -> list[int]:
        """Return what is to be evaluated before an operation and itself, the oldest first."""
        needed: set[int] = set()
        waiting = [place]
        while waiting:
            k = waiting.pop()
            if k not in needed and k not in self.known:
                needed.add(k)
                waiting += () if k in self.cut else self.trace.operations[k].parts
        return sorted(needed)

    def _one(self, operation: Operation, parts: list[Expr]) -> Expr:
        match operation.op:
            case "number":
                return rational(operation.value)
            case "pi":
                return sympy.pi
            case "draw":
                return self.draws[operation.position]
            case "add":
                return expanded(parts[0] + parts[1])
            case "mul":
                return expanded(parts[0] * parts[1])
            case "pow":
                return self.visited.power(*parts)
            case "call":
                return FUNCTIONS[operation.name].scalar(parts[0])
            case "min" | "uniform":
                raise NotFollowedError(
                    "the smaller of two values, or a uniform draw, outside the condition for acceptance"
                )
            case _:
                return self.visited.at(*self._entry(operation, parts))

    def _entry(self, operation: Operation, parts: list[Expr]) -> tuple[Expr, Here]:
        """Return an entry of an argument, and the state that it is taken at."""
        entries = self.meaning.leaves.get(operation.name, ())
        of = self.meaning.points.get(operation.name, ())
        if operation.position >= len(entries) or (operation.op == "field" and len(parts) != len(of)):
            raise NotFollowedError(f"{operation.name} at a point of another shape")
        here = dict(zip(of, parts, strict=True)) if operation.op == "field" else self.here
        return entries[operation.position], here


def expanded(e: Expr) -> Expr:
    """Return an expression multiplied out, as it is where that would be long."""
    return sympy.expand(e) if _terms(e) <= MOST_TERMS else e


def _terms(e: Expr) -> int:
    """Return how many terms an expression has, or fewer, where it is multiplied out."""
    match e:
        case sympy.Add():
            return sum(_terms(x) for x in e.args)
        case sympy.Mul():
            return prod(_terms(x) for x in e.args)
        case sympy.Pow() if isinstance(e.exp, sympy.Integer) and e.exp > 0:
            n = int(e.exp)
            return comb(_terms(e.base) + n - 1, n)
        case _:
            return 1


def symbols_of(trace: Trace) -> Iterator[Symbol]:
    """Yield the symbols of draws."""
    for k in range(trace.draws):
        yield Symbol(f"draw.{k}", real=True)

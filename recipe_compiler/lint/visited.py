"""A traced step evaluated at symbols, its functions of the state opaque: a number of its own at each point visited.

The only property of grad U that is used is that it is equal at equal points. So the steps of a trajectory stay
polynomials of low degree in what was met on the way, however many there are. Points are compared by their normal forms.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import comb, prod
from typing import cast

import sympy
from sympy import Expr, Symbol
from sympy.core.function import AppliedUndef

from recipe_compiler import limits
from recipe_compiler.algebra.scalars.derivatives import slope
from recipe_compiler.algebra.scalars.elementwise import FUNCTIONS
from recipe_compiler.algebra.scalars.matrices import Rows, determinant
from recipe_compiler.algebra.scalars.rationals import rational
from recipe_compiler.algebra.zero.zero import is_zero
from recipe_compiler.lint.formulas import format_expression
from recipe_compiler.trace.of_operations import Meaning
from recipe_compiler.trace.operations import Operation

FAR = 1e-6
UNIFORM = "uniform."

Coordinates = tuple[Expr, ...]
Here = Mapping[Symbol, Expr]


class NotFollowedError(Exception):
    """The reason that it is not known what a step preserves."""


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
    others: tuple[Mapping[Expr, Expr], ...] = ()
    """As of `Meaning`: what is taken there is a function at its own coordinates, at a point that they are moved to."""
    points: list[tuple[tuple[Symbol, ...], Coordinates]] = field(
        default_factory=list[tuple[tuple[Symbol, ...], Coordinates]]
    )
    opaque: dict[Symbol, Opaque] = field(default_factory=dict[Symbol, Opaque])
    powers: dict[Symbol, Expr] = field(default_factory=dict[Symbol, Expr])
    moved: dict[tuple[Symbol, tuple[tuple[Symbol, Expr], ...]], Expr] = field(
        default_factory=dict[tuple[Symbol, tuple[tuple[Symbol, Expr], ...]], Expr]
    )
    """Values that were looked at after a map."""

    def place(self, of: tuple[Symbol, ...], at: Coordinates) -> int:
        """Return the number of a point, one that it had before where it is the same.

        Raises:
            NoNormalFormError: as for `is_zero`.
        """
        for k, (own, point) in enumerate(self.points):
            if own == of and all(self.has_same_value(x, y) for x, y in zip(point, at, strict=True)):
                return k
        self.points.append((of, at))
        return len(self.points) - 1

    def at(self, e: Expr, here: Here) -> Expr:
        """Return an expression in the coordinates with other values for them, functions as symbols."""
        found: dict[Expr, Expr] = {}
        for call in _find_calls(e):
            function = call.args[0] if isinstance(call, sympy.Derivative) else call
            if not isinstance(function, AppliedUndef):
                raise NotFollowedError(f"a derivative of {function}")
            of = tuple(x for x in function.args if isinstance(x, Symbol))
            back = next((b for other in self.others if function in (b := {y: x for x, y in other.items()})), {})
            own = replace_parts(call, back)
            place = self.place(tuple(cast(Symbol, back.get(x, x)) for x in of), tuple(here[x] for x in of))
            symbol = Symbol(f"{format_expression(own)}(x{place})", real=True, positive=call.is_positive)
            self.opaque[symbol] = Opaque(own, place)
            found[call] = symbol
        return replace_parts(e, {**found, **here})

    def after(self, image: Here, e: Expr) -> Expr:
        """Return e(S(x)): coordinates as they are after a map, functions taken where it takes their points to."""
        found: dict[Expr, Expr] = dict(image)
        for x in self.symbols(e):
            key = x, tuple(image.items())
            if key not in self.moved:
                of, point = self.points[self.opaque[x].place]
                there = zip(of, (self.after(image, y) for y in point), strict=True)
                self.moved[key] = self.at(self.opaque[x].call, dict(there))
            found[x] = self.moved[key]
        return expand(replace_parts(e, found))

    def slope(self, e: Expr, by: Symbol, known: frozenset[Expr]) -> Expr:
        """Return de/dx, through the points that functions are taken at; derivatives that are not `known` are 0."""
        found = slope(e, by)
        for x in self.symbols(e):
            of, point = self.points[self.opaque[x].place]
            for z, y in zip(of, point, strict=True):
                inner = slope(self.opaque[x].call, z)
                inner = replace_parts(inner, {call: sympy.Integer(0) for call in _find_calls(inner) - known})
                if inner != 0:
                    inner = self.at(inner, dict(zip(of, point, strict=True)))
                    found += slope(e, x) * inner * self.slope(y, by, known)
        return expand(found)

    def jacobian(self, image: Here) -> Expr:
        """Return det DS, but for its sign, of a map with S(G(S(x))) = G(x), G signs: of another map it may be wrong.

        With h the derivatives that occur nowhere in S, det DS is a polynomial in the h at the points that S visits, and
        so is that of its inverse G S G in those that it visits: their product is 1 for every function, so for all h,
        which may be any of a linear space. Divisors of 1 are constant: det DS is what it is at h = 0.
        """
        known = frozenset(self.opaque[x].call for e in image.values() for x in self.reached(e))
        return compute_sparse_determinant(
            tuple(tuple(self.plain(self.slope(e, x, known)) for x in image) for e in image.values())
        )

    def reached(self, e: Expr) -> set[Symbol]:
        """Return the symbols of functions in an expression, and in the points that it takes them at, and so on."""
        found = set[Symbol]()
        waiting = self.symbols(e)
        while waiting:
            x = waiting.pop()
            if x not in found:
                found.add(x)
                waiting += [own for y in self.points[self.opaque[x].place][1] for own in self.symbols(y)]
        return found

    def symbols(self, e: Expr) -> list[Symbol]:
        """Return the symbols in an expression that are values of functions."""
        return sorted((x for x in e.free_symbols if isinstance(x, Symbol) and x in self.opaque), key=str)

    def power(self, base: Expr, exponent: Expr) -> Expr:
        """Return a power; for a sum of parameters a symbol, so that expressions stay polynomials."""
        plain = base.is_Add and all(x in self.parameters or x in self.powers for x in base.free_symbols)
        if not plain or not exponent.is_number or (exponent.is_Integer and exponent.is_positive):
            return expand(base**exponent)
        symbol = Symbol(f"({base})**({exponent})", real=True)
        self.powers[symbol] = base**exponent
        return symbol

    def plain(self, e: Expr) -> Expr:
        """Return an expression with powers of parameters in the place of their symbols."""
        found = {x: self.powers[x] for x in e.free_symbols if isinstance(x, Symbol) and x in self.powers}
        return self.plain(replace_parts(e, found)) if found else e

    def has_same_value(self, x: Expr, y: Expr) -> bool:
        """Whether two scalars have one normal form."""
        left = x - y
        if left == 0 or _is_apart(self.plain(left)):
            return bool(left == 0)
        left = expand(left)
        return bool(left == 0) or is_same(self.plain(left), sympy.Integer(0))

    def with_points(self, e: Expr) -> list[Expr]:
        """Return an expression and the coordinates of all points that it takes functions at."""
        return [e, *(y for x in self.reached(e) for y in self.points[self.opaque[x].place][1])]

    def has_any_of(self, e: Expr, on: frozenset[Symbol]) -> bool:
        """Whether an expression, or a point that it takes a function at, depends on symbols."""
        return any(not on.isdisjoint(y.free_symbols) for y in self.with_points(e))


def _find_calls(e: Expr) -> set[Expr]:
    """Return the functions of the document and their derivatives in an expression; not the functions inside these."""
    if isinstance(e, (sympy.Derivative, AppliedUndef)):
        return {e}
    return set[Expr]().union(*(_find_calls(cast(Expr, part)) for part in e.args))


def replace_parts(e: Expr, by: Mapping[Symbol, Expr] | Mapping[Expr, Expr]) -> Expr:
    """Return an expression with others in the place of parts of it, all at once."""
    return cast(Expr, e.xreplace(dict(by)))


def is_same(x: Expr, y: Expr) -> bool:
    """Whether two scalars have one normal form."""
    if x == y:
        return True
    left = expand(x - y)
    return bool(left == 0) or (not _is_apart(left) and is_zero(left))


def _is_apart(e: Expr) -> bool:
    """Whether a numeric value of an expression is far from zero, so that its normal form is not needed."""
    symbols = sorted((x for x in e.free_symbols if isinstance(x, Symbol)), key=str)
    some = {x: sympy.Rational(7 * k + 11, 5 * k + 9) for k, x in enumerate(symbols)}
    value = sympy.N(e.xreplace(some))
    return bool(value.is_Float and abs(value) > FAR)


def compute_sparse_determinant(rows: Rows) -> Expr:
    """Return |det A|, but for its sign: rows of one entry first, then block after block of what is connected.

    Raises:
        TooLargeError: as for `determinant`, of a block.
    """
    if not rows:
        return sympy.Integer(1)
    columns = [{j for j, e in enumerate(row) if e != 0} for row in rows]
    single = next((i for i, own in enumerate(columns) if len(own) == 1), None)
    block, reached = ({single}, columns[single]) if single is not None else ({0}, columns[0])
    while single is None and (more := {i for i, own in enumerate(columns) if own & reached}) != block:
        block, reached = more, reached.union(*(columns[i] for i in more))
    if len(block) != len(reached):
        return sympy.Integer(0)
    own = tuple(tuple(rows[i][j] for j in sorted(reached)) for i in sorted(block))
    kept = [j for j in range(len(rows)) if j not in reached]
    rest = tuple(tuple(row[j] for j in kept) for i, row in enumerate(rows) if i not in block)
    return sympy.cancel(determinant(own)) * compute_sparse_determinant(rest)


class Expressions:
    """A carrier: expressions in symbols; what an entry of an argument is has to be said."""

    def done(self, one: Operation, parts: Sequence[Expr]) -> Expr:
        """Return the value of an operation."""
        match one.op:
            case "number":
                return rational(one.value)
            case "pi":
                return sympy.pi
            case "draw":
                return name_draw(one.position)
            case "uniform":
                return Symbol(f"{UNIFORM}{one.position}", positive=True)
            case "add":
                return expand(parts[0] + parts[1])
            case "mul":
                return expand(parts[0] * parts[1])
            case "pow":
                return expand(parts[0] ** parts[1])
            case "min":
                return Least(*parts)
            case "call":
                return FUNCTIONS[one.name].scalar(parts[0])
            case _:
                raise NotFollowedError(f"{one.name}, which is not known")


@dataclass(frozen=True, slots=True)
class AtState(Expressions):
    """A carrier: expressions at a state and draws."""

    meaning: Meaning
    visited: Visited
    here: Here

    def done(self, one: Operation, parts: Sequence[Expr]) -> Expr:
        """Return the value of an operation; entries of an argument are taken at the state, or at a point."""
        if one.op == "pow":
            return self.visited.power(*parts)
        if one.op not in ("leaf", "field"):
            return Expressions.done(self, one, parts)
        entries = self.meaning.leaves.get(one.name, ())
        of = self.meaning.points.get(one.name, ())
        if one.position >= len(entries) or (one.op == "field" and len(parts) != len(of)):
            raise NotFollowedError(f"{one.name} at a point of another shape")
        here = dict(zip(of, parts, strict=True)) if one.op == "field" else self.here
        return self.visited.at(entries[one.position], here)


class Least(sympy.Function):
    """min(a, b), which is not evaluated."""

    nargs = 2
    is_real = True


def name_draw(k: int) -> Symbol:
    """Return the symbol of a draw."""
    return Symbol(f"draw.{k}", real=True)


def expand(e: Expr) -> Expr:
    """Return an expression multiplied out, as it is where that would be long."""
    return sympy.expand(e) if _count_terms(e) <= limits.TERMS else e


def _count_terms(e: Expr) -> int:
    """Return an upper bound of the number of terms of an expression once it is multiplied out."""
    match e:
        case sympy.Add():
            return sum(_count_terms(x) for x in e.args)
        case sympy.Mul():
            return prod(_count_terms(x) for x in e.args)
        case sympy.Pow() if isinstance(e.exp, sympy.Integer):
            n = abs(int(e.exp))  # a denominator is multiplied out, too
            return comb(_count_terms(e.base) + n - 1, n)
        case _:
            return 1

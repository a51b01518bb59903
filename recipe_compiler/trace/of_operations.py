"""A traced step by powers of the step size and by draws: every operation on series, as far as they are known.

A function of the document is expanded by Taylor's formula about the state, which its smoothness allows.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations_with_replacement, product
from math import factorial, prod
from typing import cast

import sympy
from sympy import Expr, Symbol
from sympy.core.function import AppliedUndef

from recipe_compiler.algebra.scalars.elementwise import FUNCTIONS, Corner
from recipe_compiler.algebra.scalars.rationals import rational
from recipe_compiler.algebra.scalars.sign_cells import Cell, off_kinks
from recipe_compiler.trace.moments import Moments, moments
from recipe_compiler.trace.of_scalars import scale_draws
from recipe_compiler.trace.operations import Evaluation, Operation, Trace
from recipe_compiler.trace.scalars import Poly, PolyDraw, Scalars, independent, poly_arithmetic, value_of
from recipe_compiler.trace.series import HALF, ZERO, NoExpansionError, Series


@dataclass(frozen=True, slots=True)
class Meaning:
    """What the names of a trace mean at fixed sizes."""

    z: tuple[Symbol, ...]
    eps: Symbol
    leaves: Mapping[str, tuple[Expr, ...]]
    """Argument to its entries."""
    points: Mapping[str, tuple[Symbol, ...]]
    """Argument that is a function to the coordinates it is one of."""
    others: tuple[Mapping[Expr, Expr], ...] = ()
    """Coordinates, with the functions of them, to others that the document has these functions at."""


class TraceReading:
    """A trace as series in the step size and in draws: a carrier, every operation read once."""

    def __init__(self, trace: Trace, meaning: Meaning, top: Fraction) -> None:
        self.trace = trace
        self.meaning = meaning
        self.S = poly_arithmetic(top)
        self.draws = tuple(Symbol(f"draw.{k}", real=True) for k in range(trace.draws))
        self.scalars = Scalars(self.S, meaning.eps, dict.fromkeys(self.draws, ZERO))
        self.groups: dict[tuple[int, ...], PolyDraw] = {}
        self.of = Evaluation(trace.operations, self).value
        """The expansion of an operation; raises NoExpansionError where it, or what it is made of, has none."""

    @cached_property
    def moments(self) -> Moments[Poly]:
        """The moments of the step.

        Raises:
            NoExpansionError: they are not known.
        """
        places = [place for flat in self.trace.outputs for place in flat]
        if len(places) != len(self.meaning.z):
            raise NoExpansionError("the step does not return the whole state")
        pairs = zip(places, self.meaning.z, strict=True)
        change = [self.S.subtract(self.of(place), self.scalars.constant(z)) for place, z in pairs]
        own = [self._group_draws(*group) for group in self.trace.groups]
        together = {k for draws, _ in self.trace.groups for k in draws}
        lines = {k: self._line_of_draw(k) for k in range(len(self.draws)) if k not in together}
        alone = [
            independent(tuple(self.draws[k] for k in lines if lines[k] == line), self.S, line)
            for line in dict.fromkeys(lines.values())
        ]
        return moments(self.S, change, [*alone, *own])

    def _line_of_draw(self, position: int) -> str:
        """Return where a draw was made, in words; empty where that is not known."""
        pairs = zip(self.trace.operations, self.trace.lines, strict=False)
        found = (line for one, line in pairs if line and one.op == "draw" and one.position == position)
        return next((f"the draw of line {line}" for line in found), "")

    @property
    def known(self) -> Fraction:
        """The highest power up to which every moment is known."""
        return self.moments.known

    def done(self, one: Operation, parts: Sequence[Series[Poly]]) -> Series[Poly]:
        """Return the expansion of an operation.

        Raises:
            NoExpansionError: it has none that is known.
        """
        match one.op:
            case "number":
                return self.scalars.constant(rational(one.value))
            case "pi":
                return self.scalars.constant(sympy.pi)
            case "draw":
                for draws, entries in self.trace.groups:  # the covariance of those made together is read first
                    if one.position in draws:
                        self._group_draws(draws, entries)
                return self.scalars.drawn(self.draws[one.position])
            case "uniform":
                raise NoExpansionError("a uniform draw")
            case "add":
                return self.S.add(*parts)
            case "mul":
                return self.S.multiply(*parts)
            case "pow":
                return self.scalars.power(*parts)
            case "min":  # (a + b - |a - b|)/2
                apart = self._apply_function("abs", self.S.subtract(*parts))
                return self.S.scale(self.S.subtract(self.S.add(*parts), apart), HALF)
            case "call":
                return self._apply_function(one.name, parts[0])
            case _:
                return self._expand_entry(one, parts)

    def _expand_entry(self, one: Operation, point: Sequence[Series[Poly]]) -> Series[Poly]:
        """Return an entry of an argument, by Taylor's formula if it is evaluated away from the state."""
        entries = self.meaning.leaves.get(one.name, ())
        if one.position >= len(entries):
            raise NoExpansionError(f"{one.name} has no entry {one.position}")
        f, z = off_kinks(entries[one.position]), self.meaning.points.get(one.name, ())
        return self.scalars.series(f) if one.op == "leaf" else self.at_point(f, z, point, one.name)

    def _group_draws(self, draws: tuple[int, ...], entries: tuple[int, ...]) -> PolyDraw:
        """Return jointly made draws; their covariance contains no other draw."""
        if draws not in self.groups:
            symbols = tuple(self.draws[k] for k in draws)
            read = [self.of(place) for place in entries]
            if any(self.S.is_random(x) for series in read for x in series.parts.values()):
                raise NoExpansionError("the covariance of a draw depends on another draw")
            covariance = dict(zip(product(symbols, symbols), read, strict=True))
            self.groups[draws] = scale_draws(symbols, covariance, self.scalars, self._line_of_draw(draws[0]))
        return self.groups[draws]

    def _apply_function(self, function: str, x: Series[Poly]) -> Series[Poly]:
        """Return a function of a series; at a kink, that of the side on which the state lies."""
        row = FUNCTIONS[function]
        if row.corner is Corner.NONE:
            return self.scalars.applied(row.scalar, self.S.leading(x) if function == "log" else x, function)
        x = self.S.leading(x)  # |x| or sign(x), by the side of its kink that the state lies on
        first, _ = self.S.apart(x, function)
        if x.low != 0:
            raise NoExpansionError(f"{function} of what vanishes with eps")
        side = self.scalars.constant(cast(Expr, Cell(value_of(first))))
        return side if function == "sign" else self.S.multiply(side, x)

    def at_point(self, f: Expr, z: tuple[Symbol, ...], parts: Sequence[Series[Poly]], name: str) -> Series[Poly]:
        """Return a function f(z) of the document, named in messages, at z + delta, by Taylor's formula about z."""
        if len(parts) != len(z):
            raise NoExpansionError(f"{name} at a point of another shape")
        deltas, low = self._away(z, parts)
        for other, there in self._elsewhere(f, z) if low <= 0 else ():
            deltas, low = self._away(there, parts)
            if low > 0:
                f, z = other, there
                break
        if low <= 0:
            raise NoExpansionError(f"{name} at a point that is not the state in the limit eps -> 0")
        moved = [k for k, delta in enumerate(deltas) if delta.parts]
        found, degree = [self.scalars.constant(f)], 1
        while moved and low * degree <= self.S.top:
            found += [self._taylor_term(f, z, deltas, along) for along in combinations_with_replacement(moved, degree)]
            degree += 1
        known = min([self.S.top] * bool(moved) + [delta.known for delta in deltas], default=self.S.top)
        return self.S.add(*found, Series({}, known))

    def _away(self, z: tuple[Symbol, ...], parts: Sequence[Series[Poly]]) -> tuple[list[Series[Poly]], Fraction]:
        """Return the difference of a point from the coordinates, and its least order in eps."""
        pairs = zip(parts, z, strict=True)
        deltas = [self.S.leading(self.S.subtract(part, self.scalars.constant(x))) for part, x in pairs]
        return deltas, min((delta.low for delta in deltas), default=self.S.top)

    def _elsewhere(self, f: Expr, z: tuple[Symbol, ...]) -> Iterator[tuple[Expr, tuple[Symbol, ...]]]:
        """Yield an expression and its coordinates rewritten at each point where all of its functions are taken."""
        for other in self.meaning.others:
            if {*z, *f.atoms(AppliedUndef)} <= other.keys():
                yield cast(Expr, f.xreplace(dict(other))), tuple(cast(Symbol, other[x]) for x in z)

    def _taylor_term(
        self, f: Expr, z: tuple[Symbol, ...], deltas: Sequence[Series[Poly]], along: tuple[int, ...]
    ) -> Series[Poly]:
        """Return the term of Taylor's formula for derivatives along some coordinates."""
        slope = sympy.diff(f, *(z[k] for k in along))
        found = self.scalars.constant(slope / prod(factorial(along.count(k)) for k in set(along)))
        for k in along:
            found = self.S.multiply(found, deltas[k])
        return found

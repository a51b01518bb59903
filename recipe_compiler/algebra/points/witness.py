"""Exact witnesses: an admissible point at which a scalar expression does not vanish, the simplest first.

Whether a formula has a value at a point is read node by node, as written: as a scalar, exp(log(x)) would simplify to x
and lose the condition x > 0.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from random import Random

import sympy
from sympy import Expr, Symbol
from sympy.core.function import AppliedUndef

from recipe_compiler import limits
from recipe_compiler.algebra.points.admissible_point import Point, drawn, meets
from recipe_compiler.algebra.points.sample_fields import NoInstanceError
from recipe_compiler.algebra.points.searched_point import admissible, towards
from recipe_compiler.algebra.scalars.entries import NotScalarisableError, Setting, rows
from recipe_compiler.algebra.scalars.evaluate import NoValueError, Value, compares, evaluate, is_certainly
from recipe_compiler.algebra.scalars.matrices import TooLargeError, determinant
from recipe_compiler.algebra.scalars.rationals import rational
from recipe_compiler.algebra.structure.definedness import conditions
from recipe_compiler.formula.build import nodes
from recipe_compiler.formula.declaration import Declarations
from recipe_compiler.formula.expression import Apply, Formula
from recipe_compiler.formula.shapes import Sizes
from recipe_compiler.verdict import Evidence

Leaf = Callable[[Expr], Value]
PER_STYLE = 6


def is_defined_at(formulas: Iterable[Formula], setting: Setting, leaf: Leaf) -> bool:
    """Whether formulas certainly have a value, `leaf` giving that of symbols and undefined functions.

    exp(log(x)) has none at x = -1, though its scalar is x.
    """
    return all(_has_value(node, setting, leaf) for formula in formulas for node in nodes(formula))


def _has_value(node: Formula, setting: Setting, leaf: Leaf) -> bool:
    """Whether a formula and all its parts certainly have a value at the point."""
    try:
        match node:
            case Apply("inv" | "logdet" | "cholesky" as fn, (arg,)):
                a = rows(arg, setting)
                return is_certainly(evaluate(determinant(a), leaf), 0 if fn == "inv" else 1)
            case _:
                return all(
                    compares(condition.op, evaluate(x + condition.offset, leaf))
                    for condition in conditions(node, smooth=False)
                    for row in rows(condition.arg, setting)
                    for x in row
                )
    except (NoValueError, NotScalarisableError, TooLargeError):
        return False


@dataclass(frozen=True, slots=True)
class Witness:
    """A point and the value e(z) != 0 there, certainly not zero."""

    at: Point
    value: Value

    @property
    def text(self) -> Evidence:
        """Return the witness as named text values."""
        return self.at.text


def points(declarations: Declarations, sizes: Sizes, attempts: int = limits.POINTS) -> Iterator[Point]:
    """Yield admissible points, the simplest first; the same ones on every call.

    Raises:
        sample_fields.NoInstanceError: kinds of which no instance is known.
    """
    drawn = _cached_point_sequence(declarations, tuple(sizes.items()))
    for k in range(attempts):
        found = drawn.attempt(k)
        if found is not None:
            yield found


@dataclass(slots=True)
class _PointSequence:
    """Random admissible points, drawn on demand and kept, so that all claims are tried at the same ones."""

    declarations: Declarations
    sizes: Sizes
    random: Random
    found: list[Point | None] = field(default_factory=list[Point | None])
    refused: NoInstanceError | None = None

    def attempt(self, k: int) -> Point | None:
        """Return the point of an attempt, None if what was drawn violates an assumption."""
        while len(self.found) <= k:
            if self.refused is not None:
                raise self.refused
            try:
                self.found.append(self._draw(len(self.found) // PER_STYLE))
            except NoInstanceError as reason:
                self.refused = reason
        return self.found[k]

    def _draw(self, style: int) -> Point | None:
        """Return a random point if it is admissible, else one moved towards an admissible point."""
        made = drawn(self.declarations, self.sizes, style, self.random)
        if made is not None and meets(made, self.declarations, self.sizes):
            return made
        found = _search_admissible_points(self.declarations, tuple(self.sizes.items()))
        inner = found[len(self.found) % len(found)] if found else None
        if inner is None or made is None:
            return inner
        return towards(made, inner, self.declarations, self.sizes)


@lru_cache(maxsize=limits.SUBJECTS)
def _search_admissible_points(declarations: Declarations, sizes: tuple[tuple[str, int], ...]) -> tuple[Point, ...]:
    """Return the points that the search finds, computed once per document and sizes; none if it cannot run."""
    try:
        return tuple(admissible(declarations, dict(sizes)))
    except (NotScalarisableError, TooLargeError):
        return ()


@lru_cache(maxsize=limits.SUBJECTS)
def _cached_point_sequence(declarations: Declarations, sizes: tuple[tuple[str, int], ...]) -> _PointSequence:
    """Return the one sequence of random points for a document and sizes."""
    return _PointSequence(declarations, dict(sizes), Random(20198))


def witness(e: Expr, declarations: Declarations, sizes: Sizes, reads: tuple[Formula, ...] = ()) -> Witness | None:
    """Return an admissible point where an expression e, a scalar, is certainly not zero, re-checked by substitution.

    The formulas `reads` that it was made of have a value there. Values are exact, or balls that exclude 0 (Johansson
    2017): e(z) != 0. None if none was found in 48 attempts, which decides nothing.

    Raises:
        sample_fields.NoInstanceError: kinds of which no instance is known.
    """
    setting = Setting(declarations, sizes)
    for at in points(declarations, sizes):
        try:
            value = evaluate(e, at.leaf)
        except NoValueError:
            continue
        if is_certainly(value, 0) and recheck(e, at, value) and is_defined_at(reads, setting, at.leaf):
            return Witness(at, value)
    return None


def recheck(e: Expr, at: Point, value: Value) -> bool:
    """Whether plain substitution gives the same value: fields first, then derivatives, then numbers."""
    calls = {call: at.fields[type(call).__name__] for call in e.atoms(AppliedUndef)}
    concrete = e.xreplace(calls).doit(deep=True) if calls else e
    numbers = {s: rational(at.numbers[s]) for s in concrete.atoms(Symbol)}
    found = concrete.xreplace(numbers)
    if isinstance(value, Fraction):
        return bool(found == rational(value))
    close = sympy.Float(float(value.mid()))
    numeric = sympy.N(found, 30)
    return bool(numeric.is_Float and abs(numeric - close) <= abs(close) / 10**9)

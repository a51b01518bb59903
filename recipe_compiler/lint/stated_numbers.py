"""Numbers that a step is run with: those of an admissible point, floats, and functions of the document in operations.

Gradients and other derivatives are those of the functions themselves, as a verdict means them.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import reduce
from random import Random

import sympy
from flint import arb, fmpq
from sympy import Expr, Symbol
from sympy.core.function import AppliedUndef

from recipe_compiler.algebra.points.admissible_point import Point, point
from recipe_compiler.algebra.points.sample_fields import ALL_APART, NoInstanceError
from recipe_compiler.algebra.points.witness import points
from recipe_compiler.algebra.scalars.derivatives import slope
from recipe_compiler.algebra.scalars.elementwise import BALLS
from recipe_compiler.algebra.scalars.rationals import rational
from recipe_compiler.algebra.scalars.symbols import coordinates
from recipe_compiler.algebra.scalars.transcendentals import argument
from recipe_compiler.formula.declaration import Declarations
from recipe_compiler.formula.shapes import DomainName
from recipe_compiler.lint.nodes import FOLLOWED
from recipe_compiler.lint.plain_run.operations import Functions, Line, evaluated
from recipe_compiler.lint.series import Meaning
from recipe_compiler.lint.visited import replaced
from recipe_compiler.verify.core.sizes import Sizes

UNBOUNDED = (DomainName.REAL, DomainName.POSITIVE, DomainName.NONNEGATIVE)
TRIED = 40
"""Admissible points that are looked for."""
FUNCTIONS: Functions = {
    **BALLS, "log1p": arb.log1p, "expm1": arb.expm1, "abs": abs, "sign": arb.sgn, "min": arb.min,
}  # fmt: skip
"""Functions of balls by their names."""


class NoNumbersError(Exception):
    """Nothing is known that a step could be run with, and why."""


@dataclass(frozen=True, slots=True)
class Values:
    """What an argument is at a point, and what function of the state it is."""

    here: tuple[float, ...]
    lines: tuple[Line, ...]
    """Operations of `coordinate k`."""
    entries: tuple[int, ...]
    """The places of its entries among them."""

    @property
    def is_its_argument(self) -> bool:
        """Whether its entries are the coordinates that it is a function of, in order."""
        return len(self.here) > 0 and [self.lines[k] for k in self.entries] == [
            ("coordinate", k) for k in range(len(self.entries))
        ]


def admissible(declarations: Declarations, sizes: Sizes, random: Random) -> Point:
    """Return values of all that is declared which nobody would guess; known ones where the assumptions allow no others.

    Raises:
        NoNumbersError: none were found.
    """
    try:
        drawn = (point(declarations, sizes, ALL_APART, random) for _ in range(TRIED))
        found = next((at for at in drawn if at is not None), None)
        return found or random.choice([*points(declarations, sizes)])
    except (NoInstanceError, IndexError) as reason:
        why = f"no numbers are known that satisfy the declarations ({reason})"
        raise NoNumbersError(why) from None


def stretched(at: Point, declarations: Declarations, sizes: Sizes, factor: float) -> Point:
    """Return a point whose state is multiplied, in the blocks that lie as well in their domain there."""
    free = {z for block in declarations.blocks if block.domain.name in UNBOUNDED for z in coordinates(block, sizes)}
    numbers = {x: value * Fraction(factor) if x in free else value for x, value in at.numbers.items()}
    return replace(at, numbers=numbers)


def squared(at: Point, declarations: Declarations, sizes: Sizes) -> Point:
    """Return a point at which potentials are |z|^2/2: the gradient is its argument, and may be the same array."""
    own = {block.name: coordinates(block, sizes) for block in declarations.blocks}
    fields = {
        f.name: sympy.Add(*(z**2 / 2 for name in f.of for z in own[name]))
        for f in declarations.functions
        if f.role == "potential"
    }
    return replace(at, fields={**at.fields, **fields})


def values_of(name: str, meaning: Meaning, at: Point) -> Values:
    """Return what an argument is.

    Raises:
        NoNumbersError: a function that has no operations here.
    """
    coordinates = meaning.points.get(name, ())
    others = {x: rational(value) for x, value in at.numbers.items() if x not in coordinates}
    concrete = [_concrete(e, at, others) for e in meaning.leaves[name]]
    written = _Written(coordinates or meaning.z)
    entries = tuple(written.place(e) for e in concrete)
    here = [_double(at.numbers[x]) for x in written.coordinates]
    found = in_balls(written.lines, [arb(x) for x in here])
    if not all(found[k].is_finite() for k in entries):
        raise NoNumbersError(f"{name} has no value at numbers that the document allows")
    return Values(tuple(float(found[k]) for k in entries), tuple(written.lines), entries)


def in_balls(lines: Sequence[Line], at: Sequence[arb]) -> list[arb]:
    """Return balls that contain the values of operations, of `coordinate k` those of a point."""

    def leaf(line: Line, _: list[arb]) -> arb:
        return at[line[1]]

    return evaluated(lines, leaf, ball_of, pow, FUNCTIONS)


def ball_of(text: str) -> arb:
    """Return a ball that contains a rational number, or pi, by its text."""
    if text == "pi":
        return arb.pi()
    value = Fraction(text)
    return arb(fmpq(value.numerator, value.denominator))


def _concrete(e: Expr, at: Point, others: dict[Expr, Expr]) -> Expr:
    """Return a scalar whose functions, and their derivatives, are those of the point."""
    fields: dict[Expr, Expr] = {call: at.fields[type(call).__name__] for call in e.atoms(AppliedUndef)}
    slopes: dict[Expr, Expr] = {
        one: reduce(slope, one.variables, fields[one.expr])
        for one in e.atoms(sympy.Derivative)
        if isinstance(one.expr, AppliedUndef)
    }
    return replaced(replaced(e, fields | slopes), others)


def _double(value: Fraction) -> float:
    return value.numerator / value.denominator


class _Written:
    """Scalars of SymPy as operations in order."""

    def __init__(self, coordinates: tuple[Symbol, ...]) -> None:
        self.coordinates = coordinates
        self.lines: list[Line] = []
        self.known: dict[Expr, int] = {}

    def place(self, e: Expr) -> int:
        """Return the place of a scalar."""
        if e not in self.known:
            self.known[e] = self._added(e)
        return self.known[e]

    def _added(self, e: Expr) -> int:
        match e:
            case sympy.Rational():
                return self._line("number", str(Fraction(int(e.p), int(e.q))))
            case Symbol() if e in self.coordinates:
                return self._line("coordinate", self.coordinates.index(e))
            case sympy.Add() | sympy.Mul():
                first, *rest = (self.place(x) for x in e.args)
                for other in rest:
                    first = self._line("add" if isinstance(e, sympy.Add) else "mul", first, other)
                return first
            case sympy.Pow():
                return self._line("pow", self.place(e.base), self.place(e.exp))
            case sympy.Function() | sympy.Abs() if (name := type(e).__name__.lower()) in FOLLOWED:
                return self._line("call", name, self.place(argument(e)))
            case _ if e is sympy.pi:
                return self._line("pi")
            case _ if e is sympy.E:
                return self._line("call", "exp", self._line("number", "1"))
            case _:
                raise NoNumbersError(f"{type(e).__name__} in a function of the document has no value in plain numbers")

    def _line(self, *line: str | int) -> int:
        self.lines.append(line)
        return len(self.lines) - 1

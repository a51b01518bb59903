"""A small world of names, a reader of formulas, and exact values for everything in it."""

import random
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from itertools import product

import pytest
import sympy

from recipe_compiler.errors import Place
from recipe_compiler.formula.declaration import Block, Datum, Declarations, Domain, Function, Parameter
from recipe_compiler.formula.elaborate import Scope, elaborate
from recipe_compiler.formula.expression import Formula
from recipe_compiler.formula.shapes import DomainName, Kind, Shape
from recipe_compiler.formula.syntax import parse
from recipe_compiler.tensor.calculus import Calculus, calculus
from recipe_compiler.tensor.convert import convert
from recipe_compiler.tensor.terms import (
    Applied,
    Atom,
    Base,
    Component,
    Coordinate,
    Delta,
    Index,
    MatrixFunction,
    SizeNumber,
    Slot,
    Tensor,
    Term,
)

HERE = Place("test")
VECTOR, MATRIX, WIDE = Shape("d"), Shape("d", "d"), Shape("d", "k")

DECLARATIONS = Declarations(
    blocks=(
        Block("theta", VECTOR),
        Block("r", VECTOR),
        Block("w", Shape("k")),
        Block("q", VECTOR, Domain(DomainName.POSITIVE)),
        Block("xi"),
    ),
    parameters=(
        Parameter("a"),
        Parameter("b"),
        Parameter("c", Shape(), (Kind.POSITIVE,)),
        Parameter("n", Shape(), (Kind.NONZERO,)),
        Parameter("v", VECTOR),
        Parameter("e", VECTOR, (Kind.NONZERO,)),
        Parameter("p", VECTOR, (Kind.POSITIVE,)),
        Parameter("A", MATRIX),
        Parameter("S", MATRIX, (Kind.SYMMETRIC,)),
        Parameter("M", MATRIX, (Kind.PD,)),
        Parameter("P", MATRIX, (Kind.PD,)),
        Parameter("C", MATRIX, (Kind.PSD,)),
        Parameter("W", MATRIX, (Kind.SKEW,)),
        Parameter("L", WIDE),
        Parameter("T", MATRIX, (Kind.DIAGONAL,)),
        Parameter("two", Shape(2)),
        Parameter("square", Shape(2, 2)),
    ),
    functions=(
        Function("U", ("theta",)),
        Function("F", ("theta", "xi"), MATRIX),
        Function("G", ("theta",), MATRIX, (Kind.PD,)),
        Function("K", ("theta",), MATRIX, (Kind.SYMMETRIC,)),
        Function("R", ("theta",), MATRIX, (Kind.SKEW,)),
    ),
    data=(Datum("x", "N", Shape(None, "d")), Datum("y", "N", Shape(), (0, 1))),
)


@pytest.fixture
def c() -> Calculus:
    return calculus(DECLARATIONS)


@pytest.fixture
def declarations() -> Declarations:
    return DECLARATIONS


@pytest.fixture
def typed() -> Callable[..., Formula]:
    """Return a function from text and shape to formula."""

    def read(text: str, shape: Shape | None = None) -> Formula:
        return elaborate(parse(text, "formula", HERE), Scope(DECLARATIONS), shape, "formula", HERE)

    return read


@pytest.fixture
def read(typed: Callable[..., Formula]) -> Callable[..., Tensor]:
    """Return a function from text to tensor: `read("theta.T @ S @ r")`, `read("S @ r", "i", rows="d")`."""

    def convert_text(text: str, *slots: Slot, shape: Shape | None = None, datum: Index | None = None) -> Tensor:
        return convert(typed(text, shape), DECLARATIONS, *slots, datum=datum)

    return convert_text


def _fraction(*key: object) -> Fraction:
    draw = random.Random(repr(key))
    return Fraction(draw.randint(1, 9) * draw.choice((-1, 1)), draw.randint(1, 5))


class World:
    """Exact values, drawn once for every name and place; sizes are those given."""

    def __init__(self, seed: int, sizes: Mapping[str, int]) -> None:
        self.seed, self.sizes = seed, dict(sizes)
        self.drawn: dict[object, Fraction] = {}
        self.inverses: dict[object, sympy.Matrix] = {}

    def size(self, index: Index) -> int:
        return index.size if isinstance(index.size, int) else self.sizes[index.size]

    def component(self, name: str, at: tuple[int, ...], by: tuple[tuple[str, tuple[int, ...]], ...] = ()) -> Fraction:
        by = tuple(sorted(by))
        if len(at) == 2 and name in ("S", "M", "G"):
            at = tuple(sorted(at))
        sign = 1
        if len(at) == 2 and name in ("W", "R"):
            sign = (at[0] < at[1]) - (at[0] > at[1])
            at = tuple(sorted(at))
        if name == "T" and at[0] != at[1]:
            sign = 0
        key = (name, at, by)
        if key not in self.drawn:
            self.drawn[key] = _fraction(self.seed, *key)
        value = self.drawn[key]
        positive = name in ("c", "q") and not by
        return sign * (abs(value) if positive else value)

    def leaf(self, atom: Atom) -> sympy.Expr | None:
        match atom:
            case Coordinate(name, at):
                return _sympy(self.component(name, at))
            case Component(name, at, by):
                return _sympy(self.component(name, at, tuple((x.block, x.at) for x in by)))
            case _:
                return None

    def value(self, tensor: Tensor, at: Mapping[Index, int]) -> Fraction:
        return sum((self.term(term, at) for term in tensor.terms), Fraction(0))

    def term(self, term: Term, at: Mapping[Index, int]) -> Fraction:
        found = {slot for atom, _ in term.factors for slot in _slots(atom) if isinstance(slot, Index)}
        bound = sorted(found - at.keys(), key=repr)
        total = Fraction(0)
        for places in product(*(range(self.size(index)) for index in bound)):
            here = {**at, **dict(zip(bound, places, strict=True))}
            value = term.coefficient
            for atom, exponent in term.factors:
                assert exponent.denominator == 1
                value *= self.atom(atom, here) ** exponent.numerator
            total += value
        return total

    def atom(self, atom: Atom, at: Mapping[Index, int]) -> Fraction:
        def place(slots: Sequence[Slot]) -> tuple[int, ...]:
            return tuple(at[slot] if isinstance(slot, Index) else slot for slot in slots)

        match atom:
            case Coordinate(name, slots):
                return self.component(name, place(slots))
            case Component(name, slots, by):
                return self.component(name, place(slots), tuple((x.block, place(x.at)) for x in by))
            case SizeNumber(name):
                return Fraction(self.sizes[name])
            case Delta(left, right):
                return Fraction(len(set(place((left, right)))) == 1)
            case Applied("softplus", (arg,)):  # any function will do: the calculus has no rule for this one's values
                x = self.value(arg, at)
                return (x + 3) / (x * x + 1)
            case Base(arg):
                return self.value(arg, at)
            case MatrixFunction("inv", of, slots):
                n = self.size(of.row)
                if of not in self.inverses:
                    rows = [[_sympy(self.value(of.entry, {of.row: i, of.col: j})) for j in range(n)] for i in range(n)]
                    self.inverses[of] = sympy.Matrix(rows).inv()
                found = self.inverses[of][place(slots)]
                return Fraction(int(found.p), int(found.q))
            case _:
                raise AssertionError(atom)


def _sympy(value: Fraction) -> sympy.Rational:
    return sympy.Rational(value.numerator, value.denominator)


def _slots(atom: Atom) -> tuple[Slot, ...]:
    match atom:
        case Coordinate(_, at) | Component(_, at, ()):
            return at
        case Component(_, at, by):
            return (*at, *(slot for x in by for slot in x.at))
        case Delta(left, right):
            return (left, right)
        case MatrixFunction(_, _, at):
            return at
        case Applied(_, args):
            return tuple(slot for arg in args for slot in arg.free)
        case Base(arg):
            return arg.free
        case _:
            return ()


@pytest.fixture
def world() -> type[World]:
    return World

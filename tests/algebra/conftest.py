"""Typed formulas from text, for tests."""

from collections.abc import Callable

import pytest

from recipe_compiler.errors import Place
from recipe_compiler.formula.context import Scope
from recipe_compiler.formula.declaration import Block, Declarations, Domain, Function, Parameter
from recipe_compiler.formula.elaborate import elaborate
from recipe_compiler.formula.expression import Formula
from recipe_compiler.formula.shapes import SCALAR, DomainName, Kind, Shape
from recipe_compiler.formula.syntax import parse

SQUARE = Shape("d", "d")
COLUMN = Shape("d")


def names() -> Declarations:
    """Return blocks, parameters and functions of many kinds."""
    return Declarations(
        blocks=(
            Block("theta", COLUMN),
            Block("r", COLUMN),
            Block("xi"),
            Block("x", COLUMN, Domain(DomainName.POSITIVE)),
            Block("u", SCALAR, Domain(DomainName.POSITIVE)),
        ),
        parameters=(
            Parameter("a"),
            Parameter("c", SCALAR, (Kind.NONNEGATIVE,)),
            Parameter("s", SCALAR, (Kind.POSITIVE,)),
            Parameter("b", COLUMN),
            Parameter("A", SQUARE),
            Parameter("B", Shape("d", "k")),
            Parameter("S", SQUARE, (Kind.SYMMETRIC,)),
            Parameter("W", SQUARE, (Kind.SKEW,)),
            Parameter("C", SQUARE, (Kind.PSD,)),
            Parameter("M", SQUARE, (Kind.PD,)),
            Parameter("P", Shape("k", "k"), (Kind.PSD,)),
            Parameter("L", SQUARE, (Kind.DIAGONAL, Kind.NONNEGATIVE)),
        ),
        functions=(
            Function("U", ("theta",), role="potential"),
            Function("G", ("theta",), SQUARE, (Kind.PD,)),
            Function("K", ("theta", "xi"), SQUARE, (Kind.SYMMETRIC,)),
        ),
    )


@pytest.fixture
def declarations() -> Declarations:
    return names()


@pytest.fixture
def formula(declarations: Declarations) -> Callable[..., Formula]:
    """Return a reader of formulas over the declarations."""

    def read(text: str, expected: Shape | None = None) -> Formula:
        where = Place("test")
        return elaborate(parse(text, "test", where), Scope(declarations), expected, "test", where)

    return read

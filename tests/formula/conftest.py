from collections.abc import Callable

import pytest

from recipe_compiler.errors import Place
from recipe_compiler.formula.declaration import Block, Datum, Declarations, Function, Parameter
from recipe_compiler.formula.elaborate import Scope, elaborate
from recipe_compiler.formula.expression import Formula
from recipe_compiler.formula.shapes import SCALAR, Shape
from recipe_compiler.formula.syntax import parse

WHERE = Place("spec.yaml", 7, 4)
COLUMN, SQUARE = Shape("d"), Shape("d", "d")

Typed = Callable[..., Formula]


@pytest.fixture(scope="session")
def declarations() -> Declarations:
    return Declarations(
        blocks=(
            Block("theta", COLUMN),
            Block("r", COLUMN),
            Block("xi"),
            Block("q", Shape(3)),
            Block("W", Shape("K", "d")),
        ),
        parameters=(
            Parameter("M", SQUARE),
            Parameter("C", SQUARE),
            Parameter("B", Shape("d", "k")),
            Parameter("R", Shape("K", "K")),
            Parameter("c"),
            Parameter("v", COLUMN),
        ),
        functions=(Function("U", ("theta",), role="potential"), Function("G", ("theta", "xi"), SQUARE)),
        data=(Datum("x", "N", Shape(None, "d")), Datum("y", "N")),
    )


@pytest.fixture(scope="session")
def typed(declarations: Declarations) -> Typed:
    """Read and type a text against the declarations above."""

    def read(text: str, expected: Shape | None = SCALAR, *, update: bool = False, square: bool = False) -> Formula:
        scope = Scope(declarations, update, square=square)
        return elaborate(parse(text, "H", WHERE), scope, expected, "H", WHERE)

    return read

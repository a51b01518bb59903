"""Dynamics from formulas as text, without a document around them."""

from collections.abc import Callable, Mapping, Sequence

import pytest

from recipe_compiler.errors import Place
from recipe_compiler.formula.declaration import Block, Declarations, Domain, Function, Parameter
from recipe_compiler.formula.elaborate import Scope, elaborate
from recipe_compiler.formula.expression import Formula
from recipe_compiler.formula.shapes import DomainName, Kind, Shape
from recipe_compiler.formula.syntax import parse
from recipe_compiler.spec.model import Dynamics
from recipe_compiler.tensor.convert import convert
from recipe_compiler.tensor.terms import Index, Tensor

HERE = Place("test")

Make = Callable[..., Dynamics]


def _shape(words: str) -> Shape:
    sizes = [int(word) if word.isdigit() else word for word in words.split()]
    return Shape(*sizes)


def read(text: str, declarations: Declarations, shape: Shape) -> Formula:
    return elaborate(parse(text, "formula", HERE), Scope(declarations), shape, "formula", HERE)


@pytest.fixture
def make() -> Make:
    """Return a function that makes dynamics: `make("theta:d r:d", "M:d d:positive definite", "U:theta", H, D, Q)`."""

    def build(
        state: str, parameters: str, functions: str, H: str, D: Mapping[str, str], Q: Mapping[str, str]
    ) -> Dynamics:
        blocks = tuple(_block(item) for item in state.split(";"))
        declarations = Declarations(
            blocks,
            tuple(_parameter(item) for item in parameters.split(";") if item),
            tuple(_function(item) for item in functions.split(";") if item),
        )
        return Dynamics(
            "test",
            declarations,
            read(H, declarations, Shape()),
            _matrix(D, declarations),
            _matrix(Q, declarations),
        )

    return build


def _block(item: str) -> Block:
    name, shape, *domain = item.strip().split(":")
    return Block(name, _shape(shape), Domain(DomainName(domain[0])) if domain else Domain())


def _parameter(item: str) -> Parameter:
    name, shape, *kinds = item.strip().split(":")
    return Parameter(name, _shape(shape), tuple(Kind(kind) for kind in kinds) or (Kind.REAL,))


def _function(item: str) -> Function:
    name, of, shape, *kinds = f"{item.strip()}:".split(":")
    return Function(name, tuple(of.split()), _shape(shape), tuple(Kind(kind) for kind in kinds if kind) or (Kind.REAL,))


def _matrix(entries: Mapping[str, str], declarations: Declarations) -> tuple[tuple[Formula, ...], ...]:
    blocks = declarations.blocks

    def place(a: Block, b: Block) -> Formula:
        return read(entries.get(f"{a.name},{b.name}", "0"), declarations, Shape(a.shape.rows, b.shape.rows))

    return tuple(tuple(place(a, b) for b in blocks) for a in blocks)


@pytest.fixture
def vector() -> Callable[[Dynamics, Sequence[str]], tuple[Tensor, ...]]:
    """Return a function that makes a vector over z from one formula per block."""

    def build(dynamics: Dynamics, rows: Sequence[str]) -> tuple[Tensor, ...]:
        declarations = dynamics.declarations
        return tuple(
            convert(read(row, declarations, block.shape), declarations, *slots)
            for row, block in zip(rows, declarations.blocks, strict=True)
            for slots in [[Index(size, "i") for size in block.shape.sizes]]
        )

    return build

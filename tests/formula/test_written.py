"""A tree is written as the text that is read as that tree."""

from dataclasses import fields, is_dataclass, replace
from fractions import Fraction
from pathlib import Path

import pytest
import sympy
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from recipe_compiler.errors import DocumentError, Place
from recipe_compiler.formula import tree
from recipe_compiler.formula.declaration import Block, Declarations
from recipe_compiler.formula.elaborate import Scope, elaborate
from recipe_compiler.formula.expression import Formula
from recipe_compiler.formula.shapes import SCALAR, Shape
from recipe_compiler.formula.symbolic import tree_of
from recipe_compiler.formula.syntax import parse
from recipe_compiler.formula.tree import written
from recipe_compiler.spec.yaml_nodes import plain
from recipe_compiler.spec.yaml_reader import read_yaml

ROOT = Path(__file__).parents[2]
DOCUMENTS = sorted([*(ROOT / "specs").rglob("*.yaml"), *(ROOT / "tests").rglob("*.yaml")])


def read(text: str) -> tree.Tree:
    return bare(parse(text, "H", Place("")))


def bare(part):
    """Return a tree without the places of its parts."""
    if is_dataclass(part):
        return replace(part, at=None, **{f.name: bare(getattr(part, f.name)) for f in fields(part) if f.name != "at"})
    return tuple(map(bare, part)) if isinstance(part, tuple) else part


def texts(value) -> list[str]:
    if isinstance(value, dict):
        return [text for one in value.values() for text in texts(one)]
    if isinstance(value, list):
        return [text for one in value for text in texts(one)]
    return [value] if isinstance(value, str) else []


@pytest.mark.slow
def test_every_formula_of_this_repository_is_read_again_as_it_was() -> None:
    seen = 0
    for path in DOCUMENTS:
        try:
            found = texts(plain(read_yaml(path.read_bytes(), str(path))))
        except DocumentError:
            continue
        for text in found:
            try:
                formula = read(text)
            except DocumentError:
                continue
            assert read(written(formula)) == formula, (path, text)
            seen += 1
    assert seen > 4000


LITERALS = st.one_of(
    st.integers(0, 99).map(Fraction), st.sampled_from([Fraction(1, 2), Fraction(6, 5), Fraction(1, 1000)])
).map(tree.Literal)
NAMES = st.sampled_from(["x", "theta", "M", "I"]).map(tree.Name)


def compound(inner: st.SearchStrategy) -> st.SearchStrategy:
    several = st.lists(inner, min_size=2, max_size=4).map(tuple)
    products = several.flatmap(
        lambda factors: st.tuples(*[st.sampled_from("*/@")] * (len(factors) - 1)).map(
            lambda operators: tree.Product(factors, operators)
        )
    )
    return st.one_of(
        several.map(tree.Sum),
        products,
        inner.map(tree.Negate),
        inner.map(tree.Transposed),
        st.tuples(inner, inner).map(lambda pair: tree.Power(*pair)),
        st.tuples(inner, st.lists(st.integers(0, 9), min_size=1, max_size=2)).map(
            lambda pair: tree.Subscript(pair[0], tuple(pair[1]))
        ),
        st.lists(inner, min_size=1, max_size=3).map(lambda args: tree.Call("f", tuple(args))),
    )


@pytest.mark.slow
@given(st.recursive(LITERALS | NAMES, compound, max_leaves=12))
@settings(max_examples=300, deadline=None)
def test_any_tree_is_read_again_as_it_was(formula: tree.Tree) -> None:
    try:
        again = read(written(formula))
    except DocumentError as error:
        assume("found" in error.faults[0].problem)  # else it is out of the language's bounds: a division by 0
        raise
    assert again == formula


@pytest.mark.parametrize(
    ("value", "text"),
    [(Fraction(1, 3), "1/3"), (Fraction(1, 8), "0.125"), (Fraction(10**20), str(10**20)), (Fraction(1, 10**30), None)],
)
def test_numbers_are_decimals_where_these_are_short(value: Fraction, text: str | None) -> None:
    assert written(tree.Literal(value)) == (f"1/{10**30}" if text is None else text)


SX, SY = sympy.symbols("x y", real=True)
PRINTED = [
    sympy.Piecewise((SX**2, (SX > 0) & (SY > 1)), (SX, (SX < 0) | (SY <= 1)), (0, True)),
    sympy.Piecewise((SX, ~((SX > 0) & (SY > 0))), (SY, True)),
    sympy.Derivative(SX**3, (SX, 2)),
    sympy.Max(SX, SY, 0) + sympy.Heaviside(SX) + sympy.Abs(SY) / 3,
    (sympy.Matrix([[1, 2]]) * sympy.Matrix([[SX, 0], [0, SY]]) * sympy.Matrix([3, 4]))[0, 0],
    sympy.sqrt(SX**2 + 1) / sympy.Rational(3, 7) - sympy.E * sympy.pi,
]


@pytest.mark.parametrize("obj", PRINTED, ids=str)
def test_what_an_object_of_sympy_is_written_as_means_the_same(obj: sympy.Basic) -> None:
    scope = Scope(Declarations((Block("x"), Block("y"))))
    formula = tree_of(obj)
    assert read_as(written(formula), scope) == elaborate(formula, scope, SCALAR, "H", Place(""))


def test_a_matrix_is_written_entry_by_entry() -> None:
    matrix = tree_of(sympy.Matrix([[SX, 1], [0, SY]]))
    assert written(matrix) == "Matrix([[x, 1], [0, y]])"
    scope, square = Scope(Declarations((Block("x"), Block("y")))), Shape(2, 2)
    assert read_as(written(matrix), scope, square) == elaborate(matrix, scope, square, "D", Place(""))


def read_as(text: str, scope: Scope, shape: Shape = SCALAR) -> Formula:
    return elaborate(parse(text, "H", Place("")), scope, shape, "H", Place(""))

"""Nonsense of every kind ends in a fault of the document, never in another exception."""

from contextlib import suppress

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from recipe_compiler.errors import DocumentError, Place, SpecError
from recipe_compiler.formula import latex, show
from recipe_compiler.formula.elaborate import Scope, elaborate
from recipe_compiler.formula.shapes import SCALAR, Shape
from recipe_compiler.formula.syntax import parse

WHERE = Place("spec.yaml", 7, 4)
TEXT = (
    "theta r xi q W M C B c v U G x y d K I ones pi 0 1 2 -1 0.5 3/2 + - * / @ ** .T [0] [1,2] ( ) , > >= == exp log "
    "inv det trace diag sum dot norm2 outer kron grad div hessian where maximum N next grad_tilde eps thta oo sqrt"
)
WORDS = TEXT.split()
FUNCTIONS = "inv det logdet trace diag sum norm2 exp dot outer kron maximum grad div hessian where N next G U c"


@pytest.mark.slow
@settings(max_examples=200, deadline=None)
@given(st.text(max_size=40))
@example("\ud800")
def test_any_text_is_read_or_refused(text: str):
    with suppress(SpecError):
        parse(text, "H", WHERE)


@pytest.mark.slow
@pytest.mark.parametrize("update", [False, True])
def test_any_words_are_typed_or_refused_and_what_is_typed_can_be_shown(declarations, update: bool):
    scope = Scope(declarations, update)
    shapes = st.sampled_from(
        [None, SCALAR, Shape("d"), Shape(None, "d"), Shape("d", "d"), Shape("K*d", "K*d"), Shape(3)]
    )

    @settings(max_examples=400, deadline=None)
    @given(st.lists(st.sampled_from(WORDS), max_size=8).map(" ".join), shapes)
    def check(text: str, expected: Shape | None):
        with suppress(DocumentError):
            formula = elaborate(parse(text, "H", WHERE), scope, expected, "H", WHERE)
            assert expected in (None, formula.shape)
            assert "?" not in repr(formula)
            assert show.text(formula)
            assert latex.latex(formula)

    check()


def calls() -> st.SearchStrategy[str]:
    leaves = st.sampled_from(["theta", "r", "xi", "M", "B", "W", "c", "0", "I", "ones", "1", "x", "d", "q"])

    def extend(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
        args = st.lists(inner, min_size=1, max_size=3).map(", ".join)
        joined = st.tuples(inner, st.sampled_from(["+", "-", "*", "@", "/", "**"]), inner).map(
            lambda t: f"({' '.join(t)})"
        )
        return st.one_of(
            st.builds(lambda name, inside: f"{name}({inside})", st.sampled_from(FUNCTIONS.split()), args),
            joined,
            inner.map(lambda a: f"({a}).T"),
            inner.map(lambda a: f"-{a}"),
            inner.map(lambda a: f"({a})[0]"),
        )

    return st.recursive(leaves, extend, max_leaves=6)


@pytest.mark.slow
def test_any_calls_are_typed_without_unknowns_or_refused(declarations):
    scope = Scope(declarations, update=True)

    @settings(max_examples=800, deadline=None)
    @given(calls(), st.sampled_from([None, SCALAR, Shape("d"), Shape("d", "d")]))
    def check(text: str, expected: Shape | None):
        with suppress(DocumentError):
            formula = elaborate(parse(text, "H", WHERE), scope, expected, "H", WHERE)
            assert expected in (None, formula.shape)
            assert "?" not in repr(formula)
            assert latex.latex(formula)
            assert (
                elaborate(parse(show.text(formula), "H", WHERE), scope, formula.shape, "H", WHERE).shape
                == formula.shape
            )

    check()

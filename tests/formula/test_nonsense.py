"""Nonsense of every kind ends in a fault of the document, never in another exception."""

from contextlib import suppress

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from recipe_compiler.errors import DataError, DocumentError, Place, SpecError
from recipe_compiler.formula import latex, show
from recipe_compiler.formula.elaborate import Scope, elaborate
from recipe_compiler.formula.shapes import SCALAR, Shape
from recipe_compiler.formula.syntax import parse
from recipe_compiler.run.evaluate import Point, evaluate

WHERE = Place("spec.yaml", 7, 4)
FUNCTIONS = "inv det logdet trace diag sum norm2 exp dot outer kron maximum grad div hessian where N next G U c"


@pytest.mark.slow
@settings(max_examples=200, deadline=None)
@given(st.text(max_size=40))
@example("\ud800")
def test_any_text_is_read_or_refused(text: str):
    with suppress(SpecError):
        parse(text, "H", WHERE)


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


SIZES = {"d": 2, "k": 3, "K": 2}
AT = Point(
    {
        name: np.random.default_rng(number).normal(size=shape)
        for number, (name, shape) in enumerate({
            "theta": (2, 1), "r": (2, 1), "xi": (), "q": (3, 1), "W": (2, 2), "M": (2, 2), "C": (2, 2), "B": (2, 3),
            "R": (2, 2), "c": (), "v": (2, 1), "U": (), "G": (2, 2), "x": (1, 2), "y": (),
        }.items())
    },
    SIZES,
)  # fmt: skip


@pytest.mark.slow
def test_any_calls_are_typed_and_shown_as_what_means_the_same_or_refused(declarations):
    scope = Scope(declarations, update=True)

    @settings(max_examples=800, deadline=None)
    @given(calls(), st.sampled_from([None, SCALAR, Shape("d"), Shape("d", "d")]))
    def check(text: str, expected: Shape | None):
        with suppress(DocumentError, DataError, np.linalg.LinAlgError), np.errstate(all="ignore"):
            formula = elaborate(parse(text, "H", WHERE), scope, expected, "H", WHERE)
            assert expected in (None, formula.shape)
            assert "?" not in repr(formula)
            assert latex.latex(formula)
            again = elaborate(parse(show.text(formula), "H", WHERE), scope, formula.shape, "H", WHERE)
            assert again.shape == formula.shape
            np.testing.assert_allclose(evaluate(again, AT), evaluate(formula, AT), rtol=1e-6, atol=1e-9)

    check()

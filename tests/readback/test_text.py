"""A text is parsed piece by piece, each function once: together the pieces are the text."""

import ast
from fractions import Fraction
from pathlib import Path

import pytest

from recipe_compiler.readback.interpreter import Reader
from recipe_compiler.readback.text import BETWEEN, pieces_of, written_numbers

GENERATED = Path(__file__).parents[2] / "generated"


@pytest.mark.parametrize("name", ["sghmc_logistic", "gibbs_normal"])
def test_pieces_are_the_text(name: str) -> None:
    text = (GENERATED / f"{name}.py").read_text(encoding="utf-8")
    pieces = pieces_of(text)
    together = [ast.dump(node) for piece in pieces for node in piece.body]
    assert together == [ast.dump(node) for node in ast.parse(text).body]
    assert len(pieces) > 10


WHOLE = [
    'x = """a' + BETWEEN + 'b"""',
    "def f(a):\n    b = a" + BETWEEN + "    return b",
    "if True:\n    a = 1" + BETWEEN + "else:\n    a = 2",
    "a = (1," + BETWEEN + "2)",
]


@pytest.mark.parametrize("text", WHOLE)
def test_what_is_not_whole_by_itself_is_not_taken_apart(text: str) -> None:
    (piece,) = pieces_of(text)
    assert [ast.dump(node) for node in piece.body] == [ast.dump(node) for node in ast.parse(text).body]


def test_a_text_that_is_no_python_is_none_in_pieces() -> None:
    with pytest.raises(SyntaxError):
        pieces_of("a = 1 + \\" + BETWEEN + "b = 2")


def test_numbers_are_those_that_are_written_in_their_own_piece() -> None:
    text = "A = 0.1" + BETWEEN + "\u00e4 = 0.30000000000000000001" + BETWEEN + "def f(a):\n    return 2.5e-3 * a"
    found = [number for piece in pieces_of(text) for _, number in written_numbers(piece)]
    assert found == [Fraction(1, 10), Fraction("0.30000000000000000001"), Fraction(1, 400)]
    assert Reader(text).call("f", {"a": 400}) == 1

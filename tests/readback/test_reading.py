"""How texts are read: piece by piece, to an end, and compared at points where what differs is too large."""

import ast
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest
import sympy as sp
from processor_time import ends

from recipe_compiler.algebra.scalars.transcendentals import NoNormalFormError
from recipe_compiler.errors import CompilerError, ReadBackError
from recipe_compiler.readback import point
from recipe_compiler.readback.child_process import Reading, read_all
from recipe_compiler.readback.interpreter import Reader
from recipe_compiler.readback.names import Names
from recipe_compiler.readback.text import BETWEEN, pieces_of, written_numbers

GENERATED = Path(__file__).parents[2] / "generated"


@pytest.mark.parametrize("name", ["sghmc_logistic", "gibbs_normal"])
def test_pieces_are_the_text(name: str) -> None:
    text = (GENERATED / f"{name}.py").read_text(encoding="utf-8")
    pieces = pieces_of(text)
    together = [ast.dump(node) for piece in pieces for node in piece.body]
    assert together == [ast.dump(node) for node in ast.parse(text).body]
    assert len(pieces) > 10


@pytest.mark.parametrize(
    "text",
    [
        'x = """a' + BETWEEN + 'b"""',
        "def f(a):\n    b = a" + BETWEEN + "    return b",
        "if True:\n    a = 1" + BETWEEN + "else:\n    a = 2",
        "a = (1," + BETWEEN + "2)",
    ],
)
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


def forever() -> None:
    while True:
        pass


def fails() -> None:
    raise ZeroDivisionError("by nothing")


def differs() -> None:
    raise CompilerError("the emitted text differs")


@pytest.mark.parametrize(
    ("job", "fault", "says"),
    [
        (forever, ReadBackError, r"well was not read back.*the step at d = 2: did not end in 0.2 s"),
        (fails, ReadBackError, "the step at d = 2: an internal error of recipe_compiler, not of the document: "
         "ZeroDivisionError: by nothing"),
        (differs, CompilerError, "the emitted text differs"),
    ],
)  # fmt: skip
def test_a_reading_that_ends_otherwise_is_named(job: Callable[[], None], fault: type[Exception], says: str) -> None:
    with ends(), pytest.raises(fault, match=says):
        read_all("well", [Reading("the step", lambda: None), Reading("the step at d = 2", job)], seconds=0.2)


X, Y = sp.symbols("x y", real=True)
P, Q = sp.symbols("p q", positive=True)


@pytest.mark.parametrize(
    ("read", "stated", "fault"),
    [
        (sp.log(P * Q**2 * (1 + X**2)), sp.log(P) + 2 * sp.log(Q) + sp.log(1 + X**2), None),
        ((X + Y) ** 5 / (1 + Y**2), sp.expand((X + Y) ** 5) / (1 + Y**2), None),
        (sp.log(P * Q), sp.log(P) + sp.log(Q + 1), CompilerError),
        (X * sp.Abs(Y), X * Y, ReadBackError),  # alike where Y is positive
    ],
)
def test_what_has_no_normal_form_is_compared_at_points(
    read: sp.Expr, stated: sp.Expr, fault: type[Exception] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_: object) -> bool:
        raise NoNormalFormError("product of polynomials with 1240029 and 4 terms is too large")

    point._agree.cache_clear()
    monkeypatch.setattr(point, "is_zero", refuse)
    here = Names(None, {})  # ty: ignore[invalid-argument-type] - of no program
    if fault is None:
        point.equal(read, stated, "U", here)
        return
    with pytest.raises(fault):
        point.equal(read, stated, "U", here)

"""How texts are read: piece by piece, to an end, and compared at points where what differs is too large."""

import ast
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest
import sympy as sp
from processor_time import ends

import recipe_compiler as rc
from recipe_compiler.algebra.scalars.transcendentals import NoNormalFormError
from recipe_compiler.errors import CompilerError, ReadBackError
from recipe_compiler.readback import point
from recipe_compiler.readback.child_process import Reading, read_all
from recipe_compiler.readback.interpreter import BETWEEN, Reader, parsed
from recipe_compiler.readback.names import Names, rational_of

GENERATED = Path(__file__).parents[2] / "generated"


@pytest.mark.parametrize(
    "text",
    [
        *((GENERATED / f"{name}.py").read_text(encoding="utf-8") for name in ("sghmc_logistic", "gibbs_normal")),
        'def g(a):\n    x = """a' + BETWEEN + 'b"""',
        "def f(a):\n    b = a" + BETWEEN + "    return b",
        "def g(a):\n    if True:\n        a = 1" + BETWEEN + "    else:\n        a = 2",
        "def g(a):\n    a = (1," + BETWEEN + "2)",
    ],
    ids=["sghmc_logistic", "gibbs_normal", "string", "body", "branch", "tuple"],
)
def test_functions_in_pieces_are_those_of_the_text(text: str) -> None:
    stated = [ast.dump(node) for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)]
    assert [ast.dump(node) for node in parsed(text).functions.values()] == stated


def test_a_text_that_is_no_python_is_none_in_pieces() -> None:
    with pytest.raises(SyntaxError):
        parsed("a = 1 + \\" + BETWEEN + "b = 2")


def test_numbers_are_those_that_are_written_in_their_own_piece() -> None:
    text = "A = 0.1" + BETWEEN + "\u00e4 = 0.30000000000000000001" + BETWEEN + "def f(a):\n    return 2.5e-3 * a"
    assert [*parsed(text).exact.values()] == [Fraction(1, 10), Fraction("0.30000000000000000001"), Fraction(1, 400)]
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


def test_numbers_for_names_hide_no_factor() -> None:
    values = {rational_of(f"{block}[{k}]") for block in ("theta", "r", "z", "xi") for k in range(64)}
    assert len(values) > 80
    assert sp.Integer(1) not in values


@pytest.mark.slow
def test_a_division_by_zero_is_no_internal_error(tmp_path: Path) -> None:
    text = "name: singular\nstate: {x: {shape: 2}}\nlog_prior: -norm2(x)/2 - norm2(cholesky(outer(x, x)) @ x)/2\n"
    (tmp_path / "singular.yaml").write_text(text)
    stated = {"bind": {"D": "I"}, "step_size": 0.1, "allow_undecided": True, "cache": False}
    with pytest.raises(ReadBackError, match="the emitted kernel divides by zero where it is read"):
        rc.compile("sgld", target=rc.load(tmp_path / "singular.yaml"), **stated)

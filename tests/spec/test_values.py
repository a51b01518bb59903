"""Numbers are exact and decimal, or refused; kinds of values are decided exactly."""

from collections.abc import Callable
from fractions import Fraction
from io import BytesIO

import numpy as np
import pytest
from answers import document

from recipe_compiler.errors import DocumentError
from recipe_compiler.formula.declaration import Parameter
from recipe_compiler.formula.shapes import SCALAR, Kind, Shape
from recipe_compiler.spec.fields import exact
from recipe_compiler.spec.model import Build
from recipe_compiler.spec.values import kind_problem, shape_problem

Problem = Callable[..., str]


def rows(*lines: tuple[str, ...]) -> tuple[tuple[Fraction, ...], ...]:
    return tuple(tuple(Fraction(number) for number in line) for line in lines)


def problem(kind: Kind, *lines: tuple[str, ...]) -> str:
    return kind_problem(rows(*lines), Parameter("A", Shape("d", "d"), (kind,)))


@pytest.mark.parametrize(
    ("kind", "lines"),
    [
        (Kind.PD, (("2", "1/2"), ("1/2", "1"))),
        (Kind.PSD, (("1", "1"), ("1", "1"))),
        (Kind.PSD, (("0", "0"), ("0", "1"))),
        (Kind.SYMMETRIC, (("0", "1"), ("1", "-5"))),
        (Kind.SKEW, (("0", "1"), ("-1", "0"))),
        (Kind.DIAGONAL, (("0", "0"), ("0", "-5"))),
        (Kind.NONZERO, (("1", "-1"),)),
        (Kind.REAL, (("0", "-1"),)),
    ],
)
def test_values_of_a_kind_are_accepted(kind: Kind, lines: tuple[tuple[str, ...], ...]) -> None:
    assert problem(kind, *lines) == ""


@pytest.mark.parametrize(
    ("kind", "lines", "part"),
    [
        (Kind.PD, (("1", "1"), ("1", "1")), "v.T @ A @ v = 0 at v = [-1, 1]"),
        (Kind.PD, (("1", "0.1"), ("0.1", "0.01")), "v.T @ A @ v = 0 at v = [-1/10, 1]"),
        (Kind.PSD, (("1", "2"), ("2", "1")), "v.T @ A @ v = -3 at v = [-2, 1]"),
        (Kind.PSD, (("0", "1"), ("1", "9")), "v.T @ A @ v = -11 at v = [-10, 1]"),
        (Kind.PD, (("1", "1/3"), ("0.333333333333333", "1")), "A[0,1] = 1/3 and A[1,0]"),
        (Kind.SKEW, (("1", "1"), ("-1", "0")), "A[0,0] = 1"),
        (Kind.DIAGONAL, (("1", "1"), ("0", "1")), "A[0,1] = 1"),
        (Kind.POSITIVE, (("1",), ("0",)), "A[1] = 0"),
        (Kind.NONNEGATIVE, (("-1",),), "A = -1"),
    ],
)
def test_the_guilty_entry_is_named(kind: Kind, lines: tuple[tuple[str, ...], ...], part: str) -> None:
    assert part in problem(kind, *lines)
    assert problem(kind, *lines).endswith(f"expected A {kind.value}")


@pytest.mark.parametrize(
    ("value", "shape", "fits"),
    [
        (rows(("1",)), SCALAR, True),
        (rows(("1",), ("2",)), Shape("d"), True),
        (rows(("1",), ("2",)), Shape("k"), False),
        (rows(("1", "2")), Shape("d"), False),
        (rows(("1", "2"), ("3", "4")), Shape("n", "n"), True),
        (rows(("1", "2", "3"), ("4", "5", "6")), Shape("n", "n"), False),
        (rows(("1", "2", "3"), ("4", "5", "6")), Shape("d", "k"), True),
        (rows(("1", "2", "3"), ("4", "5", "6")), Shape("k", "d"), False),
    ],
)
def test_shapes_are_those_declared(value: tuple[tuple[Fraction, ...], ...], shape: Shape, *, fits: bool) -> None:
    assert (shape_problem(value, shape, {"d": 2, "k": 3}) == "") is fits


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1e-3", Fraction(1, 1000)),
        ("0.1", Fraction(1, 10)),
        ("-1/3", Fraction(-1, 3)),
        (".5", Fraction(1, 2)),
        ("2.", Fraction(2)),
        ("+7", Fraction(7)),
        ("1.5E2", Fraction(150)),
        ("1/0.5", Fraction(2)),
        ("0", Fraction(0)),
    ],
)
def test_a_number_is_read_exactly(text: str, value: Fraction) -> None:
    assert exact(text) == value


@pytest.mark.parametrize(
    "text",
    ["010", "1:30", "1_000", "0x10", "0o7", ".nan", "nan", ".inf", "inf", "true", "no", "", ".", "e3", "1e", "1/0",
     "1e999", "1e999999999", "9" * 5000, "1 2", "--1", "\u0661", "1,5", "/2", "1/"],
)  # fmt: skip
def test_what_means_something_else_elsewhere_or_is_out_of_bounds_is_none(text: str) -> None:
    assert exact(text) is None


BUILD = """
name: gaussian
dynamics: sgld
target: gaussian
bind: {D: I}
parameters: {mu: {value: mu.npy}, Sigma: {value: [[2, 1, 0], [1, 2, 0], [0, 0, 1]]}}
scheme: {name: euler}
variant: full
sizes: {d: 3}
run: {step_size: 0.1}
"""


def build_of(save: Callable[..., None], *given: object, **named: object) -> Build:
    file = BytesIO()
    save(file, *given, **named)
    return document(BUILD, **{"mu.npy": file.getvalue()})


def test_an_array_file_is_taken_by_its_name() -> None:
    file = dict(build_of(np.save, np.arange(3.0)).values)["mu"].file
    assert file is not None
    assert file.name == "mu.npy"


@pytest.mark.parametrize(
    ("save", "given", "said"),
    [
        (np.save, np.arange(4.0), ""),
        (np.save, np.ones((3, 3)), ""),
        (np.save, np.array(["a", "b", "c"]), ""),
        (np.save, np.array([1j, 2, 3]), ""),
        (np.save, np.array([1, "x", None]), ""),
        (np.savez, np.arange(3.0), "archive"),
    ],
    ids=["length", "axes", "text", "complex", "objects", "archive"],
)
def test_an_array_file_of_something_else_is_refused(save: Callable[..., None], given: np.ndarray, said: str) -> None:
    with pytest.raises(DocumentError) as caught:
        build_of(save, given)
    (fault,) = caught.value.faults
    assert fault.entry == "parameters.mu.value"
    assert said in fault.problem

"""Kinds of values are decided exactly."""

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from recipe_compiler.formula.declaration import Parameter
from recipe_compiler.formula.shapes import SCALAR, Kind, Shape
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
        (Kind.PD, (("1", "1"), ("1", "1")), "pivot 0 at A[1,1]"),
        (Kind.PD, (("1", "0.1"), ("0.1", "0.01")), "pivot 0 at A[1,1]"),
        (Kind.PSD, (("1", "2"), ("2", "1")), "pivot -3 at A[1,1]"),
        (Kind.PSD, (("0", "1"), ("1", "9")), "pivot 0 at A[0,0] of L D L^T with 1 beside it"),
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


def test_an_array_file_is_taken_by_its_name(load_spoiled, tmp_path: Path) -> None:
    np.save(tmp_path / "mu.npy", np.arange(3.0))
    build = load_spoiled("builds/sghmc_gaussian", ("[1, -2, 1/2]", "mu.npy"))
    assert dict(build.values)["mu"].file == tmp_path / "mu.npy"


@pytest.mark.parametrize(
    "array",
    [np.arange(4.0), np.ones((3, 3)), np.array(["a", "b", "c"]), np.array([1j, 2, 3]), np.array([1, "x", None])],
    ids=["length", "axes", "text", "complex", "objects"],
)
def test_an_array_file_of_something_else_is_refused(refused, tmp_path: Path, array: np.ndarray) -> None:
    np.save(tmp_path / "mu.npy", array, allow_pickle=True)
    (fault,) = refused("builds/sghmc_gaussian", ("[1, -2, 1/2]", "mu.npy"))
    assert fault.entry == "parameters.mu.value"


def test_an_archive_called_npy_is_refused(refused, tmp_path: Path) -> None:
    with (tmp_path / "mu.npy").open("wb") as file:
        np.savez(file, mu=np.arange(3.0))
    (fault,) = refused("builds/sghmc_gaussian", ("[1, -2, 1/2]", "mu.npy"))
    assert "archive" in fault.problem

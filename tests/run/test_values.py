"""Sizes and parameters of a run: where they come from, and what is refused."""

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from recipe_compiler.errors import DataError
from recipe_compiler.formula.declaration import Block, Parameter
from recipe_compiler.formula.expression import Identity, Number
from recipe_compiler.formula.shapes import SCALAR, Kind, Shape
from recipe_compiler.run.data import Data
from recipe_compiler.run.sizes import parameter_values, resolve_sizes
from recipe_compiler.spec.model import Build, Value


def numbers(rows: list[list[object]]) -> Value:
    return Value(tuple(tuple(Fraction(str(number)) for number in row) for row in rows))


def with_parameter(build: Build, shape: Shape, *kinds: Kind, value: Value | None = None) -> Build:
    values = build.values if value is None else (*build.values, ("A", value))
    return replace(build, parameters=(Parameter("A", shape, kinds or (Kind.REAL,)),), values=values)


SQUARE = Shape("d", "d")


def test_sizes_come_from_data(build: Build, data: Data) -> None:
    assert resolve_sizes(build, data) == {"N": 20, "d": 3}


def test_sizes_come_from_values_of_parameters(build: Build) -> None:
    build = replace(build, target=replace(build.target, declarations=replace(build.target.declarations, data=())))
    build = with_parameter(build, SQUARE, value=numbers([[2, 1], [1, 3]]))
    assert resolve_sizes(build, Data()) == {"d": 2}


def test_sizes_that_disagree_are_named_with_both_sources(build: Build, data: Data) -> None:
    with pytest.raises(DataError, match="size d: found 5 by `sizes`, but 3 by the data of `x`"):
        resolve_sizes(replace(build, sizes=(("d", 5),)), data)


def test_blocks_of_the_target_make_the_potential_block(build: Build, data: Data) -> None:
    blocks = (Block("m", Shape("k")), Block("W", Shape(2, "k")), Block("s"))
    declarations = replace(build.target.declarations, blocks=blocks, data=())
    build = replace(build, target=replace(build.target, declarations=declarations), sizes=(("k", 4),))
    assert resolve_sizes(build, Data()) == {"k": 4, "d": 13}
    with pytest.raises(DataError, match="block `theta`: found 5 entries, but the blocks of mean have 13"):
        resolve_sizes(replace(build, sizes=(("k", 4), ("d", 5))), Data())


def test_values_are_floats_columns_and_matrices(build: Build) -> None:
    found = parameter_values(build, ("c", "limit"), {"d": 2})
    assert found["c"].shape == ()
    assert float(found["c"]) == 3.0
    assert float(found["limit"]) == 1e9
    column = with_parameter(build, Shape("d"), value=numbers([[1], [2]]))
    assert parameter_values(column, ("A",), {"d": 2})["A"].tolist() == [1.0, 2.0]
    matrix = with_parameter(build, SQUARE, value=numbers([["1/3", 2], [0, 4]]))
    assert parameter_values(matrix, ("A",), {"d": 2})["A"].tolist() == [[1 / 3, 2.0], [0.0, 4.0]]


def test_a_default_may_be_a_formula(build: Build) -> None:
    build = replace(build, parameters=(Parameter("A", SQUARE, default=Identity("d")),))
    np.testing.assert_array_equal(parameter_values(build, ("A",), {"d": 3})["A"], np.eye(3))


def test_values_come_from_array_files_but_never_from_pickles(build: Build, tmp_path: Path) -> None:
    np.save(tmp_path / "A.npy", np.eye(2))
    good = with_parameter(build, SQUARE, value=Value(file=tmp_path / "A.npy"))
    np.testing.assert_array_equal(parameter_values(good, ("A",), {"d": 2})["A"], np.eye(2))
    np.save(tmp_path / "B.npy", np.array([[{}]]), allow_pickle=True)
    bad = with_parameter(build, SQUARE, value=Value(file=tmp_path / "B.npy"))
    with pytest.raises(DataError, match="found no plain array of numbers"):
        parameter_values(bad, ("A",), {"d": 2})
    whole = (tmp_path / "A.npy").read_bytes()
    (tmp_path / "B.npy").write_bytes(whole.replace(b"(2, 2), }" + b" " * 12, b"(2000000, 2000000), }"))
    with pytest.raises(DataError, match="found no plain array of numbers"):  # and not for want of memory
        parameter_values(bad, ("A",), {"d": 2})


@pytest.mark.parametrize(
    ("kind", "good", "bad"),
    [
        (Kind.SYMMETRIC, [[1, 2], [2, 5]], [[1, 2], [3, 5]]),
        (Kind.SKEW, [[0, 2], [-2, 0]], [[0, 2], [2, 0]]),
        (Kind.PSD, [[1, 2], [2, 4]], [[1, 2], [2, 3]]),
        (Kind.PD, [[1, 2], [2, 5]], [[1, 2], [2, 3]]),
        (Kind.DIAGONAL, [[1, 0], [0, -3]], [[1, 0], [1, 3]]),
        (Kind.NONNEGATIVE, [[0, 1], [2, 3]], [[0, -1], [2, 3]]),
        (Kind.POSITIVE, [[4, 1], [2, 3]], [[0, 1], [2, 3]]),
        (Kind.NONZERO, [[-1, 1], [2, 3]], [[0, 1], [2, 3]]),
    ],
)
def test_kinds_are_checked(build: Build, kind: Kind, good: list[list[object]], bad: list[list[object]]) -> None:
    parameter_values(with_parameter(build, SQUARE, kind, value=numbers(good)), ("A",), {"d": 2})
    with pytest.raises(DataError, match=rf"parameter `A`: found .*, expected .*\b{kind.value}\b"):
        parameter_values(with_parameter(build, SQUARE, kind, value=numbers(bad)), ("A",), {"d": 2})


@pytest.mark.parametrize("beyond", [Fraction(10**400), Fraction(-(10**400))])
def test_numbers_beyond_doubles_are_refused(build: Build, beyond: Fraction) -> None:
    for changed in (
        with_parameter(build, SCALAR, value=Value(((beyond,),))),
        replace(build, parameters=(Parameter("A", SCALAR, default=Number(beyond)),)),
    ):
        with pytest.raises(DataError, match=r"parameter `A`: found -?inf, expected a finite number"):
            parameter_values(changed, ("A",), {"d": 2})


def test_all_misfits_are_named_at_once(build: Build) -> None:
    build = replace(
        with_parameter(build, SQUARE, value=numbers([[1, 2, 3]])),
        values=(("A", numbers([[1, 2, 3]])), ("c", numbers([[-1]]))),
    )
    with pytest.raises(DataError) as caught:
        parameter_values(build, ("A", "c"), {"d": 2})
    assert "parameter `A`: found the shape (1, 3), expected (2, 2)" in str(caught.value)
    assert "parameter `c`: found -1.0, expected positive entries" in str(caught.value)


def test_a_default_of_the_wrong_kind_is_refused(build: Build) -> None:
    build = replace(build, parameters=(Parameter("b", SCALAR, (Kind.POSITIVE,), Number(Fraction(0))),))
    with pytest.raises(DataError, match="parameter `b`"):
        parameter_values(build, ("b",), {})

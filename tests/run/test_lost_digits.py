"""Integers that no double is are refused where data are read: 2**53 + 1 would be 2**53."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from loaders import load_target

from recipe_compiler.errors import DataError
from recipe_compiler.run.data import data_of
from recipe_compiler.run.table import read_table

ODD = 2**53 + 1
LOST = f"found .?{ODD}.*, expected whole numbers that doubles hold"
X = [[1.0, 0, 0, 0, 0], [2.0, 0, 0, 0, 0]]

GIVEN: dict[str, Any] = {
    "list": [1, ODD],
    "list beside a float": [0.5, ODD],
    "integers": np.array([1, ODD]),
    "unsigned": np.array([1, ODD], np.uint64),
    "column of pandas": pd.Series([1, ODD]),
    "nullable column of pandas": pd.Series([1, ODD], dtype="Int64"),
}


@pytest.mark.parametrize("name", GIVEN)
def test_arrays_that_lose_digits_are_refused(name: str) -> None:
    with pytest.raises(DataError, match=LOST):
        data_of({"x": X, "y": GIVEN[name]}, load_target("linear_regression"))


def test_a_table_of_integers_beside_others_is_looked_at_column_by_column() -> None:
    x = pd.DataFrame({"a": [0.5, 1.0], "b": [1, ODD], **{name: [0.0, 1.0] for name in "cde"}})
    with pytest.raises(DataError, match=LOST):
        data_of({"x": x, "y": [1.0, 2.0]}, load_target("linear_regression"))


@pytest.mark.parametrize("y", [[1, 2**53 + 2], np.array([1, 2**60]), [1e300, 0.1], [-(2**53), 2**53]])
def test_what_a_double_holds_is_taken(y: Any) -> None:
    field = next(one for one in data_of({"x": X, "y": y}, load_target("linear_regression")).fields if one.name == "y")
    assert [int(one) for one in field.values] == [int(one) for one in y]


def test_files_that_lose_digits_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(f"a,b\n1,2\n{ODD},3\n")
    np.save(tmp_path / "b.npy", np.array([[1, 2], [ODD, 3]]))
    np.save(tmp_path / "c.npy", np.array([(1, 0.5), (ODD, 0.5)], dtype=[("a", "i8"), ("b", "f8")]))
    for file, names in (("a.csv", ()), ("b.npy", ("a", "b")), ("c.npy", ())):
        with pytest.raises(DataError, match=f"{file}, row 2.*column `a`: {LOST}"):
            read_table(tmp_path / file, ("a", "b"), names)


def test_parquet_that_loses_digits_is_refused(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    pd.DataFrame({"a": [1, ODD], "b": [0.5, 1.0]}).to_parquet(tmp_path / "a.parquet")
    with pytest.raises(DataError, match=f"row 2, column `a`: {LOST}"):
        read_table(tmp_path / "a.parquet", ("a", "b"))


def test_numbers_that_are_written_as_rounded_are_taken(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("a,b\n1e22,2\n9007199254740994,3\n123456789012345678e5,1\n-9007199254740993.5,1\n")
    known = [1e22, 2.0**53 + 2, 123456789012345678e5, -(2.0**53) - 2]
    assert read_table(tmp_path / "a.csv", ("a",)).column("a").tolist() == known

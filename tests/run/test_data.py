"""Data of files and of memory: columns by name, every misfit named by row and column, nothing executed.

Arrays may be mapped, so that they may be larger than memory, and stored as float32.
"""

import pickle
import re
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr

from recipe_compiler.errors import DataError
from recipe_compiler.formula.declaration import Block, Datum, Declarations
from recipe_compiler.formula.shapes import Shape
from recipe_compiler.run.columns import open_array, read_columns
from recipe_compiler.run.data import data_of, load_data
from recipe_compiler.spec.model import DataFile, Target

COLUMNS = (("x", ("a", "b")), ("y", ("y",)))
CSV = "a,b,y,name\n1,10,0,u\n2,30,1,v\n6,20,1,w\n"
VALUES = np.random.default_rng(3).normal(2.0, 3.0, (1000, 3)) @ np.diag([1.0, 40.0, 0.0])
VALUES[:, 2] = np.arange(1000) % 2
ENDINGS = (".csv", ".npy", ".parquet")
ODD = 2**53 + 1
LOST = f"found .?{ODD}.*, expected whole numbers that doubles hold"
Content = str | bytes | np.ndarray | Mapping[str, Any]
"""Of a CSV file, of an array file or its bytes, of a Parquet file."""


def target(width: str | int = "d", rows: str | int = "N") -> Target:
    data = (Datum("x", rows, Shape(width)), Datum("y", rows, values=(0, 1)))
    return Target("logistic", Declarations(blocks=(Block("theta", Shape(width)),), data=data))


def stored(folder: Path, content: Content, **changes: Any) -> DataFile:
    """Write a file of columns a, b, y."""
    names: tuple[str, ...] = ()
    if isinstance(content, Mapping):
        pytest.importorskip("pyarrow")
        pd.DataFrame(content).to_parquet(path := folder / "data.parquet", row_group_size=170)
    elif isinstance(content, str):
        (path := folder / "data.csv").write_text(content, encoding="utf-8")
    elif isinstance(content, bytes):
        (path := folder / "data.npy").write_bytes(content)
    else:
        np.save(path := folder / "data.npy", content)
        names = ("a", "b", "y") if content.dtype.names is None else ()
    return replace(DataFile(path, COLUMNS, names=names), **changes)


def table(ending: str, values: np.ndarray = VALUES) -> Content:
    if ending == ".npy":
        return values
    if ending == ".parquet":
        return {"y": values[:, 2].astype(bool), "b": values[:, 1], "a": values[:, 0]}
    return "a,b,y\n" + "\n".join(",".join(map(repr, row)) for row in values.tolist()) + "\n"


def fields(file: DataFile | None, like: Target | None = None) -> tuple[np.ndarray, np.ndarray]:
    x, y = load_data(file, like or target()).fields
    return x.values, y.values


# what is read


FIELDS = np.array([(1.0, 2, 1), (3.0, 4, 0)], [("a", "f8"), ("b", "i4"), ("y", "?")])
BY_NUMBER = {"columns": (("x", ("0", "1")), ("y", ("2",))), "names": ()}


@pytest.mark.parametrize(
    ("content", "changes", "rows", "columns"),
    [
        (CSV, {"columns": (("y", ("y",)), ("x", ("b", "a")))}, [[10, 1, 0], [30, 2, 1], [20, 6, 1]], ("b", "a")),
        ("a,b,y\n1,2,0\n\n3,4,1\n\n", {}, [[1, 2, 0], [3, 4, 1]], ("a", "b")),
        ("\ufeffa, b ,y\n1,2,0\n", {}, [[1, 2, 0]], ("a", "b")),
        (FIELDS, {}, [[1, 2, 1], [3, 4, 0]], ("a", "b")),
        (np.array([[1.0, 10, 0], [2, 30, 1]]), {}, [[1, 10, 0], [2, 30, 1]], ("a", "b")),
        (VALUES, BY_NUMBER, VALUES, ("0", "1")),
    ],
)
def test_columns_are_found_by_name_in_any_order(
    content: Content, changes: dict[str, Any], rows: Any, columns: tuple[str, ...], tmp_path: Path
) -> None:
    """Blank lines, a mark of the order of bytes and spaces are no hindrance; columns of an array may have numbers."""
    x, y = load_data(stored(tmp_path, content, **changes), target()).fields
    np.testing.assert_array_equal(np.column_stack([x.values, y.values]), rows)
    assert x.columns == columns


def test_a_target_without_data_needs_no_file() -> None:
    assert load_data(None, Target("gaussian", Declarations())).rows == 0
    with pytest.raises(DataError, match="expected columns for x, y"):
        load_data(None, target())


@pytest.mark.parametrize("ending", ENDINGS)
def test_what_is_loaded_is_what_was_written(tmp_path: Path, ending: str) -> None:
    file = stored(tmp_path, table(ending))
    x, y = load_data(file, target()).fields
    np.testing.assert_array_equal(np.column_stack([x.values, y.values]), VALUES)
    assert (x.columns, y.columns) == (("a", "b"), ("y",))
    for values in (x.values, y.values):
        assert values.flags.c_contiguous
        assert values.flags.aligned


@pytest.mark.parametrize("ending", ENDINGS)
def test_columns_are_standardised_and_an_intercept_stands_first(tmp_path: Path, ending: str) -> None:
    expected = (VALUES[:, :2] - VALUES[:, :2].mean(axis=0)) / VALUES[:, :2].std(axis=0)
    file = stored(tmp_path, table(ending), standardise=("x",), intercept=True)
    x, y = load_data(file, target(3)).fields
    np.testing.assert_array_equal(x.values[:, 0], 1.0)
    np.testing.assert_allclose(x.values[:, 1:], expected, rtol=1e-12, atol=1e-13)
    assert x.columns == ("intercept", "a", "b")
    np.testing.assert_array_equal(y.values, VALUES[:, 2])


def test_standardising_keeps_the_digits_of_a_large_mean(tmp_path: Path) -> None:
    file = stored(tmp_path, VALUES + np.array([1e9, 0.0, 0.0]), standardise=("x",))
    a = fields(file)[0][:, 0]
    np.testing.assert_allclose([a.mean(), a.std()], [0.0, 1.0], atol=1e-6)


CELLS = (
    "1", "-1.5", "+2", " 3 ", "1e5", "1E-300", "1e400", ".5", "5.", "0.1", "123456789.123456789", "1_0", "1__0", "e5",
    "1e", "--1", "+-1", "1 2", "0x1p3", "0x10", "1d5", "1f", "nan", "inf", "-Infinity", "True", "", " ", "\u0663",
    "\uff11", "\u00b2", "1\u00a0", "1,5", '"4"', "1e+5", "1e-", ".", "-", "1.2.3", "1e5.0", "'1'", "#1", "1#", "(1)",
    "1/2", "5%", "1j", "4.9406564584124654e-324", "1e-400", "9007199254740994", "0.30000000000000004",
)  # fmt: skip


@pytest.mark.parametrize("cell", CELLS)
def test_a_cell_is_read_as_python_reads_it_or_refused(tmp_path: Path, cell: str) -> None:
    """Numbers in digits 0 to 9 alone; by the fast reader and by rows, which a quoted line break in a name forces."""
    quoted = f'"{cell}"' if "," in cell else cell
    try:
        wanted = float(cell.strip('"')) if cell.strip().isascii() and "_" not in cell else None
    except ValueError:
        wanted = None
    for name in ("u", '"a\nb"'):
        file = stored(tmp_path, f"a,b,y,name\n1,10,0,{name}\n{quoted},10,0,u\n")
        if wanted is not None and np.isfinite(wanted):
            assert fields(file)[0][1, 0] == wanted
        else:
            with pytest.raises(DataError, match=r"row 2 \(line [34]\), column `a`"):
                load_data(file, target())


def test_a_number_with_a_space_of_its_own_kind_before_it_is_read_row_by_row(tmp_path: Path) -> None:
    rows = [f"{k},{k / 7},{k % 2}" for k in range(11)]
    rows[5] = "\u00a05,0.7142857142857143,1"
    file = stored(tmp_path, "a,b,y\n" + "\n\n".join(rows) + "\n")
    columns = read_columns(file.file, ("b", "a"))
    np.testing.assert_array_equal(columns.values["b"], np.arange(11) / 7)
    np.testing.assert_array_equal(columns.values["a"], np.arange(11.0))
    assert "row 11 (line 22), column `a`" in columns.place(10, "a")


def test_a_shuffle_is_the_same_for_all_fields_and_for_one_seed(tmp_path: Path) -> None:
    file = stored(tmp_path, table(".csv"), shuffle=5)
    x, y = fields(file)
    np.testing.assert_array_equal(y[np.argsort(x[:, 0])], VALUES[np.argsort(VALUES[:, 0]), 2])
    assert not np.array_equal(x, VALUES[:, :2])
    np.testing.assert_array_equal(fields(file)[0], x)
    assert not np.array_equal(fields(replace(file, shuffle=6))[0], x)


# what is refused

FREE = Target("t", Declarations(data=(Datum("x", "N", Shape("d")), Datum("y", "N"))))
FAR = table(".csv").split("\n")
REFUSED: list[tuple[Content, dict[str, Any], str]] = [
    ("a,b,y\n1,2,0\n1,oops,0\n", {}, "row 2 (line 3), column `b`: found `oops`, expected a number"),
    ("a,b,y\n1,2,0\n1_0,2,0\n", {}, "row 2 (line 3), column `a`: found `1_0`, expected a number"),
    ("a,b,y\n1,2,0\n\n1,\u0661\u0662,0\n", {}, "row 2 (line 4), column `b`: found `\u0661\u0662`, expected a number"),
    ("a,b,y\n1,,0\n", {}, "row 1 (line 2), column `b`: found an empty cell, expected a number"),
    ("a,b,y\n1,2,0\n1,nan,1\n", {}, "row 2 (line 3), column `b`: found nan, expected a number"),
    ("a,b,y\n1,2,0\n-inf,2,0\ninf,2,0", {}, "row 2 (line 3), column `a`: found -inf, expected a number, and 1 more"),
    ("a,b,y\n1,2,0\n1,2,2\n", {}, "row 2 (line 3), column `y`: found 2, expected one of 0, 1 for `y`"),
    ("a,b,y\n1,2,0\n1,2\n", {}, "row 2 (line 3): found 2 cells, expected 3 as in the header"),
    ("a,b,y\n1,2,0\n1,2,1,\n", {}, "row 2 (line 3): found 4 cells, expected 3"),
    ("a,b,y\n", {}, "found 0 rows"),
    ("", {}, "found no column `a`: it has none"),
    ("a,B,z\n1,2,0\n", {}, "found no column `y`: it has a, B, z"),
    ("a,b,b,y\n1,2,2,0\n", {}, "found column `b` 2 times, expected once"),
    *(("aa,c\n1,2\n", {}, says) for says in ("no column `a`: did you mean `aa`?", "no column `b`", "no column `y`")),
    (f"a,b,y\n1,{'1' * 200_000},0\n", {}, "cannot be read: field larger than field limit"),
    (CSV, {"like": target(5)}, "shape (3, 2) for `x`, expected an array [N, 5] of finite numbers"),
    (CSV, {"like": target("d", 7)}, "found an array of shape (3, 2) for `x`, expected an array [7, d]"),
    (CSV, {"columns": (("x", ("a",)), ("y", ("y", "b"))), "like": FREE}, "shape (3, 2) for `y`, expected an array [N]"),
    ("a,b,y\n0.1,5,0\n0.1,6,1\n0.1,7,1\n", {"standardise": ("x",)}, "column `a`: every row is 0.1"),
    ("\n".join([*FAR[:700], "1,high,0", *FAR[701:]]), {}, "row 700 (line 701), column `b`: found `high`, expected a"),
    ("\n".join([*FAR[:700], "1,2,7", *FAR[701:]]), {}, "row 700 (line 701), column `y`: found 7, expected one of 0, 1"),
    (CSV, {"names": ("a", "b", "y")}, "this file names its columns itself"),
    (VALUES, {"names": ("a", "b")}, "found 3 columns, expected 2: one for each of `names`"),
    (np.array([[1.0, 1e300, 0.0]]), {"dtype": "float32"}, "row 1, column `b`: found 1e+300, expected numbers that fl"),
    *((np.array([[1.0, 2.0, 0.0], [0.0, small, 1.0]]), {"dtype": "float32"},
       f"row 2, column `b`: found {small:g}, expected numbers that float32 holds for `x`")
      for small in (1e-46, -1e-60, 1e-44, 1.1e-38)),
    ({"a": [1.0, np.nan], "b": [1, 2], "y": [0, 1]}, {}, "row 2, column `a`: found nan, expected a number"),
    ({"a": [1.0, 2.0], "b": ["u", "v"], "y": [0, 1]}, {}, "string, expected numbers"),
    ({"a": [1.0, 2.0], "y": [0, 1]}, {}, "found no column `b`"),
]  # fmt: skip


@pytest.mark.parametrize(("content", "changes", "says"), REFUSED)
def test_misfits_of_a_file_are_named(content: Content, changes: dict[str, Any], says: str, tmp_path: Path) -> None:
    """A number too small for float32 would be 0, or have lost its digits, and a weight of 0 drops its datum."""
    like = changes.get("like")
    file = stored(tmp_path, content, **{key: changes[key] for key in changes if key != "like"})
    with pytest.raises(DataError, match=re.escape(says)):
        load_data(file, like or target())
    if changes.get("dtype"):
        load_data(replace(file, dtype="float64"), target())


def header(shape: str, length: int | None = None, version: bytes = b"\x01\x00") -> bytes:
    """Return an array file that claims a shape, or a header of some length, and holds eight numbers."""
    text = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}".ljust(117).encode() + b"\n"
    said = len(text).to_bytes(2, "little") if length is None else length.to_bytes(4, "little")
    return b"\x93NUMPY" + version + said + text + bytes(64)


CUT = "found no plain array of numbers .*NumPy finds no array in its {} bytes, cut off maybe: "
NO_ARRAYS: list[tuple[bytes | int, str]] = [
    (header("(1000000000000, 2)"), CUT.format(192) + "mmap length is greater than file size"),
    (header("(1000000000000, 2)", 2**32 - 1, b"\x02\x00"), CUT.format(194) + "EOF: reading array header"),
    *((left, CUT.format(left)) for left in (300, 128, 100, 7)),
    *((text, r"its first bytes are b'.*', expected b'.x93NUMPY'") for text in (b"", b"hello", b"a,b,y\n1,2,0\n")),
    *((header(shape), "") for shape in ("(True,)", "(1.5,)", "('3',)", "(-1,)", "(10**9,)", "((3,),)", "((")),
    (header(f"(10{'0' * 30},)"), ""),
]  # fmt: skip


@pytest.mark.parametrize(("content", "says"), NO_ARRAYS)
def test_what_is_no_whole_array_file_is_told_by_its_bytes(content: bytes | int, says: str, tmp_path: Path) -> None:
    path = tmp_path / "x.npy"
    np.save(path, np.ones((50, 2)))
    path.write_bytes(path.read_bytes()[:content] if isinstance(content, int) else content)
    with pytest.raises(DataError, match=rf"x\.npy.*{says}") as caught:
        open_array(path)
    assert "unsafely" not in str(caught.value)


def test_files_that_cannot_be_read_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, content, says in (
        ("none.csv", None, "found"), ("data.xlsx", b"PK", "found"), ("data.csv", b"a,b,y\n\xff\xfe\x00,1,2\n", "utf"),
        ("data.parquet", b"PAR0", "cannot be read"),
    ):  # fmt: skip
        if content is not None:
            (tmp_path / name).write_bytes(content)
        with pytest.raises(DataError, match=says):
            load_data(DataFile(tmp_path / name, COLUMNS), target())
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(DataError, match=r"needs pyarrow, found none: .*recipe_compiler\[parquet\]"):
        load_data(DataFile(tmp_path / "data.parquet", COLUMNS), target())


class Canary:
    def __reduce__(self) -> tuple[object, tuple[str]]:
        return (Path.touch, (Path("ran"),))


def test_pickles_are_never_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    np.save("data.npy", np.array([[Canary()]]), allow_pickle=True)
    Path("plain.npy").write_bytes(pickle.dumps(Canary()))
    for name in ("data.npy", "plain.npy"):
        for file in (DataFile(Path(name), COLUMNS), arrays(x=Path(name), y=Path(name))):
            with pytest.raises(DataError, match="never unpickled"):
                load_data(file, target())
    assert not Path("ran").exists()


# float32


def test_float32_is_storage_of_what_is_computed_in_float64(tmp_path: Path) -> None:
    held = np.array([0.0, -0.0, 2.0**-149, -3 * 2.0**-149, 2.0**-126, 1.2e-38])
    file = stored(tmp_path, np.stack([held, held, np.arange(6) % 2], 1), dtype="float32")
    np.testing.assert_array_equal(fields(file)[0][:, 1], held.astype(np.float32))
    x = fields(stored(tmp_path, VALUES, dtype="float32", standardise=("x",)))[0]
    a = VALUES[:, 0]
    assert x.dtype == np.float32
    np.testing.assert_allclose(x[:, 0], (a - a.mean()) / a.std(), rtol=1e-7, atol=1e-7)


# fields that are files of their own


def arrays(**paths: Path) -> DataFile:
    return DataFile(paths["x"], tuple((name, ()) for name in paths), arrays=tuple(paths.items()))


def saved(folder: Path, x: np.ndarray = VALUES[:, :2], y: np.ndarray = VALUES[:, 2]) -> DataFile:
    np.save(folder / "x.npy", x)
    np.save(folder / "y.npy", y)
    return arrays(x=folder / "x.npy", y=folder / "y.npy")


def test_arrays_are_mapped_as_they_are_or_read(tmp_path: Path) -> None:
    file = saved(tmp_path)
    x, y = load_data(file, target()).fields
    np.testing.assert_array_equal(x.values, VALUES[:, :2])
    assert Path(str(x.values.filename)) == tmp_path / "x.npy"
    assert (x.columns, y.columns) == (("x_0", "x_1"), ("y",))
    x, y = fields(saved(tmp_path, np.asfortranarray(VALUES[:, :2]), VALUES[:, 2].astype(np.int8)))
    assert x.flags.c_contiguous
    np.testing.assert_array_equal(np.column_stack([x, y]), VALUES)
    assert y.dtype == np.float64
    small = replace(file, dtype="float32")
    np.testing.assert_array_equal(fields(small)[0], VALUES[:, :2].astype(np.float32))
    saved(tmp_path, VALUES[:, :2].astype(np.float32))
    assert fields(small)[0].dtype == np.float32


TINY = np.where(np.arange(2000).reshape(1000, 2) == 1001, 1e-46, VALUES[:, :2])
REFUSED_ARRAYS: list[tuple[dict[str, np.ndarray], dict[str, Any], str]] = [
    ({"x": VALUES[:, 0]}, {}, "x.npy: found an array of shape (1000,) for `x`, expected an array [N, 2]"),
    ({"y": VALUES[:999, 2]}, {}, "found 999 rows of `y` (shape (999,)), expected 1000 as `x` has"),
    ({"y": VALUES[:, 2] + 1}, {}, "y.npy, row 2: found 2, expected one of 0, 1 for `y`"),
    ({"x": np.where(VALUES[:, :2] > 90, np.inf, VALUES[:, :2])}, {}, "found inf, expected finite numbers for `x`"),
    ({"x": VALUES[:, :2].astype(complex)}, {}, "found an array of complex128 of shape (1000, 2)"),
    ({"x": VALUES[:0, :2]}, {}, "x.npy: found an array of shape (0, 2) for `x`"),
    ({"x": VALUES}, {}, "found an array of shape (1000, 3) for `x`, expected an array [N, 2]"),
    *(({"x": x}, {"dtype": "float32"}, "x.npy, row 501: found 1e-46, expected numbers that float32 holds for `x`")
      for x in (TINY, TINY[:, ::-1].copy(order="F")[:, ::-1])),
]  # fmt: skip


@pytest.mark.parametrize(("given", "changes", "says"), REFUSED_ARRAYS)
def test_misfits_of_arrays_are_named(
    given: dict[str, np.ndarray], changes: dict[str, Any], says: str, tmp_path: Path
) -> None:
    with pytest.raises(DataError, match=re.escape(says)):
        load_data(replace(saved(tmp_path, **given), **changes), target(2))


# data in memory


def test_rows_with_other_labels_are_not_taken_for_each_other() -> None:
    """A table that was sorted beside a column that was not: rows would be paired by where they stand."""
    X, y = np.array([[3.0, 1.0], [1.0, 2.0], [2.0, 5.0]]), pd.Series([0, 1, 1])
    sheet, order = pd.DataFrame(X, columns=["a", "b"]), [1, 2, 0]
    array = xr.DataArray(X, dims=("row", "column"), coords={"row": range(3)})
    for x in (sheet.iloc[order], array[order]):
        with pytest.raises(DataError) as caught:
            data_of({"x": x, "y": y}, target())
        assert str(caught.value).startswith(
            "data: found row 1 of `y` labelled 0 and of `x` 1, expected rows in one order: in pandas y.reindex(x.index)"
        )
    aligned = data_of({"x": sheet.iloc[order], "y": y.iloc[order]}, target())
    unlabelled = data_of({"x": sheet.iloc[order].to_numpy(), "y": y}, target())
    assert aligned.fields[1].values.tolist() == [1, 1, 0]
    assert unlabelled.fields[1].values.tolist() == [0, 1, 1]
    assert data_of({"x": array[order].drop_vars("row"), "y": y.tolist()}, target()).rows == 3
    assert data_of({"x": array, "y": y}, target()).rows == 3


SMALL, Y = np.array([[3.0, 1.0], [1.0, 2.0], [0.5, -4.0]]), [0, 1, 1]
FRAME = pd.DataFrame(SMALL, columns=["age", "dose"]).assign(y=Y)
OWN = FRAME.convert_dtypes()
NAMED = xr.DataArray(SMALL, dims=("row", "column"), coords={"column": ["age", "dose"]})
GIVEN: dict[str, tuple[Any, tuple[str, ...]]] = {
    "lists": ({"y": Y, "x": SMALL.tolist()}, ("x_0", "x_1")),
    "narrow numbers": ({"x": SMALL.astype(np.float32), "y": np.array(Y, np.int8)}, ("x_0", "x_1")),
    "a table": ({"x": FRAME[["age", "dose"]], "y": FRAME.y}, ("age", "dose")),
    "types of pandas": ({"x": OWN[["age", "dose"]], "y": OWN.y.astype("boolean")}, ("age", "dose")),
    "types of Arrow": ({"x": FRAME[["age", "dose"]].astype("double[pyarrow]"), "y": OWN.y}, ("age", "dose")),
    "an array with names": ({"x": NAMED, "y": Y}, ("age", "dose")),
    "an array without": ({"x": NAMED.drop_vars("column"), "y": Y}, ("x_0", "x_1")),
    "a dataset": (xr.Dataset({"x": NAMED, "y": ("row", Y)}), ("age", "dose")),
}


@pytest.mark.parametrize("kind", GIVEN)
def test_arrays_of_any_kind_are_the_same_data_with_the_names_that_they_have(kind: str) -> None:
    given, names = GIVEN[kind]
    x, y = data_of(given, target()).fields
    np.testing.assert_array_equal(np.column_stack([x.values, y.values]), np.column_stack([SMALL, Y]))
    assert x.columns == names


WIDE = pd.DataFrame({"age": [0.5, 1.0, 2.0], "dose": [1, ODD, 2]})
LOSING: dict[str, Any] = {
    "list": [1, ODD, 0], "list beside a float": [0.5, ODD, 0], "integers": np.array([1, ODD, 0]),
    "unsigned": np.array([1, ODD, 0], np.uint64), "column of pandas": pd.Series([1, ODD, 0]),
    "nullable column of pandas": pd.Series([1, ODD, 0], dtype="Int64"),
}  # fmt: skip
"""Integers that no double is: 2**53 + 1 would be 2**53."""


@pytest.mark.parametrize(
    ("x", "y", "dtype", "says"),
    [
        (SMALL, OWN.y.where(OWN.index != 2), "float64", r"data, row 3: found nan, expected one of 0, 1 for `y`"),
        (
            OWN[["age", "dose"]].astype("string"),
            Y,
            "float64",
            "row 1, column `age`: found '3.0', expected numb",
        ),
        (TINY, VALUES[:, 2], "float32", "data, row 501: found 1e-46, expected numbers that float32 holds for `x`"),
        ([[1e300, 1.0]], [0], "float32", r"row 1: found 1e\+300, expected numbers that float32 holds"),
        ([[1.0, 1.0]], 1e-46, "float32", "row 1: found 1e-46, expected numbers that float32 holds"),
        (WIDE, Y, "float64", LOST),
        *((SMALL, y, "float64", LOST) for y in LOSING.values()),
    ],
)
def test_numbers_in_memory_that_cannot_be_taken_are_named(x: Any, y: Any, dtype: str, says: str) -> None:
    with pytest.raises(DataError, match=says):
        data_of({"x": x, "y": y}, FREE if says == LOST else target(), dtype)


@pytest.mark.parametrize("y", [[1, 2**53 + 2], np.array([1, 2**60]), [1e300, 0.1], [-(2**53), 2**53]])
def test_what_a_double_holds_is_taken(y: Any) -> None:
    assert [int(one) for one in data_of({"x": SMALL[:2], "y": y}, FREE).fields[1].values] == [int(one) for one in y]


def test_fields_are_found_among_the_columns_of_a_table_or_dataset() -> None:
    """More columns than fields are no fault; of two levels, the first names the field."""
    X, y = np.array([[3.0, 1.0], [1.0, 2.0]]), np.array([0, 1])
    levels = pd.DataFrame(np.column_stack([X, y]), columns=pd.MultiIndex.from_tuples([*zip("xxy", "abc", strict=True)]))
    dataset = xr.Dataset({"x": (("row", "k"), X), "y": (("row",), y), "more": (("row",), y)})
    for given in (dataset, {"x": levels["x"], "y": levels["y"]["c"]}):
        found = data_of(given, target())
        np.testing.assert_array_equal(found.fields[0].values, X)
        np.testing.assert_array_equal(found.fields[1].values, y)
    one = replace(target(), declarations=replace(target().declarations, data=target().declarations.data[1:]))
    for given in (y, y.tolist(), pd.Series(y), xr.DataArray(y), pd.DataFrame({"y": y, "z": y})):
        np.testing.assert_array_equal(data_of(given, one).fields[0].values, y)


@pytest.mark.parametrize(
    "content",
    [
        f"a,b\n1,2\n{ODD},3\n", np.array([[1, 2], [ODD, 3]]),
        np.array([(1, 0.5), (ODD, 0.5)], [("a", "i8"), ("b", "f8")]),
        {"a": [1, ODD], "b": [0.5, 1.0]},
    ],
)  # fmt: skip
def test_files_that_lose_digits_are_refused(content: Content, tmp_path: Path) -> None:
    file = stored(tmp_path, content)
    with pytest.raises(DataError, match=f"{file.file.name}, row 2.*column `a`: {LOST}"):
        read_columns(file.file, ("a", "b"), file.names[:2])


def test_numbers_that_are_written_as_rounded_are_taken(tmp_path: Path) -> None:
    rows = "a,b\n1e22,2\n9007199254740994,3\n123456789012345678e5,1\n-9007199254740993.5,1\n"
    known = [1e22, 2.0**53 + 2, 123456789012345678e5, -(2.0**53) - 2]
    assert read_columns(stored(tmp_path, rows).file, ("a",)).values["a"].tolist() == known

"""Data files: columns by name, every misfit named by row and column, nothing executed."""

import pickle
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr

from recipe_compiler.errors import DataError
from recipe_compiler.formula.declaration import Block, Datum, Declarations
from recipe_compiler.formula.shapes import Shape
from recipe_compiler.run.data import data_of, load_data
from recipe_compiler.run.table import open_array, read_table, table_pieces
from recipe_compiler.spec.model import DataFile, Target

CSV = "a,b,y,name\n1,10,0,u\n2,30,1,v\n6,20,1,w\n"


def target(width: str | int = "d", rows: str | int = "N") -> Target:
    data = (Datum("x", rows, Shape(width)), Datum("y", rows, values=(0, 1)))
    return Target("logistic", Declarations(blocks=(Block("theta", Shape(width)),), data=data))


def spec(file: Path, standardise: tuple[str, ...] = (), intercept: bool = False) -> DataFile:
    return DataFile(file, (("x", ("a", "b")), ("y", ("y",))), standardise, intercept)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "data.csv"
    path.write_text(CSV)
    return path


def faults(file: Path, text: str, like: Target | None = None) -> str:
    file.write_text(text, encoding="utf-8")
    with pytest.raises(DataError) as caught:
        load_data(spec(file), like or target())
    return str(caught.value)


def test_columns_are_found_by_name(file: Path) -> None:
    x, y = load_data(DataFile(file, (("y", ("y",)), ("x", ("b", "a")))), target()).fields
    np.testing.assert_array_equal(x.values, [[10, 1], [30, 2], [20, 6]])
    np.testing.assert_array_equal(y.values, [0, 1, 1])
    assert x.columns == ("b", "a")
    assert x.values.flags.c_contiguous
    assert x.values.flags.writeable


def test_standardised_columns_have_mean_0_and_sd_1(file: Path) -> None:
    x, y = load_data(spec(file, standardise=("x",)), target()).fields
    np.testing.assert_allclose(x.values.mean(axis=0), 0.0, atol=1e-15)
    np.testing.assert_allclose(x.values.std(axis=0), 1.0)
    np.testing.assert_array_equal(y.values, [0, 1, 1])


def test_one_column_can_be_standardised(file: Path) -> None:
    x = load_data(spec(file, standardise=("b",)), target()).fields[0]
    np.testing.assert_array_equal(x.values[:, 0], [1, 2, 6])
    np.testing.assert_allclose(x.values[:, 1].mean(), 0.0, atol=1e-15)


def test_the_intercept_stands_first_and_is_not_standardised(file: Path) -> None:
    x = load_data(spec(file, standardise=("x",), intercept=True), target(3)).fields[0]
    np.testing.assert_array_equal(x.values[:, 0], 1.0)
    assert x.values.shape == (3, 3)
    assert x.columns == ("intercept", "a", "b")


def test_a_target_without_data_needs_no_file() -> None:
    assert load_data(None, Target("gaussian", Declarations())).rows == 0


def test_data_that_are_not_given_are_named() -> None:
    with pytest.raises(DataError, match="expected columns for x, y"):
        load_data(None, target())


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a,b,y\n1,2,0\n1,oops,0\n", "row 2 (line 3), column `b`: found `oops`, expected a number"),
        ("a,b,y\n1,2,0\n1_0,2,0\n", "row 2 (line 3), column `a`: found `1_0`, expected a number"),
        ("a,b,y\n1,2,0\n\n1,\u0661\u0662,0\n", "row 2 (line 4), column `b`: found `\u0661\u0662`, expected a number"),
        ("a,b,y\n\uff11,2,0\n", "row 1 (line 2), column `a`: found `\uff11`, expected a number"),
        ("a,b,y\n1,2,0\n0x10,2,0\n", "column `a`: found `0x10`, expected a number"),
        ("a,b,y\n1,2,0\n1 2,2,0\n", "column `a`: found `1 2`, expected a number"),
        ("a,b,y\n1,2,0\n1e,2,0\n", "column `a`: found `1e`, expected a number"),
        ("a,b,y\n1,,0\n", "row 1 (line 2), column `b`: found an empty cell, expected a number"),
        ("a,b,y\n1,2,0\n1,nan,1\n", "row 2 (line 3), column `b`: found nan, expected a number"),
        ("a,b,y\n1,2,0\n-inf,2,0\ninf,2,0", "row 2 (line 3), column `a`: found -inf, expected a number, and 1 more"),
        ("a,b,y\n1,2,0\n1,2,2\n", "row 2 (line 3), column `y`: found 2, expected one of 0, 1 for `y`"),
        ("a,b,y\n1,2,0\n1,2\n", "row 2: found 2 cells, expected 3 as in the header"),
        ("a,b,y\n1,2,0\n1,2,1,\n", "row 2: found 4 cells, expected 3"),
        ("a,b,y\n", "found 0 rows"),
        ("", "found no column `a`: it has none"),
        ("a,B,z\n1,2,0\n", "found no column `y`: it has a, B, z"),
        ("a,b,b,y\n1,2,2,0\n", "found column `b` 2 times, expected once"),
    ],
)
def test_misfits_are_named(file: Path, text: str, said: str) -> None:
    assert said in faults(file, text)


def test_all_missing_columns_are_named_at_once(file: Path) -> None:
    said = faults(file, "aa,c\n1,2\n")
    assert "found no column `a`: did you mean `aa`?" in said
    assert "found no column `b`" in said
    assert "found no column `y`" in said


CELLS = (
    "1", "-1.5", "+2", " 3 ", "1e5", "1E-300", "1e400", ".5", "5.", "0.1", "123456789.123456789", "1_0", "1__0", "e5",
    "1e", "--1", "+-1", "1 2", "0x1p3", "0x10", "1d5", "1f", "nan", "inf", "-Infinity", "True", "", " ", "\u0663",
    "\uff11", "\u00b2", "1\u00a0", "1,5", '"4"', "1e+5", "1e-", ".", "-", "1.2.3", "1e5.0", "'1'", "#1", "1#", "(1)",
    "1/2", "5%", "1j", "4.9406564584124654e-324", "1e-400", "9007199254740994", "0.30000000000000004",
)  # fmt: skip


@pytest.mark.parametrize("cell", CELLS)
def test_a_cell_is_read_as_python_reads_it_or_refused(file: Path, cell: str) -> None:
    """Numbers in digits 0 to 9 alone; by the fast reader and by rows, which a quoted line break in a name forces."""
    quoted = f'"{cell}"' if "," in cell else cell
    try:
        wanted = float(cell.strip('"')) if cell.strip().isascii() and "_" not in cell else None
    except ValueError:
        wanted = None
    for name in ("u", '"a\nb"'):
        file.write_text(f"a,b,y,name\n1,10,0,{name}\n{quoted},10,0,u\n", encoding="utf-8")
        if wanted is not None and np.isfinite(wanted):
            assert load_data(spec(file), target()).fields[0].values[1, 0] == wanted
        else:
            with pytest.raises(DataError, match=r"row 2 \(line [34]\), column `a`"):
                load_data(spec(file), target())


def test_pieces_of_a_table_are_its_rows_wherever_one_has_to_be_read_again(file: Path) -> None:
    """The third row is taken row by row: its number has a space of its own kind before it."""
    rows = [f"{k},{k / 7},{k % 2}" for k in range(11)]
    rows[5] = "\u00a05,0.7142857142857143,1"
    file.write_text("a,b,y\n" + "\n\n".join(rows) + "\n", encoding="utf-8")
    whole = read_table(file, ("b", "a"))
    for size in (1, 2, 3, 4, 11, 20):
        pieces = list(table_pieces(file, ("b", "a"), rows=size))
        np.testing.assert_array_equal(np.concatenate([piece.values for piece in pieces]), whole.values)
        assert [piece.first for piece in pieces] == list(range(0, 11, size))
        assert pieces[-1].where(pieces[-1].rows - 1, "a").endswith("row 11 (line 22), column `a`")
    np.testing.assert_array_equal(whole.values[:, 1], np.arange(11.0))


def test_a_table_of_numbers_is_not_read_cell_by_cell(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from recipe_compiler.run import table as module

    monkeypatch.setattr(module, "_csv_by_rows", None)
    file.write_text('a,b,y,name\n1,10,0,"u, v"\n\n2,30,1,v\n')
    np.testing.assert_array_equal(load_data(spec(file), target()).fields[0].values, [[1, 10], [2, 30]])


@pytest.mark.parametrize("header", ["shape", "length"])
def test_an_array_whose_header_promises_more_than_the_file_has_is_refused(tmp_path: Path, header: str) -> None:
    said = b"{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000, 2), }"
    said += b" " * (117 - len(said)) + b"\n"
    length = len(said).to_bytes(2, "little") if header == "shape" else (2**32 - 1).to_bytes(4, "little")
    version = b"\x01\x00" if header == "shape" else b"\x02\x00"
    path = tmp_path / "x.npy"
    path.write_bytes(b"\x93NUMPY" + version + length + said + bytes(64))
    with pytest.raises(DataError, match=r"x\.npy: found no plain array of numbers .*(was cut off|the whole file)"):
        open_array(path)


def test_blank_lines_are_no_rows(file: Path) -> None:
    file.write_text("a,b,y\n1,2,0\n\n3,4,1\n\n")
    assert load_data(spec(file), target()).rows == 2


def test_byte_order_mark_and_spaces_in_the_header_are_ignored(file: Path) -> None:
    file.write_bytes(b"\xef\xbb\xbfa, b ,y\n1,2,0\n")
    assert load_data(spec(file), target()).rows == 1


def test_fixed_sizes_are_checked(file: Path) -> None:
    assert "found 2 columns for `x`, expected 5" in faults(file, CSV, target(5))
    assert "found 3 rows, expected 7 for `x`" in faults(file, CSV, target("d", 7))


def test_a_constant_column_cannot_be_standardised(file: Path) -> None:
    file.write_text("a,b,y\n0.1,5,0\n0.1,6,1\n0.1,7,1\n")
    with pytest.raises(DataError, match=r"column `a`: every row is 0\.1"):
        load_data(spec(file, standardise=("x",)), target())


def test_a_scalar_takes_one_column(file: Path) -> None:
    with pytest.raises(DataError, match="found 2 columns for `y`, expected 1"):
        load_data(DataFile(file, (("x", ("a",)), ("y", ("y", "b")))), Target("t", _two_scalars()))


def _two_scalars() -> Declarations:
    return Declarations(data=(Datum("x", "N", Shape("d")), Datum("y", "N")))


@pytest.mark.parametrize("name", ["none.csv", "data.xlsx"])
def test_files_that_cannot_be_read_are_refused(tmp_path: Path, name: str) -> None:
    if name.endswith("xlsx"):
        (tmp_path / name).write_bytes(b"PK")
    with pytest.raises(DataError, match="found"):
        load_data(spec(tmp_path / name), target())


def test_binary_files_are_refused(file: Path) -> None:
    file.write_bytes(b"a,b,y\n\xff\xfe\x00,1,2\n")
    with pytest.raises(DataError, match=r"data\.csv"):
        load_data(spec(file), target())


@pytest.mark.parametrize(
    ("left", "says"),
    [
        (300, "it has 300 bytes, expected 928 for numbers of shape (50, 2): it was cut off"),
        (128, "it has 128 bytes, expected 928 for numbers of shape (50, 2): it was cut off"),
        (100, "it has 100 bytes and ends within its header: it was cut off"),
        (7, "it has 7 bytes and ends within its header: it was cut off"),
    ],
)
def test_an_array_that_was_cut_off_is_said_to_be(left: int, says: str, tmp_path: Path) -> None:
    path = tmp_path / "x.npy"
    np.save(path, np.ones((50, 2)))
    path.write_bytes(path.read_bytes()[:left])
    with pytest.raises(DataError, match=re.escape(says)):
        open_array(path)


def test_arrays_have_numbered_columns(tmp_path: Path) -> None:
    np.save(tmp_path / "data.npy", np.array([[1.0, 10, 0], [2, 30, 1]]))
    file = DataFile(tmp_path / "data.npy", (("x", ("0", "1")), ("y", ("2",))))
    x, y = load_data(file, target()).fields
    np.testing.assert_array_equal(x.values, [[1, 10], [2, 30]])
    np.testing.assert_array_equal(y.values, [0, 1])


def test_structured_arrays_have_named_columns(tmp_path: Path) -> None:
    table = np.array([(1.0, 2, 1), (3.0, 4, 0)], dtype=[("a", "f8"), ("b", "i4"), ("y", "?")])
    np.save(tmp_path / "data.npy", table)
    x, y = load_data(spec(tmp_path / "data.npy"), target()).fields
    np.testing.assert_array_equal(x.values, [[1, 2], [3, 4]])
    np.testing.assert_array_equal(y.values, [1, 0])


class Canary:
    def __reduce__(self) -> tuple[object, tuple[str]]:
        return (Path.touch, (Path("ran"),))


def test_pickles_are_never_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    np.save("data.npy", np.array([[Canary()]]), allow_pickle=True)
    Path("plain.npy").write_bytes(pickle.dumps(Canary()))
    for name in ("data.npy", "plain.npy"):
        with pytest.raises(DataError, match="never unpickled"):
            load_data(spec(Path(name)), target())
    assert not Path("ran").exists()


@pytest.mark.parametrize("text", [b"", b"hello", b"a,b,y\n1,2,0\n"])
def test_what_is_no_array_file_is_told_by_its_first_bytes(tmp_path: Path, text: bytes) -> None:
    (tmp_path / "data.npy").write_bytes(text)
    with pytest.raises(DataError, match=r"its first bytes are b'.*', expected b'.x93NUMPY'") as caught:
        load_data(spec(tmp_path / "data.npy"), target())
    assert "unsafely" not in str(caught.value)


def test_a_cell_without_an_end_is_refused(file: Path) -> None:
    assert "row 1, column `b`" in faults(file, f"a,b,y\n1,{'1' * 200_000},0\n")


@pytest.mark.parametrize(
    "shape", ["(True,)", "(1.5,)", "('3',)", "(-1,)", "(10**9,)", "((3,),)", "(10" + "0" * 30 + ",)", "(("]
)
def test_a_header_that_describes_no_array_is_refused(tmp_path: Path, shape: str) -> None:
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}".ljust(117).encode() + b"\n"
    (tmp_path / "data.npy").write_bytes(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + bytes(24))
    with pytest.raises(DataError, match=r"data\.npy"):
        load_data(DataFile(tmp_path / "data.npy", (("x", ("0", "1")), ("y", ("2",)))), target())


def test_rows_with_other_labels_are_not_taken_for_each_other() -> None:
    """A table that was sorted beside a column that was not: rows would be paired by where they stand."""
    X, y = np.array([[3.0, 1.0], [1.0, 2.0], [2.0, 5.0]]), pd.Series([0, 1, 1])
    table, order = pd.DataFrame(X, columns=["a", "b"]), [1, 2, 0]
    array = xr.DataArray(X, dims=("row", "column"), coords={"row": range(3)})
    for x in (table.iloc[order], array[order]):
        with pytest.raises(DataError) as caught:
            data_of({"x": x, "y": y}, target())
        assert str(caught.value).startswith(
            "data: found row 1 of `y` labelled 0 and of `x` 1, expected rows in one order: in pandas y.reindex(x.index)"
        )
    aligned = data_of({"x": table.iloc[order], "y": y.iloc[order]}, target())
    unlabelled = data_of({"x": table.iloc[order].to_numpy(), "y": y}, target())
    assert aligned.fields[1].values.tolist() == [1, 1, 0]
    assert unlabelled.fields[1].values.tolist() == [0, 1, 1]
    assert data_of({"x": array[order].drop_vars("row"), "y": y.tolist()}, target()).rows == 3
    assert data_of({"x": array, "y": y}, target()).rows == 3


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

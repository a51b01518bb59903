"""Data that may be larger than memory: converted once, mapped, read in pieces; and data stored in float32."""

import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from recipe_compiler.errors import DataError
from recipe_compiler.formula.declaration import Block, Datum, Declarations
from recipe_compiler.formula.shapes import Shape
from recipe_compiler.run import data as loading
from recipe_compiler.run.data import data_of, load_data
from recipe_compiler.run.table import table_pieces
from recipe_compiler.spec.model import DataFile, Target

COLUMNS = (("x", ("a", "b")), ("y", ("y",)))
VALUES = np.random.default_rng(3).normal(2.0, 3.0, (1000, 3)) @ np.diag([1.0, 40.0, 0.0])
VALUES[:, 2] = np.arange(1000) % 2


def target(width: str | int = "d") -> Target:
    data = (Datum("x", "N", Shape(width)), Datum("y", "N", values=(0, 1)))
    return Target("logistic", Declarations(blocks=(Block("theta", Shape(width)),), data=data))


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the data come in many pieces: 99 rows of three columns, so that the last is shorter."""
    monkeypatch.setattr(loading, "PIECE", 297)


def written(folder: Path, ending: str) -> DataFile:
    """Write VALUES with the columns a, b, y."""
    file = folder / f"data{ending}"
    match ending:
        case ".csv":
            rows = "\n".join(",".join(repr(float(v)) for v in row) for row in VALUES)
            file.write_text(f"a,b,y\n{rows}\n")
            return DataFile(file, COLUMNS)
        case ".npy":
            np.save(file, VALUES)
            return DataFile(file, COLUMNS, names=("a", "b", "y"))
        case _:
            pa = pytest.importorskip("pyarrow")
            from pyarrow import parquet

            table = pa.table({"y": VALUES[:, 2].astype(bool), "b": VALUES[:, 1], "a": VALUES[:, 0]})
            parquet.write_table(table, file, row_group_size=170)
            return DataFile(file, COLUMNS)


@pytest.mark.parametrize("ending", [".csv", ".npy", ".parquet"])
def test_mapped_data_are_those_that_are_loaded(tmp_path: Path, ending: str) -> None:
    file = replace(written(tmp_path, ending), memory_map=True)
    x, y = load_data(file, target()).fields
    np.testing.assert_array_equal(x.values, VALUES[:, :2])
    np.testing.assert_array_equal(y.values, VALUES[:, 2])
    assert (x.columns, y.columns) == (("a", "b"), ("y",))
    for field in (x, y):
        assert isinstance(field.values, np.memmap)
        assert field.values.flags.c_contiguous
        assert field.values.flags.aligned
        assert not field.values.flags.writeable


@pytest.mark.parametrize("ending", [".csv", ".npy", ".parquet"])
def test_columns_are_standardised_and_the_intercept_added_while_converting(tmp_path: Path, ending: str) -> None:
    file = replace(written(tmp_path, ending), memory_map=True, standardise=("x",), intercept=True)
    x = load_data(file, target()).fields[0]
    expected = (VALUES[:, :2] - VALUES[:, :2].mean(axis=0)) / VALUES[:, :2].std(axis=0)
    np.testing.assert_array_equal(x.values[:, 0], 1.0)
    np.testing.assert_allclose(x.values[:, 1:], expected, rtol=1e-12, atol=1e-13)
    assert x.columns == ("intercept", "a", "b")


def test_standardising_in_pieces_keeps_the_digits_of_a_large_mean(tmp_path: Path) -> None:
    far = VALUES + np.array([1e9, 0.0, 0.0])
    np.save(tmp_path / "data.npy", far)
    file = DataFile(tmp_path / "data.npy", COLUMNS, ("a",), names=("a", "b", "y"), memory_map=True)
    x = load_data(file, target()).fields[0].values
    np.testing.assert_allclose(x[:, 0].mean(), 0.0, atol=1e-6)
    np.testing.assert_allclose(x[:, 0].std(), 1.0, rtol=1e-6)


def test_a_conversion_is_made_once_and_again_for_another_file(tmp_path: Path) -> None:
    file = replace(written(tmp_path, ".npy"), memory_map=True)
    load_data(file, target())
    (folder,) = (tmp_path / ".recipe_data").iterdir()
    before = {path.name: path.stat().st_mtime_ns for path in folder.iterdir()}
    load_data(file, target())
    assert {path.name: path.stat().st_mtime_ns for path in folder.iterdir()} == before
    np.save(file.file, np.vstack([VALUES, VALUES]))
    assert load_data(file, target()).rows == 2000
    load_data(replace(file, dtype="float32"), target())
    assert len(list((tmp_path / ".recipe_data").iterdir())) == 3


def test_a_file_whose_time_was_set_back_is_converted_again(tmp_path: Path) -> None:
    file = replace(written(tmp_path, ".npy"), memory_map=True)
    load_data(file, target())
    state = file.file.stat()
    time.sleep(0.05)  # some systems note times to a hundredth of a second
    np.save(file.file, VALUES + np.array([1.0, 2.0, 0.0]))
    os.utime(file.file, ns=(state.st_atime_ns, state.st_mtime_ns))
    assert (file.file.stat().st_size, file.file.stat().st_mtime_ns) == (state.st_size, state.st_mtime_ns)
    np.testing.assert_array_equal(load_data(file, target()).fields[0].values, VALUES[:, :2] + np.array([1.0, 2.0]))


def test_a_conversion_that_fails_leaves_nothing_behind(tmp_path: Path) -> None:
    bad = VALUES.copy()
    bad[517, 1] = np.nan
    np.save(tmp_path / "data.npy", bad)
    file = DataFile(tmp_path / "data.npy", COLUMNS, names=("a", "b", "y"), memory_map=True)
    with pytest.raises(DataError, match="row 518, column `b`: found nan, expected a number"):
        load_data(file, target())
    assert list((tmp_path / ".recipe_data").iterdir()) == []


def test_a_bad_cell_far_down_a_csv_file_is_named_by_its_line(tmp_path: Path) -> None:
    file = replace(written(tmp_path, ".csv"), memory_map=True)
    lines = file.file.read_text().splitlines()
    lines[700] = "1,high,0"
    file.file.write_text("\n".join(lines))
    with pytest.raises(DataError, match=r"row 700 \(line 701\), column `b`: found `high`, expected a number"):
        load_data(file, target())
    lines[700] = "1,2,7"
    file.file.write_text("\n".join(lines))
    with pytest.raises(DataError, match=r"row 700 \(line 701\), column `y`: found 7, expected one of 0, 1"):
        load_data(file, target())


def test_a_folder_that_cannot_be_written_to_sends_conversions_to_the_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = replace(written(tmp_path, ".npy"), memory_map=True)
    (tmp_path / ".recipe_data").write_text("a file where the folder would be")
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))
    assert load_data(file, target()).rows == 1000
    assert len(list((tmp_path / "cache/recipe_compiler/data").iterdir())) == 1


def test_missing_values_and_columns_of_words_in_parquet_are_named(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    path = tmp_path / "data.parquet"
    parquet.write_table(pa.table({"a": [1.0, None], "b": [1, 2], "y": [0, 1]}), path)
    with pytest.raises(DataError, match="row 2, column `a`: found nan, expected a number"):
        load_data(DataFile(path, COLUMNS), target())
    parquet.write_table(pa.table({"a": [1.0, 2.0], "b": ["u", "v"], "y": [0, 1]}), path)
    with pytest.raises(DataError, match="column `b`: found string, expected numbers"):
        load_data(DataFile(path, COLUMNS), target())
    with pytest.raises(DataError, match="found no column `c`"):
        load_data(DataFile(path, (("x", ("a", "c")), ("y", ("y",)))), target())
    path.write_bytes(b"PAR0")
    with pytest.raises(DataError, match="found no Parquet file"):
        load_data(DataFile(path, COLUMNS), target())


def test_without_pyarrow_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "data.parquet").write_bytes(b"PAR1")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(DataError, match=r"needs pyarrow, found none: .*recipe_compiler\[parquet\]"):
        load_data(DataFile(tmp_path / "data.parquet", COLUMNS), target())


@pytest.mark.parametrize("rows", [1, 7, 99, 1000, 2000])
@pytest.mark.parametrize("ending", [".csv", ".npy", ".parquet"])
def test_pieces_end_to_end_are_the_table(tmp_path: Path, ending: str, rows: int) -> None:
    file = written(tmp_path, ending)
    pieces = list(table_pieces(file.file, ("b", "y"), file.names, rows))
    assert [piece.rows for piece in pieces[:-1]] == [rows] * (len(pieces) - 1)
    assert [piece.first for piece in pieces] == list(range(0, 1000, rows))
    np.testing.assert_array_equal(np.concatenate([piece.values for piece in pieces]), VALUES[:, 1:])


@pytest.mark.parametrize("mapped", [False, True])
def test_float32_is_storage_and_its_range_is_checked(tmp_path: Path, mapped: bool) -> None:
    file = replace(written(tmp_path, ".npy"), dtype="float32", memory_map=mapped, standardise=("a",))
    x = load_data(file, target()).fields[0].values
    assert x.dtype == np.float32
    a = VALUES[:, 0]
    np.testing.assert_array_equal(x[:, 0], ((a - a.mean()) / a.std()).astype(np.float32))
    np.save(file.file, np.array([[1.0, 1e300, 0.0]]))
    with pytest.raises(DataError, match=r"row 1, column `b`: found 1e\+300, expected a number that float32 holds"):
        load_data(replace(file, standardise=()), target())


@pytest.mark.parametrize("mapped", [False, True])
@pytest.mark.parametrize("small", [1e-46, -1e-60, 1e-44, 1.1e-38])
def test_what_is_too_small_for_float32_is_refused(tmp_path: Path, small: float, mapped: bool) -> None:
    """It would be 0, or have lost its digits, and a weight of 0 drops its datum."""
    file = replace(written(tmp_path, ".npy"), dtype="float32", memory_map=mapped)
    np.save(file.file, np.array([[1.0, 2.0, 0.0], [0.0, small, 1.0]]))
    with pytest.raises(DataError, match=rf"row 2, column `b`: found {small:g}, expected a number that float32 holds"):
        load_data(file, target())
    np.testing.assert_array_equal(load_data(replace(file, dtype="float64"), target()).fields[0].values[1, 1], small)


@pytest.mark.parametrize("mapped", [False, True])
def test_small_numbers_that_float32_has_are_held(tmp_path: Path, mapped: bool) -> None:
    held = np.array([0.0, -0.0, 2.0**-149, -3 * 2.0**-149, 2.0**-126, 1.2e-38])
    file = replace(written(tmp_path, ".npy"), dtype="float32", memory_map=mapped)
    np.save(file.file, np.stack([held, held, np.arange(6) % 2], 1))
    np.testing.assert_array_equal(load_data(file, target()).fields[0].values[:, 1], held.astype(np.float32))


def test_arrays_too_small_for_float32_are_refused(tmp_path: Path) -> None:
    numbers = np.where(np.arange(2000).reshape(1000, 2) == 1001, 1e-46, VALUES[:, :2])
    for given, dtype in ((numbers, "float64"), (numbers[:, ::-1].copy(order="F")[:, ::-1], "float64")):
        np.save(tmp_path / "x.npy", given.astype(dtype))
        np.save(tmp_path / "y.npy", VALUES[:, 2])
        file = DataFile(tmp_path / "x.npy", (), arrays=(("x", tmp_path / "x.npy"), ("y", tmp_path / "y.npy")))
        with pytest.raises(
            DataError, match=r"x\.npy, row 501: found 1e-46, expected a number that float32 holds for `x`"
        ):
            load_data(replace(file, dtype="float32"), target())
    with pytest.raises(DataError, match="data: found 1e-46 in row 501 for `x`, expected numbers that float32 holds"):
        data_of({"x": numbers, "y": VALUES[:, 2]}, target(), "float32")
    with pytest.raises(DataError, match=r"data: found 1e\+300 in row 1 for `x`, expected numbers that float32 holds"):
        data_of({"x": [[1e300, 1.0]], "y": [0]}, target(), "float32")
    with pytest.raises(DataError, match="data: found 1e-46 in row 1 for `y`, expected numbers that float32 holds"):
        data_of({"x": [[1.0, 1.0]], "y": 1e-46}, target(), "float32")
    assert data_of({"x": numbers, "y": VALUES[:, 2]}, target()).fields[0].values[500, 1] == 1e-46


def test_names_are_of_plain_arrays_and_one_for_each_column(tmp_path: Path) -> None:
    file = written(tmp_path, ".npy")
    with pytest.raises(DataError, match="found 3 columns, expected 2: one for each of `names`"):
        load_data(replace(file, names=("a", "b")), target())
    with pytest.raises(DataError, match="this file names its columns itself"):
        load_data(replace(written(tmp_path, ".csv"), names=("a", "b", "y")), target())


class TestArrays:
    """Fields that are files of their own."""

    @pytest.fixture
    def file(self, tmp_path: Path) -> DataFile:
        np.save(tmp_path / "x.npy", VALUES[:, :2])
        np.save(tmp_path / "y.npy", VALUES[:, 2])
        arrays = (("x", tmp_path / "x.npy"), ("y", tmp_path / "y.npy"))
        return DataFile(tmp_path / "x.npy", (("x", ()), ("y", ())), arrays=arrays)

    def test_they_are_mapped_as_they_are(self, file: DataFile, tmp_path: Path) -> None:
        x, y = load_data(file, target()).fields
        np.testing.assert_array_equal(x.values, VALUES[:, :2])
        assert Path(str(x.values.filename)) == tmp_path / "x.npy"
        assert (x.columns, y.columns) == (("x_0", "x_1"), ("y",))
        assert not (tmp_path / ".recipe_data").exists()

    def test_another_type_or_order_is_converted(self, file: DataFile, tmp_path: Path) -> None:
        np.save(tmp_path / "x.npy", np.asfortranarray(VALUES[:, :2]))
        np.save(tmp_path / "y.npy", VALUES[:, 2].astype(np.int8))
        x, y = load_data(file, target()).fields
        assert x.values.flags.c_contiguous
        np.testing.assert_array_equal(x.values, VALUES[:, :2])
        np.testing.assert_array_equal(y.values, VALUES[:, 2])
        assert y.values.dtype == np.float64
        small = load_data(replace(file, dtype="float32"), target()).fields[0].values
        np.testing.assert_array_equal(small, VALUES[:, :2].astype(np.float32))

    def test_float32_files_must_be_declared(self, file: DataFile, tmp_path: Path) -> None:
        np.save(tmp_path / "x.npy", VALUES[:, :2].astype(np.float32))
        with pytest.raises(DataError, match="found float32 numbers, expected float64: say `dtype: float32`"):
            load_data(file, target())
        assert load_data(replace(file, dtype="float32"), target()).fields[0].values.dtype == np.float32

    @pytest.mark.parametrize(
        ("name", "array", "words"),
        [
            ("x", VALUES[:, 0], "x.npy: found float64 numbers of 1 dimensions, expected real ones of 2 for `x`"),
            ("y", VALUES[:999, 2], "y.npy: found 999 rows, expected 1000 as `x` has"),
            ("y", VALUES[:, 2] + 1, "y.npy, row 2: found 2, expected one of 0, 1 for `y`"),
            ("x", np.where(VALUES[:, :2] > 90, np.inf, VALUES[:, :2]), "found inf, expected a number that float64"),
            ("x", VALUES[:, :2].astype(complex), "found complex128 numbers"),
            ("x", VALUES[:0, :2], "x.npy: found 0 rows, expected 1 or more"),
        ],
    )
    def test_what_does_not_fit_is_named(self, file: DataFile, tmp_path: Path, name: str, array, words: str) -> None:
        np.save(tmp_path / f"{name}.npy", array)
        with pytest.raises(DataError, match=words):
            load_data(file, target())

    def test_a_fixed_size_is_compared(self, file: DataFile) -> None:
        with pytest.raises(DataError, match="found 2 columns for `x`, expected 3"):
            load_data(file, target(3))

    def test_objects_are_never_unpickled(self, file: DataFile, tmp_path: Path) -> None:
        np.save(tmp_path / "x.npy", np.array([{}, {}]), allow_pickle=True)
        with pytest.raises(DataError, match="never unpickled"):
            load_data(file, target())


def test_a_shuffle_is_the_same_for_all_fields_and_for_one_seed(tmp_path: Path) -> None:
    file = replace(written(tmp_path, ".csv"), shuffle=5)
    x, y = load_data(file, target()).fields
    order = np.argsort(x.values[:, 0])
    np.testing.assert_array_equal(y.values[order], VALUES[np.argsort(VALUES[:, 0]), 2])
    assert not np.array_equal(x.values, VALUES[:, :2])
    np.testing.assert_array_equal(load_data(file, target()).fields[0].values, x.values)
    assert not np.array_equal(load_data(replace(file, shuffle=6), target()).fields[0].values, x.values)
    with pytest.raises(DataError, match="`shuffle` of data that are mapped"):
        load_data(replace(file, memory_map=True), target())


PEAK = """
import resource, sys
from pathlib import Path
from recipe_compiler.formula.declaration import Block, Datum, Declarations
from recipe_compiler.formula.shapes import Shape
from recipe_compiler.run.data import load_data
from recipe_compiler.spec.model import DataFile, Target
x = Datum("x", "N", Shape("d"))
target = Target("mean", Declarations(blocks=(Block("theta", Shape("d")),), data=(x,)))
file = Path(sys.argv[1])
how = {"arrays": (("x", file),)} if sys.argv[2] == "array" else {"memory_map": True}
columns = () if sys.argv[2] == "array" else ("0", "1")
data = load_data(DataFile(file, (("x", columns),), **how), target)
print(data.rows, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
"""


def peak(file: Path, how: str, rows: int) -> int:
    """Return the most memory (MiB) that a process has that loads a file of so many rows of two numbers."""
    done = subprocess.run([sys.executable, "-c", PEAK, str(file), how], capture_output=True, text=True, check=True)
    found, memory = done.stdout.split()
    assert int(found) == rows
    return int(memory)


@pytest.mark.slow
@pytest.mark.parametrize("how", ["array", "table", "parquet"])
def test_memory_does_not_grow_with_the_file(tmp_path: Path, how: str) -> None:
    found: list[int] = []
    for rows in (1 << 20, 1 << 24 if how == "array" else 1 << 23):  # 16 MiB, and 256 or 128
        values = np.lib.format.open_memmap(tmp_path / f"{rows}.npy", "w+", np.float64, (rows, 2))
        del values  # zeros, without a byte on the disk
        file = tmp_path / f"{rows}.npy"
        if how == "parquet":
            pa = pytest.importorskip("pyarrow")
            from pyarrow import parquet

            zeros = np.zeros(rows)
            parquet.write_table(
                pa.table({"0": zeros, "1": zeros}), file.with_suffix(".parquet"), row_group_size=1 << 20
            )
            file = file.with_suffix(".parquet")
        found.append(peak(file, how, rows))
    assert found[1] - found[0] < 64

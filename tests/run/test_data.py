"""Data files: columns by name, every misfit named by row and column, nothing executed."""

import pickle
from pathlib import Path

import numpy as np
import pytest

from recipe_compiler.formula.declaration import Block, Datum, Declarations
from recipe_compiler.formula.shapes import Shape
from recipe_compiler.run.data import load_data
from recipe_compiler.run.errors import DataError
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
    file.write_text(text)
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

"""What `sample` of an emitted file is given by mistake: told by name, with what was found and what was expected."""

import warnings
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from emitted_file import ROOT, file_of, shipped_file
from loaders import load_build

from recipe_compiler.emit.sampler import mask_lines

pytestmark = pytest.mark.usefixtures("without_jit")

Given = dict[str, Any]
SHORT: Given = {"draws": 4, "warmup": 2, "thin": 2, "chains": 2, "seed": 1}


@cache
def file_named(name: str) -> ModuleType:
    return shipped_file(name, Path(mkdtemp()))


def of_logistic() -> Given:
    random = np.random.default_rng(1)
    x, y = random.standard_normal((40, 30)), random.integers(0, 2, 40).astype(float)
    return {"x": x, "y": y, "batch_size": 8, "step_size": 0.01, **SHORT}


def of_langevin() -> Given:
    return {"Sigma": np.array([[2.0, 0.5, 0.0], [0.5, 1.0, 0.25], [0.0, 0.25, 1.5]]), **SHORT}


def of_schools() -> Given:
    return {"y": np.arange(8.0), "w": np.ones(8), "z": np.eye(8), **SHORT}


GIVEN = {
    "sghmc_logistic": of_logistic,
    "generalised_langevin_gaussian_baoab": of_langevin,
    "sghmc_eight_schools": of_schools,
}
X = of_logistic()["x"]
ASYMMETRIC = np.array([[1.0, 0.5, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])

LOGISTIC: list[tuple[str, Any, type[Exception], str]] = [
    ("x", X[:, :29], ValueError, r"x: found the shape \(40, 29\), expected \(N, 30\)$"),
    ("x", X.T, ValueError, r"x: found the shape \(30, 40\), expected \(N, 30\): give its transpose"),
    ("x", X[None], ValueError, r"x: found .* \(1, 40, 30\), expected \(N, 30\): give it by .reshape\(\(40, 30\)\)$"),
    ("x", np.empty((0, 30)), ValueError, r"x: found .* \(0, 30\), expected \(N, 30\): there are no numbers in it$"),
    ("x", [[1.0, 2.0], [3.0]], TypeError, "x: found list, expected an array of real numbers"),
    ("x", None, TypeError, "x: found NoneType, expected an array of real numbers"),
    ("x", X.astype(str), TypeError, "x: found an array of <U32, expected an array of real numbers"),
    ("x", X.astype(np.longdouble), TypeError, "x: found an array of float128"),
    ("x", np.ma.masked_array(X, X > 1.0), TypeError, "x: found MaskedArray, expected an array of real numbers"),
    ("x", np.where(X[3, 4] == X, np.nan, X), ValueError, r"x: found nan at \[3, 4\], expected finite numbers"),
    ("x", np.full((40, 30), 2**60), ValueError, r"x: found integers beyond 2\*\*53"),
    ("y", np.zeros(39), ValueError, r"y: found the shape \(39,\), expected \(40,\)"),
    ("y", np.full(40, 0.5), ValueError, r"y: found 0.5 at \[0\], expected one of \[0, 1\]"),
    ("c", -1.0, ValueError, "c: found -1.0, expected a finite number at least 0"),
    ("c", "1", TypeError, "c: found str, expected a real number"),
    ("prior_variance", 0.0, ValueError, "prior_variance: found 0.0, expected a finite number above 0"),
    ("step_size", 0.0, ValueError, "step_size: found 0.0, expected a finite number above 0"),
    ("step_size", np.nan, ValueError, "step_size: found nan"),
    ("step_size", 10**400, ValueError, "step_size: found inf"),
    ("draws", 0, ValueError, "draws: found 0, expected an integer of 64 bits at least 1"),
    ("draws", 2.5, TypeError, "draws: found float, expected an integer"),
    ("draws", 10**15, ValueError, r"draws and warmup: found 1000000000000002 in all .* as memory has room for"),
    ("draws", 2**63, ValueError, "draws: found an integer of 64 bits and a sign, expected an integer of 64 bits at"),
    ("chains", 2**40, ValueError, "draws and warmup: found 6 in all for each of 1099511627776 chains, expected as"),
    ("chains", True, TypeError, "chains: found bool, expected an integer"),
    ("seed", -1, ValueError, "seed: found -1, expected an integer of 64 bits at least 0"),
    ("batch_size", 41, ValueError, "batch_size: found 41, expected an integer of 64 bits at least 1 and at most 40"),
    ("init", np.zeros(30), TypeError, "init: found ndarray, expected None or a dict with any of theta, r"),
    ("init", {"beta": np.zeros(30)}, ValueError, "init: found 'beta', expected any of theta, r"),
    ("init", {"theta": np.zeros(29)}, ValueError, r"init of theta: found the shape \(29,\), expected \(30,\)"),
    ("init", {"theta": np.zeros((3, 30))}, ValueError, r"init of theta: found the shape \(3, 30\), expected \(2, 30\)"),
    ("init", {"r": np.full(30, np.nan)}, ValueError, r"init of r: found nan at \[0\]"),
]
LANGEVIN: list[tuple[str, Any, type[Exception], str]] = [
    ("Sigma", np.diag([1.0, 1.0, -1.0]), ValueError, "Sigma: found the eigenvalue -1.0, expected a positive definite"),
    ("Sigma", ASYMMETRIC, ValueError, "Sigma: found a matrix that is not symmetric, expected a positive definite one"),
    ("Sigma", np.eye(2), ValueError, r"Sigma: found the shape \(2, 2\), expected \(3, 3\)"),
    ("M", -np.eye(3), ValueError, "M: found the eigenvalue -1.0, expected a positive definite matrix"),
    ("A", np.diag([1.0, -0.5]), ValueError, "A: found the eigenvalue -0.5, expected a positive semidefinite matrix"),
]
SCHOOLS: list[tuple[str, Any, type[Exception], str]] = [
    ("z", 2.0 * np.eye(8), ValueError, r"z: found 2.0 at \[0, 0\], expected one of \[0, 1\]"),
]
TABLE = [
    *(("sghmc_logistic", *row) for row in LOGISTIC),
    *(("generalised_langevin_gaussian_baoab", *row) for row in LANGEVIN),
    *(("sghmc_eight_schools", *row) for row in SCHOOLS),
]


@pytest.mark.parametrize(("file", "name", "value", "kind", "says"), TABLE)
def test_a_misuse_is_told(file: str, name: str, value: Any, kind: type[Exception], says: str) -> None:
    with pytest.raises(kind, match=says):
        file_named(file).sample(**GIVEN[file]() | {name: value})


HARMLESS: list[tuple[str, Any]] = [
    ("x", np.asfortranarray(X)),
    ("x", np.repeat(X, 2, axis=0)[::2]),
    ("x", X.astype(">f8")),
    ("x", X.tolist()),
    ("y", of_logistic()["y"].astype(bool)),
    ("y", of_logistic()["y"].astype(np.int8)),
    ("draws", np.int64(4)),
    ("step_size", np.float64(0.01)),
    ("threads", 1),
    ("init", {}),
]


@pytest.mark.parametrize(("name", "value"), HARMLESS)
def test_what_can_be_converted_without_loss_is(name: str, value: Any) -> None:
    file, given = file_named("sghmc_logistic"), of_logistic()
    found = file.sample(**given | {name: value})
    assert found["theta"].shape == found["r"].shape == (2, 4, 30)
    np.testing.assert_array_equal(found["theta"], file.sample(**given)["theta"])


@pytest.mark.slow
@pytest.mark.usefixtures("with_jit")
def test_nothing_is_compiled_anew_for_data_that_may_not_be_written_to(tmp_path: Path) -> None:
    """Columns of pandas are such: `run` would be compiled, a minute of some files, for each set of them."""
    file, given = shipped_file("sghmc_logistic", tmp_path), of_logistic()
    expected = file.sample(**given)
    compiled = list(file.run.signatures)
    for x in (np.lib.stride_tricks.as_strided(X, writeable=False), np.frombuffer(b"0" + X.tobytes(), offset=1)):
        found = file.sample(**given | {"x": x.reshape(X.shape)})
        assert file.run.signatures == compiled
        np.testing.assert_array_equal(found["theta"], expected["theta"])


def test_a_memory_map_is_read_where_it_is(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", X)
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    found = file_named("sghmc_logistic")._checked_array("x", mapped, ("N", 30), {})
    assert np.shares_memory(found, mapped)


def test_what_a_move_holds_is_not_for_a_caller_to_say() -> None:
    """The cycle was proved for the coordinates that it moves: with others at rest it would be of another law."""
    with pytest.raises(TypeError, match="unexpected keyword argument 'moved'"):
        file_named("hmc_within_gibbs").sample(X[:, :4], X[:, 4], moved=np.zeros(5))


@pytest.mark.parametrize("rows", [(True,) * 3, (False, True, True, False, True), (False, False), (True, False) * 40])
def test_the_lines_of_a_mask_are_one_at_what_moves(rows: tuple[bool, ...]) -> None:
    given: Given = {"np": np}
    exec("\n".join(mask_lines("moved", rows)), given)
    np.testing.assert_array_equal(given["moved"], np.array(rows, dtype=float))


def test_every_chain_has_its_own_start_and_streams() -> None:
    file, given = file_named("sghmc_logistic"), of_logistic()
    two, three = (file.sample(**given | {"chains": chains, "threads": 2})["theta"] for chains in (2, 3))
    np.testing.assert_array_equal(two, three[:2])
    assert not np.array_equal(two[0], two[1])
    starts = np.stack([np.full(30, 0.5), np.full(30, -0.5)])
    given |= {"init": {"theta": starts, "r": np.zeros(30)}, "warmup": 0, "draws": 1, "thin": 1, "step_size": 1e-9}
    np.testing.assert_allclose(file.sample(**given)["theta"][:, 0], starts, atol=1e-6)


def test_a_chain_that_leaves_the_finite_numbers_is_told() -> None:
    given = of_logistic() | {"step_size": 1e4, "draws": 50, "thin": 50}
    with pytest.warns(RuntimeWarning, match=r"left the finite numbers: chain 0 after 0 of 52.*smaller step"):
        found = file_named("sghmc_logistic").sample(**given)
    assert np.isnan(found["theta"][:, -1]).all()


def test_chains_that_never_move_are_told() -> None:
    given = of_logistic() | {"step_size": 1e-300, "draws": 50}
    with pytest.warns(RuntimeWarning, match="theta is the same in all 50 draws of chain 0, 1: take another step_size"):
        file_named("sghmc_logistic").sample(**given)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        file_named("sghmc_logistic").sample(**given | {"draws": 49})
        file_named("sghmc_logistic").sample(**given | {"step_size": 1e-6})


def test_a_block_that_is_sampled_as_its_logarithm_is_turned_back() -> None:
    found = file_named("sghmc_eight_schools").sample(**of_schools())
    assert {name: array.shape for name, array in found.items()} == {
        "mu": (2, 4), "tau": (2, 4), "eta": (2, 4, 8), "r": (2, 4, 10),
    }  # fmt: skip
    assert (found["tau"] > 0.0).all()


@pytest.mark.parametrize("name", ["sghmc_logistic", "sghmc_varying_intercepts"])
def test_rows_that_pandas_labels_otherwise_are_refused(name: str) -> None:
    """NumPy pairs them by place, and labels say that they belong to others."""
    pandas = pytest.importorskip("pandas")
    random = np.random.default_rng(3)
    x, y = random.standard_normal((40, 1)), random.standard_normal(40)
    given = of_logistic() if name == "sghmc_logistic" else {"x": x, "y": y, "g": np.arange(40) % 12, **SHORT}
    given = {key: value for key, value in given.items() if key != "step_size"}
    fields = [key for key, value in given.items() if isinstance(value, np.ndarray)]
    labelled = {key: (pandas.DataFrame if given[key].ndim == 2 else pandas.Series)(given[key]) for key in fields}
    sample = file_named(name).sample
    plain, same = sample(**given), sample(**given | labelled)
    for block, draws in plain.items():
        np.testing.assert_array_equal(same[block], draws)
    for key in fields[1:]:
        with pytest.raises(ValueError, match=f"{key}: found rows with other labels than those before it, expected"):
            sample(**given | labelled | {key: labelled[key][::-1]})
        assert sample(**given | labelled | {key: labelled[key][::-1].to_numpy()}).keys() == plain.keys()


@pytest.mark.slow
def test_a_batch_that_nobody_asked_for_is_no_larger_than_the_data(tmp_path: Path) -> None:
    """The build of the file says 512."""
    sample = file_of(load_build(ROOT / "specs/builds/sghmc_logistic.yaml"), tmp_path).sample
    of_400 = {"x": np.random.default_rng(1).standard_normal((400, 30)), "y": np.arange(400) % 2, **SHORT}
    told: list[tuple[int, int, int, str]] = []
    capped = sample(**of_400, progress=lambda *one: told.append(one))
    np.testing.assert_array_equal(capped["theta"], sample(**of_400, batch_size=400)["theta"])
    assert {one[0] for one in told} == {0, 1}
    assert told[-1][1:] == (6, 6, "draws")
    with pytest.raises(ValueError, match="batch_size: found 512, expected an integer of 64 bits at least 1 and at"):
        sample(**of_400, batch_size=512)
    with pytest.raises(TypeError, match="progress: found str, expected True, False or a function progress"):
        sample(**of_400, progress="yes")

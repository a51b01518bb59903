"""`checked_run` of emitted modules: a wrong argument is told by name, and nothing has been changed then."""

# pyright: reportPrivateUsage=false

import importlib.util
import sys
from fractions import Fraction
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from loaders import load_build

from recipe_compiler.emit.support.checks import _check_jitted, _check_kinds, _checked_number
from recipe_compiler.pipeline import compile_build

BUILDS = Path(__file__).parents[2] / "specs" / "builds"
DRAWS = 5


def module_of(name: str, folder: Path) -> ModuleType:
    build = load_build(BUILDS / f"{name}.yaml")
    path = folder / f"{name}.py"
    path.write_text(compile_build(build).text, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # where the cache of compiled code looks for it
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def logistic(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    return module_of("sghmc_logistic", tmp_path_factory.mktemp("logistic"))


@pytest.fixture(scope="module")
def langevin(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    return module_of("generalised_langevin_gaussian", tmp_path_factory.mktemp("langevin"))


def of_logistic(module: ModuleType) -> dict[str, Any]:
    random = np.random.default_rng(1)
    noise, batches = module.seed_streams(1, 1)
    return {
        "theta": np.zeros(30), "r": np.zeros(30), "c": 1.0, "prior_variance": 10.0,
        "x": random.standard_normal((40, 30)), "y": random.integers(0, 2, 40).astype(float),
        "batch_size": 8, "eps": 0.01, "thin": 2, "noise_state": noise[0], "batch_state": batches[0],
        "permutation": np.arange(40, dtype=np.uint64),
        "theta_draws": np.empty((DRAWS, 30)), "r_draws": np.empty((DRAWS, 30)),
    }  # fmt: skip


def of_langevin(module: ModuleType) -> dict[str, Any]:
    noise, _ = module.seed_streams(1, 1)
    return {
        "theta": np.zeros(3), "r": np.zeros(3), "w": np.zeros(2), "M": np.diag([1.0, 2.0, 3.0]),
        "Lambda": np.ones((3, 2)), "A": np.array([[2.0, 0.5], [0.5, 1.0]]), "mu": np.zeros(3),
        "Sigma": np.array([[2.0, 0.5, 0.0], [0.5, 1.0, 0.25], [0.0, 0.25, 1.5]]), "eps": 0.01, "thin": 2,
        "noise_state": noise[0], "theta_draws": np.empty((DRAWS, 3)), "r_draws": np.empty((DRAWS, 3)),
        "w_draws": np.empty((DRAWS, 2)),
    }  # fmt: skip


def test_right_arguments_give_the_draws_of_run(logistic: ModuleType) -> None:
    checked, plain = of_logistic(logistic), of_logistic(logistic)
    assert logistic.checked_run(**checked) == DRAWS
    constants = logistic.prepare(plain["c"], plain["prior_variance"], plain["eps"])
    values = plain | dict(zip(logistic.CONSTANTS, constants, strict=True))
    assert logistic.run(*(values[name] for name in logistic.ARGUMENTS)) == DRAWS
    np.testing.assert_array_equal(checked["theta_draws"], plain["theta_draws"])
    assert checked["theta_draws"].std() > 0.0


def test_float32_data_are_taken(logistic: ModuleType) -> None:
    given = of_logistic(logistic)
    assert logistic.checked_run(**given | {"x": given["x"].astype(np.float32)}) == DRAWS


WRONG: list[tuple[str, Any, type[Exception], str]] = [
    ("theta", np.zeros(29), ValueError, r"theta: found the shape \(29,\), expected \(30,\)"),
    ("theta", np.zeros((30, 1)), ValueError, "theta: found the shape"),
    ("theta", np.zeros(30, int), TypeError, "theta: found an array of int64, expected a NumPy array of float64"),
    ("theta", np.zeros(30, np.float32), TypeError, "theta: found an array of float32"),
    ("theta", [0.0] * 30, TypeError, "theta: found list"),
    ("theta", np.zeros(60)[::2], ValueError, "theta: found an array with gaps"),
    ("theta", np.full(30, np.nan), ValueError, r"theta: found nan at \[0\]"),
    ("r", np.full(30, np.inf), ValueError, "r: found inf"),
    ("theta", np.ma.zeros(30), TypeError, "theta: found MaskedArray, expected a NumPy array of float64"),
    (
        "x",
        np.zeros((40, 30), ">f8"),
        TypeError,
        "x: found an array of >f8, expected a NumPy array of float64 or float32",
    ),
    ("x", np.zeros((0, 30)), ValueError, r"x: found the shape \(0, 30\), expected \(N, 30\) with N at least 1"),
    ("x", np.zeros((40, 29)), ValueError, r"x: found the shape \(40, 29\), expected \(N, 30\)"),
    ("x", np.zeros((30, 40)).T, ValueError, "x: found"),
    ("x", np.full((40, 30), np.nan), ValueError, r"x: found nan at \[0, 0\]"),
    ("y", np.zeros(39), ValueError, r"y: found the shape \(39,\), expected \(40,\)"),
    ("y", np.full(40, 0.5), ValueError, r"y: found 0.5 at \[0\], expected one of \[0, 1\]"),
    ("y", np.zeros(40, bool), TypeError, "y: found an array of bool"),
    ("c", -1.0, ValueError, "c: found -1.0, expected a finite number at least 0"),
    ("c", "1", TypeError, "c: found str, expected a real number"),
    ("c", np.zeros(1), TypeError, "c: found ndarray"),
    ("prior_variance", 0.0, ValueError, "prior_variance: found 0.0, expected a finite number above 0"),
    ("prior_variance", np.nan, ValueError, "prior_variance: found nan"),
    ("eps", -0.01, ValueError, "eps: found -0.01"),
    ("eps", 0.0, ValueError, "eps: found 0.0"),
    ("eps", np.inf, ValueError, "eps: found inf"),
    ("eps", 10**400, ValueError, "eps: found inf, expected a finite number above 0"),
    ("eps", None, TypeError, "eps: found NoneType"),
    ("thin", 0, ValueError, "thin: found 0"),
    ("thin", 2.0, TypeError, "thin: found float, expected an integer"),
    ("thin", 2**70, ValueError, "thin: found an integer of 71 bits, expected an integer of 64 bits at least 1"),
    ("thin", True, TypeError, "thin: found bool"),
    ("batch_size", 0, ValueError, "batch_size: found 0"),
    ("batch_size", 41, ValueError, "batch_size: found 41, expected an integer of 64 bits at least 1 and at most 40"),
    ("noise_state", np.zeros(4, np.uint64), ValueError, "noise_state: found a state of zeros"),
    ("noise_state", np.ones(256, np.uint64), ValueError, r"noise_state: found the shape \(256,\)"),
    ("noise_state", np.ones(4), TypeError, "noise_state: found an array of float64"),
    ("noise_state", np.random.default_rng(1), TypeError, "noise_state: found Generator"),
    ("batch_state", np.ones((1, 4), np.uint64), ValueError, "batch_state: found the shape"),
    ("permutation", np.arange(39, dtype=np.uint64), ValueError, "permutation: found the shape"),
    ("permutation", np.zeros(40, np.uint64), ValueError, "permutation: expected every number from 0 to 39 once"),
    ("permutation", np.arange(1, 41, dtype=np.uint64), ValueError, "permutation: expected every number"),
    ("permutation", np.arange(40), TypeError, "permutation: found an array of int64"),
    ("theta_draws", np.empty((DRAWS, 29)), ValueError, "theta_draws: found the shape"),
    ("theta_draws", np.empty(30 * DRAWS), ValueError, "theta_draws: found the shape"),
    ("theta_draws", np.empty((0, 30)), ValueError, r"theta_draws: found the shape \(0, 30\), expected .* at least 1"),
    ("r_draws", np.empty((DRAWS + 1, 30)), ValueError, r"r_draws: found the shape \(6, 30\), expected \(5, 30\)"),
    ("r_draws", np.empty((DRAWS, 30), order="F"), ValueError, "r_draws: found an array with gaps or by columns"),
]


@pytest.mark.parametrize(("name", "value", "kind", "says"), WRONG)
def test_a_wrong_argument_is_told_by_name(
    logistic: ModuleType, name: str, value: Any, kind: type[Exception], says: str
) -> None:
    given = of_logistic(logistic)
    before = given["noise_state"].copy()
    with pytest.raises(kind, match=says):
        logistic.checked_run(**given | {name: value})
    assert not given["theta"].any()
    np.testing.assert_array_equal(given["noise_state"], before)


def test_arrays_that_share_memory_are_refused(logistic: ModuleType) -> None:
    given = of_logistic(logistic)
    with pytest.raises(ValueError, match="theta and r: found arrays that share memory"):
        logistic.checked_run(**given | {"r": given["theta"]})


@pytest.mark.parametrize(
    ("name", "other"),
    [("theta", "x"), ("batch_state", "noise_state"), ("theta_draws", "x"), ("noise_state", "permutation")],
)
def test_what_is_written_is_apart_from_all_that_is_read(logistic: ModuleType, name: str, other: str) -> None:
    given = of_logistic(logistic)
    shape = given[name].shape
    part = given[other].reshape(-1)[: given[name].size].reshape(shape)
    with pytest.raises(ValueError, match=f"({name} and {other}|{other} and {name}): found arrays that share memory"):
        logistic.checked_run(**given | {name: part})


def test_data_may_share_memory_with_data(logistic: ModuleType) -> None:
    given = of_logistic(logistic)
    whole = np.concatenate([given["y"], given["x"].reshape(-1)])
    assert logistic.checked_run(**given | {"y": whole[:40], "x": whole[40:].reshape(40, 30)}) == DRAWS


def test_numbers_are_made_those_of_jitted_code(logistic: ModuleType) -> None:
    given, plain = of_logistic(logistic), of_logistic(logistic)
    assert logistic.checked_run(**plain) == DRAWS
    numbers = {"eps": Fraction(1, 100), "c": 1, "prior_variance": np.float32(10.0), "thin": np.uint8(2)}
    assert logistic.checked_run(**given | numbers) == DRAWS
    np.testing.assert_array_equal(given["theta_draws"], plain["theta_draws"])


@pytest.mark.parametrize(
    ("array", "kinds", "says"),
    [
        (np.array([1.0, -2.0]), ["positive"], "W: found -2.0, expected positive entries"),
        (np.array([1.0, 0.0]), ["nonzero"], "W: found 0.0, expected nonzero entries"),
        (np.array([[0.0, -1.0], [1.0, 0.0]]), ["nonnegative"], "W: found -1.0, expected nonnegative entries"),
        (np.array([[0.0, 1.0], [1.0, 0.0]]), ["skew"], "W: found a matrix that is not skew, expected a skew one"),
        (np.array([[1.0, 2.0], [0.0, 3.0]]), ["diagonal"], "W: found numbers beside the diagonal, expected a diagonal"),
        (np.diag([1.0, 0.0]), ["diagonal", "positive"], "W: found 0.0, expected positive entries"),
    ],
)
def test_every_kind_of_an_array_is_looked_at(array: Any, kinds: list[str], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        _check_kinds("W", array, kinds)


@pytest.mark.parametrize(
    ("array", "kinds"),
    [
        (np.diag([1.0, 2.0]), ["diagonal", "positive"]),
        (np.array([[0.0, 1.0], [-1.0, 0.0]]), ["skew"]),
        (np.array([[1.0, -1.0], [-1.0, 1.0]]), ["positive semidefinite"]),
    ],
)
def test_arrays_of_their_kinds_are_taken(array: Any, kinds: list[str]) -> None:
    _check_kinds("W", array, kinds)


def test_a_number_that_must_not_be_zero_is_not() -> None:
    assert _checked_number("c", -1, nonzero=True) == -1.0
    with pytest.raises(ValueError, match=r"c: found 0.0, expected a finite number other than 0"):
        _checked_number("c", 0, nonzero=True)


def test_a_gradient_that_is_not_jitted_is_told() -> None:
    with pytest.raises(
        TypeError, match=r"gradient: found builtin_function_or_method, expected a function jitted by numba.njit"
    ):
        _check_jitted("gradient", print)


def test_what_is_written_may_not_be_read_only(logistic: ModuleType) -> None:
    given = of_logistic(logistic)
    given["theta"].setflags(write=False)
    with pytest.raises(ValueError, match="theta: found an array that is read only"):
        logistic.checked_run(**given)


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("Sigma", np.diag([1.0, 1.0, -1.0]), "Sigma: found the eigenvalue -1.0, expected a positive definite matrix"),
        ("Sigma", np.array([[1.0, 0.5, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]), "Sigma: found a matrix that is not"),
        ("Lambda", np.ones((2, 3)), r"Lambda: found the shape \(2, 3\)"),
        ("A", np.full((2, 2), np.inf), "A: found inf"),
        ("w", np.zeros(3), r"w: found the shape \(3,\), expected \(2,"),
    ],
)
def test_matrices_are_of_their_kinds(langevin: ModuleType, name: str, value: Any, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        langevin.checked_run(**of_langevin(langevin) | {name: value})


def test_matrices_of_their_kinds_are_run(langevin: ModuleType) -> None:
    assert langevin.checked_run(**of_langevin(langevin)) == DRAWS

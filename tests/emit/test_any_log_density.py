"""Modules whose U is an argument: the draws of the same target in formulas, states that go on, gradients refused."""

import inspect
import re
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import numba
import numpy as np
import pytest
from emitted_file import file_of, imported

import recipe_compiler as rc
from recipe_compiler.emit.support import trial
from recipe_compiler.errors import ModelError, RunError

pytestmark = pytest.mark.usefixtures("without_jit", "plain_functions")

SIGMA = np.array([[2.0, 0.9, 0.3], [0.9, 1.0, -0.2], [0.3, -0.2, 0.5]])
P, MU = np.linalg.inv(SIGMA), np.array([1.0, -2.0, 0.5])
M = [[1.0, 0.2, 0.0], [0.2, 2.0, 0.1], [0.0, 0.1, 1.5]]
C = [[1.0, 0.3, 0.0], [0.3, 1.0, 0.0], [0.0, 0.0, 0.5]]  # does not commute with M
rng = np.random.default_rng(3)
X = rng.standard_normal((40, 2))
Y = X @ [1.0, -0.5] + rng.standard_normal(40)

HMC = {"cycle": [{"refresh": "r"}, {"metropolis": {"split": ["B/2", "A", "B/2"], "steps": 3, "flip": {"r": "-r"}}}]}
LANGEVIN = {"scheme": "baoab", "parameters": {"M": M, "C": C}}
DYNAMICS: Mapping[str, tuple[str, dict[str, Any]]] = {
    "a word": ("sghmc", LANGEVIN),
    "Euler": ("sghmc", LANGEVIN | {"scheme": "sequential_euler", "order": ["r", "theta"]}),
    "one block": ("sgld", {"bind": {"D": "I"}}),
    "a thermostat": ("sgnht", {"scheme": "badodab", "parameters": {"A": 1}}),
    "accepted": ("hmc", {"scheme": HMC, "parameters": {"M": M}}),
}
BATCHES = {"without replacement": {}, "with replacement": {"minibatch": {"replacement": True}}}
SETTINGS: dict[str, Any] = {"step_size": 0.1, "draws": 6, "warmup": 2, "thin": 2, "chains": 3, "seed": 5}


def U(theta: np.ndarray, precision: np.ndarray, mu: np.ndarray) -> float:
    return (theta - mu) @ precision @ (theta - mu) / 2


def grad_U(theta: np.ndarray, precision: np.ndarray, mu: np.ndarray) -> np.ndarray:
    return precision @ (theta - mu)


def of_rows(theta: np.ndarray, batch: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    rows = batch.astype(np.int64)
    return theta / 10.0 - len(x) / len(rows) * x[rows].T @ (y[rows] - x[rows] @ theta)


def module_of(dynamics: str, folder: Path, **stated: Any) -> ModuleType:
    return file_of(rc.Build(name="any_U", dynamics=dynamics, **stated).document, folder)


def drawn(module: ModuleType, *functions: object, **settings: Any) -> Any:
    """Return what `sample` draws of the Gaussian; `d` is said where no parameter tells it."""
    needed = (U, grad_U) if "potential" in module.ARGUMENTS else (grad_U,)
    size = {"d": 3} if "d" in inspect.signature(module.sample).parameters else {}
    return module.sample(*(functions or needed), **{"data": (P, MU), **size, **SETTINGS, **settings})


@pytest.fixture
def plain_functions(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave the functions of these tests as they are, too, which modules would compile."""
    monkeypatch.setattr(numba.config, "DISABLE_JIT", 1)


@pytest.fixture
def gaussian(tmp_path: Path) -> ModuleType:
    return module_of("sghmc", tmp_path, **LANGEVIN)


@pytest.mark.parametrize(("dynamics", "stated"), DYNAMICS.values(), ids=DYNAMICS)
def test_the_draws_are_those_of_the_target_in_formulas(dynamics: str, stated: dict[str, Any], tmp_path: Path) -> None:
    own = {**stated, "parameters": {**stated.get("parameters", {}), "mu": MU.tolist(), "Sigma": SIGMA.tolist()}}
    target = rc.load("gaussian")
    build = rc.Build(name="gauss", dynamics=dynamics, target=target, step_size=0.1, **own)
    wanted = file_of(build.document, tmp_path).sample(**SETTINGS)
    module = module_of(dynamics, tmp_path, **stated)
    found = drawn(module)
    assert found.keys() == wanted.keys()
    for name, draws in wanted.items():
        assert draws.std() > 0.0
        np.testing.assert_allclose(found[name], draws, rtol=1e-9, atol=1e-12, err_msg=name)


@pytest.mark.parametrize("stated", BATCHES.values(), ids=BATCHES)
def test_minibatches_are_drawn_as_for_a_target_in_formulas(stated: dict[str, Any], tmp_path: Path) -> None:
    own = {**LANGEVIN, "parameters": {"M": [[2, 1], [1, 2]], "C": [[1, 0], [0, 2]]}, "variant": "minibatch", **stated}
    values = {**own["parameters"], "prior_variance": 10, "noise_variance": 1}
    dynamics, target = "sghmc", rc.load("linear_regression")
    more = {**own, "parameters": values, "batch_size": 7, "step_size": 0.1}
    build = rc.Build(name="rows", dynamics=dynamics, target=target, data={"x": X, "y": Y}, **more)
    settings = {**SETTINGS, "step_size": 0.01}
    wanted = file_of(build.document, tmp_path).sample(X, Y, **settings)
    module = module_of("sghmc", tmp_path, **own)
    found = module.sample(of_rows, rows=40, batch_size=7, data=(X, Y), **settings)
    np.testing.assert_allclose(found["theta"], wanted["theta"], rtol=1e-9, atol=1e-12)
    with pytest.raises(ValueError, match=r"is no unbiased estimate at theta = .*: grad_U\[0\] is "):
        module.sample(
            lambda x, batch, *given: of_rows(x, batch, *given) * len(batch),
            rows=40,
            batch_size=7,
            data=(X, Y),
            **settings,
        )


def test_sizes_follow_from_parameters_or_a_start(tmp_path: Path) -> None:
    free = module_of("sghmc", tmp_path)
    settings = {**SETTINGS, "data": (P, MU)}
    told = free.sample(grad_U, M=M, C=C, **settings)
    module = module_of("sghmc", tmp_path, **LANGEVIN | {"bind": {"M": "I"}, "parameters": {"C": C}})
    assert told["theta"].shape == module.sample(grad_U, init={"theta": MU}, **settings)["theta"].shape == (3, 6, 3)
    with pytest.raises(ValueError, match=r"M: found the eigenvalue -1\.0, expected a positive definite matrix"):
        free.sample(grad_U, M=np.diag([1.0, -1.0, 1.0]), C=C, **settings)
    alone = module_of("sgld", tmp_path, bind={"D": "I"})
    with pytest.raises(ValueError, match=r"d: found no number, expected d=\.\.\., or init of theta"):
        alone.sample(grad_U, **settings)


@pytest.mark.parametrize("name", ["a word", "accepted"])
def test_a_loop_of_ones_own_takes_the_steps_of_sample(name: str, tmp_path: Path) -> None:
    dynamics, stated = DYNAMICS[name]
    module = module_of(dynamics, tmp_path, **stated)
    wanted = drawn(module, warmup=0, thin=1, chains=1)["theta"][0]
    eps, own = 0.1, {name: np.array(value) for name, value in stated["parameters"].items()}
    own |= dict(zip(module.CONSTANTS, module.prepare(*own.values(), eps, 3), strict=True)) | module.work(3)
    own |= {**module.first_state(5, 0, *([own["M"]] if "M" in module.first_state.__code__.co_varnames else []), 3)}
    own |= {"eps": eps, "data": (P, MU), "potential": lambda theta, data: U(theta, *data)}
    own["gradient"] = lambda out, theta, data: np.copyto(out, grad_U(theta, *data))
    own |= {"grad_U": grad_U(own["theta"], P, MU), "U": np.array([U(own["theta"], P, MU)])}
    (stream,), _ = module.seed_streams(5, 1)
    step = module.cycle if "potential" in module.ARGUMENTS else module.step
    for draw in wanted:
        for normals in (noise for noise in own if noise.startswith("noise_")):
            with np.errstate(over="ignore"):
                module._fill_normals(stream, own[normals])
        step(*[own[name] for name in module.STEP_ARGUMENTS])
        for old, new in module.STEP_LEAVES:
            own[old][:] = own[new]
        np.testing.assert_array_equal(own["theta"], draw)


def scaled(theta: np.ndarray, *given: np.ndarray) -> np.ndarray:
    return np.array([1.0, 1.01, 1.0]) * grad_U(theta, *given)


REFUSED: Mapping[str, tuple[object, str]] = {
    "one coordinate, without U": (scaled, r"Jacobian is not symmetric .* d grad_U\[\d\]/d theta\[\d\] = "),
    "another shape": (lambda theta, *_: theta[:2], r"returns an array of shape \(2,\) .* expected grad U, an array of"),
    "no array": (lambda theta, *_: theta[0], r"returns an array of shape \(\) of float64"),
    "no real number": (lambda theta, *_: theta > 0, r"of bool, expected grad U, an array of shape \(3,\) of real"),
    "not finite": (lambda theta, *_: theta / 0.0, r"gives .*inf at \[0\] where chain 0 starts, at theta = .*\(init\)"),
    "in place": (lambda theta, *_: theta.__imul__(2), "writes to theta, expected it to return a new array"),
    "no function": (print, "found builtin_function_or_method, expected a Python function"),
}


@pytest.mark.filterwarnings("ignore:divide by zero")
@pytest.mark.parametrize(("function", "says"), REFUSED.values(), ids=REFUSED)
def test_what_is_no_gradient_is_refused(gaussian: ModuleType, function: Any, says: str) -> None:
    with pytest.raises((TypeError, ValueError), match=f"grad_U.*{says}"):
        drawn(gaussian, function)


WRONG: Mapping[str, Callable[..., object]] = {
    "1": scaled,
    "0": lambda theta, *given: grad_U(theta, *given) + np.eye(3)[0] / 100.0,  # symmetric: U alone tells
    "2": lambda theta, *given: grad_U(theta, *given) - theta * [0.0, 0.0, 0.1],
}


@pytest.mark.parametrize(("place", "function"), WRONG.items())
def test_by_differences_of_u_the_coordinate_is_named(gaussian: ModuleType, place: str, function: Any) -> None:
    with pytest.raises(ValueError, match=rf"not grad U at theta = .*grad_U\[{place}\] = .*, differences of U give"):
        drawn(gaussian, function, U=U)
    assert drawn(gaussian, function, U=U, check=False)["theta"].shape == (3, 6, 3)
    drawn(gaussian, U=U)


def test_slow_gradients_are_tried_in_few_directions(monkeypatch: pytest.MonkeyPatch) -> None:
    calls, dims = [0], 50
    A = rng.standard_normal((dims, dims))
    A = A @ A.T + np.eye(dims)

    def counted(theta: np.ndarray, matrix: np.ndarray = A) -> np.ndarray:
        calls[0] += 1
        return matrix @ theta

    monkeypatch.setattr(trial, "_SLOW", -1.0)
    trial._try_slopes("g", [np.ones(dims)], counted, energy=lambda theta: theta @ A @ theta / 2)
    assert calls[0] < 50
    skewed = A + 1e-3 * np.triu(np.ones((dims, dims)), 1)
    with pytest.raises(ValueError, match=r"not symmetric .* in some directions u, v"):
        trial._try_slopes("g", [np.ones(dims)], lambda theta: counted(theta, skewed))
    with pytest.raises(ValueError, match=r"found grad_U\.v in some direction v"):
        trial._try_slopes("g", [np.ones(dims)], lambda theta: counted(theta, 1.001 * A), energy=lambda x: x @ A @ x / 2)


def test_a_run_asks_for_a_target() -> None:
    model = rc.compile("sgld", bind={"D": "I"})
    with pytest.raises(RunError, match=r"found no target, expected one, or a gradient of your own given to"):
        model.sample()
    assert model.text.startswith('"""sgld: Stochastic gradient Langevin dynamics, for any log density.')


def test_the_header_says_what_is_proved_of_every_u_and_what_is_assumed() -> None:
    text = " ".join(rc.compile("sghmc", **LANGEVIN).text.split())
    for said in (
        "exp(-H) is stationary (index calculus for every size; second engine)",
        "the weak order of one step, from draw to draw (weak order 2",
        "Assumed, of U and of the arguments: U is smooth grad U is as grad_U computes it, U being smooth exp(-U) has a",
        "grad_U(theta, *data) returns grad U, (d,)",
    ):
        assert said in text


WRONG_CYCLE = {"cycle": [{"refresh": "r"}, {"metropolis": {"split": ["B", "A"], "steps": 1, "flip": {"r": "-r"}}}]}


def test_a_wrong_cycle_is_not_emitted() -> None:
    with pytest.raises(rc.VerificationError, match="metropolis is refuted"):
        rc.compile("hmc", scheme=WRONG_CYCLE)


@pytest.mark.slow
def test_an_imported_model_is_the_file_that_it_writes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = rc.compile("sghmc", **LANGEVIN)
    wanted = drawn(imported(model.write(tmp_path)))["theta"]
    monkeypatch.setattr(numba.config, "DISABLE_JIT", 0)
    loaded = model.load()
    np.testing.assert_allclose(drawn(loaded)["theta"], wanted, rtol=1e-12)
    assert hasattr(loaded.run, "signatures")
    with pytest.raises(TypeError, match=r"grad_U\(theta, \*data\) cannot be compiled by numba: .*Unknown attribute"):
        drawn(loaded, lambda theta, *_: theta.missing)


@pytest.mark.slow
def test_chains_are_compiled_once_for_all_functions_and_data(monkeypatch: pytest.MonkeyPatch) -> None:
    model = rc.compile("sghmc", **LANGEVIN)
    monkeypatch.setattr(numba.config, "DISABLE_JIT", 0)
    loaded = model.load()

    def own_slope(theta: np.ndarray, scales: np.ndarray, power: float) -> np.ndarray:
        if theta[0] > 1e3:
            raise ValueError("too far")
        return theta ** int(power) / scales

    wanted = drawn(loaded)["theta"]
    other = loaded.sample(own_slope, data=(np.array([1.0, 2.0, 4.0]), 1), init={"theta": MU}, **SETTINGS)["theta"]
    np.testing.assert_array_equal(drawn(loaded, data=(P + 0.0, MU[:, None][:, 0]))["theta"], wanted)
    assert abs(other - wanted).max() > 0.1
    assert len(loaded.run.signatures) == 1
    stiffness = 1.0

    def by_closure(theta: np.ndarray) -> np.ndarray:
        return stiffness * theta

    soft = loaded.sample(by_closure, init={"theta": MU}, **SETTINGS)["theta"]
    stiffness = 100.0
    assert abs(loaded.sample(by_closure, init={"theta": MU}, **SETTINGS)["theta"] - soft).max() > 0.1
    with pytest.raises(ValueError, match="too far"):
        loaded.sample(own_slope, data=(np.ones(3), 1.0), init={"theta": MU + 1e4}, check=False, **SETTINGS)


@pytest.mark.parametrize("name", ["a word", "accepted"])
def test_a_state_goes_on_with_the_gradient_and_the_seed_that_are_given(name: str, tmp_path: Path) -> None:
    module = module_of(*DYNAMICS[name][:1], tmp_path, **DYNAMICS[name][1])
    first, state = drawn(module, return_state=True)
    rest, whole = drawn(module, init=state, warmup=0, seed=0), drawn(module, draws=12)
    np.testing.assert_array_equal(np.concatenate([first["theta"], rest["theta"]], axis=1), whole["theta"])
    shifted = {"data": (2.0 * P, MU), "init": state, "warmup": 0}
    mixed = state | {"grad_U": 2.0 * state["grad_U"]} | ({"U": 2.0 * state["U"]} if "U" in state else {})
    np.testing.assert_allclose(
        drawn(module, **shifted)["theta"], drawn(module, **shifted | {"init": mixed})["theta"], rtol=1e-12
    )
    with pytest.warns(RuntimeWarning, match="seed: found 7 beside a state of seed 5"):
        drawn(module, init=state, warmup=0, seed=7)


def test_data_are_arrays_and_numbers(gaussian: ModuleType) -> None:
    for wrong, says in (
        ([P], "found list, expected a"),
        ((P, "mu"), "found str at 1, expected a"),
        ((None, MU), "found NoneType at 0, expected a"),
        ((P, MU.astype(object)), "found object at 1, expected numbers"),
        ((P.astype(">f8"), MU), "found >f8 at 0, expected numbers, in the byte order"),
    ):
        with pytest.raises(TypeError, match=f"data: {says}"):
            drawn(gaussian, data=wrong)


def test_u_is_a_number_and_no_array_of_one(gaussian: ModuleType) -> None:
    with pytest.raises(
        ValueError, match=r"U\(theta, \*data\) returns an array of shape \(\) .* expected U, a real number"
    ):
        drawn(gaussian, grad_U, U=lambda *given: np.array(U(*given)))


def far(theta: np.ndarray, *given: np.ndarray) -> np.ndarray:
    return grad_U(theta, *given) * np.array([0.2 if abs(theta[0] - MU[0]) > 3.0 else 1.0, 1.0, 1.0])


LEFT: Mapping[str, tuple[tuple[Callable[..., object], ...], dict[str, Any], str]] = {
    "wrong far out": ((far,), {}, r"Jacobian is not symmetric at theta = .* Chains went there"),
    "wrong far out, with U": ((far, U), {}, r"not grad U at theta = .*grad_U\[0\] = .* Chains went there"),
    "the other sign": ((lambda *at: -grad_U(*at),), {}, "ever farther .* U falls and falls: .* sign and all"),
    "both": ((lambda *at: -grad_U(*at), lambda *at: -U(*at)), {}, "ever farther .* U falls and falls"),
    "until it overflows": ((lambda *at: -grad_U(*at),), {"step_size": 0.7, "draws": 400}, "U falls and falls"),
    "a large step": ((grad_U,), {"step_size": 1.3, "draws": 160}, "ever farther .*take a smaller step_size"),
    "nothing": ((grad_U, U), {}, ""),
}


@pytest.mark.parametrize(("functions", "settings", "says"), LEFT.values(), ids=LEFT)
def test_gradients_are_tried_where_chains_went(
    gaussian: ModuleType, functions: Any, settings: dict[str, Any], says: str
) -> None:
    own = {"draws": 1000, "warmup": 0, "thin": 1, "init": {"theta": MU}, **settings}
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        drawn(gaussian, functions[0], **dict(zip(["U"], functions[1:], strict=False)), **own)
    said = " ".join(str(one.message) for one in told if "overflow" not in str(one.message))
    assert re.search(says, said) if says else not said, said


def test_dynamics_that_move_nothing_are_refused() -> None:
    with pytest.raises(ModelError, match="found D = Q = 0 without a target, which no emitted step can compute"):
        rc.compile("still")

"""Samplers whose D depends on the state and commutes with itself at no two states keep the law they are made for."""

import inspect
import time
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from loaders import load_build

from recipe_compiler.pipeline import compile_build
from recipe_compiler.run.data import Data
from recipe_compiler.run.load_module import Emitted, load_text
from recipe_compiler.run.sample import sample

BUILDS = Path(__file__).parents[2] / "specs" / "builds"
SPREAD, BEND, S, B = 2.0, 0.25, 2.0, 0.5
VALUES = {"spread": SPREAD, "bend": BEND, "s": S, "b": B, "e_1": np.array([1.0, 0.0]), "e_2": np.array([0.0, 1.0])}


SHIPPED = "I/2 + s*((e_1 + b*theta[0]*e_2) @ (e_1 + b*theta[0]*e_2).T)"
"""Its noise has the factors sqrt(s) (e_1 + b theta_1 e_2) and sqrt(1/2) I."""
MULTIPLIED_OUT = "I/2 + s*(e_1 @ e_1.T + b*theta[0]*e_1 @ e_2.T + b*theta[0]*e_2 @ e_1.T + (b*theta[0])**2*e_2 @ e_2.T)"
"""The same, with no factor by its form: factored in every step."""
METRICS = pytest.mark.parametrize("metric_", [SHIPPED, MULTIPLIED_OUT], ids=["by its form", "in every step"])


@cache
def banana(metric_: str) -> Emitted:
    text = (BUILDS / "sgrld_banana.yaml").read_text(encoding="utf-8")
    assert SHIPPED in text
    with TemporaryDirectory() as folder:
        path = Path(folder) / "sgrld_banana.yaml"
        path.write_text(text.replace(SHIPPED, metric_).replace("../", f"{BUILDS.parent}/"), encoding="utf-8")
        build = load_build(path)
    module = compile_build(build, allow_undecided=True)
    assert ("_noise_root_2(" in module.text) == (metric_ == MULTIPLIED_OUT)
    return load_text(module.name, module.text)


def names(module: Emitted) -> list[str]:
    return list(inspect.signature(module.run.py_func).parameters)


def arguments(module: Emitted, eps: float, thin: int, seed: int, start: np.ndarray, draws: np.ndarray) -> list[object]:
    values: dict[str, object] = {**VALUES, "eps": eps, "thin": thin}
    constants = module.prepare(*(values[name] for name in inspect.signature(module.prepare).parameters))
    values |= dict(zip(module.constants, constants, strict=True))
    values |= {"noise_state": module.seed_streams(seed, 1)[0][0], "clipped": np.zeros(1, np.int64)}
    values |= {"theta": start.copy(), "theta_draws": draws}
    return [values[name] for name in names(module)]


def metric(theta: np.ndarray) -> np.ndarray:
    v = np.array([1.0, B * theta[0]])
    return np.eye(2) / 2 + S * np.outer(v, v)


def gradient(theta: np.ndarray) -> np.ndarray:
    u = theta[1] - BEND * (theta[0] ** 2 - SPREAD**2)
    return np.array([theta[0] / SPREAD**2 - 2 * BEND * theta[0] * u, u])


def test_the_metric_does_not_commute_with_itself() -> None:
    one, other = metric(np.array([0.5, 0.0])), metric(np.array([-2.0, 0.0]))
    assert np.abs(one @ other - other @ one).max() > 1.0


@pytest.mark.slow
@METRICS
@pytest.mark.parametrize("theta", [(0.0, 0.0), (1.5, -1.0), (-3.0, 2.0)])
def test_moments_of_one_step_from_a_fixed_state(theta: tuple[float, float], metric_: str) -> None:
    """E dz = eps f, Cov dz = 2 eps D at the old state; f = -D grad U + Gamma, Gamma_i = sum_j dD_ij/dtheta_j."""
    module, start, eps, n = banana(metric_), np.array(theta), 0.1, 40_000
    moves = np.empty((n, 2))
    one = np.empty((1, 2))
    given = arguments(module, eps, 1, 3, start, one)
    state = given[names(module).index("theta")]
    assert isinstance(state, np.ndarray)
    for k in range(n):
        state[:] = start
        module.run(*given)
        moves[k] = one[0] - start
    # D = I/2 + S v v^T, v = (1, B theta_1): Gamma = (0, S B), as only dD/dtheta_1 is not 0 and D_21 = S B theta_1
    f = -metric(start) @ gradient(start) + np.array([0.0, S * B])
    covariance = 2 * eps * metric(start)
    sigma = np.sqrt(np.diag(covariance) / n)
    assert (np.abs(moves.mean(axis=0) - eps * f) < 5 * sigma).all()
    found = np.cov(moves.T)
    error = np.sqrt((covariance**2 + np.outer(np.diag(covariance), np.diag(covariance))) / n)
    assert (np.abs(found - covariance) < 5 * error).all()
    assert not module.clips or given[names(module).index("clipped")][0] == 0


@pytest.mark.slow
@METRICS
def test_a_long_chain_keeps_the_banana(metric_: str) -> None:
    module = banana(metric_)
    draws = np.empty((20_000, 2))
    means: list[np.ndarray] = []
    for seed in range(4):
        kept = module.run(*arguments(module, 0.0025, 400, seed, np.array([0.0, 0.0]), draws))
        assert kept == len(draws)
        used = draws[200:]
        means.append(np.array([*used.mean(axis=0), *used.var(axis=0)]))
    found = np.mean(means, axis=0)
    error = np.std(means, axis=0, ddof=1) / 2
    exact = np.array([0.0, 0.0, SPREAD**2, 1 + 2 * BEND**2 * SPREAD**4])
    # four chains give a rough error, so it has a floor; the bias of the step, O(eps), is below it
    assert (np.abs(found - exact) < 5 * np.maximum(error, [0.02, 0.02, 0.04, 0.04])).all(), (found, error)


@pytest.mark.slow
def test_the_closed_form_of_two_coordinates_is_fast() -> None:
    """A step takes 30 ns; an allocation or a decomposition by a library would take ten times that."""
    module = banana(MULTIPLIED_OUT)
    draws = np.empty((20, 2))
    given = arguments(module, 0.0025, 20_000, 1, np.array([0.0, 0.0]), draws)
    module.run(*given)
    best = np.inf
    for _ in range(5):
        start = time.thread_time()
        module.run(*given)
        best = min(best, time.thread_time() - start)
    assert best / (20 * 20_000) < 200e-9


JOINT = {
    "dynamics.yaml": """
name: joint
state: {theta: {}, r: {}}
functions: {U: {of: theta, role: potential}}
H: U(theta) + r**2/2
D: [["1 + r**2/4", "r*theta/8"], ["r*theta/8", "1 + theta**2/4"]]
Q: [[0, 0], [0, 0]]
""",
    "target.yaml": """
name: normal
state: {theta: {}}
potential: theta**2/2
""",
    "build.yaml": """
name: joint
dynamics: dynamics.yaml
target: target.yaml
scheme: {name: euler}
variant: full
run: {step_size: 0.005, thin: 200, draws: 4000, warmup: 100, chains: 4, seed: 3}
""",
}


@pytest.mark.slow
def test_two_blocks_whose_noise_is_correlated_through_the_state(tmp_path: Path) -> None:
    """Run as `recipe run` runs it, with the counter of clipped states, of which there are none."""
    for name, text in JOINT.items():
        (tmp_path / name).write_text(text)
    build = load_build(tmp_path / "build.yaml")
    module = compile_build(build)
    assert "_noise_root_2(" in module.text
    emitted = load_text(module.name, module.text)
    assert emitted.clips
    draws = sample(emitted, build, build.run, Data(()))
    assert sum(draws.clipped) == 0
    theta, r = (array[:, draws.warmup :].ravel() for array in draws.arrays[:2])
    assert abs(theta.mean()) < 0.05
    assert abs(theta.var() - 1) < 0.06
    assert abs(r.var() - 1) < 0.06
    assert abs((theta * r).mean()) < 0.05

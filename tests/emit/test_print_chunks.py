"""Steps taken chunk by chunk: chosen where no entry touches another, and the same numbers as a step written by hand."""

import importlib.util
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from loaders import load_build
from numba import njit

from recipe_compiler.derive.recipe import derive
from recipe_compiler.emit.module import Module, emit_module
from recipe_compiler.emit.support.lanes import _fill_normals_lanes
from recipe_compiler.program.loop_passes import schedule
from recipe_compiler.program.lower import lower
from recipe_compiler.program.rename import rename
from recipe_compiler.scheme.discretise import discretise
from recipe_compiler.spec.bind import bind

SPECS = Path(__file__).parents[2] / "specs"

WELLS = """
format: 1
name: wells
state:
  theta: {shape: d}
parameters:
  mu: {shape: d}
potential: sum((theta - mu)**4) / 4
"""
COUPLED = """
format: 1
name: coupled
state:
  theta: {shape: d}
potential: (theta.T @ theta)**2 / 4
"""

BUILD = """
format: 1
name: chunked
dynamics: {specs}/dynamics/{dynamics}.yaml
target: {target}.yaml
bind: {bind}
parameters: {parameters}
scheme: {{name: euler}}
variant: full
run: {{step_size: 0.05, draws: 10, chains: 1}}
"""


def module_of(folder: Path, dynamics: str, target: str, bind_: str, parameters: str, d: int | None = None) -> Module:
    (folder / "wells.yaml").write_text(WELLS)
    (folder / "coupled.yaml").write_text(COUPLED)
    file = folder / "build.yaml"
    text = BUILD.format(specs=SPECS, dynamics=dynamics, target=target, bind=bind_, parameters=parameters)
    file.write_text(text)
    build = load_build(file)
    program = discretise(build, derive(bind(build), stated=True))
    if d is not None:
        program = rename(program, {"d": d})
    return emit_module(build.name, program, schedule(program, lower(program)), "A test.\n", "0" * 64)


@pytest.mark.parametrize(
    ("dynamics", "target", "bind_", "parameters", "d", "expected"),
    [
        ("sgld", "wells", "{D: I}", "{mu: {value: 0}}", None, True),
        ("sgld", "wells", "{D: I}", "{mu: {value: 0}}", 64, True),
        ("sgld", "wells", "{D: I}", "{mu: {value: 0}}", 63, False),
        ("sghmc", "wells", "{M: I, C: c*I}", "{mu: {value: 0}, c: {value: 1, is: positive}}", None, True),
        ("sgld", "coupled", "{D: I}", "{}", None, False),
        ("sgld", "wells", "{D: I/d}", "{mu: {value: 0}}", None, False),
        ("sgld", "wells", "{}", "{mu: {value: 0}, D: {value: 1}}", None, False),
        ("sgnht", "wells", "{}", "{mu: {value: 0}, A: {value: 1}}", None, False),
    ],
    ids=["sgld", "long", "short", "sghmc", "coupled target", "their number", "a matrix D", "thermostat"],
)
def test_chunks_are_chosen_where_no_entry_touches_another(
    tmp_path: Path, dynamics: str, target: str, bind_: str, parameters: str, d: int | None, expected: bool
) -> None:
    module = module_of(tmp_path, dynamics, target, bind_, parameters, d)
    assert bool(module.kernel.chunked) == expected
    assert ("def sweep(" in module.text) == expected


@njit
def fill(state: np.ndarray, out: np.ndarray) -> None:
    _fill_normals_lanes(state, out)


def normals(state: np.ndarray, size: int) -> np.ndarray:
    out = np.empty(size)
    fill(state, out)
    return out


def imported(module: Module, path: Path) -> ModuleType:
    path.write_text(module.text)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


@pytest.fixture(scope="module")
def sghmc(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    folder = tmp_path_factory.mktemp("chunked")
    parameters = "{mu: {value: 0}, c: {value: 1, is: positive}}"
    module = module_of(folder, "sghmc", "wells", "{M: I, C: c*I}", parameters)
    return imported(module, folder / "emitted_sghmc_chunks.py")


@pytest.mark.slow
@pytest.mark.parametrize("d", [1, 127, 511, 512, 513, 1300])
def test_every_entry_of_every_chunk_is_advanced_by_its_own_noise(sghmc: ModuleType, d: int) -> None:
    rng = np.random.default_rng(d)
    theta, r, mu, eps, c = rng.normal(size=d), rng.normal(size=d), rng.normal(size=d), 0.01, 0.7
    state = sghmc.seed_streams(3, 1)[0][0]
    draws = [np.empty((2, d)), np.empty((2, d))]
    before = state.copy()
    given = {"theta": theta.copy(), "r": r.copy(), "mu": mu, "c": c, "eps": eps, "thin": 3, "noise_state": state,
             "theta_draws": draws[0], "r_draws": draws[1]}  # fmt: skip
    constants = sghmc.prepare(*(given[name] for name in sghmc.PARAMETERS), eps, d)
    given |= dict(zip(sghmc.CONSTANTS, constants, strict=True))
    assert sghmc.run(*(given[name] for name in sghmc.ARGUMENTS)) == 2
    for kept in range(2):
        for _ in range(3):
            noise = np.concatenate([normals(before, min(512, d - first)) for first in range(0, d, 512)])
            gradient = (theta - mu) ** 3
            theta, r = theta + eps * r, r - eps * (gradient + c * r) + np.sqrt(2 * c * eps) * noise
        np.testing.assert_allclose(draws[0][kept], theta, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(draws[1][kept], r, rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(state, before)


@pytest.mark.slow
def test_a_chain_that_leaves_the_finite_numbers_stops(sghmc: ModuleType) -> None:
    d = 600
    theta = np.zeros(d)
    theta[599] = 1e200
    draws = [np.empty((5, d)), np.empty((5, d))]
    given = {"theta": theta, "r": np.zeros(d), "mu": np.zeros(d), "c": 1.0, "eps": 0.1, "thin": 1,
             "noise_state": sghmc.seed_streams(3, 1)[0][0], "theta_draws": draws[0], "r_draws": draws[1]}  # fmt: skip
    constants = sghmc.prepare(*(given[name] for name in sghmc.PARAMETERS), 0.1, d)
    given |= dict(zip(sghmc.CONSTANTS, constants, strict=True))
    assert sghmc.run(*(given[name] for name in sghmc.ARGUMENTS)) == 0

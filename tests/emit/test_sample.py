"""`sample` of an emitted file: the bits of `recipe run`, in plain Python, from a folder where nothing else is."""

import re
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from emitted_file import BUILDS, file_of
from loaders import load_build
from reports import decided

from recipe_compiler.pipeline import compile_build, prepare_run
from recipe_compiler.run.data import load_data
from recipe_compiler.run.energies import declared_blocks
from recipe_compiler.run.sample import sample
from recipe_compiler.run.schedule import weights
from recipe_compiler.spec.model import Build, RunSettings, Schedule

pytestmark = pytest.mark.usefixtures("without_jit")

SETTINGS: dict[str, Any] = {"draws": 7, "warmup": 3, "thin": 2, "chains": 3, "seed": 5}


def drawn_by_a_run(build: Build, settings: RunSettings) -> dict[str, Any]:
    """Return what `recipe run` draws, by the names of blocks."""
    run = prepare_run(build, decided(build, advisory=False), settings, allow_undecided=True)
    draws = sample(run.module, run.build, settings, run.data)
    found: dict[str, Any] = {}
    for name, array in zip(draws.blocks, draws.arrays, strict=True):
        if name == run.module.potential_block:
            found |= declared_blocks(array[:, draws.warmup :], build, dict(draws.sizes))
        else:
            found[name] = array[:, draws.warmup :]
    return found


def drawn_by_the_file(module: ModuleType, build: Build, **settings: Any) -> dict[str, Any]:
    data = load_data(build.data, build.target)
    return module.sample(*(field.values for field in data.fields), **settings)


DEFAULT = (
    "sghmc_logistic",  # minibatches
    "sghmc_eight_schools",  # several blocks of a target, one of them transformed
    "sgnht_gaussian",  # a scalar block
    "sgrld_categories",  # a bounded domain
)
SLOW = (
    "sgld_logistic",
    "sghmc_logistic_baoab",  # a word
    "generalised_langevin_gaussian_baoab",  # three blocks, matrices as values
    "sgld_gaussian_mixture",  # starts that the build states
    "hmc_within_gibbs",  # a block held while the others move
)


@pytest.mark.parametrize("name", [*DEFAULT, *(pytest.param(name, marks=pytest.mark.slow) for name in SLOW)])
def test_a_file_draws_the_bits_of_a_run(name: str, tmp_path: Path) -> None:
    build = load_build(BUILDS / f"{name}.yaml")
    settings = replace(build.run, **SETTINGS)
    ran = drawn_by_a_run(build, settings)
    found = drawn_by_the_file(file_of(build, tmp_path), build, **SETTINGS)
    told = {"acceptance"} if build.scheme.cycle else set[str]()
    assert found.keys() == ran.keys() | told
    for block, array in ran.items():
        np.testing.assert_array_equal(found[block].reshape(array.shape), array, err_msg=block)
        assert np.isfinite(array).all()
        assert array.std() > 0.0


def other(name: str, **changed: Any) -> Build:
    """Return a shipped build with something else in it, under a name of its own."""
    return replace(load_build(BUILDS / f"{name}.yaml"), name="other_build", **changed)


def other_run(name: str, **changed: Any) -> Build:
    return other(name, run=replace(load_build(BUILDS / f"{name}.yaml").run, **changed))


POWER, CYCLIC = Schedule("power", b=10.0, c=0.4), Schedule("cyclic", period=9)


ASKED = {
    "lanes": other_run("sghmc_double_well", lanes=True),
    "lanes of moves": other_run("hmc_double_well", lanes=True),
    "lanes, power": other_run("sghmc_double_well", lanes=True, schedule=POWER),
    "power": other_run("sgld_gaussian", schedule=POWER),
    "cyclic": other_run("sgld_gaussian", schedule=CYCLIC),
    "replacement": other("sghmc_logistic", replacement=True),
    "diagnostics": other("sghmc_logistic", diagnostics=True),
    "kept gradient": replace(other_run("sghmc_logistic_baoab", batch_size=64), variant="minibatch"),
}


@pytest.mark.slow
@pytest.mark.parametrize("build", ASKED.values(), ids=ASKED)
def test_what_a_build_asks_for_is_in_its_file(build: Build, tmp_path: Path) -> None:
    settings = replace(build.run, **SETTINGS)
    ran = drawn_by_a_run(build, settings)
    module = file_of(build, tmp_path)
    found = drawn_by_the_file(module, build, **SETTINGS)
    for block, array in ran.items():
        np.testing.assert_array_equal(found[block].reshape(array.shape), array, err_msg=block)
    assert hasattr(module, "run_lanes") == build.run.lanes
    assert hasattr(module, "full_potential") == hasattr(module, "full_gradient") == build.diagnostics
    step_sizes = weights(settings, settings.warmup + settings.draws)
    assert ("step_size" in found) == (step_sizes is not None)
    if step_sizes is not None:
        np.testing.assert_array_equal(found["step_size"], np.tile(step_sizes[settings.warmup :], (3, 1)))


GOING_ON = {
    "minibatches": other_run("sghmc_logistic", batch_size=64),
    "moves": other_run("hmc_double_well"),
    "kept gradient": ASKED["kept gradient"],
    **{name: ASKED[name] for name in ("lanes of moves", "power", "cyclic", "replacement")},
}


@pytest.mark.parametrize(
    "build",
    [pytest.param(b, marks=[] if n in ("minibatches", "moves") else pytest.mark.slow) for n, b in GOING_ON.items()],
    ids=GOING_ON,
)
def test_chains_go_on_as_one_long_run(build: Build, tmp_path: Path) -> None:
    """From the state that `sample` returned, whatever the seed; chain k of another call has the streams of chain k."""
    module = file_of(build, tmp_path)
    whole = drawn_by_the_file(module, build, **SETTINGS)
    seen: list[dict[str, Any]] = []
    first, state = drawn_by_the_file(module, build, **SETTINGS | {"draws": 4}, return_state=True, callback=seen.append)
    went_on = drawn_by_the_file(module, build, **SETTINGS | {"draws": 3, "warmup": 0, "seed": 99}, init=state)
    alone = drawn_by_the_file(module, build, **SETTINGS | {"chains": 1}, first_chain=1)
    assert went_on.keys() == whole.keys()
    for name, array in whole.items():
        np.testing.assert_array_equal(np.concatenate((first[name], went_on[name]), axis=1), array, err_msg=name)
        np.testing.assert_array_equal(alone[name][0], array[1], err_msg=name)
        if name in seen[-1]:  # but the step size, which is known beforehand
            np.testing.assert_array_equal(seen[-1][name], first[name])


def test_a_state_that_does_not_fit_is_refused(tmp_path: Path) -> None:
    build = GOING_ON["minibatches"]
    module = file_of(build, tmp_path)
    _, state = drawn_by_the_file(module, build, **SETTINGS, return_state=True)
    state["permutation"] = state["permutation"][:, :-1]
    with pytest.raises(
        ValueError, match=r"init of permutation: found an array \(3, 568\) of uint64, expected \(3, 569\)"
    ):
        drawn_by_the_file(module, build, **SETTINGS, init=state)
    with pytest.raises(TypeError, match="callback: found int, expected None or a function"):
        drawn_by_the_file(module, build, **SETTINGS, callback=3)


@pytest.mark.parametrize("diagnostics", [False, True])
def test_a_file_draws_by_functions_that_were_read_back(diagnostics: bool) -> None:
    module = compile_build(other("sgld_gaussian", diagnostics=diagnostics))
    functions = [text for text in re.split(r"\n\n\n", module.file) if text.startswith(("@", "def "))]
    drawing = [text for text in functions if text.startswith(("@njit", "def prepare", "def seed_streams"))]
    assert len(drawing) >= 8
    assert [text for text in drawing if text.rstrip() not in module.text] == []
    assert any("def full_gradient(" in text for text in drawing) is diagnostics

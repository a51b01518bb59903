"""`sample` of an emitted file: the bits of `recipe run`, in plain Python, from a folder where nothing else is."""

from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from emitted_file import BUILDS, file_of
from loaders import load_build

from recipe_compiler.pipeline import prepare_run
from recipe_compiler.report.check import check
from recipe_compiler.run.data import load_data
from recipe_compiler.run.sample import sample
from recipe_compiler.run.store import declared_blocks
from recipe_compiler.spec.model import Build, RunSettings

SETTINGS: dict[str, Any] = {"draws": 7, "warmup": 3, "thin": 2, "chains": 3, "seed": 5}


def drawn_by_a_run(build: Build, settings: RunSettings) -> dict[str, Any]:
    """Return what `recipe run` draws, by the names of blocks."""
    run = prepare_run(build, check(build, advisory=False), settings, allow_undecided=True)
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


@pytest.mark.parametrize(
    "name",
    [
        "sghmc_logistic",  # minibatches
        "sgld_logistic",
        "sghmc_logistic_baoab",  # a word
        "sghmc_eight_schools",  # several blocks of a target, one of them transformed
        "generalised_langevin_gaussian_baoab",  # three blocks, matrices as values
        "sgnht_gaussian",  # a scalar block
        "sgld_gaussian_mixture",  # starts that the build states
        "sgrld_categories",  # a bounded domain
    ],
)
def test_a_file_draws_the_bits_of_a_run(name: str, tmp_path: Path) -> None:
    build = load_build(BUILDS / f"{name}.yaml")
    settings = replace(build.run, **SETTINGS)
    ran = drawn_by_a_run(build, settings)
    found = drawn_by_the_file(file_of(build, tmp_path), build, **SETTINGS)
    assert found.keys() == ran.keys()
    for block, array in ran.items():
        np.testing.assert_array_equal(found[block].reshape(array.shape), array, err_msg=block)
        assert np.isfinite(array).all()
        assert array.std() > 0.0

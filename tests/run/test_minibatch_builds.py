"""Builds from their files to draws: mapped, converted and float32 data give the chains that loaded data give."""

from pathlib import Path

import numpy as np
import pytest
from loaders import load_build

from recipe_compiler.pipeline import compile_build
from recipe_compiler.run.data import load_data
from recipe_compiler.run.load_module import Emitted, load_text
from recipe_compiler.run.sample import sample
from recipe_compiler.spec.model import Build

unread = pytest.mark.usefixtures("without_reading_back")

SPECS = Path(__file__).parents[2] / "specs"
rng = np.random.default_rng(8)
X = rng.normal(size=(60, 3)).astype(np.float32).astype(np.float64)  # what float32 holds exactly
Y = (rng.random(60) < 0.4).astype(np.float64)
BUILD = f"""
name: small
dynamics: {SPECS}/dynamics/sghmc.yaml
target: {SPECS}/targets/logistic_regression.yaml
bind: {{M: I, C: 2*I}}
scheme: {{name: sequential_euler, order: [r, theta]}}
variant: minibatch
minibatch: {{MINIBATCH}}
data: {{DATA}}
run: {{step_size: 0.05, batch_size: 10, draws: 50, warmup: 0, thin: 3, chains: 2, seed: 4}}
"""
TABLE = "file: data.csv, x: [a, b, c], y: y"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    here = tmp_path_factory.mktemp("data")
    whole = np.column_stack([X, Y])
    np.save(here / "data.npy", whole)
    np.save(here / "x.npy", X)
    np.save(here / "y.npy", Y)
    fields = [(name, np.float64) for name in "abcy"]
    np.save(here / "fields.npy", np.array([tuple(row) for row in whole], dtype=fields))
    lines = "\n".join(",".join(repr(float(v)) for v in row) for row in whole)
    (here / "data.csv").write_text(f"a,b,c,y\n{lines}\n")
    return here


def written(folder: Path, data: str, minibatch: str = "replacement: false") -> Build:
    path = folder / "build.yaml"
    path.write_text(BUILD.replace("{MINIBATCH}", f"{{{minibatch}}}").replace("{DATA}", f"{{{data}}}"))
    return load_build(path)


def compiled(build: Build) -> Emitted:
    module = compile_build(build)
    return load_text(module.name, module.text)


def draws(emitted: Emitted, build: Build) -> np.ndarray:
    found = sample(emitted, build, build.run, load_data(build.data, build.target))
    assert not any(found.diverging)
    return found.arrays[0]


@pytest.fixture(scope="module")
def emitted(folder: Path) -> Emitted:
    """Return the module of float64 data, wherever they come from."""
    return compiled(written(folder, TABLE))


@pytest.fixture(scope="module")
def loaded(folder: Path, emitted: Emitted) -> np.ndarray:
    return draws(emitted, written(folder, TABLE))


@pytest.mark.slow
@unread
def test_float32_storage_of_what_it_holds_changes_rounding_alone(folder: Path, loaded: np.ndarray) -> None:
    narrow = written(folder, f"{TABLE}, dtype: float32")
    module = compiled(narrow)
    found = draws(module, narrow)
    np.testing.assert_allclose(found, loaded, rtol=1e-9, atol=1e-9)
    np.save(folder / "x32.npy", X.astype(np.float32))
    np.save(folder / "y32.npy", Y.astype(np.float32))
    mapped = draws(module, written(folder, "arrays: {x: x32.npy, y: y32.npy}, dtype: float32"))
    np.testing.assert_array_equal(mapped, found)


@pytest.mark.slow
@unread
def test_contiguous_blocks_are_run(folder: Path, loaded: np.ndarray) -> None:
    build = written(folder, f"{TABLE}, shuffle: 3", "blocks: contiguous")
    module = compiled(build)
    found = draws(module, build)
    assert not np.array_equal(found, loaded)
    np.testing.assert_array_equal(found, draws(module, build))
    assert not np.array_equal(found, draws(module, written(folder, f"{TABLE}, shuffle: 4", "blocks: contiguous")))

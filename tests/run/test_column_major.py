"""Few columns of all data are laid out column by column for the loop over their rows, unless they are mapped."""

from pathlib import Path

import numpy as np
import pytest
from loaders import load_build
from reports import granted

from recipe_compiler.pipeline import compile_build
from recipe_compiler.run.data import load_data
from recipe_compiler.run.load_module import Emitted, load_text
from recipe_compiler.run.sample import prepare_inputs, sample
from recipe_compiler.spec.model import Build

SPECS = Path(__file__).parents[2] / "specs"
ROWS, COLUMNS = 37, 3
BUILD = f"""
name: all_rows
dynamics: {SPECS}/dynamics/sghmc.yaml
target: {SPECS}/targets/logistic_regression.yaml
bind: {{M: I, C: 2*I}}
scheme: {{name: sequential_euler, order: [r, theta]}}
variant: full
sizes: {{d: {COLUMNS}}}
data: {{file: data.npy, names: [a, b, c, y], x: [a, b, c], y: y, memory_map: MAPPED}}
run: {{step_size: 0.05, draws: 40, warmup: 0, chains: 2, seed: 4}}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    here = tmp_path_factory.mktemp("rows")
    rng = np.random.default_rng(7)
    x = rng.normal(size=(ROWS, COLUMNS)) @ np.array([[1.0, 0.4, 0.0], [0.0, 1.0, 0.3], [0.0, 0.0, 2.0]])
    np.save(here / "data.npy", np.column_stack([x, rng.random(ROWS) < 0.4]))
    return here


def written(folder: Path, *, mapped: bool) -> tuple[Build, Emitted]:
    path = folder / f"{'mapped' if mapped else 'loaded'}.yaml"
    path.write_text(BUILD.replace("MAPPED", str(mapped).lower()))
    build = load_build(path)
    with granted():
        module = compile_build(build)
    return build, load_text(module.name, module.text)


@pytest.mark.slow
def test_the_layout_changes_rounding_alone(folder: Path) -> None:
    draws: list[np.ndarray] = []
    for mapped, column_major in ((False, ("x",)), (True, ())):
        build, emitted = written(folder, mapped=mapped)
        data = load_data(build.data, build.target)
        x = dict(zip(emitted.data, prepare_inputs(emitted, build, build.run, data, 1).data, strict=True))["x"]
        assert emitted.column_major == column_major
        assert (x.flags.f_contiguous, x.flags.c_contiguous) == (not mapped, mapped)
        draws.append(sample(emitted, build, build.run, data).arrays[0])
    np.testing.assert_allclose(*draws, rtol=1e-10)

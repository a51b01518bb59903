"""Few columns of all data are laid out column by column for the loop over their rows, unless they are mapped."""

import io

import numpy as np
import pytest
from answers import document
from reports import granted

from recipe_compiler.pipeline import compile_build
from recipe_compiler.run.data import load_data
from recipe_compiler.run.load_module import load_text
from recipe_compiler.run.sample import prepare_inputs, sample

BUILD = """
name: all_rows
dynamics: SPECS/dynamics/sghmc.yaml
target: SPECS/targets/logistic_regression.yaml
bind: {M: I, C: 2*I}
scheme: {name: sequential_euler, order: [r, theta]}
variant: full
sizes: {d: 3}
data: {file: data.npy, names: [a, b, c, y], x: [a, b, c], y: y, memory_map: MAPPED}
run: {step_size: 0.05, draws: 40, warmup: 0, chains: 2, seed: 4}
"""


@pytest.mark.slow
def test_the_layout_changes_rounding_alone() -> None:
    rng, rows, draws = np.random.default_rng(7), io.BytesIO(), list[np.ndarray]()
    x = rng.normal(size=(37, 3)) @ np.array([[1.0, 0.4, 0.0], [0.0, 1.0, 0.3], [0.0, 0.0, 2.0]])
    np.save(rows, np.column_stack([x, rng.random(37) < 0.4]))
    for mapped, column_major in (("false", ("x",)), ("true", ())):
        build = document(BUILD.replace("MAPPED", mapped), **{"data.npy": rows.getvalue()})
        with granted():
            module = compile_build(build)
        emitted, data = load_text(module.name, module.text), load_data(build.data, build.target)
        given = dict(zip(emitted.data, prepare_inputs(emitted, build, build.run, data, 1).data, strict=True))["x"]
        assert emitted.column_major == column_major
        assert (given.flags.f_contiguous, given.flags.c_contiguous) == (mapped == "false", mapped == "true")
        draws.append(sample(emitted, build, build.run, data).arrays[0])
    np.testing.assert_allclose(*draws, rtol=1e-10)

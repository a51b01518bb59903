"""Builds that are right but unusual compile, read back, and their modules run."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from loaders import load_build

from recipe_compiler.errors import CompilerError, ModelError
from recipe_compiler.pipeline import compile_build
from recipe_compiler.readback.readback import check_names
from recipe_compiler.run.data import Data
from recipe_compiler.run.load_module import load_text
from recipe_compiler.run.sample import sample

LANGEVIN = """
name: langevin
state: {theta: {shape: SHAPE}}
PARAMETERS
functions: {U: {of: theta, role: potential}}
H: U(theta)
D: [["DIFFUSION"]]
Q: [["CURL"]]
"""
TARGET = """
name: target
state: {q: {shape: SHAPE}}
potential: ENERGY
"""
BUILD = """
name: unusual
dynamics: dynamics.yaml
target: target.yaml
VALUES
scheme: {name: euler}
variant: full
SIZES
run: {step_size: 0.01, thin: 20, draws: 4000, warmup: 200, chains: 2, seed: 5}
"""

PLAIN = {"SHAPE": "d", "PARAMETERS": "", "DIFFUSION": "I", "CURL": "0"}


def drawn(folder: Path, dynamics: Mapping[str, str], target: Mapping[str, str], build: Mapping[str, str]) -> np.ndarray:
    """Return the draws of theta, all chains together."""
    for name, text, parts in (("dynamics", LANGEVIN, dynamics), ("target", TARGET, target), ("build", BUILD, build)):
        for old, new in parts.items():
            text = text.replace(old, new)
        (folder / f"{name}.yaml").write_text(text)
    found = load_build(folder / "build.yaml")
    # that a banana stated for any number of coordinates has a finite integral is undecided
    module = compile_build(found, allow_undecided=True)
    draws = sample(load_text(module.name, module.text), found, found.run, Data(()))
    kept = draws.arrays[0][:, draws.warmup :]
    return kept.reshape(-1, kept.shape[-1])


BANANA = "q[0]**2/2 + (q[1] - (q[0]**2 - 1)/2)**2/2"


@pytest.mark.slow
@pytest.mark.parametrize("shape", ["2", "d"])
def test_a_target_of_two_coordinates_with_dynamics_of_any_number(tmp_path: Path, shape: str) -> None:
    theta = drawn(tmp_path, PLAIN, {"SHAPE": shape, "ENERGY": BANANA}, {"VALUES": "", "SIZES": "sizes: {d: 2}"})
    assert abs(theta[:, 0].std() - 1) < 0.1
    assert abs(theta[:, 1].std() - np.sqrt(1.5)) < 0.15


@pytest.mark.slow
def test_a_scalar_potential_block(tmp_path: Path) -> None:
    dynamics = {**PLAIN, "SHAPE": "scalar", "DIFFUSION": "2"}
    target = {"SHAPE": "scalar", "ENERGY": "(q - 3)**2/2"}
    theta = drawn(tmp_path, dynamics, target, {"VALUES": "", "SIZES": ""})
    assert abs(theta.mean() - 3) < 0.1
    assert abs(theta.std() - 1) < 0.1


@pytest.mark.slow
def test_a_skew_parameter_turns_the_chain_and_leaves_its_law(tmp_path: Path) -> None:
    dynamics = {**PLAIN, "PARAMETERS": "parameters: {J: {shape: [d, d], is: skew}}", "CURL": "J"}
    values = "parameters: {J: {value: [[0, 2, 0], [-2, 0, 1], [0, -1, 0]]}}"
    target = {"SHAPE": "d", "ENERGY": "q.T @ q / 2"}
    theta = drawn(tmp_path, dynamics, target, {"VALUES": values, "SIZES": "sizes: {d: 3}"})
    np.testing.assert_allclose(np.cov(theta.T), np.eye(3), atol=0.15)


@pytest.mark.slow
def test_a_size_that_only_a_parameter_has(tmp_path: Path) -> None:
    dynamics = {**PLAIN, "PARAMETERS": "parameters: {B: {shape: [d, k]}}", "DIFFUSION": "B @ B.T + I"}
    values = "parameters: {B: {value: [[1, 0, 1], [0.5, 1, 0]]}}"
    target = {"SHAPE": "d", "ENERGY": "q.T @ q / 2"}
    theta = drawn(tmp_path, dynamics, target, {"VALUES": values, "SIZES": "sizes: {d: 2}"})
    np.testing.assert_allclose(np.cov(theta.T), np.eye(2), atol=0.15)


def test_a_constant_that_no_double_holds_is_refused(tmp_path: Path) -> None:
    target = {"SHAPE": "d", "ENERGY": "1e-400*q.T @ q / 2"}
    with pytest.raises(ModelError, match=r"constant of about 1e-?400"):
        drawn(tmp_path, PLAIN, target, {"VALUES": "", "SIZES": "sizes: {d: 2}"})


def test_a_name_that_nothing_defines_is_found() -> None:
    check_names("import math\n\ndef f(a):\n    b = a + math.pi\n    return b\n")
    with pytest.raises(CompilerError, match="f reads k"):
        check_names("def f(a):\n    return a + k\n")


@pytest.mark.slow
def test_dynamics_of_five_coordinates_take_a_target_of_two_blocks(tmp_path: Path) -> None:
    """Its sizes are read back where they add up to five, and nowhere else."""
    position = "name: five\nstate: {theta: {shape: 5}}\nfunctions: {U: {of: theta, role: potential}}\n"
    (tmp_path / "five.yaml").write_text(f"{position}H: U(theta)\nD: [[I]]\nQ: [[0]]\n")
    (tmp_path / "two.yaml").write_text(
        "name: two\nstate: {a: {shape: d}, b: {shape: e}}\npotential: sum(b)*sum(a) + a.T @ a + 3*(b.T @ b)\n"
    )
    path = tmp_path / "build.yaml"
    path.write_text(
        "name: of_five\ndynamics: five.yaml\ntarget: two.yaml\nsizes: {d: 2, e: 3}\n"
        "scheme: {name: euler}\nvariant: full\nrun: {step_size: 0.01, draws: 10}\n"
    )
    assert compile_build(load_build(path), allow_undecided=True).program.blocks[0].shape.sizes == (5,)

"""Blocks whose noises are correlated through the state, in 3 to 16 coordinates: one step, and faults in its text."""

import inspect
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from loaders import load_build

from recipe_compiler.emit.module import Module
from recipe_compiler.errors import CompilerError
from recipe_compiler.pipeline import compile_build
from recipe_compiler.readback.readback import check_shipped
from recipe_compiler.run.load_module import load_text

Array = np.ndarray

DYNAMICS = """
name: joint
state: {{theta: {{shape: {d}}}, r: {{shape: {k}}}}}
parameters: {{b: {{shape: {k}}}}}
functions: {{U: {{of: theta, role: potential}}}}
H: U(theta) + r.T @ r / 2
D: [["I + theta @ theta.T", "theta @ (b + r).T"],
    ["(b + r) @ theta.T", "I + (b + r) @ (b + r).T"]]
Q: [[0, 0], [0, 0]]
"""
BUILD = """
name: joint
dynamics: dynamics.yaml
target: target.yaml
parameters: {{b: {{value: {b}}}}}
scheme: {{name: euler}}
variant: full
run: {{step_size: 0.05}}
"""
TARGET = """
name: normal
state: {{theta: {{shape: {d}}}}}
potential: theta.T @ theta / 2
"""
SIZES = [(2, 1), (3, 2), (9, 7)]
EPS, STEPS = 0.05, 20_000


@cache
def emitted(d: int, k: int) -> Module:
    with TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "dynamics.yaml").write_text(DYNAMICS.format(d=d, k=k))
        (folder / "target.yaml").write_text(TARGET.format(d=d))
        (folder / "build.yaml").write_text(BUILD.format(b=[f"{j + 1}/2" for j in range(k)]))
        build = load_build(folder / "build.yaml")
    return compile_build(build, allow_undecided=True)  # no verdict is asked for here


@dataclass(frozen=True, slots=True)
class Law:
    """The equation of the document, written out a second time: u = (theta, b + r), D = I + u u^T."""

    d: int
    b: Array

    def D(self, z: Array) -> Array:
        """Return D at z."""
        u = z + np.concatenate([np.zeros(self.d), self.b])
        return np.eye(len(z)) + np.outer(u, u)

    def drift(self, z: Array) -> Array:
        """Return -D grad H + Gamma, Gamma_i = sum_j d(u_i u_j)/dz_j = (n + 1) u_i; grad H = z."""
        u = z + np.concatenate([np.zeros(self.d), self.b])
        return -self.D(z) @ z + (len(z) + 1) * u


def moves(module: Module, d: int, start: Array, b: Array) -> tuple[Array, int]:
    """Return what each of many steps from one state adds to it, and how many covariances were cut off."""
    run = load_text(module.name, module.text).run
    functions = run.py_func.__globals__
    names = list(inspect.signature(run.py_func).parameters)
    theta, r, clipped = start[:d].copy(), start[d:].copy(), np.zeros(1, np.int64)
    values = {"b": b, "eps": EPS, "thin": 1, "clipped": clipped, "theta": theta, "r": r}
    constants = functions["prepare"](b, EPS)
    values |= dict(zip(functions["CONSTANTS"], constants, strict=True))
    values |= {"noise_state": functions["seed_streams"](3, 1)[0][0]}
    values |= {"theta_draws": np.empty((1, d)), "r_draws": np.empty((1, len(b)))}
    given, found = [values[name] for name in names], np.empty((STEPS, len(start)))
    for step in range(STEPS):
        theta[:], r[:] = start[:d], start[d:]
        assert run(*given) == 1
        found[step] = np.concatenate([theta, r]) - start
    return found, int(clipped[0])


@pytest.mark.slow
@pytest.mark.parametrize(("d", "k"), SIZES)
def test_moments_of_one_step_are_those_of_the_joint_covariance(d: int, k: int) -> None:
    """E dz = eps f and Cov dz = 2 eps D, both to |z| <= 5: at most 152 numbers, 1e-4 in all for new seeds."""
    module = emitted(d, k)
    assert "_noise_root(" in module.text
    rng = np.random.default_rng(5)
    b, start = np.arange(1, k + 1) / 2, 1.0 + rng.standard_normal(d + k)
    law = Law(d, b)
    found, clipped = moves(module, d, start, b)
    assert clipped == 0
    covariance = 2 * EPS * law.D(start)
    assert np.abs(covariance[:d, d:]).max() > 0.02
    z_mean = (found.mean(axis=0) - EPS * law.drift(start)) / np.sqrt(np.diag(covariance) / STEPS)
    error = np.sqrt((covariance**2 + np.outer(np.diag(covariance), np.diag(covariance))) / STEPS)
    z_covariance = (np.cov(found.T) - covariance) / error
    assert np.abs(z_mean).max() <= 5
    assert np.abs(z_covariance).max() <= 5


MUTANTS = {
    "a factor transposed": ("noise_theta_r_0 * L_theta_r[2, 0]", "noise_theta_r_0 * L_theta_r[0, 2]"),
    "blocks uncorrelated": ("noise_theta_r_0 * L_theta_r[2, 0]", "0.0"),
    "the noise of another coordinate": ("noise_theta_r_2 * L_theta_r[2, 2]", "noise_theta_r_1 * L_theta_r[2, 2]"),
    "without eps": ("covariance_theta_r[2, 1] = eps * (", "covariance_theta_r[2, 1] = ("),
    "a covariance of another entry": ("covariance_theta_r[2, 0] = ", "covariance_theta_r[2, 0] = 1.0 + "),
    "never factored": ("    _noise_root(covariance_theta_r, L_theta_r, clipped)\n", ""),
    "added to one block alone": (" + draw_r_0", ""),
}


@pytest.mark.slow
def test_the_shipped_text_is_read_back() -> None:
    check_shipped(emitted(2, 1), {})


@pytest.mark.slow
@pytest.mark.parametrize("fault", MUTANTS)
def test_faults_in_the_shipped_text_are_found(fault: str) -> None:
    module, (old, new) = emitted(2, 1), MUTANTS[fault]
    assert module.text.count(old) == 1
    with pytest.raises(CompilerError):
        check_shipped(replace(module, text=module.text.replace(old, new)), {})

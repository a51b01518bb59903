"""Moments of one step whose noise depends on the state, by a D that commutes with itself at no two states."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import pytest
from answers import SPECS, document

from recipe_compiler.emit.module import Module
from recipe_compiler.errors import CompilerError
from recipe_compiler.pipeline import compile_build
from recipe_compiler.readback.readback import check_shipped
from recipe_compiler.run.load_module import load_text

pytestmark = pytest.mark.slow

Array = np.ndarray
EPS, STEPS = 0.05, 20_000
JOINT = """
state: {{theta: {{shape: {d}}}, r: {{shape: {k}}}}}
parameters: {{b: {{shape: {k}}}}}
functions: {{U: {{of: theta, role: potential}}}}
H: U(theta) + r.T @ r / 2
D: [["I + theta @ theta.T", "theta @ (b + r).T"], ["(b + r) @ theta.T", "I + (b + r) @ (b + r).T"]]
Q: [[0, 0], [0, 0]]
"""
BUILD = """
dynamics: dynamics.yaml
target: target.yaml
parameters: {{b: {{value: {b}}}}}
scheme: {{name: euler}}
variant: full
run: {{step_size: 0.05}}
"""
METRIC = "I/2 + s*((e_1 + b*theta[0]*e_2) @ (e_1 + b*theta[0]*e_2).T)"
"""Of the banana that ships: its noise has factors by its form."""
MULTIPLIED_OUT = "I/2 + s*(e_1 @ e_1.T + b*theta[0]*e_1 @ e_2.T + b*theta[0]*e_2 @ e_1.T + (b*theta[0])**2*e_2 @ e_2.T)"


@dataclass(frozen=True)
class Step:
    """A module, values of its parameters, states, and f and D of its equation, written out a second time."""

    module: Module
    values: Mapping[str, object]
    starts: tuple[Array, ...]
    f: Callable[[Array], Array]
    D: Callable[[Array], Array]


@cache
def joint(d: int, k: int) -> Step:
    """Return a step of D = I + u u^T, u = (theta, b + r), of which Gamma = (d + k + 1) u."""
    b = np.arange(1, k + 1) / 2
    target = f"state: {{theta: {{shape: {d}}}}}\npotential: theta.T @ theta / 2\n"
    build = document(BUILD.format(b=[f"{j + 1}/2" for j in range(k)]), dynamics=JOINT.format(d=d, k=k), target=target)

    def u(z: Array) -> Array:
        return z + np.concatenate([np.zeros(d), b])

    def D(z: Array) -> Array:
        return np.eye(d + k) + np.outer(u(z), u(z))

    start = 1.0 + np.random.default_rng(5).standard_normal(d + k)
    module = compile_build(build, allow_undecided=True)
    return Step(module, {"b": b}, (start,), lambda z: (d + k + 1) * u(z) - D(z) @ z, D)


@cache
def banana(metric: str) -> Step:
    """Return a step of SGRLD of D = I/2 + 2 v v^T, v = (1, theta_1/2), of which Gamma = (0, 1)."""
    text = (SPECS / "builds/sgrld_banana.yaml").read_text(encoding="utf-8").replace("../", "SPECS/")
    assert METRIC in text
    module = compile_build(document(text.replace(METRIC, metric)), allow_undecided=True)

    def D(z: Array) -> Array:
        v = np.array([1.0, z[0] / 2])
        return np.eye(2) / 2 + 2 * np.outer(v, v)

    def f(z: Array) -> Array:
        away = z[1] - (z[0] ** 2 - 4) / 4
        return np.array([0.0, 1.0]) - D(z) @ np.array([z[0] / 4 - z[0] * away / 2, away])

    e_1, e_2 = np.eye(2)
    values = {"spread": 2.0, "bend": 0.25, "s": 2.0, "b": 0.5, "e_1": e_1, "e_2": e_2}
    return Step(module, values, (np.zeros(2), np.array([1.5, -1.0]), np.array([-3.0, 2.0])), f, D)


def moves(step: Step, start: Array) -> Array:
    """Return what each of many steps from one state adds to it; no covariance may be cut off."""
    emitted = load_text(step.module.name, step.module.text)
    ends = np.cumsum([size or 1 for _, size in emitted.blocks])
    blocks, clipped = np.split(start.copy(), ends[:-1]), np.zeros(1, np.int64)
    names = [name for name, _ in emitted.blocks]
    values = {**step.values, "eps": EPS, "thin": 1, "clipped": clipped, **dict(zip(names, blocks, strict=True))}
    values |= {f"{name}_draws": np.empty((1, block.size)) for name, block in zip(names, blocks, strict=True)}
    constants = emitted.prepare(*(values[name] for name in inspect.signature(emitted.prepare).parameters))
    values |= dict(zip(emitted.constants, constants, strict=True))
    values["noise_state"] = emitted.seed_streams(3, 1)[0][0]
    given, found = [values[name] for name in emitted.arguments], np.empty((STEPS, start.size))
    for k in range(STEPS):
        for block, own in zip(blocks, np.split(start, ends[:-1]), strict=True):
            block[:] = own
        assert emitted.run(*given) == 1
        found[k] = np.concatenate(blocks) - start
    assert clipped[0] == 0
    return found


CASES = {
    **{f"{d} and {k} coordinates": (lambda d=d, k=k: joint(d, k), "_noise_root(") for d, k in ((2, 1), (3, 2), (9, 7))},
    "one and one": (lambda: joint(1, 1), "_noise_root_2("),
    "factors by its form": (lambda: banana(METRIC), ""),
    "factored in every step": (lambda: banana(MULTIPLIED_OUT), "_noise_root_2("),
}
"""And what of the support a step calls."""


@pytest.mark.parametrize("case", CASES)
def test_moments_of_one_step_are_those_of_the_equation(case: str) -> None:
    """E dz = eps f and Cov dz = 2 eps D, both to |z| <= 5: at most 152 numbers a state, 1e-4 in all for new seeds."""
    make, calls = CASES[case]
    step = make()
    assert ("_noise_root" in step.module.text) is bool(calls)
    assert calls in step.module.text
    for start in step.starts:
        found, covariance = moves(step, start), 2 * EPS * step.D(start)
        variances = np.diag(covariance)
        assert np.abs((found.mean(axis=0) - EPS * step.f(start)) / np.sqrt(variances / STEPS)).max() <= 5
        error = np.sqrt((covariance**2 + np.outer(variances, variances)) / STEPS)
        assert np.abs((np.cov(found.T) - covariance) / error).max() <= 5


MUTANTS = {
    "a factor transposed": ("noise_theta_r_0 * L_theta_r[2, 0]", "noise_theta_r_0 * L_theta_r[0, 2]"),
    "blocks uncorrelated": ("noise_theta_r_0 * L_theta_r[2, 0]", "0.0"),
    "the noise of another coordinate": ("noise_theta_r_2 * L_theta_r[2, 2]", "noise_theta_r_1 * L_theta_r[2, 2]"),
    "without eps": ("covariance_theta_r[2, 1] = eps * (", "covariance_theta_r[2, 1] = ("),
    "a covariance of another entry": ("covariance_theta_r[2, 0] = ", "covariance_theta_r[2, 0] = 1.0 + "),
    "never factored": ("    _noise_root(covariance_theta_r, L_theta_r, clipped)\n", ""),
    "added to one block alone": (" + draw_r_0", ""),
}


@pytest.mark.parametrize("fault", MUTANTS)
def test_faults_in_the_text_of_joint_noise_are_found_by_reading_it_back(fault: str) -> None:
    module, (old, new) = joint(2, 1).module, MUTANTS[fault]
    assert module.text.count(old) == 1
    with pytest.raises(CompilerError):
        check_shipped(replace(module, text=module.text.replace(old, new)), {})

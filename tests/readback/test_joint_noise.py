"""Noise of two blocks that are correlated through the state: its text is read back, and faults in it are found."""

from dataclasses import replace
from functools import cache

import pytest
from answers import document
from read_back import check_shipped

from recipe_compiler.emit.module import Module
from recipe_compiler.errors import CompilerError
from recipe_compiler.pipeline import compile_build

JOINT = """
state: {theta: {shape: 2}, r: {shape: 1}}
parameters: {b: {shape: 1}}
functions: {U: {of: theta, role: potential}}
H: U(theta) + r.T @ r / 2
D: [["I + theta @ theta.T", "theta @ (b + r).T"], ["(b + r) @ theta.T", "I + (b + r) @ (b + r).T"]]
Q: [[0, 0], [0, 0]]
"""
BUILD = """
dynamics: dynamics.yaml
target: target.yaml
parameters: {b: {value: [1/2]}}
scheme: {name: euler}
variant: full
run: {step_size: 0.05}
"""
FAULTS = {
    "a factor transposed": ("noise_theta_r_0 * L_theta_r[2, 0]", "noise_theta_r_0 * L_theta_r[0, 2]"),
    "blocks uncorrelated": ("noise_theta_r_0 * L_theta_r[2, 0]", "0.0"),
    "the noise of another coordinate": ("noise_theta_r_2 * L_theta_r[2, 2]", "noise_theta_r_1 * L_theta_r[2, 2]"),
    "without eps": ("covariance_theta_r[2, 1] = eps * (", "covariance_theta_r[2, 1] = ("),
    "a covariance of another entry": ("covariance_theta_r[2, 0] = ", "covariance_theta_r[2, 0] = 1.0 + "),
    "never factored": ("    _noise_root(covariance_theta_r, L_theta_r, clipped)\n", ""),
    "added to one block alone": (" + draw_r_0", ""),
}


@cache
def joint() -> Module:
    target = "state: {theta: {shape: 2}}\npotential: theta.T @ theta / 2\n"
    return compile_build(document(BUILD, dynamics=JOINT, target=target), allow_undecided=True)


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS)
def test_faults_in_the_text_of_joint_noise_are_found(fault: str) -> None:
    module, (old, new) = joint(), FAULTS[fault]
    assert module.text.count(old) == 1
    with pytest.raises(CompilerError):
        check_shipped(replace(module, text=module.text.replace(old, new)), {})

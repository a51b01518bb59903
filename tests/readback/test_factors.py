"""Factors of a covariance that depends on the state: where one is taken in every step, and where none can be."""

from dataclasses import replace

import pytest
from cycles import texts
from emitted_texts import METRIC, built, metric

from recipe_compiler.derive.recipe import derive
from recipe_compiler.errors import CompilerError, ModelError
from recipe_compiler.program.lower import lower
from recipe_compiler.scheme.discretise import discretise
from recipe_compiler.spec.bind import bind


@pytest.mark.parametrize(
    "formula",
    [
        "2*s*I - s*theta @ theta.T/(1 + norm2(theta))",  # a part is subtracted
        "theta[0]*A + s*theta @ theta.T",  # of a part whose sign is not known
        "A + (e @ theta.T + theta @ e.T)/(1 + norm2(theta))",  # no part is its own mirror image
        "(1 + norm2(theta))*A + theta[0]**2*C",  # of a matrix that is not declared definite
    ],
)
def test_what_is_not_a_sum_of_semidefinite_parts_is_factored_in_every_step(formula: str) -> None:
    assert "_noise_root" in texts(metric(formula))["plain"].module.text


BOTH = """
format: 1
name: both
state: {theta: {shape: d}, r: {shape: d}}
functions: {U: {of: theta, role: potential}}
H: U(theta) + r.T @ r/2
D: [["(1 + norm2(r))*I", "theta @ r.T/2"], ["r @ theta.T/2", "(1 + norm2(theta))*I"]]
Q: [[0, 0], [0, 0]]
"""


def test_blocks_of_symbolic_size_that_are_correlated_through_the_state_are_refused_by_name() -> None:
    text = METRIC.replace("SPECS/dynamics/sgrld.yaml", "target.yaml").replace('bind: {G_inverse: "METRIC"}\n', "")
    build = built(text, BOTH, TARGET="standard_normal")
    program = discretise(build, derive(bind(build), stated=True), {})
    with pytest.raises(ModelError, match="correlates the blocks theta, r"):
        lower(program)


SUBTRACTED = """
format: 1
name: subtracted
dynamics: SPECS/dynamics/DYNAMICS.yaml
target: SPECS/targets/logistic_regression.yaml
bind: {BOUND}
parameters:
  A: {shape: [d, d], is: positive definite, value: [[2, 1/2], [1/2, 1]]}
  W: {shape: [d, d], is: positive semidefinite, value: [[1, 1/4], [1/4, 1/2]]}
scheme: {name: euler}
variant: minibatch
gradient_noise: {V: W}
sizes: {d: 2}
data:
  file: SPECS/data/breast_cancer.csv
  x: [mean_radius, mean_texture]
  y: diagnosis
run: {step_size: 0.01, batch_size: 10}
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("dynamics", "bound", "in_every_step"),
    [
        # K (2I - eps V) K, the middle factored once; of SGRLD, s A - eps s**2 A V A/2 has no common number in front
        ("gsgrhmc", "K: sqrt(1 + norm2(theta)/4)*A", False),
        ("sgrld", "G_inverse: (1 + norm2(theta)/4)*A", True),
    ],
)
def test_noise_of_minibatches_is_subtracted_before_the_factor_is_taken(
    dynamics: str, bound: str, in_every_step: bool
) -> None:
    text = texts(built(SUBTRACTED, DYNAMICS=dynamics, BOUND=bound))["plain"]
    assert ("_noise_root(" in text.module.text) is in_every_step
    text.read()
    wrong = text.module.text.replace("_noise_factor([[two_D_r]], [[B_hat_r]]", "_noise_factor([[two_D_r]], None")
    wrong = wrong.replace("covariance_theta[i, j] = eps * (", "covariance_theta[i, j] = 2.0 * eps * (")
    assert wrong != text.module.text
    with pytest.raises(CompilerError):
        text.read(replace(text.module, text=wrong))

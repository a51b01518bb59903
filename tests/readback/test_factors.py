"""Factors of a covariance that depends on the state are read back as what they stand for, used as L @ noise alone."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from loaders import load_build

from recipe_compiler.derive.recipe import Derivation, derive
from recipe_compiler.emit.module import Module, emit_module
from recipe_compiler.errors import CompilerError, ModelError
from recipe_compiler.program.loop_passes import schedule
from recipe_compiler.program.lower import lower
from recipe_compiler.program.program import Program
from recipe_compiler.program.rename import rename
from recipe_compiler.readback.readback import check_shipped, read_back
from recipe_compiler.scheme.discretise import discretise, pinned_sizes
from recipe_compiler.spec.bind import bind
from recipe_compiler.spec.model import Build

SPECS = Path(__file__).parents[2] / "specs"
DENSE = "2*(1 + norm2(theta))*A - theta @ theta.T"
"""Positive definite where 2 A - I is, which its form does not show."""
FORMS = {
    "a column that is a sum": ("A/2 + (e + theta[0]*b) @ (e + theta[0]*b).T", "L_theta"),
    "columns under one number": ("exp(theta[0])*(theta @ theta.T + b @ b.T)", "scale_theta"),
    "a diagonal and a column": ("s*I + theta @ theta.T", "scale_theta_2"),
    "a matrix and a column": ("A + theta @ theta.T/(1 + norm2(theta))", "L_theta"),
    "a number times a matrix": ("(1 + norm2(theta))*(A + s*I)", "L_theta"),
    "a Gram matrix": ("diag(exp(theta)) @ A @ A.T @ diag(exp(theta))", "scale_theta"),
    "a matrix between": ("diag(exp(theta)) @ A @ diag(exp(theta))", "L_theta"),
}
BUILD = """
format: 1
name: metric
dynamics: {specs}/dynamics/sgrld.yaml
target: {specs}/targets/{target}.yaml
bind: {{G_inverse: "{metric}"}}
parameters:
  s: {{is: positive, value: 1}}
  A: {{shape: [d, d], is: positive definite, value: [[2, 1/2], [1/2, 1]]}}
  C: {{shape: [d, d], is: symmetric, value: [[1, 1/2], [1/2, 1]]}}
  e: {{shape: d, value: [1, 2]}}
  b: {{shape: d, value: [-1/2, 1/3]}}
scheme: {{name: euler}}
variant: full
sizes: {{d: 2}}
run: {{step_size: 0.01}}
"""


@cache
def loaded(metric: str, target: str) -> tuple[Build, Derivation]:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "metric.yaml"
        path.write_text(BUILD.format(specs=SPECS, target=target, metric=metric))
        build = load_build(path)
    return build, derive(bind(build))


def program_of(metric: str, target: str) -> Program:
    build, derivation = loaded(metric, target)
    return discretise(build, derive(derivation.dynamics, stated=True), {})


@cache
def emitted(metric: str, target: str, *, scheduled: bool = False) -> Module:
    program = program_of(metric, target)
    kernel = lower(program)
    kernel = schedule(program, kernel) if scheduled else kernel
    return emit_module("metric", program, kernel, "A test.\n", "0" * 64)


def read(metric: str, target: str, module: Module) -> None:
    build, derivation = loaded(metric, target)
    read_back(module, derivation, {}, pinned_sizes(build, module.program))


def read_changed(metric: str, target: str, old: str, new: str) -> None:
    module = emitted(metric, target)
    assert old in module.text, module.text
    read(metric, target, replace(module, text=module.text.replace(old, new)))


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
def test_a_covariance_that_is_written_with_a_factor_is_not_factored_again(form: str) -> None:
    metric, name = FORMS[form]
    module = emitted(metric, "standard_normal")
    assert "_noise_root" not in module.text
    assert name in module.text
    read(metric, "standard_normal", module)


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
def test_what_is_shipped_is_compared_at_a_point(form: str) -> None:
    metric, _ = FORMS[form]
    build, _ = loaded(metric, "standard_normal")
    program = rename(program_of(metric, "standard_normal"), dict(build.sizes))
    module = emit_module("metric", program, schedule(program, lower(program)), "A test.\n", "0" * 64)
    check_shipped(module, dict(build.sizes))
    wrong = module.text.replace("math.sqrt(", "2.0 * math.sqrt(")
    assert wrong != module.text
    with pytest.raises(CompilerError, match=r"covariance|differs"):
        check_shipped(replace(module, text=wrong), dict(build.sizes))


@pytest.mark.slow
@pytest.mark.parametrize("scheduled", [False, True])
def test_two_coordinates_have_a_closed_form(*, scheduled: bool) -> None:
    module = emitted(DENSE, "banana", scheduled=scheduled)
    assert "_noise_root_2(" in module.text
    assert "_noise_root(" not in module.text
    read(DENSE, "banana", module)


@pytest.mark.slow
def test_any_number_of_coordinates_is_factored_in_place() -> None:
    module = emitted(DENSE, "standard_normal")
    assert "_noise_root(" in module.text
    read(DENSE, "standard_normal", module)


MUTANTS_OF_TWO = {
    "transposed": (
        "draw_theta[0] = L_theta_00 * noise_theta[0]",
        "draw_theta[0] = L_theta_00 * noise_theta[0] + L_theta_10 * noise_theta[1]",
    ),
    "entry by entry": (
        "draw_theta[1] = L_theta_10 * noise_theta[0] + L_theta_11 * noise_theta[1]",
        "draw_theta[1] = L_theta_11 * noise_theta[1]",
    ),
    "without sqrt(eps)": ("covariance_theta_11 = eps * (", "covariance_theta_11 = ("),
    "lower and upper swapped": ("L_theta_00, L_theta_10, L_theta_11 =", "L_theta_11, L_theta_10, L_theta_00 ="),
    "of the wrong matrix": ("covariance_theta_10 = eps", "covariance_theta_10 = 2.0 * eps"),
    "used twice": (
        "draw_theta[0] = L_theta_00 * noise_theta[0]",
        "draw_theta[0] = L_theta_00 * L_theta_00 * noise_theta[0]",
    ),
}


@pytest.mark.parametrize("fault", MUTANTS_OF_TWO)
def test_faults_in_the_closed_form_are_found(fault: str) -> None:
    with pytest.raises(CompilerError):
        read_changed(DENSE, "banana", *MUTANTS_OF_TWO[fault])


MUTANTS_OF_MANY = {
    "transposed": ("total += L_theta[i, j] * noise_theta[j]", "total += L_theta[j, i] * noise_theta[j]"),
    "entry by entry": ("total += L_theta[i, j] * noise_theta[j]", "total += L_theta[i, j] * noise_theta[i]"),
    "without sqrt(eps)": ("covariance_theta[i, j] = eps * (", "covariance_theta[i, j] = ("),
    "of the wrong matrix": ("_noise_root(covariance_theta, L_theta", "_noise_root(A, L_theta"),
    "the covariance for its factor": (
        "total += L_theta[i, j] * noise_theta[j]",
        "total += covariance_theta[i, j] * noise_theta[j]",
    ),
    "never factored": ("    _noise_root(covariance_theta, L_theta, clipped)\n", ""),
    "one entry only": ("covariance_theta[i, j] = eps", "covariance_theta[i, i] = eps"),
}


@pytest.mark.parametrize("fault", MUTANTS_OF_MANY)
def test_faults_in_the_factor_of_many_are_found(fault: str) -> None:
    with pytest.raises(CompilerError):
        read_changed(DENSE, "standard_normal", *MUTANTS_OF_MANY[fault])


MUTANTS_OF_FORMS: dict[str, tuple[str, Callable[[str], str]]] = {
    "root of the scale": ("a diagonal and a column", lambda text: text.replace("= math.sqrt(", "= (")),
    "one normal for both": (
        "a diagonal and a column",
        lambda text: text.replace("* noise_theta_2[0]", "* noise_theta[0]"),
    ),
    "twice the scale": (
        "a number times a matrix",
        lambda text: text.replace("scale_theta = math.sqrt(", "scale_theta = 2.0 * math.sqrt("),
    ),
    "transposed": ("a matrix between", lambda text: text.replace("L_theta[i, j]", "L_theta[j, i]")),
}


@pytest.mark.parametrize("fault", MUTANTS_OF_FORMS)
def test_faults_in_factors_by_form_are_found(fault: str) -> None:
    form, change = MUTANTS_OF_FORMS[fault]
    metric, _ = FORMS[form]
    module = emitted(metric, "standard_normal")
    wrong = change(module.text)
    assert wrong != module.text, module.text
    with pytest.raises(CompilerError):
        read(metric, "standard_normal", replace(module, text=wrong))


@pytest.mark.parametrize(
    "metric",
    [
        "2*s*I - s*theta @ theta.T/(1 + norm2(theta))",  # a part is subtracted
        "theta[0]*A + s*theta @ theta.T",  # of a part whose sign is not known
        "A + (e @ theta.T + theta @ e.T)/(1 + norm2(theta))",  # no part is its own mirror image
        "(1 + norm2(theta))*A + theta[0]**2*C",  # of a matrix that is not declared definite
    ],
)
def test_what_is_not_a_sum_of_semidefinite_parts_is_factored_in_every_step(metric: str) -> None:
    assert "_noise_root" in emitted(metric, "standard_normal").text


def test_blocks_of_symbolic_size_that_are_correlated_through_the_state_are_refused_by_name() -> None:
    text = BUILD.format(specs=SPECS, target="standard_normal", metric="I").replace(
        f"{SPECS}/dynamics/sgrld.yaml", "both.yaml"
    )
    text = text.replace('bind: {G_inverse: "I"}\n', "")
    both = """
format: 1
name: both
state: {theta: {shape: d}, r: {shape: d}}
functions: {U: {of: theta, role: potential}}
H: U(theta) + r.T @ r/2
D: [["(1 + norm2(r))*I", "theta @ r.T/2"], ["r @ theta.T/2", "(1 + norm2(theta))*I"]]
Q: [[0, 0], [0, 0]]
"""
    with TemporaryDirectory() as folder:
        (Path(folder) / "both.yaml").write_text(both)
        (Path(folder) / "metric.yaml").write_text(text)
        build = load_build(Path(folder) / "metric.yaml")
    program = discretise(build, derive(bind(build), stated=True), {})
    with pytest.raises(ModelError, match="correlates the blocks theta, r"):
        lower(program)


SUBTRACTED = """
format: 1
name: subtracted
dynamics: {specs}/dynamics/{dynamics}.yaml
target: {specs}/targets/logistic_regression.yaml
bind: {{{bind}}}
parameters:
  A: {{shape: [d, d], is: positive definite, value: [[2, 1/2], [1/2, 1]]}}
  W: {{shape: [d, d], is: positive semidefinite, value: [[1, 1/4], [1/4, 1/2]]}}
scheme: {{name: euler}}
variant: minibatch
gradient_noise: {{V: W}}
sizes: {{d: 2}}
data:
  file: {specs}/data/breast_cancer.csv
  x: [mean_radius, mean_texture]
  y: diagnosis
run: {{step_size: 0.01, batch_size: 10}}
"""
WITH_V = {
    # K (2I - eps V) K, the middle factored once; of SGRLD, s A - eps s**2 A V A/2 has no common number in front
    "gsgrhmc": ("K: sqrt(1 + norm2(theta)/4)*A", False),
    "sgrld": ("G_inverse: (1 + norm2(theta)/4)*A", True),
}


@pytest.mark.slow
@pytest.mark.parametrize("dynamics", WITH_V)
def test_noise_of_minibatches_is_subtracted_before_the_factor_is_taken(dynamics: str) -> None:
    bound, in_every_step = WITH_V[dynamics]
    with TemporaryDirectory() as folder:
        path = Path(folder) / "subtracted.yaml"
        path.write_text(SUBTRACTED.format(specs=SPECS, dynamics=dynamics, bind=bound))
        build = load_build(path)
    derivation = derive(bind(build))
    program = discretise(build, derive(bind(build), stated=True), {})
    module = emit_module("subtracted", program, lower(program), "A test.\n", "0" * 64)
    assert ("_noise_root(" in module.text) is in_every_step
    read_back(module, derivation, {}, pinned_sizes(build, program))
    wrong = module.text.replace("_noise_factor([[two_D_r]], [[B_hat_r]]", "_noise_factor([[two_D_r]], None")
    wrong = wrong.replace("covariance_theta[i, j] = eps * (", "covariance_theta[i, j] = 2.0 * eps * (")
    assert wrong != module.text, module.text
    with pytest.raises(CompilerError):
        read_back(replace(module, text=wrong), derivation, {}, pinned_sizes(build, program))

"""A gradient that is code: never run to check or to compile, named as an assumption, the same draws if it is right."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command import recipe
from emitted_file import file_of
from loaders import load_build, load_target

from recipe_compiler.errors import RunError
from recipe_compiler.pipeline import compile_build
from recipe_compiler.report.check import check
from recipe_compiler.run import user_code
from recipe_compiler.run.data import load_data
from recipe_compiler.run.load_module import load_function, load_text
from recipe_compiler.run.sample import sample
from recipe_compiler.verdict import Verdict

SPECS = Path(__file__).parents[2] / "specs"
CODE = """
import math

from numba import njit


@njit(error_model="numpy")
def grad_U(out, theta, prior_variance, x, y, batch):
    out[:] = 0.0
    for b in range(batch.shape[0]):
        row = batch[b]
        t = 0.0
        for i in range(theta.shape[0]):
            t += x[row, i] * theta[i]
        weight = 1.0 / (1.0 + math.exp(-t)) - y[row]
        for i in range(theta.shape[0]):
            out[i] += weight * x[row, i]
    for i in range(theta.shape[0]):
        out[i] = theta[i] / prior_variance + x.shape[0] * out[i] / batch.shape[0]
"""
THROUGH_PYTHON = """
import numpy as np
from numba import njit, objmode


def in_python(theta, prior_variance, x, y, batch):
    weight = 1.0 / (1.0 + np.exp(-x[batch] @ theta)) - y[batch]
    return theta / prior_variance + x.shape[0] * (weight @ x[batch]) / len(batch)


@njit
def grad_U(out, theta, prior_variance, x, y, batch):
    with objmode(found="float64[:]"):
        found = in_python(theta, prior_variance, x, y, batch)
    out[:] = found
"""
TARGET = """
name: coded
state: {theta: {shape: d}}
data: {x: {shape: [N, d]}, y: {shape: N, in: [0, 1]}}
parameters: {prior_variance: {is: positive, default: 10}}
gradient: my_gradient.py:grad_U
"""


@pytest.fixture
def coded(tmp_path: Path) -> Path:
    """Return a build of a target whose gradient is code; `plain.yaml` beside it states the same target."""
    (tmp_path / "my_gradient.py").write_text(CODE)
    (tmp_path / "coded.yaml").write_text(TARGET)
    build = (SPECS / "builds/sghmc_logistic.yaml").read_text().replace("../", f"{SPECS}/")
    (tmp_path / "plain.yaml").write_text(build)
    (tmp_path / "build.yaml").write_text(build.replace(f"{SPECS}/targets/logistic_regression.yaml", "coded.yaml"))
    return tmp_path / "build.yaml"


def draws(path: Path) -> np.ndarray:
    build = load_build(path)
    module = compile_build(build)
    settings = replace(build.run, draws=40, warmup=0, thin=2, chains=2)
    emitted = load_text(module.name, module.loaded, build.codes)
    return sample(emitted, build, settings, load_data(build.data, build.target)).arrays[0]


@pytest.mark.slow
@pytest.mark.parametrize("code", [CODE, THROUGH_PYTHON])
def test_the_same_gradient_gives_the_same_draws(coded: Path, code: str) -> None:
    (coded.parent / "my_gradient.py").write_text(code)
    np.testing.assert_allclose(draws(coded), draws(coded.parent / "plain.yaml"), rtol=1e-7, atol=1e-9)


def test_the_file_takes_the_jitted_function(coded: Path, tmp_path: Path) -> None:
    build = load_build(coded)
    module, code = file_of(build, tmp_path), build.target.gradient
    assert code is not None
    fields = [field.values for field in load_data(build.data, build.target).fields]
    found = module.sample(load_function(code), *fields, draws=40, warmup=0, thin=2, chains=2)
    np.testing.assert_allclose(next(iter(found.values())), draws(coded), rtol=1e-9, atol=1e-12)
    with pytest.raises(TypeError, match="gradient: found builtin_function_or_method, expected a function jitted by"):
        module.sample(print, *fields)


@pytest.mark.parametrize("scheme", ["{name: sequential_euler, order: [r, theta]}", "{name: baoab}"])
def test_a_step_by_code_is_read_back(coded: Path, scheme: str) -> None:
    coded.write_text(coded.read_text().replace("{name: sequential_euler, order: [r, theta]}", scheme))
    assert "gradient(" in compile_build(load_build(coded), allow_undecided=True).text


def test_what_was_compiled_with_a_gradient_in_another_folder_is_not_found(coded: Path, tmp_path: Path) -> None:
    build = load_build(coded)
    module, code = compile_build(build), build.target.gradient
    assert code is not None
    elsewhere = replace(code, file=tmp_path / "elsewhere" / code.file.name)  # compiled code names the one it calls
    runs: list[Any] = [load_text(module.name, module.loaded, [one]).run for one in (code, code, elsewhere)]
    first, again, other = (run.py_func.__code__.co_filename for run in runs)
    assert first == again != other


@pytest.mark.slow
def test_the_command_compiles_and_tries_the_code_once(coded: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    loaded: list[object] = []
    monkeypatch.setattr(user_code, "load_function", lambda code: loaded.append(code) or load_function(code))
    short = ["--draws", "60", "--warmup", "0", "--thin", "2", "--chains", "2", "--cores", "1"]
    done = recipe("run", coded, "--allow-code", *short, "--json", "-o", coded.parent / "out")
    found = json.loads(done.out)
    assert len(loaded) == 1
    assert done.code == 4  # 60 draws of such a chain have not mixed
    assert found["stein"]["count"] == 60  # code or not, the draws are judged
    assert any("R-hat" in doubt for doubt in found["doubts"])


@pytest.mark.slow
def test_it_is_an_assumption_of_the_build_and_never_run(coded: Path) -> None:
    (coded.parent / "my_gradient.py").write_text("raise SystemExit('this file was run')\n")
    build = load_build(coded)
    report = check(build)
    assert report.verdict is Verdict.PROVED
    assumed = "grad U is as my_gradient.py:grad_U computes it, U being smooth"
    resting = {finding.id for finding in report.findings if assumed in finding.decision.given}
    of_growth = {"claimed_stationary", "stationary", "explosion", "normalisable", "unique"}
    assert resting == {"claimed_marginal", "gradient", "marginal"} | of_growth
    text = compile_build(build, report).text
    assert 'CODE = (("gradient", "my_gradient.py:grad_U"),)' in text
    assert "import my_gradient" not in text


def test_by_itself_such_a_target_is_undecided(coded: Path) -> None:
    assert check(load_target(coded.parent / "coded.yaml")).verdict is Verdict.UNDECIDED


@pytest.mark.parametrize(
    ("text", "said"), [("def other():\n    pass\n", "no function grad_U"), ("1/0\n", "ZeroDivisionError")]
)
def test_code_that_does_not_run_is_said(coded: Path, text: str, said: str) -> None:
    (coded.parent / "my_gradient.py").write_text(text)
    target = load_target(coded.parent / "coded.yaml")
    assert target.gradient is not None
    with pytest.raises(RunError, match=said):
        load_function(target.gradient)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("def grad_U(out, *given):\n    raise ValueError('no')\n", "raises ValueError"),
        ("def grad_U(out):\n    out[:] = 0.0\n", "raises TypeError"),
        ("def grad_U(out, *given):\n    out[:] = undefined\n", "cannot be compiled by numba"),
        ("def grad_U(out, theta, *given):\n    return theta\n", r"leaves out\[0\] unwritten, and returns a value"),
        ("def grad_U(out, theta, *given):\n    out[0] = 1.0\n", r"leaves out\[1\] unwritten: expected grad U in `out`"),
        (CODE.replace("+= weight * x[row, i]", "+= weight * x[row, i] * (1 + i/99)"), "its Jacobian is not symmetric"),
    ],
)
def test_faults_of_the_code_are_its_authors_before_a_chain_runs(coded: Path, text: str, said: str) -> None:
    (coded.parent / "my_gradient.py").write_text(text)
    with pytest.raises(RunError, match=rf"my_gradient\.py: grad_U.*{said}"):
        draws(coded)

"""A gradient that is code: never run to check or to compile, named as an assumption, the same draws if it is right."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from emitted_file import file_of
from loaders import load_build, load_target

from recipe_compiler.errors import RunError
from recipe_compiler.pipeline import compile_build
from recipe_compiler.report.check import check
from recipe_compiler.report.check import check as report_of
from recipe_compiler.run.data import load_data
from recipe_compiler.run.load_module import load_function, load_text
from recipe_compiler.run.sample import sample
from recipe_compiler.spec.model import Build
from recipe_compiler.verdict import Verdict

unread = pytest.mark.usefixtures("without_reading_back")

ASSUMED = "grad U is as my_gradient.py:grad_U computes it, U being smooth"


def build_of(path: Path) -> Build:
    return load_build(path)


def draws(path: Path) -> np.ndarray:
    build = build_of(path)
    module = compile_build(build)
    settings = replace(build.run, draws=40, warmup=0, thin=2, chains=2)
    emitted = load_text(module.name, module.text, build.codes)
    return sample(emitted, build, settings, load_data(build.data, build.target)).arrays[0]


@pytest.mark.slow
@unread
def test_the_same_gradient_gives_the_same_draws(coded: Path) -> None:
    np.testing.assert_allclose(draws(coded), draws(coded.parent / "plain.yaml"), rtol=1e-9, atol=1e-12)


@unread
def test_the_file_takes_the_jitted_function(coded: Path, tmp_path: Path) -> None:
    build = build_of(coded)
    module, code = file_of(build, tmp_path), build.target.gradient
    assert code is not None
    fields = [field.values for field in load_data(build.data, build.target).fields]
    found = module.sample(load_function(code), *fields, draws=40, warmup=0, thin=2, chains=2)
    np.testing.assert_allclose(next(iter(found.values())), draws(coded), rtol=1e-9, atol=1e-12)
    with pytest.raises(TypeError, match="gradient: found builtin_function_or_method, expected a function jitted by"):
        module.sample(print, *fields)


@unread
def test_what_was_compiled_with_a_gradient_in_another_folder_is_not_found(coded: Path, tmp_path: Path) -> None:
    build = build_of(coded)
    module, code = compile_build(build), build.target.gradient
    assert code is not None
    elsewhere = replace(code, file=tmp_path / "elsewhere" / code.file.name)  # compiled code names the one it calls
    runs: list[Any] = [load_text(module.name, module.text, [one]).run for one in (code, code, elsewhere)]
    first, again, other = (run.py_func.__code__.co_filename for run in runs)
    assert first == again != other


@pytest.mark.slow
@unread
def test_another_gradient_gives_other_draws(coded: Path) -> None:
    before = draws(coded)
    code = coded.parent / "my_gradient.py"
    code.write_text(code.read_text().replace("theta[i] / prior_variance +", "2.0 * theta[i] / prior_variance +"))
    assert np.abs(draws(coded) - before).max() > 1e-3


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


@pytest.mark.slow
@unread
def test_code_that_calls_python_through_objmode_gives_the_same_draws(coded: Path) -> None:
    (coded.parent / "my_gradient.py").write_text(THROUGH_PYTHON)
    np.testing.assert_allclose(draws(coded), draws(coded.parent / "plain.yaml"), rtol=1e-7, atol=1e-9)


@pytest.mark.slow
@unread
def test_code_that_is_no_gradient_is_refused_before_a_chain_runs(coded: Path) -> None:
    code = coded.parent / "my_gradient.py"
    code.write_text(
        code.read_text().replace("out[i] += weight * x[row, i]", "out[i] += weight * x[row, i] * (1 + i/99)")
    )
    with pytest.raises(RunError, match=r"my_gradient\.py: grad_U.* its Jacobian is not symmetric"):
        draws(coded)


@pytest.mark.slow
@unread
def test_the_command_compiles_and_tries_the_code_once(
    coded: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from recipe_compiler.cli import main
    from recipe_compiler.run import code_gradient

    loaded: list[object] = []

    def counted(code: object) -> object:
        loaded.append(code)
        return load_function(code)

    monkeypatch.setattr(code_gradient, "load_function", counted)
    short = ["--draws", "60", "--warmup", "0", "--thin", "2", "--chains", "2", "--cores", "1"]
    monkeypatch.setattr(
        "sys.argv", ["recipe", "run", str(coded), "--allow-code", *short, "--json", "-o", str(coded.parent / "out")]
    )
    with pytest.raises(SystemExit) as left:
        main()
    found = json.loads(capsys.readouterr().out)
    assert len(loaded) == 1
    assert left.value.code == 4  # 60 draws of such a chain have not mixed
    assert found["stein"]["count"] == 60  # code or not, the draws are judged
    assert any("R-hat" in doubt for doubt in found["doubts"])


@pytest.mark.slow
def test_it_is_an_assumption_of_the_build_and_never_run(coded: Path) -> None:
    (coded.parent / "my_gradient.py").write_text("raise SystemExit('this file was run')\n")
    build = build_of(coded)
    report = check(build)
    assert report.verdict is Verdict.PROVED
    resting = {finding.id for finding in report.findings if ASSUMED in finding.decision.given}
    assert resting == {"explosion", "gradient", "normalisable", "unique"}
    text = compile_build(build, report).text
    assert 'CODE = (("gradient", "my_gradient.py:grad_U"),)' in text
    assert "import my_gradient" not in text


def test_by_itself_such_a_target_is_undecided(coded: Path) -> None:
    target = load_target(coded.parent / "coded.yaml")
    assert report_of(target).verdict is Verdict.UNDECIDED


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
    ],
)
@unread
def test_faults_of_the_code_are_its_authors(coded: Path, text: str, said: str) -> None:
    (coded.parent / "my_gradient.py").write_text(text)
    with pytest.raises(RunError, match=rf"my_gradient\.py: grad_U\(out, theta, .*{said}"):
        draws(coded)

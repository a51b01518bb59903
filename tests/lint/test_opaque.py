"""Processes that steps are run in: what is hostile in them ends, and what they answer is read with care."""

import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import psutil
import pytest

from recipe_compiler.lint import process
from recipe_compiler.lint.answer import UnreadableError, Untraced, read_answer
from recipe_compiler.lint.bind_arguments import Binding
from recipe_compiler.lint.findings import Lint
from recipe_compiler.lint.process import run_step
from recipe_compiler.verdict import Finding, Undecided
from recipe_compiler.verify.core import processes

STEPS = Path(__file__).parent / "steps"


@pytest.mark.slow
def test_what_a_file_prints_goes_nowhere(
    step_finding: Callable[..., Finding], capfd: pytest.CaptureFixture[str]
) -> None:
    assert step_finding("opaque.py:prints", "sgld").checked_at == ((("d", 1),), (("d", 2),), (("d", 3),))
    assert "hello" not in "".join(capfd.readouterr())


@pytest.mark.slow
@pytest.mark.parametrize("lost", ["not RIGHT", "next(map(type, [x])) is float"])
def test_noise_that_is_there_beside_the_compiler_alone(
    lost: str, step_finding: Callable[..., Finding], tmp_path: Path
) -> None:
    path = tmp_path / "own.py"
    path.write_text(
        "import sys\nimport numpy as np\n\nRIGHT = 'recipe_compiler' in sys.modules\n\n\ndef step(x, p, eps, rng):\n"
        f"    noise = 0 if {lost} else rng.standard_normal()\n"
        "    return x + eps * p, p - eps * (x**3 - x) - eps * p + np.sqrt(2 * eps) * noise\n",
        encoding="utf-8",
    )
    decision = step_finding(f"{path}:step", "double_well").decision
    assert isinstance(decision, Undecided)
    assert "run with plain numbers" in " ".join(decision.tried)


def test_a_step_that_hangs_with_numbers_is_ended(
    step_finding: Callable[..., Finding], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    run = process.run_plainly

    def shortly(request: Mapping[str, Any]) -> Any:
        return run(request, total=0.5)

    monkeypatch.setattr(process, "run_plainly", shortly)
    path = tmp_path / "own.py"
    text = "def step(x, p, eps, rng):\n    while next(map(type, [x])) is float:\n        pass\n    return x, p\n"
    path.write_text(text, encoding="utf-8")
    decision = step_finding(f"{path}:step", "double_well").decision
    assert isinstance(decision, Undecided)
    assert "run with plain numbers, it did not end in 0.5 s" in decision.tried[0]


@pytest.mark.slow
def test_an_endless_step_is_interrupted_at_its_line(asking: Callable[..., Binding]) -> None:
    answer = run_step(asking("opaque.py:endless", "sgld"), ({"d": 1}, {"d": 2}), seconds=0.5, total=60)
    first, second = answer.cases
    assert isinstance(first, Untraced)
    assert first.reason == "it did not end in 0.5 s"
    assert first.line
    assert second == first


@pytest.mark.slow
def test_a_step_that_ignores_its_timer_ends_at_the_limit_of_all_calls(asking: Callable[..., Binding]) -> None:
    answer = run_step(asking("opaque.py:busy_and_deaf", "sgld"), ({"d": 1},), seconds=0.5, total=2)
    assert answer.file == Untraced("it did not end in 2 s")


@pytest.mark.skipif(not hasattr(os, "killpg"), reason="sessions of processes")
def test_a_step_that_ignores_signals_is_killed_with_its_children(
    asking: Callable[..., Binding], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(processes, "STILL", 3.0)
    answer = run_step(asking("opaque.py:endless_and_deaf", "sgld"), ({"d": 1},))
    assert answer.file == Untraced("it did not end: its process stood still for 3 s")
    time.sleep(0.2)
    assert [one for one in psutil.process_iter() if _is_left(one)] == []


def _is_left(one: psutil.Process) -> bool:
    """Whether a process is a child of this one that runs a step, or was left without its parent."""
    try:
        runs = any("recipe_compiler.lint.child" in part for part in one.cmdline())
        return runs and one.status() != psutil.STATUS_ZOMBIE and one.ppid() in {os.getpid(), 1}
    except psutil.Error:
        return False


@pytest.mark.parametrize("data", [{}, [], None, {"cases": [{}]}, {"cases": [{"failed": {"line": -1, "reason": "x"}}]}])
def test_an_answer_of_another_form_is_refused(data: object) -> None:
    with pytest.raises(UnreadableError):
        read_answer(data, 1)


GOOD = {"nodes": [["leaf", "theta", 0]], "outputs": [[0]], "draws": 0, "uniforms": 0, "groups": [], "partial": [],
        "given": [], "rounded": [], "order": [0], "calls": 50, "left": []}  # fmt: skip


@pytest.mark.parametrize(
    "line",
    [["add", 1, 1], ["add", -1, 0], ["add", 0], ["number", "1e9"], ["number", "1/0"], ["number", "9" * 5000],
     ["number", 1], ["call", "system", 0], ["draw", 0], ["eval", "1"], ["leaf", 1, 0], []],
)  # fmt: skip
def test_an_operation_of_another_form_is_refused(line: list[object]) -> None:
    assert read_answer({"cases": [GOOD]}, 1).cases
    with pytest.raises(UnreadableError):
        read_answer({"cases": [GOOD | {"nodes": [["leaf", "theta", 0], line]}]}, 1)


@pytest.mark.slow
def test_no_other_file_of_the_folder_is_run(step_finding: Callable[..., Finding], tmp_path: Path) -> None:
    path = tmp_path / "sampler.py"
    path.write_text("def step(theta, grad_U, eps):\n    return theta - eps * grad_U(theta)\n", encoding="utf-8")
    for name in ("numpy", "json", "random", "sitecustomize", "conftest"):
        (tmp_path / f"{name}.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w').close()\n", encoding="utf-8")
    step_finding(f"{path}:step", "sgld")
    assert not (tmp_path / "ran").exists()


@pytest.mark.slow
def test_what_was_followed_is_said(read: Callable[..., Lint], tmp_path: Path) -> None:
    path = tmp_path / "own.py"
    path.write_text(
        "def step(x, p, eps, burning=False):\n    if burning:\n        p = 0 * p\n    return x, p\n", "utf-8"
    )
    found = read(f"{path}:step", "double_well")
    said = "followed: step(x, p, eps: the step size, burning at its default); 50 calls"
    assert found.followed[0].startswith(said)
    assert found.followed[1].startswith("run: ")
    assert found.followed[2] == "not traced: line 3, which no call reached"
    assert found.report is not None
    assert found.followed[2] in found.report.caveats

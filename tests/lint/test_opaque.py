"""Code that cannot be followed on symbols, said by line; hostile code, within limits."""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from recipe_compiler.lint.answer import UnreadableError, Untraced, read_answer
from recipe_compiler.lint.bind_arguments import Binding
from recipe_compiler.lint.findings import Lint
from recipe_compiler.lint.process import run_step
from recipe_compiler.verdict import Finding
from recipe_compiler.verify.core import processes

ROOT = Path(__file__).parents[2]
STEPS = Path(__file__).parent / "steps"


@pytest.mark.slow
def test_what_a_file_prints_goes_nowhere(
    step_finding: Callable[..., Finding], capfd: pytest.CaptureFixture[str]
) -> None:
    found = step_finding("opaque.py:prints", "sgld")
    assert found.checked_at == ((("d", 1),), (("d", 2),), (("d", 3),))
    assert "hello" not in "".join(capfd.readouterr())


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
    left = [p for p in psutil.process_iter() if _runs_child(p) and p.status() != psutil.STATUS_ZOMBIE]
    mine = [p for p in left if _asked_by_me(p)]
    assert mine == []


def _runs_child(process: psutil.Process) -> bool:
    try:
        return any("recipe_compiler.lint.child" in part for part in process.cmdline())
    except psutil.Error:
        return False


def _asked_by_me(process: psutil.Process) -> bool:
    """Whether a process is a child of this one, or was left without its parent."""
    try:
        return process.ppid() in {os.getpid(), 1}
    except psutil.Error:
        return False


BAD = (
    {},
    [],
    None,
    {"cases": []},
    {"cases": [{}]},
    {"cases": [{"failed": {"line": -1, "reason": "x"}}]},
    {"file": {"line": 1}},
)


@pytest.mark.parametrize("data", BAD)
def test_an_answer_of_another_form_is_refused(data: object) -> None:
    with pytest.raises(UnreadableError):
        read_answer(data, 1)


GOOD = {"nodes": [["leaf", "theta", 0]], "outputs": [[0]], "draws": 0, "uniforms": 0, "groups": [], "partial": [],
        "given": [], "rounded": [], "order": [0], "calls": 50, "left": []}  # fmt: skip


@pytest.mark.parametrize(
    "line",
    [
        ["add", 0, 1],
        ["add", 1, 1],
        ["add", -1, 0],
        ["add", 0],
        ["number", "1e9"],
        ["number", "1/0"],
        ["number", "9" * 5000],
        ["number", 1],
        ["call", "system", 0],
        ["draw", 0],
        ["eval", "1"],
        ["leaf", 1, 0],
        [],
    ],
)
def test_an_operation_of_another_form_is_refused(line: list[object]) -> None:
    assert read_answer({"cases": [GOOD]}, 1).cases
    with pytest.raises(UnreadableError):
        read_answer({"cases": [GOOD | {"nodes": [["leaf", "theta", 0], line]}]}, 1)


@pytest.mark.slow
def test_a_trace_starts_without_sympy() -> None:
    """SymPy takes longer to load than most steps to be followed."""
    program = "import sys; import recipe_compiler.lint.child; print('sympy' in sys.modules, 'numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout == "False True\n"


@pytest.mark.slow
def test_what_was_followed_is_said(read: Callable[..., Lint]) -> None:
    found = read("careless.py:unused_branch", "double_well")
    line = (STEPS / "careless.py").read_text(encoding="utf-8").splitlines().index("        p = 0 * p") + 1
    assert found.followed[0].startswith(
        "followed: unused_branch(x, p, eps: the step size, rng: draws of N(0, 1), burning at its default); 50 calls"
    )
    assert found.followed[1].startswith("run: 14 calls with plain numbers")
    assert found.followed[2] == f"not followed: line {line}, which no call ran"
    assert found.report is not None
    assert found.followed[2] in found.report.caveats

"""What a user's file does to its process ends there, and nothing of it is believed."""

from collections.abc import Callable
from pathlib import Path

import pytest

from recipe_compiler import limits
from recipe_compiler.lint.bind_arguments import Binding
from recipe_compiler.lint.findings import Lint
from recipe_compiler.lint.follow import follow_step
from recipe_compiler.trace.operations import Untraced
from recipe_compiler.verdict import Finding, Undecided


@pytest.mark.slow
def test_what_a_file_prints_goes_nowhere(
    step_finding: Callable[..., Finding], capfd: pytest.CaptureFixture[str]
) -> None:
    assert step_finding("opaque.py:prints", "sgld").checked_at == ((("d", 1),), (("d", 2),), (("d", 3),))
    assert "hello" not in "".join(capfd.readouterr())


def test_a_step_that_branches_on_types_is_undecided_with_both_numbers(
    step_finding: Callable[..., Finding], tmp_path: Path
) -> None:
    path = tmp_path / "own.py"
    path.write_text(
        "import numpy as np\n\n\ndef step(x, p, eps, rng):\n"
        "    noise = rng.standard_normal() * (type(x) is not float)\n"
        "    return x + eps * p, p - eps * (x**3 - x) - eps * p + np.sqrt(2 * eps) * noise\n",
        encoding="utf-8",
    )
    decision = step_finding(f"{path}:step", "double_well").decision
    assert isinstance(decision, Undecided)
    assert "run with floats, the new p is" in decision.tried[0]
    assert "when it was traced" in decision.tried[0]


def test_a_step_that_raises_with_floats_is_told_by_its_line(
    step_finding: Callable[..., Finding], tmp_path: Path
) -> None:
    path = tmp_path / "own.py"
    text = "def step(x, p, eps, rng):\n    if type(x) is float:\n        raise ValueError('numbers')\n    return x, p\n"
    path.write_text(text, encoding="utf-8")
    decision = step_finding(f"{path}:step", "double_well").decision
    assert isinstance(decision, Undecided)
    assert decision.tried[0] == f"{path}:3: run with floats, it fails: ValueError: numbers"


@pytest.mark.slow
def test_an_endless_step_is_ended(asking: Callable[..., Binding], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "CLAIM_SECONDS", 0.5)
    first, second = follow_step(asking("opaque.py:endless", "sgld"), ({"d": 1}, {"d": 2}))
    assert first == second == Untraced("it did not end in 0.5 s")


@pytest.mark.slow
def test_what_was_followed_is_said(read: Callable[..., Lint], tmp_path: Path) -> None:
    path = tmp_path / "own.py"
    path.write_text(
        "def step(x, p, eps, burning=False):\n    if burning:\n        p = 0 * p\n    return x, p\n", "utf-8"
    )
    found = read(f"{path}:step", "double_well")
    assert found.followed[0] == "traced: step(x, p, eps: the step size, burning at its default)"
    assert found.followed[1] == "24 calls with floats at random points agreed with the traced step"
    assert found.followed[2] == "not traced: line 3, which no call reached"
    assert found.report is not None
    assert found.followed[2] in found.report.caveats

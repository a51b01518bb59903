"""The front in a notebook: the walkthrough runs cell by cell, and results show themselves."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("IPython")

ROOT = Path(__file__).parents[2]
CELLS = re.compile(r"```python\n(?P<code>.*?)```\n(?:\n```text\n(?P<printed>.*?)```\n)?", re.S)


def shown(cells: list[str], folder: Path) -> list[dict[str, Any]]:
    """Return what every cell shows."""
    done = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("notebook_cells.py"))],
        input=json.dumps(cells), capture_output=True, text=True, cwd=ROOT, timeout=500,
        env=os.environ | {"IPYTHONDIR": str(folder), "COLUMNS": "120"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.slow
def test_the_first_use_runs_as_a_notebook_and_shows_its_results(tmp_path: Path) -> None:
    blocks = [*CELLS.finditer((ROOT / "docs/first_use.md").read_text(encoding="utf-8"))]
    seen = shown([*(block["code"] for block in blocks), "fit", "pictures", "model.report"], tmp_path)
    assert [one["error"] for one in seen if one["error"]] == []
    assert len(blocks) == 5
    for block, one in zip(blocks, seen[: len(blocks)], strict=True):
        assert one["text"] == (block["printed"] or ""), block["code"]
    fit, pictures, report = (one["result"][0]["text/html"] for one in seen[len(blocks) :])
    assert "theta[dose]" in fit
    assert "trust: yes" in fit
    assert len(fit.encode()) < 20_000
    assert pictures.count("data:image/png;base64,") == 3
    assert "proved" in report


@pytest.mark.slow
def test_progress_is_shown_below_the_cell_and_the_draws_are_those_without(tmp_path: Path) -> None:
    state = (
        "import recipe_compiler as rc\n"
        "theta = rc.vector('theta', 'd')\n"
        "U = rc.function('U', of=theta, role='potential')\n"
        "sgld = rc.Dynamics(name='sgld', state=[theta], H=U, D=[[rc.I]], Q=[[0]])\n"
        "normal = rc.Target(name='normal', state=[theta], potential=theta.T @ theta / 2)\n"
        "model = rc.compile(sgld, normal, sizes={'d': 2}, step_size=0.1, thin=10, chains=3)\n"
    )
    sample = "model.sample(draws=400, warmup=10, seed=1{}).posterior.theta.sum().item()"
    stated, watched, quiet = shown([state, sample.format(""), sample.format(", progress=False")], tmp_path)
    assert [one["error"] for one in (stated, watched, quiet)] == [None] * 3
    assert watched["result"] == quiet["result"]
    assert quiet["displays"] == []
    first, *updates = watched["displays"]
    assert first["data"]["text/html"].count("<progress") == 3
    assert updates
    assert all(one["update"] for one in updates)
    assert updates[-1]["data"]["text/html"].count("410/410") == 3

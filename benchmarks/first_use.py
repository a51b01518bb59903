"""How long the first use takes on a clean machine: `pip install`, then docs/first_use.md as a notebook.

    python benchmarks/first_use.py

A wheel of this checkout is installed into a new environment, with its extra `plot` and IPython; the cells then run in
an empty folder, beside a copy of `specs` alone, with empty caches. Said are seconds of the clock and of the processor,
pip's time with whatever index it is set up for. Exit code 1 where a cell shows something else than its page says, and
where all of it takes more than five minutes of the clock.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "first_use.md"
RUNNER = ROOT / "tests" / "front" / "notebook_cells.py"
CELLS = re.compile(r"```python\n(?P<code>.*?)```\n(?:\n```text\n(?P<printed>.*?)```\n)?", re.S)
WHERE = "import sys, recipe_compiler\nprint(recipe_compiler.__file__)"
MOST = 300.0
"""Seconds that all may take."""


@dataclass(frozen=True, slots=True)
class Spent:
    """What a part of it took."""

    clock: float
    processor: float

    def __str__(self) -> str:
        """Say both."""
        return f"{self.clock:.0f} s of the clock, {self.processor:.0f} of the processor"


def timed(command: list[str], **given: object) -> tuple[Spent, str]:
    """Return what a command takes, with all that it starts, and what it prints. Exits where it fails."""
    before, began = os.times(), time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, check=False, **given)
    after, ended = os.times(), time.perf_counter()
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)} failed:\n{done.stderr}")
    user, system = after.children_user - before.children_user, after.children_system - before.children_system
    return Spent(ended - began, user + system), done.stdout


def first_use(folder: Path) -> tuple[Spent, Spent, list[str]]:
    """Return what the installation and the cells take, and which cells show something else than their page says."""
    made, wheels = folder / "environment", folder / "wheels"
    timed([sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(wheels), str(ROOT)])
    timed([sys.executable, "-m", "venv", str(made)])
    (wheel,) = wheels.glob("*.whl")
    python = str(made / "bin" / "python")
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "NUMBA"))}
    clean |= {"IPYTHONDIR": str(folder), "XDG_CACHE_HOME": str(folder / "cache"), "COLUMNS": "120"}
    wanted = [f"{wheel}[plot]", "ipython"]
    install, _ = timed([python, "-m", "pip", "install", "--quiet", "--no-cache-dir", *wanted], env=clean)

    beside = folder / "beside"
    shutil.copytree(ROOT / "specs", beside / "specs")
    shutil.copy(RUNNER, folder)
    blocks = [*CELLS.finditer(PAGE.read_text(encoding="utf-8"))]
    cells = json.dumps([*(block["code"] for block in blocks), WHERE])
    use, told = timed([python, str(folder / RUNNER.name)], input=cells, cwd=beside, env=clean)
    *seen, where = json.loads(told)
    if not Path(where["text"].strip()).is_relative_to(made):
        raise SystemExit(f"found the package at {where['text'].strip()}, expected it in the new environment")
    other = [
        f"{block['code']}\nshows {one['error'] or one['text']}"
        for block, one in zip(blocks, seen, strict=True)
        if one["error"] or one["text"] != (block["printed"] or "")
    ]
    return install, use, other


def main() -> None:
    """Install, run the page, and say what both took."""
    with tempfile.TemporaryDirectory() as folder:
        install, use, other = first_use(Path(folder))
    print(f"pip install: {install}")
    print(f"docs/first_use.md, from its first cell to its pictures: {use}")
    print("\n".join(other) if other else "every cell shows what its page says")
    raise SystemExit(1 if other or install.clock + use.clock > MOST else 0)


if __name__ == "__main__":
    main()

"""How long a second run of a build takes until its first draw, with another step size: `recipe run`, fresh processes.

    python benchmarks/second_run.py [BUILD.yaml] [--repeats N]

The first run finds everything out and compiles; what it kept is all that the others have. Times are those of the
processor, so that other work on the machine counts little, and beside them is what importing numba takes, which nothing
that runs compiled code does without. Exit code 1 where SymPy, SciPy or what only compiling needs was imported before
the first draw.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
BUILD = ROOT / "specs" / "builds" / "sghmc_logistic.yaml"
SLOW_TO_IMPORT = (
    "sympy", "scipy.linalg", "scipy.optimize", "scipy.special", "scipy.stats", "clarabel", "z3", "numba.np.arraymath",
)  # fmt: skip

CHILD = """
import gc, json, os, sys, time
from recipe_compiler.cli import NEW_OBJECTS, main
gc.set_threshold(NEW_OBJECTS)  # as `main` does, before it imports anything
from recipe_compiler.run import sample

def drawn(module, inputs, chains, *others, **named):
    from recipe_compiler.run.chain import advance
    advance(module, inputs, chains[0], 1)
    print(json.dumps({"seconds": time.process_time(), "modules": sorted(sys.modules)}), file=sys.stderr, flush=True)
    os._exit(0)

if sys.argv[1] == "until the first draw":
    sample.run_chains = drawn
sys.argv = ["recipe", *sys.argv[2:]]
main()
"""


@dataclass(frozen=True, slots=True)
class FirstDraw:
    """What a process had done when it had its first draw."""

    seconds: float
    modules: frozenset[str]


def second_runs(build: Path, steps: list[float]) -> list[FirstDraw]:
    """Return when runs of a build, after one that found everything out, have their first draw."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "XDG_CACHE_HOME": f"{folder}/cache", "NUMBA_CACHE_DIR": f"{folder}/compiled"}
        short = ("--warmup", "1", "--draws", "4", "--chains", "2", "-o", f"{folder}/runs")

        def run(until: str, *more: str) -> subprocess.CompletedProcess[str]:
            command = [sys.executable, "-c", CHILD, until, "run", str(build), *short, *more]
            return subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, check=False)

        first = run("the end")
        if first.returncode not in (0, 4):
            raise SystemExit(first.stderr)
        told = [json.loads(run("until the first draw", "--step-size", str(eps)).stderr) for eps in steps]
    return [FirstDraw(one["seconds"], frozenset(one["modules"])) for one in told]


def _said(seconds: list[float]) -> str:
    return f"{statistics.median(seconds):.2f} s ({min(seconds):.2f} at least)"


def main() -> None:
    """Time second runs and say what they took."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", nargs="?", type=Path, default=BUILD)
    parser.add_argument("--repeats", type=int, default=5)
    given = parser.parse_args()
    found = second_runs(given.build.resolve(), [1e-4 * (k + 1) for k in range(given.repeats)])
    probe = "import time, numba; print(time.process_time())"
    numba = [
        float(subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True).stdout)
        for _ in found
    ]
    print(f"{given.build.stem}: first draw of a second run after {_said([run.seconds for run in found])}")
    print(f"of these, importing numba takes {_said(numba)}")
    slow = sorted({name for one in found for name in SLOW_TO_IMPORT if name in one.modules})
    none = "nothing that decides, searches or compiles was imported before it"
    print(f"imported before it: {', '.join(slow)}" if slow else none)
    raise SystemExit(1 if slow else 0)


if __name__ == "__main__":
    main()

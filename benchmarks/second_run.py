"""How long `recipe run` of a build takes once it is known: verdicts, compiled code and the mode are in the cache.

    python benchmarks/second_run.py [BUILD.yaml] [--repeats N]

The first run fills a cache of its own; each further one is a process that makes a few draws. Times are those of the
processor, so that other work on the machine counts little, and beside them those of the clock. Exit code 1 where the
median of the processor is above 1.5 seconds.
"""

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

BUILD = Path(__file__).parent.parent / "specs" / "builds" / "sghmc_logistic.yaml"
MOST = 1.5
"""Seconds of the processor."""
FEW = ("--draws", "4", "--warmup", "1", "--thin", "1", "--chains", "2", "--cores", "1", "--overwrite")


def run(build: Path, folder: str) -> tuple[float, float]:
    """Return the seconds of the processor, and of the clock, that one run takes."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": folder, "XDG_CACHE_HOME": folder}
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    command = [sys.executable, "-m", "recipe_compiler", "run", str(build), *FEW, "-o", f"{folder}/out"]
    done = subprocess.run(command, env=environment, check=False, capture_output=True, text=True)
    if done.returncode not in (0, 4):  # 4: so few draws say little
        raise RuntimeError(done.stderr)
    seconds, after = time.perf_counter() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, seconds


def main() -> int:
    """Print the figures of one build."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("build", nargs="?", type=Path, default=BUILD)
    parser.add_argument("--repeats", type=int, default=5)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        first, *others = (run(asked.build, folder) for _ in range(1 + asked.repeats))
    used, seconds = (statistics.median(column) for column in zip(*others, strict=True))
    print(f"{asked.build.stem}: first run {first[0]:.2f} s of the processor, {first[1]:.2f} s")
    print(f"each further one {used:.2f} s of the processor, {seconds:.2f} s (median of {asked.repeats})")
    return int(used > MOST)


if __name__ == "__main__":
    sys.exit(main())

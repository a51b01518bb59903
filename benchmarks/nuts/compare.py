"""Planned runs beside NUTS: seconds from nothing to 400 effective draws, effective draws a second, lines written.

    python benchmarks/setup.py                      # installs NumPyro into benchmarks/.rivals/nuts, once
    python benchmarks/nuts/compare.py [NAME ...]    # all published posteriors, then the large regression (`large`)

Each is a process of its own with empty caches: import, verdicts, compilation, plan or warmup, draws. The effective
draws are the least of all coordinates and their squares; "to 400" is the time until draws begin and the share of the
time of drawing that 400 take. Seconds of the clock are those of the machine as it was; those of the processor, of all
that was done, tell more where other programs ran beside. Errors are those of means (in posterior sds) and of sds (of
themselves), against the references of tests/posteriors and of benchmarks/models, and for `large` against the Gaussian
at the mode.
"""

import argparse
import ast
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from arviz_stats.base.array import array_stats
from large import gaussian_sds, large_data

ROOT = Path(__file__).parents[2]
RIVAL = ROOT / "benchmarks" / ".rivals" / "nuts" / "bin" / "python"
POSTERIORS, MODELS = ROOT / "tests" / "posteriors", ROOT / "benchmarks" / "models"
sys.path.insert(0, str(MODELS))

from make_data import expand  # noqa: E402 - stands beside the models

NAMES = ("diamonds", "earnings", "hmm", "kidiq", "mesquite", "nes", "rats", "sblrc", "large")
TABLES = {"diamonds": "data/diamonds_columns.npy"}
COUNTED_FROM = {"diamonds": 0}
"""The first entry of a block in the names of references, where it is not 1."""
HEADINGS = (
    "posterior", "by", "s to 400", "before drawing", "processor s", "ess/s", "R-hat", "mean off, sds", "sd off",
    "lines",
)  # fmt: skip
ROWS, WANTED, LIMIT = 1_000_000, 400.0, 3600


@dataclass(frozen=True, slots=True)
class Outcome:
    """One run."""

    by: str
    until_sampling: float
    sampling: float
    ess: float
    processor: float
    r_hat: float
    off_mean: float
    off_sd: float
    lines: int

    @property
    def to_wanted(self) -> float:
        """Seconds from nothing to `WANTED` effective draws."""
        return self.until_sampling + self.sampling * WANTED / self.ess

    @property
    def row(self) -> str:
        """The outcome as a line of a table."""
        return (
            f"{self.by} | {self.to_wanted:.1f} | {self.until_sampling:.1f} | {self.processor:.1f} | "
            f"{self.ess / self.sampling:.0f} | {self.r_hat:.3f} | {self.off_mean:.2f} | {100 * self.off_sd:.1f} % | "
            f"{self.lines}"
        )


def outcome(name: str, by: str) -> Outcome:
    """Run one posterior by `own` or `rival`."""
    source = str(ROWS)
    if name != "large":
        source = str(folder_of(name) / (f"builds/{name}.yaml" if by == "own" else TABLES.get(name, f"data/{name}.csv")))
    python = sys.executable if by == "own" else str(RIVAL)
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "draws.npz"
        environment = {**os.environ, "XDG_CACHE_HOME": folder, "NUMBA_CACHE_DIR": folder}
        done = subprocess.run(
            [python, str(Path(__file__).with_name(f"{by}.py")), name, source, str(out)],
            cwd=ROOT, env=environment, capture_output=True, text=True, timeout=LIMIT, check=False,
        )  # fmt: skip
        if done.returncode != 0:
            raise SystemExit(f"{name} by {by} failed:\n{done.stderr}")
        said = json.loads(done.stdout.splitlines()[-1])
        with np.load(out) as kept:
            draws = {key: kept[key] for key in kept.files}
    columns = dict(coordinates(draws, COUNTED_FROM.get(name, 1)))
    squares = [(column - column.mean()) ** 2 for column in columns.values()]
    ess = min(float(array_stats.ess(one)) for one in (*columns.values(), *squares))
    r_hat = max(float(array_stats.rhat(one)) for one in columns.values())
    lines = said.get("lines") or lines_of(name)
    label = "planned run" if by == "own" else "NUTS"
    return Outcome(
        label, said["until_sampling"], said["sampling"], ess, said["processor"], r_hat, *errors(name, columns), lines
    )


def folder_of(name: str) -> Path:
    """Return the folder of a posterior's documents, data and references; its data made where they are not kept."""
    if name != "diamonds":
        return POSTERIORS
    expand(MODELS / "data")
    return MODELS


def coordinates(draws: dict[str, np.ndarray], first: int) -> Iterator[tuple[str, np.ndarray]]:
    """Yield `beta[2]`, counted from `first`, or a scalar's name, with its draws (chain, draw)."""
    for key, values in draws.items():
        flat = values.reshape(*values.shape[:2], -1)
        for k in range(flat.shape[2]):
            yield (f"{key}[{k + first}]" if values.ndim > 2 else key), flat[:, :, k]


def errors(name: str, columns: dict[str, np.ndarray]) -> tuple[float, float]:
    """Return the largest error of a mean, in sds, and of an sd, of itself; of `large` the latter alone."""
    if name == "large":
        data = large_data(ROWS)
        sds = gaussian_sds(data["x"], data["y"])
        return float("nan"), max(abs(c.std() / sd - 1.0) for c, sd in zip(columns.values(), sds, strict=True))
    references = json.loads((folder_of(name) / "references.json").read_text(encoding="utf-8"))[name]
    references = references.get("moments", references)
    means = [abs(columns[key].mean() - one["mean"]) / one["sd"] for key, one in references.items()]
    return max(means), max(abs(columns[key].std() / one["sd"] - 1.0) for key, one in references.items())


def lines_of(name: str) -> int:
    """Return the lines that a user wrote: of the build and of its target, without comments and empty ones."""
    if name == "large":  # what is compiled, with its settings, and the call that samples
        text = Path(__file__).with_name("own.py").read_text(encoding="utf-8")
        written = next(node for node in ast.parse(text).body if isinstance(node, ast.AnnAssign))
        return (written.end_lineno or written.lineno) - written.lineno + 3
    build = folder_of(name) / "builds" / f"{name}.yaml"
    target = next(line for line in build.read_text(encoding="utf-8").splitlines() if line.startswith("target:"))
    files = (build, build.parent / target.partition(":")[2].strip())
    lines = [line.strip() for file in files for line in file.read_text(encoding="utf-8").splitlines()]
    return sum(1 for line in lines if line and not line.startswith("#"))


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"some of {', '.join(NAMES)}; by default all")
    names = parser.parse_args().names or NAMES
    if unknown := [name for name in names if name not in NAMES]:
        parser.error(f"found {', '.join(unknown)}, expected some of {', '.join(NAMES)}")
    if not RIVAL.is_file():
        parser.error(f"found no {RIVAL.relative_to(ROOT)}, expected it: python benchmarks/setup.py installs it")
    print(f"| {' | '.join(HEADINGS)} |\n{'|---' * len(HEADINGS)}|")
    for name in names:
        for by in ("own", "rival"):
            print(f"| `{name}` | {outcome(name, by).row} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())

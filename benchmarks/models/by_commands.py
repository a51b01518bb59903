"""Published posteriors and textbook models by `recipe run` with nothing set: proved, trusted, right, how long it took.

    python benchmarks/models/by_commands.py [NAME ...] [--seconds 150]

Each model of `panel.py` is run by `hmc` and by `sghmc`, by the command as a user types it, one after another, and ended
after so many processor seconds. A run is right where no mean is more than 4 Monte Carlo errors and 0.1 sds from the
reference, and no sd more than 4 errors and 7 %.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import xarray
from panel import FURTHER, PUBLISHED, TEXTBOOK, Error, build_of, departures, reference_of

ERRORS, OF_MEAN, OF_SD = 4.0, 0.1, 0.07
"""How many Monte Carlo errors, and what part of an sd, a moment may be off."""
HMC = """dynamics: hmc
scheme:
  cycle: [refresh: r, metropolis: {split: [B/2, A, B/2], steps: 'uniform(1, 20)', flip: {r: -r}}]
"""
"""What `recipe run hmc TARGET` makes."""
SGHMC = "dynamics: sghmc\nscheme: {name: baoab}\n"


def stated(name: str, dynamics: str, folder: Path) -> Path:
    """Return the build of a model by some dynamics, everything else as its own build has it."""
    own = build_of(name)
    lines = own.read_text(encoding="utf-8").replace("../", f"{own.parent}/../").splitlines(keepends=True)
    kept = [line for line in lines if not line.startswith(("name:", "dynamics:", "scheme:", "  cycle:"))]
    path = folder / f"{name}_{dynamics}.yaml"
    own_lines = HMC if dynamics == "hmc" else SGHMC
    path.write_text(f"name: {path.stem}\n{own_lines}{''.join(kept)}", encoding="utf-8")
    return path


def right(means: Error, sds: Error) -> str:
    """Return whether moments are those of the reference, within Monte Carlo errors."""
    pairs = ((means, OF_MEAN), (sds, OF_SD))
    off = any(abs(one.value) > max(part, ERRORS * one.known_within) for one, part in pairs)
    return f"{'no' if off else 'yes'}: mean {means}, sd {sds}"


def row(name: str, dynamics: str, limit: int) -> list[str]:
    """Return what one model comes to by one command."""
    with tempfile.TemporaryDirectory() as held:
        folder = Path(held)
        command = [sys.executable, "-m", "recipe_compiler", "run", str(stated(name, dynamics, folder)), "--no-cache"]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        ended = subprocess.run(
            [*command, "-o", str(folder), "--json"], capture_output=True, text=True, check=False, cwd=folder,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (limit, limit)),
        )  # fmt: skip
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        cells = [name, dynamics]
        if ended.returncode < 0:
            return [*cells, "", f"ended after {limit} processor seconds", "", f"{spent:.0f}", ""]
        told = json.loads(ended.stdout)
        if "summary" not in told:
            why = told.get("doubts") or [fault["problem"] for fault in told["faults"]]
            return [*cells, str(told["verdict"]), f"not drawn: {' '.join(why)[:300]}", "", f"{spent:.0f}", ""]
        posterior = xarray.open_datatree(told["file"], engine="h5netcdf")["posterior"]
        means, sds, least = departures(posterior, reference_of(name))
        trust = told["trust"].removeprefix("trust: ").split(",")[0]
        return [*cells, told["verdict"], trust, right(means, sds), f"{spent:.0f}", f"{least / told['seconds']:.0f}"]


def main() -> None:
    """Print a row for each model and each command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="of `panel.py`; all where none is named")
    parser.add_argument("--seconds", type=int, default=150, help="processor seconds of a command (150)")
    given = parser.parse_args()
    print(" | ".join(("model", "by", "verdict", "trusted", "right", "processor s", "ess/s")))
    for name in given.names or (*PUBLISHED, *TEXTBOOK, *FURTHER):
        for dynamics in ("hmc", "sghmc"):
            print(" | ".join(row(name, dynamics, given.seconds)), flush=True)


if __name__ == "__main__":
    main()

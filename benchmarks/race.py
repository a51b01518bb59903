"""Races: emitted modules beside the C limit, hand-written samplers and other libraries.

    python benchmarks/race.py [WORKLOAD ...] [--json FILE] [--rounds N] [--no-docs]

Every workload runs in a process of its own, on one core. There every contestant is compiled and warmed up, then each
round times each of them once, in turn, so that a slow moment of the machine falls on all. Times are those of the
processor: of the one thread that works, or of the whole process for libraries with threads of their own. Afterwards
all make chains whose first and second moments must agree, and those too slow for that take steps without noise.

Results go into docs/performance.json and FILE, of which only the rows of the workloads raced are replaced, and from
there into the table and the plot of docs/performance.md. Rivals that are not installed (`python benchmarks/setup.py`
installs them) and modules that cannot be compiled are left out, with the reason. Exit code 1 where contestants do not
do the same work or a race failed.
"""

import argparse
import importlib
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
PEERS = HERE / ".rivals" / "peers" / "bin" / "python"

WORKLOADS = {
    "w1a": "w1", "baoab_w1a": "w1", "hmc_w1a": "hmc", "w1b": "w1", "w1c": "w1", "w2_d2": "w2", "w2_d14": "w2",
    "hmc_logistic": "hmc", "w3_minibatch": "w3", "w3_full": "w3", "w4": "w4", "w5": "w5",
    "scir": "scir", "first_call": "first_call",
}  # fmt: skip
"""Workloads and the module of `workloads` that each stands in."""

ONE_THREAD = {
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "NUMBA_NUM_THREADS": "1",
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false",
    "JAX_PLATFORMS": "cpu",
}


def run_one(name: str, rounds: int) -> dict[str, object]:
    """Race one workload in this process; return its row."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    import machine
    import racing
    from workloads.workload import KEYS

    workload = getattr(importlib.import_module(f"workloads.{WORKLOADS[name]}"), name)()
    results = racing.race(workload.contestants, rounds)
    row: dict[str, object] = {"unit": workload.unit, "about": workload.about, **dict.fromkeys(KEYS)}
    row |= {result.key: workload.per_second * result.median for result in results}
    row |= workload.extra() if workload.extra else {}
    row |= {f"{key}_reason": reason for key, reason in workload.absent.items()}
    row |= {f"{result.key}_note": result.note for result in results if result.note}
    ours = next((result for result in results if result.key == "emitted"), None)
    if ours is not None:
        others = [result for result in results if result is not ours]
        row["times_emitted"] = {other.key: racing.ratio(other, ours) for other in others}
    row["disagreements"] = (
        racing.disagreements(workload.contestants, results, workload.moment_units)
        if workload.moment_units
        else racing.deviations(workload.contestants)
    )
    return {"row": row, "machine": machine.describe()}


def interpreter() -> str:
    """Return the interpreter to race with: that of the rivals, where they are installed."""
    return str(PEERS) if PEERS.is_file() else sys.executable


def run_all(names: list[str], rounds: int, files: list[Path]) -> bool:
    """Race workloads one after the other, each in a process of its own; return whether all went well."""
    import report

    well = True
    for name in names:
        with tempfile.TemporaryDirectory() as folder:
            written = Path(folder) / "row.json"
            command = [interpreter(), "-W", "ignore", __file__, name, "--rounds", str(rounds), "--here", str(written)]
            environment = {**os.environ, **ONE_THREAD, "PYTHONPATH": str(HERE.parent)}
            done = subprocess.run(command, env=environment, check=False)
            if done.returncode != 0 or not written.is_file():
                print(f"{name}: the race failed", file=sys.stderr)
                well = False
                continue
            found = json.loads(written.read_text(encoding="utf-8"))
        print(report.row_text(name, found["row"]), flush=True)
        well = well and not found["row"]["disagreements"]
        for file in files:
            report.merge(file, name, found["row"], found["machine"])
    return well


def main() -> int:
    """Race the workloads named on the command line, else all of them."""
    parser = argparse.ArgumentParser(description="Race emitted samplers against the C limit and other libraries.")
    parser.add_argument("workload", nargs="*", choices=[*WORKLOADS, []], help="default: all")
    parser.add_argument("--json", type=Path, help="a file to put the results into, besides docs/performance.json")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--no-docs", action="store_true", help="leave docs/ as it is")
    parser.add_argument("--here", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.here:
        options.here.write_text(json.dumps(run_one(options.workload[0], options.rounds)), encoding="utf-8")
        return 0
    import report

    files = [*([options.json] if options.json else []), *([] if options.no_docs else [report.RECORD])]
    well = run_all(options.workload or list(WORKLOADS), options.rounds, files)
    if not options.no_docs:
        subprocess.run([interpreter(), str(HERE / "report.py")], check=True)  # there matplotlib is installed
    return 0 if well else 1


if __name__ == "__main__":
    sys.exit(main())

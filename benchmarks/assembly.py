"""Guard: emitted hot loops are vector code, and not slower than the same loops compiled without vector code.

    python benchmarks/assembly.py [WORKLOAD ...] [--repeats N]

Of each emitted module the machine code is searched for packed arithmetic on the widest registers that numba uses here.
That alone says little, as a vector loop may be there and never taken; so the module is also timed against itself,
compiled with the vectorisers of LLVM turned off. Both are done in fresh processes with an empty cache. Exit code 1
where packed instructions are missing, or the module is slower than its scalar form by more than a tenth.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

ALLOWED = 1.1
"""Time over that of the scalar form."""

SCALAR = {"NUMBA_LOOP_VECTORIZE": "0", "NUMBA_SLP_VECTORIZE": "0"}

PACKED = {
    "multiply or add": r"\bv?(?:fn?m(?:add|sub)\d*|mul|add|sub)pd\s[^\n]*%[xyz]mm",
    "divide": r"\bv?divpd\s[^\n]*%[xyz]mm",
    "square root": r"\bv?sqrtpd\s[^\n]*%[xyz]mm",
}
"""Packed arithmetic on doubles, by the names it has on x86."""

WANTED = {
    "w2_d2": ("multiply or add", "divide"),
    "w2_d14": ("multiply or add", "divide"),
    "w3_minibatch": ("multiply or add", "divide"),
    "w3_full": ("multiply or add", "divide"),
    "w4": ("multiply or add", "divide", "square root"),
    "hmc_w4": ("multiply or add", "divide", "square root"),
    "w5": ("multiply or add", "divide", "square root"),
}
"""What stands in the hot loops: the quotient of a sigmoid or of a logarithm, the root of Box and Muller. In `hmc_w4`
64 chains of `hmc_w1a` side by side: a move that is refused stops none of them."""


@dataclass(frozen=True, slots=True)
class Look:
    """What a module's machine code holds, and how long its work takes."""

    counts: dict[str, int]
    seconds: float


def subject(name: str) -> tuple[Callable[[], object], object]:
    """Return what a workload calls, and the jitted function that holds its loops."""
    import emitted

    if name.startswith(("w2", "w3")):
        rows, d = {"w2_d2": (2000, 2), "w2_d14": (690, 14)}.get(name, (20_000, 100))
        build = {"w3_minibatch": "sghmc_w3", "w3_full": "sghmc_w3_full"}.get(name, f"sghmc_{name}")
        chains = emitted.Chains(emitted.load_build(build), 1, 20, emitted.logistic_data(rows, d, scale=0.1))
    elif name in ("w4", "hmc_w4"):
        build, steps = ("sghmc_w1c", 20_000) if name == "w4" else ("hmc_w1a", 2_000)
        chains = emitted.Chains(emitted.load_build(build), steps, 1, chains=64, lanes=True)
    else:
        module = emitted.compiled(emitted.load_build("sgld_w5"))
        chains = emitted.Chains(emitted.load_build("sgld_w5", d=10_240), 20, 1, module=module)
    return chains.work, chains.module.run


def look(name: str, repeats: int) -> Look:
    """Look at a workload's emitted module in this process."""
    work, function = subject(name)
    work()
    module = function.py_func.__globals__  # helpers that are not inlined have code of their own
    jitted = [value for value in module.values() if hasattr(value, "inspect_asm") and value.signatures]
    code = "\n".join(text for one in jitted for text in one.inspect_asm().values())
    best = float("inf")
    for _ in range(repeats):
        begin = time.thread_time()
        work()
        best = min(best, time.thread_time() - begin)
    return Look({what: len(re.findall(pattern, code)) for what, pattern in PACKED.items()}, best)


def looked(name: str, repeats: int, environment: dict[str, str]) -> Look:
    """Look at it in a fresh process with an empty cache."""
    with tempfile.TemporaryDirectory() as cache:
        command = [sys.executable, "-W", "ignore", __file__, name, "--repeats", str(repeats), "--look"]
        root = str(Path(__file__).parent.parent)
        given = {**os.environ, "NUMBA_CACHE_DIR": cache, "PYTHONPATH": root, "NUMBA_NUM_THREADS": "1", **environment}
        done = subprocess.run(command, env=given, check=True, stdout=subprocess.PIPE, text=True)
    told = json.loads(done.stdout)
    return Look(told["counts"], told["seconds"])


def faults(name: str, vector: Look, scalar: Look) -> list[str]:
    """Return what is wrong with a workload's code."""
    missing = [what for what in WANTED[name] if not vector.counts[what]]
    found = [f"{name}: no packed {what} in its code" for what in missing]
    if vector.seconds > ALLOWED * scalar.seconds:
        found.append(f"{name}: {vector.seconds / scalar.seconds:.2f} times as slow as its scalar form")
    return found


def main() -> int:
    """Look at the workloads named, else at all."""
    parser = argparse.ArgumentParser(description="Check that emitted hot loops are vector code, and pay off.")
    parser.add_argument("workload", nargs="*", choices=[*WANTED, []], help="default: all")
    parser.add_argument("--repeats", type=int, default=30)
    parser.add_argument("--look", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.look:
        seen = look(options.workload[0], options.repeats)
        print(json.dumps({"counts": seen.counts, "seconds": seen.seconds}))
        return 0
    wrong: list[str] = []
    for name in options.workload or WANTED:
        vector, scalar = (looked(name, options.repeats, extra) for extra in ({}, SCALAR))
        counts = ", ".join(f"{count} {what}" for what, count in vector.counts.items())
        print(f"{name}: packed: {counts}; {scalar.seconds / vector.seconds:.2f} times as fast as scalar", flush=True)
        wrong += faults(name, vector, scalar)
    print("\n".join(wrong) or "vector code in every hot loop")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

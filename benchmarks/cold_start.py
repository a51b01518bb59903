"""How long the first call of an emitted module takes, in fresh processes, beyond importing numba.

    python benchmarks/cold_start.py [BUILD.yaml] [--repeats N]

Cold is with an empty compilation cache, cached with the one the cold process left. Each process imports the module
and draws once; it also tells whether SymPy or the compiler was imported. Exit code 1 where they were. Times are those
of the processor, so that other work on the machine counts little. At its first compilation numba imports SciPy where
that is installed, which an emitted module does not need: both cases are shown.
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

import numpy as np

from recipe_compiler.pipeline import compile_build
from recipe_compiler.run.chain import run_arguments, start_chain
from recipe_compiler.run.data import load_data
from recipe_compiler.run.load_module import load_text
from recipe_compiler.run.sample import prepare_inputs
from recipe_compiler.spec.load import load
from recipe_compiler.spec.model import Build

BUILD = Path(__file__).parent.parent / "specs" / "builds" / "sghmc_logistic.yaml"

CHILD = """
import sys, time
begin = time.process_time()
import numba
numba_imported = time.process_time()
import json
if sys.argv[2] == "without":
    sys.modules["scipy"] = None
import numpy as np
with np.load(sys.argv[1]) as stored:
    arguments = [value.item() if value.ndim == 0 else value for value in stored.values()]
ready = time.process_time()
import emitted
emitted.run(*arguments)
done = time.process_time()
foreign = [name for name in ("sympy", "recipe_compiler") if name in sys.modules]
print(json.dumps({"numba": numba_imported - begin, "first": done - ready, "foreign": foreign}))
"""


@dataclass(frozen=True, slots=True)
class Start:
    """Seconds of one fresh process: importing numba, and the module's import and first call after that."""

    numba: float
    first: float
    foreign: tuple[str, ...]


def starts(folder: Path, scipy: str) -> tuple[Start, Start]:
    """Return a cold and a cached start of the module `emitted.py` in `folder`, `with` or `without` SciPy."""
    with tempfile.TemporaryDirectory() as cache:
        return _start(folder, cache, scipy), _start(folder, cache, scipy)


def _start(folder: Path, cache: str, scipy: str) -> Start:
    environment = {**os.environ, "NUMBA_CACHE_DIR": cache, "PYTHONPATH": str(folder)}
    command = [sys.executable, "-c", CHILD, str(folder / "arguments.npz"), scipy]
    done = subprocess.run(command, env=environment, cwd=folder, check=True, capture_output=True, text=True)
    told = json.loads(done.stdout)
    return Start(told["numba"], told["first"], tuple(told["foreign"]))


def write(build: Build, folder: Path) -> None:
    """Write the module of a build and the arguments of its first call."""
    text = compile_build(build).text
    (folder / "emitted.py").write_text(text, encoding="utf-8")
    module = load_text(build.name, text)
    data = load_data(build.data, build.target)
    inputs = prepare_inputs(module, build, build.run, data, draws=1)
    noise, batch = module.seed_streams(0, 1)
    sizes = [size if isinstance(size, int) else dict(build.sizes)[size] for _, size in module.blocks]
    state = {name: np.zeros(max(size, 1)) for (name, _), size in zip(module.blocks, sizes, strict=True)}
    chain = start_chain(module, inputs, state, noise[0], batch[0])
    np.savez(folder / "arguments.npz", *run_arguments(module, inputs, chain, 1))


def main() -> int:
    """Print the figures of one build."""
    parser = argparse.ArgumentParser(description="Time the first call of an emitted module.")
    parser.add_argument("build", type=Path, nargs="?", default=BUILD)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    build = load(options.build)
    if not isinstance(build, Build):
        print(f"{options.build}: expected a build", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as folder:
        write(build, Path(folder))
        pairs = {scipy: [starts(Path(folder), scipy) for _ in range(options.repeats)] for scipy in ("without", "with")}
    every = [start for some in pairs.values() for pair in some for start in pair]
    numba = statistics.median(start.numba for start in every)
    print(f"{build.name}: seconds beyond importing numba ({numba:.2f}), median (min .. max) of {options.repeats}")
    for scipy, some in pairs.items():
        for k, (name, limit) in enumerate((("cold", 1.0), ("cached", 0.3))):
            first = [pair[k].first for pair in some]
            shown = f"{statistics.median(first):.2f} ({min(first):.2f} .. {max(first):.2f})"
            print(f"  {name:6} {scipy:7} scipy  {shown}, at most {limit} wanted")
    foreign = sorted({name for start in every for name in start.foreign})
    print(f"  imports neither sympy nor recipe_compiler: {'yes' if not foreign else 'NO: ' + ', '.join(foreign)}")
    return 1 if foreign else 0


if __name__ == "__main__":
    sys.exit(main())

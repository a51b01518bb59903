"""The child process of a trace: started, limited, and ended with all that it started itself."""

import compileall
import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from importlib.util import cache_from_source
from pathlib import Path
from typing import Any

from recipe_compiler.algebra.scalars.symbols import extent, length
from recipe_compiler.formula.shapes import Shape
from recipe_compiler.lint.answer import FileOutcome, UnreadableError, Untraced, read_answer
from recipe_compiler.lint.bind_arguments import STATE, Binding, BoundName, shape_of
from recipe_compiler.verify.core import processes
from recipe_compiler.verify.core.processes import Watch
from recipe_compiler.verify.core.sizes import Sizes

SECONDS = 5.0
"""Processor time that running the file may take, and each call of the step."""
TOTAL = 20.0
"""Processor time that all of it may take."""
MEMORY = 2**30
"""Address space, in bytes, that the child may take beyond what it starts with."""
LARGEST_ANSWER = 2**24
LARGEST_FILE = 2**24
"""Bytes that a child may write into one file."""

_OVER = -getattr(signal, "SIGXCPU", 999)
"""How a child ends whose processor time is over."""

START = (
    "import sys; sys.path.append(sys.argv[1]); "
    "from recipe_compiler.verify.core.processes import end_with; end_with(int(sys.argv[2])); "
    "from recipe_compiler.lint.child import main; main()"
)
"""What the child runs: this compiler, wherever it was imported from, and nothing of the current folder."""

START_PLAINLY = (
    "import sys; sys.path.append(sys.argv[1]); "
    "from recipe_compiler.verify.core.processes import bound, end_with; end_with(int(sys.argv[2])); "
    "sys.path[:] = [sys.argv[3], *sys.path[:-1]]; "
    "of_users, sys.pycache_prefix = sys.pycache_prefix, None; "
    "from run.child import main; sys.pycache_prefix = of_users; main(bound)"
)
"""What the process runs that has plain numbers: a copy of `plain_run` under a name that says nothing."""

LIMITS = f"at most {TOTAL:g} s and {MEMORY // 2**30} GiB"


def run_step(ask: Binding, sizes: tuple[Sizes, ...], seconds: float = SECONDS, total: float = TOTAL) -> FileOutcome:
    """Run the file of a step in a child process, and return what the step computed at each choice of sizes."""
    request = json.dumps(_request(ask, sizes, seconds, total)).encode("ascii")
    said = _child(_command(START), request, total)
    if isinstance(said, Untraced):
        return FileOutcome(said, ())
    try:
        return read_answer(json.loads(said), len(sizes))
    except (UnreadableError, ValueError, RecursionError):
        return FileOutcome(Untraced("its process ended without an answer (out of memory, or it left Python)"), ())


def run_plainly(request: Mapping[str, Any], total: float = TOTAL) -> bytes | Untraced:
    """Run the file of a step with plain numbers in a process of its own, under the limits of the other."""
    limits = {"total": total, "memory": MEMORY, "largest": LARGEST_FILE}
    with tempfile.TemporaryDirectory() as folder:
        _copy(Path(__file__).parent / "plain_run", Path(folder, "run"))
        return _child([*_command(START_PLAINLY), folder], json.dumps({**request, **limits}).encode("ascii"), total)


def _copy(package: Path, to: Path) -> None:
    """Copy a package, compiled where it is or can be: a quarter of a short step's time went into compiling the copy."""
    if not sys.dont_write_bytecode:
        compileall.compile_dir(package, quiet=2)  # what is not compiled yet
    compiled = to / "__pycache__"
    compiled.mkdir(parents=True)
    for file in package.glob("*.py"):
        shutil.copy2(file, to)
        with contextlib.suppress(OSError):
            shutil.copy2(cache_from_source(str(file)), compiled)


def _child(command: list[str], request: bytes, total: float) -> bytes | Untraced:
    """Return what a child answers, or why it does not end. Leaves no process of its session behind."""
    threads = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    environment = os.environ | threads
    with tempfile.TemporaryFile() as asked, tempfile.TemporaryFile() as answered:
        asked.write(request)
        asked.seek(0)
        child = subprocess.Popen(
            command,
            stdin=asked,
            stdout=answered,
            stderr=subprocess.DEVNULL,
            env=environment,
            start_new_session=True,
        )
        try:
            awake = _ends(child)
        finally:
            _end(child)
        if not awake:
            return Untraced(f"it did not end: its process stood still for {processes.STILL:g} s")
        if child.returncode == _OVER:
            return Untraced(f"it did not end in {total:g} s")
        answered.seek(0)
        return answered.read(LARGEST_ANSWER)


def _command(start: str) -> list[str]:
    return [sys.executable, "-P", "-c", start, str(Path(__file__).parents[2]), str(os.getpid())]


def _ends(child: "subprocess.Popen[bytes]") -> bool:
    watch = Watch(child.pid)
    while True:
        try:
            child.wait(processes.STILL)
        except subprocess.TimeoutExpired:
            if watch.sleeps():
                return False
        else:
            return True


def _end(child: "subprocess.Popen[bytes]") -> None:
    if hasattr(os, "killpg"):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(child.pid, signal.SIGKILL)
    child.kill()
    child.wait()


def _request(ask: Binding, sizes: tuple[Sizes, ...], seconds: float, total: float) -> dict[str, Any]:
    return {
        "file": ask.source.file,
        "text": ask.source.text,
        "step": ask.source.step,
        "seconds": seconds,
        "total": total,
        "memory": MEMORY,
        "largest": LARGEST_FILE,
        "positional": ask.positional,
        "keywords": ask.keywords,
        "globals": ask.globals,
        "cases": [_case(ask, at) for at in sizes],
    }


def _case(ask: Binding, sizes: Sizes) -> dict[str, Any]:
    outputs = ask.outputs
    blocks = [block_of(given) for given in outputs]
    return {
        "stand_ins": [stand_in(given, ask, sizes) for given in ask.given],
        "vanishing": [given.name for given in ask.given if given.vanishes],
        "outputs": {
            "names": [given.name for given in outputs],
            "called": blocks,
            "shapes": [_shape(given, ask, sizes) for given in outputs],
        },
    }


def block_of(given: BoundName) -> str:
    """Return the block that an argument holds, or that it holds all."""
    return given.block.name if given.block is not None else STATE


def stand_in(given: BoundName, ask: Binding, sizes: Sizes) -> dict[str, Any]:
    """Return what a process is told of an argument."""
    kinds = {"generator": "generator", "size": "number", "normals": "normals", "eps": "step size"}
    kind = kinds.get(given.kind, "array")
    value = length(given.size, sizes) if given.size else 0
    of = [_numbers(block.shape, sizes) for block in given.of] if given.of else None
    return {"name": given.name, "is": kind, "shape": _shape(given, ask, sizes), "of": of, "value": value}


def _shape(given: BoundName, ask: Binding, sizes: Sizes) -> list[int]:
    if given.kind == STATE:
        return [sum(extent(b.shape, sizes)[0] * extent(b.shape, sizes)[1] for b in ask.dynamics.declarations.blocks)]
    return _numbers(shape_of(given), sizes)


def _numbers(shape: Shape, sizes: Sizes) -> list[int]:
    return [length(size, sizes) for size in shape.sizes]

"""The C limit: limits.c, compiled by the newest clang of the system, else by gcc, and called through ctypes."""

import ctypes
import re
import shutil
import subprocess
from functools import cache
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
FLAGS = ("-O3", "-march=native", "-mprefer-vector-width=512", "-mno-gather", "-ffast-math", "-fPIC")
"""Rows of a minibatch are loaded number by number: the gather instructions of processors at hand are slower."""
SCALAR = ("-fno-slp-vectorize", "-fno-associative-math")
"""Added for chains of few coordinates, whose steps wait for one another: theta and r packed into one vector register
make them wait longer, and so do sums in another order than the one written."""


OF_GCC = {"-mno-gather": "-mtune-ctrl=^use_gather", "-fno-slp-vectorize": "-fno-tree-slp-vectorize"}
"""What gcc calls flags of clang's."""


class CompilerMissingError(Exception):
    """There is neither clang nor gcc to compile the limit with."""


@cache
def compiler() -> str:
    """Return the newest clang, else gcc. Raises CompilerMissingError where there is none."""
    names = (*(f"clang-{k}" for k in range(40, 13, -1)), "clang", "gcc")
    if not (found := next((path for name in names if (path := shutil.which(name))), None)):
        raise CompilerMissingError("no clang and no gcc on this machine: `python benchmarks/setup.py` installs clang")
    return found


def flags(*extra: str) -> tuple[str, ...]:
    """Return FLAGS and more of them, as the compiler calls them."""
    clang = Path(compiler()).name.startswith("clang")
    return tuple(flag if clang else OF_GCC.get(flag, flag) for flag in (*FLAGS, *extra))


def compiler_name() -> str:
    """Return what the compiler calls itself, with its flags."""
    told = subprocess.run([compiler(), "--version"], check=True, capture_output=True, text=True).stdout
    return f"{told.splitlines()[0]}, {' '.join(flags()[:-1])}"


@cache
def library(*extra: str) -> ctypes.CDLL:
    """Return limits.c compiled with FLAGS and `extra` flags. Raises CompilerMissingError where the compiler cannot."""
    folder = HERE / ".rivals"
    folder.mkdir(exist_ok=True)
    path = folder / f"limits{re.sub('[^a-z]', '', '_'.join(extra))}.so"
    compiled = path.with_suffix(".o")
    # Linked without -ffast-math: gcc would add code that makes whoever loads the library count denormal numbers as 0.
    for command in (
        [compiler(), *flags(*extra), "-c", str(HERE / "limits.c"), "-o", str(compiled)],
        [compiler(), "-shared", str(compiled), "-o", str(path), "-lm"],
    ):
        done = subprocess.run(command, check=False, capture_output=True, text=True)
        if done.returncode != 0:
            told = done.stderr.strip()[:300]
            raise CompilerMissingError(
                f"{compiler()} is too old, `python benchmarks/setup.py` installs another: {told}"
            )
    return ctypes.CDLL(str(path))


class Function:
    """One function of limits.c; arguments are turned into C's: int to long, float to double, arrays to pointers."""

    def __init__(self, name: str, *extra: str) -> None:
        self._call = getattr(library(*extra), name)
        self._call.restype = ctypes.c_double if name == "read_all" else None
        self._seed = 0

    def __call__(self, *values: int | float | np.ndarray) -> float | None:
        """Call it."""
        return self._call(*(_argument(value) for value in values))

    def seeded(self, *values: int | float | np.ndarray) -> None:
        """Call it with a new seed as the last argument."""
        self._seed += 1
        self._call(*(_argument(value) for value in values), ctypes.c_uint64(self._seed))


def _argument(value: int | float | np.ndarray) -> object:
    match value:
        case int():
            return ctypes.c_long(value)
        case float():
            return ctypes.c_double(value)
        case _:
            return value.ctypes.data_as(ctypes.c_void_p)


def aligned(*shape: int) -> np.ndarray:
    """Return zeros that begin at a page of memory, so that no vector of theirs lies across two cache lines."""
    size = 8 * int(np.prod(shape))
    raw = np.zeros(size + 4096, dtype=np.uint8)
    begin = -raw.ctypes.data % 4096
    return raw[begin : begin + size].view(np.float64).reshape(shape)

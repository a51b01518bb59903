"""Batteries of statistical tests on the random streams of emitted modules.

    apt-get install libtestu01-0-dev dieharder              (TestU01 is in the section non-free of Debian)
    python benchmarks/battery.py                            SmallCrush of TestU01 on every stream: some minutes
    python benchmarks/battery.py --suite crush lanes        Crush on one stream: about an hour; `big`: some hours
    python benchmarks/battery.py --suite dieharder lanes    all tests of dieharder (Brown 2006): about two hours
    python benchmarks/battery.py --bits lanes | RNG_test stdin64      for PractRand, or any program that reads bits

Streams, as 32-bit halves of words: `xoshiro`, one generator; `lanes`, 64 side by side, row by row; `philox`, the
counter, step by step; `ziggurat`, `box_muller` and `philox_normals`, normals put back into uniform bits by their
distribution function. `alike` (all lanes of one seed) and `lcg` (the low half of a linear congruential generator) are
planted: a suite that passes them proves nothing. With --reversed, halves are given with their bits in reverse order.

TestU01 (L'Ecuyer and Simard 2007) gives p-values; one outside [1e-3, 1 - 1e-3] is called suspect, one outside [1e-6,
1 - 1e-6] failed. The exit code is 1 where a stream failed.
"""

import argparse
import ctypes
import ctypes.util
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from bit_streams import PLANTED, STREAMS, WORDS, Fill, Stream
from numba import carray, cfunc, njit, types

Result = tuple[str, float]

SUSPECT, FAILED = 1e-3, 1e-6
"""How near 0 or 1 a p-value is called suspect, or failed."""

CRUSHES = {"small": ("SmallCrush", 10), "crush": ("Crush", 96), "big": ("BigCrush", 106)}
"""Batteries of TestU01, with the number of their tests."""


class TestU01MissingError(Exception):
    """There is no TestU01 on this machine."""


def testu01() -> ctypes.CDLL:
    """Return the library. Raises TestU01MissingError where there is none."""
    name = ctypes.util.find_library("testu01")
    if name is None:
        raise TestU01MissingError("found no libtestu01, expected it: apt-get install libtestu01-0-dev (non-free)")
    for needed in ("testu01mylib", "testu01probdist"):
        ctypes.CDLL(ctypes.util.find_library(needed), ctypes.RTLD_GLOBAL)
    return ctypes.CDLL(name, ctypes.RTLD_GLOBAL)


class _Gen(ctypes.Structure):
    """`unif01_Gen` of TestU01."""

    _fields_ = (
        ("state", ctypes.c_void_p), ("param", ctypes.c_void_p), ("name", ctypes.c_char_p), ("get_u01", ctypes.c_void_p),
        ("get_bits", ctypes.c_void_p), ("write", ctypes.c_void_p),
    )  # fmt: skip


def crush(stream: Stream, suite: str, tests: Sequence[int] = (), *, backwards: bool = False) -> Iterator[Result]:
    """Yield name and p-value of every result of a battery of TestU01, or of some of its tests, one after the other.

    Raises TestU01MissingError where there is no TestU01.
    """
    library = testu01()
    name, count = CRUSHES[suite]
    state = stream.start()
    block = np.concatenate([np.zeros(1, np.uint64), state, np.zeros(WORDS, np.uint64)])
    get_bits, get_u01 = callbacks(stream.fill, state.size, backwards=backwards)
    ignore = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda _: None)
    gen = _Gen(block.ctypes.data, None, b"stream", get_u01.address, get_bits.address,
               ctypes.cast(ignore, ctypes.c_void_p))  # fmt: skip
    ctypes.c_int.in_dll(library, "swrite_Basic").value = 0
    for test in tests or range(1, count + 1):
        asked = (ctypes.c_int * (count + 1))(*(int(k == test) for k in range(count + 1)))
        with _silent():
            getattr(library, f"bbattery_Repeat{name}")(ctypes.byref(gen), asked)
        found = ctypes.c_int.in_dll(library, "bbattery_NTests").value
        names = (ctypes.c_char_p * found).in_dll(library, "bbattery_TestNames")
        values = (ctypes.c_double * found).in_dll(library, "bbattery_pVal")
        yield from ((f"{test} {(own or b'').decode().strip()}", p) for own, p in zip(names, values, strict=True))


def callbacks(fill: Fill, size: int, *, backwards: bool) -> tuple[Any, Any]:
    """Return C functions of the next 32 bits, and of the next uniform; they read a block (`crush`)."""

    @njit
    def bits_of(address: object) -> np.uint64:
        block = carray(address, (1 + size + WORDS,), np.uint64)
        half = block[0] & np.uint64(2 * WORDS - 1)
        if half == 0:
            fill(block[1 : 1 + size], block[1 + size :])
        block[0] = half + np.uint64(1)
        bits = (block[1 + size + np.int64(half >> 1)] >> ((half & np.uint64(1)) << 5)) & np.uint64(0xFFFFFFFF)
        if backwards:
            turned = np.uint64(0)
            for k in range(np.uint64(32)):
                turned |= ((bits >> k) & np.uint64(1)) << (np.uint64(31) - k)
            return turned
        return bits

    @cfunc(types.uint64(types.voidptr, types.voidptr))
    def get_bits(_: object, address: object) -> np.uint64:
        return bits_of(address)

    @cfunc(types.float64(types.voidptr, types.voidptr))
    def get_u01(_: object, address: object) -> float:
        return bits_of(address) * 2.0**-32

    return get_bits, get_u01


@contextmanager
def _silent() -> Iterator[None]:
    """Keep what C writes to the standard output from there."""
    sys.stdout.flush()
    kept, nowhere = os.dup(1), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    try:
        yield
    finally:
        ctypes.CDLL(None).fflush(None)
        os.dup2(kept, 1)
        os.close(kept)
        os.close(nowhere)


def dieharder(stream: Stream, tests: Sequence[int] = ()) -> Iterator[Result]:
    """Yield name and p-value of every result of dieharder, or of some of its tests."""
    for call in [("-d", str(test)) for test in tests] or [("-a",)]:
        command = ["dieharder", "-g", "200", "-D", "test_name", "-D", "ntuple", "-D", "pvalues", "-c", "|", *call]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as run:
            assert run.stdin is not None
            assert run.stdout is not None
            try:
                for words in stream.words():
                    run.stdin.write(words.tobytes())
            except BrokenPipeError:
                pass
            fields = [line.decode().strip().strip("|").split("|") for line in run.stdout]
        yield from ((f"{f[0].strip()} {f[1].strip()}", float(f[2])) for f in fields if len(f) == 3)


def verdict(p: float) -> str:
    """Return what a p-value is called."""
    return "failed" if not FAILED <= p <= 1 - FAILED else "suspect" if not SUSPECT <= p <= 1 - SUSPECT else "passed"


def main() -> int:
    """Run a suite on streams, or write the bits of one."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("streams", nargs="*", help=f"of {', '.join((*STREAMS, *PLANTED))} (default: all not planted)")
    parser.add_argument("--suite", choices=[*CRUSHES, "dieharder"], default="small")
    parser.add_argument("--tests", help="numbers of tests of the suite, by commas (default: all)")
    parser.add_argument("--reversed", action="store_true", help="turn the bits of every half around, for TestU01")
    parser.add_argument("--bits", action="store_true", help="write the bits of one stream to the standard output")
    asked = parser.parse_args()
    known = STREAMS | PLANTED
    if unknown := set(asked.streams) - known.keys():
        parser.error(f"found {', '.join(sorted(unknown))}, expected some of {', '.join(known)}")
    if asked.bits:
        for words in known[asked.streams[0]].words():
            sys.stdout.buffer.write(words.tobytes())
    tests = [int(test) for test in re.findall(r"\d+", asked.tests or "")]
    failed = 0
    for name in asked.streams or STREAMS:
        begin = time.perf_counter()
        if asked.suite == "dieharder":
            found = dieharder(known[name], tests)
        else:
            found = crush(known[name], asked.suite, tests, backwards=asked.reversed)
        counts: list[str] = []
        for test, p in found:
            counts.append(verdict(p))
            print(f"{name}  {test}  p = {p:.3g}  {counts[-1]}", flush=True)
        failed += counts.count("failed")
        told = f"{len(counts)} p-values, {counts.count('suspect')} suspect, {counts.count('failed')} failed"
        print(f"{name}: {asked.suite}: {told}, {time.perf_counter() - begin:.0f} s", flush=True)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())

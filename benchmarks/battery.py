"""A battery of statistical tests on the random streams of emitted modules: dieharder (Brown 2006) reads their bits.

    apt-get install dieharder
    python benchmarks/battery.py                            every stream, the tests that end in some minutes
    python benchmarks/battery.py --all lanes                one stream, all tests: about an hour
    python benchmarks/battery.py --bits lanes | RNG_test stdin64      for PractRand, or any program that reads bits

Streams: `xoshiro`, one generator; `lanes`, 64 side by side, row by row; `philox`, the counter; `normals`, the draws of
the lanes put back into uniform bits by their distribution function, 32 of each.
"""

import argparse
import subprocess
import sys
import time
from collections.abc import Callable, Iterator

import numpy as np
from numba import njit
from scipy.special import ndtr

from recipe_compiler.emit.support.bits import _next_bits
from recipe_compiler.emit.support.lanes import _fill_normals_lanes, _next_bits_of
from recipe_compiler.emit.support.philox import _philox
from recipe_compiler.emit.support.seeds import _seed_counters, _seed_words

SEED = 2024
WORDS = 1 << 16
"""Words made at a time."""

QUICK = (0, 1, 2, 3, 8, 9, 10, 11, 12, 13, 15, 16, 17, 100, 101, 102, 200, 202, 204, 205, 206, 209)
"""Tests of dieharder that end in some minutes together."""


@njit
def fill_xoshiro(state: np.ndarray, out: np.ndarray) -> None:
    """Fill `out` with the words of one generator."""
    s0, s1, s2, s3 = state[0], state[1], state[2], state[3]
    for k in range(out.size):
        out[k], s0, s1, s2, s3 = _next_bits(s0, s1, s2, s3)
    state[0], state[1], state[2], state[3] = s0, s1, s2, s3


@njit
def fill_lanes(state: np.ndarray, out: np.ndarray) -> None:
    """Fill `out`, whole rows of 64, with the words of the lanes."""
    for row in range(0, np.uint64(out.size), np.uint64(64)):
        for lane in range(np.uint64(64)):
            out[row + lane] = _next_bits_of(state, lane)


@njit
def fill_philox(state: np.ndarray, out: np.ndarray) -> None:
    """Fill `out` with the words of one call of the counter."""
    for place in range(np.uint64(out.size) >> 1):
        a, b = _philox(place, state[1], state[2] & np.uint64(0xFFFFFFFF), state[2] >> 32, state[0])
        out[place << 1], out[(place << 1) + np.uint64(1)] = a, b
    state[2] += np.uint64(1)


@njit
def fill_normals(state: np.ndarray, out: np.ndarray) -> None:
    """Fill `out` with normals of the lanes."""
    _fill_normals_lanes(state, out)


def words(fill: Callable[[np.ndarray, np.ndarray], None], state: np.ndarray) -> Iterator[bytes]:
    """Yield the bits of a stream without end."""
    out = np.empty(WORDS, np.uint64)
    while True:
        fill(state, out)
        yield out.tobytes()


def uniforms(state: np.ndarray) -> Iterator[bytes]:
    """Yield 32 bits of every normal."""
    out = np.empty(WORDS)
    while True:
        fill_normals(state, out)
        yield np.minimum(ndtr(out) * 2.0**32, 2.0**32 - 1).astype(np.uint32).tobytes()


STREAMS: dict[str, Callable[[], Iterator[bytes]]] = {
    "xoshiro": lambda: words(fill_xoshiro, _seed_words(SEED, 1, 0, 4)[0]),
    "lanes": lambda: words(fill_lanes, _seed_words(SEED, 1, 0, 256)[0]),
    "philox": lambda: words(fill_philox, _seed_counters(SEED, 1)[0]),
    "normals": lambda: uniforms(_seed_words(SEED, 1, 0, 256)[0]),
}


def results(stream: str, tests: list[str]) -> list[tuple[str, float, str]]:
    """Return name, p-value and assessment of every result of one run of dieharder."""
    command = ["dieharder", "-g", "200", "-D", "test_name", "-D", "pvalues", "-D", "assessment", "-c", "|", *tests]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        try:
            for piece in STREAMS[stream]():
                child.stdin.write(piece)
        except BrokenPipeError:
            pass
        found = [line.decode().strip().strip("|").split("|") for line in child.stdout]
    return [(name.strip(), float(p), assessment.strip()) for name, p, assessment in (f for f in found if len(f) == 3)]


def main() -> None:
    """Run the battery, or write the bits of a stream."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("streams", nargs="*", choices=[*STREAMS, []], help="which streams (default: all)")
    parser.add_argument("--all", action="store_true", help="every test of dieharder")
    parser.add_argument("--tests", help="numbers of tests, by commas")
    parser.add_argument("--bits", action="store_true", help="write the bits of one stream to the standard output")
    asked = parser.parse_args()
    if asked.bits:
        for piece in STREAMS[asked.streams[0]]():
            sys.stdout.buffer.write(piece)
    chosen = [int(test) for test in asked.tests.split(",")] if asked.tests else list(QUICK)
    for stream in asked.streams or STREAMS:
        begin = time.perf_counter()
        found: list[tuple[str, float, str]] = []
        for call in [["-a"]] if asked.all else [["-d", str(test)] for test in chosen]:
            for name, p, assessment in results(stream, call):
                print(f"{stream}  {name}  p = {p:.6f}  {assessment}", flush=True)
                found.append((name, p, assessment))
        failed = sum(assessment != "PASSED" for _, _, assessment in found)
        print(
            f"{stream}: {len(found)} results, {failed} weak or failed, {time.perf_counter() - begin:.0f} s", flush=True
        )


if __name__ == "__main__":
    main()

"""Workload normals: standard normals into an array that stays in the cache."""

import time

import limits
import numpy as np
from numba import njit
from racing import Contestant

from workloads.workload import Field, Workload

SIZE, FILLS = 4096, 64
UNITS = SIZE * FILLS


def normals() -> Workload:
    """Return fills of 4096 numbers."""
    field = Field()
    field.add("emitted", _emitted)
    field.add("c", _limit)
    field.add("jax_scan", _jax, ["jax", "blackjax"])
    field.add("natural_numba", _numba)
    field.add("numpy", _numpy)
    field.leave_out("no generator of its own", "blackjax", "sgmcmcjax", "posteriors", "jitcsde")
    field.leave_out("no BLAS in it", "numba_blas")
    return Workload("ns/normal", 1e9, tuple(field.contestants), field.absent, 20 * UNITS, about="standard normals")


def _emitted() -> Contestant:
    """Return the generator that emitted files carry for arrays: 64 lanes of xoshiro256++, Box and Muller."""
    from recipe_compiler.emit.support import lanes

    fill = lanes._fill_normals_lanes
    state, out = limits.aligned(256).view(np.uint64), limits.aligned(SIZE)
    state[:] = np.random.SeedSequence(1).generate_state(256, np.uint64)

    @njit
    def fills(state, out, count):
        for _ in range(count):
            fill(state, out)

    def work() -> np.ndarray:
        fills(state, out, FILLS)
        return out.reshape(-1, 1)

    return Contestant("emitted", UNITS, work)


def _limit() -> Contestant:
    function, out = limits.Function("normals_in_lanes"), limits.aligned(SIZE)

    def work() -> np.ndarray:
        function.seeded(out, SIZE, FILLS)
        return out.reshape(-1, 1)

    return Contestant("c", UNITS, work)


def _numba() -> Contestant:
    rng, out = np.random.default_rng(1), limits.aligned(SIZE)

    def work() -> np.ndarray:
        _fill_numba(out, FILLS, rng)
        return out.reshape(-1, 1)

    return Contestant("natural_numba", UNITS, work)


@njit
def _fill_numba(out, count, rng):
    for _ in range(count):
        for i in range(out.size):
            out[i] = rng.standard_normal()


def _numpy() -> Contestant:
    rng, out = np.random.default_rng(1), limits.aligned(SIZE)

    def work() -> np.ndarray:
        for _ in range(FILLS):
            rng.standard_normal(out=out)
        return out.reshape(-1, 1)

    return Contestant("numpy", UNITS, work, clock=time.thread_time)


def _jax() -> Contestant:
    import jax
    import jax_chains

    def run(key, state):
        return state, jax.random.normal(key, (UNITS,)).reshape(-1, 1)

    return jax_chains.contestant("jax_scan", UNITS, run, 0, "one call for all")

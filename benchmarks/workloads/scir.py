"""Workload of stochastic CIR: ten gamma variables moved by their exact flow, the shapes estimated from minibatches.

A unit is one entry moved once. Every contestant has the same transition, so that moments are those of one law.
"""

import time

import emitted
import limits
import numpy as np
from numba import njit
from numpy.typing import NDArray
from racing import Contestant

from recipe_compiler.formula.arrays import Array
from recipe_compiler.run.data import Data
from recipe_compiler.run.data import Field as Column
from workloads.workload import Field, Workload

ROWS, ENTRIES, ALPHA = 1000, 10, 0.5
EPS, BATCH, THIN, DRAWS = 0.1, 100, 20, 256
UNITS = ENTRIES * THIN * DRAWS


def scir() -> Workload:
    """Stochastic CIR, ten categories of 1000 data, batches of 100 drawn without replacement."""
    z = _ones(np.random.default_rng(7).integers(0, 4, ROWS))
    data = Data((Column("z", z, tuple(str(k) for k in range(ENTRIES))),))
    field = Field()
    field.add("emitted", lambda: Contestant(
        "emitted", UNITS, emitted.Chains(emitted.load_build("scir"), THIN, DRAWS, data).work))  # fmt: skip
    field.add("c", lambda: _limit(z))
    field.add("natural_numba", lambda: _numba(z))
    field.add("numpy", lambda: _numpy(z))
    about = f"stochastic CIR, {ENTRIES} entries, N = {ROWS}, batches of {BATCH}"
    return Workload("ns/entry", 1e9, tuple(field.contestants), field.absent, 1 << 22, about=about)


def _ones(categories: NDArray[np.int64]) -> Array:
    """Return a row for each datum with a one at its category: four of the ten have data."""
    z = np.zeros((len(categories), ENTRIES))
    z[np.arange(len(categories)), categories] = 1.0
    return z


def _limit(z: Array) -> Contestant:
    function = limits.Function("scir_10", *limits.SCALAR)
    state, out = limits.aligned(ENTRIES), limits.aligned(DRAWS, ENTRIES)
    rows = limits.aligned(ROWS)
    rows[:] = np.arange(ROWS)

    def work() -> Array:
        function.seeded(z, ROWS, BATCH, DRAWS, THIN, EPS, ALPHA, rows, state, out)
        return out

    return Contestant("c", UNITS, work)


def _numba(z: Array) -> Contestant:
    theta, out, rng = np.ones(ENTRIES), np.empty((DRAWS, ENTRIES)), np.random.default_rng(1)
    rows = np.arange(ROWS)

    def work() -> Array:
        _scir(z, theta, out, rows, rng)
        return out

    return Contestant("natural_numba", UNITS, work)


@njit
def _scir(z, theta, out, rows, rng):
    decay, grown = np.exp(-EPS), -np.expm1(-EPS)
    for k in range(out.shape[0]):
        for _ in range(THIN):
            for place in range(BATCH):
                other = place + int(rng.random() * (ROWS - place))
                rows[place], rows[other] = rows[other], rows[place]
            shape = np.zeros(theta.size)
            for place in range(BATCH):
                shape += z[rows[place]]
            for i in range(theta.size):
                count = rng.poisson(theta[i] * decay / grown)
                theta[i] = grown * rng.standard_gamma(ALPHA + ROWS / BATCH * shape[i] + count)
        out[k] = np.log(theta)


def _numpy(z: Array) -> Contestant:
    rng, chain = np.random.default_rng(1), {"theta": np.ones(ENTRIES)}
    decay, grown, draws = np.exp(-EPS), -np.expm1(-EPS), 64

    def work() -> Array:
        theta, kept = chain["theta"], []
        for _ in range(draws):
            for _ in range(THIN):
                shape = ALPHA + ROWS / BATCH * z[rng.choice(ROWS, BATCH, replace=False)].sum(axis=0)
                theta = grown * rng.standard_gamma(shape + rng.poisson(theta * decay / grown))
            kept.append(np.log(theta))
        chain["theta"] = theta
        return np.stack(kept)

    return Contestant("numpy", ENTRIES * THIN * draws, work, clock=time.thread_time)

"""Workloads W2: SGHMC with minibatches of 100 rows on Bayesian logistic regression; an iteration is ten steps."""

import math

import emitted
import limits
import numpy as np
from numba import njit
from racing import Contestant

from workloads.workload import Field, Workload

BATCH, INNER = 100, 10
C, PRIOR_VARIANCE, EPS = 10.0, 10.0, 0.002
UNITS = 1000
MOMENT_ITERATIONS = 40_000


def w2_d2() -> Workload:
    """Return 2000 rows of two columns."""
    return _workload(2000, 2)


def w2_d14() -> Workload:
    """Return 690 rows of 14 columns."""
    return _workload(690, 14)


def _workload(rows: int, d: int) -> Workload:
    data = emitted.logistic_data(rows, d)
    x, y = (field.values for field in data.fields)
    field = Field()
    build = f"sghmc_w2_d{d}"
    field.add("emitted", lambda: Contestant(
        "emitted", UNITS, emitted.Chains(emitted.load_build(build), INNER, UNITS, data).work))  # fmt: skip
    field.add("c", lambda: sghmc_limit(x, y, BATCH, INNER, EPS, C, UNITS, np.zeros(d)))
    field.add("jax_scan", lambda: _jax_scan(x, y), ["jax", "blackjax"])
    field.add("blackjax", lambda: _blackjax(x, y), ["jax", "blackjax"])
    field.add(
        "natural_numba", lambda: sghmc_numba("natural_numba", idiomatic, x, y, BATCH, INNER, EPS, C, UNITS, np.zeros(d))
    )
    field.add("numpy", lambda: sghmc_numpy(x, y, BATCH, INNER, EPS, C, 200, np.zeros(d)))
    about = f"SGHMC, logistic regression, d = {d}, N = {rows}, minibatch {BATCH}, {INNER} steps"
    return Workload("us/iteration", 1e6, tuple(field.contestants), field.absent, MOMENT_ITERATIONS, about=about)


def _jax_scan(x: np.ndarray, y: np.ndarray) -> Contestant:
    import jax_chains

    start = np.zeros(x.shape[1])
    return jax_chains.sghmc_logistic_scan(x, y, start, EPS, C, PRIOR_VARIANCE, BATCH, INNER, UNITS, UNITS, 10)


def _blackjax(x: np.ndarray, y: np.ndarray) -> Contestant:
    import jax_chains

    return jax_chains.blackjax_logistic(x, y, np.zeros(x.shape[1]), EPS, C, PRIOR_VARIANCE, BATCH, INNER, UNITS, UNITS)


def sghmc_limit(x: np.ndarray, y: np.ndarray, batch: int, inner: int, eps: float, C: float, draws: int,
                start: np.ndarray) -> Contestant:  # fmt: skip
    """Return the C limit of minibatch SGHMC; a unit is `inner` steps."""
    rows, d = x.shape
    function = limits.Function(f"sghmc_logistic_{d}")
    state, out = limits.aligned(2 * d), limits.aligned(draws, 2 * d)
    state[:d] = start

    def work() -> np.ndarray:
        function.seeded(x, y, rows, batch, draws, inner, eps, C, PRIOR_VARIANCE, state, out)
        return out[:, :d]

    return Contestant("c", draws, work)


def sghmc_numba(key: str, run, x: np.ndarray, y: np.ndarray, batch: int, inner: int, eps: float, C: float, draws: int,
                start: np.ndarray) -> Contestant:  # fmt: skip
    """Return minibatch SGHMC written by hand in numba; a unit is `inner` steps."""
    d = x.shape[1]
    theta, r, out, rng = start.copy(), np.zeros(d), np.empty((draws, d)), np.random.default_rng(1)

    def work() -> np.ndarray:
        run(x, y, theta, r, out, batch, inner, eps, C, PRIOR_VARIANCE, rng)
        return out

    return Contestant(key, draws, work)


@njit
def idiomatic(x, y, theta, r, out, batch, inner, eps, C, prior_variance, rng):
    """Run SGHMC: rows of a minibatch by an index array, two `np.dot`, a NumPy `Generator`."""
    rows, d = x.shape
    scale = math.sqrt(2.0 * eps * C)
    for k in range(out.shape[0]):
        for _ in range(inner):
            places = rng.integers(0, rows, batch)
            some = x[places]
            weight = 1.0 / (1.0 + np.exp(-np.dot(some, theta))) - y[places]
            grad_U = rows / batch * np.dot(some.T, weight) + theta / prior_variance
            r_new = r - eps * (grad_U + C * r) + scale * rng.standard_normal(d)
            theta[:] = theta + eps * r
            r[:] = r_new
        out[k] = theta


def sghmc_numpy(x: np.ndarray, y: np.ndarray, batch: int, inner: int, eps: float, C: float, draws: int,
                start: np.ndarray) -> Contestant:  # fmt: skip
    """Return minibatch SGHMC in NumPy; a unit is `inner` steps."""
    rows, d = x.shape
    scale, rng = math.sqrt(2.0 * eps * C), np.random.default_rng(1)
    chain = {"theta": start.copy(), "r": np.zeros(d)}

    def work() -> np.ndarray:
        theta, r, kept = chain["theta"], chain["r"], []
        for _ in range(draws):
            for _ in range(inner):
                places = rng.integers(0, rows, batch)
                some = x[places]
                weight = 1.0 / (1.0 + np.exp(-some @ theta)) - y[places]
                grad_U = rows / batch * (some.T @ weight) + theta / PRIOR_VARIANCE
                r_new = r - eps * (grad_U + C * r) + scale * rng.standard_normal(d)
                theta, r = theta + eps * r, r_new
            kept.append(theta)
        chain["theta"], chain["r"] = theta, r
        return np.stack(kept)

    return Contestant("numpy", draws, work)

"""Workloads W3: logistic regression with 100 columns: minibatches of 1000 of a million rows, and a full gradient."""

import math

import emitted
import limits
import numpy as np
from numba import njit
from racing import Contestant

from recipe_compiler.run.data import Data
from workloads import w2
from workloads.workload import Field, Workload

D, BATCH, ROWS, FULL_ROWS = 100, 1000, 1_000_000, 100_000
C, EPS = 1000.0, 5e-5
FULL_C, FULL_EPS = 100.0, 1e-3
UNITS = 200
MOMENT_STEPS = 20_000


def _data(rows: int) -> tuple[Data, np.ndarray, np.ndarray]:
    """Return data of a logistic model whose predictors have a deviation of 1, the rows beginning at a page."""
    data = emitted.logistic_data(rows, D, scale=0.1)
    x = limits.aligned(rows, D)
    np.copyto(x, data.fields[0].values)
    field = type(data.fields[0])("x", x, data.fields[0].columns)
    return Data((field, data.fields[1])), x, data.fields[1].values


def w3_minibatch() -> Workload:
    """Return single steps; chains start at zero, where nothing is far: the prior is wide."""
    data, x, y = _data(ROWS)
    field = Field()
    start = np.zeros(D)
    field.add("emitted", lambda: Contestant(
        "emitted", UNITS, emitted.Chains(emitted.load_build("sghmc_w3"), 1, UNITS, data).work))  # fmt: skip
    field.add("c", lambda: w2.sghmc_limit(x, y, BATCH, 1, EPS, C, UNITS, start))
    field.add("jax_scan", lambda: _jax_scan(x, y), ["jax", "blackjax"])
    field.add("blackjax", lambda: _blackjax(x, y), ["jax", "blackjax"])
    for key, run in (("natural_numba", _loops), ("numba_blas", w2.idiomatic)):
        field.add(key, lambda key=key, run=run: w2.sghmc_numba(key, run, x, y, BATCH, 1, EPS, C, UNITS, start))
    field.add("numpy", lambda: w2.sghmc_numpy(x, y, BATCH, 1, EPS, C, UNITS, start))
    about = f"SGHMC, logistic regression, d = {D}, N = {ROWS}, minibatch {BATCH}"
    return Workload("us/step", 1e6, tuple(field.contestants), field.absent, MOMENT_STEPS, about=about)


def _jax_scan(x: np.ndarray, y: np.ndarray) -> Contestant:
    import jax_chains

    return jax_chains.sghmc_logistic_scan(x, y, np.zeros(D), EPS, C, w2.PRIOR_VARIANCE, BATCH, 1, UNITS, UNITS, 10)


def _blackjax(x: np.ndarray, y: np.ndarray) -> Contestant:
    import jax_chains

    return jax_chains.blackjax_logistic(x, y, np.zeros(D), EPS / C, C, w2.PRIOR_VARIANCE, BATCH, 1, UNITS, UNITS)


@njit
def _loops(x, y, theta, r, out, batch, inner, eps, C, prior_variance, rng):
    rows, d = x.shape
    grad_U = np.empty(d)
    scale = math.sqrt(2.0 * eps * C)
    for k in range(out.shape[0]):
        for _ in range(inner):
            grad_U[:] = 0.0
            for _ in range(batch):
                row = rng.integers(0, rows)
                predictor = 0.0
                for j in range(d):
                    predictor += x[row, j] * theta[j]
                weight = 1.0 / (1.0 + math.exp(-predictor)) - y[row]
                for j in range(d):
                    grad_U[j] += weight * x[row, j]
            for j in range(d):
                r_old = r[j]
                force = rows / batch * grad_U[j] + theta[j] / prior_variance + C * r_old
                r[j] += -eps * force + scale * rng.standard_normal()
                theta[j] += eps * r_old
        out[k] = theta


def w3_full() -> Workload:
    """Return gradients over all rows; of the emitted module steps of a chain, which are nearly that."""
    data, x, y = _data(FULL_ROWS)
    theta, grad = 0.1 * np.random.default_rng(3).standard_normal(D), limits.aligned(D)
    field = Field()
    field.add("emitted", lambda: _emitted_chain(data, x, y))
    field.add(
        "c",
        lambda: _gradient("c", limits.Function("grad_logistic_100"), x, y, theta, grad, x, y, FULL_ROWS, theta, grad),
    )
    field.add("jax_scan", lambda: _jax_gradient(x, y, theta), ["jax", "blackjax"])
    field.add(
        "natural_numba", lambda: _gradient("natural_numba", _loops_gradient, x, y, theta, grad, x, y, theta, grad)
    )
    field.add("numba_blas", lambda: _gradient("numba_blas", _blas_gradient, x, y, theta, grad, x, y, theta, grad))
    field.add("numpy", lambda: _gradient("numpy", _numpy_gradient, x, y, theta, grad, x, y, theta, grad))
    field.add("read_bandwidth", lambda: _reader(x))
    about = f"gradient of logistic regression, d = {D}, N = {FULL_ROWS}"
    return Workload("ms/gradient", 1e3, tuple(field.contestants), field.absent, about=about)


def _reader(x: np.ndarray) -> Contestant:
    """Return who reads the same data once: the ceiling."""
    read = limits.Function("read_all")
    return Contestant("read_bandwidth", 1, lambda: (read(x, x.size), None)[1], "nothing")


def exact(x: np.ndarray, y: np.ndarray, theta: np.ndarray) -> np.ndarray:
    """Return the sum over rows of (sigmoid(x.theta) - y) x."""
    return x.T @ (1.0 / (1.0 + np.exp(-x @ theta)) - y)


def _relative(found: np.ndarray, expected: np.ndarray) -> float:
    return float(np.abs(found - expected).max() / np.abs(expected).max())


def _gradient(
    key: str, run, x: np.ndarray, y: np.ndarray, theta: np.ndarray, grad: np.ndarray, *arguments
) -> Contestant:
    def deviation() -> float:
        grad[:] = 0.0
        run(*arguments)
        return _relative(grad, exact(x, y, theta))

    return Contestant(key, 1, lambda: run(*arguments), "nothing", deviation=deviation)


def _emitted_chain(data: Data, x: np.ndarray, y: np.ndarray) -> Contestant:
    chains = emitted.Chains(emitted.load_build("sghmc_w3_full"), 1, 10, data)

    def deviation() -> float:
        """Return how far the momenta are from grad U and noise: what the step leaves over must be N(0, 2 C eps)."""
        chains.advance()
        theta, r = (draws.copy() for draws in chains.chains[0].draws.values())
        left, along = [], []
        for k in range(len(r) - 1):
            grad_U = exact(x, y, theta[k]) + theta[k] / w2.PRIOR_VARIANCE
            noise = (r[k + 1] - r[k] + FULL_EPS * (grad_U + FULL_C * r[k])) / math.sqrt(2.0 * FULL_C * FULL_EPS)
            left.append(noise)
            along.append(noise @ grad_U / np.linalg.norm(grad_U))
        z = np.concatenate(left)
        scores = (
            z.mean() * math.sqrt(z.size),
            (z.var() - 1.0) * math.sqrt(z.size / 2.0),
            np.mean(along) * math.sqrt(len(along)),
        )
        moved = _relative(theta[1:], theta[:-1] + FULL_EPS * r[:-1])
        return moved if max(map(abs, scores)) < 6.0 else math.inf

    note = "steps of a chain: gradient, 100 normals, update"
    return Contestant("emitted", 10, chains.work, "nothing", deviation=deviation, note=note)


def _jax_gradient(x: np.ndarray, y: np.ndarray, theta: np.ndarray) -> Contestant:
    import time

    import jax
    import jax.numpy as jnp
    import jax_chains

    xs, ys = jnp.asarray(x), jnp.asarray(y)
    run = jax.jit(jax_chains.logistic_gradient)
    deviation = lambda: _relative(np.asarray(run(xs, ys, theta)), exact(x, y, theta))  # noqa: E731
    work = lambda: (run(xs, ys, theta).block_until_ready(), None)[1]  # noqa: E731
    note = "jitted, both passes by hand"
    return Contestant("jax_scan", 1, work, "nothing", deviation=deviation, clock=time.process_time, note=note)


@njit
def _loops_gradient(x, y, theta, grad):
    grad[:] = 0.0
    for i in range(x.shape[0]):
        predictor = 0.0
        for j in range(theta.size):
            predictor += x[i, j] * theta[j]
        weight = 1.0 / (1.0 + math.exp(-predictor)) - y[i]
        for j in range(theta.size):
            grad[j] += weight * x[i, j]


@njit
def _blas_gradient(x, y, theta, grad):
    grad[:] = np.dot(x.T, 1.0 / (1.0 + np.exp(-np.dot(x, theta))) - y)


def _numpy_gradient(x, y, theta, grad):
    grad[:] = exact(x, y, theta)

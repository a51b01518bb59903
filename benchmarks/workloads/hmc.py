"""Workloads of HMC: ten leapfrog steps, accepted or refused; momenta are drawn anew for each. A unit is one such move.

All contestants are exact, so that their moments are those of one law whatever the rounding and the random numbers.
"""

import math
import time
from collections.abc import Callable

import emitted
import limits
import numpy as np
from numba import njit
from racing import Contestant

from workloads.workload import Field, Workload

STEPS = 10
EPS_WELL, THIN, DRAWS = 0.15, 16, 1024
ROWS, COLUMNS, PRIOR_VARIANCE = 690, 14, 10.0
EPS_LOGISTIC, MOVES = 0.025, 100

Potential = Callable[[np.ndarray], float]
Gradient = Callable[[np.ndarray], np.ndarray]


def hmc_w1a() -> Workload:
    """HMC, U = theta^4 - 2 theta^2."""
    units, start = THIN * DRAWS, np.array([0.1])
    field = Field()
    field.add("emitted", lambda: Contestant(
        "emitted", units, emitted.Chains(emitted.load_build("hmc_w1a"), THIN, DRAWS).work))  # fmt: skip
    field.add("c", _limit_well)
    field.add("jax_scan", lambda: _jax_scan(_jax_well, start, EPS_WELL, DRAWS, THIN), ["jax", "blackjax"])
    field.add("blackjax", lambda: _blackjax(_jax_well, start, EPS_WELL, DRAWS, THIN), ["jax", "blackjax"])
    field.add("natural_numba", lambda: _numba_well(start))
    field.add("numpy", lambda: _numpy(_well, _grad_well, start, EPS_WELL, 128, THIN))
    return _workload(field, "HMC, double well, d = 1, 10 leapfrog steps", "ns/move", 1e9, 1 << 20)


def hmc_logistic() -> Workload:
    """HMC on the 690 rows of 14 columns of w2_d14, all of them in each gradient."""
    data = emitted.logistic_data(ROWS, COLUMNS)
    x, y = (field.values for field in data.fields)
    start = np.zeros(COLUMNS)
    field = Field()
    field.add("emitted", lambda: Contestant(
        "emitted", MOVES, emitted.Chains(emitted.load_build("hmc_logistic"), 1, MOVES, data).work))  # fmt: skip
    field.add("c", lambda: _limit_logistic(x, y))
    field.add("jax_scan", lambda: _jax_scan(_jax_logistic, start, EPS_LOGISTIC, MOVES, 1, (x, y)), ["jax", "blackjax"])
    field.add("blackjax", lambda: _blackjax(_jax_logistic, start, EPS_LOGISTIC, MOVES, 1, (x, y)), ["jax", "blackjax"])
    field.add("natural_numba", lambda: _numba_logistic(x, y, start))
    field.add("numpy", lambda: _numpy(
        lambda theta: _logistic(x, y, theta), lambda theta: _grad_logistic(x, y, theta), start, EPS_LOGISTIC, 20, 1
    ))  # fmt: skip
    about = f"HMC, logistic regression, d = {COLUMNS}, N = {ROWS}, 10 leapfrog steps"
    return _workload(field, about, "us/move", 1e6, 20_000)


def _workload(field: Field, about: str, unit: str, per_second: float, moment_units: int) -> Workload:
    return Workload(unit, per_second, tuple(field.contestants), field.absent, moment_units, about=about)


def _limit_well() -> Contestant:
    function = limits.Function("hmc_double_well", *limits.SCALAR)
    state, out = limits.aligned(2), limits.aligned(DRAWS, 3)
    state[0] = 0.1

    def work() -> np.ndarray:
        function.seeded(DRAWS, THIN, EPS_WELL, state, out)
        return out[:, :1]

    return Contestant("c", THIN * DRAWS, work)


def _limit_logistic(x: np.ndarray, y: np.ndarray) -> Contestant:
    function = limits.Function(f"hmc_logistic_{COLUMNS}")
    state, out = limits.aligned(2 * COLUMNS), limits.aligned(MOVES, 2 * COLUMNS + 1)

    def work() -> np.ndarray:
        function.seeded(x, y, ROWS, MOVES, 1, EPS_LOGISTIC, PRIOR_VARIANCE, state, out)
        return out[:, :COLUMNS]

    return Contestant("c", MOVES, work)


def _numba_well(start: np.ndarray) -> Contestant:
    state, out, rng = start.copy(), np.empty((DRAWS, 2)), np.random.default_rng(1)

    def work() -> np.ndarray:
        _hmc_well(state, out, THIN, EPS_WELL, rng)
        return out[:, :1]

    return Contestant("natural_numba", THIN * DRAWS, work)


@njit
def _hmc_well(state, out, thin, eps, rng):
    theta = state[0]
    for k in range(out.shape[0]):
        total = 0.0
        for _ in range(thin):
            at, r = theta, rng.standard_normal()
            before = theta**4 - 2.0 * theta**2 + 0.5 * r * r
            for _ in range(STEPS):
                r -= 0.5 * eps * 4.0 * at * (at * at - 1.0)
                at += eps * r
                r -= 0.5 * eps * 4.0 * at * (at * at - 1.0)
            probability = min(1.0, math.exp(before - (at**4 - 2.0 * at**2 + 0.5 * r * r)))
            if rng.random() < probability:
                theta = at
            total += probability
        out[k, 0], out[k, 1] = theta, total / thin
    state[0] = theta


def _numba_logistic(x: np.ndarray, y: np.ndarray, start: np.ndarray) -> Contestant:
    theta, out, rng = start.copy(), np.empty((MOVES, COLUMNS)), np.random.default_rng(1)

    def work() -> np.ndarray:
        _hmc_logistic(x, y, theta, out, EPS_LOGISTIC, rng)
        return out

    return Contestant("natural_numba", MOVES, work)


@njit
def _logistic(x, y, theta):
    predictor = np.dot(x, theta)
    softplus = np.maximum(predictor, 0.0) + np.log1p(np.exp(-np.abs(predictor)))
    return (softplus - y * predictor).sum() + 0.5 * np.dot(theta, theta) / PRIOR_VARIANCE


@njit
def _grad_logistic(x, y, theta):
    return np.dot(x.T, 1.0 / (1.0 + np.exp(-np.dot(x, theta))) - y) + theta / PRIOR_VARIANCE


@njit
def _hmc_logistic(x, y, theta, out, eps, rng):
    U, grad_U = _logistic(x, y, theta), _grad_logistic(x, y, theta)
    for k in range(out.shape[0]):
        at, grad_at, r = theta.copy(), grad_U, rng.standard_normal(theta.size)
        before = U + 0.5 * np.dot(r, r)
        for _ in range(STEPS):
            r = r - 0.5 * eps * grad_at
            at = at + eps * r
            grad_at = _grad_logistic(x, y, at)
            r = r - 0.5 * eps * grad_at
        U_at = _logistic(x, y, at)
        if rng.random() < math.exp(min(0.0, before - U_at - 0.5 * np.dot(r, r))):
            theta[:], U, grad_U = at, U_at, grad_at
        out[k] = theta


def _well(theta):
    return (theta**4 - 2.0 * theta**2).sum()


def _grad_well(theta):
    return 4.0 * theta * (theta * theta - 1.0)


def _numpy(
    potential: Potential, gradient: Gradient, start: np.ndarray, eps: float, draws: int, thin: int
) -> Contestant:
    rng = np.random.default_rng(1)
    chain = {"theta": start, "grad_U": gradient(start), "U": potential(start)}

    def move() -> None:
        at, grad_at, r = chain["theta"], chain["grad_U"], rng.standard_normal(start.size)
        before = chain["U"] + 0.5 * (r @ r)
        for _ in range(STEPS):
            r = r - 0.5 * eps * grad_at
            at = at + eps * r
            grad_at = gradient(at)
            r = r - 0.5 * eps * grad_at
        U_at = potential(at)
        if rng.random() < math.exp(min(0.0, before - U_at - 0.5 * (r @ r))):
            chain.update(theta=at, grad_U=grad_at, U=U_at)

    def work() -> np.ndarray:
        kept = []
        for _ in range(draws):
            for _ in range(thin):
                move()
            kept.append(chain["theta"])
        return np.stack(kept)

    return Contestant("numpy", draws * thin, work, clock=time.thread_time)


def _jax_well(theta):
    return (theta**4 - 2.0 * theta**2).sum()


def _jax_logistic(theta, x, y):
    import jax.numpy as jnp

    predictor = x @ theta
    return (jnp.logaddexp(0.0, predictor) - y * predictor).sum() + 0.5 * (theta @ theta) / PRIOR_VARIANCE


def _jax_scan(
    potential: Callable, start: np.ndarray, eps: float, draws: int, thin: int, data: tuple = ()
) -> Contestant:
    import jax_chains

    return jax_chains.hmc_scan(potential, start, eps, STEPS, draws, thin, data)


def _blackjax(
    potential: Callable, start: np.ndarray, eps: float, draws: int, thin: int, data: tuple = ()
) -> Contestant:
    import jax_chains

    return jax_chains.blackjax_hmc(potential, start, eps, STEPS, draws, thin, data)

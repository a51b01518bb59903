"""Workloads W1: one chain on small targets: SGHMC and gSGRHMC on the double well, SGHMC in the plane."""

import math
import time
from collections.abc import Callable

import emitted
import limits
import numpy as np
from numba import njit
from racing import Contestant

from workloads.workload import Field, Workload

C, EPS, EPS_METRIC = 1.0, 0.02, 0.005
THIN, DRAWS = 64, 1024
UNITS = THIN * DRAWS
MOMENT_STEPS = 1 << 21
SLACK = 0.02
"""In standard deviations, how far moments of another scheme of the same step size may lie off."""


def w1a() -> Workload:
    """SGHMC, U = theta^4 - 2 theta^2."""
    field = _compiled("sghmc_w1a", "sghmc_double_well", 1, (EPS, C))
    field.add("jax_scan", lambda: _jax_scan(_grad_well, np.array([0.1])), ["jax", "blackjax"])
    field.add("blackjax", lambda: _blackjax(_grad_well, np.array([0.1])), ["jax", "blackjax"])
    field.add("natural_numba", lambda: _numba(_well_numba, np.array([0.1, 0.0]), 1, EPS, C))
    field.add("numpy", lambda: _numpy(_grad_well, np.array([0.1])))
    return _workload(field, "SGHMC, double well, d = 1")


def baoab_w1a() -> Workload:
    """The same by BAOAB, beside sequential Euler: one gradient a step each."""
    field = _compiled("sghmc_w1a_baoab", "baoab_double_well", 1, (EPS, C))
    field.add("sequential_euler", _sequential_euler)
    return _workload(field, "SGHMC by BAOAB, double well, d = 1")


def _sequential_euler() -> Contestant:
    chains = emitted.Chains(emitted.load_build("sghmc_w1a_sequential"), THIN, DRAWS)
    return Contestant("sequential_euler", UNITS, chains.work, slack=SLACK)


def w1b() -> Workload:
    """GSGRHMC, the same U, with the metric G^-1 = 3/2 sqrt|U + 3/2|."""
    field = _compiled("gsgrhmc_w1b", "gsgrhmc_double_well", 1, (EPS_METRIC,))
    field.add("natural_numba", lambda: _numba(_metric_numba, np.array([0.1, 0.0]), 1, EPS_METRIC))
    return _workload(field, "gSGRHMC, double well, d = 1")


def w1c() -> Workload:
    """SGHMC, U = a^4/10 + (4 (b + 1.2) - a^2)^2/2."""
    field = _compiled("sghmc_w1c", "sghmc_plane", 2, (EPS, C))
    start = np.array([0.0, -1.0])
    field.add("jax_scan", lambda: _jax_scan(jax_grad_plane, start), ["jax", "blackjax"])
    field.add("blackjax", lambda: _blackjax(jax_grad_plane, start), ["jax", "blackjax"])
    field.add("natural_numba", lambda: _numba(_plane_numba, np.array([*start, 0.0, 0.0]), 2, EPS, C))
    field.add("numpy", lambda: _numpy(_grad_plane, start))
    return _workload(field, "SGHMC, plane, d = 2")


def _workload(field: Field, about: str) -> Workload:
    return Workload("ns/step", 1e9, tuple(field.contestants), field.absent, MOMENT_STEPS, about=about)


def _compiled(build: str, limit: str, d: int, parameters: tuple[float, ...]) -> Field:
    """Return a field with the emitted module and its limit in C."""
    field = Field()
    field.add(
        "emitted", lambda: Contestant("emitted", UNITS, emitted.Chains(emitted.load_build(build), THIN, DRAWS).work)
    )
    field.add("c", lambda: _limit(limit, d, parameters))
    return field


def _limit(name: str, d: int, parameters: tuple[float, ...]) -> Contestant:
    function = limits.Function(name, *limits.SCALAR)
    state, out = limits.aligned(2 * d), limits.aligned(DRAWS, 2 * d)
    state[:d] = 0.1

    def work() -> np.ndarray:
        function.seeded(DRAWS, THIN, *parameters, state, out)
        return out[:, :d]

    return Contestant("c", UNITS, work)


def _numba(run: Callable[..., None], state: np.ndarray, d: int, *parameters: float) -> Contestant:
    rng, out = np.random.default_rng(1), np.empty((DRAWS, d))

    def work() -> np.ndarray:
        run(state, out, THIN, *parameters, rng)
        return out

    return Contestant("natural_numba", UNITS, work)


@njit
def _well_numba(state, out, thin, eps, C, rng):
    theta, r = state
    scale = math.sqrt(2.0 * C * eps)
    for k in range(out.shape[0]):
        for _ in range(thin):
            grad_U = 4.0 * theta * (theta * theta - 1.0)
            r_new = r - eps * (grad_U + C * r) + scale * rng.standard_normal()
            theta += eps * r
            r = r_new
        out[k, 0] = theta
    state[0], state[1] = theta, r


@njit
def _metric_numba(state, out, thin, eps, rng):
    theta, r = state
    scale = math.sqrt(2.0 * eps)
    for k in range(out.shape[0]):
        for _ in range(thin):
            shifted = theta**4 - 2.0 * theta**2 + 1.5
            grad_U = 4.0 * theta**3 - 4.0 * theta
            root = math.sqrt(abs(shifted))
            K = math.sqrt(1.5 * root)
            div_K = 0.375 * math.copysign(1.0, shifted) * grad_U / (root * K)
            r_new = r + eps * (div_K - K * grad_U - K * K * r) + scale * K * rng.standard_normal()
            theta += eps * K * r
            r = r_new
        out[k, 0] = theta
    state[0], state[1] = theta, r


@njit
def _plane_numba(state, out, thin, eps, C, rng):
    a, b, r, s = state
    scale = math.sqrt(2.0 * C * eps)
    for k in range(out.shape[0]):
        for _ in range(thin):
            valley = 4.0 * (b + 1.2) - a * a
            r_new = r - eps * (0.4 * a**3 - 2.0 * a * valley + C * r) + scale * rng.standard_normal()
            s_new = s - eps * (4.0 * valley + C * s) + scale * rng.standard_normal()
            a += eps * r
            b += eps * s
            r, s = r_new, s_new
        out[k, 0], out[k, 1] = a, b
    state[0], state[1], state[2], state[3] = a, b, r, s


def _grad_well(theta):
    return 4.0 * theta * (theta * theta - 1.0)


def _potential_well(theta):
    return (theta**4 - 2.0 * theta**2).sum()


def potential_plane(theta):
    """Return U of the plane; for NumPy, JAX and torch."""
    return theta[0] ** 4 / 10.0 + (4.0 * (theta[1] + 1.2) - theta[0] ** 2) ** 2 / 2.0


def _grad_plane(theta):
    valley = 4.0 * (theta[1] + 1.2) - theta[0] ** 2
    return np.array([0.4 * theta[0] ** 3 - 2.0 * theta[0] * valley, 4.0 * valley])


def jax_grad_plane(theta):
    """Return grad U of the plane by JAX."""
    import jax

    return jax.grad(potential_plane)(theta)


def _jax_scan(gradient: Callable, start: np.ndarray) -> Contestant:
    import jax_chains

    return jax_chains.sghmc_scan(gradient, start, EPS, C, THIN, UNITS)


def _blackjax(gradient: Callable, start: np.ndarray) -> Contestant:
    import jax_chains

    return jax_chains.blackjax_sghmc(lambda theta: -gradient(theta), start, EPS, C, 10, 20_480, 8)


def _numpy(gradient: Callable, start: np.ndarray) -> Contestant:
    rng, scale = np.random.default_rng(1), math.sqrt(2.0 * C * EPS)
    chain = {"theta": start, "r": np.zeros_like(start)}
    draws = 128

    def work() -> np.ndarray:
        theta, r, kept = chain["theta"], chain["r"], []
        for _ in range(draws):
            for _ in range(THIN):
                r_new = r - EPS * (gradient(theta) + C * r) + scale * rng.standard_normal(theta.size)
                theta, r = theta + EPS * r, r_new
            kept.append(theta)
        chain["theta"], chain["r"] = theta, r
        return np.stack(kept)

    return Contestant("numpy", THIN * draws, work, clock=time.thread_time)

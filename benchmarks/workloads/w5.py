"""Workload W5: SGLD on a standard normal in 10240 dimensions."""

import math
import time

import emitted
import limits
import numpy as np
from numba import njit
from racing import Contestant

from workloads.workload import Field, Workload

D, EPS = 10_240, 0.02
STEPS = 200
"""Steps per call: four units of time, after which little is left of where a coordinate was."""
MOMENT_STEPS = 20 * STEPS


def w5() -> Workload:
    """Return steps of one chain; the draws compared are its coordinates, which are independent."""
    field = Field()
    field.add("emitted", _emitted)
    field.add("c", _limit)
    field.add("jax_scan", _jax_scan, ["jax", "blackjax"])
    field.add("blackjax", _blackjax, ["jax", "blackjax"])
    field.add("natural_numba", _numba)
    field.add("numpy", _numpy)
    about = f"SGLD, standard normal, d = {D}"
    return Workload("us/step", 1e6, tuple(field.contestants), field.absent, MOMENT_STEPS, about=about)


def _emitted() -> Contestant:
    build = emitted.load_build("sgld_w5")  # without its size: read back at 10240 entries it would take hours
    chains = emitted.Chains(emitted.load_build("sgld_w5", d=D), STEPS, 1, module=emitted.compiled(build))
    return Contestant("emitted", STEPS, lambda: chains.work().reshape(-1, 1))


def _limit() -> Contestant:
    function, theta, out = limits.Function("sgld_normal"), limits.aligned(D), limits.aligned(1, D)

    def work() -> np.ndarray:
        function.seeded(D, 1, STEPS, EPS, theta, out)
        return theta.reshape(-1, 1)

    return Contestant("c", STEPS, work)


def _numba() -> Contestant:
    theta, rng = np.zeros(D), np.random.default_rng(1)

    def work() -> np.ndarray:
        _sgld_numba(theta, STEPS, EPS, rng)
        return theta.reshape(-1, 1)

    return Contestant("natural_numba", STEPS, work)


@njit
def _sgld_numba(theta, steps, eps, rng):
    scale = math.sqrt(2.0 * eps)
    for _ in range(steps):
        for i in range(theta.size):
            theta[i] += -eps * theta[i] + scale * rng.standard_normal()


def _numpy() -> Contestant:
    theta, z, rng, scale = np.zeros(D), np.empty(D), np.random.default_rng(1), math.sqrt(2.0 * EPS)

    def work() -> np.ndarray:
        for _ in range(STEPS):
            rng.standard_normal(out=z)
            np.multiply(theta, 1.0 - EPS, out=theta)
            np.multiply(z, scale, out=z)
            np.add(theta, z, out=theta)
        return theta.reshape(-1, 1)

    return Contestant("numpy", STEPS, work, clock=time.thread_time)


def _jax_scan() -> Contestant:
    import jax
    import jax.numpy as jnp
    import jax_chains

    scale = np.sqrt(2.0 * EPS)

    def run(key, theta):
        def step(theta, key):
            return theta - EPS * theta + scale * jax.random.normal(key, theta.shape), None

        theta, _ = jax.lax.scan(step, theta, jax.random.split(key, STEPS))
        return theta, theta.reshape(-1, 1)

    return jax_chains.contestant("jax_scan", STEPS, run, jnp.zeros(D))


def _blackjax() -> Contestant:
    import blackjax
    import jax
    import jax.numpy as jnp
    import jax_chains

    kernel = blackjax.sgld(lambda theta, _: -theta)

    def run(key, theta):
        theta, _ = jax.lax.scan(
            lambda at, one: (kernel.step(one, at, 0, EPS), None), theta, jax.random.split(key, STEPS)
        )
        return theta, theta.reshape(-1, 1)

    return jax_chains.contestant("blackjax", STEPS, run, jnp.zeros(D))

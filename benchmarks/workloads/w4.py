"""Workload W4: 1024 chains of SGHMC in the plane."""

import math

import emitted
import limits
import numpy as np
from numba import njit
from racing import Contestant

from workloads.w1 import EPS, C, jax_grad_plane
from workloads.workload import Field, Workload

CHAINS, STEPS = 1024, 2000
FEW = 200
"""Steps per call of slower rivals."""
MANY = 200_000
"""Steps per call of the emitted module: chains are laid side by side and handed back in Python."""

MOMENT_STEPS = CHAINS * MANY * 5
"""Each call gives one draw per chain, so long after the one before that they are independent."""


def w4() -> Workload:
    """Return steps of all chains; a draw is where a chain ends."""
    field = Field()
    field.add("emitted", _emitted)
    field.add("c", _limit)
    field.add("jax_scan", _jax_scan, ["jax", "blackjax"])
    field.add("blackjax", _blackjax, ["jax", "blackjax"])
    field.add("natural_numba", _numba)
    field.add("numpy", _numpy)
    about = f"SGHMC, plane, {CHAINS} chains"
    return Workload("ns/chain-step", 1e9, tuple(field.contestants), field.absent, MOMENT_STEPS, about=about)


def _emitted() -> Contestant:
    chains = emitted.Chains(emitted.load_build("sghmc_w1c"), MANY, 1, chains=CHAINS, lanes=True)
    return Contestant("emitted", CHAINS * MANY, chains.work)


def _limit() -> Contestant:
    function = limits.Function("sghmc_plane_lanes")
    state, out = limits.aligned(4, CHAINS), limits.aligned(1, 4, CHAINS)

    def work() -> np.ndarray:
        function.seeded(CHAINS, 1, STEPS, EPS, C, state, out)
        return state[:2].T

    return Contestant("c", CHAINS * STEPS, work)


def _numba() -> Contestant:
    state, rng = np.zeros((CHAINS, 4)), np.random.default_rng(1)

    def work() -> np.ndarray:
        _chains_numba(state, STEPS, EPS, C, rng)
        return state[:, :2]

    return Contestant("natural_numba", CHAINS * STEPS, work)


@njit
def _chains_numba(state, steps, eps, C, rng):
    scale = math.sqrt(2.0 * C * eps)
    for k in range(state.shape[0]):
        a, b, r, s = state[k]
        for _ in range(steps):
            valley = 4.0 * (b + 1.2) - a * a
            r_new = r - eps * (0.4 * a**3 - 2.0 * a * valley + C * r) + scale * rng.standard_normal()
            s_new = s - eps * (4.0 * valley + C * s) + scale * rng.standard_normal()
            a += eps * r
            b += eps * s
            r, s = r_new, s_new
        state[k, 0], state[k, 1], state[k, 2], state[k, 3] = a, b, r, s


def _numpy() -> Contestant:
    rng, scale = np.random.default_rng(1), math.sqrt(2.0 * C * EPS)
    chain = {"theta": np.zeros((2, CHAINS)), "r": np.zeros((2, CHAINS))}

    def work() -> np.ndarray:
        theta, r = chain["theta"], chain["r"]
        for _ in range(FEW):
            valley = 4.0 * (theta[1] + 1.2) - theta[0] ** 2
            grad_U = np.stack([0.4 * theta[0] ** 3 - 2.0 * theta[0] * valley, 4.0 * valley])
            r_new = r - EPS * (grad_U + C * r) + scale * rng.standard_normal((2, CHAINS))
            theta, r = theta + EPS * r, r_new
        chain["theta"], chain["r"] = theta, r
        return theta.T

    return Contestant("numpy", CHAINS * FEW, work)


def _jax_scan() -> Contestant:
    import jax
    import jax.numpy as jnp
    import jax_chains

    gradient, scale = jax.vmap(jax_grad_plane), np.sqrt(2.0 * C * EPS)

    def step(state, key):
        theta, r = state
        return (
            theta + EPS * r,
            r - EPS * (gradient(theta) + C * r) + scale * jax.random.normal(key, theta.shape),
        ), None

    def run(key, state):
        state, _ = jax.lax.scan(step, state, jax.random.split(key, FEW))
        return state, state[0]

    state = (jnp.zeros((CHAINS, 2)), jnp.zeros((CHAINS, 2)))
    return jax_chains.contestant("jax_scan", CHAINS * FEW, run, state)


def _blackjax() -> Contestant:
    import blackjax
    import jax
    import jax.numpy as jnp
    import jax_chains

    inner = 10
    kernel = blackjax.sghmc(lambda theta, _: -jax_grad_plane(theta), inner, alpha=C, beta=0.0)

    def move(theta, key):
        keys = jax.random.split(key, CHAINS)
        return jax.vmap(lambda one, at: kernel.step(one, at, 0, EPS))(keys, theta), None

    def run(key, theta):
        theta, _ = jax.lax.scan(move, theta, jax.random.split(key, FEW // inner))
        return theta, theta

    note = f"vmap; momenta are refreshed every {inner} steps"
    return jax_chains.contestant("blackjax", CHAINS * FEW, run, jnp.zeros((CHAINS, 2)), note, slack=0.2)

"""Rivals on JAX: hand-written `lax.scan`s with batched draws, and BlackJAX. Import only where JAX is installed."""

import os

os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false")

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import blackjax
import jax
import jax.numpy as jnp
import numpy as np
from racing import Contestant

jax.config.update("jax_enable_x64", True)

State = Any


def contestant(key: str, units: int, run: Callable[[Any, State], tuple[State, Any]], state: State, note: str = "",
               compared: str = "all", slack: float = 0.0, data: tuple[Any, ...] = ()) -> Contestant:  # fmt: skip
    """Return a contestant of `run(key, state, *data)`, which gives the new state and the draws of `units` units.

    Data are arguments: a constant of a jitted function is copied into it, and folded where XLA can.
    The clock is that of the process, as XLA may work in threads of its own.
    """
    compiled = jax.jit(run)
    carried = {"state": state, "key": jax.random.key(0)}

    def work() -> np.ndarray:
        carried["key"], now = jax.random.split(carried["key"])
        carried["state"], draws = jax.block_until_ready(compiled(now, carried["state"], *data))
        return np.asarray(draws)

    return Contestant(key, units, work, compared=compared, slack=slack, clock=time.process_time, note=note)


def sghmc_scan(gradient: Callable[[Any], Any], start: np.ndarray, eps: float, C: float, thin: int, units: int,
               chunk: int = 1 << 14) -> Contestant:  # fmt: skip
    """Return SGHMC as a `lax.scan`, by Euler's scheme; normals are drawn for `chunk` steps at once."""
    scale = np.sqrt(2.0 * C * eps)
    shape = start.shape

    def step(state, z):
        theta, r = state
        return (theta + eps * r, r - eps * (gradient(theta) + C * r) + scale * z), None

    def keep(state, z):
        state, _ = jax.lax.scan(step, state, z)
        return state, state[0]

    def pieces(state, key):
        return jax.lax.scan(keep, state, jax.random.normal(key, (chunk // thin, thin, *shape)))

    def run(key, state):
        state, draws = jax.lax.scan(pieces, state, jax.random.split(key, units // chunk))
        return state, draws.reshape(-1, *shape)

    return contestant("jax_scan", units, run, (jnp.asarray(start), jnp.zeros(shape)))


def blackjax_sghmc(log_gradient: Callable[[Any], Any], start: np.ndarray, eps: float, C: float, inner: int, units: int,
                   moves: int = 1) -> Contestant:  # fmt: skip
    """Return `blackjax.sghmc` with `inner` steps between refreshed momenta. One draw is kept every `moves` calls."""
    kernel = blackjax.sghmc(lambda theta, _: log_gradient(theta), inner, alpha=C, beta=0.0)

    def move(theta, key):
        return kernel.step(key, theta, 0, eps), None

    def keep(theta, keys):
        theta, _ = jax.lax.scan(move, theta, keys)
        return theta, theta

    def run(key, theta):
        count = units // inner
        return jax.lax.scan(keep, theta, jax.random.split(key, (count // moves, moves)))

    note = f"momenta are refreshed every {inner} steps"
    return contestant("blackjax", units, run, jnp.asarray(start), note, slack=0.2)


def hmc_scan(potential: Callable, start: np.ndarray, eps: float, steps: int, draws: int, thin: int,
             data: tuple[Any, ...] = ()) -> Contestant:  # fmt: skip
    """Return HMC as a `lax.scan`, of `potential(theta, *data)`, M = I; every `thin`-th state is kept."""

    def run(key, state, *data):
        energy = jax.value_and_grad(lambda theta: potential(theta, *data))

        def leapfrog(state, _):
            theta, r, _, grad_U = state
            r = r - 0.5 * eps * grad_U
            theta = theta + eps * r
            U, grad_U = energy(theta)
            return (theta, r - 0.5 * eps * grad_U, U, grad_U), None

        def move(state, drawn):
            theta, U, grad_U = state
            r, u = drawn
            (at, r_at, U_at, grad_at), _ = jax.lax.scan(leapfrog, (theta, r, U, grad_U), None, steps)
            accept = jnp.log(u) < U - U_at + 0.5 * (r @ r - r_at @ r_at)
            return jax.tree.map(lambda new, old: jnp.where(accept, new, old), (at, U_at, grad_at), state), None

        def keep(state, drawn):
            state, _ = jax.lax.scan(move, state, drawn)
            return state, state[0]

        for_r, for_u = jax.random.split(key)
        drawn = (jax.random.normal(for_r, (draws, thin, start.size)), jax.random.uniform(for_u, (draws, thin)))
        state, kept = jax.lax.scan(keep, (state, *energy(state)), drawn)
        return state[0], kept

    return contestant("jax_scan", draws * thin, run, jnp.asarray(start), data=tuple(map(jnp.asarray, data)))


def blackjax_hmc(potential: Callable, start: np.ndarray, eps: float, steps: int, draws: int, thin: int,
                 data: tuple[Any, ...] = ()) -> Contestant:  # fmt: skip
    """Return `blackjax.hmc` on exp(-potential(theta, *data)), M = I; every `thin`-th state is kept."""

    def run(key, theta, *data):
        kernel = blackjax.hmc(lambda theta: -potential(theta, *data), eps, jnp.ones(start.size), steps)

        def move(state, key):
            return kernel.step(key, state)[0], None

        def keep(state, keys):
            state, _ = jax.lax.scan(move, state, keys)
            return state, state.position

        state, kept = jax.lax.scan(keep, kernel.init(theta), jax.random.split(key, (draws, thin)))
        return state.position, kept

    return contestant("blackjax", draws * thin, run, jnp.asarray(start), data=tuple(map(jnp.asarray, data)))


def logistic_gradient(x, y, theta):
    """Return the sum over rows of (sigmoid(x.theta) - y) x."""
    return (jax.nn.sigmoid(x @ theta) - y) @ x


def sghmc_logistic_scan(x: np.ndarray, y: np.ndarray, start: np.ndarray, eps: float, C: float, prior_variance: float,
                        batch: int, inner: int, iterations: int, units: int, chunk: int) -> Contestant:  # fmt: skip
    """Return minibatch SGHMC as a `lax.scan`; indices and normals are drawn for `chunk` iterations at once."""
    rows, d = x.shape
    scale = np.sqrt(2.0 * C * eps)

    def run(key, state, xs, ys):
        def step(state, drawn):
            theta, r = state
            places, z = drawn
            grad_U = rows / batch * logistic_gradient(xs[places], ys[places], theta) + theta / prior_variance
            return (theta + eps * r, r - eps * (grad_U + C * r) + scale * z), None

        def keep(state, drawn):
            state, _ = jax.lax.scan(step, state, drawn)
            return state, state[0]

        def pieces(state, key):
            for_places, for_noise = jax.random.split(key)
            places = jax.random.randint(for_places, (chunk, inner, batch), 0, rows, dtype=jnp.int32)
            return jax.lax.scan(keep, state, (places, jax.random.normal(for_noise, (chunk, inner, d))))

        state, draws = jax.lax.scan(pieces, state, jax.random.split(key, iterations // chunk))
        return state, draws.reshape(-1, d)

    data = (jnp.asarray(x), jnp.asarray(y))
    return contestant("jax_scan", units, run, (jnp.asarray(start), jnp.zeros(d)), data=data)


def _log_prior(prior_variance, theta):
    return -0.5 * jnp.dot(theta, theta) / prior_variance


def _log_likelihood(theta, row):
    x, y = row
    predictor = x @ theta
    return y * predictor - jnp.logaddexp(0.0, predictor)


def blackjax_logistic(x: np.ndarray, y: np.ndarray, start: np.ndarray, eps: float, C: float, prior_variance: float,
                      batch: int, inner: int, iterations: int, units: int) -> Contestant:  # fmt: skip
    """Return BlackJAX on minibatches: `sghmc` for several inner steps, else `sgld`, one minibatch for each call.

    With one inner step `sghmc` moves theta by momenta alone, and XLA would leave the gradient out.
    """
    rows, _d = x.shape
    log_prior = partial(_log_prior, prior_variance)
    estimate = blackjax.sgmcmc.gradients.grad_estimator(log_prior, _log_likelihood, rows)
    several = inner > 1
    kernel = blackjax.sghmc(estimate, inner, alpha=C, beta=0.0) if several else blackjax.sgld(estimate)

    def run(key, theta, xs, ys):
        def move(theta, key):
            for_places, for_noise = jax.random.split(key)
            places = jax.random.randint(for_places, (batch,), 0, rows)
            theta = kernel.step(for_noise, theta, (xs[places], ys[places]), eps)
            return theta, theta

        return jax.lax.scan(move, theta, jax.random.split(key, iterations))

    note = f"one minibatch for its {inner} inner steps" if several else "sgld: one gradient per step"
    data = (jnp.asarray(x), jnp.asarray(y))
    return contestant("blackjax", units, run, jnp.asarray(start), note, "mean", 0.2, data)

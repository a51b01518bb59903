"""Draws of all shares of a whole have Dirichlet's law at small, equal, mixed and large parameters, and a mixture of
unknown weights has its allocations, every one of them counted.

A p-value is below 1e-6 once in a million; standard errors are between chains, which share no draw.
"""

import math
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from cycles import texts
from draws import COUNTS, draws_build
from loaders import load_build
from reference_draws import reference_bits, reference_normals
from scipy import stats
from scipy.special import betaln, expit, gammaln, logsumexp

from recipe_compiler.run.data import Data, load_data
from recipe_compiler.run.energies import energies_of
from recipe_compiler.run.load_module import Emitted, load_text
from recipe_compiler.run.sample import prepare_inputs, sample
from recipe_compiler.spec.model import Build

ROOT = Path(__file__).parents[2]
LEAST = 1e-6
DRAWS = 20_000


@cache
def module_of(build: Build) -> Emitted:
    module = texts(build)["shipped"].module
    return load_text(module.name, module.text)


def counts(a: tuple[float, ...]) -> Build:
    values = f"parameters: {{a: {{value: [{', '.join(f'{x:.17g}' for x in a)}]}}}}\nsizes: {{K: {len(a)}}}"
    return draws_build("of_counts", COUNTS, "[draw: w]", values)


@cache
def variables(a: tuple[float, ...]) -> np.ndarray:
    """Return u of draws that do not depend on one another; one text draws for all parameters of a length."""
    build = counts(a)
    run = replace(build.run, draws=DRAWS // 2, warmup=1, thin=1, chains=2, seed=3)
    draws = sample(module_of(counts((1.0,) * len(a))), build, run, load_data(build.data, build.target))
    return draws.block("theta")[:, 1:].reshape(-1, len(a))


def logit_cdf(s: np.ndarray, a: float, b: float) -> np.ndarray:
    """Return P(logit X <= s), X ~ Beta(a, b): by the nearer end, and far out by the first term of its series."""

    def below(s: np.ndarray, a: float, b: float) -> np.ndarray:
        first = np.exp(np.minimum(a * s - np.log(a) - betaln(a, b), 0.0))
        return np.where(s < -60, first, stats.beta.cdf(expit(np.maximum(s, -60.0)), a, b))

    return np.where(s < 0, below(np.minimum(s, 0), a, b), 1 - below(-np.maximum(s, 0), b, a))


PARAMETERS = [
    (1e-3, 1e-3), (1e5, 1e5), (1.0, 1.0), (0.5, 2.0), (1e-3, 1e5), (1e-3,) * 7, (1e5,) * 7,
    (1e-3, 0.3, 1.0, 1.0, 2.5, 30.0, 1e5), (0.999, 1.0, 1.001, 0.5, 1.0, 2.0, 3.0),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("a", PARAMETERS)
def test_shares_have_the_laws_of_dirichlet(a: tuple[float, ...]) -> None:
    """Each share is Beta(a_k, the others), each of two among the two of them Beta(a_i, a_j), and t is N(0, 1)."""
    u = variables(a)
    assert u.shape == (DRAWS, len(a))
    assert np.isfinite(u).all()
    log_w = u - logsumexp(u, axis=1, keepdims=True)
    assert np.abs(np.exp(log_w).sum(axis=1) - 1).max() < 1e-12
    total = sum(a)
    for k, own in enumerate(a):
        logit = u[:, k] - logsumexp(np.delete(u, k, axis=1), axis=1)
        assert stats.kstest(logit, logit_cdf, (own, total - own)).pvalue > LEAST
    for i, j in ((0, 1), (len(a) - 1, 0)):
        assert stats.kstest(u[:, i] - u[:, j], logit_cdf, (a[i], a[j])).pvalue > LEAST
    t = u.sum(axis=1) / np.sqrt(len(a))
    assert stats.kstest(t, stats.norm.cdf).pvalue > LEAST
    ranks = [stats.rankdata(x) for x in (t, log_w[:, 0], np.arange(DRAWS))]
    for one, other in ((ranks[0], ranks[1]), (ranks[1], ranks[2]), (ranks[1][1:], ranks[1][:-1])):
        assert abs(np.corrcoef(one, other)[0, 1]) < 6 / np.sqrt(DRAWS)


def reference_log_gamma(a: float, bits: Iterator[int], normals: Iterator[float]) -> float:
    """Return log G of Marsaglia and Tsang (2000) with d = a - 1/3, of a + 1 and log(u)/a more below 1."""

    def uniform() -> float:
        return (next(bits) >> 12) * 2.0**-52 + 2.0**-53

    d = (a + 1.0 if a < 1.0 else a) - 1 / 3
    while True:
        x, u = next(normals), uniform()
        v = (1 + x / math.sqrt(9 * d)) ** 3
        if v > 0 and math.log(u) < x * x / 2 + d - d * v + d * math.log(v):
            return math.log(d * v) + (math.log(uniform()) / a if a < 1.0 else 0.0)


@pytest.mark.slow
def test_a_draw_takes_the_words_of_its_stream_in_order() -> None:
    """Gammas of all shares, then the normal of their level, as the textbook has them; the next draw goes on."""
    a = (0.3, 2.5, 1.0)
    build = counts((1.0, 1.0, 1.0))
    module = module_of(build)
    inputs = prepare_inputs(module, build, build.run, Data(()), 0)
    words, kept = np.array([1, 2, 3, 4], np.uint64), np.empty((3, 3))
    assert module.run(np.zeros(3), np.array(a), *inputs.parameters[1:], 1.0, 1, words, kept) == 3
    bits = reference_bits([1, 2, 3, 4])
    normals = reference_normals(bits)
    for row in kept:
        logs = np.array([reference_log_gamma(x, bits, normals) for x in a])
        assert row == pytest.approx(logs - logs.mean() + next(normals) / np.sqrt(3), rel=1e-12, abs=1e-12)
    assert kept[0] == pytest.approx(PINNED, rel=1e-12)


PINNED = (-18.30757333339659, 10.982421765041256, 8.933884490353789)


@cache
def allocations(alpha: tuple[float, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Return all 3**10 allocations with their probabilities: weights and means integrated out."""
    y = np.loadtxt(ROOT / "specs/data/few_of_two_groups.csv", skiprows=1)
    every = np.array(list(product(range(len(alpha)), repeat=len(y))))
    one = every[:, :, None] == np.arange(len(alpha))
    n, total = one.sum(axis=1), np.einsum("ank,n->ak", one, y)
    precision = n + 1 / 4
    logs = gammaln(np.array(alpha) + n) + total**2 / (2 * precision) - np.log(4 * precision) / 2
    return every, np.exp(logs.sum(axis=1) - logsumexp(logs.sum(axis=1)))


@pytest.mark.slow
def test_a_mixture_of_unknown_weights_has_its_allocations_and_weights() -> None:
    alpha = np.array([2.0, 1.0, 0.5])
    build = load_build(ROOT / "specs/builds/gibbs_weights.yaml")
    build = replace(build, sizes=(*build.sizes, ("N", 10)))
    run = replace(build.run, draws=15_000, warmup=200, thin=8, chains=8, seed=7)
    draws = sample(module_of(build), build, run, load_data(build.data, build.target))
    theta = draws.block("theta")[:, draws.warmup :]
    z = theta[..., 6:].reshape(8, -1, 10, 3)
    assert np.isin(z, (0.0, 1.0)).all()
    assert (z.sum(axis=3) == 1.0).all()
    places = z.argmax(axis=3)
    every, p = allocations(tuple(alpha))
    counted = (every[:, :, None] == np.arange(3)).sum(axis=1)
    w = np.exp(theta[..., :3] - logsumexp(theta[..., :3], axis=2, keepdims=True))
    first = np.triu_indices(10, 1)
    figures = (
        (places[..., :, None] == 0, every[:, :, None] == 0),
        (places[..., first[0]] == places[..., first[1]], every[:, first[0]] == every[:, first[1]]),
        (w, (alpha + counted) / (alpha.sum() + 10)),
        (w[..., :2] * w[..., 1:], (alpha + counted)[:, :2] * (alpha + counted)[:, 1:] / (13.5 * 14.5)),
    )
    for of_draws, of_every in figures:
        means = of_draws.reshape(8, -1, of_every[0].size).mean(axis=1)
        error = means.std(axis=0, ddof=1) / np.sqrt(8)
        exact = p @ of_every.reshape(len(p), -1)
        assert np.max(np.abs(means.mean(axis=0) - exact) / error) < 8  # t of 7 degrees: 1e-4 of 60 figures
        assert np.max(error) < 0.02
    halves = w[:, : w.shape[1] // 2].mean(axis=1) - w[:, w.shape[1] // 2 :].mean(axis=1)
    assert np.all(np.abs(halves.mean(axis=0)) < 8 * halves.std(axis=0, ddof=1) / np.sqrt(8))  # over time, too


@pytest.mark.slow
def test_lp_of_shares_that_are_no_doubles_is_a_number() -> None:
    """log w of w = 0 is that of its variables: 0 log 0 in the place of it is no number, and log 0 none that is told."""
    build = load_build(ROOT / "specs/builds/gibbs_weights.yaml")
    build = replace(build, sizes=(*build.sizes, ("N", 10)))
    module, data = module_of(build), load_data(build.data, build.target)
    run = replace(build.run, draws=3, warmup=1, thin=1, chains=2)
    draws = sample(module, build, run, data)
    inputs = prepare_inputs(module, build, run, data, 0)
    theta = draws.block("theta")
    theta[..., :3] = (-900.0, 400.0, -2.0)
    theta[..., 6:] = np.tile([0.0, 1.0, 0.0], 10)
    known = energies_of(module, build, inputs, data, draws, asked=True)
    y = np.loadtxt(ROOT / "specs/data/few_of_two_groups.csv", skiprows=1)
    log_w, mu = theta[..., :3] - 400.0, theta[:, draws.warmup :, 3:6]
    assert known.log_likelihood == pytest.approx(-((y - mu[..., 1:2]) ** 2) / 2, rel=1e-12)
    alpha = np.array([2.0, 1.0, 0.5])
    prior = log_w[:, draws.warmup :] @ (alpha - 1) + gammaln(alpha.sum()) - gammaln(alpha).sum()
    prior = prior - (mu**2).sum(axis=-1) / 8
    prior = prior + (log_w.sum(axis=-1) - theta[..., :3].sum(axis=-1) ** 2 / 6)[:, draws.warmup :]  # in the variables
    assert known.lp == pytest.approx(prior + known.log_likelihood.sum(axis=-1), rel=1e-12)

"""Chains of draws by laws have the law of their target: posteriors in closed form, each family beside its own law.

What is compared by Kolmogorov and Smirnov are draws that do not depend on one another; a p-value is below 1e-6 once in
a million.
"""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from cycles import texts
from draws import DATA, FAMILIES, HELD, WORD, draws_build
from scipy import stats

from recipe_compiler.errors import ModelError
from recipe_compiler.run.chain import run_arguments, start_chain
from recipe_compiler.run.data import load_data
from recipe_compiler.run.evaluate import extent
from recipe_compiler.run.load_module import Emitted, load_text
from recipe_compiler.run.sample import Draws, prepare_inputs, sample
from recipe_compiler.run.sizes import resolve_sizes
from recipe_compiler.spec.model import Build

LEAST = 1e-6
SHAPE, RATE, K = 3.0, 2.0, 0.5
"""Of the priors: tau is Gamma(3, 2), the location N(m, I/(K tau))."""
CONJUGATE = """
format: 1
name: conjugate_regression
state:
  beta: {shape: p}
  tau: {shape: scalar, domain: positive, transform: log}
data: {x: {shape: [N, p]}, y: {shape: N}}
parameters: {m: {shape: p, default: ones/2}}
log_prior: p*log(tau)/2 - tau*norm2(beta - m)/4 + 2*log(tau) - 2*tau
log_likelihood: log(tau)/2 - tau*(y - x @ beta)**2/2
laws:
  beta: "N(inv(tau*(x.T @ x + I/2)) @ (tau*(x.T @ y + m/2)), inv(tau*(x.T @ x + I/2)))"
  tau: "Gamma(3 + p/2 + N/2, 2 + norm2(y - x @ beta)/2 + norm2(beta - m)/4)"
"""
"""beta and tau given the data have a normal-gamma law: beta a multivariate t, tau a gamma."""
INDEPENDENT = {
    "g[0]": stats.gamma(0.5, scale=1 / 3),
    "g[1]": stats.gamma(2, scale=1 / 3),
    "h": stats.invgamma(4, scale=2),
    "e": stats.expon(scale=4),
    "l[0]": stats.lognorm(2, scale=np.exp(0.5)),
    "l[1]": stats.lognorm(2, scale=np.exp(2)),
    "b": stats.beta(2, 0.5),
    "w": stats.uniform(-1, 4),
    "n[0]": stats.norm(0.5, np.sqrt(2)),
    "n[1]": stats.norm(2, np.sqrt(3)),
}
"""The laws of the coordinates, which do not depend on each other but for n."""


def posterior(x: np.ndarray, y: np.ndarray, m: np.ndarray) -> tuple[np.ndarray, np.ndarray, float, float]:
    """Return b, V, a, r of tau ~ Gamma(a, r), beta given tau ~ N(b, V/tau)."""
    V = np.linalg.inv(x.T @ x + K * np.eye(x.shape[1]))
    b = V @ (x.T @ y + K * m)
    rate = RATE + (y @ y + K * m @ m - b @ np.linalg.solve(V, b)) / 2
    return b, V, SHAPE + len(y) / 2, rate


@cache
def regression(cycle: str) -> Build:
    return draws_build(
        "conjugate",
        CONJUGATE,
        cycle,
        DATA["regression_precision"].replace("p: 2", "p: 3").replace("[a, b]", "[a, b, c]"),
    )


def module_of(build: Build) -> Emitted:
    module = texts(build)["shipped"].module
    return load_text(module.name, module.text)


def drawn(build: Build, **settings: object) -> Draws:
    run = replace(build.run, **{"draws": 40_000, "warmup": 200, "thin": 1, "chains": 4, "seed": 5, **settings})
    return sample(module_of(build), build, run, load_data(build.data, build.target))


def theta_of(draws: Draws) -> np.ndarray:
    found = draws.block("theta")[:, draws.warmup :]
    return found.reshape(-1, found.shape[-1])


def data_of(build: Build) -> tuple[np.ndarray, np.ndarray]:
    assert build.data is not None
    rows = np.genfromtxt(build.data.file, delimiter=",", names=True)
    return np.stack([rows[name] for name in "abc"], axis=1), rows["y"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "cycle",
    [
        "[draw: beta, draw: tau]",
        f"[{WORD}, {{draw: tau}}]",
        f"[{{draw: tau}}, {WORD}]",
        f"[{{draw: beta, every: 3}}, {WORD}, {{draw: tau, every: 2}}]",
        f"[{{draw: tau}}, {HELD}]",
    ],
)
def test_draws_have_the_posterior_of_the_conjugate_regression(cycle: str) -> None:
    """Alone, and one of both with a trajectory for the other: nothing of a state before a draw is used after it."""
    build = regression(cycle)
    x, y = data_of(build)
    b, V, a, rate = posterior(x, y, np.full(3, 0.5))
    thin = 8 if "split" in cycle else 4
    theta = theta_of(drawn(build, thin=thin, draws=10_000))
    laws = [*(stats.t(2 * a, b[k], np.sqrt(V[k, k] * rate / a)) for k in range(3)), stats.gamma(a, scale=1 / rate)]
    for values, law in zip((*theta[:, :3].T, np.exp(theta[:, 3])), laws, strict=True):
        thinned = values[::5]
        assert stats.kstest(thinned, law.cdf).pvalue > LEAST
        assert abs(values.mean() - law.mean()) < 4 * law.std() / np.sqrt(len(thinned))
    covariance = V * rate / (a - 1)
    off = (theta[:, :3] - b)[::5]
    errors = np.std(off[:, :, None] * off[:, None, :], axis=0) / np.sqrt(len(off))
    assert np.all(np.abs(np.einsum("ni,nj->ij", off, off) / len(off) - covariance) < 4 * errors)


def test_every_family_is_drawn_by_its_law() -> None:
    """In the unbounded variables that the chain holds: draws are turned back here."""
    build = draws_build("families")
    theta = theta_of(drawn(build, draws=25_000))
    logits = 1 / (1 + np.exp(-theta[:, 6:8]))
    values = np.hstack([np.exp(theta[:, :6]), logits[:, :1], 4 * logits[:, 1:] - 1, theta[:, 8:]])
    for own, (name, law) in zip(values.T, INDEPENDENT.items(), strict=True):
        assert stats.kstest(own, law.cdf).pvalue > LEAST, name
    n = theta[:, 8:] - [0.5, 2]
    error = np.std(n[:, 0] * n[:, 1]) / np.sqrt(len(n))
    assert abs(np.mean(n[:, 0] * n[:, 1]) - 1) < 4 * error
    correlations = np.corrcoef(theta.T)[np.triu_indices(10, 1)][:-1]
    assert np.max(np.abs(correlations)) < 6 / np.sqrt(len(theta))


@pytest.mark.slow
@pytest.mark.parametrize(
    "cycle",
    [
        "[draw: beta, draw: tau]",
        f"[{WORD}, {{draw: tau}}, {{draw: beta}}]",
        f"[{{draw: beta, every: 4}}, {WORD}, {{draw: tau, every: 3}}]",
    ],
)
def test_a_run_is_the_same_bits_however_it_is_cut_into_calls(cycle: str) -> None:
    """Nothing is carried beside the state and the words of the stream, but the number of cycles where it is needed."""
    build = regression(cycle)
    module, data = module_of(build), load_data(build.data, build.target)
    inputs, sizes = prepare_inputs(module, build, build.run, data, 60), resolve_sizes(build, data)
    assert module.carried == ((("cycles", 1),) if "every" in cycle else ())

    def run(*pieces: int) -> np.ndarray:
        noise, batch = module.seed_streams(3, 2)
        state = tuple(np.full(extent(size, sizes) or 1, 0.3) for _, size in module.blocks)
        chain = start_chain(module, inputs, state, noise[0], batch[0])
        for count in pieces:
            chain.done += module.run(*run_arguments(module, inputs, chain, count))
        assert chain.done == 60
        return np.concatenate(chain.draws, axis=1)

    whole = run(60)
    np.testing.assert_array_equal(run(*(1,) * 60), whole)
    np.testing.assert_array_equal(run(7, 20, 33), whole)
    theta = drawn(build, draws=60, warmup=0, chains=3).block("theta")
    if "every" not in cycle:
        assert len(np.unique(theta[:, 1:, 3])) == 3 * theta[:, 1:, 3].shape[1]


@pytest.mark.slow
def test_a_move_is_done_in_each_nth_cycle_from_the_first_on() -> None:
    """Also where a draw is kept of each second cycle alone."""
    build = regression("[{draw: beta, every: 3}, {draw: tau, every: 2, repeat: 2}]")
    for thin in (1, 2):
        theta = drawn(build, draws=31, warmup=0, thin=thin).block("theta")
        beta, tau = (np.any(np.diff(theta[:, :, own], axis=1) != 0, axis=2) for own in (slice(0, 3), slice(3, 4)))
        for moved, every in ((beta, 3), (tau, 2)):
            due = [any(k % every == 0 for k in range(thin * kept, thin * (kept + 1))) for kept in range(1, 31)]
            assert np.all(moved == due)


@pytest.mark.slow
@pytest.mark.parametrize("generator", ["philox", "numpy"])
def test_other_bits_draw_normals_and_refuse_what_takes_words_as_it_goes(generator: str) -> None:
    noise = f"noise: {{generator: {generator}}}\n"
    build = draws_build("normals", FAMILIES, "[draw: n, draw: l]", DATA["families"], noise)
    theta = theta_of(drawn(build, draws=25_000))
    assert stats.kstest(theta[:, 8], INDEPENDENT["n[0]"].cdf).pvalue > LEAST
    assert stats.kstest(np.exp(theta[:, 4]), INDEPENDENT["l[0]"].cdf).pvalue > LEAST
    with pytest.raises(ModelError, match=f"a draw from Gamma by the generator {generator}"):
        texts(draws_build("words", FAMILIES, "[draw: g]", DATA["families"], noise))

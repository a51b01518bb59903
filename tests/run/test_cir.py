"""Flows of Cox, Ingersoll and Ross in chains: exact laws with all data; the known mean and variance with minibatches.

The Dirichlet posteriors are those of Baker, Fearnhead, Fox and Nemeth (2018), Sec. 2.3 and 3.2. A p-value is below
1e-6, and a sum of squares of ten errors above 60, less than once in a million.
"""

from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from loaders import load_build
from scipy import stats

from recipe_compiler.pipeline import compile_build
from recipe_compiler.run.chain import run_arguments, start_chain
from recipe_compiler.run.data import load_data
from recipe_compiler.run.evaluate import Array
from recipe_compiler.run.flow_widths import flow_widths
from recipe_compiler.run.load_module import Emitted, load_text
from recipe_compiler.run.sample import known_values, prepare_inputs, sample
from recipe_compiler.run.sizes import resolve_sizes
from recipe_compiler.spec.model import Build

SPECS = Path(__file__).parents[2] / "specs"
LEAST = 1e-6
ALPHA = 0.1
SPARSE = np.array([800.0, 100, 100, 0, 0, 0, 0, 0, 0, 0]) + ALPHA
DENSE = np.array([112.0, 119, 92, 98, 95, 96, 102, 92, 91, 103]) + ALPHA
N = 1000


@cache
def build_of(name: str) -> Build:
    return load_build(SPECS / f"builds/{name}.yaml")


@cache
def module_of(name: str) -> Emitted:
    module = compile_build(build_of(name))
    return load_text(module.name, module.text)


def thetas(name: str, **settings: float) -> Array:
    build = build_of(name)
    run = replace(build.run, **{"draws": 5000, "warmup": 100, "chains": 4, "seed": 7, **settings})
    found = sample(module_of(name), build, run, load_data(build.data, build.target))
    return np.exp(found.block("theta")[:, found.warmup :]).reshape(-1, 10)


def departures(theta: Array, a: Array) -> list[float]:
    """Return sup|F_n - F| of each share given those before it, which is Beta (Rosenblatt 1952)."""
    shares = [(k, theta[:, k] / theta[:, k:].sum(axis=1)) for k in range(len(a) - 1)]
    return [float(stats.kstest(own, stats.beta(a[k], a[k + 1 :].sum()).cdf).statistic) for k, own in shares]


@pytest.mark.slow
@pytest.mark.parametrize("eps", [0.05, 1.0])
def test_shares_are_dirichlet_at_every_step_size(eps: float) -> None:
    """Of seven categories without data, too: sds of 0.3 around means of 0.1, half of the draws below 1e-3."""
    theta = thetas("cir_categories", step_size=eps, thin=int(8 / eps))
    for k in range(10):
        assert stats.kstest(theta[:, k], stats.gamma(SPARSE[k]).cdf).pvalue > LEAST, k
    assert max(departures(theta, SPARSE)) < 2.7 / np.sqrt(len(theta))  # 1e-6 of one share


@pytest.mark.slow
def test_minibatches_leave_the_mean_and_widen_the_variance_as_forecast() -> None:
    """theta has the mean a and the variance a + tanh(eps/2) Var[A], A drawn without replacement, whatever eps."""
    eps, n = 0.5, 100
    theta = thetas("scir_dense", step_size=eps, thin=int(8 / eps), draws=10_000)
    p = (DENSE - ALPHA) / N
    variance = DENSE + np.tanh(eps / 2) * N**2 / n * (N - n) / (N - 1) * p * (1 - p)
    size = len(theta)
    off = (theta.mean(axis=0) - DENSE) / np.sqrt(variance / size)
    assert np.sum(off**2) < 60
    spread = (theta.var(axis=0) / variance - 1) / np.sqrt(2 / size * (1 + 3 / DENSE))
    assert np.sum(spread**2) < 60
    assert np.all(variance > 2.5 * DENSE)


def test_the_forecast_is_that_variance_and_a_wide_run_is_not_believed() -> None:
    build, data = build_of("scir_dense"), load_data(build_of("scir_dense").data, build_of("scir_dense").target)
    sizes = resolve_sizes(build, data)
    p, k = (DENSE - ALPHA) / N, 8
    for eps, n in ((0.02, 100), (0.5, 100), (0.02, 10)):
        run = replace(build.run, step_size=eps, batch_size=n)
        inputs = prepare_inputs(module_of("scir_dense"), build, run, data, 0)
        (found,) = flow_widths(build, module_of("scir_dense"), inputs, known_values(build, sizes), sizes)
        excess = N**2 / n * (N - n) / (N - 1) * (p * (1 - p))[k] / DENSE[k]
        assert found.entry == k
        assert found.factor == pytest.approx(np.sqrt(1 + np.tanh(eps / 2) * excess), rel=1e-12)
        assert bool(found.doubt) is ((eps, n) != (0.02, 100))
        assert np.tanh(found.step_size / 2) * excess == pytest.approx(1.05**2 - 1)
    full = prepare_inputs(
        module_of("cir_categories"), build_of("cir_categories"), build_of("cir_categories").run, data, 0
    )
    assert not list(flow_widths(build_of("cir_categories"), module_of("cir_categories"), full, {}, sizes))


@pytest.mark.slow
def test_a_run_of_flows_is_the_same_bits_however_it_is_cut_into_calls() -> None:
    build, module = build_of("scir_sparse"), module_of("scir_sparse")
    data = load_data(build.data, build.target)
    inputs = prepare_inputs(module, build, replace(build.run, thin=3), data, 30)

    def run(*pieces: int) -> Array:
        noise, batch = module.seed_streams(3, 2)
        chain = start_chain(module, inputs, (np.zeros(10),), noise[1], batch[1])
        for count in pieces:
            chain.done += module.run(*run_arguments(module, inputs, chain, count))
        return chain.draws[0].copy()

    whole = run(30)
    assert np.array_equal(whole, run(1, 12, 17))
    assert np.isfinite(whole).all()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "law", "n", "eps", "least", "most"),
    [
        ("scir_sparse", SPARSE, 10, 0.1, 0.02, 0.12),
        ("scir_sparse", SPARSE, 100, 0.1, 0.02, 0.09),
        ("scir_dense", DENSE, 10, 0.1, 0.1, 0.3),
        ("scir_dense", DENSE, 100, 0.1, 0.03, 0.14),
    ],
)
def test_the_experiments_of_the_paper(name: str, law: Array, n: int, eps: float, least: float, most: float) -> None:
    """1000 draws after 1000 of one chain: distances of distributions as Fig. 2 has them, small where data are few."""
    found = [
        np.mean(
            departures(
                thetas(name, step_size=eps, batch_size=n, thin=1, draws=1000, warmup=1000, chains=1, seed=s), law
            )
        )
        for s in range(5)
    ]
    assert least < np.mean(found) < most

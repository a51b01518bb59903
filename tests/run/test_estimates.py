"""The mode, control variates around it and V_hat, against every batch of a small data set, and against chains."""

from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import combinations, product

import numpy as np
import pytest
from answers import document

from recipe_compiler.emit.module import Module
from recipe_compiler.errors import RunError
from recipe_compiler.pipeline import compile_build, estimate
from recipe_compiler.report.check import check
from recipe_compiler.run import estimates as noise_module
from recipe_compiler.run.data import Data, Field
from recipe_compiler.run.estimates import gradient_noise, without_estimates
from recipe_compiler.run.gradients import Gradients, gradients
from recipe_compiler.run.load_module import Emitted, load_text
from recipe_compiler.run.map_estimate import Start, find_mode
from recipe_compiler.run.sample import prepare_inputs, sample
from recipe_compiler.spec.model import Build, Value
from recipe_compiler.verdict import Verdict

rng = np.random.default_rng(11)
N, n = 6, 2
X, Y = rng.normal(size=(N, 2)) @ [[1.0, 0.4], [0.0, 2.0]], (np.arange(N) % 2).astype(float)
DATA = Data((Field("x", X, ("a", "b")), Field("y", Y, ("y",))))
PRIOR, AT = 10.0, np.array([0.3, -0.7])
BUILD = """
name: small
dynamics: sgld
target: TARGET
bind: {D: I}
scheme: {name: euler}
variant: minibatch
MORE
data: {file: data.csv, COLUMNS, y: y, shuffled: true}
run: {step_size: 0.01, batch_size: 2, draws: 20, warmup: 0, chains: 2}
"""
KINDS = {"without replacement": "", "with replacement": "replacement: true", "contiguous": "blocks: contiguous"}


def per_datum(theta: np.ndarray) -> np.ndarray:
    """Return the gradient of -log likelihood of every datum, row by row."""
    return (1.0 / (1.0 + np.exp(-X @ theta)) - Y)[:, None] * X


OF_TARGET = Gradients(
    N, 2, lambda theta, batch: theta / PRIOR + N / len(batch) * per_datum(theta)[batch].sum(axis=0), 0
)


def all_batches(kind: str) -> list[list[int]]:
    match kind:
        case "without replacement":
            return [*map(list, combinations(range(N), n))]
        case "with replacement":
            return [*map(list, product(range(N), repeat=n))]
        case _:
            return [[(first + k) % N for k in range(n)] for first in range(N)]


def made(build: Build, data: Data) -> tuple[Build, Module, Emitted]:
    """Return a build with its estimates, and its module."""
    report = check(build, advisory=False)
    module = compile_build(build, report, allow_undecided=True)
    return estimate(build, report, build.run, data, allow_undecided=True), module, load_text(module.name, module.loaded)


def logistic(more: str = "") -> Build:
    text = BUILD.replace("TARGET", "logistic_regression").replace("MORE", more).replace("COLUMNS", "x: [a, b]")
    return document(text, **{"data.csv": "a,b,y\n1,2,0\n2,1,1\n"})


def of_module(build: Build, module: Module, emitted: Emitted, data: Data) -> Gradients:
    return gradients(module, emitted, prepare_inputs(emitted, build, build.run, data))


@cache
def plain() -> Gradients:
    return of_module(*made(logistic(), DATA), DATA)


@pytest.mark.parametrize("kind", KINDS)
def test_v_hat_is_the_covariance_over_all_batches(kind: str) -> None:
    every = np.array([OF_TARGET.of_batch(AT, batch) for batch in all_batches(kind)])
    exact = np.cov(every.T, bias=True)
    np.testing.assert_allclose(gradient_noise(plain(), AT, n, kind), exact, rtol=1e-12)
    np.testing.assert_allclose(gradient_noise(plain(), AT, n, kind, diagonal=True), np.diag(exact), rtol=1e-12)
    others = KINDS.keys() - {kind}
    assert all(abs(gradient_noise(plain(), AT, n, other) / exact - 1.0).max() > 0.05 for other in others)


def test_a_batch_of_all_data_has_no_noise() -> None:
    np.testing.assert_array_equal(gradient_noise(plain(), np.zeros(2), N, "without replacement"), 0.0)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_v_hat_of_a_sample_is_unbiased(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    exact = gradient_noise(plain(), AT, n, kind)
    monkeypatch.setattr(noise_module, "SAMPLED", 4)
    found = np.array([gradient_noise(plain(), AT, n, kind, seed=seed) for seed in range(3000)])
    error = found.std(axis=0) / np.sqrt(3000)
    assert np.all(abs(found.mean(axis=0) - exact) < 4.5 * error)
    assert np.all(4.5 * error < 0.1 * abs(exact).max())


@pytest.mark.slow
def test_builds_with_nothing_to_estimate_are_left_alone() -> None:
    build = logistic()
    assert not build.estimates
    assert estimate(build, check(build), build.run, DATA) is build
    alone = without_estimates(logistic("minibatch: {control_variates: mode}"))
    assert not alone.estimates
    assert not alone.parameters


@pytest.mark.slow
def test_the_budget_of_an_estimated_v_is_left_to_the_run_and_demanded_there() -> None:
    build, _, emitted = made(logistic("gradient_noise: {V: estimate}"), DATA)
    budget = next(f for f in check(build).findings if f.id == "noise_budget")
    assert budget.verdict is Verdict.PROVED
    assert "eps_max" in budget.decision.given[0]
    mode = find_mode(OF_TARGET.full, [Start("zero", np.zeros(2))]).theta
    largest = 2.0 / np.linalg.eigvalsh(gradient_noise(OF_TARGET, mode, n, "without replacement"))[-1]
    sample(emitted, build, replace(build.run, step_size=0.99 * largest), DATA)
    with pytest.raises(RunError, match="take eps <= eps_max"):
        sample(emitted, build, replace(build.run, step_size=1.01 * largest), DATA)


SEVERAL = """
name: several
state:
  b: {shape: [K, 2]}
  mu: {}
  s: {domain: positive, transform: log}
data: {x: {shape: [N, 2]}, g: {shape: N, index_of: K}, y: {shape: N}}
log_prior: normal(b, 0, 2) + normal(mu, 0, 3) + lognormal(s, 0, 1/2)
log_likelihood: normal(y, mu + dot(x, b[g]), s) - mu**4/50
"""
"""Rows of a matrix that data pick, a scalar and a scale: y ~ N(mu + x_n.b[g_n], s**2), and a quartic in mu."""


def of_several(v: np.ndarray, x: np.ndarray, g: np.ndarray, y: np.ndarray, scale: float) -> np.ndarray:
    """Return grad U at v = (b row by row, mu, log s), the sum over some data times `scale`."""
    b, mu, u = v[:6].reshape(3, 2), v[6], v[7]
    s = np.exp(u)
    off = mu + np.sum(x * b[g], axis=1) - y
    of_b = np.zeros((3, 2))
    np.add.at(of_b, g, off[:, None] * x / s**2)
    of_mu, of_u = np.sum(off) / s**2 + len(y) * 4 * mu**3 / 50, np.sum(1 - off**2 / s**2)
    of_data = np.concatenate([of_b.ravel(), [of_mu, of_u]])
    of_prior = np.concatenate([b.ravel() / 4, [mu / 9, 4 * u]])
    return of_prior + scale * of_data


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("away", [0.0, 0.4])
def test_control_variates_of_several_blocks_are_unbiased_and_exact_at_the_mode(kind: str, away: float) -> None:
    """Of a matrix, a scalar and a scale in its logarithm, over every batch; also around what is not the mode."""
    own = np.random.default_rng(3)
    x, g, y = own.normal(size=(N, 2)), np.array([0, 1, 2, 2, 1, 0]), own.normal(size=N)
    given = Data((Field("x", x, ("x", "w")), Field("g", g, ("g",)), Field("y", y, ("y",))))
    settings = ", ".join(["control_variates: mode", *([KINDS[kind]] if KINDS[kind] else [])])
    text = BUILD.replace("TARGET", "target.yaml").replace("MORE", f"minibatch: {{{settings}}}\nsizes: {{K: 3}}")
    text = text.replace("COLUMNS", "x: [x, w], g: g")
    build, module, emitted = made(document(text, target=SEVERAL, **{"data.csv": "x,w,g,y\n1,2,0,1\n"}), given)
    assert (module.program.replacement, module.program.contiguous) == (
        kind == "with replacement", kind == "contiguous",
    )  # fmt: skip
    blocks = ("b_mode", "mu_mode", "log_s_mode")
    values = {name: np.array(value.numbers, float) for name, value in build.values}
    assert values["b_mode"].shape == values["grad_U_b_mode"].shape == (3, 2)
    mode = np.concatenate([values[name].ravel() for name in blocks])
    np.testing.assert_allclose(of_several(mode, x, g, y, 1.0), 0.0, atol=1e-8)
    if away:
        mode = mode + away
        parts = np.split(mode, [6, 7]) + np.split(of_several(mode, x, g, y, 1.0), [6, 7])
        names = (*blocks, *(f"grad_U_{name}" for name in blocks))
        for name, part in zip(names, parts, strict=True):
            values[name] = part.reshape(values[name].shape)
        numbers = {name: Value(tuple(tuple(map(Fraction, row)) for row in values[name])) for name in values}
        build = replace(build, values=tuple((name, numbers[name]) for name, _ in build.values))
    of = of_module(build, module, emitted, given)
    for v in (np.linspace(-0.7, 0.8, 8), mode, mode + 0.3):
        found = np.array([of.of_batch(v, np.array(batch, np.uint64)) for batch in all_batches(kind)])
        whole = of_several(v, x, g, y, 1.0)
        np.testing.assert_allclose(found.mean(axis=0), whole, rtol=1e-11, atol=1e-8)
        for rows, one in zip(all_batches(kind), found, strict=True):
            plain = [of_several(at, x[rows], g[rows], y[rows], N / n) for at in (v, mode)]
            np.testing.assert_allclose(one, plain[0] - plain[1] + of_several(mode, x, g, y, 1.0), rtol=1e-9, atol=1e-8)

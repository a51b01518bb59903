"""The mode, control variates around it and V_hat, against every batch of a small data set, and against chains."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import combinations, product
from pathlib import Path

import numpy as np
import pytest
from loaders import load_build

from recipe_compiler.emit.module import Module
from recipe_compiler.errors import RunError
from recipe_compiler.pipeline import compile_build, estimate
from recipe_compiler.report.check import check
from recipe_compiler.run import estimates as noise_module
from recipe_compiler.run.data import Data, Field
from recipe_compiler.run.estimates import gradient_noise, without_estimates
from recipe_compiler.run.gradients import Gradients, gradients
from recipe_compiler.run.load_module import load_text
from recipe_compiler.run.map_estimate import Start, find_mode
from recipe_compiler.run.sample import prepare_inputs, sample
from recipe_compiler.run.sizes import resolve_sizes
from recipe_compiler.spec.model import Build
from recipe_compiler.verdict import Verdict

unread = pytest.mark.usefixtures("without_reading_back")
SPECS = Path(__file__).parents[2] / "specs"
rng = np.random.default_rng(11)
N, n = 6, 2
X, Y = rng.normal(size=(N, 2)) @ [[1.0, 0.4], [0.0, 2.0]], (np.arange(N) % 2).astype(float)
DATA = Data((Field("x", X, ("a", "b")), Field("y", Y, ("y",))))
PRIOR = 10.0

BUILD = """
name: small
dynamics: {specs}/dynamics/sgld.yaml
target: {target}
bind: {{D: I}}
scheme: {{name: euler}}
variant: minibatch
{more}
data: {data}
run: {{step_size: 0.01, batch_size: 2, draws: 20, warmup: 0, chains: 2}}
"""
LOGISTIC = f"{SPECS}/targets/logistic_regression.yaml"
COLUMNS = "{file: data.csv, x: [a, b], y: y, shuffled: true}"


def per_datum(theta: np.ndarray) -> np.ndarray:
    """Return the gradient of -log likelihood of every datum, row by row."""
    return (1.0 / (1.0 + np.exp(-X @ theta)) - Y)[:, None] * X


def full_gradient(theta: np.ndarray) -> np.ndarray:
    return theta / PRIOR + per_datum(theta).sum(axis=0)


def all_batches(kind: str) -> list[tuple[int, ...]]:
    match kind:
        case "without replacement":
            return list(combinations(range(N), n))
        case "with replacement":
            return list(product(range(N), repeat=n))
        case _:
            return [tuple((first + k) % N for k in range(n)) for first in range(N)]


@dataclass
class Made:
    build: Build
    module: Module
    of: Gradients


@pytest.fixture(scope="module")
def make(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Made]:
    folder = tmp_path_factory.mktemp("builds")

    def made(more: str = "", **values: np.ndarray) -> Made:
        """Compile a build; `values` are given to its estimated parameters."""
        path = folder / "small.yaml"
        path.write_text(BUILD.format(specs=SPECS, target=LOGISTIC, more=more, data=COLUMNS))
        build = load_build(path)
        report = check(build)
        module = compile_build(build, report)
        emitted = load_text(module.name, module.text)
        if not values:
            build = estimate(build, report, build.run, DATA)
        for name, array in values.items():
            np.save(folder / f"{name}.npy", array)
            value = replace(build.values[0][1], numbers=None, file=folder / f"{name}.npy")
            build = replace(build, values=(*build.values, (name, value)))
        inputs = prepare_inputs(emitted, build, build.run, DATA, 0)
        return Made(build, module, gradients(module, emitted, inputs, resolve_sizes(build, DATA)))

    return made


@pytest.fixture(scope="module")
def plain(make: Callable[..., Made]) -> Made:
    return make()


@pytest.mark.parametrize("kind", ["without replacement", "with replacement", "contiguous"])
def test_v_hat_is_the_covariance_over_all_batches(plain: Made, kind: str) -> None:
    theta = np.array([0.3, -0.7])
    every = np.array([theta / PRIOR + N / n * per_datum(theta)[list(batch)].sum(axis=0) for batch in all_batches(kind)])
    exact = np.cov(every.T, bias=True)
    np.testing.assert_allclose(gradient_noise(plain.of, theta, n, kind), exact, rtol=1e-12)
    diagonal = gradient_noise(plain.of, theta, n, kind, diagonal=True)
    np.testing.assert_allclose(diagonal, np.diag(exact), rtol=1e-12)
    others = {"without replacement", "with replacement", "contiguous"} - {kind}
    assert all(abs(gradient_noise(plain.of, theta, n, other) / exact - 1.0).max() > 0.05 for other in others)


def test_a_batch_of_all_data_has_no_noise(plain: Made) -> None:
    np.testing.assert_array_equal(gradient_noise(plain.of, np.zeros(2), N, "without replacement"), 0.0)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["without replacement", "with replacement", "contiguous"])
def test_v_hat_of_a_sample_is_unbiased(plain: Made, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    theta = np.array([0.3, -0.7])
    exact = gradient_noise(plain.of, theta, n, kind)
    monkeypatch.setattr(noise_module, "SAMPLED", 4)
    found = np.array([gradient_noise(plain.of, theta, n, kind, seed=seed) for seed in range(3000)])
    error = found.std(axis=0) / np.sqrt(3000)
    assert np.all(abs(found.mean(axis=0) - exact) < 4.5 * error)
    assert np.all(4.5 * error < 0.1 * abs(exact).max())


@pytest.mark.slow
@unread
@pytest.mark.parametrize("kind", ["without replacement", "with replacement", "contiguous"])
def test_control_variates_are_unbiased_wherever_the_mode_is(make: Callable[..., Made], kind: str) -> None:
    more = {"with replacement": ", replacement: true", "contiguous": ", blocks: contiguous"}.get(kind, "")
    mode = np.array([-0.4, 1.1])  # not the mode
    cv = make(f"minibatch: {{control_variates: mode{more}}}", theta_mode=mode, grad_U_mode=full_gradient(mode))
    assert (cv.module.program.replacement, cv.module.program.contiguous) == (
        kind == "with replacement", kind == "contiguous",
    )  # fmt: skip
    for theta in (np.array([0.3, -0.7]), mode, np.array([5.0, 5.0])):
        batches = [np.array(batch, np.uint64) for batch in all_batches(kind)]
        found = np.array([cv.of.of_batch(theta, batch) for batch in batches])
        np.testing.assert_allclose(found.mean(axis=0), full_gradient(theta), rtol=1e-12, atol=1e-13)


@pytest.mark.slow
@unread
def test_control_variates_at_the_mode_have_the_less_noise_the_closer(make: Callable[..., Made], plain: Made) -> None:
    cv = make("minibatch: {control_variates: mode}")
    values = {name: np.array([[float(v) for v in row] for row in value.numbers]) for name, value in cv.build.values}
    mode = values["theta_mode"][:, 0]
    np.testing.assert_allclose(full_gradient(mode), 0.0, atol=1e-9)
    np.testing.assert_allclose(values["grad_U_mode"][:, 0], full_gradient(mode), atol=1e-9)
    np.testing.assert_allclose(gradient_noise(cv.of, mode, n, "without replacement"), 0.0, atol=1e-18)
    near, far = (np.trace(gradient_noise(cv.of, mode + h, n, "without replacement")) for h in (0.01, 0.1))
    assert 50 < far / near < 200  # as the square of the distance
    assert near < 1e-3 * np.trace(gradient_noise(plain.of, mode, n, "without replacement"))


@pytest.mark.slow
@unread
def test_builds_with_nothing_to_estimate_are_left_alone(plain: Made, make: Callable[..., Made]) -> None:
    assert not plain.build.estimates
    assert estimate(plain.build, check(plain.build), plain.build.run, DATA) is plain.build
    cv = make("minibatch: {control_variates: mode}")
    alone = without_estimates(cv.build)
    assert not alone.estimates
    assert [parameter.name for parameter in alone.parameters] == []


@pytest.mark.slow
@unread
def test_the_budget_of_an_estimated_v_is_left_to_the_run_and_demanded_there(
    make: Callable[..., Made], tmp_path: Path
) -> None:
    made = make("gradient_noise: {V: estimate}")
    budget = next(f for f in check(made.build).findings if f.id == "noise_budget")
    assert budget.verdict is Verdict.PROVED
    assert "eps_max" in budget.decision.given[0]
    emitted = load_text(made.module.name, made.module.text)
    V = gradient_noise(gradients_of_target(made), mode_of(made), n, "without replacement")
    largest = 2.0 / np.linalg.eigvalsh(V)[-1]
    sample(emitted, made.build, replace(made.build.run, step_size=0.99 * largest), DATA)
    with pytest.raises(RunError, match="take eps <= eps_max"):
        sample(emitted, made.build, replace(made.build.run, step_size=1.01 * largest), DATA)


def gradients_of_target(made: Made) -> Gradients:
    return Gradients(N, 2, lambda theta, batch: theta / PRIOR + N / len(batch) * per_datum(theta)[batch].sum(axis=0), 0)


def mode_of(made: Made) -> np.ndarray:
    return find_mode(gradients_of_target(made).full, [Start("zero", np.zeros(2))]).theta


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
@pytest.mark.parametrize("kind", ["without replacement", "contiguous"])
def test_control_variates_of_several_blocks_are_unbiased_and_exact_at_the_mode(tmp_path: Path, kind: str) -> None:
    """Of a matrix, a scalar and a scale in its logarithm, over every batch of a small data set."""
    (tmp_path / "own.yaml").write_text(SEVERAL)
    more = ", blocks: contiguous" if kind == "contiguous" else ""
    path = tmp_path / "several.yaml"
    data = "{file: data.csv, x: [x, w], g: g, y: y, shuffled: true}"
    text = BUILD.format(specs=SPECS, target="own.yaml", more=f"minibatch: {{control_variates: mode{more}}}", data=data)
    path.write_text(f"{text}sizes: {{K: 3}}\n")
    build = load_build(path)
    own = np.random.default_rng(3)
    x, g, y = own.normal(size=(N, 2)), np.array([0, 1, 2, 2, 1, 0]), own.normal(size=N)
    given = Data((Field("x", x, ("x", "w")), Field("g", g, ("g",)), Field("y", y, ("y",))))
    report = check(build, advisory=False)
    module = compile_build(build, report, allow_undecided=True)
    emitted = load_text(module.name, module.text)
    build = estimate(build, report, build.run, given, allow_undecided=True)
    inputs = prepare_inputs(emitted, build, build.run, given, 0)
    of = gradients(module, emitted, inputs, resolve_sizes(build, given))
    values = {name: np.array([[float(v) for v in row] for row in value.numbers]) for name, value in build.values}
    assert values["b_mode"].shape == values["grad_U_b_mode"].shape == (3, 2)
    mode = np.concatenate([values[f"{name}_mode"].ravel() for name in ("b", "mu", "log_s")])
    np.testing.assert_allclose(of_several(mode, x, g, y, 1.0), 0.0, atol=1e-8)
    batches = [np.array(batch, np.uint64) for batch in all_batches(kind)]
    at_mode = np.array([of.of_batch(mode, batch) for batch in batches])
    np.testing.assert_allclose(at_mode, 0.0, atol=1e-8)
    for v in (np.linspace(-0.7, 0.8, 8), mode + 0.3):
        found = np.array([of.of_batch(v, batch) for batch in batches])
        np.testing.assert_allclose(found.mean(axis=0), of_several(v, x, g, y, 1.0), rtol=1e-11, atol=1e-12)
        for batch, one in zip(all_batches(kind), found, strict=True):
            rows = list(batch)
            plain = [of_several(at, x[rows], g[rows], y[rows], N / n) for at in (v, mode)]
            np.testing.assert_allclose(one, plain[0] - plain[1] + of_several(mode, x, g, y, 1.0), rtol=1e-9, atol=1e-9)

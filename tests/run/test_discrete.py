"""Draws of discrete blocks have the law of their target: every allocation of the data counted beside its probability,
laws of one row at small, equal and large logits; what is stored, where chains start, and what no logits leave.

A p-value is below 1e-6 once in a million; standard errors are between chains, which share no draw.
"""

from dataclasses import replace
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from cycles import texts
from draws import ONE_OF_THREE, draws_build
from loaders import load_build
from scipy import stats
from scipy.special import gammaln, logsumexp, softmax
from sticks import STICKS, stick_allocations

from recipe_compiler.errors import DataError
from recipe_compiler.run.data import Data, load_data
from recipe_compiler.run.energies import energies_of
from recipe_compiler.run.load_module import Emitted, load_text
from recipe_compiler.run.sample import Draws, prepare_inputs, sample
from recipe_compiler.run.store import to_datatree
from recipe_compiler.run.summary import summarise
from recipe_compiler.spec.model import Build

ROOT = Path(__file__).parents[2]
LEAST = 1e-6
Y = np.loadtxt(ROOT / "specs/data/few_of_two_groups.csv", skiprows=1)
MEAN_VARIANCE = 4.0


@cache
def module_of(build: Build) -> Emitted:
    module = texts(build)["shipped"].module
    return load_text(module.name, module.text)


def drawn(build: Build, **settings: object) -> Draws:
    run = replace(build.run, **{"draws": 40_000, "warmup": 200, "thin": 1, "chains": 8, "seed": 5, **settings})
    return sample(module_of(build), build, run, load_data(build.data, build.target))


def evidence(y: np.ndarray) -> float:
    """Return log p(y) of y_n ~ N(mu, 1), mu ~ N(0, 4), without what all allocations have in common."""
    precision = len(y) + 1 / MEAN_VARIANCE
    return y.sum() ** 2 / (2 * precision) - np.log(MEAN_VARIANCE * precision) / 2


def allocations() -> tuple[np.ndarray, np.ndarray]:
    """Return all 2**10 allocations and their probabilities: weights, Dirichlet(1, 1), and means integrated out."""
    every = np.array(list(product((0, 1), repeat=len(Y))))
    groups = [[Y[one == k] for k in (0, 1)] for one in every]
    logs = np.array([sum(gammaln(1 + len(g)) + evidence(g) for g in pair) for pair in groups])
    return every, np.exp(logs - logsumexp(logs))


@pytest.mark.slow
def test_allocations_of_a_finite_mixture_have_their_probabilities() -> None:
    build = draws_build("mixture")
    draws = drawn(build, thin=4)
    z = draws.block("theta")[:, draws.warmup :, 4:].reshape(8, -1, len(Y), 2)
    assert np.isin(z, (0.0, 1.0)).all()
    assert (z.sum(axis=3) == 1.0).all()
    every, p = allocations()
    places = z[..., 1]
    for of_draws, of_every in (
        (places[..., :5] == places[..., 5:], every[:, :5] == every[:, 5:]),
        (places[..., 1:] == places[..., :1], every[:, 1:] == every[:, :1]),
        (places.sum(axis=2, keepdims=True) == np.arange(11), every.sum(axis=1, keepdims=True) == np.arange(11)),
    ):
        means = of_draws.mean(axis=1)
        error = np.maximum(means.std(axis=0, ddof=1) / np.sqrt(8), 1e-4)
        assert np.max(np.abs(means.mean(axis=0) - p @ of_every) / error) < 8  # t of 7 degrees: 1e-4 of 24 figures
    same = places[..., 1] == places[..., 0]
    halves = np.abs(same[:, :20_000].mean() - same[:, 20_000:].mean())
    assert halves < 6 * same.mean(axis=1).std() / np.sqrt(4)  # over time, too


@pytest.mark.parametrize(
    "logits",
    [
        (1, 0, 1.5), (0, 0, 0), (-3, 4, 0), (800, 801, 799), (-1e5, -1e5, -1e5 - 1), (0, -800, 1), (1e300, 0, 1e300),
    ],
)  # fmt: skip
def test_a_row_has_its_law_at_small_equal_and_large_logits(logits: tuple[float, ...]) -> None:
    build = one_of_three(logits)
    k = drawn(build, chains=2, draws=50_000).block("theta")[:, 200:].reshape(-1, 3)
    counts = k.sum(axis=0)
    p = softmax(logits)
    assert counts.sum() == len(k)
    assert (counts[p < 1e-300] == 0).all()
    likely = p > 1e-4
    assert stats.chisquare(counts[likely], len(k) * p[likely] / p[likely].sum()).pvalue > LEAST
    changes = np.any(k[1:] != k[:-1], axis=1).mean()
    assert abs(changes - (1 - np.sum(p**2))) < 6 * np.sqrt(0.25 / len(k))  # draws do not depend on one another


def one_of_three(logits: tuple[float, ...]) -> Build:
    values = f"parameters: {{a: {{value: [{', '.join(f'{logit:.17g}' for logit in logits)}]}}}}"
    return draws_build("of_three", ONE_OF_THREE, "[draw: k]", values)


def test_no_logits_end_the_chain() -> None:
    """A weight of zero in all places is no law: the row is not a number, and no draw is kept."""
    build = draws_build("one_of_three")
    module = module_of(build)
    inputs = prepare_inputs(module, build, build.run, Data(()), 0)
    none = replace(inputs, parameters=(np.full(3, np.nan), *inputs.parameters[1:]))
    state, words = np.array([1.0, 0.0, 0.0]), np.arange(1, 5, dtype=np.uint64)
    kept = np.empty((4, 3))
    assert module.run(state, none.parameters[0], 1.0, 1, words, kept) == 0
    assert module.run(state, np.array([0.0, -np.inf, -np.inf]), 1.0, 1, words, kept) == 4
    assert (kept == [1.0, 0.0, 0.0]).all()


def test_rows_are_stored_as_integers_and_numbers_tell_of_those_that_move() -> None:
    build = one_of_three((0, 0, -900))
    draws = drawn(build, chains=4, draws=500)
    data = load_data(build.data, build.target)
    known = energies_of(
        module_of(build), build, prepare_inputs(module_of(build), build, build.run, data, 0), data, draws, asked=True
    )
    tree = to_datatree(draws, build, data, "0" * 64, "", known)
    k = tree["posterior"]["k"]
    assert k.dtype == np.int8
    assert k.shape == (4, 500, 3)
    assert np.array_equal(k.to_numpy(), draws.block("theta")[:, draws.warmup :])
    summary = summarise(tree, draws)
    assert [row.name for row in summary.rows] == ["k[0]", "k[1]"]  # the third is never drawn
    assert summary.doubts == ()
    assert summary.tails == ()


@pytest.mark.slow
def test_the_log_likelihood_of_a_datum_is_that_of_its_component() -> None:
    build = draws_build("mixture")
    draws = drawn(build, chains=2, draws=20)
    data, module = load_data(build.data, build.target), module_of(build)
    known = energies_of(module, build, prepare_inputs(module, build, build.run, data, 0), data, draws, asked=True)
    theta = draws.block("theta")[:, draws.warmup :]
    component = theta[..., 4:].reshape(2, 20, len(Y), 2).argmax(axis=3)
    mu, log_theta = (np.take_along_axis(part, component, axis=2) for part in (theta[..., 2:4], theta[..., :2]))
    assert known.log_likelihood == pytest.approx(log_theta - (Y - mu) ** 2 / 2, rel=1e-12)


def test_chains_start_at_rows_of_their_own_and_where_they_are_told(tmp_path: Path) -> None:
    text = (ROOT / "specs/builds/gibbs_mixture.yaml").read_text(encoding="utf-8").replace("../", f"{ROOT}/specs/")
    path = tmp_path / "build.yaml"
    rows = ", ".join(["[1, 0]"] * 9)
    path.write_text(text.replace("sizes: {K: 2}", "sizes: {K: 2, N: 10}"), encoding="utf-8")
    free = starts(load_build(path))
    assert len({tuple(row) for row in free}) > 1
    for last, right in (("[0, 1]", True), ("[1, 1]", False), ("[1/2, 1/2]", False)):
        stated = f'sizes: {{K: 2, N: 10}}\ninit: {{z: "Matrix([{rows}, {last}])"}}'
        path.write_text(text.replace("sizes: {K: 2}", stated), encoding="utf-8")
        if right:
            assert (starts(load_build(path)) == [1.0, 0.0] * 9 + [0.0, 1.0]).all()
        else:
            with pytest.raises(DataError, match="a one at one place of each row"):
                starts(load_build(path))


def starts(build: Build) -> np.ndarray:
    """Return the rows at which chains start."""
    from recipe_compiler.run.initial import initial_state
    from recipe_compiler.run.sample import known_values

    sizes = {"d": 24, "K": 2, "N": 10}
    found = [initial_state(build, build.dynamics, {}, known_values(build, sizes), sizes, 1, k)[0] for k in range(4)]
    rows = np.array(found)[:, 4:]
    assert (rows.reshape(4, 10, 2).sum(axis=2) == 1.0).all()
    return rows


DP = (
    f"{ROOT}/specs/targets/dp_mixture.yaml",
    "[draw: v, draw: p, draw: alpha, draw: z]",
    f"parameters: {{before: {{value: {np.tril(np.ones((STICKS, STICKS), int), -1).tolist()}}}}}\n"
    f"sizes: {{J: {STICKS}, N: 6}}\ndata: {{file: {ROOT}/specs/data/few_choices.csv, one: one, other: other}}",
)


@pytest.mark.slow
def test_a_dirichlet_process_mixture_by_sticks_has_its_allocations() -> None:
    build = draws_build("four_sticks", *DP)
    draws = drawn(build, thin=4, draws=30_000)
    theta = draws.block("theta")[:, draws.warmup :]
    z = theta[..., 2 * STICKS + 1 :].reshape(8, -1, 6, STICKS).argmax(axis=3)
    every, p = stick_allocations()
    pairs = np.triu_indices(6, 1)
    for of_draws, of_every in (
        (z[..., pairs[0]] == z[..., pairs[1]], every[:, pairs[0]] == every[:, pairs[1]]),
        (z[..., :1] == np.arange(STICKS), every[:, :1] == np.arange(STICKS)),
    ):
        means = of_draws.mean(axis=1)
        error = means.std(axis=0, ddof=1) / np.sqrt(8)
        assert np.max(np.abs(means.mean(axis=0) - p @ of_every) / error) < 8  # t of 7 degrees, as above
        assert np.max(error) < 0.01


@pytest.mark.slow
def test_tails_of_logits_are_not_those_of_shares() -> None:
    """alpha may be small, and a stick is then near 1: its logit has a heavy tail, the stick is bounded."""
    build = draws_build("four_sticks", *DP)
    draws = drawn(build, thin=20, draws=3_000, chains=4)
    tree = to_datatree(draws, build, load_data(build.data, build.target), "0" * 64)
    assert not [doubt for doubt in summarise(tree, draws).doubts if "tails" in doubt]


@pytest.mark.slow
def test_a_share_that_rounds_to_one_has_a_logarithm() -> None:
    """log(1 - v) of v = sigmoid(u), u = 60, where 1 - v is 0 in doubles, is drawn with as -softplus(u)."""
    build = draws_build("four_sticks", *DP)
    text = texts(build)["shipped"].module.text
    draws = text[text.index("def draw_v(") : text.index("def cycle(")]
    assert draws.count("_softplus(logit_v[") == 2  # the rate of alpha, and the logits of z
    assert "math.log(1.0 - _sigmoid(" not in draws

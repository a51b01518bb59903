"""Draws by slices have the law of their target, levels below what no place holds are counted, and sticks are as good as
infinitely many: users are grouped as by all their partitions.

A p-value is below 1e-6 once in a million; standard errors are between chains, which share no draw.
"""

from dataclasses import replace
from functools import cache
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from cycles import texts
from draws import GIBBS, OF_STICKS, ONE_OF_THREE, draws_build
from scipy import integrate, stats
from scipy.special import gammaln, softmax
from sticks import CHOICES, STICKS, stick_allocations

from recipe_compiler.run.data import load_data
from recipe_compiler.run.load_module import Emitted, load_text
from recipe_compiler.run.sample import Draws, sample
from recipe_compiler.run.store import to_datatree
from recipe_compiler.run.summary import summarise
from recipe_compiler.spec.model import Build

ROOT = Path(__file__).parents[2]
LEAST = 1e-6


@cache
def module_of(build: Build) -> Emitted:
    module = texts(build)["shipped"].module
    return load_text(module.name, module.text)


def drawn(build: Build, **settings: object) -> Draws:
    run = replace(build.run, **{"draws": 40_000, "warmup": 200, "thin": 1, "chains": 8, "seed": 5, **settings})
    return sample(module_of(build), build, run, load_data(build.data, build.target))


def of_sticks(count: int, moves: str = OF_STICKS) -> Build:
    before = np.tril(np.ones((count, count), int), -1).tolist()
    return draws_build(
        f"sticks_{count}",
        f"{ROOT}/specs/targets/dp_mixture.yaml",
        f"[draw: v, draw: p, draw: alpha, {{draw: z, {moves}}}]",
        f"parameters: {{before: {{value: {before}}}}}\nsizes: {{J: {count}, N: 6}}\n"
        f"data: {{file: {ROOT}/specs/data/few_choices.csv, one: one, other: other}}",
    )


@pytest.mark.slow
def test_a_dirichlet_process_mixture_by_slices_has_its_allocations() -> None:
    draws = drawn(of_sticks(STICKS), thin=4, draws=30_000)
    z = draws.block("theta")[:, draws.warmup :, 2 * STICKS + 1 :].reshape(8, -1, 6, STICKS).argmax(axis=3)
    every, p = stick_allocations()
    pairs = np.triu_indices(6, 1)
    for of_draws, of_every in (
        (z[..., pairs[0]] == z[..., pairs[1]], every[:, pairs[0]] == every[:, pairs[1]]),
        (z[..., :1] == np.arange(STICKS), every[:, :1] == np.arange(STICKS)),
    ):
        means = of_draws.mean(axis=1)
        error = means.std(axis=0, ddof=1) / np.sqrt(8)
        assert np.max(np.abs(means.mean(axis=0) - p @ of_every) / error) < 8  # t of 7 degrees: 1e-4 of 24 figures
        assert np.max(error) < 0.01


@pytest.mark.slow
@pytest.mark.parametrize("weights", ["a/2 - ones", "a", "-a", "3*a", "ones"])
def test_a_row_has_its_law_whatever_it_is_sliced_by(weights: str) -> None:
    """Weights are those of the law, its inverse, alike: each keeps it, and more slowly by some than by others."""
    values = "parameters: {a: {value: [1, 0, 3/2]}}"
    build = draws_build("sliced", ONE_OF_THREE, f'[{{draw: k, slice: "{weights}", repeat: 12}}]', values)
    k = drawn(build, chains=2, draws=20_000).block("theta")[:, 200:].reshape(-1, 3)
    counts = k.sum(axis=0)
    assert counts.sum() == len(k)
    assert stats.chisquare(counts, len(k) * softmax((1, 0, 1.5))).pvalue > LEAST


@pytest.mark.slow
def test_one_slice_moves_a_row_with_the_probabilities_of_its_kernel() -> None:
    """K(k, l) = int_0^w_k 1[u < w_l] f_l/sum_j(f_j 1[u < w_j]) du/w_k, counted over the pairs of draws in a row."""
    build = draws_build("by_a_third", ONE_OF_THREE, "[{draw: k, slice: a/3}]", "parameters: {a: {value: [1, -2, 4]}}")
    k = drawn(build, chains=2, draws=100_000).block("theta")[:, 200:].argmax(axis=2)
    a = np.array([1.0, -2.0, 4.0])
    w, f = np.exp(a / 3), np.exp(2 * a / 3)
    edges = np.concatenate([[0.0], np.sort(w)])
    K = np.zeros((3, 3))
    for low, high in pairwise(edges):
        above = w >= high
        K += np.outer(w >= high, above * f / (above @ f)) * (high - low) / w[:, None]
    assert np.allclose(softmax(a) @ K, softmax(a))
    for begin in range(3):
        after = np.bincount(np.concatenate([row[1:][row[:-1] == begin] for row in k]), minlength=3)
        assert stats.chisquare(after, after.sum() * K[begin]).pvalue > LEAST


@pytest.mark.slow
def test_levels_below_what_no_place_holds_are_counted() -> None:
    """A level is below where w[z] exp(-E) < left: of one row at its place, with probability min(1, left/w)."""
    build = draws_build(
        "counted",
        ONE_OF_THREE,
        '[{draw: k, slice: a, left: "-1/2", repeat: 2}]',
        "parameters: {a: {value: [1, 0, -2]}}",
    )
    draws = drawn(build, chains=4, draws=20_000, thin=3)
    assert draws.too_few is not None
    a = np.array([1.0, 0.0, -2.0])
    expected = softmax(a) @ np.minimum(1.0, np.exp(-0.5 - a))
    of_chains = draws.too_few[:, 200:].mean(axis=1) / 6
    assert abs(of_chains.mean() - expected) < 6 * np.sqrt(0.25 / (4 * 20_000))
    assert set(np.unique(draws.too_few)) == set(range(7))
    data = load_data(build.data, build.target)
    tree = to_datatree(draws, build, data, "0" * 64)
    assert np.array_equal(tree["sample_stats"]["too_few"].to_numpy(), draws.too_few[:, 200:])
    few = int(draws.too_few[:, 200:].sum())
    assert f"draws by slices that reach what no place holds: {few}, in 240000 cycles" in summarise(tree, draws).notes


@pytest.mark.slow
def test_a_draw_that_is_not_due_counts_nothing() -> None:
    moves = '[draw: k, {draw: k, slice: a, left: "9", every: 3}]'
    build = draws_build("every_third", ONE_OF_THREE, moves, "parameters: {a: {value: [1, 0, -2]}}")
    draws = drawn(build, chains=1, draws=30, warmup=0)
    assert draws.too_few is not None
    assert draws.too_few[0].tolist() == [1.0, 0.0, 0.0] * 10


@pytest.mark.slow
def test_what_is_not_counted_is_not_told() -> None:
    assert drawn(draws_build("one_by_slices"), chains=1, draws=10).too_few is None
    assert "too_few" not in texts(draws_build("one_by_slices"))["shipped"].module.text
    assert "slices" in GIBBS


def partitions(count: int) -> list[list[list[int]]]:
    """Return the partitions of so many users."""
    found: list[list[list[int]]] = [[]]
    for user in range(count):
        joined = [[*p[:k], [*p[k], user], *p[k + 1 :]] for p in found for k in range(len(p))]
        found = [*joined, *([*p, [user]] for p in found)]
    return found


def of_partitions() -> tuple[float, float]:
    """Return P(users 0 and 2 are in the same cluster), and the mean number of clusters, by all partitions of the users.

    Sticks, infinitely many, and shares are integrated out: p(partition) = int alpha^k Gamma(alpha)/Gamma(alpha + 6)
    Gamma(2, 2)(alpha) d alpha times prod_c (n_c - 1)! B(1/2 + x_c)/B(1/2).
    """
    every = partitions(6)
    assert len(every) == 203

    def of_alpha(clusters: int) -> float:
        return integrate.quad(lambda a: a ** (1 + clusters) * np.exp(-2 * a + gammaln(a) - gammaln(a + 6)), 0, 60)[0]

    def of_cluster(users: list[int]) -> float:
        x = CHOICES[users].sum(axis=0)
        return float(gammaln(len(users)) + gammaln(0.5 + x).sum() - gammaln(1 + x.sum()) - 2 * gammaln(0.5))

    prior = {k: of_alpha(k) for k in range(1, 7)}
    p = np.array([prior[len(one)] * np.exp(sum(map(of_cluster, one))) for one in every])
    p /= p.sum()
    same = np.array([any({0, 2} <= {*c} for c in one) for one in every])
    return float(p @ same), float(p @ np.array([len(one) for one in every]))


@pytest.mark.slow
@pytest.mark.parametrize(("count", "most"), [(20, 0.05), (40, 0.005)])
def test_infinitely_many_sticks_have_the_partitions_of_their_users(count: int, most: float) -> None:
    """As long as J sticks are enough it does not matter how many they are; cycles in which they are not are few."""
    draws = drawn(of_sticks(count), draws=10_000, thin=20, chains=16)
    z = draws.block("theta")[:, draws.warmup :, 2 * count + 1 :].reshape(16, -1, 6, count).argmax(axis=3)
    ordered = np.sort(z, axis=2)
    clusters = 1 + (ordered[..., 1:] != ordered[..., :-1]).sum(axis=2)
    same, number = of_partitions()
    assert abs(same - 0.5797) < 1e-4
    for values, stated in ((z[..., 0] == z[..., 2], same), (clusters, number)):
        means = values.mean(axis=1)
        error = means.std(ddof=1) / 4
        assert abs(means.mean() - stated) < 5 * error
        assert error < 0.003 * max(1.0, stated)
    assert draws.too_few is not None
    assert 0 < draws.too_few[:, draws.warmup :].mean() / 20 < most


def test_every_partition_is_there_once() -> None:
    found = [frozenset(map(frozenset, one)) for one in partitions(4)]
    assert len(found) == len(set(found)) == 15
    assert all(sorted(user for c in one for user in c) == [0, 1, 2, 3] for one in found)

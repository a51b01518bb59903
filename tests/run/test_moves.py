"""Runs of chains by moves: bits that no way of running changes, what is told of acceptance, and where chains end."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from cycles import ONE_OF_EACH, WALK, cycle_build, texts
from loaders import load_build
from some import some
from stopping import stopping

from recipe_compiler.run import chains as chains_module
from recipe_compiler.run.chain import run_arguments, start_chain
from recipe_compiler.run.checkpoint import Checkpoint
from recipe_compiler.run.data import load_data
from recipe_compiler.run.evaluate import extent
from recipe_compiler.run.load_module import Emitted, load_text
from recipe_compiler.run.sample import Draws, prepare_inputs, sample
from recipe_compiler.run.sizes import resolve_sizes
from recipe_compiler.run.store import to_datatree
from recipe_compiler.run.stuck import STUCK
from recipe_compiler.run.summary import summarise
from recipe_compiler.spec.model import Build

EPS = {"double_well": 0.5, "gaussian": 0.7, "logistic_regression": 0.05, "eight_schools": 0.2}
HALF_LINE = """
format: 1
name: half_line
state: {theta: {shape: d}}
potential: ones.T @ theta - 2*(ones.T @ log(theta))
"""
"""Gamma(3, 1) in every coordinate, as if all numbers were allowed: beyond 0 the logarithm is no number."""
ON_HALF_LINE = """
format: 1
name: on_half_line
dynamics: {dynamics}
target: half_line.yaml
bind: {{M: I}}
scheme: {{cycle: [{{refresh: r}}, {{metropolis: {{split: [B/2, A, B/2], steps: 3, flip: {{r: -r}}}}}}]}}
variant: full
sizes: {{d: 2}}
init: {{theta: {start}*ones}}
run: {{step_size: 1, draws: 4000, warmup: 100, chains: 4, seed: 1}}
"""


def made(target: str, cycle: str, shape: str = "shipped") -> tuple[Emitted, Build]:
    build = cycle_build(target, cycle)
    module = texts(build)[shape].module
    own = replace(build.run, step_size=EPS[target], draws=400, warmup=20, thin=1, chains=3, seed=9)
    return load_text(module.name, module.text), replace(build, run=own)


def drawn(module: Emitted, build: Build, *given: object, **changes: object) -> Draws:
    return sample(module, build, replace(build.run, **changes), load_data(build.data, build.target), *given)


def same(one: Draws, other: Draws) -> bool:
    arrays = zip((*one.arrays, one.acceptance), (*other.arrays, other.acceptance), strict=True)
    return all(np.array_equal(left, right) for left, right in arrays)


# what no way of running changes


SHAPES = [*((*own, "shipped") for own in ONE_OF_EACH.values()), ("gaussian", "between", "scheduled")]


@pytest.mark.slow
@pytest.mark.parametrize(("target", "cycle", "shape"), SHAPES)
def test_calls_of_run_go_on_where_the_one_before_ended(target: str, cycle: str, shape: str) -> None:
    """U and the gradient that a call begins with are those that the one before left, to the last bit."""
    module, build = made(target, cycle, shape)
    data = load_data(build.data, build.target)
    inputs = prepare_inputs(module, build, build.run, data, 300)
    sizes = resolve_sizes(build, data)

    counts: list[int] = []

    def run(*pieces: int) -> np.ndarray:
        noise, batch = module.seed_streams(3, 1)
        state = tuple(np.full(extent(size, sizes) or 1, 0.3) for _, size in module.blocks)
        counts.append(sum(map(len, state)))
        chain = start_chain(module, inputs, state, noise[0], batch[0])
        for count in pieces:
            chain.done += module.run(*run_arguments(module, inputs, chain, count))
        assert chain.done == 300
        return np.concatenate(chain.draws, axis=1)

    whole = run(300)
    np.testing.assert_array_equal(run(300), whole)
    np.testing.assert_array_equal(run(*(1,) * 300), whole)
    np.testing.assert_array_equal(run(7, 200, 93), whole)
    assert np.std(whole[:, : counts[0]], axis=0).min() > 0.0


@pytest.mark.parametrize(
    ("target", "cycle"), some([("double_well", "hmc_of_some_steps"), ("logistic_regression", "ghmc")])
)
def test_threads_change_nothing_and_a_stopped_run_goes_on_with_the_same_bits(
    target: str, cycle: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chains_module, "PIECE_SECONDS", 0.005)
    module, build = made(target, cycle)
    build = replace(build, run=replace(build.run, thin=200 if target == "logistic_regression" else 4000))
    whole = drawn(module, build)
    data = load_data(build.data, build.target)
    assert same(whole, sample(module, build, build.run, data, cores=1))
    assert same(whole, sample(module, build, build.run, data, cores=2))
    with Checkpoint(tmp_path, {}, every=0.02) as checkpoint, stopping(5):
        part = sample(module, build, build.run, data, cores=2, checkpoint=checkpoint)
    assert part.interrupted
    assert part.kept[0] < build.run.draws
    with Checkpoint(tmp_path, {}) as checkpoint:
        rest = sample(module, build, build.run, data, cores=2, checkpoint=checkpoint, resume=True)
    assert same(whole, rest)


@pytest.mark.parametrize(("target", "cycle"), [("double_well", "hmc"), ("logistic_regression", "ghmc")])
def test_thinned_draws_are_every_third_and_their_acceptance_is_a_mean(target: str, cycle: str) -> None:
    module, build = made(target, cycle)
    every = drawn(module, build, draws=300, warmup=0)
    third = drawn(module, build, draws=100, warmup=0, thin=3)
    for all_, thinned in zip(every.arrays, third.arrays, strict=True):
        np.testing.assert_array_equal(all_[:, 2::3], thinned)
    assert every.acceptance is not None
    assert third.acceptance is not None
    np.testing.assert_allclose(every.acceptance.reshape(3, 100, 3).mean(axis=2), third.acceptance, rtol=1e-12)


# words that are not done in each cycle


@pytest.mark.slow
def test_a_word_that_is_not_due_leaves_all_as_it_is_and_acceptance_is_of_the_moves_that_were() -> None:
    module, build = made("gaussian", "every_word")
    draws = drawn(module, build, draws=300, warmup=0)
    theta, r = draws.arrays
    assert draws.tried is not None
    assert draws.acceptance is not None
    due = np.arange(300) % 3 == 0
    np.testing.assert_array_equal(draws.tried, np.broadcast_to(due.astype(float), draws.tried.shape))
    np.testing.assert_array_equal(np.isnan(draws.acceptance), draws.tried == 0.0)
    moved = np.any(theta[:, 1:] != theta[:, :-1], axis=2)
    assert not moved[:, ~due[1:]].any()
    assert moved[:, due[1:]].mean() > 0.5
    changed = np.any(r[:, 1:] != r[:, :-1], axis=2)
    assert changed[:, np.arange(1, 300) % 2 == 0].all()
    fourth = drawn(module, build, draws=75, warmup=0, thin=4)
    assert fourth.tried is not None
    assert fourth.acceptance is not None
    np.testing.assert_array_equal(fourth.tried, draws.tried.reshape(3, 75, 4).sum(axis=2))
    np.testing.assert_allclose(fourth.acceptance, np.nanmean(draws.acceptance.reshape(3, 75, 4), axis=2), rtol=1e-12)
    summary = summarise(to_datatree(fourth, build, load_data(build.data, build.target), ""), fourth)
    np.testing.assert_allclose(summary.acceptance, np.nanmean(draws.acceptance, axis=1), rtol=1e-12)


@pytest.mark.slow
def test_a_word_of_each_third_cycle_keeps_the_law() -> None:
    """Var theta of the Gaussian, four chains of 20,000 draws at a step size that refuses a tenth of the moves."""
    module, build = made("gaussian", "every_word")
    draws = drawn(module, build, draws=60_000, warmup=300, chains=4)
    theta = draws.arrays[0][:, 300:]
    S = np.array([[2, 1 / 2, 1 / 3], [1 / 2, 1, -1 / 4], [1 / 3, -1 / 4, 3 / 2]])
    mu = np.array([1, -2, 1 / 2])
    squares = ((theta - mu) ** 2).reshape(4, 60, -1, 3).mean(axis=2)
    error = squares.std(axis=(0, 1)) / np.sqrt(240)
    assert (np.abs(squares.mean(axis=(0, 1)) - S.diagonal()) < 5 * error).all()
    assert (error < 0.04 * S.diagonal()).all()


# involutions that are not done in each cycle


@pytest.mark.slow
def test_an_involution_that_is_not_due_leaves_all_as_it_is_and_its_acceptance_is_of_those_that_were() -> None:
    module, build = made("gaussian", f"[refresh: r, {WALK[:-1]}, every: 3}}]")
    draws = drawn(module, build, draws=300, warmup=0)
    assert draws.mapped is not None
    assert draws.mapped_tried is not None
    due = np.arange(300) % 3 == 0
    np.testing.assert_array_equal(draws.mapped_tried, np.broadcast_to(due.astype(float), (3, 300)))
    np.testing.assert_array_equal(np.isnan(draws.mapped), draws.mapped_tried == 0.0)
    moved = np.any(draws.arrays[0][:, 1:] != draws.arrays[0][:, :-1], axis=2)
    assert not moved[:, ~due[1:]].any()
    assert abs(moved[:, due[1:]].mean() - np.nanmean(draws.mapped[:, 1:])) < 5 * np.sqrt(0.25 / 297)
    fourth = drawn(module, build, draws=75, warmup=0, thin=4)
    np.testing.assert_array_equal(fourth.arrays[0], draws.arrays[0][:, 3::4])
    assert fourth.mapped is not None
    assert fourth.mapped_tried is not None
    np.testing.assert_array_equal(fourth.mapped_tried, draws.mapped_tried.reshape(3, 75, 4).sum(axis=2))
    np.testing.assert_allclose(fourth.mapped, np.nanmean(draws.mapped.reshape(3, 75, 4), axis=2), rtol=1e-12)
    tree = to_datatree(fourth, build, load_data(build.data, build.target), "")
    np.testing.assert_array_equal(tree["sample_stats"]["involutions_tried"], fourth.mapped_tried)
    np.testing.assert_allclose(summarise(tree, fourth).mapped, np.nanmean(draws.mapped, axis=1), rtol=1e-12)


@pytest.mark.slow
def test_of_several_the_acceptance_is_a_mean_over_those_that_there_were() -> None:
    """A walk of each second cycle and a scale of each third, beside a walk of all."""
    module, build = made("gaussian", "walk_every")
    draws = drawn(module, build, draws=60, warmup=0)
    assert draws.mapped is not None
    assert draws.mapped_tried is not None
    cycles = np.arange(60)
    stated = 1.0 + (cycles % 2 == 0) + (cycles % 3 == 0)
    np.testing.assert_array_equal(draws.mapped_tried, np.broadcast_to(stated, (3, 60)))
    assert (draws.mapped > 0.0).all()
    assert (draws.mapped <= 1.0).all()


@pytest.mark.slow
def test_involutions_of_some_cycles_keep_the_law() -> None:
    module, build = made("gaussian", "walk_every")
    theta = drawn(module, build, draws=60_000, warmup=500, chains=4).arrays[0][:, 500:]
    S = np.array([[2, 1 / 2, 1 / 3], [1 / 2, 1, -1 / 4], [1 / 3, -1 / 4, 3 / 2]])
    squares = ((theta - np.array([1, -2, 1 / 2])) ** 2).reshape(4, 20, -1, 3).mean(axis=2)
    error = squares.std(axis=(0, 1)) / np.sqrt(80)
    assert (np.abs(squares.mean(axis=(0, 1)) - S.diagonal()) < 5 * error).all()
    assert (error < 0.1 * S.diagonal()).all()


# what is told of acceptance


@pytest.mark.parametrize(("target", "cycle", "eps"), [("gaussian", "hmc", 0.9), ("double_well", "ghmc", 0.7)])
def test_acceptance_is_the_probability_that_a_move_is_taken(target: str, cycle: str, eps: float) -> None:
    """Taken or not less its probability has mean 0, and is of one move independent of all before (a martingale)."""
    module, build = made(target, cycle)
    draws = drawn(module, build, step_size=eps, draws=20_000, chains=4)
    assert draws.acceptance is not None
    theta = draws.arrays[0]
    taken = np.any(theta[:, 1:] != theta[:, :-1], axis=2)
    told = draws.acceptance[:, 1:]
    assert (told >= 0.0).all()
    assert (told <= 1.0).all()
    error = np.sqrt((told * (1.0 - told)).sum()) / told.size
    assert error > 0.0
    assert abs((taken - told).mean()) < 5.0 * error
    assert 0.2 < told.mean() < 0.98


@pytest.mark.slow
def test_a_cycle_that_refuses_nothing_tells_of_no_acceptance() -> None:
    module, build = made("gaussian", "steps")
    assert not module.accepts
    assert drawn(module, build).acceptance is None


# where chains end


@pytest.fixture
def half_line(tmp_path: Path) -> tuple[Emitted, Build]:
    (tmp_path / "half_line.yaml").write_text(HALF_LINE)
    path = tmp_path / "on_half_line.yaml"
    dynamics = Path(__file__).parents[2] / "specs/dynamics/hmc.yaml"
    path.write_text(ON_HALF_LINE.format(dynamics=dynamics, start="2"))
    build = load_build(path)
    module = texts(build)["shipped"].module
    return load_text(module.name, module.text), build


@pytest.mark.slow
def test_proposals_where_U_is_no_number_are_refused_and_the_law_is_exact(half_line: tuple[Emitted, Build]) -> None:
    module, build = half_line
    draws = drawn(module, build, step_size=0.6, draws=40_000, chains=16)
    theta = draws.block("theta")[:, draws.warmup :]
    assert draws.acceptance is not None
    assert not any(draws.diverging)
    assert theta.min() > 0.0
    assert (draws.acceptance == 0.0).any(), "no proposal was beyond 0"
    for power, expected in ((1, 3.0), (2, 12.0)):
        means = (theta**power).mean(axis=1).ravel()
        assert abs(means.mean() - expected) < 5.0 * means.std(ddof=1) / np.sqrt(means.size), power


@pytest.mark.slow
def test_a_start_where_U_is_no_number_ends_the_chain(half_line: tuple[Emitted, Build], tmp_path: Path) -> None:
    module, _ = half_line
    path = tmp_path / "on_half_line.yaml"
    path.write_text(path.read_text().replace("2*ones", "-2*ones"))
    build = load_build(path)
    draws = drawn(module, build)
    assert draws.diverging == (True,) * 4
    assert draws.kept == (0,) * 4


WALKED = '[{refresh: r}, {involution: {theta: theta + w, w: -w}, draws: {w: {shape: d, law: "N(0, I/4)"}}}]'


@pytest.mark.slow
@pytest.mark.parametrize(("cycle", "hint"), [("hmc", "a smaller step size"), (WALKED, "draws of involutions")])
def test_a_chain_that_stands_still_for_fifty_moves_is_stuck(cycle: str, hint: str) -> None:
    """A chain of three, though all else of it is as it should be."""
    module, build = made("gaussian", cycle)
    draws = drawn(module, build)

    def said(draws: Draws) -> list[str]:
        tree = to_datatree(draws, build, load_data(build.data, build.target), "", "")
        return [doubt for doubt in summarise(tree, draws).doubts if "stuck" in doubt]

    def standing(moves: int) -> Draws:
        theta, kind = draws.arrays[0].copy(), "mapped" if draws.acceptance is None else "acceptance"
        rates = getattr(draws, kind).copy()
        theta[1, 200 : 201 + moves], rates[1, 201 : 201 + moves] = theta[1, 200], 0.0
        return replace(draws, arrays=(theta, *draws.arrays[1:]), **{kind: rates})

    assert said(draws) == []
    assert said(standing(STUCK - 2)) == []
    assert len(found := said(standing(STUCK))) == 1
    assert f"chain 2 is stuck: for 50 moves in a row, about 0 of them are accepted. Try {hint}" in found[0]

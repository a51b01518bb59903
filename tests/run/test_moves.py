"""Runs of chains by moves: what is told of acceptance, moves that are not due, and where chains end."""

import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from answers import document
from cycles import SIZED_MASS, WALK, WORDS, cycle_build, several
from loaders import load_build
from running import data_of, drawn

import recipe_compiler as rc
from recipe_compiler.advise.diagnostics import Summary, summarise
from recipe_compiler.advise.stuck import STUCK, least_accepted
from recipe_compiler.run.sample import Accepted, Draws
from recipe_compiler.run.store import to_datatree
from recipe_compiler.spec.model import Build

FUNNEL = Path(__file__).parents[1] / "shared/guarded_funnel.yaml"
RUN = {"draws": 60, "warmup": 0, "thin": 1, "chains": 3, "seed": 9}


def summed(draws: Draws, build: Build) -> Summary:
    return summarise(to_datatree(draws, build, data_of(build), ""), draws)


@pytest.mark.parametrize(("target", "cycle"), [("double_well", "hmc"), ("gaussian", "ghmc")])
def test_thinned_draws_are_every_third_and_their_acceptance_is_a_mean(target: str, cycle: str) -> None:
    build = cycle_build(target, cycle, 1 / 2)
    every, third = drawn(build, **RUN), drawn(build, **{**RUN, "draws": 20, "thin": 3})
    for all_, thinned in zip(every.arrays, third.arrays, strict=True):
        np.testing.assert_array_equal(all_[:, 2::3], thinned)
    assert every.stats["acceptance"] is not None
    np.testing.assert_allclose(
        every.stats["acceptance"].reshape(3, 20, 3).mean(axis=2), third.stats["acceptance"], rtol=1e-12
    )
    assert every.stats.keys() == {"acceptance"}


WALKED_THIRD = f"[refresh: r, {WALK[:-1]}, every: 3}}]"
MOVES = {
    "words": ("every_word", "acceptance", "tried", "moves"),
    "involutions": (
        f"[refresh: r, {WALK[:-1]}, every: 3}}]",
        "involution_acceptance",
        "involutions_tried",
        "involutions",
    ),
}


@pytest.mark.parametrize("moves", MOVES)
def test_a_move_that_is_not_due_leaves_all_as_it_is_and_acceptance_is_of_those_that_were(moves: str) -> None:
    cycle, rates, counts, told = MOVES[moves]
    build = cycle_build("gaussian", cycle, 1 / 2)
    draws, fourth = drawn(build, **RUN), drawn(build, **{**RUN, "draws": 15, "thin": 4})
    due = np.arange(60) % 3 == 0
    np.testing.assert_array_equal(draws.stats[counts], np.broadcast_to(due.astype(float), (3, 60)))
    np.testing.assert_array_equal(np.isnan(draws.stats[rates]), draws.stats[counts] == 0.0)
    moved = np.any(np.diff(draws.block("theta"), axis=1) != 0.0, axis=2)
    assert not moved[:, ~due[1:]].any()
    assert moved[:, due[1:]].mean() > 0.3
    np.testing.assert_array_equal(fourth.block("theta"), draws.block("theta")[:, 3::4])
    np.testing.assert_array_equal(fourth.stats[counts], draws.stats[counts].reshape(3, 15, 4).sum(axis=2))
    means = np.nanmean(draws.stats[rates].reshape(3, 15, 4), axis=2)
    np.testing.assert_allclose(fourth.stats[rates], means, rtol=1e-12)
    whole = np.nanmean(draws.stats[rates], axis=1)
    says = f"{whole.mean():.2f} of the {told} ({whole.min():.2f} to {whole.max():.2f} by chain)"
    assert f"acceptance: {says}" in summed(fourth, build).notes


def test_of_several_involutions_the_acceptance_is_a_mean_over_those_that_there_were() -> None:
    """A walk of each second cycle and a scale of each third, beside a walk of all."""
    draws, cycles = drawn(cycle_build("gaussian", "walk_every"), **RUN), np.arange(60)
    stated = 1.0 + (cycles % 2 == 0) + (cycles % 3 == 0)
    np.testing.assert_array_equal(draws.stats["involutions_tried"], np.broadcast_to(stated, (3, 60)))
    assert ((draws.stats["involution_acceptance"] > 0.0) & (draws.stats["involution_acceptance"] <= 1.0)).all()


@pytest.mark.slow
@pytest.mark.parametrize(("target", "cycle", "eps"), [("gaussian", "hmc", 0.9), ("double_well", "ghmc", 0.7)])
def test_acceptance_is_the_probability_that_a_move_is_taken(target: str, cycle: str, eps: float) -> None:
    """Taken or not less its probability has mean 0, and is of one move independent of all before (a martingale)."""
    draws = drawn(cycle_build(target, cycle), **{**RUN, "step_size": eps, "draws": 20_000, "chains": 4})
    taken = np.any(np.diff(draws.arrays[0], axis=1) != 0.0, axis=2)
    told = draws.stats["acceptance"][:, 1:]
    assert ((told >= 0.0) & (told <= 1.0)).all()
    error = np.sqrt((told * (1.0 - told)).sum()) / told.size
    assert abs((taken - told).mean()) < 5.0 * error
    assert 0.2 < told.mean() < 0.98


def test_a_cycle_that_refuses_nothing_tells_of_no_acceptance() -> None:
    assert drawn(cycle_build("gaussian", "steps"), **{**RUN, "draws": 3}).stats == {}


@pytest.mark.slow
def test_guards_are_counted_by_draws_and_refuse() -> None:
    """A step too long for the neck: what was refused by a guard stands where it stood, and has no acceptance."""
    build = load_build(FUNNEL)
    own = {"chains": 2, "warmup": 0, "seed": 3, "step_size": 1.2}
    one, four = drawn(build, **own, thin=1, draws=800), drawn(build, **own, thin=4, draws=200)
    refused = one.stats["unsolved"] + one.stats["irreversible"]
    assert one.stats["unsolved"].sum() > 5
    assert one.stats["irreversible"].sum() > 0
    assert set(np.unique(refused)) == {0.0, 1.0}
    stood = np.all(np.diff(one.arrays[0], axis=1) == 0.0, axis=2)
    assert np.all(stood[refused[:, 1:] > 0])
    assert np.all(one.stats["acceptance"][refused > 0] == 0.0)
    np.testing.assert_array_equal(four.stats["unsolved"], one.stats["unsolved"].reshape(2, -1, 4).sum(axis=2))
    tree = to_datatree(four, build, data_of(build), "0" * 64)
    unsolved, irreversible = (int(tree["sample_stats"][name].sum()) for name in ("unsolved", "irreversible"))
    says = f"rejected by guards of implicit steps: {unsolved} not solved, {irreversible} not reversible"
    assert f"{says}, of 1600 moves" in summarise(tree, four).notes


NOWHERE = """
name: b
dynamics: hmc
target: half.yaml
bind: {M: I}
variant: full
scheme: {cycle: [{refresh: r}, {metropolis: {split: [B/2, A, B/2], flip: {r: -r}}}]}
init: {theta: -2*ones}
run: {step_size: 1}
"""


def test_a_start_where_u_is_no_number_ends_the_chain() -> None:
    draws = drawn(document(NOWHERE, half="state: {theta: {shape: 2}}\npotential: sum(theta - 2*log(theta))\n"), **RUN)
    assert draws.diverging == (True,) * 3
    assert draws.kept == (0,) * 3


WALKED = '[{refresh: r}, {involution: {theta: theta + w, w: -w}, draws: {w: {shape: d, law: "N(0, I/4)"}}}]'


@pytest.mark.parametrize(
    ("cycle", "hint"), [("ghmc", "a smaller step size"), (WALKED, "smaller draws in the involutions")]
)
def test_a_chain_that_stands_still_for_fifty_moves_is_stuck(cycle: str, hint: str) -> None:
    """A chain of three, though all else of it is as it should be."""
    build = cycle_build("gaussian", cycle, 1 / 2)
    draws = drawn(build, **{**RUN, "draws": 120})

    def standing(moves: int) -> list[str]:
        theta, kind = (
            draws.arrays[0].copy(),
            next(name for name in ("acceptance", "involution_acceptance") if name in draws.stats),
        )
        rates = draws.stats[kind].copy()
        theta[1, 20 : 21 + moves], rates[1, 21 : 21 + moves] = theta[1, 20], 0.0
        own = replace(draws, arrays=(theta, *draws.arrays[1:]), stats={**draws.stats, kind: rates})
        return [doubt for doubt in summed(own, build).doubts if "stuck" in doubt]

    assert standing(0) == standing(STUCK - 3) == []
    (found,) = standing(STUCK)
    assert f"chain 2 is stuck: for 50 moves in a row, about 0 of them are accepted. Try {hint}" in found


def test_the_least_accepted_moves_are_found_wherever_they_are() -> None:
    rates = np.full(400, 0.9)
    rates[130 : 130 + STUCK] = 0.01
    for own, expected in ((rates, 0.01), (rates[:180], 0.01), (rates[131:], (0.01 * 49 + 0.9) / 50)):
        assert least_accepted(own, np.ones(len(own))) == (pytest.approx(expected), STUCK)
    few = np.array([0.8, 0.1, 0.02, 0.04, 0.9])  # moves of a draw stay together
    assert least_accepted(few, np.full(5, 30.0)) == (pytest.approx(0.03), 60)
    assert least_accepted(few, np.full(5, 256.0)) == (pytest.approx(0.02), 256)
    rates, moves = np.full(200, 0.5), np.ones(200)
    rates[::2], moves[::2] = np.nan, 0.0  # draws without a move
    assert least_accepted(rates, moves) == (pytest.approx(0.5), STUCK)
    for count, expected in ((0, None), (STUCK - 1, None), (STUCK, (0.0, STUCK))):
        assert least_accepted(np.zeros(count), np.ones(count)) == expected


# several words

KINDS = {
    "in turn": ("moves of a, 1 to 4 steps", "moves of b, 1 to 6 steps, scale 1/2"),
    "short and long": ("moves of all blocks, 1 step, every 2", "moves of all blocks, 1 to 6 steps, scale 2/3"),
    "beside a draw": ("moves of a, 2 steps", "moves of a, b, 3 steps, scale 1/3"),
}


@pytest.mark.parametrize("name", KINDS)
def test_each_kind_of_moves_has_its_own_acceptance(name: str) -> None:
    """Their mean, by how many there are of each in a draw, is that of all moves."""
    draws = drawn(several(name, SIZED_MASS, ("step_size: 3/4", "step_size: 1")), **{**RUN, "thin": 2, "draws": 30})
    assert tuple(kind.says for kind in draws.kinds) == KINDS[name]
    counts = [np.nan_to_num(kind.rates) * kind.moves for kind in draws.kinds]
    whole = sum(counts) / sum(kind.moves for kind in draws.kinds)
    np.testing.assert_allclose(whole, draws.stats["acceptance"], rtol=1e-12)
    rates = [np.nansum(count) / kind.moves.sum() for count, kind in zip(counts, draws.kinds, strict=True)]
    assert abs(rates[0] - rates[1]) > 0.02


ROUND = """state: {a: {shape: 2}, b: {shape: 2}}
potential: norm2(a) + norm2(b - a**2/2)
laws: {b: "N(a**2/2, I/2)"}
"""
PLANNED = """name: planned
dynamics: hmc
target: round.yaml
BIND
scheme: {cycle: CYCLE}
variant: full
run: {step_size: auto, accept: 0.8, draws: 8000, seed: 11}
"""


@pytest.mark.slow
@pytest.mark.usefixtures("taken_for_granted", "without_reading_back", "interruptible")
@pytest.mark.parametrize(("name", "bind"), [("in turn", "bind: {M: I}"), ("in turn", ""), ("beside a draw", "")])
def test_one_step_size_is_planned_for_all_and_the_first_run_is_right(name: str, bind: str) -> None:
    """The mass is chosen, too, where it is not bound: a is N(0, I/2), b - a**2/2 likewise."""
    build = document(PLANNED.replace("BIND", bind).replace("CYCLE", WORDS[name]), round=ROUND)
    fit = rc.compile(build.source.file).sample(progress=False)
    assert not fit.attrs["doubts"], fit.attrs["doubts"]
    rates = [float(fit["sample_stats"][f"acceptance_rate_{k}"].mean()) for k in (1, 2)]
    assert min(rates) == pytest.approx(0.8, abs=0.05)
    a, b = (fit["posterior"][block].to_numpy() for block in "ab")
    for own in (a, b - a**2 / 2):
        assert np.abs(own.mean(axis=(0, 1))).max() < 0.07
        np.testing.assert_allclose((own**2).mean(axis=(0, 1)), 0.5, atol=0.07)


@pytest.mark.usefixtures("taken_for_granted", "without_reading_back", "interruptible")
def test_a_move_that_is_never_accepted_is_stuck_beside_another_that_is() -> None:
    run = "step_size: 0.5, warmup: 0, draws: 80, chains: 2, seed: 11"
    build = several("in turn", SIZED_MASS, ("step_size: 3/4", run), ("scale: 1/2", "scale: 40"))
    model = rc.compile(build.source.file)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit = model.sample(progress=False)
    stuck = [line for line in fit.attrs["doubts"].splitlines() if "stuck" in line]
    assert len(stuck) == 2
    assert all("is stuck in moves of b, 1 to 6 steps, scale 40" in line for line in stuck)
    assert float(fit["sample_stats"]["acceptance_rate"].mean()) > 0.3


def test_a_summary_tells_each_kind_apart() -> None:
    build = cycle_build("double_well", "hmc", 1 / 2)
    draws = drawn(build, **{**RUN, "chains": 2, "draws": 20})
    moves = draws.moves()

    def accepted(*by_chain: float) -> np.ndarray:
        return np.tile(np.array(by_chain)[:, None], (1, 20))

    kinds = (Accepted("moves of a", accepted(0.9, 1.0), moves), Accepted("moves of b", accepted(0.3, 0.6), moves))
    summary = summed(replace(draws, stats={"acceptance": accepted(0.6, 0.8)}, kinds=kinds), build)
    assert [line for line in summary.notes if line.startswith("acceptance")] == [
        "acceptance: 0.70 of the moves (0.60 to 0.80 by chain)",
        "acceptance: 0.95 of the moves of a (0.90 to 1.00 by chain)",
        "acceptance: 0.45 of the moves of b (0.30 to 0.60 by chain)",
    ]

"""Chains of several moves with a word, each of its own blocks, steps and step size, have the law of their target.

With w = b - B a - a**2/2 the target is N(0, inv(A)) of a times N(0, inv(C)) of w: neither block is normal given the
other, and no matrix commutes with another. Errors are those of means over batches; one of 22 numbers is more than 5 of
them off once in 80,000 runs.
"""

import warnings
from pathlib import Path

import numpy as np
import pytest
from cycles import texts
from loaders import load_build

import recipe_compiler as rc
from recipe_compiler.run.data import load_data
from recipe_compiler.run.load_module import load_text
from recipe_compiler.run.posterior_numbers import PosteriorNumbers
from recipe_compiler.run.sample import Draws, sample
from recipe_compiler.run.summary import Diagnostics, Summary

ROOT = Path(__file__).parents[2]
BENT = """
format: 1
name: bent
state: {a: {shape: 2}, b: {shape: 2}}
parameters:
  A: {shape: [2, 2], is: positive definite}
  B: {shape: [2, 2]}
  C: {shape: [2, 2], is: positive definite}
potential: a.T @ A @ a/2 + (b - B @ a - a**2/2).T @ C @ (b - B @ a - a**2/2)/2
assume: [normalisable]
laws: {b: "N(B @ a + a**2/2, inv(C))"}
"""
BUILD = f"""
format: 1
name: several
dynamics: {ROOT}/specs/dynamics/hmc.yaml
target: bent.yaml
parameters:
  A: {{{{value: [[2, 1/2], [1/2, 1]]}}}}
  B: {{{{value: [[1/2, -1/4], [1/4, 1/2]]}}}}
  C: {{{{value: [[3, -1], [-1, 1]]}}}}
  M: {{{{value: [[2, 1/2, 0, 1/3], [1/2, 1, 1/4, 0], [0, 1/4, 3/2, 1/2], [1/3, 0, 1/2, 1]]}}}}
scheme: {{{{cycle: {{cycle}}}}}}
variant: full
run: {{{{step_size: 3/4, draws: {{draws}}, warmup: 200, thin: 2, chains: 4, seed: 3}}}}
"""
WORD = "split: [B/2, A, B/2], flip: {r: -r}"
MOVES = {
    "in turn": f'[refresh: r, {{of: {{theta: a}}, metropolis: {{{WORD}, steps: "uniform(1, 4)"}}}}, refresh: r, '
    f'{{of: {{theta: b}}, metropolis: {{{WORD}, steps: "uniform(1, 6)", scale: 1/2}}}}]',
    "short and long": f"[refresh: {{r: 7/10}}, {{metropolis: {{{WORD}}}, every: 2}}, refresh: {{r: 1/2}}, "
    f'{{metropolis: {{{WORD}, steps: "uniform(1, 6)", scale: 2/3}}, repeat: 2}}]',
    "beside a draw": f"[draw: b, refresh: {{r: 3/5}}, {{of: {{theta: a}}, metropolis: {{{WORD}, steps: 2}}}}, "
    f"{{metropolis: {{{WORD}, steps: 3, scale: 1/3}}}}, refresh: r]",
}
WRONG = {
    "the energy of the first move": ("= U_next[0] - U_at_v2 +", "= U[0] - U_at_v2 +"),
    "the gradient before the first move": ("= grad_U_next[i]\n", "= grad_U[i]\n"),
    "another step size before the first step": ("+ eps_scaled * (-grad", "+ eps * (-grad"),
    "a momentum that is not turned": ("else -r_drawn[i]", "else r_drawn[i]"),
}
"""Faults of the text; the first three of moves in turn, the last of those beside a draw."""


SUMMED = {
    "in turn": ("moves of a, 1 to 4 steps", "moves of b, 1 to 6 steps, scale 1/2"),
    "short and long": ("moves of all blocks, 1 step, every 2", "moves of all blocks, 1 to 6 steps, scale 2/3"),
    "beside a draw": ("moves of a, 2 steps", "moves of a, b, 3 steps, scale 1/3"),
}


def chains(tmp_path: Path, name: str, draws: int, *changes: tuple[str, str]) -> Draws:
    (tmp_path / "bent.yaml").write_text(BENT, encoding="utf-8")
    (tmp_path / "several.yaml").write_text(BUILD.format(cycle=MOVES[name], draws=draws), encoding="utf-8")
    build = load_build(tmp_path / "several.yaml")
    shape = "plain" if changes else "shipped"
    module = texts(build)[shape].module
    text = module.text
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    return sample(load_text(module.name, text), build, build.run, load_data(build.data, build.target))


def errors_off(draws: Draws) -> float:
    return errors_of(draws.block("theta")[:, draws.warmup :])


def errors_of(theta: np.ndarray) -> float:
    """Return by how many standard errors the means of a, w and of their products are off, the most of them."""
    a, b = theta[..., :2], theta[..., 2:]
    w = b - a @ np.array([[0.5, -0.25], [0.25, 0.5]]).T - a**2 / 2.0
    both, (i, j) = np.concatenate([a, w], axis=-1), np.triu_indices(4)
    covariance = np.zeros((4, 4))
    covariance[:2, :2], covariance[2:, 2:] = np.linalg.inv([[2, 0.5], [0.5, 1]]), np.linalg.inv([[3, -1], [-1, 1]])
    values = np.concatenate([both, both[..., i] * both[..., j], both[..., :2] ** 4 / 3.0], axis=-1)
    exact = np.concatenate([np.zeros(4), covariance[i, j], np.diag(covariance)[:2] ** 2])
    batches = values.reshape(4, 50, -1, values.shape[-1]).mean(axis=2).reshape(200, -1)
    errors = batches.std(axis=0, ddof=1) / np.sqrt(200)
    return float(np.max(np.abs(batches.mean(axis=0) - exact) / errors))


@pytest.mark.slow
@pytest.mark.parametrize("name", MOVES)
def test_moments_are_those_of_the_target(tmp_path: Path, name: str) -> None:
    assert errors_off(chains(tmp_path, name, 20_000)) < 5.0


@pytest.mark.slow
@pytest.mark.parametrize("fault", WRONG)
def test_a_fault_of_the_second_move_is_seen(tmp_path: Path, fault: str) -> None:
    name = "beside a draw" if fault == "a momentum that is not turned" else "in turn"
    assert errors_off(chains(tmp_path, name, 80_000, WRONG[fault])) > 5.0


@pytest.mark.slow
@pytest.mark.parametrize("name", MOVES)
def test_each_kind_of_moves_has_its_own_acceptance(tmp_path: Path, name: str) -> None:
    """Their mean, by how many there are of each in a draw, is that of all moves."""
    draws = chains(tmp_path, name, 300)
    assert tuple(kind.says for kind in draws.kinds) == SUMMED[name]
    assert draws.acceptance is not None
    counts = [np.nan_to_num(kind.rates) * kind.moves for kind in draws.kinds]
    whole = sum(counts) / sum(kind.moves for kind in draws.kinds)
    np.testing.assert_allclose(whole, draws.acceptance, rtol=1e-12)
    first, second = (
        float(np.nansum(count) / kind.moves.sum()) for count, kind in zip(counts, draws.kinds, strict=True)
    )
    assert abs(first - second) > 0.05


def planned(
    tmp_path: Path, name: str, *changes: tuple[str, str], run: str = "step_size: auto, accept: 0.8"
) -> rc.Model:
    """Return a model of `MOVES` with settings of its own."""
    text = BUILD.format(cycle=MOVES[name], draws=8000)
    settings = text[text.index("run: {") :]
    for old, new in ((settings, f"run: {{{run}, draws: 8000, seed: 11}}\n"), *changes):
        assert old in text, old
        text = text.replace(old, new)
    (tmp_path / "bent.yaml").write_text(BENT, encoding="utf-8")
    (tmp_path / "several.yaml").write_text(text, encoding="utf-8")
    return rc.compile(rc.load(str(tmp_path / "several.yaml")))


OPEN = ("  M: {value: [[2, 1/2, 0, 1/3], [1/2, 1, 1/4, 0], [0, 1/4, 3/2, 1/2], [1/3, 0, 1/2, 1]]}\n", "")
"""The mass is chosen, too."""


@pytest.mark.slow
@pytest.mark.usefixtures("taken_for_granted", "without_reading_back", "interruptible")
@pytest.mark.parametrize(("name", "changes"), [("in turn", ()), ("in turn", (OPEN,)), ("beside a draw", (OPEN,))])
def test_one_step_size_is_planned_for_all_and_the_first_run_is_right(
    tmp_path: Path, name: str, changes: tuple[tuple[str, str], ...]
) -> None:
    fit = planned(tmp_path, name, *changes).sample(progress=False)
    assert not fit.attrs["doubts"], fit.attrs["doubts"]
    rates = [float(fit["sample_stats"][f"acceptance_rate_{k}"].mean()) for k in (1, 2)]
    assert min(rates) == pytest.approx(0.8, abs=0.05)
    theta = np.concatenate([fit["posterior"][block].to_numpy() for block in ("a", "b")], axis=-1)
    assert errors_of(theta) < 5.0


@pytest.mark.slow
@pytest.mark.usefixtures("taken_for_granted", "without_reading_back", "interruptible")
def test_a_move_that_is_never_accepted_is_stuck_beside_another_that_is(tmp_path: Path) -> None:
    run = "step_size: 0.5, warmup: 100, chains: 2"
    model = planned(tmp_path, "in turn", ("scale: 1/2", "scale: 40"), run=run)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit = model.sample(progress=False)
    stuck = [line for line in fit.attrs["doubts"].splitlines() if "stuck" in line]
    assert len(stuck) == 2
    assert all("is stuck in moves of b, 1 to 6 steps, scale 40" in line for line in stuck)
    assert float(fit["sample_stats"]["acceptance_rate"].mean()) > 0.3


def test_a_summary_tells_each_kind_apart() -> None:
    summary = Summary(
        PosteriorNumbers(),
        (),
        (),
        Diagnostics(),
        acceptance=(0.6, 0.8),
        kinds=(("moves of a", (0.9, 1.0)), ("moves of b", (0.3, 0.6))),
    )
    told = [line for line in summary.notes if line.startswith("acceptance")]
    assert told == [
        "acceptance: 0.70 of the moves (0.60 to 0.80 by chain)",
        "acceptance: 0.95 of the moves of a (0.90 to 1.00 by chain)",
        "acceptance: 0.45 of the moves of b (0.30 to 0.60 by chain)",
    ]

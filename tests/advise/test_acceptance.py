"""`step_size: auto` of moves that are accepted or refused: what is asked is reached, what is planned is what runs."""

import warnings
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from some import some

import recipe_compiler as rc
from recipe_compiler.advise import plan_moves
from recipe_compiler.advise.acceptance import _are_falling, _precision, tuned
from recipe_compiler.advise.missed_modes import mode_of
from recipe_compiler.advise.moments import r_hats, shrunk
from recipe_compiler.advise.pilots import Moved
from recipe_compiler.advise.plan_moves import at_mode, starts_around
from recipe_compiler.advise.roles import Open, ParameterRole
from recipe_compiler.errors import RunError
from recipe_compiler.formula.declaration import Parameter
from recipe_compiler.formula.shapes import Kind, Shape
from recipe_compiler.run.map_estimate import Mode, Start, minimum

pytestmark = pytest.mark.usefixtures("taken_for_granted", "without_reading_back", "interruptible")

SPECS = Path(__file__).parents[2] / "specs"
HMC = """
name: {name}
dynamics: {specs}/dynamics/hmc.yaml
target: {target}
{more}
scheme: {{cycle: [{{refresh: r}}, {{metropolis: {{split: [B/2, A, B/2], steps: {steps}, flip: {{r: -r}}}}}}]}}
variant: full
run: {{{run}}}
"""
TURN, _ = np.linalg.qr(np.random.default_rng(3).standard_normal((4, 4)))
SIGMA = (TURN * np.geomspace(1e-2, 1e2, 4)) @ TURN.T
SIGMA = (SIGMA + SIGMA.T) / 2.0
"""Of condition 10,000, along axes of its own."""
MU = np.array([1.0, -200.0, 0.03, 5.0])
WELL = "name: well\nstate: {theta: {shape: 2}}\npotential: theta[0]**4 - 2*theta[0]**2 + (theta[1] - theta[0])**2\n"
"""A double well in theta[0]; theta[1] given it is N(theta[0], 1/2)."""
MASS = Open(Parameter("M", Shape("d", "d"), (Kind.PD,)), ParameterRole.MASS)
QUARTIC = "name: quartic\nstate: {theta: {shape: 2}}\npotential: norm2(theta)**2\n"
"""Its Hessian at the mode is zero; s = |theta|^2 has the density of |N(0, 1/2)|."""


def build(folder: Path, target: str, run: str, steps: str = "10", more: str = "", name: str = "planned") -> rc.Build:
    if "potential" in target:
        (folder / "own.yaml").write_text(target)
    path = folder / f"{name}.yaml"
    named = "own.yaml" if "potential" in target else f"{SPECS}/targets/{target}.yaml"
    path.write_text(HMC.format(name=name, specs=SPECS, target=named, steps=steps, more=more, run=run))
    return rc.load(str(path))


@cache
def gaussian(folder: Path, run: str) -> rc.Model:
    """A Gaussian, three sds out in every coordinate, the mass to be chosen."""
    start = MU + 3.0 * np.sqrt(np.diag(SIGMA))
    values = (
        f"mu: {{value: {MU.tolist()}}}, Sigma: {{value: {SIGMA.tolist()}}}, far: {{shape: d, value: {start.tolist()}}}"
    )
    more = f"parameters: {{{values}}}\nsizes: {{d: 4}}\ninit: {{theta: far}}"
    return rc.compile(build(folder, "gaussian", run, '"uniform(1, 8)"', more))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("acceptance")


def accepted(fit: object) -> float:
    return float(fit["sample_stats"]["acceptance_rate"].mean())


@pytest.mark.slow
def test_an_ill_conditioned_gaussian_is_sampled_from_three_sds_out(folder: Path) -> None:
    fit = gaussian(folder, "step_size: auto, accept: 0.7, draws: 2000, seed: 5").sample(progress=False)
    assert not fit.attrs["doubts"], fit.attrs["doubts"]
    theta = fit["posterior"]["theta"].to_numpy()
    assert accepted(fit) == pytest.approx(0.7, abs=0.05)
    assert r_hats(theta).max() <= 1.01
    flat = theta.reshape(-1, 4)
    # a quarter of the draws count at least: means within 4.5 standard errors, sds and correlations within 4
    count = len(flat) / 4.0
    np.testing.assert_allclose((flat.mean(axis=0) - MU) / np.sqrt(np.diag(SIGMA)), 0.0, atol=4.5 / np.sqrt(count))
    np.testing.assert_allclose(flat.std(axis=0) / np.sqrt(np.diag(SIGMA)), 1.0, atol=4.0 / np.sqrt(2.0 * count))
    whitened = np.linalg.solve(np.linalg.cholesky(SIGMA), (flat - MU).T)
    np.testing.assert_allclose(np.cov(whitened), np.eye(4), atol=4.0 * np.sqrt(2.0 / count))


@pytest.mark.slow
def test_what_is_planned_is_what_runs_to_the_last_bit(folder: Path) -> None:
    asked = gaussian(folder, "step_size: auto, accept: 0.7, draws: 300, seed: 6")
    one, again = (asked.sample(progress=False, cores=cores) for cores in (1, 2))
    (folder / "lines.yaml").write_text(asked.plan().to_yaml().replace("\nname: planned", "\nname: lines"))
    other = rc.compile(rc.load(str(folder / "lines.yaml"))).sample(progress=False)
    for name in ("posterior", "sample_stats"):
        for variable in one[name].data_vars:
            np.testing.assert_array_equal(one[name][variable], again[name][variable])
            np.testing.assert_array_equal(one[name][variable], other[name][variable])
    assert "dual averaging" in one.attrs["plan"]
    assert "plan" not in other.attrs


FAR = "init: {theta: 5*ones/2}"


@pytest.mark.slow
def test_a_start_that_no_long_step_leaves_is_left(folder: Path) -> None:
    """U'' is 71 there: at a step size of 0.6 no chain ever moves, and says so; a plan begins shorter."""
    fixed = build(
        folder, WELL, "step_size: 0.6, draws: 400, warmup: 0, seed: 2", more=f"bind: {{M: I}}\n{FAR}", name="fixed"
    )
    with pytest.warns(rc.DoubtWarning):
        held = rc.compile(fixed).sample(progress=False)
    assert held.attrs["doubts"].count("is stuck") == 4
    assert np.ptp(held["posterior"]["theta"].to_numpy()) == 0.0
    fit = rc.compile(build(folder, WELL, "step_size: auto, draws: 4000, seed: 2", more=FAR)).sample(progress=False)
    assert not fit.attrs["doubts"], fit.attrs["doubts"]
    assert "shorter than the target needs" in fit.attrs["plan"]  # the walls of the wells are steep
    assert 0.75 < accepted(fit) < 0.99
    x = np.linspace(-4.0, 4.0, 100_001)
    law = np.exp(-(x**4) + 2.0 * x**2)
    second = float(law @ x**2 / law.sum())
    flat = fit["posterior"]["theta"].to_numpy().reshape(-1, 2)
    # theta[0]^2 has an sd of 0.55; a quarter of 16,000 draws count
    assert (flat[:, 0] ** 2).mean() == pytest.approx(second, abs=4.0 * 0.55 / np.sqrt(4000.0))
    assert (flat[:, 1] ** 2).mean() == pytest.approx(second + 0.5, abs=4.0 * 1.6 / np.sqrt(4000.0))


@pytest.mark.slow
def test_the_step_is_as_short_as_the_steepest_part_of_the_bulk_asks_for(folder: Path) -> None:
    """y is N(3 x^2, 1/4) given x of N(0, 1): a step that is accepted with 0.8 on average is hardly ever at x = 2.5, and
    chains do not come there. E y = 3, sd y = sqrt(18.25); an sd of a fourth power has an error of sqrt(14/4/n)."""
    target = "name: bent\nstate: {theta: {shape: 2}}\npotential: theta[0]**2/2 + 2*(theta[1] - 3*theta[0]**2)**2\n"
    model = rc.compile(build(folder, target, "step_size: auto, draws: 2000, seed: 4", '"uniform(1, 20)"', name="bent"))
    fit = model.sample(progress=False)
    assert not fit.attrs["doubts"], fit.attrs["doubts"]
    assert "shorter than the target needs" in fit.attrs["plan"]
    x, y = (fit["posterior"]["theta"].to_numpy()[..., k].ravel() for k in (0, 1))
    assert (np.abs(x) > 2.5).mean() == pytest.approx(0.0124, abs=0.006)
    assert y.std() == pytest.approx(np.sqrt(18.25), rel=0.15)


@pytest.mark.slow
def test_a_target_is_planned_without_a_mode(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    starts = (Start("zero", np.zeros(2)),)
    falling: Any = SimpleNamespace(slope=lambda theta: -np.ones(2), starts=starts, names=("a", "b"))
    assert mode_of(falling) is None
    assert at_mode(lambda theta: -np.ones(2), None) == (None, "1, as no mode of U was found")
    monkeypatch.setattr(plan_moves, "mode_of", lambda *_: None)
    fit = rc.compile(build(folder, QUARTIC, "step_size: auto, draws: 2000", '"uniform(1, 8)"')).sample(progress=False)
    assert not fit.attrs["doubts"], fit.attrs["doubts"]
    s = (fit["posterior"]["theta"].to_numpy() ** 2).sum(axis=-1)
    # E s = 1/sqrt(pi), var s = 1/2 - 1/pi; a quarter of the draws count
    assert s.mean() == pytest.approx(1.0 / np.sqrt(np.pi), abs=4.0 * np.sqrt((0.5 - 1.0 / np.pi) / (s.size / 4.0)))


def test_starts_around_a_mode_are_no_higher_than_the_gaussian_there_says_twice() -> None:
    """U = exp(x) - x + 50 (y - x)^2 rises exponentially to one side of its mode (0, 0)."""
    K = np.array([[101.0, -100.0], [-100.0, 100.0]])

    def potential(theta: np.ndarray) -> float:
        return float(np.exp(theta[0]) - theta[0] + 50.0 * (theta[1] - theta[0]) ** 2)

    starts = starts_around(np.zeros(2), K, potential, 64)
    whole = starts_around(np.zeros(2), K, None, 64)
    np.testing.assert_allclose(np.cov(whole.T), 4.0 * np.linalg.inv(K), rtol=0.4)
    rises = np.array([potential(theta) for theta in starts]) - 1.0
    assert (rises <= np.einsum("ki,ij,kj->k", starts, K, starts)).all()
    assert 0 < np.any(starts != whole, axis=1).sum() < 32


@pytest.mark.parametrize("d", [2, 60])
def test_a_covariance_of_few_draws_is_no_more_uneven_than_they_tell(d: int) -> None:
    """100 draws of 60 independent coordinates look up to 40 times as wide along one direction as along another."""
    rng = np.random.default_rng(2)
    independent = rng.standard_normal((100, d))
    values = np.linalg.eigvalsh(shrunk(independent, 100.0))
    assert values[-1] < 4.0 * values[0]
    shared = independent + 10.0 * rng.standard_normal((100, 1))
    np.testing.assert_allclose(shrunk(shared, 100.0), np.cov(shared.T, bias=True), rtol=0.05)


def test_a_mass_of_chains_that_were_apart_does_not_outlast_them() -> None:
    """8 draws of 40 independent coordinates look 30 times as wide in some directions, in units of a far mass 3000."""
    rng = np.random.default_rng(4)
    A = rng.standard_normal((40, 40)) * np.geomspace(1.0, 1e3, 40)
    draws = rng.standard_normal((8, 40, 40))
    draws[:, 1:] = draws[:, :1] + 0.1 * draws[:, 1:]
    L = np.linalg.cholesky(A @ A.T)
    of_few = np.linalg.solve(L, np.linalg.solve(L, _precision(draws @ np.linalg.inv(L), A @ A.T)).T)
    for precision in (_precision(draws, A @ A.T), _precision(draws, np.eye(40)), of_few):
        assert np.linalg.cond(precision) < 100.0


class OneStuck:
    """Chains that draw from N(0, SIGMA), all moves being accepted but those of the first, which is far away."""

    def __init__(self) -> None:
        self.width, self.rng, self.stuck = 4, np.random.default_rng(0), {0}

    def moved(self, values: dict[str, np.ndarray], eps: float, thin: int, draws: int) -> Moved:
        del values, thin
        theta = self.rng.multivariate_normal(np.zeros(4), SIGMA, size=(8, draws))
        acceptance = np.full((8, draws), float(np.exp(-(eps**2))))
        for chain in self.stuck:
            theta[chain], acceptance[chain] = 1e4, 0.0
        return Moved(theta, (acceptance,))

    def restart(self, chain: int, other: int) -> None:
        assert other not in self.stuck
        self.stuck.remove(chain)


def test_a_chain_on_its_way_is_restarted_and_one_in_a_valley_of_its_own_is_not() -> None:
    """Beside 6 chains of N(0, SIGMA) one slides towards them along U, and one draws from the same far away."""
    rng, K = np.random.default_rng(1), np.linalg.inv(SIGMA)
    theta = rng.multivariate_normal(np.zeros(4), SIGMA, size=(8, 25))
    away = 30.0 * np.linalg.cholesky(SIGMA)[:, 0]
    theta[2:4] += away

    def slope(at: np.ndarray) -> np.ndarray:
        own = away if any((at == draw).all() for draw in theta[3]) else np.zeros(4)
        return K @ (at - own)

    np.testing.assert_array_equal(np.flatnonzero(_are_falling(slope, theta)), [2])


def test_a_chain_that_is_stuck_is_restarted_and_enters_no_covariance() -> None:
    pilots = OneStuck()
    values, eps = tuned(pilots, (MASS,), None, 0.8, 1)
    assert not pilots.stuck
    whitened = np.linalg.cholesky(values["M"]).T @ SIGMA @ np.linalg.cholesky(values["M"])
    np.testing.assert_allclose(whitened, np.eye(4), atol=0.3)
    assert np.exp(-(eps**2)) == pytest.approx(0.8, abs=0.05)


def data_of(J: int) -> np.ndarray:
    return np.round(np.random.default_rng(J).normal(2.0, np.sqrt(2.0), J), 3)


@pytest.mark.parametrize(("J", "spread"), some([(8, 1.6), (30, 0.44), (90, 0.15)], 3))
def test_a_mode_next_to_which_groups_are_the_same_gives_no_mass(J: int, spread: float) -> None:
    """Its Hessian has eigenvalues of 1e12 and 1, of which differences do not tell the second."""
    y = data_of(J)

    def slope(theta: np.ndarray) -> np.ndarray:
        mu, log_tau, eta = theta[0], theta[1], theta[2:]
        pull = (eta - mu) * np.exp(-2.0 * log_tau)
        first = [mu / 25.0 - pull.sum(), log_tau / spread + J - pull @ (eta - mu)]
        return np.concatenate([first, pull + eta - y])

    mode, trouble = minimum(slope, np.zeros(J + 2))
    assert not trouble
    assert mode[1] < -12.0
    K, says = at_mode(slope, Mode(mode, "zero"))
    assert K is None
    assert says.startswith("1, as the Hessian of U at its mode is ")


@pytest.mark.slow
def test_where_no_move_is_taken_with_the_hessian_the_first_mass_is_1(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    masses = []

    def stuck(pilots, open_ones, K, *others):
        masses.append(K)
        if K is not None:
            raise RunError("step_size: auto: warm-up is stuck at its start")
        return tuned(pilots, open_ones, K, *others)

    monkeypatch.setattr(plan_moves, "tuned", stuck)
    model = rc.compile(build(folder, WELL, "step_size: auto, draws: 200", '"uniform(1, 8)"'))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rc.DoubtWarning)  # of 200 draws
        warnings.simplefilter("ignore", rc.SampleWarning)
        fit = model.sample(progress=False)
    assert "in the first window by 1, as no move is accepted with the Hessian of U at its mode" in fit.attrs["plan"]
    assert len(masses) == 2

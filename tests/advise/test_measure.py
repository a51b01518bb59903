"""What is measured of chains whose law is known: Gaussian, they forget at a known pace, and err as their step does."""

import math
import signal
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

import recipe_compiler as rc
from recipe_compiler.advise import pilots
from recipe_compiler.advise.bulk import Bulk
from recipe_compiler.advise.measure import MOST, MeasuredSettings, measure
from recipe_compiler.advise.moments import AGREE, Moments, effective_shares, r_hats
from recipe_compiler.advise.pilots import CHAINS, Settings
from recipe_compiler.errors import RunError

pytestmark = pytest.mark.usefixtures("taken_for_granted", "without_reading_back")

ROOT = Path(__file__).parents[2]
NAMES = ("a", "b")
SIGMA = np.array([[4.0, 0.6], [0.6, 0.25]])


@dataclass
class Known:
    """Chains of N(0, (1 + bias(eps))^2 SIGMA) that forget `decay` of where they are in each time of the bulk."""

    decay: float = 0.0
    bias: float = 0.0
    order: int = 1
    apart: float = 0.0
    """Half of the way between two modes that no chain leaves."""
    lost: float = math.inf
    """The step size above which one chain in 50 leaves the finite numbers."""
    entries: float = 30.0
    damping: float = 1.0
    asked: list[Settings] = field(default_factory=list)

    def walked(self, theta: np.ndarray, settings: Settings, draws: int, seed: int) -> np.ndarray:
        self.asked.append(settings)
        rng = np.random.default_rng(seed)
        root = (1.0 + self.bias * settings.eps**self.order) * np.linalg.cholesky(SIGMA)
        kept = self.decay ** (settings.thin * settings.eps)
        found = np.sqrt(1.0 - kept**2) * rng.standard_normal((len(theta), draws, 2))
        found[:, 0] = rng.standard_normal((len(theta), 2))
        for k in range(1, draws if kept > 0.0 else 1):
            found[:, k] += kept * found[:, k - 1]
        found = found @ root.T + self.apart * np.sign(theta[:, :1, None]) * np.array([1.0, 0.0])
        if settings.eps > self.lost:
            found[::50, draws // 2 :] = np.nan
        return found


def measured(walker: Known, share: float = 0.02, eps: float = 0.5) -> MeasuredSettings:
    return beside(walker, None, share, eps)


def beside(walker: Known, exact: Moments | None, share: float = 0.02, eps: float = 0.5) -> MeasuredSettings:
    theta = np.array([[1.0, 0.0], [-1.0, 0.0]] * (CHAINS // 2))
    bulk = Bulk(np.zeros(2), SIGMA, 1.0, 1.0, eps, math.ceil(1.0 / eps), theta)
    return measure(cast("Any", walker), (), bulk, share, NAMES, exact)


@pytest.mark.parametrize("order", [1, 2])
def test_the_bias_of_a_step_is_known_within_its_error(order: int) -> None:
    """1 % at eps = 1/2. Of each of two sds 5 errors are passed once in 10^6; order 2 is told as 16 % too much."""
    found = measured(Known(bias=0.01 * 2**order, order=order)).measured
    told = 0.01 * (1.0 if order == 1 else 1.25)
    for off, within in zip(found.of_sds, found.sds_within, strict=True):
        assert abs(off - told) < 5.0 * within
        assert within < 0.006
    assert max(map(abs, found.of_means)) < 5.0 * max(found.means_within)


@pytest.mark.slow
def test_a_step_is_halved_until_its_bias_is_within_the_share() -> None:
    walker = Known(bias=0.15)  # 7.5 % at eps = 1/2, 1.9 % at 1/8
    found = measured(walker)
    assert found.settings.eps == pytest.approx(0.12)
    assert found.settings.thin == 8
    assert max(found.measured.of_sds) < 0.02
    assert measured(Known(bias=0.15), share=0.1).settings.eps == 0.5


@pytest.mark.slow
def test_a_bias_that_no_step_cures_is_told() -> None:
    with pytest.raises(RunError, match=r"no step size down to 0\.00\d+ has every mean and sd"):
        measured(Known(bias=8.0))


@pytest.mark.parametrize(
    ("decay", "factors"), [(0.0, {1}), (0.3, {1}), (0.8, {4, 8}), (0.9, {8, 16, 32}), (0.98, {32, 64, 128})]
)
def test_steps_a_draw_follow_what_chains_forget(decay: float, factors: set[int]) -> None:
    # of x' = decay x + noise a draw counts (1 - decay)/(1 + decay); asked for is one half
    found = measured(Known(decay=decay))
    assert found.settings.thin / 2 in factors
    assert found.warmup >= 20


def test_effective_draws_are_the_least_of_bulk_and_tails() -> None:
    draws = Known(decay=0.8).walked(np.zeros((4, 2)), Settings({}, 0.5, 2), 2000, 1)
    np.testing.assert_allclose(effective_shares(draws), 0.2 / 1.8, rtol=0.3)


def test_effective_draws_count_how_seldom_chains_go_far_out() -> None:
    """Independent draws but for 20 of 4000 together, 10 sds out: ranks hardly see them, an sd is made of them."""
    rng = np.random.default_rng(3)
    draws = rng.standard_normal((8, 4000, 1))
    for chain in draws:
        start = 20 * rng.integers(200)
        chain[start : start + 20] -= 10.0
    assert effective_shares(draws)[0] < 0.25


def test_chains_that_stay_in_their_modes_are_refused() -> None:
    """However wide the gap: modes 2 sds apart look like one to a mean and an sd."""
    for apart in (2.0, 30.0):
        with pytest.raises(RunError, match=r"8 chains of 250 draws of \d+ steps each do not mix"):
            measured(Known(apart=apart))
    draws = Known(apart=2.0).walked(np.array([[1.0, 0.0], [-1.0, 0.0]] * 4), Settings({}, 0.5, 2), 250, 1)
    assert r_hats(draws).max() > AGREE


def test_no_more_steps_a_draw_than_a_plan_may_have() -> None:
    walker = Known(decay=1.0 - 1e-7)
    with pytest.raises(RunError, match="do not mix"):
        measured(walker)
    assert max(one.thin for one in walker.asked) == 2 * MOST


def test_chains_that_leave_the_finite_numbers_take_a_shorter_step_or_none() -> None:
    assert measured(Known(lost=0.3)).settings.eps == 0.25
    with pytest.raises(RunError, match="no step size down to"):
        measured(Known(lost=0.0))


def test_large_data_are_compared_as_far_as_seconds_go_and_the_step_is_halved() -> None:
    found = measured(Known(entries=1e6))
    assert 0.02 < max(found.measured.sds_within) < 0.06  # 250 draws of 8 chains: 4/3 sqrt(2) sqrt(1/4000) = 0.03
    assert not found.measured.is_known
    assert (found.settings.eps, found.settings.thin) == (0.25, 4)
    with pytest.raises(RunError, match=r"at the step size 0\.5 a draw takes 2 steps or more, too many to try"):
        measured(Known(entries=1e8))


def schools(**run: Any) -> tuple[rc.Model, dict[str, np.ndarray]]:
    """Return eight schools, sampled as log tau, to be planned, and their data."""
    build = rc.Build(
        name="schools", dynamics=str(ROOT / "specs/dynamics/sghmc.yaml"),
        target=str(ROOT / "specs/targets/eight_schools.yaml"), scheme="baoab", variant="full", step_size="auto",
        sizes={"J": 8}, **run,
    )  # fmt: skip
    table = np.genfromtxt(ROOT / "specs/data/eight_schools.csv", delimiter=",", names=True)
    return rc.compile(build, allow_undecided=True), {"y": table["effect"], "w": table["weight"], "z": np.eye(8)}


@pytest.mark.slow
@pytest.mark.usefixtures("interruptible")
def test_who_stops_the_pilot_stops_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    model, data = schools()

    def stopped(*_: object) -> signal.Signals:
        return signal.SIGINT

    monkeypatch.setattr(pilots, "run_chains", stopped)
    with pytest.raises(KeyboardInterrupt):
        model.sample(data, progress=False)


def exactly(mean: float, sd: float) -> Moments:
    """What chains of the law itself would have found, known within half a per cent."""
    error = np.full(2, 0.005)
    own = np.sqrt(np.diag(SIGMA))
    return Moments(mean * own, sd * own, error * own, error * own)


def test_walks_have_to_agree_with_chains_that_are_exact() -> None:
    """Two walks that agree with each other, 10 % too narrow or a fifth of an sd aside: halving cures neither."""
    own = exactly(0.0, 1.0)
    assert beside(Known(), own).settings.eps == 0.5
    for wrong in (exactly(0.0, 1.1), exactly(0.2, 1.0)):
        walker = Known()
        with pytest.raises(
            RunError, match=r"no step size down to 0\.\d+ has .* of those of chains that preserve exp\(-U\)"
        ):
            beside(walker, wrong)
        assert min(settings.eps for settings in walker.asked) == pytest.approx(0.125, abs=0.01)


def test_a_step_is_halved_until_it_agrees_with_chains_that_are_exact() -> None:
    found = beside(Known(bias=0.3), exactly(0.0, 1.0), share=0.05)  # 15 % at eps = 1/2, 3.8 % at 1/8
    assert found.settings.eps == pytest.approx(0.12)

"""Whether much of exp(-U) is outside of draws: of mixtures whose shares are known, and of draws that are right.

Draws are independent ones: what a run adds is that they are not, and that is `effective`.
"""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import recipe_compiler as rc
from recipe_compiler.run.outside import visits_outside
from recipe_compiler.run.visits import Visited, Visits

Array = np.ndarray
SPECS = Path(__file__).parents[2] / "specs"
DRAWS = 1000


def told(potential: Callable[[Array], float], slope: Callable[[Array], Array], draws: Array, rows: float = 1) -> Visits:
    """Return what is told of independent draws."""
    visited = Visited.of(draws, np.array([potential(theta) for theta in draws]), len(draws))
    assert visited is not None
    return visits_outside(potential, slope, visited, rows)


class Mixture:
    """A narrow Gaussian with a share, within a wide one whose axes are as wide as 1 to 10 and not those of theta."""

    def __init__(self, d: int, variance: float, share: float, condition: float = 100.0) -> None:
        rng = np.random.default_rng(d)
        turn, _ = np.linalg.qr(rng.standard_normal((d, d)))
        self.wide = (turn * np.logspace(0.0, -np.log10(condition), d)) @ turn.T
        self.narrow = np.eye(d) / variance
        self.at = 0.3 * np.sqrt(variance) * rng.standard_normal(d)
        self.logs = np.log([1.0 - share, share])
        self.logs += [np.linalg.slogdet(K)[1] / 2.0 for K in (self.wide, self.narrow)]
        self.within = self.at + np.sqrt(1.0 / self.narrow[0, 0]) * rng.standard_normal((DRAWS, d))
        spread = np.linalg.cholesky(np.linalg.inv(self.wide))
        visits = rng.random((DRAWS, 1)) < share
        self.draws = np.where(visits, self.within, rng.standard_normal((DRAWS, d)) @ spread.T)

    def parts(self, theta: Array) -> Array:
        off = theta - self.at
        return self.logs - np.array([theta @ self.wide @ theta, off @ self.narrow @ off]) / 2.0

    def potential(self, theta: Array) -> float:
        return -float(np.logaddexp(*self.parts(theta)))

    def slope(self, theta: Array) -> Array:
        parts = self.parts(theta)
        shares = np.exp(parts - np.logaddexp(*parts))
        return shares[0] * (self.wide @ theta) + shares[1] * (self.narrow @ (theta - self.at))


@pytest.mark.parametrize(
    ("d", "variance", "condition"),
    [
        (3, 0.0025, 100.0),
        *(
            pytest.param(d, variance, condition, marks=pytest.mark.slow)
            for d in (2, 3, 5, 20)
            for variance, condition in ((0.04, 1.0), (0.0025, 100.0), (0.0004, 100.0))
        ),
    ],
)
def test_what_lies_wide_around_narrow_draws_is_told(d: int, variance: float, condition: float) -> None:
    for share in (0.2, 0.8):
        mixture = Mixture(d, variance, share, condition)
        found = told(mixture.potential, mixture.slope, mixture.within)
        assert 0.7 * (1.0 - share) <= found.expected <= 1.03 * (1.0 - share)  # a bound, that is near
        assert found.found < 0.01
        assert "farther out than 1.25 times" in found.doubts[0]


@pytest.mark.parametrize("d", [2, *(pytest.param(d, marks=pytest.mark.slow) for d in (5, 20))])
def test_a_mixture_that_is_visited_is_not(d: int) -> None:
    for share in (0.2, 0.8, 0.95) if d > 2 else (0.8,):
        mixture = Mixture(d, 0.0025, share)
        assert told(mixture.potential, mixture.slope, mixture.draws).doubts == ()


def test_of_large_data_few_points_are_looked_at_and_tell() -> None:
    mixture, calls = Mixture(3, 0.0025, 0.5), 0

    def potential(theta: Array) -> float:
        nonlocal calls
        calls += 1
        return mixture.potential(theta)

    assert told(potential, mixture.slope, mixture.within, 1e6).doubts
    assert calls - DRAWS <= 2 * 16 * 16


def heavy(power: float) -> tuple[Callable[[Array], float], Callable[[Array], Array], Array]:
    rng, d = np.random.default_rng(6), 4
    draws = rng.standard_normal((DRAWS, d)) / np.sqrt(rng.chisquare(power, (DRAWS, 1)) / power)

    def slope(theta: Array) -> Array:
        return (power + d) * theta / (power + theta @ theta)

    return lambda theta: float((power + d) / 2.0 * np.log1p(theta @ theta / power)), slope, draws


@pytest.mark.parametrize("power", [1.0, 2.0, 5.0])
def test_tails_that_are_heavy_are_not_outside_of_their_draws(power: float) -> None:
    assert told(*heavy(power)).expected < 0.05


def test_a_funnel_is_not_outside_of_its_draws() -> None:
    rng = np.random.default_rng(7)
    v = 3.0 * rng.standard_normal(DRAWS)
    draws = np.column_stack([v, rng.standard_normal((DRAWS, 5)) * np.exp(v / 2.0)[:, None]])

    def potential(theta: Array) -> float:
        return float(theta[0] ** 2 / 18.0 + 2.5 * theta[0] + np.exp(-theta[0]) * (theta[1:] @ theta[1:]) / 2.0)

    def slope(theta: Array) -> Array:
        scale = np.exp(-theta[0])
        first = theta[0] / 9.0 + 2.5 - scale * (theta[1:] @ theta[1:]) / 2.0
        return np.concatenate([[first], scale * theta[1:]])

    assert told(potential, slope, draws).expected < 0.05


@pytest.mark.parametrize("off", [1.0, 0.96])
def test_draws_a_little_too_narrow_are_not_outside_of_themselves(off: float) -> None:
    """In 100 coordinates 4 % of the sds are 1.6 sds of the distance from the mean."""
    sds = np.logspace(-2.0, 2.0, 100)
    draws = off * sds * np.random.default_rng(8).standard_normal((DRAWS, 100))
    found = told(lambda theta: float((theta / sds) @ (theta / sds)) / 2.0, lambda theta: theta / sds**2, draws)
    assert found.expected < 0.05


@pytest.mark.slow
def test_a_run_that_stays_in_a_narrow_part_is_doubted(tmp_path: Path) -> None:
    """Chains of the plan begin in the narrow half and agree with each other, with Stein's identity and the forecast."""
    (tmp_path / "scales.yaml").write_text(
        "name: scales\nstate: {theta: {shape: 3}}\n"
        "potential: -log(0.5*exp(-norm2(theta)/2) + 0.5*exp(-norm2(theta)/(2*0.0004))/(0.02**3))\n"
    )
    (tmp_path / "build.yaml").write_text(
        f"name: build\ndynamics: {SPECS}/dynamics/sghmc.yaml\ntarget: scales.yaml\nscheme: {{name: baoab}}\n"
        "variant: full\nrun: {step_size: auto, draws: 1000, seed: 3}\n"
    )
    with pytest.warns(rc.DoubtWarning, match="the draws miss what is farther out"):
        fit = rc.compile(rc.load(str(tmp_path / "build.yaml")), allow_undecided=True).sample(progress=False)
    assert fit["posterior"]["theta"].to_numpy().std() < 0.03

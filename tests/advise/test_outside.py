"""Whether draws miss a mode that a search found, or much of exp(-U) outside of them: of laws whose shares are known.

Draws are independent ones: what a run adds is that they are not, and that is `effective`.
"""

from collections.abc import Callable

import numpy as np
import pytest
from answers import document

import recipe_compiler as rc
from recipe_compiler.advise.outside import visits_outside
from recipe_compiler.advise.unvisited import around_mode, visits
from recipe_compiler.advise.visits import LEAST, Visited, Visits
from recipe_compiler.run.map_estimate import Mode

Array = np.ndarray
Function = Callable[[Array], float]
Slope = Callable[[Array], Array]
DRAWS = 1000


def visited(potential: Function, draws: Array) -> Visited:
    found = Visited.of(draws, np.array([potential(theta) for theta in draws]), len(draws))
    assert found is not None
    return found


def outside(potential: Function, slope: Slope, draws: Array, rows: float = 1) -> Visits:
    """Return what is told of what is outside of independent draws."""
    return visits_outside(potential, slope, visited(potential, draws), rows)


def around(potential: Function, mode: Array, K: Array, draws: Array) -> Visits:
    """Return what is told of independent draws around a mode."""
    told = around_mode(potential, mode, K, visited(potential, draws), "zero")
    assert told is not None
    return told


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
        self.within = self.at + np.sqrt(variance) * rng.standard_normal((DRAWS, d))
        spread = np.linalg.cholesky(np.linalg.inv(self.wide))
        visits = rng.random((DRAWS, 1)) < share
        self.beyond = rng.standard_normal((DRAWS, d)) @ spread.T
        self.draws = np.where(visits, self.within, self.beyond)

    def parts(self, theta: Array) -> Array:
        off = theta - self.at
        return self.logs - np.array([theta @ self.wide @ theta, off @ self.narrow @ off]) / 2.0

    def potential(self, theta: Array) -> float:
        return -float(np.logaddexp(*self.parts(theta)))

    def slope(self, theta: Array) -> Array:
        parts = self.parts(theta)
        shares = np.exp(parts - np.logaddexp(*parts))
        return shares[0] * (self.wide @ theta) + shares[1] * (self.narrow @ (theta - self.at))


@pytest.mark.parametrize("share", [0.15, 0.5, 0.9])
def test_a_mode_that_no_chain_visits_is_told_and_one_that_is_visited_is_not(share: float) -> None:
    mixture = Mixture(3, 0.0025, share)
    missed = around(mixture.potential, mixture.at, mixture.narrow, mixture.beyond)
    assert missed.expected == pytest.approx(share, rel=0.1)
    assert missed.found < 0.01
    assert "at least" in missed.doubts[0]
    seen = around(mixture.potential, mixture.at, mixture.narrow, mixture.draws)
    assert seen.found == pytest.approx(share, rel=0.2)
    assert seen.expected <= 1.1 * seen.found  # the entropy of both together is less than that of a Gaussian
    assert seen.doubts == ()


def test_a_mode_that_holds_little_is_left_out() -> None:
    mixture = Mixture(3, 0.0025, LEAST / 2.0)
    assert around(mixture.potential, mixture.at, mixture.narrow, mixture.beyond).doubts == ()


def test_draws_of_a_bent_law_are_not_doubted() -> None:
    """Of a banana a third is near its mode as the Hessian there says; the bound does not ask for more."""
    rng = np.random.default_rng(3)
    x = rng.standard_normal(4000)
    draws = np.column_stack([x, 3.0 * x**2 + 0.5 * rng.standard_normal(4000)])
    told = around(
        lambda z: float(z[0] ** 2 / 2.0 + 2.0 * (z[1] - 3.0 * z[0] ** 2) ** 2), np.zeros(2), np.diag([1.0, 4.0]), draws
    )
    assert told.expected <= told.found
    assert told.found < 0.5


def test_nothing_is_said_around_what_is_no_mode() -> None:
    found = visited(lambda theta: 0.0, np.random.default_rng(4).standard_normal((100, 2)))
    for K in (np.diag([1.0, 0.0]), np.diag([1.0, -1.0]), np.full((2, 2), np.nan)):
        assert around_mode(lambda theta: float(theta @ theta), np.zeros(2), K, found, "") is None


def test_u_is_not_asked_at_draws_where_it_is_known() -> None:
    theta = np.random.default_rng(5).standard_normal((2, 50, 3))
    asked = list[Array]()

    def potential(at: Array) -> float:
        asked.append(at)
        return float(at @ at) / 2.0

    def told(energies: Array | None) -> tuple[Visits, ...]:
        return visits(potential, lambda at: at, Mode(np.zeros(3), "zero"), (), theta, 1.0, energies)

    before = told(None)
    whole = len(asked)
    asked.clear()
    assert told((theta**2).sum(axis=2).ravel() / 2.0) == before
    assert before[0].expected > 0.4
    assert len(asked) == whole - 100


MANY = [(d, variance, condition) for d in (2, 3, 5, 20) for variance, condition in ((0.04, 1.0), (0.0004, 100.0))]


@pytest.mark.parametrize(
    ("d", "variance", "condition"), [(3, 0.0025, 100.0), *(pytest.param(*one, marks=pytest.mark.slow) for one in MANY)]
)
def test_what_lies_wide_around_narrow_draws_is_told(d: int, variance: float, condition: float) -> None:
    for share in (0.2, 0.8):
        mixture = Mixture(d, variance, share, condition)
        found = outside(mixture.potential, mixture.slope, mixture.within)
        assert 0.7 * (1.0 - share) <= found.expected <= 1.03 * (1.0 - share)  # a bound, that is near
        assert found.found < 0.01
        assert "more than 1.25 times as far out" in found.doubts[0]


@pytest.mark.parametrize("d", [2, *(pytest.param(d, marks=pytest.mark.slow) for d in (5, 20))])
def test_a_mixture_that_is_visited_is_not(d: int) -> None:
    for share in (0.2, 0.8, 0.95) if d > 2 else (0.8,):
        mixture = Mixture(d, 0.0025, share)
        assert outside(mixture.potential, mixture.slope, mixture.draws).doubts == ()


def test_of_large_data_few_points_are_looked_at_and_tell() -> None:
    mixture, calls = Mixture(3, 0.0025, 0.5), list[Array]()

    def potential(theta: Array) -> float:
        calls.append(theta)
        return mixture.potential(theta)

    assert outside(potential, mixture.slope, mixture.within, 1e6).doubts
    assert len(calls) - DRAWS <= 2 * 16 * 16


def student(power: float) -> tuple[Function, Slope, Array]:
    rng, d = np.random.default_rng(6), 4
    draws = rng.standard_normal((DRAWS, d)) / np.sqrt(rng.chisquare(power, (DRAWS, 1)) / power)
    return (
        lambda theta: float((power + d) / 2.0 * np.log1p(theta @ theta / power)),
        lambda theta: (power + d) * theta / (power + theta @ theta),
        draws,
    )


def funnel() -> tuple[Function, Slope, Array]:
    rng = np.random.default_rng(7)
    v = 3.0 * rng.standard_normal(DRAWS)
    draws = np.column_stack([v, rng.standard_normal((DRAWS, 5)) * np.exp(v / 2.0)[:, None]])

    def slope(z: Array) -> Array:
        scale = np.exp(-z[0])
        return np.concatenate([[z[0] / 9.0 + 2.5 - scale * (z[1:] @ z[1:]) / 2.0], scale * z[1:]])

    return lambda z: float(z[0] ** 2 / 18.0 + 2.5 * z[0] + np.exp(-z[0]) * (z[1:] @ z[1:]) / 2.0), slope, draws


def too_narrow(off: float) -> tuple[Function, Slope, Array]:
    """In 100 coordinates 4 % of the sds are 1.6 sds of the distance from the mean."""
    sds = np.logspace(-2.0, 2.0, 100)
    draws = off * sds * np.random.default_rng(8).standard_normal((DRAWS, 100))
    return lambda theta: float((theta / sds) @ (theta / sds)) / 2.0, lambda theta: theta / sds**2, draws


@pytest.mark.parametrize(
    "right", [student(1.0), student(2.0), student(5.0), funnel(), too_narrow(1.0), too_narrow(0.96)]
)
def test_nothing_is_outside_of_draws_that_are_right(right: tuple[Function, Slope, Array]) -> None:
    assert outside(*right).expected < 0.05


SCALES = """state: {theta: {shape: 3}}
potential: -log(0.5*exp(-norm2(theta)/2) + 0.5*exp(-norm2(theta)/(2*0.0004))/(0.02**3))
"""
BUILD = """name: build
dynamics: sghmc
target: scales.yaml
scheme: {name: baoab}
variant: full
run: {step_size: auto, draws: 1000, seed: 3}
"""


@pytest.mark.slow
def test_a_run_that_stays_in_a_narrow_part_is_doubted() -> None:
    """Chains of the plan begin in the narrow half and agree with each other, with Stein's identity and the forecast."""
    build = document(BUILD, scales=SCALES)
    with pytest.warns(rc.DoubtWarning, match="the draws miss the region more than"):
        fit = rc.compile(rc.load(build.source.file), allow_undecided=True).sample(progress=False)
    assert fit["posterior"]["theta"].to_numpy().std() < 0.03

"""The search for a mode, by the gradient alone: what it finds, and what it says where it finds none."""

from collections.abc import Callable

import numpy as np
import pytest

from recipe_compiler.errors import RunError
from recipe_compiler.run.map_estimate import Start, find_mode, find_mode_of_all

Slope = Callable[[np.ndarray], np.ndarray]
ZERO = [Start("zero", np.zeros(2))]


def test_a_mode_of_many_coordinates_is_found() -> None:
    curvature = np.linspace(1.0, 50.0, 300)
    where = np.cos(np.arange(300))
    found = find_mode(lambda theta: curvature * (theta - where), [Start("zero", np.zeros(300))])
    np.testing.assert_allclose(found.theta, where, atol=1e-6)


def regression(scale: float, errors: np.ndarray | None = None) -> tuple[Slope, np.ndarray, float]:
    """Return the gradient of a regression with unknown sd, U(b, log s), y of the size of `scale`; its solution."""
    rng = np.random.default_rng(1)
    x = np.column_stack([np.ones(200), 60.0 + 4.0 * rng.standard_normal(200)])
    y = x @ [-5.0 * scale, 0.1 * scale] + scale * (rng.standard_normal(200) if errors is None else errors)

    @np.errstate(all="ignore")
    def slope(theta: np.ndarray) -> np.ndarray:
        left, weight = y - x @ theta[:2], np.exp(-2.0 * theta[2])
        return np.append(-x.T @ left * weight, 200.0 - weight * (left @ left))

    b = np.linalg.lstsq(x, y, rcond=None)[0]
    return slope, b, float(np.log(np.sqrt(np.mean((y - x @ b) ** 2))))


@pytest.mark.parametrize("scale", [1e-4, 1.0, 2e4])
def test_scales_of_the_data_are_no_hindrance(scale: float) -> None:
    slope, b, log_s = regression(scale)
    found = find_mode(slope, [Start("zero", np.zeros(3))]).theta
    sd = np.exp(log_s) * np.array([1.1, 0.02])  # of the posterior, about
    assert (np.abs(found[:2] - b) < 1e-4 * sd).all()
    assert found[2] == pytest.approx(log_s, abs=1e-6)


def test_errors_with_heavy_tails_have_their_mode() -> None:
    """Student errors of 4 degrees of freedom, some rows far off: where Newton's method from zero alone runs away."""
    rng = np.random.default_rng(0)
    x = np.column_stack([np.ones(200), rng.normal(size=(200, 2))])
    y = x @ [1.0, 2.0, 3.0] + rng.standard_t(2, 200)
    y[:5] += 30.0

    def slope(theta: np.ndarray) -> np.ndarray:
        left = (y - x @ theta[:3]) * np.exp(-theta[3])
        weight = 5.0 * left / (4.0 + left**2)
        return np.append(-x.T @ weight * np.exp(-theta[3]) + theta[:3] / 100.0, 200.0 - weight @ left + theta[3] / 4.0)

    for start in (np.zeros(4), np.array([50.0, 50.0, 50.0, -3.0])):
        found = find_mode(slope, [Start("here", start)]).theta
        np.testing.assert_allclose(slope(found), 0.0, atol=1e-5)
        np.testing.assert_allclose(found[:3], [1.0, 2.0, 3.0], atol=0.2)


def test_a_saddle_is_left_for_the_minimum_beside_it() -> None:
    found = find_mode(lambda theta: np.array([theta[0] ** 3 - theta[0], theta[1]]), ZERO)
    np.testing.assert_allclose(np.abs(found.theta), [1.0, 0.0], atol=1e-8)


def test_a_flat_minimum_is_one() -> None:
    """U = x^4 + (y - 1)^4, whose curvature vanishes at its minimum, and x^2 y^0, which is flat along y."""
    quartic = find_mode(lambda theta: 4.0 * (theta - [0.0, 1.0]) ** 3, [Start("there", np.array([1.0, 3.0]))]).theta
    np.testing.assert_allclose(quartic, [0.0, 1.0], atol=0.01)
    flat = find_mode(lambda theta: np.array([theta[0], 0.0]), [Start("there", np.array([1.0, 3.0]))]).theta
    assert abs(flat[0]) < 1e-8


def test_the_next_start_is_taken_where_one_leads_nowhere() -> None:
    def slope(theta: np.ndarray) -> np.ndarray:
        return theta if np.linalg.norm(theta) < 3.0 else theta * np.nan

    found = find_mode(slope, [Start("`init`", np.array([5.0, 5.0])), Start("zero", np.array([1.0, 1.0]))])
    assert found.says == "zero"
    np.testing.assert_allclose(found.theta, 0.0, atol=1e-8)


@pytest.mark.parametrize(
    ("gradient", "problem"),
    [
        (lambda theta: theta * [1.0, -1.0] + [1.0, 1.0], "its limit of 100 steps a round, where U curves downwards"),
        (lambda theta: theta / np.sqrt(1.0 + theta**2) + 2.0, "its limit of 100 steps"),
        (lambda theta: theta * np.nan, "from here grad U is not finite"),
        (lambda theta: np.where(np.abs(theta) < 1.0, theta - 2.0, np.nan), "grad U has norm"),
    ],
)
def test_what_is_no_mode_is_refused_with_what_was_met(gradient: Slope, problem: str) -> None:
    with pytest.raises(RunError, match=problem) as caught:
        find_mode(gradient, [Start("here", np.array([0.5, 0.5]))])
    assert "no minimum of U was found: from here" in str(caught.value)


@pytest.mark.slow
def test_where_no_minimum_is_found_the_coordinate_is_named_that_u_falls_along() -> None:
    """A scale with coefficients of its own: with all of them at their mean, U falls by 2 with log tau without end."""

    def slope(
        theta: np.ndarray,
    ) -> np.ndarray:  # by mu, log tau, and three coefficients of N(mu, tau^2), each seen once
        away = (theta[2:] - theta[0]) * np.exp(-2.0 * theta[1])
        of_scale = 2.0 - away @ (theta[2:] - theta[0])
        return np.concatenate([[theta[0] - away.sum(), of_scale], away + (theta[2:] - [1.0, -2.0, 0.5]) / 9.0])

    starts = [Start("zero", np.zeros(5)), Start("random state 1", np.full(5, 0.5))]
    with pytest.raises(RunError, match=r"; 1 more search found none\. There U falls as log_tau goes down") as caught:
        find_mode(slope, starts, ("mu", "log_tau", "theta[0]", "theta[1]", "theta[2]"))
    assert "mu + tau*eta" in str(caught.value)
    with pytest.raises(RunError, match=r"; 1 more search found none\. State `init`"):
        find_mode(slope, starts)


def test_three_searches_that_run_into_a_narrow_valley_end_all() -> None:
    """x_j is N(0, exp(2 s)), and nothing holds s: U falls without end as s does."""
    asked = list[float]()

    def slope(t: np.ndarray) -> np.ndarray:
        if t[1] in began:
            asked.append(float(t[1]))
        weight = np.exp(-2.0 * t[0])
        return np.concatenate([[2.0 - weight * (t[1:] @ t[1:])], weight * t[1:]])

    starts = [Start(f"random state {k}", np.array([0.0, 1.0 + k, 0.5])) for k in range(7)]
    began = {start.theta[1] for start in starts}
    with pytest.raises(RunError, match=r"a narrow valley of U, .*; 2 more searches found none"):
        find_mode(slope, starts)
    assert set(asked) == {1.0, 2.0, 3.0}


RNG = np.random.default_rng(3)
X = RNG.standard_normal((4000, 3)) @ np.array([[1.0, 0.8, 0.0], [0.0, 0.5, -0.3], [0.0, 0.0, 1.0]])
X[:, 2] *= RNG.random(4000) < 0.02  # few rows know of it
Y = (RNG.random(4000) < 1.0 / (1.0 + np.exp(-X @ [1.0, -2.0, 2.0]))).astype(float)


def logistic(rows: slice) -> Slope:
    """Return the gradient of a logistic regression with prior N(0, 10 I), by some rows that stand for all."""

    def slope(theta: np.ndarray) -> np.ndarray:
        p = 1.0 / (1.0 + np.exp(-X[rows] @ theta))
        return theta / 10.0 + len(X) / len(X[rows]) * X[rows].T @ (p - Y[rows])

    return slope


@pytest.mark.parametrize("few", [slice(0, 400), slice(0, 30)], ids=["a sample", "one that hardly knows a column"])
@pytest.mark.parametrize("begun", [np.zeros(3), np.array([1.0, -2.0, 2.0])], ids=["far", "near"])
def test_the_mode_of_all_data_is_found_from_that_of_some(few: slice, begun: np.ndarray) -> None:
    slope = logistic(slice(None))
    expected = find_mode(slope, [Start("zero", np.zeros(3))]).theta
    found = find_mode_of_all(slope, logistic(few), [Start("begun", begun)])
    assert found.says == "begun"
    p = 1.0 / (1.0 + np.exp(-X @ expected))
    root = np.linalg.cholesky(np.eye(3) / 10.0 + (X * (p * (1 - p))[:, None]).T @ X)
    assert np.abs((found.theta - expected) @ root).max() < 1e-3
    assert np.abs((find_mode(logistic(few), [Start("zero", begun)]).theta - expected) @ root).max() > 1.0


def test_no_search_begins_where_the_mode_is_near() -> None:
    """One Hessian of few rows, and a gradient of all in each turn."""
    calls: list[int] = []

    def counted(theta: np.ndarray) -> np.ndarray:
        calls.append(1)
        return logistic(slice(None))(theta)

    near = find_mode(logistic(slice(None)), [Start("zero", np.zeros(3))]).theta + 0.01
    find_mode_of_all(counted, logistic(slice(0, 400)), [Start("near", near)])
    assert len(calls) < 10

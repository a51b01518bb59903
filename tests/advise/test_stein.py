"""How far draws are from the target, by Stein's identity: in sds and mean squares, for draws of known laws.

Draws are independent, so that errors of means are those of a sample; seeds are fixed: no false alarms from run to run.
"""

import json
from pathlib import Path

import numpy as np
import pytest
from command import ROOT, recipe

from recipe_compiler.advise.stein import Departures, _estimated, departed
from recipe_compiler.run.gradients import Gradients

SCALES = np.array([1e-6, 1.0, 3e4])
CORRELATIONS = np.array([[1.0, 0.95, -0.4], [0.95, 1.0, -0.3], [-0.4, -0.3, 1.0]])
COVARIANCE = CORRELATIONS * np.outer(SCALES, SCALES)
MEAN = np.array([1.0, -20.0, 1e6])
FACTOR = np.linalg.cholesky(CORRELATIONS) * SCALES[:, None]


def normals(seed: int = 0, draws: int = 2000) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((4, draws, 3))


def names(theta: np.ndarray) -> list[str]:
    return [f"theta[{place}]" for place in range(theta.shape[2])]


def judged(theta: np.ndarray, weight: np.ndarray | None = None) -> Departures:
    """Judge draws by the target N(MEAN, COVARIANCE)."""
    with np.errstate(all="ignore"):
        gradients = (theta - MEAN) @ np.linalg.inv(COVARIANCE)
    return departed(theta, gradients, np.ones(theta.shape[1]) if weight is None else weight, names(theta))


def right(seed: int = 0) -> np.ndarray:
    return MEAN + normals(seed) @ FACTOR.T


def test_exact_draws_are_not_flagged() -> None:
    found = judged(right())
    assert not found.flagged
    assert found.doubt is None
    assert abs(found.largest.error) < 0.1
    assert found.known < 0.05
    assert "by Stein's identity the draws miss" in found.says


@pytest.mark.parametrize("wider", [0.9, 1.1, 3.0, 967.0])
def test_draws_that_spread_wrongly_are_told_by_their_mean_square(wider: float) -> None:
    found = judged(MEAN + wider * (right() - MEAN))
    assert found.flagged
    assert found.largest.of == "mean square"
    assert found.largest.error == pytest.approx(wider**2 - 1.0, abs=0.1 * wider**2)
    assert "R-hat and ESS cannot see" in (found.doubt or "")


def test_one_wide_coordinate_is_the_one_that_is_named() -> None:
    """S = COVARIANCE but for one variance: the others stay right, although all are correlated."""
    wide = COVARIANCE.copy()
    wide[2, 2] *= 1.3
    root = np.linalg.cholesky(wide / np.outer(SCALES, SCALES)) * SCALES[:, None]
    found = judged(MEAN + normals() @ root.T)
    assert found.flagged
    assert found.largest.name == "theta[2]"


def test_draws_that_are_shifted_are_told_in_sds() -> None:
    found = judged(right() + 0.3 * SCALES * np.array([0.0, 1.0, 0.0]))
    assert found.flagged
    assert found.largest.of == "mean"
    assert found.largest.error == pytest.approx(0.3, abs=0.1)


def test_chains_that_have_not_moved_are_flagged() -> None:
    still = judged(MEAN + 1e-4 * (right() - MEAN))
    assert still.flagged
    assert still.largest.error == pytest.approx(-1.0, abs=0.01)
    constant = right()
    constant[:, :, 1] = -20.0
    assert judged(constant).flagged


@pytest.mark.parametrize("where", [1e3, 1e9, 1e200, np.inf, np.nan])
def test_a_single_draw_far_off_is_flagged_however_uncertain_its_mean(where: float) -> None:
    """Its |z| is about 1: no error of a mean can be told from one draw, and no sd of it is worth anything."""
    theta = right()
    theta[1, 700] += where * SCALES
    found = judged(theta)
    assert found.flagged
    assert np.isfinite([found.largest.error, found.largest.z, found.known]).all()


def test_an_error_that_chance_explains_is_flagged_of_steps_that_may_be_wrong_alone() -> None:
    """On a ring of radius 3, 100 draws of each coordinate: errors of more than 1 with a |z| of 2 are chance."""
    rng = np.random.default_rng(11)
    around = rng.uniform(0.0, 2.0 * np.pi, (4, 25))
    r = 3.0 + 0.05 * rng.standard_normal((4, 25))
    theta = np.stack([r * np.cos(around), r * np.sin(around)], axis=2)
    gradients = 50.0 * ((theta**2).sum(axis=2, keepdims=True) - 9.0) * theta
    found = [departed(theta, gradients, np.ones(25), ("x", "y"), is_exact=one) for one in (False, True)]
    assert 1.0 < abs(found[0].largest.error) < 10.0
    assert abs(found[0].largest.z) < found[0].limit
    assert [one.flagged for one in found] == [True, False]


def test_weights_are_those_of_the_draws() -> None:
    """Every other draw is of a law twice as wide, and has the weight 0."""
    theta = right()
    theta[:, ::2] = MEAN + 2.0 * (theta[:, ::2] - MEAN)
    assert judged(theta).flagged
    assert not judged(theta, np.tile([0.0, 2.0], 1000)).flagged


def test_heavy_tails_are_the_targets_own() -> None:
    """Student's t of 3 degrees of freedom, whose variance hardly exists."""
    theta = np.random.default_rng(3).standard_t(3, (4, 4000, 1))
    assert not departed(theta, 4.0 * theta / (3.0 + theta**2), np.ones(4000), names(theta)).flagged
    assert departed(1.5 * theta, 6.0 * theta / (3.0 + (1.5 * theta) ** 2), np.ones(4000), names(theta)).flagged


@pytest.mark.parametrize("shape", [0.01, 0.1, 0.5, 3.0])
def test_positive_draws_are_judged_by_fields_that_are_0_at_the_face(shape: float) -> None:
    """Gamma(shape, 1) and its half; as on the line, -E[1/theta] would be infinite up to shape 1."""
    rng, flagged = np.random.default_rng(8), 0
    scale, even = np.array([1.0, 0.5]), np.ones(1500)
    for _ in range(10):
        theta = np.maximum(scale * rng.gamma(shape, size=(4, 1500, 2)), 1e-300)
        flagged += departed(theta, 1.0 / scale - (shape - 1.0) / theta, even, "xy", positive=True).flagged
    assert not flagged
    wide = theta * np.array([1.0, 1.3])
    found = departed(wide, 1.0 / scale - (shape - 1.0) / wide, even, "xy", positive=True)
    assert found.flagged == (shape > 0.01)  # of which 60 draws of 6000 are all there is
    assert (found.known < 10.0) == (shape > 0.01)  # nothing is known, and no trust rests on it
    if shape > 0.1:
        assert found.largest.name == "y"
    if shape == 3.0:
        assert (found.largest.unit, found.largest.error) == ("sd", pytest.approx(0.3 * 3**0.5, abs=0.05))


def test_the_bias_of_reflected_steps_is_seen(tmp_path: Path) -> None:
    build = {
        "format": 1,
        "name": "halves",
        "dynamics": str(ROOT / "specs/dynamics/sgrld_positive.yaml"),
        "target": "half.yaml",
        "scheme": {"name": "euler", "reflect": "theta"},
        "variant": "full",
        "sizes": {"d": 2},
    }
    (tmp_path / "half.yaml").write_text(
        "{format: 1, name: half, state: {theta: {shape: d, domain: positive}}, "
        "potential: sum(theta) + sum(log(theta))/2}"
    )
    run = {"step_size": 0.05, "draws": 500, "warmup": 20, "thin": 20, "chains": 4, "seed": 1}
    (tmp_path / "halves.yaml").write_text(json.dumps({**build, "run": run}))
    done = recipe("run", tmp_path / "halves.yaml", "-o", tmp_path)
    assert (done.code, "by Stein's identity they miss the mean" in done.out + done.err) == (4, True), done


ROWS = 3000
PULLS = np.linalg.qr(np.random.default_rng(5).standard_normal((ROWS, 3)))[0]  # of rows, with sum_n x_n x_n^T = I
PULLS = PULLS @ np.linalg.inv(FACTOR)


def of_rows(theta: np.ndarray, batch: np.ndarray) -> np.ndarray:
    """Estimate grad U of N(MEAN, COVARIANCE), whose rows have Hessians x_n x_n^T, from some of them."""
    x = PULLS[batch]
    return ROWS / len(batch) * x.T @ (x @ (theta - MEAN))


def estimated(theta: np.ndarray) -> np.ndarray:
    def slope(at: np.ndarray) -> np.ndarray:
        return of_rows(at, np.arange(ROWS))

    at = _estimated(Gradients(ROWS, 3, of_rows, PULLS.size), slope, theta.mean(axis=(0, 1)), 10**9)
    return np.array([[at(one) for one in chain] for chain in theta])


@pytest.mark.parametrize("wider", [1.0, 1.15])
def test_gradients_of_new_rows_for_each_draw_judge_as_those_of_all_data_do(wider: float) -> None:
    theta = MEAN + wider * (right() - MEAN)
    found = departed(theta, estimated(theta), np.ones(theta.shape[1]), names(theta))
    of_all = judged(theta)
    assert found.flagged == of_all.flagged == (wider > 1.0)
    assert found.known < 0.1
    assert abs(found.largest.error - of_all.largest.error) < 3.0 * found.known


def test_an_estimated_gradient_is_that_of_all_data_at_the_centre() -> None:
    still = np.broadcast_to(MEAN + SCALES, (1, 2, 3))
    np.testing.assert_allclose(estimated(still)[0, 0], np.linalg.solve(COVARIANCE, SCALES), rtol=1e-9)


@pytest.mark.slow
def test_many_coordinates_are_judged_by_their_variances() -> None:
    theta = np.random.default_rng(4).standard_normal((2, 400, 250))
    assert not departed(theta, theta, np.ones(400), names(theta)).flagged
    theta[:, :, 33] *= 1.6
    found = departed(theta, theta, np.ones(400), names(theta))
    assert (found.flagged, found.largest.name) == (True, "theta[33]")


@pytest.mark.slow
def test_false_alarms_are_rare() -> None:
    """200 runs of 4 correlated chains of 200 draws; errors that matter must be seen, so that most alarms are none."""
    rng, flagged = np.random.default_rng(0), 0
    for _ in range(200):
        noise = rng.standard_normal((4, 260, 3))
        chain = np.zeros_like(noise)
        for t in range(1, 260):
            chain[:, t] = 0.5 * chain[:, t - 1] + np.sqrt(0.75) * noise[:, t]
        flagged += judged(MEAN + chain[:, 60:] @ FACTOR.T).flagged
    assert flagged < 4

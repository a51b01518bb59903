"""What `recipe check` says of a step where U is quadratic: its figures, and why there are none."""

import sys
from pathlib import Path

import numpy as np
import pytest
from affine_builds import LANGEVIN, SPECS, written
from loaders import load_build

from recipe_compiler.audit.of_build import audit
from recipe_compiler.report.check import check
from recipe_compiler.verdict import Explanation, Topic

sys.path.insert(0, str(Path(__file__).parents[1] / "statistics"))
from lyapunov import euler_step

PLANE = """
parameters:
  M: {value: [[2, 1/2], [1/2, 1]]}
  C: {value: [[1, 1/3], [1/3, 2]]}
  mu: {value: [1, -2]}
  Sigma: {value: [[1, -1/3], [-1/3, 3/2]]}
"""
MASS, SIGMA = np.array([[2, 1 / 2], [1 / 2, 1]]), np.array([[1, -1 / 3], [-1 / 3, 3 / 2]])
SEQUENTIAL = "{name: sequential_euler, order: [r, theta]}"
SADDLE = """
format: 1
name: saddle
state: {theta: {shape: 2}}
potential: theta[0]**2/2 - theta[1]**2/2
"""


def plane(folder: Path, step: str = "0.3", scheme: str = SEQUENTIAL) -> tuple[Explanation, ...]:
    text = LANGEVIN.replace("PARAMETERS", PLANE).replace("SCHEME", scheme)
    return audit(written(folder, text.replace("step_size: 0.1", f"step_size: {step}")))


def numbers(said: Explanation, entry: str) -> list[float]:
    return [float(x) for x in dict(said.formulas)[entry].split(", ")]


def test_figures_are_those_of_the_papers_equations(tmp_path: Path) -> None:
    """SGHMC with M and C that do not commute: F and Sigma by numpy alone, S as the sum of all its terms."""
    (said,) = plane(tmp_path)
    C = np.array([[1, 1 / 3], [1 / 3, 2]])
    K, M_inv, zero = np.linalg.inv(SIGMA), np.linalg.inv(MASS), np.zeros((2, 2))
    f = np.block([[zero, M_inv], [-K, -C @ M_inv]])
    two_D = np.block([[zero, zero], [zero, 2 * C]])
    chain = euler_step({"theta": 2, "r": 2}, f, np.zeros(4), two_D, 0.3, ("r", "theta"))
    S = chain.covariance()
    factors = np.sqrt(np.diag(S)[:2] / np.diag(SIGMA))
    assert (factors > 1.01).any()
    np.testing.assert_allclose(numbers(said, "sd of theta over that of exp(-U)"), factors, atol=1e-5)
    (temperature,) = numbers(said, "effective temperature tr(S Hess U)/d")
    assert temperature == pytest.approx(np.trace(S[:2, :2] @ K) / 2, abs=1e-5)
    lags = [np.diag(np.linalg.matrix_power(chain.F, k) @ S)[:2] / np.diag(S)[:2] for k in range(1, 400)]
    times = 1.0 + 2.0 * np.sum(lags, axis=0)
    of_squares = 1.0 + 2.0 * np.sum(np.square(lags), axis=0)
    np.testing.assert_allclose(numbers(said, "steps per effective draw of theta"), times, rtol=1e-3)
    np.testing.assert_allclose(numbers(said, "steps per effective draw of its square"), of_squares, rtol=1e-3)
    (limit,) = numbers(said, "largest stable step size")
    for step, stable in ((0.999 * limit, True), (1.001 * limit, False)):
        F = euler_step({"theta": 2, "r": 2}, f, np.zeros(4), two_D, step, ("r", "theta")).F
        assert bool(np.abs(np.linalg.eigvals(F)).max() < 1.0) is stable


@pytest.mark.parametrize(
    ("build", "says"),
    [
        ("sghmc_linear_regression", "its Hessian is made of data"),
        ("gsgrhmc_gaussian", "the noise of r_new[0] depends on theta[0], theta[1], theta[2]: it has no one covariance"),
        ("gsgrhmc_gaussian_baoab", "the noise of r_v2[0] depends on theta_v2[0]"),
    ],
)
def test_why_there_is_no_law_is_said(build: str, says: str) -> None:
    (said,) = audit(load_build(SPECS / "builds" / f"{build}.yaml"))
    assert said.topic is Topic.STEP
    assert said.says.startswith(f"U is quadratic; the distribution of the chain is not computed: {says}")


@pytest.mark.parametrize("build", ["sghmc_double_well", "sghmc_logistic", "wright_fisher_dirichlet"])
def test_nothing_is_said_where_u_is_not_quadratic(build: str) -> None:
    assert audit(load_build(SPECS / "builds" / f"{build}.yaml")) == ()


def test_a_step_that_is_too_large_is_said_to_be(tmp_path: Path) -> None:
    (said,) = plane(tmp_path, "5")
    assert "at the step size 5: the chain is unstable" in said.says
    (right,) = plane(tmp_path)
    limits = [numbers(one, "largest stable step size")[0] for one in (said, right)]
    assert limits[0] == pytest.approx(limits[1], rel=3e-4)


def leapfrog(folder: Path, step: str, word: str = "{name: leapfrog}") -> Explanation:
    lines = PLANE.splitlines()
    text = LANGEVIN.replace("sghmc", "hmc").replace("PARAMETERS", "\n".join(lines[:3] + lines[4:]))
    (said,) = audit(written(folder, text.replace("SCHEME", word).replace("step_size: 0.1", f"step_size: {step}")))
    return said


@pytest.mark.parametrize(("word", "sign"), [("{name: leapfrog}", 1), ("{split: [A/2, B, A/2]}", -1)])
def test_leapfrog_alone_forgets_nothing_and_keeps_a_shadow(tmp_path: Path, word: str, sign: int) -> None:
    """With r ~ N(0, M) it keeps (K - eps^2 K inv(M) K/4)^-1 of theta, and with drifts outside K^-1 - eps^2 inv(M)/4."""
    said = leapfrog(tmp_path, "0.5", word)
    assert "no noise at the step size 0.5: it is not ergodic" in said.says
    K, M_inv = np.linalg.inv(SIGMA), np.linalg.inv(MASS)
    omega = np.sqrt(np.linalg.eigvals(M_inv @ K).max())
    assert numbers(said, "largest stable step size") == pytest.approx([2.0 / omega], rel=1e-3)
    S = np.linalg.inv(K - 0.25 * K @ M_inv @ K / 4) if sign > 0 else SIGMA - 0.25 * M_inv / 4
    factors = np.sqrt(np.diag(S) / np.diag(SIGMA))
    assert (sign * (factors - 1.0) > 0.01).all()
    (kept,) = [entry for entry, _ in said.formulas if entry.startswith("sd of theta")]
    assert "in the law that it keeps with r as under exp(-H)" in kept
    np.testing.assert_allclose(numbers(said, kept), factors, atol=1e-5)


def test_a_word_that_is_no_palindrome_keeps_no_such_law(tmp_path: Path) -> None:
    said = leapfrog(tmp_path, "0.5", "{split: [B, A]}")
    assert "not ergodic" in said.says
    assert [entry for entry, _ in said.formulas] == ["largest stable step size"]


def test_leapfrog_with_too_large_a_step_is_unstable(tmp_path: Path) -> None:
    assert "the chain is unstable: the step size is too large" in leapfrog(tmp_path, "3").says


@pytest.mark.slow
def test_a_saddle_is_no_law(tmp_path: Path) -> None:
    (tmp_path / "saddle.yaml").write_text(SADDLE)
    text = LANGEVIN.replace(f"{SPECS}/targets/gaussian.yaml", "saddle.yaml").replace("SCHEME", SEQUENTIAL)
    (said,) = audit(written(tmp_path, text.replace("PARAMETERS", "\n".join(PLANE.splitlines()[:4]))))
    assert "the Hessian of U is not positive definite (smallest eigenvalue -1)" in said.says


@pytest.mark.slow
def test_the_report_holds_it() -> None:
    build = load_build(SPECS / "builds" / "sgld_gaussian.yaml")
    (said,) = check(build).explanations
    assert said == audit(build)[0]
    assert said.lines[0].startswith("step: bias and mixing of a chain for exp(-U) at the step size 0.05")
    assert check(build, advisory=False).explanations == ()

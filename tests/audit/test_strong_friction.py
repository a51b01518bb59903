"""Friction that undoes momenta within a step: the figures are those of the word all the same, without a warning."""

import warnings
from pathlib import Path

import mpmath as mp
import numpy as np
import pytest
from affine_builds import LANGEVIN, read, written
from scipy.linalg import expm, solve_discrete_lyapunov

from recipe_compiler.audit.affine import linear_flow
from recipe_compiler.audit.of_build import audit

SIGMA = np.array([[2, 0.5], [0.5, 1]])
M = np.array([[2, 0.5], [0.5, 1]])
STABLE = 2 / np.sqrt(np.linalg.eigvals(np.linalg.inv(M) @ np.linalg.inv(SIGMA)).max())
"""Of BAOAB, whatever the friction is: eps omega < 2."""


def plane(friction: str) -> str:
    values = "mu: {value: [1, -2]}, Sigma: {value: [[2, 1/2], [1/2, 1]]}, M: {value: [[2, 1/2], [1/2, 1]]}"
    return f"parameters: {{{values}, C: {{value: {friction}}}}}\nsizes: {{d: 2}}"


@pytest.mark.slow
@pytest.mark.parametrize("eps", ["0.01", "0.5"])
@pytest.mark.parametrize("scale", [1, 100, 10_000, 10**9])
def test_figures_do_not_depend_on_how_strong_friction_is(tmp_path: Path, eps: str, scale: int) -> None:
    text = LANGEVIN.replace("PARAMETERS", plane(f"[[{scale}, -1/3], [-1/3, {2 * scale}]]")).replace("0.1", eps)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        (said,) = audit(written(tmp_path, text.replace("SCHEME", "{name: baoab}")))
    found, h = dict(said.formulas), float(eps)
    one, nil = np.eye(2), np.zeros((2, 2))
    drift = np.block([[one, h / 2 * np.linalg.inv(M)], [nil, one]])
    kick = np.block([[one, nil], [-h / 2 * np.linalg.inv(SIGMA), one]])
    decay = expm(-h * np.array([[scale, -1 / 3], [-1 / 3, 2 * scale]]) @ np.linalg.inv(M))
    own = np.block([[nil, nil], [nil, M - decay @ M @ decay.T]])
    F = kick @ drift @ np.block([[one, nil], [nil, decay]]) @ drift @ kick
    S = solve_discrete_lyapunov(F, kick @ drift @ own @ (kick @ drift).T)
    times = 2 * np.diag(np.linalg.solve(np.eye(4) - F, S))[:2] / np.diag(S)[:2] - 1
    assert found["sd of theta over that of exp(-U)"] == "1.00000, 1.00000"
    assert found["effective temperature tr(S Hess U)/d"] == "1.00000"
    told = [float(x) for x in found["steps per effective draw of theta"].split(", ")]
    assert told == pytest.approx(times.tolist(), rel=1e-3)
    assert float(found["largest stable step size"]) == pytest.approx(STABLE, rel=1e-3)


def test_the_noise_of_one_step_keeps_its_digits(tmp_path: Path) -> None:
    text = LANGEVIN.replace("PARAMETERS", plane("[[30000, 1], [1, 20000]]")).replace("SCHEME", "{split: [A, B, O]}")
    found = read(written(tmp_path, text), {"d": 2}).at(0.1)
    assert np.allclose(found.Sigma[2:, 2:], M, rtol=1e-12)
    assert np.allclose(found.F[2:], 0.0, atol=1e-300)


def test_a_flow_has_the_digits_of_what_noise_reaches_last() -> None:
    """Of theta' = r, r' = -c r + noise, var theta is t^3/3 of what is added to r: entry by entry, at every time."""
    c = 3.0
    for t in (1e-6, 1e-3, 0.1, 1.0, 40.0):
        with mp.workdps(60):
            x = mp.mpf(c) * mp.mpf(t)
            decay = mp.exp(-x)
            var_theta = float(2 / mp.mpf(c) ** 2 * (x - 2 * (1 - decay) + (1 - decay**2) / 2))
            both, var_r = float((1 - decay) ** 2 / c), float(1 - decay**2)
            moved, summed, left = float((1 - decay) / c), float((x - 1 + decay) / mp.mpf(c) ** 2), float(decay)
        E, integral, covariance = linear_flow(np.array([[0.0, -1.0], [0.0, c]]), np.diag([0.0, 2.0 * c]), t)
        np.testing.assert_allclose(E, [[1.0, moved], [0.0, left]], rtol=1e-13)
        np.testing.assert_allclose(covariance, [[var_theta, both], [both, var_r]], rtol=1e-13)
        np.testing.assert_allclose(integral, [[t, summed], [0.0, moved]], rtol=1e-13)

"""Steps whose friction is solved for by the implicit midpoint: their law and their figures, with full matrices."""

from pathlib import Path

import numpy as np
import pytest
import sympy as sp
from affine_builds import LANGEVIN, read, written
from numpy.typing import NDArray
from scipy.linalg import solve_discrete_lyapunov

from recipe_compiler.audit.of_build import audit

Matrix = NDArray[np.float64]
EPS = 0.8
PLANE = """
parameters:
  mu: {value: [1, -2]}
  Sigma: {value: [[2, 1/2], [1/2, 1]]}
  M: {value: [[2, 1/2], [1/2, 1]]}
  C: {value: [[1, -1/3], [-1/3, 2]]}
sizes: {d: 2}
"""
SIGMA = np.array([[2, 0.5], [0.5, 1]])
M = np.array([[2, 0.5], [0.5, 1]])
G = np.array([[1, -1 / 3], [-1 / 3, 2]]) @ np.linalg.inv(M)
ONE, NIL = np.eye(2), np.zeros((2, 2))
WORDS = {
    "{name: baoab, flows: {O: midpoint}}": "B/2 A/2 O A/2 B/2",
    "{name: obabo, flows: {O: midpoint}}": "O/2 B/2 A B/2 O/2",
    "{name: obabo, keep: 1, flows: {O: midpoint}}": "B/2 A B/2 O/2 O/2",  # two halves of a midpoint are no midpoint
}


def moved(letter: str) -> tuple[Matrix, Matrix]:
    """Return what a letter does to (theta, r), by its definition."""
    piece, t = letter[0], EPS * (0.5 if letter.endswith("/2") else 1.0)
    if piece == "A":
        return np.block([[ONE, t * np.linalg.inv(M)], [NIL, ONE]]), np.zeros((4, 4))
    if piece == "B":
        return np.block([[ONE, NIL], [-t * np.linalg.inv(SIGMA), ONE]]), np.zeros((4, 4))
    left = np.linalg.inv(ONE + t / 2 * G)  # r' = r - t G (r + r')/2 + N(0, 2 C t)
    noise = left @ (2 * t * G @ M) @ left.T
    return np.block([[ONE, NIL], [NIL, left @ (ONE - t / 2 * G)]]), np.block([[NIL, NIL], [NIL, noise]])


def expected(letters: str) -> tuple[Matrix, Matrix]:
    step, covariance = np.eye(4), np.zeros((4, 4))
    for letter in letters.split():
        by, noise = moved(letter)
        step, covariance = by @ step, by @ covariance @ by.T + noise
    return step, covariance


@pytest.mark.parametrize("scheme", WORDS)
def test_a_step_that_solves_for_its_friction_is_affine_as_the_midpoint_is(tmp_path: Path, scheme: str) -> None:
    build = written(tmp_path, LANGEVIN.replace("PARAMETERS", PLANE).replace("SCHEME", scheme))
    found = read(build, {"d": 2}).at(EPS)
    F, Sigma = expected(WORDS[scheme])
    assert np.allclose(found.F, F, rtol=1e-12, atol=1e-13)
    assert np.allclose(found.Sigma, Sigma, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("scheme", WORDS)
def test_its_figures_are_those_of_its_law(tmp_path: Path, scheme: str) -> None:
    text = LANGEVIN.replace("PARAMETERS", PLANE).replace("SCHEME", scheme).replace("0.1", str(EPS))
    (said,) = audit(written(tmp_path, text))
    F, Sigma = expected(WORDS[scheme])
    S = solve_discrete_lyapunov(F, Sigma)
    rho = np.array([np.diag(np.linalg.matrix_power(F, k) @ S)[:2] / np.diag(S)[:2] for k in range(400)])
    assert dict(said.formulas) == {
        "sd of theta over that of exp(-U)": ", ".join(f"{x:.5f}" for x in np.sqrt(np.diag(S)[:2] / np.diag(SIGMA))),
        "effective temperature tr(S Hess U)/d": f"{np.trace(S[:2, :2] @ np.linalg.inv(SIGMA)) / 2:.5f}",
        "steps per effective draw of theta": ", ".join(f"{x:.4g}" for x in 2 * rho.sum(0) - 1),
        "steps per effective draw of its square": ", ".join(f"{x:.4g}" for x in 2 * (rho**2).sum(0) - 1),
        "largest stable step size": "1.586",
    }


def test_it_is_composed_exactly_too(tmp_path: Path) -> None:
    line = PLANE.replace("[1, -2]", "[0]").replace("d: 2", "d: 1")
    for name, value in (("Sigma", 2), ("M", 1), ("C", 3)):
        start = line.index(f"  {name}:")
        line = f"{line[:start]}  {name}: {{value: [[{value}]]}}{line[line.index(chr(10), start) :]}"
    build = written(
        tmp_path, LANGEVIN.replace("PARAMETERS", line).replace("SCHEME", "{name: baoab, flows: {O: midpoint}}")
    )
    found = read(build, {"d": 1}).composed()
    eps = sp.Symbol("eps", positive=True)
    assert sp.simplify(sp.Matrix(found.F).det() - (1 - 3 * eps / 2) / (1 + 3 * eps / 2)) == 0

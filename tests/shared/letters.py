"""Steps of words on a Gaussian by NumPy, letter after letter, with K, M and C of which no two commute."""

import numpy as np
from answers import document
from numpy.typing import NDArray
from scipy.linalg import expm, solve_discrete_lyapunov

from recipe_compiler.spec.model import Build

Matrix = NDArray[np.float64]
SIGMA, MASS, FRICTION = (
    np.array(rows) for rows in ([[1, -1 / 3], [-1 / 3, 1.5]], [[2, 0.5], [0.5, 1]], [[1, 1 / 3], [1 / 3, 2]])
)
MU, K = np.array([1.0, -2.0]), np.linalg.inv(SIGMA)
V = np.array([[5.0, 2.0], [2.0, 3.0]])
"""Of the noise of a gradient."""
STIFF = 5
"""Of the fast force: V(theta) = 5 |theta|**2/2."""
ONE, NIL = np.eye(2), np.zeros((2, 2))
SEQUENTIAL = "{name: sequential_euler, order: [r, theta]}"
BUILD = """
name: langevin
dynamics: sghmc
target: gaussian
parameters:
  M: {value: [[2, 1/2], [1/2, 1]]}
  C: {value: [[1, 1/3], [1/3, 2]]}
  mu: {value: [1, -2]}
  Sigma: {value: [[1, -1/3], [-1/3, 3/2]]}
scheme: SCHEME
variant: full
run: {step_size: STEP}
"""


def langevin(scheme: str = SEQUENTIAL, step: float = 0.3, *changes: tuple[str, str], **beside: str) -> Build:
    """Return a build of SGHMC, with changes of its text."""
    text = BUILD.replace("SCHEME", scheme).replace("STEP", str(step))
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return document(text, **beside)


def composed(
    word: str, eps: float, *, M: Matrix = MASS, C: Matrix = FRICTION, D: Matrix | None = None
) -> tuple[Matrix, Matrix, Matrix]:
    """Return F, a and Sigma of z' = F z + a + N(0, Sigma) for `B/2 A O`, by the definition of each letter.

    A drifts, B and S kick, F kicks with the fast force, O is friction C with noise D (C where it is not given), E both
    Euler's kick and friction, m friction by the implicit midpoint, G an O that gives up what V adds to BAOAB.
    """
    F, a, Sigma = np.eye(4), np.zeros(4), np.zeros((4, 4))
    P, D = np.linalg.inv(M), C if D is None else D
    for letter in word.split():
        piece, _, part = letter.partition("/")
        t = eps / float(part or 1)
        upper, lower, kept, noise, added = NIL, NIL, ONE, NIL, np.zeros(2)
        match piece:
            case "A":
                upper = t * P
            case "B" | "S":
                lower, added = -t * K, t * K @ MU
            case "F":
                lower = -t * STIFF * ONE
            case "E":
                lower, added, kept, noise = -t * K, t * K @ MU, ONE - t * C @ P, 2 * t * D
            case "m":  # r' = r - t C P (r + r')/2 + N(0, 2 C t)
                left = np.linalg.inv(ONE + t / 2 * C @ P)
                kept, noise = left @ (ONE - t / 2 * C @ P), 2 * t * left @ C @ left.T
            case _:
                kept = expm(-t * C @ P)
                noise = M - kept @ M @ kept.T
                if piece == "G":
                    noise = noise - eps**2 * (ONE + kept) @ V @ (ONE + kept).T / 4
        G = np.block([[ONE, upper], [lower, kept]])
        F, a, Sigma = G @ F, G @ a + [0, 0, *added], G @ Sigma @ G.T + np.block([[NIL, NIL], [NIL, noise]])
    return F, a, Sigma


def law(word: str, eps: float, **matrices: Matrix) -> Matrix:
    """Return the covariance S = F S F.T + Sigma."""
    F, _, Sigma = composed(word, eps, **matrices)
    return solve_discrete_lyapunov(F, Sigma)

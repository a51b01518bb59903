"""What a chain z' = F z + a + N(0, Sigma) samples of theta, against N(m, K^-1): its law, its speed, its stability.

S = F S F^T + Sigma is the covariance of the chain (discrete Lyapunov equation), and Gamma_k = F^k S that of states k
steps apart. With the rows that belong to a coordinate of theta, all sums over k in closed form,

    sd factor                     sqrt(S_ii/(K^-1)_ii)
    effective temperature         tr(S K)/d                             1 where S is K^-1
    time of theta_i               sum_k rho_k = 2 [(I - F)^-1 S]_ii/S_ii - 1            k over all integers
    time of (theta_i - m_i)^2     sum_k rho_k^2 = 2 (X_i)_ii/S_ii^2 - 1,  X_i = F X_i F^T + s_i s_i^T

as the square of a Gaussian has the autocorrelation rho_k^2; s_i is a column of S. A time is how many steps of the chain
are worth one independent draw (Sokal 1997, Sec. 3).

Worked example, SGLD on U = theta**2/2 at the step size eps: F = 1 - eps, Sigma = 2 eps, so S = 2 eps/(1 - F**2) = 1/(1
- eps/2). At eps = 0.1 the sd factor is sqrt(1/0.95) = 1.02598, the effective temperature 1.05263, the time of theta
2/eps - 1 = 19 and, with X = S**2/(1 - F**2), that of its square 2/0.19 - 1 = 9.526. It is unstable from eps = 2.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

NEUTRAL = 1e-9
"""How far from 1 the modulus of an eigenvalue of F must be to be distinguished from it in double precision."""

NEAR = 2.0**5
"""Beyond so many times the step size looks for one that is unstable are farther apart."""

MOST = 2.0**20
"""How many times the step size is looked at for one that is unstable."""


class NoLawError(ValueError):
    """The chain has no stationary law, or none that can be computed in double precision; the message says why."""


@dataclass(frozen=True, slots=True, eq=False)
class Figures:
    """What a chain samples of theta, coordinate by coordinate ([d] each), and how fast (times: Sokal 1997, Sec. 3)."""

    sds: Array
    """The sds of what the chain samples."""
    factors: Array
    """By which they are wider than those of exp(-U)."""
    temperature: float
    times: Array
    """Integrated autocorrelation times, in steps."""
    times_of_squares: Array

    @property
    def slowest(self) -> float:
        """The number of steps per effective draw of each coordinate and of its square: the largest time."""
        return float(max(self.times.max(), self.times_of_squares.max()))


def radius(F: Array) -> float:
    """Return the spectral radius max |eigenvalue| of an n x n matrix F; infinite if F is not finite."""
    return float(np.abs(np.linalg.eigvals(F)).max()) if np.isfinite(F).all() else np.inf


def is_stable(F: Array) -> bool:
    """Whether a chain with the n x n matrix F stays bounded: |eigenvalue| <= 1 for all, up to rounding."""
    return radius(F) <= 1.0 + NEUTRAL


def covariance(F: Array, Sigma: Array) -> Array:
    """Return the solution S of S = F S F.T + Sigma, all [n, n], as sum_k F**k Sigma (F.T)**k.

    With S = sum_(k < m) and F**m at hand, S <- S + F**m S (F.T)**m doubles m. F = 1/2, Sigma = 3/4: S = 1.

    Raises:
        NoLawError: F has an eigenvalue that is not inside the unit circle.
    """
    largest = radius(F)
    if largest > 1.0 + NEUTRAL:
        raise NoLawError("the chain is unstable: the step size is too large")
    if largest >= 1.0 - NEUTRAL:
        raise NoLawError("the chain is not ergodic: F has an eigenvalue of modulus 1")
    return _sum_powers(F, Sigma[None])[0]


def solve_invariant_block(F: Array, rest: Array, block: slice) -> Array | None:
    """Return the S_theta for which F keeps diag(S_theta, rest), theta being z[block]; None if there is none.

    A step without noise, of determinant 1, keeps many laws. This is the one that remains if all but theta is drawn anew
    from N(0, rest) now and then: of leapfrog with fresh momenta, where nothing is rejected. With F = [[a, b], [c, d]]
    in the blocks theta and rest, the lower right block of F S F^T = S is c S_theta c^T + d rest d^T = rest, which gives
    S_theta; the other blocks are then checked.
    """
    places = np.arange(len(F))
    theta, others = places[block], np.delete(places, places[block])
    c, d = F[np.ix_(others, theta)], F[np.ix_(others, others)]
    inverse = np.linalg.pinv(c)
    found = inverse @ (rest - d @ rest @ d.T) @ inverse.T
    S = np.zeros(F.shape)
    S[np.ix_(theta, theta)], S[np.ix_(others, others)] = found, rest
    apart = np.abs(F @ S @ F.T - S).max()
    return found if apart <= NEUTRAL * np.abs(S).max() and np.linalg.eigvalsh(found)[0] > 0.0 else None


def _sum_powers(F: Array, N: Array) -> Array:
    """Return sum_k F^k N_i (F^k)^T for each N_i of a stack, doubling the number of terms at each turn."""
    found, power = N, F
    while np.abs(power).max() > 1e-15:
        found = found + power @ found @ power.T
        power = power @ power
    return found


def require_definite(K: Array) -> None:
    """Raise NoLawError unless the Hessian of U is positive definite; otherwise exp(-U) is not Gaussian."""
    least = float(np.linalg.eigvalsh(K)[0])
    if not least > 0.0:
        raise NoLawError(f"the Hessian of U is not positive definite (smallest eigenvalue {least:.3g})")


def figures(F: Array, S: Array, K: Array, block: slice) -> Figures:
    """Return what a chain of covariance S samples of theta, which is z[block], if exp(-U) has the precision K.

    F and S are n x n matrices, K is d x d; the equations are at the head of the module (times as in Sokal 1997, Sec.
    3). For every n-th state of a chain, give F^n as F.

        >>> F, Sigma = np.array([[0.9]]), np.array([[0.2]])  # SGLD on theta**2/2, eps = 0.1
        >>> found = figures(F, covariance(F, Sigma), np.array([[1.0]]), slice(0, 1))
        >>> round(float(found.factors[0]), 5), round(found.temperature, 5), round(float(found.times[0]), 3)
        (1.02598, 1.05263, 19.0)

    Raises:
        NoLawError: K is not positive definite, or theta does not vary.
    """
    require_definite(K)
    own = S[block, block]
    variances = np.diag(own)
    if not (variances > 0.0).all():
        raise NoLawError("a step moves theta by less than double precision resolves")
    expected = np.diag(np.linalg.inv(K))
    resolved = np.linalg.solve(np.eye(len(F)) - F, S)
    columns = S[:, block].T
    squares = _sum_powers(F, columns[:, :, None] * columns[:, None, :])
    places = np.arange(len(F))[block]
    of_squares = np.array([squares[k, place, place] for k, place in enumerate(places)])
    return Figures(
        np.sqrt(variances),
        np.sqrt(variances / expected),
        float(np.trace(own @ K)) / len(K),
        2.0 * np.diag(resolved)[block] / variances - 1.0,
        2.0 * of_squares / variances**2 - 1.0,
    )


def largest_stable(F_at: Callable[[float], Array], eps: float, factor: float, within: float) -> float | None:
    """Return the step size at which a chain becomes unstable, max |eigenvalue of F| > 1; None if none was found.

    F = 1 - eps, Euler's step of dz = -z dt + sqrt(2) dW, has 2; leapfrog of H = (theta**2 + r**2)/2 has 2.

    Args:
        F_at: F, [n, n], by the step size.
        eps: where the search begins: upwards if F is stable there, else downwards.
        factor: by which the step size grows from one trial to the next, its fourth power far away: a band of unstable
            steps that is narrower may be passed over.
        within: the relative error of the answer.
    """
    low, high = eps, eps * factor
    while not is_stable(F_at(low)):
        if low * MOST < eps:
            return None
        low, high = low / (factor if low * NEAR > eps else factor**4), low
    while is_stable(F_at(high)):
        if high > MOST * eps:
            return None
        low, high = high, high * (factor if high < NEAR * eps else factor**4)
    while high / low > 1.0 + within:
        middle = float(np.sqrt(low * high))
        low, high = (middle, high) if is_stable(F_at(middle)) else (low, middle)
    return low

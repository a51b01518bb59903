"""Makes `logistic_reference.json`: posterior moments of the logistic target by exact-gradient HMC with accept/reject.

    python tests/statistics/make_logistic_reference.py

The posterior is that of `specs/targets/logistic_regression.yaml` (prior variance 10) on the standardised Wisconsin
breast cancer data, as in the shipped builds. Hamiltonian Monte Carlo with Metropolis correction leaves it exactly
invariant; the mass matrix is the Hessian at the mode. Nothing of the compiler is used. Takes about a minute.
"""

import json
import math
from pathlib import Path

import arviz_stats
import numpy as np
from numba import njit
from numpy.typing import NDArray

ROOT = Path(__file__).parents[2]
OUT = Path(__file__).parent / "logistic_reference.json"
PRIOR_VARIANCE = 10.0
CHAINS, DRAWS, LEAPFROGS, STEP = 4, 50_000, 8, 0.17


def data() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the 30 standardised columns and the diagnosis."""
    table = np.genfromtxt(ROOT / "specs" / "data" / "breast_cancer.csv", delimiter=",", skip_header=1)
    x = table[:, :30]
    return (x - x.mean(axis=0)) / x.std(axis=0), table[:, 30].copy()


@njit
def energy(theta, x, y):
    """Return U and its gradient."""
    s = x @ theta
    U = theta @ theta / (2.0 * PRIOR_VARIANCE)
    residual = np.empty_like(s)
    for n in range(s.size):
        e = math.exp(-abs(s[n]))
        U += max(s[n], 0.0) + math.log1p(e) - y[n] * s[n]
        residual[n] = (1.0 if s[n] >= 0.0 else e) / (1.0 + e) - y[n]
    return U, x.T @ residual + theta / PRIOR_VARIANCE


@njit
def hmc(theta, scale, x, y, draws, rng):
    """Fill `draws` with the states of an HMC chain in coordinates theta = scale @ q; return the acceptance rate."""
    x_q = x @ scale
    q = np.linalg.solve(scale, theta)
    prior = scale.T @ scale / PRIOR_VARIANCE
    accepted = 0
    xt = np.ascontiguousarray(x_q.T)
    for k in range(draws.shape[0]):
        p = rng.standard_normal(q.size)
        step = STEP * (0.8 + 0.4 * rng.random())
        U, grad = _energy_q(q, x_q, xt, y, prior)
        new, p_new, U_new = q.copy(), p.copy(), U
        for _ in range(LEAPFROGS):
            p_new -= 0.5 * step * grad
            new += step * p_new
            U_new, grad = _energy_q(new, x_q, xt, y, prior)
            p_new -= 0.5 * step * grad
        if math.log(rng.random()) < U - U_new + 0.5 * (p @ p - p_new @ p_new):
            q = new
            accepted += 1
        draws[k] = scale @ q
    return accepted / draws.shape[0]


@njit
def _energy_q(q, x_q, xt, y, prior):
    s = x_q @ q
    U = 0.5 * (q @ (prior @ q))
    residual = np.empty_like(s)
    for n in range(s.size):
        e = math.exp(-abs(s[n]))
        U += max(s[n], 0.0) + math.log1p(e) - y[n] * s[n]
        residual[n] = (1.0 if s[n] >= 0.0 else e) / (1.0 + e) - y[n]
    return U, xt @ residual + prior @ q


def mode(x: NDArray[np.float64], y: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the mode and the Hessian of U there, by Newton's method."""
    theta = np.zeros(x.shape[1])
    while True:
        grad = energy(theta, x, y)[1]
        p = 1.0 / (1.0 + np.exp(-x @ theta))
        hessian = (x.T * (p * (1.0 - p))) @ x + np.eye(theta.size) / PRIOR_VARIANCE
        theta = theta - np.linalg.solve(hessian, grad)
        if np.abs(grad).max() < 1e-9:
            return theta, hessian


def main() -> None:
    """Run the chains, check them, and write moments with their Monte Carlo errors."""
    x, y = data()
    centre, hessian = mode(x, y)
    scale = np.linalg.inv(np.linalg.cholesky(hessian)).T.copy()
    draws = np.empty((CHAINS, DRAWS, x.shape[1]))
    for k in range(CHAINS):
        rng = np.random.default_rng([20240, k])
        start = centre + 2.0 * scale @ rng.standard_normal(centre.size)
        rate = hmc(start, scale, x, y, np.empty((1000, centre.size)), rng)
        rate = hmc(start, scale, x, y, draws[k], rng)
        print(f"chain {k}: acceptance {rate:.3f}")
    kept = draws[:, 1000:]
    moments = {"mean": kept, "square": (kept - kept.mean(axis=(0, 1))) ** 2}
    r_hat = max(float(arviz_stats.base.array_stats.rhat(v[:, :, j])) for v in moments.values() for j in range(30))
    if not r_hat < 1.01:
        raise ArithmeticError(f"R-hat is {r_hat}")
    found = {"command": "python tests/statistics/make_logistic_reference.py", "r_hat": round(r_hat, 6)}
    sd = kept.std(axis=(0, 1))
    found["mean"] = [float(v) for v in kept.mean(axis=(0, 1))]
    found["sd"] = [float(v) for v in sd]
    found["mcse_mean"] = [float(arviz_stats.base.array_stats.mcse(kept[:, :, j], method="mean")) for j in range(30)]
    squares = [float(arviz_stats.base.array_stats.mcse(moments["square"][:, :, j], method="mean")) for j in range(30)]
    found["mcse_sd"] = [squares[j] / (2.0 * float(sd[j])) for j in range(30)]
    OUT.write_text(json.dumps(found, indent=1) + "\n")
    print(f"R-hat {r_hat:.5f}; largest error of a mean {max(np.array(found['mcse_mean']) / sd):.4f} sd")


if __name__ == "__main__":
    main()

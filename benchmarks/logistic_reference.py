"""Makes the reference moments of the logistic posterior, by Hamiltonian Monte Carlo with full gradients.

    python benchmarks/logistic_reference.py [--draws 60000] [--out tests/statistics/logistic_reference.json]

The posterior is that of `specs/targets/logistic_regression.yaml` with prior variance 10 on the Wisconsin breast
cancer data, columns standardised as in the shipped builds: (x - mean) / sd, sd over the rows themselves (divided
by N), no intercept. Leapfrog proposals with accept/reject (Duane and others 1987) leave it exactly invariant; they
move in the coordinates q of a Laplace approximation, theta = mode + L^-T q with L L^T the Hessian at the mode. Nothing
of recipe_compiler is used. About four minutes on one core; the file holds what it took to make it and its own gates.
"""

import argparse
import csv
import hashlib
import json
import math
import platform
from importlib.metadata import version
from pathlib import Path

import arviz_stats.base
import numpy as np
from numba import njit
from numpy.typing import NDArray

from recipe_compiler.run.atomic_write import write_whole

Array = NDArray[np.float64]

ROOT = Path(__file__).parents[1]
DATA = "specs/data/breast_cancer.csv"
PRIOR_VARIANCE = 10.0
SEED = 20150
CHAINS, WARMUP = 4, 1000
LEAPFROGS, STEP, JITTER = 6, 0.25, 0.2
GATES = {"r_hat_below": 1.001, "ess_above": 20_000, "accepted_above": 0.6}
"""What the file promises; the run fails, and writes nothing, where it does not hold."""


def load(path: Path) -> tuple[tuple[str, ...], Array, Array]:
    """Return names [30], features x [569, 30] standardised, and the diagnosis y [569]."""
    with path.open(encoding="utf-8", newline="") as stream:
        header, *rows = list(csv.reader(stream))
    table = np.array(rows, dtype=np.float64)
    x = table[:, :30] - table[:, :30].mean(axis=0)
    return tuple(header[:30]), x / np.sqrt(np.mean(x**2, axis=0)), table[:, header.index("diagnosis")].copy()


def laplace(x: Array, y: Array) -> tuple[Array, Array]:
    """Return the mode of the posterior, to 1e-10 in the gradient, and the Hessian of U there (Newton's method)."""
    theta = np.zeros(x.shape[1])
    for _ in range(100):
        p = 1.0 / (1.0 + np.exp(-x @ theta))
        grad = x.T @ (p - y) + theta / PRIOR_VARIANCE
        hessian = (x.T * (p * (1.0 - p))) @ x + np.eye(theta.size) / PRIOR_VARIANCE
        if np.abs(grad).max() < 1e-10:
            return theta, hessian
        theta = theta - np.linalg.solve(hessian, grad)
    raise ArithmeticError("Newton's method did not find the mode")


@njit
def potential(theta, x, y, grad):
    """Return U(theta) = sum_n [softplus(x_n theta) - y_n x_n theta] + |theta|^2/(2 prior variance); write grad U."""
    U = 0.0
    for i in range(theta.size):
        U += theta[i] * theta[i] / (2.0 * PRIOR_VARIANCE)
        grad[i] = theta[i] / PRIOR_VARIANCE
    for n in range(y.size):
        s = 0.0
        for i in range(theta.size):
            s += x[n, i] * theta[i]
        e = math.exp(-abs(s))
        U += max(s, 0.0) + math.log1p(e) - y[n] * s
        residual = (1.0 if s >= 0.0 else e) / (1.0 + e) - y[n]
        for i in range(theta.size):
            grad[i] += residual * x[n, i]
    return U


@njit
def hmc(q, mode, root, x, y, draws, rng):
    """Fill draws[k] with theta = mode + root q along a chain; q is moved in place. Return the share accepted.

    Energy U(theta(q)) + |p|^2/2; the length of the leapfrog step is drawn anew for every proposal.
    """
    grad = np.empty(q.size)
    U = potential(mode + root @ q, x, y, grad)
    force = root.T @ grad
    accepted = 0
    for k in range(draws.shape[0]):
        p = rng.standard_normal(q.size)
        before = U + 0.5 * (p @ p)
        step = STEP * (1.0 + JITTER * (2.0 * rng.random() - 1.0))
        q_new, force_new, U_new = q.copy(), force.copy(), U
        for _ in range(LEAPFROGS):
            p -= 0.5 * step * force_new
            q_new += step * p
            U_new = potential(mode + root @ q_new, x, y, grad)
            force_new = root.T @ grad
            p -= 0.5 * step * force_new
        if math.log(rng.random()) < before - U_new - 0.5 * (p @ p):
            q[:], force, U = q_new, force_new, U_new
            accepted += 1
        draws[k] = mode + root @ q
    return accepted / draws.shape[0]


def chains(x: Array, y: Array, draws: int) -> tuple[Array, list[float]]:
    """Return the draws [chain, draw, 30] after warmup, and the share each chain accepted. Starts are overdispersed."""
    mode, hessian = laplace(x, y)
    root = np.ascontiguousarray(np.linalg.inv(np.linalg.cholesky(hessian)).T)
    kept = np.empty((CHAINS, draws, mode.size))
    accepted: list[float] = []
    for k, seed in enumerate(np.random.SeedSequence(SEED).spawn(CHAINS)):
        rng = np.random.default_rng(seed)
        q = 2.0 * rng.standard_normal(mode.size)
        hmc(q, mode, root, x, y, np.empty((WARMUP, mode.size)), rng)
        accepted.append(float(hmc(q, mode, root, x, y, kept[k], rng)))
        print(f"chain {k + 1} of {CHAINS}: accepted {accepted[-1]:.3f}", flush=True)
    return kept, accepted


def moments(draws: Array) -> dict[str, list[float]]:
    """Return means, sds and variances with their Monte Carlo errors, R-hat and ESS, one number per parameter.

    R-hat and ESS are rank-normalised (Vehtari and others 2021), and the worse of theta and (theta - mean)^2, so that
    they speak for the sds too. The error of the variance is that of the mean of (theta - mean)^2, that of the sd
    follows by the delta method.
    """
    stats = arviz_stats.base.array_stats
    squares = (draws - draws.mean(axis=(0, 1))) ** 2
    variance = squares.mean(axis=(0, 1))
    both = [(draws[:, :, i], squares[:, :, i]) for i in range(draws.shape[2])]
    mcse_variance = np.array([stats.mcse(square, method="mean") for _, square in both])
    found = {
        "mean": draws.mean(axis=(0, 1)),
        "sd": np.sqrt(variance),
        "variance": variance,
        "mcse_mean": [stats.mcse(value, method="mean") for value, _ in both],
        "mcse_sd": mcse_variance / (2.0 * np.sqrt(variance)),
        "mcse_variance": mcse_variance,
        "r_hat": [max(stats.rhat(v, method="rank") for v in pair) for pair in both],
        "ess": [min(stats.ess(v, method="bulk") for v in pair) for pair in both],
        "ess_tail": [stats.ess(value, method="tail", prob=(0.05, 0.95)) for value, _ in both],
    }
    return {name: [float(v) for v in values] for name, values in found.items()}


@njit
def euler_corrections(draws, x, y):
    """Return g = |grad U|^2/4 - Laplacian U/2 at every draw: the Euler chain's law is exp(-U) (1 + eps g + const)."""
    g = np.empty(draws.shape[0])
    grad = np.empty(draws.shape[1])
    for k in range(draws.shape[0]):
        potential(draws[k], x, y, grad)
        laplacian = draws.shape[1] / PRIOR_VARIANCE
        for n in range(y.size):
            p = 1.0 / (1.0 + math.exp(-(x[n] @ draws[k])))
            laplacian += p * (1.0 - p) * (x[n] @ x[n])
        g[k] = 0.25 * (grad @ grad) - 0.5 * laplacian
    return g


def euler_bias(draws: Array, x: Array, y: Array) -> dict[str, list[float]]:
    """Return what one unit of step size adds to means and variances under Euler's scheme with D = I, to first order.

    The average of phi moves by eps Cov(phi, g): h g is the leading term of the invariant density of the unadjusted
    Langevin algorithm relative to exp(-U), the solution of L* g = -defect (checked: variance 1/(1 - eps/2) on N(0, 1)).
    """
    flat = draws.reshape(-1, draws.shape[2])
    g = euler_corrections(flat, x, y)
    g -= g.mean()
    centred = flat - flat.mean(axis=0)
    return {"mean": list(g @ centred / g.size), "variance": list(g @ centred**2 / g.size)}


def main() -> None:
    """Run the chains, hold them to the gates, and write the file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=60_000, help="draws of each chain, after warmup")
    parser.add_argument("--out", type=Path, default=ROOT / "tests" / "statistics" / "logistic_reference.json")
    given = parser.parse_args()
    names, x, y = load(ROOT / DATA)
    draws, accepted = chains(x, y, given.draws)
    found = moments(draws)
    r_hat, ess = max(found["r_hat"]), min(*found["ess"], *found["ess_tail"])
    print(f"worst R-hat {r_hat:.6f}, least ESS {ess:.0f}")
    if not (r_hat < GATES["r_hat_below"] and ess > GATES["ess_above"] and min(accepted) > GATES["accepted_above"]):
        raise SystemExit(f"the gates {GATES} do not hold: nothing is written")
    record = {
        "command": f"python benchmarks/logistic_reference.py --draws {given.draws}",
        "method": "HMC, full gradients, accept/reject, dense mass from a Laplace approximation",
        "seed": SEED,
        "settings": {"chains": CHAINS, "warmup": WARMUP, "draws": given.draws, "leapfrogs": LEAPFROGS, "step": STEP,
                     "jitter": JITTER},
        "versions": {"python": platform.python_version(), "numpy": version("numpy"), "numba": version("numba")},
        "data": {"file": DATA, "sha256": hashlib.sha256((ROOT / DATA).read_bytes()).hexdigest()},
        "prior_variance": PRIOR_VARIANCE,
        "gates": GATES,
        "accepted": accepted,
        "names": names,
        **found,
        "covariance": np.cov(draws.reshape(-1, len(names)).T).tolist(),
        "euler_bias_per_step_size": euler_bias(draws, x, y),
    }  # fmt: skip
    write_whole(given.out, (json.dumps(record, indent=1) + "\n").encode())
    print(f"wrote {given.out}")


if __name__ == "__main__":
    main()

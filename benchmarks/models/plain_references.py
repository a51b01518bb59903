"""Posterior moments of some models in NumPy alone, as references.json holds them.

    python benchmarks/models/plain_references.py [zero_inflated] [robust] [stochastic_volatility] [schools_centred] ...

zero_inflated and robust have three and four coordinates: moments are sums over a grid around the mode, on axes that
whiten the curvature there; the sums of grids of half the spacing agree to all digits that are compared.
stochastic_volatility is sampled by 256 chains of HMC on innovations, h_t - mu = phi (h_(t-1) - mu) + s z_t, whose
gradient is the recursion run backwards. garch is drawn by Student's t law, with weights. Hierarchies are exact, by
`hierarchies.py`.
"""

import json
import sys
from itertools import product
from pathlib import Path
from typing import Any

import hierarchies
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
HERE = Path(__file__).parent
STORED = HERE / "references.json"
COMMAND = "python benchmarks/models/plain_references.py"

CHAINS, WARMUP, DRAWS, LEAPFROGS = 256, 1500, 4000, 24
WEIGHTED = 400_000
POINTS, FEWER_POINTS, WIDTH = 81, 15, 8.0
"""Of each axis of a grid, of three and of four; how many sds of the curvature it goes to either side."""


def table(name: str) -> dict[str, Array]:
    """Return the columns of a model's data."""
    own = HERE.parents[1] / "specs/data/eight_schools.csv" if name == "schools" else HERE / "data" / f"{name}.csv"
    lines = own.read_text(encoding="utf-8").splitlines()
    values = np.array([[float(x) for x in line.split(",")] for line in lines[1:]])
    return dict(zip(lines[0].split(","), values.T, strict=True))


def zero_inflated() -> dict[str, dict[str, float]]:
    """Return the moments of beta and psi, by sums over a grid."""
    data = table("zero_inflated")
    a, y = data["a"], data["y"]
    log_factorial = np.array([np.log(np.arange(1, n + 1)).sum() for n in y])

    def log_density(z: Array) -> Array:
        """Of each row (beta_0, beta_1, psi)."""
        eta, psi = z[:, :1] + z[:, 1:2] * a, z[:, 2:]
        counted = y * eta - np.exp(eta) - log_factorial
        one = np.where(y == 0, np.logaddexp(psi, -np.exp(eta)), counted) - np.logaddexp(0, psi)
        return one.sum(axis=1) - (z[:, 0] ** 2 + z[:, 1] ** 2) / 50 - z[:, 2] ** 2 / 4.5

    return _by_grid(log_density, np.zeros(3), ("beta[0]", "beta[1]", "psi"), POINTS)


def robust() -> dict[str, dict[str, float]]:
    """Return the moments of beta and sigma, by sums over a grid of beta and log sigma."""
    data = table("robust")
    x, y = np.column_stack([np.ones(len(data["y"])), data["a"], data["b"]]), data["y"]

    def log_density(z: Array) -> Array:
        """Of each row (beta, log sigma)."""
        beta, log_sigma = z[:, :3], z[:, 3:]
        away = (y - beta @ x.T) * np.exp(-log_sigma)
        of_data = (-2.5 * np.log1p(away**2 / 4) - log_sigma).sum(axis=1)
        of_sigma = log_sigma - np.log1p(np.exp(2 * log_sigma) / 25)
        return of_data - (beta**2).sum(axis=1) / 200 + of_sigma[:, 0]

    def shown(z: Array) -> Array:
        return np.concatenate([z[:, :3], np.exp(z[:, 3:])], axis=1)

    names = (*(f"beta[{k}]" for k in range(3)), "sigma")
    start = np.array([1.0, 2.0, -0.7, 0.0])  # from where Newton's steps arrive
    return _by_grid(log_density, start, names, FEWER_POINTS, shown)


def _by_grid(
    log_density: Any, start: Array, names: tuple[str, ...], points: int, shown: Any = lambda z: z
) -> dict[str, dict[str, float]]:
    mode, covariance = _mode(log_density, start)
    root = np.linalg.cholesky(covariance)
    first = _on_grid(log_density, mode, root, points, shown)
    second = _on_grid(log_density, mode, root, 2 * points - 1, shown)
    error = float(np.abs(np.array(first) - np.array(second)).max())
    print(f"{names}: sums of half the spacing differ by {error:.1e}")
    return {
        name: {"mean": mean, "sd": sd, "mcse_mean": 0.0, "r_hat": 1.0}
        for name, mean, sd in zip(names, *second, strict=True)
    }


def _mode(log_density: Any, z: Array) -> tuple[Array, Array]:
    """Return the mode, by Newton's steps with differences, and the inverse of minus the curvature there."""
    step, d = 1e-4, len(z)
    curved = -np.eye(d)
    for _ in range(50):
        axes = np.eye(d) * step
        slope = np.array([(log_density((z + e)[None]) - log_density((z - e)[None]))[0] / (2 * step) for e in axes])
        for (i, e), (j, f) in product(enumerate(axes), enumerate(axes)):
            four = log_density(np.array([z + e + f, z + e - f, z - e + f, z - e - f]))
            curved[i, j] = (four[0] - four[1] - four[2] + four[3]) / (4 * step**2)
        change = np.linalg.solve(curved, slope)
        z = z - change
        if np.abs(change).max() < 1e-9:
            break
    return z, np.linalg.inv(-curved)


def _on_grid(log_density: Any, mode: Array, root: Array, points: int, shown: Any) -> tuple[list[float], list[float]]:
    axis = np.linspace(-WIDTH, WIDTH, points)
    plane, d = np.array(list(product(axis, repeat=len(mode) - 1))), len(mode)
    centre = shown(mode[None])
    top = log_density(mode[None])[0]
    mass, first, second = 0.0, np.zeros(d), np.zeros(d)
    for x in axis:
        z = mode + np.column_stack([np.full(len(plane), x), plane]) @ root.T
        weight = np.exp(log_density(z) - top)
        mass += weight.sum()
        away = shown(z) - centre
        first += weight @ away
        second += weight @ away**2
    mean = first / mass
    return (centre[0] + mean).tolist(), np.sqrt(second / mass - mean**2).tolist()


def volatility(z: Array, y: Array) -> tuple[Array, Array, Array]:
    """Return log density, gradient and h of each column (mu, atanh phi, log s, innovations)."""
    mu, phi, s = z[0], np.tanh(z[1]), np.exp(z[2])
    noise, still = z[3:], 1 - phi**2
    moved = np.empty_like(noise)
    moved[0] = s * noise[0] / np.sqrt(still)
    for t in range(1, len(y)):
        moved[t] = phi * moved[t - 1] + s * noise[t]
    h = mu + moved
    squares = y[:, None] ** 2 * np.exp(-h)
    value = -(h + squares).sum(axis=0) / 2 - (noise**2).sum(axis=0) / 2
    value += -((mu + 1) ** 2) / 2 - 2 * s**2 + z[2] + np.log(still)
    back = (squares - 1) / 2
    slope = np.empty_like(z)
    slope[0] = back.sum(axis=0) - (mu + 1)
    for t in range(len(y) - 2, -1, -1):
        back[t] += phi * back[t + 1]
    of_first = back[0] * noise[0] / np.sqrt(still)
    slope[1] = ((moved[:-1] * back[1:]).sum(axis=0) + of_first * s * phi / still) * still - 2 * phi
    slope[2] = s * ((noise[1:] * back[1:]).sum(axis=0) + of_first) - 4 * s**2 + 1
    slope[3:] = s * back - noise
    slope[3] = s * back[0] / np.sqrt(still) - noise[0]
    return value, slope, h


def stochastic_volatility() -> dict[str, dict[str, float]]:
    """Return the moments of h, mu, phi and s, by HMC."""
    y, rng = table("stochastic_volatility")["y"], np.random.default_rng(11)
    z = rng.normal(0, 0.3, (3 + len(y), CHAINS)) + np.array([-1.0, 1.0, -1.0, *np.zeros(len(y))])[:, None]
    value, slope, h = volatility(z, y)
    step, kept = 0.05, np.empty((DRAWS, 3 + len(y), CHAINS))
    for n in range(WARMUP + DRAWS):
        moved, momentum = z.copy(), rng.normal(size=z.shape)
        started = (momentum**2).sum(axis=0) / 2 - value
        long = step * rng.uniform(0.8, 1.2)
        new_value, new_slope, new_h = value, slope, h
        for _ in range(LEAPFROGS):
            momentum += long / 2 * new_slope
            moved += long * momentum
            new_value, new_slope, new_h = volatility(moved, y)
            momentum += long / 2 * new_slope
        with np.errstate(over="ignore", invalid="ignore"):
            accepted = np.log(rng.random(CHAINS)) < started - (momentum**2).sum(axis=0) / 2 + new_value
        z, slope, h = (np.where(accepted, new, old) for new, old in ((moved, z), (new_slope, slope), (new_h, h)))
        value = np.where(accepted, new_value, value)
        if n < WARMUP:
            step *= np.exp(0.05 * (accepted.mean() - 0.85))
        else:
            kept[n - WARMUP] = np.concatenate([h, [z[0], np.tanh(z[1]), np.exp(z[2])]])
    print(f"stochastic_volatility: step {step:.3f}")
    names = [*(f"h[{t}]" for t in range(len(y))), "mu", "phi", "s"]
    return {name: _moments(kept[:, k]) for k, name in enumerate(names)}


def _moments(draws: Array) -> dict[str, float]:
    """Return mean and sd of draws (draw, chain), the error of the mean by the chains' means, and R-hat."""
    means = draws.mean(axis=0)
    between, within = len(draws) * means.var(ddof=1), draws.var(axis=0, ddof=1).mean()
    r_hat = np.sqrt(((len(draws) - 1) * within + between) / (len(draws) * within))
    error = means.std(ddof=1) / np.sqrt(draws.shape[1])
    return {"mean": float(draws.mean()), "sd": float(draws.std()), "mcse_mean": float(error), "r_hat": float(r_hat)}


def garch() -> dict[str, dict[str, float]]:
    """Return the moments of mu, omega and w, by weighted draws of Student's t law of their unbounded coordinates.

    Those are mu, log omega, log w_0 - log w_2, log w_1 - log w_2; the law is fitted to the draws before, five times.
    """
    y, rng = table("garch")["y"], np.random.default_rng(12)

    def shares(z: Array) -> Array:
        odds = np.column_stack([z[:, 2:], np.zeros(len(z))])
        return np.exp(odds - np.logaddexp.reduce(odds, axis=1)[:, None])

    def log_density(z: Array) -> Array:
        mu, omega, w = z[:, 0], np.exp(z[:, 1]), shares(z)
        s, total = np.full(len(z), 0.25), z[:, 1] + np.log(w).sum(axis=1)
        for x in y:
            total -= np.log(s) / 2 + (x - mu) ** 2 / s / 2
            s = omega + w[:, 0] * (x - mu) ** 2 + w[:, 1] * s
        return total

    centre, root, freedom = np.array([y.mean(), np.log(y.var()) - 1, 0.0, 0.0]), np.diag([0.2, 0.7, 1.0, 1.0]), 5.0
    for size in (*[50_000] * 5, WEIGHTED):
        normals, spread = rng.standard_normal((size, 4)), freedom / rng.chisquare(freedom, size)
        z = centre + np.sqrt(spread)[:, None] * normals @ root.T
        far = spread * (normals**2).sum(axis=1)
        log_weight = log_density(z) + (freedom + 4) / 2 * np.log1p(far / freedom)
        weight = np.exp(log_weight - log_weight.max())
        weight /= weight.sum()
        centre = weight @ z
        root = np.linalg.cholesky((z - centre).T @ ((z - centre) * weight[:, None]))
    print(f"garch: the weights are worth {1 / (weight**2).sum():.0f} draws")
    w = shares(z)
    columns = {"mu": z[:, 0], "omega": np.exp(z[:, 1]), **{f"w[{k}]": w[:, k] for k in range(3)}}
    return {name: _weighted(x, weight) for name, x in columns.items()}


def _weighted(x: Array, weight: Array) -> dict[str, float]:
    """Return mean and sd under weights that add up to 1, and the error of the mean."""
    mean = weight @ x
    error = np.sqrt((weight**2) @ (x - mean) ** 2)
    sd = np.sqrt(weight @ (x - mean) ** 2)
    return {"mean": float(mean), "sd": float(sd), "mcse_mean": float(error), "r_hat": 1.0}


def schools() -> dict[str, dict[str, float]]:
    """Return the moments of eight schools, whichever way they are written."""
    data = table("schools")
    return hierarchies.schools(data["effect"], data["error"])


def varying_intercepts() -> dict[str, dict[str, float]]:
    """Return the moments of varying intercepts."""
    data = table("varying_intercepts")
    scales = np.linspace(-1.0, 0.6, 81), np.linspace(-16.0, 2.5, 371)
    return hierarchies.varying_intercepts(data["g"], data["a"], data["y"], *scales)


def counties() -> dict[str, dict[str, float]]:
    """Return the moments of varying intercepts of 80 counties."""
    data = table("counties")
    scales = np.linspace(-0.45, -0.12, 23), np.linspace(-2.4, -0.4, 41)
    return hierarchies.varying_intercepts(data["g"], data["a"], data["y"], *scales)


def varying_slopes() -> dict[str, dict[str, float]]:
    """Return the moments of varying intercepts and slopes."""
    return hierarchies.varying_slopes(**table("varying_slopes"))


SUMS = "exact, by sums over a grid"
MODELS = {
    "zero_inflated": (zero_inflated, SUMS),
    "robust": (robust, SUMS),
    "stochastic_volatility": (stochastic_volatility, f"HMC in NumPy, {CHAINS} chains of {DRAWS}"),
    "garch": (garch, f"{WEIGHTED} weighted draws"),
    "schools_centred": (schools, SUMS),
    "schools_noncentred": (schools, SUMS),
    "varying_intercepts": (varying_intercepts, SUMS),
    "counties": (counties, SUMS),
    "varying_slopes": (varying_slopes, SUMS),
}


def main(names: list[str]) -> None:
    """Find moments, and put them beside those that are stored."""
    for name in names or MODELS:
        find, by = MODELS[name]
        found = find()
        stored = json.loads(STORED.read_text(encoding="utf-8"))
        stored[name] = {"by": f"{by}: {COMMAND} {name}", "moments": found}
        print(name, max(one["r_hat"] for one in found.values()), flush=True)
        STORED.write_text(json.dumps(dict(sorted(stored.items())), indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])

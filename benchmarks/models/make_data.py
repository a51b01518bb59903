"""Writes the data of the textbook models: `python make_data.py [FOLDER]`. The same numbers every time.

Each is drawn by the law of its model at the values that its function names, from a seed of its own.
"""

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np

Columns = dict[str, np.ndarray]
Rng = np.random.Generator


def _sigmoid(x: np.ndarray) -> np.ndarray:
    return 1.0 / (1.0 + np.exp(-x))


def linear(rng: Rng) -> Columns:
    """60 rows: y = 1 + 2 a - b + N(0, 1.5**2)."""
    a, b = rng.standard_normal((2, 60))
    return {"a": a, "b": b, "y": 1 + 2 * a - b + 1.5 * rng.standard_normal(60)}


def robust(rng: Rng) -> Columns:
    """80 rows: y = 1 + 2 a - b + t of 4 degrees of freedom; the first four are 15 too large."""
    a, b = rng.standard_normal((2, 80))
    y = 1 + 2 * a - b + rng.standard_t(4, 80)
    y[:4] += 15
    return {"a": a, "b": b, "y": y}


def logistic(rng: Rng) -> Columns:
    """150 rows: P(y = 1) = sigmoid(-0.5 + a - 0.7 b)."""
    a, b = rng.standard_normal((2, 150))
    return {"a": a, "b": b, "y": 1 * (rng.random(150) < _sigmoid(-0.5 + a - 0.7 * b))}


def poisson(rng: Rng) -> Columns:
    """120 rows: y of Poisson(exp(0.5 + 0.6 a - 0.3 b))."""
    a, b = rng.standard_normal((2, 120))
    return {"a": a, "b": b, "y": rng.poisson(np.exp(0.5 + 0.6 * a - 0.3 * b))}


def negative_binomial(rng: Rng) -> Columns:
    """150 rows: mean exp(1 + 0.5 a - 0.4 b), overdispersion 2."""
    a, b = rng.standard_normal((2, 150))
    mean = np.exp(1 + 0.5 * a - 0.4 * b)
    return {"a": a, "b": b, "y": rng.poisson(mean * rng.gamma(2, 1 / 2, 150))}


def beta_binomial(rng: Rng) -> Columns:
    """60 rows of 20 trials: mean sigmoid(0.3 + 0.8 a), concentration 8."""
    a = rng.standard_normal(60)
    mean = _sigmoid(0.3 + 0.8 * a)
    return {"a": a, "n": np.full(60, 20), "y": rng.binomial(20, rng.beta(8 * mean, 8 * (1 - mean)))}


def ordered_logit(rng: Rng) -> Columns:
    """150 rows of grades 0, 1, 2: eta = 1.2 a - 0.5 b, cuts -0.8 and 0.9."""
    a, b = rng.standard_normal((2, 150))
    latent = 1.2 * a - 0.5 * b + rng.logistic(size=150)
    y = 1 * (latent > -0.8) + 1 * (latent > 0.9)
    return {"a": a, "b": b, "y": y, **{f"y{k}": 1 * (y == k) for k in range(3)}}


def softmax(rng: Rng) -> Columns:
    """150 rows of classes 0, 1, 2, with weights (0.5, 1, 0), (0, -1, 0.5), (-0.5, 0, -1) of (1, a, b)."""
    a, b = rng.standard_normal((2, 150))
    W = np.array([[0.5, 1, 0], [0, -1, 0.5], [-0.5, 0, -1]])
    scores = np.column_stack([np.ones(150), a, b]) @ W.T + rng.gumbel(size=(150, 3))
    return {"a": a, "b": b, "y": scores.argmax(axis=1)}


def weibull(rng: Rng) -> Columns:
    """120 survival times of shape 1.5 and scale exp(1 + 0.5 a), censored at 4: `event` is 0 there."""
    a = rng.standard_normal(120)
    t = np.exp(1 + 0.5 * a) * rng.weibull(1.5, 120)
    return {"a": a, "t": np.minimum(t, 4.0), "event": 1 * (t <= 4.0)}


def varying_intercepts(rng: Rng) -> Columns:
    """12 groups of 2 to 20 rows: y = alpha_g - 0.7 a + N(0, 0.8**2), alpha of N(1.5, 0.5**2)."""
    g = np.repeat(np.arange(12), rng.integers(2, 21, 12))
    alpha, a = 1.5 + 0.5 * rng.standard_normal(12), rng.standard_normal(g.size)
    return {"g": g, "a": a, "y": alpha[g] - 0.7 * a + 0.8 * rng.standard_normal(g.size)}


def counties(rng: Rng) -> Columns:
    """80 groups of 2 to 25 rows: y = alpha_g - 0.7 a + N(0, 0.75**2), alpha of N(1.4, 0.35**2), a 1 or mostly 0."""
    g = np.repeat(np.arange(80), rng.integers(2, 26, 80))
    alpha, a = 1.4 + 0.35 * rng.standard_normal(80), 1 * (rng.random(g.size) < 1 / 6)
    return {"g": g, "a": a, "y": alpha[g] - 0.7 * a + 0.75 * rng.standard_normal(g.size)}


def varying_slopes(rng: Rng) -> Columns:
    """15 groups of 10 rows: y = alpha_g + beta_g a + N(0, 0.5**2), alpha of N(1, 0.7**2), beta of N(-1, 0.4**2)."""
    g = np.repeat(np.arange(15), 10)
    alpha, beta = 1 + 0.7 * rng.standard_normal(15), -1 + 0.4 * rng.standard_normal(15)
    a = rng.standard_normal(150)
    return {"g": g, "a": a, "y": alpha[g] + beta[g] * a + 0.5 * rng.standard_normal(150)}


def mixture(rng: Rng) -> Columns:
    """150 draws, 0.4 of N(-1.5, 0.8**2) and 0.6 of N(1.5, 0.8**2)."""
    return {"y": np.where(rng.random(150) < 0.4, -1.5, 1.5) + 0.8 * rng.standard_normal(150)}


def ar2(rng: Rng) -> Columns:
    """150 values of y_t = 0.2 + 0.6 y_{t-1} - 0.3 y_{t-2} + N(0, 1), with those before them."""
    y = list(rng.standard_normal(2))
    for _ in range(150):
        y.append(0.2 + 0.6 * y[-1] - 0.3 * y[-2] + rng.standard_normal())
    series = np.array(y)
    return {"y": series[2:], "lag1": series[1:-1], "lag2": series[:-2]}


def stochastic_volatility(rng: Rng) -> Columns:
    """60 returns y_t of N(0, exp(h_t)), h_t = -1 + 0.9 (h_{t-1} + 1) + 0.4 N(0, 1), stationary at first."""
    h = [-1 + 0.4 / np.sqrt(1 - 0.81) * rng.standard_normal()]
    for _ in range(59):
        h.append(-1 + 0.9 * (h[-1] + 1) + 0.4 * rng.standard_normal())
    t = np.arange(60)
    return {
        "t": t,
        "before": np.maximum(t - 1, 0),
        "first": 1 * (t == 0),
        "y": np.exp(np.array(h) / 2) * rng.standard_normal(60),
    }


def zero_inflated(rng: Rng) -> Columns:
    """150 rows: 0 with probability 0.3, else Poisson(exp(1 + 0.5 a))."""
    a = rng.standard_normal(150)
    y = np.where(rng.random(150) < 0.3, 0, rng.poisson(np.exp(1 + 0.5 * a)))
    return {"a": a, "y": y, "zero": 1 * (y == 0)}


def irt(rng: Rng) -> Columns:
    """40 persons answer 8 questions: P(right) = sigmoid(a_j (theta_i - b_j)), a lognormal, b of N(0, 1)."""
    person, item = (part.ravel() for part in np.meshgrid(np.arange(40), np.arange(8), indexing="ij"))
    theta, b, a = rng.standard_normal(40), rng.standard_normal(8), np.exp(0.3 * rng.standard_normal(8))
    right = rng.random(320) < _sigmoid(a[item] * (theta[person] - b[item]))
    return {"person": person, "item": item, "y": 1 * right}


def covariance(rng: Rng) -> Columns:
    """100 rows of a normal law in two dimensions: means 1 and -1, sds 1 and 2, correlation 0.6."""
    u, v = rng.standard_normal((2, 100))
    return {"u": 1 + u, "v": -1 + 2 * (0.6 * u + 0.8 * v)}


def garch(rng: Rng) -> Columns:
    """200 returns of N(1, s_t), s_t = 0.3 + 0.4 (y_{t-1} - 1)**2 + 0.4 s_{t-1}, s_1 = 1/4."""
    s, y = 0.25, list[float]()
    for _ in range(200):
        y.append(1 + np.sqrt(s) * rng.standard_normal())
        s = 0.3 + 0.4 * (y[-1] - 1) ** 2 + 0.4 * s
    return {"y": np.array(y)}


def crossed(rng: Rng) -> Columns:
    """Counts of 50 subjects, each at 6 of 25 sites: log mean 0.5 + 0.3 a + u_i + v_j, of sds 0.5 and 0.4."""
    subject, site = np.repeat(np.arange(50), 6), np.concatenate([rng.permutation(25)[:6] for _ in range(50)])
    u, v, a = 0.5 * rng.standard_normal(50), 0.4 * rng.standard_normal(25), rng.standard_normal(300)
    return {"subject": subject, "site": site, "a": a, "y": rng.poisson(np.exp(0.5 + 0.3 * a + u[subject] + v[site]))}


def exam(rng: Rng) -> Columns:
    """100 persons answer 20 questions: P(right) = sigmoid(a_j theta_i - b_j), log a of sd 0.4, b of N(-0.5, 1)."""
    person, item = (part.ravel() for part in np.meshgrid(np.arange(100), np.arange(20), indexing="ij"))
    theta, a, b = rng.standard_normal(100), np.exp(0.4 * rng.standard_normal(20)), -0.5 + rng.standard_normal(20)
    return {"person": person, "item": item, "y": 1 * (rng.random(2000) < _sigmoid(a[item] * theta[person] - b[item]))}


def radon(rng: Rng) -> Columns:
    """85 counties of 1 to 20 houses: y = alpha_g - 0.6 floor + 0.7 u_g + N(0, 0.75**2), alpha of N(1.4, 0.2**2)."""
    g = np.repeat(np.arange(85), rng.integers(1, 21, 85))
    alpha, u, floor = 1.4 + 0.2 * rng.standard_normal(85), rng.normal(0, 0.4, 85), 1 * (rng.random(g.size) < 1 / 6)
    y = alpha[g] - 0.6 * floor + 0.7 * u[g] + 0.75 * rng.standard_normal(g.size)
    return {"g": g, "floor": floor, "u": u[g], "y": y}


def correlated_slopes(rng: Rng) -> Columns:
    """30 groups of 12: y = x beta_g + N(0, 0.7**2), beta of means (1, -0.5, 0.3), sds (0.8, 0.5, 0.4), related."""
    g, (a, b) = np.repeat(np.arange(30), 12), rng.standard_normal((2, 360))
    factor = np.array([[0.8, 0, 0], [-0.3, 0.4, 0], [0.2, 0.1, 0.33]])
    beta = np.array([1, -0.5, 0.3]) + rng.standard_normal((30, 3)) @ factor.T
    return {"g": g, "a": a, "b": b, "y": beta[g, 0] + a * beta[g, 1] + b * beta[g, 2] + 0.7 * rng.standard_normal(360)}


def poll(rng: Rng) -> Columns:
    """1,000 answers by 50 states, 6 ages, 5 educations and sex: log odds of sds 0.6, 0.4 and 0.3 about -0.3."""
    levels, sds = {"state": 50, "age": 6, "education": 5}, (0.6, 0.4, 0.3)
    at = {name: rng.integers(0, size, 1000) for name, size in levels.items()}
    female = 1 * (rng.random(1000) < 0.52)
    effects = [sd * rng.standard_normal(size) for sd, size in zip(sds, levels.values(), strict=True)]
    eta = -0.3 + 0.25 * female + sum(effect[place] for effect, place in zip(effects, at.values(), strict=True))
    return {**at, "female": female, "y": 1 * (rng.random(1000) < _sigmoid(eta))}


MODELS: tuple[Callable[[Rng], Columns], ...] = (
    linear, robust, logistic, poisson, negative_binomial, beta_binomial, ordered_logit, softmax, weibull,
    varying_intercepts, varying_slopes, mixture, ar2, stochastic_volatility, zero_inflated, irt, covariance, counties,
    garch, crossed, exam, radon, correlated_slopes, poll,
)  # fmt: skip
"""Those whose data are drawn; the two of eight schools read the table that ships."""


def files() -> dict[str, str]:
    """Return the text of each table by its name."""
    found = {}
    for seed, model in enumerate(MODELS, 1):
        columns = model(np.random.default_rng(seed))
        rows = [",".join(f"{value:.6g}" for value in row) for row in zip(*columns.values(), strict=True)]
        found[model.__name__] = "\n".join([",".join(columns), *rows]) + "\n"
    return found


def diamond_columns(table: np.ndarray) -> np.ndarray:
    """Return the 24 centred predictors of log price that posteriordb's model has, and log price, as named columns.

    carat, log x, log y, log z; orthonormal polynomials of cut, colour and clarity, which are ordered; carat times each
    of the three logarithms.
    """
    logs = np.log(np.column_stack([table[side] for side in "xyz"]))
    graded = (("cut", 5), ("color", 7), ("clarity", 8))
    contrasts = [_polynomials(levels)[table[name].astype(int)] for name, levels in graded]
    x = np.column_stack([table["carat"], logs, *contrasts, table["carat"][:, None] * logs])
    columns = np.column_stack([x - x.mean(axis=0), np.log(table["price"])])
    names = [*(f"b{k}" for k in range(1, 25)), "y"]
    return np.array([tuple(row) for row in columns], dtype=[(name, "f8") for name in names])


def _polynomials(levels: int) -> np.ndarray:
    """Return orthonormal polynomials of degree 1 and more at equidistant places, a row for each level."""
    q, r = np.linalg.qr(np.vander(np.arange(levels) - (levels - 1) / 2, levels, increasing=True))
    return (q * np.sign(np.diag(r)))[:, 1:]


def expand(folder: Path) -> None:
    """Write the columns that `diamonds` reads, unless they are there: 24 of 5,000 rows, too many for a repository."""
    path = folder / "diamonds_columns.npy"
    if not path.exists():
        table = np.genfromtxt(folder / "diamonds.csv", delimiter=",", names=True)
        np.save(path, diamond_columns(table))


LARGE_ROWS, LARGE_D = 1_000_000, 20


def large(rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Return x and y of a large logistic regression: correlated columns, coefficients of size 1/3."""
    rng = np.random.default_rng(1)
    x = rng.standard_normal((rows, LARGE_D)) @ (np.eye(LARGE_D) + 0.3 * np.tri(LARGE_D, k=-1) / np.sqrt(LARGE_D))
    theta = rng.standard_normal(LARGE_D) / 3.0
    return x, (rng.random(rows) < _sigmoid(x @ theta)).astype(float)


def large_moments(prior_variance: float = 10.0, rows: int = LARGE_ROWS) -> dict[str, dict[str, float]]:
    """Return mode and sds by the Hessian there: moments up to a share of 1/sqrt(rows)."""
    (x, y), theta = large(rows), np.zeros(LARGE_D)
    for _ in range(30):
        p = _sigmoid(x @ theta)
        K = (x * (p * (1.0 - p))[:, None]).T @ x + np.eye(theta.size) / prior_variance
        theta = theta - np.linalg.solve(K, x.T @ (p - y) + theta / prior_variance)
    sds = np.sqrt(np.diag(np.linalg.inv(K)))
    pairs = enumerate(zip(theta.tolist(), sds.tolist(), strict=True))
    return {f"theta[{k}]": {"mean": mean, "sd": sd, "mcse_mean": sd / rows**0.5} for k, (mean, sd) in pairs}


def main(folder: Path) -> None:
    """Write every table into a folder."""
    for name, text in files().items():
        (folder / f"{name}.csv").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("data"))

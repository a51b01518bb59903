"""U of the targets of `targets/models.yaml` by hand, in the digits of mpmath: that of the prior, and of each row.

Each takes the variables that are sampled and the data by name, and leaves out constants where blocks lie in sets.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import mpmath as mp
import numpy as np

Numbers = Sequence[Any]
Data = Mapping[str, Numbers]
Parts = tuple[Any, list[Any]]
A = [[0.5, -0.25], [0.75, 1.0]]
POINTS = [0, 1, 3, -2]


def normal(x: Any, mean: Any, scale: Any) -> Any:
    """Return -log N(x | mean, scale^2)."""
    return ((x - mean) / scale) ** 2 / 2 + mp.log(scale) + mp.log(2 * mp.pi) / 2


def half_cauchy(t: Any) -> Any:
    """Return that of exp(t), of scale 2, with the Jacobian of exp."""
    return mp.log(1 + (mp.exp(t) / 2) ** 2) + mp.log(2) - mp.log(2 / mp.pi) - t


def squares(x: Numbers) -> Any:
    return mp.fsum(one**2 for one in x)


def sigmoid(x: Any) -> Any:
    return 1 / (1 + mp.exp(-x))


def dot(x: Numbers, y: Numbers) -> Any:
    return mp.fsum(a * b for a, b in zip(x, y, strict=True))


# Pieces that data and states choose.


def hurdle(z: Numbers, data: Data) -> Parts:
    a, b, g, k, t = z
    odds = [g + k * x for x in data["x"]]
    below = [mp.log(1 + mp.exp(one)) for one in odds]
    above = [
        normal(mp.log(y), a + b * x, mp.exp(t)) + mp.log(y) - one if y else 0
        for y, x, one in zip(data["y"], data["x"], odds, strict=True)
    ]
    return mp.fsum(normal(one, 0, 5) for one in z[:4]) + half_cauchy(t), [
        x + y for x, y in zip(below, above, strict=True)
    ]


def censored(z: Numbers, data: Data) -> Parts:
    a, b, t = z
    terms = [
        normal(y, a + b * x, mp.exp(t)) if y < 1.5 else -mp.log(mp.ncdf((a + b * x - mp.mpf(3) / 2) / mp.exp(t)))
        for y, x in zip(data["y"], data["x"], strict=True)
    ]
    return normal(a, 0, 5) + normal(b, 0, 5) + half_cauchy(t), terms


def huber(z: Numbers, data: Data) -> Parts:
    errors = [y - z[0] - z[1] * x for y, x in zip(data["y"], data["x"], strict=True)]
    return mp.fsum(normal(one, 0, 5) for one in z), [
        e**2 / 2 if abs(e) <= 1 else abs(e) - mp.mpf(1) / 2 for e in errors
    ]


# Counts with more noise.


def _counts(z: Numbers, data: Data, law: Any) -> Parts:
    w, phi = sigmoid(z[2]), mp.exp(z[3])
    rows = zip(data["y"], data["n"], data["x"], strict=True)
    terms = [-mp.log(law(y, n, dot(x, z[:2]), w, phi)) for y, n, x in rows]
    return squares(z[:2]) / 2 - mp.log(w * (1 - w)) - z[3], terms


def _binomial(y: Any, n: Any, p: Any) -> Any:
    return mp.binomial(n, y) * p**y * (1 - p) ** (n - y)


def beta_binomial(z: Numbers, data: Data) -> Parts:
    def law(y: Any, n: Any, eta: Any, w: Any, phi: Any) -> Any:
        a, b = phi * sigmoid(eta), w + 1
        return mp.binomial(n, y) * mp.beta(y + a, n - y + b) / mp.beta(a, b)

    return _counts(z, data, law)


def zero_inflated_poisson(z: Numbers, data: Data) -> Parts:
    def law(y: Any, n: Any, eta: Any, w: Any, phi: Any) -> Any:
        mu = phi * mp.exp(eta)
        return w * (y == 0) + (1 - w) * mp.exp(-mu) * mu**y / mp.factorial(y)

    return _counts(z, data, law)


def zero_inflated_binomial(z: Numbers, data: Data) -> Parts:
    return _counts(z, data, lambda y, n, eta, w, phi: w * (y == 0) + (1 - w) * _binomial(y, n, sigmoid(eta)))


# Recursions over the rows.


def garch(z: Numbers, data: Data) -> Parts:
    mu, log_omega, alpha, beta = z
    omega = mp.exp(log_omega)
    s, terms = omega + mu**2, []
    for y in data["y"]:
        terms.append(normal(y, mu, mp.sqrt(s)))
        s = omega + alpha**2 * (y - mu) ** 2 + beta**2 * s
    return mu**2 / 50 - log_omega, terms


def arma(z: Numbers, data: Data) -> Parts:
    mu, phi, theta = z
    last, e, terms = mu, phi * theta, []
    for y, x in zip(data["y"], data["x"], strict=True):
        new = y - mu - phi * (last - mu) - theta * e
        terms.append(new**2 / 2 + x * theta**2)
        last, e = y, new
    return mp.mpf(0), terms


def filter(z: Numbers, data: Data) -> Parts:
    mu, stay = z[:2], [sigmoid(u) for u in z[2:]]
    a, terms = [mp.mpf(1) / 2] * 2, []
    for y in data["y"]:
        v = [p * mp.exp(-((y - m) ** 2) / 2) for p, m in zip(a, mu, strict=True)]
        terms.append(-mp.log(sum(v)))
        a = [(stay[0] * v[0] + stay[1] * v[1]) / sum(v), (v[0] + v[1] / 3) / sum(v)]
    return -sum(mp.log(p * (1 - p)) for p in stay), terms


def column(z: Numbers, data: Data) -> Parts:
    def times(v: Numbers) -> list[Any]:
        return [dot(row, v) for row in A]

    h, terms = times(z), []
    for x in data["x"]:
        terms.append(squares([a - b for a, b in zip(h, x, strict=True)]) / 2 + dot(h, times(h)) / 4)
        h = [mp.tanh(a) + b - t / 2 for a, b, t in zip(times(h), x, z, strict=True)]
    return squares(z) / 2, terms


def three(z: Numbers, data: Data) -> Parts:
    mu, sigma, odds = [z[0], z[0] + mp.exp(z[1])], mp.exp(z[12]), [z[3:6], z[6:9], z[9:12]]
    mu.append(mu[1] + mp.exp(z[2]))
    shares = [[mp.exp(u) / sum(map(mp.exp, row)) for u in row] for row in odds]
    a, terms = [mp.mpf(1) / 3] * 3, []
    for y in data["y"]:
        v = [p * mp.exp(-(((y - m) / sigma) ** 2) / 2) / sigma for p, m in zip(a, mu, strict=True)]
        terms.append(-mp.log(sum(v)))
        a = [sum(x * row[k] for x, row in zip(v, shares, strict=True)) / sum(v) for k in range(3)]
    of_shares = sum(mp.log(b) for row in shares for b in row) - sum(sum(row) ** 2 for row in odds) / 6
    return -(z[1] + z[2] + of_shares + z[12]), terms


def midpoint(slope: Any, t: Any, z: Numbers, h: Any) -> list[Any]:
    """Return z(t + h) by the midpoint rule (Hairer, Norsett, Wanner 1993, Table II.1.1)."""
    half = [x + h / 2 * y for x, y in zip(z, slope(t, z), strict=True)]
    return [x + h * y for x, y in zip(z, slope(t + h / 2, half), strict=True)]


def solution(z: Numbers, data: Data) -> Parts:
    a, k = z[:2], mp.exp(z[2])
    at, e, before, terms = [*a, k], k * a[0], mp.mpf(1) / 4, []
    for t, y in zip(data["t"], data["y"], strict=True):

        def slope(s: Any, x: Numbers, y: Any = y) -> list[Any]:
            u, w = x[:2], x[2]
            pulled = [dot(row, list(map(mp.tanh, u))) - k * v * w + mp.sin(s) * y for row, v in zip(A, u, strict=True)]
            return [*pulled, u[0] - (a[0] + a[1]) * w / 4]

        h = (t - before) / 2
        for step in range(2):
            at = midpoint(slope, before + step * h, at, h)
        before = t
        terms.append((y - at[0] - at[2] * e) ** 2 / 2 + at[1] * t / 5)
        e = y - at[1] - k * e / 2
    return squares(a) / 2 - z[2], terms


# Entries and rows at positions that the data say.


def varying(z: Numbers, data: Data) -> Parts:
    rows = [(z[g], y - z[3] - z[g] - dot(x, z[4:])) for g, x, y in zip(data["g"], data["x"], data["y"], strict=True)]
    return squares(z) / 2, [e**2 / 2 + mp.exp(alpha / 4) for alpha, e in rows]


def factors(z: Numbers, data: Data) -> Parts:
    rows = zip(data["u"], data["v"], data["y"], strict=True)
    products = [(y, dot(z[2 * u : 2 * u + 2], z[6 + 2 * v : 8 + 2 * v])) for u, v, y in rows]
    return squares(z) / 2, [(y - product) ** 2 / 2 for y, product in products]


def _categories(z: Numbers, data: Data, b: Numbers) -> list[Any]:
    found = []
    for x, y in zip(data["x"], data["y"], strict=True):
        eta = [dot(z[2 * k : 2 * k + 2], x) + b[k] for k in range(3)]
        found.append(mp.log(mp.fsum(map(mp.exp, eta))) - eta[y])
    return found


def categories(z: Numbers, data: Data) -> Parts:
    return squares(z) / 2, _categories(z, data, [0] * 3)


def classes(z: Numbers, data: Data) -> Parts:
    return squares(z[:6]) / 2 + squares(z[6:]) / 8, _categories(z, data, z[6:])


def pairs(z: Numbers, data: Data) -> Parts:
    rows = zip(data["winner"], data["loser"], strict=True)
    return squares(z) / 2, [mp.log(1 + mp.exp(z[lost] - z[won])) for won, lost in rows]


def grades(z: Numbers, data: Data) -> Parts:
    b, u = z[:2], z[2:]
    c = [u[0], u[0] + mp.exp(u[1]), u[0] + mp.exp(u[1]) + mp.exp(u[2])]
    below = [[0, *(sigmoid(one - dot(x, b)) for one in c), 1] for x in data["x"]]
    return squares([*b, *c]) / 50 - u[1] - u[2], [
        -mp.log(row[g + 1] - row[g]) for row, g in zip(below, data["y"], strict=True)
    ]


def grades_of_items(z: Numbers, data: Data) -> Parts:
    gaps = [[mp.exp(t) for t in z[2 + 2 * i : 4 + 2 * i]] for i in (0, 1)]
    terms = []
    for x, i, y in zip(data["x"], data["i"], data["y"], strict=True):
        c = [z[i], z[i] + gaps[i][0], z[i] + gaps[i][0] + gaps[i][1]]
        below = [0, *(sigmoid(one - x) for one in c), 1]
        terms.append(-mp.log(below[y + 1] - below[y]))
    return squares(z[:2]) / 2 - mp.fsum(z[2:]), terms


def at_numbers(z: Numbers, data: Data) -> Parts:
    of = [lambda x: (z[0] - x[0]) ** 2, lambda x: -z[1] * x[1], lambda x: 0, lambda x: -z[2]]
    return squares(z) / 2, [of[y](x) for x, y in zip(data["x"], data["y"], strict=True)]


# Covariances and their factors.


def factor(partial: Sequence[Numbers], root: Any = np.sqrt) -> list[list[Any]]:
    """Return the Cholesky factor of the correlation matrix that has these partial correlations, row by row."""
    found: list[list[Any]] = []
    for row in [[], *partial]:
        left, entries = 1, []
        for z in row:
            entries.append(z * left)
            left = left * root(1 - z * z)
        found.append([*entries, left, *[0] * (len(partial) - len(row))])
    return found


def lkj(R: Any, eta: Any) -> Any:
    """Return the log density of correlation matrices, Lewandowski, Kurowicka, Joe 2009, Eq. 16 and the line before."""
    d = R.rows
    powers = mp.fsum((2 * eta - 2 + d - k) * (d - k) for k in range(1, d)) * mp.log(2)
    betas = ((d - k) * mp.log(mp.beta(eta + mp.mpf(d - k - 1) / 2, eta + mp.mpf(d - k - 1) / 2)) for k in range(1, d))
    return (eta - 1) * mp.log(mp.det(R)) - powers - mp.fsum(betas)


def of_rows(rows: Sequence[Numbers], mean: Numbers, Sigma: Any) -> list[Any]:
    """Return -log N(row | mean, Sigma) but for powers of 2 pi."""
    P, volume = mp.inverse(Sigma), mp.log(mp.det(Sigma))
    residuals = [mp.matrix([y - m for y, m in zip(row, mean, strict=True)]) for row in rows]
    return [(r.T * P * r)[0] / 2 + volume / 2 for r in residuals]


def _correlated(z: Numbers, K: int) -> tuple[Any, Numbers, Any]:
    """Return U of the priors, mean and covariance: nothing is solved row by row, nothing is left out."""
    mu, u, tau = z[:K], z[K:-K], [mp.exp(t) for t in z[-K:]]
    partial = [mp.tanh(one) for one in u]
    L = mp.matrix(factor([partial[i * (i - 1) // 2 : i * (i + 1) // 2] for i in range(1, K)], mp.sqrt))
    J = -mp.fsum((i - j + 1) * mp.log(mp.cosh(u[i * (i - 1) // 2 + j])) for i in range(K) for j in range(i))
    volume = mp.fsum((K - 1 - k) * mp.log(L[k, k]) for k in range(1, K))
    prior = squares(mu) / 50 + squares(tau) / 2 - mp.fsum(z[-K:]) - lkj(L * L.T, mp.mpf(2)) - volume - J
    return prior, mu, mp.diag(tau) * L * L.T * mp.diag(tau)


def correlated(z: Numbers, data: Data) -> Parts:
    prior, mu, Sigma = _correlated(z, len(data["y"][0]))
    return prior, of_rows(data["y"], mu, Sigma)


def slopes(z: Numbers, data: Data) -> Parts:
    """Of effects of 4 groups, the rows of a matrix."""
    K = len(data["x"][0])
    effects = [z[K * j : K * (j + 1)] for j in range(4)]
    prior, mu, Sigma = _correlated(z[4 * K :], K)
    rows = zip(data["x"], data["g"], data["y"], strict=True)
    return prior + mp.fsum(of_rows(effects, mu, Sigma)), [2 * (y - dot(x, effects[g])) ** 2 for x, g, y in rows]


def covariance(z: Numbers, data: Data) -> Parts:
    """Of S = L L^T with exp(u_ii) on the diagonal of L."""
    K = len(data["y"][0])
    mu, u = z[:K], z[K:]
    rows = [u[i * (i + 1) // 2 : (i + 1) * (i + 2) // 2] for i in range(K)]
    L = mp.matrix([[*row[:-1], mp.exp(row[-1]), *[0] * (K - len(row))] for row in rows])
    S = L * L.T
    J = mp.fsum((K - i + 1) * rows[i][i] for i in range(K))
    return squares(mu) / 50 + mp.fsum(S[i, i] for i in range(K)) - J, of_rows(data["y"], mu, S)


def _kernel(z: Numbers, K: int, noise: Any) -> tuple[Any, Any]:
    """Return U of the priors of rho, alpha and sigma, and the covariance at points."""
    rho, alpha, sigma = map(mp.exp, z)
    S = noise * mp.eye(K)
    for i, x in enumerate(POINTS[:K]):
        for j, other in enumerate(POINTS[:K]):
            S[i, j] += alpha**2 * mp.exp(-mp.mpf((x - other) ** 2) / (2 * rho**2))
    return 4 * rho - 25 * z[0] + alpha**2 / 8 - z[1] + sigma**2 / 2 - z[2], S


def process(z: Numbers, data: Data) -> Parts:
    """Of a Gaussian process at a few points, with noise."""
    K = len(data["y"][0])
    prior, S = _kernel(z, K, mp.exp(z[2]))
    return prior, of_rows(data["y"], [0] * K, S)


def latent(z: Numbers, data: Data) -> Parts:
    """Of the path f = L z of a Gaussian process, L L^T = K + I/10."""
    K = len(data["y"][0])
    prior, S = _kernel(z[K:], K, mp.mpf(1) / 10)
    f = mp.cholesky(S) * mp.matrix(list(z[:K]))
    rows = [mp.fsum(normal(y, m, mp.exp(z[-1])) for y, m in zip(row, f, strict=True)) for row in data["y"]]
    return prior + squares(z[:K]) / 2, rows


def solves(z: Numbers, data: Data) -> Parts:
    """Of residuals in the variables of a factor, of its transpose, and of triangles that are written out."""
    m, a, W = mp.matrix(list(z[:2])), mp.exp(z[2]), mp.matrix([z[3:5], z[5:7]])
    S = W * W.T + mp.eye(2)
    L, lower = mp.cholesky(S), mp.matrix([[a, 0], [m[0], 1 + m[1] ** 2]])
    upper = mp.matrix([[a, m[0]], [0, 1 + m[1] ** 2]])
    means = [mp.fsum(mp.inverse(L.T) * m), mp.fsum(mp.inverse(lower) * m + mp.inverse(upper) * m)]
    rows = [
        one + mp.log(mp.det(S)) / 2 + mp.fsum(normal(y, mean, 1) for y, mean in zip(row, means, strict=True))
        for row, one in zip(
            data["y"], ((squares(mp.inverse(L) * (mp.matrix(row) - m))) / 2 for row in data["y"]), strict=True
        )
    ]
    return squares(z) / 2, rows


def spread(z: Numbers, data: Data) -> Parts:
    """Of |W|^2/(2 s) + 9/2 log s + |W - I|^2/8 + s^2/2 - log s."""
    W, s = z[:9], mp.exp(z[9])
    apart = [one - (k % 4 == 0) for k, one in enumerate(W)]
    return squares(W) / (2 * s) + (mp.mpf(9) / 2 - 1) * z[9] + squares(apart) / 8 + s**2 / 2, [
        (y - W[0]) ** 2 / 2 for y in data["y"]
    ]

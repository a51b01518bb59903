"""Counts with more zeros or more spread than their law has: proved proper, emitted, read back, drawn."""

from typing import Any

import mpmath
import numpy as np
import pytest
from emitted_target import emitted_target
from mpmath import mpf

STATE = "{b: {shape: 2}, w: {constraint: 'interval(0, 1)'}, phi: {constraint: positive}}"
DATA = "{y: {shape: N}, n: {shape: N}, x: {shape: [N, 2]}}"
PROPER = "normal(b, 0, 2) + beta(w, 2, 2) + gamma(phi, 2, 1)"
LIKELIHOODS = {
    "beta_binomial": "beta_binomial(y, n, phi*sigmoid(x @ b), w + 1)",
    "zero_inflated_poisson": "zero_inflated_poisson(y, w, phi*exp(x @ b))",
    "zero_inflated_binomial": "zero_inflated_binomial(y, w, n, sigmoid(x @ b))",
}


def _text(likelihood: str, prior: str = PROPER) -> str:
    return f"state: {STATE}\ndata: {DATA}\nlog_prior: {prior}\nlog_likelihood: {likelihood}\n"


X = np.array([[1.0, -0.5], [0.25, 2.0], [-1.0, 0.5], [0.5, 1.0]])
Y, TRIALS = np.array([2, 0, 3, 0]), np.array([5, 4, 3, 6])


def _log_likelihood(name: str, y: int, n: int, x: Any, u: list[Any]) -> Any:
    eta, w, phi = x[0] * u[0] + x[1] * u[1], 1 / (1 + mpmath.exp(-u[2])), mpmath.exp(u[3])
    p, mu = 1 / (1 + mpmath.exp(-eta)), phi * mpmath.exp(eta)
    match name:
        case "beta_binomial":
            a, b = phi * p, w + 1
            return mpmath.log(mpmath.binomial(n, y) * mpmath.beta(y + a, n - y + b) / mpmath.beta(a, b))
        case "zero_inflated_poisson":
            return mpmath.log(w * (y == 0) + (1 - w) * mpmath.exp(-mu) * mu**y / mpmath.factorial(y))
        case _:
            return mpmath.log(w * (y == 0) + (1 - w) * mpmath.binomial(n, y) * p**y * (1 - p) ** (n - y))


@pytest.mark.slow
@pytest.mark.usefixtures("without_jit")
@pytest.mark.parametrize("name", LIKELIHOODS)
def test_the_emitted_gradient_is_that_of_50_digits_and_is_read_back(name: str) -> None:
    rows = "\n".join(["y,n,u,v", *(f"{y},{n},{u},{v}" for y, n, (u, v) in zip(Y, TRIALS, X, strict=True)), ""])
    emitted = emitted_target(name, _text(LIKELIHOODS[name], "-norm2(b)/2"), "y: y, n: n, x: [u, v]", rows)
    theta = np.array([0.4, -0.3, -0.8, 0.2])

    def U(at: list[Any]) -> Any:
        w, rows = 1 / (1 + mpmath.exp(-at[2])), zip(Y, TRIALS, X, strict=True)
        log_p = mpmath.fsum(_log_likelihood(name, int(y), int(n), list(map(mpf, x)), at) for y, n, x in rows)
        return (at[0] ** 2 + at[1] ** 2) / 2 - log_p - mpmath.log(w * (1 - w)) - at[3]

    found = emitted.called("gradient", theta, {"y": Y.astype(float), "n": TRIALS.astype(float), "x": X})
    with mpmath.workdps(50):
        wide = [mpf(one) for one in theta]
        wanted = [mpmath.diff(lambda x, k=k: U([*wide[:k], x, *wide[k + 1 :]]), wide[k]) for k in range(4)]
    np.testing.assert_allclose(found, [float(one) for one in wanted], rtol=1e-12)
    assert emitted.read()

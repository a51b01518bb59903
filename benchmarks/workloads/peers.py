"""Rivals from packages that are not built on JAX: posteriors (torch) and JiTCSDE. Import them only where installed."""

import contextlib
import tempfile
import time
import warnings
from collections.abc import Callable
from types import ModuleType

import numpy as np
from racing import Contestant


def _torch() -> tuple[ModuleType, ModuleType]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import posteriors
        import torch
    torch.set_num_threads(1)
    return torch, posteriors


def posteriors_sghmc(potential: Callable, gradient: Callable, d: int, eps: float, C: float) -> Contestant:
    """Return `posteriors.sgmcmc.sghmc` on a target without data; checked by its steps at temperature 0."""
    return _posteriors(lambda theta, _: -potential(theta), gradient, lambda: None, d, eps, C, 64, 1)


def posteriors_logistic(x: np.ndarray, y: np.ndarray, prior_variance: float, batch: int, inner: int, eps: float,
                        C: float, units: int) -> Contestant:  # fmt: skip
    """Return `posteriors.sgmcmc.sghmc` on minibatches drawn with replacement; checked on the full data."""
    torch, _ = _torch()
    rows, d = x.shape
    xs, ys = torch.from_numpy(x), torch.from_numpy(y)

    def log_posterior(theta, places):
        some, labels = (xs, ys) if places is None else (xs[places], ys[places])
        predictor = some @ theta
        likelihood = (labels * predictor - torch.nn.functional.softplus(predictor)).sum()
        return rows / len(labels) * likelihood - 0.5 * (theta * theta).sum() / prior_variance

    def gradient(theta):
        return x.T @ (1.0 / (1.0 + np.exp(-x @ theta)) - y) + theta / prior_variance

    draw = lambda: torch.randint(rows, (batch,))  # noqa: E731
    return _posteriors(log_posterior, gradient, draw, d, eps, C, units, inner)


def _posteriors(log_posterior: Callable, gradient: Callable, draw: Callable, d: int, eps: float, C: float, units: int,
                inner: int) -> Contestant:  # fmt: skip
    torch, posteriors = _torch()

    def log_posterior_and_aux(theta, batch):
        return log_posterior(theta, batch), torch.tensor([])

    def transform(temperature: float):
        return posteriors.sgmcmc.sghmc.build(log_posterior_and_aux, lr=eps, alpha=C, beta=0.0, temperature=temperature)

    moving = transform(1.0)
    carried = {"state": moving.init(torch.zeros(d, dtype=torch.float64))}

    def work() -> None:
        state = carried["state"]
        for _ in range(units * inner):
            state = moving.update(state, draw())[0]
        carried["state"] = state

    def deviation() -> float:
        still = transform(0.0)
        theta, r = np.full(d, 0.3), np.full(d, 0.1)
        state = still.init(torch.from_numpy(theta.copy()), momenta=0.1)
        for _ in range(5):
            state = still.update(state, None)[0]
            theta, r = theta + eps * r, r - eps * (gradient(theta) + C * r)
        return float(np.abs(state.params.detach().numpy() - theta).max())

    note = "compared by its steps without noise"
    return Contestant("posteriors", units, work, "nothing", deviation=deviation, clock=time.process_time, note=note)


def posteriors_sgld(d: int, eps: float, units: int) -> Contestant:
    """Return `posteriors.sgmcmc.sgld` on a standard normal."""
    torch, posteriors = _torch()
    moving = posteriors.sgmcmc.sgld.build(lambda theta, _: (-(theta * theta).sum() / 2.0, torch.tensor([])), lr=eps)
    carried = {"state": moving.init(torch.zeros(d, dtype=torch.float64))}

    def work() -> np.ndarray:
        state = carried["state"]
        for _ in range(units):
            state = moving.update(state, None)[0]
        carried["state"] = state
        return state.params.detach().numpy().reshape(-1, 1)

    return Contestant("posteriors", units, work, clock=time.process_time)


def jitcsde_sghmc(target: str, eps: float, C: float, thin: int) -> Contestant:
    """Return JiTCSDE on the equation of SGHMC. It adapts its steps; its tolerances leave them at eps."""
    import symengine
    from jitcsde import jitcsde, y

    if target == "well":
        d, gradient = 1, [4 * y(0) * (y(0) ** 2 - 1)]
    else:
        valley = 4 * (y(1) + 1.2) - y(0) ** 2
        d, gradient = 2, [0.4 * y(0) ** 3 - 2 * y(0) * valley, 4 * valley]
    drift = [*(y(d + k) for k in range(d)), *(-gradient[k] - C * y(d + k) for k in range(d))]
    noise = [0] * d + [symengine.sqrt(2.0 * C)] * d
    solver = jitcsde(drift, noise, additive=True, verbose=False)
    solver.set_initial_value(np.array([0.1] * d + [0.0] * d), 0.0)
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):  # setuptools reads the project it stands in
        solver.compile_C()
    solver.set_integration_parameters(atol=1e9, rtol=1e9, first_step=eps, max_step=eps, min_step=1e-6)
    solver.set_seed(1)
    draws = 256

    def work() -> np.ndarray:
        kept = np.empty((draws, d))
        for k in range(draws):
            kept[k] = solver.integrate(solver.t + thin * eps)[:d]
        return kept

    note = "an adaptive stochastic Runge-Kutta scheme: more work per step"
    return Contestant("jitcsde", draws * thin, work, slack=0.2, note=note)

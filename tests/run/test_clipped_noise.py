"""A chain whose 2D - eps B_hat loses definiteness: what is counted is what a replay in NumPy counts, and is told.

Steps see all data, while V claims a noise so large that eps D V D exceeds 2 D where D is large. How noise is cut off is
tested in `emit/test_support_roots.py` and, of one step, in `scheme/test_schemes.py`.
"""

import numpy as np
import pytest
from answers import document
from running import drawn, shipped, stored

from recipe_compiler.advise.diagnostics import summarise

EPS, DRAWS, ROWS = 0.004, 150, 10
BUILD = """
dynamics: sgrld
target: linear_regression
bind: {G_inverse: "METRIC"}
parameters: {v: {is: positive, value: 300}, noise_variance: {value: 8}}
scheme: {name: euler}
variant: minibatch
gradient_noise: {V: v*I}
sizes: {d: 2}
init: {theta: ones}
data: {file: made.csv, x: [a, b], y: y}
run: {step_size: 0.004, batch_size: 10, thin: 1, draws: 150, warmup: 0, chains: 2, seed: 4}
"""
METRICS = {
    "diag(ones + theta*theta)": ("clipped", lambda z: np.diag(1.0 + z**2)),
    "I/2 + theta @ theta.T": ("_noise_root_2(", lambda z: np.eye(2) / 2 + np.outer(z, z)),
}


@pytest.mark.parametrize("metric", METRICS)
def test_covariances_that_are_none_are_counted_one_by_one_and_told(metric: str) -> None:
    """Per state, or of a diagonal one per coordinate; the state before the first step of a chain is not kept."""
    rng = np.random.default_rng(8)
    x = rng.standard_normal((ROWS, 2))
    rows = "".join(f"{a},{b},{b - a + 3 * e}\n" for (a, b), e in zip(x, rng.standard_normal(ROWS), strict=True))
    build = document(BUILD.replace("METRIC", metric), **{"made.csv": f"a,b,y\n{rows}"})
    calls, D_at = METRICS[metric]
    assert calls in shipped(build).text
    draws = drawn(build)
    told = f"2D - eps B_hat was not positive semidefinite {sum(draws.clipped)} times"
    assert any(told in warning for warning in summarise(stored(build, draws), draws).warnings)
    for theta, counted in zip(draws.block("theta"), draws.clipped, strict=True):
        every = np.array([2 * D - EPS * 300 * D @ D for D in map(D_at, theta[:-1])])
        values = np.linalg.eigvalsh(every)
        lost = values < -1e-12 * np.abs(values).max(axis=1, keepdims=True)
        times = int(lost.sum() if "diag" in metric else lost.any(axis=1).sum())
        assert 0.02 * DRAWS < times < 1.5 * DRAWS
        assert counted - times in ((0, 1, 2) if "diag" in metric else (0, 1))

"""Means and full covariance of the emitted SGNHT chain on a Gaussian with dense covariance.

The thermostat is not linear, so the chain's stationary law at a step size has no closed form. That of the equation
has: theta is N(mu, Sigma), r is N(0, I), xi is N(A, 1/d), all independent (Ding and others 2014; the energy is
d/2 (xi - A)^2). The chain's moments depart from it by a1 eps + a2 eps^2 + O(eps^3). Runs at eps, eps/2 and eps/4 give
(8 m(eps/4) - 6 m(eps/2) + m(eps))/3, free of both terms. With eps = 0.1 a1 eps is 0.1 at most here and what is left
is below the errors: moments departed by at most 0.05 at 0.1 and 0.12 at 0.2, a2 eps^2 is 0.03 at 0.2.

Errors come from 200 independent chains. 35 comparisons at |t| <= 5 with 199 degrees of freedom alarm falsely with
probability at most 35 x 1.3e-6 = 4.5e-5 for a new seed; the seeds are fixed.
"""

from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from emitted_chains import Array, Settings, run_chains, settings, shipped_module, with_fault

BUILD = "sgnht_gaussian"
EPS, ROMBERG = 0.1, ((1.0, 1 / 3), (0.5, -6 / 3), (0.25, 8 / 3))
CHAINS, TIME, WARMUP = 200, 500, 20
LIMIT = 5.0
NAMES = (*(f"theta[{i}]" for i in range(3)), *(f"r[{i}]" for i in range(3)), "xi")


def law(given: Settings) -> tuple[Array, Array]:
    """Return mean and covariance of exp(-H)."""
    mean = np.concatenate([given.values["mu"], np.zeros(3), [float(given.values["A"])]])
    covariance = np.diag([0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0 / 3.0])
    covariance[:3, :3] = given.values["Sigma"]
    return mean, covariance


def departures(module: ModuleType, given: Settings, eps: float, time: int, seed: int) -> Array:
    """Return [chains, 35]: every chain's averages of z - mean and of the products, less their expectations."""
    mean, covariance = law(given)
    starts = mean + np.random.default_rng(seed).standard_normal((CHAINS, 7)) @ np.linalg.cholesky(covariance).T
    thin = round(1.0 / eps)  # one draw per unit of time
    draws = run_chains(module, given.values, eps, starts, time + WARMUP, thin, seed, discard=WARMUP) - mean
    products = np.einsum("kni,knj->kij", draws, draws) / time - covariance
    return np.concatenate([draws.mean(axis=1), products[:, *np.tril_indices(7)]], axis=1)


def misses(module: ModuleType, given: Settings, time: int, seed: int) -> dict[str, float]:
    """Return the comparisons beyond the limit, of the extrapolation to eps = 0 with exp(-H)."""
    runs = [w * departures(module, given, EPS * part, time, seed + k) for k, (part, w) in enumerate(ROMBERG)]
    error = np.sqrt(sum(run.var(axis=0, ddof=1) for run in runs) / CHAINS)
    t = sum(run.mean(axis=0) for run in runs) / error
    what = [*NAMES, *(f"{NAMES[i]} {NAMES[j]}" for i, j in zip(*np.tril_indices(7), strict=True))]
    return {name: float(value) for name, value in zip(what, t, strict=True) if not abs(value) <= LIMIT}


@pytest.mark.slow
def test_moments_extrapolated_to_step_zero_are_those_of_the_stationary_law() -> None:
    assert misses(shipped_module(BUILD), settings(BUILD), TIME, seed=21) == {}


@pytest.mark.slow
def test_the_kinetic_temperature_is_one_at_any_step() -> None:
    """xi stands still on average only if E |r|^2 / d = 1 (order r, theta, xi): exact, whatever the step."""
    given = settings(BUILD)
    kinetic = departures(shipped_module(BUILD), given, 0.2, 4 * TIME, seed=41)
    diagonal = [7 + k for k, (i, j) in enumerate(zip(*np.tril_indices(7), strict=True)) if i == j and 3 <= i < 6]
    temperature = kinetic[:, diagonal].mean(axis=1)
    assert abs(temperature.mean()) <= LIMIT * temperature.std(ddof=1) / np.sqrt(CHAINS)


FAULTS = {
    "the energy of dimension one": ("-1.0 + r_new_r_new / 3.0", "-3.0 + r_new_r_new", TIME // 2),
    "noise of D for 2 D": ("_noise_scale(2.0 * A,", "_noise_scale(A,", 10 * TIME),
}
"""With 1/2 (xi - A)^2 for d/2 (xi - A)^2 the thermostat moves d times too fast."""


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_planted_in_the_text_is_seen(fault: str, tmp_path: Path) -> None:
    right, wrong, time = FAULTS[fault]
    assert misses(with_fault(BUILD, right, wrong, tmp_path), settings(BUILD), time, seed=51)

"""Means and full covariances of the emitted chains on a Gaussian with dense covariance, at the step size used.

SGLD, SGHMC and generalised Langevin are linear there, z' = m + F (z - m) + N(0, S): F and S are built here from the
papers' equations and the stated scheme, the stationary covariance is the solution of the discrete Lyapunov equation,
and the errors of the estimates follow from the chain's own autocovariance, so the bias of the step size is no
excuse. Chains start from their stationary law.

False alarms: with the seeds fixed there are none from run to run. For other seeds, 18 + 63 + 108 = 189 comparisons at
|z| <= 5, each with a two-sided tail of 5.7e-7, alarm with probability at most 1.1e-4.
"""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from emitted_chains import Array, Settings, run_chains, settings, shipped_module, with_fault
from lyapunov import LinearChain, euler_step, stationary_starts, thinned, z_scores
from some import some

CHAINS, DRAWS, THIN = 4, 150_000, 10
LIMIT = 5.0


def sgld(given: Settings) -> LinearChain:
    """Return SGLD's chain: d theta = -D grad U dt + N(0, 2 D dt) (Ma, Chen, Fox 2015, Eq. 13)."""
    D, Sigma = given.values["D"], given.values["Sigma"]
    f = -D @ np.linalg.inv(Sigma)
    return euler_step({"theta": 3}, f, given.values["mu"], 2 * D, given.eps, given.order)


def sghmc(given: Settings) -> LinearChain:
    """Return SGHMC's chain: d theta = M^-1 r dt, dr = -grad U dt - C M^-1 r dt + N(0, 2 C dt) (their Eq. 12)."""
    C, M_inv, Sigma = given.values["C"], np.linalg.inv(given.values["M"]), given.values["Sigma"]
    zero = np.zeros((3, 3))
    f = np.block([[zero, M_inv], [-np.linalg.inv(Sigma), -C @ M_inv]])
    two_D = np.block([[zero, zero], [zero, 2 * C]])
    mean = np.concatenate([given.values["mu"], np.zeros(3)])
    return euler_step({"theta": 3, "r": 3}, f, mean, two_D, given.eps, given.order)


def generalised_langevin(given: Settings) -> LinearChain:
    """Return the chain with memory w: dr = (-grad U + Lambda w) dt, dw = (-Lambda^T M^-1 r - A w) dt + N(0, 2 A dt)."""
    A, Lambda, M_inv = given.values["A"], given.values["Lambda"], np.linalg.inv(given.values["M"])
    zero = np.zeros((3, 3))
    force = -np.linalg.inv(given.values["Sigma"])
    f = np.block([[zero, M_inv, np.zeros((3, 2))], [force, zero, Lambda], [np.zeros((2, 3)), -Lambda.T @ M_inv, -A]])
    two_D = np.zeros((8, 8))
    two_D[6:, 6:] = 2 * A
    mean = np.concatenate([given.values["mu"], np.zeros(5)])
    return euler_step({"theta": 3, "r": 3, "w": 2}, f, mean, two_D, given.eps, given.order)


LINEAR: dict[str, tuple[Callable[[Settings], LinearChain], float]] = {
    "sgld_gaussian": (sgld, 0.05),
    "sghmc_gaussian": (sghmc, 0.1),
    "generalised_langevin_gaussian": (generalised_langevin, 0.05),
}
"""And step sizes longer than those of the builds, so that chains move on: a step has its law whatever its length."""


def with_long_steps(build: str) -> tuple[Settings, LinearChain]:
    make, eps = LINEAR[build]
    given = replace(settings(build), eps=eps)
    return given, make(given)


def draw(module: ModuleType, given: Settings, chain: LinearChain, seed: int, draws: int = DRAWS) -> Array:
    """Return the module's draws from stationary starts."""
    starts = stationary_starts(chain, CHAINS, np.random.default_rng(seed))
    return run_chains(module, given.values, given.eps, starts, draws, THIN, seed)


def misses(draws: Array, chain: LinearChain) -> dict[str, float]:
    """Return the comparisons beyond the limit."""
    return {what: z for what, z in z_scores(draws, thinned(chain, THIN)).items() if not abs(z) <= LIMIT}


@pytest.mark.parametrize("build", some(LINEAR, 3))
def test_means_and_full_covariance_are_those_of_the_stated_scheme(build: str) -> None:
    given, chain = with_long_steps(build)
    assert misses(draw(shipped_module(build), given, chain, seed=11), chain) == {}


def test_the_matrices_do_not_commute_so_that_their_order_shows() -> None:
    values = settings("sghmc_gaussian").values
    for a, b in (("M", "C"), ("M", "Sigma"), ("C", "Sigma")):
        assert np.abs(values[a] @ values[b] - values[b] @ values[a]).max() > 0.1


FORCE = "    return grad_U_0, grad_U_1, grad_U_2"
STRONG = "    return 1.05 * grad_U_0, 1.05 * grad_U_1, 1.05 * grad_U_2"
FAULTS = [
    ("sgld_gaussian", "_noise_factor([[two_D_theta]], None, eps, ", "_noise_factor([[0.5 * two_D_theta]], None, eps, "),
    ("sghmc_gaussian", FORCE, STRONG),
    ("sghmc_gaussian", "theta_new_0 = theta_0 + eps * inv_M_r_new_0", "theta_new_0 = theta_0 + eps * inv_M_r_0"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("build", "right", "wrong"), FAULTS)
def test_a_fault_planted_in_the_text_is_seen(build: str, right: str, wrong: str, tmp_path: Path) -> None:
    """The noise of D for 2D; a force 5 per cent too strong; theta moved by the old momentum."""
    given, chain = with_long_steps(build)
    assert misses(draw(with_fault(build, right, wrong, tmp_path), given, chain, seed=13, draws=DRAWS // 2), chain)


@pytest.mark.slow
def test_matrices_that_leave_the_stationary_law_alone_are_told_apart() -> None:
    """M in another place, or C, changes exp(-H) little or not at all: the covariances across draws show it."""
    given, chain = with_long_steps("sghmc_gaussian")
    draws = draw(shipped_module("sghmc_gaussian"), given, chain, seed=14)
    M, C = given.values["M"], given.values["C"]
    for wrong in ({"M": C, "C": M}, {"C": np.diag(np.diag(C))}, {"C": 1.05 * C}):
        assert misses(draws, sghmc(replace(given, values={**given.values, **wrong})))

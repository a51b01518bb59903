"""Builds on bounded domains: SGRLD on positive coordinates and on the simplex, against their Dirichlet laws; SGRHMC.

Shares of both are Dirichlet: mean a_i/s, variance a_i (s - a_i)/(s**2 (s + 1)), s = sum(a). A run of T draws that are
one autocorrelation time apart has a mean with a standard error of about sd sqrt(2/T). Allowed are 5 of them (of 6
means, one false alarm in 3e5 runs) and 1 % for the finite step.
"""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from loaders import load_build

from recipe_compiler.pipeline import compile_build
from recipe_compiler.run.data import Data
from recipe_compiler.run.load_module import load_text
from recipe_compiler.run.sample import Draws, sample

BUILDS = Path(__file__).parents[2] / "specs" / "builds"
DRAWS = 4000


def run(name: str, step_size: float, thin: int) -> Draws:
    build = load_build(BUILDS / f"{name}.yaml")
    settings = replace(build.run, step_size=step_size, thin=thin, draws=DRAWS, warmup=100)
    module = compile_build(build)
    return sample(load_text(module.name, module.text), build, settings, Data())


def agrees(shares: np.ndarray, a: np.ndarray, total: float) -> None:
    mean, variance = a / total, a * (total - a) / (total**2 * (total + 1.0))
    error = 5.0 * np.sqrt(variance * 2.0 / (shares.shape[0] * shares.shape[1]))
    found = shares.mean(axis=(0, 1))
    assert (np.abs(found - mean) <= error + 0.01 * mean).all(), (found, mean, error)
    np.testing.assert_allclose(shares.var(axis=(0, 1)), variance, rtol=0.1)


@pytest.mark.slow
def test_shares_of_positive_coordinates_are_those_of_the_categories() -> None:
    draws = run("sgrld_categories", 0.005, 200)
    theta = draws.block("theta")[:, 100:]
    assert draws.outside == ()
    agrees(theta / theta.sum(axis=2, keepdims=True), np.array([8.0, 12.0, 7.0]), 27.0)


@pytest.mark.slow
def test_shares_on_the_simplex_have_their_law() -> None:
    draws = run("wright_fisher_dirichlet", 0.001, 100)
    assert draws.outside == ()
    agrees(draws.block("theta")[:, 100:], np.array([8.0, 6.0]), 19.0)


@pytest.mark.slow
def test_a_step_that_is_too_long_crosses_a_face_and_is_counted() -> None:
    draws = run("wright_fisher_dirichlet", 0.02, 5)
    (one,) = draws.outside
    theta = draws.block("theta")
    beyond = (theta <= 0.0).any(axis=2) | (theta.sum(axis=2) >= 1.0)
    assert one.draws == int(beyond.sum()) > 0
    assert beyond[one.chain, one.draw]
    assert not beyond[:, : one.draw].any()


@pytest.mark.slow
def test_a_splitting_with_exact_flows_has_the_law_of_its_coupled_target() -> None:
    """SGRHMC by BAOAB on two inverse Gaussian variables that their sum couples: means and sds by quadrature."""
    draws = run("sgrhmc_inverse_gaussian_baoab", 0.1, 20)
    theta = draws.block("theta")[:, 100:]
    assert draws.outside == ()
    x = np.linspace(0.01, 25.0, 2500)
    one, other = np.meshgrid(x, x, indexing="ij")
    U = 1.5 * np.log(one * other) + 6 / one + 2 / other + one / 2 + other / 3 + (one + other) ** 2 / 8
    p = np.exp(U.min() - U)
    p /= p.sum()
    mean = np.array([(p * value).sum() for value in (one, other)])
    variance = np.array([(p * value**2).sum() for value in (one, other)]) - mean**2
    error = 5.0 * np.sqrt(variance * 2.0 / (theta.shape[0] * theta.shape[1]))
    found = theta.mean(axis=(0, 1))
    assert (np.abs(found - mean) <= error + 0.01 * mean).all(), (found, mean, error)
    np.testing.assert_allclose(theta.var(axis=(0, 1)), variance, rtol=0.1)

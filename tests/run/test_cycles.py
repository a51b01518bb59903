"""Chains of moves draw from exp(-H) at any step size: no bias is allowed for, and wrong moves are seen at this length.

Standard errors are those of batch means over time, held against those between chains. A mean may be five of them off: a
chance of 6e-7 for each.
"""

from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from cycles import OF_MATRICES, cycle_build, texts
from loaders import load_build

from recipe_compiler.run.data import load_data
from recipe_compiler.run.load_module import Emitted, load_text
from recipe_compiler.run.sample import Draws, sample

CHAINS, DRAWS, BATCH = 32, 12_500, 625
"""Of each chain; a batch is long beside the time in which any of these chains forgets."""
MOST = 5.0
"""Standard errors."""
WELL = {"theta^2": 0.832745, "theta^4": 1.082745, "|theta| < 1/2": 0.219437}
"""Means of exp(-U), U = theta^4 - 2 theta^2, by quadrature."""
PATH = Path(__file__).parents[2] / "specs/builds/baoab_path_double_well.yaml"
SCALED_CATEGORIES = PATH.with_name("scaled_categories.yaml")
DIGAMMA = -3.5005246609106475
"""sum_j E log omega_j = psi(8) + psi(12) + psi(7) - 3 psi(27)."""
SIGMA = np.array([[2, 1 / 2, 1 / 3], [1 / 2, 1, -1 / 4], [1 / 3, -1 / 4, 3 / 2]])
MASS = np.array([[2, 1 / 2, 0], [1 / 2, 1, 1 / 4], [0, 1 / 4, 3 / 2]])
MU = np.array([1, -2, 1 / 2])


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean over draws [chains, draws, ...], with its standard error over time and between chains."""

    value: np.ndarray
    over_time: np.ndarray
    between: np.ndarray


def mean_of(values: np.ndarray) -> Mean:
    chains, draws, *rest = values.shape
    batches = values.reshape(chains, draws // BATCH, BATCH, *rest).mean(axis=2).reshape(-1, *rest)
    of_chains = values.mean(axis=1)
    errors = (each.std(axis=0, ddof=1) / np.sqrt(len(each)) for each in (batches, of_chains))
    return Mean(values.mean(axis=(0, 1)), *errors)


def off(values: np.ndarray, expected: object) -> float:
    """Return how many standard errors the mean is off, the most of all entries."""
    found = mean_of(values)
    return float(np.max(np.abs(found.value - np.asarray(expected)) / np.maximum(found.over_time, found.between)))


def module_of(target: str, cycle: str, shape: str = "shipped", *changes: tuple[str, str]) -> Emitted:
    """Return a module, with faults planted where asked."""
    module = texts(cycle_build(target, cycle))[shape].module
    text = module.text
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    return load_text(module.name, text)


@cache
def drawn(target: str, cycle: str, eps: float, shape: str = "shipped", *changes: tuple[str, str]) -> Draws:
    build = cycle_build(target, cycle)
    settings = replace(build.run, step_size=eps, draws=DRAWS, warmup=500, thin=1, chains=CHAINS, seed=20)
    return sample(module_of(target, cycle, shape, *changes), build, settings, load_data(build.data, build.target))


def kept(draws: Draws, block: str) -> np.ndarray:
    return draws.block(block)[:, draws.warmup :]


def of_well(draws: Draws) -> dict[str, np.ndarray]:
    """Return the functions of theta whose means are known."""
    theta = kept(draws, "theta")[:, :, 0]
    return dict(zip(WELL, (theta**2, theta**4, (np.abs(theta) < 0.5).astype(float)), strict=True))


def second_moments(draws: Draws) -> np.ndarray:
    """Return the outer product of all coordinates, each less its mean, draw by draw."""
    z = np.concatenate([kept(draws, "theta") - MU, kept(draws, "r")], axis=2)
    return np.einsum("...i,...j->...ij", z, z)


COVARIANCE = np.block([[SIGMA, np.zeros((3, 3))], [np.zeros((3, 3)), MASS]])


@pytest.mark.slow
@pytest.mark.parametrize("eps", [0.35, 0.7])
@pytest.mark.parametrize("cycle", ["hmc", "hmc_of_some_steps", "ghmc", "mala", "scaled"])
def test_a_double_well_is_drawn_from_exactly(cycle: str, eps: float) -> None:
    values = of_well(drawn("double_well", cycle, eps))
    found = {name: off(value, WELL[name]) for name, value in values.items()}
    assert max(found.values()) < MOST, found


@pytest.mark.slow
@pytest.mark.parametrize("eps", [0.2, 0.35])
def test_a_path_that_is_accepted_by_its_work_draws_from_it_exactly(eps: float) -> None:
    build = load_build(PATH)
    module = texts(build)["shipped"].module
    run = replace(build.run, step_size=eps, draws=DRAWS, warmup=500, thin=4, chains=CHAINS, seed=20)
    draws = sample(load_text(module.name, module.text), build, run, load_data(build.data, build.target))
    found = {name: off(value, WELL[name]) for name, value in of_well(draws).items()}
    assert max(found.values()) < MOST, found


@pytest.mark.slow
@pytest.mark.parametrize("generator", ["philox", "numpy"])
def test_other_bits_draw_from_it_exactly(generator: str) -> None:
    change = ("variant: full", f"variant: full\nnoise: {{generator: {generator}}}")
    build = cycle_build("double_well", "ghmc", "1/4", change)
    module = texts(build)["shipped"].module
    settings = replace(build.run, step_size=0.7, draws=DRAWS, warmup=500, chains=CHAINS, seed=20)
    values = of_well(sample(load_text(module.name, module.text), build, settings, load_data(build.data, build.target)))
    found = {name: off(value, WELL[name]) for name, value in values.items()}
    assert max(found.values()) < MOST, found


@pytest.mark.parametrize("cycle", ["hmc", "hmc_of_some_steps", "ghmc", "mala"])
def test_standard_errors_over_time_are_those_between_chains(cycle: str) -> None:
    """A number that all chains shared would show between chains and not over time."""
    for values in of_well(drawn("double_well", cycle, 0.35)).values():
        found = mean_of(values)
        assert 0.6 < found.between / found.over_time < 1.6, found


WRONG = {
    "no flip": ("ghmc", 0.5, ("else -r_drawn_0", "else r_drawn_0")),
    "a ratio without kinetic energy": ("hmc", 0.35, (" + rest_start - rest_at", "")),
    "a refresh of half the variance": ("mala", 0.5, ("_noise_scale(m,", "_noise_scale(m / 2.0,")),
    "U of the end after refusal": ("mala", 0.7, ("U_at if accept else U_0", "U_at")),
    "an involution without its Jacobian": ("scaled", 0.35, (" + w_drawn[0] - (16.0 / 9.0)", " - (16.0 / 9.0)")),
    "the noise of the refresh decides": ("mala", 0.5, ("log_ratio, noise_accept_0,", "log_ratio, noise_r_0,")),
}
"""Fault to a cycle, a step size and what of the text is replaced."""


@pytest.mark.slow
@pytest.mark.parametrize("fault", WRONG)
def test_a_wrong_move_is_seen_at_this_length(fault: str) -> None:
    cycle, eps, (old, new) = WRONG[fault]
    values = of_well(drawn("double_well", cycle, eps, "shipped", (old, new)))
    assert max(off(value, WELL[name]) for name, value in values.items()) > 2 * MOST


@pytest.mark.slow
def test_without_a_flip_chains_are_as_far_off_as_plain_numpy_has_it() -> None:
    """E theta^2 = 1.091(1) for 0.833 at eps = 1/2, by 2e7 moves of 4000 chains written by hand in NumPy."""
    _, eps, fault = WRONG["no flip"]
    found = mean_of(of_well(drawn("double_well", "ghmc", eps, "shipped", fault))["theta^2"])
    assert abs(found.value - 1.091) < MOST * np.hypot(0.001, max(found.over_time, found.between))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("cycle", "eps", "shape"),
    [
        ("hmc", 0.5, "shipped"),
        ("ghmc", 0.9, "scheduled"),
        ("between", 0.7, "shipped"),
        (OF_MATRICES, 0.7, "shipped"),
        ("turned_steps", 0.001, "shipped"),
    ],
)
def test_a_gaussian_of_matrices_that_do_not_commute_is_drawn_from_exactly(cycle: str, eps: float, shape: str) -> None:
    """Means and covariances of theta and r together: r is as the last move leaves it."""
    draws = drawn("gaussian", cycle, eps, shape)
    assert off(kept(draws, "theta"), MU) < MOST
    assert off(kept(draws, "r"), np.zeros(3)) < MOST
    assert off(second_moments(draws), COVARIANCE) < MOST


@pytest.mark.slow
def test_scale_moves_draw_positive_coordinates_exactly() -> None:
    """theta = S omega, S ~ Gamma(10, 1) and omega ~ Dirichlet(8, 12, 7): E theta_j^m = E S^m E omega_j^m."""
    build = load_build(SCALED_CATEGORIES)
    module = texts(build)["shipped"].module
    run = replace(build.run, draws=DRAWS, warmup=500, chains=CHAINS, seed=20)
    draws = sample(load_text(module.name, module.text), build, run, load_data(build.data, build.target))
    theta, a = kept(draws, "theta"), np.array([8.0, 12.0, 7.0])
    assert off(theta, 10 * a / 27) < MOST
    assert off(theta**2, 110 * a * (a + 1) / (27 * 28)) < MOST
    assert off(np.log(theta).sum(axis=2) - 3 * np.log(theta.sum(axis=2)), DIGAMMA) < MOST


@pytest.mark.slow
def test_a_refresh_of_another_matrix_is_seen_at_this_length() -> None:
    draws = drawn("gaussian", "hmc", 0.5, "shipped", ("two_D_r[i, j] = M[i, j]", "two_D_r[i, j] = inv_M[i, j]"))
    assert off(second_moments(draws), COVARIANCE) > 2 * MOST

"""Rows of a summary from stored draws: constants, weights, digits, speed."""

import math

import numpy as np
import pytest
from arviz_stats.base.array import array_stats
from xarray import Dataset, DataTree

from recipe_compiler.front.fit import Fit
from recipe_compiler.run.posterior_numbers import DERIVED, posterior_numbers, says_constant, shown_cells, speed

CHAINS, DRAWS = 4, 1000


def tree(step: np.ndarray | None = None, **variables: np.ndarray) -> DataTree:
    axes = ("chain", "draw", "row", "column")
    posterior = Dataset({name: (axes[: values.ndim], values) for name, values in variables.items()})
    found = DataTree.from_dict({"posterior": posterior.assign_coords(chain=range(CHAINS), draw=range(DRAWS))})
    if step is not None:
        stats = np.broadcast_to(step, (CHAINS, DRAWS))
        found["sample_stats"] = DataTree(Dataset({"step_size": (axes[:2], stats)}))
    return found


def correlations(rho: np.ndarray) -> np.ndarray:
    """Return L @ L.T, whose diagonal is 1 up to rounding."""
    L = np.zeros((*rho.shape, 2, 2))
    L[..., 0, 0], L[..., 1, 0], L[..., 1, 1] = 1.0, rho, np.sqrt(1.0 - rho**2)
    return L @ L.swapaxes(-1, -2)


def test_derived_entries_that_are_constant_up_to_rounding_count_in_no_diagnostic() -> None:
    rho = np.random.default_rng(0).uniform(-0.9, 0.9, (CHAINS, DRAWS))
    R = correlations(rho)
    assert np.ptp(R[..., 1, 1]) > 0.0
    found = tree(rho=rho, R=R)
    found["posterior"]["R"].attrs[DERIVED] = 1
    numbers = posterior_numbers(found)
    assert [row.name for row in numbers.rows] == ["rho", "R[0, 1]", "R[1, 0]"]
    assert says_constant(numbers) == ("constant: R[0, 0] = 1, R[1, 1] = 1",)


@pytest.mark.parametrize("derived", [False, True])
def test_what_each_chain_keeps_or_a_block_never_leaves_is_no_constant(*, derived: bool) -> None:
    still = np.repeat(np.arange(CHAINS)[:, None] // 2 if derived else np.zeros((CHAINS, 1)), DRAWS, axis=1).astype(
        float
    )
    found = tree(theta=still)
    if derived:
        found["posterior"]["theta"].attrs[DERIVED] = 1
    (row,) = posterior_numbers(found).rows
    assert not row.value("r_hat") <= 1.01


def test_weights_are_in_every_number() -> None:
    """Independent draws: (sum w)**2/sum w**2 of each chain are effective; that of 20 sums is known within 7 %."""
    weight = (1.0 + np.arange(DRAWS) / 20.0) ** -0.55
    theta = np.random.default_rng(1).standard_normal((CHAINS, DRAWS, 20))
    numbers = posterior_numbers(tree(weight, theta=theta))
    kish = CHAINS * weight.sum() ** 2 / (weight**2).sum()
    assert kish < 0.75 * CHAINS * DRAWS
    found = np.mean([row.value("ess_bulk") for row in numbers.rows])
    assert found == pytest.approx(kish, rel=0.05)
    for k, row in enumerate(numbers.rows):
        assert row.value("mean") == pytest.approx(np.average(theta[..., k].mean(axis=0), weights=weight))
        assert row.value("mcse_mean") == pytest.approx(1.0 / math.sqrt(kish), rel=0.25)


def test_r_hat_is_of_the_weighted_chain() -> None:
    """A start far away in small steps hardly weighs: unweighted halves of the chains do not agree, weighted ones do."""
    weight = np.where(np.arange(DRAWS) < DRAWS // 4, 1e-4, 1.0)
    theta = np.random.default_rng(2).standard_normal((CHAINS, DRAWS))
    theta[:, : DRAWS // 4] += 30.0
    assert float(array_stats.rhat(theta, chain_axis=0, draw_axis=1)) > 1.1
    (row,) = posterior_numbers(tree(weight, theta=theta)).rows
    assert row.value("r_hat") < 1.01


def test_a_fit_is_shown_with_the_digits_of_the_command_line() -> None:
    theta = 0.398 + 0.00991 * np.random.default_rng(3).standard_normal((CHAINS, DRAWS))
    fit = Fit.of(tree(theta=theta))
    fit.attrs.update({"trust": "trust: yes", "processor_seconds": 0.5})
    numbers = posterior_numbers(fit)
    (cells,) = map(shown_cells, numbers.rows)
    assert cells[0] == "theta"
    assert float(cells[2]) == pytest.approx(0.0099, rel=0.05)
    assert 0.0 < float(cells[6]) < 0.001
    least = min(numbers.rows[0].value("ess_bulk"), numbers.rows[0].value("ess_tail"))
    assert speed(numbers, 0.5)[0].startswith(f"ESS/s: {2.0 * least:.3g} (theta")
    for shown in (str(fit), fit._repr_html_()):
        assert all(cell in shown for cell in (*cells, *speed(numbers, 0.5), "trust: yes"))
    assert speed(numbers, math.nan) == ()

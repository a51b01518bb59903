"""What is derived of draws stands beside them, in its own shape, with its own numbers in the summary."""

import warnings
from typing import Any

import arviz_stats
import numpy as np
import pytest
import xarray
from reports import granted

import recipe_compiler as rc
from recipe_compiler.run.summary import Summary, summarise

theta, r = rc.vector("theta", "d"), rc.vector("r", "d")
U = rc.function("U", of=theta, role="potential")
SGLD = rc.Dynamics(name="langevin", state=[theta], H=U, D=[[rc.I]], Q=[[0]])
mu, eta = rc.scalar("mu"), rc.vector("eta", "J")
tau = rc.scalar("tau", domain="positive", transform="log")
s = rc.scalar("s", is_="positive", default=2)
TARGET = rc.Target(
    name="schools", state=[mu, tau, eta], parameters=[s],
    potential=mu**2 / 2 + eta.T @ eta / 2 + tau**2 / 2,
    derived={"effects": "mu*ones + tau*eta", "both": "eta @ eta.T/s", "log_tau_again": "log(tau)"},
)  # fmt: skip


@pytest.fixture(scope="module")
def found() -> tuple[xarray.DataTree, Summary]:
    """Return the draws of a run, and its summary."""
    summaries: list[Summary] = []

    def kept(*args: Any) -> Summary:
        summaries.append(summarise(*args))
        return summaries[-1]

    with granted():
        model = rc.compile(
            SGLD, TARGET, step_size=0.05, draws=100, warmup=20, chains=2, sizes={"J": 3, "d": 5}, thin=5,
            derived={"first": "eta[0]*s*J"},
        )  # fmt: skip
    with warnings.catch_warnings(), pytest.MonkeyPatch.context() as patch:
        warnings.simplefilter("ignore", rc.SampleWarning)
        patch.setattr("recipe_compiler.front.model.summarise", kept)
        tree = model.sample(progress=False)
    return tree, summaries[0]


def test_every_formula_is_that_of_the_draws(found: tuple[xarray.DataTree, Summary]) -> None:
    tree, _ = found
    mu, tau, eta = (tree["posterior"][name].to_numpy() for name in ("mu", "tau", "eta"))
    assert list(tree["posterior"].data_vars) == ["mu", "tau", "eta", "effects", "both", "log_tau_again", "first"]
    np.testing.assert_allclose(tree["posterior"]["effects"], mu[..., None] + tau[..., None] * eta)
    np.testing.assert_allclose(tree["posterior"]["both"], np.einsum("cdi,cdj->cdij", eta, eta) / 2)
    np.testing.assert_allclose(tree["posterior"]["log_tau_again"], np.log(tau))
    np.testing.assert_allclose(tree["posterior"]["first"], eta[..., 0] * 2 * 3)
    assert "effects" not in tree["warmup_posterior"]


def test_each_has_its_own_numbers_in_the_summary(found: tuple[xarray.DataTree, Summary]) -> None:
    tree, summary = found
    rows = {row.name: row for row in summary.rows}
    effects = tree["posterior"]["effects"].to_numpy()[..., 1]
    assert abs(rows["effects[1]"].value("mean") - effects.mean()) < 1e-12
    assert abs(rows["effects[1]"].value("r_hat") - float(arviz_stats.rhat(effects))) < 1e-12
    assert rows["both[2, 1]"].value("ess_bulk") != rows["both[2, 2]"].value("ess_bulk")

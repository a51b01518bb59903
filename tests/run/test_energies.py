"""lp, energy, temperature, log likelihood and log prior of every draw, against formulas of NumPy."""

import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import xarray
from reports import granted

import recipe_compiler as rc
from recipe_compiler.run import energies

theta, r = rc.vector("theta", "d"), rc.vector("r", "d")
U = rc.function("U", of=theta, role="potential")
M = rc.matrix("M", "d", "d", is_="positive definite")
SGHMC = rc.Dynamics(
    name="underdamped", state=[theta, r], parameters=[M], H=U + r.T @ rc.inv(M) @ r / 2,
    D=[[0, 0], [0, M]], Q=[[0, -rc.I], [rc.I, 0]],
)  # fmt: skip
x, y = rc.data("x", "N", "d"), rc.data("y", "N")
REGRESSION = rc.Target(
    name="regression", state=[theta], data=[x, y], log_prior=-theta.T @ theta / 8,
    log_likelihood=-((y - x @ theta) ** 2) / 2,
)  # fmt: skip
RNG = np.random.default_rng(11)
X = RNG.normal(size=(12, 2))
Y = X @ [1.0, -2.0] + RNG.normal(size=12)
MASS = np.array([[2.0, 0.5], [0.5, 1.0]])


def quietly(sample: Callable[[], xarray.DataTree]) -> xarray.DataTree:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rc.SampleWarning)
        return sample()


@pytest.fixture(scope="module")
def model() -> rc.Model:
    with granted():
        return rc.compile(
            SGHMC, REGRESSION, step_size=0.2, thin=4, draws=200, warmup=20, variant="full", parameters={M: MASS},
            sizes={"d": 2}, chains=2, scheme="baoab",
        )  # fmt: skip


@pytest.fixture(scope="module")
def tree(model: rc.Model) -> xarray.DataTree:
    return quietly(lambda: model.sample({"x": X, "y": Y}, progress=False))


def test_every_energy_is_that_of_its_formula(tree: xarray.DataTree) -> None:
    z, p = tree["posterior"]["theta"].to_numpy(), tree["auxiliary"]["r"].to_numpy()
    likelihood = -((Y - z @ X.T) ** 2) / 2
    prior = -(z**2).sum(axis=2) / 8
    kinetic = np.einsum("cdi,ij,cdj->cd", p, np.linalg.inv(MASS), p) / 2
    stats = tree["sample_stats"]
    np.testing.assert_allclose(tree["log_likelihood"]["log_likelihood"], likelihood, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(tree["log_prior"]["log_prior"], prior, rtol=1e-10)
    np.testing.assert_allclose(stats["lp"], prior + likelihood.sum(axis=2), rtol=1e-12)
    np.testing.assert_allclose(stats["energy"], kinetic - prior - likelihood.sum(axis=2), rtol=1e-12)
    np.testing.assert_allclose(stats["temperature"], kinetic, rtol=1e-10)  # r . dH/dr / 2, in two dimensions
    assert (stats["step_size"] == 0.2).all()
    np.testing.assert_array_equal(tree["constant_data"]["x"], X)


@pytest.mark.slow
def test_the_log_prior_is_of_the_blocks_as_declared(tmp_path: Path, taken_for_granted: None) -> None:
    """tau = exp(u): the Jacobian is in lp, as it is of u, and in no prior."""
    target = tmp_path / "scale.yaml"
    target.write_text(
        "format: 1\nname: scale\nstate:\n  tau: {shape: k, domain: positive, transform: log}\n  m: {shape: scalar}\n"
        "data:\n  y: {shape: N}\nlog_prior: -tau.T @ tau / 2 - m**2/2\n"
        "log_likelihood: -(y - m)**2*sum(tau)/2 + log(sum(tau))/2\n"
    )
    model = rc.compile(SGHMC, rc.load(target), step_size=0.1, draws=20, warmup=5, chains=2, variant="full",
                       sizes={"d": 3, "k": 2}, parameters={M: np.eye(3)}, scheme="baoab")  # fmt: skip
    tree = quietly(lambda: model.sample({"y": Y}, progress=False))
    tau, m = tree["posterior"]["tau"].to_numpy(), tree["posterior"]["m"].to_numpy()
    prior = -(tau**2).sum(axis=2) / 2 - m**2 / 2
    total = tau.sum(axis=2)
    likelihood = -((Y - m[..., None]) ** 2) * total[..., None] / 2 + np.log(total)[..., None] / 2
    np.testing.assert_allclose(tree["log_prior"]["log_prior"], prior, rtol=1e-12)
    jacobian = np.log(tau).sum(axis=2)
    np.testing.assert_allclose(tree["sample_stats"]["lp"], prior + jacobian + likelihood.sum(axis=2), rtol=1e-11)


@pytest.mark.slow
def test_the_log_likelihood_is_kept_where_it_is_small_or_asked_for(
    model: rc.Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = {"x": X, "y": Y}
    assert "log_likelihood" not in quietly(lambda: model.sample(given, progress=False, log_likelihood=False)).children
    monkeypatch.setattr(energies, "LARGEST", 8 * 2 * 200 * 12 - 1)
    tree = quietly(lambda: model.sample(given, progress=False))
    assert {"log_likelihood", "log_prior"}.isdisjoint(tree.children)
    assert "lp" in tree["sample_stats"]
    assert tree.attrs["left_out"].startswith("log_likelihood is left out: it takes 0 MB; --log-likelihood")
    assert "log_likelihood" in quietly(lambda: model.sample(given, progress=False, log_likelihood=True)).children

"""PyMC models in emitted samplers: their densities, gradients and names, minibatches, what is refused.

All but the refusal without PyMC needs the extra `pymc`; `.ci/hosts` has it.
"""

import sys
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import recipe_compiler as rc
from recipe_compiler.errors import DataError, RunError

pytestmark = pytest.mark.filterwarnings("default")  # PyMC and what it imports warn of each other

rng = np.random.default_rng(4)
X = rng.standard_normal((120, 3)) * [1.0, 0.3, 2.0]
Y = X @ [1.0, -2.0, 0.5] + rng.standard_normal(120)


def test_without_pymc_it_is_said_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pymc", None)
    with pytest.raises(RunError, match=r'found no PyMC, .*: pip install "recipe_compiler\[pymc\]"'):
        rc.from_pymc(None)


@pytest.fixture(scope="module")
def pm() -> Any:
    return pytest.importorskip("pymc")


def regression(pm: Any, **of_likelihood: Any) -> Any:
    with pm.Model(coords={"covariate": ["a", "b", "c"]}) as model:
        x, y = pm.Data("x", X), pm.Data("y", Y)
        beta = pm.Normal("beta", 0.0, 2.0, dims="covariate")
        pm.Deterministic("doubled", 2.0 * beta, dims="covariate")
        pm.Normal("obs", x @ beta, 1.0, observed=y, **of_likelihood)
    return model


def posterior() -> tuple[np.ndarray, np.ndarray]:
    covariance = np.linalg.inv(X.T @ X + np.eye(3) / 4.0)
    return covariance @ X.T @ Y, np.sqrt(np.diag(covariance))


@pytest.mark.slow
def test_log_density_and_gradient_are_those_of_pymc(pm: Any) -> None:
    with pm.Model() as model:
        y = pm.Data("y", Y)
        shares = pm.Dirichlet("shares", np.ones(3))
        scale = pm.HalfNormal("scale", 1.0)
        z = pm.Normal("z", 0.0, 1.0, shape=(2, 2))
        pm.Normal("obs", shares @ [1.0, 2.0, 3.0] + z.sum(), scale, observed=y)
    own = rc.from_pymc(model)
    assert own.names == (
        *("shares_simplex__[0]", "shares_simplex__[1]", "scale_log__"),
        *("z[0, 0]", "z[0, 1]", "z[1, 0]", "z[1, 1]"),
    )
    logp, dlogp = model.compile_logp(), model.compile_dlogp()
    for theta in rng.standard_normal((3, 7)):
        point = {"shares_simplex__": theta[:2], "scale_log__": theta[2], "z": theta[3:].reshape(2, 2)}
        assert own.U(theta, *own.data) == pytest.approx(-logp(point), rel=1e-12)
        np.testing.assert_allclose(own.grad_U(theta, *own.data), -dlogp(point), rtol=1e-9)


def departures(fit: Any) -> np.ndarray:
    """Return how many Monte Carlo errors the means are off, and by what part the sds."""
    mean, sd = posterior()
    draws = fit["posterior"]["beta"]
    import arviz_stats  # noqa: F401  what PyMC's own ArviZ may lack

    error = sd / np.sqrt(fit["posterior"].azstats.ess()["beta"].to_numpy())
    flat = draws.to_numpy().reshape(-1, 3)
    return np.array([(flat.mean(axis=0) - mean) / error, flat.std(axis=0) / sd - 1.0])


@pytest.mark.slow
def test_names_dims_and_moments_of_hmc(pm: Any) -> None:
    fit = rc.from_pymc(regression(pm)).sample(progress=False)
    means, sds = departures(fit)
    assert np.abs(means).max() < 4.5
    assert np.abs(sds).max() < 0.08
    assert fit["posterior"]["beta"].dims == ("chain", "draw", "covariate")
    assert [*fit["posterior"]["covariate"].to_numpy()] == ["a", "b", "c"]
    np.testing.assert_allclose(fit["posterior"]["doubled"], 2.0 * fit["posterior"]["beta"])
    np.testing.assert_array_equal(fit["observed_data"]["obs"], Y)
    np.testing.assert_array_equal(fit["constant_data"]["x"], X)
    assert abs(float(fit["sample_stats"]["acceptance_rate"].mean()) - 0.8) < 0.1
    assert fit.verdict.trust.startswith("trust: yes")
    assert not fit.verdict.doubts


@pytest.mark.slow
@pytest.mark.parametrize("scaled", [{}, {"total_size": 120}], ids=["by N/n", "by total_size"])
def test_minibatches_are_scaled_once(pm: Any, scaled: dict[str, Any]) -> None:
    own = rc.from_pymc(regression(pm, **scaled), minibatch=["x", "y"])
    theta = np.array([0.5, -1.0, 2.0])
    batch = np.array([3, 50, 7, 90], np.uint64)
    rows, left = X[batch.astype(int)], Y[batch.astype(int)] - X[batch.astype(int)] @ theta
    assert own.grad_U_of_batch is not None
    found = own.grad_U_of_batch(theta, batch, *own.data)
    np.testing.assert_allclose(found, theta / 4.0 - 30.0 * rows.T @ left, rtol=1e-9)
    if scaled:
        return
    fit = own.sample(
        rc.compile("sghmc", scheme="baoab", variant="minibatch"), batch_size=30, share=0.04, progress=False
    )
    means, sds = departures(fit)
    assert np.abs(means).max() < 4.5
    assert np.abs(sds).max() < 0.04 + 0.08  # the share, and Monte Carlo errors
    assert fit.verdict.trust.startswith("trust: yes")
    assert 0.0 < fit.attrs["step_size"] < 0.2  # the noise of batches allows some 4 share/(N/n - 1)
    assert fit.attrs["thin"] > 1


@pytest.mark.slow
def test_a_wrong_gradient_is_refused(pm: Any) -> None:
    from numba import njit

    own = rc.from_pymc(regression(pm))
    right = own.grad_U
    wrong = njit(lambda theta, *data: right(theta, *data) + np.array([0.0, 0.5, 0.0]))
    with pytest.raises(ValueError, match=r"is not grad U at theta = .*: found grad_U\[1\] = "):
        replace(own, grad_U=wrong).sample(progress=False)


@pytest.mark.slow
def test_what_minibatches_cannot_scale_is_refused(pm: Any) -> None:
    with regression(pm) as model:
        pm.Potential("own", -(model["y"] ** 2).sum() * model["beta"][0])
    with pytest.raises(DataError, match="minibatch: found 'y' in the density of free variables or in a potential"):
        rc.from_pymc(model, minibatch=["x", "y"])


@pytest.mark.slow
def test_what_no_sampler_takes_is_refused(pm: Any) -> None:
    with pytest.raises(DataError, match=r"minibatch: found 'u', expected names of pm.Data, of which there are x, y"):
        rc.from_pymc(regression(pm), minibatch=["u"])
    with pytest.raises(TypeError, match=r"model: found int, expected a pymc\.Model"):
        rc.from_pymc(3)
    with pm.Model() as model:
        k = pm.Poisson("k", 3.0)
        pm.Normal("obs", k, 1.0, observed=Y)
    with pytest.raises(DataError, match="found the discrete k, expected continuous variables"):
        rc.from_pymc(model)
    own = rc.from_pymc(regression(pm))
    with pytest.raises(RunError, match=r"sghmc: no step_size was found: .* within 1e-08 %.* State `step_size`"):
        own.sample(rc.compile("sghmc", scheme="baoab"), share=1e-10, progress=False)
    with pytest.raises(RunError, match="sghmc: found no minibatches, expected some"):
        own.sample(rc.compile("sghmc", scheme="baoab", variant="minibatch"), step_size=0.1)
    with pytest.raises(RunError, match="found a target, expected dynamics alone"):
        own.sample(rc.compile("hmc_double_well"))

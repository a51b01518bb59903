"""Data drawn by posterior and prior, and the calls of ArviZ that take them, or the log likelihood and the energies."""

import warnings
from pathlib import Path

import arviz_stats
import numpy as np
import pytest
import xarray
from loaders import load_target
from reports import granted
from scipy import stats

import recipe_compiler as rc
from recipe_compiler.errors import RunError
from recipe_compiler.run.data import data_of
from recipe_compiler.run.predictive import add_predictive, predictive_of

theta, r = rc.vector("theta", "d"), rc.vector("r", "d")
U = rc.function("U", of=theta, role="potential")
UNDERDAMPED = rc.Dynamics(
    name="underdamped", state=[theta, r], H=U + r.T @ r / 2, D=[[0, 0], [0, rc.I]], Q=[[0, -rc.I], [rc.I, 0]],
)  # fmt: skip
RNG = np.random.default_rng(2)
X = RNG.normal(size=(30, 2))
Y = X @ [1.0, -0.5] + 0.7 * RNG.normal(size=30)
TARGET = """format: 1
name: regression
state:
  beta: {shape: k}
  sigma: {shape: scalar, domain: positive, transform: log}
data:
  x: {shape: [N, k]}
  y: {shape: N}
log_prior: normal(beta, 0, 2) + exponential(sigma, 3)
log_likelihood: normal(y, x @ beta, sigma)
"""


def made(folder: Path, text: str = TARGET, **settings: object) -> rc.Model:
    file = folder / "target.yaml"
    file.write_text(text)
    given: dict[str, object] = {"draws": 400, "warmup": 100, "thin": 30, "chains": 2, "seed": 4} | settings
    with granted():
        return rc.compile(UNDERDAMPED, rc.load(file), scheme="baoab", step_size=0.02, variant="full", name="regression",
                          sizes={"k": 2, "d": 3}, **given)  # fmt: skip


def drawn(model: rc.Model, **given: object) -> xarray.DataTree:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rc.SampleWarning)
        return model.sample({"x": X, "y": Y}, progress=False, **given)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> rc.Model:
    return made(tmp_path_factory.mktemp("regression"))


@pytest.fixture(scope="module")
def tree(model: rc.Model) -> xarray.DataTree:
    return drawn(model)


@pytest.mark.slow
def test_posterior_data_have_the_law_that_is_stated(tree: xarray.DataTree) -> None:
    """(y~ - x beta)/sigma is N(0, 1) and independent: 24,000 of them, by Kolmogorov's distance at 1e-6."""
    beta, sigma = (tree["posterior"][name].to_numpy() for name in ("beta", "sigma"))
    made = tree["posterior_predictive"]["y"].to_numpy()
    assert made.shape == (2, 400, 30)
    standard = (made - beta @ X.T) / sigma[..., None]
    assert stats.kstest(standard.ravel(), "norm").pvalue > 1e-6
    assert abs(np.corrcoef(standard.reshape(-1, 30)[:, :2].T)[0, 1]) < 5 / np.sqrt(800)


@pytest.mark.slow
def test_the_prior_is_drawn_from_what_is_stated(tree: xarray.DataTree) -> None:
    prior = tree["prior"]
    assert stats.kstest(prior["beta"].to_numpy().ravel() / 2, "norm").pvalue > 1e-6
    assert stats.kstest(prior["sigma"].to_numpy().ravel() * 3, "expon").pvalue > 1e-6
    residual = tree["prior_predictive"]["y"].to_numpy() - prior["beta"].to_numpy() @ X.T
    assert stats.kstest((residual / prior["sigma"].to_numpy()[..., None]).ravel(), "norm").pvalue > 1e-6


@pytest.mark.slow
def test_the_same_seed_draws_the_same_data(model: rc.Model, tree: xarray.DataTree) -> None:
    again = drawn(model, cores=1)
    for group in ("posterior_predictive", "prior", "prior_predictive"):
        xarray.testing.assert_equal(again[group].to_dataset(), tree[group].to_dataset())


def test_what_is_observed_stands_apart(model: rc.Model) -> None:
    tree = drawn(model, draws=20, warmup=2, thin=1)
    np.testing.assert_array_equal(tree["observed_data"]["y"], Y)
    np.testing.assert_array_equal(tree["constant_data"]["x"], X)
    assert "y" not in tree["constant_data"]
    beta, sigma = (tree["posterior"][name].to_numpy() for name in ("beta", "sigma"))
    exact = stats.norm.logpdf(Y, beta @ X.T, sigma[..., None])
    np.testing.assert_allclose(tree["log_likelihood"]["y"], exact, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize(
    ("law", "said"),
    [
        ("normal(y, x @ beta, sigma) - y**4", "found one of y and a summand beside it that y stands in"),
        ("normal(y, 0, sigma) + normal(y - x @ beta, 0, 1)", "found one of y and a summand beside it"),
        ("normal(y, x @ beta + y/2, sigma)", "found one of y that names it"),
        ("normal(y, w, sigma) + normal(w, y, sigma)", "found densities of y, w that name each other"),
        ("normal(y, x @ beta, sigma) + normal(y, 0, 1)", "found two of y"),
        ("-(y - x @ beta)**2/2", "found none, expected a summand of log_likelihood"),
        ("2*normal(y, x @ beta, sigma)", "found a part of a formula of y"),
        (
            "normal(y, x @ beta, sigma) - log_ndtr(x @ beta/sigma)",
            "found one of y and a summand beside it that depends",
        ),
        ("poisson_log(y, x @ beta) - log1p(-exp(-exp(x @ beta)))", "found one of y and a summand .* depends on beta,"),
    ],
)
def test_densities_that_are_not_the_law_of_the_data_are_refused(tmp_path: Path, law: str, said: str) -> None:
    with pytest.raises(RunError, match=f"^log_likelihood.*: {said}"):
        predictive_of(load_target(of_two_fields(tmp_path, law)))


@pytest.mark.parametrize(
    ("law", "kinds", "said"),
    [
        ("normal(y, x @ beta, sigma)", "positive", "normal of y, which need not be positive"),
        ("normal(y, x @ beta, sigma)", "nonnegative", "normal of y, which need not be nonnegative"),
        ("normal(y, x @ beta, sigma)", "nonzero", ""),
        ("lognormal(y, x @ beta, sigma)", "positive", ""),
        ("exponential(y, sigma)", "positive", ""),
        ("poisson_log(y, x @ beta)", "[integer, nonnegative]", ""),
        ("poisson_log(y, x @ beta)", "[integer, positive]", "poisson_log of y, which need not be positive"),
        ("uniform(y, -sigma, sigma)", "nonnegative", "uniform of y, which need not be nonnegative"),
    ],
)
def test_data_are_drawn_by_a_law_of_the_kinds_that_they_are_declared(
    tmp_path: Path, law: str, kinds: str, said: str
) -> None:
    text = TARGET.replace("normal(y, x @ beta, sigma)", law).replace("y: {shape: N}", f"y: {{shape: N, is: {kinds}}}")
    (tmp_path / "t.yaml").write_text(text)
    target = load_target(tmp_path / "t.yaml")
    if not said:
        assert [one.of for one in predictive_of(target).fields] == ["y"]
        return
    with pytest.raises(RunError, match=f"^log_likelihood.*: found {said} as y is declared"):
        predictive_of(target)


@pytest.mark.slow
def test_values_that_are_not_allowed_are_not_drawn(tmp_path: Path) -> None:
    text = TARGET.replace("normal(y, x @ beta, sigma)", "poisson_log(y, x @ beta)").replace(
        "y: {shape: N}", "y: {shape: N, in: [0, 1]}"
    )
    build = made(tmp_path, text).build.document
    states = {"beta": (("chain", "draw", "k"), np.ones((1, 20, 2))), "sigma": (("chain", "draw"), np.ones((1, 20)))}
    tree = xarray.DataTree.from_dict({"posterior": xarray.Dataset(states, coords={"chain": [0]})})
    data = data_of({"x": X, "y": (Y > 0).astype(float)}, build.target)
    with pytest.raises(RunError, match="poisson_log of y draws values that `in` excludes"):
        add_predictive(tree, build, data, build.run, {"N": 30, "k": 2})


@pytest.mark.slow
def test_a_field_is_drawn_after_those_that_its_law_names(tmp_path: Path) -> None:
    """w | y ~ N(2 y, 0.01^2) follows the y that is drawn, not the one observed."""
    file = of_two_fields(tmp_path, "normal(w, 2*y, 0.01) + normal(y, x @ beta, sigma)")
    build = made(tmp_path, file.read_text()).build.document
    states = {"beta": np.zeros((1, 200, 2)), "sigma": np.ones((1, 200))}
    variables = {name: (("chain", "draw", *("beta_dim_0",)[: values.ndim - 2]), values)
                 for name, values in states.items()}  # fmt: skip
    tree = xarray.DataTree.from_dict({"posterior": xarray.Dataset(variables, coords={"chain": [0]})})
    data = data_of({"x": X, "y": Y, "w": 2 * Y}, build.target)
    add_predictive(tree, build, data, build.run, {"N": 30, "k": 2})
    y, w = (tree["posterior_predictive"][name].to_numpy() for name in ("y", "w"))
    assert 0.9 < y.std() < 1.1
    assert 0.009 < (w - 2 * y).std() < 0.011


def of_two_fields(folder: Path, law: str) -> Path:
    file = folder / "target.yaml"
    text = TARGET.replace("  y: {shape: N}\n", "  y: {shape: N}\n  w: {shape: N}\n")
    file.write_text(text.replace("normal(y, x @ beta, sigma)", law))
    return file


OF_ONE_BLOCK = """name: t
state: {W: {BLOCK}}
data: {y: {shape: N}}
log_prior: PRIOR
log_likelihood: normal(y, sum(W), 1)
"""


@pytest.mark.parametrize(
    ("block", "prior"),
    [
        ("shape: [2, 2], constraint: cov_matrix", "normal(W, 0, 1)"),
        ("shape: [2, 2], constraint: cholesky_factor_cov", "normal(W, 0, 1)"),
        ("shape: [2, 2], constraint: cholesky_factor_cov", "multi_normal_cholesky(W, 0, 1)"),
        ("shape: 3, constraint: ordered", "normal(W, 0, 1)"),
        ("shape: 3, constraint: positive_ordered", "half_normal(W, 1)"),
        ("shape: 3, constraint: simplex", "beta(W, 2, 2)"),
        ("shape: 3, constraint: unit_vector", "uniform(W, -1, 1)"),
        ("shape: 3, domain: simplex", "beta(W, 2, 2)"),
        ("shape: 2, constraint: lower(1)", "normal(W, 0, 1)"),
        ("shape: 2, constraint: upper(1)", "student_t(W, 3, 0, 1)"),
    ],
)
def test_a_law_of_entries_is_not_drawn_of_a_block_in_a_set(tmp_path: Path, block: str, prior: str) -> None:
    """Draws of entries would be no covariance, in no order, of no sum."""
    (tmp_path / "t.yaml").write_text(OF_ONE_BLOCK.replace("BLOCK", block).replace("PRIOR", prior))
    found = predictive_of(load_target(tmp_path / "t.yaml"))
    assert not found.blocks
    assert f"{prior.split('(')[0]} of W is truncated by its domain" in found.why_no_prior


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:The inplace keyword")  # of pandas, in arviz_stats.compare
def test_the_calls_of_arviz(tree: xarray.DataTree, tmp_path: Path) -> None:
    file = rc.Fit.of(tree).save(tmp_path / "run.nc")
    for found in (tree, rc.Fit.read(file)):
        loo = arviz_stats.loo(found)
        assert np.isfinite(loo.elpd)
        assert loo.n_data_points == 30
        assert set(arviz_stats.compare({"a": found, "b": found}).index) == {"a", "b"}
        assert np.isfinite(arviz_stats.summary(found).to_numpy(dtype=float)).all()
        assert np.isfinite(arviz_stats.bfmi(found)["energy"]).all()
        assert len(arviz_stats.psense_summary(found)) == 3
        assert np.isfinite(arviz_stats.loo_pit(found)["y"]).all()
        for of in (arviz_stats.ess, arviz_stats.rhat, arviz_stats.mcse):
            assert np.isfinite(of(found)["beta"]).all()
        assert np.isfinite(arviz_stats.hdi(found)["beta"]).all()


BY_LOG_LIKELIHOOD = ("loo", "psense_summary", "bfmi", "summary", "ess", "rhat", "mcse", "hdi")
"""Calls of arviz_stats that no density has to be named for."""


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> xarray.DataTree:
    """A run of a target that names no density."""
    text = TARGET.replace("normal(y, x @ beta, sigma)", "-log(sigma) - ((y - x @ beta)/sigma)**2/2")
    text = text.replace("normal(beta, 0, 2) + exponential(sigma, 3)", "-norm2(beta)/8 - 3*sigma")
    return drawn(made(tmp_path_factory.mktemp("plain"), text))


@pytest.mark.slow
def test_a_target_without_named_densities_has_the_calls_that_need_none(plain: xarray.DataTree) -> None:
    said = plain.attrs["left_out"]
    assert "posterior_predictive is left out: log_likelihood of regression: found none, expected a summand" in said
    assert "observed_data" not in plain.children
    for name in BY_LOG_LIKELIHOOD:
        assert getattr(arviz_stats, name)(plain) is not None
    assert np.isfinite(arviz_stats.loo(plain).elpd)

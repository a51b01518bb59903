"""What a run stores beside its draws: energies, what is derived, data by posterior and prior; and a second run."""

import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import arviz_stats
import numpy as np
import pytest
import xarray
from answers import SPECS, document
from reports import granted
from scipy import stats

import recipe_compiler as rc
from recipe_compiler.errors import DocumentError, RunError
from recipe_compiler.run import energies
from recipe_compiler.run.data import data_of
from recipe_compiler.run.posterior_numbers import posterior_numbers
from recipe_compiler.run.predictive import add_predictive, predictive_of
from recipe_compiler.run.rerun import same_draws

DYNAMICS = """
state: {theta: {shape: d}, r: {shape: d}}
parameters: {M: {shape: [d, d], is: positive definite}}
functions: {U: {of: theta, role: potential}}
H: U(theta) + r.T @ inv(M) @ r/2
D: [[0, 0], [0, M]]
Q: [[0, -I], [I, 0]]
"""
RNG = np.random.default_rng(2)
X = RNG.normal(size=(30, 2))
Y = X @ [1.0, -0.5] + 0.7 * RNG.normal(size=30)
GIVEN = {"x": X, "y": Y}
MASS = np.array([[2.0, 0.5, 0.0], [0.5, 1.0, 0.25], [0.0, 0.25, 1.5]])
LAW, PRIOR, FIELD = "normal(y, x @ beta, sigma)", "normal(beta, 0, 2) + exponential(sigma, 3)", "y: {shape: N}"
TARGET = f"""name: regression
state: {{beta: {{shape: k}}, sigma: {{shape: scalar, domain: positive, transform: log}}}}
data: {{x: {{shape: [N, k]}}, {FIELD}}}
parameters: {{s: {{is: positive, default: 2}}}}
log_prior: {PRIOR}
log_likelihood: {LAW}
derived: {{effects: sigma*beta, both: beta @ beta.T/s, log_sigma_again: log(sigma)}}
"""


def target(*changes: tuple[str, str]) -> Any:
    text = TARGET
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    return document(text)


def made(*changes: tuple[str, str]) -> rc.Model:
    dynamics, own = document(DYNAMICS).source.file, target(*changes).source.file
    with granted():
        return rc.compile(
            rc.load(dynamics), rc.load(own), scheme="baoab", step_size=0.02, variant="full", name="regression",
            sizes={"k": 2, "d": 3}, parameters={"M": MASS}, draws=400, warmup=100, thin=30, chains=2, seed=4,
            derived={"first": "beta[0]*s*k"},
        )  # fmt: skip


def quietly(sample: Callable[[], Any]) -> Any:
    with granted(), warnings.catch_warnings():
        warnings.simplefilter("ignore", rc.SampleWarning)
        return sample()


def drawn(model: rc.Model, **given: object) -> xarray.DataTree:
    return quietly(lambda: model.sample(GIVEN, progress=False, **given))


def state_of(tree: xarray.DataTree) -> tuple[np.ndarray, np.ndarray]:
    return tree["posterior"]["beta"].to_numpy(), tree["posterior"]["sigma"].to_numpy()


@pytest.fixture(scope="module")
def model() -> rc.Model:
    return made()


@pytest.fixture(scope="module")
def few(model: rc.Model) -> xarray.DataTree:
    return drawn(model, draws=40, warmup=3, thin=2)


@pytest.fixture(scope="module")
def tree(model: rc.Model) -> xarray.DataTree:
    return drawn(model)


def test_every_energy_is_that_of_its_formula(few: xarray.DataTree) -> None:
    """sigma = exp(u): the Jacobian is in lp, as it is of u, and in no prior."""
    (beta, sigma), r, found = state_of(few), few["auxiliary"]["r"].to_numpy(), few["sample_stats"]
    likelihood = stats.norm.logpdf(Y, beta @ X.T, sigma[..., None])
    prior = stats.norm.logpdf(beta, 0, 2).sum(axis=2) + stats.expon.logpdf(sigma, scale=1 / 3)
    lp, kinetic = prior + np.log(sigma) + likelihood.sum(axis=2), np.einsum("cdi,ij,cdj->cd", r, np.linalg.inv(MASS), r)
    np.testing.assert_allclose(few["log_likelihood"]["y"], likelihood, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(few["log_prior"]["log_prior"], prior, rtol=1e-10)
    np.testing.assert_allclose(found["lp"], lp, rtol=1e-10)
    np.testing.assert_allclose(found["energy"], kinetic / 2 - lp, rtol=1e-10)
    np.testing.assert_allclose(found["temperature"], kinetic / 3, rtol=1e-10)
    assert (found["step_size"] == 0.02).all()
    np.testing.assert_array_equal(few["observed_data"]["y"], Y)
    np.testing.assert_array_equal(few["constant_data"]["x"], X)
    assert "y" not in few["constant_data"]


def test_what_is_derived_has_its_formula_shape_and_numbers(few: xarray.DataTree) -> None:
    beta, sigma = state_of(few)
    names = ["beta", "sigma", "effects", "both", "log_sigma_again", "first"]
    assert list(few["posterior"].data_vars) == names
    formulas = (beta, sigma, sigma[..., None] * beta, np.einsum("cdi,cdj->cdij", beta, beta) / 2, np.log(sigma))
    for name, expected in zip(names, (*formulas, beta[..., 0] * 2 * 2), strict=True):
        np.testing.assert_allclose(few["posterior"][name], expected, err_msg=name)
    assert "effects" not in few["warmup_posterior"]
    rows = [row for row in posterior_numbers(few).rows if row.name.startswith(("effects", "both"))]
    assert len(rows) == 2 + 4
    effects = few["posterior"]["effects"].to_numpy()[..., 1]
    assert rows[1].value("mean") == pytest.approx(effects.mean(), rel=1e-12)
    assert rows[1].value("r_hat") == pytest.approx(float(arviz_stats.rhat(effects)), rel=1e-12)
    assert rows[4].value("ess_bulk") != rows[5].value("ess_bulk")


@pytest.mark.slow
def test_the_log_likelihood_is_kept_where_it_is_small_or_asked_for(
    model: rc.Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "log_likelihood" not in drawn(model, log_likelihood=False).children
    monkeypatch.setattr(energies, "LARGEST", 8 * 2 * 400 * 30 - 1)
    tree = drawn(model)
    assert {"log_likelihood", "log_prior"}.isdisjoint(tree.children)
    assert "lp" in tree["sample_stats"]
    assert "log_likelihood is left out: it takes 0 MB; --log-likelihood" in tree.attrs["left_out"]
    assert "log_likelihood" in drawn(model, log_likelihood=True).children


# a second run


@pytest.fixture(scope="module")
def fit(few: xarray.DataTree, tmp_path_factory: pytest.TempPathFactory) -> rc.Fit:
    return rc.Fit.read(rc.Fit.of(few).save(tmp_path_factory.mktemp("again") / "run.nc"))


def again(fit: rc.Fit, data: dict[str, np.ndarray] | None) -> xarray.DataTree:
    return quietly(lambda: rc.rerun(fit, data, progress=False))


def test_a_second_run_has_the_same_bits_from_the_file_and_the_data(fit: rc.Fit) -> None:
    found = again(fit, GIVEN)
    assert same_draws(fit, found)
    assert found.attrs["run_settings"] == fit.attrs["run_settings"]
    assert json.loads(str(fit.attrs["run_settings"]))["seed"] == 4
    moved = found.copy(deep=True)
    moved["posterior"]["beta"][0, 3, 1] = np.nextafter(float(moved["posterior"]["beta"][0, 3, 1]), 9.0)
    assert not same_draws(fit, moved)
    other = X.copy()
    other[8, 1] += 1e-12
    with pytest.raises(RunError, match=r"cannot be made again\ndata x: found \w{24} there, expected \w{24}$"):
        again(fit, {**GIVEN, "x": other})
    with pytest.raises(RunError, match="found no data, expected those of the run"):
        again(fit, None)


UNREAD = "found `{}` in it that cannot be read, .*the file was changed"


@pytest.mark.parametrize(
    ("name", "found", "says"),
    [
        ("run_facts", {"code run": "0" * 24}, "code run: found 0{24} there, expected"),
        ("documents", None, "found no documents in it"),
        ("documents", '{"documents": {}', UNREAD),
        ("documents", '{"documents": {}}', UNREAD),
        ("run_settings", "{}", UNREAD),
        ("run_settings", '{"draws": 5, "schedule": {"speed": 1}}', UNREAD),
        ("run_settings", {"draws": "many"}, r"draws: found 'many' \(str\), expected a whole number"),
        ("run_facts", "[1]", UNREAD),
        ("run_facts", "", UNREAD),
    ],
)
def test_what_no_run_has_written_is_refused(fit: rc.Fit, name: str, found: str | dict | None, says: str) -> None:
    """A mapping changes entries of what was written, and None takes it away."""
    changed = rc.Fit.of(fit.copy())
    text = json.dumps(json.loads(str(fit.attrs[name])) | found) if isinstance(found, dict) else found
    changed.attrs = {key: value for key, value in {**fit.attrs, name: text}.items() if value is not None}
    with pytest.raises(RunError, match=says.format(name) if says == UNREAD else says):
        again(changed, GIVEN)


@pytest.mark.slow
def test_a_folder_takes_the_place_of_the_one_that_it_was_in(tmp_path: Path) -> None:
    build = (
        "name: b\ndynamics: own.yaml\ntarget: target.yaml\nscheme: {name: euler}\nvariant: full\nbind: {D: I}\n"
        "data: {file: x.csv, x: [a, b], y: y}\nrun: {step_size: 0.01, draws: 20, warmup: 5, chains: 2}\n"
    )
    sgld = (SPECS / "dynamics/sgld.yaml").read_text(encoding="utf-8")
    for folder in ("first", "moved"):
        (tmp_path / folder).mkdir()
        np.savetxt(tmp_path / folder / "x.csv", np.column_stack([X, Y]), delimiter=",", header="a,b,y", comments="")
    for name, text in {"b": build, "own": sgld, "target": TARGET}.items():
        (tmp_path / "first" / f"{name}.yaml").write_text(text)
    with granted():
        fit = quietly(lambda: rc.compile(tmp_path / "first/b.yaml").sample(progress=False))
    for path in (tmp_path / "first").iterdir():
        path.unlink()
    assert same_draws(fit, quietly(lambda: rc.rerun(fit, folder=tmp_path / "moved", progress=False)))
    with pytest.raises((RunError, DocumentError, rc.DataError), match=r"x\.csv"):
        again(fit, None)


# data drawn by posterior and prior


@pytest.mark.slow
def test_posterior_and_prior_data_have_the_laws_that_are_stated(model: rc.Model, tree: xarray.DataTree) -> None:
    """(y~ - x beta)/sigma is N(0, 1) and independent: 24,000 of them, by Kolmogorov's distance at 1e-6."""
    beta, sigma = state_of(tree)
    assert tree["posterior_predictive"]["y"].shape == (2, 400, 30)
    standard = (tree["posterior_predictive"]["y"].to_numpy() - beta @ X.T) / sigma[..., None]
    assert abs(np.corrcoef(standard.reshape(-1, 30)[:, :2].T)[0, 1]) < 5 / np.sqrt(800)
    prior = {name: tree["prior"][name].to_numpy() for name in ("beta", "sigma")}
    residual = tree["prior_predictive"]["y"].to_numpy() - prior["beta"] @ X.T
    for values, law in (
        (standard, "norm"), (prior["beta"] / 2, "norm"), (prior["sigma"] * 3, "expon"),
        (residual / prior["sigma"][..., None], "norm"),
    ):  # fmt: skip
        assert stats.kstest(values.ravel(), law).pvalue > 1e-6
    second = drawn(model, cores=1)
    for group in ("posterior_predictive", "prior", "prior_predictive"):
        xarray.testing.assert_allclose(second[group].to_dataset(), tree[group].to_dataset(), rtol=1e-6)


TWO_FIELDS = (FIELD, f"{FIELD}, w: {{shape: N}}")


@pytest.mark.parametrize(
    ("law", "said"),
    [
        (f"{LAW} - y**4", "found one of y and a summand beside it that contains y"),
        ("normal(y, 0, sigma) + normal(y - x @ beta, 0, 1)", "found one of y and a summand beside it"),
        ("normal(y, x @ beta + y/2, sigma)", "found one of y that uses it"),
        ("normal(y, w, sigma) + normal(w, y, sigma)", "found densities of y, w that use each other"),
        (f"{LAW} + normal(y, 0, 1)", "found two of y"),
        ("-(y - x @ beta)**2/2", "found none, expected a summand of log_likelihood"),
        (f"2*{LAW}", "found a part of a formula of y"),
        (f"{LAW} - log_ndtr(x @ beta/sigma)", "found one of y and a summand beside it that depends"),
        ("poisson_log(y, x @ beta) - log1p(-exp(-exp(x @ beta)))", "found one of y and a summand .* depends on beta,"),
    ],
)
def test_densities_that_are_not_the_law_of_the_data_are_refused(law: str, said: str) -> None:
    with pytest.raises(RunError, match=f"^log_likelihood.*: {said}"):
        predictive_of(target(TWO_FIELDS, (LAW, law)))


@pytest.mark.parametrize(
    ("law", "kinds", "said"),
    [
        (LAW, "positive", "normal of y, which need not be positive"),
        (LAW, "nonnegative", "normal of y, which need not be nonnegative"),
        (LAW, "nonzero", ""),
        ("lognormal(y, x @ beta, sigma)", "positive", ""),
        ("exponential(y, sigma)", "positive", ""),
        ("poisson_log(y, x @ beta)", "[integer, nonnegative]", ""),
        ("poisson_log(y, x @ beta)", "[integer, positive]", "poisson_log of y, which need not be positive"),
        ("uniform(y, -sigma, sigma)", "nonnegative", "uniform of y, which need not be nonnegative"),
    ],
)
def test_data_are_drawn_by_a_law_of_the_kinds_that_they_are_declared(law: str, kinds: str, said: str) -> None:
    own = target((FIELD, f"y: {{shape: N, is: {kinds}}}"), (LAW, law))
    if not said:
        assert [one.of for one in predictive_of(own).fields] == ["y"]
        return
    with pytest.raises(RunError, match=f"^log_likelihood.*: found {said} as y is declared"):
        predictive_of(own)


def predicted(data: dict[str, np.ndarray], draws: int, *changes: tuple[str, str]) -> xarray.DataTree:
    """Return data drawn at beta = 0 and sigma = 1."""
    build = made(*changes).build.document
    states = {
        "beta": (("chain", "draw", "k"), np.zeros((1, draws, 2))),
        "sigma": (("chain", "draw"), np.ones((1, draws))),
    }
    tree = xarray.DataTree.from_dict({"posterior": xarray.Dataset(states, coords={"chain": [0]})})
    add_predictive(tree, build, data_of(data, build.target), build.run, {"N": 30, "k": 2, "d": 3})
    return tree


@pytest.mark.slow
def test_values_that_are_not_allowed_are_not_drawn() -> None:
    with pytest.raises(RunError, match="poisson_log of y draws values that `in` excludes"):
        predicted({"x": X, "y": (Y > 0).astype(float)}, 20, (LAW, "poisson_log(y, x @ beta)"),
                  (FIELD, "y: {shape: N, in: [0, 1]}"))  # fmt: skip


@pytest.mark.slow
def test_a_field_is_drawn_after_those_that_its_law_names() -> None:
    """w | y ~ N(2 y, 0.01^2) follows the y that is drawn, not the one observed."""
    tree = predicted({**GIVEN, "w": 2 * Y}, 200, TWO_FIELDS, (LAW, f"normal(w, 2*y, 0.01) + {LAW}"))
    y, w = (tree["posterior_predictive"][name].to_numpy() for name in ("y", "w"))
    assert 0.9 < y.std() < 1.1
    assert 0.009 < (w - 2 * y).std() < 0.011


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
def test_a_law_of_entries_is_not_drawn_of_a_block_in_a_set(block: str, prior: str) -> None:
    """Draws of entries would be no covariance, in no order, of no sum."""
    text = f"state: {{W: {{{block}}}}}\ndata: {{y: {{shape: N}}}}\nlog_prior: {prior}\n"
    found = predictive_of(document(f"{text}log_likelihood: normal(y, sum(W), 1)\n"))
    assert not found.blocks
    assert f"{prior.split('(')[0]} of W is truncated by its domain" in found.why_no_prior


CALLS = ("loo", "psense_summary", "bfmi", "summary", "ess", "rhat", "mcse", "hdi")
"""Calls of arviz_stats that no density has to be named for."""


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:The inplace keyword")  # of pandas, in arviz_stats.compare
def test_the_calls_of_arviz(tree: xarray.DataTree, tmp_path: Path) -> None:
    file = rc.Fit.of(tree).save(tmp_path / "run.nc")
    density = "-log(sigma) - ((y - x @ beta)/sigma)**2/2"
    plain = drawn(made((LAW, density), (PRIOR, "-norm2(beta)/8 - 3*sigma")))
    said = plain.attrs["left_out"]
    assert "posterior_predictive is left out: log_likelihood of regression: found none, expected a summand" in said
    assert "observed_data" not in plain.children
    for found in (tree, rc.Fit.read(file), plain):
        assert all(getattr(arviz_stats, name)(found) is not None for name in CALLS)
        loo = arviz_stats.loo(found)
        assert np.isfinite(loo.elpd)
        assert loo.n_data_points == 30
        assert np.isfinite(arviz_stats.summary(found).to_numpy(dtype=float)).all()
        assert np.isfinite(arviz_stats.bfmi(found)["energy"]).all()
        for of in (arviz_stats.ess, arviz_stats.rhat, arviz_stats.mcse, arviz_stats.hdi):
            assert np.isfinite(of(found)["beta"]).all()
        if found is not plain:
            assert set(arviz_stats.compare({"a": found, "b": found}).index) == {"a", "b"}
            assert np.isfinite(arviz_stats.loo_pit(found)["y"]).all()

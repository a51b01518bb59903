"""Scores of a run against closed forms: exact draws have the distances that theory says, wrong laws have others."""

import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from answers import SPECS, document
from reports import granted
from scipy import stats

import recipe_compiler as rc
from recipe_compiler.errors import DocumentError, RunError
from recipe_compiler.run.compare import stored_run
from recipe_compiler.run.posterior_numbers import final_scores, scores_said
from recipe_compiler.run.score_laws import uniforms
from recipe_compiler.run.scores import Parts

COV = np.array([[2.0, 0.9], [0.9, 1.0]])
TARGET = """name: plane
state: {theta: {shape: d}}
parameters: {m: {shape: d}, S: {shape: [d, d], is: positive definite}}
potential: (theta - m).T @ inv(S) @ (theta - m)/2
derived: {both: "theta[0] - theta[1]"}
laws: {theta: "N(m, S)"}
"""
FIRST = {"kl": "theta[0]", "law": "N(1, 2)", "range": [-6, 8], "bins": 50}


def made(scores: dict[str, object], **more: Any) -> rc.Model:
    """Return Gibbs sampling of one block: draws are independent, and exactly of the law."""
    values = {"m": [1, -1], "S": COV}
    given = {"draws": 5000, "warmup": 0, "chains": 4, "seed": 3} | more
    dynamics, target = (rc.load(own) for own in ("still", document(TARGET).source.file))
    with granted():
        return rc.compile(
            dynamics, target, scheme={"cycle": [{"draw": "theta"}]}, sizes={"d": 2}, parameters=values,
            scores=scores, **given,
        )  # fmt: skip


def drawn(scores: dict[str, object], **more: Any) -> Any:
    with granted(), warnings.catch_warnings():
        warnings.simplefilter("ignore", rc.SampleWarning)
        return made(scores, **more).sample(progress=False)


@pytest.fixture(scope="module")
def fit() -> Any:
    return drawn({
        "plane": {"ks": "theta", "law": "N(m, S)"},
        "apart": {"ks": "theta", "law": "N(m, I)"},
        "one": {"ks": "both", "law": "N(2, 6/5)"},
        "first": FIRST,
        "density": {**FIRST, "kl": "both", "law": "exp(-(both - 2)**2/(12/5))", "range": [-3, 7]},
        "shifted": {**FIRST, "law": "N(3/2, 2)", "range": [-7, 9]},
    })  # fmt: skip


def test_exact_draws_are_as_far_as_chance_puts_them(fit: Any) -> None:
    """E sup |F_n - F| = .869/sqrt(n), sd .26/sqrt(n); E KL = (b - 1)/(2 n), sd sqrt(2 (b - 1))/(2 n)."""
    found, n = final_scores(fit), 20_000
    for name in ("plane", "one"):
        assert found[name]["floor"] == pytest.approx(0.8687 / np.sqrt(n), rel=0.05)
        assert abs(found[name]["value"] - 0.8687 / np.sqrt(n)) < 3.0 * 0.26 / np.sqrt(n)
    for name in ("first", "density"):
        floor = found[name]["floor"]
        assert 35 / (2 * n) < floor < 52 / (2 * n)
        assert abs(found[name]["value"] - floor) < 4.0 * np.sqrt(2.0 * 45) / (2 * n)


def test_wrong_laws_are_as_far_as_they_are(fit: Any) -> None:
    """KL of N(1, 2) to N(3/2, 2) is 1/16; of the numbers that N(m, I) makes of draws the KS distances are known."""
    found = final_scores(fit)
    assert found["shifted"]["value"] == pytest.approx(1 / 16, abs=4 * found["shifted"]["error"] + 0.002)
    u = np.linspace(1e-4, 1 - 1e-4, 9999)
    distance = np.max(np.abs(stats.norm.cdf(stats.norm.ppf(u) / np.sqrt(2.0)) - u)) / 2.0  # the second entry is right
    assert found["apart"]["value"] == pytest.approx(distance + 0.5 * 0.87 / np.sqrt(20_000), abs=0.004)
    assert found["apart"]["value"] > 5 * found["plane"]["value"]


def test_scores_are_of_growing_parts(fit: Any, tmp_path: Path) -> None:
    group = fit["scores"].to_dataset()
    assert [*group["draws"].to_numpy()] == [1000 * k for k in range(1, 21)]
    assert [*group["steps"].to_numpy()] == [250 * k for k in range(1, 21)]
    theta = fit["posterior"]["theta"].to_numpy()[:, :1500, 0]
    f = np.histogram(theta, np.linspace(-6, 8, 51))[0] / theta.size
    p = np.diff(stats.norm(1, np.sqrt(2)).cdf(np.linspace(-6, 8, 51)))
    expected = np.sum(f[f > 0] * np.log(f[f > 0] / p[f > 0]))
    assert group["first"].to_numpy()[5] == pytest.approx(expected, abs=1e-6)
    ks = stats.kstest(theta.ravel(), stats.norm(1, np.sqrt(2)).cdf).statistic
    u = stats.norm.cdf(
        (fit["posterior"]["theta"].to_numpy()[:, :1500] - [1, -1]) @ np.linalg.inv(np.linalg.cholesky(COV)).T
    )
    both = np.mean([stats.kstest(u[..., k].ravel(), "uniform").statistic for k in (0, 1)])
    assert stats.kstest(u[..., 0].ravel(), "uniform").statistic == pytest.approx(ks)
    assert group["plane"].to_numpy()[5] == pytest.approx(both, abs=1e-12)
    lines = "\n".join(scores_said(fit))
    assert re.search(r"^score first: 0\.00\d+ \+- 0\.00\d+ \(floor 0\.00\d+\)$", lines, re.MULTILINE)
    assert lines in str(fit)
    path = fit.save(tmp_path / "fit.nc")
    assert stored_run(path).scores == final_scores(fit)
    (picture,) = fit.plot("scores").write(tmp_path)
    assert picture.name == "scores.png"


def test_the_jackknife_error_of_a_mean_is_that_of_its_groups() -> None:
    """With two bins of equal weight the share of one is a mean, and the jackknife gives its standard error."""
    rng = np.random.default_rng(1)
    place = rng.integers(2, size=(6, 40))
    parts = Parts.of(6, 40, None)
    counts = parts.over_bins(place.ravel(), 2)
    value, error = parts.table(counts[..., 1] / counts.sum(axis=-1))
    assert value[-1] == pytest.approx(place.mean())
    assert error[-1] == pytest.approx(place.mean(axis=1).std(ddof=1) / np.sqrt(6))
    assert value[0] == pytest.approx(place[:, :2].mean())


def test_draws_count_by_their_weights() -> None:
    """A draw of twice the step size is two draws."""
    x = np.array([0.1, 0.9, 0.4])
    heavy, twice = Parts.of(1, 3, np.array([1.0, 2.0, 1.0])), np.array([0.1, 0.9, 0.9, 0.4])
    expected = stats.kstest(twice, "uniform").statistic
    assert heavy.kolmogorov_smirnov(x)[0, -1] == pytest.approx(expected)
    assert heavy.over_bins(np.array([0, 1, 0]), 2)[0, -1].tolist() == [2.0, 2.0]


LAWS = {
    "Gamma": ((2.5, 0.5), stats.gamma(2.5, scale=2.0)), "InverseGamma": ((3.0, 2.0), stats.invgamma(3.0, scale=2.0)),
    "Exponential": ((0.5,), stats.expon(scale=2.0)), "LogNormal": ((0.3, 0.49), stats.lognorm(0.7, scale=np.exp(0.3))),
    "Beta": ((2.0, 0.5), stats.beta(2.0, 0.5)), "Uniform": ((-1.0, 3.0), stats.uniform(-1.0, 4.0)),
    "N": ((0.5, 4.0), stats.norm(0.5, 2.0)),
}  # fmt: skip


@pytest.mark.parametrize("name", LAWS)
def test_distribution_functions_are_those_of_scipy(name: str) -> None:
    arguments, law = LAWS[name]
    x = law.rvs(size=(2, 30, 1), random_state=np.random.default_rng(4))
    found = uniforms(name, x, tuple(np.array([[one]]) for one in arguments))
    assert found == pytest.approx(law.cdf(x), abs=1e-12)


@pytest.mark.parametrize("shares", [4, 3])
def test_dirichlet_draws_become_independent_uniforms(shares: int) -> None:
    """Of all four shares, or of the first three alone, three uniform numbers without correlation."""
    a = np.array([0.2, 3.0, 1.0, 0.5])
    x = np.random.default_rng(5).dirichlet(a, size=(4, 2000))[..., :shares]
    arguments = (a[:, None],) if shares == 4 else (a[:3, None], a[3:])
    u = uniforms("Dirichlet", x, arguments)
    assert u.shape == (4, 2000, 3)
    assert all(stats.kstest(u[..., k].ravel(), "uniform").pvalue > 1e-3 for k in range(3))
    assert np.abs(np.corrcoef(u.reshape(-1, 3).T) - np.eye(3)).max() < 4 / np.sqrt(8000)
    turned = uniforms("Dirichlet", x, (a[::-1, None],) if shares == 4 else (a[:0:-1, None], a[:1]))
    assert stats.kstest(turned[..., 0].ravel(), "uniform").pvalue < 1e-6


@pytest.mark.parametrize(("kind", "low", "high"), [("sparse", 0.07, 0.12), ("dense", 0.2, 0.29)])
def test_stochastic_cir_is_as_far_as_measured_elsewhere(kind: str, low: float, high: float) -> None:
    """Batches of 10, h = .1, 1000 draws after 1000: a distance of .084 to .102, and of .23 to .26."""
    build = (SPECS / "builds" / f"scir_{kind}.yaml").read_text().replace("../", f"{SPECS}/")
    build = build[: build.index("run:")] + (
        'scores: {shares: {ks: omega, law: "Dirichlet(alpha + z.T @ ones)"}}\n'
        "run: {step_size: 0.1, batch_size: 10, draws: 1000, warmup: 1000, chains: 1, seed: 2}\n"
    )
    with granted(), warnings.catch_warnings():
        warnings.simplefilter("ignore", rc.SampleWarning)
        model = rc.compile(rc.load(document(build).source.file))
        found = [final_scores(model.sample(progress=False, seed=k, predictive=False))["shares"] for k in range(4)]
    assert low < np.mean([one["value"] for one in found]) < high
    assert np.isnan(found[0]["error"])


REFUSED = {
    "both": ({"ks": "theta", "kl": "theta[0]", "law": "N(0, 1)"}, "found both `ks` and `kl`"),
    "neither": ({"law": "N(0, 1)"}, "found neither `ks` nor `kl`"),
    "no range": ({"kl": "theta[0]", "law": "N(0, 1)"}, "found no `range` of a `kl`"),
    "bins of ks": ({"ks": "theta[0]", "law": "N(0, 1)", "bins": 5}, "found bins of a `ks`"),
    "no law": ({"ks": "theta[0]"}, "found no `law`"),
    "range turned": ({**FIRST, "range": [1, 1]}, "expected two numbers, the smaller first"),
    "unknown": ({**FIRST, "kl": "phi"}, "phi"),
    "a vector": ({**FIRST, "kl": "theta"}, "found a"),
    "constant": ({**FIRST, "kl": "m[0]"}, "found m[0], which draws do not change"),
    "of the state": ({**FIRST, "law": "N(theta[1], 2)"}, "theta"),
    "another entry": ({**FIRST, "law": "exp(-theta[1]**2)"}, "found `theta` in the density of theta[0]"),
    "whole numbers": ({**FIRST, "law": "Poisson(3)"}, "found Poisson, a law of whole numbers"),
    "no such law": ({"ks": "theta", "law": "Cauchy(0, 1)"}, "Cauchy"),
    "of another shape": ({"ks": "theta", "law": "N(m, S)", "kl": None} | {"law": "N(S, S)"}, "found a"),
    "a density": ({**FIRST, "law": "normal(theta[0], 1, 2)"}, "found the function `normal`, expected one of N(m, cov)"),
    "another word": ("log_likelihood", "found `log_likelihood`, expected `log_predictive`, or keys with values"),
    "no data": ("log_predictive", "which states no log_likelihood of ONE datum"),
    "beyond": ({**FIRST, "kl": "theta[2]", "law": "N(0, 1)"}, "expected d >= 3"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_no_score_can_be_is_said(name: str) -> None:
    entry, says = REFUSED[name]
    with pytest.raises(DocumentError) as caught:
        made({"one": entry})
    assert ("sizes.d" if name == "beyond" else "scores.one") in str(caught.value)
    assert says in str(caught.value)


@pytest.mark.parametrize("name", ["steps", "one_error"])
def test_names_of_what_is_stored_beside_scores_are_taken(name: str) -> None:
    with pytest.raises(DocumentError, match=f"scores.{name}  found the name `{name}`, which is stored beside scores"):
        made({"one": FIRST, name: FIRST})


UNABLE = {
    "negative": ({**FIRST, "law": "theta[0]"}, "found -5.9"),
    "zero": ({**FIRST, "law": "0*theta[0]"}, "found 0 as the density of theta[0]"),
    "no variance": ({**FIRST, "law": "N(0, -1)"}, "not positive definite"),
    "no shape": ({"ks": "both", "law": "Gamma(m[1], 1)"}, "found Gamma(-1, 1), which is no distribution"),
    "no rate": ({"ks": "exp(theta)", "law": "Exponential(m)"}, "found Exponential(1, ...), which is no distribution"),
    "no scale": ({"ks": "both", "law": "LogNormal(0, m[1])"}, "found LogNormal(0, -1), which is no distribution"),
    "no b": ({**FIRST, "law": "Beta(1, m[1])"}, "found Beta(1, -1), which is no distribution"),
    "no interval": ({"ks": "both", "law": "Uniform(1, 1)"}, "found Uniform(1, 1), which is no distribution"),
    "no mass": ({**FIRST, "law": "Gamma(1, 1)", "range": [-3, -2]}, "found no mass of Gamma"),
}


@pytest.mark.parametrize("name", UNABLE)
def test_what_is_no_law_is_said_before_a_draw(name: str) -> None:
    entry, says = UNABLE[name]
    with pytest.raises(RunError) as caught:
        drawn({"one": entry})
    assert says in str(caught.value)

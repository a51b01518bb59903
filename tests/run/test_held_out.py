"""Rows that are held out: nothing but scores sees them, and their log predictive density is the exact one."""

import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from answers import document
from reports import granted
from scipy import stats

import recipe_compiler as rc
from recipe_compiler.errors import DataError, DocumentError, RunError
from recipe_compiler.run import scores as scores_room
from recipe_compiler.run.observed import data_of_build
from recipe_compiler.run.posterior_numbers import final_scores, scores_said
from recipe_compiler.spec.files import files_of

RNG = np.random.default_rng(8)
X = RNG.normal(size=(60, 2)) @ np.array([[1.0, 0.6], [0.0, 2.0]]) + [3.0, -1.0]
Y = X @ [0.5, -1.0] + RNG.normal(size=60)
GIVEN, LATER = {"x": X[:40], "y": Y[:40]}, {"x": X[40:], "y": Y[40:]}
TARGET = """name: line
state: {beta: {shape: k}}
data: {x: {shape: [N, k]}, y: {shape: N}}
log_prior: normal(beta, 0, 1)
log_likelihood: normal(y, x @ beta, 1)
laws: {beta: "N(inv(I + x.T @ x) @ x.T @ y, inv(I + x.T @ x))"}
"""
LEVELS = """name: levels
state: {a: {shape: J}}
data: {j: {shape: N, index_of: J}, y: {shape: N, is: [integer, nonnegative]}}
log_prior: normal(a, 0, 1)
log_likelihood: poisson_log(y, a[j])
"""
GRADIENT = "state: {theta: {shape: d}}\nfunctions: {U: {of: theta, role: potential}}\nH: U(theta)\nD: [[I]]\nQ: [[0]]\n"
PREDICTIVE = {"held": "log_predictive"}


def build(target: str = TARGET, **more: Any) -> rc.Build:
    own: dict[str, Any] = {"scheme": {"cycle": [{"draw": "beta"}]}, "sizes": {"k": 2, "d": 2}} | more
    dynamics = rc.load("still") if target == TARGET else rc.load(document("name: moves\n" + GRADIENT).source.file)
    given = {"draws": 2000, "warmup": 0, "chains": 4, "seed": 3, "scores": PREDICTIVE} | own
    return rc.Build(name="held", dynamics=dynamics, target=rc.load(document(target).source.file), **given)


def drawn(own: rc.Build) -> Any:
    with granted(), warnings.catch_warnings():
        warnings.simplefilter("ignore", rc.SampleWarning)
        return rc.compile(own, allow_undecided=True).sample(progress=False)


def exact(x: np.ndarray, y: np.ndarray, later_x: np.ndarray, later_y: np.ndarray) -> float:
    S = np.linalg.inv(np.eye(2) + x.T @ x)
    sd = np.sqrt(1.0 + np.einsum("ni,ij,nj->n", later_x, S, later_x))
    return float(np.mean(stats.norm.logpdf(later_y, later_x @ S @ x.T @ y, sd)))


def written(folder: Path, name: str, x: np.ndarray, y: np.ndarray) -> str:
    path = folder / name
    np.savetxt(path, np.column_stack([x, y]), delimiter=",", header="a,b,y", comments="", fmt="%.17g")
    return str(path)


def test_the_log_predictive_density_is_that_of_the_conjugate_model(monkeypatch: pytest.MonkeyPatch) -> None:
    fit = drawn(build(data=GIVEN, test=LATER))
    found = final_scores(fit)["held"]
    assert found["error"] < 0.002
    assert abs(found["value"] - exact(*GIVEN.values(), *LATER.values())) < 4.0 * found["error"]
    assert "perplexity" not in found
    first = fit["scores"]["held"].to_numpy()[2]
    beta = fit["posterior"]["beta"].to_numpy()[:, :300].reshape(-1, 2)
    density = stats.norm.pdf(LATER["y"], beta @ LATER["x"].T, 1.0)
    assert first == pytest.approx(np.mean(np.log(density.mean(axis=0))), abs=1e-12)
    monkeypatch.setattr(scores_room, "LARGEST", 8 * 8000 * 7)  # 7 rows at a time
    again = final_scores(drawn(build(data=GIVEN, test=LATER)))["held"]
    assert again["value"] == pytest.approx(found["value"], abs=1e-12)


def test_a_share_is_drawn_before_anything_sees_it(tmp_path: Path) -> None:
    file = written(tmp_path, "data.csv", X, Y)
    columns = {"file": file, "x": ["a", "b"], "y": "y", "standardise": ["x"]}
    one, other = (build(data=columns, test={"share": 0.25, "seed": seed}).document for seed in (1, 2))
    data, test = data_of_build(one), data_of_build(one).test
    assert test is not None
    assert (data.rows, test.rows) == (45, 15)
    assert sorted([*data.arrays["y"], *test.arrays["y"]]) == sorted(Y)
    assert data.arrays["x"].mean(axis=0) == pytest.approx([0.0, 0.0], abs=1e-12)
    assert data.arrays["x"].std(axis=0) == pytest.approx([1.0, 1.0])
    kept = X[np.isin(Y, data.arrays["y"])]
    rows = [int(np.flatnonzero(y == Y)[0]) for y in test.arrays["y"]]
    assert test.arrays["x"] == pytest.approx((X[rows] - kept.mean(axis=0)) / kept.std(axis=0))
    assert not np.isin(data_of_build(other).test.arrays["y"], test.arrays["y"]).all()  # type: ignore[union-attr]
    again = build(data={"x": X, "y": Y}, test={"share": 0.25, "seed": 1}).document.observed
    assert again.arrays["y"].tolist() == data.arrays["y"].tolist()  # type: ignore[union-attr]
    fit = drawn(build(data={"file": file, "x": ["a", "b"], "y": "y"}, test={"share": 0.25, "seed": 1}))
    found, place = final_scores(fit)["held"], np.isin(Y, test.arrays["y"])
    assert abs(found["value"] - exact(X[~place], Y[~place], X[place], Y[place])) < 4.0 * found["error"]


def test_another_file_is_made_as_the_data_are(tmp_path: Path) -> None:
    data, other = written(tmp_path, "data.csv", X[:40], Y[:40]), written(tmp_path, "later.csv", X[40:], Y[40:])
    section = {"file": data, "columns": {"c": "standardise(a)", "e": "centre(b**2) + 1"}, "x": ["c", "e"], "y": "y"}
    own = build(data=section, test={"file": other}).document
    test = data_of_build(own).test
    assert test is not None
    a, b = X[:40].T
    expected = [(X[40:, 0] - a.mean()) / a.std(), X[40:, 1] ** 2 - np.mean(b**2) + 1]
    assert test.arrays["x"] == pytest.approx(np.array(expected).T)
    assert Path(other) in files_of(own)


def test_arrays_have_others(tmp_path: Path) -> None:
    paths = {}
    for name, own in {"x": X[:40], "y": Y[:40], "u": X[40:], "v": Y[40:]}.items():
        paths[name] = str(tmp_path / f"{name}.npy")
        np.save(paths[name], own)
    own = build(data={"arrays": {"x": paths["x"], "y": paths["y"]}},
                test={"arrays": {"x": paths["u"], "y": paths["v"]}}).document  # fmt: skip
    assert data_of_build(own).test.arrays["x"].tolist() == X[40:].tolist()  # type: ignore[union-attr]


def test_counts_have_a_perplexity() -> None:
    rng = np.random.default_rng(2)
    j = rng.integers(3, size=90)
    y = rng.poisson(np.exp([0.0, 1.0, 2.0])[j])
    own = build(LEVELS, data={"j": j, "y": y}, test={"share": 0.2}, sizes={"d": 3, "J": 3}, scheme="euler",
                step_size=0.001, thin=10, draws=100, warmup=100)  # fmt: skip
    fit = drawn(own)
    found = final_scores(fit)["held"]
    assert found["perplexity"] == pytest.approx(np.exp(-found["value"]))
    assert f"(perplexity {found['perplexity']:.4g})" in next(scores_said(fit))


REFUSED = {
    "no rows": ({"data": {"file": "d.csv", "x": ["a", "b"], "y": "y"}}, "no held-out rows"),
    "two": ({"data": GIVEN, "test": {"share": 0.1, "file": "d.csv"}}, "found share and file, expected one of"),
    "none": ({"data": GIVEN, "test": {"seed": 1, "share": None}}, "found nothing, expected one of"),
    "file beside memory": ({"data": GIVEN, "test": {"file": "d.csv"}}, "found `file` beside data in memory"),
    "share": ({"data": GIVEN, "test": {"share": 1.5}}, "a probability"),
    "a column": (
        {"data": {"file": "d.csv", "x": ["a", "b"], "y": "y"}, "test": {"file": "e.csv", "x": ["a", "b"]}},
        "its columns are those that `data` names",
    ),
    "other kind": (
        {"data": {"file": "d.csv", "x": ["a", "b"], "y": "y"}, "test": {"arrays": {"x": "x.npy", "y": "y.npy"}}},
        "found `arrays`, expected `file` as of `data`",
    ),
    "fields alone": ({"test": LATER}, "found fields without data in memory"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_rows_that_cannot_be_held_out_are_said(name: str) -> None:
    given, says = REFUSED[name]
    with pytest.raises(DocumentError) as caught:
        build(**given)
    assert says in "\n".join(f"{fault.problem} {fault.hint}" for fault in caught.value.faults)


LATENT = "state: {a: {shape: N}}\ndata: {y: {shape: N}}\nlog_prior: normal(a, 0, 1)\n"
NO_ROW = {
    "latent": (f"name: t\n{LATENT}log_likelihood: normal(y, 0, 1)\n", "whose block a has an entry for each datum"),
    "N": (TARGET.replace("x @ beta, 1", "x @ beta, sqrt(N)").split("laws")[0], "the number of data, N, stands"),
    "no likelihood": ("name: t\nstate: {theta: {shape: d}}\nlog_prior: normal(theta, 0, 1)\n", "states no log_lik"),
}


@pytest.mark.parametrize("name", NO_ROW)
def test_a_target_whose_rows_are_not_alike_has_no_predictive(name: str) -> None:
    target, says = NO_ROW[name]
    with pytest.raises(DocumentError) as caught:
        build(target, scheme="euler", step_size=0.1, sizes={})
    assert says in str(caught.value)


def test_rows_that_the_data_could_not_have_are_said() -> None:
    j, y = np.array([0, 1, 1, 0]), np.array([1, 0, 2, 3])
    given: dict[str, Any] = {"scheme": "euler", "step_size": 0.01, "sizes": {}, "data": {"j": j, "y": y}}
    with pytest.raises(DataError, match="test: found position 2 of `j` in row 2, expected 0 to 1: the data have no"):
        build(LEVELS, test={"j": [0, 2], "y": [1, 1]}, **given)
    with pytest.raises(DataError, match="test, row 2: found -1, expected integer, nonnegative numbers for `y`"):
        build(LEVELS, test={"j": [0, 1], "y": [1, -1]}, **given)
    with pytest.raises(DataError, match=r"test: found a share of 0\.1 of 4 rows, expected one row or more"):
        build(LEVELS, test={"share": 0.1}, **given)
    with pytest.raises(DataError, match="test: found 3 columns of `x`, expected 2 columns"):
        build(data=GIVEN, test={"x": np.ones((4, 3)), "y": np.ones(4)})


def test_a_score_without_rows_in_memory_is_said_before_a_draw() -> None:
    own = build(data=GIVEN, test=LATER).document
    without = replace(own, observed=replace(own.observed, test=None))  # type: ignore[type-var]
    with pytest.raises(RunError, match=r"scores\.held: found no rows that are held out"):
        drawn(rc.Build.of(without))


def test_what_data_are_assumed_to_be_is_so_of_other_rows() -> None:
    target = LEVELS.replace("y: {", "n: {shape: N, is: integer}, y: {")
    target = target.replace("poisson_log(y, a[j])", "binomial_logit(y, n, a[j])")
    given: dict[str, Any] = {"scheme": "euler", "step_size": 0.01, "sizes": {}}
    data = {"j": [0, 1], "n": [3, 3], "y": [1, 2]}
    with pytest.raises(DataError, match=r"test: found y = 4 and n = 3 in row 2"):
        build(target, data=data, test={**data, "y": [1, 4]}, **given)

"""A model from Python: what it draws, what it refuses, and what it says of its draws."""

import importlib
import inspect
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import recipe_compiler as rc
from recipe_compiler.run.data import load_data
from recipe_compiler.run.load_module import load_text
from recipe_compiler.run.sample import sample
from recipe_compiler.run.stages import settings_of
from recipe_compiler.spec.model import Data

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.usefixtures("without_reading_back")

theta = rc.vector("theta", "d")
U = rc.function("U", of=theta, role="potential")
SGLD = rc.Dynamics(name="sgld", state=[theta], H=U, D=[[rc.I]], Q=[[0]])
NORMAL = rc.Target(name="normal", state=[theta], potential=theta.T @ theta / 2)
x, y = rc.data("x", "N", "d"), rc.data("y", "N", values=[0, 1])
LOGISTIC = rc.Target(
    name="logistic", state=[theta], data=[x, y], log_prior=-theta.T @ theta / 20,
    log_likelihood=y * (x @ theta) - rc.softplus(x @ theta),
)  # fmt: skip
RNG = np.random.default_rng(7)
X = RNG.normal(size=(60, 2))
LABELLED = pd.DataFrame(X, columns=["age", "weight"]).astype(object)
LABELLED.loc[2, "weight"] = "?"
Y = (RNG.random(60) < 1 / (1 + np.exp(-X @ [1.0, -1.0]))).astype(int)


@pytest.fixture(scope="module")
def logistic() -> rc.Model:
    return rc.compile(SGLD, LOGISTIC, sizes={"d": 2}, step_size=0.01, thin=20, draws=300, warmup=50)


def drawn(model: rc.Model, *args: Any, **settings: Any) -> xr.DataTree:
    """Return draws, whatever is said of them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rc.SampleWarning)
        return model.sample(*args, progress=False, **settings)


@pytest.mark.parametrize(("step_size", "length"), [("auto", "longest"), (0.3, "20"), (None, "20")])
def test_an_equation_without_noise_is_moved_as_recipe_does(step_size: Any, length: str) -> None:
    target = {} if step_size is None else {"target": NORMAL, "sizes": {"d": 2}, "bind": {"M": "I"}}
    text = rc.Build(name="moved", dynamics="hmc", step_size=step_size, **target).to_yaml()
    assert f"[refresh: r, metropolis: {{split: [B/2, A, B/2], steps: 'uniform(1, {length})', flip: {{r: -r}}}}]" in text
    assert "euler" in rc.Build(name="stepped", dynamics="sghmc").to_yaml()


@pytest.mark.slow
def test_a_target_is_sampled_by_the_sampler_that_is_chosen() -> None:
    fit = rc.sample(LOGISTIC, {"x": LABELLED.assign(weight=X[:, 1]), "y": Y}, draws=400, seed=3, progress=False)
    assert fit.attrs["plan"].startswith("sampler: hmc, predicted ")
    assert fit.posterior.sizes["draw"] == 400
    assert list(fit.posterior["d"].values) == ["age", "weight"]
    again = rc.sample(LOGISTIC, {"x": X, "y": Y}, draws=400, seed=3, progress=False, cache=False)
    np.testing.assert_array_equal(again.posterior["theta"], fit.posterior["theta"])
    U = drawn(rc.compile("hmc", NORMAL, sizes={"d": 2}, step_size="auto"), seed=3)
    np.testing.assert_array_equal(
        rc.sample(NORMAL, sizes={"d": 2}, seed=3, progress=False).posterior["theta"], U["posterior"]["theta"]
    )


def test_a_target_that_cannot_be_sampled_says_why() -> None:
    with pytest.raises(rc.DataError, match="found no data, expected x, y"):
        rc.sample(LOGISTIC)
    flat = rc.Target(name="flat", state=[theta], potential=(theta[0] - theta[1]) ** 2)
    with pytest.raises(rc.VerificationError, match="normalisable is refuted"):
        rc.sample(flat, sizes={"d": 2}, progress=False)
    with pytest.raises(TypeError, match="found Dynamics, expected a Target"):
        rc.sample("sghmc")
    shares = rc.Target(name="shares", state=[rc.vector("w", 3, domain="simplex")], potential="-3*sum(log(w))")
    with pytest.raises(rc.ModelError, match="hmc: found the domain simplex") as told:
        rc.sample(shares, progress=False)
    assert any("draws by laws: found no `laws`" in fault.problem for fault in told.value.faults)


@pytest.mark.slow
def test_a_build_draws_what_the_stages_of_the_pipeline_draw() -> None:
    model = rc.compile(ROOT / "specs/builds/sgld_gaussian_mixture.yaml")
    build = model.build.document
    settings = settings_of(build, {"draws": 30, "warmup": 10, "seed": 5})
    expected = sample(load_text(model.name, model.text), build, settings, load_data(build.data, build.target))
    tree = drawn(model, draws=30, warmup=10, seed=5)
    stacked = np.concatenate([tree.posterior.mu.values, tree.posterior.a.values], axis=2)
    np.testing.assert_array_equal(stacked, expected.block("theta")[:, 10:])


@pytest.mark.slow
def test_names_that_a_file_has_for_itself_may_be_the_users_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A block, a parameter and a field called as what a file imports, defines or takes: its draws are the same."""
    monkeypatch.syspath_prepend(str(tmp_path))
    numbers, found = np.arange(10.0).reshape(5, 2), []
    for k, (block, parameter, field) in enumerate(
        [("theta", "s", "x"), ("run", "np", "step"), ("seed", "thin", "init")]
    ):
        z, s, given = rc.vector(block, "d"), rc.scalar(parameter, is_="positive", default=2), rc.data(field, "N", "d")
        sgld = rc.Dynamics(name="sgld", state=[z], H=rc.function("U", of=z, role="potential"), D=[[rc.I]], Q=[[0]])
        target = rc.Target(name="t", state=[z], data=[given], parameters=[s], log_prior=-z.T @ z / 2,
                           log_likelihood=-s * rc.norm2(given.T - z) / 2)  # fmt: skip
        model = rc.compile(sgld, target, name=f"names_{k}", sizes={"d": 2}, step_size=0.01, draws=50, warmup=5, thin=2,
                           chains=2, variant="full")  # fmt: skip
        model.write(tmp_path)
        found += [drawn(model, {field: numbers}).posterior[block].values]
        found += [importlib.import_module(f"names_{k}").sample(numbers)[block]]
    for one in found[1:]:
        np.testing.assert_array_equal(one, found[0])


@pytest.mark.slow
def test_doubts_are_warnings_of_a_category_and_stand_in_the_tree(logistic: rc.Model) -> None:
    with pytest.warns(rc.SampleWarning) as said:
        tree = logistic.sample({"x": X, "y": Y}, draws=40, warmup=0, thin=1, seed=1, step_size=1e-4, progress=False)
    doubts = [str(one.message) for one in said if one.category is rc.DoubtWarning]
    assert doubts == tree.attrs["doubts"].split("\n")
    assert {one.filename for one in said} == {__file__}
    assert issubclass(rc.DoubtWarning, rc.SampleWarning)
    rough = [str(one.message) for one in said if one.category is rc.SampleWarning]
    assert rough == tree.attrs["warnings"].split("\n")


@pytest.mark.slow
def test_a_run_goes_on_from_its_checkpoint(logistic: rc.Model, tmp_path: Path) -> None:
    data = {"x": X, "y": Y}
    (tmp_path / ".mine").write_text("a file of the user's")
    short = drawn(logistic, data, draws=100, seed=4, checkpoint=tmp_path)
    whole = drawn(logistic, data, draws=200, seed=4)
    resumed = drawn(logistic, data, draws=200, seed=4, checkpoint=tmp_path, resume=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == [".mine", "sgld_logistic.checkpoint"]
    assert (whole.posterior.theta == resumed.posterior.theta).all()
    assert (whole.posterior.theta[:, :100] == short.posterior.theta).all()


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        ({"x": X}, "found no `y`, expected an array [N] of 0, 1"),
        ({"x": X, "y": Y, "w": Y}, "found `w`, expected a field of logistic (x, y)"),
        ({"x": X[:, 0], "y": Y}, "found an array of shape (60,) for `x`, expected an array [N, d]"),
        ({"x": X, "y": Y + 1}, "found 2, expected one of 0, 1 for `y`"),
        ({"x": X, "y": Y[:-1]}, "found 59 rows of `y` (shape (59,)), expected 60 as `x` has"),
        ({"x": np.where(X > 1, np.nan, X), "y": Y}, "found nan, expected finite numbers for `x`"),
        ({"x": X.astype(complex), "y": Y}, "found an array of the type complex128 for `x`, expected real numbers"),
        ({"x": [[1, 2], [3]], "y": [0, 1]}, "found rows of different lengths for `x`"),
        ({"x": X.T, "y": Y}, "found 2 rows of `x` (shape (2, 60)), expected 60 as `y` has: write `x.T`"),
        ({"x": X, "y": Y[:, None]}, "shape (60, 1) for `y`, expected an array [N] of 0, 1: write `y.ravel()`"),
        ({"x": X[:, 0], "y": Y}, "write `x.reshape(-1, 1)` for one column"),
        ({"x": X, "y": ["n/a", *Y[1:]]}, "data, row 1: found 'n/a', expected numbers for `y`"),
        ({"x": LABELLED, "y": Y}, "data, row 3, column `weight`: found '?', expected numbers for `x`"),
        (
            {"x": LABELLED.replace("?", np.inf).astype(float), "y": Y},
            "data, row 3, column `weight`: found inf",
        ),
        ({"x": X[:0], "y": Y[:0]}, "found an array of shape (0, 2) for `x`"),
        ({"x": X[None], "y": Y}, "found an array of shape (1, 60, 2) for `x`, expected an array [N, d]"),
        ({"x": np.ma.masked_array(X, X > 1), "y": Y}, "found a masked array for `x`"),
        (X, "data: found ndarray, expected a mapping of x, y to arrays"),
        ([X, Y], "data: found list, expected a mapping of x, y to arrays"),
        ({"x": np.ones((60, 3)), "y": Y}, "size d: found 2 by `sizes`, but 3 by the data of `x`"),
        (None, "logistic: found no data"),
    ],
)
def test_data_that_do_not_fit_are_named(logistic: rc.Model, data: object, problem: str) -> None:
    with pytest.raises(rc.DataError) as caught:
        logistic.sample(data, progress=False)
    assert problem in str(caught.value)


@pytest.mark.parametrize(
    ("settings", "error", "problem"),
    [
        ({"draws": 0}, rc.RunError, "draws: found 0, expected 1 or more"),
        ({"step_size": float("nan")}, rc.RunError, "step_size: found nan"),
        ({"batch_size": 5}, rc.SpecError, "found batch_size, expected none"),
        ({"lanes": True}, rc.SpecError, "lanes"),
        ({"resume": True, "checkpoint": "nowhere"}, rc.RunError, "found no checkpoint"),
    ],
)
def test_settings_that_no_run_can_have_are_named(
    logistic: rc.Model, settings: dict[str, Any], error: type[Exception], problem: str, monkeypatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(error, match=problem):
        logistic.sample({"x": X, "y": Y}, progress=False, **settings)


@pytest.mark.slow
def test_a_refuted_build_is_not_compiled() -> None:
    A = rc.matrix("A", "d", "d", is_="symmetric")
    wrong = rc.Dynamics(name="wrong", state=[theta], H=U, D=[[A]], Q=[[0]])
    with pytest.raises(rc.VerificationError, match=r"d_psd is refuted|bindings is refuted"):
        rc.compile(wrong, NORMAL, bind={"A": -rc.I}, sizes={"d": 2}, step_size=0.1)


def test_what_is_compiled_is_dynamics_and_a_target_or_a_build() -> None:
    build = rc.Build(name="b", dynamics=SGLD, target=NORMAL, sizes={"d": 2}, step_size=0.1)
    with pytest.raises(TypeError, match="found a build and step_size, expected the build alone"):
        rc.compile(build, step_size=0.2)
    with pytest.raises(TypeError, match="found Target, expected Dynamics, with or without a Target, or a Build"):
        rc.compile(NORMAL)


@pytest.mark.slow
def test_the_module_is_written_whole(tmp_path: Path) -> None:
    model = rc.compile(SGLD, NORMAL, name="mine", sizes={"d": 2}, step_size=0.1)
    path = model.write(tmp_path / "modules")
    assert path == tmp_path / "modules/mine.py"
    assert path.read_text() == model.text
    assert repr(model) == "<Model mine, proved>"


@pytest.mark.slow
def test_the_gradient_that_is_code_runs_only_where_that_is_allowed(tmp_path: Path) -> None:
    (tmp_path / "code.py").write_text("def grad_U(theta):\n    return theta\n")
    (tmp_path / "t.yaml").write_text("name: t\nstate: {theta: {shape: d}}\ngradient: code.py:grad_U\n")
    model = rc.compile(SGLD, tmp_path / "t.yaml", sizes={"d": 2}, step_size=0.1, allow_undecided=True)
    with pytest.raises(rc.RunError, match="run only with allow_code=True"):
        model.sample(progress=False)


FAR = """
def grad_U(out, theta):
    out[:] = theta
    if abs(theta[0]) > 2.0:
        out[1] += 0.5 * theta[0]
"""


@pytest.mark.slow
def test_a_gradient_that_is_none_where_chains_went_is_a_doubt(tmp_path: Path) -> None:
    (tmp_path / "far.py").write_text(FAR)
    (tmp_path / "t.yaml").write_text("name: t\nstate: {theta: {shape: 3}}\ngradient: far.py:grad_U\n")
    model = rc.compile(SGLD, tmp_path / "t.yaml", step_size=0.1, thin=5, allow_undecided=True)
    with pytest.warns(rc.DoubtWarning, match=r"far.py: .* is no gradient: .* Chains went there"):
        fit = model.sample(progress=False, allow_code=True)
    assert fit.verdict.trust.startswith("trust: no")


REGRESSION = """
format: 1
name: flat_regression
state: {beta: {shape: d}, sigma: {domain: positive, transform: log}}
data: {x: {shape: [N, d]}, y: {shape: N}}
log_prior: "0"
log_likelihood: normal(y, x @ beta, sigma)
"""


ROWS = np.array([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0], [1.0, 4.0], [1.0, -1.0], [1.0, 3.0]])
RESPONSE = np.array([0.5, 1.0, -1.0, 2.0, 0.0, 1.5])
ON_A_PLANE = ROWS @ np.array([1.0, 2.0])
FRAME = pd.DataFrame({"one": ROWS[:, 0], "a": ROWS[:, 1], "y": RESPONSE, "label": list("abcdef")})


@pytest.mark.slow
def test_what_is_open_without_data_is_decided_at_data_that_are_given(tmp_path: Path) -> None:
    """Exactly, as those of a file are: a residual keeps sigma from 0, and data on a plane have none."""
    (tmp_path / "target.yaml").write_text(REGRESSION)
    model = rc.compile(
        SGLD, tmp_path / "target.yaml", sizes={"d": 2}, step_size=0.01, draws=10, warmup=0, variant="full"
    )
    assert model.report.verdict is rc.Verdict.UNDECIDED
    fit = drawn(model, {"x": ROWS, "y": RESPONSE})
    assert fit.posterior.beta.shape == (4, 10, 2)
    assert "normalisable: proved" in fit.attrs["verdicts"]
    with pytest.raises(rc.VerificationError, match="normalisable is refuted"):
        model.sample({"x": ROWS, "y": ON_A_PLANE}, progress=False)


IN_MEMORY = {
    "lists": {"x": ROWS.tolist(), "y": RESPONSE.tolist()},
    "a table and a column": {"x": FRAME[["one", "a"]], "y": FRAME["y"]},
    "a dataset": xr.Dataset({"x": (("row", "column"), ROWS), "y": (("row",), RESPONSE)}),
    "arrays with names": {"x": xr.DataArray(ROWS), "y": xr.DataArray(RESPONSE)},
    "a table for the file": {"file": FRAME, "x": ["one", "a"], "y": "y"},
    "and an intercept": {"file": FRAME, "x": "a", "y": "y", "intercept": True},
}


@pytest.mark.slow
def test_a_model_is_decided_at_data_in_memory(tmp_path: Path) -> None:
    """Whatever they are given as; sizes are theirs too. Others are decided anew."""
    (tmp_path / "target.yaml").write_text(REGRESSION)
    for data in IN_MEMORY.values():
        model = rc.compile(SGLD, tmp_path / "target.yaml", data=data, step_size=0.001, draws=10, warmup=0)
        assert model.report.verdict is rc.Verdict.PROVED
        held = model.build.document.observed
        assert isinstance(held, Data)
        np.testing.assert_array_equal(held.fields[0].values, ROWS)
        np.testing.assert_array_equal(held.fields[1].values, RESPONSE)
    assert drawn(model).posterior.beta.shape == (4, 10, 2)
    with pytest.raises(rc.VerificationError, match="normalisable is refuted") as refused:
        model.sample({"x": ROWS, "y": ON_A_PLANE}, progress=False)
    assert "recipe check" not in str(refused.value)
    with pytest.raises(rc.VerificationError, match="normalisable is refuted"):
        rc.compile(SGLD, tmp_path / "target.yaml", data={"x": ROWS, "y": ON_A_PLANE}, step_size=0.001)


def test_a_table_takes_the_place_of_the_file_of_a_build(tmp_path: Path) -> None:
    """By the columns that the build states, at `compile` and `sample`; beside it nothing is stated again."""
    (tmp_path / "target.yaml").write_text(REGRESSION)
    FRAME.drop(columns="label").to_csv(tmp_path / "data.csv", index=False)
    stated = {"file": str(tmp_path / "data.csv"), "x": ["one", "a"], "y": "y", "standardise": ["y"]}
    target = rc.load(tmp_path / "target.yaml")
    own = {"name": "own", "dynamics": SGLD, "target": target, "step_size": 0.001, "draws": 10, "warmup": 0}
    with_file, with_table = (rc.Build(**own, data=data) for data in (stated, stated | {"file": FRAME}))
    held = [rc.compile(with_file).build, rc.compile(with_file, data={"file": FRAME}).build, with_table]
    with pytest.raises(rc.ModelError, match="found a table that is given in Python, expected the name of a file"):
        with_table.to_yaml()
    for build in held:
        x, y = build.document.observed.fields
        np.testing.assert_array_equal(x.values, ROWS)
        np.testing.assert_allclose(y.values, (RESPONSE - RESPONSE.mean()) / RESPONSE.std(), rtol=1e-14)
    with pytest.raises(rc.DataError, match="found `x` beside `file`, expected none: the build states its columns"):
        rc.compile(with_file, data=stated | {"file": FRAME})
    with pytest.raises(rc.DataError, match="data, row 6, column `a`: found nan, expected a number"):
        rc.compile(with_file).sample({"file": FRAME.assign(a=[0.0, 1.0, 2.0, 3.0, 4.0, np.nan])}, progress=False)


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        ({"file": FRAME, "x": ["one", "b"], "y": "y"}, "data: found no column `b`: it has one, a, y, label"),
        (
            {"file": FRAME, "x": ["one", "label"], "y": "y"},
            "data, row 1: found 'a', expected numbers for column `label`",
        ),
        ({"file": FRAME.where(FRAME["a"] < 4), "x": ["a"], "y": "y"}, "data, row 4, column `a`: found nan"),
        ({"file": 3, "x": ["a"], "y": "y"}, "data.file: found int, expected the name of a file or a table of columns"),
        (
            {"file": FRAME.assign(a=2**53 + 1), "x": ["a"], "y": "y"},
            "data, row 1, column `a`: found 9007199254740993, expected whole numbers",
        ),
        (
            {"file": {"a": FRAME["a"][::-1], "y": FRAME["y"]}, "x": ["a"], "y": "y"},
            "data: found row 1 of `y` labelled 0 and of `a` 5, expected rows in one order",
        ),
        ({"file": {"a": [1.0, 2.0], "y": RESPONSE}, "x": ["a"], "y": "y"}, "data: found columns of 2 (a), 6 (y) rows"),
        (
            FRAME,
            "data: found no `x` among the columns one, a, y, label (`data={'file': table, FIELD: COLUMNS, ...}` says",
        ),
        (RESPONSE, "data: found ndarray, expected a mapping of x, y to arrays"),
    ],
)
def test_data_in_memory_that_do_not_fit_are_named_before_anything_is_decided(
    data: object, problem: str, tmp_path: Path
) -> None:
    (tmp_path / "target.yaml").write_text(REGRESSION)
    with pytest.raises(rc.DataError) as refused:
        rc.compile(SGLD, tmp_path / "target.yaml", data=data, step_size=0.001)
    assert problem in str(refused.value)


def test_every_keyword_of_a_build_is_one_of_compile() -> None:
    of_build, of_compile = (inspect.signature(one).parameters for one in (rc.Build, rc.compile))
    assert [key for key in of_build if key not in of_compile] == []
    assert all(of_build[key].default == of_compile[key].default for key in of_build if key not in ("name", "target"))


@pytest.mark.slow
def test_what_is_proved_by_the_file_is_decided_again_at_data_that_are_given(tmp_path: Path) -> None:
    """A residual of the file keeps sigma from 0; data on a plane have none, and no posterior."""
    (tmp_path / "target.yaml").write_text(REGRESSION)
    rows = "\n".join(f"{a!r},{b!r},{c!r}" for (a, b), c in zip(ROWS.tolist(), RESPONSE.tolist(), strict=True))
    (tmp_path / "data.csv").write_text(f"one,a,y\n{rows}\n")
    (tmp_path / "build.yaml").write_text(
        "name: flat\ndynamics: sghmc\ntarget: target.yaml\nbind: {M: I, C: I}\nscheme: {name: baoab}\nvariant: full\n"
        "data: {file: data.csv, x: [one, a], y: y}\nrun: {step_size: 0.01, draws: 10, warmup: 0}\n"
    )
    model = rc.compile(rc.load(tmp_path / "build.yaml"))
    (shown,) = (one for one in model.report.findings if one.id == "normalisable")
    assert any("the 6 data of data.csv" in fact for fact in shown.decision.given)
    assert drawn(model, {"x": ROWS, "y": -2.0 * RESPONSE}).posterior.beta.shape == (4, 10, 2)
    with pytest.raises(rc.VerificationError, match="normalisable is refuted"):
        model.sample({"x": ROWS, "y": ON_A_PLANE}, progress=False)

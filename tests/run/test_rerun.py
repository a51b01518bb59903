"""A run is made again from its file: the same bits, or a refusal that says what is not the same."""

import json
import warnings
from pathlib import Path

import numpy as np
import pytest
import xarray
from reports import granted

import recipe_compiler as rc
from recipe_compiler.errors import RunError
from recipe_compiler.run.rerun import same_draws

theta = rc.vector("theta", "d")
U = rc.function("U", of=theta, role="potential")
SGLD = rc.Dynamics(name="langevin", state=[theta], H=U, D=[[rc.I]], Q=[[0]])
x = rc.data("x", "N", "d")
MEAN = rc.Target(name="mean", state=[theta], data=[x], log_prior=-theta.T @ theta / 2,
                 log_likelihood=-rc.norm2(x.T - theta) / 2)  # fmt: skip
X = np.random.default_rng(3).normal(size=(9, 2))


@pytest.fixture(scope="module")
def fit(tmp_path_factory: pytest.TempPathFactory) -> rc.Fit:
    with granted(), warnings.catch_warnings():
        warnings.simplefilter("ignore", rc.SampleWarning)
        model = rc.compile(SGLD, MEAN, step_size=0.01, sizes={"d": 2}, variant="minibatch", batch_size=4)
        drawn = model.sample({"x": X}, draws=40, warmup=10, chains=2, seed=5, progress=False)
    return rc.Fit.read(drawn.save(tmp_path_factory.mktemp("again") / "mean.nc"))


def again(fit: rc.Fit, data: np.ndarray | None) -> xarray.DataTree:
    with granted(), warnings.catch_warnings():
        warnings.simplefilter("ignore", rc.SampleWarning)
        return rc.rerun(fit, None if data is None else {"x": data}, progress=False)


def test_the_same_bits_from_the_file_and_the_data(fit: rc.Fit) -> None:
    found = again(fit, X)
    assert same_draws(fit, found)
    assert found.attrs["run_settings"] == fit.attrs["run_settings"]
    assert json.loads(str(fit.attrs["run_settings"]))["seed"] == 5
    moved = found.copy(deep=True)
    moved["posterior"]["theta"][0, 3, 1] = np.nextafter(float(moved["posterior"]["theta"][0, 3, 1]), 9.0)
    assert not same_draws(fit, moved)


def test_other_data_are_refused(fit: rc.Fit) -> None:
    other = X.copy()
    other[8, 1] += 1e-12
    with pytest.raises(RunError, match="cannot be made again: the data of x are not those of the run"):
        again(fit, other)
    with pytest.raises(RunError, match="found no data, expected those of the run"):
        again(fit, None)


UNREAD = "found `{}` in it that cannot be read, .*the file was changed"


@pytest.mark.parametrize(
    ("name", "found", "says"),
    [
        ("facts", {"code": "0" * 64}, "the emitted code is not that of the run"),
        ("documents", None, "found no documents in it"),
        ("documents", '{"documents": {}', UNREAD),
        ("documents", '{"documents": {}}', UNREAD),
        ("run_settings", "{}", UNREAD),
        ("run_settings", '{"draws": 5, "schedule": {"speed": 1}}', UNREAD),
        ("run_settings", {"draws": "many"}, r"draws: found 'many' \(str\), expected a whole number"),
        ("facts", "[1]", UNREAD),
        ("facts", "", UNREAD),
    ],
)
def test_what_no_run_has_written_is_refused(fit: rc.Fit, name: str, found: str | dict | None, says: str) -> None:
    """A mapping changes entries of what was written, and None takes it away."""
    changed = rc.Fit.of(fit.copy())
    text = json.dumps(json.loads(str(fit.attrs[name])) | found) if isinstance(found, dict) else found
    changed.attrs = {key: value for key, value in {**fit.attrs, name: text}.items() if value is not None}
    with pytest.raises(RunError, match=says.format(name) if says == UNREAD else says):
        again(changed, X)


@pytest.mark.slow
def test_a_folder_takes_the_place_of_the_one_that_it_was_in(tmp_path: Path) -> None:
    for folder in ("first", "moved"):
        (tmp_path / folder).mkdir()
        np.savetxt(tmp_path / folder / "x.csv", X, delimiter=",", header="a,b", comments="")
    file = tmp_path / "first" / "b.yaml"
    file.write_text(
        "name: b\ndynamics: sgld.yaml\ntarget: mean.yaml\nscheme: {name: euler}\nvariant: full\n"
        "bind: {D: I}\ndata: {file: x.csv, x: [a, b]}\nrun: {step_size: 0.01, draws: 20, warmup: 5, chains: 2}\n"
    )
    (tmp_path / "first" / "sgld.yaml").write_text(
        (Path(__file__).parents[2] / "specs/dynamics/sgld.yaml").read_text(encoding="utf-8")
    )
    (tmp_path / "first" / "mean.yaml").write_text(MEAN.to_yaml())
    with granted(), warnings.catch_warnings():
        warnings.simplefilter("ignore", rc.SampleWarning)
        fit = rc.compile(file).sample(progress=False)
        for path in (tmp_path / "first").iterdir():
            path.unlink()
        assert same_draws(fit, rc.rerun(fit, folder=tmp_path / "moved", progress=False))
        with pytest.raises((RunError, rc.DataError, rc.SpecError, rc.ModelError), match=r"x\.csv"):
            rc.rerun(fit, progress=False)

"""Builds from their files to draws: mapped, converted and float32 data give the chains that loaded data give."""

import json
from pathlib import Path

import numpy as np
import pytest
from loaders import load_build

from recipe_compiler.pipeline import compile_build
from recipe_compiler.run.data import load_data
from recipe_compiler.run.load_module import Emitted, load_text
from recipe_compiler.run.sample import sample
from recipe_compiler.spec.model import Build

unread = pytest.mark.usefixtures("without_reading_back")

SPECS = Path(__file__).parents[2] / "specs"
rng = np.random.default_rng(8)
X = rng.normal(size=(60, 3)).astype(np.float32).astype(np.float64)  # what float32 holds exactly
Y = (rng.random(60) < 0.4).astype(np.float64)
BUILD = f"""
name: small
dynamics: {SPECS}/dynamics/sghmc.yaml
target: {SPECS}/targets/logistic_regression.yaml
bind: {{M: I, C: 2*I}}
scheme: {{name: sequential_euler, order: [r, theta]}}
variant: minibatch
minibatch: {{MINIBATCH}}
data: {{DATA}}
run: {{step_size: 0.05, batch_size: 10, draws: 50, warmup: 0, thin: 3, chains: 2, seed: 4}}
"""
TABLE = "file: data.csv, x: [a, b, c], y: y"
MAPPED = {
    "csv": f"{TABLE}, memory_map: true",
    "npy": "file: data.npy, names: [a, b, c, y], x: [a, b, c], y: y, memory_map: true",
    "structured": "file: fields.npy, x: [a, b, c], y: y, memory_map: true",
    "parquet": "file: data.parquet, x: [a, b, c], y: y",
    "arrays": "arrays: {x: x.npy, y: y.npy}",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    here = tmp_path_factory.mktemp("data")
    whole = np.column_stack([X, Y])
    np.save(here / "data.npy", whole)
    np.save(here / "x.npy", X)
    np.save(here / "y.npy", Y)
    fields = [(name, np.float64) for name in "abcy"]
    np.save(here / "fields.npy", np.array([tuple(row) for row in whole], dtype=fields))
    lines = "\n".join(",".join(repr(float(v)) for v in row) for row in whole)
    (here / "data.csv").write_text(f"a,b,c,y\n{lines}\n")
    return here


def written(folder: Path, data: str, minibatch: str = "replacement: false") -> Build:
    path = folder / "build.yaml"
    path.write_text(BUILD.replace("{MINIBATCH}", f"{{{minibatch}}}").replace("{DATA}", f"{{{data}}}"))
    return load_build(path)


def compiled(build: Build) -> Emitted:
    module = compile_build(build)
    return load_text(module.name, module.text)


def draws(emitted: Emitted, build: Build) -> np.ndarray:
    found = sample(emitted, build, build.run, load_data(build.data, build.target))
    assert not any(found.diverging)
    return found.arrays[0]


@pytest.fixture(scope="module")
def emitted(folder: Path) -> Emitted:
    """Return the module of float64 data, wherever they come from."""
    return compiled(written(folder, TABLE))


@pytest.fixture(scope="module")
def loaded(folder: Path, emitted: Emitted) -> np.ndarray:
    return draws(emitted, written(folder, TABLE))


@pytest.mark.slow
@pytest.mark.parametrize("kind", list(MAPPED))
def test_mapped_data_give_the_same_bits(folder: Path, emitted: Emitted, loaded: np.ndarray, kind: str) -> None:
    if kind == "parquet":
        pa = pytest.importorskip("pyarrow")
        from pyarrow import parquet

        columns = dict(zip("abcy", np.column_stack([X, Y]).T, strict=True))
        parquet.write_table(pa.table(columns), folder / "data.parquet", row_group_size=7)
    np.testing.assert_array_equal(draws(emitted, written(folder, MAPPED[kind])), loaded)


@pytest.mark.slow
@unread
def test_float32_storage_of_what_it_holds_changes_rounding_alone(folder: Path, loaded: np.ndarray) -> None:
    narrow = written(folder, f"{TABLE}, dtype: float32")
    module = compiled(narrow)
    found = draws(module, narrow)
    np.testing.assert_allclose(found, loaded, rtol=1e-9, atol=1e-9)
    np.save(folder / "x32.npy", X.astype(np.float32))
    np.save(folder / "y32.npy", Y.astype(np.float32))
    mapped = draws(module, written(folder, "arrays: {x: x32.npy, y: y32.npy}, dtype: float32"))
    np.testing.assert_array_equal(mapped, found)


@pytest.mark.slow
@unread
def test_contiguous_blocks_are_run(folder: Path, loaded: np.ndarray) -> None:
    build = written(folder, f"{TABLE}, shuffle: 3", "blocks: contiguous")
    module = compiled(build)
    found = draws(module, build)
    assert not np.array_equal(found, loaded)
    np.testing.assert_array_equal(found, draws(module, build))
    assert not np.array_equal(found, draws(module, written(folder, f"{TABLE}, shuffle: 4", "blocks: contiguous")))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("more", "names"), [("minibatch: {control_variates: mode}", 2), ("gradient_noise: {V: estimate}", 1)]
)
def test_the_command_runs_what_it_has_to_estimate(
    folder: Path, more: str, names: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from recipe_compiler.cli import main

    text = BUILD.replace("{DATA}", f"{{{TABLE}}}").replace("minibatch: {MINIBATCH}", more)
    text = text.replace("step_size: 0.05", "step_size: 0.02").replace(
        "seed: 4}", "seed: 4, schedule: {name: power, b: 50, c: 0.5}}"
    )
    (folder / "estimated.yaml").write_text(text)
    monkeypatch.chdir(folder)
    monkeypatch.setattr("sys.argv", ["recipe", "run", "estimated.yaml", "--json"])
    with pytest.raises(SystemExit) as left:
        main()
    assert left.value.code in (0, 4)  # its 100 draws are not to be believed, which is no matter here
    result = json.loads(capsys.readouterr().out)
    assert result["settings"]["schedule"]["name"] == "power"
    assert len(result["summary"]) == 3
    build = load_build(folder / "estimated.yaml")
    assert len(build.parameters) == names

"""What ships under a name: found by it wherever the package is, and a file of that name goes before."""

from pathlib import Path

import pytest

import recipe_compiler as rc
from recipe_compiler.errors import DocumentError
from recipe_compiler.spec import catalogue
from recipe_compiler.spec.load import load
from recipe_compiler.spec.model import Build

SPECS = Path(__file__).parents[2] / "specs"
BUILD = """
name: mine
dynamics: DYNAMICS
target: logistic_regression
bind: {M: I, C: I}
scheme: {use: baoab}
variant: full
data: {file: breast_cancer, x: [mean_area], y: diagnosis}
run: {step_size: 0.1}
"""


def build_in(folder: Path, dynamics: str = "sghmc") -> Build:
    path = folder / "mine.yaml"
    path.write_text(BUILD.replace("DYNAMICS", dynamics))
    found = load(path)
    assert isinstance(found, Build)
    return found


def test_specs_are_the_catalogue_of_the_package() -> None:
    assert SPECS.resolve() == catalogue.FOLDER.resolve()
    assert Path(rc.__file__).parent in catalogue.FOLDER.parents


def test_no_name_is_of_two_documents() -> None:
    assert len(set(catalogue.every_name())) == len(catalogue.every_name()) > 80


def test_a_name_is_found_where_no_file_has_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for kind, folder in catalogue.FOLDERS.items():
        name = catalogue.names(kind)[0]
        assert load(name) == load(SPECS / folder / f"{name}.yaml")
    (tmp_path / "sghmc").mkdir()
    assert load("sghmc").name == "sghmc", "a folder is no document"
    (tmp_path / "sghmc").rmdir()
    (tmp_path / "sghmc").write_text((SPECS / "dynamics/sgld.yaml").read_text())
    assert load("sghmc").name == "sgld"


def test_a_build_names_its_parts_and_its_data(tmp_path: Path) -> None:
    build = build_in(tmp_path)
    assert build.dynamics == load(SPECS / "dynamics/sghmc.yaml")
    assert build.target == load(SPECS / "targets/logistic_regression.yaml")
    assert build.scheme.name == "baoab"
    assert build.data is not None
    assert build.data.file.resolve() == (SPECS / "data/breast_cancer.csv").resolve()


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("sghcm", "did you mean `sghmc`?"),
        ("gaussian", "expected a YAML file, or the name of dynamics that ships"),  # a target's name
        ("../dynamics/sghmc", "expected a YAML file, or the name of dynamics that ships"),
        ("mine.py", "a build reads no Python file"),
    ],
)
def test_a_name_of_nothing_is_told_with_the_nearest(tmp_path: Path, name: str, told: str) -> None:
    with pytest.raises(DocumentError) as raised:
        build_in(tmp_path, name)
    assert told in str(raised.value)


def test_python_loads_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert isinstance(rc.load("sghmc"), rc.Dynamics)
    made = rc.Build(name="mine", dynamics="sgld", target="standard_normal", sizes={"d": 2}, step_size="auto")
    assert made.document.target == load("standard_normal")

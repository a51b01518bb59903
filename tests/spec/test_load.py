"""Documents by path and by name: what ships, files that are not there, and documents that hold themselves."""

import csv
import os
from pathlib import Path

import pytest
from answers import SPECS, document

import recipe_compiler as rc
from recipe_compiler.errors import DocumentError, SpecError
from recipe_compiler.spec import catalogue
from recipe_compiler.spec.load import load
from recipe_compiler.spec.model import Build

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
SELF_LOADING = "import recipe_compiler\nsampler = recipe_compiler.load(__file__)\n"
SELF_CALLING = "def f(n):\n    return f(n + 1)\n\n\nf(0)\n"


class Named:
    """What `os.fspath` takes, and no Path."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __fspath__(self) -> str:
        return str(self.path)


@pytest.mark.parametrize("form", [str, Named])
def test_a_path_is_a_text_or_whatever_names_a_file(form: type) -> None:
    assert load(form(SPECS / "dynamics/sghmc.yaml")) == load(SPECS / "dynamics/sghmc.yaml")


@pytest.mark.parametrize("name", ["nowhere.yaml", "nowhere.py", "nowhere/at/all.yaml", f"{'a' * 300}.py"])
def test_a_file_that_is_not_there_is_told_by_its_name(tmp_path: Path, name: str) -> None:
    with pytest.raises(SpecError, match=r"found no (such )?file") as caught:
        load(str(tmp_path / name))
    assert caught.value.faults[0].where.file == str(tmp_path / name)


def faults(path: Path) -> list[str]:
    with pytest.raises(DocumentError) as caught:
        load(path)
    return [str(fault) for fault in caught.value.faults]


def test_a_build_that_names_itself_is_told_where_it_does(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_text(
        "name: b\ndynamics: a.yaml\ntarget: a.yaml\nscheme: {name: euler}\nvariant: full\nrun: {step_size: 1}\n"
    )
    assert faults(path) == [
        f"{path}:2:1  dynamics  found a build in `a.yaml`, expected dynamics",
        f"{path}:3:1  target  found a build in `a.yaml`, expected a target",
    ]


@pytest.mark.parametrize("text", [SELF_LOADING, SELF_CALLING])
def test_a_python_file_without_an_end_is_told(tmp_path: Path, text: str) -> None:
    (tmp_path / "mine.py").write_text(text)
    (fault,) = faults(tmp_path / "mine.py")
    assert "mine.py:" in fault
    assert "found RecursionError when the file ran" in fault


def test_an_array_is_a_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "c.npy")
    (tmp_path / "build.yaml").write_text(
        BUILD.replace("DYNAMICS", "sghmc").replace("bind:", "parameters: {c: {shape: 3, value: c.npy}}\nbind:")
    )
    assert any("found a pipe or a device in place of c.npy" in fault for fault in faults(tmp_path / "build.yaml"))


def test_specs_are_the_catalogue_of_the_package_and_no_name_is_of_two_documents() -> None:
    assert SPECS.resolve() == catalogue.FOLDER.resolve()
    assert Path(rc.__file__).parent in catalogue.FOLDER.parents
    assert len(set(catalogue.every_name())) == len(catalogue.every_name()) > 80


def test_a_name_is_found_where_no_file_has_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for kind, folder in catalogue.FOLDERS.items():
        if kind == "experiment":
            continue
        for name in catalogue.names(kind):
            assert load(name).name == name
        assert load(name) == load(SPECS / folder / f"{name}.yaml")
    (tmp_path / "sghmc").mkdir()
    assert load("sghmc").name == "sghmc", "a folder is no document"
    (tmp_path / "sghmc").rmdir()
    (tmp_path / "sghmc").write_text((SPECS / "dynamics/sgld.yaml").read_text())
    assert load("sghmc").name == "sgld"
    assert isinstance(rc.load("hmc"), rc.Dynamics)
    made = rc.Build(name="mine", dynamics="sgld", target="standard_normal", sizes={"d": 2}, step_size="auto")
    assert made.document.target == load("standard_normal")


def test_a_build_names_its_parts_and_its_data() -> None:
    build: Build = document(BUILD.replace("DYNAMICS", "sghmc"))
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
def test_a_name_of_nothing_is_told_with_the_nearest(name: str, told: str) -> None:
    with pytest.raises(DocumentError) as raised:
        document(BUILD.replace("DYNAMICS", name))
    assert told in str(raised.value)


def test_the_data_are_as_their_note_says() -> None:
    with (SPECS / "data/breast_cancer.csv").open(newline="", encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    assert (len(rows), len(header), header[-1]) == (569, 31, "diagnosis")
    assert sum(row[-1] == "1" for row in rows) == 357
    assert all(len(row) == 31 for row in rows)
    build = load(SPECS / "builds/sghmc_logistic.yaml")
    assert list(dict(build.data.columns)["x"]) == header[:-1]  # type: ignore[union-attr]

"""`recipe list`, `show`, `new` and `schema`, and builds that dynamics and a target make without a document."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from command import recipe
from copies import copy_compiled

import recipe_compiler
from recipe_compiler.commands.arguments import BuildArguments
from recipe_compiler.commands.made_build import make_build
from recipe_compiler.errors import DocumentError
from recipe_compiler.spec.catalogue import FOLDERS, names
from recipe_compiler.spec.load import load
from recipe_compiler.spec.model import Build
from recipe_compiler.spec.places import digest
from recipe_compiler.spec.words import word_text

pytestmark = pytest.mark.usefixtures("known_verdicts")

SPECS = Path(__file__).parents[2] / "specs"
DATA = "a,y\n" + "".join(f"{k / 10},{(k * 7) % 5}\n" for k in range(40))
KINDS = ("dynamics", "target", "build")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "d.csv").write_text(DATA)
    return tmp_path


def made(dynamics: str, target: str, *settings: str, data: str | None = None, step_size: float | None = None) -> Build:
    return make_build((dynamics, target), BuildArguments(data, settings), step_size=step_size, quiet=True)


@pytest.mark.slow
def test_all_that_ships_is_listed_with_what_it_needs(here: Path) -> None:
    rows = json.loads(recipe("list", "--json", folder=here).out)
    assert [(row["kind"], row["name"]) for row in rows] == [(k, n) for k in (*FOLDERS, "data") for n in names(k)]
    needs = {row["name"]: row["needs"] for row in rows}
    assert needs["sghmc"] == "a target (U), M [d, d] positive definite, C [d, d] positive semidefinite"
    assert needs["banana"] == "nothing"
    assert needs["gaussian"] == "mu [d], Sigma [d, d] positive definite"
    assert needs["baoab"] == "pieces B, A, O: [B/2, A/2, O, A/2, B/2]"
    table = recipe("list", "target", folder=here)
    assert table.code == 0
    assert "Neal's funnel" in table.out
    assert "sghmc" not in table.out


@pytest.mark.parametrize("file", ["dynamics/sghmc.yaml", "data/breast_cancer.csv"])
def test_a_shipped_document_is_shown_as_it_is(here: Path, file: str) -> None:
    assert recipe("show", Path(file).stem, folder=here).out == (SPECS / file).read_text()


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_a_copy_states_what_the_shipped_document_does(here: Path, kind: str) -> None:
    for name in names(kind):
        assert recipe("new", f"my_{name}", f"--{kind}", "--from", name, folder=here).code == 0
        text = (here / f"my_{name}.yaml").read_text()
        assert "../" not in text
        assert "#" in text
        (here / f"{name}.yaml").write_text(text.replace(f"name: my_{name}", f"name: {name}"))
        copy, own = load(here / f"{name}.yaml"), load(SPECS / f"{FOLDERS[kind]}/{name}.yaml")
        if isinstance(copy, Build):  # files are named otherwise: what they hold is the same
            for part in ("dynamics", "target", "values", "scheme"):
                assert getattr(copy, part) == getattr(own, part)
        else:
            assert digest(copy) == digest(own)


@pytest.mark.slow
@pytest.mark.parametrize("kind", [(), *((f"--{kind}",) for kind in KINDS)])
def test_a_document_to_start_from_is_proved_as_it_stands(here: Path, kind: tuple[str, ...]) -> None:
    assert recipe("new", "mine", *kind, folder=here).code == 0
    outcome = recipe("check", "mine.yaml", folder=here)
    assert outcome.code == 0, outcome.out


def test_a_new_document_does_not_go_where_a_folder_is(here: Path) -> None:
    (here / "mine.yaml").mkdir()
    outcome = recipe("new", "mine", folder=here)
    assert outcome.code == 2
    assert "found a folder of that name" in outcome.err


@pytest.mark.slow
def test_dynamics_a_target_and_data_are_run_without_a_build(here: Path) -> None:
    words = ("sgnht", "poisson_regression", "--data", "d.csv", "--set", "A=2", "--save", "b.yaml")
    outcome = recipe("run", *words, "--plan", folder=here)
    assert outcome.code == 0, outcome.err
    assert "b.yaml: written" not in outcome.out, "a plan is a document and nothing else"
    build = load(here / "b.yaml")
    assert isinstance(build, Build)
    assert build.name == "sgnht_poisson_regression"
    assert dict(build.data.columns if build.data else ()) == {"x": ("a",), "y": ("y",)}
    assert build.scheme.name == "badodab"
    assert next(name for name, _ in build.values) == "A"
    assert build.is_planned


def test_settings_make_columns_that_fields_are_of(here: Path) -> None:
    build = made("sghmc", "linear_regression", "data.columns.b=a*2", "data.x=[b]", data="d.csv")
    assert build.data is not None
    assert dict(build.data.columns) == {"x": ("b",), "y": ("y",)}
    assert [column.name for column in build.data.made] == ["b"]
    with pytest.raises(DocumentError, match="expected the name of a column"):
        made("sghmc", "linear_regression", "data.x={a: 1}", data="d.csv")


@pytest.mark.slow
def test_what_is_made_is_printed_as_the_document_that_is_made(here: Path) -> None:
    words = ("sghmc", "linear_regression", "--data", "d.csv", "--set", "run.step_size=0.01", "--set", "C=2*I")
    outcome = recipe("compile", *words, folder=here)
    assert outcome.code == 0, outcome.err
    (here / "again.yaml").write_text(outcome.out.split("\n\n")[0])
    assert digest(load(here / "again.yaml")) == digest(made(*words[:2], *words[5::2], data="d.csv"))
    assert (here / "generated/sghmc_linear_regression.py").exists()
    assert json.loads(recipe("check", *words, "--json", folder=here).out)["documents"][0]["verdict"] == "proved"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("dynamics", "scheme"),
    [
        ("sghmc", "baoab"),
        ("sgnht", "badodab"),
        ("generalised_langevin", "baoab"),
        ("gsgrhmc", "baoab"),  # with K = I
        ("sgld", "euler"),
        ("sgrld", "euler"),
    ],
)
def test_a_scheme_is_chosen_that_the_dynamics_have_pieces_for(dynamics: str, scheme: str) -> None:
    assert made(dynamics, "banana").scheme.name == scheme


@pytest.mark.slow
def test_an_equation_without_noise_is_moved_by_a_cycle() -> None:
    for dynamics in ("hmc", "rhmc"):
        scheme = made(dynamics, "banana").scheme
        assert [type(move).__name__ for move in scheme.cycle] == ["Refresh", "Metropolis"]
        assert word_text(scheme.split) == "[B/2, A, B/2]"
    assert dict(made("rhmc", "banana", "G=(1 + norm2(theta))*I").scheme.flows) == {"H": "generalised"}
    drawn = made("still", "normal_mean_precision", data="normal_sample").scheme.cycle
    assert [move.block for move in drawn] == ["mu", "tau"]
    with pytest.raises(DocumentError, match="found no `laws` claimed by banana"):
        made("still", "banana")


@pytest.mark.slow
def test_a_stated_step_size_takes_the_identity_for_what_a_plan_would_choose() -> None:
    auto, stated = made("sghmc", "banana"), made("sghmc", "banana", step_size=0.01)
    assert not auto.bind
    assert [name for name, _ in stated.bind] == ["M", "C"]
    assert not stated.is_planned
    assert dict(made("sgnht", "banana", step_size=0.01).values)["A"].numbers == ((1,),)


@pytest.mark.slow
def test_the_package_alone_has_its_catalogue(tmp_path: Path) -> None:
    """As a wheel installs it: a copy of the folder, and an empty one to work in."""
    own, empty = tmp_path / "site", tmp_path / "empty"
    empty.mkdir()
    own.mkdir()
    copy_compiled(Path(recipe_compiler.__file__).parent, own / "recipe_compiler", links=False)
    outputs = [
        subprocess.run(
            [sys.executable, "-m", "recipe_compiler", *line.split()], cwd=empty,
            env=os.environ | {"PYTHONPATH": str(own)}, capture_output=True, text=True, check=True,
        ).stdout
        for line in ("new mine --build", "check mine.yaml")
    ]  # fmt: skip
    assert outputs[1].startswith("mine.yaml  mine: proved")
    assert [path.name for path in empty.iterdir()] == ["mine.yaml"]

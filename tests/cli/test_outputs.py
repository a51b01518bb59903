"""Where results may go: never over what they are made from, and never into what is no file."""

import os
from pathlib import Path

import numpy as np
import pytest
from command import recipe

pytestmark = pytest.mark.usefixtures("known_verdicts", "without_reading_back")

SGLD = (Path(__file__).parents[2] / "specs/dynamics/sgld.yaml").read_text(encoding="utf-8")
PARTS = {
    "dynamics.yaml": SGLD,
    "target.yaml": "name: t\nstate: {theta: {shape: d}}\ndata: {x: {shape: [N, d]}}\n"
    "parameters: {c: {shape: d}}\ngradient: gradient.py:grad_U\n",
    "gradient.py": "def grad_U(theta, x, rows):\n    return theta\n",
    "data.csv": "a,b\n1,2\n3,4\n",
    "build.yaml": "name: gradient\ndynamics: dynamics.yaml\ntarget: target.yaml\n"
    "parameters: {D: {value: [[1, 0], [0, 1]]}, c: {value: c.npy}}\nscheme: {name: euler}\nvariant: full\n"
    "data: {file: data.csv, x: [a, b]}\nrun: {step_size: 0.1, draws: 5, warmup: 1, chains: 2}\n",
}
"""A build with every kind of file that a build can name."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in PARTS.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    np.save(tmp_path / "c.npy", np.ones(2))
    os.symlink(tmp_path / "dynamics.yaml", tmp_path / "soft.json")
    os.link(tmp_path / "dynamics.yaml", tmp_path / "hard.json")
    (tmp_path / "gradient.nc").symlink_to("data.csv")
    return tmp_path


@pytest.mark.parametrize(
    "line",
    [
        *(f"check build.yaml --certificate {name}" for name in (*PARTS, "c.npy", "soft.json", "hard.json")),
        "compile build.yaml -o .",
        "compile --check build.yaml -o .",
        "run build.yaml --allow-code -o .",
    ],
)
def test_a_result_goes_over_nothing_that_a_build_is_made_from(folder: Path, line: str) -> None:
    before = {path: path.read_bytes() for path in folder.iterdir()}
    outcome = recipe(*line.split(), folder=folder)
    assert outcome.code == 2
    assert "found a file that is read" in outcome.err
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


def test_a_checkpoint_is_no_place_for_data(folder: Path) -> None:
    """What a killed process was writing is removed there: names that begin with a dot."""
    hidden = folder / "runs" / "gradient.checkpoint" / ".data.csv"
    hidden.parent.mkdir(parents=True)
    (folder / "data.csv").rename(hidden)
    (folder / "build.yaml").write_text(PARTS["build.yaml"].replace("data.csv", str(hidden)), encoding="utf-8")
    outcome = recipe("run", "build.yaml", "--allow-code", folder=folder)
    assert outcome.code == 2
    assert "found the input .data.csv in it" in outcome.err
    assert hidden.is_file()


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("pipe", "found a pipe or a device"),
        ("to_full", "found a pipe or a device"),
        ("to_folder", "found a folder"),
        ("loop", "loop: "),
    ],
)
def test_a_certificate_goes_into_a_file_alone(tmp_path: Path, name: str, words: str) -> None:
    os.mkfifo(tmp_path / "pipe")
    for link, to in (("to_full", "/dev/full"), ("to_folder", tmp_path), ("loop", "loop")):
        (tmp_path / link).symlink_to(to)
    outcome = recipe("check", "sgld", "--certificate", name, folder=tmp_path)
    assert (outcome.code, outcome.out) == (2, "")
    assert words in outcome.err
    assert Path("/dev/full").is_char_device()


@pytest.mark.slow
@pytest.mark.parametrize("command", ["compile", "run"])
def test_modules_and_draws_go_into_files_alone(tmp_path: Path, command: str) -> None:
    for name in ("sgld_gaussian.py", "sgld_gaussian.nc"):
        os.mkfifo(tmp_path / name)
    (tmp_path / "plain").touch()
    for folder, words in ((".", "a pipe or a device, expected the name of a file"), ("plain", "no folder")):
        outcome = recipe(command, "sgld_gaussian", "-o", tmp_path / folder)
        assert outcome.code == 2
        assert f"found {words}" in outcome.err


def test_a_link_to_another_file_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real.json").write_text("old", encoding="utf-8")
    (tmp_path / "link.json").symlink_to(tmp_path / "real.json")
    assert recipe("check", "sgld", "--certificate", tmp_path / "link.json").code == 0
    assert (tmp_path / "link.json").is_symlink()
    assert (tmp_path / "real.json").read_text(encoding="utf-8").startswith("{")


@pytest.mark.parametrize("refuser", ["secrets.token_hex", "os.fsync"])
@pytest.mark.parametrize(("line", "file"), [("check sgld --certificate c.json", "c.json"), ("new mine", "mine.yaml")])
def test_what_the_system_refuses_names_the_file_and_leaves_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refuser: str, line: str, file: str
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied", str(tmp_path / ".c.json.x8f3"))

    monkeypatch.setattr(refuser, refuse)
    outcome = recipe(*line.split(), folder=tmp_path)
    assert (outcome.code, outcome.err) == (2, f"{file}: Permission denied\n")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
@pytest.mark.parametrize("line", ["check sgld --certificate c.json", "compile sgld_gaussian -o .", "run sgld_gaussian"])
def test_a_folder_into_which_nothing_may_be_written_is_reported_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: not mode & os.W_OK)
    outcome = recipe(*line.split(), folder=tmp_path)
    assert (outcome.code, outcome.out) == (2, "")
    assert "found the folder " in outcome.err
    assert "into which nothing may be written" in outcome.err

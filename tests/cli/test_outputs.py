"""Where results may go: never over what they are made from, and never into what is no file."""

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

pytestmark = pytest.mark.usefixtures("known_verdicts", "without_reading_back")

ROOT = Path(__file__).parents[2]
CODE = "def grad_U(theta, x, rows):\n    return theta\n"
Parts = Callable[[str], Path]


@pytest.fixture
def parts(tmp_path: Path) -> dict[str, Path]:
    """A build with all that a build can be made from, each in a file of its own."""
    texts = {
        "dynamics.yaml": (ROOT / "specs/dynamics/sgld.yaml").read_text(encoding="utf-8"),
        "target.yaml": "name: t\nstate: {theta: {shape: d}}\ndata: {x: {shape: [N, d]}}\n"
        "parameters: {c: {shape: d}}\ngradient: gradient.py:grad_U\n",
        "gradient.py": CODE,
        "data.csv": "a,b\n1,2\n3,4\n",
        "build.yaml": "name: gradient\ndynamics: dynamics.yaml\ntarget: target.yaml\n"
        "parameters: {D: {value: [[1, 0], [0, 1]]}, c: {value: c.npy}}\nscheme: {name: euler}\nvariant: full\n"
        "data: {file: data.csv, x: [a, b]}\nrun: {step_size: 0.1, draws: 5, warmup: 1, chains: 2}\n",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    np.save(tmp_path / "c.npy", np.ones(2))
    return {name: tmp_path / name for name in (*texts, "c.npy")}


def spec(tmp_path: Path) -> Path:
    path = tmp_path / "mine.yaml"
    path.write_bytes((ROOT / "specs/dynamics/sgld.yaml").read_bytes())
    return path


LINKS = {"itself": None, "a symbolic link": os.symlink, "a hard link": os.link}


@pytest.mark.parametrize("link", LINKS)
def test_a_certificate_does_not_go_over_its_document(recipe, tmp_path: Path, link: str) -> None:
    path = spec(tmp_path)
    before, output = path.read_bytes(), path
    if (make := LINKS[link]) is not None:
        output = tmp_path / "other.json"
        make(path, output)
    outcome = recipe("check", path, "--certificate", output)
    assert outcome.code == 2
    assert "found a file that is read" in outcome.err
    assert outcome.out == ""
    assert path.read_bytes() == before


@pytest.mark.parametrize("name", ["dynamics.yaml", "target.yaml", "gradient.py", "data.csv", "c.npy", "build.yaml"])
def test_a_certificate_goes_over_nothing_that_a_build_is_made_from(recipe, parts: dict[str, Path], name: str) -> None:
    before = parts[name].read_bytes()
    outcome = recipe("check", parts["build.yaml"], "--certificate", parts[name])
    assert outcome.code == 2
    assert "found a file that is read" in outcome.err
    assert parts[name].read_bytes() == before


@pytest.mark.parametrize("command", [("compile",), ("compile", "--check")])
def test_a_module_does_not_go_over_the_gradient_of_its_target(
    recipe, parts: dict[str, Path], command: tuple[str, ...]
) -> None:
    outcome = recipe(*command, parts["build.yaml"], "-o", parts["build.yaml"].parent)
    assert outcome.code == 2
    assert "found a file that is read" in outcome.err
    assert parts["gradient.py"].read_text(encoding="utf-8") == CODE


def test_draws_do_not_go_over_the_data(recipe, parts: dict[str, Path], tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "gradient.nc").symlink_to(parts["data.csv"])
    outcome = recipe("run", parts["build.yaml"], "--allow-code", "-o", tmp_path / "runs")
    assert outcome.code == 2
    assert "found a file that is read" in outcome.err
    assert parts["data.csv"].read_text(encoding="utf-8") == "a,b\n1,2\n3,4\n"


def test_a_checkpoint_is_no_place_for_data(recipe, parts: dict[str, Path], tmp_path: Path) -> None:
    """What a killed process was writing is removed there: names that begin with a dot."""
    hidden = tmp_path / "runs" / "gradient.checkpoint" / ".data.csv"
    hidden.parent.mkdir(parents=True)
    parts["data.csv"].rename(hidden)
    text = parts["build.yaml"].read_text(encoding="utf-8")
    parts["build.yaml"].write_text(text.replace("data.csv", str(hidden)), encoding="utf-8")
    outcome = recipe("run", parts["build.yaml"], "--allow-code", "-o", tmp_path / "runs")
    assert outcome.code == 2
    assert "found .data.csv in it, which is read" in outcome.err
    assert hidden.is_file()


def places(tmp_path: Path) -> dict[str, Path]:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "to_full").symlink_to("/dev/full")
    (tmp_path / "folder").mkdir()
    (tmp_path / "to_folder").symlink_to(tmp_path / "folder")
    (tmp_path / "plain").touch()
    names = ("pipe", "to_full", "folder", "to_folder", "plain/below", "none/below")
    devices = {name: Path(name) for name in ("/dev/full", "/dev/null", "/dev/stdout", "-")}
    return devices | {name: tmp_path / name for name in names}


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("/dev/full", "a pipe or a device"),
        ("/dev/null", "a pipe or a device"),
        ("/dev/stdout", "a stream"),
        ("-", "a stream"),
        ("pipe", "a pipe or a device"),
        ("to_full", "a pipe or a device"),
        ("folder", "a folder"),
        ("to_folder", "a folder"),
        ("plain/below", "no folder"),
        ("none/below", "no folder"),
    ],
)
def test_a_certificate_goes_into_a_file_alone(recipe, tmp_path: Path, name: str, found: str) -> None:
    outcome = recipe("check", spec(tmp_path), "--certificate", places(tmp_path)[name], folder=tmp_path)
    assert outcome.code == 2
    assert f"found {found}" in outcome.err
    assert outcome.out == ""
    assert Path("/dev/full").is_char_device()
    assert not (tmp_path / "-").exists()


@pytest.mark.slow
def test_a_module_and_draws_go_into_files_alone(recipe, tmp_path: Path) -> None:
    for name in ("sgld_gaussian.py", "sgld_gaussian.nc"):
        os.mkfifo(tmp_path / name)
    for command in ("compile", "run"):
        outcome = recipe(command, "specs/builds/sgld_gaussian.yaml", "-o", tmp_path)
        assert outcome.code == 2
        assert "found a pipe or a device, expected the name of a file" in outcome.err
    (tmp_path / "plain").touch()
    for command in ("compile", "run"):
        outcome = recipe(command, "specs/builds/sgld_gaussian.yaml", "-o", tmp_path / "plain")
        assert outcome.code == 2
        assert "found no folder" in outcome.err


@pytest.mark.slow
def test_a_link_to_another_file_stays_a_link(recipe, tmp_path: Path) -> None:
    (tmp_path / "real.json").write_text("old", encoding="utf-8")
    (tmp_path / "link.json").symlink_to(tmp_path / "real.json")
    assert recipe("check", spec(tmp_path), "--certificate", tmp_path / "link.json").code == 0
    assert (tmp_path / "link.json").is_symlink()
    assert (tmp_path / "real.json").read_text(encoding="utf-8").startswith("{")


def test_a_loop_of_links_is_one_clear_line(recipe, tmp_path: Path) -> None:
    (tmp_path / "loop.json").symlink_to(tmp_path / "loop.json")
    outcome = recipe("check", spec(tmp_path), "--certificate", tmp_path / "loop.json")
    assert outcome.code == 2
    assert outcome.err.startswith(f"{tmp_path / 'loop.json'}: ")


@pytest.mark.slow
@pytest.mark.parametrize("refuser", ["tempfile.mkstemp", "pathlib.Path.chmod", "os.fsync"])
def test_what_the_system_refuses_names_the_file_that_was_asked_for(
    recipe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refuser: str
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied", str(tmp_path / ".certificate.json.x8f3"))

    path = spec(tmp_path)
    monkeypatch.setattr(refuser, refuse)
    outcome = recipe("check", path, "--certificate", tmp_path / "certificate.json")
    assert outcome.code == 2
    assert outcome.err == f"{tmp_path / 'certificate.json'}: Permission denied\n"
    assert sorted(found.name for found in tmp_path.iterdir()) == ["mine.yaml"]


@pytest.mark.slow
def test_a_folder_into_which_nothing_may_be_written_is_told_first(
    recipe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: not mode & os.W_OK)
    path = spec(tmp_path)
    for command in (("check", path, "--certificate", tmp_path / "c.json"),
                    ("compile", "specs/builds/sgld_gaussian.yaml", "-o", tmp_path),
                    ("run", "specs/builds/sgld_gaussian.yaml", "-o", tmp_path / "new")):  # fmt: skip
        outcome = recipe(*command)
        assert outcome.code == 2
        assert f"found the folder {tmp_path}, into which nothing may be written" in outcome.err
        assert outcome.out == ""

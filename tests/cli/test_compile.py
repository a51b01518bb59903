"""`recipe compile`: writes what was verified, compares byte for byte, refuses what is not proved."""

import json
from hashlib import sha256
from pathlib import Path

import pytest

from recipe_compiler.readback import child_process as read_limited

pytestmark = pytest.mark.usefixtures("known_verdicts")

BUILD = "specs/builds/sgld_gaussian.yaml"


def test_a_build_becomes_a_module_that_is_then_current(recipe, tmp_path: Path) -> None:
    assert recipe("compile", BUILD, "-o", tmp_path).code == 0
    module = tmp_path / "sgld_gaussian.py"
    before = module.read_bytes()
    outcome = recipe("compile", BUILD, "-o", tmp_path, "--check")
    assert outcome.code == 0
    assert "current" in outcome.out
    assert module.read_bytes() == before


def test_a_module_that_was_changed_is_found_and_left_alone(recipe, tmp_path: Path) -> None:
    recipe("compile", BUILD, "-o", tmp_path)
    module = tmp_path / "sgld_gaussian.py"
    changed = module.read_text().replace("eps", "epz", 1)
    module.write_text(changed)
    outcome = recipe("compile", BUILD, "-o", tmp_path, "--check")
    assert outcome.code == 1
    assert "differs" in outcome.err
    assert "epz" in outcome.err
    assert module.read_text() == changed


@pytest.mark.usefixtures("without_reading_back")
def test_a_module_that_is_not_kept_is_compared_by_its_digest(recipe, tmp_path: Path) -> None:
    recipe("compile", BUILD, "-o", tmp_path)
    module, digests = tmp_path / "sgld_gaussian.py", tmp_path / "digests.json"
    text = module.read_bytes()
    module.unlink()
    digests.write_text(json.dumps({"sgld_gaussian": sha256(text).hexdigest()}))
    assert recipe("compile", BUILD, "-o", tmp_path, "--check").code == 0
    digests.write_text(json.dumps({"sgld_gaussian": "0" * 64}))
    outcome = recipe("compile", BUILD, "-o", tmp_path, "--check")
    assert outcome.code == 1
    assert Path(outcome.err.split("diff OLD ")[1].strip()).read_bytes() == text
    assert [*tmp_path.iterdir()] == [digests]


@pytest.mark.usefixtures("without_reading_back")
@pytest.mark.parametrize("text", ["[]", "{", "[" * 100_000])
def test_digests_that_are_none_are_refused(recipe, tmp_path: Path, text: str) -> None:
    (tmp_path / "digests.json").write_text(text)
    outcome = recipe("compile", BUILD, "-o", tmp_path, "--check")
    assert outcome.code == 2
    assert "found no JSON object, expected the SHA-256 of each module" in outcome.err


def test_a_module_that_is_not_there_is_told(recipe, tmp_path: Path) -> None:
    outcome = recipe("compile", BUILD, "-o", tmp_path, "--check")
    assert outcome.code == 1
    assert "not there" in outcome.err
    assert list(tmp_path.iterdir()) == []


def test_dynamics_are_no_build(recipe) -> None:
    outcome = recipe("compile", "specs/dynamics/sghmc.yaml")
    assert outcome.code == 2
    assert "expected a build" in outcome.err


def test_a_refuted_build_is_refused_whatever_is_allowed(recipe, tmp_path: Path) -> None:
    root = Path(__file__).parents[2]
    text = (root / "specs/dynamics/sgld.yaml").read_text().replace("D: [[D]]", "D: [[-D]]")
    (tmp_path / "wrong.yaml").write_text(text)
    build = (root / BUILD).read_text().replace("../dynamics/sgld.yaml", "wrong.yaml")
    build = build.replace("../targets", str(root / "specs/targets"))
    (tmp_path / "build.yaml").write_text(build)
    outcome = recipe("compile", tmp_path / "build.yaml", "-o", tmp_path / "out", "--allow-undecided")
    assert outcome.code == 1
    assert "refuted" in outcome.out
    assert not (tmp_path / "out").exists()


def test_a_folder_that_cannot_be_written_is_one_clear_line(recipe, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    outcome = recipe("compile", BUILD, "-o", tmp_path / "file")
    assert outcome.code == 2
    assert "file" in outcome.err


def test_what_is_not_read_back_in_its_time_is_refused_by_name_and_not_written(
    recipe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path.parent / "empty"))  # where nothing was read back
    monkeypatch.setattr(read_limited.read_all, "__defaults__", (1e-3, 1e-3))
    outcome = recipe("compile", BUILD, "-o", tmp_path)
    assert outcome.code == 3
    assert "sgld_gaussian was not read back, so nothing is written: the step (d = 1" in outcome.err
    assert list(tmp_path.iterdir()) == []


def build(folder: Path, file: str, replacing: dict[str, str]) -> Path:
    """Write the build anew beside the documents it is made of, some texts replaced."""
    root = Path(__file__).parents[2]
    text = (root / BUILD).read_text(encoding="utf-8")
    for old, new in ({"../": f"{root / 'specs'}/"} | replacing).items():
        assert old in text
        text = text.replace(old, new)
    path = folder / file
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.usefixtures("without_reading_back")
def test_two_builds_of_one_name_are_not_one_module(recipe, tmp_path: Path) -> None:
    other = build(tmp_path, "other.yaml", {"variant: full": "variant: full\nnoise: {generator: philox}"})
    outcome = recipe("compile", BUILD, other, "-o", tmp_path / "out")
    assert outcome.code == 2
    assert f"{other}  name  found the name of the build in {BUILD}, expected another" in outcome.err
    assert "rename one of them" in outcome.err
    (module,) = (tmp_path / "out").iterdir()
    assert "philox" not in module.read_text(encoding="utf-8")
    assert recipe("compile", other, "-o", tmp_path / "out").code == 0
    assert "philox" in module.read_text(encoding="utf-8")


@pytest.mark.usefixtures("without_reading_back")
def test_a_build_may_be_named_twice(recipe, tmp_path: Path) -> None:
    assert recipe("compile", BUILD, Path(__file__).parents[2] / BUILD, "-o", tmp_path / "out").code == 0


@pytest.mark.usefixtures("without_reading_back")
@pytest.mark.parametrize("there", ["def mine():\n    return 1\n", "# Emitted by hand\n"])
def test_a_file_that_was_not_emitted_is_left_alone(recipe, tmp_path: Path, there: str) -> None:
    module = tmp_path / "sgld_gaussian.py"
    module.write_text(there, encoding="utf-8")
    outcome = recipe("compile", BUILD, "-o", tmp_path)
    assert outcome.code == 2
    assert f"{module}  -o  found a file that this compiler did not write, expected an emitted module" in outcome.err
    assert "name another folder with -o" in outcome.err
    assert module.read_text(encoding="utf-8") == there


@pytest.mark.usefixtures("without_reading_back")
def test_a_module_that_was_emitted_is_replaced(recipe, tmp_path: Path) -> None:
    module = tmp_path / "sgld_gaussian.py"
    module.touch()
    assert recipe("compile", BUILD, "-o", tmp_path).code == 0
    emitted = module.read_bytes()
    module.write_bytes(emitted + b"# older\n")
    assert recipe("compile", BUILD, "-o", tmp_path).code == 0
    assert module.read_bytes() == emitted

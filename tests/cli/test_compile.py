"""`recipe compile`: writes what was verified, compares byte for byte, refuses what is not proved."""

import json
from hashlib import sha256
from pathlib import Path

import pytest
from command import recipe

from recipe_compiler.readback import child_process

pytestmark = pytest.mark.usefixtures("known_verdicts")

BUILD = "sgld_gaussian"
FILE = Path(__file__).parents[2] / f"specs/builds/{BUILD}.yaml"


def build(folder: Path, file: str, replacing: dict[str, str]) -> Path:
    """Write the build anew beside the documents it is made of, some texts replaced."""
    text = FILE.read_text(encoding="utf-8")
    for old, new in (replacing | {"../": f"{FILE.parents[1]}/"}).items():
        assert old in text
        text = text.replace(old, new)
    (folder / file).write_text(text, encoding="utf-8")
    return folder / file


def test_a_module_is_current_until_it_is_changed_and_then_left_alone(tmp_path: Path) -> None:
    checked = ("compile", BUILD, "-o", tmp_path, "--check")
    missing = recipe(*checked)
    assert (missing.code, [*tmp_path.iterdir()]) == (1, [])
    assert "not there" in missing.err
    assert recipe("compile", BUILD, "-o", tmp_path).code == 0
    module = tmp_path / "sgld_gaussian.py"
    before = module.read_text()
    current = recipe(*checked)
    assert current.code == 0
    assert "current" in current.out
    assert module.read_text() == before
    module.write_text(changed := before.replace("eps", "epz", 1))
    different = recipe(*checked)
    assert different.code == 1
    assert "differs" in different.err
    assert "epz" in different.err
    assert module.read_text() == changed
    assert recipe("compile", BUILD, "-o", tmp_path).code == 0
    assert module.read_text() == before


@pytest.mark.usefixtures("without_reading_back")
def test_a_module_that_is_not_kept_is_compared_by_its_digest(tmp_path: Path) -> None:
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
def test_digests_that_are_none_are_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "digests.json").write_text(text)
    outcome = recipe("compile", BUILD, "-o", tmp_path, "--check")
    assert outcome.code == 2
    assert "found no JSON object, expected the SHA-256 of each module" in outcome.err


def test_a_refuted_build_is_refused_whatever_is_allowed(tmp_path: Path) -> None:
    text = recipe("show", "sgld").out
    assert "D: [[D]]" in text
    (tmp_path / "wrong.yaml").write_text(text.replace("D: [[D]]", "D: [[-D]]"))
    path = build(tmp_path, "build.yaml", {"../dynamics/sgld.yaml": "wrong.yaml"})
    outcome = recipe("compile", path, "-o", tmp_path / "out", "--allow-undecided")
    assert outcome.code == 1
    assert "refuted" in outcome.out
    assert not (tmp_path / "out").exists()


def test_what_is_not_read_back_in_its_time_is_refused_by_name_and_not_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path.parent / "empty"))  # where nothing was read back
    monkeypatch.setattr(child_process.read_all, "__defaults__", (1e-3, 1e-3))
    outcome = recipe("compile", BUILD, "-o", tmp_path)
    assert outcome.code == 3
    assert "sgld_gaussian was not read back, so nothing is written: the step (d = 1" in outcome.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("without_reading_back")
def test_two_builds_of_one_name_are_not_one_module(tmp_path: Path) -> None:
    other = build(tmp_path, "other.yaml", {"step_size: 0.05": "step_size: 0.0625"})
    outcome = recipe("compile", FILE, other, "-o", tmp_path / "out")
    assert outcome.code == 2
    assert f"{other}  name  found the name of the build in {FILE}, expected another" in outcome.err
    assert "rename one of them" in outcome.err
    (module,) = (tmp_path / "out").iterdir()
    assert "0.0625" not in module.read_text(encoding="utf-8")
    assert recipe("compile", other, "-o", tmp_path / "out").code == 0
    assert "0.0625" in module.read_text(encoding="utf-8")
    assert recipe("compile", FILE, BUILD, "-o", tmp_path / "out").code == 0  # one build, named twice


@pytest.mark.usefixtures("without_reading_back")
@pytest.mark.parametrize("there", ["def mine():\n    return 1\n", "# Emitted by hand\n"])
def test_a_file_that_was_not_emitted_is_left_alone(tmp_path: Path, there: str) -> None:
    module = tmp_path / "sgld_gaussian.py"
    module.write_text(there, encoding="utf-8")
    outcome = recipe("compile", BUILD, "-o", tmp_path)
    assert outcome.code == 2
    assert f"{module}  -o  found a file that this compiler did not write, expected an emitted module" in outcome.err
    assert "name another folder with -o" in outcome.err
    assert module.read_text(encoding="utf-8") == there


@pytest.mark.usefixtures("without_reading_back")
def test_an_empty_file_is_written_over(tmp_path: Path) -> None:
    (tmp_path / "sgld_gaussian.py").touch()
    assert recipe("compile", BUILD, "-o", tmp_path).code == 0
    assert (tmp_path / "sgld_gaussian.py").stat().st_size > 0


OF_DYNAMICS = {
    "sgld": ("sgld", "sample(grad_U, D=D, step_size=0.01)"),
    "hmc --set M=I --set name=trajectories": ("trajectories", "sample(U, grad_U, d=3, step_size=0.01)"),
    "sghmc --set scheme=baoab --set variant=minibatch": ("sghmc", "sample(grad_U, rows=1000, M=M, C=C, step_size=0.01"),
    "sgld banana": ("sgld_banana", "sample(D=D, step_size=0.01)"),  # a pair is one build
}


@pytest.mark.parametrize(("line", "name", "call"), [(line, *made) for line, made in OF_DYNAMICS.items()])
def test_dynamics_alone_make_a_module_for_any_log_density(line: str, name: str, call: str, tmp_path: Path) -> None:
    outcome = recipe("compile", *line.split(), "-o", tmp_path)
    assert outcome.code == 0, outcome.err
    assert [path.name for path in tmp_path.iterdir()] == [f"{name}.py"]
    assert f"draws = {name}.{call}" in (tmp_path / f"{name}.py").read_text()

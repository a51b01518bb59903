"""`recipe check`: verdicts, evidence, exit codes, JSON, and faults that are told without a traceback."""

import json
import os
from pathlib import Path

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recipe_compiler.commands import documents
from recipe_compiler.report.as_json import report_schema

pytestmark = pytest.mark.usefixtures("known_verdicts")

SGHMC = "specs/dynamics/sghmc.yaml"
PYTHON = """\
from recipe_compiler import Dynamics, I, function, matrix, vector

theta, r = vector("theta", "d"), vector("r", "d")
C = matrix("C", "d", "d", is_="positive semidefinite")
U = function("U", of=theta, role="potential")
sampler = Dynamics(name="sampler", state=[theta, r], H=U + r.T @ r / 2, D=[[0, 0], [0, C]], Q=[[0, -I], [I, 0]])
"""
NAIVE = {"    [0, C]]": "    [0, 0]]", "H: U": "claims:\n  drift: {theta: r, r: -grad(U, theta) - C @ r}\nH: U"}
NOT_PSD = {"[0, C]]": "[0, -C]]"}
NOT_SKEW = {"[I, 0]]": "[-I, 0]]"}
UNKNOWN_NAME = {"r.T @ r / 2": "r.T @ rr / 2"}


@pytest.mark.slow
def test_a_shipped_spec_is_proved(recipe) -> None:
    outcome = recipe("check", SGHMC)
    assert outcome.code == 0
    assert "sghmc: proved" in outcome.out
    assert "Q is skew" in outcome.out
    assert outcome.err == ""


@pytest.mark.slow
def test_a_certificate_goes_to_the_file_that_is_named(recipe, tmp_path: Path) -> None:
    assert recipe("check", SGHMC, "--certificate", tmp_path / "sghmc.json").code == 0
    assert json.loads((tmp_path / "sghmc.json").read_text(encoding="utf-8"))["verdict"] == "proved"


@pytest.mark.parametrize(("name", "problem"), [("none/c.json", "found no folder"), ("", "found a folder")])
def test_a_certificate_that_has_no_place_is_told_before_anything_is_decided(
    name: str, problem: str, recipe, tmp_path: Path
) -> None:
    outcome = recipe("check", SGHMC, "--certificate", tmp_path / name)
    assert outcome.code == 2
    assert problem in outcome.err
    assert str(tmp_path) in outcome.err
    assert outcome.out == ""
    assert list(tmp_path.iterdir()) == []


def test_the_table_has_no_colours_where_there_is_no_terminal(recipe) -> None:
    assert "\x1b" not in recipe("check", SGHMC).out


@pytest.mark.slow
@pytest.mark.parametrize(("change", "claim"), [(NOT_PSD, "semidefinite"), (NOT_SKEW, "skew"), (NAIVE, "drift")])
def test_a_wrong_spec_is_refuted_with_a_witness(recipe, write, change: dict[str, str], claim: str) -> None:
    outcome = recipe("check", write(replacing=change))
    assert outcome.code == 1
    refuted = [line for line in outcome.out.splitlines() if "refuted" in line]
    assert any(claim in line for line in refuted)
    assert "at: " in outcome.out


def test_a_faulty_document_shows_the_line_and_a_caret(recipe, write) -> None:
    path = write(replacing=UNKNOWN_NAME)
    outcome = recipe("check", path)
    assert outcome.code == 2
    assert f"{path}:9:" in outcome.err
    lines = outcome.err.splitlines()
    carets = [k for k, line in enumerate(lines) if line.strip() == "^"]
    assert carets
    assert lines[carets[0] - 1][lines[carets[0]].index("^") :].startswith("rr")


def test_a_faulty_file_does_not_keep_others_from_their_verdict(recipe, write) -> None:
    outcome = recipe("check", write(replacing=UNKNOWN_NAME), SGHMC)
    assert outcome.code == 2
    assert "sghmc: proved" in outcome.out


@pytest.mark.slow
def test_of_several_files_a_fault_decides_before_a_refutation(recipe, write) -> None:
    faulty, refuted = write("a.yaml", UNKNOWN_NAME), write("b.yaml", NOT_PSD)
    assert recipe("check", refuted, faulty).code == 2
    assert recipe("check", SGHMC, refuted).code == 1


@pytest.mark.slow
def test_json_is_one_object_with_every_document(recipe, write) -> None:
    outcome = recipe("check", "--json", SGHMC, write("a.yaml", UNKNOWN_NAME), write("b.yaml", NOT_PSD))
    found = json.loads(outcome.out)
    assert outcome.code == 2
    jsonschema.validate(found, report_schema())
    assert [document["verdict"] for document in found["documents"]] == ["proved", "refuted", None]
    assert found["documents"][2]["faults"]
    claims = {claim["id"]: claim for claim in found["documents"][1]["claims"]}
    assert claims["d_psd"]["verdict"] == "refuted"
    assert claims["d_psd"]["witness"]


def test_a_target_and_a_build_are_checked_too(recipe) -> None:
    outcome = recipe("check", "specs/targets/gaussian.yaml", "specs/builds/sghmc_gaussian.yaml")
    assert outcome.code in (0, 3)
    assert "gaussian" in outcome.out


@pytest.mark.parametrize("name", ["nowhere.yaml", "specs", "nowhere.py:name", "specs/dynamics/sghmc.yaml/x"])
def test_a_file_that_cannot_be_read_is_one_clear_line(recipe, name: str) -> None:
    outcome = recipe("check", name)
    assert outcome.code == 2
    assert name.split(":")[0] in outcome.err


def test_a_document_cannot_speak_to_the_terminal(recipe, write) -> None:
    outcome = recipe("check", write(replacing={"name: sampler": 'name: "sam\\e[31mpler"'}))
    assert outcome.code == 2
    assert "\x1b" not in outcome.err


@pytest.mark.slow
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    nonsense=st.one_of(st.binary(max_size=300), st.text(max_size=300).map(lambda text: text.encode(errors="replace")))
)
def test_nonsense_is_a_faulty_document(recipe, tmp_path: Path, nonsense: bytes) -> None:
    path = tmp_path / "nonsense.yaml"
    path.write_bytes(nonsense)
    outcome = recipe("check", path)
    assert outcome.code == 2
    assert outcome.err


@pytest.mark.slow
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(at=st.integers(0, 330), length=st.integers(0, 40), middle=st.text(alphabet=": []{}@*+-/()dru'\"\n", max_size=8))
def test_a_mangled_spec_ends_in_a_verdict_or_in_faults(recipe, write, at: int, length: int, middle: str) -> None:
    path = write()
    text = path.read_text(encoding="utf-8")
    path.write_text(text[:at] + middle + text[at + length :], encoding="utf-8")
    assert recipe("check", path).code in (0, 1, 2, 3)


@pytest.mark.slow
def test_a_python_spec_is_found_by_its_name(recipe, write) -> None:
    path = write("mine.py", text=PYTHON)
    outcome = recipe("check", f"{path}:sampler")
    assert outcome.code == 0
    assert "sampler: proved" in outcome.out


@pytest.mark.parametrize(
    "code", ["import sys\nsys.exit(0)", "raise SystemExit", "1 / 0", "import nothing_of_this_name", "def"]
)
def test_a_python_spec_that_does_not_run_is_no_verdict(recipe, write, code: str) -> None:
    outcome = recipe("check", f"{write('mine.py', text=code)}:sampler")
    assert outcome.code == 2
    assert outcome.err


@pytest.mark.parametrize("name", ["pipe.yaml", "pipe.py"])
def test_a_pipe_is_refused_and_not_waited_for(recipe, tmp_path: Path, name: str) -> None:
    os.mkfifo(tmp_path / name)
    outcome = recipe("check", tmp_path / name)
    assert outcome.code == 2
    assert "a pipe or a device, expected a file" in outcome.err


RUNAWAY = {
    "while True: pass\n": "did not end in",
    "x = []\nwhile True: x.append(bytearray(10**8))\n": "found MemoryError when the file ran",
    "import os\nos._exit(0)\n": "its process ended without an answer",
}


@pytest.mark.slow
@pytest.mark.parametrize("text", RUNAWAY)
def test_a_python_spec_runs_within_limits(recipe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    if RUNAWAY[text] == "did not end in":  # what ends by itself has all the time that it takes on a busy machine
        monkeypatch.setattr(documents, "SECONDS", 3.0)
    (tmp_path / "runaway.py").write_text(text, encoding="utf-8")
    outcome = recipe("check", tmp_path / "runaway.py")
    assert outcome.code == 2
    assert RUNAWAY[text] in outcome.err


KEYS = {
    "H:": ("h:", "H"),
    "parameters:": ("Parameters:", "parameters"),
    "state:": ("State:", "state"),
    "Q:": ("q:", "Q"),
}


@pytest.mark.parametrize("key", KEYS)
def test_a_key_in_the_wrong_case_is_named(recipe, write, key: str) -> None:
    written, meant = KEYS[key]
    outcome = recipe("check", write(replacing={f"\n{key}": f"\n{written}"}))
    assert outcome.code == 2
    assert f"did you mean `{meant}`?" in outcome.err


@pytest.mark.slow
def test_a_jump_without_a_derivative_is_told_at_its_entry(recipe, tmp_path: Path) -> None:
    path = tmp_path / "jump.yaml"
    text = "name: jump\nstate: {x: {}, y: {}}\nH: x**2 + y**2\nD:\n  - [1, 0]\n  - [0, WHERE]\nQ: [[0, 0], [0, 0]]\n"
    path.write_text(text.replace("WHERE", '"1 + where(x + y > 0, 1, 2)"'), encoding="utf-8")
    assert "jump.yaml:6:9  D[y,y]" in recipe("check", path).err
    path.write_text(text.replace("WHERE", "1").replace("H: x**2", "H: x**2*sign(x - y)"), encoding="utf-8")
    assert "jump.yaml:3:4  H" in recipe("check", path).err


@pytest.mark.slow
def test_data_that_cannot_be_read_are_named_first_where_they_decide(recipe, tmp_path: Path) -> None:
    target = "name: line\nstate: {a: {}, b: {}}\ndata: {y: {shape: N}, x: {shape: N}}\n"
    (tmp_path / "line.yaml").write_text(f"{target}log_likelihood: normal(y, a + b*x, 1)\n")
    build = "name: own\ndynamics: sgld\ntarget: line.yaml\nbind: {D: I}\nscheme: {name: euler}\nvariant: full\n"
    (tmp_path / "own.yaml").write_text(f"{build}data: {{file: none.csv, y: y, x: x}}\nrun: {{step_size: 0.1}}\n")
    outcome = recipe("check", tmp_path / "own.yaml")
    assert outcome.code == 2
    assert outcome.err.startswith(f"{tmp_path / 'own.yaml'}  data  ")
    assert "found no such file" in outcome.err
    assert "undecided: exp(-H) has a finite integral" in outcome.out

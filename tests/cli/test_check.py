"""`recipe check`: verdicts, evidence, exit codes, JSON, and faults at their places."""

import json
import os
from pathlib import Path

import jsonschema
import pytest
from command import recipe
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recipe_compiler.commands import documents
from recipe_compiler.report.as_json import read_schema

pytestmark = pytest.mark.usefixtures("known_verdicts")

NOT_PSD = {"[0, C]]": "[0, -C]]"}
UNKNOWN_NAME = {"r.T @ r / 2": "r.T @ rr / 2"}


def test_a_shipped_document_is_proved_without_colours_where_there_is_no_terminal() -> None:
    code, out, err = recipe("check", "sghmc")
    assert (code, err) == (0, "")
    assert "sghmc: proved" in out
    assert "Q is skew" in out
    assert "\x1b" not in out


def test_a_fault_shows_its_line_with_a_caret_and_leaves_other_documents_their_verdict(write) -> None:
    path = write(replacing=UNKNOWN_NAME)
    code, out, err = recipe("check", path, "sghmc")
    assert code == 2
    assert f"{path}:9:" in err
    lines = err.splitlines()
    (caret,) = (k for k, line in enumerate(lines) if line.strip() == "^")
    assert lines[caret - 1][lines[caret].index("^") :].startswith("rr")
    assert "sghmc: proved" in out


@pytest.mark.slow
def test_of_several_documents_a_fault_decides_before_a_refutation(write) -> None:
    faulty, refuted = write("a.yaml", UNKNOWN_NAME), write("b.yaml", NOT_PSD)
    assert recipe("check", refuted, faulty).code == 2
    assert recipe("check", "sghmc", refuted).code == 1
    found = json.loads(recipe("check", "--json", "sghmc", faulty, refuted).out)
    jsonschema.validate(found, read_schema())
    assert [document["verdict"] for document in found["documents"]] == ["proved", "refuted", None]
    assert found["documents"][2]["faults"]
    claims = {claim["id"]: claim for claim in found["documents"][1]["claims"]}
    assert claims["d_psd"]["verdict"] == "refuted"
    assert claims["d_psd"]["witness"]
    printed = recipe("check", refuted).out
    assert "at: " in printed
    assert any("semidefinite" in line for line in printed.splitlines() if "refuted" in line)


@pytest.mark.slow
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(at=st.integers(0, 330), length=st.integers(0, 40), middle=st.text(alphabet=": []{}@*+-/()dru'\"\n", max_size=8))
def test_a_mangled_document_ends_in_a_verdict_or_in_faults(write, at: int, length: int, middle: str) -> None:
    path = write()
    text = path.read_text(encoding="utf-8")
    path.write_text(text[:at] + middle + text[at + length :], encoding="utf-8")
    assert recipe("check", path).code in (0, 1, 2, 3)


@pytest.mark.parametrize("name", ["pipe.yaml", "pipe.py"])
def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path, name: str) -> None:
    os.mkfifo(tmp_path / name)
    outcome = recipe("check", tmp_path / name)
    assert outcome.code == 2
    assert "a pipe or a device, expected a file" in outcome.err


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "words", "seconds"),
    [
        ("while True: pass\n", "did not end in", 3.0),
        ("x = []\nwhile True: x.append(bytearray(10**8))\n", "found MemoryError when the file ran", documents.SECONDS),
        ("import os\nos._exit(0)\n", "its process ended without an answer", documents.SECONDS),
    ],
)
def test_a_document_in_python_runs_within_limits(
    write, monkeypatch: pytest.MonkeyPatch, text: str, words: str, seconds: float
) -> None:
    monkeypatch.setattr(documents, "SECONDS", seconds)
    outcome = recipe("check", write("runaway.py", text=text))
    assert outcome.code == 2
    assert words in outcome.err


@pytest.mark.slow
@pytest.mark.parametrize(
    ("H", "entry", "place"),
    [("x**2 + y**2", '"1 + where(x + y > 0, 1, 2)"', "6:9  D[y,y]"), ("x**2*sign(x - y) + y**2", "1", "3:4  H")],
)
def test_a_jump_without_a_derivative_is_reported_at_its_entry(write, H: str, entry: str, place: str) -> None:
    text = f"name: jump\nstate: {{x: {{}}, y: {{}}}}\nH: {H}\nD:\n  - [1, 0]\n  - [0, {entry}]\nQ: [[0, 0], [0, 0]]\n"
    assert f"jump.yaml:{place}" in recipe("check", write("jump.yaml", text=text)).err


@pytest.mark.parametrize(
    ("table", "place", "problem"),
    [
        (None, "7:14  data.file", "data.csv: found no such file"),
        ("a,bb,y\n1,2,3\n", "7:31  data.x[1]", "found no column `b`: did you mean `bb`?"),
        ("a,b,y\n1,2,3\n1,NA,3\n", "7:31  data.x[1]", "row 2 (line 3), column `b`: found `NA`, expected a number"),
        ("a,b,y\n1,2,3\n1,2,-3\n", "7:41  data.y", "row 2 (line 3), column `y`: found -3, expected positive"),
        ("a,b,y\n0,2,3\n", "7:57  data.columns.c", "row 1 (line 2), column `c`: found inf by 1/a at a = 0"),
        ("a,b,y\n1,2,3\n2,2,70\n", "7:14  data.file", "found y = 70 in row 2, expected y <= 60, as line assumes"),
    ],
)
def test_data_that_a_proof_does_not_need_are_faults_at_their_entries(
    write, tmp_path: Path, table: str | None, place: str, problem: str
) -> None:
    write("line.yaml", text="name: line\nstate: {w: {shape: 3}}\ndata: {y: {is: positive, shape: N}, "
          "x: {shape: [N, 3]}}\nassume: [y <= 60]\n"
          "log_prior: normal(w, 0, 1)\nlog_likelihood: normal(y, x @ w, 1)\n")  # fmt: skip
    path = write("own.yaml", text="name: own\ndynamics: sgld\ntarget: line.yaml\nbind: {D: I}\nscheme: {name: euler}\n"
                 "variant: full\ndata: {file: data.csv, x: [a, b, c], y: y, columns: {c: 1/a}}\n"
                 "run: {step_size: 0.1}\n")  # fmt: skip
    if table is not None:
        (tmp_path / "data.csv").write_text(table)
    code, out, err = recipe("check", path)
    assert code == 2
    assert err.startswith(f"{path}:{place}  ")
    assert problem in err
    assert "own: proved" in out


@pytest.mark.slow
def test_data_that_cannot_be_read_are_named_first_where_they_decide(write) -> None:
    write("line.yaml", text="name: line\nstate: {a: {}, b: {}}\ndata: {y: {shape: N}, x: {shape: N}}\n"
          "log_likelihood: normal(y, a + b*x, 1)\n")  # fmt: skip
    path = write("own.yaml", text="name: own\ndynamics: sgld\ntarget: line.yaml\nbind: {D: I}\nscheme: {name: euler}\n"
                 "variant: full\ndata: {file: none.csv, y: y, x: x}\nrun: {step_size: 0.1}\n")  # fmt: skip
    code, out, err = recipe("check", path)
    assert code == 2
    assert err.startswith(f"{path}:7:14  data.file  ")
    assert "found no such file" in err
    assert "undecided: exp(-H) has a finite integral" in out

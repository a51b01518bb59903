"""Every hostile input behaves as it wants to be dealt with: refused or read, soon, in little memory, nothing run.

One child process loads them all. It reports for each what became of it; nothing in it may raise but faults.
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
IDS = [entry["id"] for entry in json.loads((HERE / "hostile_inputs.json").read_text(encoding="utf-8"))["inputs"]]
SECONDS, BYTES = 1.0, 200_000_000

Results = dict[str, list[dict[str, Any]]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("hostile")


@pytest.fixture(scope="module")
def results(folder: Path) -> Results:
    ran = subprocess.run(
        [sys.executable, str(HERE / "child.py")], cwd=folder, capture_output=True, text=True, timeout=600, check=False
    )
    assert ran.returncode == 0, ran.stderr
    found: Results = {id: [] for id in IDS}
    for line in ran.stdout.splitlines():
        row = json.loads(line)
        found[row["id"]].append(row)
    return found


def test_the_list_is_whole() -> None:
    wanted = [f"H{n:02d}" for n in (*range(1, 20), 21, *range(23, 74))]
    assert wanted == IDS


@pytest.mark.parametrize("id", IDS)
def test_an_input_is_dealt_with_as_wanted_in_a_second_and_200_megabytes(results: Results, id: str) -> None:
    assert results[id], "the harness built nothing for it"
    for case in results[id]:
        assert case["outcome"] in (["refuse", "accept"] if case["wanted"] == "either" else [case["wanted"]]), case
        assert max(case["seconds"], case.get("check_seconds", 0.0)) <= SECONDS, case
        assert case["grown"] <= BYTES, case


@pytest.mark.parametrize("id", IDS)
def test_a_refusal_says_what_is_wrong_and_where_on_one_line(results: Results, id: str) -> None:
    for case in results[id]:
        faults = case.get("faults", ())
        for line, _, entry, problem, hint in faults:
            assert entry, case
            assert line > 0 or "1,000,000 bytes" in problem or "empty file" in problem, case
            assert f"{entry}{problem}{hint}".isascii(), case
            assert "\n" not in f"{entry}{problem}{hint}", case
            assert len(problem) < 500, case
        said = [" ".join(fault[2:]) for fault in faults]
        for part in case["names"] if case["outcome"] == "refuse" else ():
            assert any(part in text for text in said), (part, case)


def test_nothing_ran(results: Results, folder: Path) -> None:
    assert results
    found = [*folder.rglob("*CANARY*"), *folder.parent.glob("CANARY"), *HERE.rglob("CANARY")]
    assert found == []


def test_titles_are_kept_as_data(results: Results) -> None:
    assert results["H15"][0]["title"] == 'ok"""\nimport os; os.system("touch CANARY")\n"""'
    assert results["H16"][0]["title"] == "ok\r\nimport os #"


def test_one_half_is_one_half(results: Results) -> None:
    assert len({case["H"] for case in results["H68"]}) == 1
    assert len({json.dumps(case["verdicts"]) for case in results["H68"]}) == 1


def test_decimals_are_exact(results: Results) -> None:
    assert results["H69"][0]["H"] == "0"


def test_a_logarithm_on_the_real_line_proves_nothing(results: Results) -> None:
    assert results["H70"][0]["verdicts"]["stationary"] != "proved"


@pytest.mark.parametrize("id", ["H38", "H39"])
def test_what_explodes_when_expanded_is_undecided(results: Results, id: str) -> None:
    for case in results[id]:
        assert "undecided" in case["verdicts"].values()

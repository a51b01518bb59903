import json
from pathlib import Path

import pytest
import report


def row(**figures: float) -> dict[str, object]:
    times = {key: value / figures["emitted"] for key, value in figures.items() if key != "emitted"}
    return {"unit": "ns/step", "about": "a race", "disagreements": [], "times_emitted": times, **figures}


MACHINE = {
    "processor": "p", "vectors": "avx2", "cores": 2, "system": "s", "python": "3", "compiler": "clang", "numba": "0.68",
}  # fmt: skip


@pytest.mark.parametrize(
    ("goal", "figures", "met"),
    [
        (report.Goal("c", at_most=1.1), {"c": 9.2}, True), (report.Goal("c", at_most=1.1), {"c": 9.0}, False),
        (report.Goal("c", at_most=1.1), {}, None), (report.Goal("jax_scan", at_least=5.0), {"jax_scan": 50.0}, True),
        (report.Goal("jax_scan", at_least=5.0), {"jax_scan": 49.0}, False),
    ],
)  # fmt: skip
def test_a_goal_is_met_missed_or_not_known(goal: report.Goal, figures: dict[str, float], met: bool | None):
    assert goal.met(row(emitted=10.0, **figures)) is met


def test_the_speed_of_reading_is_a_ceiling():
    assert report.Goal("read_bandwidth", at_least=0.8).reached(row(emitted=4.0, read_bandwidth=3.0)) == 0.75


def test_a_race_replaces_its_own_row_alone(tmp_path: Path):
    file = tmp_path / "results.json"
    report.merge(file, "w1c", row(emitted=1.0, c=1.0), MACHINE)
    report.merge(file, "w1a", row(emitted=2.0, c=2.0), MACHINE)
    report.merge(file, "w1a", row(emitted=3.0, c=2.0), MACHINE)
    found = json.loads(file.read_text(encoding="utf-8"))
    assert {name: one["emitted"] for name, one in found["workloads"].items()} == {"w1a": 3.0, "w1c": 1.0}
    assert list(found["workloads"]) == ["w1a", "w1c"]
    assert [file.name for file in tmp_path.iterdir()] == ["results.json"]


def test_a_race_on_another_machine_says_so_and_leaves_the_others_theirs(tmp_path: Path):
    """Rows of one file are compared within themselves alone: what each ran on has to be told."""
    file, other = tmp_path / "results.json", {**MACHINE, "processor": "q", "compiler": "gcc"}
    for name in ("w1a", "w1c"):
        report.merge(file, name, row(emitted=1.0, c=1.0), MACHINE)
    before = json.loads(file.read_text(encoding="utf-8"))
    report.merge(file, "baoab_w1a", row(emitted=2.0, c=2.0, sequential_euler=1.9), other)
    found = json.loads(file.read_text(encoding="utf-8"))
    assert found["machine"] == MACHINE
    assert {name: found["workloads"][name] for name in ("w1a", "w1c")} == before["workloads"]
    assert found["workloads"]["baoab_w1a"]["machine"] == other
    assert "- `baoab_w1a`: raced on another machine: processor q; compiler gcc." in report._page(found)
    for name in ("w1a", "w1c"):
        report.merge(file, name, row(emitted=1.0, c=1.0), other)
    found = json.loads(file.read_text(encoding="utf-8"))
    assert found["machine"] == other
    assert not any("machine" in one for one in found["workloads"].values())


@pytest.mark.slow
def test_the_table_stands_between_its_marks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    page, record = tmp_path / "page.md", tmp_path / "results.json"
    page.write_text(f"before\n{report.BEGIN}\nold\n{report.END}\nafter\n", encoding="utf-8")
    report.merge(record, "w1a", row(emitted=10.0, c=9.0, jax_scan=60.0, blackjax=100.0), MACHINE)
    for name, value in (("PAGE", page), ("RECORD", record), ("PLOT", tmp_path / "plot.svg")):
        monkeypatch.setattr(report, name, value)
    report.write_docs()
    text = page.read_text(encoding="utf-8")
    assert text.startswith("before\n")
    assert text.endswith("after\n")
    assert "old" not in text
    assert "C ≤ 1.1: 1.11 **missed**; JAX `lax.scan` ≥ 5: 6.00; BlackJAX ≥ 50: 10.00 **missed**" in text


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_results_go_into_files_alone(tmp_path: Path):
    (tmp_path / "results.json").symlink_to("/dev/full")
    with pytest.raises(OSError, match="a pipe or a device, expected a file"):
        report.write_whole(tmp_path / "results.json", "{}")
    report.write_whole(tmp_path / "new" / "results.json", "{}")
    assert (tmp_path / "new" / "results.json").read_text(encoding="utf-8") == "{}"

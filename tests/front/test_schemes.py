"""Schemes stated in Python: the documents of their YAML, and parts of builds."""

from pathlib import Path

import pytest

import recipe_compiler as rc

SPECS = Path(__file__).parents[2] / "specs"
SLOW_AND_FAST = {
    "S": {"Q": [["theta", "r"]], "H": "U"},
    "F": {"Q": [["theta", "r"]], "H": "V"},
    "A": {"Q": [["theta", "r"]], "H": "r"},
}


def test_it_has_the_digest_of_its_yaml() -> None:
    stated = rc.Scheme(
        name="respa",
        title="reversible reference system propagator, four inner steps",
        references=["tuckerman1992reversible"],
        split=["S/2", {"repeat": 4, "of": ["F/8", "A/4", "F/8"]}, "S/2"],
        pieces=SLOW_AND_FAST,
        claims={"order": 2, "palindrome": True, "gradients": 1},
    )
    shipped = rc.load(SPECS / "schemes/respa.yaml")
    assert isinstance(shipped, rc.Scheme)
    assert (stated.digest, stated.title) == (shipped.digest, shipped.title)
    assert stated.document == shipped.document


def test_flows_are_those_of_its_yaml(tmp_path: Path) -> None:
    stated = rc.Scheme(name="mine", split=["B/2", "A", "B/2"], flows={"A": "midpoint"})
    assert stated.document.flows == (("A", "midpoint"),)
    (tmp_path / "mine.yaml").write_text(stated.to_yaml())
    assert (
        rc.load(tmp_path / "mine.yaml").digest
        == stated.digest
        != rc.Scheme(name="mine", split=["B/2", "A", "B/2"]).digest
    )


def test_a_build_takes_it_as_it_is(tmp_path: Path) -> None:
    mine = rc.Scheme(name="mine", split=["O/2", "A/2", "B", "A/2", "O/2"], claims={"order": 2})
    build = rc.Build(
        name="well", dynamics=str(SPECS / "dynamics/sghmc.yaml"), target=str(SPECS / "targets/double_well.yaml"),
        bind={"M": "I", "C": "I"}, scheme=mine, sizes={"d": 1}, step_size=0.1,
    )  # fmt: skip
    assert build.document.scheme == mine.document
    assert "{use: ../schemes/mine.yaml}" in build.to_yaml()
    (tmp_path / "schemes").mkdir()
    (tmp_path / "builds").mkdir()
    (tmp_path / "schemes/mine.yaml").write_text(mine.to_yaml())
    (tmp_path / "builds/well.yaml").write_text(build.to_yaml())
    assert rc.load(tmp_path / "builds/well.yaml").digest == build.digest


@pytest.mark.parametrize(
    ("change", "problem"),
    [({"split": []}, "found a word of 0 letters, expected 1 to 1000"), ({"split": ["B/0"]}, "a piece with its share"),
     ({"claims": {"order": 0}}, "an integer from 1 to 8"), ({"name": "euler"}, "without a word"),
     ({"flows": {"A": "trapezoid"}}, "generalised"),
     ({"flows": {"X": "midpoint"}}, "a flow for X, expected one of .*: B, A, O")],
)  # fmt: skip
def test_what_is_no_scheme_is_told(change: dict, problem: str) -> None:
    with pytest.raises((rc.SpecError, rc.ModelError), match=problem):
        rc.Scheme(**{"name": "mine", "split": ["B", "A", "O"], **change})

"""Schemes stated in Python: the documents of their YAML, and parts of builds."""

from pathlib import Path

import pytest
from ruamel.yaml import YAML

import recipe_compiler as rc

SPECS = Path(__file__).parents[2] / "specs"


@pytest.mark.parametrize("path", sorted((SPECS / "schemes").glob("*.yaml")), ids=lambda path: path.stem)
def test_it_has_the_digest_of_its_yaml(path: Path) -> None:
    entries = YAML(typ="safe", pure=True).load(path.read_text(encoding="utf-8"))
    del entries["format"]
    ours, theirs = rc.Scheme(**entries), rc.load(path)
    assert isinstance(theirs, rc.Scheme)
    assert (ours.digest, ours.title, ours.document) == (theirs.digest, theirs.title, theirs.document)


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


def cycle_of(moves: object) -> rc.Build:
    return rc.Build(
        name="plane", dynamics=str(SPECS / "dynamics/hmc.yaml"), target=str(SPECS / "targets/banana.yaml"),
        parameters={"M": [[2, 1], [1, 3]]}, scheme={"cycle": moves}, sizes={"d": 2}, step_size=0.1,
    )  # fmt: skip


R = rc.vector("r", "d")


def test_blocks_of_a_cycle_may_be_objects() -> None:
    """Those of names are those of YAML: see test_digests.py."""

    def built(block: object, turned: object) -> rc.Build:
        word = {"split": ["B/2", "A", "B/2"], "steps": "uniform(1, 20)", "flip": {block: turned}}
        return cycle_of([{"refresh": {block: 0.9}}, {"metropolis": word}])

    assert built(R, -R).digest == built("r", "-r").digest
    assert "cycle: [refresh: {r: 0.9}, metropolis: {split" in built(R, -R).to_yaml()


@pytest.mark.parametrize(
    ("move", "problem"),
    [({"metropolis": {"split": ["A"], "flip": ["r"]}}, "found a list of 1, expected the blocks whose sign flips"),
     ({"split": ["A"], "steps": 2.5}, "scheme.cycle.0..steps  found `2.5`, expected an integer"),
     ({"metropolis": {"split": ["A"], "steps": (1, 20)}}, "found a list of 2, expected an integer from 1 to 1000"),
     ({"refresh": {"r": float("nan")}}, "expected"), ({"refresh": 1}, "found the name `1`"),
     ({"refresh": True}, "found `true`, expected a block of the dynamics"), (rc.I, "found `I`, expected `refresh`")],
)  # fmt: skip
def test_what_is_no_move_is_told(move: object, problem: str) -> None:
    with pytest.raises((rc.SpecError, rc.ModelError), match=problem):
        cycle_of([move])


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


def test_a_block_of_the_target_is_drawn() -> None:
    def built(cycle: object) -> rc.Build:
        return rc.Build(
            name="gibbs", dynamics=str(SPECS / "dynamics/still.yaml"),
            target=str(SPECS / "targets/normal_mean_precision.yaml"), scheme={"cycle": cycle}, sizes={"d": 2},
            data={"file": str(SPECS / "data/normal_sample.csv"), "y": "y"}, step_size=1,
        )  # fmt: skip

    assert built([{"draw": "mu"}, {"draw": rc.scalar("tau")}]).digest == built([{"draw": "mu"}, {"draw": "tau"}]).digest
    with pytest.raises((rc.SpecError, rc.ModelError), match="a draw names the block") as told:
        built([{"draw": "log_tau"}])
    assert '{"draw": "tau"}' in str(told.value)

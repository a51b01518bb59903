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


def cycle_of(moves: object) -> rc.Build:
    return rc.Build(
        name="plane", dynamics=str(SPECS / "dynamics/hmc.yaml"), target=str(SPECS / "targets/banana.yaml"),
        parameters={"M": [[2, 1], [1, 3]]}, scheme={"cycle": moves}, sizes={"d": 2}, step_size=0.1,
    )  # fmt: skip


R = rc.vector("r", "d")


@pytest.mark.parametrize(("block", "turned"), [("r", "-r"), (R, -R)], ids=["names", "objects"])
def test_a_cycle_is_moves_as_in_yaml_and_blocks_may_be_objects(tmp_path: Path, block: object, turned: object) -> None:
    word = {"split": ["B/2", "A", "B/2"], "steps": "uniform(1, 20)", "flip": {block: turned}}
    stated = cycle_of([{"refresh": {block: 0.9}}, {"metropolis": word}])
    path = tmp_path / "plane.yaml"
    path.write_text(
        f"""
format: 1
name: plane
dynamics: {SPECS}/dynamics/hmc.yaml
target: {SPECS}/targets/banana.yaml
parameters: {{M: {{value: [[2, 1], [1, 3]]}}}}
scheme:
  cycle:
    - refresh: {{r: 0.9}}
    - metropolis: {{split: [B/2, A, B/2], steps: "uniform(1, 20)", flip: {{r: -r}}}}
variant: full
sizes: {{d: 2}}
run: {{step_size: 0.1}}
""",
        encoding="utf-8",
    )
    loaded = rc.load(path)
    assert isinstance(loaded, rc.Build)
    assert loaded.digest == stated.digest
    assert loaded.document.scheme == stated.document.scheme
    assert "cycle: [refresh: {r: 0.9}, metropolis: {split" in stated.to_yaml()


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


@pytest.mark.parametrize("tau", ["tau", rc.scalar("tau")], ids=["name", "object"])
def test_a_block_of_the_target_is_drawn(tmp_path: Path, tau: object) -> None:
    def built(cycle: object) -> rc.Build:
        return rc.Build(
            name="gibbs", dynamics=str(SPECS / "dynamics/still.yaml"),
            target=str(SPECS / "targets/normal_mean_precision.yaml"), scheme={"cycle": cycle}, sizes={"d": 2},
            data={"file": str(SPECS / "data/normal_sample.csv"), "y": "y"}, step_size=1,
        )  # fmt: skip

    stated = built([{"draw": "mu"}, {"draw": tau}])
    assert "cycle: [draw: mu, draw: tau]" in stated.to_yaml()
    (tmp_path / "gibbs.yaml").write_text(stated.to_yaml(), encoding="utf-8")
    assert rc.load(tmp_path / "gibbs.yaml").digest == stated.digest
    with pytest.raises((rc.SpecError, rc.ModelError), match="a draw names the block") as told:
        built([{"draw": "log_tau"}])
    assert '{"draw": "tau"}' in str(told.value)

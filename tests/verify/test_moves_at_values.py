"""Moves of a cycle are judged at the values of their build where they are wrong, or open, at others."""

from pathlib import Path

from recipe_compiler.report.check import check
from recipe_compiler.spec.load import load
from recipe_compiler.verdict import AT_VALUES, Finding, Proved, Refuted, Verdict

DYNAMICS = """
name: scaled
state: {theta: {shape: d}, r: {shape: d}}
parameters: {a: {}, M: {shape: [d, d], is: positive definite}}
functions: {U: {of: theta, role: potential}}
H: U(theta) + a*(r.T @ inv(M) @ r)/2
D: [[0, 0], [0, 0]]
Q: [[0, -I], [I, 0]]
"""
TURNING = """
name: turning
state: {theta: {shape: d}, r: {shape: d}}
parameters: {S: {shape: [d, d], is: skew}}
functions: {U: {of: theta, role: potential}}
H: U(theta) + norm2(r)/2
D: [[0, 0], [0, I]]
Q: [[0, -I], [I, S]]
"""
TARGET = "name: normal\nstate: {theta: {shape: d}}\npotential: theta.T @ theta/2\n"
BUILD = """
name: b
dynamics: dynamics.yaml
target: target.yaml
parameters: VALUES
scheme:
  cycle:
    - refresh: r
    - metropolis: WORD
variant: full
run: {step_size: 0.2}
"""
LEAPFROG = '{split: [B/2, A, B/2], steps: "uniform(1, 10)", flip: {r: -r}}'
WITH_NOISE = (
    "{pieces: {B: {Q: [[theta, r]], H: [U]}, A: {Q: [[theta, r]], H: [r]}, O: {D: all, Q: [[r, r]], H: [r]}}, "
    "split: [B/2, A/2, O, A/2, B/2], flip: {r: -r}}"
)


def decided(folder: Path, dynamics: str, values: str, word: str) -> dict[str, Finding]:
    (folder / "dynamics.yaml").write_text(dynamics)
    (folder / "target.yaml").write_text(TARGET)
    (folder / "build.yaml").write_text(BUILD.replace("VALUES", values).replace("WORD", word))
    return {finding.id: finding for finding in check(load(folder / "build.yaml")).findings}


def test_a_momentum_has_its_law_at_the_mass_that_the_build_states(tmp_path: Path) -> None:
    values = "{a: {value: 2}, M: {value: [[2, 1/2], [1/2, 1]]}}"
    found = decided(tmp_path, DYNAMICS, values, LEAPFROG)
    for claim in ("refresh", "cycle", "exact"):
        decision = found[claim].decision
        assert isinstance(decision, Proved), (claim, decision)
        assert decision.by.endswith(AT_VALUES)
        assert dict(found[claim].for_d) == {"d": 2}
    assert "N(0, M/2)" in found["refresh"].decision.by


def test_one_that_has_none_there_is_refuted_there(tmp_path: Path) -> None:
    values = "{a: {value: -2}, M: {value: [[2, 1/2], [1/2, 1]]}}"
    found = decided(tmp_path, DYNAMICS, values, LEAPFROG)
    for claim in ("refresh", "cycle"):
        decision = found[claim].decision
        assert isinstance(decision, Refuted), (claim, decision)
        assert dict(decision.witness)["a"] == "-2"
        assert dict(decision.witness)["M"] == "[[2, 1/2], [1/2, 1]]"


def test_a_step_is_not_judged_by_flows_that_its_pieces_have_at_the_values_alone(tmp_path: Path) -> None:
    found = decided(tmp_path, TURNING, "{S: {value: [[0, 0], [0, 0]]}}", WITH_NOISE)
    assert found["metropolis"].verdict is Verdict.UNDECIDED


def test_a_refutation_that_names_no_value_is_of_all(tmp_path: Path) -> None:
    values = "{a: {value: 2}, M: {value: [[2, 1/2], [1/2, 1]]}}"
    found = decided(tmp_path, DYNAMICS, values, "{split: [B/2, A], flip: {r: -r}}")
    decision = found["pieces"].decision
    assert isinstance(decision, Refuted)
    assert dict(decision.witness) == {"share of B in the step": "1/2"}

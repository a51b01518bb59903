"""Cycles of moves in builds: read, written back, and refused by name where they cannot keep the law."""

import json
from fractions import Fraction
from pathlib import Path

import pytest

from recipe_compiler.errors import DocumentError
from recipe_compiler.spec.files import files_of
from recipe_compiler.spec.load import load
from recipe_compiler.spec.model import Build, Cir, Draw, Metropolis, Move, Refresh, Steps
from recipe_compiler.spec.moves import cycle_text
from recipe_compiler.spec.places import compiled_digest, digest, documents
from recipe_compiler.spec.to_yaml import to_yaml
from recipe_compiler.spec.words import word_text

SPECS = Path(__file__).parents[2] / "specs"
BUILD = f"""
format: 1
name: well
dynamics: DYNAMICS
target: {SPECS}/targets/TARGET.yaml
parameters: {{PARAMETERS}}
scheme: {{SCHEME}}
variant: full
sizes: {{d: 3}}
run: {{step_size: 0.1}}
"""
GAUSSIAN = "mu: {value: [1, -2, 1/2]}, Sigma: {value: [[2, 1/2, 1/3], [1/2, 1, -1/4], [1/3, -1/4, 3/2]]}"
MASS = "M: {value: [[2, 1/2, 0], [1/2, 1, 1/4], [0, 1/4, 3/2]]}"
LEAP = "split: [B/2, A, B/2]"
MOVE = f"{{metropolis: {{{LEAP}, steps: 10, flip: {{r: -r}}}}}}"
HMC = f"cycle: [{{refresh: r}}, {MOVE}]"


def written(folder: Path, scheme: str, *changes: tuple[str, str]) -> Path:
    text = BUILD.replace("{SCHEME}", f"{{{scheme}}}")
    standing = (("DYNAMICS", str(SPECS / "dynamics/hmc.yaml")), ("TARGET", "gaussian"))
    for old, new in (*changes, *standing, ("{PARAMETERS}", f"{{{GAUSSIAN}, {MASS}}}")):
        text = text.replace(old, new)
    path = folder / "build.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def build_of(folder: Path, scheme: str, *changes: tuple[str, str]) -> Build:
    found = load(written(folder, scheme, *changes))
    assert isinstance(found, Build)
    return found


def faults_of(folder: Path, scheme: str, *changes: tuple[str, str]) -> list[str]:
    with pytest.raises(DocumentError) as raised:
        load(written(folder, scheme, *changes))
    assert all(fault.where.line for fault in raised.value.faults)
    return [f"{fault.entry}: {fault.problem} ({fault.hint})" for fault in raised.value.faults]


# what is read


def test_a_cycle_has_its_moves_in_order_and_the_word_that_one_of_them_repeats(tmp_path: Path) -> None:
    scheme = build_of(tmp_path, HMC).scheme
    assert scheme.name == "cycle"
    assert scheme.cycle == (Refresh("r"), Metropolis((10, 10), ("r",)))
    assert word_text(scheme.split) == "[B/2, A, B/2]"
    assert (scheme.keep, scheme.is_used) == (0, False)


@pytest.mark.parametrize(
    ("moves", "read"),
    [
        ("{refresh: {r: 0.9}}, MOVE", (Refresh("r", Fraction(9, 10)), Metropolis((10, 10), ("r",)))),
        ("{refresh: {r: 1/3}}, MOVE", (Refresh("r", Fraction(1, 3)), Metropolis((10, 10), ("r",)))),
        ("{refresh: {r: -0.5}}, MOVE", (Refresh("r", Fraction(-1, 2)), Metropolis((10, 10), ("r",)))),
        ("{refresh: {r: 0}}, MOVE", (Refresh("r"), Metropolis((10, 10), ("r",)))),
        ("{refresh: r, every: 3}, MOVE", (Refresh("r", every=3), Metropolis((10, 10), ("r",)))),
        (
            "{refresh: {r: 1/2}, every: 4, repeat: 2}, MOVE",
            (*(Refresh("r", Fraction(1, 2), 4),) * 2, Metropolis((10, 10), ("r",))),
        ),
        ("refresh: r, {metropolis: {LEAP}, every: 5}", (Refresh("r"), Metropolis(every=5))),
        ("refresh: r, {LEAP, steps: 3, every: 2}", (Refresh("r"), Steps(3, 2))),
        ("{refresh: r, every: 1, repeat: 1}, MOVE", (Refresh("r"), Metropolis((10, 10), ("r",)))),
        (
            "{repeat: 2, of: [{refresh: {r: 1/2}, every: 2}, refresh: r]}, MOVE",
            (*(Refresh("r", Fraction(1, 2), 2), Refresh("r")) * 2, Metropolis((10, 10), ("r",))),
        ),
        (
            "MOVE, {repeat: 2, of: [refresh: r, {repeat: 2, of: [refresh: {r: 1/3}]}]}",
            (Metropolis((10, 10), ("r",)), *(Refresh("r"), *(Refresh("r", Fraction(1, 3)),) * 2) * 2),
        ),
        ("refresh: r, MOVE, refresh: r", (Refresh("r"), Metropolis((10, 10), ("r",)), Refresh("r"))),
        ("{repeat: 2, of: [refresh: r, MOVE]}", (Refresh("r"), Metropolis((10, 10), ("r",))) * 2),
        (
            "{metropolis: {LEAP, scale: 0.25}, repeat: 2}, metropolis: {name: leapfrog, scale: 3/2, flip: {r: -r}}",
            (*(Metropolis(scale=Fraction(1, 4)),) * 2, Metropolis(flip=("r",), scale=Fraction(3, 2))),
        ),
        ("metropolis: {LEAP}", (Metropolis(),)),
        ("metropolis: {name: leapfrog, steps: 1000}", (Metropolis((1000, 1000)),)),
        ("metropolis: {LEAP, steps: uniform(1, 20)}", (Metropolis((1, 20)),)),
        ('metropolis: {LEAP, steps: " uniform( 7,7 )"}', (Metropolis((7, 7)),)),
        ("{LEAP, steps: 4}, refresh: r", (Steps(4), Refresh("r"))),
        ("{name: baoab}, refresh: r", (Steps(), Refresh("r"))),
        ("metropolis: {LEAP, flip: {r: ' - r'}}", (Metropolis(flip=("r",)),)),
    ],
)
def test_each_move_is_what_it_says_and_is_written_back(tmp_path: Path, moves: str, read: tuple[Move, ...]) -> None:
    build = build_of(tmp_path, f"cycle: [{moves.replace('LEAP', LEAP).replace('MOVE', MOVE)}]")
    assert build.scheme.cycle == read
    (tmp_path / "again.yaml").write_text(to_yaml(build), encoding="utf-8")
    again = load(tmp_path / "again.yaml")
    assert isinstance(again, Build)
    assert again == build
    assert digest(again) == digest(build)


def test_an_involution_is_done_in_each_nth_cycle(tmp_path: Path) -> None:
    build = build_of(tmp_path, f"cycle: [{MOVE}, {{involution: {{r: -r}}, every: 3, repeat: 2}}]")
    assert [move.every for move in build.scheme.cycle] == [1, 3, 3]
    assert cycle_text(build.scheme).endswith("{involution: {r: -r}, every: 3}, {involution: {r: -r}, every: 3}]")
    (tmp_path / "again.yaml").write_text(to_yaml(build), encoding="utf-8")
    assert load(tmp_path / "again.yaml") == build


@pytest.mark.slow
def test_a_hundred_moves_are_read_and_one_more_is_too_many(tmp_path: Path) -> None:
    many = ", ".join(["refresh: r"] * 99)
    assert len(build_of(tmp_path, f"cycle: [{many}, {MOVE}]").scheme.cycle) == 100
    (fault,) = faults_of(tmp_path, f"cycle: [{many}, refresh: r, {MOVE}]")
    assert "found a cycle of 101 moves, expected 1 to 100" in fault
    (fault,) = faults_of(tmp_path, f"cycle: [{', '.join(['r'] * 10_000)}]")
    assert "found a cycle of 10000 moves, expected 1 to 100" in fault


def test_a_move_may_state_pieces_and_flows_of_its_word(tmp_path: Path) -> None:
    pieces = "pieces: {A: {Q: [[theta, r]], H: r}, B: {Q: [[theta, r]], H: U}}, flows: {A: midpoint}"
    scheme = build_of(tmp_path, f"cycle: [refresh: r, metropolis: {{{LEAP}, {pieces}, flip: {{r: -r}}}}]").scheme
    assert [name for name, _ in scheme.pieces] == ["A", "B"]
    assert scheme.flows == (("A", "midpoint"),)


def test_everything_a_cycle_says_is_in_the_digest(tmp_path: Path) -> None:
    schemes = [
        LEAP,
        HMC,
        HMC.replace("steps: 10", "steps: 11"),
        HMC.replace("steps: 10", "steps: uniform(1, 10)"),
        HMC.replace(", flip: {r: -r}", ""),
        HMC.replace("refresh: r", "refresh: {r: 1/2}"),
        f"cycle: [{MOVE}, {{refresh: r}}]",
        f"cycle: [{{refresh: r}}, {{{LEAP}, steps: 10}}]",
    ]
    builds = [build_of(tmp_path, scheme) for scheme in schemes]
    assert len({digest(build) for build in builds}) == len({compiled_digest(build) for build in builds}) == len(schemes)


def test_a_word_that_a_move_uses_is_a_part_of_the_build(tmp_path: Path) -> None:
    mine = "format: 1\nname: mine\nsplit: [A/2, B, A/2]\nclaims: {order: 2, palindrome: true}\n"
    (tmp_path / "mine.yaml").write_text(mine, encoding="utf-8")
    scheme = "cycle: [refresh: r, metropolis: {use: mine.yaml, flip: {r: -r}}]"
    build = build_of(tmp_path, scheme)
    assert (build.scheme.name, word_text(build.scheme.split)) == ("cycle", "[A/2, B, A/2]")
    assert build.scheme.claims.order == 2
    assert tmp_path / "mine.yaml" in files_of(build)
    assert json.dumps(documents(build)["scheme"]["split"]) == '["A/2", "B", "A/2"]'
    assert "{use: mine.yaml, flip: {r: -r}}" in to_yaml(build)
    (tmp_path / "mine.yaml").write_text(mine.replace("A/2, B, A/2", "B/2, A, B/2"), encoding="utf-8")
    assert digest(build_of(tmp_path, scheme)) != digest(build)


def test_pieces_that_a_build_states_for_a_word_of_a_document_are_written_back(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text("{format: 1, name: mine, split: [A/2, B, A/2]}", encoding="utf-8")
    pieces = "pieces: {A: {Q: [[theta, r]], H: r}, B: {Q: [[theta, r]], H: U}}, flows: {A: midpoint}"
    for scheme in (f"use: mine.yaml, {pieces}, keep: 1", f"cycle: [{{use: mine.yaml, {pieces}}}]"):
        build = build_of(tmp_path, scheme)
        assert "use: mine.yaml" in to_yaml(build)


# what is refused

REGRESSION = (
    ("TARGET", "regression_precision"),
    ("{PARAMETERS}", "{M: {value: [[2, 1, 0], [1, 3, 1], [0, 1, 2]]}}"),
    ("sizes: {d: 3}", f"sizes: {{d: 3}}\ndata: {{file: {SPECS}/data/linear_regression.csv, x: [a, b], y: y}}"),
)


@pytest.mark.parametrize(
    ("moves", "read"),
    [
        ("draw: beta, draw: tau", (Draw("beta"), Draw("tau"))),
        ("draw: tau, refresh: r, MOVE", (Draw("tau"), Refresh("r"), Metropolis((10, 10), ("r",)))),
        ("draw: beta, {LEAP, steps: 4}, draw: beta", (Draw("beta"), Steps(4), Draw("beta"))),
        ("draw: beta, cir: tau", (Draw("beta"), Cir("tau"))),
    ],
)
def test_blocks_of_the_target_are_drawn_with_a_word_and_without_one(
    tmp_path: Path, moves: str, read: tuple[Move, ...]
) -> None:
    build = build_of(tmp_path, f"cycle: [{moves.replace('LEAP', LEAP).replace('MOVE', MOVE)}]", *REGRESSION)
    assert build.scheme.cycle == read
    assert bool(build.scheme.split) is ("LEAP" in moves or "MOVE" in moves)
    (tmp_path / "again.yaml").write_text(to_yaml(build), encoding="utf-8")
    again = load(tmp_path / "again.yaml")
    assert again == build


def test_a_draw_needs_the_law_that_the_target_claims(tmp_path: Path) -> None:
    text = (SPECS / "targets/regression_precision.yaml").read_text(encoding="utf-8")
    without = text[: text.index('  tau: "Gamma')]
    for target, told in ((without, "it claims those of beta"), (text[: text.index("laws:")], "it claims none")):
        (tmp_path / "own.yaml").write_text(target, encoding="utf-8")
        own = (f"{SPECS}/targets/TARGET.yaml", "own.yaml")
        (found,) = faults_of(tmp_path, "cycle: [draw: tau]", own, *REGRESSION[1:])
        assert f"expected its law under `laws` of the target regression_precision: {told} (`recipe derive`" in found


@pytest.mark.parametrize(
    ("scheme", "takes"), [("draw: beta, draw: tau", False), ("draw: beta, cir: tau", True), ("draw: tau, MOVE", True)]
)
def test_draws_by_laws_alone_need_no_step_size(tmp_path: Path, scheme: str, takes: bool) -> None:
    text = f"cycle: [{scheme.replace('MOVE', f'{{refresh: r}}, {MOVE}')}]"
    dynamics = () if "MOVE" in scheme else (("DYNAMICS", str(SPECS / "dynamics/still.yaml")), (REGRESSION[1][0], "{}"))
    changes = (*dynamics, *REGRESSION, ("run: {step_size: 0.1}", "run: {draws: 10}"))
    if takes:
        (found,) = faults_of(tmp_path, text, *changes)
        assert found.startswith("run.step_size: found no `step_size`, expected one")
        return
    build = build_of(tmp_path, text, *changes)
    assert not build.scheme.takes_time
    assert (build.eps, build.run.step_size, build.run.draws) == (1, 1.0, 10)

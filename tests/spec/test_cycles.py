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
from recipe_compiler.spec.restate import restated
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
POSITIVE = """
format: 1
name: sheared
state: {theta: {shape: d}, r: {shape: d}, x: {domain: positive}}
functions: {U: {of: theta, role: potential}}
H: U(theta) + r.T @ r / 2 + x
D: [[0, 0, 0], [0, 0, 0], [0, 0, x]]
Q: [[0, -I, 0], [I, 0, 0], [0, 0, 0]]
"""


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


def test_keys_of_a_move_are_written_in_the_order_in_which_they_were_stated(tmp_path: Path) -> None:
    text = to_yaml(build_of(tmp_path, f"cycle: [metropolis: {{steps: 3, {LEAP}, flip: {{r: -r}}}}, refresh: r]"))
    assert "cycle: [metropolis: {steps: 3, split: [B/2, A, B/2], flip: {r: -r}}, refresh: r]" in text


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


def test_a_build_with_other_settings_has_the_same_cycle(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text("{format: 1, name: mine, split: [A/2, B, A/2]}", encoding="utf-8")
    build = build_of(tmp_path, "cycle: [refresh: {r: 0.9}, metropolis: {use: mine.yaml, steps: 3, flip: {r: -r}}]")
    again = restated(build, {"run": {"step_size": "0.05"}})
    assert again.run.step_size == 0.05
    assert again.scheme == build.scheme
    assert digest(again) != digest(build)
    assert compiled_digest(again) == compiled_digest(build)


def test_pieces_that_a_build_states_for_a_word_of_a_document_are_written_back(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text("{format: 1, name: mine, split: [A/2, B, A/2]}", encoding="utf-8")
    pieces = "pieces: {A: {Q: [[theta, r]], H: r}, B: {Q: [[theta, r]], H: U}}, flows: {A: midpoint}"
    for scheme in (f"use: mine.yaml, {pieces}, keep: 1", f"cycle: [{{use: mine.yaml, {pieces}}}]"):
        build = build_of(tmp_path, scheme)
        assert "use: mine.yaml" in to_yaml(build)


# what is refused

AT_THE_STATE = "a scan order that looks at the state does not keep the law"


@pytest.mark.parametrize(
    ("scheme", "entry", "problem"),
    [
        ("cycle: []", "scheme.cycle", "found a cycle of 0 moves, expected 1 to 100"),
        ("cycle: {refresh: r}", "scheme.cycle", "found keys with values, expected a list of moves"),
        ("cycle: r", "scheme.cycle", "found `r`, expected a list of moves"),
        ("cycle: ", "scheme", "found no `name`, no `use` and no word"),
        ("cycle: [r]", "scheme.cycle[0]", "found `r`, expected `refresh`, `draw`, `cir`, `metropolis`"),
        ("cycle: [[[[r]]]]", "scheme.cycle[0]", "found a list of 1, expected `refresh`"),
        ("cycle: [{}]", "scheme.cycle[0]", "found no `name`, no `use` and no word"),
        ("cycle: [refresh: r]", "scheme.cycle", "found no move with a word, and no draw, expected one"),
        (
            "cycle: [refresh: r, MOVE, {LEAP}]",
            "scheme.cycle[2]",
            "found a word that is done as it comes beside another",
        ),
        (
            "cycle: [MOVE, metropolis: {split: [A/2, B, A/2]}]",
            "scheme.cycle[1].metropolis",
            "found the word [A/2, B, A/2], expected [B/2, A, B/2], that of the move before: a cycle has one word",
        ),
        (
            "cycle: [MOVE, metropolis: {LEAP, flows: {A: midpoint}}]",
            "scheme.cycle[1].metropolis",
            "found the word [B/2, A, B/2], of other pieces or flows, expected [B/2, A, B/2]",
        ),
        (
            "cycle: [metropolis: {LEAP, scale: 0}]",
            "scheme.cycle[0].metropolis.scale",
            "a number between 1/1000 and 1000",
        ),
        ("cycle: [metropolis: {LEAP, scale: -1/2}]", "scheme.cycle[0].metropolis.scale", "found `-1/2`"),
        ("cycle: [metropolis: {LEAP, scale: eps/2}]", "scheme.cycle[0].metropolis.scale", "of the length scale*eps"),
        ("cycle: [metropolis: {LEAP, scale: 1001}]", "scheme.cycle[0].metropolis.scale", "found `1001`"),
        ("cycle: [{LEAP, scale: 1/2}]", "scheme.cycle[0].scale", ""),
        # beside each other
        ("HMC, name: baoab", "scheme.name", "found `name` beside `cycle`, expected none: a word stands in a move"),
        ("HMC, name: euler", "scheme.name", "found `name` beside `cycle`, expected none"),
        ("HMC, use: nothing.yaml", "scheme.use", "found `use` beside `cycle`, expected none"),
        ("HMC, LEAP", "scheme.split", "found `split` beside `cycle`, expected none"),
        ("HMC, pieces: {A: {Q: all}}", "scheme.pieces", "found `pieces` beside `cycle`, expected none"),
        ("HMC, flows: {A: midpoint}", "scheme.flows", "found `flows` beside `cycle`, expected none"),
        ("HMC, keep: 1", "scheme.keep", "found `keep` beside `cycle`, expected none: of a cycle draws are kept at its"),
        ("HMC, order: [r, theta]", "scheme.order", "expected none: a cycle says what is done when"),
        ("cycle: [{refresh: r, LEAP}, MOVE]", "scheme.cycle[0].split", "found `split` beside `refresh`, expected"),
        (
            "cycle: [{refresh: r, metropolis: {LEAP}}]",
            "scheme.cycle[0].metropolis",
            "found `metropolis` beside `refresh`, expected `refresh` alone in its move (each move is an item",
        ),
        ("cycle: [{metropolis: {LEAP}, steps: 3}]", "scheme.cycle[0].steps", "found `steps` beside `metropolis`"),
        ("cycle: [{LEAP, name: leapfrog}]", "scheme.cycle[0].split", "found `split` beside `name`, expected one"),
        # the word of a move
        ("cycle: [metropolis: ]", "scheme.cycle[0].metropolis", "found no `name`, no `use` and no word"),
        ("cycle: [metropolis: r]", "scheme.cycle[0].metropolis", "found `r`, expected `refresh`"),
        ("cycle: [metropolis: {name: euler}]", "scheme.cycle[0].metropolis.name", "found euler, which has no word"),
        ("cycle: [metropolis: {use: no.yaml}]", "scheme.cycle[0].metropolis.use", "found no file `no.yaml`"),
        (
            f"cycle: [metropolis: {{use: {SPECS}/dynamics/hmc.yaml}}]",
            "scheme.cycle[0].metropolis.use",
            "found dynamics in",
        ),
        ("cycle: [metropolis: {LEAP, flows: {A: euler}}]", "scheme.cycle[0].metropolis.flows.A", "'generalised'"),
        ("cycle: [metropolis: {LEAP, flops: 1}]", "scheme.cycle[0].metropolis.flops", "did you mean `flows`?"),
        # steps
        ("cycle: [metropolis: {LEAP, steps: 1e9}]", "scheme.cycle[0].metropolis.steps", "an integer from 1 to 1000"),
        ("cycle: [metropolis: {LEAP, steps: 0}]", "scheme.cycle[0].metropolis.steps", "an integer from 1 to 1000"),
        ("cycle: [metropolis: {LEAP, steps: -3}]", "scheme.cycle[0].metropolis.steps", "found `-3`"),
        ("cycle: [metropolis: {LEAP, steps: 3/2}]", "scheme.cycle[0].metropolis.steps", "found `3/2`"),
        ("cycle: [metropolis: {LEAP, steps: [1, 20]}]", "scheme.cycle[0].metropolis.steps", "found a list of 2"),
        ('cycle: [metropolis: {LEAP, steps: "uniform(20, 1)"}]', "scheme.cycle[0].metropolis.steps", "in order"),
        ('cycle: [metropolis: {LEAP, steps: "uniform(0, 5)"}]', "scheme.cycle[0].metropolis.steps", "uniform(0, 5)"),
        ('cycle: [metropolis: {LEAP, steps: "uniform(1, 1001)"}]', "scheme.cycle[0].metropolis.steps", "to 1000"),
        (
            "cycle: [metropolis: {LEAP, steps: norm2(r)}]",
            "scheme.cycle[0].metropolis.steps",
            "a number of steps that depends on the state does not keep the law",
        ),
        ('cycle: [{LEAP, steps: "uniform(1, 20)"}]', "scheme.cycle[0].steps", "an integer"),
        ("cycle: [{LEAP, steps: 1001}]", "scheme.cycle[0].steps", "an integer from 1 to 1000"),
        # refreshes
        ("cycle: [refresh: p, MOVE]", "scheme.cycle[0].refresh", "found `p`, expected a block of the dynamics"),
        ("cycle: [refresh: theta, MOVE]", "scheme.cycle[0].refresh", "found a refresh of theta, the block of the pot"),
        ("cycle: [refresh: , MOVE]", "scheme.cycle[0].refresh", "found nothing, expected a block"),
        ("cycle: [refresh: [r], MOVE]", "scheme.cycle[0].refresh", "found a list of 1, expected a block"),
        ("cycle: [refresh: {r: 1/2, theta: 0}, MOVE]", "scheme.cycle[0].refresh", "one move for each"),
        ("cycle: [refresh: {r: 1}, MOVE]", "scheme.cycle[0].refresh", "the share c of r that is kept"),
        ("cycle: [refresh: {r: -1}, MOVE]", "scheme.cycle[0].refresh", "found `-1`, expected the share c"),
        ("cycle: [refresh: {r: 0.99999999999999999999}, MOVE]", "scheme.cycle[0].refresh", "-1 < c < 1"),
        ("cycle: [refresh: {r: 1e400}, MOVE]", "scheme.cycle[0].refresh", "-1 < c < 1"),
        ("cycle: [refresh: {r: [0.9]}, MOVE]", "scheme.cycle[0].refresh", "-1 < c < 1"),
        ("cycle: [refresh: {r: exp(-norm2(theta))}, MOVE]", "scheme.cycle[0].refresh", "looks at the state does not"),
        # flips
        ("cycle: [metropolis: {LEAP, flip: {r: r}}]", "scheme.cycle[0].metropolis.flip", "found `r`, expected -r: a "),
        (
            "cycle: [metropolis: {LEAP, flip: {r: 1 - r}}]",
            "scheme.cycle[0].metropolis.flip",
            "no other flip is offered",
        ),
        ("cycle: [metropolis: {LEAP, flip: {r: -theta}}]", "scheme.cycle[0].metropolis.flip", "found `-theta`"),
        ("cycle: [metropolis: {LEAP, flip: r}]", "scheme.cycle[0].metropolis.flip", "{r: -r}"),
        ("cycle: [metropolis: {LEAP, flip: [r]}]", "scheme.cycle[0].metropolis.flip", "{r: -r}"),
        ("cycle: [metropolis: {LEAP, flip: {}}]", "scheme.cycle[0].metropolis.flip", "{r: -r}"),
        (
            "cycle: [metropolis: {LEAP, flip: {p: -p}}]",
            "scheme.cycle[0].metropolis.flip",
            "found `p`, expected a block",
        ),
        # not offered, each by its name
        (
            "cycle: [{involution: {x: -r}}, MOVE]",
            "scheme.cycle[0].involution.x",
            "found `x`, expected a block of the dynamics, or a draw (theta, r)",
        ),
        ("cycle: [{involution: {w: -w}, draws: {w: 'N(0, 1)'}}, MOVE]", "scheme.cycle[0].involution", "moves no block"),
        (
            "cycle: [{involution: {r: -w}, draws: {w: 'N(0, 1)'}}, MOVE]",
            "scheme.cycle[0].involution.r",
            "found a scalar",
        ),
        (
            "cycle: [{involution: {r: -r}, steps: 2}, MOVE]",
            "scheme.cycle[0].steps",
            "found `steps` beside `involution`",
        ),
        ("cycle: [{involution: {r: -r}, log_ratio: r}, MOVE]", "scheme.cycle[0].log_ratio", "found a column [d]"),
        (
            "cycle: [{involution: {r: -r}, draws: {mu: 'N(0, 1)'}}, MOVE]",
            "scheme.cycle[0].draws.mu",
            "found a draw `mu`, the name of a block, parameter or size",
        ),
        (
            "cycle: [{involution: {r: -r}, draws: {w: 'N(0, 1 + norm2(r))'}}, MOVE]",
            "scheme.cycle[0].draws.w",
            "found `r` in the covariance of `w`, expected parameters and numbers",
        ),
        (
            "cycle: [{involution: {r: -r}, draws: {w: 'Gamma(1, 1)'}}, MOVE]",
            "scheme.cycle[0].draws.w",
            "found Gamma of a block that is real",
        ),
        (
            "cycle: [{involution: {r: -r}, draws: {w: 'N(w, 1)'}}, MOVE]",
            "scheme.cycle[0].draws.w",
            "in a parameter of its own law",
        ),
        ("cycle: [{refresh: r, every: 0}, MOVE]", "scheme.cycle[0].every", "expected an integer from 1 to 1000"),
        ("cycle: [{refresh: r, every: 3/2}, MOVE]", "scheme.cycle[0].every", "expected an integer"),
        ("cycle: [{refresh: r, repeat: 101}, MOVE]", "scheme.cycle[0].repeat", "expected an integer from 1 to 100"),
        ("cycle: [{refresh: r, repeat: 100}, MOVE]", "scheme.cycle", "a cycle of 101 moves with their repetitions"),
        (
            "cycle: [{refresh: r, every: 37}, {refresh: r, every: 41}, MOVE]",
            "scheme.cycle",
            "found moves that begin anew together after 1517 cycles, expected 1000 at most",
        ),
        ("cycle: [{LEAP, repeat: 2}]", "scheme.cycle[0]", "`steps` for how often one move does it"),
        ("cycle: [metropolis: {LEAP, every: 2}]", "scheme.cycle[0].metropolis.every", ""),
        *(
            (
                f"cycle: [MOVE, {group}]",
                "scheme.cycle[1]",
                "found `of` with moves, which `repeat` says how often are done",
            )
            for group in (
                "{repeat: 0, of: [refresh: r]}",
                "{repeat: 5/2, of: [refresh: r]}",
                "{repeat: two, of: [refresh: r]}",
                "{of: [refresh: r]}",
                "{repeat: 2, of: [refresh: r], every: 2}",
                "{repeat: 2, of: []}",
                "{repeat: 50, of: [refresh: r, refresh: r]}",
                "{repeat: 100, of: [{repeat: 100, of: [{repeat: 100, of: [refresh: r]}]}]}",
            )
        ),
        ("cycle: [MOVE, {repeat: 2, of: [refresh: s]}]", "scheme.cycle[1].refresh", "found `s`"),
        (
            "cycle: [{bind: {M: I}, of: {theta: g}}]",
            "scheme.cycle[0]",
            "found `bind`, a binding of one move: `bind` of",
        ),
        ("cycle: [{refresh: r, when: norm2(r) > 1}, MOVE]", "scheme.cycle[0]", f"found `when`: {AT_THE_STATE}"),
        ("cycle: [metropolis: {LEAP, if: theta > 0}]", "scheme.cycle[0].metropolis", f"found `if`: {AT_THE_STATE}"),
    ],
)
def test_what_is_no_cycle_is_told(tmp_path: Path, scheme: str, entry: str, problem: str) -> None:
    text = scheme.replace("HMC", HMC).replace("MOVE", MOVE).replace("LEAP", LEAP)
    (found,) = faults_of(tmp_path, text)
    assert found.startswith(f"{entry}: ")
    assert problem in found


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


@pytest.mark.parametrize(
    ("scheme", "entry", "problem"),
    [
        ("[draw: theta, MOVE]", "[0].draw", "found a draw of `theta`, expected a block of the target regression_preci"),
        ("[draw: r, MOVE]", "[0].draw", "r is a block of the dynamics alone: `refresh: r` draws it anew"),
        ("[draw: log_tau]", "[0].draw", "a draw names the block as the target declares it: `draw: tau`"),
        ("[draw: bta]", "[0].draw", "(did you mean `beta`?)"),
        ("[draw: [beta, tau]]", "[0].draw", "found a list of 2, expected a block of the target (a draw keeps nothing"),
        ("[draw: {tau: 0.9}]", "[0].draw", "expected a block of the target (a draw keeps nothing of its block"),
        ("[{draw: beta, steps: 2}]", "[0].steps", "found `steps` beside `draw`, expected `draw` alone in its move"),
        ("[{draw: beta, refresh: r}]", "[0].draw", "found `draw` beside `refresh`"),
        ("[cir: theta]", "[0].cir", "found cir of `theta`, expected a block of the target regression_precision"),
        ("[cir: beta]", "[0].cir", "found cir of beta, whose law is N, expected Gamma(shape, rate): it keeps no other"),
        ("[cir: {tau: 0.9}]", "[0].cir", "expected a block of the target (how far it moves says the step size"),
        ("[{cir: tau, steps: 2}]", "[0].steps", "found `steps` beside `cir`, expected `cir` alone in its move"),
        ("[refresh: r]", "", "found no move with a word, and no draw, expected one: refreshes alone leave the"),
    ],
)
def test_a_draw_is_of_a_block_of_the_target(tmp_path: Path, scheme: str, entry: str, problem: str) -> None:
    (found,) = faults_of(tmp_path, f"cycle: {scheme.replace('MOVE', MOVE)}", *REGRESSION)
    assert found.startswith(f"scheme.cycle{entry}: ")
    assert problem in found


def test_a_draw_needs_the_law_that_the_target_claims(tmp_path: Path) -> None:
    text = (SPECS / "targets/regression_precision.yaml").read_text(encoding="utf-8")
    without = text[: text.index('  tau: "Gamma')]
    for target, told in ((without, "it claims those of beta"), (text[: text.index("laws:")], "it claims none")):
        (tmp_path / "own.yaml").write_text(target, encoding="utf-8")
        own = (f"{SPECS}/targets/TARGET.yaml", "own.yaml")
        (found,) = faults_of(tmp_path, "cycle: [draw: tau]", own, *REGRESSION[1:])
        assert f"expected its law under `laws` of the target regression_precision: {told} (`recipe derive`" in found


def test_a_draw_takes_all_data_and_formulas(tmp_path: Path) -> None:
    minibatch = (*REGRESSION, *MINIBATCH[-2:])
    (found,) = faults_of(tmp_path, "cycle: [draw: tau]", *minibatch)
    assert "found a draw of tau with variant: minibatch, expected variant: full: the law given all others" in found
    assert "`cir: tau` takes the sum in a Gamma law's shape from a minibatch" in found
    (found,) = faults_of(tmp_path, "cycle: [cir: tau]", *minibatch)
    assert "found cir of tau with variant: minibatch, expected a rate without data: with one of a minibatch" in found
    (tmp_path / "code.yaml").write_text(
        "{format: 1, name: code, state: {theta: {shape: d}}, gradient: 'my_gradient.py:grad_U'}", encoding="utf-8"
    )
    (tmp_path / "my_gradient.py").write_text("def grad_U(theta):\n    return theta\n", encoding="utf-8")
    changes = ((f"{SPECS}/targets/TARGET.yaml", "code.yaml"), ("{PARAMETERS}", f"{{{MASS}}}"))
    (found,) = faults_of(tmp_path, f"cycle: [draw: theta, refresh: r, {{{LEAP}}}]", *changes)
    assert "found a draw of theta with a gradient that is code, expected formulas: no law is shown of it" in found


MINIBATCH = (
    ("TARGET", "gaussian_mean"),
    ("{PARAMETERS}", "{Sigma: {value: [[1, 1/4], [1/4, 2]]}, M: {value: [[2, 1], [1, 3]]}}"),
    ("sizes: {d: 3}", f"sizes: {{d: 2}}\ndata: {{file: {SPECS}/data/linear_regression.csv, x: [a, b]}}"),
    ("step_size: 0.1", "step_size: 0.1, batch_size: 10"),
    ("variant: full", "variant: minibatch"),
)


def test_a_metropolis_move_needs_all_data_and_a_word_as_it_comes_does_not(tmp_path: Path) -> None:
    (found,) = faults_of(tmp_path, HMC, *MINIBATCH)
    assert found.startswith("scheme.cycle[1].metropolis: ")
    assert "the acceptance needs H of all data; an estimate of it biases the law by an amount no step size" in found
    assert "(use `variant: full`, or a word without `metropolis`)" in found
    scheme = build_of(tmp_path, f"cycle: [{{refresh: r}}, {{{LEAP}, steps: 10}}]", *MINIBATCH).scheme
    assert scheme.cycle == (Refresh("r"), Steps(10))


def test_a_metropolis_move_needs_the_potential_and_not_its_gradient_alone(tmp_path: Path) -> None:
    (tmp_path / "code.yaml").write_text(
        "{format: 1, name: code, state: {theta: {shape: d}}, gradient: 'my_gradient.py:grad_U'}", encoding="utf-8"
    )
    (tmp_path / "my_gradient.py").write_text("def grad_U(theta):\n    return theta\n", encoding="utf-8")
    changes = ((f"{SPECS}/targets/TARGET.yaml", "code.yaml"), ("{PARAMETERS}", f"{{{MASS}}}"))
    (found,) = faults_of(tmp_path, HMC, *changes)
    assert "found a Metropolis move with a gradient that is code, expected formulas: the acceptance needs H" in found
    assert build_of(tmp_path, f"cycle: [{{refresh: r}}, {{{LEAP}}}]", *changes).scheme.cycle


def test_a_block_with_a_boundary_is_neither_refreshed_nor_flipped(tmp_path: Path) -> None:
    (tmp_path / "sheared.yaml").write_text(POSITIVE, encoding="utf-8")
    changes = (("DYNAMICS", "sheared.yaml"), ("{PARAMETERS}", f"{{{GAUSSIAN}}}"))
    (found,) = faults_of(tmp_path, f"cycle: [{{refresh: x}}, {MOVE}]", *changes)
    assert "found a refresh of x, whose domain is positive, expected a real block" in found
    (found,) = faults_of(tmp_path, f"cycle: [metropolis: {{{LEAP}, flip: {{x: -x}}}}]", *changes)
    assert "found a flip of x, whose domain is positive, expected a real block (-x is outside)" in found


def test_a_block_that_no_stated_piece_moves_is_not_flipped(tmp_path: Path) -> None:
    (tmp_path / "sheared.yaml").write_text(POSITIVE.replace("x: {domain: positive}", "x: {}"), encoding="utf-8")
    changes = (("DYNAMICS", "sheared.yaml"), ("{PARAMETERS}", f"{{{GAUSSIAN}}}"))
    pieces = "pieces: {A: {Q: [[theta, r]], H: r}, B: {Q: [[theta, r]], H: U}}"
    scheme = f"cycle: [metropolis: {{{LEAP}, PIECES, flip: {{x: -x}}}}]"
    (found,) = faults_of(tmp_path, scheme.replace("PIECES", pieces), *changes)
    assert "found a flip of x, expected a block that the word moves: theta, r" in found
    moved = pieces.replace("H: U}", "H: U, D: [[x, x]]}")
    assert build_of(tmp_path, scheme.replace("PIECES", moved), *changes).scheme.cycle == (Metropolis(flip=("x",)),)


def test_a_word_that_keeps_draws_within_is_no_word_of_a_cycle(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text("{format: 1, name: mine, split: [A/2, B, A/2], keep: 1}", encoding="utf-8")
    (found,) = faults_of(tmp_path, "cycle: [refresh: r, metropolis: {use: mine.yaml}]")
    assert "of which mine keeps draws within, expected one without `keep`" in found


def test_the_document_of_a_scheme_is_a_word(tmp_path: Path) -> None:
    (tmp_path / "hmc.yaml").write_text(f"{{format: 1, name: hmc, {HMC}}}", encoding="utf-8")
    with pytest.raises(DocumentError) as raised:
        load(tmp_path / "hmc.yaml")
    (fault,) = raised.value.faults
    assert (fault.entry, fault.where.line) == ("cycle", 1)
    assert "found `cycle` in the document of a scheme, expected `split`" in fault.problem
    (found,) = faults_of(tmp_path, "use: hmc.yaml")
    assert "found `cycle` in the document of a scheme" in found


def test_faults_of_several_moves_are_told_at_once(tmp_path: Path) -> None:
    found = faults_of(tmp_path, f"cycle: [refresh: theta, refresh: p, metropolis: {{{LEAP}, flip: {{q: -q}}}}]")
    assert [fault.split(": ")[0] for fault in found] == [
        "scheme.cycle[0].refresh", "scheme.cycle[1].refresh", "scheme.cycle[2].metropolis.flip",
    ]  # fmt: skip


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

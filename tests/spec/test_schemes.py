"""Schemes of builds: words in documents of their own, cycles of moves, read, written back, and refused by name."""

import json
from fractions import Fraction

import pytest
from answers import SPECS, document, written

from recipe_compiler.errors import DocumentError, ModelError
from recipe_compiler.spec.catalogue import NAMED, SCHEMES
from recipe_compiler.spec.files import files_of
from recipe_compiler.spec.load import load
from recipe_compiler.spec.model import Build, Cir, Draw, Metropolis, Move, Refresh, Scheme, Steps
from recipe_compiler.spec.moves import cycle_text
from recipe_compiler.spec.places import compiled_digest, digest, documents
from recipe_compiler.spec.read_scheme import named_scheme
from recipe_compiler.spec.to_yaml import to_yaml
from recipe_compiler.spec.words import Letter, rotated, word_text
from recipe_compiler.splitting.split_by import check_letters
from recipe_compiler.splitting.words import sum_shares

BUILD = """
name: well
dynamics: hmc
target: standard_normal
parameters: {M: {value: [[2, 1/2, 0], [1/2, 1, 1/4], [0, 1/4, 3/2]]}}
scheme: SCHEME
variant: full
sizes: {d: 3}
run: {step_size: 0.1}
"""
FRICTION = ("hmc\n", "sghmc\n"), ("parameters: {", "bind: {C: c*I}\nparameters: {c: {is: nonnegative, value: 1}, ")
REGRESSION = (
    ("standard_normal", "regression_precision"),
    ("[[2, 1/2, 0], [1/2, 1, 1/4], [0, 1/4, 3/2]]", "[[2, 1, 0], [1, 3, 1], [0, 1, 2]]"),
    ("sizes: {d: 3}", "sizes: {d: 3}\ndata: {file: linear_regression, x: [a, b], y: y}"),
)
LENGTH = (("parameters: {", "parameters: {longest: {value: 7}, "),)
LEAP = "split: [B/2, A, B/2]"
MOVE = f"{{metropolis: {{{LEAP}, steps: 10, flip: {{r: -r}}}}}}"
HMC = f"{{cycle: [{{refresh: r}}, {MOVE}]}}"
OABAO = "name: mine\nsplit: [O/2, A/2, B, A/2, O/2]\nclaims: {order: 2}\n"
PIECES = "pieces: {A: {Q: [[theta, r]], H: r}, B: {Q: [[theta, r]], H: U}}, flows: {A: midpoint}"


def changed(scheme: str, *changes: tuple[str, str]) -> str:
    text = BUILD.replace("SCHEME", scheme)
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return text


def build_of(scheme: str, *changes: tuple[str, str], **beside: str) -> Build:
    return document(changed(scheme, *changes), **beside)


def faults_of(scheme: str, *changes: tuple[str, str], **beside: str) -> list[str]:
    with pytest.raises(DocumentError) as raised:
        load(written(changed(scheme, *changes), **beside))
    assert all(fault.where.line for fault in raised.value.faults)
    return [f"{fault.entry}: {fault.problem} ({fault.hint})" for fault in raised.value.faults]


# Words in documents of their own.


def test_names_are_those_of_the_documents_that_ship() -> None:
    assert set(NAMED) == {"lie", "leapfrog", "baoab", "aboba", "obabo", "badodab", "respa"}
    assert {path.stem for path in (SPECS / "schemes").glob("*.yaml")} == set(NAMED)
    assert (SPECS / "schemes").resolve() == SCHEMES.resolve()
    for name in NAMED:
        assert named_scheme(name) == load(SPECS / f"schemes/{name}.yaml")


def test_a_scheme_that_is_named_is_no_part_of_a_build_and_one_that_is_used_is() -> None:
    named, used = build_of("{name: baoab}", *FRICTION), build_of("{use: mine.yaml}", *FRICTION, mine=OABAO)
    assert word_text(named.scheme.split) == "[B/2, A/2, O, A/2, B/2]"
    assert documents(named).keys() == {"build", "dynamics", "target"}
    assert used.scheme.name == "mine"
    assert word_text(used.scheme.split) == "[O/2, A/2, B, A/2, O/2]"
    assert documents(used).keys() == {"build", "dynamics", "target", "scheme"}
    assert "mine.yaml" in {path.name for path in files_of(used)}
    others = (f"# a comment\n{OABAO}", OABAO.replace("O/2, A/2, B", "O/2, A/2, B/1"))
    same, other = (digest(build_of("{use: mine.yaml}", *FRICTION, mine=mine)) for mine in others)
    assert same == digest(used) != other


def test_a_letter_that_no_dynamics_have_is_told_as_in_a_build() -> None:
    with pytest.raises(DocumentError) as raised:
        document("{name: mine, split: BAOAB}")
    (fault,) = raised.value.faults
    with pytest.raises(ModelError) as in_build:
        check_letters(Scheme("mine", (Letter("BAOAB", Fraction(1)),)), ("A", "B", "O"))
    assert [(fault.problem, fault.hint)] == [(other.problem, other.hint) for other in in_build.value.faults]


@pytest.mark.parametrize("stated", ["split: H, pieces: {H: {D: all, Q: all}}", "split: B", "split: [S/2, F, S/2]"])
def test_a_word_of_one_piece_and_one_whose_pieces_builds_state_are_read(stated: str) -> None:
    assert isinstance(document(f"{{name: mine, {stated}}}"), Scheme)


@pytest.mark.parametrize(
    ("scheme", "word"),
    [
        ("{name: baoab, keep: 2}", "[O, A/2, B, A/2]"),
        ("{name: baoab, keep: O}", "[A/2, B, A/2, O]"),
        ("{name: baoab, keep: 5}", "[B/2, A/2, O, A/2, B/2]"),
        ("{split: [{repeat: 2, of: [B/2, A/2]}, O], keep: 3}", "[A/2, O, B/2, A/2, B/2]"),
        ("{split: [-B, A, O, 2*B], keep: 1}", "[A, O, B]"),
        ("{split: [-B, A, O, B, B/1], keep: 4}", "[A, O, B]"),
        ("{use: mine.yaml, keep: B}", "[A/2, O, A/2, B]"),
        ("{name: obabo, keep: 1, flows: {O: midpoint}}", "[B/2, A, B/2, O/2, O/2]"),
        ("{name: obabo, keep: 1, flows: {A: midpoint}}", "[B/2, A, B/2, O]"),
    ],
)
def test_a_word_begins_after_the_letter_where_draws_are_kept(scheme: str, word: str) -> None:
    found = build_of(scheme, *FRICTION, mine=OABAO).scheme
    assert word_text(found.word) == word
    assert sum_shares(found.word) == sum_shares(found.split)


def test_letters_that_undo_each_other_where_a_word_begins_are_left_out() -> None:
    word = tuple(Letter(piece, Fraction(share)) for piece, share in (("B", -1), ("A", 1), ("B", 1)))
    assert word_text(rotated(word, 1)) == "[A]"


def test_the_document_of_a_scheme_may_say_where_and_a_build_otherwise() -> None:
    kept = [build_of(f"{{use: mine.yaml{keep}}}", *FRICTION, mine=f"{OABAO}keep: B\n") for keep in ("", ", keep: 1")]
    assert [build.scheme.keep for build in kept] == [3, 1]


# Cycles.

ONE = Metropolis((10, 10), ("r",))


@pytest.mark.parametrize(
    ("moves", "read"),
    [
        ("{refresh: r}, MOVE", (Refresh("r"), ONE)),
        ("{refresh: {r: 0.9}}, MOVE", (Refresh("r", Fraction(9, 10)), ONE)),
        ("{refresh: {r: 1/3}}, MOVE", (Refresh("r", Fraction(1, 3)), ONE)),
        ("{refresh: {r: -0.5}}, MOVE", (Refresh("r", Fraction(-1, 2)), ONE)),
        ("{refresh: {r: 0}}, MOVE", (Refresh("r"), ONE)),
        ("{refresh: r, every: 3}, MOVE", (Refresh("r", every=3), ONE)),
        ("{refresh: {r: 1/2}, every: 4, repeat: 2}, MOVE", (*(Refresh("r", Fraction(1, 2), 4),) * 2, ONE)),
        ("refresh: r, {metropolis: {LEAP}, every: 5}", (Refresh("r"), Metropolis(every=5))),
        ("refresh: r, {LEAP, steps: 3, every: 2}", (Refresh("r"), Steps(3, 2))),
        ("{refresh: r, every: 1, repeat: 1}, MOVE", (Refresh("r"), ONE)),
        (
            "{repeat: 2, of: [{refresh: {r: 1/2}, every: 2}, refresh: r]}, MOVE",
            (*(Refresh("r", Fraction(1, 2), 2), Refresh("r")) * 2, ONE),
        ),
        (
            "MOVE, {repeat: 2, of: [refresh: r, {repeat: 2, of: [refresh: {r: 1/3}]}]}",
            (ONE, *(Refresh("r"), *(Refresh("r", Fraction(1, 3)),) * 2) * 2),
        ),
        ("refresh: r, MOVE, refresh: r", (Refresh("r"), ONE, Refresh("r"))),
        ("{repeat: 2, of: [refresh: r, MOVE]}", (Refresh("r"), ONE) * 2),
        (
            "{metropolis: {LEAP, scale: 0.25}, repeat: 2}, metropolis: {name: leapfrog, scale: 3/2, flip: {r: -r}}",
            (*(Metropolis(scale=Fraction(1, 4)),) * 2, Metropolis(flip=("r",), scale=Fraction(3, 2))),
        ),
        ("metropolis: {LEAP}", (Metropolis(),)),
        ("metropolis: {name: leapfrog, steps: 1000}", (Metropolis((1000, 1000)),)),
        ("metropolis: {LEAP, steps: uniform(1, 20)}", (Metropolis((1, 20)),)),
        ("metropolis: {LEAP, steps: uniform(1, longest)}", (Metropolis((1, "longest")),)),
        ('metropolis: {LEAP, steps: " uniform( 7,7 )"}', (Metropolis((7, 7)),)),
        ("{LEAP, steps: 4}, refresh: r", (Steps(4), Refresh("r"))),
        ("metropolis: {LEAP, flip: {r: ' - r'}}", (Metropolis(flip=("r",)),)),
        ("draw: beta, draw: tau", (Draw("beta"), Draw("tau"))),
        ("draw: tau, refresh: r, MOVE", (Draw("tau"), Refresh("r"), ONE)),
        ("draw: beta, {LEAP, steps: 4}, draw: beta", (Draw("beta"), Steps(4), Draw("beta"))),
        ("draw: beta, cir: tau", (Draw("beta"), Cir("tau"))),
    ],
)
def test_each_move_is_what_it_says_and_is_written_back(moves: str, read: tuple[Move, ...]) -> None:
    changes = REGRESSION if "draw" in moves else LENGTH if "longest" in moves else ()
    build = build_of(f"{{cycle: [{moves.replace('LEAP', LEAP).replace('MOVE', MOVE)}]}}", *changes)
    scheme = build.scheme
    assert (scheme.name, scheme.cycle, scheme.keep, scheme.is_used) == ("cycle", read, 0, False)
    assert (word_text(scheme.split) == "[B/2, A, B/2]") is any(isinstance(one, Metropolis | Steps) for one in read)
    again = document(to_yaml(build))
    assert (again, digest(again)) == (build, digest(build))


def test_an_involution_is_done_in_each_nth_cycle() -> None:
    build = build_of(f"{{cycle: [{MOVE}, {{involution: {{r: -r}}, every: 3, repeat: 2}}]}}")
    assert [move.every for move in build.scheme.cycle] == [1, 3, 3]
    assert cycle_text(build.scheme).endswith("{involution: {r: -r}, every: 3}, {involution: {r: -r}, every: 3}]")
    assert document(to_yaml(build)) == build


@pytest.mark.parametrize(
    ("longest", "declared"),
    [
        ("M", ""), ("longest", "longest: {is: nonnegative, value: 7}, "),
        ("longest", "longest: {shape: 2, is: positive, value: [7, 7]}, "),
    ],
)  # fmt: skip
def test_moves_are_as_long_as_one_positive_number_says(longest: str, declared: str) -> None:
    scheme = HMC.replace("steps: 10", f"steps: uniform(1, {longest})")
    (fault,) = faults_of(scheme, ("parameters: {", f"parameters: {{{declared}"))
    assert f"found `{longest}`, expected a parameter that is one positive number" in fault


def test_moves_take_a_thousand_steps_at_most() -> None:
    scheme = HMC.replace("steps: 10", "steps: uniform(1, longest)")
    (fault,) = faults_of(scheme, ("parameters: {", "parameters: {longest: {value: 1001}, "))
    assert "found 1001 as the most steps of a move, expected 1000 at most" in fault


def test_a_word_as_it_comes_may_have_noise() -> None:
    assert build_of("{cycle: [{name: baoab}, refresh: r]}", *FRICTION).scheme.cycle == (Steps(), Refresh("r"))


@pytest.mark.slow
@pytest.mark.parametrize("count", [100, 101, 5_000])
def test_a_hundred_moves_are_read_and_one_more_is_too_many(count: int) -> None:
    text = f"{{cycle: [{', '.join(['refresh: r'] * (count - 1))}, {MOVE}]}}"
    if count == 100:
        assert len(build_of(text).scheme.cycle) == 100
        return
    (fault,) = faults_of(text)
    assert f"found a cycle of {count} moves, expected 1 to 100" in fault


def test_everything_a_cycle_says_is_in_the_digest() -> None:
    schemes = [
        f"{{{LEAP}}}", HMC, HMC.replace("steps: 10", "steps: 11"), HMC.replace("steps: 10", "steps: uniform(1, 10)"),
        HMC.replace(", flip: {r: -r}", ""), HMC.replace("refresh: r", "refresh: {r: 1/2}"),
        f"{{cycle: [{MOVE}, {{refresh: r}}]}}", f"{{cycle: [{{refresh: r}}, {{{LEAP}, steps: 10}}]}}",
    ]  # fmt: skip
    builds = [build_of(scheme) for scheme in schemes]
    assert len({digest(build) for build in builds}) == len({compiled_digest(build) for build in builds}) == len(schemes)


def test_a_word_that_a_move_uses_is_a_part_of_the_build() -> None:
    mine = "name: mine\nsplit: [A/2, B, A/2]\nclaims: {order: 2, palindrome: true}\n"
    scheme = "{cycle: [refresh: r, metropolis: {use: mine.yaml, flip: {r: -r}}]}"
    build = build_of(scheme, mine=mine)
    assert (build.scheme.name, word_text(build.scheme.split), build.scheme.claims.order) == (
        "cycle",
        "[A/2, B, A/2]",
        2,
    )
    assert "mine.yaml" in {path.name for path in files_of(build)}
    assert json.dumps(documents(build)["scheme"]["split"]) == '["A/2", "B", "A/2"]'
    assert "mine.yaml, flip: {r: -r}}" in to_yaml(build)
    assert digest(build_of(scheme, mine=mine.replace("A/2, B, A/2", "B/2, A, B/2"))) != digest(build)


def test_a_move_may_state_pieces_and_flows_of_its_word() -> None:
    scheme = build_of(f"{{cycle: [refresh: r, metropolis: {{{LEAP}, {PIECES}, flip: {{r: -r}}}}]}}").scheme
    assert [name for name, _ in scheme.pieces] == ["A", "B"]
    assert scheme.flows == (("A", "midpoint"),)
    for text in (f"{{use: mine.yaml, {PIECES}, keep: 1}}", f"{{cycle: [{{use: mine.yaml, {PIECES}}}]}}"):
        assert "mine.yaml" in to_yaml(build_of(text, mine="name: mine\nsplit: [A/2, B, A/2]\n"))


def test_a_draw_needs_the_law_that_the_target_claims() -> None:
    text = (SPECS / "targets/regression_precision.yaml").read_text(encoding="utf-8")
    without = text[: text.index('  tau: "Gamma')]
    for target, told in ((without, "it claims those of beta"), (text[: text.index("laws:")], "it claims none")):
        own = ("standard_normal", "own.yaml")
        (found,) = faults_of("{cycle: [draw: tau]}", own, *REGRESSION[1:], own=target)
        assert f"expected its law under `laws` of the target regression_precision: {told} (`recipe derive`" in found


@pytest.mark.parametrize(
    ("moves", "takes"), [("draw: beta, draw: tau", False), ("draw: beta, cir: tau", True), (f"draw: tau, {MOVE}", True)]
)
def test_draws_by_laws_alone_need_no_step_size(moves: str, takes: bool) -> None:
    still = (
        ()
        if MOVE in moves
        else (("dynamics: hmc", "dynamics: still"), ("M: {value: [[2, 1, 0], [1, 3, 1], [0, 1, 2]]}", ""))
    )
    changes = (*REGRESSION, *still, ("run: {step_size: 0.1}", "run: {draws: 10}"))
    if takes:
        (found,) = faults_of(f"{{cycle: [{moves}]}}", *changes)
        assert found.startswith("run.step_size: found no `step_size`, expected one")
        return
    build = build_of(f"{{cycle: [{moves}]}}", *changes)
    assert not build.scheme.takes_time
    assert (build.eps, build.run.step_size, build.run.draws) == (1, 1.0, 10)

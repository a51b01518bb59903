"""Cycles with code: everything about them is given that its author is right, and nothing else becomes true by it."""

import pytest
from answers import SPECS, answer, document, expect
from code_moves import HMC, MOVES, code, coded_build, written
from cycles import FLIP, LEAPFROG
from loaders import load_build

from recipe_compiler.pipeline import compile_build
from recipe_compiler.report.check import check

pytestmark = pytest.mark.slow
KEPT, MOVED = "the code of my_moves.py:turn keeps exp(-H)", "the code of my_moves.py:turn moves theta"
TURN, ALONG = code("turn"), code("along", "reads: r")
UNTURNED = f"refresh: r, {{metropolis: {{{LEAPFROG}, steps: 3}}}}"
ONE = f"refresh: r, {{metropolis: {{{LEAPFROG}, {FLIP}}}}}"


def given(found):
    expect(found, "proved")
    return tuple(one for one in found.decision.given if "code" in one)


def test_what_it_keeps_is_given_and_named_wherever_it_is_used(tmp_path):
    """And nowhere else: what the word keeps does not rest on it."""
    report = check(coded_build(tmp_path, f"{HMC}, {TURN}"))
    assert report.verdict == "proved"
    known = {one.id: one for one in report.findings}
    assert {one.id for one in report.findings if KEPT in one.decision.given} == {"code", "cycle", "exact"}
    assert all(given(known[claim]) == (KEPT,) for claim in ("code", "cycle", "exact"))
    assert known["code"].required
    expect(known["irreducible"], "undecided")


NOT_ANEW = "r is not drawn wholly anew before `code"
NEXT_TO = "it is known where r is drawn anew next to a word, on either side of it"


@pytest.mark.parametrize(
    ("cycle", "claim", "verdict", "facts"),
    [
        (
            f"{HMC}, {TURN}, {code('hit_and_run')}, {TURN}", "cycle", "proved",
            ("the code of my_moves.py:hit_and_run keeps exp(-H)", KEPT),
        ),
        # a block that code alone moves is moved on its word; one that it does not change, by nothing
        (f"refresh: r, {TURN}", "cycle", "proved", (KEPT, MOVED)),
        (f"refresh: r, {TURN}", "exact", "proved", (KEPT,)),
        (f"refresh: r, {TURN}", "irreducible", "undecided", ("",)),
        (f"refresh: r, {code('turn', 'reads: theta', changes='r')}", "cycle", "refuted", ("no move moves theta",)),
        # a flip may be left out before what is not given the momentum, as before a draw: r is drawn wholly anew next
        (f"{UNTURNED}, {TURN}", "metropolis", "proved", ()),
        (f"{UNTURNED}, {ALONG}", "metropolis", "undecided", (NOT_ANEW,)),
        (f"{UNTURNED}, {code('along', changes='[theta, r]')}", "metropolis", "undecided", (NOT_ANEW,)),
        # of one step between two refreshes it is the only law, whatever code does
        (f"{ONE}, refresh: r, {TURN}", "irreducible", "proved", (KEPT,)),
        (f"{ONE}, {TURN}", "irreducible", "undecided", (NEXT_TO,)),
    ],
)  # fmt: skip
def test_what_rests_on_the_word_of_its_author(tmp_path, cycle, claim, verdict, facts):
    found = answer(coded_build(tmp_path, cycle), claim)
    if verdict == "proved":
        assert given(found) == facts
    else:
        expect(found, verdict, *facts)


@pytest.mark.parametrize(
    ("cycle", "reached"),
    [
        (f"draw: mu, draw: tau, {TURN}", True),
        (f"draw: mu, {TURN}", False),
        (f"draw: mu, {TURN}, draw: tau, {TURN}", False),
    ],
)
def test_beside_draws_of_every_block_in_a_row_it_is_the_only_law(cycle, reached):
    text = (SPECS / "builds/gibbs_normal.yaml").read_text().replace("../", "SPECS/")
    own = document(text.replace("[draw: mu, draw: tau]", f"[{cycle}]"), **{"my_moves.py": MOVES})
    expect(answer(own, "cycle"), "proved")
    found = answer(own, "irreducible")
    expect(found, "proved" if reached else "undecided")
    assert not reached or given(found) == (KEPT,)


def test_the_file_is_never_run(tmp_path):
    build = load_build(written(tmp_path, f"{HMC}, {TURN}", moves="raise SystemExit('this file was run')\n"))
    text = compile_build(build, check(build)).file
    assert "import my_moves" not in text
    assert f"Proved, given that {KEPT}:" in text
    assert 'CODE = (("move_turn", "my_moves.py:turn"),)' in text


def test_the_header_says_what_is_given(tmp_path):
    text = " ".join(compile_build(coded_build(tmp_path, f"{HMC}, {ALONG}")).file.split())
    says = "move_along: a function jitted by numba, move_along(theta, r, mu, Sigma, stream), which changes theta"
    assert says in text
    assert "taken on the word of its author: exp(-H) is stationary for it" in text

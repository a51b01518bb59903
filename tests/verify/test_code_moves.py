"""Cycles with code: everything about them is given that its author is right, and nothing else becomes true by it."""

from pathlib import Path

import pytest
from code_moves import HMC, MOVES, code, coded_build, written
from cycles import FLIP, LEAPFROG
from loaders import load_build

from recipe_compiler.pipeline import compile_build
from recipe_compiler.report.check import check
from recipe_compiler.verdict import Finding, Proved, Refuted, Report, Undecided, Verdict

ROOT = Path(__file__).parents[2]
KEPT = "the code of my_moves.py:turn keeps exp(-H)"


def finding(found: Report, claim: str) -> Finding:
    return next(one for one in found.findings if one.id == claim)


def about(folder: Path, cycle: str, *changes: tuple[str, str]) -> Report:
    return check(coded_build(folder, cycle, *changes))


def given(found: Report, claim: str) -> tuple[str, ...]:
    decision = finding(found, claim).decision
    assert isinstance(decision, Proved), decision
    return tuple(one for one in decision.given if "code" in one)


@pytest.mark.slow
def test_what_it_keeps_is_given_and_named_wherever_it_is_used(tmp_path: Path) -> None:
    """And nowhere else: what the word keeps does not rest on it."""
    found = about(tmp_path, f"{HMC}, {code('turn')}")
    assert found.verdict is Verdict.PROVED
    resting = {one.id for one in found.findings if isinstance(one.decision, Proved) and KEPT in one.decision.given}
    assert resting == {"code", "cycle", "exact"}
    assert all(given(found, claim) == (KEPT,) for claim in resting)
    assert finding(found, "code").required
    assert finding(found, "irreducible").verdict is Verdict.UNDECIDED


@pytest.mark.slow
def test_of_several_each_is_named(tmp_path: Path) -> None:
    found = about(tmp_path, f"{HMC}, {code('turn')}, {code('hit_and_run')}, {code('turn')}")
    assert given(found, "cycle") == ("the code of my_moves.py:hit_and_run keeps exp(-H)", KEPT)


@pytest.mark.slow
def test_the_file_is_never_run(tmp_path: Path) -> None:
    path = written(tmp_path, f"{HMC}, {code('turn')}", moves="raise SystemExit('this file was run')\n")
    build = load_build(path)
    text = compile_build(build, check(build)).file
    assert "import my_moves" not in text
    assert f"Proved, given that {KEPT}:" in text
    assert 'CODE = (("move_turn", "my_moves.py:turn"),)' in text


@pytest.mark.slow
def test_the_header_says_what_is_given(tmp_path: Path) -> None:
    module = compile_build(coded_build(tmp_path, f"{HMC}, {code('along', 'reads: r')}"))
    flat = " ".join(module.file.split())
    assert (
        "move_along: a function jitted by numba, move_along(theta, r, mu, Sigma, stream), which changes theta" in flat
    )
    assert "taken on the word of its author: exp(-H) is stationary for it" in flat


@pytest.mark.slow
def test_a_block_that_code_alone_moves_is_moved_on_its_word(tmp_path: Path) -> None:
    found = about(tmp_path, f"refresh: r, {code('turn')}")
    assert given(found, "cycle") == (KEPT, "the code of my_moves.py:turn moves theta")
    assert given(found, "exact") == (KEPT,)
    assert finding(found, "irreducible").verdict is Verdict.UNDECIDED


@pytest.mark.slow
def test_a_block_that_it_does_not_change_is_moved_by_nothing(tmp_path: Path) -> None:
    decision = finding(about(tmp_path, f"refresh: r, {code('turn', 'reads: theta', changes='r')}"), "cycle").decision
    assert isinstance(decision, Refuted)
    assert "no move moves theta" in decision.by


UNTURNED = f"refresh: r, {{metropolis: {{{LEAPFROG}, steps: 3}}}}"


@pytest.mark.slow
def test_what_is_not_given_a_momentum_cannot_read_its_sign(tmp_path: Path) -> None:
    """A flip may be left out before it, as before a draw: r is drawn wholly anew next."""
    assert finding(about(tmp_path, f"{UNTURNED}, {code('turn')}"), "metropolis").verdict is Verdict.PROVED


@pytest.mark.slow
@pytest.mark.parametrize("move", [code("along", "reads: r"), code("along", changes="[theta, r]")])
def test_what_is_given_a_momentum_may_read_its_sign(tmp_path: Path, move: str) -> None:
    decision = finding(about(tmp_path, f"{UNTURNED}, {move}"), "metropolis").decision
    assert isinstance(decision, Undecided)
    assert "r is not drawn wholly anew before `code" in "; ".join(decision.tried)


@pytest.mark.slow
def test_of_one_step_between_two_refreshes_it_is_the_only_law_whatever_code_does(tmp_path: Path) -> None:
    one = f"refresh: r, {{metropolis: {{{LEAPFROG}, {FLIP}}}}}, refresh: r, {code('turn')}"
    assert given(about(tmp_path, one), "irreducible") == (KEPT,)
    decision = finding(about(tmp_path, one.replace(", refresh: r", "", 1)), "irreducible").decision
    assert isinstance(decision, Undecided)
    assert "it is known where r is drawn anew next to a word, on either side of it" in decision.tried[0]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("cycle", "reached"),
    [
        (f"draw: mu, draw: tau, {code('turn')}", Verdict.PROVED),
        (f"draw: mu, {code('turn')}", Verdict.UNDECIDED),
        (f"draw: mu, {code('turn')}, draw: tau, {code('turn')}", Verdict.UNDECIDED),
    ],
)
def test_beside_draws_of_every_block_in_a_row_it_is_the_only_law(tmp_path: Path, cycle: str, reached: Verdict) -> None:
    (tmp_path / "my_moves.py").write_text(MOVES, encoding="utf-8")
    text = (ROOT / "specs/builds/gibbs_normal.yaml").read_text(encoding="utf-8").replace("../", f"{ROOT}/specs/")
    (tmp_path / "build.yaml").write_text(text.replace("[draw: mu, draw: tau]", f"[{cycle}]"), encoding="utf-8")
    found = check(load_build(tmp_path / "build.yaml"))
    assert finding(found, "cycle").verdict is Verdict.PROVED
    assert finding(found, "irreducible").verdict is reached
    if reached is Verdict.PROVED:
        assert given(found, "irreducible") == (KEPT,)

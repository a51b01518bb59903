"""Soundness under fire, a few of each; `python tests/properties/fire.py` fires ten thousand of each."""

import subprocess
import sys
from pathlib import Path

import flint
import pytest

sys.path.insert(0, str(Path(__file__).parent))

from fire import GROUPS, Judged, Tally, fire

from recipe_compiler.verdict import Verdict

RIGHT = ("d_symmetric", "q_skew", "stationary", "claimed_drift", "claimed_stationary")
"""Claims that hold of all that is right, and are decided."""
FEW = {"right": 3, "mutant": 5, "wild": 8, "posterior": 8, "design": 20}
MANY = {"right": 100, "mutant": 100, "wild": 400, "posterior": 200, "design": 600}
MOVES = GROUPS["moves"]


def seen(tally: Tally, claim: str, verdict: str) -> int:
    """Return how often a claim that fails, or is not known to, has a verdict."""
    return sum(n for (_, own, v), n in tally.verdicts.items() if own == claim and v == verdict)


@pytest.mark.slow
def test_nobody_sets_the_precision_of_others() -> None:
    alone = "import fire, flint; assert flint.ctx.prec == 53, flint.ctx.prec"
    ran = subprocess.run([sys.executable, "-c", alone], cwd=Path(__file__).parent, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr


@pytest.mark.parametrize("subject", FEW)
def test_nothing_is_proved_that_fails_and_nothing_refuted_that_holds(subject: str) -> None:
    """The judge has balls of its own precision, and what is judged those of a user's process."""
    with flint.ctx.workprec(53):
        found = fire(subject, range(FEW[subject]))
        assert flint.ctx.prec == 53
    assert found.wrong == []
    if subject == "right":
        assert {v for _, claim, v in found.verdicts if claim in RIGHT} == {"proved"}
    elif subject == "mutant":
        assert {v for _, claim, v in found.verdicts if claim == "claimed_drift"} == {"refuted"}
    elif subject in {"posterior", "design"}:
        assert seen(found, "normalisable", "proved")
    if subject != "right":
        assert any("failing" in kind for kind, _, _ in found.verdicts)


@pytest.mark.slow
@pytest.mark.parametrize("subject", MANY)
def test_the_same_of_many(subject: str) -> None:
    found = fire(subject, range(1000, 1000 + MANY[subject]))
    assert found.wrong == []
    assert subject == "right" or any("failing" in kind for kind, _, _ in found.verdicts)


def test_no_random_cycle_is_judged_wrongly() -> None:
    found = {subject: fire(subject, range(2)) for subject in MOVES}
    assert [tally.wrong for tally in found.values()] == [[]] * len(MOVES)
    verdicts = {(claim, "failing" in kind, v) for tally in found.values() for kind, claim, v in tally.verdicts}
    assert {("cycle", False, "proved"), ("cycle", True, "refuted")} <= verdicts


@pytest.mark.slow
@pytest.mark.parametrize("subject", MOVES)
def test_the_same_of_many_cycles(subject: str) -> None:
    found = fire(subject, range(1000, 1040))
    assert found.wrong == []
    assert sum(n for (kind, _, v), n in found.verdicts.items() if "failing" not in kind and v == "proved") > 4
    assert any("failing" in kind for kind, _, _ in found.verdicts)


def test_what_is_judged_wrongly_is_counted() -> None:
    rows = [("cycle", Verdict.PROVED, False), ("exact", Verdict.REFUTED, True), ("draw", Verdict.REFUTED, False)]
    tally = (
        Tally().add("words", 1, [Judged(*row) for row in rows]).add("flow", 2, [Judged("cir", Verdict.PROVED, True)])
    )
    tally.add("flow", 3, [])
    assert len(tally.wrong) == 2
    assert "documents: 1 discarded, 1 flow, 1 words\nwrong verdicts: 2\n" in str(tally)

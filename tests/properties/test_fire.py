"""Soundness under fire, a few of each; `python tests/properties/fire.py` fires ten thousand."""

import subprocess
import sys
from pathlib import Path

import flint
import pytest

sys.path.insert(0, str(Path(__file__).parent))

from fire import FAULTS, fire, fire_builds, fire_wild


@pytest.mark.slow
def test_nobody_sets_the_precision_of_others() -> None:
    alone = "import fire, fire_integrals, fire_moves, flint; assert flint.ctx.prec == 53, flint.ctx.prec"
    ran = subprocess.run([sys.executable, "-c", alone], cwd=Path(__file__).parent, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_nothing_wrong_is_proved_and_nothing_right_refuted(seed: int) -> None:
    tally = fire(5, seed)
    assert tally.wrong == []
    assert sum(n for (kind, claim, _), n in tally.verdicts.items() if kind in FAULTS and claim == "kept") == 5


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_nothing_is_proved_that_fails_somewhere_and_nothing_refuted_where_it_holds(seed: int) -> None:
    """The judge has balls of its own precision, and what is judged those of a user's process."""
    with flint.ctx.workprec(53):
        tally = fire_wild(15, seed)
        assert flint.ctx.prec == 53
    assert tally.wrong == []
    assert any(kind == "wild, failing" for kind, _, _ in tally.verdicts)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1])
def test_builds_are_judged_at_their_values(seed: int) -> None:
    tally = fire_builds(8, seed)
    assert tally.wrong == []
    assert any(kind == "build, failing" for kind, _, _ in tally.verdicts)


@pytest.mark.slow
def test_the_same_of_many() -> None:
    assert fire(100, 3).wrong == []
    assert fire_wild(400, 3).wrong == []
    assert fire_builds(40, 3).wrong == []

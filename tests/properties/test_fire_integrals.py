"""No posterior of infinite mass is proved, of a few; `python tests/properties/fire.py integrals` fires thousands."""

import sys
from dataclasses import replace
from fractions import Fraction
from functools import cache
from math import inf
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Any

import pytest
from flint import fmpq

sys.path.insert(0, str(Path(__file__).parent))

from designs import Design, Piece, Square, is_finite, random_design
from fire import fire_designs, fire_posteriors, verdict_on
from posteriors import Posterior, diverges

from recipe_compiler.verify.builds import logarithms, residuals
from recipe_compiler.verify.from_data import balance, decide, ranks, scales
from recipe_compiler.verify.from_data.balance import _allowed as allowed
from recipe_compiler.verify.from_data.ranks import Rank, rank_of


@pytest.mark.parametrize("seeds", [range(12), pytest.param(range(1000, 1200), marks=pytest.mark.slow)])
def test_nothing_infinite_is_proved(seeds: range) -> None:
    tally = fire_posteriors(seeds)
    assert tally.wrong == []
    assert sum(n for (kind, _, _), n in tally.verdicts.items() if "infinite" in kind) > len(seeds) // 12
    assert tally.verdicts["posterior", "normalisable", "proved"] > len(seeds) // 4


def normal(prior_of_scale: str, y: tuple[int, ...]) -> Posterior:
    """Return normal(y, a, s) with a of N(0, 5**2)."""
    priors = ["normal(a, 0, 5)", *([prior_of_scale] if prior_of_scale else [])]
    rows = [{"y": one} for one in y]
    return Posterior({"a": "real", "s": "positive"}, priors, ["normal(y, a, s)"], rows)


KNOWN = [
    ("half_normal(s, 1)", (1, 1), True),
    ("half_normal(s, 1)", (1,), False),
    ("half_normal(s, 1)", (1, 1, 2), False),
    ("lognormal(s, 0, 1)", (1, 1), False),
    ("", (1, 2), False),
    ("", (1,), True),
]
"""Priors of the scale and data, and whether the integral is infinite: int s**(1 - N) ds at ties, int s**-N at oo."""


@pytest.mark.parametrize(("prior", "y", "infinite"), KNOWN)
def test_the_judge_finds_what_is_known(prior: str, y: tuple[int, ...], *, infinite: bool) -> None:
    assert any(diverges(normal(prior, y), Random(seed)) for seed in range(4)) is infinite


def squares(*forms: tuple[int, int], prior: tuple[Fraction | float, Fraction | float]) -> Design:
    """Return ((a x + c)/s)**2/2 + log s of forms (x, c), and a prior of s."""
    own = tuple(Square(tuple(map(Fraction, form)), ("s",)) for form in forms)
    return Design(theta=["a"], squares=list(own), own={"s": prior})


def pieces(*slopes: tuple[int, int], y: tuple[int, ...]) -> Design:
    """Return the energy of classes y with log odds x @ b."""
    made = Design(theta=["b[0]", "b[1]"])
    for (p, q), label in zip(slopes, y, strict=True):
        form = (Fraction(p), Fraction(q), Fraction(0))
        made.pieces += [Piece("log", ((Fraction(0),) * 3, form)), Piece("linear", (tuple(-label * x for x in form),))]
    return made


DECIDED = [
    (squares((1, -1), (1, -1), prior=(Fraction(0), inf)), False),  # int ds/s at 0
    (squares((1, -1), (1, -2), prior=(Fraction(0), inf)), True),
    (squares((1, -1), (1, -1), prior=(Fraction(1, 2), inf)), True),
    (squares((1, -1), (1, -2), prior=(Fraction(0), Fraction(0))), False),  # int ds/s at oo
    (squares((1, -1), (1, -2), (1, -3), prior=(Fraction(0), Fraction(0))), True),
    (squares((0, -1), (0, -2), prior=(Fraction(0), inf)), False),  # nothing depends on a
    (pieces((1, 0), (1, 1), (1, 1), (1, 0), y=(0, 0, 1, 1)), True),
    (pieces((1, 0), (1, 1), (1, 1), (1, 0), y=(0, 1, 1, 1)), False),  # b[1] -> oo
    (pieces((1, 2), (2, 4), (1, 2), y=(0, 1, 1)), False),  # one column is twice the other
]


@pytest.mark.parametrize(("design", "finite"), DECIDED)
def test_the_judge_of_designs_knows_what_is_known(design: Design, *, finite: bool) -> None:
    assert is_finite(design) is finite


@pytest.mark.parametrize("seeds", [range(20), pytest.param(range(1000, 1600), marks=pytest.mark.slow)])
def test_nothing_wrong_is_said_of_designs(seeds: range) -> None:
    tally = fire_designs(seeds)
    assert tally.wrong == []
    assert sum(n for (kind, _, _), n in tally.verdicts.items() if "infinite" in kind) > len(seeds) // 2
    assert tally.verdicts["design, infinite", "normalisable", "refuted"] > len(seeds) // 5
    assert tally.verdicts["design", "normalisable", "proved"] > len(seeds) // 12


def _one_more(forms: Any, width: int) -> Rank:
    found = rank_of(forms, width)
    return replace(found, rank=min(width, found.rank + 1))


def _by_count(forms: Any, width: int) -> Rank:
    return replace(rank_of(forms, width), rank=min(width, len(forms)))


def _whole(vertex: Any, weights: Any, asked: Any) -> Any:
    return {v: sum((x * w.get(v, fmpq(0)) for x, w in zip(vertex, weights, strict=True)), fmpq(0)) for v in asked}


def _has_more_rows(forms: Any, width: int) -> bool:
    return len(forms) <= width and ranks.rank_of(forms, width).rank == ranks.rank_of(forms, width + 1).rank


def _at_the_ends(piece: Any, weights: Any, *, open_: bool) -> bool:
    return allowed(piece, weights, open_=False)


def _loses_one(forms: Any, width: int) -> bool:
    return rank_of(forms, width - 1).rank == rank_of(forms, width + 1).rank


def _has_full_rank(forms: Any, width: int) -> bool:
    return rank_of(forms, width).rank == width == rank_of(forms, width + 1).rank


FAULTS: dict[str, tuple[tuple[ModuleType, str, Any], ...]] = {
    "a rank is one more": ((decide, "rank_of", _one_more),),
    "a rank is how many forms there are": ((decide, "rank_of", _by_count),),
    "ranks of groups are one more": ((scales, "rank_of", _one_more),),
    "nothing vanishes together": ((ranks, "is_consistent", lambda forms, width: False),),
    "the last coordinate is a constant": ((ranks, "is_consistent", _loses_one),),
    "more data than coordinates never vanish together": ((ranks, "is_consistent", _has_more_rows),),
    "a form takes all of a scale": ((scales, "_halves", _whole),),
    "every residual is apart": ((residuals, "is_consistent", lambda forms, width: False),),
    "residuals are apart where columns lose rank": ((residuals, "is_consistent", _has_full_rank),),
    "logarithms are added up as numbers": ((logarithms, "psi", lambda x: x),),
    "slopes may be at their ends": ((balance, "LEAST", -1.0), (balance, "_allowed", _at_the_ends)),
}
"""Faults of what is decided by ranks, by module and name, with what takes the place."""


@cache
def _infinite() -> tuple[Design, ...]:
    designs = (random_design(Random(seed)) for seed in range(5000, 5060))
    return tuple(design for design in designs if not is_finite(design))


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS)
def test_faults_of_ranks_are_found(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for module, name, planted in FAULTS[fault]:
        monkeypatch.setattr(module, name, planted)
    assert any(verdict_on(design) == "proved" for design in _infinite())

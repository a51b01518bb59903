"""No posterior of infinite mass is proved, of a few; `python tests/properties/fire.py integrals` fires thousands."""

import sys
from fractions import Fraction
from math import inf
from pathlib import Path
from random import Random

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from designs import Design, Piece, Square, is_finite
from posteriors import Posterior, diverges


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

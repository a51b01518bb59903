"""No posterior of infinite mass is proved, of a few; `python tests/properties/fire_integrals.py` fires thousands."""

# pyright: reportUnknownLambdaType=false

import sys
from pathlib import Path
from random import Random

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from fire_integrals import fire
from random_posteriors import LAWS, Posterior, call, coordinate, datum, diverges


@pytest.mark.parametrize("seeds", [range(24), pytest.param(range(1000, 1200), marks=pytest.mark.slow)])
def test_nothing_infinite_is_proved(seeds: range) -> None:
    tally = fire(seeds)
    assert sum(n for (infinite, _), n in tally.items() if infinite) > len(seeds) // 12
    assert tally[False, "proved"] > len(seeds) // 4


def normal(prior_of_scale: str, y: tuple[int, ...]) -> Posterior:
    """Return normal(y, a, s) with a of N(0, 5**2)."""
    text, law = LAWS["normal"]
    priors = {
        "half_normal({0}, 1)": lambda s: -(s**2) / 2,
        "lognormal({0}, 0, 1)": lambda s: -(s.log() ** 2) / 2 - s.log(),
        "": None,
    }
    fn = priors[prior_of_scale]
    made = Posterior({"a": "real", "s": "positive"}, rows=[{"y": one} for one in y])
    made.prior.append(call("normal({0}, 0, 5)", lambda a: -((a / 5) ** 2) / 2, coordinate("a")))
    made.prior += [call(prior_of_scale, fn, coordinate("s"))] if fn is not None else []
    made.likelihood.append(call(text, law, datum("y"), coordinate("a"), coordinate("s")))
    return made


KNOWN = [
    ("half_normal({0}, 1)", (1, 1), True),
    ("half_normal({0}, 1)", (1,), False),
    ("half_normal({0}, 1)", (1, 1, 2), False),
    ("lognormal({0}, 0, 1)", (1, 1), False),
    ("", (1, 2), False),
    ("", (1,), True),
]
"""Priors of the scale and data, and whether the integral is infinite: int s**(1 - N) ds at ties, int s**-N at oo."""


@pytest.mark.parametrize(("prior", "y", "infinite"), KNOWN)
def test_the_judge_finds_what_is_known(prior: str, y: tuple[int, ...], *, infinite: bool) -> None:
    assert any(diverges(normal(prior, y), Random(seed)) for seed in range(4)) is infinite

"""Centred hierarchies, which have no mode, against exact moments: sampled where one step size serves, else refused."""

import json
from pathlib import Path

import numpy as np
import pytest

import recipe_compiler as rc
from recipe_compiler.errors import RunError
from recipe_compiler.run.infinitesimal_means import errors_of

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("interruptible", "without_reading_back")]

MODELS = Path(__file__).parents[2] / "benchmarks" / "models"
REFERENCES = json.loads((MODELS / "references.json").read_text(encoding="utf-8"))
SHARE = 0.02


@pytest.mark.parametrize("name", ["varying_slopes", "counties"])
def test_groups_whose_spread_the_data_tell_are_sampled(name: str) -> None:
    """Within the share and 5 Monte Carlo errors, each of up to 170 moments: a false alarm in 10^4 runs."""
    fit = rc.compile(MODELS / "builds" / f"{name}.yaml").sample(progress=False)
    assert not fit.verdict.doubts
    assert "Hamiltonian moves, accepted or refused" in fit.attrs["plan"]
    known = REFERENCES[name]["moments"]
    for block, array in fit["posterior"].data_vars.items():
        draws = array.to_numpy().reshape(*array.shape[:2], -1)
        labels = [f"{block}[{k}]" for k in range(draws.shape[2])] if array.ndim > 2 else [str(block)]
        mean, sd = (np.array([known[label][moment] for label in labels]) for moment in ("mean", "sd"))
        own, width = draws.mean(axis=(0, 1)), draws.std(axis=(0, 1))
        of_sd = errors_of((draws - own) ** 2) / (2.0 * width)
        assert (np.abs(own - mean) < SHARE * sd + 5.0 * errors_of(draws)).all(), block
        assert (np.abs(width - sd) < SHARE * sd + 5.0 * of_sd).all(), block


@pytest.mark.parametrize("name", ["schools_centred", "varying_intercepts"])
def test_groups_whose_spread_may_be_nothing_are_refused_with_what_serves(name: str) -> None:
    with pytest.raises(RunError, match="no minimum of U was found") as caught:
        rc.compile(MODELS / "builds" / f"{name}.yaml").plan()
    for serves in ("mu + tau*eta", "recipe run hmc TARGET", "`rhmc`"):
        assert serves in str(caught.value)

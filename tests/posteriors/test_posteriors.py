"""Third-party posteriors with nothing stated of the run: right at the first attempt, or the test fails."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from arviz_stats.base.array import array_stats as numbers_of

import recipe_compiler as rc

array_stats = cast("Any", numbers_of)
HERE = Path(__file__).parent
REFERENCES = json.loads((HERE / "references.json").read_text(encoding="utf-8"))
SHARE = 0.02
"""How far off a plan may let a posterior sd be, by its default."""
ERRORS = 4.0
"""Standard errors that are taken for chance, of some 130 numbers."""


def numbers(posterior: Mapping[str, Any], name: str) -> np.ndarray:
    """Return the draws (chain, draw) of `beta[2]`, counted from 1 as the references do, or of a scalar."""
    head, bracket, place = name.partition("[")
    draws = posterior[head].to_numpy()
    return draws[:, :, int(place.rstrip("]")) - 1] if bracket else draws


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(REFERENCES))
def test_a_planned_run_has_the_moments_of_the_reference(name: str) -> None:
    model = rc.compile(HERE / "builds" / f"{name}.yaml")
    tree = model.sample(progress=False)
    assert tree.attrs["trust"].startswith("trust: yes"), tree.attrs["trust"]
    far: list[str] = []
    for label, reference in REFERENCES[name].items():
        draws = numbers(tree["posterior"], label)
        mean, sd, count = reference["mean"], reference["sd"], float(array_stats.ess(draws))
        error = np.hypot(sd / np.sqrt(count), reference["mcse_mean"])
        if abs(draws.mean() - mean) > ERRORS * error:
            far.append(f"mean of {label}: {draws.mean():.4g}, expected {mean:.4g} +- {error:.2g}")
        # of the square's own spread: kurtosis and the fewer effective draws of the second moment are in it
        squares = (draws - draws.mean()) ** 2
        of_sd = squares.std() / np.sqrt(float(array_stats.ess(squares))) / (2 * sd**2) + reference["mcse_mean"] / sd
        if abs(draws.std() / sd - 1) > SHARE + ERRORS * of_sd:
            far.append(f"sd of {label}: {draws.std() / sd:.3f} of the reference, known within {of_sd:.3f}")
        if float(array_stats.rhat(draws)) > 1.01:
            far.append(f"R-hat of {label}: {float(array_stats.rhat(draws)):.4f}")
    assert not far, "\n".join(far)

"""Third-party posteriors with nothing stated of the run: right at the first attempt, or the test fails."""

import json
import runpy
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from arviz_stats.base.array import array_stats as numbers_of

import recipe_compiler as rc

array_stats = cast("Any", numbers_of)
HERE = Path(__file__).parent
PANEL = HERE.parents[1] / "benchmarks" / "models"
"""Where `diamonds` stands, whose table is made before it is read: it is too large for a repository."""
REFERENCES = json.loads((HERE / "references.json").read_text(encoding="utf-8"))
SHARE = 0.02
"""How far off a plan may let a posterior sd be, by its default."""
ERRORS = 4.0
"""Standard errors that are taken for chance, of some 180 numbers."""


def numbers(posterior: Mapping[str, Any], name: str) -> np.ndarray:
    """Return the draws (chain, draw) of `beta[2]`, counted from 1 as the references do, or of a scalar."""
    head, bracket, place = name.partition("[")
    draws = posterior[head].to_numpy()
    return draws[:, :, int(place.rstrip("]")) - 1] if bracket else draws


def of_panel(name: str) -> Mapping[str, Mapping[str, float]]:
    """Return the reference of a model of the panel, its entries counted from 1 as here."""
    moments = json.loads((PANEL / "references.json").read_text(encoding="utf-8"))[name]["moments"]
    split = {label: label.partition("[") for label in moments}
    return {
        f"{head}[{int(place.rstrip(']')) + 1}]" if bracket else head: moments[label]
        for label, (head, bracket, place) in split.items()
    }


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(REFERENCES))
def test_a_planned_run_has_the_moments_of_the_reference(name: str) -> None:
    demand_moments(HERE / "builds" / f"{name}.yaml", REFERENCES[name])


@pytest.mark.slow
def test_a_planned_run_of_many_correlated_predictors_has_the_moments_of_the_reference() -> None:
    runpy.run_path(str(PANEL / "make_data.py"))["expand"](PANEL / "data")
    demand_moments(PANEL / "builds" / "diamonds.yaml", of_panel("diamonds"))


def demand_moments(build: Path, references: Mapping[str, Mapping[str, float]]) -> None:
    """Fail where a run with nothing stated is not trusted, or off the reference by more than chance and the share."""
    model = rc.compile(build)
    tree = model.sample(progress=False)
    assert tree.attrs["trust"].startswith("trust: yes"), tree.attrs["trust"]
    far: list[str] = []
    for label, reference in references.items():
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

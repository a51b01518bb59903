"""Leave-one-out of what is sampled with nothing set, beside that of NUTS: models of the panel."""

import json
import warnings
from pathlib import Path

import arviz_stats
import pytest

import recipe_compiler as rc

MODELS = Path(__file__).parents[2] / "benchmarks" / "models"
NUTS = json.loads((MODELS / "loo.json").read_text(encoding="utf-8"))["elpd"]
BETWEEN = 0.1
"""How far two references may differ: what is compared is then known within a third of `WITHIN`."""
WITHIN = 0.3


def test_references_are_known_well_enough() -> None:
    assert len(NUTS) == 3
    assert all(max(twice) - min(twice) < BETWEEN for twice in NUTS.values())


@pytest.mark.slow
@pytest.mark.parametrize("name", NUTS)
def test_leave_one_out_is_that_of_nuts(name: str) -> None:
    build = rc.load(MODELS / "builds" / f"{name}.yaml")
    assert isinstance(build, rc.Build)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rc.SampleWarning)
        tree = rc.compile(build).sample(progress=False)
    assert abs(float(arviz_stats.loo(tree).elpd) - sum(NUTS[name]) / 2) < WITHIN

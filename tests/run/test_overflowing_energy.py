"""A trajectory that overflows is refused, also where r^T M^-1 r, its products fused, overflows to -inf on the way."""

from pathlib import Path

import numpy as np
import pytest

import recipe_compiler as rc

SPECS = Path(__file__).parents[2] / "specs"


@pytest.mark.slow
@pytest.mark.usefixtures("interruptible")
@pytest.mark.filterwarnings("ignore:chain . is stuck")  # far out on a tail of the banana, as chains of this step may be
def test_trajectories_that_overflow_are_not_taken() -> None:
    """With M of both coordinates, some of 16,000 moves went to 1e77 while +inf was accepted."""
    model = rc.compile(
        str(SPECS / "dynamics/hmc.yaml"), str(SPECS / "targets/banana.yaml"), name="overflowing", variant="full",
        scheme={"cycle": [{"refresh": "r"}, {"metropolis": {"split": ["B/2", "A", "B/2"], "steps": "uniform(1, 20)",
                                                           "flip": {"r": "-r"}}}]},
        parameters={"M": [[0.2537, 0.05374], [0.05374, 0.3324]]}, sizes={"d": 2}, step_size=0.4,
    )  # fmt: skip
    tree = model.sample(draws=4000, warmup=0, chains=4, seed=1, progress=False)
    assert np.abs(tree["posterior"]["theta"].to_numpy()).max() < 100.0

"""How far apart draws lie is what pilot chains tell, and a run makes of gradients what is expected of it."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import recipe_compiler as rc
from recipe_compiler.advise.acceptance import _paced
from recipe_compiler.advise.chosen import Pace
from recipe_compiler.advise.moments import LEAST, least_share
from recipe_compiler.advise.pilots import Moved, joined
from recipe_compiler.spec.model import RunSettings

SPECS = Path(__file__).parents[2] / "specs"
BUILD = f"""
name: correlated
dynamics: {SPECS}/dynamics/hmc.yaml
target: own.yaml
scheme: {{cycle: [{{refresh: r}}, {{metropolis: {{split: [B/2, A, B/2], steps: {{steps}}, flip: {{r: -r}}}}}}]}}
variant: full
bind: {{M: I}}
run: {{step_size: auto, seed: 2}}
"""
TARGET = """
name: own
state: {theta: {shape: 3}}
potential: 200*(theta[0] - theta[1])**2 + (theta[0] + theta[1])**2/8 + (theta[2] - theta[0])**2
"""


@pytest.mark.parametrize("rho", [0.3, 0.9, 0.99])
@pytest.mark.parametrize("thin", [1, 4])
def test_draws_lie_as_far_apart_as_a_quarter_of_them_counts(rho: float, thin: int) -> None:
    share = (1.0 - rho**thin) / (1.0 + rho**thin)
    paced, counts = _paced(thin, share, 1, 1000)
    assert counts == pytest.approx((1.0 - rho**paced) / (1.0 + rho**paced))
    assert counts >= LEAST - 1e-9
    assert paced == 1 or (1.0 - rho ** (paced - 1)) / (1.0 + rho ** (paced - 1)) < LEAST


def test_draws_that_forget_or_never_do_lie_as_near_or_far_as_they_may() -> None:
    assert _paced(4, 1.2, 2, 1000) == (2, pytest.approx(1.0, abs=1e-4))
    far, counts = _paced(4, 0.0, 2, 1000)
    assert far == 1000
    assert 0.0 < counts < 1e-3


def test_draws_twice_as_far_apart_keep_the_acceptance_of_all_moves() -> None:
    rng = np.random.default_rng(0)
    parts = [Moved(rng.standard_normal((2, n, 3)), (rng.random((2, n)), rng.random((2, n)))) for n in (4, 2)]
    whole = joined(parts)
    np.testing.assert_array_equal(whole.theta[:, 4:], parts[1].theta)
    half = whole.every_second
    np.testing.assert_array_equal(half.theta, whole.theta[:, [1, 3, 5]])
    assert [kind.mean() for kind in half.kinds] == pytest.approx([kind.mean() for kind in whole.kinds])


def test_a_line_says_what_a_run_takes() -> None:
    settings = RunSettings(step_size=0.1, draws=1000, warmup=50, thin=2, chains=4)
    pace = Pace(0.025, 10.0, 2e-6)
    predicted = "predicted: ESS per gradient 0.025; 84,000 gradients"
    assert pace.says(settings) == f"{predicted}, about 0.17 processor seconds, for an ESS of 2e+03 at least"
    assert replace(pace, seconds=None).says(settings) == f"{predicted}, for an ESS of 2e+03 at least"


@pytest.mark.slow
@pytest.mark.usefixtures("taken_for_granted", "without_reading_back", "interruptible")
@pytest.mark.parametrize("steps", ["3", '"uniform(1, 20)"'])
def test_a_run_makes_of_gradients_what_was_predicted(tmp_path: Path, steps: str) -> None:
    (tmp_path / "own.yaml").write_text(TARGET)
    (tmp_path / "correlated.yaml").write_text(BUILD.replace("{steps}", steps))
    fit = rc.compile(rc.load(str(tmp_path / "correlated.yaml"))).sample(progress=False)
    predicted, measured = (float(fit.attrs[f"ess_per_gradient{end}"]) for end in ("_predicted", ""))
    theta = fit["posterior"]["theta"].to_numpy()
    length = {"3": 3.0}.get(steps, 10.5)
    thin = int(fit.attrs["plan"].partition("thin: ")[2].partition(",")[0])
    assert measured == pytest.approx(least_share(theta) / (length * thin))
    assert predicted == pytest.approx(measured, rel=0.5)

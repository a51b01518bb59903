"""The forecast of a word with all data against long runs of it: sds, and how many draws are worth one.

SGHMC on a Gaussian with M, C and K that do not commute, by OBABO at a step of 0.9 of the largest: Cov theta is
inv(K - eps^2 K inv(M) K/4), exactly. Sds of 4 chains of 8000 draws are known within 1 % and effective sample sizes
within some 5 %; they must lie within 5 % and 25 %, so that false alarms are below 1e-4 for any seed, and none with the
seed fixed.
"""

import re
from dataclasses import replace

import numpy as np
import pytest
from answers import SPECS, document
from arviz_stats.base.array import array_stats
from reports import decided

from recipe_compiler.advise.forecast import Forecast, forecast
from recipe_compiler.advise.sampler import Sampler
from recipe_compiler.pipeline import compile_build
from recipe_compiler.run.data import Data
from recipe_compiler.run.load_module import Emitted, load_text
from recipe_compiler.run.sample import sample
from recipe_compiler.spec.model import Build

pytestmark = pytest.mark.usefixtures("without_reading_back")

BUILD = f"""
format: 1
name: langevin
dynamics: {SPECS}/dynamics/sghmc.yaml
target: {SPECS}/targets/gaussian.yaml
parameters:
  M: {{value: [[2, 1/2, 0], [1/2, 1, 1/4], [0, 1/4, 3/2]]}}
  C: {{value: [[1, 1/3, 1/4], [1/3, 2, -1/2], [1/4, -1/2, 3/2]]}}
  mu: {{value: [1, -2, 1/2]}}
  Sigma: {{value: [[2, 1/2, 1/3], [1/2, 1, -1/4], [1/3, -1/4, 3/2]]}}
scheme: {{name: obabo}}
variant: full
run: {{step_size: STEP, thin: 2, draws: 8000, warmup: 500, chains: 4, seed: 3}}
"""
THERMOSTAT = f"""
format: 1
name: thermostat
dynamics: {SPECS}/dynamics/sgnht.yaml
target: {SPECS}/targets/gaussian.yaml
parameters:
  A: {{value: 1}}
  mu: {{value: [1, -2, 1/2]}}
  Sigma: {{value: [[2, 1/2, 1/3], [1/2, 1, -1/4], [1/3, -1/4, 3/2]]}}
scheme: SCHEME
variant: full
run: {{step_size: 0.2, thin: 20, draws: 8000, warmup: 500, chains: 4, seed: 3}}
"""
SIGMA = np.array([[2, 1 / 2, 1 / 3], [1 / 2, 1, -1 / 4], [1 / 3, -1 / 4, 3 / 2]])
MASS = np.array([[2, 1 / 2, 0], [1 / 2, 1, 1 / 4], [0, 1 / 4, 3 / 2]])


Run = tuple[Build, Emitted, Forecast]


def forecast_of(build: Build, names: str = "abc") -> Run:
    """Return a build, its module and its forecast around the mode that is found from zero."""
    compiled = compile_build(build, decided(build, advisory=False))
    module = load_text(compiled.name, compiled.loaded)
    return build, module, forecast(replace(Sampler.of(build, compiled, module, Data(())), names=tuple(names)))


def kept(build: Build, module: Emitted) -> dict[str, np.ndarray]:
    """Return the draws of every block of a run after warm-up."""
    draws = sample(module, build, build.run, Data(()))
    return {name: draws.block(name)[:, draws.warmup :] for name in draws.blocks}


def ess(values: np.ndarray) -> float:
    return float(np.asarray(array_stats.ess(values, chain_axis=0, draw_axis=1, method="mean")))


@pytest.mark.slow
def test_a_long_run_is_as_wide_and_as_slow_as_forecast() -> None:
    K = np.linalg.inv(SIGMA)
    limit = 2.0 / np.sqrt(np.linalg.eigvals(np.linalg.inv(MASS) @ K).real.max())
    step = round(0.9 * limit, 3)
    build, module, found = forecast_of(document(BUILD.replace("STEP", str(step))))
    width = found.width
    assert width is not None, found.why_not
    exact = np.sqrt(np.diag(np.linalg.inv(K - step**2 * K @ np.linalg.inv(MASS) @ K / 4)))
    np.testing.assert_allclose(width.sds, exact, rtol=1e-6)
    assert width.widest > 1.2
    assert found.stable == pytest.approx(limit, rel=0.03)
    assert "by the forecast the posterior sd is" in found.doubts[0]
    theta = kept(build, module)["theta"]
    np.testing.assert_allclose(theta.reshape(-1, 3).std(axis=0), exact, rtol=0.05)
    away = theta - np.array([1.0, -2.0, 0.5])
    worth = [theta[..., 0].size / ess(values[..., k]) for k in range(3) for values in (away, away**2)]
    assert max(worth) == pytest.approx(width.draws, rel=0.25)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("scheme", "narrow"), [("{name: sequential_euler, order: [r, theta, xi]}", True), ("{name: badodab}", False)]
)
def test_a_thermostat_is_as_wide_as_forecast(scheme: str, narrow: bool) -> None:
    """Euler's step heats r, which xi answers by friction beyond A: theta comes out 5 % too narrow. BADODAB does not."""
    build, module, found = forecast_of(document(THERMOSTAT.replace("SCHEME", scheme)))
    width, blocks = found.width, kept(build, module)
    assert width is not None, found.why_not
    (held,) = re.findall(r"xi held at ([0-9.]+)", found.around)
    assert float(held) == pytest.approx(blocks["xi"].mean(), abs=0.03)
    assert (width.narrowest < 0.96) is narrow
    np.testing.assert_allclose(blocks["theta"].reshape(-1, 3).std(axis=0), width.sds, rtol=0.02)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("build", "names", "bends"), [("sghmc_correlated_plane", "ab", True), ("sghmc_gaussian", "abc", False)]
)
def test_a_mode_that_tells_no_sds_is_said_to(build: str, names: str, bends: bool) -> None:
    """At the mode of the correlated plane U is flat but for its fourth power: its curvature there has an sd of 70."""
    _, _, found = forecast_of(document(SPECS / f"builds/{build}.yaml"), names)
    assert found.bends is bends
    assert ("far from quadratic" in "".join(found.says)) is bends

"""The forecast of a chain with minibatches against long runs of it, on linear regression: V is quadratic in theta.

The posterior is Gaussian in closed form, its columns are correlated. Every sd of a run is that of 4 chains with an
effective sample size of 2000 or more (checked), so that it is known within 1.6 %; forecasts must lie within 10 % of it,
six standard errors: false alarms are below 1e-7 for any seed, and with the seeds fixed there are none from run to run.
"""

import re
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from answers import SPECS, document
from arviz_stats.base.array import array_stats

from recipe_compiler.advise.forecast import Forecast, forecast
from recipe_compiler.advise.linearized_chain import Width
from recipe_compiler.advise.sampler import Sampler
from recipe_compiler.advise.suggestions import Cure
from recipe_compiler.emit.module import Module
from recipe_compiler.pipeline import compile_build, estimate
from recipe_compiler.report.check import check
from recipe_compiler.run.data import Data, Field
from recipe_compiler.run.load_module import Emitted, load_text
from recipe_compiler.run.sample import sample
from recipe_compiler.spec.model import Build, RunSettings, Value

pytestmark = pytest.mark.usefixtures("without_reading_back")

ROWS, SIZE, NOISE, PRIOR = 400, 3, 0.5, 10.0

HEAD = f"""
format: 1
name: NAME
target: {SPECS}/targets/linear_regression.yaml
variant: minibatch
sizes: {{d: {SIZE}}}
data: {{file: {SPECS}/data/linear_regression.csv, x: [a, b, c], y: y}}
EXTRA
run: {{step_size: STEP, batch_size: 20, thin: THIN, draws: 3000, warmup: 500, chains: 4, seed: 7}}
"""

OWN = {
    "sgld": f"""
dynamics: {SPECS}/dynamics/sgld.yaml
bind: {{D: I}}
parameters: {{noise_variance: {{value: 1/2}}}}
scheme: {{name: euler}}
""",
    "sghmc": f"""
dynamics: {SPECS}/dynamics/sghmc.yaml
bind: {{M: m*I, C: c*I}}
parameters:
  m: {{is: positive, value: 1}}
  c: {{is: nonnegative, value: 20}}
  noise_variance: {{value: 1/2}}
scheme: {{name: sequential_euler, order: [r, theta]}}
""",
    "sgnht": f"""
dynamics: {SPECS}/dynamics/sgnht.yaml
parameters:
  A: {{value: 10}}
  noise_variance: {{value: 1/2}}
scheme: {{name: sequential_euler, order: [r, theta, xi]}}
""",
}
WORDS = ("baoab", "aboba")
OWN |= {
    name: OWN["sghmc"].replace("{name: sequential_euler, order: [r, theta]}", f"{{name: {name}}}") for name in WORDS
}
STEPS = {"sgld": ("0.0001", 100), "sghmc": ("0.001", 60), "sgnht": ("0.004", 60)}
STEPS |= dict.fromkeys(WORDS, STEPS["sghmc"])
EXTRAS = {"gradient_noise": "gradient_noise: {V: estimate}", "minibatch": "minibatch: {control_variates: mode}"}


def data() -> Data:
    """Return regression data whose columns are correlated, of unlike scales, with errors that are not Gaussian."""
    rng = np.random.default_rng(3)
    mix = np.array([[1.0, 0.8, 0.0], [0.0, 0.6, 0.5], [0.0, 0.0, 1.3]])
    x = rng.standard_normal((ROWS, SIZE)) @ mix
    y = x @ [1.0, -2.0, 0.5] + rng.laplace(scale=np.sqrt(NOISE / 2.0), size=ROWS)
    return Data((Field("x", x, ("a", "b", "c")), Field("y", y, ("y",))))


@dataclass(frozen=True, slots=True, eq=False)
class Compiled:
    build: Build
    compiled: Module
    module: Emitted


@cache
def compiled(name: str, extra: str = "") -> Compiled:
    """Return a build of this file, its module, and what it estimates first."""
    step, thin = STEPS[name]
    text = HEAD.replace("NAME", name).replace("EXTRA", EXTRAS.get(extra, "")).replace("STEP", step)
    build = document(text.replace("THIN", str(thin)) + OWN[name])
    report = check(build)
    module = compile_build(build, report)
    return Compiled(estimate(build, report, build.run, data()), module, load_text(module.name, module.loaded))


def told(one: Compiled, settings: RunSettings | None = None) -> Forecast:
    """Return the forecast of a run."""
    build = one.build if settings is None else replace(one.build, run=settings)
    return forecast(Sampler.of(build, one.compiled, one.module, data()))


@cache
def cures(name: str) -> tuple[Cure, ...]:
    """Return the cures that are told of a build as it stands."""
    return told(compiled(name)).cures


def width(found: Forecast) -> Width:
    assert found.width is not None, found.why_not
    return found.width


def sds(one: Compiled, settings: RunSettings | None = None) -> np.ndarray:
    """Return the sds of theta in a long run."""
    draws = sample(one.module, one.build, settings or one.build.run, data())
    assert not any(draws.diverging)
    theta = draws.block("theta")[:, draws.warmup :]
    for k in range(SIZE):
        assert float(np.asarray(array_stats.ess(theta[..., k], chain_axis=0, draw_axis=1, method="sd"))) > 2000
    return theta.reshape(-1, SIZE).std(axis=0)


def exact_sds() -> np.ndarray:
    """Return those of the posterior: precision X^T X/noise + I/prior."""
    x = data().fields[0].values
    return np.sqrt(np.diag(np.linalg.inv(x.T @ x / NOISE + np.eye(SIZE) / PRIOR)))


def near(found: Width, run: np.ndarray) -> None:
    np.testing.assert_allclose(found.sds, run, rtol=0.1)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["sgld", "sghmc", *WORDS])
def test_sds_of_a_long_run_are_those_of_the_forecast(name: str) -> None:
    one = compiled(name)
    found = width(told(one))
    assert found.widest > 1.3  # where the noise of the minibatch is no small matter
    np.testing.assert_allclose(np.divide(found.sds, found.factors), exact_sds(), rtol=1e-4)
    near(found, sds(one))


def cured(name: str, cure: Cure) -> tuple[Compiled, RunSettings]:
    """Return what a cure asks for: other settings, another value of a parameter, or another module."""
    if cure.setting in EXTRAS:
        one = compiled(name, cure.setting)
        return one, one.build.run
    one = compiled(name)
    run = one.build.run
    match cure.setting, cure.value:
        case "step_size", float(eps):
            return one, replace(run, step_size=eps, thin=round(run.thin * run.step_size / eps))
        case "batch_size", int(size):
            return one, replace(run, batch_size=size)
        case parameter, float(value):
            values = tuple((n, Value(((Fraction(value),),)) if n == parameter else v) for n, v in one.build.values)
            thin = round(run.thin * value / 20)
            return replace(one, build=replace(one.build, values=values)), replace(run, thin=thin)
        case _:
            raise AssertionError(cure)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "setting"),
    [
        ("sgld", "step_size"), ("sgld", "batch_size"), ("sgld", "minibatch"), ("sghmc", "step_size"),
        ("sghmc", "batch_size"), ("sghmc", "c"), ("sghmc", "gradient_noise"), ("sghmc", "minibatch"),
    ],
)  # fmt: skip
def test_every_cure_holds_what_it_promises(name: str, setting: str) -> None:
    cure = next(cure for cure in cures(name) if cure.setting == setting)
    one, settings = cured(name, cure)
    again = width(told(one, settings))
    run = sds(one, settings)
    near(cure.width, run)
    near(again, run)
    if setting in ("step_size", "batch_size", "c"):
        assert cure.width.widest <= 1.05


@pytest.mark.slow
def test_a_step_that_is_too_large_has_no_forecast_but_a_cure() -> None:
    one = compiled("sgld")
    found = told(one, replace(one.build.run, step_size=0.002))
    assert found.width is None
    assert "the step size is too large" in found.why_not
    assert [cure.setting for cure in found.cures][:1] == ["step_size"]


@pytest.mark.slow
def test_the_full_batch_has_the_width_of_its_step_size_alone() -> None:
    one = compiled("sgld")
    found = width(told(one, replace(one.build.run, batch_size=ROWS)))
    assert found.temperature == pytest.approx(1.0 + found.of_step, abs=1e-9)


@pytest.mark.slow
def test_a_thermostat_is_held_where_it_settles(monkeypatch: pytest.MonkeyPatch) -> None:
    """xi takes up the noise of the minibatch: it settles far above A, and theta has about its own width."""
    # each asks for such a forecast again
    monkeypatch.setattr("recipe_compiler.advise.forecast.cures_of", lambda *_, **__: ())
    one = compiled("sgnht")
    found = told(one)
    (held,) = re.findall(r"xi held at ([0-9.]+)", found.around)
    draws = sample(one.module, one.build, one.build.run, data())
    xi = draws.block("xi")[:, draws.warmup :].mean()
    assert xi > 15.0
    assert float(held) == pytest.approx(xi, rel=0.1)
    near(width(found), sds(one))


def test_a_step_that_hardly_moves_is_not_called_too_large() -> None:
    one = compiled("sgld")
    found = told(one, replace(one.build.run, step_size=1e-12))
    assert found.width is None
    assert "moves the chain too little" in found.why_not
    assert found.doubts == ()

"""Differential equations in a target: the order of every method, by its tableau and by the error it makes."""

from itertools import product
from math import exp, log, log2

import numpy as np
import pytest
from answers import document

from recipe_compiler.errors import DataError, RunError
from recipe_compiler.run.data import load_data
from recipe_compiler.run.evaluate import Point, evaluate
from recipe_compiler.run.observed import with_data
from recipe_compiler.run.predictive import _Drawer, predictive_of
from recipe_compiler.run.row_states import formulas_of_states
from recipe_compiler.spec.model import Build, Target
from recipe_compiler.spec.recursion import weights_of_stages
from recipe_compiler.spec.solve import METHODS

ORDERS = {"euler": 1, "midpoint": 2, "heun": 2, "ralston": 2, "rk4": 4}
GROWTH = """
state: {{r: {{}}}}
data: {{t: {{shape: N}}, y: {{shape: N}}}}
solve:
  z: {{start: 1/3, slope: r*z*(1 - z) + (z - t)*0}}
  q: {{start: 1, slope: -q*t}}
  times: t
  from: 1/2
  steps: {steps}
  method: {method}
log_likelihood: -(y - z - q)**2/2
"""


def of_order(a: tuple, b: tuple) -> int:
    """Return the order up to 4 of a tableau that stands next to the diagonal, by its eight conditions (Butcher)."""
    c, s = (0, *a), len(b)
    A = np.array([[a[i - 1] if j == i - 1 else 0 for j in range(s)] for i in range(s)], object)
    b, c = np.array(b, object), np.array(c, object)
    conditions = [
        [sum(b) == 1],
        [2 * b @ c == 1],
        [3 * b @ c**2 == 1, 6 * b @ A @ c == 1],
        [4 * b @ c**3 == 1, 8 * (b * c) @ A @ c == 1, 12 * b @ A @ c**2 == 1, 24 * b @ A @ A @ c == 1],
    ]
    return next((k for k, held in enumerate(conditions) if not all(held)), len(conditions))


def at_end(method: str, steps: int, rate: float, times: list[float]) -> dict[str, float]:
    """Return the solutions at the last of the times, by the states that a target makes of its equations."""
    target = document(GROWTH.format(method=method, steps=steps))
    assert isinstance(target, Target)
    at = {"r": np.array(rate)}
    states = {own.block.name: evaluate(own.start, Point(at, {})) for own in target.recursion}
    for t in times:
        for weights in weights_of_stages(target):
            given = {name: evaluate(number, Point({}, {})) for name, number in weights.items()}
            here = Point({**at, **states, **given, "t": np.array(t), "y": np.array(0.0)}, {})
            states |= {own.block.name: evaluate(own.next, here) for own in target.recursion if own.staged}
        states |= {own.block.name: np.array(t) for own in target.recursion if not own.staged}
    return {name: float(states[name].item()) for name in ("z", "q")}


@pytest.mark.parametrize("method", METHODS)
def test_a_method_has_its_order(method: str) -> None:
    order = ORDERS[method]
    assert METHODS[method][0] == of_order(*METHODS[method][1:]) == order
    times, rate, last = [0.8, 1.7], 1.5, 1.7
    exact = {"z": 1 / (1 + 2 * exp(-rate * (last - 0.5))), "q": exp((0.25 - last**2) / 2)}
    found = {steps: at_end(method, steps, rate, times) for steps in (8, 16)}
    for name, truth in exact.items():
        errors = [abs(found[steps][name] - truth) for steps in (8, 16)]
        assert errors[1] < 1e-2
        assert log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.35), (name, errors)


@pytest.mark.parametrize(("method", "steps"), [*product(METHODS, (1, 1000))])
def test_the_formulas_are_as_many_and_as_long_whatever_the_steps(method: str, steps: int) -> None:
    own = document(GROWTH.format(method=method, steps=steps))
    assert len(own.recursion) == 8
    assert {state.block.name for state in own.recursion if not state.staged} == {"t_before"}
    assert own.stages.steps == steps
    assert len(str(own.recursion)) < 20_000


OSCILLATOR = """
state: {{k: {{constraint: positive}}, w: {{}}}}
data: {{t: {{shape: N}}, m: {{shape: N}}, y: {{shape: [N, 2]}}, n: {{shape: N}}}}
solve:
  z: {{shape: 2, start: "[1, k]", slope: "[-k*z[0] - w*z[1], w*z[0] - k*z[1]]"}}
  times: t
  from: 0
  steps: 3
  method: rk4
{recursion}
log_prior: exponential(k, 1) + normal(w, 0, 1)
log_likelihood: {likelihood}
"""
BUILD = """
dynamics: sgld
target: target.yaml
bind: {D: I}
scheme: {name: euler}
variant: full
data: {file: data.csv, t: t, m: m, y: [a, b], n: n}
run: {step_size: 0.01}
"""
ROWS = "0.25,9,0,0,0\n0.75,40,0,0,0\n0.75,25,0,0,0\n1.5,30,0,0,0\n"
LIKELIHOOD = "normal(y, z, 1/10) + beta_binomial(n, m, exp(z[0]), 2)"


def oscillator(likelihood: str = LIKELIHOOD, recursion: str = "", rows: str = ROWS) -> Build:
    target = OSCILLATOR.format(likelihood=likelihood, recursion=recursion)
    return document(BUILD, target=target, **{"data.csv": f"t,m,a,b,n\n{rows}"})


def test_data_are_drawn_around_the_solutions() -> None:
    """At every row and draw z is exp((-k + iw) t)(1 + ik); a beta-binomial beside it has its closed mean, variance."""
    build = oscillator()
    drawer = _Drawer(build, load_data(build.data, build.target), {"N": 4}, {})
    rng = np.random.default_rng(5)
    states = {"k": np.repeat([[0.4], [0.9]], 4000, axis=1), "w": np.repeat([[1.5], [-0.5]], 4000, axis=1)}
    made = drawer.data_at(states, predictive_of(build.target), [rng, rng])
    t, m = np.array([0.25, 0.75, 0.75, 1.5]), np.array([9, 40, 25, 30])
    for chain, (k, w) in enumerate([(0.4, 1.5), (0.9, -0.5)]):
        z = np.exp((-k + 1j * w) * t) * (1 + 1j * k)
        apart = (made["y"][chain] - np.stack([z.real, z.imag], axis=-1)) * 10
        assert abs(apart.mean(axis=0)).max() < 5 / np.sqrt(4000) + 1e-3
        assert abs(apart.std(axis=0) - 1).max() < 0.06
        a, n = np.exp(z.real), made["n"][chain]
        p, variance = a / (a + 2), m * a * 2 * (a + 2 + m) / ((a + 2) ** 2 * (a + 3))
        assert (abs(n.mean(axis=0) - m * p) < 5 * np.sqrt(variance / 4000)).all()
        assert np.allclose(n.var(axis=0), variance, rtol=0.1)


def test_states_that_read_what_would_be_drawn_are_not_drawn_from() -> None:
    """A recursion of fields that are given, m here, is; one of y is not."""
    given = oscillator("normal(n, e + z[0], 1)", "recursion: {e: {start: 0, next: e/2 + log(1 + m**2)}}")
    drawer = _Drawer(given, load_data(given.data, given.target), {"N": 4}, {})
    states = {"k": np.full((1, 2), 0.4), "w": np.full((1, 2), 1.5)}
    made = drawer.data_at(states, predictive_of(given.target), [np.random.default_rng(5)])["n"][0]
    passed, e = list[float](), 0.0
    for m in (9, 40, 25, 30):
        passed.append(e)
        e = e / 2 + log(1 + m**2)
    assert abs(made - passed).max() < 7
    assert np.ptp(passed) > 8
    assert formulas_of_states(given.target, 4) == 4 * (12 * 3 + 2)
    read = oscillator("normal(n, e + z[0], 1)", "recursion: {e: {start: 0, next: e/2 + n}}")
    with pytest.raises(RunError, match="found a recursion that reads n: the log likelihood of a row depends"):
        predictive_of(read.target)


@pytest.mark.parametrize(
    ("times", "said"),
    [
        ("-1,9", r"found t = -1 in row 1, expected t >= 0, as `from: 0` of `solve` says"),
        ("2.5,9\n0.25,9", r"row 2 .*, column `t`: found 0.25, expected numbers that do not decrease for `t`"),
    ],
)
def test_times_before_the_start_or_the_row_before_are_refused(times: str, said: str) -> None:
    with pytest.raises(DataError, match=said):
        with_data(oscillator(rows=f"{times},0,0,0\n".replace("9\n", "9,0,0,0\n")))

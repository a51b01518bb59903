"""Differential equations in a target: the order of every method, by its tableau and by the error it makes."""

from itertools import product
from math import exp, log2

import numpy as np
import pytest
from answers import document

from recipe_compiler.run.evaluate import Point, evaluate
from recipe_compiler.spec.model import Target
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
    assert of_order(*METHODS[method]) == order
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

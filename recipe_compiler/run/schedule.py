"""Step sizes that fall along a chain: eps at every draw, and the weight that a draw then has.

`eps` stays what it is for the `thin` steps between two draws, so that a step is what was verified and read back: a
function of one eps. With t the steps before a draw begins,

    constant    eps
    power       eps (1 + t/b)**-c                                (Welling and Teh 2011)
    cyclic      eps (1 + cos(pi (t mod period)/period))/2        (Zhang, Li, Zhang, Chen, Wilson 2020)

Draws are weighted by eps: the weight of a draw is the time that its steps took (Teh, Thiery, Vollmer 2016).
"""

import math
from collections.abc import Callable

import numpy as np

from recipe_compiler.formula.arrays import Array
from recipe_compiler.spec.model import RunSettings


def step_of(settings: RunSettings) -> Callable[[int], float] | None:
    """Return the step size eps_k of a draw k, warmup included; None where all draws have the same.

    With t = k thin: eps (1 + t/b)**-c for `power` (Welling and Teh 2011), eps (1 + cos(pi (t mod period)/period))/2 for
    `cyclic`.
    """
    eps, thin, schedule = settings.eps, settings.thin, settings.schedule
    b, c, period = schedule.b, schedule.c, schedule.period
    match schedule.name:
        case "power":
            return lambda draw: eps * (1.0 + draw * thin / b) ** -c
        case "cyclic":
            return lambda draw: eps * (1.0 + math.cos(math.pi * (draw * thin % period) / period)) / 2.0
        case _:
            return None


def weights(settings: RunSettings, draws: int) -> Array | None:
    """Return the step sizes of the first draws of a chain, their weights in averages; None where all are the same."""
    step = step_of(settings)
    return None if step is None else np.array([step(draw) for draw in range(draws)])


def shown(settings: RunSettings) -> str:
    """Return the schedule in words."""
    schedule = settings.schedule
    match schedule.name:
        case "power":
            return f"{settings.eps} (1 + t/{schedule.b:g})**-{schedule.c:g}"
        case "cyclic":
            return f"{settings.eps} (1 + cos(pi (t mod {schedule.period})/{schedule.period}))/2"
        case _:
            return str(settings.eps)

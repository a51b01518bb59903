"""A thermostat of a run: held where it settles (`audit/thermostat.py`), the rest made linear at the mode."""

from functools import cache

import numpy as np
from numpy.typing import NDArray

from recipe_compiler.advise.linear_step import LinearStep, StepAtMode
from recipe_compiler.audit.thermostat import SHARPNESS, settles_at, thermostats

Array = NDArray[np.float64]


def settled(step: StepAtMode, share: float, noise: str, sharpness: float = SHARPNESS) -> tuple[StepAtMode, LinearStep]:
    """Return a step with its thermostat held at the x with E[xi' - xi] = 0, and that step made linear.

    The mean is over the law that the rest has with xi held at x. Each trial x needs one step made linear; `sharpness`
    is the relative error allowed in x, `share` and `noise` are what `StepAtMode.linear` takes.

    Raises:
        ValueError: no chain stays near the mode; says why.
    """
    names = thermostats(step.step.compiled.program)
    if not names:
        return step, step.linear(share, noise)
    if sum(step.step.place(name).stop - step.step.place(name).start for name in names) > 1:
        raise ValueError(f"{', '.join(names)} are more than one thermostat")
    (name,) = names

    @cache
    def at(x: float) -> tuple[StepAtMode, LinearStep]:
        held = step.holding(name, np.array([x]))
        return held, held.linear(share, noise)

    return at(settles_at(lambda x: _mean_change(*at(x)), name, sharpness))


def _mean_change(at: StepAtMode, found: LinearStep) -> float:
    """Return E[xi' - xi] over the law of the rest, its normals and its batches, exactly where it is quadratic in them.

    Over a Gaussian of k coordinates: the mean over the 2k points +- sqrt(k) L_j.
    """
    step = at.step
    n, m = step.width, step.width + step.normals
    k = m + len(found.of_gradient)
    L = np.zeros((k, k))
    L[:n, :n], L[n:m, n:m], L[m:, m:] = _root(found.chain), np.eye(m - n), _root(found.of_gradient)

    def held(point: Array) -> float:
        return float(step.held_after(found.z + point[:n], at.shift + point[m:], point[n:m])[0])

    total = sum(held(sign * np.sqrt(k) * one) for one in L.T for sign in (1.0, -1.0)) / (2 * k)
    return total - float(step.held[0][1][0])


def _root(S: Array) -> Array:
    values, vectors = np.linalg.eigh(S)
    return vectors * np.sqrt(np.maximum(values, 0.0))

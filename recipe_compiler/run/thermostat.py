"""A thermostat of a run: held where it settles (`audit/thermostat.py`), the rest made linear at the mode."""

from functools import cache

import numpy as np
from numpy.typing import NDArray

from recipe_compiler.audit.thermostat import SHARPNESS, settles_at, thermostats
from recipe_compiler.audit.thermostat import with_thermostats_held as program_held
from recipe_compiler.emit.module import Module, emit_module
from recipe_compiler.program.loop_passes import schedule
from recipe_compiler.program.lower import lower
from recipe_compiler.run.linear_step import Batches, LinearStep, Slope, linear_step
from recipe_compiler.run.one_step import OneStep

Array = NDArray[np.float64]

ROWS = 4_000
"""Batches of one row that are looked at for what the noise of the gradient does to a thermostat."""


def with_thermostats_held(module: Module) -> Module:
    """Return a module whose other blocks read a thermostat as it was when the step began; or the same module."""
    held = program_held(module.program)
    if held is module.program:
        return module
    return emit_module(module.name, held, schedule(held, lower(held)), "A thermostat held.", "")


def settled(
    step: OneStep, slope: Slope, theta: Array, batches: Batches, sharpness: float = SHARPNESS
) -> tuple[OneStep, LinearStep]:
    """Return a step with its thermostat held at the x with E[xi' - xi] = 0, and that step made linear.

    The mean is over the law that the rest has with xi held at x. Each trial x needs one step made linear; `sharpness`
    is the relative error allowed in x.

    Raises:
        ValueError: no chain stays near the mode; says why.
    """
    names = thermostats(step.compiled.program)
    if not names:
        return step, linear_step(step, slope, theta, batches)
    if sum(step.place(name).stop - step.place(name).start for name in names) > 1:
        raise ValueError(f"{', '.join(names)} are more than one thermostat")
    (name,) = names

    @cache
    def at(x: float) -> tuple[OneStep, LinearStep]:
        held = step.holding(name, np.array([x]))
        return held, linear_step(held, slope, theta, batches)

    return at(settles_at(lambda x: _mean_change(*at(x), batches), name, sharpness))


def _mean_change(step: OneStep, found: LinearStep, batches: Batches) -> float:
    """Return E[xi' - xi] over the law of the rest, its normals and its batches, exactly where it is quadratic in them.

    Over a Gaussian of k coordinates: the mean over the 2k points +- sqrt(k) L_j. A batch of n rows has the variance of
    a row times what `Batches.share` says, and so has its part of a mean that is quadratic.
    """
    every = batches.every
    values, vectors = np.linalg.eigh(found.chain)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    k = step.width + step.normals
    moved = np.zeros((k, k))
    moved[: step.width, : step.width], moved[step.width :, step.width :] = root.T, np.eye(step.normals)

    def held(point: Array, rows: NDArray[np.uint64]) -> float:
        return float(step.held_after(found.z + point[: step.width], rows, point[step.width :])[0])

    total = sum(held(sign * np.sqrt(k) * one, every) for one in moved for sign in (1.0, -1.0)) / (2 * k)
    start = float(step.held[0][1][0])
    if batches.share == 0.0 or batches.noise != "as it is":
        return total - start
    quiet = np.zeros(k)
    rows = np.random.default_rng(0).permutation(every.size)[:ROWS]
    of_rows = float(np.mean([held(quiet, every[row : row + 1]) for row in rows]))
    return total - start + batches.share * (of_rows - held(quiet, every))

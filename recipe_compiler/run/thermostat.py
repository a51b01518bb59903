"""A thermostat made linear: its friction xi is held where it settles, the rest of the step is linear at the mode.

xi' = xi + eps g(r) moves until E g = 0 under the law of the rest, which depends on xi: with xi held at x the rest of a
step has the covariance S(x), and x solves E[xi' - xi; S(x)] = 0. So a step that heats r, or the noise of a minibatch,
is answered by more friction, as in the chain (Ding and others 2014); that xi itself fluctuates is left out.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from recipe_compiler.emit.module import Module, emit_module
from recipe_compiler.formula.declaration import Declarations
from recipe_compiler.program.atoms import names_of, replace_atoms
from recipe_compiler.program.lower import lower
from recipe_compiler.program.program import Noise, Program, Shift, Statement
from recipe_compiler.program.schedule import schedule
from recipe_compiler.run.linear_step import Batches, LinearStep, Slope, linear_step
from recipe_compiler.run.one_step import OneStep
from recipe_compiler.splitting.degree import degree
from recipe_compiler.tensor.terms import Atom, Coordinate

Array = NDArray[np.float64]

SHARPNESS = 1e-5
"""The relative error of the value at which a thermostat is held."""

ROWS = 4_000
"""Batches of one row that are looked at for what the noise of the gradient does to a thermostat."""

FARTHEST = 2.0**20
"""The largest and the inverse of the smallest value that is looked for."""


def thermostats(program: Program) -> tuple[str, ...]:
    """Return the blocks that move without noise, by what is not linear in others and does not depend on themselves."""
    values = {shift.new for shift in program.shifts} | {block.name for block in program.blocks}
    declared = Declarations(program.blocks, program.parameters, (), program.data)
    found: list[str] = []
    for block in program.blocks:
        shifts = [shift for shift in program.shifts if shift.block == block]
        own = {block.name, *(shift.new for shift in shifts)}
        rates = [shift.rate for shift in shifts]
        apart = all(not shift.noise for shift in shifts) and all(own.isdisjoint(names_of(rate)) for rate in rates)
        degrees = [degree(rate, frozenset(values), declared) for rate in rates]
        if apart and rates and all(n is None or n > 1 for n in degrees):
            found.append(block.name)
    return tuple(found)


def with_thermostats_held(module: Module) -> Module:
    """Return a module whose other blocks read a thermostat where it stood when the step began; the same one if all do.

    With it held a step is then linear where the flows of its pieces are, and changes the thermostat by what is
    quadratic.
    """
    program = module.program
    old = {s.new: s.block.name for s in program.shifts if s.block.name in thermostats(program)}

    def rule(atom: Atom) -> Atom:
        if isinstance(atom, Coordinate) and atom.block in old:
            return replace(atom, block=old[atom.block])
        return atom

    def read(statement: Statement) -> Statement:
        match statement:
            case Shift(block=block) if block.name not in old.values():
                return replace(statement, rate=replace_atoms(statement.rate, rule))
            case Noise():
                return statement.mapped(lambda tensor: replace_atoms(tensor, rule))
            case _:
                return statement

    statements = tuple(map(read, program.statements))
    if statements == program.statements:
        return module
    held = replace(program, statements=statements)
    return emit_module(module.name, held, schedule(held, lower(held)), "A thermostat held.", "")


def settled(step: OneStep, slope: Slope, theta: Array, batches: Batches) -> tuple[OneStep, LinearStep]:
    """Return a step, its thermostat held where it settles, and what it is when it is made linear.

    Raises:
        ValueError: no chain stays near the mode; says why.
    """
    names = thermostats(step.compiled.program)
    if not names:
        return step, linear_step(step, slope, theta, batches)
    if sum(step.place(name).stop - step.place(name).start for name in names) > 1:
        raise ValueError(f"{', '.join(names)} are more than one thermostat")
    (name,) = names

    def at(x: float) -> tuple[OneStep, LinearStep]:
        held = step.holding(name, np.array([x]))
        return held, linear_step(held, slope, theta, batches)

    return at(_root(lambda x: _mean_change(*at(x), batches), name))


def _root(change: Callable[[float], float], name: str) -> float:
    """Return where the mean change of a thermostat, which falls with it, is zero. Raises ValueError for nowhere."""
    from scipy.optimize import brentq

    trouble: list[ValueError] = []

    def bounded(x: float) -> float:
        try:
            return float(np.clip(change(x), -1.0, 1.0))
        except ValueError as why:  # the rest of the step has no law at x: with more friction it may have
            trouble.append(why)
            return 1.0

    low = high = 1.0
    while not bounded(high) < 0.0:
        low, high = high, 2.0 * high
        if high > FARTHEST:
            raise trouble[-1] if trouble else ValueError(f"{name} settles nowhere: no friction is enough")
    while low == high or not bounded(low) > 0.0:
        low, high = low / 2.0, low
        if low * FARTHEST < 1.0:
            raise ValueError(f"{name} settles nowhere: there is too much friction without it")
    return float(cast("float", cast("Any", brentq)(bounded, low, high, rtol=SHARPNESS)))


def _mean_change(step: OneStep, found: LinearStep, batches: Batches) -> float:
    """Return E[xi' - xi] over the law of the rest, its normals and its batches, exactly where it is quadratic in them.

    Over a Gaussian of k coordinates: the mean over the 2k points +- sqrt(k) L_j. A batch of n rows has the variance of
    a row times what `Batches.share` says, and so has its part of a mean that is quadratic.
    """
    every = np.arange(batches.rows, dtype=np.uint64)
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
    rows = np.random.default_rng(0).permutation(batches.rows)[:ROWS]
    of_rows = float(np.mean([held(quiet, every[row : row + 1]) for row in rows]))
    return total - start + batches.share * (of_rows - held(quiet, every))

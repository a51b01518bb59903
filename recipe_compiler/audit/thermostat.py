"""A thermostat held: a block whose change is quadratic in others stands where it would stay on average.

xi' = xi + eps g(r) moves until E g = 0 under the law of the rest, which depends on xi: with xi held at x the rest of a
step has the covariance S(x), and x solves E[xi' - xi; S(x)] = 0. So a step that heats r, or the noise of a minibatch,
is answered by more friction, as in the chain (Ding and others 2014); that xi itself fluctuates is left out.

Worked example: SGNHT with g = r.T r/d - 1 and gradient noise of covariance v I: r has the friction x and the noise 2A +
eps v, so that E r_i**2 = (2A + eps v)/(2 x) to first order, which is 1 at x = A + eps v/2.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import cache

import numpy as np

from recipe_compiler import limits
from recipe_compiler.audit.figures import NoLawError
from recipe_compiler.formula.declaration import Declarations
from recipe_compiler.program.atoms import names_of, replace_atoms
from recipe_compiler.program.program import Noise, Program, Shift, Statement
from recipe_compiler.program.rebuild import with_tensors
from recipe_compiler.splitting.flow import find_degree
from recipe_compiler.tensor.terms import Atom, Coordinate

SHARPNESS = 1e-5
"""The relative error of the value at which a thermostat is held."""

FARTHEST = 2.0**20
"""The largest and the inverse of the smallest value that is looked for."""


def thermostats(program: Program) -> tuple[str, ...]:
    """Return the blocks that move without noise, by rates nonlinear in other blocks and free of the block itself.

    The target's block is not counted: held, it would settle nothing.
    """
    gradient = program.full_gradient or program.gradient
    target = None if gradient is None else gradient.block.name
    values = {shift.new for shift in program.shifts} | {block.name for block in program.blocks}
    declared = Declarations(program.blocks, program.parameters, (), program.data)
    found: list[str] = []
    for block in program.blocks:
        shifts = [shift for shift in program.shifts if shift.block == block]
        own = {block.name, *(shift.new for shift in shifts)}
        rates = [shift.rate for shift in shifts]
        apart = all(not shift.noise for shift in shifts) and all(own.isdisjoint(names_of(rate)) for rate in rates)
        degrees = (find_degree(rate, frozenset(values), declared) for rate in rates)
        if block.name != target and apart and rates and all(n is None or n > 1 for n in degrees):
            found.append(block.name)
    return tuple(found)


def with_thermostats_held(program: Program) -> Program:
    """Return a program in which the other blocks read a thermostat at its old value.

    The same program if all do already. With the thermostat held, a step is linear if the flows of its pieces are, and
    the change of the thermostat is quadratic.
    """
    held = thermostats(program)
    old = {s.new: s.block.name for s in program.shifts if s.block.name in held}

    def rule(atom: Atom) -> Atom:
        if isinstance(atom, Coordinate) and atom.block in old:
            return replace(atom, block=old[atom.block])
        return atom

    def read(statement: Statement) -> Statement:
        match statement:
            case Shift(block=block) if block.name not in old.values():
                return replace(statement, rate=replace_atoms(statement.rate, rule))
            case Noise():
                return with_tensors(statement, lambda tensor: replace_atoms(tensor, rule))
            case _:
                return statement

    statements = tuple(map(read, program.statements))
    return program if statements == program.statements else replace(program, statements=statements)


def settles_at(change: Callable[[float], float], name: str, sharpness: float = SHARPNESS) -> float:
    """Return the scalar x at which the mean change E[xi' - xi; S(x)] of a thermostat, which falls with x, is zero.

    It is how the thermostat answers heat in the chain, on average (Ding and others 2014).

    Args:
        change: E[xi' - xi] by the value at which it is held; NoLawError, or ValueError, where the rest has no law.
        name: of the block.
        sharpness: the relative error of the answer.

    Raises:
        NoLawError: it settles nowhere; or why the rest has no law.
    """
    trouble: list[ValueError] = []

    @cache
    def bounded(x: float) -> float:
        try:
            return float(np.clip(change(x), -1.0, 1.0))
        except ValueError as why:  # the rest of the step has no law at x: with more friction it may have
            trouble.append(why)
            return 1.0

    low = high = 1.0
    while not bounded(high) < 0.0:
        low, high = high, 2.0 * high
        if high > FARTHEST or len(trouble) > limits.CASES:
            raise trouble[-1] if trouble else NoLawError(f"{name} has no mean value: no friction is enough")
    while low == high or not bounded(low) > 0.0:
        low, high = low / 2.0, low
        if low * FARTHEST < 1.0:
            raise NoLawError(f"{name} has no mean value: there is too much friction without it")
    return 1.0 / _find_root(lambda u: bounded(1.0 / u), 1.0 / high, 1.0 / low, sharpness)


def _find_root(f: Callable[[float], float], a: float, b: float, sharpness: float) -> float:
    """Return a zero of f between two places where its signs differ, by false position (Illinois).

    It is asked as seldom as may be: f of 1/x is nearly linear, heat over friction. Returned is where f was asked last.
    """
    f_a, f_b, last = f(a), f(b), b
    for _ in range(limits.CANDIDATES):
        x = (a * f_b - b * f_a) / (f_b - f_a)
        f_x = f(x)
        if f_x == 0.0 or abs(x - last) <= sharpness * abs(x):
            return x
        if (f_x > 0.0) == (f_b > 0.0):
            f_a /= 2.0
        else:
            a, f_a = b, f_b
        b, f_b, last = x, f_x, x
    return last

"""What a step multiplies forces by, B = A A^T, d x d, and how steps go over a bulk by it.

The frequencies of a step are the roots of the eigenvalues of A^T Hess U A. Where the dynamics have one B at every state
it is what a mass or a preconditioner is matched to; else it is B(theta), by their formulas. Where theta has noise of
its own, d theta = -D grad U dt + ..., that is D of its block. Where other blocks move it, of quadratic H, d theta =
-Q_b (d^2 H/d b^2) b dt and d b = Q_b^T grad U dt + ..., so that it is the sum over them of

    Q_b (d^2 H/d b^2) Q_b^T
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from recipe_compiler.advise.roles import Open, ParameterRole
from recipe_compiler.formula.declaration import Block
from recipe_compiler.formula.expression import Formula
from recipe_compiler.formula.rebuild import is_zero
from recipe_compiler.formula.substitute import substitute
from recipe_compiler.run.evaluate import Point, evaluate, extents
from recipe_compiler.run.sizes import potential_block
from recipe_compiler.spec.bind import bind
from recipe_compiler.spec.formulas import dependence
from recipe_compiler.spec.model import Build, Dynamics

Array = NDArray[np.float64]

LOOKED_AT = 40
"""Draws at which B(theta) is taken for what it is in the mean, at least."""


@dataclass(frozen=True, slots=True, eq=False)
class Pace:
    """How a step goes over a bulk."""

    root: Callable[[Array], Array]
    """A of B, at a state."""
    time: float
    """One time of the bulk."""
    unit: float
    """What multiplies a curvature of A^T Hess U A, for it to be one in units of a Gaussian as wide as the bulk."""
    by_root: bool
    """Whether the longest stable step falls as the root of the curvature: not where noise of its own moves theta."""


Metric = Callable[[Array, Array], Pace]
"""How a step goes over a bulk: of draws of it, draws x coordinates, and its covariance S, d x d."""


def matched_metric(open_ones: tuple[Open, ...]) -> Metric:
    """Return B that is the same everywhere, matched to the bulk as the parameters are that a plan chooses.

    A momentum's longest stable step falls as the square root of the curvature, that of theta alone as the curvature.
    Where the mass is stated, forces are taken as they are.
    """
    roles = {one.role: one for one in open_ones}

    def over(draws: Array, S: Array) -> Pace:
        del draws
        if ParameterRole.MASS in roles:
            return _steady(_root(S), 1.0, by_root=True)
        values, plain = np.linalg.eigvalsh(S), np.eye(len(S))
        least, widest = float(values[0]), float(values[-1])
        if ParameterRole.PRECONDITIONER not in roles:
            return _steady(plain, math.sqrt(widest), by_root=True)
        if roles[ParameterRole.PRECONDITIONER].is_matrix:
            return _steady(_root(S), 1.0, by_root=False)
        return _steady(math.sqrt(least) * plain, widest / least, by_root=False)

    return over


def _steady(A: Array, time: float, *, by_root: bool) -> Pace:
    return Pace(lambda _: A, time, 1.0, by_root)


def _state_metric(at: Callable[[Array], Array], *, by_root: bool) -> Metric:
    """Return B(theta), d x d, to which no constant parameter is matched; over a bulk, its mean."""

    def over(draws: Array, S: Array) -> Pace:
        typical = np.mean([at(theta) for theta in draws[:: max(1, len(draws) // LOOKED_AT)]], axis=0)
        widest = float(np.max(np.linalg.eigvals(np.linalg.solve(typical, S)).real))
        return Pace(lambda theta: _root(at(theta)), math.sqrt(widest) if by_root else widest, widest, by_root)

    return over


def _root(B: Array) -> Array:
    values, vectors = np.linalg.eigh(B)
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))


def metric_of(build: Build, known: Point, open_ones: tuple[Open, ...]) -> Metric:
    """Return what steps of a build multiply forces by.

    Args:
        build: whose dynamics it is of.
        known: the values of its parameters, in the shapes that formulas use, and sizes.
        open_ones: the parameters that a plan chooses.
    """
    if not depends_on_theta(build):
        return matched_metric(open_ones)
    dynamics, place, bound = build.dynamics, _place(build), dict(build.bind)
    blocks, own = dynamics.declarations.blocks, dynamics.declarations.blocks[place]
    rest = _with_zeros(dynamics, known)
    noise = None if dynamics.D is None else dynamics.D[place][place]
    if noise is not None and not is_zero(noise):
        D = substitute(noise, bound)
        return _state_metric(lambda theta: _matrix(D, _with(rest, own, theta), theta.size), by_root=False)
    row = () if dynamics.Q is None else dynamics.Q[place]
    movers = [(b, substitute(Q, bound)) for b, Q in zip(blocks, row, strict=True) if b != own and not is_zero(Q)]
    H = substitute(dynamics.H, bound)
    return _state_metric(lambda theta: _of_movers(movers, H, _with(rest, own, theta), theta.size), by_root=True)


def depends_on_theta(build: Build) -> bool:
    """Whether what a step multiplies forces by depends on where it is."""
    dynamics, own = bind(build), _place(build)
    rows = [matrix[own] for matrix in (dynamics.D, dynamics.Q) if matrix is not None]
    return any(potential_block(build) in dependence(entry).blocks for row in rows for entry in row)


def _place(build: Build) -> int:
    return [block.name for block in build.dynamics.declarations.blocks].index(potential_block(build))


def _with_zeros(dynamics: Dynamics, known: Point) -> Point:
    """Return the values of names where blocks and functions are zero."""
    declared = dynamics.declarations
    zeros = {item.name: np.zeros(extents(item.shape, known.sizes)) for item in (*declared.functions, *declared.blocks)}
    return replace(known, names={**zeros, **known.names})


def _with(at: Point, block: Block, values: Array) -> Point:
    return replace(at, names={**at.names, block.name: values.reshape(extents(block.shape, at.sizes))})


def _matrix(formula: Formula, at: Point, rows: int) -> Array:
    return evaluate(formula, at).reshape(rows, -1)


def _of_movers(movers: Sequence[tuple[Block, Formula]], H: Formula, at: Point, width: int) -> Array:
    """Return the sum of Q_b (d^2 H/d b^2) Q_b^T over the blocks that move theta, each with its Q_b."""
    B = np.zeros((width, width))
    for block, entry in movers:
        Q = _matrix(entry, at, width)
        B += Q @ _curvature(H, block, at) @ Q.T
    return B


def _curvature(H: Formula, block: Block, at: Point) -> Array:
    """Return d^2 H/d b^2 of a block that H is quadratic in.

    By values of H, which tell it exactly there: H(e_i + e_j) - H(e_i) - H(e_j) + H(0) for unit vectors e_i. What index
    calculus derives becomes numbers through SymPy alone, at every state anew.
    """
    unit = np.eye(math.prod(extents(block.shape, at.sizes)))

    def energy(b: Array) -> float:
        return float(evaluate(H, _with(at, block, b)))

    none, ones = energy(np.zeros(len(unit))), [energy(e) for e in unit]
    return np.array(
        [
            [energy(e + f) - one - other + none for f, other in zip(unit, ones, strict=True)]
            for e, one in zip(unit, ones, strict=True)
        ]
    )

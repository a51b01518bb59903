"""What a step multiplies forces by, B = A A^T, d x d, and how steps go over a bulk by it.

The frequencies of a step are the roots of the eigenvalues of A^T Hess U A. Where the dynamics have one B at every state
it is what a mass or a preconditioner is matched to; else it is B(theta), by their formulas. Where theta has noise of
its own, d theta = -D grad U dt + ..., that is D of its block. Where other blocks move it, of quadratic H, d theta =
-Q_b (d^2 H/d b^2) b dt and d b = Q_b^T grad U dt + ..., so that it is the sum over them of

    Q_b (d^2 H/d b^2) Q_b^T
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from recipe_compiler.advise.roles import Open, ParameterRole
from recipe_compiler.formula.arrays import Array
from recipe_compiler.formula.declaration import Block
from recipe_compiler.formula.expression import Formula
from recipe_compiler.formula.rebuild import is_zero
from recipe_compiler.run.evaluate import Point, evaluate, extents
from recipe_compiler.run.sizes import potential_block
from recipe_compiler.spec.bind import bind
from recipe_compiler.spec.formulas import dependence
from recipe_compiler.spec.model import Build

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
    own = None if ParameterRole.MASS in roles else roles.get(ParameterRole.PRECONDITIONER)

    def over(draws: Array, S: Array) -> Pace:
        del draws
        plain = ParameterRole.MASS not in roles and (own is None or not own.is_matrix)
        B = np.eye(len(S)) * (1.0 if own is None else np.linalg.eigvalsh(S)[0]) if plain else S
        A = _root(B)
        return replace(_pace(lambda _: A, B, S, by_root=own is None), unit=1.0)

    return over


def _pace(root: Callable[[Array], Array], B: Array, S: Array, *, by_root: bool) -> Pace:
    """Return how a step goes over a bulk of covariance S, B being what it multiplies forces by in the mean."""
    widest = float(f"{np.max(np.linalg.eigvals(np.linalg.solve(B, S)).real):.6g}")
    return Pace(root, math.sqrt(widest) if by_root else widest, widest, by_root)


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
    dynamics, name = bind(build), potential_block(build)
    declared = dynamics.declarations
    place = [block.name for block in declared.blocks].index(name)
    own, H = declared.blocks[place], dynamics.H
    D, Q = (() if matrix is None else matrix[place] for matrix in (dynamics.D, dynamics.Q))
    if not any(name in dependence(entry).blocks for entry in (*D, *Q)):
        return matched_metric(open_ones)
    zeros = {item.name: np.zeros(extents(item.shape, known.sizes)) for item in (*declared.functions, *declared.blocks)}
    rest = replace(known, names={**zeros, **known.names})
    by_root = not D or is_zero(D[place])

    def B(theta: Array) -> Array:
        at = _with(rest, own, theta)
        if not by_root:
            return evaluate(D[place], at).reshape(theta.size, -1)
        total = np.zeros((theta.size, theta.size))
        for block, entry in zip(declared.blocks, Q, strict=True):
            if block != own and not is_zero(entry):
                Q_b = evaluate(entry, at).reshape(theta.size, -1)
                total += Q_b @ _curvature(H, block, at) @ Q_b.T
        return total

    def over(draws: Array, S: Array) -> Pace:
        typical = np.mean([B(theta) for theta in draws[:: max(1, len(draws) // LOOKED_AT)]], axis=0)
        return _pace(lambda theta: _root(B(theta)), typical, S, by_root=by_root)

    return over


def _with(at: Point, block: Block, values: Array) -> Point:
    return replace(at, names={**at.names, block.name: values.reshape(extents(block.shape, at.sizes))})


def _curvature(H: Formula, block: Block, at: Point) -> Array:
    """Return d^2 H/d b^2 of a block that H is quadratic in.

    By values of H, which tell it exactly there: H(e_i + e_j) - H(e_i) - H(e_j) + H(0) for unit vectors e_i. What index
    calculus derives becomes numbers through SymPy alone, at every state anew.
    """

    def energy(b: Array) -> float:
        return float(evaluate(H, _with(at, block, b)))

    unit = np.eye(math.prod(extents(block.shape, at.sizes)))
    ones = np.array([energy(e) for e in unit])
    both = np.array([[energy(e + f) for f in unit] for e in unit])
    return both - ones - ones[:, None] + energy(np.zeros(len(unit)))

"""What a step multiplies forces by where that depends on the state: B(theta), by the formulas of the dynamics.

Where theta has noise of its own, d theta = -D grad U dt + ..., it is D of that block. Where other blocks move it, of
quadratic H, d theta = -Q_b (d^2 H/d b^2) b dt and d b = Q_b^T grad U dt + ..., so that it is the sum over them of

    Q_b (d^2 H/d b^2) Q_b^T

and the frequencies of a step are the roots of the eigenvalues of B^(1/2) Hess U B^(1/2).
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from recipe_compiler.formula.expression import Formula
from recipe_compiler.formula.rebuild import is_zero
from recipe_compiler.formula.substitute import substitute
from recipe_compiler.run.evaluate import Point, evaluate, extents
from recipe_compiler.run.sizes import potential_block
from recipe_compiler.spec.bind import bind
from recipe_compiler.spec.formulas import dependence
from recipe_compiler.spec.model import Build

Array = NDArray[np.float64]


def depends_on_theta(build: Build) -> bool:
    """Whether what a step multiplies forces by depends on where it is."""
    dynamics, own = bind(build), _place(build)
    rows = [matrix[own] for matrix in (dynamics.D, dynamics.Q) if matrix is not None]
    return any(potential_block(build) in dependence(entry).blocks for row in rows for entry in row)


def _place(build: Build) -> int:
    return [block.name for block in build.dynamics.declarations.blocks].index(potential_block(build))


@dataclass(frozen=True, eq=False)
class Metric:
    """B(theta) of a build."""

    build: Build
    known: Mapping[str, Array]
    """Values of parameters in the shapes that formulas use."""
    sizes: Mapping[str, int]

    @cached_property
    def of_noise(self) -> bool:
        """Whether it is that of theta's own noise: a stable step falls as the curvature, not as its root."""
        D = self.build.dynamics.D
        return D is not None and not is_zero(D[self._own][self._own])

    def at(self, theta: Array) -> Array:
        """Return B at a state, d x d; other blocks than theta stand at zero."""
        blocks = self.build.dynamics.declarations.blocks
        names = {block.name: np.zeros(extents(block.shape, self.sizes)) for block in blocks}
        names[blocks[self._own].name] = theta.reshape(extents(blocks[self._own].shape, self.sizes))
        d = theta.size
        if self.of_noise and self.build.dynamics.D is not None:
            return self._value(self.build.dynamics.D[self._own][self._own], names).reshape(d, d)
        B = np.zeros((d, d))
        for b, block in enumerate(blocks):
            entry = None if self.build.dynamics.Q is None else self.build.dynamics.Q[self._own][b]
            if b != self._own and entry is not None and not is_zero(entry):
                width = math.prod(extents(block.shape, self.sizes))
                Q = self._value(entry, names).reshape(d, width)
                B += Q @ self._inverse_mass(block.name, names, width) @ Q.T
        return B

    @cached_property
    def _own(self) -> int:
        return _place(self.build)

    def _inverse_mass(self, name: str, names: Mapping[str, Array], width: int) -> Array:
        """Return the second derivatives of H along a block that it is quadratic in: H at 0, e_i and e_i + e_j tells."""
        unit, shape = np.eye(width), names[name].shape

        def energy(at: Array) -> float:
            return float(self._value(self.build.dynamics.H, {**names, name: at.reshape(shape)}))

        none, ones = energy(np.zeros(width)), [energy(e) for e in unit]
        return np.array(
            [[energy(unit[i] + unit[j]) - ones[i] - ones[j] + none for j in range(width)] for i in range(width)]
        )

    def _value(self, formula: Formula, names: Mapping[str, Array]) -> Array:
        bound = substitute(formula, dict(self.build.bind)) if self.build.bind else formula
        functions = self.build.dynamics.declarations.functions
        at = {f.name: np.zeros(extents(f.shape, self.sizes)) for f in functions} | dict(self.known) | dict(names)
        return evaluate(bound, Point(at, self.sizes))

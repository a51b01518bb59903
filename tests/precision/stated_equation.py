"""The drift and 2D of dynamics at 200 digits, exactly as D, Q and H are stated, and how much they mind roundings.

f = -(D+Q) grad H + Gamma is put together from values of the formulas and their differences; condition numbers are as in
`stated.py`, of all nodes of all entries of D, Q and H. Adding up f itself rounds each of its terms once more.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

import mpmath
import numpy as np
from stated import CHANGE, DIGITS, STEP, Stated

from recipe_compiler.formula.expression import Formula
from recipe_compiler.spec.model import Dynamics

Values = Mapping[str, np.ndarray]
Both = tuple[np.ndarray, np.ndarray]
"""Exact values, and the condition of each."""
Parts = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]
"""D, Q, grad H and the terms of Gamma."""


@dataclass(frozen=True)
class Equation:
    """Dynamics at one point."""

    dynamics: Dynamics
    sizes: Mapping[str, int]
    known: Values
    """Blocks and parameters, as numbers of many digits."""
    functions: Mapping[str, Formula]
    """The potential as its target states it."""

    def drift(self) -> Both:
        """Return f, and its condition."""
        with mpmath.workdps(DIGITS):
            D, Q, slope, Gamma = self._parts(self._points)
            apart = abs(D) @ abs(slope) + abs(Q) @ abs(slope) + abs(Gamma).sum(axis=1)
            return -(D + Q) @ slope + Gamma.sum(axis=1), apart + self._condition(_drift)

    def two_D(self) -> Both:
        """Return 2D, and its condition."""
        with mpmath.workdps(DIGITS):
            D = 2 * self._parts(self._points)[0]
            return D, abs(D) + self._condition(lambda D, Q, slope, Gamma: 2 * D)

    @cached_property
    def _formulas(self) -> list[Formula]:
        dynamics = self.dynamics
        assert dynamics.D is not None
        assert dynamics.Q is not None
        return [*(e for row in dynamics.D for e in row), *(e for row in dynamics.Q for e in row), dynamics.H]

    @cached_property
    def _places(self) -> list[tuple[str, int]]:
        return [(b.name, k) for b in self.dynamics.declarations.blocks for k in range(self.known[b.name].size)]

    @cached_property
    def _states(self) -> list[Values]:
        """The point, and those beside it, coordinate by coordinate."""
        found = [self.known]
        for name, k in self._places:
            for sign in (1, -1):
                moved = self.known[name].copy()
                moved.flat[k] += sign * STEP
                found.append({**self.known, name: moved})
        return found

    @cached_property
    def _points(self) -> list[list[np.ndarray]]:
        return [self._at_states(formula, -1) for formula in self._formulas]

    def _at_states(self, formula: Formula, changed: int) -> list[np.ndarray]:
        return [Stated(self.sizes, at, changed, functions=self.functions).value(formula) for at in self._states]

    def _parts(self, points: list[list[np.ndarray]]) -> Parts:
        """Return D, Q, grad H, and dA_ij/dz_j of A = D + Q, from the values of all formulas at all states."""
        blocks, n = len(self.dynamics.declarations.blocks), len(self._places)

        def matrix(first: int, state: int) -> np.ndarray:
            rows = [[points[first + a * blocks + b][state] for b in range(blocks)] for a in range(blocks)]
            return self._joined(rows)

        D, Q = matrix(0, 0), matrix(blocks**2, 0)
        slope, Gamma = np.zeros(n, object), np.zeros((n, n), object)
        for j in range(n):
            up, down = 1 + 2 * j, 2 + 2 * j
            slope[j] = (points[-1][up] - points[-1][down])[0, 0] / (2 * STEP)
            for first in (0, blocks**2):
                Gamma[:, j] += (matrix(first, up) - matrix(first, down))[:, j] / (2 * STEP)
        return D, Q, slope, Gamma

    def _joined(self, rows: list[list[np.ndarray]]) -> np.ndarray:
        sizes = [self.known[block.name].size for block in self.dynamics.declarations.blocks]
        ends = [0, *accumulate(sizes)]
        found = np.zeros((ends[-1], ends[-1]), object)
        for a, row in enumerate(rows):
            for b, entry in enumerate(row):
                shape = sizes[a], sizes[b]
                whole = entry.reshape(shape) if entry.size == sizes[a] * sizes[b] else np.broadcast_to(entry, shape)
                found[ends[a] : ends[a + 1], ends[b] : ends[b + 1]] = whole
        return found

    @cached_property
    def _moved(self) -> list[Parts]:
        """The parts where one node of one formula is changed: each node in turn, of all formulas."""
        found: list[Parts] = []
        for number, formula in enumerate(self._formulas):
            counted = Stated(self.sizes, self.known, functions=self.functions)
            counted.value(formula)
            for node in range(counted.count):
                points = [*self._points]
                points[number] = self._at_states(formula, node)
                found.append(self._parts(points))
        return found

    def _condition(self, result: Callable[..., np.ndarray]) -> np.ndarray:
        """Return the sum of what the result moves by, over all nodes of all formulas."""
        exact = result(*self._parts(self._points))
        return sum((abs(result(*parts) - exact) / CHANGE for parts in self._moved), 0 * abs(exact))


def _drift(D: np.ndarray, Q: np.ndarray, slope: np.ndarray, Gamma: np.ndarray) -> np.ndarray:
    return -(D + Q) @ slope + Gamma.sum(axis=1)

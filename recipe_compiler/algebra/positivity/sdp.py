"""A floating-point Gram matrix that solves a system approximately, as far inside the cone as can be (Clarabel).

Nothing here proves: its answer is a guess that `rounding.py` makes exact or drops. Imported when first asked.
"""

import math
from typing import Any

import numpy as np

from recipe_compiler.algebra.positivity.sos_system import System

ITERATIONS = 60


def interior(found: System) -> tuple[list[np.ndarray], float] | None:
    """Return Gram matrices Q with `Q - t I` in the cone, t <= 1 as large as can be, and t; None without any."""
    import clarabel as solvers
    from scipy import sparse

    clarabel: Any = solvers

    count, scale = len(found.unknowns), max((abs(float(b)) for b in found.b), default=1.0) or 1.0
    builder = _Builder(count)
    for row, b in zip(found.rows, found.b, strict=True):
        builder.add({k: float(c) for k, c in row.items()}, float(b) / scale)
    cones: list[Any] = [clarabel.ZeroConeT(len(found.rows))]
    place = {unknown: k for k, unknown in enumerate(found.unknowns)}
    for n, basis in enumerate(found.bases):
        for j in range(len(basis)):
            for i in range(j + 1):
                # s = b - A x is the upper triangle of Q - t I by columns, off the diagonal times sqrt(2)
                if i == j:
                    builder.add({place[n, i, j]: -1.0, count: 1.0}, 0.0)
                else:
                    builder.add({place[n, i, j]: -math.sqrt(2)}, 0.0)
        if basis:
            cones.append(clarabel.PSDTriangleConeT(len(basis)))
    builder.add({count: 1.0}, 1.0)
    cones.append(clarabel.NonnegativeConeT(1))
    settings: Any = clarabel.DefaultSettings()
    settings.verbose = False
    settings.max_iter = ITERATIONS
    settings.max_threads = 1
    q = np.zeros(count + 1)
    q[count] = -1.0
    nothing = sparse.csc_matrix((count + 1, count + 1))
    solver = clarabel.DefaultSolver(nothing, q, builder.matrix(sparse), np.array(builder.b), cones, settings)
    solution: Any = solver.solve()
    x = np.array(solution.x)
    if str(solution.status) not in {"Solved", "AlmostSolved", "InsufficientProgress"} or not np.all(np.isfinite(x)):
        return None
    found_at = [np.zeros((len(basis), len(basis))) for basis in found.bases]
    for (n, i, j), k in place.items():
        found_at[n][i, j] = found_at[n][j, i] = x[k] * scale
    return found_at, float(x[count])


class _Builder:
    """A sparse matrix, row by row."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.rows: list[int] = []
        self.cols: list[int] = []
        self.values: list[float] = []
        self.b: list[float] = []

    def add(self, row: dict[int, float], b: float) -> None:
        for k, c in row.items():
            self.rows.append(len(self.b))
            self.cols.append(k)
            self.values.append(c)
        self.b.append(b)

    def matrix(self, sparse: Any) -> Any:
        return sparse.csc_matrix((self.values, (self.rows, self.cols)), shape=(len(self.b), self.count + 1))

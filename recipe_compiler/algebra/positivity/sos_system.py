"""The linear system of a sum of squares, coefficient by coefficient: v.T M v = sum_g g * w_g.T Q_g w_g.

The unknowns are the entries of the Gram matrices Q_g. An element of a vector w_g is a vector of polynomials (its
component along each v_i), so that a face of the cone can be spanned by combinations of monomials. Multipliers g are 1
and known inequalities (Putinar 1993). Clarabel computes an approximate solution as far inside the cone as possible,
which proves nothing: `squares` makes it exact or drops it.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from flint import fmpq, fmpq_mpoly

from recipe_compiler.algebra.positivity.polynomial_problem import PolynomialProblem, Polynomials

LARGEST_BASIS = 60
LARGEST_UNKNOWNS = 1_600
MULTIPLIERS = 8
Monomial = tuple[int, ...]
Element = tuple[tuple[tuple[int, Monomial], fmpq], ...]
"""sum of c * v_i * x**m, as ((i, m), c)."""

Key = tuple[int, int, Monomial]
"""v_i * v_j * x**m with i <= j."""

ITERATIONS = 60


@dataclass(frozen=True, slots=True)
class SosSystem:
    """Rows `sum_k row[k] q_k = b` for the unknowns q_k: entries (block, a, c), a <= c, of the Gram matrices."""

    multipliers: tuple[fmpq_mpoly, ...]
    bases: tuple[tuple[Element, ...], ...]
    unknowns: tuple[tuple[int, int, int], ...]
    rows: tuple[dict[int, fmpq], ...]
    b: tuple[fmpq, ...]


def system(problem: PolynomialProblem, a: Polynomials, multipliers: tuple[fmpq_mpoly, ...]) -> SosSystem | None:
    """Return the system A q = b of a matrix, its bases pruned; None if it has no solution or is too large.

    q are the entries of all Gram matrices Q_g, b the coefficients of v.T M v = sum_g g w_g.T Q_g w_g, `a` being M: [n,
    n], g >= 0 on the domain (Putinar 1993). Elements whose square must have the coefficient 0 are left out, which
    leaves those within half the Newton polytope.
    """
    bases: list[tuple[Element, ...]] = []
    for g in multipliers:
        basis = tuple(_monomials(problem, a, g, alone=len(multipliers) == 1))
        if len(basis) > LARGEST_BASIS:
            return None
        bases.append(basis)
    while True:
        found = written_out(problem, a, multipliers, tuple(bases))
        vanishing = set() if found is None else set(_vanishing(found))
        if not vanishing:
            return found
        bases = [tuple(x for k, x in enumerate(basis) if (n, k) not in vanishing) for n, basis in enumerate(bases)]


def written_out(
    problem: PolynomialProblem,
    a: Polynomials,
    multipliers: tuple[fmpq_mpoly, ...],
    bases: tuple[tuple[Element, ...], ...],
) -> SosSystem | None:
    """Return the system A q = b for given bases; None if a coefficient is out of their reach, or it is too large.

    v**2 (1 + x**2) with w = (v, x v): q_00 = 1, 2 q_01 = 0 and q_11 = 1 are its rows.
    """
    unknowns = tuple(
        (n, i, j) for n, basis in enumerate(bases) for i in range(len(basis)) for j in range(i, len(basis))
    )
    if len(unknowns) > LARGEST_UNKNOWNS:
        return None
    rows: dict[Key, dict[int, fmpq]] = {}
    products = _Products(problem)
    for k, (n, i, j) in enumerate(unknowns):
        for key, c in products.of(bases[n][i], bases[n][j], multipliers[n]).items():
            rows.setdefault(key, {})[k] = c if i == j else 2 * c
    wanted = _coefficients(a)
    if not wanted.keys() <= rows.keys():
        return None
    keys = tuple(rows)
    b = tuple(wanted.get(key, fmpq(0)) for key in keys)
    return SosSystem(multipliers, bases, unknowns, tuple(rows[key] for key in keys), b)


def _coefficients(a: Polynomials) -> dict[Key, fmpq]:
    """Return the coefficients of v.T a v."""
    found: dict[Key, fmpq] = {}
    for i, row in enumerate(a):
        for j in range(i, len(a)):
            for m, c in row[j].to_dict().items():
                found[i, j, m] = c if i == j else 2 * c
    return found


def _monomials(problem: PolynomialProblem, a: Polynomials, g: fmpq_mpoly, alone: bool) -> Iterator[Element]:
    """Yield v_i x**m, squares times g within the degrees of the matrix, without powers that a relation rewrites.

    Without other multipliers and relations the degrees are those of M_ii, which is then a sum of squares by itself.
    """
    everything = [p for row in a for p in row]
    for i in range(len(a)):
        own = [a[i][i]] if alone and not problem.relations else everything
        for m in _within(problem, [p for p in own if not p.is_zero()], g):
            yield (((i, m or (0,)), fmpq(1)),)


def _within(problem: PolynomialProblem, entries: list[fmpq_mpoly], g: fmpq_mpoly) -> Iterator[Monomial]:
    """Yield monomials whose squares times g stay within the degrees of polynomials."""
    count = len(problem.names)
    tops = [max((int(p.degrees()[k]) for p in entries), default=0) for k in range(count)]
    for relation in problem.relations:
        if tops[relation.generator]:
            tops = [max(top, int(k)) for top, k in zip(tops, relation.value.degrees(), strict=True)]
        tops[relation.generator] = min(tops[relation.generator], 2 * relation.power - 2)
    degree = max((int(p.total_degree()) for p in entries), default=0) - int(g.total_degree())
    if degree < 0:
        return
    ranges = [range(top // 2 + 1) for top in tops]
    yield from _bounded(ranges, degree // 2)


def _bounded(ranges: list[range], degree: int) -> Iterator[Monomial]:
    """Yield the monomials of a total degree at most `degree`."""
    if not ranges:
        yield ()
        return
    for n in range(min(len(ranges[0]) - 1, degree) + 1):
        for rest in _bounded(ranges[1:], degree - n):
            yield (n, *rest)


class _Products:
    """Products of two elements with a multiplier, reduced by the relations; those of monomials are kept."""

    def __init__(self, problem: PolynomialProblem) -> None:
        self.problem = problem
        self.known: dict[tuple[Monomial, str], tuple[tuple[Monomial, fmpq], ...]] = {}

    def of(self, left: Element, right: Element, g: fmpq_mpoly) -> dict[Key, fmpq]:
        found: dict[Key, fmpq] = {}
        name = str(g)
        for (i, m), c in left:
            for (j, n), d in right:
                total = tuple(x + y for x, y in zip(m, n, strict=True))
                for monomial, e in self._times(total, g, name):
                    key = (min(i, j), max(i, j), monomial)
                    found[key] = found.get(key, fmpq(0)) + c * d * e
        return {key: c for key, c in found.items() if c != 0}

    def _times(self, m: Monomial, g: fmpq_mpoly, name: str) -> tuple[tuple[Monomial, fmpq], ...]:
        if (m, name) not in self.known:
            p = self.problem.reduced(self.problem.context.from_dict({m: fmpq(1)}) * g)
            self.known[m, name] = tuple(p.to_dict().items())
        return self.known[m, name]


def _vanishing(found: SosSystem) -> Iterator[tuple[int, int]]:
    """Yield the elements (block, place) whose square must have the coefficient 0.

    Where nothing but diagonal unknowns of one sign add up to 0, all of them are 0, and with them their rows and columns
    of the Gram matrix. Repeated, this leaves nothing outside half the Newton polytope.
    """
    for row, b in zip(found.rows, found.b, strict=True):
        if b != 0 or not row:
            continue
        diagonal = all(found.unknowns[k][1] == found.unknowns[k][2] for k in row)
        if diagonal and (all(c > 0 for c in row.values()) or all(c < 0 for c in row.values())):
            for k in row:
                n, i, _ = found.unknowns[k]
                yield n, i


def interior(found: SosSystem) -> tuple[list[np.ndarray], float] | None:
    """Return Gram matrices Q, in floats, with Q - t I in the cone, t <= 1 as large as possible, and t.

    None without any.
    """
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

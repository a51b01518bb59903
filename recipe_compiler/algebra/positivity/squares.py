"""Sums of squares with an exact certificate: v.T M v = sum_g g * w_g.T Q_g w_g, every Q_g positive semidefinite.

A numerical solver proposes, exact arithmetic decides: its Gram matrices are rounded, projected onto the linear system
exactly, and checked (Peyrl, Parrilo 2008). If they have no interior, their approximate null vectors are made rational
and divided out (facial reduction), and the smaller system is tried again.

Worked example, x**2 - 2 x + 1 with w = (1, x): q_00 = 1, 2 q_01 = -2, q_11 = 1 leave one matrix, [[1, -1], [-1, 1]],
which is singular: rounding may miss it, but its null vector (1, 1) is simple. On the complement (1, -1), w becomes 1 -
x, and Q = [[1]].
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

import numpy as np
from flint import fmpq, fmpq_mat, fmpq_mpoly

from recipe_compiler.algebra.positivity.polynomial_problem import PolynomialProblem, shown
from recipe_compiler.algebra.positivity.sos_system import MULTIPLIERS, Element, SosSystem, interior, system, written_out
from recipe_compiler.algebra.scalars.rational_matrices import echelon, is_semidefinite, null_vectors
from recipe_compiler.algebra.scalars.transcendentals import NoNormalFormError

BITS = (3, 8, 14, 20, 27)
"""Binary digits kept, tried in turn: the fewest that do make the shortest certificate."""

LARGEST_PROJECTION = 220
"""Rows of a system whose projection is computed where unknowns occur in several rows."""

Gram = tuple[tuple[fmpq, ...], ...]
REDUCTIONS = 3
TOLERANCES = (1e-8, 1e-7, 1e-6, 1e-5, 1e-4)
"""Eigenvalues below this share of the largest count as zero: where the gap lies is tried out."""

PAIRED = 4
"""So many known inequalities are also multiplied with each other."""

LEAST = -1e-3
"""With the largest least eigenvalue below this, there is no use in going on."""

SIMPLE = 24
"""The largest denominator of a rational number that is simple."""


def exact(found: SosSystem, near: list[np.ndarray]) -> tuple[Gram, ...] | None:
    """Return positive semidefinite Gram matrices that solve A q = b exactly, near given ones; None without any.

    The entries q are rounded to fractions of 2**bits and projected: q + A.T y with (A A.T) y = b - A q, the nearest
    solution of A q = b (Peyrl, Parrilo 2008). Whether they are semidefinite is decided over the rationals
    (`is_semidefinite`); if not, more bits are tried.
    """
    for bits in BITS:
        q = [fmpq(round(float(near[n][i, j]) * 2**bits), 2**bits) for n, i, j in found.unknowns]
        solved = _projected(found, q)
        if solved is None:
            return None
        grams = _matrices(found, solved)
        if all(is_semidefinite(gram) for gram in grams):
            return grams
    return None


def null_space(near: np.ndarray, tolerance: float) -> list[list[fmpq]] | None:
    """Return simple rational vectors v with A v close to 0, A n x n of floats; None if there are none.

    Their reduced echelon form has simple entries if the exact one has.
    """
    if not len(near):
        return None
    values, vectors = np.linalg.eigh(near)
    scale = max(1.0, float(abs(values).max()))
    basis = [vectors[:, k].copy() for k in range(len(values)) if abs(values[k]) < tolerance * scale]
    if not basis or len(basis) == len(near):
        return None
    rows = np.array(basis)
    pivots: list[int] = []
    for r in range(len(rows)):
        masked = abs(rows[r:]).copy()
        masked[:, pivots] = 0
        i, j = np.unravel_index(int(masked.argmax()), masked.shape)
        rows[[r, r + int(i)]] = rows[[r + int(i), r]]
        rows[r] /= rows[r, j]
        for other in range(len(rows)):
            if other != r:
                rows[other] -= rows[other, j] * rows[r]
        pivots.append(int(j))
    simple = [[Fraction(float(x)).limit_denominator(SIMPLE) for x in row] for row in rows]
    off = max(
        abs(float(s) - float(x)) for row, line in zip(simple, rows, strict=True) for s, x in zip(row, line, strict=True)
    )
    return None if off > 1e-2 else [[fmpq(s.numerator, s.denominator) for s in row] for row in simple]


def complement(rows: list[list[fmpq]]) -> list[list[fmpq]]:
    """Return a rational basis of the vectors x with r . x = 0 for all rows r."""
    return null_vectors(fmpq_mat(rows))


def _projected(found: SosSystem, q: list[fmpq]) -> list[fmpq] | None:
    """Return the nearest exact solution of the system (least squares); None if it has none or is too large."""
    left = [b - sum((c * q[k] for k, c in row.items()), fmpq(0)) for row, b in zip(found.rows, found.b, strict=True)]
    uses: dict[int, int] = {}
    for row in found.rows:
        for k in row:
            uses[k] = uses.get(k, 0) + 1
    if all(n == 1 for n in uses.values()):
        for row, missing in zip(found.rows, left, strict=True):
            norm = sum((c * c for c in row.values()), fmpq(0))
            for k, c in row.items():
                q[k] += missing * c / norm
        return q
    if len(found.rows) > LARGEST_PROJECTION:
        return None
    y = _solved(found.rows, left)
    if y is None:
        return None
    for row, weight in zip(found.rows, y, strict=True):
        for k, c in row.items():
            q[k] += weight * c
    return q


def _solved(rows: tuple[dict[int, fmpq], ...], left: list[fmpq]) -> list[fmpq] | None:
    """Return a solution y of (A A.T) y = left, None if there is none."""
    n = len(rows)
    columns: dict[int, list[tuple[int, fmpq]]] = {}
    for i, row in enumerate(rows):
        for k, c in row.items():
            columns.setdefault(k, []).append((i, c))
    table = [[fmpq(0)] * (n + 1) for _ in range(n)]
    for column in columns.values():
        for i, c in column:
            for j, d in column:
                table[i][j] += c * d
    for i, missing in enumerate(left):
        table[i][n] = missing
    reduced, pivots = echelon(fmpq_mat(table))
    if n in pivots:
        return None
    y = [fmpq(0)] * n
    for row, pivot in enumerate(pivots):
        y[pivot] = reduced[row, n]
    return y


def _matrices(found: SosSystem, q: list[fmpq]) -> tuple[Gram, ...]:
    tables = [[[fmpq(0)] * len(basis) for _ in basis] for basis in found.bases]
    for (n, i, j), value in zip(found.unknowns, q, strict=True):
        tables[n][i][j] = tables[n][j][i] = value
    return tuple(tuple(tuple(row) for row in table) for table in tables)


@dataclass(frozen=True, slots=True)
class Squares:
    """Multipliers, and for each the elements of w_g and the matrix Q_g."""

    multipliers: tuple[fmpq_mpoly, ...]
    bases: tuple[tuple[Element, ...], ...]
    grams: tuple[Gram, ...]

    def data(self, problem: PolynomialProblem) -> tuple[tuple[str, str], ...]:
        """Return the certificate as text: multipliers, vectors and Gram matrices."""
        found: list[tuple[str, str]] = []
        for k, (g, basis, gram) in enumerate(zip(self.multipliers, self.bases, self.grams, strict=True)):
            if not basis:
                continue
            found.append((f"multiplier {k}", shown(g)))
            found.append((f"monomials {k}", "[" + ", ".join(_element(x, problem) for x in basis) + "]"))
            rows = ("[" + ", ".join(map(str, row)) + "]" for row in gram)
            found.append((f"Gram matrix {k}", "[" + ", ".join(rows) + "]"))
        return tuple(found)


def squares(problem: PolynomialProblem) -> Squares | None:
    """Return v.T M v = sum_g g * w_g.T Q_g w_g for the n x n matrix M of a problem, None if none was found.

    Each Q_g is a positive semidefinite matrix of rationals, each g is 1 or known to be >= 0 on the domain; multipliers
    other than 1 are tried last. Floats propose (Clarabel); the rounded matrices are projected onto the equations
    exactly (Peyrl, Parrilo 2008), so that the identity holds exactly.

    For M = [[x**2 - 2 x + 1]], w = (v, v x) and Q = [[1, -1], [-1, 1]], with no other multiplier than 1.
    """
    for multipliers in _multipliers(problem):
        try:
            found = _with(problem, multipliers)
        except NoNormalFormError:
            continue
        if found is not None:
            return found
    return None


def definite_squares(problem: PolynomialProblem) -> Squares | None:
    """Return v.T M v = w.T Q w with a positive definite Q, so that it vanishes where w does only; None if not found."""
    found = system(problem, problem.matrix, (problem.context.constant(fmpq(1)),))
    near = interior(found) if found is not None and found.unknowns else None
    grams = exact(found, near[0]) if found is not None and near is not None and near[1] > 0 else None
    if found is None or grams is None or any(fmpq_mat([list(row) for row in gram]).det() == 0 for gram in grams):
        return None
    return Squares(found.multipliers, found.bases, grams)


def _multipliers(problem: PolynomialProblem) -> Iterator[tuple[fmpq_mpoly, ...]]:
    """Yield choices of multipliers: 1 alone, with all that is known nonnegative, with products of two of these."""
    one = problem.context.constant(fmpq(1))
    yield (one,)
    known = [problem.context.gen(k) for k in sorted(problem.signs.nonnegative)]
    known += [fact.value for fact in problem.facts]
    if known:
        yield (one, *known[:MULTIPLIERS])
    if len(known) > 1:
        yield (one, *known[:MULTIPLIERS], *(p * q for p, q in combinations(known[:PAIRED], 2)))


def _with(problem: PolynomialProblem, multipliers: tuple[fmpq_mpoly, ...]) -> Squares | None:
    whole = system(problem, problem.matrix, multipliers)
    if whole is None or not whole.unknowns:
        return None
    first = interior(whole)
    if first is None or first[1] < LEAST:
        return None
    grams = exact(whole, first[0])
    if grams is not None:
        return Squares(whole.multipliers, whole.bases, grams)
    for tolerance in TOLERANCES:
        found, near = whole, first
        for _ in range(REDUCTIONS):
            found = _smaller(problem, found, near[0], tolerance)
            answer = None if found is None or not found.unknowns else interior(found)
            if found is None or answer is None or answer[1] < LEAST:
                break
            near, grams = answer, exact(found, answer[0])
            if grams is not None:
                return Squares(found.multipliers, found.bases, grams)
    return None


def _smaller(
    problem: PolynomialProblem, found: SosSystem, near: list[np.ndarray], tolerance: float
) -> SosSystem | None:
    """Return the system on the face that these null spaces leave; None if there are none."""
    bases: list[tuple[Element, ...]] = []
    for basis, gram in zip(found.bases, near, strict=True):
        null = null_space(gram, tolerance)
        bases.append(basis if null is None else tuple(_combined(basis, row) for row in complement(null)))
    if tuple(bases) == found.bases:
        return None
    return written_out(problem, problem.matrix, found.multipliers, tuple(bases))


def _combined(basis: tuple[Element, ...], weights: list[fmpq]) -> Element:
    """Return a combination of elements."""
    found: dict[tuple[int, tuple[int, ...]], fmpq] = {}
    for element, weight in zip(basis, weights, strict=True):
        if weight == 0:
            continue
        for place, c in element:
            found[place] = found.get(place, fmpq(0)) + weight * c
    return tuple((place, c) for place, c in found.items() if c != 0)


def _element(element: Element, problem: PolynomialProblem) -> str:
    """Return an element as text in v0, v1, ... and the generators."""
    parts = [f"v{i}*({shown(problem.context.from_dict({m: c}))})" for (i, m), c in element]
    return " + ".join(parts) or "0"

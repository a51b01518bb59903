"""Sums of squares with an exact certificate: v.T M v = sum_g g * w_g.T Q_g w_g, every Q_g positive semidefinite.

The unknowns are the entries of the Gram matrices Q_g, the equations compare coefficients of v_i v_j x**m. Multipliers g
are 1 and known inequalities (Putinar 1993). A numerical solver proposes matrices as far inside the cone as possible,
exact arithmetic decides: they are rounded, projected onto the equations exactly, and checked (Peyrl, Parrilo 2008). If
they have no interior, their approximate null vectors are made rational and divided out (facial reduction): Q = P.T X P
with the rows of P orthogonal to them, and the smaller system for X is tried again.

Worked example, x**2 - 2 x + 1 with w = (1, x): q_00 = 1, 2 q_01 = -2, q_11 = 1 leave one matrix, [[1, -1], [-1, 1]],
which is singular: rounding may miss it, but its null vector (1, 1) is simple. On the complement P = (1, -1), P w is 1 -
x, and X = [[1]].
"""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
from flint import fmpq, fmpq_mat, fmpq_mpoly

from recipe_compiler import limits
from recipe_compiler.algebra.positivity.polynomial_problem import PolynomialProblem, Polynomials, shown
from recipe_compiler.algebra.scalars.rational_matrices import echelon, is_semidefinite, null_vectors
from recipe_compiler.algebra.scalars.transcendentals import NoNormalFormError
from recipe_compiler.verdict import Evidence

BITS = (3, 8, 14, 20, 27)
"""Binary digits kept, tried in turn: the fewest that do make the shortest certificate."""
TOLERANCES = (1e-8, 1e-7, 1e-6, 1e-5, 1e-4)
"""Eigenvalues below this share of the largest count as zero: where the gap lies is tried out."""
LEAST = -1e-3
"""With the largest least eigenvalue below this, there is no use in going on."""
SIMPLE = 24
"""The largest denominator of a rational number that is simple."""

Monomial = tuple[int, ...]
Element = tuple[int, Monomial]
"""v_i * x**m."""
Key = tuple[int, int, Monomial]
"""v_i * v_j * x**m with i <= j."""
Place = tuple[int, int, int]
"""An entry (block, a, c), a <= c, of the Gram matrices."""
Gram = tuple[tuple[fmpq, ...], ...]


@dataclass(frozen=True, slots=True)
class SosSystem:
    """Rows `sum_k row[k] q_k = b` for the entries of the matrices X_g, the Gram matrices being P_g.T X_g P_g."""

    multipliers: tuple[fmpq_mpoly, ...]
    bases: tuple[tuple[Element, ...], ...]
    faces: tuple[Gram, ...]
    """The matrices P_g: identities where nothing is divided out."""
    rows: tuple[dict[Place, fmpq], ...]
    b: tuple[fmpq, ...]

    @property
    def unknowns(self) -> tuple[Place, ...]:
        """The entries of all X_g."""
        sizes = enumerate(map(len, self.faces))
        return tuple((n, i, j) for n, size in sizes for i in range(size) for j in range(i, size))

    def data(self, grams: tuple[Gram, ...], problem: PolynomialProblem) -> Evidence:
        """Return the certificate that matrices X_g make, as text: multipliers, vectors P_g w_g and Gram matrices."""
        found: list[tuple[str, str]] = []
        for k, (g, basis, face, gram) in enumerate(zip(self.multipliers, self.bases, self.faces, grams, strict=True)):
            if not face:
                continue
            found.append((f"multiplier {k}", shown(g)))
            found.append(
                (f"monomials {k}", "[" + ", ".join(_format_combination(row, basis, problem) for row in face) + "]")
            )
            rows = ("[" + ", ".join(map(str, row)) + "]" for row in gram)
            found.append((f"Gram matrix {k}", "[" + ", ".join(rows) + "]"))
        return tuple(found)


def squares(problem: PolynomialProblem) -> Evidence | None:
    """Return v.T M v = sum_g g * w_g.T Q_g w_g for the n x n matrix M of a problem as text, None if none was found.

    Each Q_g is a positive semidefinite matrix of rationals, each g is 1 or known to be >= 0 on the domain; multipliers
    other than 1 are tried last. The identity holds exactly.

    For M = [[x**2 - 2 x + 1]], w = (v, v x) and Q = [[1, -1], [-1, 1]], with no other multiplier than 1.
    """
    for multipliers in _propose_multipliers(problem):
        try:
            whole = system(problem, multipliers)
        except NoNormalFormError:
            continue
        found = None if whole is None else _solve_system(whole)
        if found is not None:
            return found[0].data(found[1], problem)
    return None


def definite_squares(problem: PolynomialProblem) -> Evidence | None:
    """Return v.T M v = w.T Q w with a positive definite Q, so that it vanishes where w does only; None if not found."""
    found = system(problem, (problem.context.constant(fmpq(1)),))
    near = interior(found) if found is not None else None
    grams = exact(found, near[0]) if found is not None and near is not None and near[1] > 0 else None
    if found is None or grams is None or any(fmpq_mat([list(row) for row in gram]).det() == 0 for gram in grams):
        return None
    return found.data(grams, problem)


def _propose_multipliers(problem: PolynomialProblem) -> Iterator[tuple[fmpq_mpoly, ...]]:
    """Yield sets of multipliers: 1; 1 and the known nonnegative polynomials; these and their products in pairs."""
    one = problem.context.constant(fmpq(1))
    yield (one,)
    known = [problem.context.gen(k) for k in sorted(problem.signs.nonnegative)]
    known += [fact.value for fact in problem.facts]
    if known:
        yield (one, *known[: limits.TRIALS])
    if len(known) > 1:
        yield (one, *known[: limits.TRIALS], *(p * q for p, q in combinations(known[: limits.CASES], 2)))


def _solve_system(whole: SosSystem) -> tuple[SosSystem, tuple[Gram, ...]] | None:
    """Return a system, or its restriction to a face, with positive semidefinite rational matrices that solve it."""
    first = interior(whole)
    if first is None or first[1] < LEAST:
        return None
    grams = exact(whole, first[0])
    if grams is not None:
        return whole, grams
    for tolerance in TOLERANCES:
        found, near = whole, first
        for _ in range(limits.DEPTH):
            found = _restrict_to_face(whole, found, near[0], tolerance)
            answer = None if found is None else interior(found)
            if found is None or answer is None or answer[1] < LEAST:
                break
            near, grams = answer, exact(found, answer[0])
            if grams is not None:
                return found, grams
    return None


def system(problem: PolynomialProblem, multipliers: tuple[fmpq_mpoly, ...]) -> SosSystem | None:
    """Return the equations of the matrix M of a problem; None if they have no solution or are too large.

    v**2 (1 + x**2) with w = (v, x v): q_00 = 1, 2 q_01 = 0 and q_11 = 1 are its rows. Elements whose square must have
    the coefficient 0 are left out, which leaves those within half the Newton polytope.
    """
    alone = len(multipliers) == 1
    bases = [tuple(_list_elements(problem, g, alone=alone)) for g in multipliers]
    products: dict[tuple[Monomial, int], tuple[tuple[Monomial, fmpq], ...]] = {}
    while True:
        faces = tuple(_identity(len(basis)) for basis in bases)
        found = SosSystem(multipliers, tuple(bases), faces, (), ())
        if len(found.unknowns) > limits.TERMS:
            return None
        rows: dict[Key, dict[Place, fmpq]] = {}
        for place in found.unknowns:
            n, a, c = place
            (i, left), (j, right) = bases[n][a], bases[n][c]
            total = tuple(x + y for x, y in zip(left, right, strict=True))
            if (total, n) not in products:
                p = problem.reduced(problem.context.from_dict({total: fmpq(1)}) * multipliers[n])
                products[total, n] = tuple(p.to_dict().items())
            for m, e in products[total, n]:
                rows.setdefault((min(i, j), max(i, j), m), {})[place] = e if a == c else 2 * e
        wanted = _coefficients_of_form(problem.matrix)
        if not wanted.keys() <= rows.keys():
            return None
        b = tuple(wanted.get(key, fmpq(0)) for key in rows)
        vanishing = {*_find_zero_diagonals(rows.values(), b)}
        if not vanishing:
            return SosSystem(multipliers, tuple(bases), faces, tuple(rows.values()), b) if rows else None
        bases = [tuple(x for k, x in enumerate(basis) if (n, k) not in vanishing) for n, basis in enumerate(bases)]


def _coefficients_of_form(a: Polynomials) -> dict[Key, fmpq]:
    """Return the coefficients of v.T a v."""
    found: dict[Key, fmpq] = {}
    for i, row in enumerate(a):
        for j in range(i, len(a)):
            for m, c in row[j].to_dict().items():
                found[i, j, m] = c if i == j else 2 * c
    return found


def _find_zero_diagonals(rows: Iterable[dict[Place, fmpq]], b: tuple[fmpq, ...]) -> Iterator[tuple[int, int]]:
    """Yield the elements (block, place) whose square must have the coefficient 0.

    Where nothing but diagonal unknowns of one sign add up to 0, all of them are 0, and with them their rows and columns
    of the Gram matrix. Repeated, this leaves nothing outside half the Newton polytope.
    """
    for row, value in zip(rows, b, strict=True):
        signs = {c > 0 for c in row.values()}
        if value == 0 and len(signs) == 1 and all(i == j for _, i, j in row):
            yield from ((n, i) for n, i, _ in row)


def _list_elements(problem: PolynomialProblem, g: fmpq_mpoly, *, alone: bool) -> Iterator[Element]:
    """Yield basis elements v_i x**m whose squares times g stay within the degrees of the matrix.

    Without other multipliers and relations the degrees are those of M_ii, which is then a sum of squares by itself.
    """
    everything = [p for row in problem.matrix for p in row]
    for i in range(len(problem.matrix)):
        own = [problem.matrix[i][i]] if alone and not problem.relations else everything
        for m in _list_monomials_within(problem, [p for p in own if not p.is_zero()], g):
            yield i, m or (0,)


def _list_monomials_within(problem: PolynomialProblem, entries: list[fmpq_mpoly], g: fmpq_mpoly) -> Iterator[Monomial]:
    """Yield monomials whose squares times g stay within the degrees of polynomials."""
    count = len(problem.names)
    tops = [max((int(p.degrees()[k]) for p in entries), default=0) for k in range(count)]
    for relation in problem.relations:
        if tops[relation.generator]:
            tops = [max(top, int(k)) for top, k in zip(tops, relation.value.degrees(), strict=True)]
        tops[relation.generator] = min(tops[relation.generator], 2 * relation.power - 2)
    degree = max((int(p.total_degree()) for p in entries), default=0) - int(g.total_degree())
    if degree >= 0:
        yield from _list_monomials_up_to([range(top // 2 + 1) for top in tops], degree // 2)


def _list_monomials_up_to(ranges: list[range], degree: int) -> Iterator[Monomial]:
    """Yield the monomials of a total degree at most `degree`."""
    if not ranges:
        yield ()
        return
    for n in range(min(len(ranges[0]) - 1, degree) + 1):
        for rest in _list_monomials_up_to(ranges[1:], degree - n):
            yield (n, *rest)


def interior(found: SosSystem) -> tuple[list[np.ndarray], float] | None:
    """Return matrices X, in floats, with X - t I in the cone, t <= 1 as large as possible, and t; None without any."""
    import clarabel as solvers
    from scipy import sparse

    clarabel: Any = solvers
    place = {unknown: k for k, unknown in enumerate(found.unknowns)}
    count, scale = len(place), max((abs(float(b)) for b in found.b), default=1.0) or 1.0
    entries: list[tuple[int, int, float]] = []
    b: list[float] = []
    for row, value in zip(found.rows, found.b, strict=True):
        entries += ((len(b), place[unknown], float(c)) for unknown, c in row.items())
        b.append(float(value) / scale)
    cones: list[Any] = [clarabel.ZeroConeT(len(found.rows))]
    for n, face in enumerate(found.faces):
        for j in range(len(face)):
            for i in range(j + 1):
                # s = b - A x is the upper triangle of X - t I by columns, off the diagonal times sqrt(2)
                entries += [(len(b), place[n, i, j], -1.0 if i == j else -math.sqrt(2))]
                entries += [(len(b), count, 1.0)] if i == j else []
                b.append(0.0)
        cones += [clarabel.PSDTriangleConeT(len(face))] if face else []
    entries.append((len(b), count, 1.0))
    b.append(1.0)
    cones.append(clarabel.NonnegativeConeT(1))
    settings: Any = clarabel.DefaultSettings()
    settings.verbose = False
    settings.max_threads = 1
    q = np.zeros(count + 1)
    q[count] = -1.0
    at_row, at_column, values = zip(*entries, strict=True)
    matrix: Any = sparse.csc_matrix((values, (at_row, at_column)), shape=(len(b), count + 1))
    nothing = sparse.csc_matrix((count + 1, count + 1))
    solution: Any = clarabel.DefaultSolver(nothing, q, matrix, np.array(b), cones, settings).solve()
    x = np.array(solution.x)
    if str(solution.status) not in {"Solved", "AlmostSolved", "InsufficientProgress"} or not np.all(np.isfinite(x)):
        return None
    near = [np.zeros((len(face), len(face))) for face in found.faces]
    for (n, i, j), k in place.items():
        near[n][i, j] = near[n][j, i] = x[k] * scale
    return near, float(x[count])


def exact(found: SosSystem, near: list[np.ndarray]) -> tuple[Gram, ...] | None:
    """Return positive semidefinite matrices that solve A q = b exactly, near given ones; None without any.

    The entries q are rounded to fractions of 2**bits and projected: q + A.T y with (A A.T) y = b - A q, the nearest
    solution of A q = b (Peyrl, Parrilo 2008). Whether they are semidefinite is decided over the rationals
    (`is_semidefinite`); if not, more bits are tried.
    """
    for bits in BITS:
        q = {(n, i, j): fmpq(round(float(near[n][i, j]) * 2**bits), 2**bits) for n, i, j in found.unknowns}
        if not _project_onto_solutions(found, q):
            return None
        grams = tuple(
            tuple(tuple(q[n, min(i, j), max(i, j)] for j in range(len(face))) for i in range(len(face)))
            for n, face in enumerate(found.faces)
        )
        if all(is_semidefinite(gram) for gram in grams):
            return grams
    return None


def _project_onto_solutions(found: SosSystem, q: dict[Place, fmpq]) -> bool:
    """Move q to the nearest exact solution of the system; False if it has none or is too large."""
    missing = [b - sum((c * q[k] for k, c in row.items()), fmpq(0)) for row, b in zip(found.rows, found.b, strict=True)]
    columns: dict[Place, list[tuple[int, fmpq]]] = {}
    for i, row in enumerate(found.rows):
        for k, c in row.items():
            columns.setdefault(k, []).append((i, c))
    n = len(found.rows)
    if all(len(column) == 1 for column in columns.values()):
        y = [b / sum((c * c for c in row.values()), fmpq(0)) for row, b in zip(found.rows, missing, strict=True)]
    elif n > limits.ROWS:
        return False
    else:
        table = fmpq_mat(n, n + 1, [fmpq(0)] * (n * (n + 1)))
        for column in columns.values():
            for i, c in column:
                for j, d in column:
                    table[i, j] += c * d
        for i, b in enumerate(missing):
            table[i, n] = b
        reduced, pivots = echelon(table)
        if n in pivots:
            return False
        y = [fmpq(0)] * n
        for row, pivot in enumerate(pivots):
            y[pivot] = reduced[row, n]
    for row, weight in zip(found.rows, y, strict=True):
        for k, c in row.items():
            q[k] += weight * c
    return True


def _restrict_to_face(whole: SosSystem, found: SosSystem, near: list[np.ndarray], tolerance: float) -> SosSystem | None:
    """Return the whole system on the face that the null vectors of matrices leave; None if there are none."""
    faces: list[Gram] = []
    for face, matrix in zip(found.faces, near, strict=True):
        null = null_space(matrix, tolerance)
        left = None if null is None else fmpq_mat(null_vectors(fmpq_mat(null))) * fmpq_mat([*map(list, face)])
        faces.append(face if left is None else tuple(map(tuple, left.tolist())))
    if tuple(faces) == found.faces:
        return None
    columns = [
        [[(a, p) for a, p in enumerate(column) if p != 0] for column in zip(*face, strict=True)] for face in faces
    ]
    rows: list[dict[Place, fmpq]] = []
    for row in whole.rows:
        new: dict[Place, fmpq] = {}
        for (n, i, j), c in row.items():
            for a, p in columns[n][i]:
                for d, q in columns[n][j]:
                    key = (n, min(a, d), max(a, d))
                    new[key] = new.get(key, fmpq(0)) + c * p * q
        rows.append({key: c for key, c in new.items() if c != 0})
    kept = [(row, b) for row, b in zip(rows, whole.b, strict=True) if row or b != 0]
    if not kept or not all(row for row, _ in kept):
        return None
    return SosSystem(whole.multipliers, whole.bases, tuple(faces), *map(tuple, zip(*kept, strict=True)))


def null_space(near: np.ndarray, tolerance: float) -> list[list[fmpq]] | None:
    """Return simple rational vectors v with A v close to 0, A n x n of floats; None if there are none.

    Their reduced echelon form has simple entries if the exact one has.
    """
    from scipy.linalg import qr

    if not len(near):
        return None
    values, vectors = np.linalg.eigh(near)
    small = abs(values) < tolerance * max(1.0, float(abs(values).max()))
    if not small.any() or small.all():
        return None
    basis = vectors[:, small].T
    pivots = qr(basis, mode="r", pivoting=True)[1][: len(basis)]
    rows = np.linalg.solve(basis[:, pivots], basis)
    simple = [[Fraction(float(x)).limit_denominator(SIMPLE) for x in row] for row in rows]
    if abs(np.array(simple, dtype=float) - rows).max() > 1e-2:
        return None
    return [[fmpq(s.numerator, s.denominator) for s in row] for row in simple]


def _identity(n: int) -> Gram:
    """Return the n x n identity matrix of rationals."""
    return tuple(tuple(fmpq(int(i == j)) for j in range(n)) for i in range(n))


def _format_combination(row: tuple[fmpq, ...], basis: tuple[Element, ...], problem: PolynomialProblem) -> str:
    """Return a combination of elements as text in v0, v1, ... and the generators."""
    parts = [
        f"v{i}*({shown(problem.context.from_dict({m: c}))})" for c, (i, m) in zip(row, basis, strict=True) if c != 0
    ]
    return " + ".join(parts) or "0"

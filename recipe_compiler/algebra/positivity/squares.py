"""Sums of squares with an exact certificate: `v.T M v = sum_g g * w_g.T Q_g w_g`, every Q_g positive semidefinite.

A numerical solver proposes, exact arithmetic disposes. Where the Gram matrices have no interior, the near-kernel found
is made rational and divided out (facial reduction), and the smaller system is asked again.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from flint import fmpq, fmpq_mpoly

from recipe_compiler.algebra.positivity.exact_gram import Gram, complement, exact, kernel
from recipe_compiler.algebra.positivity.polynomial_problem import Problem, shown
from recipe_compiler.algebra.positivity.sdp import interior
from recipe_compiler.algebra.positivity.sos_system import MULTIPLIERS, Element, System, system, written_out
from recipe_compiler.algebra.scalars.transcendentals import NoNormalFormError

REDUCTIONS = 3
TOLERANCES = (1e-8, 1e-7, 1e-6, 1e-5, 1e-4)
"""Eigenvalues below this share of the largest count as zero: where the gap lies is tried out."""
PAIRED = 4
"""So many known inequalities are also multiplied with each other."""
LEAST = -1e-3
"""With the largest least eigenvalue below this, there is no use in going on."""


@dataclass(frozen=True, slots=True)
class Squares:
    """Multipliers, and for each the elements of w_g and the matrix Q_g."""

    multipliers: tuple[fmpq_mpoly, ...]
    bases: tuple[tuple[Element, ...], ...]
    grams: tuple[Gram, ...]

    def data(self, problem: Problem) -> tuple[tuple[str, str], ...]:
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


def squares(problem: Problem) -> Squares | None:
    """Return a sum of squares for the matrix of a problem, None if none was found: first without multipliers."""
    for multipliers in _multipliers(problem):
        try:
            found = _with(problem, multipliers)
        except NoNormalFormError:
            continue
        if found is not None:
            return found
    return None


def _multipliers(problem: Problem) -> Iterator[tuple[fmpq_mpoly, ...]]:
    """Yield choices of multipliers: 1 alone, with all that is known nonnegative, with products of two of these."""
    one = problem.context.constant(fmpq(1))
    yield (one,)
    known = [problem.context.gen(k) for k in sorted(problem.signs.nonnegative)]
    known += [fact.value for fact in problem.facts]
    if known:
        yield (one, *known[:MULTIPLIERS])
    if len(known) > 1:
        yield (one, *known[:MULTIPLIERS], *(p * q for p, q in combinations(known[:PAIRED], 2)))


def _with(problem: Problem, multipliers: tuple[fmpq_mpoly, ...]) -> Squares | None:
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


def _smaller(problem: Problem, found: System, near: list[np.ndarray], tolerance: float) -> System | None:
    """Return the system on the face that the near-kernels leave; None if they are none."""
    bases: list[tuple[Element, ...]] = []
    for basis, gram in zip(found.bases, near, strict=True):
        null = kernel(gram, tolerance)
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


def _element(element: Element, problem: Problem) -> str:
    """Return an element as text in v0, v1, ... and the generators."""
    parts = [f"v{i}*({shown(problem.context.from_dict({m: c}))})" for (i, m), c in element]
    return " + ".join(parts) or "0"

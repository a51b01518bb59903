"""A document with unknown scalars in some of its formulas, and the values at which its claim holds."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from random import Random

from flint import fmpq

from recipe_compiler.explain.repair.changes import with_formulas
from recipe_compiler.explain.repair.equations import defects, equations
from recipe_compiler.explain.repair.ratios import Constants, Poly, Ratio, constants, with_unknowns
from recipe_compiler.explain.repair.solve import Solution, solve
from recipe_compiler.explain.repair.sum_of_terms import number
from recipe_compiler.formula.expression import Formula
from recipe_compiler.spec.model import Dynamics
from recipe_compiler.tensor.calculus import calculus

# Which few of many unknowns can make linear equations hold: a search over the integers modulo a prime.
#
# It proposes; what it proposes is solved exactly and proved afterwards.


PRIME = 2**61 - 1
ROWS = 10
"""Random combinations of all equations that stand for them."""
MAX_SUBSETS = 4000


def supports(
    equations: Sequence[Poly], unknowns: Sequence[str], ring: Constants, largest: int, *, most: int
) -> Iterator[tuple[str, ...]]:
    """Yield small sets of unknowns that suffice to solve the equations, all others being 0; at most `most` sets.

    No set contains another, none has more than `largest` unknowns. Decided modulo a prime, at random values of the
    constants; equations of higher degree in the unknowns are left out. So a set is a guess, which is then solved
    exactly.
    """
    matrix = _matrix(equations, unknowns, ring)
    found: list[frozenset[int]] = []
    tried = 0
    for size in range(1, largest + 1):
        for subset in combinations(range(len(unknowns)), size):
            tried += 1
            if tried > MAX_SUBSETS or len(found) == most:
                return
            if any(old <= set(subset) for old in found):
                continue
            if _solvable([[row[n] for n in (*subset, -1)] for row in matrix]):
                found.append(frozenset(subset))
                yield tuple(unknowns[n] for n in subset)


def _matrix(equations: Sequence[Poly], unknowns: Sequence[str], ring: Constants) -> list[list[int]]:
    """Return the augmented matrix of random combinations of the equations, the constants at random values."""
    random = Random(1905)
    values = [random.randrange(1, PRIME) for _ in ring.names]
    columns = {ring.names.index(name): n for n, name in enumerate(unknowns)}
    width = len(unknowns) + 1
    rows = [[0] * width for _ in range(ROWS)]
    for poly in equations:
        line = _line(poly, values, columns, width)
        if line is None:
            continue
        for row in rows:
            weight = random.randrange(PRIME)
            for n, value in enumerate(line):
                if value:
                    row[n] = (row[n] + weight * value) % PRIME
    return rows


def _line(poly: Poly, values: list[int], columns: dict[int, int], width: int) -> list[int] | None:
    line = [0] * width
    for exponents, coefficient in poly.to_dict().items():
        value = int(coefficient.p) * pow(int(coefficient.q), -1, PRIME) % PRIME
        where = width - 1
        for at, exponent in enumerate(exponents):
            if exponent and at in columns:
                if exponent > 1 or where != width - 1:
                    return None
                where = columns[at]
            elif exponent:
                value = value * pow(values[at], int(exponent), PRIME) % PRIME
        line[where] = (line[where] + value) % PRIME
    return line


def _solvable(augmented: list[list[int]]) -> bool:
    """Whether the last column is a combination of the others, each of which it needs."""
    rows = [row[:] for row in augmented]
    width = len(rows[0])
    top = 0
    for col in range(width - 1):
        pivot = next((n for n in range(top, len(rows)) if rows[n][col]), None)
        if pivot is None:
            return False
        rows[top], rows[pivot] = rows[pivot], rows[top]
        inverse = pow(rows[top][col], -1, PRIME)
        for n in range(top + 1, len(rows)):
            if rows[n][col]:
                factor = rows[n][col] * inverse % PRIME
                rows[n] = [(x - factor * y) % PRIME for x, y in zip(rows[n], rows[top], strict=True)]
        top += 1
    return all(not row[-1] for row in rows[top:])


Formulas = Mapping[str, Formula]


@dataclass(frozen=True, slots=True)
class Sketch:
    """A document with extra scalar parameters, the unknowns, and the ring of polynomials in its constants and these."""

    dynamics: Dynamics
    unknowns: tuple[str, ...]
    ring: Constants

    def symbol(self, n: int) -> Ratio:
        """Return the n-th unknown."""
        return Ratio(self.ring.constant(self.unknowns[n]), self.ring.number(1))

    def equations(self, formulas: Formulas, *, derived: bool) -> list[Poly]:
        """Return what has to vanish in the document with these formulas, as polynomials (`equations.defects`)."""
        c = calculus(self.dynamics.declarations)
        return equations(defects(with_formulas(self.dynamics, formulas), derived=derived), c, self.ring)

    def solutions(
        self, given: Sequence[Poly], defaults: Mapping[str, int], others: Mapping[str, int], nonzero: frozenset[str]
    ) -> list[Solution]:
        """Return values of the unknowns in `defaults` where the polynomials vanish, `others` being fixed at 0 or 1."""
        return solve(self.specialised(given, others), defaults, self.ring, nonzero=nonzero)

    def factors(self, given: Sequence[Poly], names: Sequence[str]) -> list[Ratio]:
        """Return the nonzero values of some unknowns, taken equal, where the polynomials vanish; all others are 1."""
        first = names[0]
        tied = self.tied(given, names)
        others = {name: 1 for name in self.unknowns if name not in names}
        found = self.solutions(tied, {first: 1}, others, frozenset({first}))
        return [solution[first] for solution in found]

    def sparse(
        self, formulas: Formulas, largest: int, *, derived: bool, most: int
    ) -> Iterator[tuple[tuple[str, ...], Solution]]:
        """Yield small sets of unknowns, with values at which the document's claim holds, all other unknowns being 0."""
        given = self.equations(formulas, derived=derived)
        for subset in supports(given, self.unknowns, self.ring, largest, most=most):
            others = [name for name in self.unknowns if name not in subset]
            zeros = {name: number(0, self.ring) for name in others}
            nothing = dict.fromkeys(others, 0)
            for solution in self.solutions(given, dict.fromkeys(subset, 0), nothing, frozenset(subset)):
                yield subset, {**zeros, **solution}

    def specialised(self, polynomials: Sequence[Poly], values: Mapping[str, int]) -> list[Poly]:
        """Return the polynomials with some unknowns set to 0 or 1."""
        gone = [self.ring.names.index(name) for name, value in values.items() if not value]
        kept = {self.ring.names.index(name) for name, value in values.items() if value}
        return [self._moved(poly, gone, dict.fromkeys(kept, None)) for poly in polynomials]

    def tied(self, polynomials: Sequence[Poly], names: Sequence[str]) -> list[Poly]:
        """Return the polynomials with some unknowns set equal to the first of them."""
        first, *others = (self.ring.names.index(name) for name in names)
        return [self._moved(poly, [], dict.fromkeys(others, first)) for poly in polynomials]

    def _moved(self, poly: Poly, gone: Sequence[int], moves: Mapping[int, int | None]) -> Poly:
        """Return a polynomial without the terms that hold one of `gone`, powers moved to others, or away as 1."""
        found: dict[tuple[int, ...], fmpq] = {}
        for exponents, coefficient in poly.to_dict().items():
            if any(exponents[n] for n in gone):
                continue
            new = [0 if n in moves else int(e) for n, e in enumerate(exponents)]
            for old, at in moves.items():
                if at is not None:
                    new[at] += int(exponents[old])
            key = tuple(new)
            found[key] = found.get(key, fmpq(0)) + coefficient
        return self.ring.context.from_dict(found)


def sketch(dynamics: Dynamics, count: int) -> Sketch:
    """Return a document with `count` more scalar parameters, which its formulas may then contain as unknowns."""
    declarations, unknowns = with_unknowns(dynamics.declarations, count)
    return Sketch(replace(dynamics, declarations=declarations), unknowns, constants(declarations, unknowns))

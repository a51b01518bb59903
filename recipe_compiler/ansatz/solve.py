"""Polynomial equations in unknown constants: which few unknowns suffice, and their values as ratios of polynomials.

Which unknowns suffice for linear equations is found modulo a prime, the constants at random residues; only those are
solved for exactly. Whatever is returned is a proposal, to be proved: an unlucky residue may cost a solution, or propose
a wrong one.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from random import Random

from flint import Ordering, fmpq, fmpq_mpoly, fmpq_mpoly_ctx, nmod_mat
from sympy import QQ
from sympy.polys.fields import FracElement, FracField
from sympy.polys.rings import PolyElement

from recipe_compiler import limits
from recipe_compiler.ansatz.equations import Equation

PRIME = 2**61 - 1
SEED = 2015
MIXED = 10
"""Random combinations of all equations that stand for them where few unknowns are looked for."""

Value = FracElement
"""A ratio of polynomials in the constants."""

Solution = Mapping[str, Value]


@dataclass(frozen=True)
class System:
    """Equations in unknowns, over the ratios of polynomials in some constants."""

    equations: Sequence[Equation]
    unknowns: Sequence[str]
    field: FracField

    @cached_property
    def rows(self) -> list[list[int]]:
        """The linear equations modulo a prime, constants at random residues: coefficients, then the right-hand side."""
        random = Random(SEED)
        residues = {str(name): random.randrange(2, PRIME) for name in self.field.symbols}
        columns = {name: n for n, name in enumerate(self.unknowns)}
        found = [_linear_row(equation, residues, columns) for equation in self.equations]
        return [row for row in found if row is not None]

    def supports(self, largest: int, most: int) -> Iterator[tuple[str, ...]]:
        """Yield at most `most` small sets of unknowns that suffice where all others are 0, none within another."""
        rows, found = _combine_rows(self.rows), list[set[int]]()
        width = len(self.unknowns)
        subsets = (set(s) for size in range(1, largest + 1) for s in combinations(range(width), size))
        for _, subset in zip(range(limits.TERMS), subsets, strict=False):
            if len(found) == most:
                return
            if not any(old <= subset for old in found) and _rank_of_columns(rows, subset) == _rank_of_columns(
                rows, {*subset, width}
            ):
                found.append(subset)
                yield tuple(self.unknowns[n] for n in sorted(subset))

    def sparsest(self) -> tuple[str, ...] | None:
        """Return few unknowns that suffice where all others are 0, early ones preferred; None if there are none."""
        width = len(self.unknowns)
        best = _solve_by_columns(self.rows, list(range(width)))
        if best:
            random = Random(SEED)
            lengths = [sum(1 for row in self.rows if row[n]) for n in range(width)]
            for shuffle in range(1 + min(limits.TRIALS, limits.PAIRS // (len(self.rows) * width))):
                order = sorted(range(width), key=lambda n: lengths[n] + (2 * random.random() if shuffle else 0))
                best = min(best, _solve_by_columns(self.rows, order) or best, key=len)
        return None if best is None else tuple(self.unknowns[n] for n in sorted(best))

    def determining(self, unknowns: tuple[str, ...]) -> Sequence[Equation]:
        """Return equations that determine unknowns: all if they are few or not all linear, else independent ones."""
        if len(self.equations) <= limits.SAMPLES or len(self.rows) < len(self.equations):
            return self.equations
        columns = [n for n, name in enumerate(self.unknowns) if name in unknowns]
        reduced, rank = _matrix_mod_prime([[row[n] for row in self.rows] for n in columns]).rref()
        return [self.equations[next(k for k in range(len(self.rows)) if int(reduced[n, k]))] for n in range(rank)]

    def solutions(self, unknowns: Sequence[str]) -> list[Solution]:
        """Return values of some unknowns at which all equations vanish, all others being 0.

        An unknown that nothing determines is 0. Not all solutions are found: a branch ends where no factor of its
        shortest equation is linear in an unknown. c**2 - c a = 0 has c = 0 and c = a; c**2 - a = 0 has no factor that
        is linear in c, and nothing is returned.
        """
        return _Search(self, tuple(unknowns)).solutions()


class _Search:
    """A search through the factors of polynomials in constants and unknowns, within a number of steps."""

    def __init__(self, system: System, unknowns: tuple[str, ...]) -> None:
        self.field = system.field
        self.constants = tuple(str(name) for name in system.field.symbols)
        self.context = fmpq_mpoly_ctx.get((*self.constants, *unknowns), Ordering.degrevlex)
        self.unknowns = unknowns
        gone = {*system.unknowns} - {*unknowns}
        self.equations = [self.polynomial(equation, gone) for equation in system.determining(unknowns)]
        self.steps = 0

    def polynomial(self, equation: Equation, gone: set[str]) -> fmpq_mpoly:
        """Return an equation without denominators, `gone` unknowns being 0."""
        kept = [(number, dict(powers)) for number, powers in equation if gone.isdisjoint(dict(powers))]
        names = self.context.names()
        lowest = {name: min(0, *(powers.get(name, 0) for _, powers in kept)) if kept else 0 for name in names}
        total = self.context.constant(0)
        for number, powers in kept:
            exponents = tuple(powers.get(name, 0) - lowest[name] for name in names)
            total += self.context.from_dict({exponents: fmpq(number.numerator, number.denominator)})
        return total

    def solutions(self) -> list[Solution]:
        shortest = sorted(self.reduced(self.equations), key=len)[: limits.SAMPLES]
        found = (self.values(linear) for linear in self.branches(shortest, self.unknowns))
        return [values for values in found if values is not None]

    def reduced(self, equations: Sequence[fmpq_mpoly]) -> list[fmpq_mpoly]:
        """Return the equations that do not vanish, each once, without factors free of unknowns."""
        found: dict[str, fmpq_mpoly] = {}
        for poly in equations:
            if not poly.is_zero():
                product = self.context.constant(1)
                for part in self.factors(poly):
                    product *= part
                found[str(product)] = product
        return list(found.values())

    def factors(self, poly: fmpq_mpoly) -> list[fmpq_mpoly]:
        """Return the different factors with unknowns."""
        parts = [part for part, _ in poly.factor()[1]] if len(poly) <= limits.FACTORED else [poly]
        return [part for part in parts if self.occurring(part)]

    def occurring(self, poly: fmpq_mpoly) -> list[str]:
        return [
            name for name, degree in zip(self.unknowns, poly.degrees()[len(self.constants) :], strict=True) if degree
        ]

    def branches(self, equations: list[fmpq_mpoly], unknowns: tuple[str, ...]) -> Iterator[dict[str, fmpq_mpoly]]:
        """Yield solutions as polynomials that are linear in the unknown they determine, the last unknown first."""
        self.steps += 1
        if self.steps > limits.CANDIDATES or any(poly.is_constant() for poly in equations):
            return
        if not equations:
            yield {name: self.context.gen(self.context.variable_to_index(name)) for name in unknowns}
            return
        first, *others = sorted(equations, key=lambda poly: (len(poly), str(poly)))
        for part in self.factors(first):
            names = [name for name in self.occurring(part) if part.degrees()[self.context.variable_to_index(name)] == 1]
            if not names:
                continue
            name = min(names, key=lambda name: len(self.occurring(part.derivative(name))))
            left = self.reduced([poly.resultant(part, name) for poly in others])
            rest = tuple(other for other in unknowns if other != name)
            yield from ({**known, name: part} for known in self.branches(left, rest))

    def values(self, linear: Mapping[str, fmpq_mpoly]) -> Solution | None:
        """Return the values of unknowns that are determined one after the other, None where one is not defined."""
        found: dict[str, Value] = {}
        for name, part in linear.items():
            for other in self.occurring(part):
                if other != name:
                    top, bottom = (self.lifted(x) for x in (found[other].numer, found[other].denom))
                    part = part.resultant(bottom * self.context.gen(self.context.variable_to_index(other)) - top, other)
            slope, rest = part.derivative(name), part.subs({name: 0})
            if slope.is_zero():
                return None
            found[name] = -self.lowered(rest) / self.lowered(slope)
        return found

    def lifted(self, poly: PolyElement) -> fmpq_mpoly:
        more = (0,) * len(self.unknowns)
        terms = {(*exponents, *more): fmpq(int(x.numerator), int(x.denominator)) for exponents, x in poly.terms()}
        return self.context.from_dict(terms)

    def lowered(self, poly: fmpq_mpoly) -> Value:
        n = len(self.constants)
        terms = {exponents[:n]: QQ(int(x.p), int(x.q)) for exponents, x in poly.to_dict().items()}
        return self.field.field_new(self.field.ring.from_dict(terms))


def _linear_row(equation: Equation, residues: Mapping[str, int], columns: Mapping[str, int]) -> list[int] | None:
    """Return a linear equation modulo the prime, constant terms last; None of any other."""
    line = [0] * (len(columns) + 1)
    for number, powers in equation:
        value, at = number.numerator * pow(number.denominator, -1, PRIME), len(columns)
        for name, n in powers:
            if name not in columns:
                value = value * pow(residues[name], n, PRIME) % PRIME
            elif n != 1 or at != len(columns):
                return None
            else:
                at = columns[name]
        line[at] = (line[at] + value) % PRIME
    return line


def _combine_rows(rows: list[list[int]]) -> list[list[int]]:
    """Return random combinations of many rows."""
    if len(rows) <= MIXED:
        return rows
    random = Random(SEED)
    weights = [random.randrange(PRIME) for _ in range(MIXED * len(rows))]
    mixed = nmod_mat(MIXED, len(rows), weights, PRIME) * _matrix_mod_prime(rows)
    return [[int(x) for x in row] for row in mixed.tolist()]


def _matrix_mod_prime(rows: list[list[int]]) -> nmod_mat:
    """Return rows as a matrix modulo the prime."""
    return nmod_mat(len(rows), len(rows[0]) if rows else 0, [int(x) for row in rows for x in row], PRIME)


def _rank_of_columns(rows: list[list[int]], columns: set[int]) -> int:
    """Return the rank modulo the prime of some columns."""
    return _matrix_mod_prime([[row[n] for n in columns] for row in rows]).rank()


def _solve_by_columns(rows: list[list[int]], order: list[int]) -> list[int] | None:
    """Return the unknowns of the solution on the first independent columns in an order, None if there is none."""
    if not rows:
        return []
    reduced, rank = _matrix_mod_prime([[*(row[n] for n in order), row[-1]] for row in rows]).rref()
    pivots = [next(k for k in range(len(order) + 1) if int(reduced[n, k])) for n in range(rank)]
    if pivots and pivots[-1] == len(order):
        return None
    return [order[k] for n, k in enumerate(pivots) if int(reduced[n, len(order)])]

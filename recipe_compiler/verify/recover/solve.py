"""Linear equations whose coefficients are polynomials in sizes and parameters, solved for rational functions of these.

The equations are first solved modulo a prime, sizes and parameters replaced by random residues. That shows which
unknowns are needed; only those are then solved for exactly. A solution is a proposal and is verified elsewhere, so
that an unlucky residue costs an answer, never a wrong one.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from random import Random
from typing import Any, cast

import sympy
from flint import fmpq, fmpq_mat, nmod_mat
from sympy.polys.matrices import DomainMatrix

PRIME = 2**61 - 1
SEED = 2015
FEW = 3
"""Solutions of so few unknowns are taken as they come; for larger ones a sparser one is looked for."""
SHUFFLES, CELLS = 12, 3_000_000
"""Orders tried for that, and the numbers they may be written with."""
LARGEST_EXACT = 40
"""More unknowns than this are not solved for where sizes or parameters enter the equations."""

Indeterminate = Hashable
"""A size or a scalar parameter."""

Powers = tuple[tuple[Indeterminate, int], ...]

Entry = tuple[tuple[Fraction, Powers], ...]
"""A coefficient: a sum of numbers times whole powers of indeterminates."""

Column = Mapping[Hashable, Entry]
"""What one unknown is multiplied with, equation by equation."""


@dataclass(frozen=True, slots=True)
class Coefficient:
    """The value of an unknown: a quotient of polynomials in the indeterminates."""

    top: Entry
    bottom: Entry


@dataclass(slots=True)
class Indeterminates:
    """The sizes and scalar parameters met in the equations, and what those stand for that name a sum of others."""

    found: list[Indeterminate] = field(default_factory=list[Indeterminate])
    meaning: dict[Indeterminate, Entry] = field(default_factory=dict[Indeterminate, Entry])

    def note(self, indeterminate: Indeterminate, meaning: Entry | None = None) -> None:
        """Add an indeterminate; with `meaning` if it is a name for a sum of others, noted before it."""
        if indeterminate not in self.found:
            self.found.append(indeterminate)
            if meaning is not None:
                self.meaning[indeterminate] = meaning

    @property
    def free(self) -> list[Indeterminate]:
        """Those that stand for themselves."""
        return [indeterminate for indeterminate in self.found if indeterminate not in self.meaning]


Solution = tuple[tuple[int, Coefficient], ...]
"""The number of an unknown with its value; the others are zero."""


def solve(columns: Sequence[Column], target: Column, indeterminates: Indeterminates) -> Solution | None:
    """Return a solution of sum_k x_k columns[k] = target in few unknowns, early ones preferred; None if none is seen.

    x_k are rational functions of the indeterminates. Which unknowns are needed is found modulo a prime, at random
    residues of the indeterminates; only those are solved for exactly. An unlucky residue may miss a solution, or
    propose a wrong one, which verification rejects.
    """
    rows = list(dict.fromkeys(key for column in (target, *columns) for key in column))
    if not target:
        return ()
    residues = _residues(indeterminates)
    table = [[residues(column.get(row, ())) for column in (*columns, target)] for row in rows]
    chosen = _sparsest(table, [len(column) for column in columns])
    if chosen is None:
        return None
    equations = _independent([[line[k] for k in chosen] for line in table])
    kept = [columns[k] for k in chosen]
    picked = [rows[n] for n in equations]
    if not any(powers for column in (target, *kept) for entry in column.values() for _, powers in entry):
        values = _rational(kept, target, picked)
    elif len(chosen) <= LARGEST_EXACT:
        values = _functions(kept, target, picked, indeterminates)
    else:
        return None
    return tuple((k, value) for k, value in zip(chosen, values, strict=True) if value.top)


def _residues(indeterminates: Indeterminates) -> Callable[[Entry], int]:
    """Return the value of an entry modulo the prime, at random residues of the indeterminates."""
    random = Random(SEED)
    known: dict[Indeterminate, int] = {}

    def value(entry: Entry) -> int:
        total = 0
        for number, powers in entry:
            term = number.numerator * pow(number.denominator, -1, PRIME)
            for indeterminate, n in powers:
                term = term * pow(known[indeterminate], n, PRIME) % PRIME
            total += term
        return total % PRIME

    for indeterminate in indeterminates.found:
        meaning = indeterminates.meaning.get(indeterminate)
        known[indeterminate] = random.randrange(2, PRIME) if meaning is None else value(meaning)
    return value


def _sparsest(table: list[list[int]], lengths: list[int]) -> list[int] | None:
    """Return the unknowns of a solution with few of them: the fewest over some orders, the first order if in doubt."""
    given = list(range(len(lengths)))
    first = _needed(table, given)
    if first is None or len(first) <= FEW:
        return first
    random = Random(SEED)
    orders = [sorted(given, key=lambda k: lengths[k])]
    for _ in range(min(SHUFFLES, CELLS // (len(table) * len(given)))):
        noise = [random.random() for _ in given]
        orders.append(sorted(given, key=lambda k: lengths[k] + 2 * noise[k]))
    found = [first, *(chosen for order in orders if (chosen := _needed(table, order)) is not None)]
    return min(found, key=len)


def _needed(table: list[list[int]], order: list[int]) -> list[int] | None:
    """Return the unknowns of the solution on the first independent columns in an order, None if there is none."""
    width = len(order)
    moved = [[*(line[k] for k in order), line[-1]] for line in table]
    chosen = _basic(moved, width)
    return None if chosen is None else sorted(order[k] for k in chosen)


def _basic(table: list[list[int]], width: int) -> list[int] | None:
    reduced, rank = nmod_mat(len(table), width + 1, [x for line in table for x in line], PRIME).rref()
    pivots = [next(k for k in range(width + 1) if int(reduced[n, k])) for n in range(rank)]
    if pivots and pivots[-1] == width:
        return None
    return [k for n, k in enumerate(pivots) if int(reduced[n, width])]


def _independent(table: list[list[int]]) -> list[int]:
    """Return as many equations as there are unknowns, enough to determine them."""
    height, width = len(table), len(table[0])
    transposed = nmod_mat(width, height, [table[n][k] for k in range(width) for n in range(height)], PRIME)
    reduced, rank = transposed.rref()
    return [next(k for k in range(height) if int(reduced[n, k])) for n in range(rank)]


def _rational(columns: list[Column], target: Column, rows: list[Hashable]) -> list[Coefficient]:
    def value(entry: Entry) -> fmpq:
        total = sum((number for number, _ in entry), Fraction(0))
        return fmpq(total.numerator, total.denominator)

    n = len(columns)
    left = fmpq_mat(n, n, [value(column.get(row, ())) for row in rows for column in columns])
    right = fmpq_mat(n, 1, [value(target.get(row, ())) for row in rows])
    found = left.solve(right)
    values = [Fraction(int(found[k, 0].p), int(found[k, 0].q)) for k in range(n)]
    return [Coefficient(((value, ()),) if value else (), ((Fraction(1), ()),)) for value in values]


def _functions(
    columns: list[Column], target: Column, rows: list[Hashable], indeterminates: Indeterminates
) -> list[Coefficient]:
    free = indeterminates.free
    domain: Any = sympy.QQ.frac_field(*[sympy.Symbol(f"g{n}") for n in range(len(free))])
    known: dict[Indeterminate, Any] = dict(zip(free, domain.gens, strict=True))

    def value(entry: Entry) -> Any:
        total = domain.zero
        for number, powers in entry:
            term = domain.from_QQ(sympy.QQ(number.numerator, number.denominator), sympy.QQ)
            for indeterminate, n in powers:
                term = term * known[indeterminate] ** n
            total += term
        return total

    for indeterminate, meaning in indeterminates.meaning.items():
        known[indeterminate] = value(meaning)
    n = len(columns)
    table = [[value(column.get(row, ())) for column in (*columns, target)] for row in rows]
    reduced, _ = cast(Any, DomainMatrix(table, (n, n + 1), domain)).to_sparse().rref()
    values = [reduced[k, n].element for k in range(n)]
    return [Coefficient(_entry(value.numer, free), _entry(value.denom, free)) for value in values]


def _entry(polynomial: Any, free: list[Indeterminate]) -> Entry:
    """Return a polynomial of SymPy's ring as an entry."""
    return tuple(
        (
            Fraction(int(number.numerator), int(number.denominator)),
            tuple((indeterminate, n) for indeterminate, n in zip(free, powers, strict=True) if n),
        )
        for powers, number in polynomial.terms()
    )

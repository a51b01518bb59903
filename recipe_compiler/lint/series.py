"""A traced step by powers of the step size and by draws: every operation on expansions, as far as they are known.

The coefficients are SymPy scalars that hold neither eps nor draws; nothing is simplified. A function of the document is
expanded by Taylor's formula about the state, which its smoothness allows.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations_with_replacement
from math import factorial
from typing import cast

import sympy
from sympy import Expr, Symbol

from recipe_compiler.algebra.scalars.elementwise import FUNCTIONS, Corner
from recipe_compiler.algebra.scalars.rationals import fraction, rational
from recipe_compiler.algebra.scalars.sign_cells import Cell, off_kinks
from recipe_compiler.algebra.scalars.transcendentals import NoNormalFormError
from recipe_compiler.algebra.zero.zero import is_zero
from recipe_compiler.lint.answer import Operation, Trace
from recipe_compiler.verify.updates.expansion import (
    ZERO,
    Grading,
    Monomial,
    NoExpansionError,
    Terms,
    added,
    expanded,
    has_powers_only,
    lowest,
    multiplied,
    written,
)

MOST_POWERS = 8
EXACT = Fraction(10**6)
"""Known to this power: wholly known."""
NONE: Monomial = (ZERO, ())


@dataclass(frozen=True, slots=True)
class ScalarSeries:
    """An expansion, complete up to a power of eps."""

    terms: Terms
    known: Fraction

    @property
    def low(self) -> Fraction:
        """Return the lowest power that may occur."""
        return lowest(self.terms) if self.terms else self.known

    @property
    def high(self) -> Fraction:
        """Return the highest power that occurs."""
        return max((power for power, _ in self.terms), default=ZERO)

    @property
    def first(self) -> Expr:
        """Return the part that holds neither eps nor draws."""
        return self.terms.get(NONE, sympy.Integer(0))


@dataclass(frozen=True, slots=True)
class Meaning:
    """What the names of a trace mean at fixed sizes."""

    z: tuple[Symbol, ...]
    eps: Symbol
    leaves: Mapping[str, tuple[Expr, ...]]
    """Argument to its entries."""
    points: Mapping[str, tuple[Symbol, ...]]
    """Argument that is a function to the coordinates it is one of."""


class TraceReading:
    """One pass over a trace, every operation read once."""

    def __init__(self, trace: Trace, meaning: Meaning, top: Fraction) -> None:
        self.trace = trace
        self.meaning = meaning
        self.top = top
        self.draws = tuple(Symbol(f"draw.{k}", real=True) for k in range(trace.draws))
        self.powers: dict[Symbol, Fraction] = dict.fromkeys(self.draws, ZERO)
        """The power of eps that each draw carries: half of the lowest one in its covariance."""
        self.groups = {k: group for group in trace.groups for k in group[0]}
        self.found: list[ScalarSeries | NoExpansionError] = []
        for operation in trace.operations:
            try:
                self.found.append(self._read(operation))
            except NoExpansionError as error:
                self.found.append(error)

    def of(self, place: int) -> ScalarSeries:
        """Return the expansion of one operation.

        Raises:
            NoExpansionError: it, or what it is made of, has none that is known.
        """
        found = self.found[place]
        if isinstance(found, NoExpansionError):
            raise NoExpansionError(str(found))
        return found

    def written(self, series: ScalarSeries) -> Expr:
        """Return an expansion as one expression."""
        return written(series.terms, self.meaning.eps)

    def _read(self, operation: Operation) -> ScalarSeries:
        parts = [self.of(k) for k in operation.parts]
        match operation.op:
            case "number":
                return self._exact(rational(operation.value))
            case "pi":
                return self._exact(sympy.pi)
            case "leaf":
                return self._leaf(operation)
            case "draw":
                return self._draw(operation.position)
            case "add":
                return self._upto(added([part.terms for part in parts]), min(part.known for part in parts))
            case "mul":
                return self._product(*parts)
            case "pow":
                return self._power(*parts)
            case "call":
                return self._call(operation.name, parts[0])
            case "min" | "uniform":
                raise NoExpansionError("the smaller of two values, or a uniform draw")
            case _:
                return self._field(operation, parts)

    def _exact(self, e: Expr) -> ScalarSeries:
        return ScalarSeries({NONE: e} if e != 0 else {}, EXACT)

    def _upto(self, terms: Terms, known: Fraction) -> ScalarSeries:
        """Return terms up to the last power kept; what is left out is not known."""
        known = min(known, self.top) if any(power > self.top for power, _ in terms) else known
        return ScalarSeries({key: value for key, value in terms.items() if key[0] <= known}, known)

    def _leaf(self, operation: Operation) -> ScalarSeries:
        entries = self.meaning.leaves.get(operation.name, ())
        if operation.position >= len(entries):
            raise NoExpansionError(f"{operation.name} has no entry {operation.position}")
        e = entries[operation.position]
        if e == self.meaning.eps:
            return ScalarSeries({(Fraction(1), ()): sympy.Integer(1)}, EXACT)
        e = off_kinks(e)
        if self._is_constant(e):
            return self._exact(e)
        return self._upto(expanded(e, self._grading), EXACT if has_powers_only(e, self.meaning.eps) else self.top)

    def _draw(self, k: int) -> ScalarSeries:
        draw, known = self.draws[k], EXACT
        if k in self.groups:
            entries = [self.of(place) for place in self.groups[k][1]]
            upto = min(entry.known for entry in entries)  # so far the product of two draws is to be known
            low = min((lowest(entry.terms) for entry in entries if entry.terms), default=ZERO)
            if upto < EXACT and not any(entry.terms for entry in entries):
                low = upto
            self.powers[draw] = low / 2
            known = upto if upto == EXACT else upto - low / 2
        return self._upto({(self.powers[draw], (draw,)): sympy.Integer(1)}, known)

    def _product(self, x: ScalarSeries, y: ScalarSeries) -> ScalarSeries:
        known = min(x.known + y.low, y.known + x.low, EXACT)
        if x.high + y.high > self.top:
            known = min(known, self.top)
        return self._upto(multiplied(x.terms, y.terms, self.top), known)

    def _power(self, base: ScalarSeries, exponent: ScalarSeries) -> ScalarSeries:
        if set(exponent.terms) - {NONE}:
            return self._exponential(base, exponent)
        e = exponent.first
        if isinstance(e, sympy.Integer) and 0 <= int(e) <= MOST_POWERS:
            found = self._exact(sympy.Integer(1))
            for _ in range(int(e)):
                found = self._product(found, base)
            return found
        base = self.leading(base)
        if not base.terms:
            raise NoExpansionError("a power of zero")
        if not isinstance(e, sympy.Rational):
            return self._expanded(self.written(base) ** e, base.known)
        low, q = base.low, fraction(e)
        if set(base.terms) == {(low, ())} and base.known == EXACT:
            return self._upto({(low * q, ()): base.terms[low, ()] ** e}, EXACT)
        return self._expanded(self.written(base) ** e, low * q + base.known - low)

    def _exponential(self, base: ScalarSeries, exponent: ScalarSeries) -> ScalarSeries:
        """Return a power whose exponent is no constant, as exp(exponent log(base))."""
        base = self.leading(base)
        if base.low != 0 or exponent.low < 0:
            raise NoExpansionError("a power whose exponent holds the step size or a draw, of what vanishes with eps")
        whole = sympy.exp(self.written(exponent) * sympy.log(self.written(base)), evaluate=False)
        return self._expanded(whole, min(base.known, exponent.known))

    def leading(self, series: ScalarSeries) -> ScalarSeries:
        """Return an expansion whose lowest terms are not zero, as far as the normal form sees it."""
        terms = dict(series.terms)
        for key in sorted(terms, key=lambda key: (key[0], len(key[1]))):
            try:
                if not is_zero(terms[key]):
                    break
            except NoNormalFormError:
                break
            del terms[key]
        return ScalarSeries(terms, series.known)

    def _call(self, function: str, x: ScalarSeries) -> ScalarSeries:
        if FUNCTIONS[function].corner is not Corner.NONE:
            return self._side(function, x)
        if x.low < 0:
            raise NoExpansionError(f"{function} of what grows as eps becomes small")
        if function == "log":
            x = self.leading(x)
        return self._expanded(FUNCTIONS[function].scalar(self.written(x)), x.known)

    def _side(self, function: str, x: ScalarSeries) -> ScalarSeries:
        """Return |x| or sign(x) by the side of its kink that the state lies on."""
        x = self.leading(x)
        if x.low != 0 or {key for key in x.terms if key[0] == 0} != {NONE}:
            raise NoExpansionError(f"{function} of what vanishes with eps, or of a draw")
        side = self._exact(cast(Expr, Cell(x.first)))
        return side if function == "sign" else self._product(side, x)

    def _expanded(self, e: Expr, known: Fraction) -> ScalarSeries:
        found = expanded(e, self._grading)
        return self._upto(found, known if self._is_constant(e) else min(known, self.top))

    def _is_constant(self, e: Expr) -> bool:
        return self._grading.apart(e)

    @property
    def _grading(self) -> Grading:
        return Grading(self.meaning.eps, self.top, self.powers)

    def _field(self, operation: Operation, parts: Sequence[ScalarSeries]) -> ScalarSeries:
        """Return a function of the document at the point z + delta, by Taylor's formula about z."""
        entries = self.meaning.leaves.get(operation.name, ())
        z = self.meaning.points.get(operation.name, ())
        if operation.position >= len(entries) or len(parts) != len(z):
            raise NoExpansionError(f"{operation.name} at a point of another shape")
        f = off_kinks(entries[operation.position])
        deltas = [added([part.terms, {NONE: -x}]) for part, x in zip(parts, z, strict=True)]
        deltas = [self.leading(ScalarSeries(delta, EXACT)).terms for delta in deltas]
        known = min(part.known for part in parts)
        moved = [k for k, delta in enumerate(deltas) if delta]
        low = min((lowest(deltas[k]) for k in moved), default=self.top)
        if low <= 0:
            raise NoExpansionError(f"{operation.name} at a point that is not the state in the limit eps -> 0")
        found: list[Terms] = [self._exact(f).terms]
        degree = 1
        while moved and low * degree <= min(known, self.top):
            found += [self._share(f, z, deltas, along) for along in combinations_with_replacement(moved, degree)]
            degree += 1
        return self._upto(added(found), min(known, self.top) if moved else known)

    def _share(self, f: Expr, z: tuple[Symbol, ...], deltas: Sequence[Terms], along: tuple[int, ...]) -> Terms:
        """Return the term of Taylor's formula along some coordinates."""
        slope = sympy.diff(f, *(z[k] for k in along))
        if slope == 0:
            return {}
        times = 1
        for k in set(along):
            times *= factorial(along.count(k))
        found: Terms = {NONE: slope / times}
        for k in along:
            found = multiplied(found, deltas[k], self.top)
        return found

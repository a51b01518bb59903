"""Sums, products, powers, functions and derivatives of tensors.

`Calculus` holds the declared facts and nothing else. Indices that two operands share are the same index (nothing is
summed); `total` sums.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product

from recipe_compiler.errors import CompilerError
from recipe_compiler.formula.declaration import Declarations
from recipe_compiler.formula.shapes import Size
from recipe_compiler.tensor.atoms import ONE, indices
from recipe_compiler.tensor.calculus_protocol import as_number, constant
from recipe_compiler.tensor.canonical import collect
from recipe_compiler.tensor.derivative import term_derivative
from recipe_compiler.tensor.functions import applied
from recipe_compiler.tensor.inverses import determinant, inverse, size_number
from recipe_compiler.tensor.order import sorted_indices, spell_factors
from recipe_compiler.tensor.powers import power, whole
from recipe_compiler.tensor.rules import Rules, rules_of
from recipe_compiler.tensor.terms import (
    Atom,
    Component,
    Coordinate,
    Delta,
    Grid,
    Index,
    Slot,
    Tensor,
    Term,
)
from recipe_compiler.tensor.zero import vanishes


@dataclass(frozen=True, slots=True)
class Calculus:
    """The operations on tensors under declared facts."""

    rules: Rules

    def zero(self, *free: Index) -> Tensor:
        """Return zero with the given free indices."""
        return Tensor(sorted_indices(free), ())

    def constant(self, value: Fraction | int) -> Tensor:
        """Return a number."""
        return constant(value)

    def size(self, size: Size) -> Tensor:
        """Return a size as a number: the `d` of `r/d`."""
        return size_number(size)

    def delta(self, left: Slot, right: Slot) -> Tensor:
        """Return Kronecker's delta: an entry of the identity."""
        return self.atom(Delta(left, right))

    def coordinate(self, block: str, *at: Slot) -> Tensor:
        """Return a coordinate of the state."""
        return self.atom(Coordinate(block, at))

    def component(self, name: str, *at: Slot) -> Tensor:
        """Return a component of a parameter, function or data field; `delta_ij A_ii` for a diagonal matrix."""
        if name in self.rules.diagonal and len(at) == 2:
            return self.multiply(self.delta(*at), self.atom(Component(name, (at[0], at[0]))))
        return self.atom(Component(name, at))

    def atom(self, atom: Atom, exponent: Fraction | int = 1) -> Tensor:
        """Return a power of an atom whose indices are all free."""
        factors = ((atom, Fraction(exponent)),)
        return self.collect([Term(ONE, factors)], indices(factors))

    def collect(self, terms: Iterable[Term], free: Iterable[Index]) -> Tensor:
        """Return the canonical form of terms, each summed over its indices that are not in `free`."""
        return collect(self, ((term,) for term in terms), free)

    def add(self, *tensors: Tensor) -> Tensor:
        """Return the sum; one that lacks a free index of another is the same at every place of it."""
        found: dict[str, Term] = {}
        for tensor in tensors:
            for term in tensor.terms:
                name = spell_factors(term.factors)
                old = found.get(name)
                found[name] = Term(term.coefficient + old.coefficient, term.factors) if old else term
        terms = tuple(found[name] for name in sorted(found) if found[name].coefficient)
        return Tensor(sorted_indices(index for tensor in tensors for index in tensor.free), terms)

    def scale(self, tensor: Tensor, factor: Fraction | int) -> Tensor:
        """Return a rational multiple."""
        if not factor:
            return Tensor(tensor.free, ())
        return Tensor(tensor.free, tuple(Term(term.coefficient * factor, term.factors) for term in tensor.terms))

    def subtract(self, left: Tensor, right: Tensor) -> Tensor:
        """Return `left - right`."""
        return self.add(left, self.scale(right, -1))

    def multiply(self, *tensors: Tensor) -> Tensor:
        """Return the product, entry by entry where indices are shared; nothing is summed."""
        if self.rules.stated and sum(as_number(tensor) is None for tensor in tensors) > 1:
            tensors = tuple(whole(self, tensor) for tensor in tensors)
        return self.distribute(*tensors)

    def distribute(self, *tensors: Tensor) -> Tensor:
        """Return the product as `multiply` does, term by term of every factor."""
        result = constant(1)
        for tensor in tensors:
            result = self._times(result, tensor)
        return result

    def total(self, tensor: Tensor, *over: Index) -> Tensor:
        """Return the sum over free indices; a term without one of them is multiplied by its size."""
        if not over:
            return tensor
        if not set(over) <= set(tensor.free):
            raise CompilerError(f"total over {over} of a tensor with free indices {tensor.free}")
        result = Tensor(tuple(index for index in tensor.free if index not in over), ())
        terms: list[Tensor] = []
        for term in tensor.terms:
            missing = [index for index in over if index not in indices(term.factors)]
            summed = self.collect([term], result.free)
            terms.append(self.multiply(summed, *(self.size(index.size) for index in missing)) if missing else summed)
        return self.add(result, *terms)

    def rename(self, tensor: Tensor, moves: Mapping[Index, Slot]) -> Tensor:
        """Replace free indices by indices or positions, all at once; two that become one are the same from then on."""
        moves = {old: new for old, new in moves.items() if old != new and old in tensor.free}
        if not moves:
            return tensor
        free = [slot for slot in (moves.get(index, index) for index in tensor.free) if isinstance(slot, Index)]
        return collect(self, ((term,) for term in tensor.terms), free, moves)

    def power(self, tensor: Tensor, exponent: Fraction | int) -> Tensor:
        """Return a rational power, entry by entry."""
        return power(self, tensor, Fraction(exponent))

    def applied(self, fn: str, *args: Tensor) -> Tensor:
        """Return a scalar function of index expressions, entry by entry; `where >` and the like take four."""
        return applied(self, fn, args)

    def inverse(self, grid: Grid, at: tuple[Slot, Slot]) -> Tensor:
        """Return an entry of the inverse of a matrix."""
        return inverse(self, grid, at)

    def determinant(self, grid: Grid, *, log: bool = False) -> Tensor:
        """Return the determinant of a matrix, or its logarithm."""
        return determinant(self, grid, log=log)

    def diff(self, tensor: Tensor, coordinate: Coordinate, *, almost_everywhere: bool = False) -> Tensor:
        """Return the partial derivative by a coordinate, whose indices are free in the result."""
        free = sorted_indices((*tensor.free, *(slot for slot in coordinate.at if isinstance(slot, Index))))
        parts = [
            term_derivative(self, term, tensor.free, coordinate, almost_everywhere=almost_everywhere)
            for term in tensor.terms
        ]
        return self.add(Tensor(free, ()), *parts)

    def is_zero(self, tensor: Tensor) -> bool:
        """Whether a tensor is shown to be zero: its terms cancel, at once or over common denominators."""
        if not self.rules.stated:
            return vanishes(self, tensor)
        return vanishes(self.plain, self.plain.collect(tensor.terms, tensor.free))

    @property
    def plain(self) -> "Calculus":
        """The calculus that multiplies out what its formulas keep factored."""
        return Calculus(replace(self.rules, stated=False)) if self.rules.stated else self

    def settled(self, tensor: Tensor) -> Tensor:
        """Return zero where the tensor is shown to be zero, else the tensor as it is."""
        return Tensor(tensor.free, ()) if self.is_zero(tensor) else tensor

    def _times(self, left: Tensor, right: Tensor) -> Tensor:
        free = sorted_indices((*left.free, *right.free))
        if left.terms == (Term(ONE),):
            return Tensor(free, right.terms)
        return collect(self, product(left.terms, right.terms), free)


def calculus(declarations: Declarations, *, stated: bool = False) -> Calculus:
    """Return the calculus of a document's declarations; with `stated`, one that keeps the factors of its formulas."""
    return Calculus(replace(rules_of(declarations), stated=stated))

"""Sums, products, powers, functions and derivatives of tensors.

`Calculus` holds the declared facts and nothing else. The free indices of a tensor are its axes: none for a scalar, one
for a vector, two for a matrix. Indices that two operands share are the same index and nothing is summed, so that
`multiply` is NumPy's broadcasting product; `total` sums. All coefficients are exact fractions, sizes may be symbols.
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
from recipe_compiler.tensor.inverses import cholesky, determinant, inverse, size_number
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
    """The operations on tensors under declared facts; each returns a tensor in canonical form.

    With A and r declared (d x d and d), c.total(c.multiply(A_ij, r_j), j) is the vector A r with the free index i.
    """

    rules: Rules

    def zero(self, *free: Index) -> Tensor:
        """Return zero with the given free indices: the zero vector or matrix of their sizes."""
        return Tensor(sorted_indices(free), ())

    def constant(self, value: Fraction | int) -> Tensor:
        """Return a number, a tensor without free indices."""
        return constant(value)

    def size(self, size: Size) -> Tensor:
        """Return a size as a number: the `d` of `r/d`."""
        return size_number(size)

    def delta(self, left: Slot, right: Slot) -> Tensor:
        """Return Kronecker's delta_ij, the entry of the identity: 1 where the slots agree, else 0."""
        return self.atom(Delta(left, right))

    def coordinate(self, block: str, *at: Slot) -> Tensor:
        """Return a coordinate z_i of a block of the state, one slot per axis of the block."""
        return self.atom(Coordinate(block, at))

    def component(self, name: str, *at: Slot) -> Tensor:
        """Return a component A_ij of a parameter, function or data field.

        For a matrix declared diagonal this is delta_ij A_ii.
        """
        if name in self.rules.diagonal and len(at) == 2:
            return self.multiply(self.delta(*at), self.atom(Component(name, (at[0], at[0]))))
        return self.atom(Component(name, at))

    def atom(self, atom: Atom, exponent: Fraction | int = 1) -> Tensor:
        """Return a power of an atom whose indices are all free."""
        factors = ((atom, Fraction(exponent)),)
        return self.collect([Term(ONE, factors)], indices(factors))

    def collect(self, terms: Iterable[Term], free: Iterable[Index]) -> Tensor:
        """Return the canonical form of a sum of terms, each summed over its indices that are not in `free`."""
        return collect(self, ((term,) for term in terms), free)

    def add(self, *tensors: Tensor) -> Tensor:
        """Return the sum; a tensor that lacks a free index of another is constant along it."""
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
        """Return the product entry by entry, A_ij r_j without a sum over j; its free indices are those of all operands.

        Where the calculus keeps factors as stated (`Rules.stated`), sums stay factors; otherwise they are multiplied
        out.
        """
        if self.rules.stated and sum(as_number(tensor) is None for tensor in tensors) > 1:
            tensors = tuple(whole(self, tensor) for tensor in tensors)
        return self.distribute(*tensors)

    def distribute(self, *tensors: Tensor) -> Tensor:
        """Return the product as `multiply` does, term by term of every factor."""
        result = constant(1)
        for tensor in tensors:
            result = self._multiply_two(result, tensor)
        return result

    def total(self, tensor: Tensor, *over: Index) -> Tensor:
        """Return the sum over free indices; a term that does not depend on one of them is multiplied by its size.

        sum_i 1 = d for i of size d. Raises CompilerError if an index is not free in the tensor.
        """
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
        """Replace free indices by indices or literal positions, all at once.

        Two that become one index are the same from then on: A_ij with {j: i} is the diagonal A_ii, not the trace.
        """
        moves = {old: new for old, new in moves.items() if old != new and old in tensor.free}
        if not moves:
            return tensor
        free = [slot for slot in (moves.get(index, index) for index in tensor.free) if isinstance(slot, Index)]
        return collect(self, ((term,) for term in tensor.terms), free, moves)

    def power(self, tensor: Tensor, exponent: Fraction | int) -> Tensor:
        """Return the rational power entry by entry.

        Raises ModelError for 0**-1 or for fractional powers of negative numbers.
        """
        return power(self, tensor, Fraction(exponent))

    def applied(self, fn: str, *args: Tensor) -> Tensor:
        """Return a scalar function of index expressions, entry by entry.

        `where >`, `where <=` and the like take four arguments: the two sides of the condition, then the two branches.
        """
        return applied(self, fn, args)

    def inverse(self, grid: Grid, at: tuple[Slot, Slot]) -> Tensor:
        """Return the entry inv(A)_ij of the inverse of a square matrix, entry by entry where A is diagonal."""
        return inverse(self, grid, at)

    def determinant(self, grid: Grid, *, log: bool = False) -> Tensor:
        """Return the scalar det(A) of a square matrix, or log det(A)."""
        return determinant(self, grid, log=log)

    def cholesky(self, grid: Grid, at: tuple[Slot, Slot]) -> Tensor:
        """Return the entry L_ij of the Cholesky factor of a positive definite matrix, A = L L.T."""
        return cholesky(self, grid, at)

    def diff(self, tensor: Tensor, coordinate: Coordinate, *, almost_everywhere: bool = False) -> Tensor:
        """Return the partial derivative d tensor / d z_j; the indices of the coordinate are free in the result, too.

        The derivative of a vector v_i by theta_j is the Jacobian with the free indices i and j. Raises ModelError
        across a jump (of sign, or of a `where` whose branches are not shown to meet), unless `almost_everywhere` is
        set: then the derivative off the jump is returned.
        """
        free = sorted_indices((*tensor.free, *(slot for slot in coordinate.at if isinstance(slot, Index))))
        parts = [
            term_derivative(self, term, tensor.free, coordinate, almost_everywhere=almost_everywhere)
            for term in tensor.terms
        ]
        return self.add(Tensor(free, ()), *parts)

    def is_zero(self, tensor: Tensor) -> bool:
        """Whether a tensor is shown to be zero, at every size: its terms cancel, at once or over common denominators.

        False means that nothing was shown, not that the tensor is different from zero.
        """
        if not self.rules.stated:
            return vanishes(self, tensor)
        return vanishes(self.plain, self.plain.collect(tensor.terms, tensor.free))

    @property
    def plain(self) -> "Calculus":
        """The calculus that multiplies out what its formulas keep factored."""
        return Calculus(replace(self.rules, stated=False)) if self.rules.stated else self

    def settled(self, tensor: Tensor) -> Tensor:
        """Return zero (with the same free indices) if the tensor is shown to be zero, else the tensor unchanged."""
        return Tensor(tensor.free, ()) if self.is_zero(tensor) else tensor

    def _multiply_two(self, left: Tensor, right: Tensor) -> Tensor:
        """Return the canonical product of two tensors, entry by entry."""
        free = sorted_indices((*left.free, *right.free))
        if left.terms == (Term(ONE),):
            return Tensor(free, right.terms)
        return collect(self, product(left.terms, right.terms), free)


def calculus(declarations: Declarations, *, stated: bool = False) -> Calculus:
    """Return the calculus of a document's declarations; with `stated`, one that keeps the factors of its formulas.

    Proofs use the first, in which equal expressions get equal terms; emitted code uses the second, which rounds as the
    formula does that the author wrote.
    """
    return Calculus(replace(rules_of(declarations), stated=stated))

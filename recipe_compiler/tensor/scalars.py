"""Tensors at fixed sizes as SymPy scalars: sums written out, deltas evaluated.

The way from the first engine to numbers.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from math import prod
from typing import Any, cast

import sympy

from recipe_compiler.algebra.scalars.matrices import cholesky
from recipe_compiler.algebra.scalars.sign_cells import chosen
from recipe_compiler.errors import CompilerError
from recipe_compiler.formula.elementwise import FUNCTIONS
from recipe_compiler.formula.shapes import Size, Sizes
from recipe_compiler.formula.sympy_functions import scalar
from recipe_compiler.tensor.atoms import Factor, indices, moved
from recipe_compiler.tensor.terms import (
    Applied,
    Atom,
    Base,
    Component,
    Coordinate,
    Delta,
    Grid,
    Index,
    MatrixFunction,
    Pi,
    SizeNumber,
    Slot,
    Tensor,
    Term,
)

Scalar = Any
"""A SymPy expression; SymPy ships no types."""

Leaf = Callable[[Atom], Scalar | None]
"""Gives a coordinate or component (slots are integers) its expression. It is called for entries of inverses and
determinants too, and may return None: then they are computed from the entries of their matrix.
"""

Where = Callable[[str, Scalar, Scalar, Scalar, Scalar], Scalar]
"""Gives `where(left op right, yes, no)` of its comparison and those four."""

Sums = dict[tuple[tuple[Factor, ...], tuple[int, ...]], Scalar]
"""Sums by their factors and the positions of the indices that are not summed over, in order."""


MATRIX_FUNCTIONS: Mapping[str, Callable[[Scalar], Scalar]] = {
    "inv": lambda A: A.lower_triangular_solve(sympy.eye(A.rows)) if A.is_lower else A.inv(method="ADJ"),
    "det": lambda A: A.det(method="berkowitz"),
    "logdet": lambda A: sympy.log(A.det(method="berkowitz")),
    "cholesky": lambda A: sympy.Matrix(cholesky(A.tolist())),
}


def scalarise(
    tensor: Tensor,
    sizes: Sizes,
    at: Mapping[Index, int],
    leaf: Leaf,
    *,
    apart: bool = False,
    sums: Sums | None = None,
    where: Where = chosen,
) -> Scalar:
    """Return the entry of a tensor at `at`, a position from 0 for every free index, sums running over 0 .. size - 1.

    sum_j A_ij x_j at i = 0 and d = 2 is A[0,0] x[0] + A[0,1] x[1]. `leaf` gives coordinates and components their
    values. With `apart`, sums that share no index are multiplied as sums, (sum_j x_j)(sum_k y_k): far fewer operations
    where leaves are numbers; they are kept in `sums`, if given, as the entries of one tensor have them in common. A
    `where` is written by signs, true at every point, or as the argument `where` writes it.

    Raises:
        CompilerError: a free index has no position, or a component no value.
    """
    return _Evaluation(sizes, leaf, apart, {} if sums is None else sums, where).tensor(tensor, at)


@dataclass(slots=True)
class _Evaluation:
    """One evaluation of tensors at fixed sizes: values of atoms, and sums and matrices computed so far."""

    sizes: Sizes
    leaf: Leaf
    apart: bool
    sums: Sums
    where: Where
    matrices: dict[tuple[str, Grid], Scalar] = field(default_factory=dict[tuple[str, Grid], Scalar])
    """Functions of matrices by name."""

    def size(self, size: Size) -> int:
        """Return a size as an integer."""
        return size if isinstance(size, int) else self.sizes[size]

    def tensor(self, tensor: Tensor, at: Mapping[Index, int]) -> Scalar:
        """Return the scalar of a tensor, its free indices at given positions."""
        missing = [index for index in tensor.free if index not in at]
        if missing:
            raise CompilerError(f"no position for the free index {missing[0].label}")
        return added([self.term(term, at) for term in tensor.terms])

    def term(self, term: Term, at: Mapping[Index, int]) -> Scalar:
        """Return the scalar of a term, summed over the indices that have no position."""
        bound = sorted(indices(term.factors) - at.keys(), key=lambda index: index.label)
        if self.apart:
            return rational(term.coefficient) * self.summed(term.factors, bound, at)
        parts: list[Scalar] = []
        for places in product(*(range(self.size(index.size)) for index in bound)):
            here = {**at, **dict(zip(bound, places, strict=True))}
            if self.deltas_hold(term.factors, here):
                others = [factor for factor in term.factors if not isinstance(factor[0], Delta)]
                parts.append(multiplied([self.power(factor, here) for factor in others]))
        return rational(term.coefficient) * added(parts)

    def summed(self, factors: tuple[Factor, ...], bound: list[Index], at: Mapping[Index, int]) -> Scalar:
        """Return the sum over `bound` of a product, the factors that no index links apart."""
        if not bound:
            others = [factor for factor in factors if not isinstance(factor[0], Delta)]
            held = self.deltas_hold(factors, at)
            return multiplied([self.power(factor, at) for factor in others]) if held else sympy.Integer(0)
        groups = _group_by_indices(factors, set(bound))
        if len(groups) > 1:
            own = [(group, [index for index in bound if index in indices(group)]) for group in groups]
            return multiplied([self.known_sum(group, inner, at) for group, inner in own])
        # the index without which the product falls into the most pieces
        chosen = max(bound, key=lambda index: len(_group_by_indices(factors, {*bound} - {index})))
        left = [index for index in bound if index != chosen]
        places = range(self.size(chosen.size))
        return added([self.summed(factors, left, {**at, chosen: place}) for place in places])

    def known_sum(self, factors: tuple[Factor, ...], bound: list[Index], at: Mapping[Index, int]) -> Scalar:
        """Return what `summed` does, found before or computed now."""
        if not bound:
            return self.summed(factors, bound, at)
        key = _memo_key(factors, bound, at)
        if key not in self.sums:
            self.sums[key] = self.summed(factors, bound, at)
        return self.sums[key]

    def deltas_hold(self, factors: tuple[Factor, ...], at: Mapping[Index, int]) -> bool:
        """Whether the two slots of every Kronecker delta have one position."""
        deltas = [atom for atom, _ in factors if isinstance(atom, Delta)]
        return all(_position_of(delta.left, at) == _position_of(delta.right, at) for delta in deltas)

    def power(self, factor: Factor, at: Mapping[Index, int]) -> Scalar:
        """Return an atom to its exponent; of functions found before or computed now, as `known_sum` does."""
        atom, exponent = factor
        if not (self.apart and isinstance(atom, Applied)):
            value = self.atom(atom, at)
            return value if exponent == 1 else value ** rational(exponent)
        key = _memo_key((factor,), (), at)
        if key not in self.sums:
            self.sums[key] = self.atom(atom, at) ** rational(exponent)
        return self.sums[key]

    def atom(self, atom: Atom, at: Mapping[Index, int]) -> Scalar:
        """Return the scalar of an atom: given by `leaf`, or computed from its arguments."""
        match atom:
            case SizeNumber(name):
                return sympy.Integer(self.sizes[name])
            case Pi():
                return sympy.pi
            case Applied(fn, (left, right, yes, no)) if fn.startswith("where "):
                sides = (self.tensor(arg, at) for arg in (left, right, yes, no))
                return self.where(fn.removeprefix("where "), *sides)
            case Applied(fn, args):
                return function(fn, *(self.tensor(arg, at) for arg in args))
            case Base(arg):
                return self.tensor(arg, at)
            case Delta(left, right):
                return sympy.Integer(_position_of(left, at) == _position_of(right, at))
            case Coordinate() | Component():
                known = self.leaf(moved(atom, at))
                if known is None:
                    raise CompilerError(f"no value for {atom}")
                return known
            case MatrixFunction("halved", _, (left, right)):
                return sympy.Rational(1 + sympy.sign(_position_of(left, at) - _position_of(right, at)), 2)
            case MatrixFunction(fn, of, slots):
                known = self.leaf(moved(atom, at))
                if known is None:
                    known = self.function(fn, of)
                    known = known[tuple(_position_of(slot, at) for slot in slots)] if slots else known
                return known

    def function(self, fn: str, grid: Grid) -> Scalar:
        """Return a function of a matrix, computed once."""
        if (fn, grid) not in self.matrices:
            size = self.size(grid.row.size)
            A = sympy.Matrix(size, size, lambda i, j: self.tensor(grid.entry, {grid.row: int(i), grid.col: int(j)}))
            self.matrices[fn, grid] = MATRIX_FUNCTIONS[fn](A)
        return self.matrices[fn, grid]


def _memo_key(
    factors: tuple[Factor, ...], bound: Iterable[Index], at: Mapping[Index, int]
) -> tuple[tuple[Factor, ...], tuple[int, ...]]:
    """Return the key under which a sum over `bound` is cached."""
    outer = sorted(indices(factors) - set(bound), key=lambda index: index.label)
    return factors, tuple(at[index] for index in outer)


def _group_by_indices(factors: tuple[Factor, ...], bound: set[Index]) -> list[tuple[Factor, ...]]:
    """Return factors in groups that share none of the indices of `bound`."""
    groups: list[tuple[set[Index], tuple[Factor, ...]]] = []
    for factor in factors:
        own, held = indices((factor,)) & bound, (factor,)
        for other in [group for group in groups if group[0] & own]:
            groups.remove(other)
            own, held = own | other[0], (*other[1], *held)
        groups.append((own, held))
    return [held for _, held in groups]


def function(fn: str, *args: Scalar) -> Scalar:
    """Return a scalar function of the language applied by SymPy, `minimum` as Min, `logistic` by its definition."""
    match fn:
        case "minimum":
            return sympy.Min(*args)
        case "maximum":
            return sympy.Max(*args)
        case _:
            return scalar(FUNCTIONS[fn])(*args)


def added(parts: Sequence[Scalar]) -> Scalar:
    """Return a sum; of numbers alone one by one, without SymPy's search for like terms: a fifth of the time."""
    return sum(parts, sympy.Integer(0)) if _are_numbers(parts) else cast(Scalar, sympy.Add(*parts))


def multiplied(parts: Sequence[Scalar]) -> Scalar:
    """Return a product; of numbers alone one by one, as `added` does."""
    return prod(parts, start=sympy.Integer(1)) if _are_numbers(parts) else cast(Scalar, sympy.Mul(*parts))


def _are_numbers(parts: Iterable[Scalar]) -> bool:
    """Whether all parts are SymPy numbers, rational or float."""
    return all(isinstance(part, sympy.Rational | sympy.Float) for part in parts)


def rational(value: Fraction) -> Scalar:
    """Return a fraction as SymPy's exact rational."""
    return sympy.Rational(value.numerator, value.denominator)


def _position_of(slot: Slot, at: Mapping[Index, int]) -> int:
    """Return the number that an index has, or the literal position itself."""
    return at[slot] if isinstance(slot, Index) else slot

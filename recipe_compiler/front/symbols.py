"""Entries of a derivation as SymPy's objects: `theta[0, 0]` of a MatrixSymbol, `U(theta[0, 0], theta[1, 0])`."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from typing import Any

import sympy

from recipe_compiler.errors import Fault, ModelError, Place
from recipe_compiler.formula.declaration import Block, Declarations, Function, Parameter
from recipe_compiler.formula.shapes import SCALAR, Kind, Shape
from recipe_compiler.spec.model import Dynamics
from recipe_compiler.spec.positions import equation_formulas, smallest_sizes
from recipe_compiler.tensor.scalars import scalarise
from recipe_compiler.tensor.terms import Atom, Component, Coordinate, Index, Tensor

Expr = Any
"""A SymPy expression; SymPy ships no types."""

_SYMMETRIC = {Kind.SYMMETRIC, Kind.PSD, Kind.PD}
_ASSUMPTIONS = {Kind.POSITIVE: "positive", Kind.NONNEGATIVE: "nonnegative", Kind.NONZERO: "nonzero"}


@dataclass(frozen=True, slots=True)
class Symbols:
    """The names of a document at fixed sizes."""

    declared: Declarations
    sizes: Mapping[str, int]

    def entry(self, tensor: Tensor, at: Mapping[Index, int]) -> Expr:
        """Return one entry of a tensor."""
        return scalarise(tensor, self.sizes, at, self._leaf)

    def length(self, block: Block) -> int:
        """Return how many coordinates a block has."""
        return prod(self._extents(block.shape))

    def _leaf(self, atom: Atom) -> Expr | None:
        """Return what stands for a coordinate or component; None for what is computed from its entries."""
        match atom:
            case Coordinate(name, at):
                return self._entry(name, self._shape(name), _positions(at))
            case Component(name, at, by):
                item = self.declared.find(name)
                if not isinstance(item, Function):
                    return self._entry(name, self._shape(name), _positions(at))
                of = [x for block in item.of for x in self._coordinates(block)]
                suffix = "".join(f"_{k}" for k in self._ordered(item, _positions(at)))
                value = sympy.Function(f"{name}{suffix}", real=True)(*of)
                return sympy.Derivative(value, *(self._leaf(x) for x in by)) if by else value
            case _:
                return None

    def _entry(self, name: str, shape: Shape, at: tuple[int, ...]) -> Expr:
        item = self.declared.find(name)
        if shape == SCALAR:
            kinds = item.kinds if isinstance(item, Parameter) else ()
            known = {_ASSUMPTIONS[kind]: True for kind in kinds if kind in _ASSUMPTIONS}
            return sympy.Symbol(name, real=True, **known)
        rows, cols = (*self._extents(shape), 1)[:2]
        row, col = (*self._ordered(item, at), 0)[:2]
        return sympy.MatrixSymbol(name, rows, cols)[row, col]

    def _ordered(self, item: object, at: tuple[int, ...]) -> tuple[int, ...]:
        """Return the position by which an entry of a symmetric matrix goes: that above the diagonal."""
        kinds = item.kinds if isinstance(item, (Parameter, Function)) else ()
        return tuple(sorted(at)) if _SYMMETRIC & {*kinds} else at

    def _coordinates(self, block: str) -> list[Expr]:
        shape = self._shape(block)
        return [self._entry(block, shape, (k,)) for k in range(prod(self._extents(shape)))]

    def _shape(self, name: str) -> Shape:
        item = self.declared.find(name)
        return SCALAR if item is None else item.shape

    def _extents(self, shape: Shape) -> tuple[int, ...]:
        return tuple(size if isinstance(size, int) else self.sizes[size] for size in shape.sizes)


def _positions(at: tuple[Any, ...]) -> tuple[int, ...]:
    return tuple(int(place) for place in at)


def symbols_of(dynamics: Dynamics, sizes: Mapping[str, object]) -> Symbols:
    """Return the names of dynamics at sizes that are given.

    Raises:
        ModelError: a size is missing, is none of the document, or is less than a position that a formula names needs.
    """
    declared = dynamics.declarations
    least = smallest_sizes(declared, equation_formulas(dynamics))
    shown = ", ".join(f"{name}={size}" for name, size in sizes.items()) or "no sizes"
    if sizes.keys() != least.keys():
        hint = f"write to_sympy({', '.join(f'{name}=2' for name in least)})"
        problem = f"found {shown}, expected a number for each of {', '.join(least) or 'none'}"
        raise ModelError([Fault(Place(""), "to_sympy", problem, hint)])
    known = {name: size for name, size in sizes.items() if type(size) is int and size >= least[name]}
    if len(known) < len(sizes):
        expected = ", ".join(f"{name} >= {size}" for name, size in least.items())
        raise ModelError([Fault(Place(""), "to_sympy", f"found {shown}, expected whole numbers, {expected}")])
    return Symbols(declared, known)

"""From the second engine's scalars back to formulas: its names are undone one by one, nothing is parsed."""

from collections.abc import Mapping
from typing import cast

import sympy
from sympy import Expr
from sympy.core.function import AppliedUndef

from recipe_compiler.algebra.scalars.elementwise import FUNCTIONS, SCALAR_FUNCTIONS
from recipe_compiler.algebra.scalars.rationals import fraction
from recipe_compiler.algebra.scalars.symbols import component, coordinate, positions
from recipe_compiler.formula import build
from recipe_compiler.formula.declaration import Block, Declarations, Function
from recipe_compiler.formula.expression import (
    Apply,
    Entry,
    Formula,
    FunctionAt,
    Number,
    Pi,
    Power,
    Role,
    Symbol,
)
from recipe_compiler.formula.shapes import SCALAR, Shape
from recipe_compiler.verify.recover.to_formula import raised, scaled, times, total

_NAMES: Mapping[object, str] = {row.scalar: name for name, row in FUNCTIONS.items() if row.scalar in SCALAR_FUNCTIONS}
"""Functions of SymPy that are one of the language."""


class NotWrittenError(Exception):
    """A scalar that no formula of the language expresses."""


class Writer:
    """Writes the scalars of one document of fixed sizes as formulas of its names."""

    def __init__(self, declarations: Declarations) -> None:
        self.names: dict[Expr, Formula] = {}
        self.slopes: dict[tuple[str, Expr], Formula] = {}
        for block in declarations.blocks:
            for at in positions(block.shape, {}):
                self.names[coordinate(block, at)] = _at(Symbol(block.name, block.shape, Role.BLOCK), at)
        for item in (*declarations.parameters, *declarations.functions):
            whole = (
                FunctionAt(item.name, item.of, item.shape)
                if isinstance(item, Function)
                else Symbol(item.name, item.shape, Role.PARAMETER)
            )
            for at in positions(item.shape, {}):
                found = component(item, at, declarations, {})
                if isinstance(found, (sympy.Symbol, AppliedUndef)):
                    self.names.setdefault(found, _at(whole, at))
        self.declarations = declarations

    def written(self, e: Expr) -> Formula:
        """Return a scalar as a formula.

        Raises:
            NotWrittenError: it contains something other than sums, powers, functions of the language and declared
                names.
        """
        if e in self.names:
            return self.names[e]
        match e:
            case sympy.Rational():
                return Number(fraction(e))
            case sympy.Add():
                return total([self.written(x) for x in e.args], SCALAR)
            case sympy.Mul():
                return self._product(e)
            case sympy.Pow():
                return self._power(e)
            case sympy.Derivative():
                return self._slope(e)
            case _ if e is sympy.pi:
                return Pi()
            case _ if type(e) in _NAMES:
                return Apply(_NAMES[type(e)], (self.written(cast(Expr, e.args[0])),), SCALAR)
            case _:
                raise NotWrittenError(f"{type(e).__name__} has no formula")

    def unit(self, block: Block, k: int) -> Formula:
        """Return the k-th unit vector of a block's size: the gradient of its k-th coordinate."""
        symbol = Symbol(block.name, block.shape, Role.BLOCK)
        return Apply("grad", (Entry(symbol, (k,)), symbol), block.shape)

    def _product(self, e: sympy.Mul) -> Formula:
        number, rest = cast(tuple[sympy.Rational, Expr], e.as_coeff_Mul(rational=True))
        factors = sorted((self.written(x) for x in sympy.Mul.make_args(rest)), key=_divides)
        found = build.ONE
        for factor in factors:
            found = times(found, factor)
        return scaled(fraction(number), found)

    def _power(self, e: sympy.Pow) -> Formula:
        base = self.written(e.base)
        if e.exp.is_Integer:
            return raised(base, int(e.exp))
        if e.exp == sympy.Rational(1, 2):
            return Apply("sqrt", (base,), SCALAR)
        return build.power(base, self.written(e.exp), SCALAR)

    def _slope(self, e: sympy.Derivative) -> Formula:
        """Return a first derivative of a declared scalar function: an entry of its gradient."""
        inner, variables = cast(Expr, e.expr), e.variables
        function = self.names.get(inner)
        if len(variables) != 1 or not isinstance(function, FunctionAt):
            raise NotWrittenError("a derivative of higher order, or of an entry, has no formula")
        for block in self.declarations.blocks:
            symbol = Symbol(block.name, block.shape, Role.BLOCK)
            for at in positions(block.shape, {}):
                if coordinate(block, at) == variables[0]:
                    return _at(Apply("grad", (function, symbol), block.shape), at)
        raise NotWrittenError(f"{variables[0]} is no coordinate")


def _at(formula: Formula, at: tuple[int, ...]) -> Formula:
    return Entry(formula, at) if at else formula


def _divides(factor: Formula) -> bool:
    return isinstance(factor, Power) and isinstance(factor.exponent, Number) and factor.exponent.value < 0


def outer(writer: Writer, row: Block, col: Block, at: tuple[int, int], entry: Formula) -> Formula:
    """Return the place (row, col) of a block matrix, e_i x e_j.T, that holds one entry at (i, j) and zeros."""
    i, j = at
    if not row.shape.sizes:
        return times(entry, build.transpose(writer.unit(col, j))) if col.shape.sizes else entry
    if not col.shape.sizes:
        return times(entry, writer.unit(row, i))
    shape = Shape(row.shape.rows, col.shape.rows)
    return times(entry, Apply("outer", (writer.unit(row, i), writer.unit(col, j)), shape))

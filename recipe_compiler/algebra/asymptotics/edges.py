"""One entry of an elementwise formula near an edge of the domain, as a function of the distance y to it."""

from dataclasses import dataclass

import sympy
from sympy import Expr, Symbol

from recipe_compiler.algebra.scalars import elementwise
from recipe_compiler.algebra.scalars.symbols import component, coordinate
from recipe_compiler.formula.declaration import Block, Datum, Declarations
from recipe_compiler.formula.expression import (
    Add,
    Apply,
    Filled,
    Formula,
    MatMul,
    Multiply,
    Number,
    Pi,
    Power,
    Role,
    Transpose,
)
from recipe_compiler.formula.expression import Symbol as Name
from recipe_compiler.formula.shapes import Kind


class NotEntrywiseError(Exception):
    """A formula whose entries do not depend on the coordinates of their own position alone."""


@dataclass(frozen=True, slots=True)
class Edge:
    """An edge of a block's domain: what its coordinate, and the sum of its coordinates, are at distance y from it."""

    block: str
    y: Symbol
    coordinate: Expr
    total: Expr | None = None
    """Where the edge is that of a simplex on which all coordinates sum to 1."""


def entry(formula: Formula, declarations: Declarations, edge: Edge) -> Expr:
    """Return an entry of an elementwise formula at the position that nears the edge (any one, on a simplex's last).

    Raises:
        NotEntrywiseError: it depends on other entries too.
    """
    match formula:
        case Number(value):
            return sympy.Rational(value.numerator, value.denominator)
        case Pi():
            return sympy.pi
        case Filled(value, _):
            return sympy.Integer(value)
        case Name():
            return _named(formula, declarations, edge)
        case Add(terms):
            return sympy.Add(*(entry(term, declarations, edge) for term in terms))
        case Multiply(left, right):
            return entry(left, declarations, edge) * entry(right, declarations, edge)
        case Power(base, exponent):
            return entry(base, declarations, edge) ** entry(exponent, declarations, edge)
        case Transpose(arg) if arg.shape.cols is None or arg.shape.rows is None:
            return entry(arg, declarations, edge)
        case Apply(fn, (arg,)) if fn in elementwise.FUNCTIONS:
            return elementwise.FUNCTIONS[fn].scalar(entry(arg, declarations, edge))
        case Apply("sum", (Name(name, _, Role.BLOCK),)) if name == edge.block and edge.total is not None:
            return edge.total
        case MatMul(left, right) if edge.total is not None and _is_total(left, right, edge.block):
            return edge.total
        case _:
            raise NotEntrywiseError


def _is_total(left: Formula, right: Formula, block: str) -> bool:
    """Whether a product is `ones.T @ b` or `b.T @ ones`."""
    for ones, other in ((left, right), (right, left)):
        plain = [f.arg if isinstance(f, Transpose) else f for f in (ones, other)]
        if isinstance(plain[0], Filled) and plain[0].value == 1 and isinstance(plain[1], Name):
            return plain[1].name == block
    return False


def _named(name: Name, declarations: Declarations, edge: Edge) -> Expr:
    item = declarations.find(name.name)
    if item is None:
        if name.role is Role.SIZE:
            return sympy.Symbol(name.name, positive=True, integer=True)
        raise NotEntrywiseError
    if len(name.shape.sizes) == 2 and not (not isinstance(item, (Block, Datum)) and Kind.DIAGONAL in item.kinds):
        raise NotEntrywiseError
    if name.name == edge.block:
        return edge.coordinate
    at = (0,) * len(name.shape.sizes)
    if isinstance(item, Block):
        return coordinate(item, at)
    return component(item, at, declarations, dict.fromkeys(declarations.sizes, 1))

"""Leading behaviour at an edge of the domain: sums of c y**g log(y)**m h(y) as y -> 0+, h smooth at 0.

Exact, under declared signs: limits are read off the exponents, and no limit algorithm is involved. One entry of an
elementwise formula is read as a function of the distance y to the edge.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import cast

import sympy
from sympy import Expr, Symbol

from recipe_compiler.algebra.scalars import elementwise
from recipe_compiler.algebra.scalars.rationals import fraction, rational
from recipe_compiler.algebra.scalars.symbols import component, coordinate
from recipe_compiler.algebra.scalars.transcendentals import argument
from recipe_compiler.algebra.structure.regularity import critical
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
    """An edge of a block's domain: its coordinate, and the sum of its coordinates, at distance y from the edge."""

    block: str
    y: Symbol
    coordinate: Expr
    total: Expr | None = None
    """Where the edge is that of a simplex on which all coordinates sum to 1."""


def entry(formula: Formula, declarations: Declarations, edge: Edge) -> Expr:
    """Return an entry of an elementwise formula at the position that approaches the edge.

    On the last face of a simplex that is any position. Raises NotEntrywiseError if it depends on other entries too.
    """
    match formula:
        case Number(value):
            return rational(value)
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


class NotExpandedError(Exception):
    """A function whose behaviour at the edge is unknown."""


@dataclass(frozen=True, slots=True)
class Term:
    """factor * y**power * log(y)**logs, a scalar; a bound is known up to a constant factor only."""

    factor: Expr
    power: Fraction
    logs: int
    is_bound: bool = False


@dataclass(frozen=True, slots=True)
class EdgeDensity:
    """exp(-H) at an edge: `y**exponent` times something bounded and not zero, or beyond every power of y.

    `barrier` is a coefficient: where it is positive exp(-H) falls faster, where it is negative it grows faster than
    every power of y.
    """

    exponent: Expr
    barrier: Expr | None = None


@dataclass(frozen=True, slots=True)
class EdgeSize:
    """`|f| <= C y**power` at an edge, and no smaller where it `is_exact`."""

    power: Fraction
    is_exact: bool


def terms(e: Expr, y: Symbol) -> tuple[Term, ...]:
    """Return the terms c y**g log(y)**m of an expression as y -> 0+, the largest first.

    A function smooth at 0 is its value there and a bound of one power more: cos(y)/y is 1/y and a bound y**0.

    Raises:
        NotExpandedError: a term that is no power of y and log y times a function smooth at 0.
    """
    split = sympy.expand_log(e, force=False)
    factors: dict[tuple[Fraction, int], Expr] = {}
    bounds: set[tuple[Fraction, int]] = set()
    for addend in sympy.Add.make_args(sympy.expand(split)):
        for term in _terms(addend, y):
            key = (term.power, term.logs)
            if term.is_bound:
                bounds.add(key)
            else:
                factors[key] = sympy.expand(factors.get(key, sympy.Integer(0)) + term.factor)
    one = sympy.Integer(1)
    found = [Term(factor, *key) for key, factor in factors.items() if factor != 0 and key not in bounds]
    found += [Term(one, *key, is_bound=True) for key in bounds]
    return tuple(sorted(found, key=lambda term: (term.power, -term.logs)))


def density(energy: Expr, y: Symbol) -> EdgeDensity:
    """Return exp(-energy) as y -> 0+.

    The gamma energy -(a - 1) log(y) + y has y**(a - 1); the inverse gamma 1/y has the barrier 1, as exp(-1/y) falls
    faster than every power.

    Raises:
        NotExpandedError: its behaviour is unknown.
    """
    found = [term for term in terms(energy, y) if term.power < 0 or (term.power == 0 and term.logs)]
    zero = sympy.Integer(0)
    if not found:
        return EdgeDensity(zero)
    largest = found[0]
    if largest.is_bound:
        raise NotExpandedError(f"terms of {energy} cancel at the edge")
    if largest.power == 0 and largest.logs == 1:
        return EdgeDensity(-largest.factor)
    return EdgeDensity(zero, largest.factor * (-1) ** largest.logs)


def size(e: Expr, y: Symbol) -> EdgeSize | None:
    """Return the s with |e| ~ y**s (or <= C y**s) as y -> 0+; None if e is zero.

    Raises:
        NotExpandedError: its behaviour is unknown, or a logarithm is at the lowest power.
    """
    found = terms(e, y)
    if not found:
        return None
    if found[0].logs:
        raise NotExpandedError(f"a logarithm in {e}")
    return EdgeSize(found[0].power, not found[0].is_bound)


def _terms(addend: Expr, y: Symbol) -> tuple[Term, ...]:
    factor: Expr = sympy.Integer(1)
    power, logs = Fraction(0), 0
    smooth: Expr = sympy.Integer(1)
    for part in sympy.Mul.make_args(addend):
        base, exponent = part.as_base_exp()
        if y not in part.free_symbols:
            factor = factor * part
        elif base == y and isinstance(exponent, sympy.Rational):
            power += fraction(exponent)
        elif base == sympy.log(y) and exponent.is_Integer and exponent > 0:
            logs += int(exponent)
        else:
            smooth = smooth * part
    if smooth == 1:
        return (Term(factor, power, logs),)
    rest = Term(sympy.Integer(1), power + 1, logs, is_bound=True)
    value = _at_edge(smooth, y)
    return (rest,) if value == 0 else (Term(factor * value, power, logs), rest)


def _at_edge(e: Expr, y: Symbol) -> Expr:
    """Return the value at 0 of something continuously differentiable there.

    Raises:
        NotExpandedError: it is not known to be.
    """
    zero = sympy.Integer(0)
    for u in critical(e, y):
        if not cast(Expr, u.xreplace({y: zero})).is_nonzero:
            raise NotExpandedError(f"{e} at {y} = 0")
    if any(isinstance(node, sympy.log) and argument(node) == y for node in sympy.preorder_traversal(e)):
        raise NotExpandedError(f"{e} at {y} = 0")
    value = cast(Expr, e.xreplace({y: zero}))
    if value.has(sympy.nan, sympy.zoo, sympy.oo, -sympy.oo):
        raise NotExpandedError(f"{e} at {y} = 0")
    return value

"""Is a function of one coordinate locally Lipschitz?"""

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import cast

import sympy
from sympy import Expr, Symbol

from recipe_compiler.algebra.scalars.elementwise import SCALAR_FUNCTIONS, Corner
from recipe_compiler.algebra.scalars.evaluate import NoValueError, evaluate
from recipe_compiler.algebra.scalars.rationals import rational
from recipe_compiler.algebra.scalars.sign_cells import Cell, off_kinks
from recipe_compiler.algebra.scalars.transcendentals import argument
from recipe_compiler.algebra.zero.zeros_on_line import Root, ZeroOrder, order, roots
from recipe_compiler.formula.declaration import Block
from recipe_compiler.formula.expression import Number
from recipe_compiler.formula.shapes import DomainName


class Smoothness(Enum):
    """What is known of a function at a point."""

    LIPSCHITZ = "locally Lipschitz"
    ROUGH = "not locally Lipschitz"
    UNKNOWN = "not known"


_MAY_JUMP = (
    *(row.of for row in SCALAR_FUNCTIONS.values() if row.needs or row.corner is Corner.JUMP),
    Cell,
    sympy.polygamma,
)


@dataclass(frozen=True, slots=True)
class RoughPoint:
    """A zero of a critical part of a function of one coordinate, and the behaviour of the function there."""

    at: Root
    behaviour: Smoothness
    order: ZeroOrder | None
    """The order of the zero of the function itself."""


def list_critical_parts(f: Expr, x: Symbol) -> tuple[Expr, ...]:
    """Return the parts that must not vanish for a function of x to be smooth: in moduli, roots, quotients, logs.

    sqrt(x) and |x| have x, 1/(1 - x) has 1 - x.
    """
    found = set(_walk_critical_parts(f, x))
    return tuple(sorted(found, key=sympy.default_sort_key))


def _walk_critical_parts(f: Expr, x: Symbol) -> Iterator[Expr]:
    """Yield the arguments on whose zeros a node is not smooth: of kinks, roots, quotients and logarithms."""
    for node in sympy.preorder_traversal(f):
        if x not in node.free_symbols:
            continue
        match node:
            case _ if type(node) in SCALAR_FUNCTIONS:
                row, inner = SCALAR_FUNCTIONS[type(node)], argument(cast(Expr, node))
                yield from (need.of(inner) for need in row.needs)
                yield from [] if row.corner is Corner.NONE else [inner]
            case Cell():
                yield argument(node)
            case sympy.polygamma():
                yield argument(node, 1)
            case sympy.Pow() if node.base is not sympy.E and not (node.exp.is_Integer and node.exp > 0):
                yield node.base
            case _:
                continue


def find_rough_points(
    f: Expr, x: Symbol, block: Block, constants: Mapping[Expr, Fraction]
) -> tuple[RoughPoint, ...] | None:
    """Return the points inside the domain of x where a function of x may be rough; None if unknown.

    Every critical part must be a rational function of x, up to moduli, powers and constant factors. x |x| has x = 0,
    where its order is 2 and that of its derivative 1: locally Lipschitz there.
    """
    numbers = {s: rational(v) for s, v in constants.items()}
    found: dict[tuple[Fraction, Fraction], Root] = {}
    for u in list_critical_parts(f, x):
        inner = _strip_to_same_zeros(cast(Expr, u.xreplace(numbers)))
        if any(x in part.free_symbols for part in list_critical_parts(inner, x)):
            return None
        zeros = roots(inner, x)
        if zeros is None:
            return None
        for zero in zeros:
            found[zero.low, zero.high] = zero
    inside = [root for root in found.values() if is_inside(root, block)]
    return tuple(_classify_root(f, x, root, constants) for root in sorted(inside, key=lambda root: root.low))


def _strip_to_same_zeros(u: Expr) -> Expr:
    """Return something with the same zeros: without moduli, roots and constant factors."""
    match u:
        case sympy.Abs():
            return _strip_to_same_zeros(argument(u))
        case sympy.Pow() if u.exp.is_positive:
            return _strip_to_same_zeros(u.base)
        case sympy.Mul():
            return sympy.Mul(*(_strip_to_same_zeros(arg) for arg in u.args if not arg.is_number))
        case _:
            return u


def is_inside(root: Root, block: Block) -> bool:
    """Whether a root may lie inside the domain of a block; False only if it certainly does not."""
    low, high = edges(block)
    return (low is None or root.high > low) and (high is None or root.low < high)


def edges(block: Block) -> tuple[Fraction | None, Fraction | None]:
    """Return the ends of the domain of a coordinate, None for an end that does not exist or is no number."""
    match block.domain.name, block.domain.bounds:
        case ((DomainName.POSITIVE | DomainName.NONNEGATIVE), _):
            return Fraction(0), None
        case DomainName.SIMPLEX, _:
            return Fraction(0), Fraction(1)
        case DomainName.INTERVAL, (low, high):
            return (low.value if isinstance(low, Number) else None), (high.value if isinstance(high, Number) else None)
        case _:
            return None, None


def has_unknown_edges(block: Block) -> bool:
    """Whether an end of the domain of a block is no number, so that `edges` has None for it."""
    return any(not isinstance(bound, Number) for bound in block.domain.bounds)


def _classify_root(f: Expr, x: Symbol, root: Root, constants: Mapping[Expr, Fraction]) -> RoughPoint:
    """Return the root as rough, Lipschitz or unknown, by the orders of the function and its slope there."""
    value = order(f, x, root, constants)
    slope = order(sympy.diff(off_kinks(f), x), x, root, constants)
    jumps = value is not None and value.power == 0 and not value.even
    if jumps or (value is not None and (value.power < 0 or 0 < value.power < 1)):
        return RoughPoint(root, Smoothness.ROUGH, value)
    if slope is not None and slope.power < 0:
        return RoughPoint(root, Smoothness.ROUGH, value)
    if slope is not None and _is_continuous(f, x, root, constants):
        return RoughPoint(root, Smoothness.LIPSCHITZ, value)
    return RoughPoint(root, Smoothness.UNKNOWN, value)


def _is_continuous(f: Expr, x: Symbol, root: Root, constants: Mapping[Expr, Fraction]) -> bool:
    """Whether a function is continuous at a zero of its critical part: moduli and roots are, quotients may jump.

    A slope that is bounded on both sides is not enough: that of `atan(1/x)` is, at its jump.
    """
    if f.has(*_MAY_JUMP):
        return False
    for node in sympy.preorder_traversal(f):
        if isinstance(node, sympy.Pow) and x in node.base.free_symbols and not node.exp.is_positive:
            below = order(node.base, x, root, constants)
            if below is None or below.power != 0:
                return False
    return True


def is_defined_between(
    f: Expr, x: Symbol, block: Block, found: tuple[RoughPoint, ...], leaf: Mapping[Expr, Fraction]
) -> bool:
    """Whether a function has a real value between the zeros of all that is critical in it, and beyond them."""
    low, high = edges(block)
    marks = [*([] if low is None else [low]), *(edge for spot in found for edge in (spot.at.low, spot.at.high))]
    marks += [] if high is None else [high]
    first = [marks[0] - 1] if low is None and marks else []
    last = [marks[-1] + 1] if high is None and marks else []
    between = [(a + b) / 2 for a, b in itertools.pairwise(marks) if a < b]
    samples = [*first, *between, *last] or [Fraction(0)]
    try:
        for at in samples:
            evaluate(f, lambda e, at=at: at if e == x else leaf[e])
    except (NoValueError, KeyError):
        return False
    return True

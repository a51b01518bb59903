"""Names of a document at fixed sizes: SymPy symbols for coordinates, parameters, data; undefined functions for fields.

A name is made by constructor calls only and carries its position, `theta[0]`, which no declared name can contain: names
of different declarations never coincide. Declarations are built in: the entries of a symmetric matrix are one symbol,
those of a skew one differ by sign, those of a diagonal one vanish off the diagonal, positive scalars are positive. A
name with a value is that value.
"""

from functools import lru_cache

import sympy
from sympy import Expr, Symbol
from sympy.core.function import UndefinedFunction

from recipe_compiler import limits
from recipe_compiler.algebra.scalars.rationals import rational
from recipe_compiler.formula.declaration import Block, Datum, Declarations, Domain, Entries, Function, Parameter
from recipe_compiler.formula.expression import Number
from recipe_compiler.formula.shapes import DomainName, Kind, Shape, Size, Sizes

Facts = tuple[str, ...]
"""What SymPy may assume of a name: `real`, `positive`."""

SYMMETRIC_KINDS = frozenset({Kind.SYMMETRIC, Kind.PSD, Kind.PD, Kind.DIAGONAL})


def length(size: Size, sizes: Sizes) -> int:
    """Return the integer that a size is."""
    return size if isinstance(size, int) else sizes[size]


def positions(shape: Shape, sizes: Sizes) -> tuple[tuple[int, ...], ...]:
    """Return all positions of a shape, row by row: `()` of a scalar, `(i,)` of a vector, `(i, j)` of a matrix."""
    found: tuple[tuple[int, ...], ...] = ((),)
    for size in shape.sizes:
        found = tuple((*at, k) for at in found for k in range(length(size, sizes)))
    return found


def extent(shape: Shape, sizes: Sizes) -> tuple[int, int]:
    """Return the numbers of rows and columns of a shape; a scalar has one of each."""
    return (
        1 if shape.rows is None else length(shape.rows, sizes),
        1 if shape.cols is None else length(shape.cols, sizes),
    )


@lru_cache(maxsize=limits.REMEMBERED)
def symbol(name: str, facts: Facts) -> Symbol:
    """Return a symbol, the same object each time: SymPy compares what is not the same part by part."""
    return Symbol(name, **dict.fromkeys(facts, True))


@lru_cache(maxsize=limits.REMEMBERED)
def _undefined_function(name: str, facts: Facts, arguments: tuple[Symbol, ...]) -> Expr:
    """Return an undefined function of symbols, the same object each time: each that is made is a class of its own."""
    return UndefinedFunction(name, **dict.fromkeys(facts, True))(*arguments)


def label(name: str, at: tuple[int, ...]) -> str:
    """Return the name of one entry: `xi`, `theta[0]`, `C[0,1]`."""
    return f"{name}[{','.join(map(str, at))}]" if at else name


def coordinate(block: Block, at: tuple[int, ...]) -> Symbol:
    """Return the coordinate of a block at a position."""
    return symbol(label(block.name, at), _domain_facts(block.domain))


def coordinates(block: Block, sizes: Sizes) -> tuple[Symbol, ...]:
    """Return the coordinates of a block in order, a matrix block row by row."""
    return tuple(coordinate(block, at) for at in positions(block.shape, sizes))


def coordinates_of(names: tuple[str, ...], declarations: Declarations, sizes: Sizes) -> tuple[Symbol, ...]:
    """Return the coordinates of blocks by their names, one block after the other."""
    blocks = [block for name in names for block in declarations.blocks if block.name == name]
    return tuple(z for block in blocks for z in coordinates(block, sizes))


def component(
    item: Parameter | Function | Datum, at: tuple[int, ...], declarations: Declarations, sizes: Sizes
) -> Expr:
    """Return one entry of a parameter, a field of a datum, or a function at its declared blocks."""
    if isinstance(item, Parameter) and item.value is not None:
        return _exact_entry(item.value, at)
    kinds = item.known if isinstance(item, Datum) else item.kinds
    sign = 1
    if len(at) == 2:
        if Kind.DIAGONAL in kinds and at[0] != at[1]:
            return sympy.Integer(0)
        if Kind.SKEW in kinds:
            if at[0] == at[1]:
                return sympy.Integer(0)
            sign, at = (1, at) if at[0] < at[1] else (-1, (at[1], at[0]))
        elif not SYMMETRIC_KINDS.isdisjoint(kinds):
            at = (min(at), max(at))
    facts = _kind_facts(kinds, at)
    if isinstance(item, Function):
        return sign * _undefined_field(item, at, facts, declarations, sizes)
    return sign * symbol(label(item.name, at), facts)


def _exact_entry(value: Entries, at: tuple[int, ...]) -> Expr:
    """Return one entry of a declared exact value, as a SymPy number."""
    row, col = (*at, 0, 0)[:2]
    entry = value.rows[row][col]
    return rational(entry)


def _undefined_field(
    function: Function, at: tuple[int, ...], facts: Facts, declarations: Declarations, sizes: Sizes
) -> Expr:
    """Return an undefined function of all coordinates of its declared blocks."""
    return _undefined_function(label(function.name, at), facts, coordinates_of(function.of, declarations, sizes))


def _kind_facts(kinds: tuple[Kind, ...], at: tuple[int, ...]) -> Facts:
    """Return the assumptions on the symbol of an entry: signs for every entry, definiteness for the diagonal."""
    on_diagonal = len(at) == 2 and at[0] == at[1]
    if Kind.POSITIVE in kinds or (Kind.PD in kinds and (on_diagonal or not at)):
        return ("real", "positive")
    if Kind.NONNEGATIVE in kinds or (Kind.PSD in kinds and (on_diagonal or not at)):
        return ("real", "nonnegative")
    if Kind.NONZERO in kinds:
        return ("real", "nonzero")
    return ("real",)


def _domain_facts(domain: Domain) -> Facts:
    """Return the assumptions on the symbol of a coordinate inside the domain; the boundary has measure zero."""
    if domain.name in {DomainName.POSITIVE, DomainName.NONNEGATIVE, DomainName.SIMPLEX}:
        return ("positive",)
    if domain.name is DomainName.COUNTS:
        return ("nonnegative",)
    if domain.name is DomainName.INTERVAL and domain.bounds:
        low = domain.bounds[0]
        if isinstance(low, Number) and low.value >= 0:
            return ("positive",)
    return ("real",)

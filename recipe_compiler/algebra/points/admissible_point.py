"""Admissible points: exact values for every coordinate, parameter and field that satisfy all that is declared."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from random import Random
from typing import cast

import sympy
from sympy import Expr, Symbol
from sympy.core.function import AppliedUndef

from recipe_compiler.algebra.points import sample_fields as instances
from recipe_compiler.algebra.points.sample_fields import NoInstanceError, as_fraction
from recipe_compiler.algebra.positivity.region import equalities, solved
from recipe_compiler.algebra.scalars.derivatives import slope
from recipe_compiler.algebra.scalars.entries import Setting, rows
from recipe_compiler.algebra.scalars.evaluate import NoValueError, Value, ball, compares, evaluate, is_certainly
from recipe_compiler.algebra.scalars.matrices import Rows
from recipe_compiler.algebra.scalars.rational_matrices import violates_exactly
from recipe_compiler.algebra.scalars.rationals import fraction, rational
from recipe_compiler.algebra.scalars.symbols import (
    component,
    coordinates,
    coordinates_of,
    extent,
    label,
    positions,
)
from recipe_compiler.formula.build import depends_on_state
from recipe_compiler.formula.constraints import Constraint
from recipe_compiler.formula.declaration import Block, Datum, Declarations, Function, Parameter
from recipe_compiler.formula.expression import Compare
from recipe_compiler.formula.shapes import SIGNS, DomainName, Kind, Shape, Sizes
from recipe_compiler.formula.show import text
from recipe_compiler.verdict import Evidence

# Rational points inside the domains of blocks.


class EmptyDomainError(Exception):
    """No rational point lies between the bounds at the parameters drawn: these are not admissible, others may be."""


def inside(
    block: Block,
    declarations: Declarations,
    sizes: Sizes,
    numbers: Mapping[Expr, Fraction],
    style: int,
    random: Random,
) -> tuple[Fraction, ...]:
    """Return rational coordinates in the interior of a block's domain, n of them.

    `numbers` holds the parameters that its bounds need.

    Raises:
        EmptyDomainError: no rational point lies between the bounds.
        NoInstanceError: bounds that have no value, or a discrete block.
    """
    n = len(positions(block.shape, sizes))
    if block.constraint is Constraint.SIMPLEX:
        weights = [random.randint(1, 2 + style) for _ in range(n)]
        return tuple(Fraction(w, sum(weights)) for w in weights)
    match block.domain.name:
        case DomainName.REAL:
            return tuple(as_fraction(instances.number(style, random)) for _ in range(n))
        case DomainName.POSITIVE | DomainName.NONNEGATIVE:
            return tuple(as_fraction(instances.signed_number((Kind.POSITIVE,), style, random)) for _ in range(n))
        case DomainName.SIMPLEX:
            weights = [random.randint(1, 1 + style) for _ in range(n + 1)]
            return tuple(Fraction(w, sum(weights)) for w in weights[:n])
        case DomainName.INTERVAL | DomainName.CIRCLE:
            if not block.domain.bounds:
                return tuple(Fraction(random.randint(0, 6)) for _ in range(n))
            parts = max(8, style)
            return tuple(_draw_between_bounds(block, declarations, sizes, numbers, parts, random) for _ in range(n))
        case DomainName.ONE_HOT | DomainName.COUNTS:
            raise NoInstanceError(f"{block.name} is discrete: no point is inside its domain")


def _draw_between_bounds(
    block: Block,
    declarations: Declarations,
    sizes: Sizes,
    numbers: Mapping[Expr, Fraction],
    parts: int,
    random: Random,
) -> Fraction:
    """Return a random rational strictly inside an interval domain, at a multiple of 1/parts of its length."""

    def leaf(e: Expr) -> Fraction:
        if isinstance(e, Symbol) and e in numbers:
            return numbers[e]
        raise NoValueError("a bound depends on the state")

    setting = Setting(declarations, sizes)
    try:
        low, high = (evaluate(rows(bound, setting)[0][0], leaf) for bound in block.domain.bounds)
    except NoValueError as reason:
        raise NoInstanceError(f"the bounds of {block.name}: {reason}") from None
    share = Fraction(random.randint(1, parts - 1), parts)
    found = _round_to_simple_rational(low) + (_round_to_simple_rational(high) - _round_to_simple_rational(low)) * share
    if not (_is_certainly_less(low, found) and _is_certainly_less(found, high)):
        raise EmptyDomainError(f"the domain of {block.name} is empty at the parameters drawn")
    return found


def _round_to_simple_rational(value: Value) -> Fraction:
    """Return a fraction unchanged, the midpoint of a ball rounded to a denominator of at most 64."""
    if isinstance(value, Fraction):
        return value
    return Fraction(float(value.mid())).limit_denominator(64)


def _is_certainly_less(a: Value, b: Value) -> bool:
    """Whether a < b for all numbers in the two balls."""
    return is_certainly(ball(b) - ball(a), 1)


@dataclass(frozen=True, slots=True)
class Point:
    """Exact values: rational numbers for symbols, polynomials for undefined functions, and the same as text."""

    numbers: Mapping[Expr, Fraction]
    fields: Mapping[str, Expr]
    """The name of an undefined function (one entry of a field) to a polynomial in the coordinates."""
    named: tuple[tuple[str, str | tuple[Rows, Shape]], ...]
    """Every declared name with its value: as text, or its entries and their shape."""

    @property
    def text(self) -> Evidence:
        """The point in words: every declared name with its value as text."""
        return tuple((name, value if isinstance(value, str) else written(*value)) for name, value in self.named)

    def leaf(self, e: Expr) -> Fraction:
        """Return the value of a symbol, an undefined function or one of its derivatives."""
        if isinstance(e, Symbol):
            return self.numbers[e]
        function, variables = (e.args[0], e.variables) if isinstance(e, sympy.Derivative) else (e, ())
        if not isinstance(function, AppliedUndef):
            raise NoValueError(f"{type(function).__name__} under a derivative")
        polynomial = self.fields[type(function).__name__]
        for x in variables:
            polynomial = slope(polynomial, x)
        value = evaluate(polynomial, self.leaf)
        if not isinstance(value, Fraction):
            raise NoValueError("a field is not rational at a rational point")
        return value


def point(declarations: Declarations, sizes: Sizes, style: int, random: Random) -> Point | None:
    """Return an admissible point, or None if the one drawn violates an assumption, or leaves a domain empty."""
    made = drawn(declarations, sizes, style, random)
    return made if made is not None and meets(made, declarations, sizes) else None


def meets(at: Point, declarations: Declarations, sizes: Sizes) -> bool:
    """Whether all assumptions certainly hold at a point."""
    return all(holds(compare, declarations, sizes, at) for compare in declarations.assume)


def defaults_of(declarations: Declarations, sizes: Sizes) -> dict[Expr, Fraction]:
    """Return the entries of parameters that have rational defaults, with these."""
    setting, found = Setting(declarations, sizes), dict[Expr, Fraction]()
    for item in declarations.parameters:
        if item.default is None or item.value is not None:
            continue
        for name, value in _pair_names_with_values(item, rows(item.default, setting), declarations, sizes):
            if isinstance(name, Symbol) and isinstance(value, sympy.Rational):
                found[name] = as_fraction(value)
    return found


def drawn(declarations: Declarations, sizes: Sizes, style: int, random: Random) -> Point | None:
    """Return a point that has all declared kinds and domains, whatever is assumed; None if a domain is left empty.

    `style` 0 and 1 are the simplest ones; larger ones are random and ever wider.

    Raises:
        sample_fields.NoInstanceError: kinds or domains of which no instance is known.
    """
    numbers: dict[Expr, Fraction] = {}
    fields: dict[str, Expr] = {}
    for item in (*declarations.parameters, *declarations.data):
        for name, value in _pair_names_with_values(
            item, _draw_constants(item, sizes, style, random), declarations, sizes
        ):
            if isinstance(name, Symbol):
                numbers[name] = as_fraction(value)
    numbers = solved(numbers, equalities(declarations, sizes))
    for block in declarations.blocks:
        try:
            found = inside(block, declarations, sizes, numbers, style, random)
        except EmptyDomainError:
            return None
        numbers.update(zip(coordinates(block, sizes), found, strict=True))
    for function in declarations.functions:
        for name, value in _pair_names_with_values(
            function, _draw_field(function, declarations, sizes, style, random), declarations, sizes
        ):
            if isinstance(name, AppliedUndef):
                fields[type(name).__name__] = value
    return stated(numbers, fields, declarations, sizes)


def stated(
    numbers: Mapping[Expr, Fraction],
    fields: Mapping[str, Expr],
    declarations: Declarations,
    sizes: Sizes,
) -> Point | None:
    """Return the point with these values, and the same as text; None if one is not of the kinds declared."""
    at = Point(numbers, {**fields, **_fields_at_other_blocks(fields, declarations, sizes)}, ())
    named: list[tuple[str, str | tuple[Rows, Shape]]] = [(name, str(sizes[name])) for name in declarations.sizes]
    own = (*declarations.parameters, *declarations.data, *declarations.blocks, *declarations.own_functions)
    for item in own:
        values = _read_entries_at(item, at, declarations, sizes)
        if not _has_declared_kinds(item, values):
            return None
        written = text(item.value) if isinstance(item, Function) else item.name
        named.append((written, (values, item.shape)))
    return replace(at, named=tuple(named))


def _fields_at_other_blocks(fields: Mapping[str, Expr], declarations: Declarations, sizes: Sizes) -> dict[str, Expr]:
    """Return what functions are at other blocks than their own: the same polynomials, of the coordinates there."""
    found: dict[str, Expr] = {}
    for function in (function for function in declarations.functions if function.home):
        own, there = (coordinates_of(blocks, declarations, sizes) for blocks in (function.home, function.of))
        moved: dict[Expr, Expr] = dict(zip(own, there, strict=True))
        at = positions(function.shape, sizes)
        names = {label(function.value.declared, place): label(function.name, place) for place in at}
        found |= {names[name]: cast(Expr, f.xreplace(moved)) for name, f in fields.items() if name in names}
    return found


def holds(compare: Compare, declarations: Declarations, sizes: Sizes, at: Point) -> bool:
    """Whether an assumption certainly holds at a point, entry by entry.

    One about the state must hold strictly: a point on the edge, or on a surface, is no witness for a neighbourhood.
    """
    op = compare.op
    if depends_on_state(compare.left) or depends_on_state(compare.right):
        op = op[0] if op != "==" else ""
    setting = Setting(declarations, sizes)
    left, right = rows(compare.left, setting), rows(compare.right, setting)
    try:
        return bool(op) and all(
            compares(op, evaluate(x - y, at.leaf))
            for p, q in zip(left, right, strict=True)
            for x, y in zip(p, q, strict=True)
        )
    except NoValueError:
        return False


def written(values: Rows, shape: Shape) -> str:
    """Return the values of a shape as text: `2`, `[1, 0]`, `[[1, 0], [0, 1]]`."""
    if not shape.sizes:
        return str(values[0][0])
    if shape.rows is None or shape.cols is None:
        return "[" + ", ".join(str(x) for row in values for x in row) + "]"
    return "[" + ", ".join("[" + ", ".join(map(str, row)) + "]" for row in values) + "]"


def _draw_constants(item: Parameter | Datum, sizes: Sizes, style: int, random: Random) -> Rows:
    """Return random values of the declared kinds for a parameter, or for the fields of one datum."""
    height, width = extent(item.shape, sizes)
    if isinstance(item, Parameter) and item.value is not None:
        return tuple(tuple(rational(x) for x in row) for row in item.value.rows)
    if isinstance(item, Datum) and item.is_index:
        places = [random.randrange(width) for _ in range(height)]
        return tuple(tuple(sympy.Integer(k == place) for k in range(width)) for place in places)
    if isinstance(item, Datum) and item.values:
        values = item.values
        return tuple(tuple(sympy.Integer(random.choice(values)) for _ in range(width)) for _ in range(height))
    kinds = item.kinds
    if Kind.INTEGER in kinds:
        return tuple(tuple(instances.whole_number(kinds, random) for _ in range(width)) for _ in range(height))
    if isinstance(item, Parameter) and len(item.shape.sizes) == 2 and kinds:
        return instances.matrix(height, width, kinds, style, lambda: instances.number(style, random))
    return tuple(tuple(instances.signed_number(kinds, style, random) for _ in range(width)) for _ in range(height))


def _draw_field(function: Function, declarations: Declarations, sizes: Sizes, style: int, random: Random) -> Rows:
    """Return random polynomials of the declared kinds for the entries of a function of the state."""
    z = coordinates_of(function.of, declarations, sizes)
    if function.role == "potential" and not function.shape.sizes:
        return ((instances.potential(z, style, random),),)
    height, width = extent(function.shape, sizes)
    kinds = function.kinds
    if len(function.shape.sizes) == 2:
        return instances.matrix(height, width, kinds, style, lambda: instances.polynomial(z, style, random))
    if style == instances.SIMPLEST:
        return tuple(tuple(instances.signed_number(kinds, style, random) for _ in range(width)) for _ in range(height))
    return tuple(
        tuple(instances.signed(lambda: instances.polynomial(z, style, random), kinds) for _ in range(width))
        for _ in range(height)
    )


def _pair_names_with_values(
    item: Parameter | Function | Datum, values: Rows, declarations: Declarations, sizes: Sizes
) -> list[tuple[Expr, Expr]]:
    """Return each entry's symbol or undefined function (none for an alias) with its value."""
    flat = [x for row in values for x in row]
    places = positions(item.shape, sizes)
    return [(component(item, at, declarations, sizes), value) for at, value in zip(places, flat, strict=True)]


def _read_entries_at(
    item: Parameter | Datum | Block | Function, at: Point, declarations: Declarations, sizes: Sizes
) -> Rows:
    """Return the entries of a declared name at a point, a function's as polynomials."""
    height, width = extent(item.shape, sizes)
    places = positions(item.shape, sizes)
    if isinstance(item, Block):
        entries = list(coordinates(item, sizes))
    else:
        entries = [component(item, place, declarations, sizes) for place in places]
    known: dict[Expr, Expr] = {s: rational(v) for s, v in at.numbers.items()}
    if isinstance(item, Function):
        known = {f: at.fields[type(f).__name__] for e in entries for f in e.atoms(AppliedUndef)}
    flat = [cast(Expr, e.xreplace(known)) for e in entries]
    return tuple(tuple(flat[i * width : (i + 1) * width]) for i in range(height))


def _has_declared_kinds(item: Parameter | Datum | Block | Function, values: Rows) -> bool:
    """Whether rational values satisfy the kinds of their declaration; polynomial values are built to."""
    kinds = () if isinstance(item, Block) else item.kinds
    flat = [x for row in values for x in row if isinstance(x, sympy.Rational)]
    if len(flat) < len(values) * len(values[0]):
        return True
    if isinstance(item, Datum) and item.values:
        allowed = all(x in item.values for x in flat)
        return allowed and (not item.is_index or all(sum(row) == 1 for row in values))
    exact = tuple(tuple(fraction(x) for x in row if isinstance(x, sympy.Rational)) for row in values)
    diagonal = Kind.DIAGONAL in kinds and len(item.shape.sizes) == 2
    own = tuple((row[k],) for k, row in enumerate(exact)) if diagonal else exact
    return not any(violates_exactly(own if kind in SIGNS else exact, kind) for kind in kinds)

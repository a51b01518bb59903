"""Points that a numerical search proposes, completed and re-checked exactly against everything declared.

Entries of parameters and values of abstract functions are chosen freely within what is declared of them; a function is
then the constant with that value (a potential, |z|**2/2 plus a constant).
"""

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import cast

import sympy
from sympy import Expr
from sympy.core.function import AppliedUndef

from recipe_compiler.algebra.points.admissible_point import Point, holds, written
from recipe_compiler.algebra.points.witness import points
from recipe_compiler.algebra.positivity.region import Region, about, region_at, satisfies
from recipe_compiler.algebra.scalars.entries import Setting, rows
from recipe_compiler.algebra.scalars.evaluate import NoValueError, evaluate
from recipe_compiler.algebra.scalars.matrices import Rows
from recipe_compiler.algebra.scalars.rational_matrices import violates_exactly
from recipe_compiler.algebra.scalars.rationals import fraction, rational
from recipe_compiler.algebra.scalars.symbols import component, coordinates, extent, positions
from recipe_compiler.formula.declaration import Block, Datum, Declarations, Function, Parameter
from recipe_compiler.formula.shapes import Kind

TRIES = 8
"""Points that disregard the assumptions, tried for the names that a search did not choose."""


def admissible(declarations: Declarations, sizes: Mapping[str, int]) -> Point | None:
    """Return an exact point that satisfies all declarations, proposed by a search in floats; None if none was found.

    Raises:
        sample_fields.NoInstanceError: kinds of which no instance is known.
    """
    from recipe_compiler.algebra.positivity.falsify import falsified  # imports NumPy, which most proofs need not

    region = region_of([], declarations, sizes)
    always: Rows = ((sympy.Integer(-1),),)
    found = falsified(always, region, names_in([], region))
    return None if found is None else completed(found.at, declarations, sizes)


def region_of(entries: list[Expr], declarations: Declarations, sizes: Mapping[str, int]) -> Region:
    """Return all known facts (signs, domains, assumptions, kinds) about the names in entries and in the assumptions."""
    setting = Setting(declarations, sizes)
    sides = [side for compare in declarations.assume for side in (compare.left, compare.right)]
    assumed = [x for side in sides for row in rows(side, setting) for x in row]
    return about(region_at(declarations, sizes), [*entries, *assumed])


def names_in(entries: list[Expr], region: Region) -> tuple[Expr, ...]:
    """Return the symbols and unknown functions in entries and facts, in order."""
    names = frozenset[Expr]().union(*(fact.names for fact in region))
    names = names.union(*(e.atoms(sympy.Symbol, AppliedUndef) for e in entries))
    return tuple(sorted(names, key=str))


def completed(chosen: Mapping[Expr, Fraction], declarations: Declarations, sizes: Mapping[str, int]) -> Point | None:
    """Return a point with the chosen values and simple values for all other names; None if it violates a declaration.

    Every kind, domain and assumption is checked again in exact arithmetic, whatever proposed the values. An abstract
    function becomes the constant with the value chosen; a potential becomes |z|**2/2 plus a constant.
    """
    base = next(iter(points(replace(declarations, assume=()), sizes, TRIES)), None)
    if base is None:
        return None
    numbers = {**base.numbers, **{x: v for x, v in chosen.items() if isinstance(x, sympy.Symbol)}}
    fields = dict(base.fields)
    for x, value in chosen.items():
        if isinstance(x, AppliedUndef):
            fields[type(x).__name__] = _constant(x, value, declarations, numbers)
    at = Point(numbers, fields, ())
    text = [(name, str(sizes[name])) for name in declarations.sizes]
    for item in (*declarations.parameters, *declarations.data, *declarations.blocks, *declarations.functions):
        values = _values(item, at, declarations, sizes)
        if not _of_its_kinds(item, values):
            return None
        label = f"{item.name}({', '.join(item.of)})" if isinstance(item, Function) else item.name
        text.append((label, written(values, item.shape)))
    made = Point(numbers, fields, tuple(text))
    return made if _inside(made, declarations, sizes) else None


def _inside(at: Point, declarations: Declarations, sizes: Mapping[str, int]) -> bool:
    """Whether every declared sign, domain and assumption certainly holds at a point."""
    try:
        facts = all(satisfies(fact, evaluate(fact.value, at.leaf)) for fact in region_at(declarations, sizes))
    except NoValueError:
        return False
    return facts and all(holds(compare, declarations, sizes, at) for compare in declarations.assume)


def _constant(
    call: AppliedUndef, value: Fraction, declarations: Declarations, numbers: Mapping[Expr, Fraction]
) -> Expr:
    """Return a polynomial with a given value at a point: a constant, or a potential that grows in every direction."""
    found: Expr = rational(value)
    item = declarations.find(type(call).__name__.partition("[")[0])
    if isinstance(item, Function) and item.role == "potential":
        z = [x for x in call.args if isinstance(x, sympy.Symbol)]
        here = sum((numbers[x] ** 2 for x in z), Fraction(0)) / 2
        found += sympy.Add(*[x**2 for x in z]) / 2 - rational(here)
    return found


def _values(
    item: Parameter | Datum | Block | Function, at: Point, declarations: Declarations, sizes: Mapping[str, int]
) -> Rows:
    """Return the entries of a declared name at a point: numbers, polynomials of functions."""
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


def _of_its_kinds(item: Parameter | Datum | Block | Function, values: Rows) -> bool:
    """Whether numbers are of the kinds declared; polynomials come from instances that are."""
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
    signs = {Kind.POSITIVE, Kind.NONNEGATIVE, Kind.NONZERO}
    return not any(violates_exactly(own if kind in signs else exact, kind) for kind in kinds)

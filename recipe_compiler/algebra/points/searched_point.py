"""Points that a search proposes, completed and re-checked exactly against everything declared, and points near them.

Entries of parameters and values of abstract functions are chosen freely within what is declared of them; a function is
then the constant with that value (a potential, |z|**2/2 plus a constant).
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from itertools import islice, product
from random import Random

import sympy
from sympy import Expr
from sympy.core.function import AppliedUndef

from recipe_compiler import limits
from recipe_compiler.algebra.points.admissible_point import Point, defaults_of, drawn, holds, stated
from recipe_compiler.algebra.positivity.region import Region, about, equalities, region_at, solved
from recipe_compiler.algebra.scalars.entries import Setting, rows
from recipe_compiler.algebra.scalars.evaluate import NoValueError, compares, evaluate
from recipe_compiler.algebra.scalars.matrices import Rows
from recipe_compiler.algebra.scalars.rationals import rational
from recipe_compiler.algebra.scalars.symbols import component, positions
from recipe_compiler.formula.declaration import Datum, Declarations, Function, Parameter
from recipe_compiler.formula.shapes import Kind, Sizes

SHARES = (*(Fraction(1, n) for n in (2, 4, 8, 32, 256)), Fraction(0))
"""How much of a drawn point is kept on the way to an admissible one."""
PINNED = (Fraction(3, 5), Fraction(1), Fraction(7, 5), Fraction(1, 2), Fraction(2))
"""Values tried for a name in an equality that is not linear: a**2 + b**2 == 1, or 2, has rational solutions."""
Chosen = Mapping[Expr, Fraction]


def admissible(declarations: Declarations, sizes: Sizes) -> Iterator[Point]:
    """Yield exact points that satisfy all declarations: one, or several where an equality keeps points from a ball.

    Tried are what the document gives as defaults, and a search in floats.

    Raises:
        sample_fields.NoInstanceError: kinds of which no instance is known.
    """
    region = region_of([], declarations, sizes)
    names = names_in([], region)
    many = any(compare.op == "==" for compare in declarations.assume)
    found: list[Chosen] = []
    for chosen in _propose_values(region, names, declarations, sizes):
        at = completed(chosen, declarations, sizes)
        if at is not None and chosen not in found:
            found.append(chosen)
            yield at
        if len(found) == (limits.TRIALS if many else 1):
            return


def _propose_values(
    region: Region, names: tuple[Expr, ...], declarations: Declarations, sizes: Sizes
) -> Iterator[Chosen]:
    """Yield values to complete: none, the defaults, a point found by search in floats, and points on equalities."""
    yield {}
    yield {name: x for name, x in defaults_of(declarations, sizes).items() if name in names}
    # imports NumPy, which most need not
    from recipe_compiler.algebra.positivity.falsify import find_negative_direction

    always: Rows = ((sympy.Integer(-1),),)
    found = find_negative_direction(always, region, names)
    start = dict.fromkeys(names, Fraction(1)) if found is None else found.at
    yield start
    equal = {x: None for fact in region if fact.op == "==" for x in names if x in fact.names}
    for name, value in islice(product(equal, PINNED), limits.CANDIDATES):
        yield solved({**start, name: value}, region, frozenset({name}))


def towards(made: Point, inner: Point, declarations: Declarations, sizes: Sizes) -> Point | None:
    """Return a point between a drawn and an admissible one that is admissible, too; None if there is none.

    Only names in assumptions, and those that facts connect them with, are moved; the others stay as drawn.
    Under `rho < 1` with an admissible rho = 1/2, a drawn rho = 3 becomes 1/2 + (3 - 1/2)/8.
    """
    region = region_of([], declarations, sizes)
    moved = frozenset(names_in([], region))
    whole = {
        x
        for item in (*declarations.parameters, *declarations.data, *declarations.functions)
        if _is_nonconvex(item)
        for x in _list_entry_names(item, declarations, sizes)
    }
    for share in SHARES:
        kept = {x: Fraction(0) if x in whole else share for x in moved}
        numbers = {x: _interpolate(v, inner.numbers[x], kept[x]) if x in kept else v for x, v in made.numbers.items()}
        calls = {type(x).__name__: t for x, t in kept.items() if isinstance(x, AppliedUndef)}
        fields = {
            name: inner.fields[name] + rational(calls[name]) * (f - inner.fields[name]) if name in calls else f
            for name, f in made.fields.items()
        }
        numbers = solved(numbers, equalities(declarations, sizes))
        found = stated(numbers, fields, declarations, sizes)
        if found is not None and is_inside(found, region, declarations, sizes):
            return found
    return None


def _interpolate(drawn: Fraction, inner: Fraction, share: Fraction) -> Fraction:
    """Return the rational at a given share of the way from an admissible to a drawn number."""
    return inner + share * (drawn - inner)


def _is_nonconvex(item: Parameter | Datum | Function) -> bool:
    """Whether the admissible values of an item are no convex set: integers, nonzero numbers or a list of values."""
    return bool({Kind.INTEGER, Kind.NONZERO} & set(item.kinds)) or (isinstance(item, Datum) and bool(item.values))


def _list_entry_names(item: Parameter | Datum | Function, declarations: Declarations, sizes: Sizes) -> set[Expr]:
    """Return the symbols or undefined functions of all entries of a declared item."""
    return {component(item, at, declarations, sizes) for at in positions(item.shape, sizes)}


def region_of(entries: list[Expr], declarations: Declarations, sizes: Sizes) -> Region:
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


def completed(chosen: Chosen, declarations: Declarations, sizes: Sizes) -> Point | None:
    """Return a point with the chosen values and simple values for all other names; None if it violates a declaration.

    Every kind, domain and assumption is checked again in exact arithmetic, whatever proposed the values. An abstract
    function becomes the constant with the value chosen; a potential becomes |z|**2/2 plus a constant.
    """
    random = Random(limits.TRIALS)
    free = replace(declarations, assume=())
    tries = (drawn(free, sizes, k // 2, random) for k in range(limits.TRIALS))
    base = next((at for at in tries if at is not None), None)
    if base is None:
        return None
    numbers = {**base.numbers, **{x: v for x, v in chosen.items() if isinstance(x, sympy.Symbol)}}
    numbers = solved(numbers, equalities(declarations, sizes))
    fields = dict(base.fields)
    for x, value in chosen.items():
        if isinstance(x, AppliedUndef):
            fields[type(x).__name__] = _constant_or_growing(x, value, declarations, numbers)
    made = stated(numbers, fields, declarations, sizes)
    if made is None or not is_inside(made, region_at(declarations, sizes), declarations, sizes):
        return None
    return made


def is_inside(at: Point, region: Region, declarations: Declarations, sizes: Sizes) -> bool:
    """Whether facts about a point, and every assumption, certainly hold there."""
    try:
        facts = all(compares(fact.op, evaluate(fact.value, at.leaf)) for fact in region)
    except NoValueError:
        return False
    return facts and all(holds(compare, declarations, sizes, at) for compare in declarations.assume)


def _constant_or_growing(
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

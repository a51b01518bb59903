"""Pass: other names for those of the user, and integers for symbolic sizes.

A name that the emitted module needs for itself is changed; a size that a build fixes becomes its number.
"""

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any, TypeVar, cast

from recipe_compiler.formula.declaration import Block, Datum, Parameter
from recipe_compiler.formula.extents import resized
from recipe_compiler.formula.shapes import Shape
from recipe_compiler.program.program import (
    Along,
    CodeMove,
    Draw,
    Evaluate,
    Gradient,
    Handed,
    Heat,
    Image,
    Involution,
    Part,
    Potential,
    Program,
    Refresh,
    RowState,
    Shift,
    Stages,
    Trajectory,
)
from recipe_compiler.program.rebuild import with_fields, with_items
from recipe_compiler.tensor.terms import Atom, Base, Component, Coordinate, Index, SizeNumber, Tensor, Term

Names = Mapping[str, str] | Mapping[str, int] | Mapping[str, str | int]
"""Name to another name, or symbolic size to an integer."""
Item = TypeVar("Item")

NAMED: Mapping[type, tuple[str, ...]] = {
    Block: ("name",), Parameter: ("name",), Datum: ("name", "size"), Shape: ("rows", "cols"),
    Gradient: ("given", "count", "others"), Part: ("start",), Potential: ("places", "count", "others"),
    RowState: ("name", "passed", "adjoint", "first"), Stages: ("count",),
    Evaluate: ("at",), Heat: ("before", "after"), Shift: ("old",),
    Refresh: ("old",), Draw: ("old", "places", "count"), Image: ("old",), Involution: ("start",),
    Along: ("name", "start"), Trajectory: ("most", "flip", "given"), Handed: ("old",), CodeMove: ("given",),
    Coordinate: ("block",), Component: ("name",), SizeNumber: ("name",), Index: ("size",),
}  # fmt: skip
"""The fields that hold names and sizes of the user's; names in other fields are the compiler's, or words."""


def rename(program: Program, names: Names) -> Program:
    """Return the program with blocks, parameters, data and sizes renamed; one map, since names are unique.

    Names of blocks, parameters and data map to names; those of sizes to names or integers.
    """
    if not names:
        return program
    heads = ((resized(size, names), number) for size, number in program.heads)
    named = tuple((size, number) for size, number in heads if isinstance(size, str))
    return replace(renamed(program, names), heads=named)


def renamed(item: Item, names: Names) -> Item:
    """Return a program, a tensor, or any part of one with its names replaced, and sizes that became numbers as such.

    What nothing is renamed in is returned itself: some are compared by identity. Equal tensors are renamed once, as a
    gradient has the same ones in hundreds of places.
    """
    known = dict[object, object]()

    def part(one: object, *, named: bool) -> object:
        match one:
            case str():
                return resized(one, names) if named and one else one
            case tuple():
                return with_items(one, lambda own: part(own, named=named))
            case Tensor() | Term():
                if one not in known:
                    made = fields_of(one)
                    known[one] = None if made is one else _term(made) if isinstance(made, Term) else made
                return one if known[one] is None else known[one]
            case _:
                return fields_of(one)

    def fields_of(one: object) -> Any:
        own = NAMED.get(type(one), ())
        return with_fields(one, lambda key, value: part(value, named=key in own))

    return cast("Item", part(item, named=False))


def _term(term: Term) -> Term:
    """Return a term with the powers of sizes that became numbers in its coefficient.

    A size to a power that is not an integer stays in a sum of its own, since its value is irrational.
    """
    coefficient, factors = term.coefficient, list[tuple[Atom, Fraction]]()
    for atom, power in term.factors:
        if not isinstance(atom, SizeNumber) or not isinstance(atom.name, int):
            factors.append((atom, power))
        elif power.denominator == 1:
            coefficient *= Fraction(atom.name) ** int(power)
        else:
            factors.append((Base(Tensor((), (Term(Fraction(atom.name)),))), power))
    return Term(coefficient, tuple(factors))

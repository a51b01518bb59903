"""Pass: other names for those of the user, and integers for symbolic sizes.

A name that the emitted module needs for itself is changed; a size that a build fixes becomes its number.
"""

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import TypeVar, cast

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
    RowState: ("name", "passed", "adjoint", "first"),
    Evaluate: ("at",), Heat: ("before", "after"), Shift: ("old",),
    Refresh: ("old",), Draw: ("old", "places", "count"), Image: ("old",), Involution: ("start",),
    Along: ("name", "start"), Trajectory: ("flip", "given"), Handed: ("old",), CodeMove: ("given",),
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
    """Return a program, a tensor, or any part of one with its names replaced, and sizes that became numbers as such."""
    return cast("Item", _renamed(item, names, named=False))


def _renamed(item: object, names: Names, *, named: bool) -> object:
    """Return an item itself where nothing in it is renamed: some are compared by identity."""

    def of_field(key: str, value: object) -> object:
        return _renamed(value, names, named=key in NAMED.get(type(item), ()))

    match item:
        case str():
            return resized(item, names) if named else item
        case tuple():
            return with_items(item, lambda one: _renamed(one, names, named=named))
        case Term():
            return _term(with_fields(item, of_field))
        case _:
            return with_fields(item, of_field)


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

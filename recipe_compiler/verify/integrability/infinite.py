"""Exact witnesses that exp(-H) has no finite integral: at admissible parameters, and for an admissible potential."""

from collections.abc import Iterable, Sequence
from typing import cast

import sympy
from sympy import Expr, Symbol
from sympy.core.function import AppliedUndef

from recipe_compiler import limits
from recipe_compiler.algebra.points.admissible_point import Point
from recipe_compiler.algebra.points.sample_fields import NoInstanceError
from recipe_compiler.algebra.points.witness import points
from recipe_compiler.algebra.polynomial_integrability.infinite_volume import flat
from recipe_compiler.algebra.scalars.entries import NotScalarisableError, rows
from recipe_compiler.algebra.scalars.evaluate import NoValueError, evaluate, is_certainly
from recipe_compiler.algebra.scalars.matrices import TooLargeError
from recipe_compiler.algebra.scalars.rationals import rational
from recipe_compiler.algebra.scalars.symbols import coordinates
from recipe_compiler.formula.build import nodes
from recipe_compiler.formula.declaration import Declarations
from recipe_compiler.formula.expression import FunctionAt
from recipe_compiler.formula.shapes import HALF_LINE, DomainName
from recipe_compiler.tensor.show import text
from recipe_compiler.verdict import Evidence, Refuted
from recipe_compiler.verify.core.identities import format_value
from recipe_compiler.verify.core.scalars import make_leaf, write_out
from recipe_compiler.verify.core.sizes import Sizes
from recipe_compiler.verify.core.subject import Subject
from recipe_compiler.verify.growth.integral import EndCondition


def refute_integral(subject: Subject, needed: Sequence[EndCondition]) -> tuple[Refuted, Sizes] | None:
    """Return why int exp(-H) is infinite for some admissible parameters, with the sizes; None says nothing.

    By a necessary condition at an end that fails at an exact point, or by a direction or region along which H does not
    grow. An abstract potential is taken to be |theta|**2/2 plus a square, which has a finite integral. H = a x**2/2
    with a real a is refuted at an a <= 0.
    """
    for sizes in subject.sizes:
        try:
            found = refute_end_condition(subject.declarations, needed, sizes)
            found = _find_flat(subject, sizes) if found is None else found
        except (NotScalarisableError, TooLargeError, NoInstanceError):
            continue
        if found is not None:
            return found, sizes
    return None


def refute_end_condition(declarations: Declarations, needed: Iterable[EndCondition], sizes: Sizes) -> Refuted | None:
    """Return an exact point where a necessary K > 0 fails: K < 0, or K = 0 if the integral diverges there as well.

    K is a scalar of the parameters, or one for each entry; balls that contain 0 decide nothing. None says nothing.
    """
    leaf = make_leaf(declarations, sizes)
    for condition in needed:
        entries = write_out(condition.factor, sizes, leaf)
        for at in points(declarations, sizes, limits.TRIALS):
            for entry in entries:
                try:
                    value = evaluate(entry, at.leaf)
                except (NoValueError, KeyError):  # data have no value at a point of the declarations
                    continue
                if is_certainly(value, -1) or (condition.boundary and value == 0):
                    says = f"what must be positive for {condition.end}"
                    named = _format_values(declarations, at, entry)
                    return Refuted("exact witness", (*named, (says, format_value(value))), text(condition.factor))
    return None


def _find_flat(subject: Subject, sizes: Sizes) -> Refuted | None:
    """Return a coordinate that is not in the energy, or a direction or region in which an instance does not grow."""
    declarations = subject.declarations
    blocks = declarations.blocks
    inside = {node.name for node in nodes(subject.dynamics.H) if isinstance(node, FunctionAt)}
    if any(f.name in inside and not f.shape.sizes and f.role != "potential" for f in declarations.functions):
        return None  # an instance of an abstract energy need not have the finite integral that is assumed of it
    H = rows(subject.dynamics.H, subject.setting(sizes))[0][0]
    endless = [block for block in blocks if block.domain.name in HALF_LINE | {DomainName.REAL}]
    unread = [x for block in endless for x in coordinates(block, sizes) if x not in H.free_symbols]
    if unread:
        size = ((name, str(n)) for name, n in sizes.items())
        return Refuted("exact witness", (*size, (f"what must be positive for {unread[0]} -> oo", "0")), f"H = {H}")
    if len(endless) < len(blocks):
        return None
    z = [x for block in blocks for x in coordinates(block, sizes)]
    if len(z) > limits.COORDINATES:
        return None
    positive = [block.domain.name in HALF_LINE for block in blocks for _ in coordinates(block, sizes)]
    for at in points(declarations, sizes, limits.TRIALS):
        energy = make_instance(H, at, z)
        found = None if energy is None else flat(energy, z, positive)
        if found is not None:
            return Refuted("exact witness", (*_format_values(declarations, at, H), *found.text), f"H = {energy}")
        if energy is not None and not H.free_symbols - set(z) and not H.atoms(AppliedUndef):
            return None  # every point has the same energy
    return None


def make_instance(H: Expr, at: Point, z: Sequence[Symbol]) -> Expr | None:
    """Return an energy with the parameters and fields of a point put in; None where it is not defined."""
    calls = {call: at.fields[type(call).__name__] for call in H.atoms(AppliedUndef)}
    concrete = cast(Expr, H.xreplace(calls).doit(deep=True)) if calls else H
    numbers = {s: rational(at.numbers[s]) for s in at.numbers if s not in z}
    found = cast(Expr, concrete.xreplace(numbers))
    return None if found.has(sympy.nan, sympy.zoo, sympy.oo, -sympy.oo) else found


def _format_values(declarations: Declarations, at: Point, of: Expr) -> Evidence:
    """Return the values of a point: without the coordinates, which are integrated over, and functions not in it."""
    names = {block.name for block in declarations.blocks}
    calls = {type(call).__name__ for call in of.atoms(AppliedUndef)}
    names |= {function.name for function in declarations.functions} - calls
    return tuple(item for item in at.text if item[0].partition("(")[0] not in names)

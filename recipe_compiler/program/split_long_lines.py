"""Pass: a formula too long for a line is computed in parts, each named before the statement that contains it.

Invariant: every term of a sum, and every value that is no sum, fits on a line of the emitted text.
"""

from collections.abc import Iterator
from dataclasses import replace

from recipe_compiler.program.combine import double, free_name
from recipe_compiler.program.kernel import Procedure
from recipe_compiler.program.loops import (
    Assign,
    Body,
    Call,
    Constant,
    Increment,
    Kronecker,
    Literal,
    Plus,
    Raise,
    Ref,
    Scalar,
    Statement,
    Times,
    Unsigned,
)
from recipe_compiler.program.traverse import names_in, parts_of, with_bodies, with_parts

LONGEST = 90
"""Characters a term may take, about: with its indent and its sign it then fits on a line of 120."""

LEAST = 15
"""Characters of a part that is worth a name."""


def shorten(procedure: Procedure) -> Procedure:
    """Return a procedure without formulas that are too long."""
    taken = {*procedure.names, *names_in(procedure.body)}
    return replace(procedure, body=tuple(_shortened(procedure.body, taken)))


def _shortened(body: Body, taken: set[str]) -> Iterator[Statement]:
    for statement in body:
        match statement:
            case Assign(target, value) | Increment(target, value):
                before: list[Statement] = []
                terms = value.terms if isinstance(value, Plus) else (value,)
                short = tuple(_short(term, before, taken) for term in terms)
                yield from before
                yield type(statement)(target, Plus(short) if isinstance(value, Plus) else short[0])
            case _:
                yield with_bodies(statement, lambda inner: _shortened(inner, taken))


def _short(term: Scalar, before: list[Statement], taken: set[str]) -> Scalar:
    while _width(term) > LONGEST:
        inside = [part for part in _inside(term) if LEAST < _width(part) <= LONGEST]
        if not inside:
            return term
        longest = max(inside, key=_width)
        part = Ref(free_name("part", taken))
        before.append(Assign(part, longest))
        term = _replaced(term, longest, part)
    return term


def _inside(value: Scalar) -> Iterator[Scalar]:
    for part in parts_of(value):
        if isinstance(part, Plus | Times | Raise | Call):
            yield part
            yield from _inside(part)


def _replaced(value: Scalar, old: Scalar, new: Scalar) -> Scalar:
    if value == old:
        return new
    return with_parts(value, tuple(_replaced(part, old, new) for part in parts_of(value)))


def _width(value: Scalar) -> int:
    """Return about how many characters an expression takes."""
    match value:
        case Constant(number):
            return len(repr(double(number)))
        case Ref(name, at):
            return len(name) + sum(len(str(place)) + 2 for place in at)
        case Kronecker(left, right):
            return len(f"(1.0 if {left} == {right} else 0.0)")
        case Plus(parts) | Times(parts):
            return sum(_width(part) + 3 for part in parts) + 2 * isinstance(value, Plus)
        case Unsigned() | Literal():
            return 0
        case Call(fn, parts):
            return len(f"math.{fn}()") + sum(_width(part) + 2 for part in parts)
        case Raise(base, _):
            return _width(base) + len("math.sqrt()")

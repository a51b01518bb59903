"""Pass: the rows of a minibatch are copied side by side before the loop over them, a few columns to an array.

A loop over rows at arbitrary positions becomes vector code only with the processor's gather instructions, and on many
processors nothing after a gather starts before it is done: iterations wait for each other. Copies need no vector of
positions. With four columns in one flat array (two or one for the rest), compilers read four rows at once and transpose
them in registers; from arrays of more columns, or with unused columns, they gather again. All entries of a row are read
before the first is written, so that they are copied as vectors. Every entry keeps its value, so the result does not
change.

Rows left over after whole vectors are done one by one, at several times the cost. So the copies of rows that are not
very short are padded to whole vectors with the first row of the minibatch, whose contribution is multiplied by zero.
"""

from collections.abc import Iterator
from dataclasses import replace

from recipe_compiler.program.combine import free_name
from recipe_compiler.program.definition import ROW
from recipe_compiler.program.kernel import Procedure
from recipe_compiler.program.loops import (
    Array,
    Assign,
    Body,
    Call,
    For,
    ForBlocks,
    Increment,
    Ref,
    Statement,
    Times,
    Unsigned,
)
from recipe_compiler.program.traverse import names_in, refs, with_refs

WIDTHS = (4, 2, 1)
"""Columns of an array that are read together."""

WHOLE = 8
"""Rows of a whole vector, where vectors are widest."""
FILLED = 8
"""The fewest numbers of a row at which filling up whole vectors takes less time than it saves."""

Place = tuple[int, ...]


_Group = tuple[Array, dict[Ref, str]]
"""An array of copies, and the scalars that its columns are read into."""


def packs(procedure: Procedure) -> Procedure:
    """Return a procedure that copies the rows of its minibatch first; the same one if it reads no such rows."""
    loops = [(place, one) for place, one in enumerate(procedure.body) if isinstance(one, For) and one.position]
    if len(loops) != 1:
        return procedure
    (place, loop), data = loops[0], _entries(loops[0][1])
    if not data:
        return procedure
    taken = {*procedure.names, *names_in(procedure.body), loop.position, loop.index}
    filled = sum(map(len, data.values())) >= FILLED
    groups = tuple(_groups(data, taken, filled=filled))
    scalars = {ref: name for _, own in groups for ref, name in own.items()}
    reads = tuple(Assign(Ref(name), ref) for ref, name in scalars.items())
    columns = [
        (Ref(array.name, (Unsigned((loop.position, k), len(own)),)), Ref(name))
        for array, own in groups
        for k, name in enumerate(own.values())
    ]
    writes = tuple(Assign(element, scalar) for element, scalar in columns)
    again = tuple(Assign(scalar, element) for element, scalar in columns)
    body = tuple(with_refs(inner, lambda ref: Ref(scalars[ref]) if ref in scalars else ref) for inner in loop.body)
    copied, first = ((Assign(Ref(loop.index), Ref("batch", (at,))), *reads, *writes) for at in (loop.position, 0))
    summed = (*again, *body)
    loops = (ForBlocks(loop.position, "batch_size", 1, copied), ForBlocks(loop.position, "batch_size", 1, summed))
    if filled:
        inside = free_name("inside", taken)
        is_inside = Call("<", (Unsigned((loop.position,)), Call("uint64", (Ref("batch_size"),))))
        summed = (*again, Assign(Ref(inside), Call("float64", (is_inside,))), *_times(inside, body))
        fill = ForBlocks(loop.position, "batch_size", 1, first, first="batch_size", whole=WHOLE)
        loops = (loops[0], fill, ForBlocks(loop.position, "batch_size", 1, summed, whole=WHOLE))
    return replace(
        procedure,
        body=(*procedure.body[:place], *loops, *procedure.body[place + 1 :]),
        work=(*procedure.work, *(array for array, _ in groups)),
    )


def _times(inside: str, body: Body) -> Iterator[Statement]:
    """Yield a body in which what is added to sums over the rows is multiplied by a scalar; sums within a row stay."""
    within = {statement.target for statement in body if isinstance(statement, Assign)}
    for statement in body:
        match statement:
            case Increment(target, value) if target not in within:
                factors = value.factors if isinstance(value, Times) else (value,)
                yield Increment(target, Times((Ref(inside), *factors)))
            case _:
                yield statement


def _entries(loop: For) -> dict[str, list[Place]]:
    """Return the places within a row that are read of every array, none where rows are read in another way."""
    found: dict[str, set[Place]] = {}
    for ref in refs(loop.body):
        place = tuple(k for k in ref.at[1:] if isinstance(k, int))
        if loop.position in ref.at or loop.index in ref.at[1:]:
            return {}
        if ref.at[:1] == (loop.index,):
            if len(place) < len(ref.at) - 1:
                return {}
            found.setdefault(ref.name, set()).add(place)
    return {name: sorted(places) for name, places in found.items()}


def _groups(data: dict[str, list[Place]], taken: set[str], *, filled: bool) -> Iterator[_Group]:
    for name, places in data.items():
        for some in _cut(places):
            scalars = {
                Ref(name, (ROW, *place)): free_name("_".join((name, *map(str, place or (ROW,)))), taken)
                for place in some
            }
            ends = dict.fromkeys("_".join(map(str, place)) for place in (some[0], some[-1]) if place)
            array = free_name("_".join((name, "batch", *ends)), taken)
            size = ["batch_size"] * len(some) + ([str((WHOLE - 1) * len(some))] if filled else [])
            yield Array(array, ("+".join(size),)), scalars


def _cut(places: list[Place]) -> Iterator[list[Place]]:
    """Yield runs of columns of the greatest widths that fit."""
    start = 0
    while start < len(places):
        width = next(width for width in WIDTHS if width <= len(places) - start)
        yield places[start : start + width]
        start += width

"""Pass: loops over the same rows of the data become one, and values of one row need no array over the rows.

A loop over rows moves down past statements that neither use nor change what it writes or reads, to the next loop over
the same rows; the two are fused if each iteration of the second reads, of what the first writes, only what the same
iteration wrote. Every row then goes through the same statements in the same order as before.

Worked example: for row: eta[row] = ...; for row: w[row] = f(eta[row]); for row: grad += w[row] x[row] becomes one loop,
in which eta and w are scalars.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from recipe_compiler.program.definition import ROW, reads_position
from recipe_compiler.program.kernel import Procedure
from recipe_compiler.program.loops import Array, Assign, Body, For, Ref, Statement
from recipe_compiler.program.traverse import refs, targets, with_refs


@dataclass(frozen=True, slots=True)
class Fused:
    """A procedure with one loop over the rows: the statements before it, the loop, the statements after it."""

    before: Body
    loop: For
    after: Body
    local: tuple[Array, ...]
    """Scalars and small arrays that belong to one row: written and read within an iteration of the loop."""
    work: tuple[Array, ...]
    """The work arrays that are left."""


def fuse(procedure: Procedure) -> Fused | None:
    """Return a procedure with its loops over rows fused into one; None if it has none or they cannot be fused."""
    body: list[Statement] = []
    open_: For | None = None
    for statement in procedure.body:
        rows = _over_rows(statement)
        if rows is None:
            if open_ is not None and _touch(open_, statement):
                body.append(open_)
                open_ = None
            body.append(statement)
        elif open_ is not None and _same_rows(open_, rows) and _row_by_row(open_, rows):
            open_ = replace(open_, body=_joined(open_.body, rows.body))
        else:
            body += [open_] if open_ is not None else []
            open_ = rows
    body += [open_] if open_ is not None else []
    loops = [(place, loop) for place, statement in enumerate(body) if (loop := _over_rows(statement)) is not None]
    return _localised(procedure, tuple(body), *loops[0]) if len(loops) == 1 else None


def _joined(first: Body, second: Body) -> Body:
    """Return two bodies one after the other; what both take of a row is taken once."""
    return (*first, *(s for s in second if not (reads_position(s) and s in first)))


def _over_rows(statement: Statement) -> For | None:
    return statement if isinstance(statement, For) and statement.index == ROW else None


def _same_rows(one: For, other: For) -> bool:
    return replace(one, body=()) == replace(other, body=())


def position_of(loop: For) -> str:
    """Return the variable that counts the rows of a loop."""
    return loop.position or loop.index


def _places(statement: Statement) -> tuple[frozenset[Ref], frozenset[Ref]]:
    """Return what a statement writes, and what it reads or writes."""
    return frozenset(targets((statement,))), frozenset(refs((statement,)))


def _shared(some: Iterable[Ref], others: Iterable[Ref]) -> frozenset[str]:
    """Return the names of what may be one place of memory: other literal positions of an array are other places."""
    return frozenset(
        one.name
        for one in some
        for other in others
        if one.name == other.name and (one.at == other.at or not (_literal(one) and _literal(other)))
    )


def _literal(ref: Ref) -> bool:
    return all(isinstance(place, int) for place in ref.at)


def _touch(loop: For, statement: Statement) -> bool:
    """Whether a statement reads or writes what a loop writes, or writes what it reads."""
    written, read = _places(loop)
    written_, read_ = _places(statement)
    return bool(_shared(written, written_ | read_) or _shared(written_, read))


def _row_by_row(first: For, second: For) -> bool:
    """Whether an iteration of the second loop needs of the first no more than the same one, and harms no later one."""
    written, read = _places(first)
    written_, read_ = _places(second)
    shared = _shared(written, read_) | _shared(written_, read)
    at_row = (position_of(first),)
    elsewhere = {ref.name for ref in refs((first, second)) if ref.at[:1] != at_row}
    renewed = {name for name in shared & elsewhere if _renews(first, name) and _renews(second, name)}
    return not (shared & elsewhere) - renewed


def _renews(loop: For, name: str) -> bool:
    """Whether a scalar is written anew in every iteration before it is read."""
    return any(isinstance(s, Assign) and s.target == Ref(name) for s in loop.body)


def _localised(procedure: Procedure, body: Body, place: int, loop: For) -> Fused:
    """Drop the row from what is written and read at the row of its own iteration alone."""
    at_row = (position_of(loop),)
    outside = {ref.name for ref in refs((*body[:place], *body[place + 1 :]))}
    astray = {ref.name for ref in refs((loop,)) if ref.at[:1] != at_row} | outside
    arrays = tuple(array for array in procedure.work if array.name not in astray)
    names = {array.name for array in arrays}

    def without_row(ref: Ref) -> Ref:
        return Ref(ref.name, ref.at[1:]) if ref.name in names else ref

    inside = replace(loop, body=tuple(with_refs(inner, without_row) for inner in loop.body))
    local = tuple(Array(array.name, array.sizes[1:]) for array in arrays)
    left = tuple(array for array in procedure.work if array not in arrays)
    return Fused(body[:place], inside, body[place + 1 :], local, left)

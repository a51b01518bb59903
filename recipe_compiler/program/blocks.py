"""Pass: rows are read in blocks, so that sums over them are taken while they are in the cache.

The computation of a row is cut where loops within the row and expressions of its scalars alternate. Each part is done
for all rows of a block before the next part: the expressions become vector instructions, and the sums over rows at the
end take four rows at once. Rows that come next are prefetched while a block is summed. What one part passes to the next
is kept in an array as long as a block. The rows beyond the last whole block are done one by one.

Worked example, a logistic regression with N rows: per row, eta = x.theta (a loop), w = sigmoid(eta) - y (scalars), then
grad += w x (a loop). In blocks of 8 rows: 8 loops for eta; one vector expression for the 8 w; two passes of grad[j] +=
w0 x0[j] + w1 x1[j] + w2 x2[j] + w3 x3[j], which load and store grad once for four rows.
"""

from collections.abc import Iterator
from dataclasses import replace

from recipe_compiler.program.combine import fresh, plus
from recipe_compiler.program.definition import ROW
from recipe_compiler.program.fuse import Fused, position_of
from recipe_compiler.program.kernel import Procedure
from recipe_compiler.program.loops import (
    Array,
    Assign,
    Body,
    For,
    ForBlocks,
    Increment,
    Ref,
    Scalar,
    Statement,
    Unsigned,
)
from recipe_compiler.program.prefetch import ask, prefetched
from recipe_compiler.program.traverse import names_in, refs, targets, value_with_refs, with_refs
from recipe_compiler.program.unroll import ITERATIONS

BLOCK = 8
"""Rows of a block: enough for vector instructions, and 100 features of them fill a seventh of the fastest cache, which
leaves room for the rows that are read ahead."""
AT_ONCE = 4
"""Rows that are added to a sum at once: the sum is read and written once for all of them."""


def blocks(procedure: Procedure, fused: Fused) -> Procedure | None:
    """Return a procedure that reads its rows in blocks, None if rows are used other than by number.

    Args:
        procedure: with arrays as its outputs.
        fused: the same with one loop over its rows.
    """
    loop = fused.loop
    if loop.position and any(loop.position in ref.at for ref in refs(loop.body)):
        return None
    names = _Names(procedure, fused)
    parts = tuple(_parts(loop.body))
    parts = tuple(_taken_along(parts, names)) if loop.position else parts
    passed = _passed(parts, fused.local)
    block: list[Statement] = []
    data = prefetched(procedure, loop.body)
    row = Unsigned((names.start, names.iteration), count=names.count)
    first = ask(data, names.fresh("ahead"), names.batch, row, BLOCK) if data else ()
    for place, part in enumerate(parts):
        if place == len(parts) - 1 and _is_sum(part, fused.local):
            block.append(_at_once(part, passed, names))
        else:
            block.append(_each(part, passed, names, () if place else first))
    whole = ForBlocks(names.start, names.count, BLOCK, tuple(block))
    held = tuple(Array(array.name, (BLOCK, *array.sizes)) for array in passed.values())
    kept = tuple(array for array in fused.local if array.sizes and array.name not in passed)

    def by_itself(ref: Ref) -> Ref:
        return Ref(names.of(ref.name, "alone"), ref.at) if ref.name in passed else ref

    rest = replace(loop, beyond=BLOCK, body=tuple(with_refs(statement, by_itself) for statement in loop.body))
    alone = tuple(Array(names.of(name, "alone"), array.sizes) for name, array in passed.items() if array.sizes)
    return replace(
        procedure,
        body=(*fused.before, whole, rest, *fused.after),
        work=(*fused.work, *kept, *held, *alone),
    )


class _Names:
    """The names that the blocks need, clear of all others."""

    def __init__(self, procedure: Procedure, fused: Fused) -> None:
        body = (*fused.before, fused.loop, *fused.after)
        self._taken = {*procedure.names, *names_in(body), *(str(place) for ref in refs(body) for place in ref.at)}
        self._taken.add(position_of(fused.loop))
        self.batch = "batch" if fused.loop.position else None
        self.count = fused.loop.count
        self.start = self.fresh("start")
        self.iteration = self.fresh("k")
        self.first = self.fresh("first")
        self.rows = tuple(self.fresh(f"{ROW}_{k}") for k in range(AT_ONCE))
        self._made: dict[tuple[str, int | str], str] = {}

    def fresh(self, wanted: str) -> str:
        """Return a name that is not taken yet, and take it."""
        name = fresh(wanted, self._taken)
        self._taken.add(name)
        return name

    def taken(self, row: str, *terms: str | int) -> Assign:
        """Return what makes a variable the number of a row."""
        place = Unsigned(terms)
        return Assign(Ref(row), place if self.batch is None else Ref(self.batch, (place,)))

    def of(self, name: str, what: int | str) -> str:
        """Return the scalar that holds a value of the row: of the k-th of several rows, or of a row alone."""
        if (name, what) not in self._made:
            self._made[name, what] = self.fresh(f"{name}_{what}")
        return self._made[name, what]


def _parts(body: Body) -> Iterator[Body]:
    """Yield the runs of statements that are loops within a row, or set up or store what these sum, and the others."""
    run: list[Statement] = []
    for place, statement in enumerate(body):
        if run and _loops(body, place) != _loops(body, place - 1):
            yield tuple(run)
            run = []
        run.append(statement)
    if run:
        yield tuple(run)


def _loops(body: Body, place: int) -> bool:
    """Whether a statement is a loop within the row, begins its sum, or stores it."""
    match body[place]:
        case For():
            return True
        case Assign(target) if place + 1 < len(body):
            match body[place + 1]:
                case For() as inner if any(ref == target for ref in targets(inner.body)):
                    return True
                case _:
                    pass
        case _:
            pass
    match body[place - 1 : place + 1]:
        case (For(_, _, inner), Assign(_, Ref() as value)):
            return any(ref == value for ref in targets(inner))
        case _:
            return False


def _taken_along(parts: tuple[Body, ...], names: "_Names") -> Iterator[Body]:
    """Yield the parts with what scalars need of a row read by the loops before them: they become vector instructions.

    For all a compiler knows, a store may change what the next row of a minibatch reads: the rows may be anywhere.
    """
    read = [() if _has_loops(part) else tuple(ref for ref in refs(part) if ref.at == (ROW,)) for part in parts]
    read[0] = ()
    for part, own, later in zip(parts, read, (*read[1:], ()), strict=True):
        taken = tuple(Assign(Ref(names.of(ref.name, ROW)), ref) for ref in dict.fromkeys(later))
        yield (*(_with(statement, own, names) for statement in part), *taken)


def _with(statement: Statement, taken: tuple[Ref, ...], names: "_Names") -> Statement:
    return with_refs(statement, lambda ref: Ref(names.of(ref.name, ROW)) if ref in taken else ref)


def _has_loops(part: Body) -> bool:
    return any(isinstance(statement, For) for statement in part)


def _passed(parts: tuple[Body, ...], local: tuple[Array, ...]) -> dict[str, Array]:
    """Return what one part of a row's statements hands on to another: scalars and small arrays."""
    sizes = {array.name: array.sizes for array in local}
    written = {ref.name for part in parts for ref in targets(part) if not ref.at or ref.name in sizes}
    found: dict[str, Array] = {}
    for name in (ref.name for part in parts for ref in targets(part)):
        users = [part for part in parts if any(ref.name == name for ref in refs(part))]
        if name in written and len(users) > 1 and not all(_begins(part, name) for part in users):
            found[name] = Array(name, sizes.get(name, ()))
    return found


def _begins(part: Body, name: str) -> bool:
    """Whether a part writes a scalar before it reads it."""
    first = next(statement for statement in part if any(ref.name == name for ref in refs((statement,))))
    match first:
        case Assign(target, _):
            return target == Ref(name) and sum(ref.name == name for ref in refs((first,))) == 1
        case _:
            return False


def _is_sum(part: Body, local: tuple[Array, ...]) -> bool:
    """Whether a part does nothing but add to arrays that do not belong to the row, numbers of the row their weights."""
    own = {array.name for array in local}
    if any(ref.at for ref in refs(part) if ref.name in own):
        return False
    return all(isinstance(statement, For) and _adds(statement, own) for statement in part)


def _adds(loop: For, own: set[str]) -> bool:
    return all(
        _adds(inner, own)
        if isinstance(inner, For)
        else isinstance(inner, Increment) and bool(inner.target.at) and inner.target.name not in own
        for inner in loop.body
    )


def _each(part: Body, passed: dict[str, Array], names: _Names, first: Body) -> Statement:
    """Return the loop that does a part for every row of a block, with `first` at the start of each iteration."""

    def at_iteration(ref: Ref) -> Ref:
        return Ref(ref.name, (names.iteration, *ref.at)) if ref.name in passed else ref

    body = tuple(with_refs(statement, at_iteration) for statement in part)
    take = (names.taken(ROW, names.start, names.iteration),) if _reads_row(part) else ()
    done = (*first, *take, *(_unsigned(statement) for statement in body))
    return ForBlocks(names.iteration, BLOCK, 1, done, _along(part, passed))


def _along(part: Body, passed: dict[str, Array]) -> str | None:
    """Return an array to whose length the rows of a block are counted: compilers write out loops of a few iterations.

    What is written out, iteration by iteration, is not made vector instructions any more.
    """
    return next((ref.name for ref in refs(part) if ref.name in passed), None)


def _unsigned(statement: Statement) -> Statement:
    """Return a loop within a row with an unsigned count: an index that may be negative costs a test each time.

    A long loop that sums over its index counts to the length of an array: where compilers know the length, they write
    the loop out and order its terms anew; addresses then do not increase any more, and memory brings the rows late.
    """
    match statement:
        case For(index, count, body):
            long = isinstance(count, int) and count > ITERATIONS
            along, axis = _read_over(index, body) if long and _sums(index, body) else (None, 0)
            return ForBlocks(index, count, 1, tuple(_unsigned(inner) for inner in body), along, axis=axis)
        case _:
            return statement


def _sums(index: str, body: Body) -> bool:
    return any(isinstance(statement, Increment) and index not in statement.target.at for statement in body)


def _read_over(index: str, body: Body) -> tuple[str | None, int]:
    """Return an array of which a loop by `index` reads a whole axis, and the axis."""
    return next(((ref.name, ref.at.index(index)) for ref in refs(body) if index in ref.at), (None, 0))


def _reads_row(part: Body) -> bool:
    return any(ROW in ref.at for ref in refs(part))


def _at_once(part: Body, passed: dict[str, Array], names: _Names) -> Statement:
    """Return the loop that adds the rows of a block, four at once."""
    read = dict.fromkeys(ref.name for ref in refs(part) if ref.name in passed)
    rows = names.rows if _reads_row(part) else ()
    taken = [names.taken(row, names.start, names.first, k) for k, row in enumerate(rows)]
    of_block = [(name, k) for name in read for k in range(AT_ONCE)]
    taken += [Assign(Ref(names.of(name, k)), Ref(name, (Unsigned((names.first, k)),))) for name, k in of_block]
    done = (*taken, *(_unsigned(_four(statement, passed, names)) for statement in part))
    return ForBlocks(names.first, BLOCK, AT_ONCE, done, _along(part, passed))


def _four(statement: Statement, passed: dict[str, Array], names: _Names) -> Statement:
    match statement:
        case For():
            return replace(statement, body=tuple(_four(inner, passed, names) for inner in statement.body))
        case Increment(target, value):
            return Increment(target, plus(tuple(_of_row(value, k, passed, names) for k in range(AT_ONCE))))
        case _:
            return statement


def _of_row(value: Scalar, k: int, passed: dict[str, Array], names: _Names) -> Scalar:
    """Return what the k-th of four rows adds."""

    def numbered(ref: Ref) -> Ref:
        if ref.name in passed:
            return Ref(names.of(ref.name, k))
        return Ref(ref.name, tuple(names.rows[k] if place == ROW else place for place in ref.at))

    return value_with_refs(value, numbered)

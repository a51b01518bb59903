"""The canonical form of a Kernel: what every pass over its loops may rely on, and must preserve (docs/program.md).

`check_kernel` reports what breaks it, by number. Tests call it after every pass.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from recipe_compiler.formula.shapes import Size
from recipe_compiler.program.canonical import Broken
from recipe_compiler.program.kernel import Kernel, Procedure
from recipe_compiler.program.loops import (
    Accept,
    Array,
    Assign,
    Choose,
    Clip,
    Decide,
    Factor,
    For,
    ForBatch,
    ForBlocks,
    Increment,
    Inside,
    Invert,
    Invoke,
    Iterate,
    Loop,
    Matrix,
    Pack,
    Progress,
    Propagate,
    Ref,
    Repeat,
    Scale,
    Statement,
    Stream,
    Take,
    Uniform,
    Unpack,
    Variate,
    View,
    When,
    refs_of,
)
from recipe_compiler.program.traverse import kroneckers

NOTHING: Mapping[str, Procedure] = MappingProxyType({})
PI = "math.pi"
"""What every text knows."""

INVARIANTS = (
    "1. The arrays of a procedure have names of their own.",
    "2. What is read is given, or was assigned before.",
    "3. What is written is an output, work, or the procedure's own.",
    "4. Every output is written.",
    "5. An element has a position for each axis, inside it.",
    "6. Positions are numbers or variables of the loops around, each loop with a variable of its own.",
    "7. A loop counts to a size that an array of the procedure has.",
    "8. A procedure is called with what it takes, and gives what it returns.",
)
"""What is checked, as docs/program.md has it."""


def check_kernel(kernel: Kernel) -> tuple[Broken, ...]:
    """Return every invariant that a Kernel breaks, by its number; empty for one in canonical form."""
    called = {procedure.name: procedure for procedure in kernel.procedures}
    of_chain = frozenset(size for procedure in kernel.procedures for size in _sizes(_given(procedure)))
    broken = [*check_procedure(kernel.prepare, called, of_chain)]
    return tuple(broken + [one for p in kernel.procedures for one in check_procedure(p, called)])


def check_procedure(
    procedure: Procedure, called: Mapping[str, Procedure] = NOTHING, told: frozenset[str] = frozenset()
) -> tuple[Broken, ...]:
    """Return every invariant that a procedure breaks.

    Args:
        procedure: what is checked.
        called: those that it may call.
        told: sizes that it is given besides those of its arrays: `prepare` is given all of them.
    """
    given = _given(procedure)
    counted = Counter(array.name for array in given)
    twice = [Broken(1, f"{name} is the name of {count} arrays") for name, count in counted.items() if count > 1]
    sizes = _sizes(given) | told
    valued = frozenset(array.name for array in given if array.sizes or array in procedure.inputs)
    start = _Scope(
        arrays={array.name: array.sizes for array in given if array.sizes},
        views={},
        assigned=valued | sizes | {PI},
        inputs=frozenset(array.name for array in procedure.inputs),
        sizes=sizes,
        called=called,
    )
    found, _, written = _body(procedure.body, start)
    missing = [Broken(4, f"{array.name} is not written") for array in procedure.outputs if array.name not in written]
    broken = dict.fromkeys((*twice, *found, *missing))
    return tuple(replace(one, says=f"{procedure.name}: {one.says}") for one in broken)


def _given(procedure: Procedure) -> tuple[Array, ...]:
    return (*procedure.outputs, *procedure.inputs, *procedure.work)


def _sizes(arrays: Iterable[Array]) -> frozenset[str]:
    return frozenset(part for array in arrays for size in array.sizes for part in str(size).split("+"))


@dataclass(frozen=True, slots=True)
class _Scope:
    """What is known where a statement stands."""

    arrays: Mapping[str, tuple[Size, ...] | None]
    """Their sizes, None of a flat view and of what another procedure than the gradient returns."""
    views: Mapping[str, str]
    """The arrays that views are parts of."""
    assigned: frozenset[str]
    """What has a value: arrays, sizes, and scalars assigned so far."""
    inputs: frozenset[str]
    sizes: frozenset[str]
    called: Mapping[str, Procedure]
    loops: frozenset[str] = frozenset()
    """Variables that count: those of loops around, and what was taken at them."""


@dataclass(frozen=True, slots=True)
class _Touched:
    """What a statement reads and writes, before anything inside of it."""

    reads: tuple[Ref, ...] = ()
    writes: tuple[Ref, ...] = ()
    positions: tuple[str | int, ...] = ()
    """Loop variables that it counts with."""
    compared: tuple[str | int, ...] = ()
    """Positions that it compares: loop variables, numbers, and places that were drawn."""


_Checked = tuple[list[Broken], _Scope, set[str]]
"""What is broken, what is known afterwards, and what was written."""


def _body(body: Iterable[Statement], scope: _Scope) -> _Checked:
    found: list[Broken] = []
    written: set[str] = set()
    for statement in body:
        if isinstance(statement, Stream):
            broken, scope, names = _stream(statement, scope)
        elif isinstance(statement, When):
            broken, scope, names = _when(statement, scope)
        elif isinstance(statement, Loop):
            broken, scope, names = _loop(statement, scope)
        else:
            broken, scope, names = _one(statement, scope)
        found += broken
        written |= names
    return found, scope, written


def _stream(stream: Stream, scope: _Scope) -> _Checked:
    """Return what is checked of draws from a stream: it is given, and moved on for the caller."""
    unknown = [] if stream.state in scope.assigned else [Broken(2, f"{stream.state} is read and not known")]
    found, after, written = _body(stream.body, scope)
    return unknown + found, after, written


def _when(when: When, scope: _Scope) -> _Checked:
    """Return what is checked of what is done or not: both ways are, and what one of them leaves out is not known."""
    unknown = [] if when.flag in scope.assigned else [Broken(2, f"{when.flag} is read and not known")]
    (found, done, written), (others, left, skipped) = _body(when.body, scope), _body(when.otherwise, scope)
    after = replace(scope, assigned=done.assigned & left.assigned)
    return [*unknown, *found, *others], after, written & skipped


def _loop(loop: Loop, scope: _Scope) -> _Checked:
    if isinstance(loop, Iterate):
        return _iteration(loop, scope)
    if isinstance(loop, Repeat):  # once at least
        unknown = [loop.count] if isinstance(loop.count, str) and loop.count not in scope.assigned else []
        found, scope, written = _body(loop.body, scope)
        return [Broken(2, f"{name} is read and not known") for name in unknown] + found, scope, written
    variables = {loop.start} if isinstance(loop, ForBlocks) else {loop.index}
    variables |= {loop.position} if isinstance(loop, ForBatch) else set()
    known = scope.loops | scope.arrays.keys() | scope.assigned
    found = [Broken(6, f"a loop by {name}, which is something else") for name in sorted(variables & known)]
    counts = {part for count in _counts(loop) if isinstance(count, str) for part in count.split("+")}
    found += [Broken(7, f"a loop to {count}, which no array has") for count in sorted(counts - scope.sizes)]
    found += [Broken(2, f"{name} is read and not known") for name in _whole(loop) if name not in scope.assigned]
    found += _along(loop, scope)
    inside, _, written = _body(loop.body, replace(scope, loops=scope.loops | variables))
    # a loop may have no iteration: what it assigns is not known after it
    return found + inside, scope, written


def _along(loop: For | ForBatch | ForBlocks, scope: _Scope) -> Iterator[Broken]:
    """Yield what is wrong with the array to whose length a loop counts."""
    match loop:
        case ForBlocks(count=count, along=str(along), axis=axis):
            sizes = scope.arrays.get(along)
            if sizes is not None and (axis >= len(sizes) or sizes[axis] != count):
                yield Broken(7, f"a loop to {count} along the axis {axis} of {along}, which has {sizes}")
        case _:
            return


def _iteration(loop: Iterate, scope: _Scope) -> _Checked:
    found, _, written = _body((*loop.body, *loop.advance), scope)
    broken, scope, names = _one(Assign(loop.unsolved, loop.unsolved), scope)
    return found + broken, scope, written | names


def _counts(loop: For | ForBatch | ForBlocks) -> tuple[Size, ...]:
    match loop:
        case For(_, count):
            return (count,)
        case ForBlocks(_, count, _, _, _, first):
            return (count, first)
        case ForBatch():
            return ("batch_size",)


def _whole(loop: For | ForBatch | ForBlocks) -> tuple[str, ...]:
    match loop:
        case ForBatch():
            return ("batch",)
        case ForBlocks(along=str(along)):
            return (along,)
        case _:
            return ()


def _one(statement: Statement, scope: _Scope) -> _Checked:
    if isinstance(statement, View):
        return _view(statement, scope)
    touched = _touched(statement, scope)
    found = [*_calls(statement, scope), *_variables(touched.positions, scope)]
    found += _variables((at for at in touched.compared if at not in scope.assigned), scope)
    for ref in (*touched.reads, *touched.writes):
        found += _element(ref, scope)
    found += [Broken(2, f"{ref.name} is read and not known") for ref in touched.reads if ref.name not in scope.assigned]
    found += [Broken(3, f"{ref.name} is an input, and written") for ref in touched.writes if ref.name in scope.inputs]
    names = {ref.name for ref in touched.writes}
    loops = scope.loops | ({statement.target} if isinstance(statement, Take) else set())
    arrays = scope.arrays
    if isinstance(statement, Invoke) and statement.procedure not in scope.called:
        arrays = {**arrays, **dict.fromkeys(statement.targets)}
    written = {scope.views.get(name, name) for name in names}
    return found, replace(scope, arrays=arrays, assigned=scope.assigned | names, loops=loops), written


def _view(view: View, scope: _Scope) -> _Checked:
    found = [] if view.source in scope.arrays else [Broken(2, f"{view.source} is read and not known")]
    sizes = view.sizes or (None if view.start is None else (1,))
    source = scope.views.get(view.source, view.source)
    named = frozenset(size for size in view.sizes if isinstance(size, str))
    after = replace(
        scope,
        arrays={**scope.arrays, view.name: sizes},
        views={**scope.views, view.name: source},
        assigned=scope.assigned | {view.name} | named,
        sizes=scope.sizes | named,
        inputs=scope.inputs | ({view.name} if source in scope.inputs else set()),
    )
    return found, after, set()


def _element(ref: Ref, scope: _Scope) -> Iterator[Broken]:
    sizes = scope.arrays.get(ref.name, ())
    if not ref.at:
        return
    if sizes is not None and len(ref.at) != len(sizes):
        yield Broken(5, f"{ref.name} has the position {ref.at}, expected one for each of {sizes}")
        return
    for at, size in zip(ref.at, sizes or (), strict=False):
        if isinstance(at, int) and (at < 0 or (isinstance(size, int) and at >= size)):
            yield Broken(5, f"{ref.name} has the position {ref.at} outside of {sizes}")
    yield from _variables(ref.at, scope)


def _variables(positions: Iterable[str | int], scope: _Scope) -> Iterator[Broken]:
    unknown = (at for at in positions if isinstance(at, str) and at not in scope.loops)
    yield from (Broken(6, f"{at} is no variable of a loop") for at in unknown)


def _calls(statement: Statement, scope: _Scope) -> Iterator[Broken]:
    """Yield what is wrong with a call of a procedure that is known."""
    own = scope.called.get(statement.procedure) if isinstance(statement, Invoke) else None
    if not isinstance(statement, Invoke) or own is None:
        return
    taken = (*(() if own.returns else own.outputs), *own.inputs, *own.work)
    returned = own.outputs if own.returns else ()
    if len(statement.arguments) != len(taken) or len(statement.targets) != len(returned):
        yield Broken(
            8, f"{own.name} of {statement.arguments} for {statement.targets}, expected {len(taken)} for {len(returned)}"
        )


def _touched(statement: Statement, scope: _Scope) -> _Touched:
    """Return what a statement that is no loop and no view reads and writes."""
    match statement:
        case Assign(target, value):
            return _Touched(tuple(refs_of(value)), (target,), compared=tuple(kroneckers(value)))
        case Increment(target, value):
            return _Touched((target, *refs_of(value)), (target,), compared=tuple(kroneckers(value)))
        case Progress(start, value, following):
            return _Touched((start, value, following))
        case Take(target, source, at):
            return _Touched(_refs((source,) if source else ()), (Ref(target),), at)
        case Pack(array, position, values):
            return _Touched(_refs(values), _refs((array,)), (position,))
        case Unpack(array, position, targets):
            return _Touched(_refs((array,)), _refs(targets), (position,))
        case Inside(target, position):
            return _Touched((), (Ref(target),), (position,))
        case Uniform() | Accept() | Decide() | Choose() | Variate():
            return _touched_by_move(statement)
        case Invert() | Factor() | Propagate() | Scale() | Clip():
            return _touched_by_matrices(statement)
        case Invoke():
            return _touched_by_call(statement, scope)
        case _:
            return _Touched()


def _touched_by_move(statement: Uniform | Accept | Decide | Choose | Variate) -> _Touched:
    match statement:
        case Uniform(target, _, _, normals):
            return _Touched(normals, (Ref(target),))
        case Accept(flag, probability, log_ratio, normals):
            return _Touched((Ref(log_ratio), *normals), (Ref(flag), probability))
        case Decide(flag, _, read):
            return _Touched(read, (Ref(flag),))
        case Choose(target, flag, taken, refused):
            return _Touched((Ref(flag), *refs_of(taken), *refs_of(refused)), (target,))
        case Variate(target, _, parameters):
            return _Touched(tuple(ref for value in parameters for ref in refs_of(value)), (target,))


def _touched_by_matrices(statement: Matrix | Scale | Clip) -> _Touched:
    match statement:
        case Invert(target, source):
            return _Touched(_refs((source,)), (Ref(target),))
        case Factor(targets, _, two_D, B_hat):
            names = tuple(name for row in (*two_D, *(B_hat or ())) for name in row)
            return _Touched((*_refs(names), *refs_of(statement.time)), _refs(targets))
        case Propagate():
            return _Touched(_refs(statement.given), _refs(statement.computed))
        case Scale(target, _, two_D, B_hat):
            return _Touched((*refs_of(two_D), *refs_of(B_hat), *refs_of(statement.time)), (target,))
        case Clip(target, counter):
            return _Touched((target, Ref(counter)), (target, Ref(counter)))


def _touched_by_call(statement: Invoke, scope: _Scope) -> _Touched:
    own, arguments, targets = scope.called.get(statement.procedure), statement.arguments, statement.targets
    if own is None:  # of a procedure that is not known, any array that is no input may be written
        return _Touched(_refs(arguments), _refs((*(a for a in arguments if a not in scope.inputs), *targets)))
    written = 0 if own.returns else len(own.outputs)
    return _Touched(_refs(arguments), _refs((*arguments[:written], *targets)))


def _refs(names: Iterable[str]) -> tuple[Ref, ...]:
    return tuple(Ref(name) for name in names)

"""Pass: arrays that are only accessed at literal positions become scalars, which the compiler keeps in registers.

`theta[0]` becomes `theta_0`. A procedure whose outputs are scalars returns them; a caller takes them as a tuple. Every
name stands for the same element as before, so the result does not change.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import product

from recipe_compiler.errors import CompilerError
from recipe_compiler.program.combine import fresh
from recipe_compiler.program.kernel import Kernel, Procedure
from recipe_compiler.program.loops import Array, Assign, Body, Invoke, Ref, Repeat, Statement, When
from recipe_compiler.program.traverse import names_in, with_bodies, with_refs

Held = Mapping[str, Mapping[tuple[int, ...], str]]
"""Array to the scalars that hold its entries, by position, in order."""


def registers(kernel: Kernel, arrays: Iterable[Array], entry: str = "") -> Kernel:
    """Return the kernel with `arrays` kept in scalars, in all that a chain calls; their sizes are literal.

    The loops over them are written out already (`unroll`), so that every position is a number. A scalar is called
    after its position (`theta_0`), or after `entry` where every array has one entry alone (`theta_i`).
    """
    taken = set(_names(kernel))
    held = {
        array.name: {at: _entry_name(array, (entry,) if entry else at, taken) for at in positions(array)}
        for array in arrays
    }
    kept = tuple((name, tuple(scalars.values())) for name, scalars in held.items())
    called = {procedure.name: procedure for procedure in kernel.procedures}
    return replace(kernel.mapped(lambda procedure: _procedure(procedure, called, held)), registers=kept)


def locally(
    body: Body,
    arrays: Iterable[Array],
    taken: Iterable[str],
    *,
    loads: Iterable[Array] = (),
    stores: Iterable[Array] = (),
) -> Body:
    """Return the body of a procedure with arrays of its own in scalars; the loops over them are written out already.

    Some are loaded before it, some are stored after it.
    """
    names = {*taken, *names_in(body)}
    held = {array.name: {at: _entry_name(array, at, names) for at in positions(array)} for array in arrays}

    def entries(some: Iterable[Array]) -> Iterator[tuple[Ref, Ref]]:
        yield from ((Ref(name), Ref(array.name, at)) for array in some for at, name in held[array.name].items())

    return (
        *(Assign(scalar, element) for scalar, element in entries(loads)),
        *(with_refs(statement, lambda ref: _ref(ref, held)) for statement in body),
        *(Assign(element, scalar) for scalar, element in entries(stores)),
    )


def positions(array: Array) -> Iterator[tuple[int, ...]]:
    """Yield the positions of an array of literal sizes, in the order it is stored."""
    yield from product(*(range(size) for size in array.sizes if isinstance(size, int)))


def _names(kernel: Kernel) -> Iterator[str]:
    for procedure in (kernel.prepare, *kernel.procedures):
        yield from (array.name for array in (*procedure.inputs, *procedure.outputs, *procedure.work))
        yield from names_in(procedure.body)


def _entry_name(array: Array, at: tuple[int | str, ...], taken: set[str]) -> str:
    name = fresh("_".join((array.name, *map(str, at))), taken)
    taken.add(name)
    return name


def _procedure(procedure: Procedure, called: Mapping[str, Procedure], held: Held) -> Procedure:
    return replace(
        procedure,
        outputs=_scalars(procedure.outputs, held),
        inputs=_scalars(procedure.inputs, held),
        work=tuple(array for array in procedure.work if array.name not in held),
        body=tuple(_statement(statement, called, held) for statement in procedure.body),
    )


def _scalars(arrays: Iterable[Array], held: Held) -> tuple[Array, ...]:
    names = ((Array(name) for name in held[a.name].values()) if a.name in held else (a,) for a in arrays)
    return tuple(array for group in names for array in group)


def _statement(statement: Statement, called: Mapping[str, Procedure], held: Held) -> Statement:
    match statement:
        case Invoke(name, arguments, targets) if name in called:
            procedure = called[name]
            written = 0 if procedure.returns else len(procedure.outputs)
            read = written + len(procedure.inputs)
            names = [one for one in arguments if isinstance(one, str)]
            own = [*(ref.name for ref in targets if isinstance(ref, Ref)), *names[:written]]
            taken, given = (_scalars(map(Array, some), held) for some in (own, names[written:read]))
            whole = (argument for argument in names[read:] if argument not in held)
            return Invoke(name, (*(array.name for array in given), *whole), tuple(Ref(array.name) for array in taken))
        case Repeat() | When():
            return with_bodies(statement, lambda body: (_statement(inner, called, held) for inner in body))
        case _:
            return with_refs(statement, lambda ref: _ref(ref, held))


def _ref(ref: Ref, held: Held) -> Ref:
    if ref.name not in held:
        return ref
    at = tuple(place for place in ref.at if isinstance(place, int))
    if at not in held[ref.name] or len(at) < len(ref.at):
        raise CompilerError(f"{ref.name} is kept in scalars and has none for the position {ref.at}")
    return Ref(held[ref.name][at])

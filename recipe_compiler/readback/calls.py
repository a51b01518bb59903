"""Procedures of an emitted text, executed on what a chain has for them; those they call are requests to an oracle."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

import numpy as np
import sympy as sp

from recipe_compiler.emit.module import Module
from recipe_compiler.program.kernel import Procedure
from recipe_compiler.program.lower_draw import STREAM
from recipe_compiler.program.program import symbolic_sizes
from recipe_compiler.readback.interpreter import Reader
from recipe_compiler.readback.names import BATCH, Names, Sizes
from recipe_compiler.readback.oracle import Entries, Oracle, require
from recipe_compiler.readback.propagators import matrices_of

Value = Any
ROOM = 2
"""Entries of a chunk while it is read: of three there is a full chunk and a remainder."""
Found = Mapping[str, Value]
"""All that a procedure was given and made, by name."""


def chain_values(
    module: Module, here: Names, reader: Reader, procedure: Procedure | None = None, prepare: Procedure | None = None
) -> dict[str, Value]:
    """Return all that a chain has for its procedures: what `prepare` computes, the rest symbols or numbers at a point.

    Args:
        module: whose text is read.
        here: the values of its names.
        reader: what executes `prepare`.
        procedure: the one that is to be executed: `prepare` is left out where it takes nothing of it.
        prepare: what computes constants; that of the chain if none is given.
    """
    program, kernel = module.program, module.kernel
    found: dict[str, Value] = {p.name: here.parameter(p.name) for p in program.parameters}
    found |= {"eps": here.eps} | {size: here.sizes[size] for size in symbolic_sizes(program)}
    prepare = prepare or kernel.prepare
    made = [array.name for array in prepare.outputs]
    if procedure is None or any(array.name in made for array in procedure.inputs):
        found |= dict(zip(made, reader.call(prepare.name, found), strict=True))
    found |= {block.name: np.array(here.block(block), object) for block in program.blocks}
    found |= {datum.name: here.data(datum) for datum in program.data}
    found |= {name: sp.Symbol(name) for name in program.functions}
    if program.gradient is not None:
        found[program.gradient.name] = np.array(here.gradient(), object)
    cycle = program.cycle
    carried = [cycle.counter, *([cycle.potential.name] if cycle.potential else ())] if cycle else []
    found |= {name: _symbols(name, (1,)) for name in carried if name}
    found["batch"] = _symbols("batch", (BATCH,))
    arrays = (*kernel.noises, *(kernel.sums.outputs if kernel.sums else ()), STREAM)
    found |= {array.name: _symbols(array.name, joined_shape(array.sizes, here.sizes)) for array in arrays}
    held = ((name, scalars) for name, scalars in kernel.registers if name in found)
    return found | {scalar: x for name, own in held for scalar, x in zip(own, np.ravel(found[name]), strict=True)}


def _symbols(name: str, shape: tuple[int, ...]) -> np.ndarray:
    entries = [sp.Symbol(f"{name}[{', '.join(map(str, at))}]", real=True) for at in np.ndindex(shape)]
    return np.array(entries, object).reshape(shape)


def execute(module: Module, here: Names, reader: Reader, procedure: Procedure, given: Found) -> Found:
    """Execute a procedure with its arguments by name; `reader.watched` are names that are kept on the way.

    Values of the next state are cut where the reader does so.
    """
    found = dict(given)
    for array in (*(() if procedure.returns else procedure.outputs), *procedure.work):
        room = np.full(joined_shape(array.sizes, here.sizes), None, object)
        is_cut = reader.cuts is not None and array.name in reader.watched
        found[array.name] = reader.cuts.array(room) if reader.cuts is not None and is_cut else room
    reader.watched |= {scalar for name in reader.watched for scalar in module.kernel.scalars(name)}
    returned = reader.call(procedure.name, found)
    outputs = returned if isinstance(returned, tuple) else (returned,)
    left = zip((array.name for array in procedure.outputs), outputs, strict=True) if returned is not None else ()
    return {**found, **reader.seen, **dict(left)}


def results_of(
    module: Module, here: Names, procedure: Procedure, batch: Sequence[int] = (), prepare: Procedure | None = None,
    fills: Mapping[str, Callable[[list[Value]], Value]] | None = None,
) -> list[np.ndarray]:  # fmt: skip
    """Return what a procedure computes of state, data and constants, an array for each output.

    Args:
        module: whose text is read.
        here: the values of its names.
        procedure: of the text.
        batch: the rows of the minibatch.
        prepare: as of `chain_values`.
        fills: what stands for functions that are not entered.
    """
    reader = Reader(module.text, matrices=matrices_of(here), fills=dict(fills or {}))
    values = chain_values(module, here, reader, procedure, prepare) | {"batch": np.array(batch, object)}
    found = execute(module, here, reader, procedure, values)
    return [np.asarray(found[array.name], object) for array in procedure.outputs]


def entries_of(module: Module, found: Found, name: str) -> Entries:
    """Return the entries of a value that a procedure was given, made on the way, or left behind."""
    scalars = module.kernel.scalars(name) or (name,)
    missing = [scalar for scalar in scalars if scalar not in found]
    require(not missing, f"does not compute {', '.join(missing)}")
    return [*chain(*(np.ravel(np.asarray(found[scalar], object)) for scalar in scalars))]


def joined_shape(sizes: tuple[int | str, ...], known: Sizes) -> tuple[int, ...]:
    """Return the integers that the sizes of an array are, those joined end to end (`d+k`) added."""
    known = {"entries": ROOM, **known}
    return tuple(
        size if isinstance(size, int) else sum(int(known.get(part, part)) for part in size.split("+")) for size in sizes
    )


@dataclass(slots=True)
class Calls:
    """Calls of procedures that are not entered: requests to an oracle, of the state that they are given."""

    module: Module
    here: Names
    given: dict[str, Value]
    """What the chain has: all that a call is given beside the state must be of it."""
    oracle: Oracle = field(default_factory=Oracle)
    normals: list[str] = field(default_factory=list[str])
    """The arrays of normals that calls took, one after the other: each is to be taken once."""

    def procedure(self, own: Procedure, arguments: list[Value], what: str = "", varied: Iterable[str] = ()) -> Value:
        """Ask for what a procedure makes of the state, and write or return the answer.

        Args:
            own: the procedure.
            arguments: what it is given: outputs it writes into, inputs, work.
            what: the name of the request; that of the procedure if none is given.
            varied: constants that differ from call to call, and belong to the request.

        Raises:
            CompilerError: it is given something that is not the chain's own.
        """
        what = what or own.name
        arrays = (*(() if own.returns else own.outputs), *own.inputs, *own.work)
        require(len(arguments) == len(arrays), f"gives {what} {len(arguments)} arguments, expected {len(arrays)}")
        named = {array.name: value for array, value in zip(arrays, arguments, strict=True)}
        for array in arrays:
            value, shape = named[array.name], joined_shape(array.sizes, self.here.sizes)
            right = not isinstance(value, np.ndarray) or value.shape == shape
            require(right, f"passes {what} another array than {array.name}, which has the shape {shape}")
        written = [id(named[array.name]) for array in (*own.outputs, *own.work) if array.name in named]
        passed = [id(value) for value in arguments if isinstance(value, np.ndarray)]
        require(all(passed.count(room) < 2 for room in written), f"passes {what} one array twice")
        program, kernel = self.module.program, self.module.kernel
        places = {scalar: name for name, scalars in kernel.registers for scalar in scalars}
        state, given = {*program.left, *program.passed_on, *varied}, dict[str, Entries]()
        for array in own.inputs:
            name = places.get(array.name, array.name)
            if name in state:
                given.setdefault(name, []).extend(np.ravel(np.asarray(named[array.name], object)))
            else:
                self.check_own(array.name, named[array.name], what)
        used = {places.get(array.name, array.name) for array in own.inputs}
        self.normals += [array.name for array in kernel.noises if array.name in used]
        rooms = [named[array.name] for array in own.outputs] if not own.returns else []
        answer = self.oracle.ask(what, given, sum(room.size for room in rooms) if rooms else len(own.outputs))
        if not rooms:
            return answer[0] if len(answer) == 1 else tuple(answer)
        left = iter(answer)
        for room in rooms:
            room[...] = np.array([next(left) for _ in range(room.size)], object).reshape(room.shape)
        return None

    def check_own(self, name: str, value: Value, what: str) -> None:
        """Require that a call is given what the chain has under a name."""
        known = name in self.given and np.array_equal(np.asarray(value), np.asarray(self.given[name]))
        require(known, f"gives {what} another {name} than its own")

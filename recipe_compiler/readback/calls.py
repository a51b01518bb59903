"""Procedures of an emitted text, executed on what a chain has for them; those they call are requests to an oracle."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from math import prod
from typing import Any

import numpy as np
import sympy as sp

from recipe_compiler.emit.module import Module
from recipe_compiler.emit.print_lanes import LANES, NOISE
from recipe_compiler.emit.print_lanes import REPORTS as REPORTS_OF_LANES
from recipe_compiler.program.kernel import Procedure
from recipe_compiler.program.loops import Array
from recipe_compiler.program.lower_cycle import OWN_STREAM
from recipe_compiler.program.lower_draw import CATEGORICAL, CATEGORICAL_ABOVE, REACHES, STREAM, TOLD_BELOW
from recipe_compiler.program.lowered_noise import CLIPPED
from recipe_compiler.program.program import CodeMove, Cycle, Program, symbolic_sizes
from recipe_compiler.readback.interpreter import Fill, Reader, arguments_of
from recipe_compiler.readback.names import BATCH, Names, Sizes, known_numbers
from recipe_compiler.readback.oracle import PLACE, PLACE_ABOVE, UNSET, Entries, Oracle
from recipe_compiler.readback.propagators import matrices_of
from recipe_compiler.readback.text import require
from recipe_compiler.tensor.scalars import Scalar

Value = Any
VARIATES = {
    "_next_gamma": "Gamma",
    "_next_log_gamma": "log Gamma",
    "_next_beta": "Beta",
    "_next_exponential": "Exponential",
    "_next_uniform": "Uniform",
    "_next_normal": "N",
    "_next_poisson": "Poisson",
    "_next_binomial": "Binomial",
    "_next_gamma_of_count": "Gamma of count",
    "_next_log_gamma_of_count": "log Gamma of count",
}
"""The laws that support functions draw from, of rate 1 or on (0, 1), of some the logarithm of the draw."""
ROOM = 2
"""Entries of a chunk while it is read: of three there is a full chunk and a remainder."""
Found = Mapping[str, Value]
"""All that a procedure was given and made, by name."""


def symbols_of(name: str, shape: tuple[int, ...]) -> Value:
    """Return an array of symbols, or one for a number."""
    entries = [sp.Symbol(f"{name}[{', '.join(map(str, at))}]", real=True) for at in np.ndindex(shape)]
    return np.array(entries, object).reshape(shape)[()]


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


def block_given(module: Module, here: Names, own: Procedure, block: str, arguments: list[Value]) -> str:
    """Return the name of the block that a procedure is given in the place of another; empty if it is none."""
    given = dict(zip((array.name for array in own.inputs), arguments, strict=False))
    entries = [given[name] for name in (block, *module.kernel.scalars(block)) if name in given]
    return here.block_at([entry for value in entries for entry in np.ravel(np.asarray(value, object))])


def rows_read(program: Program) -> dict[str, int]:
    """Return the number of data of the small data set that is read, and of its minibatches.

    It differs from the number of entries of a row, so that the comparison finds an exchange of axes.
    """
    widths = {size for datum in program.data for size in datum.shape.sizes}
    rows = BATCH + 1 + (BATCH + 1 in widths)
    return {datum.size: rows for datum in program.data if isinstance(datum.size, str)} | {"batch_size": BATCH}


def size_of(arrays: Iterable[Array], known: Sizes) -> int:
    """Return the number of entries of arrays together."""
    return sum(prod(joined_shape(array.sizes, known)) for array in arrays)


def gradient_procedure(module: Module) -> Procedure:
    """Return the procedure of the gradient; that of a function of the user's writes into its first argument."""
    gradient = module.program.gradient
    if module.kernel.gradient is not None or gradient is None:
        return module.kernel.gradient or Procedure("gradient", (), (), (), (), ())
    out = Array(gradient.name, gradient.block.shape.sizes or (1,))
    held = {array.name: array for array in module.kernel.step.inputs}
    return Procedure("gradient", (), (out,), tuple(held[name] for name in gradient.given), (), ())


@dataclass(slots=True)
class Calls:
    """Calls that a reading does not enter: requests to an oracle, each by the name that its Program's has."""

    module: Module
    here: Names
    oracle: Oracle = field(default_factory=Oracle)
    drawn: Collection[str] = ()
    """What else than the state a procedure's request says: normals and rows, where the text that is read draws them."""
    before: int = 0
    """The cycles of the chain before this one."""
    normals: list[str] = field(default_factory=list[str])
    """The arrays of normals that calls took, one after the other: each is to be taken once."""
    moved: int = 0
    """How often the chain's stream moved on."""
    prepare: Procedure | None = None
    """What computes constants; that of the chain if none is given."""
    procedure: Procedure | None = None
    """The one that is to be executed, if it is one: `prepare` is left out where it takes nothing of it."""
    reader: Reader = field(init=False)
    given: dict[str, Value] = field(init=False)
    """What the chain has: all that a call is given beside the state must be of it."""

    def __post_init__(self) -> None:
        """Make all that a chain has: what `prepare` computes, the rest symbols or numbers at a point."""
        known = known_numbers if self.here.digits else None
        self.reader = Reader(self.module.text, self.here.digits, known, fills=matrices_of(self.here))
        self.given = self._chain_values()
        self.reader.fills |= self.fills

    def _chain_values(self) -> dict[str, Value]:
        here, program, kernel = self.here, self.module.program, self.module.kernel
        found: dict[str, Value] = {p.name: here.parameter(p.name) for p in program.parameters}
        found |= {"eps": here.eps} | {size: here.sizes[size] for size in symbolic_sizes(program)}
        prepare = self.prepare or kernel.prepare
        made = [array.name for array in prepare.outputs]
        if not self.drawn and (self.procedure is None or any(x.name in made for x in self.procedure.inputs)):
            found |= dict(zip(made, self.reader.call(prepare.name, found), strict=True))
        found |= {block.name: np.array(here.block(block), object) for block in program.blocks}
        found |= {datum.name: here.data(datum) for datum in program.data}
        found |= {name: sp.Symbol(name) for name in (*program.functions, program.rest)}
        if program.gradient is not None:
            found[program.gradient.name] = np.array(here.gradient(), object)
        cycle = program.cycle
        carried = [cycle.counter, *([cycle.potential.name] if cycle.potential else ())] if cycle else []
        found |= {name: symbols_of(name, (1,)) for name in carried if name}
        found["batch"] = symbols_of("batch", (BATCH,))
        arrays = (*kernel.noises, *(kernel.sums.outputs if kernel.sums else ()), STREAM)
        arrays += prepare.outputs if self.drawn else ()  # of what draws, constants are not read
        found |= {array.name: symbols_of(array.name, joined_shape(array.sizes, here.sizes)) for array in arrays}
        held = ((name, scalars) for name, scalars in kernel.registers if name in found)
        return found | {scalar: x for name, own in held for scalar, x in zip(own, np.ravel(found[name]), strict=True)}

    def execute(self, procedure: Procedure) -> Found:
        """Return what the chain has and a procedure makes of it; `reader.watched` are names that are kept on the way.

        Values of the next state are cut where the reader does so.

        Raises:
            CompilerError: it cannot be read, or writes to what it is given but the stream.
        """
        found, reader = dict(self.given), self.reader
        for array in (*(() if procedure.returns else procedure.outputs), *procedure.work):
            room = np.full(joined_shape(array.sizes, self.here.sizes), None, object)
            is_cut = reader.cuts is not None and array.name in reader.watched
            found[array.name] = reader.cuts.array(room) if reader.cuts is not None and is_cut else room
        reader.watched |= {scalar for name in reader.watched for scalar in self.module.kernel.scalars(name)}
        before = {array.name: np.array(found[array.name], object) for array in procedure.inputs if array != STREAM}
        returned = reader.call(procedure.name, found)
        for name, value in before.items():
            require(np.array_equal(value, found[name]), f"changes {name} in {procedure.name}")
        outputs = returned if isinstance(returned, tuple) else (returned,)
        left = zip((array.name for array in procedure.outputs), outputs, strict=True) if returned is not None else ()
        return {**found, **reader.seen, **dict(left)}

    @property
    def cycle(self) -> Cycle:
        """The cycle of the Program; one without moves where there is none."""
        return self.module.program.cycle or Cycle(())

    @property
    def words(self) -> list[sp.Symbol]:
        """The words of the stream at this point: all that is drawn takes the last ones."""
        return [
            sp.Symbol(f"{STREAM.name}[{k}]" if not self.moved else f"word[{k}, {self.moved}]", real=True)
            for k in range(4)
        ]

    @property
    def fills(self) -> dict[str, Fill]:
        """The substitute for each function that the reader does not enter."""
        kernel, own = self.module.kernel, gradient_procedure(self.module)
        procedures = {procedure.name: procedure for procedure in (*kernel.procedures, own)}
        return {
            **{name: partial(self._request, procedure) for name, procedure in procedures.items()},
            **{name: partial(self._variate, law) for name, law in VARIATES.items()},
            **{move.argument: partial(self._code, move) for move in self.cycle.codes},
            **dict.fromkeys(("_fill_normals", "_fill_normals_lanes"), self._fill),
            **dict.fromkeys(("_fill_indices", "_shuffle_indices", "_block_indices"), self._rows),
            "_wide_vectors": lambda _: None,
            "_empty_rows": lambda arguments: np.full(64 * arguments[0], None, object),
            "sweep": partial(
                self._in_place, "sweep", kernel.step.name, [block.name for block in self.module.program.blocks]
            ),
            "step_lanes": partial(self._in_place, "step_lanes", "step_lanes", ["lanes"]),
            **dict.fromkeys((CATEGORICAL, CATEGORICAL_ABOVE), lambda arguments: self._take(arguments, self._place)),
            REACHES: lambda arguments: self.oracle.reaches(*arguments),
            TOLD_BELOW: partial(self._scalars, "the report of a level", ("before", "level", "rest")),
            **{name: partial(self._vector, name) for name in ("_normal_by_precision", "_normal_by_covariance")},
            "_accepted": self._accepted,
            "_returned": partial(self._scalars, "the way back", ("ratio", "gap", "size")),
            "_guards": lambda given: tuple(self.oracle.ask("the guards", {"ratios": given}, 2)),
            "_uniform_integer": self._length,
            "_uniform_up_to": lambda given: self._length([1, *given]),
            "_is_due": self._is_due,
            OWN_STREAM: self._own_stream,
        }

    def _request(self, own: Procedure, arguments: list[Value]) -> Value:
        """Ask for what a procedure makes of the state, and write or return the answer.

        Args:
            own: the procedure.
            arguments: what it is given: outputs it writes into, inputs, work.

        Raises:
            CompilerError: it is given something that is not the chain's own.
        """
        program, kernel = self.module.program, self.module.kernel
        what = f"draw {kernel.draws.index(own) + 1}" if own in kernel.draws else own.name
        require(len(arguments) == len(own.taken), f"gives {what} {len(arguments)} arguments, expected {len(own.taken)}")
        named = dict(zip(own.arguments, arguments, strict=True))
        for array in own.taken:
            value, shape = named[array.name], joined_shape(array.sizes, self.here.sizes)
            right = not isinstance(value, np.ndarray) or value.shape == shape
            require(right, f"passes {what} another array than {array.name}, which has the shape {shape}")
        written = [id(named[array.name]) for array in (*own.outputs, *own.work) if array.name in named]
        passed = [id(value) for value in arguments if isinstance(value, np.ndarray)]
        require(all(passed.count(room) < 2 for room in written), f"passes {what} one array twice")
        places = {scalar: name for name, scalars in kernel.registers for scalar in scalars}
        varied = self.cycle.varied if own is kernel.step else ()
        state, given = {*program.left, *program.passed_on, *varied, *self.drawn}, dict[str, Entries]()
        for array in own.inputs:
            name = places.get(array.name, array.name)
            if name in state:
                given.setdefault(name, []).extend(np.ravel(np.asarray(named[array.name], object)))
            else:
                self.check_own(array.name, named[array.name], what)
        used = {places.get(array.name, array.name) for array in own.inputs}
        self.normals += [array.name for array in kernel.noises if array.name in used]
        if STREAM in own.inputs and own is kernel.chain_step:
            self.moved += 1
            named[STREAM.name][:] = self.words
        answer = self.oracle.ask(what, given, size_of(own.outputs, self.here.sizes))
        for array in own.work:
            if array.name != CLIPPED:  # what it holds then is nobody's
                named[array.name][...] = None
        if own.returns:
            return answer[0] if len(answer) == 1 else tuple(answer)
        left = iter(answer)
        for array in own.outputs:
            room = named[array.name]
            room[...] = np.array([next(left) for _ in range(room.size)], object).reshape(room.shape)
        self.given |= {array.name: named[array.name] for array in own.outputs if own is kernel.sums}
        return None

    def check_own(self, name: str, value: Value, what: str) -> None:
        """Require that a call is given what the chain has under a name."""
        own = self.given.get(name)
        known = own is not None and (value is own or np.array_equal(np.asarray(value), np.asarray(own)))
        require(known, f"gives {what} another {name} than its own")

    def _in_place(self, name: str, what: str, state: Sequence[str], arguments: list[Value]) -> None:
        """Take a step that works in place: chunk by chunk, its normals drawn within, or of chains side by side.

        It adds to the counts of moves that are among its arguments.
        """
        kernel = self.module.kernel
        names = arguments_of(self.reader.functions[name])
        named = dict(zip(names, arguments, strict=True))
        reports = [REPORTS_OF_LANES] if REPORTS_OF_LANES in named else []
        for other in names:
            if other not in (*state, *reports, *self.module.program.left, *self.drawn):
                self.check_own(other, named[other], name)
        given = {own: list(named[own]) for own in state}
        if NOISE in named:
            normals = LANES * sum(len(kernel.scalars(array.name)) for array in kernel.noises)
            given[NOISE] = list(named[NOISE][:normals])
        changed = [named[own] for own in (*state, *reports)]
        require(all(x is not None for room in changed for x in room), f"gives {name} what is not set")
        answer = iter(self.oracle.ask(what, given, sum(map(len, changed))))
        for own in state:
            named[own][:] = [next(answer) for _ in named[own]]
        for own in reports:
            named[own][:] += [next(answer) for _ in named[own]]

    def _variate(self, law: str, arguments: list[Value]) -> Value:
        """Draw a variate from the words of the stream, which moves on."""
        return self._take(arguments, lambda given: self.oracle.variate(law, [sp.Integer(0) + value for value in given]))

    def _take(self, arguments: list[Value], draw: Callable[[list[Value]], Value]) -> Value:
        """Return what a function draws by its arguments before the words of the stream, with the next words."""
        require(arguments[-4:] == self.words, "uses words for a draw that are not the last of the stream")
        self.moved += 1
        return (draw(arguments[:-4]), *self.words)

    def _place(self, arguments: list[Value]) -> int:
        """Draw a place by logits; the sums of them that are left are not to be read, nor are logits above a level."""
        logits, *above, sums = arguments
        given: dict[str, Sequence[Scalar]] = {"logits": list(logits)}
        if above:
            given = {"logits": [UNSET if x is None else x for x in logits], "log weights": above[0], "level": above[1:]}
            logits[:] = [None] * len(logits)
        sums[:] = [None] * len(sums)
        return self.oracle.place(PLACE_ABOVE if above else PLACE, given)

    def _scalars(self, what: str, names: Sequence[str], arguments: list[Value]) -> Value:
        return self.oracle.ask(what, {name: [x] for name, x in zip(names, arguments, strict=True)}, 1)[0]

    def _vector(self, name: str, arguments: list[Value]) -> None:
        vector, matrix, normals, out = arguments
        require(len(vector) == len(normals) == len(out), "makes a normal vector of other sizes")
        lower = [matrix[i, j] for i in range(len(vector)) for j in range(i + 1)]
        out[:] = self.oracle.vector(name, vector, lower, normals)

    def _fill(self, arguments: list[Value]) -> None:
        state, out = arguments
        require(state is self.given[STREAM.name], "draws its noise from a state other than the given one")
        out[:] = [self.oracle.variate("N") for _ in out]
        self.moved += 1
        state[:] = self.words

    def _rows(self, arguments: list[Value]) -> None:
        """Draw a minibatch, from the stream for minibatches."""
        wanted = [self.given[name] for name in ("batch_state", "permutation") if name in self.given]
        program = self.module.program
        rows = self.given[program.rows] if program.rest else len(self.given[program.data[0].name])
        count = [] if "permutation" in self.given else [rows]
        *streams, batch = arguments
        right = all(a is b for a, b in zip(streams, wanted, strict=False)) and streams[len(wanted) :] == count
        require(right, "draws its minibatch from rows or a state other than the given ones")
        batch[:] = self.oracle.ask("rows", {}, len(batch))

    def _code(self, move: CodeMove, arguments: list[Value]) -> None:
        """Call the user's function, which may change any block that it is handed."""
        require(len(arguments) == len(move.arguments), f"gives {move.argument} {len(arguments)} arguments")
        count = len(move.handed)
        given = dict(zip(move.arguments, arguments, strict=True))
        for name in move.given:
            self.check_own(name, given.pop(name), move.argument)
        entries = {name: list(np.ravel(np.asarray(value))) for name, value in given.items()}
        answer = iter(self.oracle.ask(move.argument, entries, sum(map(len, arguments[:count]))))
        for array in arguments[:count]:
            array[:] = [next(answer) for _ in array]

    def _own_stream(self, arguments: list[Value]) -> Value:
        """Return the words of a stream that is made of the chain's own."""
        (stream,) = arguments
        require(stream is self.given[STREAM.name], "seeds the stream of a move from a stream that is not the chain's")
        return np.array(self.oracle.ask("a stream", {}, 4), object)

    def _accepted(self, arguments: list[Value]) -> Value:
        ratio, *normals = arguments
        self._two_normals(normals)
        return tuple(self.oracle.ask("a decision", {"log acceptance ratio": [ratio]}, 2))

    def _length(self, arguments: list[Value]) -> int:
        least, most, *normals = arguments
        self._two_normals(normals)
        self.oracle.ask("a length", {"bounds": [least, most]})
        return least + 1

    def _two_normals(self, normals: Sequence[Scalar]) -> None:
        """Take the array of normals whose entries these are."""
        own = [a.name for a in self.module.kernel.noises if list(self.given[a.name]) == list(normals)]
        require(len(own) == 1, "decides by something other than two normals of its own")
        self.normals += own

    def _is_due(self, arguments: list[Value]) -> bool:
        """Return whether a move is due, of the count that the cycle is given."""
        count, every = arguments
        require(count == self.given[self.cycle.counter][0], "uses a wrong counter to decide which moves are due")
        require(every in self.cycle.schedules, f"does a move every {every} cycles, which no move of it asks for")
        return self.before % every == 0


def results_of(
    module: Module, here: Names, procedure: Procedure, batch: Sequence[int] = (), prepare: Procedure | None = None,
    fills: Mapping[str, Fill] | None = None,
) -> list[np.ndarray]:  # fmt: skip
    """Return what a procedure computes of state, data and constants, an array for each output.

    Args:
        module: whose text is read.
        here: the values of its names.
        procedure: of the text.
        batch: the rows of the minibatch.
        prepare: what computes constants; that of the chain if none is given.
        fills: further substitutes for functions that the reader does not enter.
    """
    calls = Calls(module, here, prepare=prepare, procedure=procedure)
    calls.reader.fills |= fills or {}
    calls.given["batch"] = np.array(batch, object)
    found = calls.execute(procedure)
    return [np.asarray(found[array.name], object) for array in procedure.outputs]

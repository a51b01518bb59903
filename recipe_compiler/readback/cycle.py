"""The moves of a cycle: what is drawn anew, what the step is given, what is accepted by which ratio, read as emitted.

The step, U and H - U are boxes here, each read by itself. That a trajectory is taken, or refused, is one flag, which
every value that the cycle leaves is chosen by; the ratio that sets it is the one of the two energies.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from math import lcm
from typing import Any

import numpy as np
import sympy as sp

from recipe_compiler.emit.module import Module
from recipe_compiler.errors import CompilerError
from recipe_compiler.program.atoms import replace_atoms
from recipe_compiler.program.kernel import Procedure
from recipe_compiler.program.lower_cycle import (
    ACCEPTANCE,
    HEAT,
    INVOLUTION_ACCEPTANCE,
    INVOLUTIONS_TRIED,
    IRREVERSIBLE,
    OWN_STREAM,
    TOO_FEW,
    TRIED,
    UNSOLVED,
    of_kind,
    told_apart,
    told_of,
    told_of_trajectory,
)
from recipe_compiler.program.lower_draw import STREAM
from recipe_compiler.program.program import (
    EPS,
    Auxiliary,
    CodeMove,
    Cycle,
    Draw,
    Involution,
    Move,
    Noise,
    Refresh,
    Trajectory,
)
from recipe_compiler.readback.gradient import BATCH
from recipe_compiler.readback.interpreter import CHOOSE, Reader
from recipe_compiler.readback.names import Names
from recipe_compiler.readback.noise import noise_of, without_noise
from recipe_compiler.readback.point import equal
from recipe_compiler.readback.propagators import matrices_of
from recipe_compiler.readback.step import covariance, entry_at, held, joined_shape, prepared, used, values
from recipe_compiler.tensor.scalars import Scalar
from recipe_compiler.tensor.terms import Atom, Component, Coordinate, Tensor

Value = Any
Entries = list[Scalar]


def _flag(k: int) -> sp.Symbol:
    """Return whether what is proposed is taken, of the k-th move that is accepted or refused."""
    return sp.Symbol(f"taken {k}")


def _probability(k: int) -> sp.Symbol:
    """Return that of taking it."""
    return sp.Symbol(f"probability {k}")


REFUSED = (sp.Symbol("lost"), sp.Symbol("leads one way"))
"""Whether a guard refuses it: no number is where it ends, or it does not lead back."""
_COUNT = sp.Symbol("cycles before")
"""The cycles of the chain before this one."""


def _made(name: str, entry: int, draw: int) -> sp.Symbol:
    return sp.Symbol(f"{name}[{entry}] of draw {draw}")


def _changed(name: str, entry: int, call: int) -> sp.Symbol:
    """Return an entry of what code leaves of a block."""
    return sp.Symbol(f"{name}[{entry}] of code {call}")


def _word(stream: int, place: int) -> sp.Symbol:
    """Return a word of a stream that was made for a move."""
    return sp.Symbol(f"word[{place}] of stream {stream}")


def _heat(step: int) -> sp.Symbol:
    return sp.Symbol(f"heat of step {step}")


def _checked(times: int) -> sp.Symbol:
    """Return the ratio after that many checks that a block is back where it began."""
    return sp.Symbol(f"ratio, checked {times}")


@dataclass(slots=True)
class _Boxes:
    """What is called but not entered: what each call was given, and the symbols that it gave."""

    module: Module
    given: Mapping[str, Value]
    """What the cycle is given."""
    steps: list[tuple[Mapping[str, Entries], Mapping[str, Entries]]] = field(default_factory=list)
    """The state that each step was given, and what it made of it, by what the state is called."""
    varied: list[Mapping[str, Value]] = field(default_factory=list)
    """What each step was given of what is not the same in all trajectories: eps, parameters."""
    gradients: list[Mapping[str, Entries]] = field(default_factory=list)
    """Where the gradient was evaluated outside the steps."""
    draws: list[tuple[str, Mapping[str, Entries], list[Value]]] = field(default_factory=list)
    """Every draw: of which procedure, from which state, with which normals, and the stream."""
    codes: list[tuple[str, list[Value]]] = field(default_factory=list)
    """Every call of the user's: of which function, with what, as it was then."""
    streams: int = 0
    """How many were made for moves."""
    potentials: list[Mapping[str, Entries]] = field(default_factory=list)
    rests: list[Mapping[str, Entries]] = field(default_factory=list)
    ratios: list[list[Value]] = field(default_factory=list)
    returns: list[list[Value]] = field(default_factory=list)
    guards: list[list[Value]] = field(default_factory=list)
    lengths: list[list[Value]] = field(default_factory=list)
    cycles: int = 0
    """Of the chain before this one: which of its moves are due."""

    def is_due(self, arguments: list[Value]) -> bool:
        """Return whether a move is due, of the count that the cycle is given."""
        count, every = arguments
        if count != _COUNT:
            raise CompilerError("the emitted cycle uses a wrong counter to decide which moves are due")
        cycle = self.module.program.cycle
        if cycle is None or every not in cycle.schedules:
            raise CompilerError(f"the emitted cycle does a move every {every} cycles, which no move of it asks for")
        return self.cycles % every == 0

    def step(self, arguments: list[Value]) -> Value:
        """Take a step: its arrays are written, or its scalars returned."""
        program, own = self.module.program, self.module.kernel.step
        apart = program.cycle.varied if program.cycle else frozenset[str]()
        named = self._named(own, arguments, apart)
        self.varied.append({name: named[name] for name in apart if name in named})
        state = self._state(named, program.passed_on)
        lengths = {name: len(entries) for name, entries in state.items()}
        if program.gradient is not None:
            lengths[program.gradient.name] = lengths[program.gradient.block.name]
        made = {
            name: [sp.Symbol(f"{name}[{k}] after step {len(self.steps) + 1}") for k in range(lengths[name])]
            for name in program.passed_on
        }
        self.steps.append((state, made))
        heat = [_heat(len(self.steps))] if program.heats else []
        if own.returns:
            return (*(entry for entries in made.values() for entry in entries), *heat)
        for name, new in program.passed_on.items():
            named[new][:] = made[name]
        if heat:
            named[HEAT][:] = heat
        return None

    def draw(self, own: Procedure, arguments: list[Value]) -> None:
        """Draw a block by its law, which is read by itself: new entries for all of the block of the potential."""
        named = self._named(own, arguments)
        state = self._state(named, [block.name for block in self.module.program.blocks])
        random = [named[a.name] for a in own.inputs if a in self.module.kernel.noises or a == STREAM]
        self.draws.append((own.name, state, random))
        for array in own.outputs:
            count = len(named[array.name])
            named[array.name][:] = [_made(array.name, k, len(self.draws)) for k in range(count)]

    def own_stream(self, arguments: list[Value]) -> Value:
        """Return the words of a stream that is made of the chain's own."""
        (stream,) = arguments
        if list(stream) != _words():
            raise CompilerError("the emitted cycle seeds the stream of a move from a stream that is not the chain's")
        self.streams += 1
        return np.array([_word(self.streams, k) for k in range(4)], object)

    def code(self, move: CodeMove, arguments: list[Value]) -> None:
        """Call the user's function, which may change any block that it is handed."""
        kept = [np.array(value) if isinstance(value, np.ndarray) else value for value in arguments]
        self.codes.append((move.argument, kept))
        for one, array in zip(move.handed, arguments, strict=False):
            array[:] = [_changed(one.block.name, k, len(self.codes)) for k in range(len(array))]

    def gradient(self, arguments: list[Value]) -> None:
        """Evaluate the gradient."""
        own = self.module.kernel.gradient
        named = self._named(own, arguments)
        self.gradients.append(self._state(named, [block.name for block in self.module.program.blocks]))
        out = named[own.outputs[0].name] if own else arguments[0]
        out[:] = [sp.Symbol(f"gradient[{k}] of call {len(self.gradients)}") for k in range(len(out))]

    def potential(self, arguments: list[Value]) -> Value:
        """Return U of what it is given."""
        self.potentials.append(
            self._state(self._named(self.module.kernel.potential, arguments), self.module.program.left)
        )
        return sp.Symbol(f"U of call {len(self.potentials)}")

    def rest(self, arguments: list[Value]) -> Value:
        """Return H - U of what it is given."""
        self.rests.append(self._state(self._named(self.module.kernel.rest, arguments), self.module.program.left))
        return sp.Symbol(f"H - U of call {len(self.rests)}")

    def accepted(self, arguments: list[Value]) -> Value:
        """Return the flag and its probability."""
        self.ratios.append(arguments)
        return _flag(len(self.ratios)), _probability(len(self.ratios))

    def returned(self, arguments: list[Value]) -> Value:
        """Return the ratio, or that there is no way back."""
        self.returns.append(arguments)
        return _checked(len(self.returns))

    def guarded(self, arguments: list[Value]) -> Value:
        """Return which guard refuses."""
        self.guards.append(arguments)
        return REFUSED

    def uniform(self, arguments: list[Value]) -> Value:
        """Return a length: one more than the least."""
        self.lengths.append(arguments)
        return arguments[0] + 1

    def _named(
        self, procedure: Procedure | None, arguments: list[Value], varied: frozenset[str] = frozenset()
    ) -> dict[str, Value]:
        """Return the arguments of a procedure by the names that it has for them; constants must be the chain's own.

        But for those that are `varied`, which are compared with what each trajectory says of them.
        """
        if procedure is None:
            raise CompilerError("the emitted cycle calls a function that its kernel does not have")
        arrays = (*(() if procedure.returns else procedure.outputs), *procedure.inputs, *procedure.work)
        if len(arguments) != len(arrays):
            raise CompilerError(f"the emitted cycle gives {procedure.name} {len(arguments)} arguments")
        named = {array.name: value for array, value in zip(arrays, arguments, strict=True)}
        for array in procedure.inputs:
            constant = array.name in self._constants - varied
            if constant and not np.array_equal(np.asarray(named[array.name]), np.asarray(self.given[array.name])):
                raise CompilerError(f"the emitted cycle passes {procedure.name} an {array.name} that is not its own")
        return named

    @property
    def _constants(self) -> frozenset[str]:
        """The names of what stays the same in a step: parameters, what `prepare` computes, data, eps, the minibatch."""
        program, kernel = self.module.program, self.module.kernel
        items = (*program.parameters, *program.data)
        sums = kernel.sums.outputs if kernel.sums else ()
        return frozenset(
            (*(i.name for i in items), *(a.name for a in (*kernel.prepare.outputs, *sums)), "eps", "batch")
        )

    def _state(self, named: Mapping[str, Value], names: Iterable[str]) -> dict[str, Entries]:
        """Return the entries of every value of the state among some arguments, as they are now."""
        scalars = self.module.kernel.scalars
        found: dict[str, Entries] = {}
        for name in names:
            if name in self._constants:
                continue
            held_in = scalars(name)
            if held_in and held_in[0] in named:
                found[name] = [named[scalar] for scalar in held_in]
            elif name in named:
                found[name] = list(np.asarray(named[name]).ravel())
        return found


def check_cycle(module: Module, here: Names) -> None:
    """Check that the emitted cycle makes the moves of its Program, in order, each from what the one before left.

    For every combination of moves that are due together (`lcm` of their schedules). Compared are, as functions of the
    state, the parameters and the draws: refreshes b' = c b + N(0, (1 - c**2) S), what each draw and step is given, the
    log ratio by which a move is accepted, and what stays after a refusal. U, H - U and the step itself stand for
    symbols; they are read separately.

    Raises:
        CompilerError: it makes another cycle; names what differs.
    """
    cycle = module.program.cycle
    if cycle is None:
        return
    seen = dict[tuple[bool, ...], int]()
    for cycles in range(lcm(*cycle.schedules)):
        seen.setdefault(tuple(cycles % every == 0 for every in cycle.schedules), cycles)
    for cycles in seen.values():
        _check_one(module, here, cycle, cycles)


def _check_one(module: Module, here: Names, cycle: Cycle, cycles: int) -> None:
    """Check the emitted cycle after a number of others: moves that are not due leave their blocks as they are."""
    program, kernel = module.program, module.kernel
    reader = Reader(module.text, matrices=matrices_of(here))
    given = _given(module, here, reader)
    boxes = _Boxes(module, given, cycles=cycles)
    reader.fills = {
        "step": boxes.step,
        "potential": boxes.potential,
        "rest": boxes.rest,
        "_accepted": boxes.accepted,
        "_returned": boxes.returned,
        "_guards": boxes.guarded,
        "_uniform_integer": boxes.uniform,
        "_is_due": boxes.is_due,
        **{own.name: partial(boxes.draw, own) for own in kernel.draws},
        **{move.argument: partial(boxes.code, move) for move in cycle.codes},
        OWN_STREAM: boxes.own_stream,
    }
    if cycle.begins_anew and kernel.gradient is not None:
        reader.fills["gradient"] = boxes.gradient
    made = (*cycle.names, *program.left.values())
    reader.watched = frozenset(scalar for name in made for scalar in kernel.scalars(name))
    returned = reader.call("cycle", given)
    outputs = returned if isinstance(returned, tuple) else (returned,)
    own = kernel.chain_step
    left = {a.name: v for a, v in zip(own.outputs, outputs, strict=True)} if own.returns else {}
    found = {**given, **reader.seen, **left}
    _Moves(module, here, reader, boxes, found).check(cycle)


def _given(module: Module, here: Names, reader: Reader) -> dict[str, Value]:
    """Return what the cycle is given: the state, constants, data and normals as symbols, room for all else."""
    program, kernel = module.program, module.kernel
    given = prepared(module, here, reader)
    for block in program.blocks:
        given[block.name] = np.array(here.block(block), object)
    if program.gradient is not None and program.carries:
        given[program.gradient.name] = np.array(here.gradient(), object)
    if program.cycle is not None and program.cycle.potential is not None:
        given[program.cycle.potential.name] = np.array([sp.Symbol(program.cycle.potential.name)], object)
    if program.cycle is not None and program.cycle.counter:
        given[program.cycle.counter] = np.array([_COUNT], object)
    for datum in program.data:
        given[datum.name] = here.data(datum)
    if program.variant == "minibatch":
        given["batch"] = np.array([sp.Symbol(f"batch[{k}]") for k in range(BATCH)], object)
    for array in kernel.noises:
        (count,) = joined_shape(array.sizes, here.sizes)
        given[array.name] = np.array([_normal(array.name, k) for k in range(count)], object)
    for array in kernel.sums.outputs if kernel.sums else ():
        places = np.ndindex(joined_shape(array.sizes, here.sizes))
        entries = [sp.Symbol(f"{array.name}{list(at)}") for at in places]
        given[array.name] = np.array(entries, object).reshape(joined_shape(array.sizes, here.sizes))
    if any(array == STREAM for array in kernel.chain_step.inputs):
        given[STREAM.name] = np.array(_words(), object)
    given |= {name: sp.Symbol(name) for name in program.functions}
    given = held(module, given)
    own = kernel.chain_step
    for array in (*(() if own.returns else own.outputs), *own.work):
        given[array.name] = np.full(joined_shape(array.sizes, here.sizes), None, object)
    return given


def _words() -> list[sp.Symbol]:
    """Return those of the chain's own stream."""
    return [sp.Symbol(f"word[{k}]") for k in range(4)]


def _normal(name: str, k: int) -> sp.Symbol:
    return sp.Symbol(f"{name}[{k}]", real=True)


def _turned(move: Trajectory, values: Mapping[str, Entries]) -> dict[str, Entries]:
    """Return values with the signs turned that a move turns."""
    return {
        name: [-entry for entry in entries] if name in move.flip else list(entries) for name, entries in values.items()
    }


def _begins(move: Move) -> Iterator[tuple[str, str, str]]:
    """Yield what a move begins with: of which block, or U or its gradient, by which value, and what it makes of it."""
    match move:
        case Refresh(block, old, new) | Draw(block, old, new):
            yield block.name, old, new
        case Trajectory():
            yield from ((value.name, value.start, value.end) for value in move.values if value.end)
        case Involution():
            yield from ((name, value, "") for name, value in move.start)
            yield from ((image.block.name, image.old, image.new) for image in move.images)
        case CodeMove():
            yield from ((one.block.name, one.old, "") for one in move.read)
            yield from ((one.block.name, one.old, one.new) for one in move.changed)


@dataclass(slots=True)
class _Moves:
    """The moves of a cycle against what was read of it, one after the other."""

    module: Module
    here: Names
    reader: Reader
    boxes: _Boxes
    found: Mapping[str, Value]
    """All that the cycle was given and made, by name."""
    normals: list[str] = field(default_factory=list[str])
    """The names of the normals that moves before have taken."""

    drawn: list[tuple[str, Mapping[str, Entries], list[Value]]] = field(init=False)
    """The draws that were read and are not yet compared."""
    procedures: list[Procedure] = field(init=False)
    """Those by which the moves that are not yet compared draw."""
    compared: dict[str, int] = field(default_factory=dict[str, int])
    """How many of the calls of U, of H - U and of the comparison with a uniform number are."""
    probabilities: list[sp.Symbol] = field(default_factory=list[sp.Symbol])
    """Those that involutions are taken with."""
    few: list[sp.Symbol] = field(default_factory=list[sp.Symbol])
    """What draws by slices tell, of those that are due."""
    of_trajectories: list[sp.Symbol] = field(default_factory=list[sp.Symbol])
    """Those that ends of trajectories are taken with."""
    walked: list[Trajectory] = field(default_factory=list[Trajectory])
    """Those trajectories."""

    def __post_init__(self) -> None:
        self.drawn = [*self.boxes.draws]
        self.procedures = [*self.module.kernel.draws]

    def _is_left_out(self, move: Move) -> bool:
        return self.boxes.cycles % move.every != 0

    def check(self, cycle: Cycle) -> None:
        """Check every move, that nothing more was done, and what is left."""
        newest = dict[str, str]()
        for move in cycle.moves:
            for name, old, new in _begins(move):
                self._demand(old == newest.get(name, name), f"begins a move with {old}, not with the current {name}")
                newest |= {name: new} if new else {}
            if self._is_left_out(move):
                self._stays(move)
            else:
                self._done(move, cycle)
        self._no_more(cycle)
        if cycle.counter:
            self._same([_COUNT + 1], self.entries(cycle.counted), "the number of cycles")
        self._told(cycle)

    def _stays(self, move: Move) -> None:
        """Check that a move that is not due leaves all that it would move."""
        match move:
            case Refresh() | Draw():
                self._same(self.entries(move.old), self.entries(move.new), f"{move.block.name}, which is not due")
                if isinstance(move, Draw):
                    self.procedures.pop(0)
                if isinstance(move, Draw) and move.told:
                    self._same([sp.Integer(0)], self.entries(move.told), f"the report of {move.name}, which is not due")
            case Involution():
                for image in move.images:
                    left = f"{image.block.name}, which is not due"
                    self._same(self.entries(image.old), self.entries(image.new), left)
            case CodeMove():
                for one in move.changed:
                    self._same(self.entries(one.old), self.entries(one.new), f"{one.block.name}, which is not due")
            case Trajectory():
                for value in (own for own in move.values if own.end):
                    self._same(self.entries(value.start), self.entries(value.end), f"{value.name}, not due")

    def _done(self, move: Move, cycle: Cycle) -> None:
        """Check a move that is due."""
        match move:
            case Refresh():
                self._refresh(move, cycle)
            case Trajectory():
                self._trajectory(move, cycle)
            case Draw():
                self._draw(move)
            case Involution():
                self._involution(move)
            case CodeMove():
                self._code(move)

    def _no_more(self, cycle: Cycle) -> None:
        """Check that nothing was done but by the moves."""
        done = [move for move in cycle.trajectories if not self._is_left_out(move)]
        every = (("U", self.boxes.potentials), ("H - U", self.boxes.rests), ("ratio", self.boxes.ratios))
        counts = all(len(made) == self.compared.get(what, 0) for what, made in every)
        self._demand(counts, "evaluates H at points other than both ends")
        carried = sum(move.anew for move in done) if self.module.program.carried else 0
        self._demand(len(self.boxes.gradients) == carried, "evaluates the gradient at points other than its start")
        walked = self.compared.get("step", 0)
        self._demand(len(self.boxes.steps) == walked, "takes steps of a word outside its trajectories")
        self._demand(len(self.boxes.lengths) == self.compared.get("length", 0), "draws a length that nothing uses")
        self._demand(not self.drawn, "draws more than its moves")
        coded = self.compared.get("code", 0)
        whole = len(self.boxes.codes) == coded and self.boxes.streams == coded
        self._demand(whole, "calls code, or makes streams for it, more often than its moves do")

    def _told(self, cycle: Cycle) -> None:
        """Check what is told of moves that are accepted or refused, zeros where none is due, and of draws."""
        told, taken = told_of_trajectory(cycle), self.of_trajectories
        if taken:
            share = 1 if TRIED in told else sp.Rational(1, len(taken))
            self._same([share * sp.Add(*taken)], self.entries(ACCEPTANCE), "the acceptance")
        if INVOLUTIONS_TRIED in told_of(cycle):
            told_both = [*self.entries(INVOLUTION_ACCEPTANCE), *self.entries(INVOLUTIONS_TRIED)]
            stated = [sp.Add(*self.probabilities), sp.Integer(len(self.probabilities))]
            self._same(stated, told_both, "the acceptance of the involutions that are due, and their number")
        elif self.probabilities:
            mean = sp.Add(*self.probabilities) / len(self.probabilities)
            self._same([mean], self.entries(INVOLUTION_ACCEPTANCE), "the acceptance of involutions")
        if TOO_FEW in told_of(cycle):
            self._same([sp.Add(*self.few)], self.entries(TOO_FEW), "how many draws had too few places")
        for k, moves in enumerate(told_apart(cycle) if taken else ()):
            own = [probability for move, probability in zip(self.walked, taken, strict=True) if move in moves]
            counted = of_kind(TRIED, k) in told
            share = 1 if counted or not own else sp.Rational(1, len(own))
            self._same([share * sp.Add(*own)], self.entries(of_kind(ACCEPTANCE, k)), f"the acceptance of kind {k + 1}")
            if counted:
                self._same(
                    [sp.Integer(len(own))], self.entries(of_kind(TRIED, k)), f"how many of kind {k + 1} were tried"
                )
        for name in told if not taken else ():
            self._same([sp.Integer(0)], self.entries(name), f"{name} of no move")
        if TRIED in told and taken:
            self._same([sp.Integer(len(taken))], self.entries(TRIED), "how many moves were tried")

    def entries(self, name: str) -> Entries:
        """Return the entries of a value."""
        scalars = self.module.kernel.scalars(name)
        missing = [scalar for scalar in scalars or (name,) if scalar not in self.found]
        self._demand(not missing, f"does not compute {', '.join(missing)}")
        return [self.found[s] for s in scalars] if scalars else list(np.asarray(self.found[name]).ravel())

    def _refresh(self, move: Refresh, cycle: Cycle) -> None:
        """Check new = kept old + w, the covariance of w being that of its Program, of normals that are its own."""
        new, old = self.entries(move.new), self.entries(move.old)
        moved = {name: self.entries(name) for name in cycle.names if name in self.found}
        kept, normals = self._kept(new)
        self._same([move.kept * x for x in old], kept, f"the kept share of {move.block.name}")
        self._spread(move.noise, [a - b for a, b in zip(new, kept, strict=True)], normals, moved, move.block.name)

    def _involution(self, move: Involution) -> None:
        """Check what is drawn, what blocks become, the ratio that this is accepted by, and all that is chosen."""
        at = {block: self.entries(value) for block, value in move.start}
        values = {value: at[block] for block, value in move.start}
        for drawn in move.draws:
            values[drawn.block.name] = self._auxiliary(drawn, values)
        proposed = dict(at)
        for image in move.images:
            entries = self.entries(image.at)
            self._stated(image.value, values, entries, f"what {image.block.name} becomes")
            proposed[image.block.name] = entries
        U, U_image = self._evaluated("U", self.boxes.potentials, (at, proposed))
        rest, rest_image = self._evaluated("H - U", self.boxes.rests, (at, proposed))
        beside = entry_at(move.log_ratio, (), self.here, values)
        flag, probability = self._compared(U - U_image + rest - rest_image + beside, "an involution")
        self.probabilities.append(probability)
        for image in move.images:
            pairs = zip(proposed[image.block.name], at[image.block.name], strict=True)
            chosen = [CHOOSE(flag, one, other) for one, other in pairs]
            self._same(chosen, self.entries(image.new), f"what is left of {image.block.name}")

    def _stated(self, tensor: Tensor, values: Mapping[str, Entries], read: Entries, what: str) -> None:
        """Check that entries are those of a tensor, of values that were made on the way."""
        for k, entry in enumerate(read):
            equal(entry, entry_at(tensor, (k,), self.here, values), f"{what}, entry {k}", self.here)

    def _auxiliary(self, drawn: Auxiliary, values: Mapping[str, Entries]) -> Entries:
        """Check that a block is drawn with its mean and covariance, of normals that are its own; return its entries."""
        says, entries = drawn.block.name, self.entries(drawn.block.name)
        mean, normals = self._kept(entries)
        self._stated(drawn.mean, values, mean, f"the mean of {says}")
        self._spread(drawn.noise, [a - b for a, b in zip(entries, mean, strict=True)], normals, values, says)
        return entries

    def _kept(self, new: Entries) -> tuple[Entries, list[sp.Symbol]]:
        """Return what is drawn as it is without normals, and these: no other move takes them."""
        self._demand(all(entry is not None for entry in new), "does not draw what a move that is due draws")
        symbols = {s for entry in new for s in (sp.Integer(0) + entry).free_symbols}
        arrays = [a for a in self.module.kernel.noises if _normal(a.name, 0) in symbols and a.name not in self.normals]
        self._take(array.name for array in arrays)
        normals = [n for a in arrays for n in self._of(a.name)]
        return without_noise(new, normals), normals

    def _spread(
        self, noise: Noise, drawn: Entries, normals: list[sp.Symbol], moved: Mapping[str, Entries], says: str
    ) -> None:
        """Check the covariance of what is drawn, less its mean."""
        read = noise_of(drawn, normals, used(self.reader.factors, drawn)).covariance()
        stated = covariance(noise, self.here, moved)
        for i, row in enumerate(read):
            for j, entry in enumerate(row):
                equal(entry, stated[i, j], f"the covariance of {says}[{i}], {says}[{j}] drawn anew", self.here)

    def _evaluated(
        self, what: str, made: Sequence[Mapping[str, Entries]], states: Sequence[Mapping[str, Entries]]
    ) -> list[sp.Symbol]:
        """Check that U, or H - U, is evaluated at some states next, and return what these calls gave."""
        begin = self.compared.get(what, 0)
        self._demand(len(made) >= begin + len(states), f"does not evaluate {what} where its acceptance needs it")
        self.compared[what] = begin + len(states)
        for given, stated in zip(made[begin:], states, strict=False):
            for name, entries in given.items():
                self._same(stated[name], entries, f"the {name} that H is evaluated at")
        return [sp.Symbol(f"{what} of call {begin + k + 1}") for k in range(len(states))]

    def _compared(self, stated: Scalar, what: str) -> tuple[sp.Symbol, sp.Symbol]:
        """Check the log of the ratio that a move is accepted by, and that two normals of its own decide it."""
        k = self.compared["ratio"] = self.compared.get("ratio", 0) + 1
        self._demand(len(self.boxes.ratios) >= k, f"does not accept or reject {what}")
        ratio, a, b = self.boxes.ratios[k - 1]
        equal(ratio, stated, f"the log acceptance ratio of {what}", self.here)
        self._two_normals(a, b)
        return _flag(k), _probability(k)

    def _draw(self, move: Draw) -> None:
        """Check that a draw is from the state that the move before left, with normals and the stream of its own."""
        self._demand(bool(self.drawn), f"does not draw {move.name}")
        own, (name, state, random) = self.procedures.pop(0), self.drawn.pop(0)
        self._demand(name == own.name, f"draws by {name}, expected {own.name}")
        if any(array.name == move.block.name for array in own.inputs):  # not where its law is free of all else
            here = f"the {move.block.name} that {move.name} is drawn at"
            self._same(self.entries(move.old), state[move.block.name], here)
        arrays = [array for array in own.inputs if array in self.module.kernel.noises or array == STREAM]
        for array, given in zip(arrays, random, strict=True):
            if array == STREAM:
                self._demand(list(given) == _words(), "does not give a draw the chain's own stream")
            else:
                self._demand(list(given) == self._of(array.name), f"gives {name} other normals than {array.name}")
                self._take([array.name])
        made = len(self.boxes.draws) - len(self.drawn)
        count = len(self.here.block(move.block))
        stated = [_made(own.outputs[0].name, k, made) for k in range(count)]
        self._same(stated, self.entries(move.new), f"what remains of the draw of {move.name}")
        if move.told:
            self.few.append(_made(move.told, 0, made))
            self._same(self.few[-1:], self.entries(move.told), f"whether the places of {move.name} were too few")

    def _code(self, move: CodeMove) -> None:
        """Check that code is given the newest values, as copies, its constants and its own stream."""
        k = self.compared["code"] = self.compared.get("code", 0) + 1
        self._demand(len(self.boxes.codes) >= k, f"does not call {move.code}")
        argument, given = self.boxes.codes[k - 1]
        self._demand(argument == move.argument, f"calls {argument}, expected {move.argument}")
        self._demand(len(given) == len(move.arguments), f"gives {move.code} {len(given)} arguments")
        *taken, stream = given
        for one, read in zip(move.handed, taken, strict=False):
            what = f"the {one.block.name} that {move.code} is given"
            self._same(self.entries(one.old), list(np.asarray(read).ravel()), what)
        for name, read in zip(move.given, taken[len(move.handed) :], strict=True):
            same = np.array_equal(np.asarray(read), np.asarray(self.boxes.given[name]))
            self._demand(same, f"passes {move.code} a {name} that is not its own")
        self._demand(list(stream) == [_word(k, place) for place in range(4)], f"passes {move.code} a wrong stream")
        for one in move.handed:
            left = self.entries(one.new)
            stated = [_changed(one.block.name, entry, k) for entry in range(len(left))]
            self._same(stated, left, f"what {move.code} leaves of {one.block.name}")

    def _of(self, name: str) -> list[sp.Symbol]:
        (array,) = (a for a in self.module.kernel.noises if a.name == name)
        return [_normal(name, k) for k in range(joined_shape(array.sizes, self.here.sizes)[0])]

    def _take(self, names: Any) -> None:
        for name in names:
            self._demand(name not in self.normals, f"uses the normals {name} twice")
            self.normals.append(name)

    def _trajectory(self, move: Trajectory, cycle: Cycle) -> None:
        """Check where it starts, that every step begins where the one before ended, and what is left of its end."""
        count = move.least
        if move.least < move.most:
            k = self.compared["length"] = self.compared.get("length", 0) + 1
            least, most, a, b = self.boxes.lengths[k - 1] if len(self.boxes.lengths) >= k else (None,) * 4
            self._demand((least, most) == (move.least, move.most), "draws another length")
            self._two_normals(a, b)
            count += 1
        moved = [value for value in move.values if value.name in self.module.program.passed_on]
        both = 2 if any(value.back for value in moved) else 1
        begin = self.compared.get("step", 0)
        steps = self.boxes.steps[begin : begin + both * count]
        self.compared["step"] = begin + both * count
        last = move == cycle.trajectories[-1]
        read = len(self.boxes.steps) - begin if last else len(steps)
        self._demand(read == both * count, f"takes {read} steps in a trajectory of {count}")
        for given in self.boxes.varied[begin : begin + both * count]:
            self._of_its_own(move, given)
        start = {value.name: self.entries(value.start) for value in moved}
        if move.anew:
            self._anew(move, start)
        now = self._kicked(move, self._walked(self._kicked(move, start, 1), steps[:count]), -1)
        self._take(a.name for a in self.module.kernel.step.inputs if a.name in self._word_normals())
        if not move.metropolis or cycle.potential is None:
            for value in moved:
                if value.end:
                    self._same(now[value.name], self.entries(value.end), f"the {value.name} after a trajectory")
            return
        back = self._walked(_turned(move, now), steps[count:]) if both == 2 else None
        self._accepted(move, cycle.potential.name, start, now, back)

    def _of_its_own(self, move: Trajectory, given: Mapping[str, Value]) -> None:
        """Check that a step is given the step size of its trajectory, and its parameters."""
        for name, value in given.items():
            if name == EPS:
                equal(value, move.scale * self.here.eps, "the step size of a trajectory", self.here)
                continue
            own = self.boxes.given[dict(move.given).get(name, name)]
            same = np.array_equal(np.asarray(value), np.asarray(own))
            self._demand(same, f"passes a step of a trajectory a {name} that is not its own")

    def _anew(self, move: Trajectory, start: Mapping[str, Entries]) -> None:
        """Check that the gradient is evaluated at the state where a trajectory starts, and that it starts with it."""
        gradient = self.module.program.gradient
        if gradient is None or not self.module.program.carried:
            return
        call = self.compared["gradient"] = self.compared.get("gradient", 0) + 1
        self._demand(len(self.boxes.gradients) >= call, "does not evaluate the gradient again once")
        theta, at = gradient.block.name, self.boxes.gradients[call - 1]
        self._same(start[theta], at[theta], f"the {theta} at which the gradient is evaluated again")
        stated = [sp.Symbol(f"gradient[{k}] of call {call}") for k in range(len(start[gradient.name]))]
        self._same(stated, start[gradient.name], f"the {gradient.name} where a trajectory starts")

    def _walked(
        self, start: Mapping[str, Entries], steps: Sequence[tuple[Mapping[str, Entries], Mapping[str, Entries]]]
    ) -> dict[str, Entries]:
        """Check that each step begins where the one before ended, and return where the last one does."""
        now = dict(start)
        for state, made in steps:
            for name, entries in state.items():
                self._same(now[name], entries, f"the {name} that a step is given")
            now = dict(made)
        return now

    def _kicked(self, move: Trajectory, at: Mapping[str, Entries], sign: int) -> dict[str, Entries]:
        """Return values with b + eps rate in the place of b, or b - eps rate, rate by the gradient among them."""
        gradient = self.module.program.gradient
        if move.kick is None or gradient is None:
            return dict(at)

        instead = dict(move.given)

        def rule(atom: Atom) -> Atom:
            if isinstance(atom, Component) and atom.name == gradient.name:
                return Coordinate(gradient.name, atom.at)
            return replace(atom, name=instead.get(atom.name, atom.name)) if isinstance(atom, Component) else atom

        block = move.kick.block
        change = values(replace_atoms(move.kick.rate, rule), self.here, block, dict(at))
        moved = [b + sign * move.scale * self.here.eps * rate for b, rate in zip(at[block.name], change, strict=True)]
        return {**at, block.name: moved}

    def _word_normals(self) -> frozenset[str]:
        return frozenset(array.name for array in self.module.kernel.noises)

    def _accepted(
        self, move: Trajectory, U: str, start: Mapping[str, Entries], end: Mapping[str, Entries],
        back: Mapping[str, Entries] | None,
    ) -> None:  # fmt: skip
        """Check the ratio of the densities, that it is decided by two normals of its own, and all that is chosen."""
        (before,) = self.entries(next(value.start for value in move.values if value.name == U))
        anew = (start,) if move.anew else ()
        *begun, after = self._evaluated("U", self.boxes.potentials, (*anew, end))
        first, last = self._evaluated("H - U", self.boxes.rests, (start, end))
        self._same(begun, [before] if anew else [], "U where a trajectory starts")
        stated = before - after + first - last
        walked = range(self.compared["step"]) if self.module.program.heats else ()  # no word with noise has two
        stated += sp.Add(*(_heat(k + 1) for k in walked))
        if back is not None:
            stated = self._leads_back(stated, start, end, _turned(move, back))
        flag, probability = self._compared(stated, "a trajectory")
        self.of_trajectories.append(probability)
        self.walked.append(move)
        for value in (own for own in move.values if own.end):
            sign = -1 if value.name in move.flip else 1
            taken = [after] if value.name == U else end[value.name]
            refused = [before] if value.name == U else start[value.name]
            chosen = [CHOOSE(flag, one, sign * other) for one, other in zip(taken, refused, strict=True)]
            self._same(chosen, self.entries(value.end), f"what is left of {value.name}")

    def _leads_back(
        self, ratio: Scalar, start: Mapping[str, Entries], end: Mapping[str, Entries], back: Mapping[str, Entries]
    ) -> Scalar:
        """Check that every block is compared with where it began, and return what is left of the ratio."""
        names = [block.name for block in self.module.program.blocks]
        self._demand(len(self.boxes.returns) == len(names), "does not check for every block whether it returned")
        ((led, returned),) = self.boxes.guards or ((None, None),)
        self._same([ratio, _checked(len(names))], [led, returned], "the input of its guards")
        self._same(REFUSED, [self.entries(name)[0] for name in (UNSOLVED, IRREVERSIBLE)], "the result of its guards")
        for times, (name, (given, gap, extent)) in enumerate(zip(names, self.boxes.returns, strict=True)):
            equal(given, _checked(times) if times else ratio, "the ratio that is checked", self.here)
            apart = sp.Add(*(sp.Abs(a - b) for a, b in zip(start[name], back[name], strict=True)))
            size = sp.Add(*(sp.Abs(a) + sp.Abs(b) for a, b in zip(start[name], end[name], strict=True)))
            self._same([apart, size], [gap, extent], f"how far {name} is from where it began")
        return _checked(len(names))

    def _two_normals(self, a: Value, b: Value) -> None:
        """Check that both are the entries of an array of normals that nothing else takes."""
        own = [array.name for array in self.module.kernel.noises if self._of(array.name) == [a, b]]
        self._demand(len(own) == 1, "decides by something other than two normals of its own")
        self._take(own)

    def _same(self, stated: Sequence[Scalar], read: Sequence[Scalar], what: str) -> None:
        self._demand(len(stated) == len(read), f"has another number of entries in {what}")
        self._demand(all(entry is not None for entry in read), f"does not set {what}")
        for one, other in zip(stated, read, strict=True):
            if other != one:
                equal(other, one, what, self.here)

    def _demand(self, right: bool, what: str) -> None:
        if not right:
            raise CompilerError(f"the emitted cycle was read back and {what}")

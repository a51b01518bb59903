"""What the moves of a cycle say, one after the other: the values that they leave, and what they report.

The step, U, H - U and the gradient are requests to an oracle here, as are draws by laws and code.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

import numpy as np
import sympy as sp

from recipe_compiler.algebra.scalars.symbols import positions
from recipe_compiler.errors import CompilerError
from recipe_compiler.formula.declaration import Block
from recipe_compiler.program.atoms import replace_atoms
from recipe_compiler.program.program import (
    EPS,
    CodeMove,
    Cycle,
    Draw,
    Involution,
    Move,
    Noise,
    Refresh,
    Trajectory,
)
from recipe_compiler.program.step_stats import (
    ACCEPTANCE,
    INVOLUTION_ACCEPTANCE,
    IRREVERSIBLE,
    TOO_FEW,
    TRIES,
    UNSOLVED,
    of_kind,
)
from recipe_compiler.readback.mean import covariance, stated_value, values
from recipe_compiler.readback.names import Names
from recipe_compiler.readback.oracle import CHOOSE, Entries, Oracle
from recipe_compiler.tensor.scalars import Scalar
from recipe_compiler.tensor.terms import Atom, Component, Tensor

State = Mapping[str, Entries]
"""What moves act on, by the names that statements have for it: blocks, U and its gradient where they are carried."""


@dataclass(frozen=True, slots=True)
class Gaussian:
    """A value that is drawn given those before it: `symbols` stand for its entries in all that follows."""

    name: str
    symbols: Entries
    mean: Entries
    covariance: Mapping[tuple[int, int], Scalar]
    """By row and column, where it is not 0."""


@dataclass(slots=True)
class MovesMean:
    """The moves of a cycle as their Program states them, from given values on."""

    names: Names
    cycle: Cycle
    before: int
    """The cycles of the chain before this one: a move is due where they are a multiple of its `every`."""
    values: dict[str, Entries]
    """By the names of the Program: those given, then all that moves make."""
    oracle: Oracle = field(default_factory=Oracle)
    drawn: list[Gaussian] = field(default_factory=list[Gaussian])
    stats: dict[str, Scalar] = field(default_factory=dict[str, Scalar])
    """What a step reports of its moves."""

    def make(self) -> None:
        """Make all moves.

        Raises:
            CompilerError: the Program lets a move begin with a value that another has replaced.
        """
        guards = (UNSOLVED, IRREVERSIBLE) if any(move.is_solved for move in self.cycle.accepted) else ()
        self.stats |= dict.fromkeys(guards, sp.Integer(0))
        newest = dict[str, str]()
        taken: list[tuple[Move, Scalar]] = []
        few: list[Scalar] = []
        draws = [*self.cycle.draws]
        for move in self.cycle.moves:
            own = [*_values_of(move)]
            for name, old, _ in own:
                if old != newest.get(name, name):
                    raise CompilerError(f"a move begins with {old}, not with the current {name}")
            made: dict[str, Entries] = {name: self.values[old] for name, old, _ in own}
            if self.before % move.every == 0:
                match move:
                    case Refresh(block, old, new):
                        mean = [move.kept * x for x in self.values[old]]
                        made[block.name] = self._gaussian(new, mean, move.noise)
                    case Draw():
                        at = {block.name: self.values[newest.get(block.name, block.name)] for block in self._blocks}
                        count = len(made[move.block.name])
                        answer = self.oracle.ask(f"draw {draws.index(move) + 1}", at, count + bool(move.reported))
                        made[move.block.name], few = answer[:count], few + answer[count:]
                    case CodeMove():
                        made = self._code(move, made)
                    case Involution():
                        made, probability = self._involution(move)
                        taken.append((move, probability))
                    case Trajectory():
                        made, probability = self._trajectory(move, made)
                        taken += [(move, probability)] if probability is not None else []
            self.values |= {new: made[name] for name, _, new in own if new}
            newest |= {name: new for name, _, new in own if new}
        if self.cycle.counter:
            self.values[self.cycle.counted] = [x + 1 for x in self.values[self.cycle.counter]]
        self._report(taken)
        self.stats |= {TOO_FEW: sp.Add(*few)} if any(draw.reported for draw in draws) else {}

    def _report(self, taken: Sequence[tuple[Move, Scalar]]) -> None:
        """Report mean probabilities of acceptance; sums and counts where moves are not due in each cycle."""
        cycle = self.cycle
        groups = {ACCEPTANCE: cycle.accepted, INVOLUTION_ACCEPTANCE: cycle.involutions}
        groups |= {of_kind(ACCEPTANCE, k): own for k, own in enumerate(cycle.kinds) if len(cycle.kinds) > 1}
        for acceptance, moves in groups.items():
            own = [probability for move, probability in taken if move in moves]
            counted = any(move.every > 1 for move in moves)
            if moves:
                self.stats[acceptance] = sp.Add(*own) / (1 if counted else len(own))
                self.stats |= {TRIES[acceptance]: sp.Integer(len(own))} if counted else {}

    @property
    def _blocks(self) -> Sequence[Block]:
        return self.names.program.blocks

    def _gaussian(self, name: str, mean: Entries, noise: Noise) -> Entries:
        """Return what stands for a value that is drawn with this mean, and the covariance at the values so far."""
        symbols = [sp.Symbol(f"drawn {name}[{k}]", real=True) for k in range(len(mean))]
        self.drawn.append(Gaussian(name, symbols, mean, covariance(noise, self.names, self.values)))
        self.values[name] = symbols
        return symbols

    def _entries(self, tensor: Tensor, count: int) -> Entries:
        here = self.names.given(self.values)
        return [stated_value(tensor, here, (k,)) for k in range(count)]

    def _code(self, move: CodeMove, made: State) -> dict[str, Entries]:
        """Call the user's function with a stream of its own: it may change all that it is handed."""
        stream = self.oracle.ask("a stream", {}, 4)
        counts = {one.block.name: len(made[one.block.name]) for one in move.handed}
        answer = self.oracle.ask(move.argument, {**made, "stream": stream}, sum(counts.values()))
        return dict(zip(counts, _split(answer, [*counts.values()]), strict=True))

    def _involution(self, move: Involution) -> tuple[dict[str, Entries], Scalar]:
        """(z', w') = S(z, w), accepted by H(z) - H(z') + log_ratio."""
        at = {block: self.values[value] for block, value in move.start}
        for drawn in move.draws:
            count = len(positions(drawn.block.shape, self.names.sizes))
            self._gaussian(drawn.block.name, self._entries(drawn.mean, count), drawn.noise)
        proposed = dict(at)
        for image in move.images:
            proposed[image.block.name] = self._entries(image.value, len(at[image.block.name]))
        U, U_image, rest, rest_image = (
            self.oracle.ask(what, state, 1)[0] for what in ("potential", "rest") for state in (at, proposed)
        )
        (beside,) = self._entries(move.log_ratio, 1)
        flag, probability = self._accepted(U - U_image + rest - rest_image + beside)
        return _chosen(flag, proposed, at), probability

    def _accepted(self, log_ratio: Scalar) -> Entries:
        """Return the flag and the probability min(1, exp(log_ratio)) of its being set."""
        return self.oracle.ask("a decision", {"log acceptance ratio": [log_ratio]}, 2)

    def _trajectory(self, move: Trajectory, begin: State) -> tuple[dict[str, Entries], Scalar | None]:
        """Repeat the statements from the newest values on; of a move that is accepted, also its probability."""
        count, own = move.least, self.cycle.potential
        if move.least != move.most:
            most = self.names.parameter(move.most) if isinstance(move.most, str) else move.most
            self.oracle.ask("a length", {"bounds": [move.least, most]})
            count = move.least + 1  # as every oracle answers
        start = dict(begin)
        for value in (v for v in move.values if not v.end):  # evaluated where it starts
            what = "potential" if own and value.name == own.name else "gradient"
            count_ = 1 if what == "potential" else len(self.names.gradient())
            start[value.name] = self.values[value.start] = self.oracle.ask(what, start, count_)
        end, heat = self._walked(move, self._kicked(move, start, 1), count)
        end = self._kicked(move, end, -1)
        if not move.metropolis or own is None:
            return end, None
        rest, rest_at = (self.oracle.ask("rest", state, 1)[0] for state in (start, end))
        (U,), (U_at,) = start[own.name], self.oracle.ask("potential", end, 1)
        log_ratio = U - U_at + rest - rest_at + heat
        if move.is_solved:
            log_ratio = self._led_back(move, log_ratio, start, end, count)
        flag, probability = self._accepted(log_ratio)
        return _chosen(flag, {**end, own.name: [U_at]}, _turned(move, start)), probability

    def _walked(self, move: Trajectory, start: State, count: int) -> tuple[dict[str, Entries], Scalar]:
        """Return where so many steps lead, each with the step size and parameters of its move, and their heat."""
        program, now, heat = self.names.program, dict(start), sp.Integer(0)
        instead = dict(move.given)
        varied = {
            name: [move.scale * self.names.eps]
            if name == EPS
            else list(np.ravel(np.asarray(self.names.parameter(instead.get(name, name)), object)))
            for name in self.cycle.varied
        }
        lengths = [len(start[name]) for name in program.passed_on]
        for _ in range(count):
            answer = self.oracle.ask("step", {**now, **varied}, sum(lengths) + bool(program.heats))
            now = dict(zip(program.passed_on, _split(answer, lengths), strict=True))
            heat += answer[-1] if program.heats else 0
        return now, heat

    def _kicked(self, move: Trajectory, at: State, sign: int) -> dict[str, Entries]:
        """Return values with b + eps rate in the place of b, or b - eps rate, rate by the gradient among them."""
        if move.kick is None:
            return dict(at)
        instead, block = dict(move.given), move.kick.block

        def rule(atom: Atom) -> Atom:
            return replace(atom, name=instead.get(atom.name, atom.name)) if isinstance(atom, Component) else atom

        rates = values(replace_atoms(move.kick.rate, rule), self.names, block, dict(at))
        change = sign * move.scale * self.names.eps
        return {**at, block.name: [b + change * rate for b, rate in zip(at[block.name], rates, strict=True)]}

    def _led_back(self, move: Trajectory, log_ratio: Scalar, start: State, end: State, count: int) -> Scalar:
        """Return what is left of the ratio once as many steps from the turned end were held against the start.

        Of every block sum |start - back| is compared with the size of both ends.
        """
        back, _ = self._walked(move, _turned(move, end), count)
        led, back = log_ratio, _turned(move, back)
        for name in (block.name for block in self._blocks):
            gap = sp.Add(*(sp.Abs(a - b) for a, b in zip(start[name], back[name], strict=True)))
            size = sp.Add(*(sp.Abs(a) + sp.Abs(b) for a, b in zip(start[name], end[name], strict=True)))
            (log_ratio,) = self.oracle.ask("the way back", {"ratio": [log_ratio], "gap": [gap], "size": [size]}, 1)
        guards = self.oracle.ask("the guards", {"ratios": [led, log_ratio]}, 2)
        self.stats |= dict(zip((UNSOLVED, IRREVERSIBLE), guards, strict=True))
        return log_ratio


def _values_of(move: Move) -> Iterator[tuple[str, str, str]]:
    """Yield what a move begins with: of which block, or U or its gradient, by which value, and what it makes of it."""
    match move:
        case Refresh(block, old, new) | Draw(block, old, new):
            yield block.name, old, new
        case Trajectory():
            yield from ((value.name, value.start, value.end) for value in move.values if value.end)
        case Involution():
            made = {image.block.name: image.new for image in move.images}
            yield from ((name, value, made.get(name, "")) for name, value in move.start)
        case CodeMove():
            yield from ((one.block.name, one.old, one.new if one in move.changed else "") for one in move.handed)


def _split(entries: Entries, lengths: Sequence[int]) -> Iterator[Entries]:
    left = iter(entries)
    yield from ([*islice(left, length)] for length in lengths)


def _chosen(flag: Scalar, taken: State, refused: State) -> dict[str, Entries]:
    """Return every value as it was proposed where a move is taken, else as it stays."""
    return {
        name: [CHOOSE(flag, one, other) for one, other in zip(entries, refused[name], strict=True)]
        for name, entries in taken.items()
    }


def _turned(move: Trajectory, state: State) -> dict[str, Entries]:
    """Return values with the signs turned that a move turns."""
    return {name: [-x for x in entries] if name in move.flip else list(entries) for name, entries in state.items()}

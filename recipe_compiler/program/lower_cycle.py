"""Lowering of a cycle of moves: a procedure that draws blocks anew, calls the step of the word, and accepts by H.

The values that moves leave are separate from those that they are given. A uniform number u is made of two normals a and
b, as -log u = (a^2 + b^2)/2 is exponential: normals are all the randomness that a chain draws in advance.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction

from recipe_compiler.derive.recipe import row_slots
from recipe_compiler.formula.shapes import SCALAR, Shape
from recipe_compiler.program.atoms import replace_atoms
from recipe_compiler.program.combine import block_array, entry_at, nested, plus
from recipe_compiler.program.contraction import at_loops, filled, scalar
from recipe_compiler.program.definition import Definitions
from recipe_compiler.program.given import inputs_of, with_sizes_told
from recipe_compiler.program.kernel import Procedure
from recipe_compiler.program.loops import (
    Argument,
    Array,
    Assign,
    Body,
    Call,
    Comment,
    Constant,
    Increment,
    Invoke,
    Literal,
    Plus,
    Ref,
    Repeat,
    Scalar,
    Statement,
    Times,
    When,
)
from recipe_compiler.program.lower_draw import STREAM, LoweredDraw, lower_draw
from recipe_compiler.program.lower_gradient import lower_potential
from recipe_compiler.program.lower_noise import lower_noise
from recipe_compiler.program.program import (
    EPS,
    Auxiliary,
    CodeMove,
    Cycle,
    Draw,
    Involution,
    Move,
    Program,
    Refresh,
    Trajectory,
    changes,
)
from recipe_compiler.program.step_stats import (
    ACCEPTANCE,
    INVOLUTION_ACCEPTANCE,
    IRREVERSIBLE,
    TOO_FEW,
    TRIED,
    TRIES,
    UNSOLVED,
    of_kind,
)
from recipe_compiler.program.traverse import names_in
from recipe_compiler.tensor.show import text
from recipe_compiler.tensor.terms import Atom, Component, Coordinate, Tensor, Term

REST = "rest"
"""The procedure that returns H - U."""
HEAT = "heat"
"""What letters with noise do to H in a step."""
ACCEPT, LOG_RATIO, LENGTH = "accept", "log_ratio", "length"
"""Whether it is taken, the log of the ratio of densities, and how many steps it has where that is drawn."""
OWN_STREAM = "_own_stream"
"""What makes a stream of random words for a move, of words of the chain's."""
MINUS, ZERO, ONE = (Constant(Fraction(number)) for number in (-1, 0, 1))


@dataclass(frozen=True, slots=True)
class Lowered:
    """The statements, normals and work arrays of a move; of an involution without the calls that it is accepted by."""

    body: Body
    normals: tuple[Array, ...]
    work: tuple[Array, ...]
    log_ratio: tuple[Scalar, ...] = ()
    """The log of the ratio of an involution beside H, where it is not 0."""


@dataclass(frozen=True, slots=True)
class LoweredMoves:
    """The parts of a cycle that can be lowered before the constants of the chain are known, and what it calls."""

    potential: Procedure | None = None
    rest: Procedure | None = None
    sums: Procedure | None = None
    """What draws take of constants and data alone."""
    draws: Mapping[int, LoweredDraw] = field(default_factory=dict[int, LoweredDraw])
    """By the place of the move."""
    parts: Mapping[int, Lowered] = field(default_factory=dict[int, Lowered])
    """Refreshes and involutions, likewise."""
    step: Procedure | None = None
    """That of the word, if there is one."""
    gradient: Procedure | None = None
    """Where it is evaluated beside the step."""
    normals: tuple[Array, ...] = ()
    """Those that the step takes."""

    def reading(self, readable: tuple[Array, ...], program: Program) -> "LoweredMoves":
        """Return the procedures with what they read among all that a chain has for them."""

        def reads(procedure: Procedure | None, data: Program | None = program) -> Procedure | None:
            return procedure and replace(procedure, inputs=inputs_of(procedure, readable, data))

        potential, rest = reads(self.potential), self.rest
        if potential is not None and rest is not None and program.cycle is not None and program.cycle.potential:
            own = program.cycle.potential
            calls = (one for block, value in own.others for one in call(potential, {own.block.name: block}, value))
            work = potential.work if own.others else ()
            rest = replace(rest, body=(*calls, *rest.body), work=(*rest.work, *work))
        return replace(
            self,
            potential=potential,
            sums=reads(self.sums),
            rest=reads(rest, None),
            draws={place: own.reading(readable, program) for place, own in self.draws.items()},
        )

    @property
    def read(self) -> frozenset[str]:
        """All names that they read."""
        own = (self.potential, self.rest, self.sums, *(draw.procedure for draw in self.draws.values()))
        bodies = (*(procedure.body for procedure in own if procedure), *(move.body for move in self.parts.values()))
        return frozenset(name for body in bodies for name in names_in(body))

    @property
    def called(self) -> tuple[Procedure, ...]:
        """All procedures that a cycle calls."""
        draws = (own.procedure for own in self.draws.values())
        return tuple(own for own in (self.step, self.gradient, self.potential, self.rest, *draws) if own is not None)


def lower_moves(defined: Definitions, program: Program) -> LoweredMoves:
    """Return U, H - U and the draws of blocks as procedures without their inputs; empty if there is no cycle."""
    cycle = program.cycle
    if cycle is None:
        return LoweredMoves()
    potential = rest = None
    if cycle.potential is not None and cycle.rest is not None:
        potential = lower_potential(defined, cycle.potential)
        defined.forget()
        rest = lower_rest(defined, cycle.rest)
    draws, parts = dict[int, LoweredDraw](), dict[int, Lowered]()
    for place, move in enumerate(cycle.moves):
        defined.forget()
        match move:
            case Refresh():
                parts[place] = _refreshed(defined, move, program)
            case Draw():
                draws[place] = lower_draw(defined, move, program.data)
            case Involution():
                parts[place] = _mapped(defined, move, program)
            case _:
                pass
    return LoweredMoves(potential, rest, _sums(draws), draws, parts)


def _sums(draws: Mapping[int, LoweredDraw]) -> Procedure | None:
    """Return the procedure that computes what draws take of constants and data alone; its inputs are left out."""
    own = [definition for draw in draws.values() for definition in draw.of_data]
    if not own:
        return None
    arrays, body = tuple(one.array for one in own), tuple(statement for one in own for statement in one.body)
    says = f"{', '.join(array.name for array in arrays)}: what draws take of data and constants alone."
    return Procedure("sums", (says,), arrays, (), (), body)


def lower_rest(defined: Definitions, rest: Tensor) -> Procedure:
    """Return the procedure that returns H - U, a scalar, at a state; its inputs are left out."""
    value = scalar(defined, rest, (), {})
    before, work = defined.computed()
    name = defined.naming("energy")
    body = (*before, Assign(Ref(name), value))
    return Procedure(REST, (f"H - U = {text(rest)}.",), (Array(name),), (), work, body)


def _refreshed(defined: Definitions, move: Refresh, program: Program) -> Lowered:
    """Return the draw of a block from its law given all others: new = kept old + N(0, (1 - kept^2) S)."""
    slots = row_slots(move.block)
    kept = (Term(move.kept, ((Coordinate(move.old, slots), Fraction(1)),)),) if move.kept else ()
    share = f"{move.kept} {move.block.name} + " if move.kept else ""
    says = f"refresh: {move.new} = {share}N(0, {text(move.noise.two_D[0][0])})"
    drawn = Auxiliary(replace(move.block, name=move.new), Tensor(slots, kept), move.noise)
    return _normal(defined, drawn, program, says)


def _normal(defined: Definitions, drawn: Auxiliary, program: Program, says: str) -> Lowered:
    """Return what draws a block w = mean + N(0, cov)."""
    begin = len(defined.changing)
    noise = lower_noise(defined, drawn.noise, program.parameters)
    loops = defined.loops(drawn.block.shape.sizes)
    mean = () if drawn.mean.is_zero else (at_loops(defined, drawn.mean, loops),)
    before, arrays = defined.computed(begin)
    value = plus((*mean, *(increment for _, increment in noise.increments)))
    inside = tuple(statement for _, statements in noise.inside for statement in statements)
    store = Assign(Ref(drawn.block.name, entry_at(loops)), value)
    body = (Comment(says), *before, *nested(loops, (*inside, store)))
    return Lowered(body, noise.normals, (*arrays, *_room(program, (drawn.block.name, drawn.block.shape))))


def _room(program: Program, *named: tuple[str, Shape]) -> tuple[Array, ...]:
    """Return the arrays of values of blocks, but for those that a step leaves."""
    return tuple(block_array(name, shape) for name, shape in named if name not in program.left.values())


def _mapped(defined: Definitions, move: Involution, program: Program) -> Lowered:
    """Return the draws of an involution, the images of blocks, and the log of its ratio besides H."""
    body, normals, work = list[Statement](), list[Array](), list[Array]()
    for drawn in move.draws:
        says = f"{drawn.block.name} ~ N({text(drawn.mean)}, {text(drawn.noise.two_D[0][0])})"
        own = _normal(defined, drawn, program, says)
        body, normals, work = [*body, *own.body], [*normals, *own.normals], [*work, *own.work]
    for image in move.images:
        begin = len(defined.changing)
        stores = filled(defined, image.at, image.value, defined.loops(image.block.shape.sizes))
        before, arrays = defined.computed(begin)
        body += [Comment(f"involution: {image.at} = {text(image.value)}"), *before, *stores]
        work += [*arrays, *_room(program, *((name, image.block.shape) for name in (image.at, image.new)))]
    begin = len(defined.changing)
    log_ratio = scalar(defined, move.log_ratio, (), {})
    before, arrays = defined.computed(begin)
    ratio = () if move.log_ratio.is_zero else (log_ratio,)
    return Lowered((*body, *before), tuple(normals), (*work, *arrays), ratio)


def lower_cycle(
    defined: Definitions, program: Program, moves: LoweredMoves, readable: tuple[Array, ...]
) -> tuple[Procedure, tuple[Array, ...]]:
    """Return the procedure of one step of the chain, and the normals that it takes.

    Args:
        defined: what is known while it is lowered.
        program: whose statements are those of the word, with its cycle.
        moves: what draws blocks anew or maps them, by the places of the moves, and the procedures that are called.
        readable: all that they may read of a chain, in the order of the module's arguments.
    """
    cycle = program.cycle or Cycle(())
    shapes = {block.name: block.shape for block in program.blocks}
    lowered: list[Lowered] = []
    due = dict(zip(cycle.schedules, defined.named(f"due_{every}" for every in cycle.schedules), strict=True))
    probabilities = list[tuple[Move, Ref]]()
    for place, move in enumerate(cycle.moves):
        probability = Ref(ACCEPTANCE, (0,))
        match move:
            case Trajectory():
                shapes |= {value.name: value.shape for value in move.values if value.end}
                probability = Ref(defined.naming("taken")) if len(cycle.accepted) > 1 else probability
                own = _trajectory(defined, move, program, moves, probability)
            case Involution():
                own, probability = _reflected(defined, move, moves.parts[place], moves)
            case CodeMove():
                own = _by_code(defined, move, program)
            case Draw():
                own = _drawn(move, moves.draws[place], program)
            case Refresh():
                own = moves.parts[place]
        probabilities.append((move, probability))
        if move.every > 1:
            counted, zeros = _counts(cycle, move, probability)
            left = (*_copies(defined, (change[1:] for change in changes(move))), *zeros)
            own = replace(own, body=(When(Ref(due[move.every]), (*own.body, *counted), left),))
        lowered.append(own)
    shapes |= {cycle.counter: SCALAR} if cycle.counter else {}
    statements = (statement for own in lowered for statement in own.body)
    body = (*_counted(cycle, due), *_tried(cycle), *statements, *_reported(cycle, probabilities))
    normals = tuple(array for own in lowered for array in own.normals)
    read = names_in(body).union(array.name for procedure in moves.called for array in procedure.inputs)
    values = tuple(block_array(name, shape) for name, shape in shapes.items())
    streams = cycle.codes or any(STREAM in procedure.inputs for procedure in moves.called)
    stream = (STREAM,) if streams else ()
    others = tuple(array for array in with_sizes_told(readable, read, body, values) if array.name not in shapes)
    code = map(Array, program.functions)
    inputs = (*code, *values, *others, *normals, *stream, Array("eps"))
    outputs = tuple(block_array(program.left[name], shape) for name, shape in shapes.items())
    outputs += tuple(Array(name, (1,)) for name in _reported_names(cycle))
    draws = f"draw from {STREAM.name} alone" if stream else "draw nothing"
    says = (f"one step, a cycle of moves: {', '.join(array.name for array in outputs)}; {draws}.",)
    work = tuple(dict.fromkeys(array for own in lowered for array in own.work))
    return Procedure("cycle", says, outputs, inputs, work, body), normals


def _counted(cycle: Cycle, due: Mapping[int, str]) -> Iterator[Statement]:
    """Yield the statements that say which moves are due, and count the cycle."""
    if cycle.counter:
        count = Ref(cycle.counter, (0,))
        yield from (Invoke("_is_due", (count, Literal(str(every))), (Ref(flag),)) for every, flag in due.items())
        yield Assign(Ref(cycle.counted, (0,)), Plus((count, ONE)))


def _by_code(defined: Definitions, move: CodeMove, program: Program) -> Lowered:
    """Return the call of a user's function, of copies of blocks, with a stream made for it."""
    arguments = (*(one.new for one in move.handed), *move.given, move.stream)
    body = (
        Comment(f"code: {move.code} changes {', '.join(one.block.name for one in move.changed)}"),
        *_copies(defined, ((one.old, one.new, one.block.shape) for one in move.handed)),
        Invoke(OWN_STREAM, (STREAM.name,), (Ref(move.stream),)),
        Invoke(move.argument, arguments),
    )
    return Lowered(body, (), _room(program, *((one.new, one.block.shape) for one in move.handed)))


def _report(name: str, number: int) -> Assign:
    return Assign(Ref(name, (0,)), Constant(Fraction(number)))


def _statistics(cycle: Cycle) -> tuple[tuple[str, tuple[Trajectory | Involution, ...]], ...]:
    """Return the groups of moves whose acceptance a step reports: all, each of several kinds, involutions.

    Each with the name of the mean, or of the sum where not all are done in each cycle; `TRIES` names their number.
    """
    kinds = enumerate(cycle.kinds if len(cycle.kinds) > 1 else ())
    several = ((of_kind(ACCEPTANCE, k), moves) for k, moves in kinds)
    return (ACCEPTANCE, cycle.accepted), *several, (INVOLUTION_ACCEPTANCE, cycle.involutions)


def _some_left_out(moves: Iterable[Move]) -> bool:
    """Whether moves are not all done in each cycle."""
    return any(move.every > 1 for move in moves)


def _guards(cycle: Cycle) -> tuple[str, ...]:
    return (UNSOLVED, IRREVERSIBLE) if any(move.is_solved for move in cycle.accepted) else ()


def _reported_names(cycle: Cycle) -> tuple[str, ...]:
    """Return what a cycle tells beside its state: of what is accepted or refused, and of levels that places reach."""
    reported = [(mean, *((TRIES[mean],) if _some_left_out(own) else ())) for mean, own in _statistics(cycle) if own]
    few = (TOO_FEW,) if any(draw.reported for draw in cycle.draws) else ()
    names = tuple(name for own in reported for name in own)
    return (*names[:1], *_guards(cycle), *names[1:], *few)


def _tried(cycle: Cycle) -> Iterator[Statement]:
    """Yield what begins to count what is accepted or refused by what is done in each cycle; nothing where all is."""
    for mean, moves in _statistics(cycle):
        if _some_left_out(moves) and (mean != ACCEPTANCE or len(moves) > 1):
            yield _report(TRIES[mean], sum(move.every == 1 for move in moves))


def _counts(cycle: Cycle, move: Move, probability: Ref) -> tuple[Body, Body]:
    """Return what counts a move that is not done in each cycle, and what tells zeros where it is not done."""
    counts = [TRIES[mean] for mean, moves in _statistics(cycle) if move in moves]
    if isinstance(move, Draw):
        return (), (_report(move.reported, 0),) if move.reported else ()
    if cycle.accepted == (move,):
        return (_report(TRIED, 1),), tuple(_report(name, 0) for name in (ACCEPTANCE, *_guards(cycle), TRIED))
    zeros = (Assign(probability, ZERO),) if counts else ()
    return tuple(Increment(Ref(name, (0,)), ONE) for name in counts), zeros


def _reported(cycle: Cycle, probabilities: list[tuple[Move, Ref]]) -> Iterator[Statement]:
    """Yield statements that report the acceptance of the moves of a cycle; a single trajectory reports its own.

    They give the mean where all moves are due in each cycle, else the sum and the number of moves. What adds up how
    many draws by slices had too few places follows.
    """
    for name, moves in _statistics(cycle):
        own = [probability for move, probability in probabilities if move in moves]
        if own and (name != ACCEPTANCE or len(own) > 1):
            share = (Constant(Fraction(1, len(own))),) if len(own) > 1 and not _some_left_out(moves) else ()
            yield Assign(Ref(name, (0,)), plus(tuple(Times((*share, one)) for one in own)))
    if reported := tuple(Ref(draw.reported, (0,)) for draw in cycle.draws if draw.reported):
        yield Assign(Ref(TOO_FEW, (0,)), plus(reported))


def _reflected(defined: Definitions, move: Involution, own: Lowered, moves: LoweredMoves) -> tuple[Lowered, Ref]:
    """Return the statements of an involution with what it is accepted by, and the probability that it is taken."""
    wanted = ("U_start", "U_image", "rest_start", "rest_image", "noise_accept", "probability")
    before, image, rest_before, rest_image, drawn, probability = defined.named(wanted)
    start, proposed = dict(move.start), move.proposed
    losses = _losses((Ref(before), Ref(image)), (Ref(rest_before), Ref(rest_image)))
    body = (
        *own.body,
        *call(moves.potential, start, before),
        *call(moves.rest, start, rest_before),
        *call(moves.potential, proposed, image),
        *call(moves.rest, proposed, rest_image),
        Comment("accept with probability min(1, exp(H - H') q(w'|z')/q(w|z) |det DS|), else stay"),
        Assign(Ref(LOG_RATIO), Plus((*losses, *own.log_ratio))),
        _decide(Ref(probability), drawn),
        *(s for one in move.images for s in _chosen(defined, one.block.shape, one.new, one.at, one.old)),
    )
    room = (array for procedure in (moves.potential, moves.rest) if procedure for array in procedure.work)
    return Lowered(body, (*own.normals, Array(drawn, (2,))), (*own.work, *room)), Ref(probability)


def _losses(*pairs: tuple[Scalar, Scalar]) -> tuple[Scalar, ...]:
    """Return the terms of the sum of `before - after` over pairs of both."""
    return tuple(term for before, after in pairs for term in (before, Times((MINUS, after))))


def _decide(probability: Ref, drawn: str) -> Statement:
    """Return what sets ACCEPT with probability min(1, exp(LOG_RATIO)), by two normals; the probability is kept."""
    return Invoke("_accepted", (Ref(LOG_RATIO), Ref(drawn, (0,)), Ref(drawn, (1,))), (Ref(ACCEPT), probability))


def _drawn(move: Draw, own: LoweredDraw, program: Program) -> Lowered:
    """Return the call that draws a block by its law."""
    _, *reported = own.procedure.outputs
    room = _room(program, (move.new, move.block.shape))
    return Lowered(
        call(own.procedure, {move.block.name: move.old}), own.normals, (*own.procedure.work, *room, *reported)
    )


def call(procedure: Procedure | None, actual: Mapping[str, Argument], *targets: str) -> tuple[Invoke, ...]:
    """Return the call of a procedure, with actual names for some of its formal ones; nothing where there is none."""
    if procedure is None:
        return ()
    given = tuple(actual.get(name, name) for name in procedure.arguments)
    return (Invoke(procedure.name, given, tuple(map(Ref, targets))),)


def _trajectory(
    defined: Definitions, move: Trajectory, program: Program, moves: LoweredMoves, probability: Ref
) -> Lowered:
    """Return the statements that repeat the step from the newest values on, and what is left of where it leads."""
    scaled, given = _scaled(defined, move)
    moved = tuple(value for value in move.values if value.name in program.passed_on)
    start, at = {v.name: v.start for v in move.values}, {v.name: v.at for v in move.values}
    energy = program.cycle.potential if program.cycle else None
    U = next((v for v in move.values if energy and v.name == energy.name), None)
    length, normals = _length(defined, move)
    anew = call(moves.gradient, start) if move.anew else ()
    anew += call(moves.potential, start, U.at) if move.anew and U else ()
    known = (Assign(Ref(U.start, (0,)), Ref(U.at)),) if move.anew and U else ()
    begun, ended = (), _copies(defined, ((v.at, v.end, v.shape) for v in moved if v.end))
    normals = (*moves.normals, *normals)
    if move.metropolis and U is not None:
        drawn, first, last = defined.named(("noise_accept", "rest_start", "rest_at"))
        begun = call(moves.rest, start, first)
        returned = _returned(defined, move, program, moves, given)
        losses = _losses((Ref(U.start, (0,)), Ref(U.at)), (Ref(first), Ref(last)))
        losses += (Ref(HEAT, (0,)),) if program.heats else ()
        loss = f"H - H'{' + heat' if program.heats else ''}"
        ends = ((v, v.name in move.flip) for v in move.values if v != U and v.end)
        ended = (
            *call(moves.potential, at, U.at),
            *call(moves.rest, at, last),
            Comment(f"accept with probability min(1, exp({loss})), else turn round"),
            Assign(Ref(LOG_RATIO), Plus(losses)),
            *returned,
            _decide(probability, drawn),
            *(s for v, turned in ends for s in _chosen(defined, v.shape, v.end, v.at, v.start, turned=turned)),
            *((_choice(Ref(U.end, (0,)), Ref(U.at), Ref(U.start, (0,))),) if U.end else ()),
        )
        normals += (Array(drawn, (2,)),)
    body = (
        *length,
        *scaled,
        *anew,
        *known,
        *begun,
        *_copies(defined, ((v.start, v.at, v.shape) for v in moved)),
        *_kicked(defined, move, at | given, program, "a kick before the first step", taken_back=False),
        _repeated(defined, move, program, moves, at | given),
        *_kicked(defined, move, at | given, program, "and taken back after the last", taken_back=True),
        *ended,
    )
    names = [(name, v.shape) for v in moved for name in (v.at, program.passed_on[v.name], v.back, v.end) if name]
    names += [(v.start, v.shape) for v in move.values if not v.end]
    names += [(v.end, v.shape) for v in move.values if v not in moved and v.end]
    work = (*_room(program, *names), *(array for own in moves.called for array in own.work))
    return Lowered(body, normals, (*work, *((Array(HEAT, (1,)),) if program.heats else ())))


def _repeated(
    defined: Definitions, move: Trajectory, program: Program, moves: LoweredMoves, at: Mapping[str, str]
) -> Repeat:
    """Return the steps of a trajectory, of values that are at names of their own."""
    made = ((new, at[name], s) for name, new, s in _passed(move, program))
    count = move.least if move.least == move.most else LENGTH
    return Repeat(count, (*call(moves.step, at), *_copies(defined, made)))


def _passed(move: Trajectory, program: Program) -> Iterator[tuple[str, str, Shape]]:
    """Yield what a trajectory passes from step to step, with what a step leaves of it."""
    yield from ((v.name, program.passed_on[v.name], v.shape) for v in move.values if v.name in program.passed_on)


def _scaled(defined: Definitions, move: Trajectory) -> tuple[Body, dict[str, str]]:
    """Return what sets the step size of a move where it has its own, and what the step is given in whose place."""
    if move.scale == 1:
        return (), dict(move.given)
    name = defined.naming("eps_scaled")
    return (Assign(Ref(name), Times((Constant(move.scale), Ref(EPS)))),), {**dict(move.given), EPS: name}


def _kicked(
    defined: Definitions, move: Trajectory, at: Mapping[str, str], program: Program, says: str, *, taken_back: bool
) -> Body:
    """Return the statements of b' = b + eps rate, or b - eps rate; nothing without a kick.

    `at` says where values on the way are, and what is given in the place of parameters and eps.
    """
    if move.kick is None or program.gradient is None:
        return ()
    block = move.kick.block

    def rule(atom: Atom) -> Atom:
        return replace(atom, name=at.get(atom.name, atom.name)) if isinstance(atom, Component) else atom

    begin, loops = len(defined.changing), defined.loops(block.shape.sizes)
    own = Ref(at[block.name], entry_at(loops))
    rate = at_loops(defined, replace_atoms(move.kick.rate, rule), loops)
    before = defined.computed(begin)[0]
    change = Times((*((MINUS,) if taken_back else ()), Ref(at.get(EPS, EPS)), rate))
    written = text(move.kick.rate)
    return (
        Comment(f"{says}: {block.name} {'-' if taken_back else '+'} eps*({written})"),
        *before,
        *nested(loops, (Assign(own, Plus((own, change))),)),
    )


def _length(defined: Definitions, move: Trajectory) -> tuple[Body, tuple[Array, ...]]:
    """Return what draws how long a trajectory is, with the normals; nothing where that is a number."""
    if move.least == move.most:
        return (), ()
    drawn = defined.naming("noise_length")
    normals = (Ref(drawn, (0,)), Ref(drawn, (1,)))
    call_ = (
        Invoke("_uniform_up_to", (Ref(move.most), *normals), (Ref(LENGTH),))
        if isinstance(move.most, str)
        else Invoke("_uniform_integer", (Literal(str(move.least)), Literal(str(move.most)), *normals), (Ref(LENGTH),))
    )
    return (Comment(f"length: uniform({move.least}, {move.most})"), call_), (Array(drawn, (2,)),)


def _returned(
    defined: Definitions, move: Trajectory, program: Program, moves: LoweredMoves, given: Mapping[str, str]
) -> Body:
    """Return the statements that refuse a trajectory which, turned round at its end, does not lead to its start.

    Nothing where no step is solved for by iteration. Of every block the differences are added up, and compared with
    the size of the block at both ends: what is not a number is refused.
    """
    if not move.is_solved:
        return ()
    moved = tuple(value for value in move.values if value.back)
    gap, extent, led, *counts = defined.named(("gap", "extent", "led", "lost", "one_way"))
    body: list[Statement] = [
        Comment("and where it leads back: each step was solved for"),
        Assign(Ref(led), Ref(LOG_RATIO)),
        *(s for v in moved for s in _written(defined, v.at, v.back, v.shape, turned=v.name in move.flip)),
        _repeated(defined, move, program, moves, {v.name: v.back for v in moved} | dict(given)),
    ]
    blocks = {block.name for block in program.blocks}
    for value in (own for own in moved if own.name in blocks):
        loops = defined.loops(value.shape.sizes)
        at = entry_at(loops)
        start, end, returns = (Ref(name, at) for name in (value.start, value.at, value.back))
        there = returns if value.name in move.flip else Times((MINUS, returns))
        sums = (
            Increment(Ref(gap), Call("abs", (Plus((start, there)),))),
            Increment(Ref(extent), Plus((Call("abs", (start,)), Call("abs", (end,))))),
        )
        body += [
            Assign(Ref(gap), ZERO),
            Assign(Ref(extent), ZERO),
            *nested(loops, sums),
            Invoke("_returned", (LOG_RATIO, gap, extent), (Ref(LOG_RATIO),)),
        ]
    reported = zip((UNSOLVED, IRREVERSIBLE), counts, strict=True)
    guards = Invoke("_guards", (led, LOG_RATIO), tuple(map(Ref, counts)))
    return (*body, guards, *(Assign(Ref(name, (0,)), Ref(count)) for name, count in reported))


def _signed(value: Scalar, *, turned: bool) -> Scalar:
    return Times((MINUS, value)) if turned else value


def _written(defined: Definitions, old: str, new: str, shape: Shape, *, turned: bool = False) -> Body:
    """Return the loop that writes a value into another, its sign turned or not."""
    loops = defined.loops(shape.sizes)
    at = entry_at(loops)
    return nested(loops, (Assign(Ref(new, at), _signed(Ref(old, at), turned=turned)),))


def _copies(defined: Definitions, pairs: Iterable[tuple[str, str, Shape]]) -> Body:
    """Return the loops that write values into others: `old`, `new`, and the shape of both."""
    return tuple(statement for pair in pairs for statement in _written(defined, *pair))


def _choice(target: Ref, taken: Scalar, refused: Scalar) -> Statement:
    return Assign(target, Call("if", (Ref(ACCEPT), taken, refused)))


def _chosen(defined: Definitions, shape: Shape, new: str, taken: str, old: str, *, turned: bool = False) -> Body:
    """Return the loop that takes what is proposed, or leaves what was, its sign turned or not."""
    loops = defined.loops(shape.sizes)
    at = entry_at(loops)
    return nested(loops, (_choice(Ref(new, at), Ref(taken, at), _signed(Ref(old, at), turned=turned)),))

"""Lowering of a cycle of moves: a procedure that draws blocks anew, calls the step of the word, and accepts by H.

The values that moves leave are separate from those that they are given. A uniform number u is made of two normals a and
b, as -log u = (a^2 + b^2)/2 is exponential: normals are all the randomness that a chain draws in advance.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction

from recipe_compiler.errors import CompilerError
from recipe_compiler.formula.shapes import SCALAR, Shape
from recipe_compiler.program.atoms import replace_atoms
from recipe_compiler.program.combine import entry_at, nested, plus
from recipe_compiler.program.contraction import at_loops, scalar
from recipe_compiler.program.definition import Definitions
from recipe_compiler.program.given import inputs_of, with_sizes_told
from recipe_compiler.program.kernel import Procedure
from recipe_compiler.program.loops import (
    Argument,
    Array,
    Assign,
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
)
from recipe_compiler.program.step_stats import (
    ACCEPTANCE,
    INVOLUTION_ACCEPTANCE,
    INVOLUTIONS_TRIED,
    IRREVERSIBLE,
    TOO_FEW,
    TRIED,
    UNSOLVED,
    of_kind,
)
from recipe_compiler.program.traverse import names_in
from recipe_compiler.tensor.show import text
from recipe_compiler.tensor.terms import Atom, Component, Tensor

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
class Called:
    """The procedures that a cycle calls."""

    step: Procedure | None
    """That of the word, if there is one."""
    normals: tuple[Array, ...]
    """Those that the step takes."""
    gradient: Procedure | None
    """Where it is evaluated beside the step."""
    potential: Procedure | None
    rest: Procedure | None
    draws: Mapping[int, LoweredDraw]
    """By the place of the move."""

    @property
    def every(self) -> tuple[Procedure, ...]:
        """All of them that there are."""
        draws = (own.procedure for own in self.draws.values())
        return tuple(own for own in (self.step, self.gradient, self.potential, self.rest, *draws) if own is not None)


@dataclass(frozen=True, slots=True)
class Lowered:
    """The statements, normals and work arrays of a move."""

    body: tuple[Statement, ...]
    normals: tuple[Array, ...]
    work: tuple[Array, ...]


@dataclass(frozen=True, slots=True)
class LoweredInvolution:
    """An involution as statements, without the calls of U and H - U that it is accepted by."""

    lowered: Lowered
    """What draws, what blocks become, and the log of the ratio beside H."""
    log_ratio: Scalar


@dataclass(frozen=True, slots=True)
class LoweredMoves:
    """The parts of a cycle that can be lowered before the constants of the chain are known."""

    potential: Procedure | None = None
    rest: Procedure | None = None
    refreshes: Mapping[int, Lowered] = field(default_factory=dict[int, Lowered])
    """By the place of the move."""
    draws: Mapping[int, LoweredDraw] = field(default_factory=dict[int, LoweredDraw])
    """Likewise."""
    involutions: Mapping[int, LoweredInvolution] = field(default_factory=dict[int, LoweredInvolution])
    """Likewise."""
    sums: Procedure | None = None
    """What draws take of constants and data alone."""

    def reading(self, readable: tuple[Array, ...], program: Program) -> "LoweredMoves":
        """Return the procedures with what they read among all that a chain has for them."""

        def reads(procedure: Procedure | None, data: Program | None = program) -> Procedure | None:
            return procedure and replace(procedure, inputs=inputs_of(procedure, readable, data))

        potential, rest = reads(self.potential), self.rest
        if potential is not None and rest is not None and program.cycle is not None and program.cycle.potential:
            own = program.cycle.potential
            calls = (invoke(potential, {own.block.name: block}, (value,)) for block, value in own.others)
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
        others = (*self.refreshes.values(), *(involution.lowered for involution in self.involutions.values()))
        bodies = (*(procedure.body for procedure in own if procedure), *(move.body for move in others))
        return frozenset(name for body in bodies for name in names_in(body))


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
    refreshes, draws = dict[int, Lowered](), dict[int, LoweredDraw]()
    involutions = dict[int, LoweredInvolution]()
    for place, move in enumerate(cycle.moves):
        defined.forget()
        if isinstance(move, Refresh):
            refreshes[place] = lower_refresh(defined, move, program)
        if isinstance(move, Draw):
            draws[place] = lower_draw(defined, move, program.data)
        if isinstance(move, Involution):
            involutions[place] = lower_involution(defined, move, program)
    return LoweredMoves(potential, rest, refreshes, draws, involutions, _sums(draws))


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


def lower_refresh(defined: Definitions, move: Refresh, program: Program) -> Lowered:
    """Return the draw of a block from its law given all others: new = kept old + N(0, (1 - kept^2) S)."""
    begin = len(defined.changing)
    noise = lower_noise(defined, move.noise, program.parameters)
    before, arrays = defined.computed(begin)
    loops = defined.loops(move.block.shape.sizes)
    at = entry_at(loops)
    kept = (Times((Constant(move.kept), Ref(move.old, at))),) if move.kept else ()
    value = plus((*kept, *(increment for _, increment in noise.increments)))
    inside = tuple(statement for _, body in noise.inside for statement in body)
    share = f"{move.kept} {move.block.name} + " if move.kept else ""
    body = (
        Comment(f"refresh: {move.new} = {share}N(0, {text(move.noise.two_D[0][0])})"),
        *before,
        *nested(loops, (*inside, Assign(Ref(move.new, at), value))),
    )
    room = () if move.new in program.left.values() else (_array(move.new, move.block.shape),)
    work = (*arrays, *room)
    return Lowered(body, noise.normals, work)


def lower_involution(defined: Definitions, move: Involution, program: Program) -> LoweredInvolution:
    """Return the draws of an involution, the images of blocks, and the log of its ratio besides H."""
    body, normals, work = list[Statement](), list[Array](), list[Array]()
    for drawn in move.draws:
        own = _auxiliary(defined, drawn, program)
        body, normals, work = [*body, *own.body], [*normals, *own.normals], [*work, *own.work]
    for image in move.images:
        begin = len(defined.changing)
        loops = defined.loops(image.block.shape.sizes)
        at = entry_at(loops)
        value = at_loops(defined, image.value, loops)
        before, arrays = defined.computed(begin)
        body.append(Comment(f"involution: {image.at} = {text(image.value)}"))
        body += before
        body += nested(loops, (Assign(Ref(image.at, at), value),))
        work += arrays
        room = () if image.new in program.left.values() else (image.new,)
        work += [_array(name, image.block.shape) for name in (image.at, *room)]
    begin = len(defined.changing)
    log_ratio = scalar(defined, move.log_ratio, (), {})
    before, arrays = defined.computed(begin)
    body += before
    work += arrays
    return LoweredInvolution(Lowered(tuple(body), tuple(normals), tuple(work)), log_ratio)


def _auxiliary(defined: Definitions, drawn: Auxiliary, program: Program) -> Lowered:
    """Return what draws a block that an involution has for itself: w = mean + N(0, cov)."""
    begin = len(defined.changing)
    noise = lower_noise(defined, drawn.noise, program.parameters)
    loops = defined.loops(drawn.block.shape.sizes)
    at = entry_at(loops)
    mean = at_loops(defined, drawn.mean, loops)
    before, arrays = defined.computed(begin)
    value = plus((*(() if drawn.mean.is_zero else (mean,)), *(increment for _, increment in noise.increments)))
    inside = tuple(statement for _, statements in noise.inside for statement in statements)
    covariance = text(drawn.noise.two_D[0][0])
    body = (
        Comment(f"{drawn.block.name} ~ N({text(drawn.mean)}, {covariance})"),
        *before,
        *nested(loops, (*inside, Assign(Ref(drawn.block.name, at), value))),
    )
    work = (*arrays, _array(drawn.block.name, drawn.block.shape))
    return Lowered(body, noise.normals, work)


def lower_cycle(
    defined: Definitions, program: Program, moves: LoweredMoves, called: Called, readable: tuple[Array, ...]
) -> tuple[Procedure, tuple[Array, ...]]:
    """Return the procedure of one step of the chain, and the normals that it takes.

    Args:
        defined: what is known while it is lowered.
        program: whose statements are those of the word, with its cycle.
        moves: what draws blocks anew or maps them, by the places of the moves.
        called: the procedures that it calls.
        readable: all that they may read of a chain, in the order of the module's arguments.
    """
    cycle = program.cycle or Cycle(())
    shapes = {block.name: block.shape for block in program.blocks}
    lowered: list[Lowered] = []
    flags = defined.named(tuple(f"due_{every}" for every in cycle.schedules))
    due = dict(zip(cycle.schedules, flags, strict=True))
    probabilities = list[tuple[Move, Scalar]]()
    for place, move in enumerate(cycle.moves):
        counted, zeros = tuple[Statement, ...](), tuple[Statement, ...]()
        match move:
            case Trajectory():
                shapes |= {value.name: value.shape for value in move.values if value.end}
                probability = Ref(defined.naming("taken")) if len(cycle.accepted) > 1 else Ref(ACCEPTANCE, (0,))
                own = _trajectory(defined, move, program, called, probability)
                counted, zeros = _told_of(move, cycle, probability)
                probabilities += [(move, probability)] if move.metropolis else []
            case Involution():
                own, probability = _reflected(defined, move, moves.involutions[place], called)
                counted = (Increment(Ref(INVOLUTIONS_TRIED, (0,)), ONE),)
                zeros = (Assign(probability, ZERO),)
                probabilities.append((move, probability))
            case CodeMove():
                own = _by_code(defined, move, program)
            case Draw():
                own = _drawn(move, called.draws[place], program)
                zeros = (_told(move.told, 0),) if move.told else ()
            case Refresh():
                own = moves.refreshes[place]
        if move.every > 1:
            left = (*_copies(defined, _changed(move)), *zeros)
            own = replace(own, body=(When(Ref(due[move.every]), (*own.body, *counted), left),))
        lowered.append(own)
    shapes |= {cycle.counter: SCALAR} if cycle.counter else {}
    body = (
        *_counted(cycle, due),
        *_tried(cycle),
        *(statement for own in lowered for statement in own.body),
        *_means(cycle, probabilities),
        *_few(cycle),
    )
    normals = tuple(array for own in lowered for array in own.normals)
    read = names_in(body).union(array.name for procedure in called.every for array in procedure.inputs)
    values = tuple(_array(name, shape) for name, shape in shapes.items())
    streams = cycle.codes or any(STREAM in procedure.inputs for procedure in called.every)
    stream = (STREAM,) if streams else ()
    others = tuple(array for array in with_sizes_told(readable, read, body, values) if array.name not in shapes)
    code = map(Array, program.functions)
    inputs = (*code, *values, *others, *normals, *stream, Array("eps"))
    outputs = tuple(_array(program.left[name], shape) for name, shape in shapes.items())
    outputs += tuple(Array(name, (1,)) for name in _told_names(cycle))
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
        *_copies(defined, [(one.new, one.old, one.block.shape) for one in move.handed]),
        Invoke(OWN_STREAM, (STREAM.name,), (Ref(move.stream),)),
        Invoke(move.argument, arguments),
    )
    room = {*program.left.values()}
    return Lowered(body, (), tuple(_array(c.new, c.block.shape) for c in move.handed if c.new not in room))


def _changed(move: Move) -> list[tuple[str, str, Shape]]:
    """Return the values that a move leaves, each with that before it and its shape."""
    match move:
        case Trajectory():
            return [(value.end, value.start, value.shape) for value in move.values if value.end]
        case Involution(images=changed) | CodeMove(changed=changed):
            return [(one.new, one.old, one.block.shape) for one in changed]
        case _:
            return [(move.new, move.old, move.block.shape)]


def _told(name: str, number: int) -> Assign:
    return Assign(Ref(name, (0,)), Constant(Fraction(number)))


def _statistics(cycle: Cycle) -> tuple[tuple[str, str, tuple[Trajectory | Involution, ...]], ...]:
    """Return the groups of moves whose acceptance a step reports: all, each of several kinds, involutions.

    Each with the names of the mean, or of the sum, and of the number of them where not all are done in each cycle.
    """
    kinds = enumerate(cycle.kinds if len(cycle.kinds) > 1 else ())
    return (
        (ACCEPTANCE, TRIED, cycle.accepted),
        *((of_kind(ACCEPTANCE, k), of_kind(TRIED, k), moves) for k, moves in kinds),
        (INVOLUTION_ACCEPTANCE, INVOLUTIONS_TRIED, cycle.involutions),
    )


def _some_left_out(moves: Iterable[Move]) -> bool:
    """Whether moves are not all done in each cycle."""
    return any(move.every > 1 for move in moves)


def _told_names(cycle: Cycle) -> tuple[str, ...]:
    """Return what a cycle tells beside its state: of what is accepted or refused, and of levels that places reach."""
    told = [(mean, *((count,) if _some_left_out(own) else ())) for mean, count, own in _statistics(cycle) if own]
    guards = (UNSOLVED, IRREVERSIBLE) if any(move.is_solved for move in cycle.accepted) else ()
    few = (TOO_FEW,) if any(draw.told for draw in cycle.draws) else ()
    first, *others = (name for names in told for name in names) if told else ("",)
    return (*filter(None, (first,)), *guards, *others, *few)


def _tried(cycle: Cycle) -> Iterator[Statement]:
    """Yield what begins to count what is accepted or refused by what is done in each cycle; nothing where all is."""
    (_, tried, all_), *kinds, mapped = _statistics(cycle)
    several = ("", tried, all_ if len(all_) > 1 else ())
    for _, name, moves in (several, mapped, *kinds):
        if _some_left_out(moves):
            yield _told(name, sum(move.every == 1 for move in moves))


def _told_of(move: Trajectory, cycle: Cycle, probability: Ref) -> tuple[tuple[Statement, ...], tuple[Statement, ...]]:
    """Return what counts a trajectory that is not done in each cycle, and what tells zeros where it is not done."""
    if len(cycle.accepted) > 1:
        (_, tried, _), *kinds, _ = _statistics(cycle)
        counts = (tried, *(count for _, count, moves in kinds if move in moves))
        return tuple(Increment(Ref(name, (0,)), ONE) for name in counts), (Assign(probability, ZERO),)
    names = _told_names(replace(cycle, moves=cycle.trajectories))
    return ((_told(TRIED, 1),) if TRIED in names else ()), tuple(_told(name, 0) for name in names)


def _means(cycle: Cycle, probabilities: list[tuple[Move, Scalar]]) -> Iterator[Statement]:
    """Yield statements that report the acceptance of the moves of a cycle; a single trajectory reports its own.

    They give the mean where all moves are due in each cycle, else the sum and the number of moves.
    """
    for name, _, moves in _statistics(cycle):
        own = [probability for move, probability in probabilities if move in moves]
        if own and (name != ACCEPTANCE or len(own) > 1):
            share = (Constant(Fraction(1, len(own))),) if len(own) > 1 and not _some_left_out(moves) else ()
            yield Assign(Ref(name, (0,)), plus(tuple(Times((*share, one)) for one in own)))


def _few(cycle: Cycle) -> Iterator[Statement]:
    """Yield what adds up how many draws by slices had too few places; nothing where none counts that."""
    told = tuple(Ref(draw.told, (0,)) for draw in cycle.draws if draw.told)
    if told:
        yield Assign(Ref(TOO_FEW, (0,)), plus(told))


def _reflected(defined: Definitions, move: Involution, own: LoweredInvolution, called: Called) -> tuple[Lowered, Ref]:
    """Return the statements of an involution with what it is accepted by, and the probability that it is taken."""
    if called.potential is None or called.rest is None:
        raise CompilerError("an involution is accepted by H, which is not there")
    wanted = ("U_start", "U_image", "rest_start", "rest_image", "noise_accept", "probability")
    *energies, drawn, probability = defined.named(wanted)
    before, image, rest_before, rest_image = energies
    start, proposed = dict(move.start), move.proposed
    differences = (Ref(before), Times((MINUS, Ref(image))), Ref(rest_before), Times((MINUS, Ref(rest_image))))
    body = (
        *own.lowered.body,
        invoke(called.potential, start, (before,)),
        invoke(called.rest, start, (rest_before,)),
        invoke(called.potential, proposed, (image,)),
        invoke(called.rest, proposed, (rest_image,)),
        Comment("accept with probability min(1, exp(H - H') q(w'|z')/q(w|z) |det DS|), else stay"),
        Assign(Ref(LOG_RATIO), Plus((*differences, *(() if move.log_ratio.is_zero else (own.log_ratio,))))),
        _decide(Ref(probability), drawn),
        *(s for one in move.images for s in _chosen(defined, one.block.shape, one.new, one.at, one.old)),
    )
    work = tuple(dict.fromkeys((*own.lowered.work, *called.potential.work, *called.rest.work)))
    return Lowered(body, (*own.lowered.normals, Array(drawn, (2,))), work), Ref(probability)


def _decide(probability: Ref, drawn: str) -> Statement:
    """Return what sets ACCEPT with probability min(1, exp(LOG_RATIO)), by two normals; the probability is kept."""
    return Invoke("_accepted", (Ref(LOG_RATIO), Ref(drawn, (0,)), Ref(drawn, (1,))), (Ref(ACCEPT), probability))


def _drawn(move: Draw, own: LoweredDraw, program: Program) -> Lowered:
    """Return the call that draws a block by its law."""
    room = () if move.new in program.left.values() else (_array(move.new, move.block.shape),)
    call = invoke(own.procedure, {move.block.name: move.old})
    _, *told = own.procedure.outputs
    return Lowered((call,), own.normals, (*own.procedure.work, *room, *told))


def invoke(procedure: Procedure, actual: Mapping[str, Argument], targets: tuple[str, ...] = ()) -> Invoke:
    """Return the call of a procedure, with actual names for some of its formal ones."""
    given = tuple(actual.get(name, name) for name in procedure.arguments)
    return Invoke(procedure.name, given, tuple(map(Ref, targets)))


def _array(name: str, shape: Shape) -> Array:
    return Array(name, shape.sizes or (1,))


def _trajectory(defined: Definitions, move: Trajectory, program: Program, called: Called, probability: Ref) -> Lowered:
    """Return the statements that repeat the step from the newest values on, and what is left of where it leads."""
    scaled, given = _scaled(defined, move)
    moved = tuple(value for value in move.values if value.name in program.passed_on)
    at = {value.name: value.at for value in moved}
    made = {value.name: program.passed_on[value.name] for value in moved}
    length = _length(defined, move)
    begun, ended = (), _copies(defined, [(value.end, value.at, value.shape) for value in moved if value.end])
    normals = (*called.normals, *length.normals)
    if move.metropolis and called.potential is not None and called.rest is not None:
        drawn, first, last = defined.named(("noise_accept", "rest_start", "rest_at"))
        begun = (invoke(called.rest, {value.name: value.start for value in moved}, (first,)),)
        returned = _returned(defined, move, program, called, given)
        ended = _accepted(defined, move, program, called, (drawn, first, last), probability, returned)
        normals += (Array(drawn, (2,)),)
    there = _kicked(defined, move, at | given, program, "a kick before the first step", taken_back=False)
    back = _kicked(defined, move, at | given, program, "and taken back after the last", taken_back=True)
    body = (
        *length.body,
        *scaled,
        *_evaluated_anew(move, program, called),
        *begun,
        *_copies(defined, [(value.at, value.start, value.shape) for value in moved]),
        *there,
        Repeat(
            move.least if move.least == move.most else LENGTH,
            (*_stepped(called, at | given), *_copies(defined, [(v.at, made[v.name], v.shape) for v in moved])),
        ),
        *back,
        *ended,
    )
    room = {value.end for value in move.values if value.end} - {*program.left.values()}
    names = [(name, v.shape) for v in moved for name in (v.at, made[v.name], v.back, *({v.end} & room)) if name]
    names += [(value.start, value.shape) for value in move.values if not value.end]
    names += [(value.end, value.shape) for value in move.values if value not in moved and value.end in room]
    work = (*(_array(name, shape) for name, shape in names), *(array for own in called.every for array in own.work))
    work += (Array(HEAT, (1,)),) if program.heats else ()
    return Lowered(body, normals, work)


def _scaled(defined: Definitions, move: Trajectory) -> tuple[tuple[Statement, ...], dict[str, str]]:
    """Return what sets the step size of a move where it has its own, and what the step is given in whose place."""
    if move.scale == 1:
        return (), dict(move.given)
    name = defined.naming("eps_scaled")
    return (Assign(Ref(name), Times((Constant(move.scale), Ref(EPS)))),), {**dict(move.given), EPS: name}


def _kicked(
    defined: Definitions, move: Trajectory, at: Mapping[str, str], program: Program, says: str, *, taken_back: bool
) -> tuple[Statement, ...]:
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


def _stepped(called: Called, actual: Mapping[str, str]) -> tuple[Statement, ...]:
    return () if called.step is None else (invoke(called.step, actual),)


def _evaluated_anew(move: Trajectory, program: Program, called: Called) -> tuple[Statement, ...]:
    """Return the calls of the gradient and U where a trajectory starts, if those known are of another state."""
    if not move.anew:
        return ()
    start = {value.name: value.start for value in move.values}
    U = next(
        (
            v
            for v in move.values
            if program.cycle and program.cycle.potential and v.name == program.cycle.potential.name
        ),
        None,
    )
    gradient = () if called.gradient is None else (invoke(called.gradient, start),)
    if U is None or called.potential is None:
        return gradient
    return (*gradient, invoke(called.potential, start, (U.at,)), Assign(Ref(U.start, (0,)), Ref(U.at)))


def naming(defined: Definitions, wanted: str) -> str:
    """Return `wanted` or a name like it that is free, now taken."""
    return defined.naming(wanted)


def _length(defined: Definitions, move: Trajectory) -> Lowered:
    """Return what draws how long a trajectory is; nothing where that is a number."""
    if move.least == move.most:
        return Lowered((), (), ())
    drawn = defined.naming("noise_length")
    ends = Literal(str(move.least)), Literal(str(move.most))
    body = (
        Comment(f"length: uniform({move.least}, {move.most})"),
        Invoke("_uniform_integer", (*ends, Ref(drawn, (0,)), Ref(drawn, (1,))), (Ref(LENGTH),)),
    )
    return Lowered(body, (Array(drawn, (2,)),), ())


def _accepted(
    defined: Definitions,
    move: Trajectory,
    program: Program,
    called: Called,
    names: tuple[str, str, str],
    probability: Ref,
    returned: tuple[Statement, ...],
) -> tuple[Statement, ...]:
    """Return the statements that take the end of a trajectory with probability min(1, exp(H - H')), or its start."""
    drawn, first, last = names
    if program.cycle is None or program.cycle.potential is None or called.potential is None or called.rest is None:
        return ()
    U = next(value for value in move.values if value.name == program.cycle.potential.name)
    at = {value.name: value.at for value in move.values}
    before, after = (Ref(U.start, (0,)), Ref(first)), (Ref(U.at), Ref(last))
    differences = (before[0], Times((MINUS, after[0])), before[1], Times((MINUS, after[1])))
    differences += (Ref(HEAT, (0,)),) if program.heats else ()
    ends = ((v, v.name in move.flip) for v in move.values if v != U and v.end)
    chosen = (s for v, turned in ends for s in _chosen(defined, v.shape, v.end, v.at, v.start, turned=turned))
    return (
        invoke(called.potential, at, (U.at,)),
        invoke(called.rest, at, (last,)),
        Comment(f"accept with probability min(1, exp(H - H'{' + heat' if program.heats else ''})), else turn round"),
        Assign(Ref(LOG_RATIO), Plus(differences)),
        *returned,
        _decide(probability, drawn),
        *chosen,
        *((_choice(Ref(U.end, (0,)), Ref(U.at), Ref(U.start, (0,))),) if U.end else ()),
    )


def _returned(
    defined: Definitions, move: Trajectory, program: Program, called: Called, given: Mapping[str, str]
) -> tuple[Statement, ...]:
    """Return the statements that refuse a trajectory which, turned round at its end, does not lead to its start.

    Nothing where no step is solved for by iteration. Of every block the differences are added up, and compared with
    the size of the block at both ends: what is not a number is refused.
    """
    if not move.is_solved:
        return ()
    moved = tuple(value for value in move.values if value.back)
    gap, extent, led, *counts = defined.named(("gap", "extent", "led", "lost", "one_way"))
    back = {value.name: value.back for value in moved}
    body: list[Statement] = [
        Comment("and where it leads back: each step was solved for"),
        Assign(Ref(led), Ref(LOG_RATIO)),
        *(s for v in moved for s in _written(defined, v.back, v.at, v.shape, turned=v.name in move.flip)),
        Repeat(
            move.least if move.least == move.most else LENGTH,
            (
                *_stepped(called, back | dict(given)),
                *_copies(defined, [(v.back, program.passed_on[v.name], v.shape) for v in moved]),
            ),
        ),
    ]
    blocks = {block.name for block in program.blocks}
    for value in (own for own in moved if own.name in blocks):
        loops = defined.loops(value.shape.sizes)
        at = entry_at(loops)
        start, end, returns = (Ref(name, at) for name in (value.start, value.at, value.back))
        there = returns if value.name in move.flip else Times((MINUS, returns))
        body += [
            Assign(Ref(gap), ZERO),
            Assign(Ref(extent), ZERO),
            *nested(
                loops,
                (
                    Increment(Ref(gap), Call("abs", (Plus((start, there)),))),
                    Increment(Ref(extent), Plus((Call("abs", (start,)), Call("abs", (end,))))),
                ),
            ),
            Invoke("_returned", (LOG_RATIO, gap, extent), (Ref(LOG_RATIO),)),
        ]
    body.append(Invoke("_guards", (led, LOG_RATIO), tuple(map(Ref, counts))))
    told = zip((UNSOLVED, IRREVERSIBLE), counts, strict=True)
    body += [Assign(Ref(name, (0,)), Ref(count)) for name, count in told]
    return tuple(body)


def _signed(value: Scalar, *, turned: bool) -> Scalar:
    return Times((MINUS, value)) if turned else value


def _written(defined: Definitions, new: str, old: str, shape: Shape, *, turned: bool = False) -> tuple[Statement, ...]:
    """Return the loop that writes a value into another, its sign turned or not."""
    loops = defined.loops(shape.sizes)
    at = entry_at(loops)
    return nested(loops, (Assign(Ref(new, at), _signed(Ref(old, at), turned=turned)),))


def _copies(defined: Definitions, pairs: Iterable[tuple[str, str, Shape]]) -> tuple[Statement, ...]:
    """Return the loops that write values into others: `new`, `old`, and the shape of both."""
    return tuple(statement for pair in pairs for statement in _written(defined, *pair))


def _choice(target: Ref, taken: Scalar, refused: Scalar) -> Statement:
    return Assign(target, Call("if", (Ref(ACCEPT), taken, refused)))


def _chosen(
    defined: Definitions, shape: Shape, new: str, taken: str, old: str, *, turned: bool = False
) -> tuple[Statement, ...]:
    """Return the loop that takes what is proposed, or leaves what was, its sign turned or not."""
    loops = defined.loops(shape.sizes)
    at = entry_at(loops)
    return nested(loops, (_choice(Ref(new, at), Ref(taken, at), _signed(Ref(old, at), turned=turned)),))

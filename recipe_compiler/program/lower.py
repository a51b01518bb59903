"""Program to Kernel: every tensor becomes loops, what does not change along the chain moves out of it."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction

from recipe_compiler.formula.constraints import DEFINITE, FACTORS, Constraint
from recipe_compiler.formula.declaration import Declarations
from recipe_compiler.formula.shapes import Kind
from recipe_compiler.program import program as program_
from recipe_compiler.program.combine import block_array
from recipe_compiler.program.definition import Definition, Definitions
from recipe_compiler.program.given import inputs_of, with_sizes_told
from recipe_compiler.program.kernel import Kernel, Procedure
from recipe_compiler.program.loops import Array, Assign, Body, Constant, Increment, Invoke, Plus, Ref, Statement, Times
from recipe_compiler.program.lower_cycle import (
    HEAT,
    REST,
    LoweredMoves,
    call,
    lower_cycle,
    lower_moves,
)
from recipe_compiler.program.lower_gradient import lower_gradient
from recipe_compiler.program.lower_implicit import lower_implicit
from recipe_compiler.program.lower_noise import lower_noise
from recipe_compiler.program.lower_shift import add_noise, lower_shift
from recipe_compiler.program.lowered_noise import CLIPPED, LoweredNoise, assemble, length
from recipe_compiler.program.program import EPS, Cycle, Evaluate, Heat, Noise, Program, Propagator, Shift
from recipe_compiler.program.traverse import names_in, targets
from recipe_compiler.tensor.calculus import calculus

GRADIENT = "gradient"
"""What a call of the gradient is written as until its arguments are known."""
SYMMETRIC_KINDS = frozenset({Kind.SYMMETRIC, Kind.PSD, Kind.PD, Kind.DIAGONAL})


def lower(program: Program) -> Kernel:
    """Return the procedures of a program: `prepare`, the gradient, `step`, and those of a cycle.

    Raises:
        ModelError: what no loop can compute, such as the inverse of a general matrix that depends on the state.
    """
    first = next((k for k, s in enumerate(program.statements) if not isinstance(s, Noise)), len(program.statements))
    defined, lowered = started(program), _Lowered()
    lowered.add(defined, program, program.statements[:first])
    defined.forget()
    gradient = None if program.gradient is None else lower_gradient(defined, program.gradient)
    defined.forget()
    defined.ahead = True
    lowered.add(defined, program, program.statements[first:])
    defined.forget()
    moves = lower_moves(defined, program)
    own = gradient.body if gradient else ()
    prepare = prepared(program, defined, names_in((*lowered.body, *own)) | moves.read)
    every = readable(program, prepare.outputs)
    if gradient is not None:
        gradient = replace(gradient, inputs=inputs_of(gradient, every, program))
        lowered.link(GRADIENT, gradient)
    moves = moves.reading(every, program)
    if program.heats and moves.rest is not None:
        lowered.link(REST, moves.rest)
        lowered.local += moves.rest.work
    step = _step(program, gradient, lowered, prepare.outputs)
    own = gradient if program.gradient and not program.gradient.code else None
    kernel = Kernel(prepare, own, step, lowered.normals)
    return kernel if program.cycle is None else _with_cycle(kernel, program, program.cycle, moves, defined)


def _with_cycle(kernel: Kernel, program: Program, cycle: Cycle, moves: LoweredMoves, defined: Definitions) -> Kernel:
    """Return a kernel with the procedures of a cycle; its step is that of the word, else the cycle."""
    first = cycle.trajectory
    every = (*readable(program, kernel.prepare.outputs), *(moves.sums.outputs if moves.sums else ()))
    anew = kernel.gradient if first and first.anew and program.carried else None
    moves = replace(moves, step=kernel.step if first else None, gradient=anew, normals=kernel.noises)
    defined.forget()
    made, normals = lower_cycle(defined, program, moves, every)
    draws = tuple(own.procedure for own in moves.draws.values())
    kernel = replace(kernel, sums=moves.sums, potential=moves.potential, rest=moves.rest, draws=draws, noises=normals)
    return replace(kernel, cycle=made) if first else replace(kernel, gradient=None, step=made)


@dataclass(slots=True)
class _Lowered:
    """What the statements of a program became so far."""

    body: list[Statement] = field(default_factory=list[Statement])
    noises: dict[str, LoweredNoise] = field(default_factory=dict[str, LoweredNoise])
    """By the names of the draws."""
    local: list[Array] = field(default_factory=list[Array])
    """Arrays that a step computes for itself."""

    @property
    def normals(self) -> tuple[Array, ...]:
        """The standard normals that a step takes."""
        return tuple(array for noise in self.noises.values() for array in noise.normals)

    def add(self, defined: Definitions, program: Program, statements: Iterable[program_.Statement]) -> None:
        """Add what statements become: what they need computed first, then their loops."""
        for statement in statements:
            emitted = len(defined.changing)
            body: Body = ()
            match statement:
                case Evaluate(at, new, draw) if program.gradient is not None:
                    body = (Invoke(GRADIENT, ((program.gradient.block.name, program.gradient.name), (at, new))),)
                    if draw:
                        body += add_noise(defined, program.gradient.block, new, self.noises[draw])
                case Heat(before, after):
                    first, last = map(Ref, defined.named(("rest_before", "rest_after")))
                    blocks = tuple(block.name for block in program.blocks)
                    calls = Invoke(REST, (blocks, before), (first,)), Invoke(REST, (blocks, after), (last,))
                    gained = Plus((last, Times((Constant(Fraction(-1)), first))))
                    store = Assign if statement == program.heats[0] else Increment
                    body = (*calls, store(Ref(HEAT, (0,)), gained))
                case Propagator():
                    _propagated(defined, statement)
                case Noise(name):
                    self.noises[name] = lower_noise(defined, statement, program.parameters)
                case Shift(implicit=True):
                    body, own = lower_implicit(defined, statement, keeps=_is_refused(program))
                    self.local += own
                case Shift():
                    noise = self.noises.get(statement.noise)
                    body = lower_shift(defined, statement, noise, gathered=_waits(program))
            before, arrays = defined.computed(emitted)
            self.body += (*before, *body)
            self.local += arrays

    def link(self, name: str, procedure: Procedure) -> None:
        """Fill in the arguments of the calls of a procedure, now that they are known.

        Until then each says what stands for what the procedure calls otherwise.
        """
        for place, one in enumerate(self.body):
            if isinstance(one, Invoke) and one.procedure == name:
                (filled,) = call(procedure, dict(zip(*one.arguments, strict=True)))
                self.body[place] = replace(filled, targets=one.targets)


def _is_refused(program: Program) -> bool:
    """Whether a state with an entry that is not a number is never taken: by trajectories that are accepted by H."""
    moves = program.cycle.trajectories if program.cycle else ()
    return bool(moves) and all(move.metropolis for move in moves)


def _propagated(defined: Definitions, propagator: Propagator) -> None:
    """Define F and 2D of a propagator, and the three matrices that follow from them."""
    F = assemble(defined, "F", propagator.blocks, propagator.F)
    two_D = assemble(defined, "two_D", propagator.blocks, propagator.two_D)
    made = (propagator.change, propagator.integral, propagator.covariance)
    targets = tuple(tuple(tuple(map(Ref, row)) for row in matrix) for matrix in made)
    body = (Invoke("_propagator", (F, two_D, Constant(propagator.share), Ref(EPS)), targets),)
    for name, (row, col) in propagator.arrays.items():
        defined.having(Array(name, (length(row), length(col))), body, constant=True)
        body = ()


def started(program: Program) -> Definitions:
    """Return the definitions at the start of a program: what is constant, symmetric, and which names are taken."""
    symmetric = frozenset(p.name for p in program.parameters if SYMMETRIC_KINDS & set(p.kinds))
    constants = frozenset(p.name for p in program.parameters)
    named = {item.name for group in (program.parameters, program.data, program.blocks) for item in group}
    shapes = [item.shape for group in (program.parameters, program.data, program.blocks) for item in group]
    sizes = {size for shape in shapes for size in shape.sizes if isinstance(size, str)}
    sizes |= {datum.size for datum in program.data if isinstance(datum.size, str)} | {size for size, _ in program.heads}
    taken = named | sizes | {shift.new for shift in program.shifts} | {EPS, "batch", "row", "clipped", "total"}
    gradient = program.gradient
    taken |= {name for propagator in program.propagators for name in propagator.arrays}
    taken |= program.cycle.names if program.cycle else set()
    taken |= {part.block.name for part in gradient.parts} if gradient else set()
    taken |= gradient.recursion.names if gradient and gradient.recursion else frozenset()
    values = {gradient.name, *(e.new for e in program.evaluations)} if gradient else set[str]()
    trajectory = program.cycle.trajectory if program.cycle else None
    values |= {value.at for value in trajectory.values if value.name in values} if trajectory else set()
    single = frozenset(values) if gradient and not gradient.block.shape.sizes else frozenset[str]()
    fields = {datum.name: datum.shape.sizes[0] for datum in program.data if datum.is_index}
    varied = program.cycle.varied if program.cycle else frozenset[str]()
    triangles, definite = (frozenset(_of_sets(program, sets)) for sets in (FACTORS, DEFINITE))
    return Definitions(
        (constants | {EPS}) - varied, symmetric, frozenset(taken | values), singletons=single, triangles=triangles,
        definite=definite, solves=any(shift.implicit for shift in program.shifts),
        calculus=calculus(Declarations((), program.parameters)), fields=fields,
    )  # fmt: skip


def _of_sets(program: Program, sets: frozenset[Constraint]) -> Iterator[str]:
    """Yield the blocks of the target that lie in one of some sets."""
    own = [part.block for part in program.gradient.parts] if program.gradient else []
    potentials = (
        program.cycle.potential if program.cycle else None,
        program.energies.potential if program.energies else None,
    )
    own += [block for potential in potentials if potential is not None for block, _ in potential.places]
    yield from (block.name for block in own if block.constraint in sets)


def readable(program: Program, constants: tuple[Array, ...], *, at_state: bool = False) -> tuple[Array, ...]:
    """Return all that the procedures of a step may read, in the order of the module's arguments.

    What tells of a state (`at_state`) reads all data, and no batch of them.
    """
    blocks = tuple(block_array(block.name, block.shape) for block in program.blocks)
    parameters = tuple(Array(p.name, p.shape.sizes) for p in program.parameters)
    data = tuple(Array(d.name, d.axes) for d in program.data)
    batch = (Array("batch", ("batch_size",)),) if program.variant == "minibatch" and not at_state else ()
    rest = (Array(program.rest),) if program.rest else ()
    return (*blocks, *parameters, *constants, *data, *batch, *rest)


def _waits(program: Program) -> bool:
    """Whether shifts wait for each other: a block has several, and each multiplication on the way delays the next.

    Those of a word that is repeated with its kicks joined do, though each block has one. Not where moves have step
    sizes of their own: `prepare` knows one.
    """
    cycle = program.cycle
    if cycle is not None and EPS in cycle.varied:
        return False
    joined = cycle is not None and cycle.trajectory is not None and cycle.trajectory.kick
    return len(program.shifts) > len(program.blocks) or bool(joined)


def _work(program: Program, gradient: Procedure | None, lowered: _Lowered) -> tuple[Array, ...]:
    """Return the arrays that a step fills for itself: gradients, values passed on the way, intermediates."""
    own: tuple[Array, ...] = ()
    if gradient is not None:
        kept = program.passed_on.get(gradient.outputs[0].name)
        values = [e.new for e in program.evaluations if e.new != kept] or ([] if kept else [gradient.outputs[0].name])
        own = (*(replace(gradient.outputs[0], name=name) for name in values), *gradient.work)
    clipped = (Array(CLIPPED, (1,)),) if any(noise.clips for noise in lowered.noises.values()) else ()
    last = {program.newest(block) for block in program.blocks}
    passed = (block_array(shift.new, shift.block.shape) for shift in program.shifts if shift.new not in last)
    return (*own, *clipped, *passed, *lowered.local)


def _step(program: Program, gradient: Procedure | None, lowered: _Lowered, constants: tuple[Array, ...]) -> Procedure:
    state = tuple(block_array(block.name, block.shape) for block in program.blocks)
    outputs = tuple(replace(own, name=program.passed_on[own.name]) for own in state)
    trajectory = program.cycle.trajectory if program.cycle else None
    joined = trajectory is not None and trajectory.kick is not None
    if program.gradient is not None and program.carried:
        carried = block_array(program.gradient.name, program.gradient.block.shape)
        outputs += (replace(carried, name=program.passed_on[carried.name]),)
        # of joined kicks the trajectory makes the one that reads the gradient at the start
        state += () if joined else (carried,)
    code = (Array("gradient"),) if program.gradient and program.gradient.code else ()
    what = "one step of the word" if program.cycle else f"one step ({program.scheme.replace('_', ' ')})"
    what += ", its first kick joined to the last" if joined else ""
    says = (f"{what}: {', '.join(a.name for a in outputs)}; draw nothing.",)
    body, work = tuple(lowered.body), _work(program, gradient, lowered)
    others = readable(program, constants)[len(program.blocks) :]
    others = with_sizes_told(others, names_in(body), body, (*outputs, *state, *work))
    inputs = (*code, *state, *others, *lowered.normals, Array(EPS))
    outputs += (Array(HEAT, (1,)),) if program.heats else ()
    return Procedure("step", says, outputs, inputs, work, body)


STEP = "Return what stays the same along a chain: inverses of matrices, factors of the noise."


def prepared(
    program: Program, defined: Definitions, used: frozenset[str], name: str = "prepare", says: str = STEP
) -> Procedure:
    """Return the procedure of the constants: those that a step uses, and those that these need.

    What tells of a state takes no step size.
    """
    needed: list[Definition] = []
    wanted = used
    for definition in reversed(defined.fixed):
        if _computes(definition, wanted):
            needed.append(definition)
            wanted |= names_in(definition.body)
    needed.reverse()
    outputs = tuple(d.array for d in needed if d.array.name in used)
    eps = (Array(EPS),) if says == STEP else ()
    inputs = (*(Array(p.name, p.shape.sizes) for p in program.parameters), *eps)
    work = tuple(d.array for d in needed if d.array.name not in used)
    body = tuple(statement for definition in needed for statement in definition.body)
    return Procedure(name, (says,), outputs, inputs, work, body)


def _computes(definition: Definition, wanted: frozenset[str]) -> bool:
    """Whether a definition computes a wanted array; arrays of one statement are computed by the first of them."""
    made = (ref.name for ref in targets(s for s in definition.body[-1:] if isinstance(s, Invoke)))
    return definition.array.name in wanted or not wanted.isdisjoint(made)

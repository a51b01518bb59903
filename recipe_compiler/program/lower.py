"""Program to Kernel: every tensor becomes loops, what does not change along the chain moves out of it."""

from collections.abc import Iterable
from dataclasses import replace

from recipe_compiler.errors import CompilerError
from recipe_compiler.formula.shapes import Kind, Shape
from recipe_compiler.program.atoms import names_of
from recipe_compiler.program.combine import nested, plus
from recipe_compiler.program.contraction import scalar
from recipe_compiler.program.definition import Definition, Definitions, each
from recipe_compiler.program.kernel import Kernel, Procedure
from recipe_compiler.program.loops import (
    Array,
    Assign,
    Comment,
    Factor,
    Invoke,
    Ref,
    Scalar,
    Statement,
    Times,
    names_in,
)
from recipe_compiler.program.lower_gradient import lower_gradient
from recipe_compiler.program.lower_noise import lower_noise
from recipe_compiler.program.lowered_noise import CLIPPED, LoweredNoise
from recipe_compiler.program.program import Program, Update
from recipe_compiler.tensor.show import text

SYMMETRIC_KINDS = frozenset({Kind.SYMMETRIC, Kind.PSD, Kind.PD, Kind.DIAGONAL})


def lower(program: Program) -> Kernel:
    """Return the procedures of a program: `prepare`, the gradient, `step`."""
    noises, defined = each(
        lambda known, noise: lower_noise(known, noise, program.parameters), started(program), program.noises
    )
    prelude, defined = defined.changing, defined.forgetting()
    gradient = None
    if program.gradient is not None:
        gradient, defined = lower_gradient(defined, program.gradient, ())
    updates, defined = _updates(defined.forgetting(), program, gradient, noises)
    body = (*_bodies(prelude), *updates)
    local = (*prelude, *defined.changing)
    used = names_in(body) | (names_in(gradient.body) if gradient else frozenset[str]())
    prepare = prepared(program, defined, used)
    if gradient is not None:
        readable = _readable(program, prepare.outputs)
        read = (
            frozenset(program.gradient.given)
            if program.gradient and program.gradient.code
            else read_by(gradient.body, program)
        )
        gradient = replace(gradient, inputs=_used(readable, read))
        body = _with_call(body, gradient, program)
    work = (*_work(gradient, noises), *(d.array for d in local if d.array.sizes))
    step = _step(program, noises, work, body, prepare.outputs)
    own = gradient if program.gradient and not program.gradient.code else None
    return Kernel(prepare, own, step, tuple(array for noise in noises for array in noise.normals))


def block_array(name: str, shape: Shape) -> Array:
    """Return the array of a block of the state: a scalar block is an array of length one."""
    return Array(name, shape.sizes or (1,))


def started(program: Program) -> Definitions:
    """Return the definitions of a program before any: what is constant, symmetric, and which names are taken."""
    symmetric = frozenset(p.name for p in program.parameters if SYMMETRIC_KINDS & set(p.kinds))
    constants = frozenset(p.name for p in program.parameters)
    named = {item.name for group in (program.parameters, program.data, program.blocks) for item in group}
    shapes = [item.shape for group in (program.parameters, program.data, program.blocks) for item in group]
    sizes = {size for shape in shapes for size in shape.sizes if isinstance(size, str)}
    sizes |= {datum.size for datum in program.data if isinstance(datum.size, str)}
    taken = named | sizes | {update.new for update in program.updates} | {"eps", "batch", "row", "clipped", "total"}
    gradient = program.gradient
    taken |= {part.block.name for part in gradient.parts} if gradient else set()
    single = frozenset({gradient.name}) if gradient and not gradient.block.shape.sizes else frozenset[str]()
    taken |= {gradient.name} if gradient else set()
    return Definitions(constants, symmetric, frozenset(taken), singletons=single)


def _readable(program: Program, constants: tuple[Array, ...]) -> tuple[Array, ...]:
    """Return all that the procedures of a step may read, in the order of the module's arguments."""
    blocks = tuple(block_array(block.name, block.shape) for block in program.blocks)
    parameters = tuple(Array(p.name, p.shape.sizes) for p in program.parameters)
    data = tuple(Array(d.name, (d.size, *d.shape.sizes)) for d in program.data)
    batch = (Array("batch", ("batch_size",)),) if program.variant == "minibatch" else ()
    return (*blocks, *parameters, *constants, *data, *batch)


def _used(readable: tuple[Array, ...], used: frozenset[str]) -> tuple[Array, ...]:
    return tuple(array for array in readable if array.name in used)


def read_by(body: tuple[Statement, ...], program: Program) -> frozenset[str]:
    """Return the names that a gradient reads; one field of the data at least, off which their number is read."""
    names = names_in(body)
    fields = [datum.name for datum in program.data]
    return names if not fields or not names.isdisjoint(fields) else names | {fields[0]}


def _bodies(definitions: Iterable[Definition]) -> tuple[Statement, ...]:
    return tuple(statement for definition in definitions for statement in definition.body)


def _updates(
    defined: Definitions, program: Program, gradient: Procedure | None, noises: tuple[LoweredNoise, ...]
) -> tuple[tuple[Statement, ...], Definitions]:
    body: tuple[Statement, ...] = ()
    name = None if program.gradient is None else program.gradient.name
    called = gradient is None
    for update in program.updates:
        emitted = len(defined.changing)
        loop, defined = _update(defined, update, noises)
        if not called and gradient is not None and name in names_of(update.drift):
            body += (Invoke(gradient.name, ()),)
            called = True
        body += (*_bodies(defined.changing[emitted:]), *loop)
    return body, defined


def _update(
    defined: Definitions, update: Update, noises: tuple[LoweredNoise, ...]
) -> tuple[tuple[Statement, ...], Definitions]:
    loops = defined.loops(update.block.shape.sizes)
    scope = tuple(index for index, _ in loops)
    at = tuple(variable for _, variable in loops)
    drift, defined = scalar(defined, update.drift, scope, dict(loops))
    parts: list[Scalar] = [Ref(update.block.name, at or (0,)), Times((Ref("eps"), drift))]
    inside: tuple[Statement, ...] = ()
    words = ""
    for noise in noises:
        parts += [increment for name, increment in noise.increments if name == update.block.name]
        inside += tuple(s for name, body in noise.inside if name == update.block.name for s in body)
        words = " + noise" if any(name == update.block.name for name, _ in noise.increments) else words
    place = "[i]" if at else ""
    says = Comment(f"{update.new}{place} = {update.block.name}{place} + eps*({text(update.drift)}){words}")
    store = Assign(Ref(update.new, at or (0,)), plus(tuple(parts)))
    return (says, *nested(loops, (*inside, store))), defined


def _with_call(body: tuple[Statement, ...], gradient: Procedure, program: Program) -> tuple[Statement, ...]:
    """Fill in the arguments of the call of the gradient, now that they are known."""
    if program.gradient is None:
        raise CompilerError("a gradient procedure without a gradient")
    actual = {program.gradient.block.name: program.gradient.at}
    names = (*gradient.outputs, *gradient.inputs, *gradient.work)
    arguments = tuple(actual.get(array.name, array.name) for array in names)
    return tuple(
        Invoke(s.procedure, arguments) if isinstance(s, Invoke) and s.procedure == gradient.name else s for s in body
    )


def _work(gradient: Procedure | None, noises: tuple[LoweredNoise, ...]) -> tuple[Array, ...]:
    own = (*gradient.outputs, *gradient.work) if gradient else ()
    clipped = (Array(CLIPPED, (1,)),) if any(noise.clips for noise in noises) else ()
    return (*own, *clipped)


def _step(
    program: Program,
    noises: tuple[LoweredNoise, ...],
    work: tuple[Array, ...],
    body: tuple[Statement, ...],
    constants: tuple[Array, ...],
) -> Procedure:
    outputs = tuple(block_array(u.new, u.block.shape) for b in program.blocks for u in program.updates if u.block == b)
    used = names_in(body)
    blocks = tuple(block_array(block.name, block.shape) for block in program.blocks)
    others = _used(_readable(program, constants)[len(blocks) :], used)
    normals = tuple(array for noise in noises for array in noise.normals)
    code = (Array("gradient"),) if program.gradient and program.gradient.code else ()
    inputs = (*code, *blocks, *others, *normals, Array("eps"))
    says = (f"one step ({program.scheme.replace('_', ' ')}): {', '.join(a.name for a in outputs)}; draw nothing.",)
    return Procedure("step", says, outputs, inputs, work, body)


def prepared(program: Program, defined: Definitions, used: frozenset[str]) -> Procedure:
    """Return the procedure of the constants: those used by a step, and what they need."""
    needed: list[Definition] = []
    wanted = used
    for definition in reversed(defined.fixed):
        if _computes(definition, wanted):
            needed.append(definition)
            wanted |= names_in(definition.body)
    needed.reverse()
    outputs = tuple(d.array for d in needed if d.array.name in used)
    inputs = (*(Array(p.name, p.shape.sizes) for p in program.parameters), Array("eps"))
    work = tuple(d.array for d in needed if d.array.name not in used)
    says = ("Return what stays the same along a chain: inverses of matrices, factors of the noise.",)
    return Procedure("prepare", says, outputs, inputs, work, _bodies(needed))


def _computes(definition: Definition, wanted: frozenset[str]) -> bool:
    """Whether a definition computes a wanted array; the factors of one draw are computed by the first of them."""
    factor = definition.body[-1] if definition.body else None
    return definition.array.name in wanted or (isinstance(factor, Factor) and bool(set(factor.targets) & wanted))

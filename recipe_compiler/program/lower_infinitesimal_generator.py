"""Lowering of the generator: L phi of every polynomial phi at one state, after the gradient of all data there."""

from dataclasses import dataclass, replace

from recipe_compiler.program.atoms import names_of
from recipe_compiler.program.combine import nested
from recipe_compiler.program.contraction import Contraction
from recipe_compiler.program.kernel import Procedure
from recipe_compiler.program.loops import Array, Assign, Comment, Invoke, Ref, Statement, names_in
from recipe_compiler.program.lower import block_array, prepared, read_by, started
from recipe_compiler.program.lower_gradient import lower_gradient
from recipe_compiler.program.program import Moment, Program
from recipe_compiler.program.split_long_lines import shorten
from recipe_compiler.tensor.show import text


@dataclass(frozen=True, slots=True)
class LoweredInfinitesimalGenerator:
    """The generator as loops. Its procedures return their outputs, and hold their work arrays themselves."""

    prepare: Procedure
    """What stays the same along the chain; it has no outputs where there is nothing of the kind."""
    gradient: Procedure
    """grad U of all data, whatever the steps take."""
    generator: Procedure
    block: str
    """The block of the potential."""


def lower_infinitesimal_generator(program: Program) -> LoweredInfinitesimalGenerator | None:
    """Return the procedures of a program's generator, None where it has none."""
    stated = program.infinitesimal_generator
    if stated is None:
        return None
    contraction = started(replace(program, gradient=stated.gradient))
    contraction.taken |= {moment.name for moment in stated.moments}
    gradient = lower_gradient(stated.gradient, contraction, ())
    contraction.take_changing()
    body: tuple[Statement, ...] = ()
    emitted = 0
    for moment in stated.moments:
        loop = _moment(moment, contraction)
        body += (*(s for d in contraction.changing[emitted:] for s in d.body), *loop)
        emitted = len(contraction.changing)
    work = tuple(d.array for d in contraction.take_changing() if d.array.sizes)
    prepare = prepared(program, contraction, names_in(body) | names_in(gradient.body))
    prepare = replace(
        prepare,
        name="prepare_generator",
        inputs=tuple(array for array in prepare.inputs if array.name != "eps"),
        says=("Return what `generator` and `full_gradient` take beside the state, parameters and data.",),
    )
    given = _given(program, prepare.outputs)
    gradient = replace(gradient, name="full_gradient", inputs=_used(given, read_by(gradient.body, program)))
    if any(gradient.outputs[0].name in names_of(moment.value) for moment in stated.moments):
        names = tuple(array.name for array in gradient.inputs)
        body = (Invoke(gradient.name, names, (gradient.outputs[0].name,)), *body)
    outputs = tuple(_array(moment) for moment in stated.moments)
    says = (
        f"L phi at one state, for phi = {', '.join(moment.says for moment in stated.moments)}.",
        "L phi = f . grad phi + tr(D Hess phi) has the mean 0 over exp(-H).",
    )
    generator = Procedure("generator", says, outputs, given, work, body)
    block = stated.gradient.block.name
    return LoweredInfinitesimalGenerator(prepare, shorten(gradient), shorten(generator), block)


def _given(program: Program, constants: tuple[Array, ...]) -> tuple[Array, ...]:
    """Return what `generator` takes: the state, all parameters, their constants, all data."""
    return (
        *(block_array(block.name, block.shape) for block in program.blocks),
        *(Array(p.name, p.shape.sizes) for p in program.parameters),
        *constants,
        *(Array(d.name, (d.size, *d.shape.sizes)) for d in program.data),
    )


def _used(given: tuple[Array, ...], used: frozenset[str]) -> tuple[Array, ...]:
    return tuple(array for array in given if array.name in used)


def _array(moment: Moment) -> Array:
    return Array(moment.name, tuple(index.size for index in moment.phi.free) or (1,))


def _moment(moment: Moment, contraction: Contraction) -> tuple[Statement, ...]:
    loops = contraction.loops(tuple(index.size for index in moment.phi.free))
    at = tuple(variable for _, variable in loops)
    value = contraction.scalar(moment.value, tuple(index for index, _ in loops), dict(loops))
    says = Comment(f"L({moment.says}) = {text(moment.value)}")
    return (says, *nested(loops, (Assign(Ref(moment.name, at or (0,)), value),)))

"""Lowering of the infinitesimal generator: L phi of every polynomial phi at one state, and the gradient there."""

from dataclasses import dataclass, replace
from functools import lru_cache

from recipe_compiler.program.atoms import names_of
from recipe_compiler.program.contraction import filled
from recipe_compiler.program.definition import Definitions
from recipe_compiler.program.given import inputs_of
from recipe_compiler.program.kernel import Procedure
from recipe_compiler.program.loops import Array, Comment, Invoke, Ref, Statement
from recipe_compiler.program.lower import prepared, readable, started
from recipe_compiler.program.lower_gradient import lower_gradient
from recipe_compiler.program.program import Moment, Program
from recipe_compiler.program.split_long_lines import shorten
from recipe_compiler.program.traverse import names_in
from recipe_compiler.tensor.show import text

LOWERED = 4
"""Programs of which what tells of draws is kept as it was lowered."""


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


@lru_cache(maxsize=LOWERED)
def lower_infinitesimal_generator(program: Program) -> LoweredInfinitesimalGenerator | None:
    """Return the procedures of a program's generator, None where it has none.

    Of the last programs they are kept: a text is made of them, and read back by them at every point.
    """
    stated = program.infinitesimal_generator
    if stated is None:
        return None
    defined = started(replace(program, gradient=stated.gradient))
    defined.taken |= {moment.name for moment in stated.moments}
    gradient = lower_gradient(defined, stated.gradient)
    defined.forget()
    body: tuple[Statement, ...] = ()
    for moment in stated.moments:
        emitted = len(defined.changing)
        loop = _moment(defined, moment)
        body += (*defined.computed(emitted)[0], *loop)
    work = defined.computed()[1]
    says = "Return what `generator` and `full_gradient` take beside the state, parameters and data."
    used = names_in((*body, *gradient.body))
    prepare = prepared(program, defined, used, "prepare_generator", says)
    given = readable(program, prepare.outputs, at_state=True)
    gradient = replace(gradient, name="full_gradient", inputs=inputs_of(gradient, given, program))
    read = frozenset[str]().union(*(names_of(moment.value) for moment in stated.moments))
    for block, name in reversed([*stated.gradient.places.items()]):
        if name in read:
            names = (block if array.name == stated.gradient.block.name else array.name for array in gradient.inputs)
            body = (Invoke(gradient.name, tuple(names), (Ref(name),)), *body)
    outputs = tuple(
        Array(moment.name, tuple(index.size for index in moment.phi.free) or (1,)) for moment in stated.moments
    )
    says = (
        f"L phi at one state, for phi = {', '.join(moment.says for moment in stated.moments)}.",
        "L phi = f . grad phi + tr(D Hess phi) has the mean 0 over exp(-H).",
    )
    generator = Procedure("generator", says, outputs, given, work, body)
    block = stated.gradient.block.name
    return LoweredInfinitesimalGenerator(prepare, shorten(gradient), shorten(generator), block)


def _moment(defined: Definitions, moment: Moment) -> tuple[Statement, ...]:
    loops = defined.loops(tuple(index.size for index in moment.phi.free))
    says = Comment(f"L({moment.says}) = {text(moment.value)}")
    return (says, *filled(defined, moment.name, moment.value, loops))

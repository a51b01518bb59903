"""Dynamics inferred for a step without a document: which arguments are the state, and their shapes."""

from collections.abc import Sequence
from fractions import Fraction

from recipe_compiler.errors import Fault, ModelError
from recipe_compiler.formula.declaration import Block, Declarations, Function, Parameter
from recipe_compiler.formula.expression import Number
from recipe_compiler.formula.shapes import SCALAR, Shape
from recipe_compiler.lint.bind_arguments import GENERATORS, STEP_SIZES, Binding, bind_arguments
from recipe_compiler.lint.source import Source
from recipe_compiler.spec.model import Dynamics
from recipe_compiler.verdict import Evidence

SHAPES = {"scalar": SCALAR, "vector": Shape("d"), "matrix": Shape("d", "d")}


def bind_to_dynamics(source: Source, against: Dynamics | None, maps: Sequence[tuple[str, str]]) -> Binding:
    """Return what to call a step with, to be judged by dynamics or, without any, to be read alone.

    Raises:
        ModelError: an argument whose name says nothing, a block that no argument holds, a map that means nothing.
    """
    dynamics, left = (against, tuple(maps)) if against is not None else infer_dynamics(source, maps)
    return bind_arguments(source, dynamics, left)


def infer_dynamics(source: Source, maps: Sequence[tuple[str, str]]) -> tuple[Dynamics, Evidence]:
    """Return dynamics without equations for a step, and the maps that are left.

    The state is what the step returns or changes: as many of its first arguments. They are vectors of one size unless
    `--map` says otherwise; other arguments without default are scalars, `grad_...` vector functions of the first block.

    Raises:
        ModelError: no argument is the state.
    """
    shapes = {name: SHAPES[what] for name, what in maps if what in SHAPES}
    left = tuple((name, what) for name, what in maps if what not in SHAPES)
    named = dict(left)
    free = [
        argument.name
        for argument in source.arguments
        if argument.name not in (*STEP_SIZES, *GENERATORS) and argument.name not in named
        if not argument.has_default or argument.name in shapes
    ]
    values = [name for name in free if not _has_gradient_name(name)]
    state = [n for n in values if n in source.changed] if source.returned is None else values[: source.returned]
    if not state:
        hint = "its first arguments are the state; it returns as many values, or changes them in place"
        if left:
            hint += "; without --against, --map says of one that it is a scalar, vector or matrix"
        problem = "found no argument that the step changes, expected the state"
        raise ModelError([Fault(source.place(source.line), source.step, problem, hint)])
    blocks = tuple(Block(name, shapes.get(name, Shape("d"))) for name in state)
    parameters = tuple(Parameter(name, shapes.get(name, SCALAR)) for name in values if name not in state)
    functions = tuple(
        Function(name, (state[0],), shapes.get(name, blocks[0].shape)) for name in free if _has_gradient_name(name)
    )
    declarations = Declarations(blocks, parameters, functions)
    return Dynamics(source.step, declarations, Number(Fraction(0)), None, None), left


def _has_gradient_name(name: str) -> bool:
    return "grad" in name or name == "score"

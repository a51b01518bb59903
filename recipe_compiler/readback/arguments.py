"""What a text has beside what is computed: the order of arguments, facts that a run reads, support code."""

import ast
from collections.abc import Iterable

from recipe_compiler.emit.module import Module
from recipe_compiler.emit.print_chain import carried
from recipe_compiler.formula.declaration import Block
from recipe_compiler.program.loops import Array
from recipe_compiler.program.lower_energies import lower_energies, lower_full_gradient
from recipe_compiler.program.program import symbolic_sizes
from recipe_compiler.readback.file_text import check_words
from recipe_compiler.readback.interpreter import arguments_of, parsed
from recipe_compiler.readback.text import require

_ARGUMENTS = {"ARGUMENTS": "run", "LANES_ARGUMENTS": "run_lanes", "FIRST_ARGUMENTS": "first_values"}
_CONSTANTS = {"CONSTANTS": "prepare", "ENERGY_CONSTANTS": "prepare_energies"}


def check_arguments(module: Module) -> None:
    """Check the order of arguments, the facts that loading reads, and that support code is that of the package.

    Functions are read by the names of their arguments, and called by position; a run pairs values with these, and with
    what `prepare` returns, by what the facts say.

    Raises:
        CompilerError: one is another; names it.
    """
    program, kernel, own = module.program, module.kernel, parsed(module.text)
    energies, gradient = lower_energies(program), lower_full_gradient(program)
    made = [kernel.prepare, *(lowered.prepare for lowered in (energies, gradient) if lowered)]
    whole = [*(energies.procedures if energies else ()), *((gradient.gradient,) if gradient else ())]
    wanted = {procedure.name: procedure.arguments for procedure in kernel.procedures}
    wanted |= {procedure.name: tuple(array.name for array in procedure.inputs) for procedure in whole}
    sizes = symbolic_sizes(program)
    wanted |= {one.name: (*(array.name for array in one.inputs), *sizes) for one in made}
    taken = {name: tuple(arguments_of(function)) for name, function in own.functions.items()}
    for name, arguments in wanted.items():
        require(taken.get(name, arguments) == arguments, f"takes the arguments of {name} in another order")
    facts: dict[str, object] = {
        "VARIANT": program.variant,
        "REPLACEMENT": program.replacement,
        "BLOCKS": _sized(program.blocks),
        "CARRIED": _sized(carried(program)),
        "SIZES": sizes,
        "PARAMETERS": tuple(parameter.name for parameter in program.parameters),
        "DATA": tuple(datum.name for datum in program.data),
        "POTENTIAL_BLOCK": program.gradient.block.name if program.gradient else "",
        **{fact: taken[name] for fact, name in _ARGUMENTS.items() if name in taken},
        **{fact: _returned(own.functions[name]) for fact, name in _CONSTANTS.items() if name in taken},
    }
    if program.rest:
        facts |= {"STEP_ARGUMENTS": kernel.chain_step.arguments, "STEP_LEAVES": tuple(program.left.items())}
    for fact, value in facts.items():
        require(own.facts.get(fact, ()) == value, f"says something else in {fact} than its functions do")
    check_words(module.text)


def _sized(arrays: Iterable[Array | Block]) -> tuple[tuple[str, int | str], ...]:
    """Return names with lengths, 0 of a scalar."""
    shapes = ((one.name, one.sizes if isinstance(one, Array) else one.shape.sizes) for one in arrays)
    return tuple((name, sizes[0] if sizes else 0) for name, sizes in shapes)


def _returned(function: ast.FunctionDef) -> tuple[str, ...]:
    """Return the names of the values that a function returns last."""
    match function.body[-1]:
        case ast.Return(value=ast.Tuple(elts=values)):
            return tuple(map(ast.unparse, values))
        case _:
            return ()

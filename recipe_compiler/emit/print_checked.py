"""`checked_run`: `run` for a caller who is not sure, every argument looked at before anything is computed."""

from collections.abc import Iterator
from json import dumps

from recipe_compiler.emit.print_body import WIDTH, call
from recipe_compiler.emit.print_chain import kept_gradient, run_arguments
from recipe_compiler.emit.print_streams import batch_words, noise_words
from recipe_compiler.formula.declaration import Parameter
from recipe_compiler.formula.shapes import Kind, Size
from recipe_compiler.program.atoms import smallest_sizes
from recipe_compiler.program.kernel import Kernel
from recipe_compiler.program.lowered_noise import CLIPPED
from recipe_compiler.program.program import Program, symbolic_sizes

BOUNDS = {Kind.POSITIVE: "above=0", Kind.NONNEGATIVE: "least=0", Kind.NONZERO: "nonzero=True"}
"""What is asked of numbers of a kind."""


def print_checked(program: Program, kernel: Kernel) -> Iterator[str]:
    """Yield the lines of `checked_run`: the arguments of `run` but what `prepare` computes, which it calls itself."""
    given = run_arguments(program, kernel)
    made = tuple(array.name for array in kernel.prepare.outputs)
    yield from call("def checked_run", tuple(name for name in given if name not in made), 0, ":")
    yield '    """Check every argument of `run`, then call `prepare` and `run`; return how many draws were kept.'
    yield ""
    yield "    Raises TypeError, ValueError: what was found, and what was expected. Nothing has been changed then."
    yield '    """'
    yield "    sizes = {}"
    for line in _checks(program, kernel):
        yield f"    {line}"
    least = {size: n for size, n in smallest_sizes(program).items() if n > 1}
    if least:
        yield f"    _check_sizes(sizes, {dumps(least)})"
    written, read = tuple(_written(program, kernel)), tuple(_read(program))
    yield from call("    _check_apart", (dumps(read), *(f"{name}={name}" for name in (*written, *read))), 4)
    sizes = tuple(f'sizes["{size}"]' for size in symbolic_sizes(program))
    if made:
        target = f"    ({made[0]},) = prepare" if len(made) == 1 else f"    {', '.join(made)} = prepare"
        if len(target) >= WIDTH:
            yield "    ("
            yield from (f"        {name}," for name in made)
            target = "    ) = prepare"
        yield from call(target, (*(array.name for array in kernel.prepare.inputs), *sizes), 4)
    yield from call("    return run", given, 4)


def _checks(program: Program, kernel: Kernel) -> Iterator[str]:
    if program.gradient and program.gradient.code:
        yield '_check_jitted("gradient", gradient)'
    for block in program.blocks:
        yield _array(block.name, block.shape.sizes or (1,), ", written=True")
        yield f'_check_finite("{block.name}", {block.name})'
    for array in kept_gradient(program):
        yield _array(array.name, array.sizes, ", written=True")
        yield f'_check_finite("{array.name}", {array.name})'
    for datum in program.data:
        kinds = ', ("float64", "float32")'
        yield _array(datum.name, (datum.size, *datum.shape.sizes), kinds)
        yield f'_check_finite("{datum.name}", {datum.name})'
        if datum.values:
            yield f'_check_values("{datum.name}", {datum.name}, {list(datum.values)})'
    for parameter in program.parameters:
        yield from _parameter(parameter)
    yield _number("eps", "above=0")
    yield _number("thin", "whole=True, least=1")
    yield f'_check_words("noise_state", noise_state, {noise_words(program, kernel)})'
    if program.variant == "minibatch":
        rows = f"{program.data[0].name}.shape[0]"
        most = "" if program.replacement else f", most={rows}"
        yield _number("batch_size", f"whole=True, least=1{most}")
        yield f'_check_words("batch_state", batch_state, {batch_words(program)})'
        if "permutation" in run_arguments(program, kernel):
            yield f'_check_places("permutation", permutation, {rows})'
    if CLIPPED in run_arguments(program, kernel):
        yield _array(CLIPPED, (1,), ", written=True")
    for block in program.blocks:
        yield _array(f"{block.name}_draws", ("draws", *(block.shape.sizes or (1,))), ", written=True")


def _parameter(parameter: Parameter) -> Iterator[str]:
    name = parameter.name
    if parameter.shape.sizes:
        yield _array(name, parameter.shape.sizes, "")
        yield f'_check_finite("{name}", {name})'
        kinds = [kind.value for kind in parameter.kinds if kind is not Kind.REAL]
        if kinds:
            yield f'_check_kinds("{name}", {name}, {dumps(kinds)})'
        return
    yield _number(name, ", ".join(BOUNDS[kind] for kind in parameter.kinds if kind in BOUNDS))


def _number(name: str, bounds: str) -> str:
    return f'{name} = _checked_number("{name}", {name}{f", {bounds}" if bounds else ""})'


def _array(name: str, sizes: tuple[Size, ...], more: str) -> str:
    shape = ", ".join(f'"{size}"' if isinstance(size, str) else str(size) for size in sizes)
    return f'_check_array("{name}", {name}, ({shape}{"," if len(sizes) == 1 else ""}), sizes{more})'


def _written(program: Program, kernel: Kernel) -> Iterator[str]:
    yield from (block.name for block in program.blocks)
    yield from (array.name for array in kept_gradient(program))
    yield from (f"{block.name}_draws" for block in program.blocks)
    states = (("noise_state", noise_words(program, kernel)), ("batch_state", batch_words(program)))
    taken = (*(name for name, words in states if words), "permutation", CLIPPED)
    yield from (name for name in taken if name in run_arguments(program, kernel))


def _read(program: Program) -> Iterator[str]:
    yield from (datum.name for datum in program.data)
    yield from (parameter.name for parameter in program.parameters if parameter.shape.sizes)

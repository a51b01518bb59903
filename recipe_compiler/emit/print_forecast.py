"""The forecast of a chain with minibatch gradients: one step as a function of its draws, and what it makes of V."""

from collections.abc import Iterator

from recipe_compiler.emit.print_body import call
from recipe_compiler.emit.print_procedure import docstring, shape_text, size_lines
from recipe_compiler.program.atoms import noise_is_steady
from recipe_compiler.program.kernel import Kernel
from recipe_compiler.program.loops import Array
from recipe_compiler.program.lower_infinitesimal_generator import LoweredInfinitesimalGenerator
from recipe_compiler.program.program import Program


def has_forecast(program: Program, kernel: Kernel) -> bool:
    """Whether a module carries a forecast: its gradient is that of a minibatch of single rows, its D constant.

    A step that begins with the gradient of the minibatch before is no function of the state and of one minibatch. A D
    that depends on the state is balanced by friction that does too, which a linear step leaves out.
    """
    rows = any(array.name == "batch" for array in kernel.step.inputs)
    alone = not (kernel.registers or kernel.chunked or program.carried)
    return program.variant == "minibatch" and rows and alone and noise_is_steady(program)


def _given(program: Program, kernel: Kernel) -> tuple[Array, ...]:
    """Return what one step is computed from."""
    return (
        *(Array(block.name, block.shape.sizes or (1,)) for block in program.blocks),
        *(Array(parameter.name, parameter.shape.sizes) for parameter in program.parameters),
        *kernel.prepare.outputs,
        *(Array(datum.name, datum.axes) for datum in program.data),
        Array("batch", ("batch_size",)),
        *kernel.noises,
        Array("eps"),
    )


def print_one_step(program: Program, kernel: Kernel) -> Iterator[str]:
    """Yield the lines of `one_step`: plain Python around `step`."""
    step = kernel.step
    made = (*step.outputs, *step.work)
    given = _given(program, kernel)
    names = tuple(array.name for array in given)
    yield from call("def one_step", names, 0, ":")
    yield from docstring(("Return the state after one step from a batch of rows and standard normals; draw nothing.",))
    wanted = frozenset(part for array in made for size in array.sizes for part in str(size).split("+"))
    yield from size_lines((array for array in given if array.sizes), wanted)
    for array in made:
        yield f"    {array.name} = np.zeros({shape_text(array.sizes)})"
    yield from call(
        "    step", tuple(array.name for array in (*made[: len(step.outputs)], *step.inputs, *step.work)), 4
    )
    yield f"    return np.concatenate({_tuple(tuple(array.name for array in step.outputs))})"


def print_forecast(
    program: Program, kernel: Kernel, lowered: LoweredInfinitesimalGenerator, sizes: tuple[str, ...]
) -> Iterator[str]:
    """Yield the lines of `forecast`: the state z* where the mean step stands still, and covariances there.

    S = F S F.T + N for the step made linear at z*, against the inverse of Hess U.
    """
    blocks = tuple(block.name for block in program.blocks)
    parameters = tuple(parameter.name for parameter in program.parameters)
    data = tuple(datum.name for datum in program.data)
    block = lowered.block
    yield from call(
        "def forecast", (*blocks, *parameters, *data, "batch_size", "eps", *sizes, 'noise_kept="as it is"'), 0, ":"
    )
    yield from docstring(
        (
            "Return the state z* around which a chain stays, and covariances there:",
            f"of {block} under exp(-H), in a chain with exact gradients, in this chain.",
            'noise_kept: "as it is"; "subtracted", by a V known at z*; or of a gradient with "control variates" at z*.',
        )
    )
    yield from _constants(kernel.prepare.name, kernel.prepare.outputs, (*parameters, "eps", *sizes))
    yield from _constants(lowered.prepare.name, lowered.prepare.outputs, (*parameters, *sizes))
    yield from size_lines(_given(program, kernel), _needed(kernel))
    yield f"    _ends = np.cumsum([{', '.join(f'{name}.size' for name in blocks)}])"
    counts = [str(array.sizes[0]).replace("+", " + ") for array in kernel.noises]
    yield f"    _counts = np.cumsum([{', '.join(counts)}])"
    yield ""
    yield "    def after_step(_z, batch, _normals):"
    yield f"        {_all(blocks)} = np.split(_z, _ends[:-1])"
    yield f"        {_all(tuple(array.name for array in kernel.noises))} = np.split(_normals, _counts[:-1])"
    yield from call("        return one_step", tuple(array.name for array in _given(program, kernel)), 8)
    yield ""
    yield f"    def grad_at({block}):"
    yield from call("        return full_gradient", tuple(array.name for array in lowered.gradient.inputs), 8)
    yield ""
    place = blocks.index(block)
    first = "0" if place == 0 else f"_ends[{place - 1}]"
    arguments = (
        "after_step", "grad_at", f"np.concatenate({_tuple(blocks)})", f"slice({first}, _ends[{place}])", "_counts[-1]",
        f"{data[0]}.shape[0]", "batch_size", "REPLACEMENT", "noise_kept",
    )  # fmt: skip
    yield from call("    return _forecast", arguments, 4)


def _constants(function: str, outputs: tuple[Array, ...], arguments: tuple[str, ...]) -> Iterator[str]:
    if outputs:
        yield from call(f"    {_all(tuple(array.name for array in outputs))} = {function}", arguments, 4)


def _all(names: tuple[str, ...]) -> str:
    return _tuple(names) if len(names) == 1 else ", ".join(names)


def _tuple(names: tuple[str, ...]) -> str:
    return f"({', '.join(names)}{',' if len(names) == 1 else ''})"


def _needed(kernel: Kernel) -> frozenset[str]:
    return frozenset(part for array in kernel.noises for size in array.sizes for part in str(size).split("+"))

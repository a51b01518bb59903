"""The emitted module: header, kernel, chain, support, put together as one text."""

from collections.abc import Iterator
from dataclasses import dataclass

from recipe_compiler.emit.print_body import WIDTH
from recipe_compiler.emit.print_chain import print_run, run_arguments
from recipe_compiler.emit.print_procedure import LOOP, REDUCTION, print_prepare, print_procedure
from recipe_compiler.emit.support.text import support_imports, support_text
from recipe_compiler.program.kernel import Kernel
from recipe_compiler.program.program import Program

FORMAT = 1
"""The number of the emission format: it changes when the same document would become a different text."""


SUPPORT = "# Support: random streams, stable functions, noise factors. The same text in every emitted module."


@dataclass(frozen=True, slots=True)
class Module:
    """An emitted module: its name, its text, and what it was made of."""

    name: str
    text: str
    program: Program
    kernel: Kernel


def emit_module(name: str, program: Program, kernel: Kernel, header: str, digest: str) -> Module:
    """Return the module of a kernel.

    Args:
        name: name of the file, without its ending.
        program: the step in index notation.
        kernel: the same, lowered to loops.
        header: the module's docstring, without quotes, safe to stand between them.
        digest: SHA-256 of the documents it was made of.
    """
    called = _called(program, kernel)
    math, *others = support_imports(called)
    imports = "\n".join((math, "", *others))
    top = f'"""{header}"""\n\n{imports}\n\n'
    sections = (
        top + "\n".join(_facts(program, kernel, digest)),
        *("\n".join(lines) for lines in _kernel(program, kernel)),
        "\n".join(print_run(program, kernel)),
        SUPPORT + "\n\n\n" + support_text(called, given=("_FASTMATH",)).strip("\n"),
    )
    return Module(name, "\n\n\n".join(sections) + "\n", program, kernel)


def _facts(program: Program, kernel: Kernel, digest: str) -> Iterator[str]:
    yield f"FORMAT = {FORMAT}"
    yield f"SPEC_DIGEST = {_quoted(digest)}"
    yield f"VARIANT = {_quoted(program.variant)}"
    yield f"REPLACEMENT = {program.replacement}"
    blocks = tuple(f"({_quoted(b.name)}, {_size(b.shape.sizes)})" for b in program.blocks)
    yield from _tuple("BLOCKS", blocks)
    yield from _names("SIZES", symbolic_sizes(program))
    yield from _names("PARAMETERS", tuple(p.name for p in program.parameters))
    yield from _names("CONSTANTS", tuple(array.name for array in kernel.prepare.outputs))
    yield from _names("DATA", tuple(d.name for d in program.data))
    yield from _names("ARGUMENTS", run_arguments(program, kernel))
    yield f"POTENTIAL_BLOCK = {_quoted(program.gradient.block.name if program.gradient else '')}"
    yield ""
    yield '_FASTMATH = {"contract", "nsz", "arcp"}  # keeps infinities, NaN and the order of sums'
    yield '_REDUCTION = {"contract", "nsz", "arcp", "reassoc"}  # sums in any order, so that they vectorise'


def symbolic_sizes(program: Program) -> tuple[str, ...]:
    """Return the sizes of the state that are known only when the module runs."""
    return tuple(dict.fromkeys(s for b in program.blocks for s in b.shape.sizes if isinstance(s, str)))


def _size(sizes: tuple[str | int, ...]) -> str:
    return (_quoted(sizes[0]) if isinstance(sizes[0], str) else str(sizes[0])) if sizes else "0"


def _names(name: str, values: tuple[str, ...]) -> Iterator[str]:
    return _tuple(name, tuple(_quoted(value) for value in values))


def _tuple(name: str, items: tuple[str, ...]) -> Iterator[str]:
    line = f"{name} = ({', '.join(items)}{',' if len(items) == 1 else ''})"
    if len(line) <= WIDTH:
        yield line
        return
    yield f"{name} = ("
    yield from (f"    {item}," for item in items)
    yield ")"


def _quoted(name: str) -> str:
    return f'"{name}"'


def _kernel(program: Program, kernel: Kernel) -> Iterator[Iterator[str]]:
    if kernel.gradient is not None:
        yield print_procedure(kernel.gradient, REDUCTION)
    yield print_procedure(kernel.step, LOOP)
    yield print_prepare(kernel.prepare, symbolic_sizes(program))


def _called(program: Program, kernel: Kernel) -> tuple[str, ...]:
    """Return the support functions that the module calls."""
    text = "\n".join(line for lines in _kernel(program, kernel) for line in lines)
    text += "\n".join(print_run(program, kernel))
    known = ("_sigmoid", "_softplus", "_fill_normals", "_fill_indices", "_shuffle_indices")
    used = [name for name in (*known, "_noise_scale", "_noise_factor") if f"{name}(" in text]
    return (*used, "seed_streams")

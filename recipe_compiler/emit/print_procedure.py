"""Procedures of a kernel as Python functions."""

from collections import Counter
from collections.abc import Iterable, Iterator
from textwrap import wrap

from recipe_compiler.emit.print_body import WIDTH, call, print_body, sizes_in
from recipe_compiler.formula.shapes import Size
from recipe_compiler.program.kernel import Procedure
from recipe_compiler.program.loops import Array
from recipe_compiler.program.traverse import names_in, targets

LOOP = '@njit(cache=True, no_cfunc_wrapper=True, inline="always", error_model="numpy", fastmath=_FASTMATH)'
"""Decorator of `step`, and of a gradient of scalars: the chain holds them, which saves compiling them apart, and lets
scalars share their registers with the loop around. No sum of theirs is reordered."""
MOST_ARGUMENTS = 30
"""Calls with more are compiled by Python to another instruction, at which numba cannot hold a function in the chain."""
LONG = LOOP.replace('inline="always"', "forceinline=True")
"""Decorator of those with more arguments: LLVM puts them into the chain, which takes longer to compile."""
APART = LONG.replace("forceinline=True", "forceinline=False")
"""Decorator of those that the chain would hold twice, forth and back: LLVM compiles one copy, in half the time."""
REDUCTION = '@njit(cache=True, no_cfunc_wrapper=True, error_model="numpy", fastmath=_REDUCTION)'
"""Decorator of functions that Python calls, whose sums may be reordered, so that they vectorise."""
INLINED = '@njit(cache=True, no_cfunc_wrapper=True, forceinline=True, error_model="numpy", fastmath=_REDUCTION)'
"""Decorator of such functions that the chain calls.

A function that is called is compiled by itself, and once more with its caller; which of both is called depends on what
is kept from earlier runs, and the order of its sums differs. What is inlined is compiled with its caller alone.
"""


def print_procedure(procedure: Procedure, decorator: str, long: str = LONG) -> Iterator[str]:
    """Yield the lines of a jitted procedure: one that returns its outputs does not take them."""
    yield long if decorator == LOOP and len(procedure.taken) > MOST_ARGUMENTS else decorator
    yield from _function(procedure, procedure.arguments, "Return " if procedure.returns else "Write ")
    if procedure.returns:
        yield from _returned(procedure)


def print_whole(procedure: Procedure) -> Iterator[str]:
    """Yield the lines of a jitted procedure that returns its outputs, arrays too."""
    yield REDUCTION
    yield from _function(procedure, tuple(array.name for array in procedure.inputs), "Return ")
    yield from _returned(procedure)


def print_prepare(procedure: Procedure, sizes: tuple[str, ...]) -> Iterator[str]:
    """Yield the lines of `prepare`: plain Python, run once before the chain starts."""
    yield from _function(procedure, (*(array.name for array in procedure.inputs), *sizes))
    names = tuple(array.name for array in procedure.outputs)
    yield from call("    return ", names if len(names) != 1 else (f"{names[0]},",), 4)


def _function(procedure: Procedure, arguments: tuple[str, ...], verb: str = "") -> Iterator[str]:
    """Yield the lines of a function but its decorator and what it returns; it makes the arrays that it is not given."""
    arrays = (*procedure.outputs, *procedure.inputs, *procedure.work)
    there = {*arguments, *(ref.name for ref in targets(procedure.body) if not ref.at)}
    made = [array for array in arrays if array.sizes and array.name not in there]
    wanted = used_sizes(procedure) | _array_sizes(made)
    yield from call(f"def {procedure.name}", arguments, 0, ":")
    first, *others = procedure.says
    yield from _docstring((verb + first, *others))
    yield from size_lines((array for array in arrays if array.name in arguments), wanted.difference(arguments))
    yield from (f"    {array.name} = np.empty({shape_text(array.sizes)})" for array in made)
    yield from print_body(procedure.body, 4)


def _returned(procedure: Procedure) -> Iterator[str]:
    """Yield the line that returns outputs, over several lines where they are too long for one."""
    names = tuple(array.name for array in procedure.outputs)
    line = f"    return {', '.join(names)}"
    yield from (line,) if len(line) <= WIDTH else call("    return ", names, 4)


def shape_text(sizes: tuple[Size, ...]) -> str:
    """Return the shape argument of an allocation."""
    words = [_joined(str(size)) for size in sizes]
    return words[0] if len(words) == 1 else f"({', '.join(words)})"


def _joined(size: str) -> str:
    """Return the sum that a joined size is, equal parts counted."""
    parts = Counter(size.split("+"))
    return " + ".join(part if count == 1 else f"{count} * {part}" for part, count in parts.items())


def size_lines(arrays: Iterable[Array], wanted: frozenset[str]) -> Iterator[str]:
    """Yield lines that read symbolic sizes off the arrays that have them."""
    left = set(wanted)
    for array in arrays:
        for axis, size in enumerate(array.sizes):
            if isinstance(size, str) and size in left:
                left.discard(size)
                yield f"    {size} = {array.name}.shape[{axis}]"


def used_sizes(procedure: Procedure) -> frozenset[str]:
    """Return the symbolic sizes that a procedure's body counts to or computes with."""
    arrays = (*procedure.outputs, *procedure.inputs, *procedure.work)
    return sizes_in(procedure.body) | (names_in(procedure.body) & _array_sizes(arrays))


def _array_sizes(arrays: Iterable[Array]) -> frozenset[str]:
    names = (size for array in arrays for size in array.sizes if isinstance(size, str))
    return frozenset(part for name in names for part in name.split("+"))


def _docstring(says: tuple[str, ...]) -> Iterator[str]:
    """Yield the lines of a function's docstring, each sentence on lines of its own."""
    lines = [part for line in says for part in wrap(line, WIDTH - 8, break_long_words=False, break_on_hyphens=False)]
    if len(lines) == 1:
        yield f'    """{lines[0]}"""'
        return
    yield f'    """{lines[0]}'
    yield from (f"    {line}" for line in lines[1:])
    yield '    """'

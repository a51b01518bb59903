"""The generator and the gradient of all data as Python functions, which hold their work arrays themselves."""

from collections.abc import Iterator

from recipe_compiler.emit.print_body import call, print_body
from recipe_compiler.emit.print_procedure import REDUCTION, docstring, returned, shape_text, size_lines, used_sizes
from recipe_compiler.program.kernel import Procedure


def print_whole(procedure: Procedure) -> Iterator[str]:
    """Yield the lines of a jitted procedure that returns its outputs, arrays too."""
    arrays = (*procedure.outputs, *procedure.work)
    first, *others = procedure.says
    yield REDUCTION
    yield from call(f"def {procedure.name}", tuple(array.name for array in procedure.inputs), 0, ":")
    yield from docstring((f"Return {first}", *others))
    wanted = used_sizes(procedure) | frozenset(str(size) for array in arrays for size in array.sizes)
    yield from size_lines((array for array in procedure.inputs if array.sizes), wanted, 4)
    for array in arrays:
        yield f"    {array.name} = np.empty({shape_text(array.sizes)})"
    yield from print_body(procedure.body, 4)
    yield from returned(tuple(array.name for array in procedure.outputs))

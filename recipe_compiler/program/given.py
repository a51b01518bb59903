"""What a procedure is given of all that there is: what it reads, and what tells it the sizes that it computes with.

A size is the length of an axis of an array. Where one stands as a number in a formula, something that is as long has to
be there: U = k theta.theta of a column theta of d entries takes the parameter that has k of them, though it reads none.
"""

from recipe_compiler.program.kernel import Procedure
from recipe_compiler.program.loops import Array, Body
from recipe_compiler.program.program import Program
from recipe_compiler.program.traverse import names_in


def inputs_of(procedure: Procedure, readable: tuple[Array, ...], program: Program | None = None) -> tuple[Array, ...]:
    """Return the inputs of a procedure that has none yet.

    Args:
        procedure: what reads them; the sizes of its outputs and work arrays are told by those.
        readable: all that there is, in the order of the module's arguments.
        program: whose data it sums over; None where it reads no data but those in its body.
    """
    read = names_in(procedure.body) if program is None else read_by(procedure.body, program)
    return with_sizes_told(readable, read, procedure.body, (*procedure.outputs, *procedure.work))


def with_sizes_told(
    readable: tuple[Array, ...],
    read: frozenset[str],
    body: Body,
    own: tuple[Array, ...],
    made: tuple[Array, ...] = (),
) -> tuple[Array, ...]:
    """Return the arrays with the names that are read, and the first with each size that no other one tells.

    Args:
        readable: all that there is, in the order of the module's arguments.
        read: names.
        body: what computes with sizes.
        own: what there is beside these arrays.
        made: arrays that are made there.
    """
    told = {size for array in (*own, *(array for array in readable if array.name in read)) for size in array.sizes}
    tell = {size: array.name for array in reversed(readable) for size in array.sizes if size not in told}
    sizes = {size for array in made for size in array.sizes}
    wanted = read | {tell[name] for name in names_in(body) | sizes if name in tell}
    return tuple(array for array in readable if array.name in wanted)


def read_by(body: Body, program: Program) -> frozenset[str]:
    """Return the names that a gradient reads: at least one field of the data, whose length is their number."""
    names = names_in(body)
    fields = [datum.name for datum in program.data]
    return names if not fields or not names.isdisjoint(fields) else names | {fields[0]}

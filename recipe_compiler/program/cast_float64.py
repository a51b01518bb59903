"""Pass: data stored in float32 are converted to float64 where they are read, so that all arithmetic is in float64."""

from dataclasses import replace

from recipe_compiler.program.kernel import Kernel, Procedure
from recipe_compiler.program.loops import Call, Ref, Scalar
from recipe_compiler.program.program import Program
from recipe_compiler.program.traverse import rewritten, value_with_refs

WIDE = "float64"
"""The function that makes a number a double."""


def widen(program: Program, kernel: Kernel) -> Kernel:
    """Return the kernel with every element of the data converted to float64; the same kernel if it is float64 already.

    Without it the product of two elements would be rounded to float32.
    """
    return kernel.mapped(lambda procedure: widened(program, procedure)) if program.narrow else kernel


def widened(program: Program, procedure: Procedure) -> Procedure:
    """Return a procedure with every element of the data converted to float64; the same one if it is float64 already."""
    if not program.narrow:
        return procedure
    data = {datum.name for datum in program.data if not datum.is_index}

    def wide(ref: Ref) -> Scalar:
        return Call(WIDE, (ref,)) if ref.name in data else ref

    def value(one: Scalar) -> Scalar:
        return value_with_refs(one, wide)

    return replace(procedure, body=tuple(rewritten(one, value, lambda target: target) for one in procedure.body))

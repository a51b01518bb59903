"""Pass: data stored in float32 are converted to float64 where they are read, so that all arithmetic is in float64."""

from collections.abc import Collection
from dataclasses import replace

from recipe_compiler.program.kernel import Kernel, Procedure
from recipe_compiler.program.loops import (
    Assign,
    Call,
    For,
    ForBatch,
    ForBlocks,
    Increment,
    Iterate,
    Ref,
    Scalar,
    Statement,
    Stream,
)
from recipe_compiler.program.program import Program
from recipe_compiler.program.traverse import value_with_refs

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
    data = frozenset(datum.name for datum in program.data)
    return replace(procedure, body=tuple(_statement(statement, data) for statement in procedure.body))


def _statement(statement: Statement, data: Collection[str]) -> Statement:
    def wide(ref: Ref) -> Scalar:
        return Call(WIDE, (ref,)) if ref.name in data else ref

    match statement:
        case Assign(target, value) | Increment(target, value):
            return type(statement)(target, value_with_refs(value, wide))
        case For() | ForBatch() | ForBlocks() | Iterate() | Stream():
            return replace(statement, body=tuple(_statement(inner, data) for inner in statement.body))
        case _:
            return statement

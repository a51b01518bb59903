"""A double as the 64 bits that it is stored in, and back.

numba has `view` for it, which it compiles as a function of its own for each pair of types: a twentieth of a first call.
"""

# The jit finds the types of this code, which emitted files carry without annotations; numba's own are incomplete.
# pyright: reportMissingParameterType=false, reportUnknownParameterType=false, reportUnusedFunction=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from typing import Any

from numba import extending, types

intrinsic: Any = extending.intrinsic
"""Any, since a checker of types takes what it makes for functions that never return; not part of emitted text."""


@intrinsic
def _word_of(_, x):
    """Return the bits of a double as a uint64."""

    def build(context, builder, signature, arguments):
        return builder.bitcast(arguments[0], context.get_value_type(signature.return_type))

    return types.uint64(types.float64), build


@intrinsic
def _double_of(_, word):
    """Return the double that has the bits of a uint64."""

    def build(context, builder, signature, arguments):
        return builder.bitcast(arguments[0], context.get_value_type(signature.return_type))

    return types.float64(types.uint64), build

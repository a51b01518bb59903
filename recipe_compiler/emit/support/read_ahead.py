"""Rows of data on their way from memory to the cache before they are needed."""

# The jit finds the types of this code, which emitted files carry without annotations; numba's own are incomplete.

import numpy as np
from llvmlite import binding, ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from recipe_compiler.emit.support.jit import inlined


@intrinsic
def _ask_for(_, data, place):
    """Ask for the cache line of the element at `place` (a tuple): nothing waits for it, and no value changes.

    The instruction is LLVM's own, llvm.prefetch; processors without one do nothing.
    """

    def build(context, builder, signature, arguments):
        array = context.make_array(data)(context, builder, arguments[0])
        places = cgutils.unpack_tuple(builder, arguments[1])
        number, pointer = ir.IntType(32), ir.IntType(8).as_pointer()
        kind = ir.FunctionType(ir.VoidType(), (pointer, number, number, number))
        ask = builder.module.declare_intrinsic("llvm.prefetch", (pointer,), kind)
        line = builder.bitcast(cgutils.get_item_pointer(context, builder, data, array, places), pointer)
        builder.call(ask, (line, number(0), number(3), number(1)))  # to read, to the nearest cache, data
        return context.get_dummy_value()

    return types.void(data, place), build


@inlined
def _read_ahead(data, row):
    """Ask for a row of data, a number or eight numbers to a cache line: the processor foresees no random row."""
    if data.ndim == 1:
        _ask_for(data, (row,))
    else:
        for column in range(np.uint64(0), np.uint64(data.shape[1]), np.uint64(8)):
            _ask_for(data, (row, column))


_FORESEES = binding.get_host_cpu_name() in ("znver1", "znver2", "znver3", "znver4")


@inlined
def _read_on(data, row):
    """Ask for a row of data that is read in order, but on processors that keep up with such rows by themselves.

    Zen 4 takes 1.5 times as long where it is asked besides; its predecessors are taken to be like it.
    """
    if not _FORESEES:
        _read_ahead(data, row)

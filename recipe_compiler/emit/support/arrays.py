"""Copies and finite checks of short arrays, as loops that cost little to compile."""

from numba import njit

from recipe_compiler.emit.support.flags import _FASTMATH


@njit(error_model="numpy", fastmath=_FASTMATH, no_cfunc_wrapper=True)
def _copy(source, target):
    """Copy one array into another of the same length."""
    for k in range(source.shape[0]):
        target[k] = source[k]


@njit(error_model="numpy", fastmath=_FASTMATH, no_cfunc_wrapper=True)
def _all_finite(array):
    """Whether no entry is infinite or NaN, by a comparison that no flag of the jit removes."""
    finite = True
    for k in range(array.shape[0]):
        finite = finite and abs(array[k]) <= 1.7976931348623157e308
    return finite

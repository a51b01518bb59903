"""How functions of the support code are compiled, by decorator; an emitted file has the call of `njit` in its place."""

from numba import njit

from recipe_compiler.emit.support.flags import _FASTMATH

inlined = njit(
    error_model="numpy", fastmath=_FASTMATH, forceinline=True, no_cpython_wrapper=True, no_cfunc_wrapper=True
)
jitted = njit(error_model="numpy", fastmath=_FASTMATH, no_cpython_wrapper=True, no_cfunc_wrapper=True)
not_inlined = njit(
    error_model="numpy", fastmath=_FASTMATH, forceinline=False, no_cpython_wrapper=True, no_cfunc_wrapper=True
)
cached = njit(cache=True, no_cfunc_wrapper=True, error_model="numpy", fastmath=_FASTMATH)
cached_alone = njit(cache=True, no_cfunc_wrapper=True, no_cpython_wrapper=True, error_model="numpy", fastmath=_FASTMATH)
cached_inlined = njit(cache=True, no_cfunc_wrapper=True, forceinline=True, error_model="numpy", fastmath=_FASTMATH)
sums_reordered = njit(
    cache=True, no_cfunc_wrapper=True, forceinline=True, error_model="numpy",
    fastmath={"contract", "nsz", "arcp", "reassoc"},
)  # fmt: skip

"""Normals of a numpy.random.Generator, for comparison with other programs: slower, and easy to check."""

# The jit finds the types of this code, which emitted files carry without annotations; numba's own are incomplete.

import numpy as np
from numba import njit


@njit(error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def _next_normal_numpy(generator):
    """Return the next N(0, 1) draw of a numpy.random.Generator, the same that numpy itself gives.

    No product of it may be fused with a sum of the caller: so this is compiled without that freedom.
    """
    return generator.standard_normal()


@njit(error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
def _fill_normals_numpy(generator, out):
    """Fill `out` with the next N(0, 1) draws of a numpy.random.Generator."""
    for k in range(np.uint64(out.size)):
        out[k] = _next_normal_numpy(generator)

"""Compiled code that was kept is loaded without what only compiling needs: the jit's tables of all that it can type.

Numba fills these tables, with some 130 modules, before it looks for kept code: half a second. Machine code has no use
for them. It needs the runtime that arrays are counted by, and the secret of hashes,
whose names it may hold; all other names it may hold are known since numba was imported. Whatever has to be compiled
fills the tables itself, as it always did.
"""

from typing import Any, cast

from numba.core.caching import FunctionCache


class KeptCode(FunctionCache):
    """What is kept of a function."""

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return what was compiled for these types, None where it is not there and has to be."""
        from numba.core.runtime.nrt import rtsys
        from numba.cpython import hashing

        del hashing  # its names are there once it was imported
        rtsys.initialize(target_context)
        own = cast("Any", self)
        with own._guard_against_spurious_io_errors():
            found = own._load_overload(sig, target_context)
            if found is not None:
                return found
        take_blas_as_there()
        return None


def take_blas_as_there() -> None:
    """Let the jit find that there is BLAS without importing SciPy for it, which takes longer than all that it loads.

    SciPy is required. What calls BLAS imports it when it is called.
    """
    from numba.np import linalg

    # Numba has no setting for it: it asks by this function, wherever it types a product of matrices. Newer ones ask
    # along with it whether SciPy was built for integers as wide as numba was, which needs SciPy too: its wheels are,
    # and one built otherwise is found by `ensure_lapack`, which stays as it is, before anything is solved or inverted.
    cast("Any", linalg).ensure_blas = lambda: None

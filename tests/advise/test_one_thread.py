"""Plans and diagnostics compute with one thread of BLAS, and leave the number of threads as they found it."""

import scipy.linalg  # noqa: F401 has a BLAS of its own
from threadpoolctl import threadpool_info, threadpool_limits

from recipe_compiler.advise.one_thread import one_blas_thread


def threads() -> set[int]:
    return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}


def test_linear_algebra_has_one_thread_inside_and_what_it_had_outside() -> None:
    with threadpool_limits(2, "blas"):
        before = threads()
        with one_blas_thread():
            assert threads() == {1}
        assert threads() == before != {1}

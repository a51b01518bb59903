"""Rows on their way to the cache: asked for by the machine's own instruction, and nothing is changed by it."""

import platform

import numpy as np
import pytest
from numba import njit
from numpy.typing import NDArray

from recipe_compiler.emit.support import read_ahead
from recipe_compiler.emit.support.read_ahead import (
    _read_ahead,
    _read_on,
)


@njit
def total(data: NDArray[np.float64] | NDArray[np.float32], batch: NDArray[np.uint64]) -> float:
    found = 0.0
    for k in range(np.uint64(batch.size)):
        _read_ahead(data, batch[min(k + np.uint64(8), np.uint64(batch.size - 1))])
        found += data[batch[k]].sum()
    return found


def rows_of(kind: str) -> NDArray[np.float64] | NDArray[np.float32]:
    rows = np.random.default_rng(0).standard_normal((50, 37))
    match kind:
        case "float32":
            return rows.astype(np.float32)
        case "by columns":
            return np.asfortranarray(rows)
        case "every second column":
            return rows[:, ::2]
        case "read only":
            rows.setflags(write=False)
        case _:
            pass
    return rows


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["as it is", "float32", "by columns", "every second column", "read only"])
def test_rows_of_every_layout_are_asked_for_and_stay_as_they_are(kind: str) -> None:
    data, batch = rows_of(kind), np.random.default_rng(1).integers(0, 50, 20).astype(np.uint64)
    before = data.copy()
    assert total(data, batch) == pytest.approx(float(data[batch].sum(dtype=float)), rel=1e-4)
    np.testing.assert_array_equal(data, before)


@pytest.mark.slow
@pytest.mark.skipif(platform.machine() not in {"x86_64", "AMD64"}, reason="the name of the instruction on x86")
@pytest.mark.parametrize("foresees", [False, True])
def test_rows_in_order_are_asked_for_but_where_the_processor_foresees_them(
    foresees: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(read_ahead, "_FORESEES", foresees)
    read_on = njit(_read_on.py_func)

    @njit
    def in_order(data: NDArray[np.float64]) -> float:
        found = 0.0
        for k in range(np.uint64(data.shape[0])):
            read_on(data, min(k + np.uint64(8), np.uint64(data.shape[0] - 1)))
            found += data[k].sum()
        return found

    data = rows_of("as it is")
    assert in_order(data) == pytest.approx(float(data.sum()))
    assert any("prefetcht0" in code for code in in_order.inspect_asm().values()) is not foresees

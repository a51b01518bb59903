"""Rows on their way to the cache: asked for by the machine's own instruction, and nothing is changed by it."""

import platform
from typing import Any

import numpy as np
import pytest
from numba import njit

from recipe_compiler.emit.support import read_ahead

pytestmark = pytest.mark.slow

ROWS = np.random.default_rng(0).standard_normal((50, 37))
READ_ONLY = ROWS.copy()
READ_ONLY.setflags(write=False)
LAYOUTS = {
    "as it is": ROWS, "float32": ROWS.astype(np.float32), "by columns": np.asfortranarray(ROWS),
    "every second column": ROWS[:, ::2], "read only": READ_ONLY,
}  # fmt: skip


def summed(read: Any) -> Any:
    """Return a loop that asks for the row eight rows ahead."""

    @njit
    def total(data: Any, batch: Any) -> float:
        found = 0.0
        for k in range(np.uint64(batch.size)):
            read(data, batch[min(k + np.uint64(8), np.uint64(batch.size - 1))])
            found += data[batch[k]].sum()
        return found

    return total


@pytest.mark.parametrize("layout", LAYOUTS)
def test_rows_of_every_layout_are_asked_for_and_stay_as_they_are(layout: str) -> None:
    data, batch = LAYOUTS[layout], np.random.default_rng(1).integers(0, 50, 20).astype(np.uint64)
    before = data.copy()
    assert summed(read_ahead._read_ahead)(data, batch) == pytest.approx(float(data[batch].sum(dtype=float)), rel=1e-4)
    np.testing.assert_array_equal(data, before)


@pytest.mark.skipif(platform.machine() not in {"x86_64", "AMD64"}, reason="the name of the instruction on x86")
@pytest.mark.parametrize("foresees", [False, True])
def test_rows_in_order_are_asked_for_but_where_the_processor_foresees_them(
    foresees: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(read_ahead, "_FORESEES", foresees)
    total = summed(njit(read_ahead._read_on.py_func))
    assert total(ROWS, np.arange(50, dtype=np.uint64)) == pytest.approx(float(ROWS.sum()))
    assert any("prefetcht0" in code for code in total.inspect_asm().values()) is not foresees

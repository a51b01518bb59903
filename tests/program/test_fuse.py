"""Loops over rows are joined where nothing between them is read."""

import pytest

from recipe_compiler.program.fuse import fuse
from recipe_compiler.program.kernel import Procedure
from recipe_compiler.program.loops import Array, Assign, For, Increment, Ref
from recipe_compiler.program.unroll import ONE, ZERO


def over_rows(written: int, read: int) -> For:
    """Return a loop over rows that adds to one place of `sums` an entry of `given`."""
    return For("row", "N", (Increment(Ref("sums", (written,)), Ref("given", (read,))),))


@pytest.mark.parametrize(("cleared", "joined"), [(1, True), (0, False)])
def test_a_loop_moves_past_what_writes_another_place_of_its_array(cleared: int, *, joined: bool) -> None:
    sums, given = Array("sums", (2,)), Array("given", (2,))
    body = (Assign(Ref("sums", (0,)), ZERO), over_rows(0, 0), Assign(Ref("sums", (cleared,)), ONE), over_rows(1, 1))
    assert (fuse(Procedure("gradient", (), (sums,), (given,), (), body)) is not None) is joined

"""Which loops are written out: those over entries that are scalars, and short ones."""

from fractions import Fraction

from recipe_compiler.program.loops import Assign, Constant, For, Ref
from recipe_compiler.program.unroll import LINES, written_out

ROWS = 9


def squares(rows: int, entry: Ref) -> For:
    """for i in range(rows): for j in range(rows): matrix[i, j] = entry"""
    inner = For("j", rows, (Assign(Ref("matrix", ("i", "j")), entry),))
    return For("i", rows, (inner,))


def test_a_long_loop_over_arrays_stays() -> None:
    loop = squares(ROWS, Ref("theta", (0,)))
    assert ROWS * ROWS > LINES
    assert written_out((loop,), ["theta"]) == (loop,)


def test_a_short_one_is_written_out() -> None:
    lines = written_out((squares(2, Ref("theta", (0,))),), ["theta"])
    assert [line.target for line in lines if isinstance(line, Assign)] == [
        Ref("matrix", at) for at in ((0, 0), (0, 1), (1, 0), (1, 1))
    ]


def test_a_long_one_over_what_is_kept_in_scalars_is_written_out() -> None:
    lines = written_out((squares(ROWS, Ref("theta", ("j",))),), ["theta"])
    assert len(lines) == ROWS * ROWS
    assert {line.value for line in lines if isinstance(line, Assign)} == {Ref("theta", (k,)) for k in range(ROWS)}


def test_what_stands_between_keeps_its_place() -> None:
    long, before = squares(ROWS, Ref("x")), Assign(Ref("x"), Constant(Fraction(1)))
    short = For("i", 2, (Assign(Ref("y", ("i",)), Ref("x")),))
    lines = written_out((before, long, short), ["y"])
    assert lines == (before, long, Assign(Ref("y", (0,)), Ref("x")), Assign(Ref("y", (1,)), Ref("x")))

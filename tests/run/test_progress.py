"""Progress is for terminals only."""

import io

from recipe_compiler.run.progress import progress_bars
from recipe_compiler.run.sample import unwatched


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_nothing_is_shown_where_there_is_no_terminal() -> None:
    stream = io.StringIO()
    with progress_bars(2, 10, stream=stream) as watch:
        watch([1, 2], 10)
    assert watch is unwatched
    assert stream.getvalue() == ""


def test_nothing_is_shown_when_quiet() -> None:
    stream = Terminal()
    with progress_bars(2, 10, quiet=True, stream=stream) as watch:
        watch([1, 2], 10)
    assert stream.getvalue() == ""


def test_every_chain_has_a_bar() -> None:
    stream = Terminal()
    with progress_bars(2, 10, stream=stream) as watch:
        watch([3, 10], 10)
    assert "chain 1" in stream.getvalue()
    assert "chain 2" in stream.getvalue()
    assert "10/10" in stream.getvalue()


def test_many_chains_share_one_bar() -> None:
    stream = Terminal()
    with progress_bars(1000, 10, stream=stream) as watch:
        watch([10] * 700 + [0] * 300, 10)
    assert "draws of 1000 chains" in stream.getvalue()
    assert "7000/10000" in stream.getvalue()
    assert "chain 1 " not in stream.getvalue()

"""Progress is for terminals only."""

import io

import pytest

from recipe_compiler.run.progress import SILENCE, Stages, progress_bars
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


class Clock:
    """Seconds that pass where a test says so."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.mark.parametrize("stream", [io.StringIO(), Terminal()])
def test_what_is_done_is_said_at_least_every_five_seconds_and_no_more_often(stream: io.StringIO) -> None:
    clock = Clock()
    stages, said = Stages(stream, clock), []
    for second in range(240):  # two minutes, looked at twice a second
        clock.now += 0.5
        stages(f"warm-up 1 of 4: draw {second}" if second % 2 else "planning")
        before = len(stream.getvalue())
        stages.tick()
        said += [clock.now] if len(stream.getvalue()) > before else []
    gaps = [after - first for first, after in zip([100.0, *said], said, strict=False)]
    assert max(gaps) <= 5.0
    assert min(gaps) >= SILENCE
    assert "warm-up 1 of 4: draw 239 (120 s)" in stream.getvalue()
    assert ("\n" in stream.getvalue()) is not stream.isatty()


def test_nothing_is_said_of_a_short_stage_nor_after_the_last() -> None:
    clock, stream = Clock(), io.StringIO()
    stages = Stages(stream, clock)
    stages("checking")
    clock.now += 3.0
    stages.tick()
    stages("")
    clock.now += 60.0
    stages.tick()
    assert stream.getvalue() == ""


def test_draws_are_counted_where_there_is_no_terminal() -> None:
    clock, stream = Clock(), io.StringIO()
    stages = Stages(stream, clock)
    with progress_bars(2, 10, stream=stream, plain=stages.watch) as watch:
        watch([3, 4], 10)
        clock.now += 6.0
        stages.tick()
    assert stream.getvalue() == "drawing: 7 of 20 draws (6 s)\n"

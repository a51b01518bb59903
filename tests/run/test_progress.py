"""Bars are for terminals only; a function of the user is told everywhere."""

import io

import numpy as np
import pytest

from recipe_compiler.emit.support.chains import _checked_progress, _run_lanes
from recipe_compiler.errors import RunError
from recipe_compiler.run.progress import SILENCE, Stages, demand_progress, progress_bars, watching
from recipe_compiler.run.sample import unwatched


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("stream", "quiet"), [(io.StringIO(), False), (Terminal(), True)])
def test_nothing_is_shown_where_there_is_no_terminal_or_when_quiet(stream: io.StringIO, quiet: bool) -> None:
    with progress_bars(2, 10, quiet=quiet, stream=stream) as watch:
        watch([1, 2], 10)
    assert watch is unwatched
    assert stream.getvalue() == ""


@pytest.mark.parametrize(
    ("done", "shown", "unshown"),
    [
        ([3, 10], ("chain 1", "chain 2", "10/10"), "draws of"),
        ([10] * 700 + [0] * 300, ("draws of 1000 chains", "7000/10000"), "chain 1 "),
    ],
)
def test_every_chain_has_a_bar_and_many_share_one(done: list[int], shown: tuple[str, ...], unshown: str) -> None:
    stream = Terminal()
    with progress_bars(len(done), 10, stream=stream) as watch:
        watch(done, 10)
    assert all(words in stream.getvalue() for words in shown)
    assert unshown not in stream.getvalue()


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


@pytest.mark.parametrize("given", ["yes", 1, None, []])
def test_what_is_no_progress_is_refused(given: object) -> None:
    with pytest.raises(RunError, match=r"progress: found .*, expected True, False or a function progress\(chain"):
        demand_progress(given)


def test_a_function_is_told_of_each_chain_that_went_on() -> None:
    told: list[tuple[int, int, int, str]] = []
    with watching(lambda *one: told.append(one), 2, 10, 30) as watch:
        for done in ([0, 0], [5, 10], [5, 12], [30, 30], [30, 30]):
            watch(done, 30)
    assert told == [
        (0, 0, 30, "warmup"), (1, 0, 30, "warmup"), (0, 5, 30, "warmup"), (1, 10, 30, "draws"), (1, 12, 30, "draws"),
        (0, 30, 30, "draws"), (1, 30, 30, "draws"),
    ]  # fmt: skip


@pytest.mark.parametrize("chains", [1, 70])
def test_chains_of_an_emitted_file_are_told_one_by_one(chains: int) -> None:
    """As lanes too, of which 64 go on side by side."""
    told: dict[int, tuple[int, int, str]] = {}

    def run_lanes(lanes_draws: np.ndarray, kept: np.ndarray) -> None:
        lanes_draws[:], kept[:] = 0.0, len(lanes_draws)

    tell = _checked_progress(lambda chain, *rest: told.update({chain: rest}), 3)
    states = [{"theta": np.zeros(2), "noise_state": np.zeros(4, np.uint64)} for _ in range(chains)]
    drawn = {"theta": np.empty((chains, 9, 2))}
    done = _run_lanes(run_lanes, ("lanes_draws", "kept"), ("theta",), {}, states, drawn, 1, tell)
    assert done == [9] * chains
    assert told == dict.fromkeys(range(chains), (9, 9, "draws"))

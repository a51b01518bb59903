"""How far the chains are, on a terminal."""

import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import TextIO

from recipe_compiler.run.chains import Watch
from recipe_compiler.run.sample import unwatched

MOST_BARS = 16
"""More chains than this share one bar: a terminal shows no more lines, and drawing them takes time from the chains."""


@contextmanager
def progress_bars(chains: int, draws: int, quiet: bool = False, stream: TextIO | None = None) -> Generator[Watch]:
    """Give a `Watch` that shows bars on stderr, one per chain or one for many, and nothing where no terminal is there.

    Args:
        chains: number of chains.
        draws: draws of each, warmup included.
        quiet: show nothing.
        stream: the stream to write to, stderr by default.
    """
    out = sys.stderr if stream is None else stream
    if quiet or not out.isatty():
        yield unwatched
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(file=out)) as bars:
        together = chains > MOST_BARS
        names = [f"draws of {chains} chains"] if together else [f"chain {k + 1}" for k in range(chains)]
        tasks = [bars.add_task(name, total=draws * chains // len(names)) for name in names]

        def watch(done: Sequence[int], total: int) -> None:
            for task, count in zip(tasks, [sum(done)] if together else done, strict=True):
                bars.update(task, completed=count, total=total * chains // len(tasks))

        yield watch

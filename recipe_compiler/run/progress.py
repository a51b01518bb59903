"""How far every chain is, on a terminal."""

import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import TextIO

from recipe_compiler.run.chains import Watch
from recipe_compiler.run.sample import unwatched


@contextmanager
def progress_bars(chains: int, draws: int, quiet: bool = False, stream: TextIO | None = None) -> Generator[Watch]:
    """Give a `Watch` that shows one bar per chain on stderr, and nothing where that is not a terminal.

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
        tasks = [bars.add_task(f"chain {k + 1}", total=draws) for k in range(chains)]

        def watch(done: Sequence[int], total: int) -> None:
            for task, count in zip(tasks, done, strict=True):
                bars.update(task, completed=count, total=total)

        yield watch

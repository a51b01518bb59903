"""How far the chains are, on a terminal or in a notebook."""

import sys
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import Any, TextIO

from recipe_compiler.run.chains import Watch
from recipe_compiler.run.sample import unwatched

MOST_BARS = 16
"""More chains than this share one bar: a terminal shows no more lines, and drawing them takes time from the chains."""

EVERY = 0.25
"""Seconds between two pictures in a notebook: each travels to its browser."""


@contextmanager
def progress_bars(chains: int, draws: int, quiet: bool = False, stream: TextIO | None = None) -> Generator[Watch]:
    """Give a `Watch` that shows bars, one per chain or one for many: in a notebook below its cell, else on stderr.

    Nothing is shown where stderr is no terminal.

    Args:
        chains: number of chains.
        draws: draws of each, warmup included.
        quiet: show nothing.
        stream: the stream to write to, stderr by default.
    """
    out = sys.stderr if stream is None else stream
    together = chains > MOST_BARS
    names = [f"draws of {chains} chains"] if together else [f"chain {k + 1}" for k in range(chains)]
    totals = [draws * chains // len(names)] * len(names)
    if quiet:
        yield unwatched
    elif stream is None and (display := _notebook_display()) is not None:
        yield _merged(_in_notebook(names, totals, display), together=together)
    elif not out.isatty():
        yield unwatched
    else:
        with _on_terminal(names, totals, out) as show:
            yield _merged(show, together=together)


Show = Callable[[Sequence[int]], None]
"""Told how many draws every bar stands for."""


def _merged(show: Show, *, together: bool) -> Watch:
    def watch(done: Sequence[int], total: int) -> None:
        del total
        show([sum(done)] if together else done)

    return watch


@contextmanager
def _on_terminal(names: Sequence[str], totals: Sequence[int], out: TextIO) -> Generator[Show]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(file=out)) as bars:
        tasks = [bars.add_task(name, total=total) for name, total in zip(names, totals, strict=True)]

        def show(counts: Sequence[int]) -> None:
            for task, count in zip(tasks, counts, strict=True):
                bars.update(task, completed=count)

        yield show


def _notebook_display() -> Any:
    """Return the module that shows things below a cell, None where no notebook runs this."""
    ipython = sys.modules.get("IPython")  # it runs every notebook, and is never imported for this
    shell = None if ipython is None else ipython.get_ipython()
    if shell is None or type(shell).__name__ == "TerminalInteractiveShell":
        return None
    return import_module("IPython.display")


def _in_notebook(names: Sequence[str], totals: Sequence[int], display: Any) -> Show:
    """Return what draws the bars below the cell, in one output that is replaced."""
    last = 0.0
    handle = display.display(display.HTML(_bars(names, [0] * len(names), totals)), display_id=True)

    def show(counts: Sequence[int]) -> None:
        nonlocal last
        if time.monotonic() - last >= EVERY or list(counts) == list(totals):
            last = time.monotonic()
            handle.update(display.HTML(_bars(names, counts, totals)))

    return show


def _bars(names: Sequence[str], counts: Sequence[int], totals: Sequence[int]) -> str:
    rows = [
        f'<tr><td>{name}</td><td><progress value="{count}" max="{total}"></progress></td><td>{count}/{total}</td></tr>'
        for name, count, total in zip(names, counts, totals, strict=True)
    ]
    return f"<table>{''.join(rows)}</table>"

"""What a command does, and how far its chains are, on a terminal or in a notebook."""

import os
import sys
import threading
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import TextIO, cast

from recipe_compiler.emit.support.chains import _checked_progress
from recipe_compiler.errors import RunError
from recipe_compiler.run.chains import Watch
from recipe_compiler.run.sample import unwatched

MOST_BARS = 16
"""More chains than this share one bar: a terminal shows no more lines, and drawing them takes time from the chains."""

SILENCE = 4.0
"""The most seconds in which a command says nothing of what it does; the lines come a little later."""


class Stages:
    """Says what a command does at least every five seconds, on stderr: on a terminal in one line that is replaced."""

    def __init__(self, out: TextIO | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        self._out, self._clock = sys.stderr if out is None else out, clock
        self._what, self._shown = "", False
        self.mark = ""
        """What each line begins with."""
        self._last = self._began = clock()
        self._ended = threading.Event()

    def __call__(self, what: str) -> None:
        """Take note of what is being done; the empty string: what follows is said elsewhere."""
        self._what = what
        if not what and self._shown:
            self._shown = False
            self._write("\x1b[2K")

    def tick(self) -> None:
        """Say what is being done, unless something was said just before."""
        now, what = self._clock(), self._what
        if now - self._last < SILENCE or not what:
            return
        self._last, line = now, f"{self.mark}{what} ({now - self._began:.0f} s)"
        self._shown = self._out.isatty()
        self._write(f"\x1b[2K{line}\r" if self._shown else f"{line}\n")

    def watch(self, done: Sequence[int], total: int) -> None:
        """Take note of how far chains are."""
        self(f"drawing: {sum(done)} of {total * len(done)} draws")

    def _write(self, text: str) -> None:
        try:
            os.write(self._out.fileno(), text.encode())  # takes no lock that a fork of this moment would keep for ever
        except (OSError, ValueError):  # it is no file
            self._out.write(text)

    @contextmanager
    def said(self, *, quiet: bool = False) -> Generator["Stages"]:
        """Say what is done while this lasts, from a thread of its own."""

        def go_on() -> None:
            while not self._ended.wait(SILENCE / 8.0):
                self.tick()

        if not quiet:
            threading.Thread(target=go_on, daemon=True).start()
        try:
            yield self
        finally:
            self._ended.set()
            self("")


Progress = bool | Callable[[int, int, int, str], object]
"""Whether bars are shown, a line in a notebook; or what is called as progress(chain, draws, total, phase)."""


def demand_progress(progress: object) -> None:
    """Raise RunError for what is neither a truth value nor callable as progress."""
    try:
        _checked_progress(progress, 0)
    except TypeError as error:
        raise RunError(str(error)) from None


@contextmanager
def watching(progress: Progress, chains: int, warmup: int, draws: int) -> Generator[Watch]:
    """Give a `Watch` that shows bars, calls a function of the user, or does nothing.

    Args:
        progress: which of these.
        chains: number of chains.
        warmup: draws of each that are of its warmup.
        draws: draws of each, warmup included.
    """
    if progress is False or (progress is True and not _is_notebook()):
        with progress_bars(chains, draws, quiet=not progress) as watch:
            yield watch
        return
    tell = cast("Callable[[Sequence[int], int, bool], None]", _checked_progress(progress, warmup))
    yield lambda done, total: tell(done, total, min(done) == total)


def _is_notebook() -> bool:
    ipython = sys.modules.get("IPython")  # it runs every notebook, and is never imported for this
    shell = None if ipython is None else ipython.get_ipython()
    return shell is not None and type(shell).__name__ != "TerminalInteractiveShell"


@contextmanager
def progress_bars(
    chains: int,
    draws: int,
    quiet: bool = False,
    stream: TextIO | None = None,
    plain: Watch = unwatched,
    mark: str = "",
) -> Generator[Watch]:
    """Give a `Watch` that shows bars on stderr, one per chain or one for many.

    Where stderr is no terminal `plain` is called instead.

    Args:
        chains: number of chains.
        draws: draws of each, warmup included.
        quiet: show nothing.
        stream: the stream to write to, stderr by default.
        plain: called with how far the chains are where there are no bars.
        mark: what the name of each bar begins with.
    """
    out = sys.stderr if stream is None else stream
    if quiet or not out.isatty():
        yield unwatched if quiet else plain
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    together = chains > MOST_BARS
    names = [f"draws of {chains} chains"] if together else [f"chain {k + 1}" for k in range(chains)]
    names = [f"{mark}{name}" for name in names]
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(file=out)) as bars:
        tasks = [bars.add_task(name, total=draws * chains // len(names)) for name in names]

        def watch(done: Sequence[int], total: int) -> None:
            del total
            for task, count in zip(tasks, [sum(done)] if together else done, strict=True):
                bars.update(task, completed=count)

        yield watch

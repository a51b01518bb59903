"""stdout and stderr as a command meets them: closed, full, or with a reader who has gone.

What was decided does not depend on who reads it. What is written to a stream that is closed, or whose reader has gone,
goes nowhere; so does everything on stderr that cannot be written. Only a stdout that is there and refuses (a full disk)
is an error: its result is lost.
"""

import io
import os
import sys
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


def guard_streams() -> None:
    """Put streams in place of stdout and stderr that behave so, and spell out what their encodings cannot hold."""
    _occupy_closed_numbers()
    sys.stdout = _guarded(sys.stdout, forgiving=False)
    sys.stderr = _guarded(sys.stderr, forgiving=True)


class _Output(io.FileIO):
    """The raw end of a stream, which is left open when it is closed."""

    def __init__(self, number: int, *, forgiving: bool) -> None:
        super().__init__(number, "w", closefd=False)
        self._forgiving = forgiving

    def write(self, data: "ReadableBuffer", /) -> int | None:
        """Write to the stream, or to nowhere."""
        try:
            return super().write(data)
        except OSError as error:
            _to_nowhere(self.fileno())  # the interpreter would try once more when it ends
            if self._forgiving or isinstance(error, BrokenPipeError):
                return memoryview(data).nbytes
            error.filename = "stdout"
            raise


def _guarded(stream: TextIO | None, *, forgiving: bool) -> TextIO:
    if stream is None:  # the interpreter found it closed
        return open(os.devnull, "w", encoding="utf-8")
    if not isinstance(stream, io.TextIOWrapper):
        return stream
    if type(getattr(stream.buffer, "raw", stream.buffer)) is not io.FileIO:
        stream.reconfigure(errors="backslashreplace")  # a console of Windows, or what a test has put there
        return stream
    stream.flush()
    buffer = io.BufferedWriter(_Output(stream.fileno(), forgiving=forgiving))
    by_line = stream.line_buffering or stream.write_through
    return io.TextIOWrapper(buffer, stream.encoding, "backslashreplace", line_buffering=by_line)


def _occupy_closed_numbers() -> None:
    """Open the numbers 0, 1 and 2 where they are closed: a file that got one would be written into as a stream."""
    while (number := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(number)


def _to_nowhere(number: int) -> None:
    """Let everything that is still to be written to a stream go nowhere."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, number)
    os.close(nowhere)

"""However a command ends, it is with one of the exit codes and, where something went wrong, in a few clear lines.

What was decided does not depend on who reads it. What is written to a stream that is closed, or whose reader has gone,
goes nowhere; so does everything on stderr that cannot be written. Only a stdout that is there and refuses (a full disk)
is an error: its result is lost.
"""

import io
import os
import sys
import traceback
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn, ParamSpec, TextIO

import typer

from recipe_compiler.commands.exit_code import ExitCode
from recipe_compiler.display import complain, mark_lines, show_faults
from recipe_compiler.errors import CompilerError, DocumentError, ReadBackError, RecipeError, VerificationError
from recipe_compiler.verdict import Verdict

Options = ParamSpec("Options")


def worst(codes: list[ExitCode]) -> ExitCode:
    """Return the exit code of several documents: the first of 2, 1, 3 that occurs."""
    order = (ExitCode.FAULTY, ExitCode.REFUTED, ExitCode.UNDECIDED)
    return next((code for code in order if code in codes), ExitCode.PROVED)


def of_verdict(verdict: Verdict, *, allow_undecided: bool) -> ExitCode:
    """Return the exit code of one verdict."""
    match verdict:
        case Verdict.PROVED:
            return ExitCode.PROVED
        case Verdict.REFUTED:
            return ExitCode.REFUTED
        case Verdict.UNDECIDED:
            return ExitCode.PROVED if allow_undecided else ExitCode.UNDECIDED


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

    def write(self, data: "ReadableBuffer", /) -> int:
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


def with_exit_code(command: Callable[Options, ExitCode]) -> Callable[Options, NoReturn]:
    """Return a command that leaves with its exit code, its imports within: no other exit code means refuted."""

    @wraps(command)
    def run(*args: Options.args, **options: Options.kwargs) -> NoReturn:
        mark_lines("")
        try:
            code = command(*args, **options)
            sys.stdout.flush()
        except typer.BadParameter:
            raise
        except (Exception, KeyboardInterrupt, SystemExit) as error:
            code = code_of(error)
        raise typer.Exit(code)

    return run


def code_of(error: BaseException) -> ExitCode:
    """Say what went wrong and return the exit code that means it."""
    match error:
        case DocumentError():
            show_faults(error.faults)
        case ReadBackError():
            complain(str(error))
            return ExitCode.UNDECIDED
        case VerificationError():
            complain(str(error))
            return ExitCode.REFUTED
        case RecipeError() if not isinstance(error, CompilerError):
            complain(str(error))
        case OSError():  # in one line, which file the system refused, and why
            complain(f"{f'{error.filename}: ' if error.filename else ''}{error.strerror or error}")
        case MemoryError():
            complain("out of memory: ask for fewer --draws, --warmup or --chains")
        case SystemExit():  # of code that a specification or a target names
            complain(f"found code that ended the program ({error.code}), expected it to return")
        case KeyboardInterrupt():
            complain("interrupted")
            return ExitCode.INTERRUPTED
        case _:  # a traceback is of no use to a user: what it means is that we have a bug
            _show_own_fault(error)
            return ExitCode.OWN_FAULT
    return ExitCode.FAULTY


def _show_own_fault(error: BaseException) -> None:
    if os.environ.get("RECIPE_TRACEBACK"):
        traceback.print_exception(error)
    last = traceback.extract_tb(error.__traceback__)[-1]
    complain(f"an internal error of recipe_compiler, not of your document: {type(error).__name__}: {error}")
    complain(f"    raised at {Path(last.filename).name}:{last.lineno}, in {last.name}")
    complain(
        "    please report it, with the document; RECIPE_TRACEBACK=1 in the environment prints the whole traceback"
    )

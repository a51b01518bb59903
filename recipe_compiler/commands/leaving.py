"""However a command ends, it is with one of the exit codes and, where something went wrong, in a few clear lines."""

import os
import sys
import traceback
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import NoReturn, ParamSpec

import typer

from recipe_compiler.commands.exit_code import ExitCode
from recipe_compiler.display import complain, show_faults
from recipe_compiler.errors import CompilerError, DocumentError, ReadBackError, RecipeError

Options = ParamSpec("Options")


def leaving(command: Callable[Options, ExitCode]) -> Callable[Options, NoReturn]:
    """Return a command that leaves with its exit code, its imports within: no other exit code means refuted."""

    @wraps(command)
    def run(*args: Options.args, **options: Options.kwargs) -> NoReturn:
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
    complain(f"a fault of recipe_compiler, not of your document: {type(error).__name__}: {error}")
    complain(f"    raised at {Path(last.filename).name}:{last.lineno}, in {last.name}")
    complain(
        "    please report it, with the document; RECIPE_TRACEBACK=1 in the environment prints the whole traceback"
    )

"""Functions of a user's Python file, called by hand: where they fail, one sentence says where."""

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from traceback import walk_tb

from numba.core.errors import NumbaError

from recipe_compiler.errors import RunError
from recipe_compiler.spec.model import Code


def call_once(call: str, where: str, done: Callable[[], object]) -> object:
    """Return what a function returns where it is first called, and compiled.

    Args:
        call: how it is called, for messages.
        where: at what, likewise.
        done: calls it.

    Raises:
        RunError: it cannot be compiled, or raises.
    """
    try:
        return done()
    except NumbaError as error:
        raise RunError(f"{call} cannot be compiled by numba: {_first_lines(error)}") from error
    except Exception as error:  # the user's own code may raise anything
        raise RunError(f"{call} raises {type(error).__name__} {where}: {error}") from error


@contextmanager
def blaming(codes: Sequence[Code]) -> Generator[None]:
    """Report what an emitted module raises as a fault of the user's functions that it calls.

    Nothing else that is compiled there raises but for want of memory. For some exceptions, such as a division by zero,
    numba does not say where they were raised: then it may be any of these functions.

    Raises:
        RunError: in the place of what one of them raises.
    """
    try:
        yield
    except (MemoryError, NumbaError):
        raise
    except Exception as error:
        if not codes:
            raise
        files = {code.file.resolve(): str(code) for code in codes}
        places = (Path(frame.f_code.co_filename).resolve() for frame, _ in walk_tb(error.__traceback__))
        guilty = next((files[place] for place in places if place in files), " or ".join(map(str, codes)))
        raise RunError(f"{guilty} raises {type(error).__name__} where a chain calls it: {error}") from error


def _first_lines(error: NumbaError) -> str:
    """Return what numba found, without what it was doing then."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return " ".join(lines[:3])

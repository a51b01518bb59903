"""A lock on a file, which the system takes from a process when it ends, however it ends."""

import errno
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import IO


def held(path: Path) -> IO[bytes] | None:
    """Return the file at `path`, made where it is not there and locked until it is closed; None if another holds it.

    By `flock` where there is one, by `msvcrt.locking` on Windows. Raises OSError where the file cannot be opened, or
    the system has no locks.
    """
    file = path.open("ab")
    try:
        _lock(file.fileno())
    except BlockingIOError:
        file.close()
        return None
    except OSError as error:
        file.close()
        error.filename = str(path)
        raise
    return file


def _lock(number: int) -> None:
    """Lock an open file. Raises BlockingIOError where another process has it."""
    with suppress(ModuleNotFoundError):
        fcntl = import_module("fcntl")
        fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return
    with suppress(ModuleNotFoundError):
        msvcrt = import_module("msvcrt")
        try:
            msvcrt.locking(number, msvcrt.LK_NBLCK, 1)
        except PermissionError as error:  # what it says of a lock that another has
            raise BlockingIOError(*error.args) from error
        return
    raise OSError(errno.ENOTSUP, "this system has no locks of files: two runs could write into one folder")

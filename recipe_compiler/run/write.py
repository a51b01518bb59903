"""Writing a file whole or not at all."""

import os
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path


def write_whole(path: Path, content: bytes) -> None:
    """Write a file so that at every instant it is either absent, or the old one, or complete."""
    with written_whole(path) as beside:
        beside.write_bytes(content)


@contextmanager
def written_whole(path: Path) -> Generator[Path]:
    """Yield the path of an empty file beside `path`, which takes its place once the block has filled it.

    Where the block raises, what it wrote is removed and `path` stays as it was.
    """
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    os.close(handle)
    beside = Path(name)
    try:
        yield beside
        _settle(beside)
        beside.chmod(0o666 & ~_umask())  # temporary files are made for their owner alone
        beside.replace(path)
        _settle(path.parent)
    except BaseException as error:
        beside.unlink(missing_ok=True)
        if isinstance(error, OSError):  # what a user knows is the file that was asked for
            error.filename, error.filename2 = str(path), None
        raise


def _settle(path: Path) -> None:
    """Have what a file or a folder holds on the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _umask() -> int:
    """Return the process's umask, which can only be read by setting it."""
    mask = os.umask(0)
    os.umask(mask)
    return mask

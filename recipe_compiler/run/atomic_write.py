"""Writing a file whole or not at all."""

import errno
import os
import secrets
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from recipe_compiler.spec.files import no_file

LONGEST = 100
"""Characters of a name that are kept in that of the file beside it: a name may have 255."""


def write_whole(path: Path, content: bytes | memoryview) -> None:
    """Write a file so that at every instant it is either absent, or the old one, or complete."""
    with written_whole(path) as beside:
        beside.write_bytes(content)


@contextmanager
def written_whole(path: Path) -> Generator[Path]:
    """Yield the path of an empty file beside `path`, which takes its place once the block has filled it.

    Where the block raises, what it wrote is removed and `path` stays as it was. A link stays a link: what it leads to
    is written.

    Raises OSError, which names `path`, where it cannot be written or is there and no file.
    """
    beside: Path | None = None
    try:
        if what := no_file(path):
            raise OSError(errno.EINVAL, f"found {what}, expected a file")
        place = Path(os.path.realpath(path))
        made = place.with_name(f".{place.name[:LONGEST]}.{secrets.token_hex(8)}")
        made.touch(exist_ok=False)
        beside = made
        yield beside
        _settle(beside)
        beside.replace(place)
        _settle(place.parent)
    except BaseException as error:  # an interrupt too: no half-written file stays
        if beside is not None:
            beside.unlink(missing_ok=True)
        if isinstance(error, OSError):  # what a user knows is the file that was asked for
            error.filename, error.filename2 = str(path), None
        raise


def _settle(path: Path) -> None:
    """Have what a file or a folder holds on the disk, where the system can."""
    if path.is_dir() and os.name == "nt":  # a folder is not opened there
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)

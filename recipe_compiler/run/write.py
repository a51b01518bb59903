"""Writing a file whole or not at all."""

import os
import tempfile
from pathlib import Path


def write_whole(path: Path, content: bytes) -> None:
    """Write a file so that at every instant it is either absent, or the old one, or complete."""
    handle, beside = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        Path(beside).chmod(0o644)  # temporary files are made for their owner alone
        Path(beside).replace(path)
        _settle(path.parent)
    except BaseException:
        Path(beside).unlink(missing_ok=True)
        raise


def _settle(folder: Path) -> None:
    """Have the new name on the disk too."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)

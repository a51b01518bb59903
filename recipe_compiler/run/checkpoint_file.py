"""Files of arrays that say what they are and notice every change: kind and version, a digest, a header, npz.

A lock keeps two runs from one file; the system takes it from a process when that ends, however it ends.
"""

import errno
import hashlib
import io
import json
import zipfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from recipe_compiler.errors import RunError
from recipe_compiler.run.atomic_write import write_whole

KIND = "recipe_compiler checkpoint"
VERSION = 4


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
    raise OSError(errno.ENOTSUP, "this system has no file locks: two runs could write into one folder")


@dataclass(frozen=True, slots=True, eq=False)
class Sealed:
    """What a sealed file holds."""

    header: Mapping[str, Any]
    arrays: Mapping[str, NDArray[Any]]
    digest: str
    """SHA-256 of header and arrays."""


def write_sealed(path: Path, header: Mapping[str, object], arrays: Mapping[str, NDArray[Any]]) -> str:
    """Write a sealed file, whole or not at all; return its digest."""
    payload = io.BytesIO()
    np.savez(payload, allow_pickle=False, **dict(arrays))
    body = json.dumps(header, sort_keys=True).encode("ascii") + b"\n" + payload.getvalue()
    digest = hashlib.sha256(body).hexdigest()
    write_whole(path, f"{KIND} {VERSION}\n{digest}\n".encode("ascii") + body)
    return digest


def read_sealed(path: Path) -> Sealed:
    """Return what a sealed file holds. No object is ever unpickled.

    Raises:
        RunError: it is no such file, of another version, or not as it was written.
        OSError: it cannot be read.
    """
    text = path.read_bytes()
    kind, _, rest = text.partition(b"\n")
    digest, _, body = rest.partition(b"\n")
    if not kind.startswith(KIND.encode("ascii")):
        raise RunError(f"{path}: found no checkpoint of this program, expected one: remove it, or run without --resume")
    if kind != f"{KIND} {VERSION}".encode("ascii"):
        version = kind[len(KIND) + 1 : len(KIND) + 20].decode("ascii", "replace")
        raise RunError(f"{path}: found a checkpoint of version {version}, expected {VERSION}: run without --resume")
    found = hashlib.sha256(body).hexdigest().encode("ascii")
    if digest != found:
        raise RunError(f"{path}: found damaged (its SHA-256 is {found[:12].decode()}..., expected {_shown(digest)}...)")
    header, _, payload = body.partition(b"\n")
    try:
        with np.load(io.BytesIO(payload), allow_pickle=False) as arrays:
            return Sealed(json.loads(header), {name: arrays[name] for name in arrays.files}, digest.decode("ascii"))
    except (ValueError, zipfile.BadZipFile) as error:
        raise RunError(f"{path}: found no plain arrays, expected a checkpoint: {error}") from error


def _shown(digest: bytes) -> str:
    return digest[:12].decode("ascii", "replace")

"""Arrays larger than memory: written once, piece by piece, to `.npy` files that runs then map.

A conversion is a folder named after what it was made of. It is written under another name and renamed, so that it is
whole or not there. It may be removed at any time; the next run makes it again.
"""

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from recipe_compiler.errors import DataError
from recipe_compiler.run.load_module import cache_folder
from recipe_compiler.spec.files import state_of

Arrays = dict[str, NDArray[Any]]

FOLDER = ".recipe_data"
"""Next to the data, where that folder can be written; otherwise in the cache folder."""


def converted(file: Path, how: Mapping[str, object], pieces: Callable[[], Iterable[Arrays]]) -> Arrays:
    """Return the arrays that the pieces make, end to end, mapped and read-only; they are made once for a file.

    Args:
        file: what the pieces are read from: known by its path and what the system notes of it (`state_of`).
        how: all else that the pieces depend on, as JSON.
        pieces: gives parts of every array, in order, each with the same names, types and shapes but for the first
            axis; called only where they were not converted yet.

    Raises:
        DataError: as the pieces do, or there is no room for them.
    """
    source = [str(file.resolve()), *state_of(file)]
    name = hashlib.sha256(json.dumps([source, how], sort_keys=True).encode()).hexdigest()[:24]
    for folder in _folders(file):
        if (folder / name).is_dir():
            return _mapped(folder / name)
    folder = next((folder for folder in _folders(file) if _writable(folder)), None)
    if folder is None:
        raise DataError([f"{file}: found no folder that can be written to, expected {FOLDER} beside it or a cache"])
    beside = Path(tempfile.mkdtemp(dir=folder, prefix=f".{name}."))
    try:
        _write(beside, pieces())
        with suppress(OSError):  # another process was faster: its arrays are the same
            beside.rename(folder / name)
        return _mapped(folder / name)
    except OSError as error:
        raise DataError([f"{file}: cannot be converted in {folder}: {error}"]) from error
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def _folders(file: Path) -> tuple[Path, Path]:
    return file.parent / FOLDER, cache_folder() / "data"


def _writable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return False
    return os.access(folder, os.W_OK)


def _mapped(folder: Path) -> Arrays:
    return {path.stem: np.load(path, mmap_mode="r", allow_pickle=False) for path in sorted(folder.glob("*.npy"))}


def _write(folder: Path, pieces: Iterable[Arrays]) -> None:
    """Append the pieces to one file for each array: how long it gets is not known before the last.

    Not by `open_memmap`, which asks for the shape first, and whose pages would count as memory.
    """
    files: dict[str, IO[bytes]] = {}
    shapes: dict[str, tuple[int, ...]] = {}
    types: dict[str, np.dtype[Any]] = {}
    try:
        for piece in pieces:
            for name, array in piece.items():
                if name not in files:
                    files[name] = (folder / f"{name}.npy").open("wb")
                    shapes[name], types[name] = (0, *array.shape[1:]), array.dtype
                    _write_header(files[name], shapes[name], types[name])
                files[name].write(np.ascontiguousarray(array, types[name]).data)
                shapes[name] = (shapes[name][0] + array.shape[0], *shapes[name][1:])
        for name, file in files.items():
            file.seek(0)  # numpy leaves room in a header for the first axis to grow
            _write_header(file, shapes[name], types[name])
            file.flush()
            os.fsync(file.fileno())
    finally:
        for file in files.values():
            file.close()


def _write_header(file: IO[bytes], shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
    described = {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(file, described)

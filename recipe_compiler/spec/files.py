"""Files as documents name them: which ones a document was read from, and what only looks like one."""

import json
import os
import stat
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from recipe_compiler.errors import spec_error
from recipe_compiler.spec.model import Build, Claims, Document, Dynamics, Image, Scheme, Source, Target
from recipe_compiler.spec.places import ORDERED
from recipe_compiler.spec.yaml_reader import MAX_BYTES

NAMING_FILES: Mapping[str, tuple[str, ...]] = {
    "dynamics": ("dynamics",), "target": ("target",), "data": ("file", "arrays"), "test": ("file", "arrays"),
    "parameters": ("value",),    "scheme": ("use", "code"),
}  # fmt: skip
"""Sections of a build to the keys under which names of files stand, some beside other texts."""


def no_file(path: Path) -> str:
    """Return what stands at a path in place of a file; the empty string where there is a file, or nothing.

    Raises OSError where the system does not tell: a loop of links, a folder that may not be searched.
    """
    try:
        mode = path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return ""
    if stat.S_ISREG(mode):
        return ""
    return "a folder" if stat.S_ISDIR(mode) else "a pipe or a device"


def read_bytes(path: Path) -> bytes:
    """Return the bytes of a file, at most one more than a document may have. Raises SpecError."""
    try:
        if what := no_file(path):
            raise spec_error(path, "document", f"found {what}, expected a file")
        with path.open("rb") as file:
            return file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise spec_error(path, "document", f"found no file that can be read: {reason}") from None


def same_file(one: Path, other: Path) -> bool:
    """Return whether two paths lead to one file, by links too."""
    try:
        return os.path.samefile(one, other)
    except OSError:
        return False


def state_of(path: Path) -> tuple[int, ...]:
    """Return numbers of which one is another once a file has changed, without reading it: size, times, inode, device.

    The time of the content is set back by `touch -d`, `cp -p` and `tar`; the time of the last change of any kind, which
    the system notes itself, is not. Raises OSError.
    """
    state = path.stat()
    return state.st_size, state.st_mtime_ns, state.st_ctime_ns, state.st_ino, state.st_dev


def files_of(document: Document) -> tuple[Path, ...]:
    """Return every file that a document was read from or that its run reads: its own first."""
    own = Path(document.source.file)
    match document:
        case Dynamics(claims=Claims(image=Image(of=other))):
            return (own, Path(other.source.file))
        case Dynamics() | Scheme():
            return (own,)
        case Target():
            return (own, *(() if document.gradient is None or document.is_open else (document.gradient.file,)))
        case Build():
            values = tuple(value.file for _, value in document.values if value.file is not None)
            of_data = (document.data, None if document.test is None else document.test.file)
            data = (path for own in of_data if own for path in (own.file, *(path for _, path in own.arrays)))
            named = (path for part in document.parts.values() for path in files_of(part))
            moves = (code.file for code in document.codes if code != document.target.gradient)
            return (own, *named, *values, *data, *moves)


def with_absolute_names(source: Source) -> Source:
    """Return the document of a build whose files are named from the root: it means the same in whatever folder."""
    folder = Path(source.file).resolve().parent

    def named(value: Any, key: str, keys: tuple[str, ...]) -> Any:
        match value:
            case dict():
                return {name: named(part, key if key == "arrays" else name, keys) for name, part in value.items()}
            case list():
                return [named(part, key, keys) for part in value]
            case str() if key in keys:
                name, colon, function = value.partition(":") if key == "code" else (value, "", "")
                return f"{folder / name}{colon}{function}" if name and (folder / name).is_file() else value
            case _:
                return value

    document = dict(json.loads(source.document))
    for section, keys in NAMING_FILES.items():
        if section in document and section in ORDERED:
            document[section] = [[name, named(value, name, keys)] for name, value in document[section]]
        elif section in document:
            document[section] = named(document[section], section, keys)
    return replace(source, document=json.dumps(document))

"""What ships with the package under a name: the documents and the data of `specs`."""

import os
import re
from pathlib import Path

FOLDER = Path(__file__).parents[1] / "catalogue"
"""A link to `specs`, whose files a wheel holds: a folder for each kind of document, and one of data."""
FOLDERS = {
    "dynamics": "dynamics", "target": "targets", "scheme": "schemes", "build": "builds", "experiment": "experiments"
}  # fmt: skip
"""Kinds of document and the folders that they are in; no name is of two documents."""
SCHEMES = FOLDER / FOLDERS["scheme"]
NAMED = tuple(sorted(path.stem for path in SCHEMES.glob("*.yaml")))
"""Schemes that are words, each by the name of its document."""
EULER = ("euler", "sequential_euler")
"""Steps that are no words: every block is moved by its whole drift."""

_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_]*", re.ASCII)


def is_plain(name: str) -> bool:
    """Whether a text may be the name of something that ships: it is no path, and has no suffix."""
    return _PLAIN.fullmatch(name) is not None


def shipped(name: str, kinds: tuple[str, ...] = tuple(FOLDERS)) -> Path | None:
    """Return the document of a name, of one of some kinds; None where none ships under it."""
    paths = (FOLDER / FOLDERS[kind] / f"{name}.yaml" for kind in kinds if is_plain(name))
    return next((path for path in paths if os.path.isfile(path)), None)


def shipped_data(name: str) -> Path | None:
    """Return the table of a name; None where none ships under it."""
    path = FOLDER / "data" / f"{name}.csv"
    return path if is_plain(name) and os.path.isfile(path) else None


def names(kind: str) -> tuple[str, ...]:
    """Return the names of one kind of document, or of `data`, in alphabetical order."""
    paths = (FOLDER / FOLDERS.get(kind, kind)).glob("*.csv" if kind == "data" else "*.yaml")
    return tuple(sorted(path.stem for path in paths))


def every_name() -> tuple[str, ...]:
    """Return the names of all documents."""
    return tuple(name for kind in FOLDERS for name in names(kind))

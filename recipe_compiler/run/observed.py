"""The data of a build, read before its verdicts where that is soon done: verdicts may rest on facts of them."""

from dataclasses import replace
from pathlib import Path

from recipe_compiler.errors import DataError
from recipe_compiler.run.columns import open_array
from recipe_compiler.run.data import Data, columns_read, load_data
from recipe_compiler.run.sizes import resolve_sizes
from recipe_compiler.spec.model import Build, DataFile, Document, Observed

LARGEST = 32 * 2**20
"""Bytes of a table beyond which it is left to the run."""
MOST = 2**25
"""Numbers of an array beyond which it is."""


def observed(document: Document, data: Data | None = None) -> Document:
    """Return a build with its data, or with why they are not known before a run; any other document as it is.

    Args:
        document: what is to be decided.
        data: the fields of the target, where they are given; else they are read from the files that the build names.
    """
    if not isinstance(document, Build) or not document.target.declarations.data or document.target.gradient is not None:
        return document
    if data is not None:
        return replace(document, observed=_of(document, data, "the data given"))
    if document.data is None:
        return replace(document, observed="its data are given when a run begins")
    late = _left_to_the_run(document.data)
    if late:
        return replace(document, observed=late)
    try:
        read = load_data(document.data, document.target)
        columns = () if document.data.arrays else columns_read(document.data)
    except (DataError, OSError, MemoryError) as error:
        return replace(document, observed=f"its data cannot be read: {str(error).splitlines()[0]}")
    found = _of(document, read, document.data.file.name)
    return replace(document, observed=replace(found, columns=columns) if isinstance(found, Observed) else found)


def demand_data(build: Build, data: Data | None = None) -> None:
    """Raise DataError where data of a build that are looked at before it runs cannot be read, or do not fit.

    What its verdicts lack then is not what is to be mended first.

    Args:
        build: what is decided.
        data: the fields of the target, where they are given; else they are read from the files that the build names.
    """
    if data is not None:
        resolve_sizes(build, data)
    elif build.data is not None and not _left_to_the_run(build.data):
        resolve_sizes(build, load_data(build.data, build.target))


def _of(build: Build, data: Data, file: str) -> Observed | str:
    try:
        sizes = tuple(resolve_sizes(build, data).items())
    except DataError as error:
        return f"its data do not fit: {str(error).splitlines()[0]}"
    return Observed(file, data.rows, tuple((field.name, field.values) for field in data.fields), sizes)


def _left_to_the_run(file: DataFile) -> str:
    """Return why data are not read yet: they are large; empty where they are read."""
    for path in [path for _, path in file.arrays] or [file.file]:
        if _is_large(path):
            return f"{path.name} is large, and known when a run begins"
    return ""


def _is_large(path: Path) -> bool:
    try:
        if path.suffix.lower() == ".npy":
            return open_array(path).size > MOST
        return path.stat().st_size > LARGEST
    except (DataError, OSError):
        return False

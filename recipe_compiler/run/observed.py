"""The data of a build, read once; before its verdicts where that is soon done, as they may rest on the data."""

from dataclasses import replace
from pathlib import Path

from recipe_compiler.errors import DataError
from recipe_compiler.run.assumed_of_data import check_assumed
from recipe_compiler.run.columns import open_array
from recipe_compiler.run.data import Data, load_data
from recipe_compiler.run.sizes import potential_block, resolve_sizes
from recipe_compiler.spec.build_checks import given_by_data, is_stacked
from recipe_compiler.spec.model import GIVEN, UNREAD, Build, DataFile, Document
from recipe_compiler.verdict import Report

LARGEST = 32 * 2**20
"""Bytes of a table beyond which it is left to the run."""
MOST = 2**25
"""Numbers of an array beyond which it is."""


def data_of_build(build: Build) -> Data:
    """Return the data of a build: those that it holds, else those of the files that it names, which fit it.

    Raises:
        DataError: they cannot be read, disagree in sizes, or are not what the target assumes of them.
    """
    if isinstance(build.observed, Data):
        return build.observed
    return _fitting(build, load_data(build.data, build.target))


def with_data(build: Build, data: Data | None = None) -> Build:
    """Return a build that holds its data: those given, else as `data_of_build`, whose errors it raises."""
    held = data_of_build(build) if data is None else _fitting(build, replace(data, file=GIVEN))
    return replace(build, observed=held)


def _fitting(build: Build, data: Data) -> Data:
    check_assumed(build, data)
    return replace(data, sizes=tuple(resolve_sizes(build, data).items()))


def observed(document: Document) -> Document:
    """Return a build with its data, or with why they are not known before a run; any other document as it is."""
    if not isinstance(document, Build) or not document.target.declarations.data:
        return document
    if document.target.gradient is not None:  # verdicts know nothing of it, whatever the data
        return replace(document, observed="")
    if isinstance(document.observed, Data) and document.observed.file == GIVEN:
        return document
    if document.data is None:
        return replace(document, observed="its data are given when a run begins")
    late = _left_to_the_run(document.data)
    if late:
        return replace(document, observed=late)
    try:
        return with_data(document)
    except (DataError, OSError) as error:
        return replace(document, observed=f"{UNREAD}{str(error).splitlines()[0]}")


def demand_data(build: Build, report: Report) -> None:
    """Raise DataError where data of a build could not be used for its verdicts: that is to be mended first."""
    if any(UNREAD in caveat for caveat in report.caveats):
        data_of_build(build)


def with_sizes(build: Build) -> Build:
    """Return a build with the sizes of the target's blocks that its data give, where they are added up in numbers.

    A size is that of an axis of a field, or one more than the largest position of an index field. The same build where
    nothing is open, or no data are known.

    Args:
        build: whose target may be of several blocks; it holds its data, or names their files.

    Raises:
        DataError: the data cannot be read, or sizes disagree.
    """
    given = dict(build.sizes)
    open_ = [size for block in build.target.declarations.blocks for size in block.shape.sizes if size not in given]
    wanted = [size for size in dict.fromkeys(open_) if isinstance(size, str) and size in given_by_data(build.target)]
    block = next((b for b in build.dynamics.declarations.blocks if b.name == potential_block(build)), None)
    if block is None or not is_stacked(build.target, block):
        return build
    if not wanted or (build.data is None and not isinstance(build.observed, Data)):
        return build
    data = data_of_build(build)
    found = dict(data.sizes)
    sizes = (*build.sizes, *((size, found[size]) for size in wanted if size in found))
    return replace(build, sizes=sizes, observed=data)


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

"""The data of a build, read once; before its verdicts where that is soon done, as they may rest on the data."""

from contextlib import suppress
from dataclasses import replace

import numpy as np

from recipe_compiler.errors import DataError
from recipe_compiler.formula.arrays import Array
from recipe_compiler.formula.densities import DENSITIES
from recipe_compiler.formula.density_terms import comparisons
from recipe_compiler.formula.expression import Compare, Number
from recipe_compiler.formula.shapes import Sizes
from recipe_compiler.formula.show import text
from recipe_compiler.run.columns import open_array
from recipe_compiler.run.data import Data, load_data, of_test, rows_of
from recipe_compiler.run.evaluate import Point, evaluate_rows, extent
from recipe_compiler.run.sizes import found_columns, parameter_values, potential_block, resolve_sizes
from recipe_compiler.spec.build_checks import given_by_data, is_stacked
from recipe_compiler.spec.formulas import is_of_data
from recipe_compiler.spec.model import GIVEN, UNREAD, Build, DataFile, Document, Target
from recipe_compiler.spec.recursion import TIMES
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
    return _fitting(build, load_data(build.data, build.target, build.test))


def with_data(build: Build, data: Data | None = None) -> Build:
    """Return a build that holds its data: those given, else as `data_of_build`, whose errors it raises."""
    held = data_of_build(build) if data is None else _fitting(build, replace(data, file=GIVEN))
    return replace(build, observed=held)


def _fitting(build: Build, data: Data) -> Data:
    sizes = resolve_sizes(build, data)
    _demand_assumed(build, data, sizes)
    if data.test is not None:
        _demand_like(build, data, data.test, sizes)
    return replace(data, sizes=tuple(sizes.items()))


def _demand_like(build: Build, data: Data, test: Data, sizes: Sizes) -> None:
    """Raise DataError where held-out rows are none that the data could have: of a level that these do not know."""
    for datum, own, held in zip(build.target.declarations.data, data.fields, test.fields, strict=True):
        if held.values.shape[1:] != own.values.shape[1:]:
            found, expected = (f"{one.values.shape[1]} columns" for one in (held, own))
            raise DataError([f"test: found {found} of `{own.name}`, expected {expected} as of the data"])
        levels = extent(datum.shape.cols or 1, sizes) if datum.is_index else 0
        beyond = np.flatnonzero(held.values >= levels) if datum.is_index else np.empty(0, int)
        if beyond.size:
            problem = f"found position {held.values[beyond[0]]} of `{own.name}` in row {beyond[0] + 1}"
            raise DataError([f"test: {problem}, expected 0 to {levels - 1}: the data have no others"])
    with of_test():
        _demand_assumed(build, test, sizes)


def _demand_assumed(build: Build, data: Data, sizes: Sizes) -> None:
    """Raise DataError for the first row in which what a target assumes of its data, `assume: ["y <= n"]`, is not so.

    Densities assume of data what they need: `binomial_logit(y, n, eta)` that y <= n (`spec/target_densities.py`).
    """
    target = build.target.as_declared
    conditions = [condition for condition in target.declarations.assume if is_of_data(condition)]
    if not conditions:
        return
    declared = {parameter.name: parameter for parameter in build.target.declarations.parameters}
    at = Point(found_columns(parameter_values(build, tuple(declared), sizes), declared), sizes)
    rows = rows_of(data, target.declarations, sizes)
    for condition in conditions:
        wrong = np.argwhere(evaluate_rows(condition, at, rows) == 0)
        if len(wrong):
            sides = [side for side in (condition.left, condition.right) if not isinstance(side, Number)]
            found = (f"{text(side)} = {_entry(evaluate_rows(side, at, rows), wrong[0]):g}" for side in sides)
            expected = f"{text(condition)}, {_says_who(condition, target)}"
            raise DataError([f"data: found {' and '.join(found)} in row {wrong[0][0] + 1}, expected {expected}"])


def _entry(values: Array, at: Array) -> float:
    """Return the entry of `[row, m, n]` at a place; one row, or one number, may stand for all."""
    return float(values[tuple(min(k, size - 1) for k, size in zip(at, values.shape, strict=True))])


def _says_who(condition: Compare, target: Target) -> str:
    """Return by what data are to satisfy a condition: a density that is stated of them, `solve`, or `assume`."""
    for one in target.stated.densities:
        row = DENSITIES[one.name]
        if condition in comparisons(row, one.arguments):
            return f"which {row.call} needs"
    is_start = condition.right in (state.start for state in target.recursion if state.solves == TIMES)
    return f"as `from: {text(condition.right)}` of `solve` says" if is_start else f"as {target.name} assumes"


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
        with suppress(DataError, OSError):
            numbers = open_array(path).size if path.suffix.lower() == ".npy" else 0
            if numbers > MOST or (not numbers and path.stat().st_size > LARGEST):
                return f"{path.name} is large, and known when a run begins"
    return ""

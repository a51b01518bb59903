"""What a target assumes of its data, `assume: ["y <= n"]`, looked at in every row before anything runs.

Densities assume of data what they need: `binomial_logit(y, n, eta)` that y <= n (`spec/target_densities.py`).
"""

from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from recipe_compiler.errors import DataError
from recipe_compiler.formula.build import nodes
from recipe_compiler.formula.expression import Apply, Compare, Entry, MatMul, Transpose
from recipe_compiler.formula.show import text
from recipe_compiler.run.data import Data
from recipe_compiler.run.evaluate import RELATIONS, Array, Point, evaluate
from recipe_compiler.run.sizes import found_columns, parameter_values, resolve_sizes
from recipe_compiler.spec.formulas import dependence, is_of_data
from recipe_compiler.spec.model import Build


def check_assumed(build: Build, data: Data) -> None:
    """Check what a build's target assumes of its data, in every row.

    Raises:
        DataError: the first row in which an assumption does not hold, with what stands there.
    """
    target = build.target.declared or build.target
    conditions = [condition for condition in target.declarations.assume if is_of_data(condition)]
    if not conditions:
        return
    sizes = resolve_sizes(build, data)
    declared = {parameter.name: parameter for parameter in build.target.declarations.parameters}
    at = Point(found_columns(parameter_values(build, tuple(declared), sizes), declared), sizes)
    for condition in conditions:
        rows = np.flatnonzero(~_holds(condition, data, at))
        if rows.size:
            row = int(rows[0])
            expected = f"expected {text(condition)}, as {target.name} assumes"
            raise DataError([f"data, row {row + 1}: found {_found(condition, data, row)}, {expected}"])


def _holds(condition: Compare, data: Data, at: Point) -> NDArray[np.bool_]:
    """Return row by row whether a condition holds, of every entry where it is one of vectors."""
    joined = any(
        isinstance(node, (Entry, MatMul, Transpose)) or (isinstance(node, Apply) and node.fn == "sum")
        for side in (condition.left, condition.right)
        for node in nodes(side)
    )
    if not joined:
        whole = {field.name: field.values.reshape(data.rows, -1).astype(np.float64) for field in data.fields}
        held = _compared(condition, whole, at)
        entries = np.broadcast_to(held, (data.rows, *held.shape[1:])).reshape(data.rows, -1)
        return np.logical_and.reduce(entries, axis=1)
    return np.fromiter((_compared(condition, row, at).all() for row in _rows(data)), bool, data.rows)


def _rows(data: Data) -> Iterator[dict[str, Array]]:
    for n in range(data.rows):
        yield {field.name: field.values[n].reshape((1, -1) if field.values.ndim == 2 else ()) for field in data.fields}


def _compared(condition: Compare, fields: Mapping[str, Array], at: Point) -> NDArray[np.bool_]:
    here = Point({**at.names, **fields}, at.sizes)
    held = RELATIONS[condition.op](evaluate(condition.left, here), evaluate(condition.right, here))
    return np.asarray(held, dtype=np.bool_)


def _found(condition: Compare, data: Data, row: int) -> str:
    """Say what a row holds: `y = 5, n = 4`."""
    used = {name for side in (condition.left, condition.right) for name in dependence(side).data}
    shown = (f"{field.name} = {np.array2string(field.values[row])}" for field in data.fields if field.name in used)
    return ", ".join(shown)

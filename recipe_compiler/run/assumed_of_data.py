"""What a target assumes of its data, `assume: ["y <= n"]`, looked at in every row before anything runs.

Densities assume of data what they need: `binomial_logit(y, n, eta)` that y <= n (`spec/target_densities.py`).
"""

import numpy as np

from recipe_compiler.errors import DataError
from recipe_compiler.formula.expression import Compare
from recipe_compiler.formula.show import text
from recipe_compiler.run.data import Data, rows_of
from recipe_compiler.run.evaluate import Point, evaluate_rows
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
    rows = rows_of(data, target.declarations, sizes)
    for condition in conditions:
        wrong = np.flatnonzero(~evaluate_rows(condition, at, rows).all(axis=(1, 2)))
        if wrong.size:
            row = int(wrong[0])
            expected = f"expected {text(condition)}, as {target.name} assumes"
            raise DataError([f"data, row {row + 1}: found {_found(condition, data, row)}, {expected}"])


def _found(condition: Compare, data: Data, row: int) -> str:
    """Say what a row holds: `y = 5, n = 4`."""
    used = {name for side in (condition.left, condition.right) for name in dependence(side).data}
    shown = (f"{field.name} = {np.array2string(field.values[row])}" for field in data.fields if field.name in used)
    return ", ".join(shown)

"""Values of parameters: exact numbers whose shape and kind are checked exactly, or array files."""

from collections.abc import Mapping as Table
from fractions import Fraction
from pathlib import Path

from recipe_compiler.algebra.scalars.rational_matrices import (
    form,
    negative_direction,
    nullspace,
    offending_entry,
    violates_exactly,
)
from recipe_compiler.formula.declaration import Parameter
from recipe_compiler.formula.shapes import SIGNS, Kind, Shape
from recipe_compiler.spec.fields import exact
from recipe_compiler.spec.model import Rows, Value
from recipe_compiler.spec.npy import npy_numbers
from recipe_compiler.spec.page import Page
from recipe_compiler.spec.yaml_nodes import Mapping, Scalar, Sequence


def read_value(at: Page, parameter: Parameter, sizes: Table[str, int], folder: Path) -> Value | None:
    """Return the value that stands at a place; None where a fault was added."""
    node = at.node
    if isinstance(node, Scalar) and node.text.endswith(".npy"):
        file = folder / node.text
        numbers = npy_numbers(file, parameter.shape, sizes)
        if not isinstance(numbers, str):
            return Value(numbers, file)
        at.meaningless(numbers, "save it with numpy.save, as float64, without objects")
        return None
    rows = _rows(at, parameter.shape)
    if rows is None:
        return None
    problem = shape_problem(rows, parameter.shape, sizes) or kind_problem(rows, parameter)
    if problem:
        at.meaningless(problem)
        return None
    return Value(rows)


def _rows(at: Page, shape: Shape) -> Rows | None:
    """Return the numbers row by row: a scalar is 1 x 1, a list a column."""
    items = at.items or (at,)
    are_rows = all(isinstance(item.node, Sequence) for item in items)
    lines = [item.items if are_rows else (item,) for item in items]
    if isinstance(at.node, Mapping) or len({len(line) for line in lines}) != 1 or not lines[0]:
        at.malformed(f"found {at.found}, expected a {shape}: a number, a list, or rows of equal length")
        return None
    rows = tuple(tuple(map(_number, line)) for line in lines)
    known = tuple(tuple(number for number in row if number is not None) for row in rows)
    return known if known == rows else None


def _number(at: Page) -> Fraction | None:
    number = exact(at.text)
    if number is None:
        hint = "write 2, 0.5, 1e-3 or 1/3, or the name of a .npy file"
        at.malformed(f"found {at.found}, expected a number", hint)
    return number


def shape_problem(rows: Rows, shape: Shape, sizes: Table[str, int]) -> str:
    """Return what is wrong with the shape of a value, the empty string if nothing is."""
    got = (len(rows), len(rows[0]))
    known = [sizes.get(size, size) if isinstance(size, str) else size for size in (shape.rows, shape.cols)]
    wanted = tuple(1 if size is None else size for size in known)
    fits = all(isinstance(want, str) or have == want for have, want in zip(got, wanted, strict=True))
    if wanted[0] == wanted[1] and got[0] != got[1]:
        fits = False
    return "" if fits else f"found {got[0]} x {got[1]} numbers, expected {wanted[0]} x {wanted[1]}: a {shape}"


def kind_problem(rows: Rows, parameter: Parameter) -> str:
    """Return why a value is not of the kinds declared, the empty string if it is; decided exactly."""
    for kind in parameter.kinds:
        own = kind in SIGNS and Kind.DIAGONAL in parameter.kinds  # what is said of entries, is said of the diagonal
        problem = _not_of_kind(tuple((row[k],) for k, row in enumerate(rows)) if own else rows, kind, parameter.name)
        if problem:
            return f"{problem}, expected {parameter.name} {kind.value}"
    return ""


def _not_of_kind(rows: Rows, kind: Kind, name: str) -> str:
    entry = offending_entry(rows, kind)
    if entry is None:
        if not violates_exactly(rows, kind):
            return ""
        v = negative_direction(rows) or nullspace(rows, len(rows))[0]
        return f"found v.T @ {name} @ v = {form(rows, v)} at v = [{', '.join(map(str, v))}]"
    i, j = entry
    at = f"{name}[{i},{j}]" if len(rows[0]) > 1 else f"{name}[{i}]" if len(rows) > 1 else name
    is_of_pairs = kind in (Kind.SKEW, Kind.SYMMETRIC, Kind.PSD, Kind.PD)
    return f"found {at} = {rows[i][j]}" + (f" and {name}[{j},{i}] = {rows[j][i]}" if is_of_pairs else "")

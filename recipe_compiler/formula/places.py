"""From a part of a formula to its place in the document, and to the fault that points there."""

from recipe_compiler.errors import Fault, Place
from recipe_compiler.formula.tree import At


def place_at(where: Place, at: At) -> Place:
    """Return the place of a part of a formula whose text starts at `where`.

    On the first line of the text the column is counted on from `where.column`; on later lines from the line's start.
    """
    if at is None or not where.line:
        return where
    if at.line:
        return Place(where.file, where.line + at.line, at.column + 1)
    return Place(where.file, where.line, where.column + at.column if where.column else 0)


def fault_at(where: Place, at: At, entry: str, problem: str, hint: str = "") -> Fault:
    """Return the fault of a part; where the document has no columns, the problem says the column of the formula."""
    if at is not None and not (where.line and where.column):
        line = f"line {at.line + 1}, " if at.line else ""
        problem = f"{problem} ({line}column {at.column + 1} of the formula)"
    return Fault(place_at(where, at), entry, problem, hint)

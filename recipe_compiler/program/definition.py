"""What is computed before it is used: named arrays, for the whole chain, for a step, or for every row of the data."""

from dataclasses import dataclass

from recipe_compiler.formula.shapes import Size
from recipe_compiler.program.loops import Array, For, ForBatch, Statement

DATUM = "n"
"""The label of the index over data."""

ROW = "row"
"""The loop variable that is the number of a row of the data."""

LETTERS = ("i", "j", "k", "l", "m", "n", "p", "q")
"""Loop variables, outermost first."""


@dataclass(frozen=True, slots=True)
class Definition:
    """An array or scalar that is computed before it is used, and the statements that compute it."""

    array: Array
    body: tuple[Statement, ...]
    constant: bool
    """Whether it stays the same along the chain."""
    of_datum: bool
    """Whether it has an entry for every row of the data that a step reads."""


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of the data that a step reads: all of them, or those of a minibatch."""

    count: Size
    position: str
    """The variable that counts them; in a minibatch it is not the number of the row."""
    minibatch: bool

    def loop(self, body: tuple[Statement, ...]) -> Statement:
        """Return the loop over them; `ROW` is the number of the row."""
        if self.minibatch:
            return ForBatch(ROW, self.position, body)
        return For(ROW, self.count, body)

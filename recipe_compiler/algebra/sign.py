"""Signs of typed formulas, for every size and everywhere on the declared domain.

The sign of a formula is the set of signs its entries may have; rules only ever widen it. Blocks are taken in the
interior of their domain (a boundary has measure zero, and what is nonnegative inside is so on the closure).
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce

from recipe_compiler.algebra import psd
from recipe_compiler.formula.declaration import Block, Declarations, Function, Parameter
from recipe_compiler.formula.expression import (
    Add,
    Apply,
    Compare,
    Entry,
    Filled,
    Formula,
    FunctionAt,
    Identity,
    MatMul,
    Multiply,
    Number,
    Pi,
    Power,
    Role,
    Symbol,
    Transpose,
)
from recipe_compiler.formula.shapes import DomainName, Kind

MINUS, ZERO, PLUS = -1, 0, 1
ANY = frozenset({MINUS, ZERO, PLUS})


@dataclass(frozen=True, slots=True)
class Sign:
    """The signs that entries may have, and what was used to know it."""

    may_be: frozenset[int]
    given: frozenset[str] = frozenset()

    @property
    def positive(self) -> bool:
        """Whether every entry is positive."""
        return self.may_be == {PLUS}

    @property
    def nonnegative(self) -> bool:
        """Whether no entry is negative."""
        return MINUS not in self.may_be

    @property
    def nonzero(self) -> bool:
        """Whether no entry is zero."""
        return ZERO not in self.may_be

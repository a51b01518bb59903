"""The next state while a step is read: every entry that is written becomes a symbol, which later entries are read with.

A step is then compared with its Program definition by definition: what `theta+` is in terms of `r+`, not in terms of
all that `r+` is. Nothing is lost: the symbols stand for what was written, whatever that is.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import sympy as sp

from recipe_compiler.tensor.scalars import Scalar

Value = Any


@dataclass(slots=True)
class Cuts:
    """The values written to the next state so far, each under a symbol that later entries are read with."""

    scalars: frozenset[str] = frozenset()
    """Names of the next state's entries where it is kept in scalars. One too many does no harm."""
    written: dict[sp.Symbol, Scalar] = field(default_factory=dict[sp.Symbol, Scalar])

    def holds(self, name: str) -> bool:
        """Whether a scalar is an entry of the next state; names kept clear of others end in underscores."""
        return name.rstrip("_") in self.scalars

    def cut(self, value: Value) -> sp.Symbol:
        """Return a new symbol for a value; one that stands for a value already is kept."""
        if value in self.written:
            return value
        symbol = sp.Symbol(f"next[{len(self.written)}]", real=True)
        self.written[symbol] = value
        return symbol

    def unknown(self) -> sp.Symbol:
        """Return a new symbol for a value that an equation determines (`solve`)."""
        symbol = sp.Symbol(f"next[{len(self.written)}]", real=True)
        self.written[symbol] = symbol
        return symbol

    def solve(self, unknown: sp.Symbol, value: Value) -> Scalar:
        """Record the right-hand side of an unknown, in terms of itself, and return it."""
        self.written[unknown] = self.said(value)
        return self.written[unknown]

    def said(self, value: Value) -> Scalar:
        """Return what a symbol stands for; any other value is itself."""
        return self.written.get(value, value)

    def array(self, values: Iterable[Value]) -> "CutArray":
        """Return an array that holds values, and the symbols of what is written to it from now on."""
        array = np.array(list(values), object).view(CutArray)
        array.cuts = self
        return array

    def defined(self, entries: Iterable[Value]) -> tuple[tuple[sp.Symbol, ...], tuple[Scalar, ...]]:
        """Return the symbols of the next state and their values, in terms of each other alone.

        A value that was overwritten is substituted where it had been read.
        """
        found = [self.cut(x) for x in entries]
        left, passing = frozenset(found), dict[sp.Symbol, Scalar]()
        for symbol, value in self.written.items():
            if symbol not in left:
                passing[symbol] = value.xreplace(passing)
        return tuple(found), tuple((sp.Integer(0) + self.written[symbol]).xreplace(passing) for symbol in found)


class CutArray(np.ndarray):
    """An array of the next state, or a part of one."""

    cuts: Cuts

    def __array_finalize__(self, whole: Any) -> None:
        """Let a part of an array keep account where the whole does."""
        self.cuts = getattr(whole, "cuts", Cuts())

    def __setitem__(self, place: Any, value: Value) -> None:
        """Write symbols that stand for the values."""
        if isinstance(value, np.ndarray | list | tuple):
            value = np.array([self.cuts.cut(entry) for entry in value], object)
        elif value is not None:
            value = self.cuts.cut(value)
        super().__setitem__(place, value)

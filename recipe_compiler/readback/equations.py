"""Implicit shifts, as an emitted step solves them: read as the equations that their loops iterate.

The body of such a loop is read once, with unknowns for what it solves for: what it compares them with is the right-hand
side of `new = old + eps rate(new)`. That the loop ends where the two sides of every entry agree, and leaves no number
behind where they do not, is checked word by word. It begins at the old value, and goes on to the other side, or by what
`_solve` makes of the difference of both. The matrix that `_solve` is given is not read: by another one the equation is
solved slower, or not at all, or at another of its solutions.
"""

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import sympy as sp

from recipe_compiler.errors import CompilerError
from recipe_compiler.program.loops import CHANGE, SIZE
from recipe_compiler.program.program import ITERATIONS, TOLERANCE
from recipe_compiler.readback.names import rational_of
from recipe_compiler.readback.next_state import Cuts
from recipe_compiler.tensor.scalars import Scalar

Value = Any
Kept = tuple[str, ...]
"""The scalars that a value is kept in, or the name of its array."""
Execute = Callable[[list[ast.stmt], dict[str, Value]], Value]
_FIRST = (f"{CHANGE} = 0.0", f"{SIZE} = 0.0")
_END = f"if {CHANGE} <= {float(TOLERANCE)!r} * {SIZE}:\n    break"


@dataclass(slots=True)
class Equations:
    """The implicit shifts of a step, new = old + eps rate(new), in order, and what is read of the one at hand."""

    stated: list[tuple[Kept, ...]] = field(default_factory=list[tuple[Kept, ...]])
    """Where the old and the new value of those left to read are kept."""
    cuts: Cuts = field(default_factory=Cuts)
    """Where unknowns and their right-hand sides are recorded."""
    compared: list[tuple[Value, ...]] = field(default_factory=list[tuple[Value, ...]])
    """The entries that the loop which is being read compares: start, unknown, other side."""
    differences: list[Value] | None = None
    """What the loop which is being read gives `_solve`; None where it calls none."""

    def read(self, loop: ast.For, scope: dict[str, Value], execute: Execute) -> Kept:
        """Read a loop that solves an equation, and return the names of what it solves for: unknowns after it.

        Args:
            loop: `for _ in range(...)`, with an `else`.
            scope: the names of the step.
            execute: what reads statements.

        Raises:
            CompilerError: the Program has no equation there, or the loop does not solve one as is laid down.
        """
        if not self.stated:
            raise CompilerError("the emitted step solves more equations than its Program has")
        old, new = self.stated.pop(0)
        body, advance = _parts(loop, new)
        starts = _entries(scope, old)
        if not self._are_same(_entries(scope, new), starts):
            raise CompilerError("the emitted step does not start solving an equation at the previous value")
        unknowns = [self.cuts.unknown() for _ in starts]
        _set(scope, new, unknowns)
        scope |= {CHANGE: CHANGE, SIZE: SIZE}
        self.compared, self.differences = [], None
        execute(body, scope)
        if [entry[:2] for entry in self.compared] != list(zip(starts, unknowns, strict=True)):
            raise CompilerError("the emitted step compares values other than those it solves for")
        others = [other for _, _, other in self.compared]
        for x, other in zip(unknowns, others, strict=True):
            self.cuts.solve(x, other)
        execute(advance, scope)
        self._check_next(_entries(scope, new), unknowns, others)
        _set(scope, new, unknowns)
        return new

    def _check_next(self, found: Sequence[Value], unknowns: Sequence[Scalar], others: Sequence[Value]) -> None:
        """Check that an iteration goes on to the other sides, or by what `_solve` makes of how far they are."""
        wanted = list(others)
        if self.differences is not None:
            wanted = [x + _guess(k) for k, x in enumerate(unknowns)]
            apart = [other - x for x, other in zip(unknowns, others, strict=True)]
            if not self._are_same(self.differences, apart):
                raise CompilerError("the emitted step does not solve for the difference of the two sides")
        if not self._are_same(found, wanted):
            raise CompilerError("the emitted step does not continue with the result of an iteration")

    def _are_same(self, found: Sequence[Value], wanted: Sequence[Value]) -> bool:
        said = self.cuts.said
        pairs = zip(found, wanted, strict=True)
        return len(found) == len(wanted) and all(a == b or sp.expand(said(a) - said(b)) == 0 for a, b in pairs)

    def solve(self, arguments: list[Value]) -> None:
        """Read a call of `_solve`: its result may be used for the next guess only."""
        _, right = arguments
        self.differences = list(right)
        right[:] = [_guess(k) for k in range(len(right))]

    def progress(self, arguments: list[Value]) -> tuple[str, str]:
        """Read a call of `_progress`: the largest difference and size so far, and three entries."""
        change, size, *entries = arguments
        if (change, size) != (CHANGE, SIZE):
            raise CompilerError("the emitted step omits differences of the values it solves for")
        self.compared.append(tuple(entries))
        return CHANGE, SIZE


def _guess(k: int) -> Scalar:
    """Return what stands for an entry that `_solve` leaves."""
    return rational_of(f"guess[{k}]")


def _parts(loop: ast.For, new: Kept) -> tuple[list[ast.stmt], list[ast.stmt]]:
    """Return what an iteration does up to where it may end, and from there on; the end itself is checked here."""
    unsolved = {f"{new[0]} = np.nan", f"{new[0]}[0] = np.nan"}
    ends = [k for k, statement in enumerate(loop.body) if isinstance(statement, ast.If)]
    if (
        len(ends) != 1
        or ast.unparse(loop.iter) != f"range({ITERATIONS})"
        or tuple(map(ast.unparse, loop.body[:2])) != _FIRST
        or ast.unparse(loop.body[ends[0]]) != _END
        or len(loop.orelse) != 1
        or ast.unparse(loop.orelse[0]) not in unsolved
    ):
        raise CompilerError(f"the emitted step iterates in an unexpected way: {ast.unparse(loop)[:80]}")
    return loop.body[2 : ends[0]], loop.body[ends[0] + 1 :]


def _entries(scope: Mapping[str, Value], names: Kept) -> list[Scalar]:
    whole = scope.get(names[0])
    return list(np.asarray(whole).ravel()) if isinstance(whole, np.ndarray) else [scope[name] for name in names]


def _set(scope: dict[str, Value], names: Kept, values: Sequence[Scalar]) -> None:
    whole = scope.get(names[0])
    if not isinstance(whole, np.ndarray):
        scope.update(zip(names, values, strict=True))
        return
    for k, value in enumerate(values):
        whole[k] = value

"""The recursion of a target in index notation, and its adjoints: the gradient of a sum over a scan of the rows.

With U = V(theta) + sum_n e(s_n, theta), s_0 = g(theta) and s_(n+1) = f(s_n, theta), all of row n in e and f, the
adjoints a_n = dU/ds_n are a scan in the other order, a_N = 0:

    a_n        = de/ds_n + (df/ds_n)^T a_(n+1)
    dU/dtheta  = dV/dtheta + (dg/dtheta)^T a_0 + sum_n (de/dtheta + (df/dtheta)^T a_(n+1))

(reverse accumulation; Griewank and Walther 2008, Ch. 3). Five ordinary derivatives, each of one formula, suffice.

Worked example: s_(n+1) = phi s_n + 1, s_0 = 0, e = (y_n - s_n)**2/2 with N = 3 rows has s = (0, 1, 1 + phi). Backwards,
a_2 = s_2 - y_2 and a_1 = s_1 - y_1 + phi a_2, so dU/dphi = s_0 a_1 + s_1 a_2 = 1 + phi - y_2, the derivative of (y_2 -
1 - phi)**2/2.
"""

from collections.abc import Set
from dataclasses import dataclass

from recipe_compiler.formula.declaration import Block
from recipe_compiler.formula.expression import Formula
from recipe_compiler.program.atoms import with_arrays
from recipe_compiler.program.combine import fresh
from recipe_compiler.program.program import Recursion, RowState
from recipe_compiler.scheme.quotients import without_overflow
from recipe_compiler.spec.model import RowState as StatedState
from recipe_compiler.spec.model import Target
from recipe_compiler.spec.places import placed
from recipe_compiler.spec.recursion import entry_of, of_rows
from recipe_compiler.tensor.calculus import calculus
from recipe_compiler.tensor.convert import convert
from recipe_compiler.tensor.terms import Coordinate, Index, Tensor

STATE = "s"
"""The label of the index of a column that is a state, where it is summed over."""


@dataclass(frozen=True, slots=True)
class Adjoints:
    """A target's recursion s_(n+1) = f(s_n, row n), and what its states contribute to the gradients of V and of e.

    States and adjoints are scalars or vectors, kept in arrays over the rows (Griewank, Walther 2008, Ch. 3).
    """

    target: Target
    n: Index
    """The row."""
    names: tuple[tuple[str, str, str, str], ...]
    """Those of each state, of what a row passes on of it, of its adjoint, and of dU/ds before a row."""

    def on_rows(self, tensor: Tensor) -> Tensor:
        """Return what is stated of row n with its states as components of arrays over the rows: `s[n,i]`."""
        arrays = {own.block.name: name for own, (name, *_) in zip(self.target.recursion, self.names, strict=True)}

        return with_arrays(tensor, arrays, self.n)

    def chained(self, slope: Tensor, by: Coordinate, *, stated: bool, rows: bool = False) -> Tensor:
        """Return dV/db + sum (dg/db)^T a_0 with the free indices of the slope, the sum over the states.

        With `rows` de/db + sum (df/db)^T a_(n+1) of row n, and its index n. As stated it is fit to be computed, term by
        term, which no rule reads any more.
        """
        c = calculus(of_rows(self.target), stated=stated)
        parts = [slope]
        for own, (_, _, adjoint, first) in zip(self.target.recursion, self.names, strict=True):
            part, array, row = ("next", adjoint, (self.n,)) if rows else ("start", first, ())
            slots, value = _slots(own.block), self._converted(own, part, stated=stated)
            pulled = c.total(c.distribute(c.component(array, *row, *slots), c.diff(value, by)), *slots)
            parts.append(without_overflow(c, pulled) if stated else pulled)
        return self.on_rows(c.add(*parts))

    def recursion(self) -> Recursion:
        """Return the states with their formulas, starts and slopes, and V and e, which they are of."""
        states = (self._state(own, *names) for own, names in zip(self.target.recursion, self.names, strict=True))
        prior = self._energy("log_prior", self.target.log_prior)
        term = self._energy("log_likelihood", self.target.log_likelihood, self.n)
        return Recursion(tuple(states), prior, self.on_rows(term))

    def _energy(
        self, entry: str, formula: Formula | None, datum: Index | None = None, *, stated: bool = False
    ) -> Tensor:
        """Return minus a formula of the log posterior."""
        if formula is None:
            return Tensor((), ())
        declared = of_rows(self.target)
        with placed(self.target.source, entry):
            value = convert(formula, declared, datum=datum, stated=stated)
            return calculus(declared, stated=stated).scale(value, -1)

    def _state(self, own: StatedState, name: str, passed: str, adjoint: str, first: str) -> RowState:
        """Return a state with its formulas as tensors, its slope fit to be computed."""
        i = tuple(Index(size, "i") for size in own.block.shape.sizes)
        moves = dict(zip(_slots(own.block), i, strict=True))
        c = calculus(of_rows(self.target), stated=True)

        def value(part: str, *, stated: bool) -> Tensor:
            rules = calculus(of_rows(self.target), stated=stated)
            return self.on_rows(rules.rename(self._converted(own, part, stated=stated), moves))

        row = self._energy("log_likelihood", self.target.log_likelihood, self.n, stated=True)
        by = Coordinate(own.block.name, i)
        with placed(self.target.source, "log_likelihood"):
            slope = self.chained(without_overflow(c, c.diff(row, by)), by, stated=True, rows=True)
        values = [value(part, stated=stated) for stated in (False, True) for part in ("start", "next")]
        return RowState(name, passed, own.block.shape, *values, adjoint, first, slope)

    def _converted(self, own: StatedState, part: str, *, stated: bool) -> Tensor:
        """Return a formula of a state, with the free index `s` of a column."""
        formula, datum = (own.start, None) if part == "start" else (own.next, self.n)
        with placed(self.target.source, entry_of(own.block.name, part)):
            return convert(formula, of_rows(self.target), *_slots(own.block), datum=datum, stated=stated)


def adjoints(target: Target, taken: Set[str]) -> Adjoints | None:
    """Return the recursion of a target with its adjoints; None if the target has none.

    With U = V(theta) + sum_n e(s_n, theta), s_(n+1) = f(s_n, theta), s_n: [k] or a scalar, and a_n = dU/ds_n: a_n =
    de/ds_n + (df/ds_n).T a_(n+1), a_N = 0 (Griewank and Walther 2008, Ch. 3).

    Args:
        target: whose blocks are called as it declares them.
        taken: names that new names must not meet.
    """
    if not target.recursion or target.log_likelihood is None:
        return None
    named, found = frozenset(taken), list[tuple[str, str, str, str]]()
    for own in target.recursion:
        name = fresh(own.block.name, named)
        passed, adjoint, first = (fresh(word.format(name), named) for word in ("{}_passed", "adjoint_{}", "slope_{}"))
        found.append((name, passed, adjoint, first))
        named |= {*found[-1]}
    return Adjoints(target, Index(of_rows(target).data[0].size, "n"), tuple(found))


def _slots(block: Block) -> tuple[Index, ...]:
    return tuple(Index(size, STATE) for size in block.shape.sizes)

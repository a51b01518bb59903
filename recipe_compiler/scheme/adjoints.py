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
from dataclasses import dataclass, replace

from recipe_compiler.formula.declaration import Block, Declarations
from recipe_compiler.formula.expression import Formula
from recipe_compiler.program.program import Recursion, RowState
from recipe_compiler.scheme.quotients import without_overflow
from recipe_compiler.scheme.shifts_and_noise import fresh
from recipe_compiler.spec.model import RowState as StatedState
from recipe_compiler.spec.model import Target
from recipe_compiler.spec.places import placed
from recipe_compiler.spec.recursion import entry_of, of_rows
from recipe_compiler.tensor.atoms import occurring
from recipe_compiler.tensor.calculus import Calculus, calculus
from recipe_compiler.tensor.convert import convert
from recipe_compiler.tensor.order import sorted_indices
from recipe_compiler.tensor.terms import (
    Applied,
    Atom,
    Base,
    Component,
    Coordinate,
    Determinant,
    Grid,
    Index,
    Inverse,
    Tensor,
    Term,
)

STATE = "s"
"""The label of the index of a column that is a state, where it is summed over."""


@dataclass(frozen=True, slots=True)
class Adjoints:
    """A target's recursion s_(n+1) = f(s_n, row n), and what its states contribute to the gradients of V and of e.

    States and adjoints are scalars or vectors, kept in arrays over the rows (Griewank, Walther 2008, Ch. 3).
    """

    recursion: Recursion
    target: Target
    n: Index
    """The row."""

    def on_rows(self, tensor: Tensor) -> Tensor:
        """Return what is stated of row n with its states as components of arrays over the rows: `s[n,i]`."""
        names = {own.block.name: state.name for own, state in zip(self.target.recursion, self.states, strict=True)}
        return _on_rows(tensor, names, self.n)

    @property
    def states(self) -> tuple[RowState, ...]:
        """The states."""
        return self.recursion.states

    def with_starts(self, slope: Tensor, by: Coordinate, *, stated: bool) -> Tensor:
        """Return dV/db + sum (dg/db)^T a_0, the sum over the states, with the free indices of the slope."""
        c = calculus(of_rows(self.target), stated=stated)
        parts = [slope]
        for own, state in zip(self.target.recursion, self.states, strict=True):
            slots = _slots(own.block)
            value = _converted(self.target, own, "start", None, stated=stated)
            parts.append(_pulled(c, value, by, state.first, slots, ()))
        return c.add(*parts)

    def with_rows(self, slope: Tensor, by: Coordinate, *, stated: bool) -> Tensor:
        """Return de/db + sum (df/db)^T a_(n+1) of row n, with the free indices of the slope and n."""
        c = calculus(of_rows(self.target), stated=stated)
        parts = [slope]
        for own, state in zip(self.target.recursion, self.states, strict=True):
            value = _converted(self.target, own, "next", self.n, stated=stated)
            parts.append(_pulled(c, value, by, state.adjoint, _slots(own.block), (self.n,)))
        return self.on_rows(c.add(*parts))


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
    declared = of_rows(target)
    n = Index(declared.data[0].size, "n")
    named = frozenset(taken)
    bare: list[RowState] = []
    nothing = Tensor((), ())
    for own in target.recursion:
        name = fresh(own.block.name, named)
        others = [fresh(word.format(name), named) for word in ("{}_passed", "adjoint_{}", "slope_{}")]
        named |= {name, *others}
        passed, adjoint, first = others
        bare.append(
            RowState(name, passed, own.block.shape, nothing, nothing, nothing, nothing, adjoint, first, nothing)
        )
    plain = Adjoints(Recursion(tuple(bare), nothing, nothing), target, n)
    prior = nothing if target.log_prior is None else _energy(target, declared, "log_prior", target.log_prior, None)
    term = plain.on_rows(_energy(target, declared, "log_likelihood", target.log_likelihood, n))
    states = tuple(_with_tensors(plain, own, state) for own, state in zip(target.recursion, bare, strict=True))
    return replace(plain, recursion=Recursion(states, prior, term))


def _energy(target: Target, declared: Declarations, entry: str, formula: Formula, datum: Index | None) -> Tensor:
    """Return minus a formula of the log posterior, multiplied out."""
    with placed(target.source, entry):
        return calculus(declared).scale(convert(formula, declared, datum=datum), -1)


def _with_tensors(plain: Adjoints, own: StatedState, state: RowState) -> RowState:
    """Return a state with its formulas as tensors, its slope fit to be computed."""
    target, n = plain.target, plain.n
    declared = of_rows(target)
    c = calculus(declared, stated=True)
    i = tuple(Index(size, "i") for size in own.block.shape.sizes)
    moves = dict(zip(_slots(own.block), i, strict=True))

    def value(part: str, datum: Index | None, *, stated: bool) -> Tensor:
        rules = calculus(declared, stated=stated)
        return plain.on_rows(rules.rename(_converted(target, own, part, datum, stated=stated), moves))

    by = Coordinate(own.block.name, i)
    with placed(target.source, "log_likelihood"):
        formula = target.log_likelihood
        row = c.zero(n) if formula is None else c.scale(convert(formula, declared, datum=n, stated=True), -1)
        slope = plain.with_rows(without_overflow(c, c.diff(row, by)), by, stated=True)
    return replace(
        state,
        start=value("start", None, stated=False),
        next=value("next", n, stated=False),
        stated_start=value("start", None, stated=True),
        stated_next=value("next", n, stated=True),
        slope=slope,
    )


def _slots(block: Block) -> tuple[Index, ...]:
    return tuple(Index(size, STATE) for size in block.shape.sizes)


def _converted(target: Target, own: StatedState, part: str, datum: Index | None, *, stated: bool) -> Tensor:
    """Return a formula of a state, with the free index `s` of a column."""
    formula = own.start if part == "start" else own.next
    with placed(target.source, entry_of(own.block.name, part)):
        return convert(formula, of_rows(target), *_slots(own.block), datum=datum, stated=stated)


def _pulled(
    c: Calculus, value: Tensor, by: Coordinate, adjoint: str, slots: tuple[Index, ...], row: tuple[Index, ...]
) -> Tensor:
    """Return sum_s a_s dvalue_s/db; as stated fit to be computed, term by term, which no rule reads any more."""
    pulled = c.total(c.distribute(c.component(adjoint, *row, *slots), c.diff(value, by)), *slots)
    return without_overflow(c, pulled) if c.rules.stated else pulled


def _on_rows(tensor: Tensor, names: dict[str, str], n: Index) -> Tensor:
    """Return a tensor with coordinates of states as components of arrays over the rows; n is then free in it."""
    terms = tuple(
        Term(term.coefficient, tuple((_on_row(atom, names, n), exponent) for atom, exponent in term.factors))
        for term in tensor.terms
    )
    free = tensor.free
    if any(n in occurring(Tensor((n,), (term,))).free for term in terms):
        free = sorted_indices((*free, n))
    return Tensor(free, terms)


def _on_row(atom: Atom, names: dict[str, str], n: Index) -> Atom:
    match atom:
        case Coordinate(name, at) if name in names:
            return Component(names[name], (n, *at))
        case Applied(fn, args):
            return Applied(fn, tuple(_on_rows(arg, names, n) for arg in args))
        case Base(arg):
            return Base(_on_rows(arg, names, n))
        case Inverse(of, at):
            return Inverse(Grid(of.row, of.col, _on_rows(of.entry, names, n)), at)
        case Determinant(of, log):
            return Determinant(Grid(of.row, of.col, _on_rows(of.entry, names, n)), log)
        case _:
            return atom

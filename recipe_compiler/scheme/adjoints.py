"""The recursion of a target in index notation, and its adjoints: the gradient of a sum over a scan of the rows.

With U = V(theta) + sum_n e(s_n, theta), s_0 = g(theta) and s_(n+1) = f(s_n, theta), all of row n in e and f, the
adjoints a_n = dU/ds_n are a scan in the other order, a_N = 0:

    a_n        = de/ds_n + (df/ds_n)^T a_(n+1)
    dU/dtheta  = dV/dtheta + (dg/dtheta)^T a_0 + sum_n (de/dtheta + (df/dtheta)^T a_(n+1))

(reverse accumulation; Griewank and Walther 2008, Ch. 3). Five ordinary derivatives, each of one formula, suffice.
Solutions of equations pass on at every stage of a step before e and the others' f read them: their adjoints gain
de/ds + (df/ds)^T a there, are pulled back stage by stage, and what stages add to dU/dtheta is summed on the way.

Worked example: s_(n+1) = phi s_n + 1, s_0 = 0, e = (y_n - s_n)**2/2 with N = 3 rows has s = (0, 1, 1 + phi). Backwards,
a_2 = s_2 - y_2 and a_1 = s_1 - y_1 + phi a_2, so dU/dphi = s_0 a_1 + s_1 a_2 = 1 + phi - y_2, the derivative of (y_2 -
1 - phi)**2/2.
"""

from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass

from recipe_compiler.derive.recipe import slots
from recipe_compiler.formula.declaration import Block
from recipe_compiler.formula.expression import Formula
from recipe_compiler.program.atoms import with_arrays
from recipe_compiler.program.combine import fresh
from recipe_compiler.program.program import STAGE, STEP, Recursion, RowState, Stages, Summed
from recipe_compiler.scheme.quotients import without_overflow
from recipe_compiler.spec.formulas import dependence
from recipe_compiler.spec.model import RowState as StatedState
from recipe_compiler.spec.model import Target
from recipe_compiler.spec.places import placed
from recipe_compiler.spec.recursion import entry_of, of_rows
from recipe_compiler.tensor.calculus import Calculus, calculus
from recipe_compiler.tensor.convert import convert
from recipe_compiler.tensor.terms import Coordinate, Index, Tensor

STATE = "s"
"""The label of the index of a column that is a state, where it is summed over."""


@dataclass(frozen=True, slots=True)
class Inside:
    """The names of what is computed inside of a row, where solutions pass on stage by stage."""

    steps: str
    """That of the number of steps."""
    weights: tuple[str, ...]
    at: tuple[str, ...]
    """The arrays of all states before every stage; empty where it solves nothing."""
    sums: Mapping[str, str]
    """Block b to what stages add to dU/db."""


@dataclass(frozen=True, slots=True)
class Adjoints:
    """A target's recursion s_(n+1) = f(s_n, row n), and what its states contribute to the gradients of V and of e.

    States and adjoints are scalars or vectors, kept in arrays over the rows (Griewank, Walther 2008, Ch. 3).
    """

    target: Target
    n: Index
    """The row."""
    names: tuple[tuple[str, str, str, str], ...]
    """Those of each state, of what a row passes on of it, of its adjoint, and of dU/ds before a row.

    The last two are empty where a state depends on no block.
    """
    inside: Inside | None = None

    def on_rows(self, tensor: Tensor) -> Tensor:
        """Return what is stated of row n with its states as components of arrays over the rows: `s[n,i]`."""
        return with_arrays(tensor, self._named(solved=False) | self._named(solved=True), self.n)

    def _named(self, *, solved: bool) -> dict[str, str]:
        pairs = zip(self.target.recursion, self.names, strict=True)
        return {own.block.name: name for own, (name, *_) in pairs if own.staged is solved}

    def _on_stages(self, tensor: Tensor) -> Tensor:
        """Return what is stated of a stage of a step of row n: solutions and weights have indices of these, too."""
        inside, stages = self.inside, self.target.stages
        if inside is None or stages is None:
            return tensor
        step, stage = Index(inside.steps, STEP), Index(len(stages.weights[0][1]), STAGE)
        solved = {own.block.name: name for own, name in zip(self.target.recursion, inside.at, strict=True) if name}
        weights = {name: new for (name, _), new in zip(stages.weights, inside.weights, strict=True)}
        tensor = with_arrays(with_arrays(tensor, self._named(solved=False), self.n), solved, self.n, step, stage)
        return Tensor((*tensor.free, step, stage), with_arrays(tensor, weights, stage).terms)

    def chained(self, slope: Tensor, by: Coordinate, *, stated: bool, rows: bool = False) -> Tensor:
        """Return dV/db + sum (dg/db)^T a_0 with the free indices of the slope, the sum over the states.

        With `rows` de/db + sum (df/db)^T a_(n+1) of row n, and its index n. As stated it is fit to be computed, term by
        term, which no rule reads any more. What stages add to dU/db the scan leaves in a name.
        """
        c = calculus(of_rows(self.target), stated=stated)
        if rows:
            return self.on_rows(c.add(slope, *self._pulled(c, by, "next", stated=stated)))
        parts = [slope, *self._pulled(c, by, "start", stated=stated)]
        if self.inside is not None and self._of_stages(by) is not None:
            parts.append(c.component(self.inside.sums[by.block], *by.at))
        return self.on_rows(c.add(*parts))

    def _pulled(
        self, c: Calculus, by: Coordinate, part: str, *, stated: bool, solved: bool = False
    ) -> Iterator[Tensor]:
        """Yield (dg/db)^T a_0 of all states, or (df/db)^T a of those that solve, or of those that do not."""
        for own, (_, _, adjoint, first) in zip(self.target.recursion, self.names, strict=True):
            if not adjoint or (part == "next" and own.staged is not solved):
                continue
            array, row = (first, ()) if part == "start" else (adjoint, () if solved else (self.n,))
            slots, value = _slots(own.block), self._converted(own, part, stated=stated)
            pulled = c.total(c.distribute(c.component(array, *row, *slots), c.diff(value, by)), *slots)
            yield without_overflow(c, pulled) if stated else pulled

    def _of_stages(self, by: Coordinate) -> Tensor | None:
        """Return what a stage of a step adds to dU/db, None if nothing."""
        c = calculus(of_rows(self.target), stated=True)
        parts = tuple(self._pulled(c, by, "next", stated=True, solved=True))
        total = c.add(*parts) if parts else None
        return None if total is None or total.is_zero else self._on_stages(total)

    def recursion(self) -> Recursion:
        """Return the states with their formulas, starts and slopes, and V and e, which they are of."""
        states = tuple(self._state(k, own) for k, own in enumerate(self.target.recursion))
        prior = self._energy("log_prior", self.target.log_prior)
        term = self._energy("log_likelihood", self.target.log_likelihood, self.n)
        return Recursion(states, prior, self.on_rows(term), self._stages())

    def _stages(self) -> Stages | None:
        inside, own = self.inside, self.target.stages
        if inside is None or own is None:
            return None
        slopes = ((block, self._of_stages(_entry_of(block))) for block in self.target.declarations.blocks)
        sums = tuple(
            Summed(inside.sums[block.name], block.shape, slope) for block, slope in slopes if slope is not None
        )
        weights = zip(inside.weights, (numbers for _, numbers in own.weights), strict=True)
        return Stages(inside.steps, own.steps, tuple(weights), sums)

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

    def _state(self, place: int, own: StatedState) -> RowState:
        """Return a state with its formulas as tensors, its slope fit to be computed."""
        name, passed, adjoint, first = self.names[place]
        by = _entry_of(own.block)
        moves = dict(zip(_slots(own.block), by.at, strict=True))
        c, at = calculus(of_rows(self.target), stated=True), self.inside.at[place] if self.inside else ""

        def value(part: str, *, stated: bool) -> Tensor:
            rules = calculus(of_rows(self.target), stated=stated)
            tensor = rules.rename(self._converted(own, part, stated=stated), moves)
            return self._on_stages(tensor) if at and part == "next" else self.on_rows(tensor)

        slope = None
        row = self._energy("log_likelihood", self.target.log_likelihood, self.n, stated=True)
        with placed(self.target.source, "log_likelihood"):
            if adjoint:
                slope = self.chained(without_overflow(c, c.diff(row, by)), by, stated=True, rows=True)
        values = [value(part, stated=stated) for stated in (False, True) for part in ("start", "next")]
        of_stage = self._of_stages(by) if at and adjoint else None
        return RowState(name, passed, own.block.shape, *values, adjoint, first, slope, at, of_stage)

    def _converted(self, own: StatedState, part: str, *, stated: bool) -> Tensor:
        """Return a formula of a state, with the free index `s` of a column."""
        formula, datum = (own.start, None) if part == "start" else (own.next, self.n)
        with placed(self.target.source, entry_of(own, part)):
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
    named = set(taken)

    def new(name: str) -> str:
        named.add(made := fresh(name, named))
        return made

    moved, found = _moved_by_blocks(target), list[tuple[str, str, str, str]]()
    for own in target.recursion:
        name = new(own.block.name)
        words = ("{}_passed", "adjoint_{}", "slope_{}") if own.block.name in moved else ("{}_passed",)
        passed, *others = [new(word.format(name)) for word in words]
        adjoint, first = others or ("", "")
        found.append((name, passed, adjoint, first))
    n, stages = Index(of_rows(target).data[0].size, "n"), target.stages
    if stages is None:
        return Adjoints(target, n, tuple(found))
    at = tuple(new(f"{name}_at") if own.staged else "" for own, (name, *_) in zip(target.recursion, found, strict=True))
    sums = {block.name: new(f"slope_{block.name}") for block in target.declarations.blocks}
    weights = tuple(new(name) for name, _ in stages.weights)
    return Adjoints(target, n, tuple(found), Inside(new("steps_per_row"), weights, at, sums))


def _moved_by_blocks(target: Target) -> frozenset[str]:
    """Return the states that depend on the target's blocks; others, as the time of the row before, have no slope."""
    names = {block.name for block in target.declarations.blocks}
    uses = {own.block.name: {*dependence(own.start).blocks, *dependence(own.next).blocks} for own in target.recursion}
    while more := {state for state, used in uses.items() if used & names} - names:
        names |= more
    return frozenset(names)


def _slots(block: Block) -> tuple[Index, ...]:
    return slots(block, STATE)


def _entry_of(block: Block) -> Coordinate:
    return Coordinate(
        block.name, tuple(Index(size, label) for size, label in zip(block.shape.sizes, "ij", strict=False))
    )

"""Ordinary differential equations in a target, solved by an explicit Runge-Kutta method of fixed steps.

    dz/dt = f(z, t, theta), z(t_0) = start,      h = (t_n - t_(n-1))/steps
    k_i = h f(z + a_i k_(i-1), t + a_i h)        z <- z + sum_i b_i k_i

(Hairer, Norsett, Wanner 1993, Sec. II.1, for tableaus with entries next to the diagonal alone.) What is stated becomes
states of a recursion, which pass on once for every stage of every step, before the log likelihood of their row reads
them. With `last` 1 at the last stage, 0 before, and a = b there, they are z, the point w at which the next stage takes
the slope, and the sum s: k = h f(w), w <- z + last (s - z) + a k, z <- z + last (s + b k - z), s <- s + b k. So f
stands in each once, whatever the steps and stages are, and no later part of the compiler knows differential equations.
"""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

from recipe_compiler.formula.build import add, multiply, negate
from recipe_compiler.formula.declaration import Block, Datum, Declarations
from recipe_compiler.formula.elaborate import Scope
from recipe_compiler.formula.expression import Compare, Formula, Number, Role, Symbol
from recipe_compiler.formula.shapes import SCALAR, Kind
from recipe_compiler.formula.substitute import substitute
from recipe_compiler.spec.formulas import dependence
from recipe_compiler.spec.model import RowState, Stages
from recipe_compiler.spec.page import Page
from recipe_compiler.spec.recursion import TIMES, solved_entry, with_states
from recipe_compiler.spec.schema_target import SolveEntry
from recipe_compiler.spec.target_densities import of_kind

F = Fraction
METHODS: dict[str, tuple[int, tuple[Fraction, ...], tuple[Fraction, ...]]] = {
    "euler": (1, (), (F(1),)),
    "midpoint": (2, (F(1, 2),), (F(0), F(1))),
    "heun": (2, (F(1),), (F(1, 2), F(1, 2))),
    "ralston": (2, (F(2, 3),), (F(1, 4), F(3, 4))),
    "rk4": (4, (F(1, 2), F(1, 2), F(1)), (F(1, 6), F(1, 3), F(1, 3), F(1, 6))),
}
"""Method to its order and tableau: a_2, a_3, ..., which are the nodes, too, and the weights b."""


def read_solve(
    page: Page, entry: SolveEntry | None, states: tuple[Block, ...], declarations: Declarations
) -> tuple[Declarations, tuple[RowState, ...], Stages | None]:
    """Return the declarations with what the times have to be, and the states that solve a target's equations.

    Args:
        page: the document.
        entry: its `solve`, if there is one.
        states: those that its log likelihood knows, the solutions among them.
        declarations: the names of the target.
    """
    if entry is None:
        return declarations, (), None
    at, blocks = page["solve"], tuple(block for block in states if block.name in entry.others)
    time = declarations.find(entry.times)
    begin = at["from"].formula(Scope(declarations), SCALAR)
    if not entry.others:
        at.fault("found no solution, expected one", "write `solve: {z: {start: 1, slope: -k*z}, times: t, ...}`")
        return declarations, (), None
    if not isinstance(time, Datum) or time.shape != SCALAR or time.is_index:
        fields = ", ".join(one.name for one in declarations.data if one.shape == SCALAR and not one.is_index)
        problem = f"found `{entry.times}`, expected a field of numbers ({fields or 'there are none'})"
        at["times"].fault(problem, f"declare it: `data: {{{entry.times}: {{shape: N}}}}`")
        return declarations, (), None
    if begin is not None and not _is_constant(begin):
        at["from"].fault("found a time that depends on the state or the data, expected numbers and parameters alone")
        begin = None
    read = {block: pair for block in blocks if (pair := _read_equation(page, block, blocks, declarations)) is not None}
    if begin is None or len(read) < len(blocks):
        return declarations, (), None
    made = _Made(entry, time, read, declarations.names)
    solved = tuple(made.states(begin))
    fields = tuple(of_kind(one, Kind.INCREASING) if one == time else one for one in declarations.data)
    after = Compare(">=", made.time, begin, SCALAR)
    return replace(declarations, data=fields, assume=(*declarations.assume, after)), solved, made.stages


def _is_constant(formula: Formula) -> bool:
    uses = dependence(formula)
    return not (uses.blocks or uses.functions or uses.data)


def _read_equation(
    page: Page, block: Block, blocks: tuple[Block, ...], declarations: Declarations
) -> tuple[Formula, Formula] | None:
    """Return start and slope of a solution; None, and a fault is added, where one means nothing."""
    at = page["solve", block.name]
    start = at["start"].formula(Scope(declarations), block.shape)
    slope = at["slope"].formula(Scope(with_states(declarations, blocks)), block.shape)
    if start is not None and (used := dependence(start).data):
        at["start"].fault(f"found the data `{used[0]}` in the start of {block.name}, expected blocks and parameters")
        return None
    return None if start is None or slope is None else (start, slope)


class _Made:
    """The names and states that equations become."""

    def __init__(
        self, entry: SolveEntry, time: Datum, read: dict[Block, tuple[Formula, Formula]], taken: frozenset[str]
    ) -> None:
        self._taken = set(taken).union(block.name for block in read)
        order, a, b = METHODS[entry.method]
        nodes = (F(0), *a, F(1))
        last = tuple(F(k == len(a)) for k in range(len(b)))
        columns = {"a": (*a, b[-1]), "b": b, "last": last, "node": tuple(y - x for x, y in pairwise(nodes))}
        weights = tuple((self._name(f"{entry.method}_{name}"), column) for name, column in columns.items())
        steps = f"{entry.steps} step{'s' * (entry.steps > 1)}"
        says = f"{entry.method}, {steps} from the {time.name} of a row to that of the next"
        slopes = tuple((block.name, slope) for block, (_, slope) in read.items())
        self.stages = Stages(entry.steps, weights, order, says, time.name, slopes)
        self.time, self._read = Symbol(time.name, SCALAR, Role.DATUM), read
        self._a, self._b, self._last, self._node = (Symbol(name, SCALAR, Role.BLOCK) for name, _ in weights)

    def states(self, begin: Formula) -> Iterator[RowState]:
        """Yield the states of solutions, the time of the row before, and that of a stage."""
        before, now = (Block(self._name(f"{self.time.name}_{word}"), SCALAR) for word in ("before", "stage"))
        passed = add((self.time, negate(before.symbol)), SCALAR)
        h = multiply(Number(F(1, self.stages.steps)), passed, SCALAR)
        stage = {block: replace(block, name=self._name(f"{block.name}_stage")) for block in self._read}
        places = {block.name: own.symbol for block, own in stage.items()} | {self.time.name: now.symbol}
        for block, (start, slope) in self._read.items():
            shape, z = block.shape, block.symbol
            total = replace(block, name=self._name(f"{block.name}_sum"))
            k = multiply(h, substitute(slope, places), shape)
            bk = multiply(self._b, k, shape)
            rest = add((total.symbol, negate(z)), shape)
            entry = solved_entry(block.name)
            w = add((z, multiply(self._last, rest, shape), multiply(self._a, k, shape)), shape)
            yield RowState(
                block, start, add((z, multiply(self._last, add((rest, bk), shape), shape)), shape), entry, staged=True
            )
            yield RowState(stage[block], start, w, entry, staged=True)
            yield RowState(total, start, add((total.symbol, bk), shape), entry, staged=True)
        yield RowState(before, begin, self.time, TIMES)
        if any(self.time.name in dependence(slope).data for _, slope in self._read.values()):
            later = add((now.symbol, multiply(self._node, h, SCALAR)), SCALAR)
            yield RowState(now, begin, later, TIMES, staged=True)

    def _name(self, wanted: str) -> str:
        while wanted in self._taken:
            wanted += "_"
        self._taken.add(wanted)
        return wanted

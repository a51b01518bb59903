"""States that pass from row to row of the data: `recursion: {s: {start: ..., next: ...}}`.

    s_0 = start(theta)
    s_(n+1) = next(s_n, y_n, theta)
    U(theta) = -log_prior(theta) - sum_n log_likelihood(s_n, y_n, theta)

What is stated of a row reads all states as they are before it. Rows are then neither independent nor in any order: a
claim that reads a log likelihood as that of ONE datum, whatever the others are, reads no such target.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from recipe_compiler.errors import Fault, ModelError
from recipe_compiler.formula.declaration import Block, Declarations, Domain
from recipe_compiler.formula.density_terms import type_density
from recipe_compiler.formula.elaborate import Scope
from recipe_compiler.formula.expression import Compare, Filled, Formula, Number
from recipe_compiler.formula.shapes import SCALAR, DomainName, Kind
from recipe_compiler.spec.formulas import dependence
from recipe_compiler.spec.model import RowState, Target
from recipe_compiler.spec.page import Page

if TYPE_CHECKING:  # what reads targets alone brings them
    from recipe_compiler.spec.schema_target import TargetDocument

SECTION, SOLVE = "recursion", "solve"
TIMES = f"{SOLVE}.times"
"""The entry that the time of the row before, and that of a stage, belong to."""
POSITIVE = Domain(DomainName.POSITIVE)

OPEN = "the log likelihood of a row depends on the rows before it"
"""Why a claim about independent rows is not decided of a target with a recursion."""


def entry_of(state: RowState, part: str) -> str:
    """Return the entry of a state's formula: `recursion.sigma2.next`, `solve.z.slope`."""
    if state.solves:
        return f"{state.solves}.{part.replace('next', 'slope')}"
    return f"{SECTION}.{state.block.name}.{part}"


def solved_entry(name: str) -> str:
    """Return the entry of a solution."""
    return f"{SOLVE}.{name}"


def state_blocks(page: Page, document: "TargetDocument", declarations: Declarations) -> tuple[Block, ...]:
    """Return states and solutions as blocks, a fault added for each that is declared already, or is a matrix."""
    found: list[Block] = []
    solved = {} if document.solve is None else document.solve.others
    for section, name, entry in (
        *((SECTION, *pair) for pair in document.recursion.items()),
        *((SOLVE, *pair) for pair in solved.items()),
    ):
        at = page[section, name]
        if name in declarations.names or name in (block.name for block in found):
            at.fault(f"found the name `{name}`, which is declared already; expected another")
        elif entry.shape.cols is not None:
            problem = f"found a state that is a {entry.shape}, expected a number or a column"
            at["shape"].fault(problem, "state its columns, each by a name")
        elif isinstance(entry.shape.rows, str) and entry.shape.rows not in declarations.sizes:
            problem = f"found the size {entry.shape.rows} of a state, expected one of a block, parameter or field"
            at["shape"].fault(problem, "or a number")
        else:
            domain = POSITIVE if Kind.POSITIVE in getattr(entry, "is_", ()) else Domain()
            found.append(Block(name, entry.shape, domain))
    return tuple(found)


def with_states(declarations: Declarations, states: Iterable[Block]) -> Declarations:
    """Return the names that what is stated of a row may use: states are blocks there."""
    return replace(declarations, blocks=(*declarations.blocks, *states))


def stated_names(target: Target) -> Iterator[str]:
    """Yield the states and solutions that a target names, without what solutions are computed by."""
    for state in target.recursion:
        if state.solves in ("", solved_entry(state.block.name)):
            yield state.block.name


def of_rows(target: Target) -> Declarations:
    """Return the names of what a target states of a row, those of the weights of a stage among them."""
    weights = () if target.stages is None else target.stages.weights
    blocks = (*(state.block for state in target.recursion), *(Block(name, SCALAR) for name, _ in weights))
    return with_states(target.declarations, blocks)


def read_recursion(
    page: Page, names: Iterable[str], states: Iterable[Block], declarations: Declarations
) -> tuple[RowState, ...]:
    """Return the states of some names with their formulas; a fault is added for each formula that means nothing."""
    blocks, own = tuple(states), frozenset(names)
    inside = Scope(with_states(declarations, blocks), densities=type_density)
    found: list[RowState] = []
    for block in (block for block in blocks if block.name in own):
        start = page[SECTION, block.name, "start"].formula(Scope(declarations), block.shape)
        following = page[SECTION, block.name, "next"].formula(inside, block.shape)
        if start is None or following is None:
            continue
        if used := dependence(start).data:
            problem = f"found the data `{used[0]}` in the start of {block.name}, expected blocks and parameters alone"
            hint = "the first row is read by `next`, as all others are"
            page[SECTION, block.name, "start"].fault(problem, hint)
        found.append(RowState(block, start, following))
    return tuple(found)


def check_recursion(page: Page, document: "TargetDocument", declarations: Declarations) -> None:
    """Add a fault for what no recursion stands beside."""
    if not (document.recursion or document.solve):
        return
    section = SECTION if document.recursion else SOLVE
    at = page[section]
    if document.log_likelihood is None and document.potential is None and document.gradient is None:
        hint = "write the log likelihood of a row, in the states before it"
        at.fault(f"found `{section}` without `log_likelihood`, expected one", hint)
    if document.laws:
        hint = "move the blocks by a word"
        page["laws"].fault(f"found laws beside `{section}`, expected none: {OPEN}", hint)
    for datum in declarations.data:
        if datum.is_index:
            problem = f"found the index field {datum.name} beside `{section}`, expected fields of numbers"
            hint = f"declare {datum.name}: {{shape: [{datum.size}, {datum.shape.cols}], in: [0, 1]}}, an indicator"
            page["data", datum.name].fault(problem, hint)


def demand_read(page: Page, recursion: tuple[RowState, ...], log_likelihood: Formula | None) -> None:
    """Add a fault for each state that neither the log likelihood nor another state reads."""
    for state in (state for state in recursion if not state.solves):
        others = (*(other.next for other in recursion if other is not state), log_likelihood)
        if not any(state.block.name in dependence(formula).blocks for formula in others if formula is not None):
            problem = f"found the state {state.block.name}, which nothing reads; expected it in log_likelihood"
            page[SECTION, state.block.name].fault(problem, "leave it out")


def says_of_equations(target: Target) -> Iterator[str]:
    """Yield the differential equations of a target, and how they are solved, as they are written."""
    entry = dict(json.loads(target.source.document).get(SOLVE) or ())
    if entry and target.stages is not None:
        time, begin = entry["times"], entry["from"]
        for own in (entry[name] | {"z": name} for name in entry if isinstance(entry[name], dict)):
            yield f"d{own['z']}/d{time} = {own['slope']}, {own['z']} = {own['start']} at {time} = {begin}"
        yield f"solved by {target.stages.says}"


def weights_of_stages(target: Target) -> list[dict[str, Formula]]:
    """Return the weights of every stage of every step from row to row, by their names; none without solutions."""
    if target.stages is None:
        return []
    names = [name for name, _ in target.stages.weights]
    stages = zip(*(numbers for _, numbers in target.stages.weights), strict=True)
    return [dict(zip(names, map(Number, own), strict=True)) for own in stages] * target.stages.steps


def in_domains(target: Target) -> tuple[Compare, ...]:
    """Return what keeps the states in their domains, by induction: start > 0, and next > 0 of states that are."""
    return tuple(
        Compare(">", formula, Filled(0, state.block.shape), state.block.shape)
        for state in target.recursion
        if state.block.domain == POSITIVE
        for formula in (state.start, state.next)
    )


def demand_apart(target: Target) -> None:
    """Refuse a target with a recursion where the log likelihood of ONE datum is to be that, whatever the others are.

    Raises:
        ModelError: a recursion.
    """
    if target.recursion:
        names = ", ".join(stated_names(target))
        problem = f"found the recursion of {names}, expected independent rows: {OPEN}"
        raise ModelError([Fault(target.source.place(SECTION), SECTION, problem, "")])

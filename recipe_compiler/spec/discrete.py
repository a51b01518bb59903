"""Discrete blocks of a target: rows with a one at one place and zeros elsewhere, and counts.

    z: {shape: [N, K], domain: one_hot}      drawn by its law given all others, Categorical(logits)
    z: {shape: N, domain: counts}            0, 1, 2, ..., drawn by Poisson(mean)
    z: {shape: N, domain: counts(n)}         0, 1, ..., n, drawn by Binomial(n, p)

Such a block is drawn by its law, and moved by nothing else: it has no gradient. A word that is accepted may move other
blocks while it is held: given its value they have the density exp(-U), which the move keeps.

One with a row for each datum, a matrix of one_hot or a column of counts, is about the data one by one. In the log
likelihood of ONE datum its name is the row of that datum, as the name of a field is; everywhere else it is the whole
block. A column `[K]` of one_hot is one row.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction

from recipe_compiler.formula.build import add, multiply, negate, parts
from recipe_compiler.formula.declaration import Block, Datum, Declarations, Parameter, by_name
from recipe_compiler.formula.expression import Compare, Filled, Formula, Number, Role, Symbol
from recipe_compiler.formula.rebuild import tidy
from recipe_compiler.formula.shapes import DISCRETE, SCALAR, DomainName, Kind, Shape
from recipe_compiler.formula.show import text
from recipe_compiler.spec.bind import Rewriting, rewritten
from recipe_compiler.spec.formulas import dependence
from recipe_compiler.spec.model import Involution, Metropolis, Scheme, Steps, Target
from recipe_compiler.spec.page import Page
from recipe_compiler.spec.target_densities import of_kind

NO_FLOW = "it has no gradient, so no word and no Metropolis proposal moves it"
Pair = tuple[str, str]
VALUES, ZERO = (0, 1), Number(Fraction(0))


def discrete_blocks(declarations: Declarations) -> tuple[Block, ...]:
    """Return the blocks of rows with a one at one place, and those of counts."""
    return tuple(block for block in declarations.blocks if block.domain.name in DISCRETE)


def is_counts(block: Block) -> bool:
    """Whether a block is of whole numbers."""
    return block.domain.name is DomainName.COUNTS


def one_hot_blocks(declarations: Declarations) -> tuple[Block, ...]:
    """Return the blocks whose rows have a one at one place and zeros elsewhere."""
    return tuple(block for block in discrete_blocks(declarations) if not is_counts(block))


def of_data(declarations: Declarations) -> tuple[Block, ...]:
    """Return the discrete blocks with a row for each datum."""
    counts = {field.size for field in declarations.data}
    return tuple(b for b in discrete_blocks(declarations) if _has_rows(b) and counts and b.shape.rows in counts)


def _has_rows(block: Block) -> bool:
    """Whether the first axis of a block counts rows; a column of one_hot is one row."""
    return len(block.shape.sizes) == (1 if is_counts(block) else 2)


def row_of(block: Block) -> Shape:
    """Return the shape of one row: of counts a number."""
    return Shape(None, block.shape.cols)


def largest(block: Block, declarations: Declarations) -> Formula | None:
    """Return what the entries of `counts(n)` are at most, of the block's shape as laws have it; None without an end."""
    if not (is_counts(block) and block.domain.bounds):
        return None
    (n,) = block.domain.bounds
    if isinstance(n, Symbol) and n.name in {field.name for field in declarations.data}:
        return Symbol(n.name, block.shape, Role.PARAMETER)
    return n if block.shape == SCALAR else multiply(n, Filled(1, block.shape), block.shape)


def of_one_datum(declarations: Declarations) -> Declarations:
    """Return the names of a log likelihood of ONE datum: of allocations it has the row of the datum."""
    rows = {block.name: replace(block, shape=row_of(block)) for block in of_data(declarations)}
    blocks = tuple(rows.get(block.name, block) for block in declarations.blocks)
    return replace(declarations, blocks=blocks) if rows else declarations


def with_ends(declarations: Declarations) -> Declarations:
    """Return the names of a log likelihood of ONE datum, with what counts are at most as assumptions."""
    own = of_data(declarations)
    ends = (end for block in discrete_blocks(declarations) if (end := _end(block, Role.BLOCK, of_row=block in own)))
    return replace(of_one_datum(declarations), assume=(*declarations.assume, *ends))


def ends_of_all(declarations: Declarations) -> tuple[Compare, ...]:
    """Return what counts are at most, n - z >= 0, for formulas in which a field of the data is all of its rows."""
    found: list[Compare] = []
    for block in discrete_blocks(declarations):
        n = largest(block, declarations)
        if n is not None:
            left = add((n, negate(block.symbol)), block.shape)
            found.append(Compare(">=", left, Filled(0, block.shape) if block.shape.sizes else ZERO, block.shape))
    return tuple(found)


def check_discrete(page: Page, declarations: Declarations) -> None:
    """Add a fault for each block of one_hot that is a number: a row has a place for each category."""
    for block in one_hot_blocks(declarations):
        if not block.shape.sizes:
            problem = f"found one_hot of a {block.shape}, expected a column or a matrix"
            hint = f"K categories are `{block.name}: {{shape: K, domain: one_hot}}`, of each datum `shape: [N, K]`"
            page["state", block.name, "shape"].fault(problem, hint)


def with_counts(page: Page, declarations: Declarations) -> Declarations:
    """Return declarations in which fields of the data that are ends of counts are whole and not negative.

    A fault is added for each matrix of counts, and for each end that is not known to be a whole number.
    """
    fields = by_name(declarations.data)
    for block in filter(is_counts, declarations.blocks):
        at = page["state", block.name]
        if block.shape.cols is not None:
            problem = f"found counts of a {block.shape}, expected a number or a column"
            at["shape"].fault(problem, "state them one below the other")
        for end in block.domain.bounds:
            match end:
                case Number(value) if value.denominator == 1 and value >= 1:
                    continue
                case Symbol(role=Role.SIZE):
                    continue
                case Symbol(name, shape, Role.DATUM) if shape == SCALAR and block.shape == Shape(fields[name].size):
                    fields[name] = of_kind(of_kind(fields[name], Kind.INTEGER), Kind.NONNEGATIVE)
                case _:
                    whole = "a whole number from 1 on, a size, or a field of the data beside a row for each datum"
                    problem = f"found counts up to {text(end)}, expected {whole}"
                    hint = f"`data: {{n: {{shape: N}}}}` and `{block.name}: {{shape: N, domain: counts(n)}}`"
                    at["domain"].fault(problem, hint)
    return replace(declarations, data=tuple(fields.values()))


def refuse_discrete(page: Page, declarations: Declarations) -> None:
    """Add a fault for each discrete block of dynamics: an equation moves real numbers."""
    for block in discrete_blocks(declarations):
        domain = block.domain.name.value
        problem = f"found {block.name} in {domain}, expected real numbers: an equation does not move discrete blocks"
        hint = "declare it in a target, with its law under `laws`; a cycle draws it: `draw: " + block.name + "`"
        page["state", block.name, "domain"].fault(problem, hint)


def check_rows(page: Page, declarations: Declarations, formulas: Iterable[tuple[str, Formula | None]]) -> None:
    """Add a fault for each formula without a datum that names allocations of the data, and for assumptions."""
    rows = {block.name for block in of_data(declarations)}
    names = {block.name for block in discrete_blocks(declarations)}
    for place, condition in enumerate(declarations.assume):
        for block in (name for name in dependence(condition).blocks if name in names):
            problem = f"found an assumption about {block}, which has every value of its domain; expected none"
            hint = "exclude a category by its logit; the domain counts(n) states the largest count n"
            page["assume", place].fault(problem, hint)
    for name, formula in formulas:
        for block in () if formula is None else dependence(formula).blocks:
            if block in rows:
                problem = f"found {block}, which has a row for each datum, in {name}; expected it in log_likelihood"
                hint = f"there `{block}` is the row of the datum, like the name of a field; for one_hot {block} @ a is "
                hint += f"the sum of {block}[k]*a[k]"
                page[name].fault(problem, hint)


def check_moved(page: Page, scheme: Scheme, target: Target, *, planned: bool) -> None:
    """Add a fault where a step moves discrete blocks otherwise than by their laws: by a flow, or a Metropolis move.

    A word that is accepted, and holds them, is none. Its step size is stated, not `planned` from the mode of U.
    """
    discrete = discrete_blocks(target.declarations)
    for block in discrete[:1]:
        if not scheme.cycle:
            problem = f"found the target's `{block.name}`, which is discrete, expected a cycle of draws: {NO_FLOW}"
            hint = f"write `scheme: {{cycle: [draw: {block.name}, ...]}}`, with a draw of every block"
            page["scheme"].fault(problem, hint)
        for place, move in enumerate(scheme.cycle):
            at = page["scheme", "cycle", place]
            # what it moves has a fault of its own
            is_faulty = scheme.use is None and at["of"].node is not None
            if isinstance(move, Metropolis | Steps | Involution) and not is_faulty:
                for problem, hint in _beside(move, scheme, target, block):
                    at.fault(problem, hint)
    if discrete and planned and any(isinstance(move, Metropolis) for move in scheme.cycle):
        named = discrete[0].name
        problem = f"found step_size: auto beside `{named}`, which is discrete, expected a step size"
        hint = f"state one, and check the acceptance rate: a plan begins at the mode of U, and {named} has none"
        page["run", "step_size"].fault(problem, hint)


def _beside(move: Metropolis | Steps | Involution, scheme: Scheme, target: Target, block: Block) -> Iterator[Pair]:
    """Yield what is wrong with a move that reads U of all blocks beside a discrete one, and what to do."""
    discrete = {one.name for one in discrete_blocks(target.declarations)}
    others = [one.name for one in target.as_declared.declarations.blocks if one.name not in discrete]
    moved = None if isinstance(move, Involution) else scheme.moved(move)
    holds = moved is not None and not {*moved.blocks} & discrete
    if isinstance(move, Involution):
        problem = f"found an involution beside `{block.name}`, which is discrete, expected draws: {NO_FLOW}"
        yield problem, "U depends on all blocks, so an involution of others reads it too: draw each by its law"
    elif not holds:
        problem = (
            f"found a move with a word beside `{block.name}`, which is discrete, expected it to hold that: {NO_FLOW}"
        )
        of = f"`{{of: {{theta: [{', '.join(others)}]}}, metropolis: ...}}` moves the others" if others else ""
        yield problem, of or "draw each by its law"
    elif isinstance(move, Steps):
        problem = (
            f"found a word without `metropolis` beside `{block.name}`, which is discrete, expected an accepted one"
        )
        yield (
            problem,
            "state it under `metropolis`: its discretisation bias is not known beside draws of such a block",
        )


def held(target: Target) -> Target:
    """Return the target with its discrete blocks held at values that are not known: data, or parameters.

    What holds for all values of them holds at each. The sum of an integral over all values is finite where each is, if
    these are so many and no more: rows with a one, or counts with an end (`verify/builds/summed.py` has the others).
    """
    blocks = discrete_blocks(target.declarations)
    if not blocks:
        return target
    declared, own = target.declarations, of_data(target.declarations)
    others = tuple(block for block in blocks if block not in own)
    roles = dict.fromkeys((b.name for b in others), Role.PARAMETER) | dict.fromkeys((b.name for b in own), Role.DATUM)

    by = Rewriting(lambda formula: _with_roles(formula, roles), lambda shape: shape)
    return replace(
        rewritten(replace(target, laws=(), declared=None), by),
        declarations=replace(
            declared,
            blocks=tuple(block for block in declared.blocks if block not in blocks),
            parameters=(*declared.parameters, *(Parameter(b.name, b.shape, (Kind.NONNEGATIVE,)) for b in others)),
            data=(*declared.data, *map(_as_field, own)),
            assume=(*declared.assume, *(end for b in blocks if (end := _end(b, roles[b.name], of_row=b in own)))),
        ),
        declared=None if target.declared is None else held(target.declared),
    )


def _as_field(block: Block) -> Datum:
    """Return a field of the data with the values of a block that has a row for each datum."""
    count = block.shape.rows or 1
    if is_counts(block):
        return Datum(block.name, count, row_of(block), (), (Kind.NONNEGATIVE, Kind.INTEGER))
    return Datum(block.name, count, row_of(block), VALUES)


def _end(block: Block, role: Role, *, of_row: bool) -> Compare | None:
    """Return that counts are at most as many as their domain says, of one datum or of all; None without an end."""
    if not (is_counts(block) and block.domain.bounds):
        return None
    (n,), shape = block.domain.bounds, SCALAR if of_row else block.shape
    whole = n if shape == SCALAR else multiply(n, Filled(1, shape), shape)
    return Compare("<=", Symbol(block.name, shape, role), whole, shape)


def _with_roles(formula: Formula, roles: Mapping[str, Role]) -> Formula:
    """Return a formula in which some blocks have another role; their shapes are what they are there."""
    if isinstance(formula, Symbol):
        own = roles.get(formula.name) if formula.role is Role.BLOCK else None
        return formula if own is None else replace(formula, role=own)
    return tidy(formula, [_with_roles(part, roles) for part in parts(formula)])

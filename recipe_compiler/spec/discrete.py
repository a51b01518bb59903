"""Discrete blocks of a target: rows with a one at one place and zeros elsewhere, `z: {shape: [N, K], domain: one_hot}`.

Such a block is drawn by its law given all others, `Categorical(logits)`, and moved by nothing else: it has no gradient.
A matrix with a row for each datum is allocations of the data. In the log likelihood of ONE datum its name is the row of
that datum, as the name of a field is; everywhere else it is the whole matrix. A column `[K]` is one such row.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from recipe_compiler.formula.build import parts
from recipe_compiler.formula.declaration import Block, Datum, Declarations, Parameter
from recipe_compiler.formula.expression import Compare, Formula, Role, Symbol
from recipe_compiler.formula.rebuild import tidy
from recipe_compiler.formula.shapes import DomainName, Kind, Shape
from recipe_compiler.spec.declarations import Page
from recipe_compiler.spec.formulas import dependence
from recipe_compiler.spec.model import Involution, Metropolis, Scheme, Stated, Steps, Target

NO_FLOW = "it has no gradient, so no word moves it, and no acceptance proposes it"
VALUES = (0, 1)


def discrete_blocks(declarations: Declarations) -> tuple[Block, ...]:
    """Return the blocks whose rows have a one at one place and zeros elsewhere."""
    return tuple(block for block in declarations.blocks if block.domain.name is DomainName.ONE_HOT)


def of_data(declarations: Declarations) -> tuple[Block, ...]:
    """Return the discrete blocks with a row for each datum."""
    counts = {field.size for field in declarations.data}
    return tuple(
        b for b in discrete_blocks(declarations) if len(b.shape.sizes) == 2 and counts and b.shape.rows in counts
    )


def row_of(block: Block) -> Shape:
    """Return the shape of one row of a matrix."""
    return Shape(None, block.shape.cols)


def of_one_datum(declarations: Declarations) -> Declarations:
    """Return the names of a log likelihood of ONE datum: of allocations it has the row of the datum."""
    rows = {block.name: replace(block, shape=row_of(block)) for block in of_data(declarations)}
    blocks = tuple(rows.get(block.name, block) for block in declarations.blocks)
    return replace(declarations, blocks=blocks) if rows else declarations


def check_discrete(page: Page, declarations: Declarations) -> None:
    """Add a fault for each discrete block that is a number: a row has a place for each category."""
    for block in discrete_blocks(declarations):
        if not block.shape.sizes:
            problem = f"found one_hot of a {block.shape}, expected a column or a matrix"
            hint = f"K categories are `{block.name}: {{shape: K, domain: one_hot}}`, of each datum `shape: [N, K]`"
            page.fault(("state", block.name, "shape"), f"state.{block.name}.shape", problem, hint)


def refuse_discrete(page: Page, declarations: Declarations) -> None:
    """Add a fault for each discrete block of dynamics: an equation moves real numbers."""
    for block in discrete_blocks(declarations):
        problem = f"found {block.name} in one_hot, expected real numbers: an equation does not move discrete blocks"
        hint = "declare it in a target, with its law under `laws`; a cycle draws it: `draw: " + block.name + "`"
        page.fault(("state", block.name, "domain"), f"state.{block.name}.domain", problem, hint)


def check_rows(page: Page, declarations: Declarations, formulas: Iterable[tuple[str, Formula | None]]) -> None:
    """Add a fault for each formula without a datum that names allocations of the data, and for assumptions."""
    rows = {block.name for block in of_data(declarations)}
    names = {block.name for block in discrete_blocks(declarations)}
    for place, condition in enumerate(declarations.assume):
        for block in (name for name in dependence(condition).blocks if name in names):
            problem = f"found an assumption about {block}, whose rows are at any place; expected none"
            page.fault(("assume", place), f"assume[{place}]", problem, "state a place that may not be by its logit")
    for name, formula in formulas:
        for block in () if formula is None else dependence(formula).blocks:
            if block in rows:
                problem = f"found {block}, which has a row for each datum, in {name}; expected it in log_likelihood"
                hint = f"there `{block}` is the row of the datum: write {block} @ a for the sum of {block}[k]*a[k]"
                page.fault((name,), name, problem, hint)


def check_moved(page: Page, scheme: Scheme, target: Target) -> None:
    """Add a fault where a step moves discrete blocks otherwise than by their laws: by a flow, or a Metropolis move."""
    for block in discrete_blocks(target.declarations)[:1]:
        if not scheme.cycle:
            problem = f"found the target's `{block.name}`, which is discrete, expected a cycle of draws: {NO_FLOW}"
            hint = f"write `scheme: {{cycle: [draw: {block.name}, ...]}}`, with a draw of every block"
            page.fault(("scheme",), "scheme", problem, hint)
        for place, move in enumerate(scheme.cycle):
            if isinstance(move, Metropolis | Steps | Involution):
                what = "an involution" if isinstance(move, Involution) else "a move with a word"
                problem = f"found {what} beside `{block.name}`, which is discrete, expected draws: {NO_FLOW}"
                hint = "U is of all blocks together, so one that moves others reads it too: draw each by its law"
                page.fault(("scheme", "cycle", place), f"scheme.cycle[{place}]", problem, hint)


def held(target: Target) -> Target:
    """Return the target with its discrete blocks held at values that are not known: data, or parameters, of 0 and 1.

    What holds for all values of them holds at each. The sum of an integral over all rows is finite where each is.
    """
    blocks = discrete_blocks(target.declarations)
    if not blocks:
        return target
    declared, own = target.declarations, of_data(target.declarations)
    others = tuple(block for block in blocks if block not in own)
    roles = dict.fromkeys((b.name for b in others), Role.PARAMETER) | dict.fromkeys((b.name for b in own), Role.DATUM)

    def fixed(formula: Formula | None) -> Formula | None:
        return None if formula is None else _with_roles(formula, roles)

    return replace(
        target,
        declarations=replace(
            declared,
            blocks=tuple(block for block in declared.blocks if block not in blocks),
            parameters=(*declared.parameters, *(Parameter(b.name, b.shape, (Kind.NONNEGATIVE,)) for b in others)),
            data=(*declared.data, *(Datum(b.name, b.shape.rows or 1, row_of(b), VALUES) for b in own)),
        ),
        potential=fixed(target.potential),
        log_prior=fixed(target.log_prior),
        log_likelihood=fixed(target.log_likelihood),
        laws=(),
        declared=None if target.declared is None else held(target.declared),
        stated=_held_densities(target.stated, roles),
    )


def _with_roles(formula: Formula, roles: Mapping[str, Role]) -> Formula:
    """Return a formula in which some blocks have another role; their shapes are what they are there."""
    if isinstance(formula, Symbol):
        own = roles.get(formula.name) if formula.role is Role.BLOCK else None
        return formula if own is None else replace(formula, role=own)
    return tidy(formula, [_with_roles(part, roles) for part in parts(formula)], lambda shape: shape)


def _held_densities(stated: Stated, roles: Mapping[str, Role]) -> Stated:
    """Return named densities with discrete blocks held."""
    needs = (_with_roles(condition, roles) for condition in stated.needs)
    return Stated(
        tuple(
            replace(one, arguments=tuple(_with_roles(argument, roles) for argument in one.arguments))
            for one in stated.densities
        ),
        tuple((entry, _with_roles(formula, roles)) for entry, formula in stated.others),
        tuple(condition for condition in needs if isinstance(condition, Compare)),
    )

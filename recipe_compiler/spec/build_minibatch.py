"""How minibatches are drawn, what is estimated from the data before a run, and how the step size falls along it."""

from typing import Any

from recipe_compiler.formula.declaration import Parameter, unused
from recipe_compiler.formula.elaborate import Scope
from recipe_compiler.formula.expression import Apply, Formula, Role, Symbol
from recipe_compiler.formula.shapes import SCALAR, DomainName, Kind, Shape
from recipe_compiler.spec.build_checks import is_stacked, potential_blocks
from recipe_compiler.spec.formulas import dependence
from recipe_compiler.spec.model import Cir, Dynamics, Schedule, Scheme, Target
from recipe_compiler.spec.page import Page
from recipe_compiler.spec.schema_build import BuildDocument, MinibatchEntry

ESTIMATE = "estimate"


def check_minibatch(page: Page, document: BuildDocument) -> None:
    """Add a fault where ways of drawing a minibatch contradict each other, or blocks are not of shuffled data."""
    minibatch, data = document.minibatch or MinibatchEntry(), document.data
    if minibatch.blocks is not None:
        at = page["minibatch", "blocks"]
        if minibatch.replacement:
            problem = "found contiguous blocks beside `replacement: true`, expected one of the two"
            at.fault(problem, "rows of a block all differ, but blocks of two steps may overlap")
        if data is not None and data.shuffle is None and not data.shuffled:
            problem = "found contiguous blocks of data whose order is not known to be random"
            at.fault(problem, "write `shuffle: SEED` under data, or `shuffled: true`")
    if data is not None and data.shuffle is not None and data.shuffled:
        at = page["data", "shuffle"]
        at.fault("found `shuffle` beside `shuffled: true`, expected one of the two")


def read_schedule(page: Page, document: BuildDocument) -> Schedule:
    """Return how the step size falls; a fault for a key that the schedule does not have, or lacks."""
    entry = document.run.schedule
    keys = {"constant": (), "power": ("b", "c"), "cyclic": ("period",)}[entry.name]
    given = {key: value for key in ("b", "c", "period") if (value := getattr(entry, key)) is not None}
    for key in (*keys, *given):
        at = page["run", "schedule", key]
        if key not in given:
            at.fault(f"found no `{key}`, expected one for the schedule {entry.name}")
        elif key not in keys:
            at.fault(f"found `{key}`, expected none for the schedule {entry.name}")
    if given.get("c", 0) > 1:
        hint = "with c > 1 the step sizes have a finite sum: the chain stops before it converges"
        page["run", "schedule", "c"].fault(f"found {float(given['c'])!r}, expected at most 1", hint)
    as_run: dict[str, Any] = {key: value if key == "period" else float(value) for key, value in given.items()}
    return Schedule(entry.name, **as_run)


def estimated_noise(
    page: Page, document: BuildDocument, dynamics: Dynamics, scope: Scope
) -> tuple[Formula, Parameter] | None:
    """Return V of an estimate and the parameter that holds it; None where the build states V itself.

    Dense: V is the parameter, a matrix. Diagonal: the parameter is the vector of its diagonal.
    """
    if page["gradient_noise", "V"].text != ESTIMATE or scope.declarations.find(ESTIMATE) is not None:
        for key in ("form", "moving"):
            if (at := page["gradient_noise", key]).node is not None:
                at.fault(f"found `{key}`, expected none: it is of `V: estimate`")
        return None
    rows = potential_blocks(dynamics)[0].shape.rows
    name = unused("V_hat", scope.declarations.names)
    if rows is None:
        return Symbol(name, SCALAR, Role.PARAMETER), Parameter(name, SCALAR, (Kind.NONNEGATIVE,))
    square = Shape(rows, rows)
    if document.gradient_noise.form == "diagonal":
        vector = Symbol(name, Shape(rows), Role.PARAMETER)
        return Apply("diag", (vector,), square), Parameter(name, Shape(rows), (Kind.NONNEGATIVE,))
    return Symbol(name, square, Role.PARAMETER), Parameter(name, square, (Kind.PSD,))


def check_estimates(page: Page, document: BuildDocument, target: Target, scheme: Scheme) -> None:
    """Add a fault where something is to be estimated from the data that cannot be, or is zero where it is estimated."""
    control = document.minibatch is not None and document.minibatch.control_variates is not None
    estimate = page["gradient_noise", "V"].text == ESTIMATE
    at = page["minibatch", "control_variates"] if control else page["gradient_noise", "V"]
    laws = dict(target.as_declared.laws)
    flows = [move.block for move in scheme.cycle if isinstance(move, Cir) and control and move.block in laws]
    if (control or estimate) and scheme.cycle and not scheme.words:
        what = "control variates" if control else "an estimate of the gradient's noise"
        problem = f"found {what} beside a cycle whose words evaluate no gradient, which does not use them"
        full = "use `variant: full`: the sum over the data in a shape is then computed once, and has no noise"
        at.fault(problem, full if flows else "leave it out, or move every block of the target by a word")
    for name in flows:
        uses = dependence(laws[name].arguments[0])
        if uses.blocks and {field.name for field in target.declarations.data} & {*uses.names}:
            problem = f"found control variates beside cir of {name}, whose shape holds data and blocks, expected data"
            at.fault(f"{problem} alone: a sum of differences may be negative, which no shape is", "leave them out")
    if control and estimate:
        problem = "found an estimate of V beside control variates, whose noise is 0 at the mode, where it is estimated"
        at.fault(problem, "state V, or leave one of the two out")
    if estimate and document.variant == "full":
        problem = "found an estimate of gradient noise for a full gradient, expected 0"
        at.fault(problem, "use variant: minibatch")
    if (control or estimate) and target.gradient is not None:
        problem = "found a target whose gradient is code, expected formulas: the gradient of one datum is not known"
        at.fault(problem, "leave it out, and state V as a formula")
    bounded = [b.name for b in target.declarations.blocks if b.domain.name is not DomainName.REAL]
    in_sets = [b for b in target.declarations.blocks if b.constraint is not None]
    if control and in_sets:
        problem = f"found control variates of `{in_sets[0].name}`, which is {in_sets[0].constraint}, expected numbers"
        at.fault(problem, "leave them out: gradients at the mode are those of its variables")
    elif (control or estimate) and bounded:
        problem = f"found the domain of `{bounded[0]}` bounded, expected real: the mode is searched without bounds"
        at.fault(problem, "sample it in an unbounded variable: `transform` in the target")


def may_vary(target: Target) -> bool:
    """Whether gradients of a target may be differences to those at a mode: of formulas, by unbounded blocks."""
    blocks = target.declarations.blocks
    return target.gradient is None and all(b.domain.name is DomainName.REAL and b.constraint is None for b in blocks)


def control_parameters(
    document: BuildDocument, dynamics: Dynamics, target: Target, scope: Scope
) -> tuple[tuple[Parameter, Parameter], ...]:
    """Return the parameters that hold the mode and the gradient there, block by block; none without control variates.

    Where a target is one block that is the potential's, they have the name of that, else those of its own blocks.
    """
    if document.minibatch is None or document.minibatch.control_variates is None:
        return ()
    whole, U = potential_blocks(dynamics)[0], dynamics.potential
    if not is_stacked(target, whole):
        names = [(f"{whole.name}_mode", f"grad_{U}_mode", whole.shape)]
    else:
        blocks = target.declarations.blocks
        names = [(f"{own.name}_mode", f"grad_{U}_{own.name}_mode", own.shape) for own in blocks]
    taken = {*target.declarations.names, *scope.declarations.names}
    found: list[tuple[Parameter, Parameter]] = []
    for mode, at_mode, shape in names:
        own = [Parameter(unused(name, taken), shape) for name in (mode, at_mode)]
        taken |= {parameter.name for parameter in own}
        found.append((own[0], own[1]))
    return tuple(found)

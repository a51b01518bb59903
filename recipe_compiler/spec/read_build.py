"""Builds from their documents: dynamics, target, what is bound, the values, the scheme and the run."""

from collections.abc import Mapping as Table
from collections.abc import Sequence, Set
from dataclasses import fields, replace
from fractions import Fraction
from itertools import chain
from pathlib import Path
from typing import Any

from recipe_compiler.errors import nearest
from recipe_compiler.formula.declaration import Declarations, Parameter, by_name
from recipe_compiler.formula.elaborate import Scope
from recipe_compiler.formula.expression import Formula, Number
from recipe_compiler.formula.rebuild import is_zero, zero
from recipe_compiler.formula.shapes import SCALAR, Kind, Shape
from recipe_compiler.spec.bind import Rewriting, read_bindings, replaced, rewritten, unbound
from recipe_compiler.spec.build_checks import (
    check_domains,
    check_positions,
    check_run,
    check_target_fits,
    check_unique_names,
    fixed_sizes,
    potential_blocks,
    with_sizes_of_columns,
)
from recipe_compiler.spec.build_data import read_data, read_test
from recipe_compiler.spec.build_minibatch import (
    check_estimates,
    check_minibatch,
    control_parameters,
    estimated_noise,
    read_schedule,
)
from recipe_compiler.spec.build_parts import Around, part_of
from recipe_compiler.spec.clashing_names import other_names, renamed, with_names
from recipe_compiler.spec.complete import with_potential
from recipe_compiler.spec.declarations import check_kinds
from recipe_compiler.spec.discrete import check_moved
from recipe_compiler.spec.faults import Faults
from recipe_compiler.spec.fields import MOST_STEPS
from recipe_compiler.spec.formulas import dependence
from recipe_compiler.spec.known_potential import with_bound_potential
from recipe_compiler.spec.let import read_derived
from recipe_compiler.spec.model import (
    Build,
    Control,
    Dynamics,
    Formulas,
    Rows,
    RunSettings,
    Schedule,
    Scheme,
    Score,
    Target,
    Use,
    Value,
)
from recipe_compiler.spec.open_target import open_target
from recipe_compiler.spec.page import Page
from recipe_compiler.spec.places import source_of
from recipe_compiler.spec.positions import formulas_of_moves, stated_formulas
from recipe_compiler.spec.read_cycle import lengths_of, read_build_scheme, written_out
from recipe_compiler.spec.read_scores import read_scores, why_no_test
from recipe_compiler.spec.schema_build import OF_AUTO, BuildDocument, BuildParameterEntry
from recipe_compiler.spec.use import mask_value, with_use
from recipe_compiler.spec.validate import validate
from recipe_compiler.spec.values import read_value
from recipe_compiler.spec.yaml_nodes import Mapping


def read_build(root: Mapping, file: str, around: Around) -> Build:
    """Return the build a document states, its dynamics and target with it.

    Raises SpecError or ModelError with every fault of the three documents.
    """
    faults, root = Faults(), written_out(root)
    page, document, (named, dynamics), target, use, parts = _documents(Page(root, faults), around)
    parameters = _new_parameters(page, document, dynamics, target)
    check_unique_names(page, dynamics, target, parameters)
    check_target_fits(page, document, dynamics, target)
    scheme = replace(read_build_scheme(page, document, dynamics, target, parameters, around, parts), use=use)
    _check_sizes(page, document, dynamics, target, parameters)
    scope = Scope(unbound(dynamics, tuple(document.bind), parameters))
    wide = Scope(unbound(dynamics, tuple(document.bind), (*parameters, *target.declarations.parameters)))
    misused = use is None and any(
        entry.of for entry in document.scheme.words.values()
    )  # a fault, and binds what it lacks
    names = tuple(name for name in document.bind if not misused or dynamics.declarations.find(name))
    bind = read_bindings(page, names, dynamics, wide)
    check_domains(page, dynamics, target, dict(bind))
    noise = estimated_noise(page, document, dynamics, scope) if potential_blocks(dynamics) else None
    W = _gradient_noise(page, "add", dynamics, scope)
    V = _gradient_noise(page, "V", dynamics, scope) if noise is None else noise[0]
    _check_gradient_noise(page, document, dynamics, V, W)
    control = control_parameters(document, dynamics, target, scope) if potential_blocks(dynamics) else ()
    init = _initial(page, document, dynamics, target, scope)
    own = {} if use is None else {part.mask: mask_value(part) for part in use.parts if part.mask}
    values = _values(page, document, dynamics, target, parameters, around.folder, own)
    declared = (*dynamics.declarations.parameters, *target.declarations.parameters, *parameters)
    numbers = {name: value.numbers for name, value in values}
    valued = [(p, rows) for p in declared if (rows := numbers.get(p.name))]
    _check_lengths(page, valued)
    for name in lengths_of(document):
        if (rows := numbers.get(name)) and rows[0][0] > MOST_STEPS:
            problem = f"found {float(rows[0][0]):g} as the most steps of a move, expected {MOST_STEPS} at most"
            page["parameters", name, "value"].fault(problem)
    stated = [formula for _, formula in (*bind, *init)] + [formula for formula in (V, W) if formula is not None]
    stated += [*stated_formulas(dynamics), *stated_formulas(target), *formulas_of_moves(scheme)]
    derived, scores = _of_draws(page, document, dynamics, target, parameters)
    stated += [formula for score in scores for formula in score.formulas]
    check_positions(page, fixed_sizes(document, dynamics, target, valued), stated)
    data = None if around.in_memory else read_data(page, document, target, around.folder)
    test = read_test(page, document, target, data, around)
    eps = None if target.is_open and document.run.step_size is None else _step_size(page, document, scheme)
    check_moved(page, scheme, target, planned=document.run.step_size == "auto")
    check_run(page, document, target, scheme)
    check_minibatch(page, document)
    check_estimates(page, document, target, scheme)
    schedule = read_schedule(page, document)
    if faults.found or V is None:
        raise faults.error()
    unread = _without_defaults({name for name, rows in numbers.items() if rows is None})
    if named.potential is None and bind:
        whole = replace(named, declarations=unbound(named, tuple(document.bind), parameters))
        _, target = with_potential(replaced(whole, dict(bind)))
    made = Build(
        name=document.name,
        dynamics=rewritten(dynamics, unread),
        target=rewritten(target, unread),
        bind=bind,
        parameters=(*parameters, *chain(*control), *(() if noise is None else noise[1:])),
        values=values,
        scheme=scheme,
        variant=document.variant,
        replacement=document.minibatch is not None and document.minibatch.replacement,
        V=V,
        W=None if W is None or is_zero(W) else W,
        sizes=tuple(document.sizes.items()),
        data=data,
        init=init,
        run=_settings(document, schedule, eps),
        stated_step_size=eps,
        source=source_of(root, file),
        contiguous=document.minibatch is not None and document.minibatch.blocks is not None,
        control=tuple(Control(mode.name, at_mode.name) for mode, at_mode in control),
        estimated=None if noise is None else noise[1].name,
        moving=None if (moving := document.gradient_noise.moving) is None else float(moving),
        derived=derived,
        scores=scores,
        test=test,
        diagnostics=document.run.diagnostics,
        assumes_integral=bool(document.assume),
        named=None if named is dynamics else rewritten(named, unread),
    )
    chosen = {name: getattr(document.run, name) for name in OF_AUTO}
    return with_bound_potential(replace(made, **{name: float(x) for name, x in chosen.items() if x is not None}))


def _without_defaults(names: Set[str]) -> Rewriting:
    """Return what takes the defaults of parameters whose values are in files that a run alone reads.

    What is decided before it knows no value of them, and may take no other in its place.
    """
    return Rewriting(
        lambda formula: formula,
        lambda shape: shape,
        lambda found: replace(found, default=None) if found.name in names else found,
    )


def _documents(
    page: Page, around: Around
) -> tuple[Page, BuildDocument, tuple[Dynamics, Dynamics], Target, Use | None, Table[int, int]]:
    """Return a build's document, the dynamics it follows, its target, and what a move uses. Raises where one is faulty.

    The dynamics come twice: as their document names things, and with other names for what the target has a name for,
    which the page has, too.
    """
    named = part_of(page["dynamics"], Dynamics, around)
    target = part_of(page["target"], Target, around)
    if named is not None and named.potential is not None and "target" not in around.parts:
        target = open_target(named) if page["target"].node is None else target
    document = validate(page.root, BuildDocument, page.faults)
    if named is None or (target is None and page["target"].node is not None):
        raise page.faults.error()
    if target is None:
        if page.faults.found:
            raise page.faults.error()
        dynamics, target = with_potential(named)
        document = with_sizes_of_columns(document, dynamics, target)
        return page, document, (named, dynamics), target, None, {}
    dynamics, use, parts = with_use(page, document, named, target, around)
    named, names = dynamics, other_names(page.root, dynamics, target, with_blocks=use is None)
    if names:
        dynamics, page = renamed(named, names), Page(with_names(page.root, names, named, target), page.faults)
        document = validate(page.root, BuildDocument, page.faults)
    return page, with_sizes_of_columns(document, dynamics, target), (named, dynamics), target, use, parts


def _step_size(page: Page, document: BuildDocument, scheme: Scheme) -> Fraction | None:
    """Return the step size, None of `auto`; 1 where none is stated, and a fault is added if a step takes time."""
    stated = document.run.step_size
    if stated is None and scheme.takes_time and (page["run"].node or not page.faults.found):
        page["run", "step_size"].fault("found no `step_size`, expected one")
    return None if stated == "auto" else stated or Fraction(1)


def _settings(document: BuildDocument, schedule: Schedule, eps: Fraction | None) -> RunSettings:
    """Return the settings of a run, the step size as the double nearest to what is stated, None for `auto`."""
    run: dict[str, Any] = {own.name: getattr(document.run, own.name) for own in fields(RunSettings)}
    run |= {"step_size": None if eps is None else float(eps), "schedule": schedule}
    return RunSettings(**run)


def _new_parameters(page: Page, document: BuildDocument, dynamics: Dynamics, target: Target) -> tuple[Parameter, ...]:
    """Return the parameters the build declares itself: those that neither dynamics nor target have.

    What says how long moves are is one positive number, whether or not it is among its `parameters`.
    """
    declared = (*dynamics.declarations.parameters, *target.declarations.parameters)
    owned = {parameter.name for parameter in declared}
    new: list[Parameter] = []
    lengths = {name: BuildParameterEntry() for name in lengths_of(document) if name not in owned}
    for name, entry in (lengths | document.parameters).items():
        at = page["parameters", name]
        if name in owned:
            for key, stated in (("shape", entry.shape), ("is", entry.is_)):
                if stated is not None:
                    problem = f"found `{key}` of `{name}`, which is declared already; expected its value alone"
                    at[key].fault(problem, f"rename it if a new parameter is meant: `{name}_`")
            continue
        kinds = (Kind.POSITIVE,) if name in lengths else (Kind.REAL,)
        parameter = Parameter(name, entry.shape or SCALAR, entry.is_ or kinds)
        check_kinds(at, parameter.shape, parameter.kinds)
        new.append(parameter)
    return tuple(new)


def _check_sizes(
    page: Page, document: BuildDocument, dynamics: Dynamics, target: Target, parameters: tuple[Parameter, ...]
) -> None:
    known = (*dynamics.declarations.sizes, *target.declarations.sizes, *Declarations((), parameters).sizes)
    for size in document.sizes:
        if size not in known:
            problem = (
                f"found the size `{size}`, expected one of {', '.join(dict.fromkeys(known)) or 'none: all are fixed'}"
            )
            page["sizes", size].fault(problem, nearest(size, known))


def _check_lengths(page: Page, valued: Sequence[tuple[Parameter, Rows]]) -> None:
    """Add a fault where two values give one size different numbers."""
    seen: dict[str, tuple[int, str]] = {}
    for parameter, rows in valued:
        name = parameter.name
        for size, length in zip((parameter.shape.rows, parameter.shape.cols), (len(rows), len(rows[0])), strict=True):
            other, of = seen.setdefault(size, (length, name)) if isinstance(size, str) else (length, name)
            if other != length:
                problem = f"found {size} = {length} by the value of `{name}`, but {other} by that of `{of}`"
                page["parameters", name, "value"].fault(f"{problem}; expected one number")


def _gradient_noise(page: Page, key: str, dynamics: Dynamics, scope: Scope) -> Formula | None:
    """Return a covariance of the gradient, of the potential block's square shape; zero where the build says nothing."""
    blocks = potential_blocks(dynamics)
    if len(blocks) != 1:
        return None
    rows = blocks[0].shape.rows
    shape = Shape(rows, rows)
    at = page["gradient_noise", key]
    return zero(shape) if at.node is None else at.formula(replace(scope, square=True), shape)


def _check_gradient_noise(
    page: Page, document: BuildDocument, dynamics: Dynamics, V: Formula | None, W: Formula | None
) -> None:
    """Add a fault where noise is subtracted of which there is none, or added by what a gradient does not know."""
    adds = W is not None and not is_zero(W)
    is_stated = V is not None and document.gradient_noise.V != "estimate" and not is_zero(V)
    if is_stated and document.variant == "full" and not adds:
        hint = "use variant: minibatch, or `add` noise"
        page["gradient_noise", "V"].fault("found gradient noise of a full gradient, expected 0", hint)
    if adds and W is not None:
        own, uses = {block.name for block in potential_blocks(dynamics)}, dependence(W)
        if others := [name for name in (*uses.blocks, *uses.functions) if name not in own]:
            problem = f"found `{others[0]}`, expected parameters and {', '.join(sorted(own))}, where the gradient is"
            page["gradient_noise", "add"].fault(problem)


def _initial(page: Page, document: BuildDocument, dynamics: Dynamics, target: Target, scope: Scope) -> Formulas:
    """Return where blocks start: formulas of parameters and draws; of blocks of the target as it declares them, too."""
    own = by_name(dynamics.declarations.blocks)
    declared = target.as_declared.declarations.blocks if target.gradient is None else ()
    blocks = by_name(declared) | own
    visible = scope.declarations
    parameters = (*visible.parameters, *target.declarations.parameters)
    inner = Scope(Declarations(visible.blocks, parameters, visible.functions), update=True)
    found: list[tuple[str, Formula]] = []
    for name in document.init:
        at = page["init", name]
        if not at.knows(name, blocks, "a block of the dynamics or of the target"):
            continue
        shape, sizes = blocks[name].shape, {} if name in own else document.sizes
        rows, cols = (sizes.get(size, size) if isinstance(size, str) else size for size in (shape.rows, shape.cols))
        formula = at.formula(inner, Shape(rows, cols))
        if formula is None:
            continue
        uses = dependence(formula)
        if uses.blocks or uses.functions or uses.step:
            used = (*uses.blocks, *uses.functions, "eps")[0]
            at.fault(f"found `{used}` in a start, expected numbers, parameters and N(0, cov)")
        found.append((name, formula))
    return tuple(found)


def _of_draws(
    page: Page, document: BuildDocument, dynamics: Dynamics, target: Target, parameters: tuple[Parameter, ...]
) -> tuple[Formulas, tuple[Score, ...]]:
    """Return what is computed from every draw, and from all: of blocks of the target, and of parameters not bound."""
    declared = target.as_declared.declarations
    own = tuple(p for p in (*dynamics.declarations.parameters, *parameters) if p.name not in document.bind)
    scope = Declarations(declared.blocks, (*declared.parameters, *own), (), declared.data)
    taken = (*(name for name, _ in target.derived), *(block.name for block in dynamics.declarations.blocks))
    derived = read_derived(page, document.derived, scope, taken)
    no_test = why_no_test(target)
    if not no_test and document.test is None and page["data"].node is not None:
        no_test = f"{target.name} and no held-out rows, expected a section `test`"
    return derived, read_scores(page, document.scores, scope, (*target.derived, *derived), no_test)


def _values(
    page: Page,
    document: BuildDocument,
    dynamics: Dynamics,
    target: Target,
    parameters: tuple[Parameter, ...],
    folder: Path,
    own: Table[str, Value],
) -> tuple[tuple[str, Value], ...]:
    """Return the value of every parameter that is not bound: its own, the build's, else a default that is a number.

    With `step_size: auto` the dynamics' own, and new ones of the build, may be without: the plan chooses them. Where
    no target is named, all may: they are arguments of the module.
    """
    theirs, is_complete = target.declarations.parameters, page["target"].node is None
    sizes, is_left = document.sizes, document.run.step_size == "auto" or target.is_open
    found: list[tuple[str, Value]] = []
    declared = by_name((*dynamics.declarations.parameters, *target.declarations.parameters, *parameters))
    for name, parameter in declared.items():
        at = page["parameters", name, "value"]
        node = at.node
        if name in document.bind:
            if node is not None:
                at.fault(f"found a value of `{name}`, which is bound", "remove it, or the binding")
            continue
        if name in own:
            found.append((name, own[name]))
        elif node is not None:
            value = read_value(at, parameter, sizes, folder)
            found += [] if value is None else [(name, value)]
        elif isinstance(parameter.default, Number):
            found.append((name, Value(((parameter.default.value,),))))
        elif parameter.default is None and not (is_left and (is_complete or parameter not in theirs)):
            hint = f"write under parameters: `{name}: {{value: ...}}`, or bind it"
            declared_by = "target" if parameter in theirs else "dynamics"
            at = page["parameters", name]
            where = at.where if page["parameters"].node else page[declared_by].where
            page.faults.meaningless_at(where, at.label, f"found no value of `{name}`, expected one", hint)
    return tuple(found)

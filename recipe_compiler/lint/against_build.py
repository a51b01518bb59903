"""The dynamics that a build verifies a step against, with the target's U for U where the step has its own gradient.

A step that is given U, or a derivative of it, is judged for every U. Any other one computes what its target is, and is
judged by that one: U = -log_prior - (N/n) sum_n log_likelihood_n of the n rows that it is given, n = N in a build of
full gradients. What it names of the parameters and data stays any; all others are what the build makes them.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import prod

from recipe_compiler import limits
from recipe_compiler.algebra.scalars.symbols import extent
from recipe_compiler.errors import ModelError, model_error
from recipe_compiler.formula import build as make
from recipe_compiler.formula.declaration import Block, Parameter
from recipe_compiler.formula.expression import Entry, Explicit, Formula, Number, Role, Symbol
from recipe_compiler.formula.shapes import SCALAR, Shape
from recipe_compiler.formula.show import text
from recipe_compiler.formula.substitute import substitute
from recipe_compiler.lint.bind_arguments import Binding, Rows, bind_arguments
from recipe_compiler.lint.source import Source
from recipe_compiler.lint.without_dynamics import bind_to_dynamics
from recipe_compiler.spec.bind import bind, dynamics_of, replaced
from recipe_compiler.spec.build_checks import potential_blocks
from recipe_compiler.spec.discrete import discrete_blocks
from recipe_compiler.spec.formulas import dependence
from recipe_compiler.spec.known_potential import express_blocks
from recipe_compiler.spec.laws import of_all_data
from recipe_compiler.spec.model import Build, Claims, Data, Document, Dynamics, Target
from recipe_compiler.spec.positions import declared_formulas, equation_formulas, smallest_sizes, stated_formulas
from recipe_compiler.spec.recursion import weights_of_stages
from recipe_compiler.trace.operations import Trace
from recipe_compiler.verify.core.build_values import bind_values, find_known_sizes, fix_sizes
from recipe_compiler.verify.core.sizes import Sizes, format_sizes

FEW = 2
"""What a size is there, and how many rows of the data there are."""
LARGE = 20
"""A size that no other number is likely to be a multiple of."""


@dataclass(frozen=True, slots=True)
class _Plan:
    """A build at the sizes at which its step is followed."""

    build: Build
    """As far as the step names nothing of it."""
    bound: Dynamics
    named: frozenset[str]
    """Parameters and data that the step names."""
    own: Sizes
    """The sizes of the build, as far as they are known."""
    sizes: Sizes
    """Those that are followed; none where U is any function and the state is large."""
    rows: int
    """How many rows of the data a step is given; 0 without data."""
    every_potential: bool
    """Whether U is any function."""

    @property
    def count(self) -> str:
        """The name of the number of data; empty without any, or where it is a number."""
        data = self.build.target.declarations.data
        return data[0].size if data and isinstance(data[0].size, str) else ""

    @property
    def small(self) -> Build:
        """The build at these sizes, with as many rows, without the defaults of what is named or has a value."""
        fixed = fix_sizes(replace(_drop_defaults(self.build, self.named), sizes=tuple(self.sizes.items())))
        declared = fixed.target.declarations
        data = tuple(replace(field, size=self.rows) for field in declared.data)
        return replace(fixed, target=replace(fixed.target, declarations=replace(declared, data=data)))

    @property
    def smaller(self) -> tuple[tuple[str, int], ...]:
        """Return the sizes that are others than those of the build."""
        sizes = tuple((name, n) for name, n in self.sizes.items() if self.own.get(name) != n)
        rows = self.rows and not _has_batches(self) and self.whole != self.rows and not self.every_potential
        return (*sizes, (self.count or "N", self.rows)) if rows else sizes

    @property
    def whole(self) -> int | None:
        """N, as far as it is known."""
        data = self.build.target.declarations.data
        size = data[0].size if data else 0
        return size if isinstance(size, int) else self.own.get(size)


def bind_step(source: Source, against: Document | None, where: str, maps: Sequence[tuple[str, str]]) -> Binding:
    """Return what to call a step with, to be judged by a build or by dynamics, or read alone.

    Args:
        source: of the step.
        against: what it is judged by; a build holds its data. None: by nothing.
        where: that is said to be.
        maps: arguments to what they are.

    Raises:
        ModelError: as `bind_arguments`; a document that is no build and no dynamics.
    """
    if isinstance(against, Build):
        return bind_by_build(source, against, maps)
    return bind_to_dynamics(source, None if against is None else dynamics_of(against, where, "against"), maps)


def bind_by_build(source: Source, build: Build, maps: Sequence[tuple[str, str]]) -> Binding:
    """Return what to call a step with, to be judged by a build.

    Raises:
        ModelError: as `bind_arguments`.
    """
    bound = bind(build)
    opened = _declare_target(bound, build.target)
    ask = bind_arguments(source, opened, maps, replaces_functions=False)
    formulas = [given.formula for given in ask.given if given.formula is not None]
    has_any = bound.potential is None or any(bound.potential in dependence(formula).functions for formula in formulas)
    named = frozenset(name for formula in formulas for name in dependence(formula).parameters)
    plan = _choose_sizes(build, bound, named, every_potential=has_any)
    try:
        dynamics, said, open_ = _use_any_potential(plan) if has_any else _use_target_potential(plan)
    except ModelError as error:
        dynamics, said, open_ = _leave_potential_open(plan, [fault.problem for fault in error.faults])
    numbers = {**plan.own, **plan.sizes}
    if plan.count and not _has_batches(plan):
        numbers[plan.count] = plan.rows
    found = bind_arguments(source, dynamics, maps, numbers, replaces_functions=False)
    fields = tuple((field.name, field.values) for field in build.target.declarations.data)
    return replace(
        found,
        said=said,
        left_open=open_,
        smaller=plan.smaller if plan.sizes else (),
        meant=_list_build_sizes(plan) if plan.sizes else (),
        rows=None if has_any or not fields else Rows(fields, _has_batches(plan)),
    )


def with_stated_rows(ask: Binding, which: int) -> Binding:
    """Return a binding to rows that the build allows: of few values one after the other, of a batch all rows alike.

    Every batch of data whose rows are alike is the same one, so that what is wrong of it is wrong of the mean.

    Args:
        ask: a binding to rows that are any.
        which: with which of the values the first row begins.
    """
    if ask.rows is None:
        return ask
    stated: dict[str, Formula] = {}
    for name, values in ask.rows.fields:
        declared = ask.dynamics.declarations.find(name)
        if isinstance(declared, Parameter) and (values or ask.rows.of_batch):
            field = Symbol(name, declared.shape, Role.PARAMETER)
            stated[name] = _state_rows(field, values, which, alike=ask.rows.of_batch)
    given = tuple(
        one if one.formula is None or one.block is not None else replace(one, formula=substitute(one.formula, stated))
        for one in ask.given
    )
    found = replaced(ask.dynamics, stated)
    numbers = {name for name, values in ask.rows.fields if values}
    left = tuple(p for p in found.declarations.parameters if p.name not in numbers)
    return replace(ask, dynamics=replace(found, declarations=replace(found.declarations, parameters=left)), given=given)


def describe_stated_rows(ask: Binding, which: int) -> tuple[str, ...]:
    """Return what the rows of `with_stated_rows` are."""
    if ask.rows is None:
        return ()
    alike = ("all rows of the batch are the first",) if ask.rows.of_batch else ()
    fields = ((name, values, which % len(values)) for name, values in ask.rows.fields if values)
    numbers = (f"{name} = {', '.join(map(str, (*values[k:], *values[:k])))}, ..." for name, values, k in fields)
    return (*alike, *numbers)


def _state_rows(field: Symbol, values: tuple[int, ...], which: int, *, alike: bool) -> Formula:
    """Return an explicit array for the rows of a field: allowed values in turn, or entries of the field."""
    height, width = extent(field.shape, {})

    def entry(i: int, j: int) -> Formula:
        i = 0 if alike else i
        if values:
            return Number(Fraction(values[(i + j + which) % len(values)]))
        return Entry(field, (i, j) if isinstance(field.shape.cols, int) else (i,))

    return Explicit(tuple(tuple(entry(i, j) for j in range(width)) for i in range(height)), field.shape)


def _declare_target(bound: Dynamics, target: Target) -> Dynamics:
    """Return dynamics with the parameters and data of a target declared too."""
    known = {parameter.name for parameter in bound.declarations.parameters}
    theirs = of_all_data(target.declarations).parameters
    parameters = (*bound.declarations.parameters, *(p for p in theirs if p.name not in known))
    return replace(bound, declarations=replace(bound.declarations, parameters=parameters))


def _has_batches(plan: _Plan) -> bool:
    return plan.build.variant == "minibatch" and bool(plan.rows)


# At which sizes.


def _choose_sizes(build: Build, bound: Dynamics, named: frozenset[str], *, every_potential: bool) -> _Plan:
    """Return the plan of a build: its own sizes where the state is small, else small ones."""
    target, observed, block = build.target, build.observed, next(iter(potential_blocks(bound)), None)
    count = target.declarations.data[0].size if target.declarations.data else None
    of_target = [size for size in target.declarations.sizes if size != count]
    own = {**find_known_sizes(build, target), **find_known_sizes(build, bound), **dict(build.sizes)}
    if isinstance(observed, Data):
        names = (*target.declarations.sizes, *bound.declarations.sizes)
        own |= {name: n for name, n in observed.sizes if name in names}
        own |= {count: observed.rows} if isinstance(count, str) else {}
    sampled = tuple(block.sampled for block in target.declarations.blocks)
    whole = _count_coordinates(sampled, own)
    if block is not None and whole is not None and isinstance(block.shape.rows, str):
        own.setdefault(block.shape.rows, whole)
    total = _count_coordinates(bound.declarations.blocks, own)
    rows = 0 if count is None else min(FEW, count if isinstance(count, int) else own.get(count, FEW))
    if total is not None and total <= limits.STEP:
        sizes = {name: own[name] for name in (*bound.declarations.sizes, *of_target) if name in own}
        return _Plan(build, bound, named, own, sizes, rows, every_potential)
    if every_potential:
        return _Plan(build, bound, named, own, {}, rows, every_potential)
    least = smallest_sizes(target.declarations, stated_formulas(target))
    small = {size: max(FEW, least.get(size, 1)) for size in of_target}
    others = {size: FEW for size in bound.declarations.sizes if size not in small}
    if block is not None and isinstance(block.shape.rows, str):
        others[block.shape.rows] = _count_coordinates(sampled, small) or FEW
    return _Plan(build, bound, named, own, {**small, **others}, rows, every_potential)


def _count_coordinates(blocks: Sequence[Block], sizes: Sizes) -> int | None:
    try:
        return sum(prod(extent(block.shape, sizes)) for block in blocks)
    except KeyError:  # a size that is not known
        return None


# What is put in.


def _use_any_potential(plan: _Plan) -> tuple[Dynamics, tuple[str, ...], tuple[str, ...]]:
    """Return the dynamics of a build for every U, with remarks and open points."""
    dynamics, said, open_ = _put_in_values(plan, plan.build)
    return _declare_named(dynamics, plan), (f"{plan.bound.potential} is any function", *said), open_


def _use_target_potential(plan: _Plan) -> tuple[Dynamics, tuple[str, ...], tuple[str, ...]]:
    """Return the dynamics of a build with the potential of its target, with remarks and open points."""
    bound = plan.bound
    reasons = tuple(_explain_unread_target(plan))
    if reasons or bound.potential is None:
        return _leave_potential_open(plan, reasons)
    small = plan.small
    block = next(iter(potential_blocks(bind(small))), None)
    potential = _write_potential(small.target, block, plan) if block is not None else Number(Fraction(0))
    mine = small.dynamics.declarations
    mine = replace(mine, assume=(*mine.assume, *small.target.declarations.assume))
    with_it = replace(
        small,
        dynamics=replace(small.dynamics, declarations=mine),
        bind=(*small.bind, (bound.potential, potential)),
        parameters=(*small.parameters, *of_all_data(replace(small.target.declarations, parameters=())).parameters),
    )
    dynamics, said, left = _put_in_values(plan, with_it)
    U = f"{bound.potential} is that of the target {plan.build.target.name}"
    return _declare_named(dynamics, plan), (f"{U}{_describe_rows(plan)}", *said), left


def _leave_potential_open(plan: _Plan, reasons: Sequence[str]) -> tuple[Dynamics, tuple[str, ...], tuple[str, ...]]:
    """Return the dynamics of a build for every U, with the reasons that U of its target is not substituted."""
    left = tuple(f"U of {plan.build.target.name} is not substituted: {why}" for why in reasons)
    return _declare_named(bind(plan.small), plan), (), left


def _describe_rows(plan: _Plan) -> str:
    if not plan.rows:
        return ""
    whole = f"N = {plan.whole}" if plan.whole is not None else "N"
    return f", the data being any {plan.rows} rows" + (f" of a minibatch of {whole}" if _has_batches(plan) else "")


def _explain_unread_target(plan: _Plan) -> Iterator[str]:
    """Yield the reasons that the target of a build has no U that a step can be compared with."""
    target = plan.build.target
    if target.gradient is not None:
        yield f"its gradient is code, so U is unknown: let the step take grad_{plan.bound.potential}"
    for block in discrete_blocks(target.declarations):
        yield f"its {block.name} is discrete and can only be drawn exactly"
    for block in target.declarations.blocks:
        if block.constraint is not None:
            yield f"its {block.name} is sampled in the variables of a {block.constraint}"
    for condition in target.declarations.assume:
        uses = dependence(condition)
        if uses.data or uses.blocks:
            yield f"it assumes {text(condition)}, which cannot be traced"
    for field in target.declarations.data:
        if field.is_index:
            yield f"its data {field.name} are positions, which cannot be traced"
        elif field.name not in plan.named:
            advice = f"take {field.name} as an argument, or say what holds them: --map NAME={field.name}"
            yield f"the step does not name its data {field.name}: {advice}"
    if _has_batches(plan) and plan.whole is None:
        yield "the number of data is not known before a run"


def _write_potential(target: Target, block: Block, plan: _Plan) -> Formula:
    """Return U of a target at a block, as many rows of its data written out as a step is given.

    Raises:
        ModelError: a formula that is too large, or that differentiates by a block of several.
    """
    places = express_blocks(block, target.declarations.blocks, limits.STEP)
    if places is None:
        raise model_error("U", f"its blocks are not {block.name}, one after the other")
    if target.potential is not None:
        return substitute(target.potential, places)
    terms = [] if target.log_prior is None else [substitute(target.log_prior, places)]
    if target.log_likelihood is not None:
        scale = Fraction(plan.whole or plan.rows, plan.rows) if _has_batches(plan) else Fraction(1)
        rows = make.add([*_write_row_likelihoods(target, target.log_likelihood, places, plan.rows)], SCALAR)
        terms.append(rows if scale == 1 else make.multiply(Number(scale), rows, SCALAR))
    return make.negate(make.add(terms, SCALAR))


def _write_row_likelihoods(
    target: Target, log_likelihood: Formula, places: Mapping[str, Formula], rows: int
) -> Iterator[Formula]:
    """Yield the log likelihood of one row after the other; the states of a recursion pass from each to the next."""
    states = {state.block.name: substitute(state.start, places) for state in target.recursion}
    for k in range(rows):
        here = {**places, **{f.name: _take_row(f.name, f.shape, rows, k) for f in target.declarations.data}}
        for weights in weights_of_stages(target):
            inside = {**here, **states, **weights}
            states |= {s.block.name: substitute(s.next, inside) for s in target.recursion if s.staged}
        here |= states
        yield substitute(log_likelihood, here)
        states |= {s.block.name: substitute(s.next, here) for s in target.recursion if not s.staged}


def _take_row(name: str, shape: Shape, rows: int, k: int) -> Formula:
    """Return row k of the data of a field: a number, or a row."""
    field = Symbol(name, Shape(rows, shape.cols), Role.PARAMETER)
    if not isinstance(shape.cols, int):
        return Entry(field, (k,))
    return Explicit((tuple(Entry(field, (k, j)) for j in range(shape.cols)),), shape)


def _declare_named(dynamics: Dynamics, plan: _Plan) -> Dynamics:
    """Return dynamics that declare everything the step names."""
    theirs = of_all_data(plan.small.target.declarations).parameters
    known = {parameter.name: parameter for parameter in (*theirs, *dynamics.declarations.parameters)}
    used = {name for formula in equation_formulas(dynamics) for name in dependence(formula).parameters} | plan.named
    used |= {name for formula in declared_formulas(dynamics.declarations) for name in dependence(formula).parameters}
    parameters = tuple(parameter for name, parameter in known.items() if name in used)
    claims = Claims(diffusion=dynamics.claims.diffusion)
    declarations = replace(dynamics.declarations, parameters=parameters)
    return replace(dynamics, name=plan.build.name, declarations=declarations, claims=claims)


def _put_in_values(plan: _Plan, build: Build) -> tuple[Dynamics, tuple[str, ...], tuple[str, ...]]:
    """Return the dynamics of a build at the values that the step does not name, with remarks and open points."""
    build = replace(_drop_defaults(build, plan.named), sizes=tuple(plan.sizes.items()))
    shapes = {p.name: p.shape for group in (bind(build), build.target) for p in group.declarations.parameters}
    fits = {name: n for name, n in plan.sizes.items() if plan.own.get(name) == n}
    put, left = [], []
    for name, value in build.values:
        if name in plan.named or name not in shapes:
            continue
        is_whole = all(isinstance(size, int) or size in fits for size in shapes[name].sizes)
        if value.numbers is not None and (is_whole or not shapes[name].sizes):
            put.append((name, value))
        else:
            left.append(name)
    small = replace(build, values=tuple(put))
    small = fix_sizes(small) if plan.sizes else small
    dynamics = bind_values(small) or bind(small)
    used = {p.name for p in bind(build).declarations.parameters}
    fixed = [name for name, _ in put if name in used]
    said = (f"{', '.join(fixed)} as the build has {'them' if fixed[1:] else 'it'}",) if fixed else ()
    missing = [name for name in left if name in used]
    at = format_sizes(dict(plan.smaller)) if plan.smaller else "sizes of their own"
    why = f"the value of {', '.join(missing)} is that of the build's sizes, but the step is traced at {at}"
    advice = "take it as an argument"
    return dynamics, said, (f"{why}: {advice}",) if missing else ()


def _drop_defaults(build: Build, named: frozenset[str]) -> Build:
    """Return a build without defaults of parameters that have a value or that the step names."""
    valued = {name for name, _ in build.values} | named

    def bare(parameters: tuple[Parameter, ...]) -> tuple[Parameter, ...]:
        return tuple(replace(p, default=None) if p.name in valued else p for p in parameters)

    dynamics, target = build.dynamics, build.target
    mine, theirs = dynamics.declarations, target.declarations
    return replace(
        build,
        dynamics=replace(dynamics, declarations=replace(mine, parameters=bare(mine.parameters))),
        target=replace(target, declarations=replace(theirs, parameters=bare(theirs.parameters))),
        parameters=bare(build.parameters),
    )


def _list_build_sizes(plan: _Plan) -> tuple[tuple[int, str], ...]:
    """Return the sizes of the build that differ from those its step is traced at, with their names."""
    found = {plan.own[name]: name for name, _ in plan.smaller if name in plan.own}
    if _has_batches(plan) and plan.build.run.batch_size not in (None, plan.rows):
        found[plan.build.run.batch_size or 0] = "batch_size"
    return tuple((n, name) for n, name in found.items() if n > FEW)


def find_build_sizes(trace: Trace, ask: Binding) -> Iterator[str]:
    """Yield the numbers that a step computes with and that are sizes of the build, where others are followed.

    At those it does not mean them, so that what is wrong there may be right in the build. A large size is seen in its
    multiples and in their inverses, too.
    """
    numbers = {abs(part) for one in trace.operations if one.op == "number" for part in one.value.as_integer_ratio()}
    for n, name in ask.meant:
        if n in numbers or (n >= LARGE and any(part and part % n == 0 for part in numbers)):
            at = format_sizes(dict(ask.smaller)) or "fewer rows"
            said = f"it computes with the build's {name} = {n} as a number, but is traced at {at}"
            yield f"{said}: take {name} as an argument"

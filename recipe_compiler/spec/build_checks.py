"""What has to fit together in a build: names, target and potential, scheme, run."""

from collections.abc import Iterable, Mapping

from recipe_compiler.errors import Place
from recipe_compiler.formula.declaration import Block, Datum, Declarations, Domain, Function, Parameter
from recipe_compiler.formula.expression import Formula
from recipe_compiler.formula.shapes import DISCRETE, DomainName, Size
from recipe_compiler.formula.substitute import substitute
from recipe_compiler.spec.constraint import sampled_blocks
from recipe_compiler.spec.declarations import domain_text
from recipe_compiler.spec.model import Dynamics, Metropolis, Rows, Scheme, Target
from recipe_compiler.spec.page import Page
from recipe_compiler.spec.positions import smallest_sizes
from recipe_compiler.spec.recursion import OPEN, stated_names
from recipe_compiler.spec.schema_build import OF_AUTO, BuildDocument

MAX_DRAW_BYTES = 8 * 2**30


FixedSize = tuple[int, tuple[str, ...]]
"""A number, and where the entry stands that gives it to a size."""


def potential_blocks(dynamics: Dynamics) -> tuple[Block, ...]:
    """Return the blocks that the target samples."""
    declared = dynamics.declarations
    function = declared.find(dynamics.potential or "")
    return tuple(b for b in declared.blocks if isinstance(function, Function) and b.name in function.of)


def is_stacked(target: Target, block: Block) -> bool:
    """Whether the blocks of a target are parts of the potential's block: several, a matrix, or a scalar in a column.

    A block in a constrained set is stacked, too: it is not the potential's block itself.
    """
    blocks = target.declarations.blocks
    axes = len(blocks[0].shape.sizes)
    return len(blocks) != 1 or axes > 1 or axes != len(block.shape.sizes) or blocks[0].constraint is not None


def _place_in(target: Target, name: str) -> Place:
    """Return where a target declares a name, or the first item whose shape has the size of that name."""
    declarations = target.declarations
    sections = (
        *(("state", declarations.blocks), ("data", declarations.data), ("parameters", declarations.parameters)),
        ("recursion", tuple(state.block for state in target.recursion)),
    )
    for section, items in sections:
        for item in items:
            has_size = name in item.shape.sizes or (isinstance(item, Datum) and item.size == name)
            if name == item.name or has_size:
                return target.source.place(f"{section}.{item.name}")
    return Place(target.source.file)


def check_unique_names(page: Page, dynamics: Dynamics, target: Target, parameters: tuple[Parameter, ...]) -> None:
    """Add a fault for each name that two of the three documents use for different things, and that is not renamed."""
    mine, theirs = dynamics.declarations, target.declarations
    shared = {block.name for block in potential_blocks(dynamics)}.intersection(block.name for block in theirs.blocks)
    names = {*theirs.names, *(state.block.name for state in target.recursion)}
    for item in (*mine.blocks, *mine.own_functions):
        if item.name in names - shared:
            kind = f"a {type(item).__name__.lower()} of the dynamics `{dynamics.name}`"
            problem = f"found the name `{item.name}` in the target, which is {kind}; expected different names"
            where = _place_in(target, item.name)
            page.faults.meaningless_at(where, "target", problem, f"rename it in the target: `{item.name}_`")
    for parameter in parameters:
        if parameter.name in names.union(mine.names):
            at = page["parameters", parameter.name]
            problem = f"found the new parameter `{parameter.name}`, a name that dynamics or target use already"
            at.fault(f"{problem}; expected another", "rename it")


def with_sizes_of_columns(document: BuildDocument, dynamics: Dynamics, target: Target) -> BuildDocument:
    """Return the document with the sizes that its columns give, where the target's blocks are added up in numbers.

    A field of the shape [N, k] has a column for each of k, and one more with `intercept`. Where one block of the target
    is the block of the potential nothing is fixed: its module is then for every size.
    """
    sizes = document.sizes
    wanted = [_fixed(block.shape.rows or 1, sizes) for block in potential_blocks(dynamics)]
    if document.data is None or wanted == [coordinates(sampled_blocks(target), sizes)]:
        return document
    columns, extra = document.data.others, int(document.data.intercept)
    found: dict[str, int] = {}
    for datum in target.declarations.data:
        width, names = datum.shape.cols, columns.get(datum.name)
        made = datum.is_index or datum.name in document.data.indicator
        if isinstance(width, str) and isinstance(names, list) and not made:
            found.setdefault(width, len(names) + extra)
    return document.but(sizes=found | sizes)


def check_target_fits(page: Page, document: BuildDocument, dynamics: Dynamics, target: Target) -> None:
    """Add a fault unless the target's blocks together are the one block of the dynamics' potential."""
    blocks = potential_blocks(dynamics)
    if len(blocks) != 1:
        found = "no potential" if not blocks else "a potential of several blocks"
        hint = "declare `functions: {U: {of: theta, role: potential}}`, with one block"
        hint = hint if blocks else f"{hint}; a complete H is run without a target: leave it out"
        page["dynamics"].fault(f"found {found} in the dynamics, expected one of one block", hint)
        return
    sizes = document.sizes
    wanted, found = _fixed(blocks[0].shape.rows or 1, sizes), coordinates(sampled_blocks(target), sizes)
    open_ = isinstance(wanted, str) and (isinstance(found, int) or _given_later(document, target, wanted))
    if wanted != found and not open_:
        names = ", ".join(block.name for block in target.declarations.blocks)
        problem = f"found a target of {found} coordinates ({names}), expected {wanted}: the block {blocks[0].name}"
        hint = "state the sizes of the target under `sizes`: their sum has to be a number"
        page["target"].fault(problem, hint)


def _given_later(document: BuildDocument, target: Target, wanted: str) -> bool:
    """Whether the data give all sizes of the target's blocks that are not known, none of them with the block's name."""
    letters = {size for block in target.declarations.blocks for size in block.shape.sizes if isinstance(size, str)}
    left = letters - document.sizes.keys()
    return wanted not in letters and left <= given_by_data(target)


def given_by_data(target: Target) -> set[str]:
    """Return the sizes that data give: of axes of fields, and of axes along which index fields are positions."""
    sizes = (size for datum in target.declarations.data for size in (datum.size, *datum.shape.sizes))
    return {size for size in sizes if isinstance(size, str)}


def _other_domain(block: Block, domain: Domain) -> str:
    """Return what to do about a block whose domain is not that of the dynamics."""
    if domain.name is not DomainName.REAL or block.domain.name not in UNBOUNDED_BY:
        return "use dynamics made for that domain"
    stated = UNBOUNDED_BY[block.domain.name]
    return f"state {stated} in the target, or use dynamics made for that domain (`recipe list dynamics`)"


UNBOUNDED_BY = {
    DomainName.POSITIVE: "`transform: log` beside it",
    DomainName.INTERVAL: "`transform: logit` beside it",
    DomainName.SIMPLEX: "`constraint: simplex`, with all components, in its place",
}
"""What a target states of a block for it to be sampled in a variable on the whole real line."""


def check_domains(page: Page, dynamics: Dynamics, target: Target, bind: Mapping[str, Formula]) -> None:
    """Add a fault for each block of the target whose domain is not that of the potential's block, bindings put in."""
    for wanted in potential_blocks(dynamics)[:1]:
        bounds = tuple(substitute(bound, bind) if bind else bound for bound in wanted.domain.bounds)
        domain = Domain(wanted.domain.name, bounds)
        for block in sampled_blocks(target):
            if block.domain != domain and block.domain.name not in DISCRETE:
                problem = f"found the domain {domain_text(block.domain)} of the target's `{block.name}`"
                expected = f"expected {domain_text(domain)} as {wanted.name} has in the dynamics"
                page["target"].fault(f"{problem}, {expected}", _other_domain(block, domain))


def _fixed(size: Size, sizes: dict[str, int]) -> Size:
    return sizes.get(size, size) if isinstance(size, str) else size


def coordinates(blocks: tuple[Block, ...], sizes: dict[str, int]) -> Size:
    """Return how many coordinates all blocks together have, as a number or in words."""
    number, symbols = 0, list[str]()
    for block in blocks:
        factors = [_fixed(size, sizes) for size in block.shape.sizes]
        whole = 1
        for factor in factors:
            whole *= factor if isinstance(factor, int) else 1
        letters = [factor for factor in factors if isinstance(factor, str)]
        if letters:
            symbols.append("*".join([*([str(whole)] if whole != 1 else []), *letters]))
        else:
            number += whole
    return number if not symbols else " + ".join([*symbols, *([str(number)] if number else [])])


def check_positions(page: Page, fixed: Mapping[str, FixedSize], formulas: Iterable[Formula]) -> None:
    """Add a fault for each size that is fixed at k or less where a formula reads `theta[k]`."""
    for size, least in smallest_sizes(Declarations(), formulas).items():
        number, stated = fixed.get(size, (least, ()))
        if number < least:
            problem = f"found {size} = {number} with a formula that uses position {least - 1}, counted from 0"
            page[stated].fault(f"{problem}; expected {size} >= {least}")


def fixed_sizes(
    document: BuildDocument, dynamics: Dynamics, target: Target, values: Iterable[tuple[Parameter, Rows]]
) -> dict[str, FixedSize]:
    """Return the sizes that values, the target's shapes and `sizes` fix, with the entry that says so."""
    found: dict[str, FixedSize] = {}
    for parameter, rows in values:
        for size, number in zip((parameter.shape.rows, parameter.shape.cols), (len(rows), len(rows[0])), strict=True):
            if isinstance(size, str):
                found[size] = (number, ("parameters", parameter.name, "value"))
    total = coordinates(sampled_blocks(target), document.sizes)
    for block in potential_blocks(dynamics)[:1]:
        if isinstance(block.shape.rows, str) and isinstance(total, int):
            found[block.shape.rows] = (total, ("target",))
    return found | {size: (number, ("sizes", size)) for size, number in document.sizes.items()}


def no_lanes(target: Target) -> str:
    """Return why chains cannot run as lanes, as far as documents tell; nothing where they can."""
    if target.gradient is not None:
        return "the gradient is code"
    return "every step reads data, which lanes do not support" if target.declarations.data else ""


def check_run(page: Page, document: BuildDocument, target: Target, scheme: Scheme) -> None:
    """Add a fault where variant, batch and data do not fit, or the draws would not fit into memory."""
    run, sizes = document.run, document.sizes
    _check_auto(page, document, target, scheme)
    _check_rows(page, document, target)
    if document.variant == "minibatch":
        if target.is_open:
            pass  # rows are counted, and taken, by arguments
        elif not target.declarations.data:
            page["variant"].fault("found minibatch for a target without data, expected full")
        elif page["run", "batch_size"].node is None and run.step_size != "auto":
            page["run", "batch_size"].fault("found no `batch_size`, expected one for the minibatch variant")
    else:
        if run.batch_size is not None:
            hint = "remove it, or use variant: minibatch"
            page["run", "batch_size"].fault("found a batch size, expected none: full uses all", hint)
        if document.minibatch is not None:
            page["minibatch"].fault("found `minibatch`, expected none: full uses all data")
    if run.lanes and (why := no_lanes(target)):
        page["run", "lanes"].fault(f"found true, expected false: {why}")
    for datum in target.declarations.data[:1]:
        count = _fixed(datum.size, sizes)
        if isinstance(count, int) and run.batch_size is not None and run.batch_size > count:
            problem = f"found a batch of {run.batch_size} from {count} data, expected at most {count}"
            page["run", "batch_size"].fault(problem)
    total = coordinates(sampled_blocks(target), sizes)
    needed = 8 * run.chains * run.draws * (total if isinstance(total, int) else 1)
    if needed > MAX_DRAW_BYTES:
        problem = (
            f"found {run.chains} chains of {run.draws} draws, about {needed / 2**30:.1f} GiB, expected at most 8 GiB"
        )
        page["run", "draws"].fault(problem, "raise thin and lower draws")


def _check_rows(page: Page, document: BuildDocument, target: Target) -> None:
    """Add a fault where rows of a recursion would be left out, or put in another order."""
    if not target.recursion:
        return
    names = ", ".join(stated_names(target))
    if document.variant == "minibatch":
        problem = f"found minibatch for a target with the recursion of {names}, expected full: {OPEN}"
        page["variant"].fault(problem, "a minibatch estimates only a sum of independent rows")
    if document.data is not None and document.data.shuffle is not None:
        problem = f"found `shuffle` for a target with the recursion of {names}, expected the rows in their order"
        page["data", "shuffle"].fault(problem, "leave it out")


def _check_auto(page: Page, document: BuildDocument, target: Target, scheme: Scheme) -> None:
    """Add a fault for what cannot stand beside `step_size: auto`, and for what stands without it."""
    run, moves = document.run, any(isinstance(move, Metropolis) for move in scheme.cycle)
    if run.step_size == "auto" and target.is_open:
        problem = "found auto without a target, expected a number, or none: it is then an argument of the module"
        page["run", "step_size"].fault(problem, "a plan needs a target")
    if run.step_size != "auto":
        for name in (name for name in OF_AUTO if getattr(run, name) is not None):
            page["run", name].fault("found it, expected none without `step_size: auto`")
        return
    if any(isinstance(move, Metropolis) and move.every > 1 for move in scheme.cycle):
        problem = "found step_size: auto with a Metropolis move in some cycles only, expected it in every cycle"
        hint = "plan the build without `every` of that move, then state the step size that was chosen"
        page["run", "step_size"].fault(problem, hint)
    if run.share is not None and moves:
        problem = "found a share, expected none: Metropolis moves have no discretisation bias"
        page["run", "share"].fault(problem, "state `accept`, the acceptance probability to aim at")
    if run.accept is not None and not moves:
        problem = "found it, expected none: the scheme has no Metropolis move"
        page["run", "accept"].fault(problem, "state `share`, or a cycle with `metropolis`")
    if page["gradient_noise"].node is not None:
        problem = "found `gradient_noise` with step_size: auto, expected none"
        page["gradient_noise"].fault(problem, "the plan chooses what is subtracted; leave it out")
    if document.run.schedule.name != "constant":
        problem = f"found the schedule {document.run.schedule.name} with step_size: auto, expected a step size"
        page["run", "schedule"].fault(problem, "the plan chooses a constant step size")

"""`first_state` of an emitted file: where a chain starts, as `recipe run` has it, block by block."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from json import dumps
from math import prod

from recipe_compiler.derive.recipe import Derivation
from recipe_compiler.derive.refresh import OwnLaw, own_laws
from recipe_compiler.emit.print_body import WIDTH, call
from recipe_compiler.emit.print_numpy import NotInNumpyError, Spelling, print_numpy, shape_numbers
from recipe_compiler.formula.build import nodes
from recipe_compiler.formula.constraints import VECTORS
from recipe_compiler.formula.declaration import Block, Domain
from recipe_compiler.formula.expression import Add, Apply, Formula, FunctionAt
from recipe_compiler.formula.shapes import DomainName, Size, Sizes
from recipe_compiler.spec.discrete import is_counts
from recipe_compiler.spec.formulas import dependence
from recipe_compiler.spec.model import Build, Transform


@dataclass(frozen=True, slots=True)
class Start:
    """`first_state`: its lines, what it takes beside seed and chain, and blocks whose start it cannot state."""

    lines: tuple[str, ...]
    arguments: tuple[str, ...]
    left: tuple[tuple[str, str], ...]
    """Each with the reason; they start at NaN, which `sample` refuses unless it is told where."""


def spread_domain(domain: Domain) -> str:
    """Return what a domain is to a start: `nonnegative` is `positive`, a circle the interval that it is cut to."""
    same = {DomainName.NONNEGATIVE: DomainName.POSITIVE, DomainName.CIRCLE: DomainName.INTERVAL}
    return same.get(domain.name, domain.name).value


def spelling(
    build: Build, names: Mapping[str, str], sizes: Sizes, others: str = "", *, of_sample: bool = False
) -> Spelling:
    """Return how formulas about parameters of a build are spelled in its file.

    Args:
        build: what the file is made of.
        names: the user's names that had to be changed, with what they became.
        sizes: those that the file fixes, by the user's names.
        others: where functions that NumPy lacks are found by name; empty: nowhere.
        of_sample: whether in `sample`, which has sizes in a dict.
    """
    bound = {name for name, _ in build.bind}
    declared = (
        *build.dynamics.declarations.parameters,
        *build.target.declarations.parameters,
        *build.parameters,
    )
    values = {
        p.name: names.get(p.name, p.name) + (".reshape(-1, 1)" if len(p.shape.sizes) == 1 else "")
        for p in declared
        if p.name not in bound
    }

    def size(of: Size) -> str:
        number = sizes.get(of, of) if isinstance(of, str) else of
        if isinstance(number, int):
            return str(number)
        name = names.get(number, number)
        return f'sizes["{name}"]' if of_sample else name

    return Spelling(size, values, others)


def print_start(build: Build, derivation: Derivation, names: Mapping[str, str], by: Spelling) -> Start:
    """Return the function `first_state` of a build.

    Args:
        build: for its `init`, and the dynamics' blocks.
        derivation: of the bound dynamics.
        names: the user's names that had to be changed, with what they became.
        by: how parameters and sizes are spelled.
    """
    blocks = build.dynamics.declarations.blocks
    potential = next((f.of for f in build.dynamics.declarations.functions if f.role == "potential"), ())
    own = [names.get(block.name, block.name) for block in blocks]
    body: list[str] = []
    left: list[tuple[str, str]] = []
    for block, name in zip(blocks, own, strict=True):
        try:
            is_target = block.name in potential
            body += _of_block(build, derivation, block, name, by, spread=is_target)
            body += _of_target(build, name, by) if is_target else ()
        except NotInNumpyError as error:
            left.append((name, str(error)))
            body.append(f"    {name} = np.full({_length(block, by)}, np.nan)")
    bare = re.sub(r'"[^"]*"', "", "\n".join(body))
    used = set(re.findall(r"(?<![\w.])[A-Za-z_]\w*", bare)) - set(own)
    parameters = tuple(text.split(".")[0] for text in by.values.values())
    sizes = map(by.size, (*build.dynamics.declarations.sizes, *build.target.declarations.sizes))
    wanted = tuple(dict.fromkeys(name for name in (*parameters, *sizes) if name in used))
    lines = [
        *call("def first_state", ("seed", "chain", *wanted), 0, ":"),
        '    """Return where a chain starts, by the blocks of the state."""',
        "    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(chain, 2)))",
        *body,
        f"    return {{{', '.join(f'{dumps(name)}: {name}' for name in own)}}}",
    ]
    return Start(tuple(lines), wanted, tuple(left))


def _of_block(
    build: Build, derivation: Derivation, block: Block, name: str, by: Spelling, *, spread: bool
) -> Iterator[str]:
    """Yield the lines that start a block: as stated, spread over its domain, from its own law, or at zero."""
    init = dict(build.init)
    length, real = _length(block, by), block.domain.name is DomainName.REAL
    if block.name in init:
        yield '    with np.errstate(all="ignore"):'
        start = bare(print_numpy(init[block.name], by))
        yield unbroken(f"        {name} = np.array({start}, dtype=np.float64).reshape(-1)")
    elif spread or not real:
        drawn = f"rng.uniform(-2.0, 2.0, {length})"
        arguments = ", ".join((drawn, f'"{spread_domain(block.domain)}"', *bounds(block.domain, by)))
        yield f"    {name} = {drawn}" if real else f"    {name} = _spread({arguments})"
    else:
        match own_laws(derivation, (block.name,)).get(block.name):
            case OwnLaw.NORMAL:
                yield f"    {name} = rng.standard_normal({length})"
            case OwnLaw.GAUSSIAN:
                yield from _law(derivation, block, name, by)
            case None:
                yield f"    {name} = np.zeros({length})"


def _of_target(build: Build, name: str, by: Spelling) -> Iterator[str]:
    """Yield the lines that put what is stated of the target's blocks, as declared, into the potential's block.

    Rows of one_hot are at a place that is drawn uniformly, and counts at zero, where nothing is stated of them.
    """
    init = dict(build.init)
    own = {block.name for block in build.dynamics.declarations.blocks}
    transforms = {one.inner: one for one in build.target.transforms}
    blocks = [(block, f"{name}[{slice_text(*ends)}]") for block, ends in places(build, by)]
    for block, place in blocks:
        if block.domain.name is DomainName.ONE_HOT:
            sizes = [by.size(size) for size in block.sampled.shape.sizes]
            rows = sizes[0] if len(sizes) == 2 else "1"
            drawn = f"np.eye({sizes[-1]})[rng.integers({sizes[-1]}, size={rows})]"
            yield f"    {place} = {drawn}.reshape(-1)"
        if is_counts(block):
            yield f"    {place} = 0.0"
    for block, place in blocks:
        one = transforms.get(block.name)
        declared = block.name if one is None else one.block.name
        if declared in init and declared not in own:
            text = _variables(block, one, print_numpy(init[declared], by), by)
            yield '    with np.errstate(all="ignore"):'
            yield unbroken(f"        {place} = np.reshape({bare(text)}, -1)")


def places(build: Build, by: Spelling) -> Iterator[tuple[Block, tuple[str, str]]]:
    """Yield the blocks of a target with where each begins in the potential's block, and where it ends."""
    start = "0"
    for block in build.target.declarations.blocks:
        sizes = [by.size(size) for size in block.sampled.shape.sizes]
        count = str(prod(map(int, sizes))) if all(size.isdigit() for size in sizes) else " * ".join(sizes)
        end = _add_counts(start, count)
        yield block, (start, end)
        start = end


def slice_text(start: str, end: str) -> str:
    """Return a slice as a formatter has it."""
    return f"{start} : {end}" if " " in start + end else f"{start}:{end}"


def _add_counts(first: str, second: str) -> str:
    """Return the sum of two numbers of entries, as text; numbers at its end are added up."""
    if first == "0":
        return second
    if first.isdigit() and second.isdigit():
        return str(int(first) + int(second))
    head, plus, last = first.rpartition(" + ")
    if plus and last.isdigit() and second.isdigit():
        return f"{head} + {int(last) + int(second)}"
    return f"{first} + {second}"


def _variables(block: Block, one: Transform | None, x: str, by: Spelling) -> str:
    if block.constraint is not None:
        kind = block.constraint
        value = f"np.reshape({bare(x)}, -1)" if kind in VECTORS else bare(x)
        rows = "" if kind in VECTORS else f", {block.shape.rows}"
        forth = f"lambda u: _{kind}(u{rows})"
        return f"_variables_of({dumps(block.name)}, {dumps(kind)}, {value}, lambda x: _from_{kind}(x), {forth})"
    if one is None:
        return x
    if one.via == "log":
        return f"np.log({bare(x)})"
    if one.bound is not None:
        bound = bound_text(one.bound, by)
        return f"np.log({x} - {bound})" if one.via == "lower" else f"np.log({bound} - {x})"
    low, high = bounds(one.block.domain, by)
    return f"np.log(({x} - {low}) / ({high} - {x}))"


def bounds(domain: Domain, by: Spelling) -> tuple[str, ...]:
    """Return the bounds of an interval, or of a circle, as numbers."""
    if domain.name is DomainName.CIRCLE and not domain.bounds:
        return "0.0", "2.0 * np.pi"
    return tuple(bound_text(bound, by) for bound in domain.bounds)


def bound_text(bound: Formula, by: Spelling) -> str:
    """Return a bound as a number."""
    return f"float({print_numpy(bound, by)})"


def _law(derivation: Derivation, block: Block, name: str, by: Spelling) -> Iterator[str]:
    """Yield the lines that draw a block from its law: H as a function of it alone.

    All other blocks stand at one, functions at zero: they are part of the rest, and what is zero is left out.
    """
    declared, energy = derivation.declarations, derivation.dynamics.H
    others = {b.name: f"np.ones({shape_numbers(b.shape, by)})" for b in declared.blocks}
    others |= {f.name: f"np.zeros({shape_numbers(f.shape, by)})" for f in declared.functions}
    if isinstance(energy, Add):
        terms = tuple(term for term in energy.terms if not isinstance(term, FunctionAt))
        energy = Add(terms, energy.shape) if len(terms) != 1 else terms[0]
    own = replace(by, values={**others, **by.values, block.name: name})
    value = bare(print_numpy(energy, own))
    yield ""
    inverses = [one for one in nodes(energy) if isinstance(one, Apply) and one.fn == "inv"]
    for k, one in enumerate(dict.fromkeys(inverses), 1):
        text = print_numpy(one, own)
        if block.name not in dependence(one).blocks and text in value:
            value = value.replace(text, f"_inverse_{k}")
            yield f"    _inverse_{k} = {text}"
            yield ""
    yield f"    def energy({name}):"
    yield f"        {name} = {name}.reshape({shape_numbers(block.shape, by)})"
    yield unbroken(f"        return float({value})")
    yield ""
    yield f"    {name} = _draw_law(rng, {_length(block, by)}, energy)"


def _length(block: Block, by: Spelling) -> str:
    return " * ".join(by.size(size) for size in block.shape.sizes) or "1"


def bare(text: str) -> str:
    """Return an expression without parentheses around all of it."""
    depth = 0
    for place, letter in enumerate(text):
        depth += {"(": 1, ")": -1}.get(letter, 0)
        if depth == 0:
            return text[1:-1] if place == len(text) - 1 and text.startswith("(") else text
    return text


def unbroken(line: str) -> str:
    """Return a line that a formatter leaves as it is, however long."""
    return line if len(line) <= WIDTH else f"{line}  # fmt: skip"

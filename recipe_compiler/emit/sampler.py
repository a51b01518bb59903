"""What `sample` of an emitted file takes and returns: by names, shapes and defaults."""

from collections.abc import Iterable, Iterator, Mapping, Set
from contextlib import suppress
from dataclasses import dataclass, replace
from math import prod

from recipe_compiler.derive.recipe import Derivation
from recipe_compiler.emit.print_body import WIDTH
from recipe_compiler.emit.print_numpy import NotInNumpyError, Spelling
from recipe_compiler.emit.print_start import Start, add_counts, bound_text, bounds, formula_text, print_start, spelling
from recipe_compiler.formula.constraints import VECTORS
from recipe_compiler.formula.declaration import Block, Parameter
from recipe_compiler.formula.expression import Number
from recipe_compiler.formula.shapes import DomainName, Size
from recipe_compiler.program.kernel import Kernel
from recipe_compiler.program.program import Program, symbolic_sizes
from recipe_compiler.spec.constraint import sampled_blocks
from recipe_compiler.spec.model import Build, Value

MOST = 64
"""Entries of an array that stands in the file as a default value; longer ones have to be given."""


@dataclass(frozen=True, slots=True)
class Keyword:
    """A keyword of `sample` that is a parameter: its default as Python, and what is said of it."""

    parameter: Parameter
    default: str
    """Empty: it has to be given. `None`: lines of `sample` make it."""
    made: tuple[str, ...] = ()
    """Lines that make a default that is an array or a formula."""
    says: str = ""
    """Where it comes from, if it has to be given."""
    by_formula: bool = False
    held: bool = False
    """What was proved is of this value alone: the lines make it, and nobody gives another."""
    ready: bool = False
    """The lines make what jitted code takes: there is nothing to look at."""


@dataclass(frozen=True, slots=True)
class DrawnArray:
    """An array of the draws that `sample` returns: a block of the target, or another block of the state."""

    name: str
    shape: tuple[str, ...]
    drawn: str
    """The array as Python, of `drawn`."""
    says: str
    """What it is of the state."""
    exponential: bool = False


@dataclass(frozen=True, slots=True)
class Sampler:
    """Everything that the file's `sample` and its description are printed from."""

    build: Build
    program: Program
    kernel: Kernel
    start: Start
    given: tuple[Keyword, ...]
    sizes: tuple[tuple[str, str], ...]
    """Sizes that only a keyword tells, each with its default."""
    told: Set[str]
    """Sizes that arrays or keywords tell."""
    total: str
    """How many coordinates the target's blocks have together; empty where that is not told."""
    pieces: tuple[DrawnArray, ...]
    """What is returned."""
    domains: tuple[tuple[str, str], ...]
    """Blocks with a bounded domain, each as arguments of `_outside`."""

    @property
    def blocks(self) -> tuple[str, ...]:
        """The names of the blocks of the state."""
        return tuple(block.name for block in self.program.blocks)

    @property
    def functions(self) -> tuple[str, ...]:
        """The user's functions: a gradient that is code, moves that are."""
        return tuple(self.program.functions)

    @property
    def data(self) -> tuple[str, ...]:
        """What stands first, with or without its name."""
        return (*self.functions, *(datum.name for datum in self.program.data))

    @property
    def keywords(self) -> tuple[tuple[str, str], ...]:
        """All that is given by name, each with its default as Python; empty: it has to be given."""
        taken = ((one.parameter.name, one.default) for one in self.given if not one.held)
        return (*self.sizes, *taken, *self.settings)

    @property
    def batch_default(self) -> str:
        """The default of `batch_size`: None where it is the build's number at most, all rows where they are fewer."""
        return str(self.build.run.batch_size) if self.program.replacement else "None"

    @property
    def settings(self) -> tuple[tuple[str, str], ...]:
        """The settings of a run, with the build's own values; empty: it has none."""
        run = self.build.run
        minibatch = self.program.variant == "minibatch"
        found = [
            ("step_size", "" if run.step_size is None else repr(run.step_size)),
            ("draws", str(run.draws)),
            ("warmup", str(run.warmup)),
            ("thin", str(run.thin)),
            ("chains", str(run.chains)),
            ("seed", str(run.seed)),
            *([("batch_size", "" if run.batch_size is None else self.batch_default)] if minibatch else []),
        ]
        return (*found, ("init", "None"), ("progress", "False"), ("threads", "None"))


def sampler_of(
    build: Build, derivation: Derivation, program: Program, kernel: Kernel, names: Mapping[str, str],
    sizes: Mapping[str, int], held: Set[str] = frozenset(),
) -> Sampler:  # fmt: skip
    """Return what `sample` of a file is printed from.

    Args:
        build: what the file is made of.
        derivation: of the bound dynamics.
        program: one step, as it is shipped.
        kernel: the same, as loops.
        names: the user's names that had to be changed, with what they became.
        sizes: those that the file fixes, by the user's names.
        held: parameters, by the user's names, of whose values alone something is proved.
    """
    fixed = dict(sizes)
    for declared, block in zip(build.dynamics.declarations.blocks, program.blocks, strict=True):
        shapes = zip(declared.shape.sizes, block.shape.sizes, strict=True)
        fixed |= {name: number for name, number in shapes if isinstance(name, str) and isinstance(number, int)}
    by, inner = (spelling(build, names, fixed, of_sample=inside) for inside in (False, True))
    start = print_start(build, derivation, names, by)
    needed = {p.name for p in program.parameters} | set(start.arguments) | set(_of_transforms(build, by))
    declared = (*build.dynamics.declarations.parameters, *build.target.declarations.parameters, *build.parameters)
    own = {names.get(p.name, p.name): p for p in declared}
    shipped = {p.name: p for p in program.parameters}
    order = dict.fromkeys((*shipped, *(name for name in own if name in needed)))
    given = [_given(build, own[name], shipped.get(name), name, inner) for name in order if name in own]
    given = [replace(one, held=True) if own[one.parameter.name].name in held and one.default else one for one in given]
    given.sort(key=lambda one: one.by_formula)  # formulas may need the sizes, and values, of others
    stated = {names.get(name, name): number for name, number in build.sizes}
    told = _told(given, program)
    inside = _potential_sizes(program) if total_of(build, by, told) else ()
    left = (size for size in symbolic_sizes(program) if size not in told and size not in inside)
    keywords = tuple((size, str(stated[size]) if size in stated else "") for size in left)
    pieces = tuple(pieces_of(build, program, by, inner))
    domains = tuple(_domains(derivation, program, inner))
    told |= {name for name, _ in keywords}
    total = total_of(build, by, told)
    return Sampler(build, program, kernel, start, tuple(given), keywords, told, total, pieces, domains)


def shape_text(sizes: Iterable[Size]) -> str:
    """Return a shape as Python writes it, symbolic sizes by their names; of none, `a number`."""
    known = [str(size) for size in sizes]
    return f"({', '.join(known)}{',' if len(known) == 1 else ''})" if known else "a number"


def _told(given: Iterable[Keyword], program: Program) -> set[str]:
    """Return the sizes that arrays tell: the data, and parameters that no formula makes."""
    arrays = [one.parameter.shape.sizes for one in given if not one.by_formula]
    arrays += [datum.axes for datum in program.data]
    return {size for sizes in arrays for size in sizes if isinstance(size, str)}


def _domains(derivation: Derivation, program: Program, by: Spelling) -> Iterator[tuple[str, str]]:
    """Yield the blocks with a bounded domain, and that as arguments."""
    for block, own in zip(derivation.dynamics.declarations.blocks, program.blocks, strict=True):
        if block.domain.name not in (DomainName.REAL, DomainName.CIRCLE):
            with suppress(NotInNumpyError):
                yield own.name, ", ".join((f'"{block.domain.name.value}"', *bounds(block.domain, by)))


def _of_transforms(build: Build, by: Spelling) -> Iterator[str]:
    """Yield the parameters that stand in the bounds of what is sampled in an unbounded variable."""
    one_sided = [bound_text(one.bound, by) for one in build.target.transforms if one.bound is not None]
    two_sided = [part for one in build.target.transforms for part in bounds(one.block.domain, by)]
    text = " ".join((*one_sided, *two_sided))
    yield from (value.split(".")[0] for value in by.values.values() if value in text)


def _potential_sizes(program: Program) -> tuple[Size, ...]:
    return program.gradient.block.shape.sizes if program.gradient else ()


def total_of(build: Build, by: Spelling, told: Set[str]) -> str:
    """Return how many coordinates the target's blocks have together, by sizes that are told; empty without one."""
    fixed, parts = 0, list[str]()
    for block in build.target.declarations.blocks:
        sizes = [by.size(size) for size in block.sampled.shape.sizes]
        if not all(size.isdigit() or size in told for size in sizes):
            return ""
        if all(size.isdigit() for size in sizes):
            count = 1
            for size in sizes:
                count *= int(size)
            fixed += count
        else:
            parts.append(" * ".join(size if size.isdigit() else f'sizes["{size}"]' for size in sizes))
    return " + ".join((*([str(fixed)] if fixed else []), *parts))


def pieces_of(build: Build, program: Program, by: Spelling, inner: Spelling) -> Iterator[DrawnArray]:
    """Yield what `sample` returns: the target's blocks under their own names and shapes, then the other blocks."""
    blocks = {block.name: block for block in program.blocks}
    own = program.gradient.block.name if program.gradient else ""
    transforms = {one.inner: one for one in build.target.transforms}
    declared, moved = build.target.declarations.blocks, sampled_blocks(build.target)
    taken = [transforms[b.name].block.name if b.name in transforms else b.name for b in declared] if own else []
    if own:
        places = _places([[by.size(size) for size in block.shape.sizes] for block in moved])
        whole = len(declared) == 1 and len(declared[0].shape.sizes) == 1
        for block, name, (place, text) in zip(declared, taken, places, strict=True):
            sizes = tuple(by.size(size) for size in block.shape.sizes)
            cut = f'drawn["{own}"]' if whole else f'drawn["{own}"][:, :, {place}]'
            if block.constraint is not None:
                said = own if whole else f"{own}[{text}]"
                yield DrawnArray(
                    name, sizes, blocks_text(block, cut, by), f"{block.constraint} of {said}", exponential=True
                )
                continue
            if len(sizes) > 1:
                cut += f".reshape(chains, draws, {', '.join(_of_sizes(size) for size in sizes)})"
            says = own if whole and not transforms else f"{own}[{text}]"
            one = transforms.get(block.name)
            if one is None:
                yield DrawnArray(name, sizes, cut, "" if says == name else says)
            elif one.via == "log":
                yield DrawnArray(name, sizes, f"np.exp({cut})", f"exp({says})", exponential=True)
            elif one.bound is not None:
                sign, bound = "+" if one.via == "lower" else "-", bound_text(one.bound, inner)
                words = f"its {one.via} bound {sign} exp({says})"
                yield DrawnArray(name, sizes, f"{bound} {sign} np.exp({cut})", words, exponential=True)
            else:
                low, high = bounds(one.block.domain, inner)
                turned = f"{low} + ({high} - {low}) / (1.0 + np.exp(-{cut}))"
                words = f"{says} mapped to its bounds by the logistic function"
                yield DrawnArray(name, sizes, turned, words, exponential=True)
    for name, block in blocks.items():
        if name != own:
            free = name
            while free in taken:
                free += "_"
            last = "" if block.shape.sizes else "[:, :, 0]"
            sizes = tuple(map(str, block.shape.sizes))
            yield DrawnArray(free, sizes, f'drawn["{name}"]{last}', "" if free == name else name)


def blocks_text(block: Block, u: str, by: Spelling) -> str:
    """Return the call that makes a block which lies in a set, of its variables."""
    rows = () if block.constraint in VECTORS else (by.size(block.shape.sizes[0]),)
    return f"_{block.constraint}({', '.join((u, *rows))})"


def _of_sizes(size: str) -> str:
    return size if size.isdigit() else f'sizes["{size}"]'


def _places(shapes: list[list[str]]) -> Iterator[tuple[str, str]]:
    """Yield where arrays stand that follow one another: as an index of Python, and for a reader."""
    start, read = "0", "0"
    for sizes in shapes:
        if not sizes:
            yield start, read
        count, words = " * ".join(map(_of_sizes, sizes)) or "1", "*".join(sizes) or "1"
        if all(size.isdigit() for size in sizes):
            count = words = str(prod(map(int, sizes)))
        end, stop = add_counts(start, count), add_counts(read, words)
        if sizes:
            yield f"{start} : {end}" if " " in start + end else f"{start}:{end}", f"{read}:{stop}"
        start, read = end, stop


def _given(build: Build, declared: Parameter, shipped: Parameter | None, name: str, by: Spelling) -> Keyword:
    """Return a parameter as a keyword: with the value of the build, or its declared default, where there is one."""
    own = shipped or Parameter(name, declared.shape, declared.kinds)
    parts = build.scheme.use.parts if build.scheme.use else ()
    for part in (part for part in parts if part.mask == declared.name):
        return Keyword(own, "None", tuple(mask_lines(name, part.rows)), held=True, ready=True)
    value = dict(build.values).get(declared.name)
    if value is not None:
        return _stated(own, value)
    if isinstance(declared.default, Number) and not own.shape.sizes:
        return Keyword(own, repr(float(declared.default.value)))
    if declared.default is not None:
        try:
            flat = ".reshape(-1)" if len(own.shape.sizes) == 1 else ""
            return Keyword(own, "None", (f"{name} = {formula_text(declared.default, by)}{flat}",), by_formula=True)
        except NotInNumpyError as error:
            return Keyword(own, "", says=str(error))
    estimated = declared.name in build.estimates
    return Keyword(own, "", says="`recipe run` estimates it from the data" if estimated else "")


def _stated(own: Parameter, value: Value) -> Keyword:
    rows = value.numbers
    if rows is None:
        return Keyword(own, "", says=f"the build reads it from {value.file.name if value.file else ''}")
    if not own.shape.sizes:
        return Keyword(own, repr(float(rows[0][0])))
    if sum(map(len, rows)) > MOST:
        return Keyword(own, "", says="the build has an array too long to print here")
    flat = len(own.shape.sizes) == 1
    numbers = [float(n) for row in rows for n in row] if flat else [[float(n) for n in row] for row in rows]
    return Keyword(own, "None", tuple(literal(f"{own.name} = ", numbers)))


def mask_lines(name: str, rows: tuple[bool, ...]) -> Iterator[str]:
    """Yield the lines of an array that is 1 where a coordinate is moved, a line for each run of them."""
    yield f"{name} = np.zeros({len(rows)})"
    before = (False, *rows, False)
    edges = [place for place in range(len(rows) + 1) if before[place] != before[place + 1]]
    yield from (f"{name}[{start}:{end}] = 1.0" for start, end in zip(edges[::2], edges[1::2], strict=True))


def literal(head: str, numbers: list[float] | list[list[float]]) -> Iterator[str]:
    """Yield the lines of a list of numbers, or of lists, at an indentation of eight."""
    if len(head) + len(str(numbers)) + 8 <= WIDTH:
        yield f"{head}{numbers}"
        return
    yield f"{head}["
    for row in numbers:
        if len(str(row)) + 13 <= WIDTH:
            yield f"    {row},"
        else:
            yield "    ["
            yield from (f"        {number}," for number in (row if isinstance(row, list) else [row]))
            yield "    ],"
    yield "]"

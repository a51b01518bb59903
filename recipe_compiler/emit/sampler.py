"""What `sample` of an emitted file takes and returns: by names, shapes and defaults."""

from collections.abc import Iterable, Iterator, Mapping, Set
from contextlib import suppress
from dataclasses import dataclass, replace

from recipe_compiler.derive.recipe import Derivation
from recipe_compiler.emit.print_body import call
from recipe_compiler.emit.print_numpy import NotInNumpyError, Spelling, print_numpy
from recipe_compiler.emit.print_start import Start, bound_text, bounds, places, print_start, slice_text, spelling
from recipe_compiler.formula.build import nodes
from recipe_compiler.formula.constraints import VECTORS
from recipe_compiler.formula.declaration import Parameter
from recipe_compiler.formula.expression import Number, Symbol
from recipe_compiler.formula.shapes import DomainName, Size, Sizes
from recipe_compiler.program.kernel import Kernel
from recipe_compiler.program.program import REST, ROWS, Program, symbolic_sizes
from recipe_compiler.spec.model import Build, Value
from recipe_compiler.spec.open_target import GRADIENT, POTENTIAL

OF_ALL = (("first_chain", "0"), ("callback", "None"), ("return_state", "False"))
"""What every `sample` takes last."""

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
    of_arguments: Set[Size]
    """Sizes that arrays or keywords tell."""
    total: str
    """How many coordinates the target's blocks have together; empty where that is not told."""
    pieces: tuple[DrawnArray, ...]
    """What is returned."""
    domains: tuple[tuple[str, str], ...]
    """Blocks with a bounded domain, each as arguments of `_outside`."""

    @property
    def data(self) -> tuple[str, ...]:
        """What stands first, with or without its name."""
        return (*map(self.argument, self.program.functions), *(datum.name for datum in self.program.data))

    def argument(self, function: str) -> str:
        """Return what `sample` calls a function of its user's: those of any U are not what a chain takes."""
        return {"gradient": GRADIENT, "potential": POTENTIAL}.get(function, function) if self.program.rest else function

    @property
    def keywords(self) -> tuple[tuple[str, str], ...]:
        """All that is given by name, each with its default as Python; empty: it has to be given."""
        taken = ((one.parameter.name, one.default) for one in self.given if not one.held)
        return (*self.of_any, *self.sizes, *taken, *self.settings, *((("check", "True"),) if self.program.rest else ()))

    @property
    def of_any(self) -> tuple[tuple[str, str], ...]:
        """What the functions of a module of any U are given, and what else they are tried by."""
        if not self.program.rest:
            return ()
        rows = ((ROWS, ""),) if self.program.variant == "minibatch" else ()
        U = () if "potential" in self.program.functions else ((POTENTIAL, "None"),)
        return (*rows, (REST, "()"), *U)

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
            *((name, str(getattr(run, name))) for name in ("draws", "warmup", "thin", "chains", "seed")),
            *([("batch_size", "" if run.batch_size is None else self.batch_default)] if minibatch else []),
        ]
        return (*found, ("init", "None"), ("progress", "False"), ("threads", "None"), *OF_ALL)


def sampler_of(
    build: Build, derivation: Derivation, program: Program, kernel: Kernel, names: Mapping[str, str],
    sizes: Sizes, held: Set[str] = frozenset(),
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
    one_sided = [one.bound for one in build.target.transforms if one.bound is not None]
    two_sided = [bound for one in build.target.transforms for bound in one.block.domain.bounds]
    in_bounds = (node.name for bound in (*one_sided, *two_sided) for node in nodes(bound) if isinstance(node, Symbol))
    needed = {*start.arguments, *(names.get(name, name) for name in in_bounds)}
    declared = (*build.dynamics.declarations.parameters, *build.target.declarations.parameters, *build.parameters)
    own = {names.get(p.name, p.name): p for p in declared}
    shipped = {p.name: p for p in program.parameters}
    order = dict.fromkeys((*shipped, *(name for name in own if name in needed)))
    given = [_given(build, own[name], shipped.get(name), name, inner) for name in order if name in own]
    given = [replace(one, held=True) if own[one.parameter.name].name in held and one.default else one for one in given]
    given.sort(key=lambda one: one.by_formula)  # formulas may need the sizes, and values, of others
    stated = {names.get(name, name): number for name, number in build.sizes}
    arrays = [one.parameter.shape.sizes for one in given if not one.by_formula]  # these tell sizes, as the data do
    of_arguments = {size for sizes in (*arrays, *(datum.axes for datum in program.data)) for size in sizes}
    inside = program.gradient.block.shape.sizes if program.gradient and _total(build, by, inner, of_arguments) else ()
    left = (size for size in symbolic_sizes(program) if size not in of_arguments and size not in inside)
    of_any = "None" if program.rest else ""  # a start may tell it
    keywords = tuple((size, str(stated[size]) if size in stated else of_any) for size in left)
    of_arguments |= {name for name, _ in keywords}
    pieces, domains = tuple(_pieces(build, program, by, inner)), tuple(_domains(derivation, program, inner))
    total = _total(build, by, inner, of_arguments)
    return Sampler(build, program, kernel, start, tuple(given), keywords, of_arguments, total, pieces, domains)


def shape_text(sizes: Iterable[Size]) -> str:
    """Return a shape as Python writes it, symbolic sizes by their names; of none, `a number`."""
    known = [str(size) for size in sizes]
    return f"({', '.join(known)}{',' if len(known) == 1 else ''})" if known else "a number"


def _domains(derivation: Derivation, program: Program, by: Spelling) -> Iterator[tuple[str, str]]:
    """Yield the blocks with a bounded domain, and that as arguments."""
    for block, own in zip(derivation.declarations.blocks, program.blocks, strict=True):
        if block.domain.name not in (DomainName.REAL, DomainName.CIRCLE):
            with suppress(NotInNumpyError):
                yield own.name, ", ".join((f'"{block.domain.name.value}"', *bounds(block.domain, by)))


def _total(build: Build, by: Spelling, inner: Spelling, of_arguments: Set[Size]) -> str:
    """Return how many coordinates the target's blocks have together, by sizes that are told; empty without one."""
    sizes = (by.size(size) for block in build.target.declarations.blocks for size in block.sampled.shape.sizes)
    ends = [end for _, (_, end) in places(build, inner)]
    return ends[-1] if ends and all(size.isdigit() or size in of_arguments for size in sizes) else ""


def _pieces(build: Build, program: Program, by: Spelling, inner: Spelling) -> Iterator[DrawnArray]:
    """Yield what `sample` returns: the target's blocks under their own names and shapes, then the other blocks."""
    own = program.gradient.block.name if program.gradient else ""
    pieces = [*_declared(build, own, by, inner)] if own else []
    yield from pieces
    for block in program.blocks:
        if block.name != own:
            free = block.name
            while free in (piece.name for piece in pieces):
                free += "_"
            last = "" if block.shape.sizes else "[:, :, 0]"
            sizes = tuple(map(str, block.shape.sizes))
            yield DrawnArray(free, sizes, f'drawn["{block.name}"]{last}', "" if free == block.name else block.name)


def _declared(build: Build, own: str, by: Spelling, inner: Spelling) -> Iterator[DrawnArray]:
    """Yield the target's blocks as they are declared, cut from the potential's block."""
    transforms = {one.inner: one for one in build.target.transforms}
    declared = build.target.declarations.blocks
    whole = len(declared) == 1 and len(declared[0].shape.sizes) == 1
    for (block, ends), (_, (start, end)) in zip(places(build, inner), places(build, by), strict=True):
        one, sizes = transforms.get(block.name), tuple(by.size(size) for size in block.shape.sizes)
        name = block.name if one is None else one.block.name
        is_number = not block.sampled.shape.sizes
        cut = f'drawn["{own}"]' + ("" if whole else f"[:, :, {ends[0] if is_number else slice_text(*ends)}]")
        read = start if is_number else f"{start}:{end}"
        words = own if whole and not transforms else f"{own}[{read.replace(' * ', '*')}]"
        if block.constraint is not None:
            rows = "" if block.constraint in VECTORS else f", {sizes[0]}"
            cut, words = f"_{block.constraint}({cut}{rows})", f"{block.constraint} of {words}"
        elif len(sizes) > 1:
            cut += f".reshape(chains, draws, {', '.join(map(inner.size, block.shape.sizes))})"
        if one is None:
            words = "" if words == name else words
        elif one.via == "log":
            cut, words = f"np.exp({cut})", f"exp({words})"
        elif one.bound is not None:
            sign = "+" if one.via == "lower" else "-"
            words = f"its {one.via} bound {sign} exp({words})"
            cut = f"{bound_text(one.bound, inner)} {sign} np.exp({cut})"
        else:
            low, high = bounds(one.block.domain, inner)
            cut = f"{low} + ({high} - {low}) / (1.0 + np.exp(-{cut}))"
            words += " mapped to its bounds by the logistic function"
        yield DrawnArray(name, sizes, cut, words, exponential=block.constraint is not None or one is not None)


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
            made = f"{name} = np.asarray({print_numpy(declared.default, by)})"
            made += ".reshape(-1)" if len(own.shape.sizes) == 1 else ""
            return Keyword(own, "None", (made,), by_formula=True)
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
    lists = [str([*map(float, row)]) for row in rows]
    items = [line[1:-1] for line in lists] if len(own.shape.sizes) == 1 else lists
    made = call(f"{' ' * 8}{own.name} = ", tuple(items), 8, brackets="[]")
    return Keyword(own, "None", tuple(line[8:] for line in made))


def mask_lines(name: str, rows: tuple[bool, ...]) -> Iterator[str]:
    """Yield the lines of an array that is 1 where a coordinate is moved, a line for each run of them."""
    yield f"{name} = np.zeros({len(rows)})"
    before = (False, *rows, False)
    edges = [place for place in range(len(rows) + 1) if before[place] != before[place + 1]]
    yield from (f"{name}[{start}:{end}] = 1.0" for start, end in zip(edges[::2], edges[1::2], strict=True))

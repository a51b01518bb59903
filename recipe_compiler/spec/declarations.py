"""Blocks, parameters and functions as declared: their names are unique and their kinds fit their shapes."""

from collections.abc import Mapping as Table
from dataclasses import replace
from fractions import Fraction

from recipe_compiler.errors import nearest
from recipe_compiler.formula import tree
from recipe_compiler.formula.declaration import Block, Declarations, Domain, Function, Parameter
from recipe_compiler.formula.elaborate import Scope
from recipe_compiler.formula.expression import Compare, Filled, Formula, Number
from recipe_compiler.formula.shapes import SCALAR, DomainName, Kind, Shape
from recipe_compiler.formula.show import text
from recipe_compiler.spec.fields import shown
from recipe_compiler.spec.formulas import Entry, dependence
from recipe_compiler.spec.page import Page
from recipe_compiler.spec.schema import BlockEntry, FunctionEntry, ParameterEntry
from recipe_compiler.spec.values import kind_problem

MAX_BLOCKS = 100

_SQUARE = frozenset({Kind.SYMMETRIC, Kind.SKEW, Kind.PSD, Kind.PD, Kind.DIAGONAL})


def parameter_declarations(page: Page, entries: Table[str, ParameterEntry]) -> tuple[Parameter, ...]:
    """Return the parameters; their defaults are read by `with_defaults`, when all sizes are known."""
    for name, entry in entries.items():
        check_kinds(page["parameters", name], entry.shape, entry.is_)
    return tuple(Parameter(name, entry.shape, entry.is_) for name, entry in entries.items())


def with_defaults(page: Page, declarations: Declarations) -> Declarations:
    """Return the declarations, the parameters with their defaults: formulas of numbers and sizes alone.

    One number, or one in every place, is of the kinds declared; of other formulas a build decides it (`bindings`).
    """
    parameters: list[Parameter] = []
    for parameter in declarations.parameters:
        at = page["parameters", parameter.name, "default"]
        default = at.formula(Scope(declarations, square=True), parameter.shape)
        if default is not None and (used := dependence(default).names):
            at.fault(f"found `{used[0]}` in a default, expected numbers and sizes alone")
        if isinstance(default, Number | Filled) and (problem := kind_problem(((Fraction(default.value),),), parameter)):
            at.fault(problem, "other values go into a build, under `parameters`")
        parameters.append(replace(parameter, default=default))
    return replace(declarations, parameters=tuple(parameters))


def function_declarations(
    page: Page, entries: Table[str, FunctionEntry], blocks: tuple[str, ...]
) -> tuple[Function, ...]:
    """Return the functions, of declared blocks; at most one is the potential, and it is a scalar."""
    functions: list[Function] = []
    for name, entry in entries.items():
        at = page["functions", name]
        for block in entry.of:
            at["of"].knows(block, blocks, "a block of the state")
        check_kinds(at, entry.shape, entry.is_)
        if entry.role and entry.shape != SCALAR:
            at["shape"].fault(f"found a {entry.shape}, expected a scalar: it is the potential")
        if entry.role and any(function.role for function in functions):
            at["role"].fault("found a second potential, expected one", "a target binds one")
        functions.append(Function(name, tuple(entry.of), entry.shape, entry.is_, entry.role))
    return tuple(functions)


def block_declarations(page: Page, entries: Table[str, BlockEntry]) -> tuple[Block, ...]:
    """Return the blocks in the order of z, their domains still real: `with_domains` reads those."""
    if len(entries) > MAX_BLOCKS:
        hint = "give blocks a shape: `theta: {shape: d}` is d coordinates at once"
        page["state"].fault(too_many_blocks(len(entries)), hint)
        return ()
    return tuple(Block(name, entry.shape) for name, entry in entries.items())


def too_many_blocks(count: int) -> str:
    """Return what is said of a state of more blocks than D may have rows."""
    size = f"{count:,} x {count:,}"
    return f"found a dense symbolic D of size {size}, which exceeds the limit of {MAX_BLOCKS} x {MAX_BLOCKS} blocks"


def with_domains(page: Page, declarations: Declarations) -> Declarations:
    """Return the declarations, the blocks with their domains."""
    blocks = [replace(block, domain=_domain(page, declarations, block)) for block in declarations.blocks]
    return replace(declarations, blocks=tuple(blocks))


def _domain(page: Page, declarations: Declarations, block: Block) -> Domain:
    at = page["state", block.name, "domain"]
    parsed = at.read(Entry.tree)
    return Domain() if parsed is None else domain_of(at, parsed, declarations)


_ENDS: Table[str, int] = {DomainName.INTERVAL: 2, DomainName.CIRCLE: 2, DomainName.COUNTS: 1}
"""The domains that are stated with ends, and how many these are."""


def domain_of(at: Page, parsed: tree.Tree, declarations: Declarations) -> Domain:
    """Return the domain that a formula of domains says; the real line where a fault was added."""
    known = tuple(name.value for name in DomainName)
    match parsed:
        case tree.Name(name) if name in known and name != DomainName.INTERVAL:
            texts: tuple[tree.Tree, ...] = ()
        case tree.Call(name, arguments) if len(arguments) == _ENDS.get(name):
            texts = arguments
        case _:
            written = shown(at.text) or "a formula"
            problem = f"found `{written}`, expected real, positive, nonnegative, interval(a, b), circle, circle(a, b)"
            problem = f"{problem}, simplex, one_hot, counts or counts(n)"
            hint = "" if written.partition("(")[0] in known else nearest(written, known)
            at.meaningless(problem, hint)
            return Domain()
    bounds = tuple(bound_of(at, part, declarations) for part in texts)
    return Domain(DomainName(name), tuple(bound for bound in bounds if bound is not None))


def domain_text(domain: Domain) -> str:
    """Return a domain as documents state it."""
    bounds = ", ".join(text(bound) for bound in domain.bounds)
    return f"{domain.name.value}({bounds})" if bounds else domain.name.value


def bound_of(at: Page, part: tree.Tree, declarations: Declarations) -> Formula | None:
    """Return a bound of a domain, which is a number made of numbers and parameters; None where a fault was added."""
    bound = at.read(lambda entry: entry.elaborated(part, Scope(declarations), SCALAR))
    blocks = () if bound is None else dependence(bound).blocks
    if blocks:
        problem = f"found the block `{blocks[0]}` in a bound, expected numbers and parameters"
        hint = "a domain cannot depend on the state; a move draws the levels of slices: "
        hint += "`{draw: z, slice: log(w)}`"
        at.meaningless(problem, hint)
    return bound


NORMALISABLE = "normalisable"
"""What a target or a build may assume besides comparisons: that exp(-U) has a finite integral."""


def assumes_integral(page: Page) -> bool:
    """Return whether a finite integral is among what is assumed."""
    return any(item.text.strip() == NORMALISABLE for item in page["assume"].items)


def read_assumptions(page: Page, declarations: Declarations, besides: str = "") -> tuple[Compare, ...]:
    """Return the comparisons under `assume`; `besides` is the word that may stand among them."""
    scope = Scope(declarations)
    conditions = [item for item in page["assume"].items if item.text.strip() != (besides or None)]
    read = [item.read(lambda entry: entry.condition(scope)) for item in conditions]
    return tuple(condition for condition in read if condition is not None)


def check_kinds(at: Page, shape: Shape, kinds: tuple[Kind, ...]) -> None:
    """Add a fault where a kind of square matrices is declared of something else."""
    square = shape.rows is not None and shape.rows == shape.cols
    for kind in kinds:
        if kind in _SQUARE and not square:
            hint = "a number is `positive` or `nonnegative`" if shape == SCALAR else "give it the shape [d, d]"
            at["is"].fault(f"found `{kind.value}` of a {shape}, expected a square matrix", hint)


def check_unique(page: Page, declarations: Declarations) -> None:
    """Add a fault for each name declared twice, sizes included."""
    sections = (
        ("state", declarations.blocks),
        ("parameters", declarations.parameters),
        ("functions", declarations.functions),
        ("data", declarations.data),
    )
    seen = dict.fromkeys(declarations.sizes, "a size")
    for section, items in sections:
        for item in items:
            if item.name in seen:
                problem = f"found the name `{item.name}` under {section}, which is already {seen[item.name]}"
                page[section, item.name].fault(f"{problem}; expected different names")
            seen[item.name] = f"declared under {section}"

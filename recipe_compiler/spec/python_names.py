"""From the names that Python objects carry to the declarations of dynamics."""

from collections.abc import Sequence
from dataclasses import replace

from recipe_compiler.formula.declaration import Block, Declarations, Domain, Function, Parameter
from recipe_compiler.formula.declared import Declared, merged
from recipe_compiler.formula.shapes import SCALAR, DomainName, Kind
from recipe_compiler.formula.symbolic import declared_in
from recipe_compiler.spec.declarations import MAX_BLOCKS, Page, check_kinds, check_unique, domain_of, too_many_blocks
from recipe_compiler.spec.formulas import Entry
from recipe_compiler.spec.names import name_problem
from recipe_compiler.spec.yaml_nodes import Scalar


def block_name(page: Page, obj: object) -> Declared | None:
    """Return what an entry of `state` declares; None where a fault was added."""
    names = () if isinstance(obj, str) else page.faults.catch(lambda: declared_in(obj)) or ()
    if len(names) == 1 and names[0].of is None:
        return names[0]
    hint = 'write `theta = vector("theta", "d")` and `state=[theta]`'
    page.fault((), "state", f"found {type(obj).__name__} `{str(obj)[:40]}`, expected a name with its shape", hint)
    return None


def declared_names(page: Page, objects: Sequence[object]) -> tuple[Declared, ...]:
    """Return the names that objects use, each once; faults of the objects are added."""
    groups = [page.faults.catch(lambda obj=obj: declared_in(obj)) for obj in objects]
    known = [group for group in groups if group is not None]
    return page.faults.catch(lambda: merged(*known)) or ()


def declarations_of(
    page: Page, blocks: Sequence[Declared], used: Sequence[Declared], potential: str
) -> Declarations | None:
    """Return the declarations: what is no block is a function if it is of blocks, else a parameter.

    A number that is the size of another name is that size and not declared. None where the state is faulty.
    """
    if len(blocks) > MAX_BLOCKS or not blocks:
        problem = too_many_blocks(len(blocks)) if blocks else "found no blocks, expected at least one"
        page.fault((), "state", problem, 'one block may be d coordinates: vector("theta", "d")')
        return None
    sizes = {size for item in (*blocks, *used) for size in item.shape.sizes}
    names = {block.name for block in blocks}
    numbers = {item.name for item in used if item.name in sizes and item.shape == SCALAR and item.of is None}
    rest = [item for item in used if item.name not in names | numbers]
    for item in (*blocks, *rest):
        _check_kept(page, item)
    parameters = tuple(Parameter(item.name, item.shape, item.kinds) for item in rest if item.of is None)
    functions = tuple(
        Function(item.name, item.of, item.shape, item.kinds, "potential" if item.name == potential else item.role)
        for item in rest
        if item.of is not None
    )
    declarations = Declarations(tuple(Block(block.name, block.shape) for block in blocks), parameters, functions)
    _check(page, declarations, potential)
    return replace(declarations, blocks=tuple(_block(page, declared, declarations) for declared in blocks))


def _check_kept(page: Page, item: Declared) -> None:
    """Add a fault for an assumption of a SymPy symbol that would be dropped: verdicts are about what is declared."""
    if item.lost:
        problem = f"found a symbol that is {item.lost}, expected real, positive, nonnegative or nonzero"
        hint = "say it in assume" if item.lost in ("negative", "nonpositive") else "formulas are of real numbers"
        page.fault((), item.name, problem, hint)


def _block(page: Page, declared: Declared, declarations: Declarations) -> Block:
    entry = Entry(f"state.{declared.name}.domain", Scalar("", page.root.place))
    domain = domain_of(page, entry, declared.domain, declarations)
    if domain == Domain() and declared.kinds != (Kind.REAL,):
        return Block(declared.name, declared.shape, _domain_of_kinds(page, declared))
    return Block(declared.name, declared.shape, domain)


def _domain_of_kinds(page: Page, declared: Declared) -> Domain:
    """Return the domain that an object's kinds (SymPy's `positive=True`) mean for a block of the state."""
    match declared.kinds:
        case (Kind.POSITIVE,):
            return Domain(DomainName.POSITIVE)
        case (Kind.NONNEGATIVE,):
            return Domain(DomainName.NONNEGATIVE)
        case _:
            problem = f"found a block that is {', '.join(declared.kinds)}, expected a domain"
            hint = 'a block has a domain: scalar("x", domain="interval(0, 1)")'
            page.fault((), f"state.{declared.name}", problem, hint)
            return Domain()


def _check(page: Page, declarations: Declarations, potential: str) -> None:
    groups = (declarations.blocks, declarations.parameters, declarations.functions)
    for item in (item for group in groups for item in group):
        problem = name_problem(item.name)
        if problem is not None:
            page.faults.malformed_at(page.root.place, item.name, *problem)
    for block in declarations.blocks:
        if block.shape.cols is not None:
            problem = f"found a {block.shape}, expected a scalar or a column"
            page.fault((), f"state.{block.name}", problem, "declare it as a column of K d coordinates")
    for item in (*declarations.parameters, *declarations.functions):
        check_kinds(page, (), item.name, item.shape, item.kinds)
    names = tuple(block.name for block in declarations.blocks)
    for function in declarations.functions:
        for block in function.of:
            if block not in names:
                problem = f"found `{block}`, expected a block of the state ({', '.join(names)})"
                page.fault((), f"{function.name}.of", problem)
    potentials = [function for function in declarations.functions if function.role == "potential"]
    if len(potentials) > 1:
        page.fault((), potentials[1].name, "found a second potential, expected one", "a target binds one")
    if potential and potential not in [function.name for function in declarations.functions]:
        page.fault((), "potential", f"found no function `{potential}`, expected the one a target binds")
    check_unique(page, declarations)

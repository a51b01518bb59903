"""Names for parts of a target's formulas: `let: {eta: x @ theta + alpha}`, then `bernoulli_logit(y, eta)`.

A name is replaced by its formula where it is read, so that every later stage sees the formula alone. One that uses data
is that of ONE datum, as in `log_likelihood`. Names may use each other, not themselves.
"""

from collections.abc import Iterator
from collections.abc import Mapping as Table
from dataclasses import replace

from recipe_compiler.formula import tree
from recipe_compiler.formula.declaration import Declarations
from recipe_compiler.formula.elaborate import Scope
from recipe_compiler.formula.tree import Tree
from recipe_compiler.spec.formulas import Entry
from recipe_compiler.spec.page import Page

SECTION = "let"


def with_let(page: Page, names: tuple[str, ...], declarations: Declarations) -> Page:
    """Return the page whose formulas know the names under `let`, a fault added for each that means nothing."""
    found: dict[str, Tree] = {}
    for name in names:
        at = page[SECTION, name]
        if name in declarations.names:
            at.fault(f"found the name `{name}`, which is declared already; expected another")
        elif (parsed := at.read(Entry.tree)) is not None:
            found[name] = parsed
    for name in found:
        if circle := circle_of(name, found):
            problem = f"found `{name}` in its own formula: {' -> '.join(circle)}"
            page[SECTION, name].fault(problem)
            return page
    wide = page
    for name in in_order(found):
        at = wide[SECTION, name]
        made = at.read(Entry.tree)
        if made is None:
            return page
        at.formula(Scope(declarations, densities=True), None)
        wide = replace(wide, let={**wide.let, name: tree.unplaced(made)})
    return wide


def in_order(formulas: Table[str, Tree]) -> Iterator[str]:
    """Yield names, each after those that it uses."""
    left = dict(formulas)
    while left:
        ready = [name for name, formula in left.items() if not names_in(formula) & set(left)]
        yield from ready
        left = {name: formula for name, formula in left.items() if name not in ready}


def circle_of(start: str, formulas: Table[str, Tree]) -> tuple[str, ...]:
    """Return the names by which a formula uses itself, its own first and last; empty where it does not."""
    ways: list[tuple[str, ...]] = [(start,)]
    seen: set[str] = set()
    while ways:
        way = ways.pop()
        for name in names_in(formulas[way[-1]]):
            if name == start:
                return (*way, name)
            if name in formulas and name not in seen:
                seen.add(name)
                ways.append((*way, name))
    return ()


def names_in(part: Tree) -> set[str]:
    """Return the names in a formula, those of functions apart."""
    found = {part.name} if isinstance(part, tree.Name) else set[str]()
    return found.union(*(names_in(inner) for inner in tree.parts(part)))

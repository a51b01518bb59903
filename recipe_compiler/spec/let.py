"""Names for parts of a target's formulas: `let: {eta: x @ theta + alpha}`, then `bernoulli_logit(y, eta)`.

A name is replaced by its formula where it is read, so that every later stage sees the formula alone. One that uses data
is that of ONE datum, as in `log_likelihood`. Names may use each other, not themselves.
"""

from collections.abc import Mapping as Table
from dataclasses import replace
from graphlib import CycleError, TopologicalSorter

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
    wide = page
    for name in in_order(page[SECTION], found):
        at = wide[SECTION, name]
        made = at.read(Entry.tree)
        if made is None:
            return page
        at.formula(Scope(declarations, densities=True), None)
        wide = replace(wide, let={**wide.let, name: tree.unplaced(made)})
    return wide


def in_order(page: Page, formulas: Table[str, Tree], hint: str = "") -> tuple[str, ...]:
    """Return names, each after those that it uses; none, and a fault is added, where one uses itself."""
    uses = {name: [one for one in formulas if one in names_in(formula)] for name, formula in formulas.items()}
    try:
        return tuple(TopologicalSorter(uses).static_order())
    except CycleError as error:
        circle = error.args[1][::-1]
        page[circle[0]].fault(f"found `{circle[0]}` in its own formula: {' -> '.join(circle)}", hint)
        return ()


def names_in(part: Tree) -> set[str]:
    """Return the names in a formula, those of functions apart."""
    found = {part.name} if isinstance(part, tree.Name) else set[str]()
    return found.union(*(names_in(inner) for inner in tree.parts(part)))

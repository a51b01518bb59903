"""Formulas with names: `let: {eta: x @ theta + alpha}` for `bernoulli_logit(y, eta)`; `derived: {theta: mu + tau*eta}`.

A name under `let` is replaced by its formula where it is read, so that every later stage sees the formula alone. One
that uses data is that of ONE datum, as in `log_likelihood`. Names may use each other, not themselves. What is derived
is computed from draws: of the target's blocks as they are declared, of parameters and of sizes. Nothing is sampled by
it, and no claim is about it.
"""

from collections.abc import Iterable
from collections.abc import Mapping as Table
from dataclasses import replace
from fractions import Fraction
from graphlib import CycleError, TopologicalSorter

from recipe_compiler.formula import tree
from recipe_compiler.formula.declaration import Declarations
from recipe_compiler.formula.density_terms import type_density
from recipe_compiler.formula.elaborate import Scope
from recipe_compiler.formula.expression import Formula
from recipe_compiler.formula.tree import Tree
from recipe_compiler.spec.formulas import Entry, dependence
from recipe_compiler.spec.model import Formulas
from recipe_compiler.spec.page import Page

SECTION = "let"


def with_let(page: Page, names: tuple[str, ...], declarations: Declarations) -> Page:
    """Return the page whose formulas know the names under `let`, a fault added for each that means nothing: 0 then."""
    found: dict[str, Tree] = {}
    for name in names:
        at = page[SECTION, name]
        if name in declarations.names:
            at.fault(f"found the name `{name}`, which is declared already; expected another")
        elif (parsed := at.read(Entry.tree)) is not None:
            found[name] = parsed
    wide = replace(page, let={name: tree.Literal(Fraction(0)) for name in names if name not in declarations.names})
    for name in in_order(page[SECTION], found):
        at = wide[SECTION, name]
        made = at.read(Entry.tree)
        if made is not None:
            at.formula(Scope(declarations, densities=type_density), None)
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


def read_derived(page: Page, names: Iterable[str], declarations: Declarations, taken: Iterable[str] = ()) -> Formulas:
    """Return name to formula in the order they are written, a fault added for each that means nothing.

    Args:
        page: the document.
        names: of its entry `derived`.
        declarations: the blocks, parameters and data of the target, and the parameters of whoever else may be named.
        taken: names of others that are not declared there.
    """
    used = declarations.names.union(taken)
    found: list[tuple[str, Formula]] = []
    for name in names:
        at = page["derived", name]
        if name in used:
            at.fault(f"found `{name}`, which is declared already, expected a name of its own")
        formula = at.formula(Scope(declarations), None)
        if formula is None:
            continue
        if fields := dependence(formula).data:
            at.fault(f"found the data `{fields[0]}`, expected blocks, parameters and sizes alone")
        found.append((name, formula))
    return tuple(found)

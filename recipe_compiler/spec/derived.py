"""What is computed from draws, as documents state it: `derived: {theta: mu + tau*eta}`.

Formulas of the target's blocks as they are declared, of parameters and of sizes. Nothing is sampled by them, and no
claim is about them.
"""

from collections.abc import Iterable

from recipe_compiler.formula.declaration import Declarations
from recipe_compiler.formula.elaborate import Scope
from recipe_compiler.formula.expression import Formula
from recipe_compiler.spec.formulas import dependence
from recipe_compiler.spec.page import Page


def read_derived(
    page: Page, names: Iterable[str], declarations: Declarations, taken: Iterable[str] = ()
) -> tuple[tuple[str, Formula], ...]:
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

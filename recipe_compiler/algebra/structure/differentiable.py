"""Where formulas are continuously differentiable, across a `where` whose pieces meet with their derivatives.

`definedness.obligations` asks that nothing jumps or bends at any order, which is what brackets and expansions need; a
gradient needs less. A kink in a piece counts where that piece is used: |x| has none where |x| >= 1.
"""

from collections.abc import Iterable

from recipe_compiler.algebra.structure.definedness import (
    CALCULUS,
    Obligations,
    definedness,
    kink_of,
    obligations,
    of_node,
)
from recipe_compiler.algebra.structure.pieces import apart, meet
from recipe_compiler.formula.build import parts
from recipe_compiler.formula.declaration import Declarations
from recipe_compiler.formula.expression import Apply, Compare, Formula

Guards = tuple[tuple[Compare, bool], ...]
"""Conditions of `where`, and whether they hold."""


def differentiable(formulas: Iterable[Formula], declarations: Declarations) -> Obligations:
    """Return what formulas need to have continuous first derivatives inside the domain."""
    found = Obligations()
    for formula in formulas:
        found = found | _once(formula, declarations, ())
    return found


def _once(formula: Formula, declarations: Declarations, guards: Guards) -> Obligations:
    match formula:
        case Apply("where", (Compare() as condition, yes, no)) if meet(formula, declarations, smoothly=True):
            found = definedness((condition,), declarations)
            if condition.op == "==":
                return found | definedness((yes,), declarations) | _once(no, declarations, guards)
            held = _once(yes, declarations, (*guards, (condition, True)))
            return found | held | _once(no, declarations, (*guards, (condition, False)))
        case Apply(fn) if fn in CALCULUS:
            return obligations((formula,), declarations)
        case _:
            found = _own(formula, declarations, guards)
            for part in parts(formula):
                found = found | _once(part, declarations, guards)
            return found


def _own(formula: Formula, declarations: Declarations, guards: Guards) -> Obligations:
    """Return what a node needs besides its parts; its kink may lie where its piece is not used."""
    found = of_node(formula, declarations, smooth=True)
    kink = kink_of(formula)
    if not found.open or kink is None:
        return found
    for condition, holds in guards:
        given = apart(kink, condition, declarations, holds=holds)
        if given is not None:
            return of_node(formula, declarations, smooth=False) | Obligations(given)
    return found

"""Signs that a document assumes of scalars, for the index calculus: under `assume: ["a < 1"]`, 1 - a is positive."""

from dataclasses import replace

from recipe_compiler.errors import ModelError
from recipe_compiler.formula.declaration import Declarations
from recipe_compiler.tensor.atoms import indices
from recipe_compiler.tensor.calculus import Calculus
from recipe_compiler.tensor.convert import convert
from recipe_compiler.tensor.terms import Tensor


def with_assumed_signs(c: Calculus, declarations: Declarations) -> Calculus:
    """Return a calculus that knows the signs of differences of which an assumption states one."""
    found: list[tuple[Tensor, bool]] = []
    for compare in declarations.assume:
        if compare.left.shape.sizes or compare.right.shape.sizes or compare.op == "==":
            continue
        try:
            left, right = (convert(side, declarations) for side in (compare.left, compare.right))
        except ModelError:
            continue
        up = compare.op in {">", ">="}
        difference = c.subtract(left, right) if up else c.subtract(right, left)
        if not any(indices(term.factors) for term in difference.terms):  # sums over positions say nothing of one
            found.append((difference, compare.op in {">", "<"}))
    return Calculus(replace(c.rules, assumed=tuple(found))) if found else c

"""Laws of data that are 0 with some probability, else above 0 with a named density, as `where` states them.

    where(y > 0, log p + log f(y), log(1 - p))

A draw of y is 0 with probability 1 - p, else one of f. That the two pieces are those of one law is shown: p is no
function of y, and of the piece of y > 0, f left out, and of the other one the exponentials add up to 1.
"""

from recipe_compiler.algebra.scalars.entries import NotScalarisableError, scalar
from recipe_compiler.algebra.scalars.transcendentals import NoNormalFormError
from recipe_compiler.algebra.structure.data_guards import is_zero_by_guard, kinds_of_guard
from recipe_compiler.algebra.zero.zero import is_zero
from recipe_compiler.formula.build import ONE, add, apply, negate
from recipe_compiler.formula.declaration import Datum
from recipe_compiler.formula.densities import DENSITIES
from recipe_compiler.formula.density_terms import log_density
from recipe_compiler.formula.expression import Apply, Compare, Formula
from recipe_compiler.formula.shapes import SCALAR, Kind
from recipe_compiler.formula.substitute import substitute
from recipe_compiler.spec.model import StatedDensity, Target

SIZE = 2
"""At which vectors in the pieces are written out."""


def probability_above(target: Target, one: StatedDensity) -> Formula | None:
    """Return log p for data that are 0 with probability 1 - p, else above 0 with a density f; None for any other law.

    log p(y) = where(y > 0, log p + log f(y), log(1 - p)). It is shown that p is free of y, and that p + (1 - p) = 1 as
    written.

    Args:
        target: its log likelihood.
        one: the only density of a field in it.
    """
    declared = target.as_declared.declarations
    field, row = declared.find(one.of), DENSITIES[one.name]
    match target.as_declared.log_likelihood:
        case Apply("where", (Compare() as condition, yes, no)) if isinstance(field, Datum) and field.shape == SCALAR:
            holds = (condition, True) in one.guards
        case _:
            return None
    above, other = (yes, no) if holds else (no, yes)
    split = Kind.POSITIVE in kinds_of_guard(condition, field, holds=holds)
    split = split and is_zero_by_guard(condition, field, holds=not holds)
    if not split or len(one.guards) != 1 or not row.of_entry or Kind.POSITIVE not in row.kinds:
        return None
    left = add((above, negate(log_density(row, one.arguments, declared))), SCALAR)
    log_p = substitute(left, {one.of: ONE})
    is_free = add((left, negate(log_p)), SCALAR)
    adds_up = add((*(apply("exp", (part,), SCALAR) for part in (log_p, other)), negate(ONE)), SCALAR)
    try:
        shown = all(is_zero(scalar(zero, declared, dict.fromkeys(declared.sizes, SIZE))) for zero in (is_free, adds_up))
    except (NotScalarisableError, NoNormalFormError):
        return None
    return log_p if shown else None

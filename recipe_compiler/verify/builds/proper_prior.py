"""A proper prior and a bounded likelihood: exp(-U) then has a finite integral, by what the target states.

Where every block has one named density in the log prior, its arguments free of the block and of any cycle, the blocks
are integrated out one after the other, each integral being at most 1: one that stands in no argument any more goes
first. theta of normal(theta, mu, tau) goes before mu and tau. Bounded by a constant, the likelihood changes nothing.
"""

from collections.abc import Iterator

from recipe_compiler.formula.constraints import Constraint
from recipe_compiler.formula.declaration import Declarations
from recipe_compiler.formula.densities import DENSITIES
from recipe_compiler.formula.expression import Symbol
from recipe_compiler.formula.shapes import SCALAR
from recipe_compiler.spec.formulas import dependence
from recipe_compiler.spec.model import Stated, StatedDensity, Target
from recipe_compiler.verdict import Proved
from recipe_compiler.verify.builds.target import defined
from recipe_compiler.verify.core.premises import depends_on_state
from recipe_compiler.verify.integrability.bounded import bounded_above

METHOD = "proper prior, bounded likelihood"


def by_proper_prior(target: Target) -> Proved | None:
    """Return the proof that a proper prior gives; None where the named densities of a target do not show one.

    Args:
        target: as it is sampled; its densities are about the blocks as they are declared.
    """
    declared = (target.declared or target).declarations
    stated = target.stated
    if target.potential is not None or target.gradient is not None or not stated.densities:
        return None
    order = _integrated_out([one for one in stated.densities if one.entry == "log_prior"], declared)
    if order is None or not _others_only_help(stated, declared) or not _is_bounded(stated):
        return None
    shown = defined(target).decision  # the blocks are in the supports, and scales positive
    if not isinstance(shown, Proved):
        return None
    likelihood = [one.name for one in stated.densities if one.entry == "log_likelihood"]
    data = (
        ("prior, integrated out in this order", ", ".join(order)),
        ("bounded", ", ".join(likelihood) or "likelihood"),
    )
    return Proved(METHOD, shown.given, data)


def _integrated_out(priors: list[StatedDensity], declared: Declarations) -> tuple[str, ...] | None:
    """Return the blocks in an order in which each is integrated out; None where there is none."""
    blocks = [block.name for block in declared.blocks]
    of = {one.of: one for one in priors}
    if sorted(one.of for one in priors) != sorted(blocks):
        return None
    sets = {block.name: block.constraint for block in declared.blocks}
    laws = [one for one in priors if one.is_term and _is_proper(one, sets[one.of])]
    if len(laws) < len(priors) or not all(isinstance(one.arguments[0], Symbol) for one in priors):
        return None
    needed = {name: {b for arg in one.arguments[1:] for b in dependence(arg).blocks} for name, one in of.items()}
    order: list[str] = []
    while left := [name for name in blocks if name not in order]:
        free = [name for name in left if not any(name in needed[other] for other in left)]
        if not free:
            return None
        order.append(free[0])
    return tuple(order)


def _is_proper(one: StatedDensity, set_: Constraint | None) -> bool:
    """Whether a law has an integral of at most 1 over its block, its arguments being shown to be those of one.

    Of matrices besides the block they are not. Of one number beside a column of arguments a density is a product of
    several of that number, which is no law. Over increasing columns an integral is at most that over all; other sets
    have measures of their own, and laws.

    Args:
        one: the density.
        set_: what its block lies in as a whole.
    """
    row, (own, *others) = DENSITIES[one.name], [argument.shape for argument in one.arguments]
    fits = row.proper and row.of_set is None if set_ in _PARTS else row.of_set is set_
    return fits and {*row.matrices} <= {row.arguments[0]} and all(shape in (SCALAR, own) for shape in others)


_PARTS = (None, Constraint.ORDERED, Constraint.POSITIVE_ORDERED)
"""Sets that are of as many dimensions as entries, measured as all columns are."""


def _others_only_help(stated: Stated, declared: Declarations) -> bool:
    """Whether what is no named density is bounded above."""
    return all(bounded_above(formula, declared) for _, formula in stated.others)


def _is_bounded(stated: Stated) -> bool:
    """Whether each density of the data is bounded for all values of what it has of the state.

    One that is no summand is a part of the others.
    """
    own = (one for one in stated.densities if one.entry == "log_likelihood" and one.is_term)
    return all(any(_is_over(one)) for one in own)


def _is_over(one: StatedDensity) -> Iterator[bool]:
    """Yield of each bound whether it is over all arguments that depend on the state."""
    row = DENSITIES[one.name]
    moving = {name for name, arg in zip(row.arguments, one.arguments, strict=True) if depends_on_state(arg)}
    for bound in row.bounds:
        yield moving <= set(bound.over)

"""What an energy, or another function, is at least far out: a power of each block, beside what is abstract of it."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from recipe_compiler.formula.declaration import Block
from recipe_compiler.tensor.show import text
from recipe_compiler.tensor.terms import Tensor, Term
from recipe_compiler.verify.infinity.growth import Terms
from recipe_compiler.verify.integrability.exponents import bounding
from recipe_compiler.verify.integrability.growth import confinement, growth_below


@dataclass(frozen=True, slots=True)
class Confined:
    """`W >= sum_b c |z_b|**degrees[b] + abstract - C` over the blocks that abstract functions do not depend on."""

    degrees: Mapping[str, Fraction]
    abstract: Tensor


def confined(terms: Terms, energy: Tensor, besides: Mapping[str, Fraction]) -> Confined | str:
    """Return what a function grows like, beside |z_b|**besides[b]; or why that is not known.

    Blocks that a form in them confines only where the others are bounded have no degree.
    """
    names = {block.name for block in covered(terms)}
    if names and not any(terms.is_abstract(term.factors) for term in energy.terms):
        names = set[str]()
    own = [term for term in energy.terms if terms.blocks(term.factors) and terms.blocks(term.factors) <= names]
    rest = [term for term in energy.terms if term not in own]
    degrees = dict(besides)
    used: list[Term] = []
    for block in (block for block in terms.unbounded if block.name not in names):
        about = tuple(term for term in rest if terms.blocks(term.factors) == frozenset({block.name}))
        confined = confinement(terms.c, terms.declarations, block, about)
        if confined is not None:
            degrees[block.name] = confined.degree
            used += confined.terms
        elif block.name not in besides and not terms.is_definite(block, rest):
            return f"nothing is known to confine {block.name}"
    for term in rest:
        if term in used or terms.is_nonnegative(term):
            continue
        if not all(_is_dominated(terms, part, degrees, besides) for part in bounding(terms.c, term)):
            return f"{text(terms.c.collect([term], ()))} is not dominated"
    return Confined(degrees, terms.c.collect(own, ()))


def _is_dominated(terms: Terms, term: Term, degrees: Mapping[str, Fraction], besides: Mapping[str, Fraction]) -> bool:
    """Whether what grows outweighs a term, or a large multiple of |z_b|**besides[b] does."""
    growth = terms.growth(term.factors)
    share = None if growth is None else growth.share(degrees)
    if growth is None or share is None:
        return False
    by_multiple = all(degrees[name] == besides.get(name) for name, power in growth.powers.items() if power > 0)
    return share < 1 or (share == 1 and not growth.logs and by_multiple)


def covered(terms: Terms) -> tuple[Block, ...]:
    """Return the blocks that abstract functions depend on and that can run off."""
    names = {block for _, block in terms.c.rules.depends}
    return tuple(block for block in terms.unbounded if block.name in names)


def grows(terms: Terms, energy: Tensor) -> bool:
    """Whether an energy is shown to grow like a power of |z|: every power of that is integrable against its density."""
    if growth_below(terms.c, terms.declarations, terms.unbounded, energy) is not None:
        return True
    found = confined(terms, energy, {})
    return not isinstance(found, str) and all(block.name in found.degrees for block in terms.unbounded)

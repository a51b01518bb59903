"""Canonical form of sums of products: equal expressions, up to names and order, get equal terms.

Sound always: a zero canonical form is zero for every size and every smooth field. Not complete: a form that is not
zero refutes nothing.
"""

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

from recipe_compiler.tensor.arithmetic import Arithmetic
from recipe_compiler.tensor.atoms import ONE, Factor, height, indices, moved, nested
from recipe_compiler.tensor.canonical_labels import Named, bound_index, named, pieces
from recipe_compiler.tensor.order import sorted_factors, sorted_indices, spell_factors
from recipe_compiler.tensor.products import Product, oriented, rebuilt, simplified
from recipe_compiler.tensor.terms import Index, Slot, Tensor, Term

NO_MOVES: Mapping[Index, Slot] = {}


def collect(
    c: Arithmetic, products: Iterable[Sequence[Term]], free: Iterable[Index], moves: Mapping[Index, Slot] = NO_MOVES
) -> Tensor:
    """Return the canonical form of a sum of products of terms, with slots replaced by `moves`.

    Every term is summed over its indices that are neither in `free` (the free indices of the result) nor moved.
    """
    outer = frozenset(free)
    found: dict[str, Term] = {}
    for terms in products:
        for product in simplified(c, terms, outer, moves):
            for name, (coefficient, factors) in _canonical(c, product, outer):
                old = found.get(name)
                found[name] = Term(coefficient + (old.coefficient if old else 0), factors)
    kept = tuple(found[name] for name in sorted(found) if found[name].coefficient)
    return Tensor(sorted_indices(outer), kept)


def _canonical(
    c: Arithmetic, product: Product, free: frozenset[Index]
) -> Iterable[tuple[str, tuple[Fraction, tuple[Factor, ...]]]]:
    """Name the bound indices of a product; nothing for one that equals its negative."""
    if not product.bound:
        factors = sorted_factors(product.factors)
        return [(spell_factors(factors), (product.coefficient, factors))]
    level = height(product.factors)
    coefficient = product.coefficient
    constant: list[Factor] = []
    groups: list[Named] = []
    for factors, bound in pieces(product.factors, free):
        if not bound:
            constant += factors
            continue
        group = named(c.rules, factors, bound, level, lambda part, moves: renamed(c, part, moves))
        if group is None:
            return []
        coefficient *= group.sign
        groups.append(group)
    factors = sorted_factors([*constant, *_numbered(groups, level)])
    return [(spell_factors(factors), (coefficient, factors))]


def _numbered(groups: Sequence[Named], level: int) -> list[Factor]:
    """Number the indices of all groups on, in the order of the groups' spellings."""
    found: list[Factor] = []
    offset = 0
    for group in sorted(groups, key=lambda group: group.spelling):
        own = {index for index in indices(group.factors) if index.label.startswith(f"_{level:02d}_")}
        moves: dict[Index, Slot] = {index: bound_index(index, level, int(index.label[-3:]) + offset) for index in own}
        found += [(moved(atom, moves), exponent) for atom, exponent in group.factors] if offset else group.factors
        offset += group.count
    return found


def renamed(
    c: Arithmetic, factors: Sequence[Factor], moves: Mapping[Index, Slot]
) -> tuple[Fraction, tuple[Factor, ...]] | None:
    """Rename indices one to one: sign and sorted factors, None where a nested argument comes out in several terms."""
    sign = ONE
    found: list[Factor] = []
    for atom, exponent in factors:
        if nested(atom):
            terms = rebuilt(c, atom, exponent, moves).terms
            if len(terms) != 1:
                return None
            sign *= terms[0].coefficient
            found += terms[0].factors
        else:
            orientation, other = oriented(c, moved(atom, moves))
            if exponent.denominator == 1 or orientation >= 0:
                sign *= orientation ** abs(exponent.numerator)
                found.append((other, exponent))
            else:
                found.append((moved(atom, moves), exponent))
    return sign, sorted_factors(found)

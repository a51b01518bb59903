"""Canonical form of sums of products: equal expressions, up to names and order, get equal terms.

Sound: a zero canonical form is zero for every size and every smooth field. Not complete: a form that is not zero
refutes nothing. Bound indices are renamed by what they are attached to, so that the result does not depend on the names
they had: colour refinement, as for graphs, tells apart what has different surroundings; where several remain alike,
each of them is numbered first in turn, unless swapping two of them changes nothing.

Worked example. With S symmetric and K skew, sum_jk S_jk K_jk: j and k have the same surroundings (a slot of S and one
of K), so both are candidates for the first number. Swapping them gives S_kj K_kj = -S_jk K_jk, the same product with
the opposite sign. A sum that equals its negative is zero, and the term is dropped.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from recipe_compiler import limits
from recipe_compiler.tensor.atoms import ONE, Factor, height, indices, moved, nested
from recipe_compiler.tensor.calculus_protocol import Arithmetic
from recipe_compiler.tensor.order import sorted_factors, sorted_indices, spell_factors, spell_slot
from recipe_compiler.tensor.products import Product, oriented, rebuilt, simplified
from recipe_compiler.tensor.rules import Rules
from recipe_compiler.tensor.terms import (
    Applied,
    Atom,
    Base,
    Component,
    Coordinate,
    Delta,
    Index,
    MatrixFunction,
    Slot,
    Tensor,
    Term,
)

Rename = Callable[[Sequence[Factor], Mapping[Index, Slot]], tuple[Fraction, tuple[Factor, ...]] | None]
"""Renames indices one to one and returns sign and sorted factors; None where the result has no such form."""

Colours = dict[Index, str]
NO_MOVES: Mapping[Index, Slot] = {}


@dataclass(frozen=True, slots=True)
class Named:
    """A product with its bound indices named: its spelling (the sort key), sign, factors, and how many they are."""

    spelling: str
    sign: Fraction
    factors: tuple[Factor, ...]
    count: int


def pieces(factors: Sequence[Factor], free: frozenset[Index]) -> list[tuple[list[Factor], set[Index]]]:
    """Return the factors in groups that share no bound index, with the bound indices of each: the product's components.

    In A_ij x_j y_k z_k with i free, A and x form one group, y and z another; a sum over j and k is then the product of
    two sums, and each is named alone.
    """
    groups: list[tuple[list[Factor], set[Index]]] = []
    for factor in factors:
        own = indices((factor,)) - free
        near = [group for group in groups if group[1] & own]
        groups = [group for group in groups if group not in near]
        members = [member for group in near for member in group[0]]
        groups.append(([*members, factor], own.union(*(group[1] for group in near))))
    return groups


def named(rules: Rules, factors: Sequence[Factor], bound: set[Index], level: int, rename: Rename) -> Named | None:
    """Return one group of factors with its bound indices renamed canonically; None if it equals its negative.

    `level` is the height of the product (`recipe_compiler.tensor.atoms.height`), `rename` gives sign and factors after
    a renaming. Among the numberings that colour refinement leaves, the one with the least spelling is chosen; after 200
    the best so far is, which may give equal products different names but never different products one name.
    """
    best: Named | None = None
    for count, order in enumerate(
        _orders_to_try(rules, factors, _refine_colours(rules, factors, _colour_by_size(bound)), rename)
    ):
        if order is None:
            return None
        moves: dict[Index, Slot] = {index: bound_index(index, level, n) for n, index in enumerate(order)}
        renamed = rename(factors, moves)
        if renamed is None or count >= limits.ENTRIES:
            break
        here = Named(spell_factors(renamed[1]), renamed[0], renamed[1], len(bound))
        if best is None or here.spelling < best.spelling:
            best = here
        elif here.spelling == best.spelling and here.sign != best.sign:
            return None
    return best or Named(spell_factors(factors), Fraction(1), tuple(factors), len(bound))


def bound_index(index: Index, level: int, number: int) -> Index:
    """Return the canonical name of a bound index, `_01_003` for the fourth of a product of height 1."""
    return Index(index.size, f"_{level:02d}_{number:03d}")


def _orders_to_try(
    rules: Rules, factors: Sequence[Factor], colours: Colours, rename: Rename
) -> Iterator[list[Index] | None]:
    """Yield the orders of indices to try; None once a swap that changes only the sign shows that the sum is zero."""
    alike = _first_repeated_colour(colours)
    if alike is None:
        yield sorted(colours, key=lambda index: colours[index])
        return
    first = alike[0]
    for index in alike:
        if index != first:
            swap = _swap_sign(factors, first, index, rename)
            if swap < 0:
                yield None
            if swap:
                continue
        split = colours | {index: f"{colours[index]}!"}
        yield from _orders_to_try(rules, factors, _refine_colours(rules, factors, split), rename)


def _swap_sign(factors: Sequence[Factor], first: Index, second: Index, rename: Rename) -> int:
    """Return 1 or -1 if swapping two indices gives the same product or its negative, else 0."""
    here = rename(factors, {first: first, second: second})
    there = rename(factors, {first: second, second: first})
    if here is None or there is None or here[1] != there[1]:
        return 0
    return 1 if here[0] == there[0] else -1


def _first_repeated_colour(colours: Colours) -> list[Index] | None:
    """Return the indices of the first colour shared by several; None where all differ."""
    classes: dict[str, list[Index]] = {}
    for index, colour in colours.items():
        classes.setdefault(colour, []).append(index)
    several = [colour for colour, members in classes.items() if len(members) > 1]
    return list(sorted_indices(classes[min(several)])) if several else None


def _colour_by_size(bound: set[Index]) -> Colours:
    """Return the initial colours of bound indices: their sizes."""
    return {index: f"{index.size}" for index in sorted_indices(bound)}


def _refine_colours(rules: Rules, factors: Sequence[Factor], colours: Colours) -> Colours:
    """Return colours refined by the surroundings of each index, until no class splits any more."""
    if len(colours) == 1:
        return colours
    count = len(set(colours.values()))
    while count < len(colours):
        signatures = {index: (colours[index], _spell_surroundings(rules, factors, colours, index)) for index in colours}
        ranks = {signature: f"{n:03d}" for n, signature in enumerate(sorted(set(signatures.values())))}
        colours = {index: ranks[signatures[index]] for index in colours}
        if len(ranks) == count:
            break
        count = len(ranks)
    return colours


def _spell_surroundings(rules: Rules, factors: Sequence[Factor], colours: Colours, index: Index) -> str:
    """Return the spelling of all factors that contain an index, with that index marked."""
    marked = colours | {index: f"*{colours[index]}"}
    touched = [factor for factor in factors if index in indices((factor,))]
    return " ".join(sorted(f"{_colour_atom(rules, atom, marked)}^{exponent}" for atom, exponent in touched))


def _colour_atom(rules: Rules, atom: Atom, colours: Mapping[Index, str]) -> str:
    """Spell an atom with the colours of its indices in their places, blind to what naming may change."""
    match atom:
        case Coordinate(block, at):
            return f"z{block}[{_colour_slots(at, colours)}]"
        case Component(name, at, by):
            slots = _colour_matrix(rules, name, at, colours)
            return f"c{name}[{slots}]{sorted(_colour_atom(rules, x, colours) for x in by)}"
        case Delta(left, right):
            return f"k{sorted((_colour_slots((left,), colours), _colour_slots((right,), colours)))}"
        case MatrixFunction(fn, of, at):
            where = [_colour_slots((slot,), colours) for slot in at]
            return f"{fn[0]}({_colour_tensor(rules, of.entry, {})}){sorted(where) if fn == 'inv' else where}"
        case Applied(fn, args):
            return f"f{fn}({'|'.join(_colour_tensor(rules, arg, colours) for arg in args)})"
        case Base(arg):
            return f"b({_colour_tensor(rules, arg, colours)})"
        case _:
            return repr(atom)


def _colour_tensor(rules: Rules, tensor: Tensor, colours: Mapping[Index, str]) -> str:
    """Return the spelling of a tensor with colours for indices, terms sorted."""
    terms = [
        f"{abs(term.coefficient)} {sorted(f'{_colour_atom(rules, atom, colours)}^{e}' for atom, e in term.factors)}"
        for term in tensor.terms
    ]
    return "+".join(sorted(terms))


def _colour_matrix(rules: Rules, name: str, at: tuple[Slot, ...], colours: Mapping[Index, str]) -> str:
    """Return the colours of a matrix's slots, sorted if it is symmetric or skew."""
    if name in rules.symmetric or name in rules.skew:
        return str(sorted(_colour_slots((slot,), colours) for slot in at))
    return _colour_slots(at, colours)


def _colour_slots(at: tuple[Slot, ...], colours: Mapping[Index, str]) -> str:
    """Return the colours of slots in order."""
    return ",".join([_colour_slot(slot, colours) for slot in at])


def _colour_slot(slot: Slot, colours: Mapping[Index, str]) -> str:
    """Return the colour of an index; its size if it is bound inside, its name if it is free."""
    if not isinstance(slot, Index):
        return f"#{slot}"
    colour = colours.get(slot)
    if colour is not None:
        return f"<{colour}>"
    return f"bound {slot.size}" if slot.label.startswith("_") else spell_slot(slot)


def collect(
    c: Arithmetic, products: Iterable[Sequence[Term]], free: Iterable[Index], moves: Mapping[Index, Slot] = NO_MOVES
) -> Tensor:
    """Return the canonical form of a sum of products of terms, with slots replaced by `moves`.

    Every term is summed over its indices that are neither in `free` (the free indices of the result) nor replaced. K_ij
    r_j and K_il r_l become one term; K_ij L_ij - L_ij K_ij becomes zero. Raises ModelError where a factor divides by an
    entry that is zero.
    """
    outer, replaced = frozenset(free), tuple(moves.items())
    found: dict[str, Term] = {}
    for terms in products:
        for name, new in _canonical_terms(c, tuple(terms), outer, replaced):
            old = found.get(name)
            found[name] = Term(new.coefficient + old.coefficient, new.factors) if old else new
    kept = tuple(found[name] for name in sorted(found) if found[name].coefficient)
    return Tensor(sorted_indices(outer), kept)


@lru_cache(maxsize=limits.REMEMBERED)
def _canonical_terms(
    c: Arithmetic, terms: tuple[Term, ...], free: frozenset[Index], moves: tuple[tuple[Index, Slot], ...]
) -> tuple[tuple[str, Term], ...]:
    """Return the canonical terms of one product of terms, each with its spelling."""
    products = simplified(c, terms, free, dict(moves))
    return tuple(form for product in products if (form := _name_bound_indices(c, product, free)) is not None)


def _name_bound_indices(c: Arithmetic, product: Product, free: frozenset[Index]) -> tuple[str, Term] | None:
    """Name the bound indices of a product; None for one that equals its negative."""
    if not product.bound:
        return _sort_and_spell(product.coefficient, product.factors)
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
            return None
        coefficient *= group.sign
        groups.append(group)
    return _sort_and_spell(coefficient, [*constant, *_number_consecutively(groups, level)])


def _sort_and_spell(coefficient: Fraction, factors: Iterable[Factor]) -> tuple[str, Term]:
    """Return a term with its factors sorted, after the spelling that it is sorted by."""
    in_order = sorted_factors(factors)
    return spell_factors(in_order), Term(coefficient, in_order)


def _number_consecutively(groups: Sequence[Named], level: int) -> list[Factor]:
    """Return the factors of all groups, in the order of their spellings, indices numbered from group to group."""
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
    """Rename the indices of a product one to one: return its sign and sorted factors.

    None if a nested argument no longer is a single term after renaming. For a skew K, K_ij with i and j swapped is
    K_ji, returned as (-1, K_ij).
    """
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

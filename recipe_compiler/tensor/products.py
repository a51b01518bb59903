"""One product of atoms on its way to canonical form: everything short of naming its bound indices.

Rules are applied until none changes anything: Kronecker deltas are eliminated, atoms oriented (S_ji = S_ij), equal
atoms merged into powers, functions combined, inv(A) A contracted, and a sum over an index that no factor depends on
becomes its size.

Worked example: sum_jk delta_jk A_ij A_ik with i free. The delta identifies j and k, both bound, so j stands for both:
sum_j A_ij A_ij. Equal atoms merge: sum_j A_ij**2. From sum_jk delta_jk nothing is left but sum_j 1 = d.
"""

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from fractions import Fraction

from recipe_compiler.formula.shapes import Size
from recipe_compiler.tensor.atoms import ONE, Factor, height, indices, moved, moved_factors, nested
from recipe_compiler.tensor.calculus_protocol import Arithmetic, meaningless
from recipe_compiler.tensor.functions import combined
from recipe_compiler.tensor.inverses import contracted, grid_sign
from recipe_compiler.tensor.order import sorted_indices, sorted_slots, spell, spell_slot
from recipe_compiler.tensor.powers import needs_rebuilding
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
    SizeNumber,
    Slot,
    Tensor,
    Term,
)


@dataclass(frozen=True, slots=True)
class Identification:
    """What a product of deltas means: slots that are replaced, and deltas between free slots that stay."""

    moves: dict[Index, Slot]
    kept: tuple[Delta, ...]


def identify(deltas: Iterable[Delta], free: frozenset[Index]) -> Identification | None:
    """Return what the deltas identify; None if two different positions would be equal, when the product is zero.

    Of slots that are equal a literal position stands for all, else the first free index, else a bound one. A delta
    stays for every free index that is replaced. An index of size 1 is the position 0. With i free, delta_ij delta_jk
    replaces j and k by i; delta_0j delta_1j is None.
    """
    groups: list[set[Slot]] = []
    for delta in deltas:
        pair: set[Slot] = {delta.left, delta.right}
        apart = [group for group in groups if not group & pair]
        groups = [*apart, pair.union(*(group for group in groups if group & pair))]
    moves: dict[Index, Slot] = {}
    kept: list[Delta] = []
    for group in groups:
        leader = _choose_representative(group, free)
        if leader is None:
            return None
        followers = [slot for slot in group if slot != leader and isinstance(slot, Index)]
        moves |= dict.fromkeys(followers, leader)
        kept += [ordered(leader, index) for index in followers if index in free and index.size != 1]
    kept.sort(key=lambda delta: (spell_slot(delta.left), spell_slot(delta.right)))
    return Identification(moves, tuple(kept))


def ordered(left: Slot, right: Slot) -> Delta:
    """Return the delta of two slots with its slots in order, as delta_ij = delta_ji."""
    return Delta(left, right) if spell_slot(left) <= spell_slot(right) else Delta(right, left)


def _choose_representative(group: set[Slot], free: frozenset[Index]) -> Slot | None:
    """Return the slot that stands for all equal ones; None if two different positions are equal."""
    literals = {slot for slot in group if not isinstance(slot, Index)}
    if len(literals) > 1:
        return None
    candidates = literals or {slot for slot in group if slot in free} or group
    return min(candidates, key=spell_slot)


@dataclass(frozen=True, slots=True)
class Product:
    """coefficient * prod factors, summed over `bound`, whose indices may have been lost from the factors.

    An index of `bound` that occurs in no factor stands for a sum of equal summands: it multiplies by its size at the
    end.
    """

    coefficient: Fraction
    factors: tuple[Factor, ...]
    bound: frozenset[Index]


@dataclass(slots=True)
class Labels:
    """Bound labels that have not been used in one product, handed out so that they sort in that order."""

    height: int
    used: int = field(default=0)

    def fresh(self, old: Iterable[Index]) -> dict[Index, Slot]:
        """Return new labels for old ones, in the order of the old, so that what was canonical stays canonical."""
        moves: dict[Index, Slot] = {}
        for index in sorted_indices(old):
            moves[index] = Index(index.size, f"_{self.height:02d}~{self.used:05d}")
            self.used += 1
        return moves


def simplified(
    c: Arithmetic, terms: Sequence[Term], free: frozenset[Index], moves: Mapping[Index, Slot]
) -> list[Product]:
    """Return products whose sum is the product of the terms, with slots replaced by `moves`.

    No delta is left in them that can be eliminated, atoms are oriented, equal atoms merged. Each term is summed over
    its own indices that are neither free nor replaced: (sum_j x_j)(sum_j y_j) has two bound indices. Several products
    arise where a power of a sum is multiplied out. Raises ModelError for a division by zero.
    """
    labels = Labels(max((height(term.factors) for term in terms), default=0))
    product = Product(ONE, (), frozenset())
    summed: dict[Index, Slot] = {}
    for term in terms:
        outer = indices(term.factors) - free - moves.keys()
        summed |= labels.fresh(index for index in outer if not index.label.startswith("_"))
        product = _multiply_by_term(product, term, free | moves.keys() | summed.keys(), labels)
    bound = product.bound | {index for index in summed.values() if isinstance(index, Index)}
    product = Product(product.coefficient, product.factors, bound)
    moves = {**moves, **summed}
    pending = _substitute_slots(c, product, moves, labels) if moves else [product]
    done: list[Product] = []
    while pending:
        product = pending.pop()
        again = _apply_first_rule(c, product, free, labels)
        if again is None:
            done.append(product)
        else:
            pending += again
    return [_multiply_by_lost_sizes(product) for product in done]


def _apply_first_rule(c: Arithmetic, product: Product, free: frozenset[Index], labels: Labels) -> list[Product] | None:
    """Return the product rewritten by the first rule that applies; None where none does."""
    deltas = [atom for atom, _ in product.factors if isinstance(atom, Delta)]
    single = [Delta(index, 0) for index in indices(product.factors) if index.size == 1]
    if deltas or single:
        changed = _eliminate_deltas(c, product, [*deltas, *single], free, labels)
        if changed is not None:
            return changed
    merged, anew = _merge_equal_atoms(c, product)
    if not merged.coefficient:
        return []
    if anew:
        return _multiply_out(merged, anew, labels)
    if merged != product:
        return [merged]
    shorter = contracted(c, product.factors, free)
    return None if shorter is None else [Product(product.coefficient, shorter[0], product.bound - {shorter[1]})]


def _eliminate_deltas(
    c: Arithmetic, product: Product, deltas: list[Delta], free: frozenset[Index], labels: Labels
) -> list[Product] | None:
    """Return the product with deltas applied as renamings; None if nothing changes, no product if it is zero."""
    if any(exponent < 0 for atom, exponent in product.factors if isinstance(atom, Delta)):
        raise meaningless("found a division by an identity matrix's entry, which is zero off the diagonal")
    same = identify(deltas, free)
    if same is None:
        return []
    others = tuple(factor for factor in product.factors if not isinstance(factor[0], Delta))
    kept: tuple[Factor, ...] = tuple((delta, ONE) for delta in same.kept)
    if not indices(others) & same.moves.keys():
        now = (*kept, *others)
        unchanged = set(now) == set(product.factors) and len(now) == len(product.factors)
        gone = product.bound & same.moves.keys()
        return None if unchanged and not gone else [Product(product.coefficient, now, product.bound - gone)]
    bound = product.bound - same.moves.keys()
    replaced = _substitute_slots(c, Product(product.coefficient, others, bound), same.moves, labels)
    return [Product(new.coefficient, (*kept, *new.factors), new.bound) for new in replaced]


def _substitute_slots(c: Arithmetic, product: Product, moves: Mapping[Index, Slot], labels: Labels) -> list[Product]:
    """Return a product with slots replaced everywhere, nested arguments rebuilt."""
    plain: list[Factor] = []
    anew: list[Tensor] = []
    for atom, exponent in product.factors:
        if not indices(((atom, exponent),)) & moves.keys():
            plain.append((atom, exponent))
        elif nested(atom):
            anew.append(rebuilt(c, atom, exponent, moves))
        else:
            plain.append((moved(atom, moves), exponent))
    return _multiply_out(Product(product.coefficient, tuple(plain), product.bound), anew, labels)


def rebuilt(c: Arithmetic, atom: Atom, exponent: Fraction, moves: Mapping[Index, Slot]) -> Tensor:
    """Return a power of a nested atom with slots replaced, its arguments brought to canonical form again."""
    args = tuple(c.rename(arg, moves) for arg in nested(atom))
    return c.power(c.applied(atom.fn, *args) if isinstance(atom, Applied) else args[0], exponent)


def _multiply_out(product: Product, tensors: Sequence[Tensor], labels: Labels) -> list[Product]:
    """Multiply a product by tensors, their bound indices renamed."""
    products = [product]
    for tensor in tensors:
        products = [
            _multiply_by_term(one, term, frozenset(tensor.free), labels) for one in products for term in tensor.terms
        ]
    return products


def _multiply_by_term(product: Product, term: Term, free: Set[Index], labels: Labels) -> Product:
    """Return a product times a term, the term's bound indices relabelled."""
    moves = labels.fresh(indices(term.factors) - free)
    factors = moved_factors(term.factors, moves) if moves else term.factors
    new = frozenset(index for index in moves.values() if isinstance(index, Index))
    return Product(product.coefficient * term.coefficient, (*product.factors, *factors), product.bound | new)


def _merge_equal_atoms(c: Arithmetic, product: Product) -> tuple[Product, list[Tensor]]:
    """Orient atoms, merge equal ones, and take out what must be built anew: powers and functions that combine."""
    coefficient = product.coefficient
    powers: dict[Atom, Fraction] = {}
    changed: set[Atom] = set()
    for atom, exponent in product.factors:
        sign, ordered = oriented(c, atom)
        if not sign and exponent < 0:
            raise meaningless("found a division by an entry that is zero")
        if exponent.denominator == 1 or sign >= 0:
            atom = ordered
            coefficient *= sign ** abs(exponent.numerator)
        if atom in powers:
            changed.add(atom)
        powers[atom] = powers.get(atom, Fraction(0)) + exponent
    factors = [(atom, exponent) for atom, exponent in powers.items() if exponent]
    anew: list[Tensor] = []
    plain: list[Factor] = []
    for atom, exponent in factors:
        if isinstance(atom, Base) and needs_rebuilding(c.rules, atom, exponent, merged=atom in changed):
            new = c.power(atom.arg, exponent)
            if new.terms != (Term(ONE, ((atom, exponent),)),):
                anew.append(new)
                continue
        plain.append((atom, exponent))
    plain, functions = combined(c, plain)
    return Product(coefficient, tuple(plain), product.bound), [*anew, *functions]


def oriented(c: Arithmetic, atom: Atom) -> tuple[int, Atom]:
    """Return sign and atom with its symmetric, skew and derivative slots in order.

    The sign is 0 for a skew diagonal entry. S_ji = S_ij of a symmetric S, K_ji = -K_ij of a skew K (K_ii = 0), and
    partial derivatives commute: d_j d_i U = d_i d_j U.
    """
    match atom:
        case Component(name, at, by):
            sign, at = _orient_slots(_symmetry_of_component(c.rules, name, at), at)
            return sign, Component(name, at, _sort_derivatives(by))
        case MatrixFunction("inv", of, at):
            sign, at = _orient_slots(grid_sign(c, of), at)
            return sign, MatrixFunction("inv", of, at)
        case _:
            return 1, atom


def _sort_derivatives(by: tuple[Coordinate, ...]) -> tuple[Coordinate, ...]:
    """Return the coordinates of a derivative in order: partial derivatives commute."""
    return tuple(sorted(by, key=spell)) if len(by) > 1 else by


def _symmetry_of_component(rules: Rules, name: str, at: tuple[Slot, ...]) -> int:
    """Return 1 for a symmetric matrix, -1 for a skew one, 0 for any other component."""
    if len(at) != 2:
        return 0
    if name in rules.symmetric:
        return 1
    return -1 if name in rules.skew else 0


def _orient_slots(symmetry: int, at: tuple[Slot, ...]) -> tuple[int, tuple[Slot, ...]]:
    """Return the sign and the sorted slots of a symmetric or skew matrix."""
    if not symmetry:
        return 1, at
    if at[0] == at[1]:
        return (1 if symmetry > 0 else 0), at
    in_order = spell_slot(at[0]) <= spell_slot(at[1])
    return (1 if in_order else symmetry), (at if in_order else sorted_slots(at))


def _multiply_by_lost_sizes(product: Product) -> Product:
    """Multiply by the size of every bound index that occurs in no factor."""
    lost = product.bound - indices(product.factors)
    coefficient = product.coefficient
    sizes: dict[Atom, Fraction] = dict(product.factors)
    for size in (index.size for index in lost):
        coefficient, sizes = _multiply_by_size(coefficient, sizes, size)
    factors = tuple((atom, exponent) for atom, exponent in sizes.items() if exponent)
    return Product(coefficient, factors, product.bound - lost)


def _multiply_by_size(
    coefficient: Fraction, powers: dict[Atom, Fraction], size: Size
) -> tuple[Fraction, dict[Atom, Fraction]]:
    """Return coefficient and powers of a product times a size, fixed or symbolic."""
    if isinstance(size, int):
        return coefficient * size, powers
    return coefficient, powers | {SizeNumber(size): powers.get(SizeNumber(size), Fraction(0)) + 1}

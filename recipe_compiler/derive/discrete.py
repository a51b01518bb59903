"""Index notation of discrete blocks: rows z_n with a one at one place, sum_k z_nk = 1 and z_nk z_nl = delta_kl z_nk.

For all shares of a whole, which are no discrete block, the first of the two holds.

The law of a row given all others is Categorical(logits) iff U with z_n = e_j less U with z_n = e_l is logits_nl -
logits_nj, for all places j and l; that of a count is a law iff exp of U with z_n less U with z_n + 1 in its place is
the ratio of the law's probabilities of the two. Parameters of a law are free of z, so this also shows that rows are
independent of each other: a term that couples two rows leaves one of them in the difference.
"""

from collections.abc import Callable, Iterable, Set
from fractions import Fraction

from recipe_compiler.errors import ModelError, model_error
from recipe_compiler.formula.declaration import Block
from recipe_compiler.tensor.atoms import ONE, everywhere, indices, slots
from recipe_compiler.tensor.calculus import Calculus
from recipe_compiler.tensor.functions import inside_logarithm
from recipe_compiler.tensor.rewrite import rewritten
from recipe_compiler.tensor.terms import Applied, Atom, Base, Coordinate, Delta, Index, Slot, Tensor, Term

Factor = tuple[Atom, Fraction]


def substitute_category(c: Calculus, tensor: Tensor, block: Block, place: Index, row: Index | None = None) -> Tensor:
    """Return a tensor with one row of a block set to category j: z_nk becomes delta_kj where n is that row.

    Args:
        c: the calculus.
        tensor: a part of U.
        block: discrete.
        place: the index j.
        row: m of a matrix, of which z_nk becomes z_nk + delta_nm (delta_kj - z_nk); None where only one row occurs in
            the tensor: that of a datum, or the only one of a column.

    Raises:
        ModelError: the block occurs in an inverse or a determinant, or in a denominator.
    """

    def entry(at: tuple[Slot, ...]) -> Tensor:
        there = c.delta(at[-1], place)
        if row is None:
            return there
        here = c.coordinate(block.name, *at)
        return c.add(here, c.multiply(c.delta(at[0], row), c.subtract(there, here)))

    return _replace_entries(c, tensor, block, entry, is_delta=row is None)


def increment_count(c: Calculus, tensor: Tensor, block: Block, row: Index | None = None) -> Tensor:
    """Return a tensor with one count of a block increased by 1: z_m becomes z_m + delta_mn.

    Args:
        c: the calculus.
        tensor: a part of U.
        block: of counts.
        row: n; None of a block that is a number.

    Raises:
        ModelError: as `substitute_category`.
    """

    def entry(at: tuple[Slot, ...]) -> Tensor:
        by = c.constant(1) if row is None else c.delta(at[0], row)
        return c.add(c.coordinate(block.name, *at), by)

    return _replace_entries(c, tensor, block, entry)


def unify_logarithms(c: Calculus, tensor: Tensor) -> Tensor:
    """Return a tensor with every logarithm, such as log1p(x), written as log(1 + x)."""

    def rule(atom: Atom, exponent: Fraction) -> Tensor | None:
        inside = inside_logarithm(c, atom) if exponent == 1 else None
        return None if inside is None else c.applied("log", inside)

    return rewritten(c, tensor, rule)


def _replace_entries(
    c: Calculus, tensor: Tensor, block: Block, entry: Callable[[tuple[Slot, ...]], Tensor], *, is_delta: bool = False
) -> Tensor:
    """Return a tensor with the entries of a block replaced; powers of a delta are simplified to the delta."""
    name = block.name

    def rule(atom: Atom, exponent: Fraction) -> Tensor | None:
        match atom:
            case Coordinate(own, at) if own == name:
                if exponent < 0:
                    raise _unsupported(f"found a division by an entry of {name}, which may be zero")
                return entry(at) if is_delta else c.power(entry(at), exponent)
            case _ if not _contains_block(Tensor((), (Term(ONE, ((atom, ONE),)),)), {name}):
                return c.atom(atom, exponent)
            case Applied() | Base():
                return None
            case _:
                raise _unsupported(f"found {name} in an inverse or a determinant")

    return rewritten(c, tensor, rule)


def reduce_one_hot(c: Calculus, tensor: Tensor, blocks: Iterable[Block], shares: Iterable[Block] = ()) -> Tensor:
    """Return a tensor simplified by the relations of one-hot rows, where their entries are factors of terms.

    z_nk**p = z_nk, z_nk z_nl = delta_kl z_nk, and sum_k z_nk = 1; of shares sum_k w_k = 1. Worked: sum_nkl z_nk z_nl
    A_kl is sum_nk z_nk A_kk, and sum_nk z_nk is sum_n 1 = N.
    """
    names = {block.name for block in blocks}
    whole = names | {block.name for block in shares}
    if not _contains_block(tensor, whole):
        return tensor
    while True:
        found = c.add(*(_reduce_term(c, term, tensor.free, names, whole) for term in tensor.terms))
        found = Tensor(tensor.free, found.terms)
        if found.terms == tensor.terms:
            return found
        tensor = found


def _reduce_term(c: Calculus, term: Term, free: tuple[Index, ...], names: Set[str], summed: Set[str]) -> Tensor:
    """Return a term in which each one-hot row occurs once, and none is summed over its categories alone."""
    rows: dict[tuple[str, tuple[Slot, ...]], Slot] = {}
    factors: list[Factor] = []
    for atom, exponent in term.factors:
        match atom:
            case Coordinate(name, (*row, place)) if name in names and exponent > 0 and exponent.denominator == 1:
                first = rows.setdefault((name, tuple(row)), place)
                factors.append((atom, ONE) if first == place else (Delta(first, place), ONE))
            case _:
                factors.append((atom, exponent))
    kept = [f for f in factors if not _is_summed_alone(f, factors, free, summed)]
    lost = indices(f for f in factors if f not in kept) - indices(kept) - set(free)
    rows_alone = [index for index in lost if index not in {slots(f[0])[-1] for f in factors if f not in kept}]
    whole = c.collect([Term(term.coefficient, tuple(kept))], free)
    return c.multiply(whole, *(c.size(index.size) for index in rows_alone))  # the sum over n of 1 is N


def _is_summed_alone(factor: Factor, factors: list[Factor], free: tuple[Index, ...], names: Set[str]) -> bool:
    """Return whether a factor z_nk is the only one with the index k, so that its sum over k is 1."""
    match factor:
        case Coordinate(name, (*row, Index() as place)), exponent if name in names and exponent == 1:
            others = [slot for other in factors if other is not factor for slot in slots(other[0])]
            return place not in (*free, *row, *others)
        case _:
            return False


def _contains_block(tensor: Tensor, names: Set[str]) -> bool:
    """Return whether one of some blocks occurs in a tensor."""
    return any(isinstance(atom, Coordinate) and atom.block in names for atom in everywhere(tensor))


def _unsupported(problem: str) -> ModelError:
    """Return the error that a law is outside what can be derived."""
    return model_error("laws", problem, "")

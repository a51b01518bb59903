"""Values in the place of coordinates and other atoms, at every depth, and bound indices opened for it."""

from fractions import Fraction

from recipe_compiler.tensor.atoms import ONE, Factor, everywhere, indices, moved_factors, nested
from recipe_compiler.tensor.calculus_protocol import Arithmetic, constant
from recipe_compiler.tensor.order import sorted_indices
from recipe_compiler.tensor.terms import Applied, Atom, Base, Coordinate, Index, Slot, Tensor, Term


def substituted(c: Arithmetic, tensor: Tensor, x: Atom | str, by: Tensor) -> Tensor:
    """Return a tensor with `by` in the place of an atom x, or of the sum of all coordinates of a block x.

    With 1 - y in the place of sum_k w_k, log(1 - sum_k w_k) is log(y). In inverses and determinants it stays. Raises
    ModelError where the result has no value.
    """
    parts = [Tensor(sorted_indices((*tensor.free, *by.free)), ())]
    for term in tensor.terms:
        factors, over = unbound(term, tensor.free)
        product, gone = constant(term.coefficient), set[Index]()
        for factor in factors:
            own, others = indices([factor]), [other for other in factors if other is not factor]
            if _is_block_entry(factor, x) and not own & ({*tensor.free} | indices(others)):
                product, gone = c.multiply(product, by), gone | own
            else:
                product = c.multiply(product, _substitute_in_factor(c, factor, x, by))
        parts.append(c.total(product, *(index for index in over if index not in gone)))
    return c.add(*parts)


def occurs(tensor: Tensor, x: Atom | str) -> bool:
    """Whether an atom, or a coordinate of a block x, occurs in a tensor, at any depth."""
    return any(atom == x or (isinstance(atom, Coordinate) and atom.block == x) for atom in everywhere(tensor))


def unbound(term: Term, free: tuple[Index, ...]) -> tuple[tuple[Factor, ...], tuple[Index, ...]]:
    """Return the factors of a term with its bound indices relabelled, and these, over which the caller may sum."""
    bound = sorted_indices(indices(term.factors) - set(free))
    opened: dict[Index, Slot] = {index: Index(index.size, f"{index.label[:3]}.{index.label[4:]}") for index in bound}
    factors = moved_factors(term.factors, opened) if opened else term.factors
    return factors, tuple(index for index in opened.values() if isinstance(index, Index))


def _is_block_entry(factor: Factor, block: Atom | str) -> bool:
    """Whether a factor is a coordinate of the block, to the first power, at an index."""
    match factor:
        case (Coordinate(name, (Index(),)), Fraction(numerator=1, denominator=1)):
            return name == block
        case _:
            return False


def _substitute_in_factor(c: Arithmetic, factor: Factor, x: Atom | str, by: Tensor) -> Tensor:
    """Return a factor with the atom replaced in it and in its arguments."""
    atom, exponent = factor
    if atom == x:
        return c.power(by, exponent)
    args = [substituted(c, arg, x, by) for arg in nested(atom) if occurs(Tensor((), (Term(ONE, (factor,)),)), x)]
    match atom:
        case Applied(fn, _) if args:
            return c.power(c.applied(fn, *args), exponent)
        case Base(_) if args:
            return c.power(args[0], exponent)
        case _:
            return c.collect([Term(ONE, (factor,))], indices([factor]))

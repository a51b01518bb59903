"""Tensors with other tensors in the place of some of their atoms."""

from collections.abc import Callable
from fractions import Fraction
from itertools import count

from recipe_compiler.tensor.atoms import indices, moved
from recipe_compiler.tensor.calculus import Calculus
from recipe_compiler.tensor.order import sorted_indices
from recipe_compiler.tensor.terms import Applied, Atom, Base, Index, Slot, Tensor


def rewritten(c: Calculus, tensor: Tensor, rule: Callable[[Atom, Fraction], Tensor | None]) -> Tensor:
    """Return a tensor with what a rule gives for a power of an atom in its place, in arguments and sums inside, too.

    Bound indices have names of their own on the way, so what is put in may have free indices: any but `@z0`, `@z1`, ...

    Args:
        c: the calculus.
        tensor: what is rewritten.
        rule: from an atom and its exponent; None leaves these, and looks inside of them.
    """
    taken = {index.label for index in tensor.free}
    fresh = (label for label in map("@z{}".format, count()) if label not in taken)

    def factor(atom: Atom, exponent: Fraction) -> Tensor:
        own = rule(atom, exponent)
        match atom:
            case _ if own is not None:
                return own
            case Applied(fn, args):
                return c.power(c.applied(fn, *map(whole, args)), exponent)
            case Base(arg):
                return c.power(whole(arg), exponent)
            case _:
                return c.atom(atom, exponent)

    def whole(part: Tensor) -> Tensor:
        found = Tensor(part.free, ())
        for term in part.terms:
            bound = sorted(indices(term.factors) - set(part.free), key=lambda index: index.label)
            own: dict[Index, Slot] = {index: Index(index.size, next(fresh)) for index in bound}
            factors = [factor(moved(atom, own), exponent) for atom, exponent in term.factors]
            product = c.multiply(c.constant(term.coefficient), *factors)
            over = tuple(index for index in own.values() if isinstance(index, Index))
            found = c.add(found, c.total(Tensor(sorted_indices((*product.free, *over)), product.terms), *over))
        return found

    return whole(tensor)

"""Sums that are factors, multiplied out one at a time where that saves work.

As its author writes it, SGNHT's momentum drifts by -A r + (A - xi) r, which is -xi r; and Q = u v.T - v u.T, entry by
entry, costs d**2 operations where u (v.x) - v (u.x) costs d. Multiplying one sum by the rest of its term, which keeps
its own sums, rounds as the terms of that sum do. Only products of sums with sums lose digits that the formula keeps.
"""

from recipe_compiler.tensor.calculus import Calculus
from recipe_compiler.tensor.substitute import unbound
from recipe_compiler.tensor.terms import Atom, Base, Index, Tensor, Term


def opened(c: Calculus, tensor: Tensor) -> Tensor:
    """Return an equal tensor, sums multiplied out where terms then cancel, or where a matrix sum is applied.

    -A r_i + (A - xi) r_i becomes -xi r_i, and (u_i v_j - v_i u_j) x_j becomes u_i (v.x) - v_i (u.x). Of a product of
    several such matrices none is multiplied out.
    """
    while (other := _expand_one_factor(c, tensor)) is not None:
        tensor = other
    return tensor


def _expand_one_factor(c: Calculus, tensor: Tensor) -> Tensor | None:
    """Return the tensor with one sum multiplied out, None where no sum saves work."""
    for place, term in enumerate(tensor.terms):
        others = Tensor(tensor.free, (*tensor.terms[:place], *tensor.terms[place + 1 :]))
        factors, over = unbound(term, tensor.free)
        applied = [atom for atom, exponent in factors if exponent == 1 and _is_applied(atom, over)]
        for n, (atom, exponent) in enumerate(factors):
            if isinstance(atom, Base) and exponent == 1:
                rest = Term(term.coefficient, (*factors[:n], *factors[n + 1 :]))
                product = c.distribute(c.collect([rest], (*tensor.free, *over)), atom.arg)
                found = c.add(others, c.total(product, *over))
                if len(found.terms) < len(tensor.terms) or applied == [atom]:
                    return found
    return None


def _is_applied(atom: Atom, over: tuple[Index, ...]) -> bool:
    """Whether an atom is the entry of a matrix that is a sum, and its rows or columns are summed over."""
    return isinstance(atom, Base) and len(atom.arg.free) > 1 and not set(over).isdisjoint(atom.arg.free)

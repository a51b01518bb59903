"""Whether a tensor is zero although its terms do not cancel in canonical form.

Two identities are used, both exact: a sum of fractions is zero if its numerator over the common denominator is, and a
sum over a fixed size is the sum of its terms.
"""

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import product
from math import floor, prod

from recipe_compiler import limits
from recipe_compiler.tensor.atoms import ONE, indices, moved_factors
from recipe_compiler.tensor.calculus_protocol import Arithmetic, as_number
from recipe_compiler.tensor.order import sorted_indices
from recipe_compiler.tensor.terms import Base, Index, Slot, Tensor, Term


def vanishes(c: Arithmetic, tensor: Tensor) -> bool:
    """Whether a tensor of any shape is shown to be zero, for every size. False says nothing.

    1/(1 + y) + y/(1 + y) - 1 is: times 1 + y it is 1 + y - (1 + y) = 0. So is sum_i x_i - x_0 - x_1 with i of size 2,
    where the sum is written out. Large tensors (4000 terms, 600 positions) are left alone.
    """
    left = cleared(c, tensor)
    if not left.terms:
        return True
    fixed = _fixed_free_indices(tensor)
    if not fixed and not any(_fixed_bound_indices(term, tensor.free) for term in tensor.terms):
        return False
    if prod(index.size for index in fixed if isinstance(index.size, int)) > limits.ENTRIES:
        return False
    return all(not cleared(c, one).terms for one in instances(c, tensor))


def cleared(c: Arithmetic, tensor: Tensor, which: Callable[[Base], bool] = lambda _: True) -> Tensor:
    """Return a multiple of the tensor by a nonzero expression, without sums in denominators where it can be had.

    Only the sums that `which` accepts are multiplied out.
    """
    for _ in range(limits.DEPTH):
        bases = {base: low for base, low in _common_bases(tensor).items() if which(base)}
        if not bases or len(tensor.terms) > limits.TERMS:
            return tensor
        tensor = c.add(*(_clear_denominators(c, term, tensor.free, bases) for term in tensor.terms))
    return tensor


def _common_bases(tensor: Tensor) -> dict[Base, int]:
    """Return the sums in numerator or denominator, each to the whole exponent that all terms share."""
    free = set(tensor.free)
    found: dict[Base, list[Fraction]] = {}
    for term in tensor.terms:
        for atom, exponent in term.factors:
            if isinstance(atom, Base) and as_number(atom.arg) is None and indices(((atom, ONE),)) <= free:
                found.setdefault(atom, []).append(exponent)
    return {
        base: min(floor(min(exponents)), 0 if len(exponents) < len(tensor.terms) else floor(min(exponents)))
        for base, exponents in found.items()
        if min(exponents) < 0 or max(exponents) >= 1
    }


def _clear_denominators(c: Arithmetic, term: Term, free: tuple[Index, ...], bases: dict[Base, int]) -> Tensor:
    """Multiply a term by every base to the power that leaves no negative exponent, whole powers multiplied out."""
    powers = dict(term.factors)
    tensors: list[Tensor] = []
    for base, low in bases.items():
        exponent = powers.pop(base, Fraction(0)) - min(low, 0)
        whole, part = divmod(exponent, 1)
        tensors += [base.arg] * int(whole)
        if part:
            powers[base] = part
    return c.multiply(c.collect([Term(term.coefficient, tuple(powers.items()))], free), *tensors)


def _fixed_bound_indices(term: Term, free: tuple[Index, ...]) -> tuple[Index, ...]:
    """Return the bound indices of a term whose size is a number."""
    return sorted_indices(i for i in indices(term.factors) - set(free) if isinstance(i.size, int))


def instances(c: Arithmetic, tensor: Tensor) -> Iterator[Tensor]:
    """Yield the tensor at every place of its free indices of fixed size, sums over fixed sizes written out.

    x_i + sum_j y_j with i and j of size 2 is x_0 + y_0 + y_1 and x_1 + y_0 + y_1. Symbolic sizes stay.
    """
    fixed = _fixed_free_indices(tensor)
    ranges = [range(index.size) for index in fixed if isinstance(index.size, int)]
    for places in product(*ranges):
        at: dict[Index, Slot] = dict(zip(fixed, places, strict=True))
        one = c.rename(tensor, at)
        yield c.add(Tensor(one.free, ()), *(_write_out_sums(c, term, one.free) for term in one.terms))


def _fixed_free_indices(tensor: Tensor) -> tuple[Index, ...]:
    """Return the free indices of a tensor whose size is a number above 1."""
    return tuple(index for index in tensor.free if isinstance(index.size, int) and index.size > 1)


def _write_out_sums(c: Arithmetic, term: Term, free: tuple[Index, ...]) -> Tensor:
    """Return a term with its sums over fixed sizes written out, unless there are too many places."""
    bound = _fixed_bound_indices(term, free)
    ranges = [range(index.size) for index in bound if isinstance(index.size, int)]
    if prod(len(range_) for range_ in ranges) > limits.ENTRIES:
        return Tensor(free, (term,))
    terms: list[Term] = []
    for at in product(*ranges):
        moves: dict[Index, Slot] = dict(zip(bound, at, strict=True))
        terms.append(Term(term.coefficient, moved_factors(term.factors, moves)))
    return c.collect(terms, free)

"""Do the branches of a `where` have one value wherever the sides of its condition are equal?

Then where(left > right, yes, no) has a kink there and no jump, and its derivative holds no point mass. Shown by
elimination: an atom that occurs in `left - right` once, by itself, is replaced by what `left - right = 0` makes of it,
and `yes - no` then has to be zero for all values of the other atoms. abs(u) in the condition is u or -u, each in turn.
"""

from fractions import Fraction

from recipe_compiler.tensor.atoms import indices
from recipe_compiler.tensor.calculus_protocol import Arithmetic, constant
from recipe_compiler.tensor.order import sorted_indices
from recipe_compiler.tensor.terms import (
    Applied,
    Atom,
    Base,
    Component,
    Coordinate,
    Determinant,
    Inverse,
    Tensor,
    Term,
)

MOST_MODULI = 3
ONE = Fraction(1)


def step_between(c: Arithmetic, left: Tensor, right: Tensor, yes: Tensor, no: Tensor) -> Tensor | None:
    """Return the jump yes - no of a `where` on the surface {left = right}; zero if its branches are shown to meet.

    All four are tensors of the shape of the `where`, entry by entry. None if no atom can be solved for, which decides
    nothing. Worked: for where(x > c, x**2, c**2) the condition gives x = c, and x**2 - c**2 becomes c**2 - c**2 = 0.
    For where(x > c, x, 0) the jump c is left.
    """
    return _on_zeros(c, c.add(yes, c.scale(no, -1)), c.add(left, c.scale(right, -1)), MOST_MODULI)


def _on_zeros(c: Arithmetic, step: Tensor, gap: Tensor, left: int) -> Tensor | None:
    """Return what is left of one expression wherever another one is zero: of several sides, the first that is not 0."""
    modulus = next((atom for term in gap.terms for atom, _ in term.factors if _is(atom, "abs")), None)
    if isinstance(modulus, Applied):
        u, sign = modulus.args[0], Applied("sign", modulus.args)
        for value, s in ((u, constant(1)), (c.scale(u, -1), constant(-1))):
            there, on = (_put(c, _put(c, e, modulus, value), sign, s) for e in (step, gap))
            found = _on_zeros(c, there, on, left - 1) if left else None
            if found is None or not found.is_zero:
                return found
        return constant(0)
    for term in gap.terms:
        atom = _alone(term, gap)
        if atom is not None:
            rest = Tensor(gap.free, tuple(other for other in gap.terms if other is not term))
            return _put(c, step, atom, c.scale(rest, -1 / term.coefficient))
    return None


def _is(atom: Atom, fn: str) -> bool:
    return isinstance(atom, Applied) and atom.fn == fn


def _alone(term: Term, gap: Tensor) -> Atom | None:
    """Return the atom that a term is a multiple of, if it is an unknown that stands nowhere else."""
    match term.factors:
        case (((Coordinate() | Component()) as atom, exponent),) if exponent == 1:
            others = Tensor(gap.free, tuple(other for other in gap.terms if other is not term))
            return atom if indices(term.factors) <= set(gap.free) and not _holds(others, atom) else None
        case _:
            return None


def _holds(tensor: Tensor, atom: Atom) -> bool:
    return any(_mentions(other, atom) for term in tensor.terms for other, _ in term.factors)


def _mentions(other: Atom, atom: Atom) -> bool:
    match other:
        case Applied(_, args):
            return other == atom or any(_holds(arg, atom) for arg in args)
        case Base(arg):
            return _holds(arg, atom)
        case Inverse(of) | Determinant(of):
            return _holds(of.entry, atom)
        case _:
            return other == atom


def _put(c: Arithmetic, tensor: Tensor, atom: Atom, value: Tensor) -> Tensor:
    """Return a tensor with a value for an atom; in sums, inverses and determinants it may stay, being that value."""
    parts: list[Tensor] = [Tensor(sorted_indices((*tensor.free, *value.free)), ())]
    for term in tensor.terms:
        if indices(term.factors) <= set(tensor.free):
            factors = [_factor(c, other, exponent, atom, value) for other, exponent in term.factors]
            parts.append(c.scale(c.multiply(*factors), term.coefficient))
        else:
            parts.append(Tensor(tensor.free, (term,)))
    return c.add(*parts)


def _factor(c: Arithmetic, other: Atom, exponent: Fraction, atom: Atom, value: Tensor) -> Tensor:
    if other == atom:
        return c.power(value, exponent)
    match other:
        case Applied(fn, args) if _mentions(other, atom):
            return c.power(c.applied(fn, *(_put(c, arg, atom, value) for arg in args)), exponent)
        case Base(arg) if _mentions(other, atom):
            return c.power(_put(c, arg, atom, value), exponent)
        case _:
            factors = ((other, exponent),)
            return c.collect([Term(ONE, factors)], indices(factors))

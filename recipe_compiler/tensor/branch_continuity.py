"""Do the branches of a `where` have one value wherever the sides of its condition are equal?

Then where(left > right, yes, no) has a kink there and no jump, and its derivative holds no point mass. Shown by
elimination: an atom that occurs in `left - right` once, by itself, is replaced by what `left - right = 0` makes of it,
and `yes - no` then has to be zero for all values of the other atoms. abs(u) in the condition is u or -u, each in turn.
"""

from fractions import Fraction

from recipe_compiler import limits
from recipe_compiler.tensor.atoms import indices
from recipe_compiler.tensor.calculus_protocol import Arithmetic, constant
from recipe_compiler.tensor.substitute import occurs, substituted
from recipe_compiler.tensor.terms import (
    Applied,
    Atom,
    Component,
    Coordinate,
    Tensor,
    Term,
)

ONE = Fraction(1)


def step_between(c: Arithmetic, left: Tensor, right: Tensor, yes: Tensor, no: Tensor) -> Tensor | None:
    """Return the jump yes - no of a `where` on the surface {left = right}; zero if its branches are shown to meet.

    All four are tensors of the shape of the `where`, entry by entry. None if no atom can be solved for, which decides
    nothing. Worked: for where(x > c, x**2, c**2) the condition gives x = c, and x**2 - c**2 becomes c**2 - c**2 = 0.
    For where(x > c, x, 0) the jump c is left.
    """
    return _restrict_to_zeros(c, c.add(yes, c.scale(no, -1)), c.add(left, c.scale(right, -1)), limits.CASES)


def _restrict_to_zeros(c: Arithmetic, step: Tensor, gap: Tensor, left: int) -> Tensor | None:
    """Return an expression on the zeros of another, solved for an atom; on two sides of a modulus, one nonzero."""
    modulus = next((atom for term in gap.terms for atom, _ in term.factors if _is_function(atom, "abs")), None)
    if isinstance(modulus, Applied):
        u, sign = modulus.args[0], Applied("sign", modulus.args)
        for value, s in ((u, constant(1)), (c.scale(u, -1), constant(-1))):
            there, on = (substituted(c, substituted(c, e, modulus, value), sign, s) for e in (step, gap))
            found = _restrict_to_zeros(c, there, on, left - 1) if left else None
            if found is None or not found.is_zero:
                return found
        return constant(0)
    for term in gap.terms:
        atom = _solvable_atom(term, gap)
        if atom is not None:
            rest = Tensor(gap.free, tuple(other for other in gap.terms if other is not term))
            return substituted(c, step, atom, c.scale(rest, -1 / term.coefficient))
    return None


def _is_function(atom: Atom, fn: str) -> bool:
    """Whether an atom is a given function of the language."""
    return isinstance(atom, Applied) and atom.fn == fn


def _solvable_atom(term: Term, gap: Tensor) -> Atom | None:
    """Return the unknown that a term is a multiple of, if no other term contains it."""
    match term.factors:
        case (((Coordinate() | Component()) as atom, exponent),) if exponent == 1:
            others = Tensor(gap.free, tuple(other for other in gap.terms if other is not term))
            return atom if indices(term.factors) <= set(gap.free) and not occurs(others, atom) else None
        case _:
            return None

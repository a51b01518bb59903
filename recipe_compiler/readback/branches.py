"""`where` in what is read and in what is stated: both pieces weighed, whichever of them a point would take.

where(l > r, yes, no) = no + h (yes - no), with h a quantity of l - r that nothing else is known of. So a piece, or a
comparison, that is another one is a difference, at a point as in symbols, and `>` is told from `>=`. Slopes are those
off the boundary, where h is 0 or 1 and stays so: that pieces meet on it is the claim `differentiable`.
"""

from functools import partial

import sympy as sp
from sympy.core.function import ArgumentIndexError

from recipe_compiler.readback.names import rational_of
from recipe_compiler.tensor import scalars
from recipe_compiler.tensor.scalars import Scalar

DIGITS = 30
"""Digits of l - r that name h at a point."""


class Holds(sp.Function):
    """Whether a number is above 0; at a point a rational number that its digits name."""

    is_real = True

    @classmethod
    def eval(cls, *args: sp.Basic) -> Scalar | None:
        """Return the weight of a number; None where the argument has symbols."""
        return None if args[0].free_symbols else rational_of(f"{cls.__name__} {sp.N(args[0], DIGITS)}")

    def fdiff(self, argindex: int = 1) -> Scalar:
        """Return the derivative by the argument: zero."""
        if argindex != 1:
            raise ArgumentIndexError(self, argindex)
        return sp.Integer(0)


class IsZero(Holds):
    """Whether a number is 0."""


def chosen(op: str, left: Scalar, right: Scalar, yes: Scalar, no: Scalar) -> Scalar:
    """Return `where(left op right, yes, no)` as no + h (yes - no), with h an unknown weight of left - right."""
    return no + _weight(op, left - right) * (yes - no)


def _weight(op: str, gap: Scalar) -> Scalar:
    match op:
        case ">":
            return Holds(gap)
        case "<":
            return Holds(-gap)
        case ">=":
            return sp.Integer(1) - _weight("<", gap)
        case "<=":
            return sp.Integer(1) - _weight(">", gap)
        case _:
            return IsZero(gap)


scalarise = partial(scalars.scalarise, where=chosen)
"""Entries of tensors, as `tensor.scalars` has them, with `where` as it is read."""

"""Words of infinitesimal generators in scalars: their coefficients by matrices, and their defects applied to functions.

A word is a list of letters (piece, share), the first done first: exp(s_1 eps L_1) ... exp(s_m eps L_m) acts on
functions of the state, the first letter on the left.
"""

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from math import factorial

import sympy
from sympy import Expr

Letters = Sequence[tuple[str, Fraction]]
Pieces = tuple[str, ...]
Apply = Callable[[str, Expr], Expr]
"""Return L_k phi of a piece and a function."""


def coefficient(letters: Letters, of: Pieces) -> Fraction:
    """Return the coefficient of a product of generators in exp(s_1 L_1) ... exp(s_m L_m), by matrices.

    L_k is represented by the matrix, [q + 1, q + 1] for a product of q generators, with a 1 in row j and column j + 1
    where the j-th of the product is piece k. Every row leads to the next only, so of all products this one alone leads
    from the first row to the last; the entry there is its coefficient. Of `[B/2, A, B/2]` that of B A is 1/2, that of A
    A 1/2, that of B B 1/2.
    """
    row = [Fraction(1), *(Fraction(0) for _ in of)]
    for piece, share in letters:
        row = _times_exponential(row, [name == piece for name in of], share)
    return row[-1]


def _times_exponential(row: list[Fraction], steps: list[bool], share: Fraction) -> list[Fraction]:
    """Return row exp(share X), X having a 1 in (j, j + 1) where `steps[j]`."""
    found = list(row)
    moved = row
    for power in range(1, len(row)):
        moved = [Fraction(0), *(x if step else Fraction(0) for x, step in zip(moved, steps, strict=False))]
        if not any(moved):
            break
        found = [x + y * share**power / factorial(power) for x, y in zip(found, moved, strict=True)]
    return found


def applied(defects: Mapping[Pieces, Fraction], apply: Apply, phi: Expr) -> Expr:
    """Return sum_w c_w L_w1 ... L_wm phi of products w with their coefficients c_w, each tail of them applied once."""
    known: dict[Pieces, Expr] = {(): phi}

    def of(product: Pieces) -> Expr:
        if product not in known:
            known[product] = apply(product[0], of(product[1:]))
        return known[product]

    terms = [sympy.Rational(c.numerator, c.denominator) * of(product) for product, c in defects.items()]
    return sympy.expand(sympy.Add(*terms))

"""Orders in the step size: the powers of eps that the terms of a claimed update may have, by structure alone.

Worked example: theta - eps grad U + sqrt(2 eps) w has the orders {0, 1, 1/2}; its square the sums of two of them.
"""

from fractions import Fraction
from functools import reduce

from recipe_compiler.formula.build import parts
from recipe_compiler.formula.elementwise import named
from recipe_compiler.formula.expression import (
    Add,
    Apply,
    Entry,
    Formula,
    MatMul,
    Multiply,
    Normal,
    Number,
    Power,
    Role,
    Symbol,
    Transpose,
)
from recipe_compiler.formula.operators import degrees

Orders = frozenset[Fraction]

ZERO, ONE, HALF = Fraction(0), Fraction(1), Fraction(1, 2)
SMOOTH = named(lambda row: row.smooth)
LARGEST = 64
"""Different powers beyond which nothing is said."""


def orders(formula: Formula) -> Orders | None:
    """Return the powers of eps that bound all terms of a formula multiplied out; None if no rule gives them.

    Next values count as the old ones, from which they differ by terms that vanish with eps. A smooth function of a
    formula that is free of eps up to O(eps) is free of it up to O(eps), too: powers 0 and 1.
    """
    if not holds_step(formula):
        return frozenset({ZERO})
    match formula:
        case Symbol():
            return frozenset({ONE})
        case Add(terms):
            found = [orders(term) for term in terms]
            known = [own for own in found if own is not None]
            return frozenset().union(*known) if len(known) == len(found) else None
        case Multiply(left, right) | MatMul(left, right):
            return _products(orders(left), orders(right))
        case Transpose(arg) | Entry(arg):
            return orders(arg)
        case Power(base, Number(exponent)):
            return _power(orders(base), exponent)
        case Apply(fn, args) if powers := degrees(fn):
            scaled = list(zip(args, map(Fraction, powers), strict=True))
            if any(k <= 0 and holds_step(arg) for arg, k in scaled):
                return None
            return reduce(_products, (_power(orders(arg), k) for arg, k in scaled))
        case Normal(cov):
            return _power(orders(cov), HALF)
        case Apply(fn, args) if fn in SMOOTH:
            return frozenset({ZERO, ONE}) if all(is_settled(orders(arg)) for arg in args) else None
        case _:
            return None


def is_settled(of: Orders | None) -> bool:
    """Whether a formula with these powers equals its value at eps = 0 up to O(eps)."""
    return of is not None and all(power == 0 or power >= 1 for power in of)


def holds_step(formula: Formula) -> bool:
    """Whether the step size occurs in a formula."""
    if isinstance(formula, Symbol):
        return formula.role is Role.STEP
    return any(holds_step(part) for part in parts(formula))


def terms_of(formula: Formula) -> tuple[Formula, ...]:
    """Return the terms of a sum, those of sums within it too."""
    return tuple(t for term in formula.terms for t in terms_of(term)) if isinstance(formula, Add) else (formula,)


def _products(left: Orders | None, right: Orders | None) -> Orders | None:
    if left is None or right is None:
        return None
    found = frozenset(a + b for a in left for b in right)
    return found if len(found) <= LARGEST else None


def _power(of: Orders | None, exponent: Fraction) -> Orders | None:
    """Return the orders of a power: of one term any power, of a sum a whole one, or one up to 1 (it is subadditive)."""
    if of is None:
        return None
    if len(of) == 1 or 0 < exponent <= 1:
        return frozenset(own * exponent for own in of)
    if exponent.denominator != 1 or not 0 < exponent <= 8:
        return None
    found: Orders | None = of
    for _ in range(int(exponent) - 1):
        found = _products(found, of)
    return found

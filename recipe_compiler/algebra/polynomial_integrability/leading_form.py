"""Polynomial energies at fixed sizes: completed squares, then the leading form for some weights.

If the terms of the highest weighted degree add up to a form that is positive away from the origin, the polynomial grows
in every direction at least like a power, and exp(-H) has a finite integral.
"""

from collections.abc import Sequence
from itertools import product
from typing import Any, cast

import sympy
from sympy import Expr, Symbol

from recipe_compiler import limits
from recipe_compiler.algebra.positivity.polynomial_problem import problem
from recipe_compiler.algebra.scalars.derivatives import slope
from recipe_compiler.algebra.scalars.transcendentals import NoNormalFormError
from recipe_compiler.verdict import Evidence

WEIGHTS = (1, 2, 3)
"""The weights tried of each coordinate."""


def leading(H: Expr, z: Sequence[Symbol]) -> Evidence | None:
    """Return why exp(-H) has a finite integral over all real z (n coordinates, H a scalar), None if this was not shown.

    Coefficients may contain parameters, whose signs SymPy's symbols carry. Worked, H = x**4 + x y + y**2: the square in
    y is completed, (y + x/2)**2, and integrated out, which leaves x**4 - x**2/4; its leading form for the weight 1 is
    x**4 > 0 for x != 0.
    """
    left, energy = list(z), H
    squares: list[tuple[str, str]] = []
    while True:
        found = next(((x, p) for x in left if (p := _constant_curvature(energy, x, left)) is not None), None)
        if found is None:
            break
        x, p = found
        at_zero = {x: sympy.Integer(0)}
        linear = cast(Expr, slope(energy, x).xreplace(at_zero))
        energy = sympy.expand(cast(Expr, energy.xreplace(at_zero)) - linear**2 / (2 * p))
        left.remove(x)
        squares.append((f"square in {x}", f"{p}"))
    if not left:
        return tuple(squares)
    if len(left) > limits.FEW_COORDINATES:
        return None
    form = _find_positive_leading_form(energy, left)
    return None if form is None else (*squares, *form)


def _constant_curvature(H: Expr, x: Symbol, z: Sequence[Symbol]) -> Expr | None:
    """Return d2H/dx2 if it is a positive constant."""
    P = sympy.expand(slope(slope(H, x), x))
    return P if not P.has(*z) and P.is_positive else None


def _find_positive_leading_form(H: Expr, z: Sequence[Symbol]) -> Evidence | None:
    """Return weights whose leading form is positive off 0, as named text values; None if none is found."""
    try:
        terms = sympy.Poly(sympy.expand(H), *z).terms()
    except sympy.PolynomialError:
        return None
    for weights in sorted(product(WEIGHTS, repeat=len(z)), key=sum):
        degrees = [sum(int(e) * w for e, w in zip(exponents, weights, strict=True)) for exponents, _ in terms]
        top = max(degrees)
        form = [term for term, degree in zip(terms, degrees, strict=True) if degree == top]
        if top <= 0 or not _has_pure_powers(form, len(z)):
            continue
        written = sympy.Add(*(c * sympy.Mul(*(x**e for x, e in zip(z, e_, strict=True))) for e_, c in form))
        plain = all(c.is_positive and all(int(e) % 2 == 0 for e in exponents) for exponents, c in form)
        rational = all(c.is_Rational for _, c in form)
        squares = () if plain else _definite_squares(written) if rational else None
        if squares is not None:
            by_weight = ", ".join(f"{x}: {w}" for x, w in zip(z, weights, strict=True))
            return (("weights", by_weight), ("leading form", str(written)), *squares)
    return None


def _has_pure_powers(form: list[tuple[Any, Any]], n: int) -> bool:
    """Whether every coordinate has an even power of its own, as a form that is positive on every axis needs."""
    pure = {
        next(k for k, e in enumerate(exponents) if e)
        for exponents, _ in form
        if sum(1 for e in exponents if e) == 1 and sum(int(e) for e in exponents) % 2 == 0
    }
    return len(pure) == n


def _definite_squares(form: Expr) -> Evidence | None:
    """Return a form with rational coefficients as w.T Q w, Q positive definite; None if that is not found.

    Each coordinate has a power of its own in the form, hence in w: the form vanishes at the origin only.
    """
    from recipe_compiler.algebra.positivity.squares import definite_squares  # imports NumPy, which most need not

    try:
        found = problem(((form,),), ())
        squares = definite_squares(found)
    except NoNormalFormError:
        return None
    names = tuple((f"g{k}", str(name)) for k, name in enumerate(found.names))
    return None if squares is None else (*names, *squares)

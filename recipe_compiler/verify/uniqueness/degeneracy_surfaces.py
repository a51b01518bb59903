"""Surfaces {g = 0} on which D degenerates, or D and Q do, at fixed sizes: do chains cross them?

Chains cross where the noise n . D n or the current b . n, with n = grad g and b = -Q grad H + div Q, is not zero on a
dense part of {g = 0}. Noise does it where n . D n > 0. Where it is 0 on all of the surface, D n and its slope vanish
there (D >= 0 is smooth), so that L g = b . n; times exp(-H) it is the flux through the surface, which sums to 0, so
that it has both signs.
"""

from typing import cast

import sympy
from sympy import Expr, Symbol
from sympy.core.function import AppliedUndef

from recipe_compiler.algebra.dynamics.brackets import circulation, never_zero
from recipe_compiler.algebra.dynamics.system import System, gradient
from recipe_compiler.algebra.scalars import untyped
from recipe_compiler.algebra.scalars.matrices import total
from recipe_compiler.verify.core.sizes import Sizes
from recipe_compiler.verify.core.subject import Subject


def is_linear(g: Expr, z: tuple[Symbol, ...]) -> bool:
    """Whether g = a . z + c with rational a, not all zero, over n coordinates."""
    slopes = gradient(g, z)
    return all(x.is_Rational for x in slopes) and any(x != 0 for x in slopes)


def list_crossing_terms(g: Expr, s: System) -> tuple[Expr, ...]:
    """Return the noise in g, n . D n, and the current through its surfaces, b . n, with n = grad g: [n].

    b = -Q grad H + div Q. One that contains an abstract function is left out, as its values on a surface are not known.
    """
    n = gradient(g, s.z)
    noise = total([x * a * y for x, row in zip(n, s.D, strict=True) for a, y in zip(row, n, strict=True)])
    current = total([x * b for x, b in zip(n, circulation(s), strict=True)])
    return tuple(e for e in (noise, current) if not e.atoms(sympy.Derivative, sympy.Subs, AppliedUndef))


def solve_for_coordinate(g: Expr, z: tuple[Symbol, ...]) -> tuple[Symbol, Expr]:
    """Return a coordinate x, and what it equals on {g = 0}, for a linear g: x - y has x and y."""
    x = next(x for x in z if g.diff(x) != 0)
    return x, sympy.expand(x - g / g.diff(x))


def restrict_to_surface(e: Expr, x: Symbol, at: Expr) -> Expr:
    """Return an expression on a surface."""
    found = e.xreplace({x: at})
    return found if isinstance(found, Expr) else e


def is_surface_crossed(subject: Subject, g: Expr, sizes: Sizes) -> bool:
    """Whether chains cross {g = 0}, g a linear scalar function of the n coordinates, for all values of the parameters.

    They do if grad g . D grad g or b . grad g, with b = -Q grad H + div Q, is not zero on a dense part of the surface.
    For H = (x**2 + r**2)/2, D = diag(0, 1) and Q_12 = -1 the plane x = 0 is crossed: b_x = r.
    """
    s = subject.system(sizes)
    x, at = solve_for_coordinate(g, s.z)
    return any(is_densely_nonzero(restrict_to_surface(e, x, at), s.z) for e in list_crossing_terms(g, s))


def is_densely_nonzero(e: Expr, z: tuple[Symbol, ...]) -> bool:
    """Whether an expression is a polynomial in the state that is not zero, for all values of the parameters.

    It is then nonzero on a dense set.
    """
    try:
        polynomial = sympy.Poly(e, *z)
    except sympy.PolynomialError:
        return False
    return any(never_zero(c) for c in polynomial.coeffs())


def split_factors(e: Expr, z: tuple[Symbol, ...]) -> tuple[Expr, tuple[Expr, ...]]:
    """Return the constant factor of an expression, and the factors that depend on the state, without their powers.

    2 a x**2 (x - y) has 2 a, and x, x - y.
    """
    constant: Expr = sympy.Integer(1)
    found: list[Expr] = []
    for factor in sympy.Mul.make_args(cast(Expr, untyped.factor(e))):
        if not factor.free_symbols & set(z):
            constant *= factor
            continue
        found.append(factor.base if isinstance(factor, sympy.Pow) and bool(factor.exp.is_positive) else factor)
    return constant, tuple(found)

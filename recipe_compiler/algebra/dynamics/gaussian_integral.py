"""Gaussian integrals in scalars, at fixed sizes: the second engine's integral of exp(-H) over coordinates."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

import sympy
from sympy import Expr, Symbol

from recipe_compiler.algebra.scalars.entries import NotScalarisableError
from recipe_compiler.algebra.scalars.matrices import Rows, determinant, inverse, total
from recipe_compiler.algebra.zero.zero import is_zero


@dataclass(frozen=True, slots=True)
class GaussianIntegral:
    """Of exp(-H), H = r.P r/2 - b.r + c: the precision P and the energy c + log det(P)/2 - b.inv(P) b/2."""

    precision: Rows
    energy: Expr


def gaussian_integral(H: Expr, r: Sequence[Symbol]) -> GaussianIntegral:
    """Return the integral of exp(-H) over coordinates in which H is quadratic, up to a constant factor.

    Whether P is positive definite, without which there is no integral, is a question of its own.

    Raises:
        NotScalarisableError: H is not quadratic in them, or not defined where they vanish.
        NoNormalFormError: it is not known whether it is.
        TooLargeError: P is too large to invert.
    """
    at_zero: dict[Symbol, Expr] = {x: sympy.Integer(0) for x in r}
    slope = [sympy.diff(H, x) for x in r]
    precision = tuple(tuple(sympy.diff(g, x) for x in r) for g in slope)
    for entry in (x for row in precision for x in row):
        if any(not is_zero(sympy.diff(entry, x)) for x in r if entry.has(x)):
            raise NotScalarisableError("the energy is not quadratic in what is to be integrated out")
    P = tuple(tuple(_at(x, at_zero) for x in row) for row in precision)
    b = [_at(-g, at_zero) for g in slope]
    energy = _at(H, at_zero) + sympy.log(determinant(P)) / 2
    if any(x != 0 for x in b):
        a = inverse(P)
        square = total([b[i] * a[i][j] * b[j] for i in range(len(b)) for j in range(len(b))])
        energy = energy - square / 2
    return GaussianIntegral(P, energy)


def _at(e: Expr, values: Mapping[Symbol, Expr]) -> Expr:
    found = cast(Expr, e.xreplace(dict(values)))
    if found.has(sympy.nan, sympy.zoo, sympy.oo, -sympy.oo):
        raise NotScalarisableError("the energy is not defined where what is to be integrated out vanishes")
    return found

"""A part of a recipe in scalars: its drift, and how its flow acts on volume, on a constant Q, under a flip of momenta.

The second engine's own: drifts come from D, Q and H written out, nothing from the index calculus.
"""

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import cast

import sympy
from sympy import Expr, Symbol
from sympy.core.function import AppliedUndef

from recipe_compiler.algebra.dynamics.system import System, Vector, gradient
from recipe_compiler.algebra.scalars.derivatives import slope_off_kinks as slope
from recipe_compiler.algebra.scalars.matrices import Rows, add, dot, product, total, transpose
from recipe_compiler.algebra.scalars.rationals import rational

Pieces = tuple[str, ...]
Apply = Callable[[str, Expr], Expr]
"""Return L_k phi of a piece and a function."""


class NotReflectedError(Exception):
    """An undefined function depends on a coordinate that is reflected."""


def drift_without_gamma(part: System) -> Vector:
    """Return -(D + Q) grad H of a part, a vector over n coordinates: its drift without Gamma."""
    slopes = gradient(part.H, part.z)
    return tuple(dot([-a for a in row], slopes) for row in add((part.D, part.Q)))


def share_of_correction(A: Rows, z: Sequence[Symbol], rows: Sequence[Symbol], columns: Sequence[Symbol]) -> Vector:
    """Return the vector sum_j dA_ij/dz_j over the coordinates j of some columns, for i of some rows; 0 for other i.

    A is n x n. The shares of all columns add up to Gamma of A = D + Q (Ma, Chen, Fox 2015, Eq. 3).
    """
    found: list[Expr] = []
    for x, row in zip(z, A, strict=True):
        parts = [slope(a, y) for a, y in zip(row, z, strict=True) if x in rows and y in columns]
        found.append(total(parts))
    return tuple(found)


def divergence(f: Vector, z: Sequence[Symbol]) -> Expr:
    """Return div f = sum_i df_i/dz_i, a scalar: the flow of dz = f dt keeps volume iff it is 0 (Liouville)."""
    return total([slope(x, y) for x, y in zip(f, z, strict=True)])


def change_of_form(f: Vector, Q: Rows, z: Sequence[Symbol]) -> Rows:
    """Return F Q + Q F.T with F = df/dz, n x n: 0 if and only if the flow of f keeps a constant Q.

    The Jacobian J(t) of the flow has J' = F J, so d/dt of J(t) Q J(t).T vanishes if this does.

    A kick by K theta in d = 2 keeps Q = [[0, -I], [I, 0]] if and only if K is symmetric:

        >>> z = sympy.symbols("theta:2 r:2", real=True)
        >>> numbers = ((0, 0, -1, 0), (0, 0, 0, -1), (1, 0, 0, 0), (0, 1, 0, 0))
        >>> Q = tuple(tuple(sympy.S(x) for x in row) for row in numbers)
        >>> f = (sympy.S(0), sympy.S(0), -2 * z[0] - z[1], 3 * z[0] - 2 * z[1])
        >>> change_of_form(f, Q, z)[2:]
        ((0, 0, 0, 4), (0, 0, -4, 0))
    """
    F = tuple(tuple(slope(x, y) for y in z) for x in f)
    return add((product(F, Q), transpose(product(F, transpose(Q)))))


def centre(H: Expr, x: Symbol) -> Expr:
    """Return the m at which dH/dx vanishes if H is quadratic in x; otherwise 0."""
    g = slope(H, x)
    curvature = slope(g, x)
    if curvature == 0 or slope(curvature, x) != 0:
        return sympy.Integer(0)
    return sympy.cancel(sympy.expand(x - g / curvature))


def reflected(e: Expr, centres: Mapping[Symbol, Expr]) -> Expr:
    """Return e(F z), F the reflection x -> 2 m - x of the coordinates with a centre m.

    Raises:
        NotReflectedError: an undefined function depends on one of them.
    """
    for call in e.atoms(AppliedUndef):
        if call.free_symbols & centres.keys():
            raise NotReflectedError(f"{type(call).__name__} depends on what is reflected")
    return cast(Expr, e.xreplace({x: 2 * m - x for x, m in centres.items()}))


def generator(f: Vector, D: Rows, z: Sequence[Symbol], phi: Expr) -> Expr:
    """Return L phi = f . grad phi + sum_ij D_ij d_i d_j phi, a scalar, multiplied out; f has n entries, D is n x n."""
    slopes = [slope(phi, x) for x in z]
    terms = [dot(f, slopes)]
    terms += [entry * slope(slopes[i], z[j]) for i, row in enumerate(D) for j, entry in enumerate(row) if entry != 0]
    return sympy.expand(total(terms))


def apply_generators(defects: Mapping[Pieces, Fraction], apply: Apply, phi: Expr) -> Expr:
    """Return sum_w c_w L_w1 ... L_wm phi of products w with their coefficients c_w, each tail of them applied once."""
    known: dict[Pieces, Expr] = {(): phi}

    def of(product: Pieces) -> Expr:
        if product not in known:
            known[product] = apply(product[0], of(product[1:]))
        return known[product]

    terms = [rational(c) * of(product) for product, c in defects.items()]
    return sympy.expand(sympy.Add(*terms))

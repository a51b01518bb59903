"""A stochastic differential equation at fixed sizes, in scalars: gradient, Gamma, drift, Fokker-Planck residual.

Derivatives are those off all kinks, where moduli, signs and comparisons are smooth (`algebra.scalars.sign_cells`).
"""

from dataclasses import dataclass

from sympy import Expr, Symbol

from recipe_compiler.algebra.scalars.derivatives import slope_off_kinks as slope
from recipe_compiler.algebra.scalars.entries import Setting, rows
from recipe_compiler.algebra.scalars.matrices import Rows, add, dot, total
from recipe_compiler.algebra.scalars.symbols import coordinates
from recipe_compiler.formula.declaration import Declarations
from recipe_compiler.formula.expression import Formula
from recipe_compiler.formula.shapes import Sizes

Vector = tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class System:
    """Coordinates z, energy H and matrices D, Q over all coordinates, in scalars.

    z holds n symbols; D and Q are n x n tuples of rows. It stands for dz = f dt + sqrt(2D) dW (Ma, Chen, Fox 2015, Eq.
    2).
    """

    z: tuple[Symbol, ...]
    H: Expr
    D: Rows
    Q: Rows


def system(
    declarations: Declarations,
    H: Formula,
    D: tuple[tuple[Formula, ...], ...],
    Q: tuple[tuple[Formula, ...], ...],
    sizes: Sizes,
) -> System:
    """Return z, H, D and Q of a dynamics at fixed sizes, over n coordinates.

    Raises:
        NotScalarisableError, TooLargeError: a formula without scalar entries.
    """
    at = Setting(declarations, sizes)
    z = state(declarations, sizes)
    return System(z, rows(H, at)[0][0], block_matrix(D, at), block_matrix(Q, at))


def state(declarations: Declarations, sizes: Sizes) -> tuple[Symbol, ...]:
    """Return all n coordinates of the state, block by block, row by row within a matrix."""
    return tuple(x for block in declarations.blocks for x in coordinates(block, sizes))


def block_matrix(blocks: tuple[tuple[Formula, ...], ...], at: Setting) -> Rows:
    """Return one n x n matrix over all coordinates from its blocks; block (a, b) is n_a x n_b at the sizes of `at`."""
    found: list[tuple[Expr, ...]] = []
    for line in blocks:
        parts = [rows(place, at) for place in line]
        found.extend(tuple(x for part in parts for x in part[i]) for i in range(len(parts[0])))
    return tuple(found)


def block_vector(blocks: tuple[Formula, ...], at: Setting) -> Vector:
    """Return one vector over all n coordinates from its blocks."""
    return tuple(x for block in blocks for row in rows(block, at) for x in row)


def gradient(f: Expr, z: tuple[Symbol, ...]) -> Vector:
    """Return dH/dz, one scalar for each of the n coordinates."""
    return tuple(slope(f, x) for x in z)


def correction(A: Rows, z: tuple[Symbol, ...]) -> Vector:
    """Return Gamma_i = sum_j dA_ij/dz_j of A = D + Q, n x n over n coordinates (Ma, Chen, Fox 2015, Eq. 3)."""
    return tuple(total([slope(a, x) for a, x in zip(row, z, strict=True)]) for row in A)


def drift(s: System) -> Vector:
    """Return f = -(D + Q) grad H + Gamma, a vector over n coordinates (Ma, Chen, Fox 2015, Eq. 3).

    The second engine's own: nothing of it comes from the index calculus.
    """
    A = add((s.D, s.Q))
    grad_H = gradient(s.H, s.z)
    Gamma = correction(A, s.z)
    return tuple(dot([-a for a in row], grad_H) + c for row, c in zip(A, Gamma, strict=True))


def residual(s: System, f: Vector, D: Rows | None = None) -> Expr:
    """Return the scalar (1/p) [-div(f p) + sum_ij d_i d_j (D_ij p)] with p = exp(-H): zero iff exp(-H) is stationary.

    With g = grad H this is

        -div f + f.g + sum_ij [d_i d_j D_ij - g_j d_i D_ij - g_i d_j D_ij + D_ij (g_i g_j - d_j g_i)];

    p itself never occurs. f has n entries; `D`, n x n, is that of the system unless another diffusion is given. (Cf.
    Ma, Chen, Fox 2015, Eq. 5.) For H = x**2/2, D = 1 it is 0 of f = -x, and 1 - x**2 of f = -2 x.

    In two dimensions, H = (x**2 + y**2)/2 with f = (y, -x) and D = 0 turns, and preserves exp(-H); f = (y, x) does not:

        >>> import sympy
        >>> x, y = z = sympy.symbols("x y", real=True)
        >>> s = System(z, (x**2 + y**2) / 2, ((sympy.S(0),) * 2,) * 2, ((sympy.S(0),) * 2,) * 2)
        >>> [sympy.expand(residual(s, f)) for f in ((y, -x), (y, x))]
        [0, 2*x*y]
    """
    g = gradient(s.H, s.z)
    terms = [dot(f, g), *(-slope(f_i, x) for f_i, x in zip(f, s.z, strict=True))]
    for i, row in enumerate(s.D if D is None else D):
        for j, entry in enumerate(row):
            if entry == 0:
                continue
            along_i, along_j = slope(entry, s.z[i]), slope(entry, s.z[j])
            second = slope(along_i, s.z[j])
            curvature = entry * (g[i] * g[j] - slope(g[i], s.z[j]))
            terms += [second, -dot((g[j], g[i]), (along_i, along_j)), curvature]
    return total(terms)


def backward(s: System, f: Vector, D: Rows, psi: Expr) -> Expr:
    """Return L* psi - psi L* 1 = (2 (div D - D grad H) - f) . grad psi + D : Hess psi, L* 1 being the `residual`.

    L = f . grad + D : Hess generates dz = f dt + sqrt(2D) dW, f: [n], D: [n, n], and L* is its adjoint with respect to
    p = exp(-H): L* psi = (1/p) [-div(f psi p) + sum_ij d_i d_j (D_ij psi p)].
    """
    g, spread, slopes = gradient(s.H, s.z), correction(D, s.z), gradient(psi, s.z)
    pushed = [2 * (c - dot(row, g)) - x for row, c, x in zip(D, spread, f, strict=True)]
    curved = (dot(row, [slope(along, x) for x in s.z]) for row, along in zip(D, slopes, strict=True) if any(row))
    return total([dot(pushed, slopes), *curved])

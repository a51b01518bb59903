"""A step z' = F z + g + N(0, Sigma) in scalars, and what it does to a Gaussian law exp(-H) of z.

With precision P = d^2 H/(dz dz'), mean m and S = inv(P), the law N(m, S) is invariant if and only if F m + g = m and F
S F.T + Sigma = S.
"""

from dataclasses import dataclass

from sympy import Expr, Symbol

from recipe_compiler.algebra.dynamics.system import Vector, gradient
from recipe_compiler.algebra.scalars import matrices
from recipe_compiler.algebra.scalars.matrices import Rows


@dataclass(frozen=True, slots=True)
class AffineStep:
    """A step z' = F z + g + N(0, Sigma) and an energy H; F and Sigma are n x n matrices, z and g have n entries.

    Whether the step is affine and H quadratic in z is decided elsewhere.
    """

    z: tuple[Symbol, ...]
    slope: Vector
    """grad H."""
    precision: Rows
    """P, the Hessian of H."""
    mean: Vector
    """E[z'] - z."""
    jacobian: Rows
    """F - I."""
    noise: Rows
    """Sigma = Cov[z']."""

    @property
    def F(self) -> Rows:
        """Return the matrix of the step."""
        return matrices.add((matrices.identity(len(self.z)), self.jacobian))


def affine_step(H: Expr, z: tuple[Symbol, ...], mean: Vector, noise: Rows) -> AffineStep:
    """Return the step z' = z + mean + N(0, noise) together with H, over n coordinates.

    F = I + d mean/dz and P = d^2 H/(dz dz') are n x n.
    """
    slope = gradient(H, z)
    return AffineStep(z, slope, tuple(gradient(x, z) for x in slope), mean, tuple(gradient(x, z) for x in mean), noise)


def changes(step: AffineStep) -> tuple[Vector, Rows]:
    """Return F m + g - m: [n] and F S F.T + Sigma - S: [n, n]; both vanish iff the law N(m, S) is invariant.

    It is exp(-H), S = inv(P) and m = -S grad H(0). r' = c r + N(0, 1 - c**2) with H = r**2/2 has 0 and c**2 + (1 -
    c**2) - 1 = 0.

    In two coordinates, F = [[0, 1], [1, 0]]/2 keeps N(0, S) with S = [[2, 1], [1, 2]] if Sigma = S - F S F.T = 3 S/4:

        >>> import sympy
        >>> x, y = z = sympy.symbols("x y", real=True)
        >>> H = (x**2 - x * y + y**2) / 3
        >>> noise = tuple(tuple(sympy.Rational(3 * k, 4) for k in row) for row in ((2, 1), (1, 2)))
        >>> changes(affine_step(H, z, (y / 2 - x, x / 2 - y), noise))
        ((0, 0), ((0, 0), (0, 0)))

    Raises:
        matrices.TooLargeError: P is too large to invert.
    """
    S, F = matrices.inverse(step.precision), step.F
    lines = zip(step.slope, step.precision, strict=True)
    offset = [g - matrices.dot(row, step.z) for g, row in lines]
    m = [-matrices.dot(row, offset) for row in S]
    shift = [y - x for y, x in zip(m, step.z, strict=True)]
    means = tuple(x + matrices.dot(row, shift) for x, row in zip(step.mean, step.jacobian, strict=True))
    minus_S = tuple(tuple(-x for x in row) for row in S)
    after = matrices.product(matrices.product(F, S), matrices.transpose(F))
    return means, matrices.add((after, step.noise, minus_S))

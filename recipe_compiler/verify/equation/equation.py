"""The equation whose solutions claims are about: its drift and its noise, in index notation and in scalars."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from sympy import Expr

from recipe_compiler.algebra.dynamics import system as second
from recipe_compiler.algebra.scalars.derivatives import slope
from recipe_compiler.algebra.scalars.matrices import Rows, dot, total
from recipe_compiler.derive.recipe import Derivation, Vector, matrix, vector
from recipe_compiler.derive.stationarity import current
from recipe_compiler.formula.block_matrices import Matrix
from recipe_compiler.formula.expression import Formula
from recipe_compiler.verify.core.sizes import Sizes
from recipe_compiler.verify.core.stratonovich import convert_to_ito
from recipe_compiler.verify.core.subject import Subject, once_at_sizes


@dataclass(frozen=True, slots=True)
class Equation:
    """The equation dz = f dt + sqrt(2 D) dW of a document, and its energy H.

    In index notation a vector over z has a tensor for each block and a matrix one for each pair of blocks; at fixed
    sizes they are n scalars and n x n scalars.
    """

    subject: Subject
    derivation: Derivation
    """With the f and D of the equation in the place of the recipe's."""
    formulas: tuple[Formula, ...]
    """What f and D are made of, for their premises."""
    stated: tuple[Formula, ...]
    """f as claimed, in Ito's sense; empty for the recipe's."""
    drift: Callable[[Sizes], tuple[Expr, ...]]
    """f at fixed sizes, by the second engine."""
    diffusion: Callable[[Sizes], Rows]
    """D at fixed sizes, by the second engine."""

    @property
    def current(self) -> Vector:
        """J = f - div D + D grad H, a vector over z: p J is the probability current, and R = -(div J - grad H . J)."""
        return current(self.derivation, self.derivation.drift, self.derivation.D)


def equation(subject: Subject) -> Equation | None:
    """Return the recipe's equation where Q is given, else the claimed one; None where neither is known.

    The recipe's drift is f = -(D + Q) grad H + Gamma (Ma, Chen, Fox 2015, Eqs. 2 and 3).

    Raises:
        stratonovich.NotConvertedError: what is stated does not determine the Ito drift.
    """
    if subject.derivation is None:
        return None
    if subject.dynamics.Q is None:
        return claimed_equation(subject)
    return Equation(
        subject,
        subject.derivation,
        subject.formulas,
        (),
        lambda sizes: _second_engine_drift(subject, sizes),
        lambda sizes: subject.system(sizes).D,
    )


@once_at_sizes
def _second_engine_drift(subject: Subject, sizes: Sizes) -> tuple[Expr, ...]:
    """Return the recipe's drift at fixed sizes, by the second engine."""
    return second.drift(subject.system(sizes))


def claimed_equation(subject: Subject) -> Equation | None:
    """Return the equation with the claimed drift, in Ito's sense, and the claimed D; None if either is not stated.

    Raises:
        stratonovich.NotConvertedError: what is stated does not determine the Ito drift.
    """
    D: Matrix | None = subject.dynamics.claims.diffusion or subject.dynamics.D
    if subject.derivation is None or D is None or subject.dynamics.claims.drift is None:
        return None
    f = convert_to_ito(subject.dynamics, D)
    declarations = subject.declarations
    return Equation(
        subject,
        replace(subject.derivation, drift=vector(f, declarations), D=matrix(D, declarations)),
        (*f, *(place for row in D for place in row)),
        f,
        lambda sizes: second.block_vector(f, subject.setting(sizes)),
        lambda sizes: second.block_matrix(D, subject.setting(sizes)),
    )


def apply_generator(of: Equation, W: Expr, sizes: Sizes) -> Expr:
    """Return f . grad W + tr(D hess W) at fixed sizes."""
    z = second.state(of.subject.declarations, sizes)
    slopes = [slope(W, x) for x in z]
    spread = [dot(row, [slope(s, y) for y in z]) for row, s in zip(of.diffusion(sizes), slopes, strict=True)]
    return total([dot(of.drift(sizes), slopes), *spread])

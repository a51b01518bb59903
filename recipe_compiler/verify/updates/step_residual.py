"""One step of a chain at fixed sizes: what its first two moments say about exp(-H), by powers of the step size.

With f = E[dz]/eps and D = Cov[dz]/(2 eps), both functions of eps, the residual (1/p)[-div(f p) + sum_ij d_i d_j (D_ij
p)], p = exp(-H), is sorted by powers of eps. The part at eps^0 is that of the limiting equation: where it does not
vanish the step is wrong however small eps is. The part at eps^1 says what the moments of a finite step do.
"""

from dataclasses import dataclass
from fractions import Fraction

import sympy
from sympy import Expr, Symbol

from recipe_compiler.algebra.dynamics import system as second
from recipe_compiler.algebra.dynamics.system import System
from recipe_compiler.algebra.scalars.matrices import Rows
from recipe_compiler.verify.updates.expansion import ZERO, by_power
from recipe_compiler.verify.updates.gaussian_moments import StepMoments


class NotAStepError(Exception):
    """A moment that grows as eps becomes small: there is no limiting equation."""


@dataclass(frozen=True, slots=True)
class MomentCoefficient:
    """The coefficients of one power of eps: in E[dz] (n) and in Cov[dz] (n x n)."""

    mean: tuple[Expr, ...]
    covariance: Rows


def by_powers(moments: StepMoments, top: Fraction = Fraction(2)) -> dict[Fraction, MomentCoefficient]:
    """Return the moments by powers of eps up to `top`, in order; powers that do not occur are left out.

    Raises:
        expansion.NoExpansionError: a moment has no expansion about eps = 0 that is known.
    """
    means = [by_power(x, moments.eps, top) for x in moments.mean]
    spreads = [[by_power(x, moments.eps, top) for x in row] for row in moments.covariance]
    powers = sorted({p for x in (*means, *(x for row in spreads for x in row)) for p in x})
    none = sympy.Integer(0)
    return {
        p: MomentCoefficient(
            tuple(x.get(p, none) for x in means), tuple(tuple(x.get(p, none) for x in row) for row in spreads)
        )
        for p in powers
    }


def residual(z: tuple[Symbol, ...], part: MomentCoefficient, H: Expr) -> Expr:
    """Return the scalar R = (1/p) [-div(f p) + sum_ij d_i d_j (D_ij p)], p = exp(-H), for one power of eps.

    f is its coefficient in E[dz] (n), D half of that in Cov[dz] (n x n). (cf. Ma, Chen, Fox 2015, Eq. 5.)
    """
    D: Rows = tuple(tuple(entry / 2 for entry in row) for row in part.covariance)
    return second.residual(System(z, H, D, ()), part.mean, D)


def at_zero(moments: StepMoments) -> MomentCoefficient:
    """Return the moments of the step in the limit eps -> 0: both zero for a step that shrinks with eps.

    Raises:
        NotAStepError: a moment grows as eps becomes small.
        expansion.NoExpansionError: as for `by_powers`.
    """
    parts = by_powers(moments, ZERO)
    if any(power < 0 for power in parts):
        raise NotAStepError("a moment of the step grows as eps becomes small")
    n, none = len(moments.z), sympy.Integer(0)
    return parts.get(ZERO, MomentCoefficient((none,) * n, ((none,) * n,) * n))

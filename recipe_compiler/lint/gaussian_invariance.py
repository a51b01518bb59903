"""Does a step that moves the state however small eps is leave its Gaussian law as it is? At fixed sizes."""

from dataclasses import dataclass

import sympy
from sympy import Expr, Symbol

from recipe_compiler.algebra.dynamics.affine_step import affine_step, changes
from recipe_compiler.algebra.scalars.matrices import Rows, determinant
from recipe_compiler.algebra.zero.zero import is_zero
from recipe_compiler.verify.updates.gaussian_invariance import NotAffineError
from recipe_compiler.verify.updates.step_residual import MomentCoefficient


@dataclass(frozen=True, slots=True)
class KeptLaw:
    """The coordinates that are moved, and what must vanish for their law to stay: words and scalars."""

    moved: tuple[Symbol, ...]
    conditions: tuple[tuple[str, Expr], ...]
    anew: bool
    """Whether what is moved is drawn anew, whatever it was: no step size, however it is written, can stand in that."""


def kept(z: tuple[Symbol, ...], part: MomentCoefficient, H: Expr) -> KeptLaw:
    """Return the conditions on the mean and covariance of a step at eps = 0: F m + g - m = 0, F S F.T + Sigma - S = 0.

    exp(-H) has the mean m and the covariance S, n x n, in the n coordinates that are moved, given the others.

    Raises:
        NotAffineError: H is not quadratic in what is moved, or that is not moved affinely.
        NoNormalFormError: as for `algebra.zero.is_zero`.
    """
    places = [k for k, row in enumerate(part.covariance) if not _all_zero((part.mean[k], *row))]
    moved = tuple(z[k] for k in places)
    noise: Rows = tuple(tuple(part.covariance[i][j] for j in places) for i in places)
    step = affine_step(H, moved, tuple(part.mean[k] for k in places), noise)
    names = ", ".join(map(str, moved))
    _free(step.precision, moved, f"H is not quadratic in {names}")
    affine = "the step at eps = 0 is not affine, or its noise depends on what it moves"
    _free((*step.jacobian, *noise), moved, affine)
    if is_zero(determinant(step.precision)):
        raise NotAffineError(f"H is not quadratic in {names}")
    means, covariances = changes(step)
    found: list[tuple[str, Expr]] = []
    for x, mean, row in zip(moved, means, covariances, strict=True):
        found.append((f"the change of the mean of {x} in a step", mean))
        found += [(f"the change of Cov({x}, {y}) in a step", entry) for y, entry in zip(moved, row, strict=True)]
    return KeptLaw(moved, tuple(found), all(_all_zero(row) for row in step.F))


def _all_zero(entries: tuple[Expr, ...]) -> bool:
    return all(is_zero(x) for x in entries)


def _free(a: Rows, moved: tuple[Symbol, ...], why: str) -> None:
    for row in a:
        for x in row:
            if not _all_zero(tuple(sympy.diff(x, y) for y in moved)):
                raise NotAffineError(why)

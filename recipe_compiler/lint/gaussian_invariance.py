"""At fixed sizes: does a step that moves the state however small eps is leave its Gaussian law under exp(-H) as it is?

With precision P, mean m and S = inv(P) of the coordinates that it moves, given the others, the affine step
z' = F z + g + N(0, Sigma) does if and only if F m + g = m and F S F.T + Sigma = S.
"""

from dataclasses import dataclass

import sympy
from sympy import Expr, Symbol

from recipe_compiler.algebra.dynamics.system import gradient
from recipe_compiler.algebra.scalars import matrices
from recipe_compiler.algebra.scalars.matrices import Rows
from recipe_compiler.algebra.zero.zero import is_zero
from recipe_compiler.verify.updates.step_residual import Part


class NotAffineError(Exception):
    """The step at eps = 0 is no affine step of a Gaussian law, as far as could be seen."""


@dataclass(frozen=True, slots=True)
class Kept:
    """The coordinates that are moved, and what must vanish for their law to stay: words and scalars."""

    moved: tuple[Symbol, ...]
    conditions: tuple[tuple[str, Expr], ...]
    anew: bool
    """Whether what is moved is drawn anew, whatever it was: no step size, however it is written, can stand in that."""


def kept(z: tuple[Symbol, ...], part: Part, H: Expr) -> Kept:
    """Return the conditions on the mean and covariance of a step at eps = 0.

    Raises:
        NotAffineError: H is not quadratic in what is moved, or that is not moved affinely.
        kernels.NoNormalFormError: as for `algebra.zero.is_zero`.
    """
    places = [k for k, row in enumerate(part.covariance) if not _all_zero((part.mean[k], *row))]
    moved = tuple(z[k] for k in places)
    slope = gradient(H, moved)
    P: Rows = tuple(gradient(x, moved) for x in slope)
    mean = [part.mean[k] for k in places]
    J: Rows = tuple(gradient(x, moved) for x in mean)
    noise: Rows = tuple(tuple(part.covariance[i][j] for j in places) for i in places)
    names = ", ".join(map(str, moved))
    _free(P, moved, f"H is not quadratic in {names}")
    _free((*J, *noise), moved, "the step at eps = 0 is not affine, or its noise depends on what it moves")
    if is_zero(matrices.determinant(P)):
        raise NotAffineError(f"H is not quadratic in {names}")
    S = matrices.inverse(P)
    rest = [
        matrices.total([g, *(-p * x for p, x in zip(row, moved, strict=True))]) for g, row in zip(slope, P, strict=True)
    ]
    m = [matrices.total([-s * y for s, y in zip(row, rest, strict=True)]) for row in S]
    shift = [y - x for y, x in zip(m, moved, strict=True)]
    F = matrices.add((matrices.identity(len(moved)), J))
    after = matrices.add((matrices.product(matrices.product(F, S), matrices.transpose(F)), noise, _negative(S)))
    found: list[tuple[str, Expr]] = []
    for x, own, row, line in zip(moved, mean, J, after, strict=True):
        change = matrices.total([own, *(j * s for j, s in zip(row, shift, strict=True))])
        found.append((f"the change of the mean of {x} in a step", change))
        found += [(f"the change of Cov({x}, {y}) in a step", entry) for y, entry in zip(moved, line, strict=True)]
    return Kept(moved, tuple(found), all(_all_zero(row) for row in F))


def _negative(a: Rows) -> Rows:
    return tuple(tuple(-x for x in row) for row in a)


def _all_zero(entries: tuple[Expr, ...]) -> bool:
    return all(is_zero(x) for x in entries)


def _free(a: Rows, moved: tuple[Symbol, ...], why: str) -> None:
    for row in a:
        for x in row:
            if not _all_zero(tuple(sympy.diff(x, y) for y in moved)):
                raise NotAffineError(why)

"""The places of a block matrix against those mirrored at the diagonal: `D - D.T` and `Q + Q.T`."""

from collections.abc import Sequence

from sympy import Expr

from recipe_compiler.algebra.scalars.entries import rows
from recipe_compiler.tensor.terms import Tensor
from recipe_compiler.verify.core.identities import Identity, Scalars
from recipe_compiler.verify.core.sizes import Sizes
from recipe_compiler.verify.core.subject import Matrix, Subject


def mirrored(
    subject: Subject, name: str, matrix: Matrix, defect: tuple[tuple[Tensor, ...], ...], sign: int
) -> tuple[Identity, ...]:
    """Return `A_ab + sign A_ba.T = 0` for every place on and above the diagonal."""
    found: list[Identity] = []
    for a, row in enumerate(subject.names):
        for b, col in enumerate(subject.names[a:], start=a):
            here, there = f"{name}[{row},{col}]", f"{name}[{col},{row}]"
            says = f"{here} {'+' if sign > 0 else '-'} {there}.T"
            found.append(Identity(says, subject.place(here, name), defect[a][b], _both(subject, matrix, a, b, sign)))
    return tuple(found)


def _both(subject: Subject, matrix: Matrix, a: int, b: int, sign: int) -> Scalars:
    def entries(sizes: Sizes) -> Sequence[Expr]:
        here, there = rows(matrix[a][b], subject.setting(sizes)), rows(matrix[b][a], subject.setting(sizes))
        return [x + sign * there[j][i] for i, line in enumerate(here) for j, x in enumerate(line)]

    return entries

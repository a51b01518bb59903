"""Is D symmetric, is Q skew? `D - D.T = 0` and `Q + Q.T = 0`, place by place (ma2015recipe, Eq. 3)."""

from collections.abc import Sequence
from dataclasses import replace

from sympy import Expr

from recipe_compiler.algebra.scalars.entries import rows
from recipe_compiler.derive.recipe import derive
from recipe_compiler.derive.stationarity import skewness_defect, symmetry_defect
from recipe_compiler.formula.block_matrices import Matrix, zeros
from recipe_compiler.tensor.terms import Tensor
from recipe_compiler.verdict import Answer, undecided
from recipe_compiler.verify.core.identities import Identity, Question, Scalars, decide
from recipe_compiler.verify.core.premises import require_values
from recipe_compiler.verify.core.sizes import Sizes
from recipe_compiler.verify.core.subject import Subject, once


@once
def d_symmetric(subject: Subject) -> Answer:
    """Decide that D - D.T = 0, entry by entry, for every size, on kinks as well (Ma, Chen, Fox 2015, Theorem 1).

    D is n x n over z; the claimed diffusion where D is not given. Blame falls on a pair of blocks, D[a,b] - D[b,a].T,
    which is n_a x n_b.
    """
    if subject.derivation is None or subject.whole.D is None:
        return undecided("neither D nor claims.diffusion is given")
    name = "D" if subject.dynamics.D is not None else "claims.diffusion"
    return _check_mirrored(subject, name, subject.whole.D, symmetry_defect(subject.derivation), -1)


@once
def q_skew(subject: Subject) -> Answer:
    """Decide that Q + Q.T = 0, entry by entry, for every size, on kinks as well (Ma, Chen, Fox 2015, Eq. 3).

    Q is n x n over z, and no D is needed. The thermostat with Q[r, xi] = r/d and Q[xi, r] = r.T/d has Q + Q.T = 2 r/d
    in that place, and is refuted at a point with r != 0.
    """
    Q = subject.dynamics.Q
    if Q is None:
        return undecided("Q is not given", where=subject.place("Q", "D"))
    without_noise = zeros(subject.declarations.blocks)
    derivation = subject.derivation or derive(replace(subject.dynamics, D=without_noise))
    return _check_mirrored(subject, "Q", Q, skewness_defect(derivation), 1)


def _check_mirrored(
    subject: Subject, name: str, matrix: Matrix, defect: tuple[tuple[Tensor, ...], ...], sign: int
) -> Answer:
    """Decide that `A_ab + sign A_ba.T = 0` in every place on and above the diagonal, on kinks as off them."""
    identities: list[Identity] = []
    for a, row in enumerate(subject.names):
        for b, col in enumerate(subject.names[a:], start=a):
            here, there = f"{name}[{row},{col}]", f"{name}[{col},{row}]"
            says = f"{here} {'+' if sign > 0 else '-'} {there}.T"
            entries = _mirrored_entries(subject, matrix, a, b, sign)
            identities.append(Identity(says, subject.place(here, name), defect[a][b], entries))
    declarations = subject.declarations
    reads = tuple(place for row in matrix for place in row)
    needed = require_values(reads, declarations)
    question = Question(
        tuple(identities),
        declarations,
        subject.sizes,
        needed,
        subject.contradiction,
        reads=reads,
        at_every_point=True,
    )
    answer = decide(question)
    return replace(answer, where=answer.where or subject.place(name))


def _mirrored_entries(subject: Subject, matrix: Matrix, a: int, b: int, sign: int) -> Scalars:
    """Return A_ab + sign A_ba.T at fixed sizes, by the second engine."""

    def entries(sizes: Sizes) -> Sequence[Expr]:
        here, there = rows(matrix[a][b], subject.setting(sizes)), rows(matrix[b][a], subject.setting(sizes))
        return [x + sign * there[j][i] for i, line in enumerate(here) for j, x in enumerate(line)]

    return entries

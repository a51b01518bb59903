"""Is exp(-H) stationary, for the recipe's dynamics or those an author claims? (ma2015recipe, Theorem 1).

The Fokker-Planck equation is decided first. A solution of it with a current that is not shown to vanish at infinity
need not be a law that solutions keep: a Q or D as steep as exp(H) may carry them through infinity, which the residual
does not see.
"""

from collections.abc import Sequence
from dataclasses import replace

from sympy import Expr

from recipe_compiler.algebra.dynamics import system as second
from recipe_compiler.derive.stationarity import residual
from recipe_compiler.errors import ModelError
from recipe_compiler.tensor.terms import Tensor
from recipe_compiler.verdict import Answer, undecided
from recipe_compiler.verify.core.conjunction import is_proved
from recipe_compiler.verify.core.identities import Identity, Question, Scalars, decide, list_faults
from recipe_compiler.verify.core.premises import describe_kinks, require_lipschitz
from recipe_compiler.verify.core.scalars import write_drift
from recipe_compiler.verify.core.sizes import Sizes
from recipe_compiler.verify.core.subject import Subject
from recipe_compiler.verify.equation.claimed_residual import claimed_residual
from recipe_compiler.verify.equation.equation import claimed_equation, equation
from recipe_compiler.verify.infinity.at_infinity import exclude_flux_through_infinity


def stationary(subject: Subject) -> Answer:
    """Decide that the derived drift, with D, leaves exp(-H) stationary, for every size (Ma, Chen, Fox 2015, Theorem 1).

    R = (1/p) [-sum_i d_i (f_i p) + sum_ij d_i d_j (D_ij p)] = 0 for p = exp(-H) and f = -(D + Q) grad H + Gamma. The
    index calculus decides it for every size. The second engine takes the *derived* f, written out at small sizes, and
    decides its R; it also derives f by itself and compares. A fault in the derivation cannot pass both.

    It rests on Lipschitz H, D and Q across their kinks, and on no current or noise as steep as exp(H): undecided where
    that is open. Without a Q, or without a D, there is no recipe, and it is undecided.

    Example: with H = theta**2/2, D = theta**2 + 1 and Q = 0 the derived f = -(theta**2 + 1) theta + 2 theta has R = 0.
    Without Gamma = 2 theta it would have R = 2 - 2 theta**2: so a drift that is claimed is refuted by
    `claimed_stationary`.
    """
    if subject.derivation is None or subject.dynamics.Q is None:
        missing = "D" if subject.derivation is None else "Q"
        return undecided(f"{missing} is not given, so there is nothing to check")
    derivation = subject.derivation
    where = subject.place("H")
    zero = Tensor((), ())
    try:
        left = residual(derivation, derivation.drift, derivation.D)
    except ModelError as error:
        return undecided(*list_faults(error), where=where)
    identities = (
        Identity("the residual", where, left, _write_residual(subject)),
        Identity("the derived drift minus that of the second engine", where, zero, _write_drift_difference(subject)),
    )
    formulas = (subject.whole.H, *(x for m in (subject.whole.D, subject.whole.Q) for row in m or () for x in row))
    declarations = subject.declarations
    kinks = require_lipschitz(formulas, declarations)
    remark = describe_kinks(kinks.kinks)
    answer = decide(Question(identities, declarations, subject.sizes, kinks, subject.contradiction, remark, formulas))
    found = replace(answer, where=where)
    return exclude_flux_through_infinity(subject, found, equation(subject)) if is_proved(answer) else found


def claimed_stationary(subject: Subject) -> Answer:
    """Decide that exp(-H) is stationary for dz = f dt + sqrt(2 D) dW with the claimed f and D.

    With p = exp(-H), (1/p) [-div(f p) + sum_ij d_i d_j (D_ij p)] = 0, and the current J = f - div D + D grad H carries
    nothing through infinity (Ma, Chen, Fox 2015, Theorem 1; Bogachev, Krylov, Roeckner, Shaposhnikov 2015, Chapter 5).
    f = -x + exp(x**2/2) with D = 1 and H = x**2/2 has residual 0, and is refuted: J = exp(x**2/2), so J p = 1 runs from
    -oo to oo. Rests on `claimed_residual`, `normalisable` and, for steep currents, on a Lyapunov function.
    """
    found = claimed_residual(subject)
    if not is_proved(found):
        return found
    return exclude_flux_through_infinity(subject, found, claimed_equation(subject))


def _write_residual(subject: Subject) -> Scalars:
    def entries(sizes: Sizes) -> Sequence[Expr]:
        f = tuple(x for block in write_drift(subject, sizes).values() for x in block)
        return [second.residual(subject.system(sizes), f)]

    return entries


def _write_drift_difference(subject: Subject) -> Scalars:
    def entries(sizes: Sizes) -> Sequence[Expr]:
        derived = (x for block in write_drift(subject, sizes).values() for x in block)
        own = second.drift(subject.system(sizes))
        return [x - y for x, y in zip(derived, own, strict=True)]

    return entries

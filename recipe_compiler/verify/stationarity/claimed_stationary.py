"""Does the equation that an author claims leave exp(-H) stationary? Not if probability passes through infinity.

Fokker and Planck's equation is decided first; a solution of it with a current that is not shown to vanish at infinity
need not be a law that solutions keep.
"""

from recipe_compiler.verdict import Answer, Proved
from recipe_compiler.verify.core.subject import Subject
from recipe_compiler.verify.equation.claimed_residual import claimed_residual
from recipe_compiler.verify.equation.equation import claimed_equation
from recipe_compiler.verify.infinity.at_infinity import through_infinity


def claimed_stationary(subject: Subject) -> Answer:
    """Decide that exp(-H) is stationary for dz = f dt + sqrt(2 D) dW with the claimed f and D.

    With p = exp(-H), (1/p) [-div(f p) + sum_ij d_i d_j (D_ij p)] = 0, and the current J = f - div D + D grad H carries
    nothing through infinity (Ma, Chen, Fox 2015, Theorem 1; Bogachev, Krylov, Roeckner, Shaposhnikov 2015, Chapter 5).
    f = -x + exp(x**2/2) with D = 1 and H = x**2/2 has residual 0, and is refuted: J = exp(x**2/2), so J p = 1 runs from
    -oo to oo. Rests on `claimed_residual`, `normalisable` and, for steep currents, on a Lyapunov function.
    """
    found = claimed_residual(subject)
    if not isinstance(found.decision, Proved):
        return found
    return through_infinity(subject, found, claimed_equation(subject))

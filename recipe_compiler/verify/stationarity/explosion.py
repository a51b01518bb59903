"""Is the SDE non-explosive? Proved by a Lyapunov function, refuted on a line."""

from collections.abc import Callable
from dataclasses import replace

from recipe_compiler.errors import ModelError
from recipe_compiler.verdict import Answer, Proved, Undecided, undecided
from recipe_compiler.verify.core.conjunction import is_proved
from recipe_compiler.verify.core.identities import list_faults
from recipe_compiler.verify.core.stratonovich import NotConvertedError
from recipe_compiler.verify.core.subject import Subject, once
from recipe_compiler.verify.equation.claimed_residual import claimed_residual
from recipe_compiler.verify.equation.equation import Equation, equation
from recipe_compiler.verify.infinity.at_infinity import list_open_terms
from recipe_compiler.verify.infinity.claimed_lyapunov import decide_stated_function
from recipe_compiler.verify.infinity.diffusions_on_line import (
    find_line_current,
    refute_by_feller,
    refute_by_steep_drift,
)
from recipe_compiler.verify.infinity.stays_finite import NonExplosionProof, check_obligations, decide_by_lyapunov
from recipe_compiler.verify.integrability.normalisable import normalisable
from recipe_compiler.verify.stationarity.stationary import stationary

INTEGRABLE = (
    "for almost every initial state: D/(1 + |z|)**2 and the current over 1 + |z| are integrable against exp(-H)"
)


@once
def explosion(subject: Subject) -> Answer:
    """Decide that no solution reaches infinity in finite time, for every size and all values of the parameters.

    Proved by W -> oo with L W <= c (1 + W), L W = f . grad W + tr(D Hess W) (Khasminskii 2012, Theorem 3.5; Meyn,
    Tweedie 1993, Theorem 2.1), or for almost every start by what is integrable against exp(-H) (Stannat 1999,
    Proposition 1.10). Refuted for a coordinate that is a diffusion on a line by itself, by a current or by Feller's
    test. It is advisory: undecided it does not stop a compilation, refuted it does. Solutions are followed until
    they reach a face of the domain; what happens there is decided by `boundary`.

    Example: dx = -x**3 dt + sqrt(2) dW has W = x**2 with L W = 2 - 2 x**4 <= 2, proved. dx = x**3 dt reaches infinity
    from x(0) = 1 at t = 1/2, refuted.
    """
    return decide_for_equation(subject, _decide_explosion)


def decide_for_equation(subject: Subject, answer_of: Callable[[Equation], Answer]) -> Answer:
    """Return the answer about the equation of a subject; undecided, with a reason, where that is not known."""
    where = subject.place("claims.lyapunov", "claims.drift", "D")
    try:
        of = equation(subject)
        unknown = undecided("the equation is not known: it needs D (or a diffusion), and Q or a drift")
        answer = unknown if of is None else answer_of(of)
    except NotConvertedError as reason:
        answer = undecided(str(reason))
    except ModelError as error:
        answer = undecided(*list_faults(error))
    return replace(answer, where=where)


def claimed_lyapunov(subject: Subject) -> Answer:
    """Decide that the stated W is a Lyapunov function of the equation: W -> oo, and L W <= c (1 + W) for some c.

    L W = f . grad W + tr(D Hess W) (Khasminskii 2012, Theorem 3.5). It is a hint: `explosion` tries it before others.
    """
    return replace(decide_for_equation(subject, decide_stated_function), where=subject.place("claims.lyapunov"))


def _decide_explosion(of: Equation) -> Answer:
    found = decide_by_lyapunov(of)
    if not isinstance(found.decision, Undecided):
        return found
    by_law = _refute_on_line(of)
    against = refute_by_steep_drift(of) if by_law is None else by_law
    if against is not None:
        return against
    left = prove_by_integrals(of, normalisable(of.subject))
    if isinstance(left, Answer):
        return left
    tried = tuple(dict.fromkeys((*found.decision.tried, *left)))
    return undecided(*tried, given=found.decision.given)


def _refute_on_line(of: Equation) -> Answer | None:
    """Return the refutation by a line along which solutions reach infinity where exp(-H) has a finite integral."""
    if not isinstance(normalisable(of.subject).decision, Proved):
        return None
    current = find_line_current(of)
    if current is not None and current.explodes:
        by = f"a current carries {current.name} to infinity in finite time"
        return Answer(current.refuted(by), tuple(current.sizes.items()) or "all")
    by_test = refute_by_feller(of)
    return None if by_test is None else Answer(by_test)


def prove_by_integrals(of: Equation, law: Answer) -> Answer | tuple[str, ...]:
    """Return the proof that almost every start stays finite, by integrals against exp(-H); else the open terms.

    int |D|/(1 + |z|)**2 exp(-H) dz < oo and int |J|/(1 + |z|) exp(-H) dz < oo, with J = f - div D + D grad H, keep
    almost every start finite where exp(-H) has a finite integral and zero residual (Stannat 1999, Proposition 1.10).
    Rests on `normalisable`, on `stationary` or `claimed_residual`, and on a positive semidefinite D.

    Args:
        of: the equation.
        law: the answer that exp(-H) has a finite integral.

    Returns:
        an answer, or the terms that are not shown to be integrable.
    """
    subject = of.subject
    left = list_open_terms(of.derivation)
    if left:
        return tuple(f"{term.says} is not shown to be integrable against exp(-H) at infinity" for term in left)
    holds = (stationary if subject.dynamics.Q is not None else claimed_residual)(subject).decision
    if not is_proved(law) or not isinstance(holds, Proved):
        return ("exp(-H) is not shown to be an invariant distribution of the SDE",)
    return check_obligations(
        of, NonExplosionProof(INTEGRABLE, premises=(*law.decision.given, *holds.given), semidefinite=True)
    )

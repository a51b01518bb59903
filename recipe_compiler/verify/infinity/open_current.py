"""What passes from end to end of a line, or through infinity, is no stationary law: refuted there, left open here."""

from dataclasses import replace

from recipe_compiler.verdict import Answer, Proved, Refuted, Undecided
from recipe_compiler.verify.core.domain_faces import bounded
from recipe_compiler.verify.core.subject import Subject
from recipe_compiler.verify.equation.equation import Equation
from recipe_compiler.verify.infinity.at_infinity import steep
from recipe_compiler.verify.infinity.finite import by_lyapunov
from recipe_compiler.verify.infinity.line import through
from recipe_compiler.verify.integrability.normalisable import normalisable

HOLDS = "Fokker and Planck's equation holds"
OPEN = f"{HOLDS}, but not shown: nothing goes through infinity"


def through_infinity(subject: Subject, found: Answer, of: Equation | None) -> Answer:
    """Return what is left of a proof of the Fokker-Planck equation once infinity is looked at."""
    if of is None or not isinstance(found.decision, Proved):
        return found
    left = steep(of.derivation)
    current = through(of) if left or _has_faces(of) else None
    if current is not None:
        law = normalisable(subject)
        if isinstance(law.decision, Proved):
            refuted = replace(current.refuted, given=found.decision.given)
            return replace(found, decision=refuted, for_d=tuple(current.sizes.items()) or "all", checked_at=())
        if isinstance(law.decision, Refuted):
            return found
        return _open(
            found, (f"{HOLDS}, but a current goes along {current.name}, and exp(-H) is not shown to be a law",)
        )
    if not left:
        return found
    kept = by_lyapunov(of).decision
    if not isinstance(kept, Proved):
        return _open(found, (OPEN, *left))
    given = tuple(sorted({*found.decision.given, *kept.given}))
    return replace(found, decision=replace(found.decision, given=given))


def _has_faces(of: Equation) -> bool:
    """Whether something moves where there are ends that it need not be steep at to go through."""
    ends = bounded(of.subject.dynamics.declarations)
    return bool(ends) and not all(entry.is_zero for entry in of.current)


def _open(found: Answer, tried: tuple[str, ...]) -> Answer:
    return replace(found, decision=Undecided(tried, given=found.decision.given), checked_at=())

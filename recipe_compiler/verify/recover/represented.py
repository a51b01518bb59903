"""The equation a document is about, as D, Q and H: as written, or with the skew Q that its claimed drift has."""

from dataclasses import dataclass

from recipe_compiler.spec.model import Dynamics
from recipe_compiler.verify.core.stratonovich import NotConvertedError
from recipe_compiler.verify.core.subject import Subject, once
from recipe_compiler.verify.recover.search import search
from recipe_compiler.verify.recover.skew_problem import problem_of

UNKNOWN = "Q is not given, and none is shown to give the claimed drift"


@dataclass(frozen=True, slots=True)
class Represented:
    """A subject with D and Q, and what the proof of its Q rests on."""

    subject: Subject
    given: frozenset[str] = frozenset()
    recovered: bool = False
    """Whether Q was found, not written: it is then one of many."""


def states_equation(dynamics: Dynamics) -> bool:
    """Whether a document says what equation it is about: noise, and Q or a drift."""
    noise = dynamics.D is not None or dynamics.claims.diffusion is not None
    return noise and (dynamics.Q is not None or dynamics.claims.drift is not None)


@once
def represented(subject: Subject) -> Represented | None:
    """Return the subject with D and Q, recovered once for all claims that ask; None where they are not known."""
    if subject.derivation is None or not states_equation(subject.dynamics):
        return None
    if subject.dynamics.Q is not None:
        return Represented(subject)
    try:
        problem = problem_of(subject)
    except NotConvertedError:
        return None
    found = None if problem is None else search(problem).found
    if problem is None or found is None:
        return None
    return Represented(problem.with_curl(found.Q), frozenset(found.given), recovered=True)

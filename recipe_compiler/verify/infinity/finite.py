"""That solutions stay finite by a Lyapunov function: the one of those tried that takes the least for granted."""

from recipe_compiler.algebra.structure.definedness import Obligations
from recipe_compiler.verdict import Answer, Proved, Undecided
from recipe_compiler.verify.core.identities import Question, decide
from recipe_compiler.verify.core.kinks import almost_everywhere
from recipe_compiler.verify.core.premises import smoothness
from recipe_compiler.verify.equation.d_psd import d_psd
from recipe_compiler.verify.equation.equation import Equation
from recipe_compiler.verify.infinity.growth import Terms
from recipe_compiler.verify.infinity.inequality import Shown, inequality
from recipe_compiler.verify.infinity.lyapunov import candidates


def by_lyapunov(of: Equation) -> Answer:
    """Return that solutions stay finite, or which functions do not show it."""
    terms = Terms.of(of.subject.dynamics.declarations)
    if not terms.unbounded:
        return checked(of, Shown("the domain is bounded"))
    ways: list[Shown] = []
    for candidate in candidates(of.subject, terms):
        ways.append(inequality(of, terms, candidate))
        if not ways[-1].open and not ways[-1].premises:
            break
    shown = [way for way in ways if not way.open]
    if shown:
        return checked(of, min(shown, key=lambda way: way.rank))
    return Answer(Undecided(tuple(dict.fromkeys(reason for way in ways for reason in way.open))))


def checked(of: Equation, shown: Shown) -> Answer:
    """Return the proof, once the second engine agrees and all is defined."""
    subject = of.subject
    declarations = subject.dynamics.declarations
    needed = smoothness(shown.smooth, declarations) | almost_everywhere(of.formulas, declarations).premises
    if shown.semidefinite and not isinstance(d_psd(subject).decision, Proved):
        needed = needed | Obligations(open=("D is positive semidefinite",))
    reads = tuple(of.formulas)
    answer = decide(Question(shown.identities, declarations, subject.sizes, needed, subject.contradiction, reads=reads))
    if not isinstance(answer.decision, Proved):
        return answer
    given = tuple(sorted({*answer.decision.given, *shown.premises}))
    return Answer(Proved(shown.by, given, shown.data), answer.for_d, answer.checked_at)

"""All ways of finding a skew Q, in order, each result verified before it is believed."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from recipe_compiler.algebra.scalars.entries import NotScalarisableError
from recipe_compiler.algebra.scalars.matrices import TooLargeError
from recipe_compiler.errors import ModelError
from recipe_compiler.formula.block_matrices import Matrix
from recipe_compiler.formula.show import text
from recipe_compiler.spec.model import Dynamics
from recipe_compiler.verdict import Answer, Proved, Refuted, Undecided
from recipe_compiler.verify.core.stratonovich import NotConvertedError
from recipe_compiler.verify.core.subject import Subject, subject_of
from recipe_compiler.verify.equation.claimed_drift import claimed_drift
from recipe_compiler.verify.equation.periodic import on_circles, periodic
from recipe_compiler.verify.equation.symmetry import q_skew
from recipe_compiler.verify.recover.ansatz import from_ansatz
from recipe_compiler.verify.recover.fields import Fields, fields
from recipe_compiler.verify.recover.skew_problem import Problem, Proposal, problem_of
from recipe_compiler.verify.recover.tensors import from_library
from recipe_compiler.verify.recover.two_dimensional import from_integral
from recipe_compiler.verify.stationarity.claimed_stationary import claimed_stationary

# A Q that was found, judged like one that an author wrote: put into the document and decided by both engines.


NEEDED: tuple[tuple[str, Callable[[Subject], Answer]], ...] = (
    ("Q is skew", q_skew),
    ("the claimed drift is the derived one", claimed_drift),
    ("what is stated of a circle is periodic around it", periodic),
)
"""The claims that a Q has to pass, in the words of the table; the last where a block is on a circle."""


@dataclass(frozen=True, slots=True)
class Recovery:
    """A skew Q that is proved to give the claimed drift, for every size the document allows."""

    Q: Matrix
    by: str
    given: tuple[str, ...]
    checked_at: tuple[tuple[tuple[str, int], ...], ...]
    names: tuple[str, ...]
    """The blocks, in order."""

    @property
    def entries(self) -> tuple[tuple[str, str], ...]:
        """The places of Q as text, those that are zero left out."""
        named = [
            (f"Q[{row},{col}]", text(place))
            for row, line in zip(self.names, self.Q, strict=True)
            for col, place in zip(self.names, line, strict=True)
        ]
        return tuple((name, written) for name, written in named if written != "0") or (("Q", "0"),)


def verified(problem: Problem, proposal: Proposal) -> Recovery | str:
    """Return the recovery if the proposed Q is proved skew, periodic on circles and to give the drift; else why not."""
    shown = "; ".join(text(place) for row in proposal.Q for place in row)
    try:
        subject = problem.with_curl(proposal.Q)
        needed = NEEDED if on_circles(subject.dynamics.declarations) else NEEDED[:2]
        answers = [(says, decide(subject)) for says, decide in needed]
    except ModelError as error:
        return f"{proposal.by}: found Q = [{shown}], which has no meaning at every size: {error}"
    given: set[str] = set()
    for says, answer in answers:
        if not isinstance(answer.decision, Proved):
            why = "; ".join(answer.decision.tried) if isinstance(answer.decision, Undecided) else ""
            return f"{proposal.by}: found Q = [{shown}], but not that {says}: {why or 'refuted'}"
        given |= set(answer.decision.given)
    common = answers[1][1].checked_at
    by = f"{proposal.by}; then judged as if written by the author: Q skew, the drift the derived one, by both engines"
    return Recovery(proposal.Q, by, tuple(sorted(given)), common, subject.names)


Way = Callable[[], Proposal | str]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a search came to."""

    found: Recovery | None
    """The first Q that was verified."""
    tried: tuple[str, ...] = ()
    """What was tried without success."""
    stationary: Answer | None = None
    """Whether the claimed equation leaves exp(-H) stationary, where that was asked: if not, nothing is looked for."""


def recover(subject: Subject) -> Recovery | None:
    """Return a skew Q that is proved to give the claimed drift with D and H, or None if none was found."""
    try:
        problem = problem_of(subject)
    except NotConvertedError:
        return None
    return None if problem is None else search(problem).found


def search(problem: Problem) -> Outcome:
    """Look for a Q in all ways that apply, once for a claim and its explanation."""
    return _searched(problem.dynamics)


@lru_cache(maxsize=4)
def _searched(dynamics: Dynamics) -> Outcome:
    """Look for a Q of the dynamics of a problem.

    A drift that leaves exp(-H) not stationary has none, which is asked first where index notation sees a residual.
    """
    problem = problem_of(subject_of(dynamics))
    if problem is None:
        return Outcome(None)
    stationary = None if _seems_stationary(problem) else claimed_stationary(problem.subject)
    tried: list[str] = []
    if stationary is not None and isinstance(stationary.decision, Refuted):
        return Outcome(None, (), stationary)
    for way in _ways(problem):
        proposal = way()
        found = verified(problem, proposal) if isinstance(proposal, Proposal) else proposal
        if isinstance(found, Recovery):
            return Outcome(found, tuple(tried), stationary)
        tried.append(found)
    return Outcome(None, tuple(tried), stationary)


def _seems_stationary(problem: Problem) -> bool:
    """Whether the residual vanishes in index notation; not where a jump would have to be differentiated."""
    try:
        return problem.residual().is_zero
    except ModelError:
        return False


def _ways(problem: Problem) -> Iterator[Way]:
    """Yield the ways that apply: at fixed sizes scalars too."""
    yield lambda: from_library(problem)
    if problem.dynamics.declarations.sizes:
        return
    try:
        at: Fields = fields(problem, {})
    except (NotScalarisableError, TooLargeError, ModelError) as reason:
        text = f"second engine: {reason}"
        yield lambda: text
        return
    if len(at.z) > 1:
        yield lambda: from_ansatz(problem, at)
    if len(at.z) == 2:
        yield lambda: from_integral(problem, at)

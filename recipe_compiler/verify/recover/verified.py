"""A Q that was found, judged like one that an author wrote: put into the document and decided by both engines."""

from collections.abc import Callable
from dataclasses import dataclass

from recipe_compiler.errors import ModelError
from recipe_compiler.formula.show import text
from recipe_compiler.verdict import Answer, Proved, Undecided
from recipe_compiler.verify.core.subject import Matrix, Subject
from recipe_compiler.verify.equation.claimed_drift import claimed_drift
from recipe_compiler.verify.equation.periodic import on_circles, periodic
from recipe_compiler.verify.equation.symmetry import q_skew
from recipe_compiler.verify.recover.skew_problem import Problem, Proposal

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

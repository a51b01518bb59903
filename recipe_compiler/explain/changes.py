"""Changes of a document: entries with their new formulas, put in as text and proved before they are shown."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from recipe_compiler.ansatz.simplify import canonical_text, read
from recipe_compiler.ansatz.unknowns import entries, with_entries
from recipe_compiler.errors import DocumentError
from recipe_compiler.formula.expression import Formula
from recipe_compiler.formula.show import text
from recipe_compiler.spec.model import Dynamics
from recipe_compiler.verdict import Answer, Explanation, Proved, Topic
from recipe_compiler.verify.core.subject import Subject, decide_claim, prepare_subject
from recipe_compiler.verify.equation.claimed_drift import claimed_drift
from recipe_compiler.verify.equation.periodic import circle_blocks, periodic
from recipe_compiler.verify.equation.symmetry import d_symmetric, q_skew
from recipe_compiler.verify.stationarity.stationary import claimed_stationary, stationary

ENERGY, NOISE, GAMMA, FRICTION, DRIFT, CURL = range(6)
"""Ranks of changes: what is changed first is proposed first."""


@dataclass(frozen=True, slots=True)
class Change:
    """A proposed change of a document, not yet proved."""

    rank: int
    count: int
    """How many terms or entries it changes."""
    says: str
    formulas: tuple[tuple[str, Formula], ...]
    """Entry to its whole new formula."""
    plain: bool = True
    """Whether all its coefficients are numbers."""

    @property
    def order(self) -> tuple[int, int, bool, int, str]:
        """The sort key of proposals: rank, number of changes, plain coefficients first, then length."""
        written = [text(formula) for _, formula in self.formulas]
        return self.rank, self.count, not self.plain, sum(map(len, written)), " ".join((self.says, *written))

    def applied(self, dynamics: Dynamics) -> Dynamics:
        """Return the changed document."""
        return with_entries(dynamics, dict(self.formulas))

    def followed_by(self, more: "Change", rank: int) -> "Change":
        """Return both changes as one."""
        says, formulas = f"{self.says}, and {more.says}", (*self.formulas, *more.formulas)
        return Change(rank, self.count + more.count, says, formulas)


def head(entry: str) -> str:
    """Return what an entry is a part of: `H`, `D`, `Q`, `claims.drift` or `claims.diffusion`."""
    return "claims.drift" if entry.startswith("claims.drift.") else entry.partition("[")[0]


def unchanged(dynamics: Dynamics, entry: str, new: Formula) -> bool:
    """Whether a new formula means the same as the one an entry has, by the index calculus."""
    return canonical_text(entries(dynamics)[entry], dynamics.declarations) == canonical_text(new, dynamics.declarations)


def prove_change(dynamics: Dynamics, change: Change, topic: Topic, *, derived: bool) -> Explanation | None:
    """Return a change as an explanation if the changed document, read from its text, is proved; otherwise None.

    The residual of the claimed f and D has to vanish, by both engines; with `derived`, also Q + Q.T = 0, D - D.T = 0
    and f = -(D + Q) grad H + Gamma (Ma, Chen, Fox 2015, Eq. 3). On circles the formulas have to be periodic: exp(t) is
    no function on one. What is shown to a user is the text that was read back and proved, not the search's own formula.

    Args:
        dynamics: the document.
        change: new formulas of some entries.
        topic: what the explanation is: a repair, or what is sampled instead.
        derived: whether the drift has to be the recipe's for the D and Q given.
    """
    declarations, old = dynamics.declarations, entries(dynamics)
    try:
        written = [(entry, text(formula)) for entry, formula in change.formulas]
        again = {entry: read(new, declarations, old[entry].shape, entry) for entry, new in written}
        subject = prepare_subject(with_entries(dynamics, again))
    except DocumentError:
        return None
    answers = _collect_proofs(subject, [head(entry) for entry, _ in written], derived=derived)
    if answers is None:
        return None
    by = "; ".join(dict.fromkeys(answer.by for answer in answers))
    given = sorted({fact for answer in answers for fact in answer.given})
    return Explanation(topic, change.says, tuple(written), by, tuple(given))


def _collect_proofs(subject: Subject, heads: Sequence[str], *, derived: bool) -> list[Proved] | None:
    """Return the proofs that a changed document needs, None if one is missing."""
    claimed = subject.dynamics.claims.drift is not None
    needed: list[tuple[bool, Callable[[Subject], Answer]]] = [
        (True, claimed_stationary if claimed else stationary),
        (derived and claimed, claimed_drift),
        ("Q" in heads, q_skew),
        (not {"D", "claims.diffusion"}.isdisjoint(heads), d_symmetric),
        (bool(circle_blocks(subject.declarations)), periodic),
    ]
    found: list[Proved] = []
    for asked, claim in needed:
        decision = decide_claim(claim, subject).decision if asked else None
        if isinstance(decision, Proved):
            found.append(decision)
        elif asked:
            return None
    return found

"""Changes of a document: entries with their new formulas, put in as text and proved before they are shown."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from recipe_compiler.errors import DocumentError
from recipe_compiler.explain.repair.sum_of_terms import read, spelled
from recipe_compiler.formula.block_matrices import Matrix
from recipe_compiler.formula.declaration import Block, Declarations
from recipe_compiler.formula.expression import Formula
from recipe_compiler.formula.shapes import SCALAR, Shape
from recipe_compiler.formula.show import text
from recipe_compiler.spec.model import Dynamics
from recipe_compiler.verdict import Answer, Explanation, Proved, Topic
from recipe_compiler.verify.core.subject import Subject, subject_of
from recipe_compiler.verify.equation.claimed_drift import claimed_drift
from recipe_compiler.verify.equation.periodic import on_circles, periodic
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


def with_formulas(dynamics: Dynamics, formulas: Mapping[str, Formula]) -> Dynamics:
    """Return the dynamics with entries (`H`, `D[r,r]`, `claims.drift.xi`, ...) replaced."""
    blocks = dynamics.declarations.blocks
    claims = dynamics.claims
    drift = None
    if claims.drift is not None:
        drift = tuple((name, formulas.get(f"claims.drift.{name}", formula)) for name, formula in claims.drift)
    claims = replace(claims, drift=drift, diffusion=_replaced(claims.diffusion, "claims.diffusion", blocks, formulas))
    return replace(
        dynamics,
        H=formulas.get("H", dynamics.H),
        D=_replaced(dynamics.D, "D", blocks, formulas),
        Q=_replaced(dynamics.Q, "Q", blocks, formulas),
        claims=claims,
    )


def head(entry: str) -> str:
    """Return what an entry is a part of: `H`, `D`, `Q`, `claims.drift` or `claims.diffusion`."""
    name = entry.partition("[")[0]
    return "claims.drift" if name.startswith("claims.drift.") else name


def unchanged(dynamics: Dynamics, entry: str, new: Formula) -> bool:
    """Whether a new formula means the same as the one an entry has, by the index calculus."""
    declarations = dynamics.declarations
    return spelled(entry_of(dynamics, entry), declarations) == spelled(new, declarations)


def entry_of(dynamics: Dynamics, entry: str) -> Formula:
    """Return the formula of an entry that the document has."""
    of = head(entry)
    if of == "H":
        return dynamics.H
    if of == "claims.drift":
        return dict(dynamics.claims.drift or ())[entry.removeprefix("claims.drift.")]
    names = [block.name for block in dynamics.declarations.blocks]
    matrix = {"D": dynamics.D, "Q": dynamics.Q, "claims.diffusion": dynamics.claims.diffusion}[of] or ()
    row, col = entry.partition("[")[2].rstrip("]").split(",")
    return matrix[names.index(row)][names.index(col)]


def entry_shape(entry: str, declarations: Declarations) -> Shape:
    """Return the shape an entry has: H a scalar, D[a,b] n_a x n_b, claims.drift.b that of b."""
    shapes = {block.name: block.shape for block in declarations.blocks}
    if entry == "H":
        return SCALAR
    name, bracket, places = entry.partition("[")
    if bracket:
        row, col = places.rstrip("]").split(",")
        return Shape(shapes[row].rows, shapes[col].rows)
    return shapes[name.removeprefix("claims.drift.")]


def proved(dynamics: Dynamics, change: Change, topic: Topic, *, derived: bool) -> Explanation | None:
    """Return a change as an explanation if the document changed by it, read from its text, is proved; otherwise None.

    The residual of the claimed f and D has to vanish, by both engines; with `derived`, also Q + Q.T = 0, D - D.T = 0
    and f = -(D + Q) grad H + Gamma (Ma, Chen, Fox 2015, Eq. 3). On circles the formulas have to be periodic: exp(t) is
    no function on one. What is shown to a user is the text that was read back and proved, not the search's own formula.

    Args:
        dynamics: the document.
        change: new formulas of some entries.
        topic: what the explanation is: a repair, or what is sampled instead.
        derived: whether the drift has to be the recipe's for the D and Q given.
    """
    declarations = dynamics.declarations
    try:
        written = [(entry, text(formula)) for entry, formula in change.formulas]
        again = {entry: read(new, declarations, entry_shape(entry, declarations), entry) for entry, new in written}
        subject = subject_of(with_formulas(dynamics, again))
    except DocumentError:
        return None
    entries = [entry for entry, _ in change.formulas]
    answers = _answers(subject, entries, derived=derived)
    if answers is None:
        return None
    by = "; ".join(dict.fromkeys(answer.by for answer in answers))
    given = sorted({fact for answer in answers for fact in answer.given})
    return Explanation(topic, change.says, tuple(written), by, tuple(given))


def _answers(subject: Subject, entries: Sequence[str], *, derived: bool) -> list[Proved] | None:
    """Return the proofs that a changed document needs, None if one is missing."""
    asked: list[Callable[[Subject], Answer]] = [
        claimed_stationary if subject.dynamics.claims.drift is not None else stationary
    ]
    if derived and subject.dynamics.claims.drift is not None:
        asked.append(claimed_drift)
    if any(entry.startswith("Q[") for entry in entries):
        asked.append(q_skew)
    if any(head(entry) in {"D", "claims.diffusion"} for entry in entries):
        asked.append(d_symmetric)
    if on_circles(subject.dynamics.declarations):
        asked.append(periodic)
    found: list[Proved] = []
    for claim in asked:
        decision = claim(subject).decision
        if not isinstance(decision, Proved):
            return None
        found.append(decision)
    return found


def _replaced(
    matrix: Matrix | None, name: str, blocks: tuple[Block, ...], formulas: Mapping[str, Formula]
) -> Matrix | None:
    if matrix is None:
        return None
    return tuple(
        tuple(formulas.get(f"{name}[{row.name},{col.name}]", place) for col, place in zip(blocks, line, strict=True))
        for row, line in zip(blocks, matrix, strict=True)
    )

"""A skew Q for a claimed drift: an exact linear solve over candidates, each result verified before it is believed.

`with_recovered_q` returns the equation of a document as D, Q and H: as written, or with the Q of its claimed drift.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations, islice, zip_longest

from recipe_compiler import limits
from recipe_compiler.ansatz.candidates import Material, coordinates, material, monomials
from recipe_compiler.ansatz.simplify import simplest, tensor_of
from recipe_compiler.ansatz.unknowns import Ansatz, Part, has_no_defects, with_entries
from recipe_compiler.derive.recipe import gradient
from recipe_compiler.errors import ModelError
from recipe_compiler.formula import build
from recipe_compiler.formula import expression as ex
from recipe_compiler.formula.block_matrices import Matrix, place_shape, zeros
from recipe_compiler.formula.declaration import Block, Declarations
from recipe_compiler.formula.expression import Formula
from recipe_compiler.formula.show import text
from recipe_compiler.spec.model import Claims, Dynamics
from recipe_compiler.tensor.calculus import calculus
from recipe_compiler.verdict import Answer, Evidence, Refuted, Undecided
from recipe_compiler.verify.core.conjunction import is_proved
from recipe_compiler.verify.core.stratonovich import NotConvertedError, convert_to_ito
from recipe_compiler.verify.core.subject import Subject, once, prepare_subject
from recipe_compiler.verify.equation.claimed_drift import claimed_drift
from recipe_compiler.verify.equation.periodic import circle_blocks, periodic
from recipe_compiler.verify.equation.symmetry import q_skew
from recipe_compiler.verify.stationarity.stationary import claimed_stationary

NO_NOISE = "neither D nor claims.diffusion is given: the noise of the claimed equation is not known"
UNKNOWN = "Q is not given, and no Q was found that gives the claimed drift"
NEEDED: tuple[tuple[str, Callable[[Subject], Answer]], ...] = (
    ("Q is skew", q_skew),
    ("the claimed drift equals the derived drift", claimed_drift),
    ("all formulas are periodic in each circular coordinate", periodic),
)
"""The claims that a Q has to pass, in the words of the table; the last where a block is on a circle."""


def problem_of(subject: Subject) -> Subject | None:
    """Return the claimed equation alone, for which a Q is to be found; None without a drift or noise.

    div Q - Q grad H = f + D grad H - div D, f in Ito's sense (from Ma, Chen, Fox 2015, Eq. 3).

    Raises:
        stratonovich.NotConvertedError: what is stated does not determine the Ito drift.
    """
    dynamics = subject.dynamics
    D = dynamics.D or dynamics.claims.diffusion
    if D is None or dynamics.claims.drift is None:
        return None
    drift = convert_to_ito(dynamics, D)
    claims = Claims(drift=tuple(zip(subject.names, drift, strict=True)))
    alone = prepare_subject(replace(dynamics, D=D, Q=None, claims=claims))
    return None if alone.derivation is None else alone


@dataclass(frozen=True, slots=True)
class Represented:
    """A subject with D and Q, and what the proof of its Q rests on."""

    subject: Subject
    given: frozenset[str] = frozenset()
    recovered: bool = False
    """Whether Q was recovered, not written by the author: it is then one of many."""


def states_equation(dynamics: Dynamics) -> bool:
    """Whether a document states an equation: the noise, and Q or a drift."""
    noise = dynamics.D is not None or dynamics.claims.diffusion is not None
    return noise and (dynamics.Q is not None or dynamics.claims.drift is not None)


@once
def with_recovered_q(subject: Subject) -> Represented | None:
    """Return the subject with D and Q, recovering Q from a claimed drift; None where D or Q is unknown.

    Claims about f = -(D + Q) grad H + Gamma can then be decided of a document that states f and D only.
    """
    if subject.derivation is None or not states_equation(subject.dynamics):
        return None
    if subject.dynamics.Q is not None:
        return Represented(subject)
    outcome = search(subject)
    if outcome.problem is None or outcome.found is None:
        return None
    whole = prepare_subject(replace(outcome.problem.dynamics, Q=outcome.found.Q))
    return Represented(whole, frozenset(outcome.found.given), recovered=True)


@dataclass(frozen=True, slots=True)
class Recovery:
    """A skew Q that is proved to give the claimed drift, for every size the document allows.

    f = -(D + Q) grad H + Gamma (Ma, Chen, Fox 2015, Eq. 3).
    """

    Q: Matrix
    by: str
    given: tuple[str, ...]
    checked_at: tuple[tuple[tuple[str, int], ...], ...]
    names: tuple[str, ...]
    """The blocks, in order."""

    @property
    def entries(self) -> Evidence:
        """The places of Q as text, those that are zero left out."""
        return list_entries(self.names, self.Q)


def list_entries(names: Sequence[str], Q: Matrix) -> Evidence:
    """Return the places of Q over blocks as text, those that are zero left out."""
    lines = zip(names, Q, strict=True)
    named = [(f"Q[{row},{col}]", text(place)) for row, line in lines for col, place in zip(names, line, strict=True)]
    return tuple((name, written) for name, written in named if written != "0") or (("Q", "0"),)


def verify_candidate(problem: Subject, Q: Matrix, by: str) -> Recovery | str:
    """Return the recovery if a proposed Q is proved skew and gives the claimed drift; otherwise why not.

    Q + Q.T = 0 and f = -(D + Q) grad H + Gamma, Q: [n, n], by both engines, as if the author had written Q (Ma, Chen,
    Fox 2015, Theorem 2); on circles Q also has to be periodic.
    """
    shown = "; ".join(text(place) for row in Q for place in row)
    try:
        subject = prepare_subject(replace(problem.dynamics, Q=Q))
        needed = NEEDED if circle_blocks(subject.declarations) else NEEDED[:2]
        answers = [(says, decide(subject)) for says, decide in needed]
    except ModelError as error:
        return f"{by}: found Q = [{shown}], which has no meaning at every size: {error}"
    given: set[str] = set()
    for says, answer in answers:
        if not is_proved(answer):
            why = "; ".join(answer.decision.tried) if isinstance(answer.decision, Undecided) else ""
            return f"{by}: found Q = [{shown}], but not that {says}: {why or 'refuted'}"
        given |= set(answer.decision.given)
    by = f"{by}; both engines then proved that Q is skew and gives the claimed drift"
    return Recovery(Q, by, tuple(sorted(given)), answers[1][1].checked_at, subject.names)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a search for Q."""

    problem: Subject | None
    """None where the drift or the noise is not known."""
    found: Recovery | None = None
    """The first Q that was verified."""
    tried: tuple[str, ...] = ()
    """What was tried without success, or what is not known."""
    stationary: Answer | None = None
    """Whether the claimed equation leaves exp(-H) stationary, where that was decided: if not, nothing is looked for."""


@once
def search(subject: Subject) -> Outcome:
    """Return the first Q that solves div Q - Q grad H = W and is verified, Q = sum_k c_k T_k.

    The T_k are made of what occurs in the document, for every size; then, at fixed sizes, of single entries: monomials
    in the coordinates, also times transcendentals of the document. The c_k are ratios of polynomials in sizes and
    scalar parameters, by a linear solve on the coefficients of monomials (Ma, Chen, Fox 2015, Theorem 2). It is one of
    many: Q + A exp(H) with any skew A, div A = 0, is another. A claimed equation for which exp(-H) is refuted to be
    stationary has no Q, and none is looked for.
    """
    try:
        problem = problem_of(subject)
    except NotConvertedError as reason:
        return Outcome(None, tried=(str(reason),))
    if problem is None:
        return Outcome(None, tried=(NO_NOISE,))
    stationary = None if _seems_stationary(problem.dynamics) else claimed_stationary(problem)
    tried: list[str] = []
    for by, sets in WAYS if stationary is None or not isinstance(stationary.decision, Refuted) else ():
        found = _search_candidates(problem, sets(problem.dynamics), f"exact linear solve over {by}")
        if isinstance(found, Recovery):
            return Outcome(problem, found, tuple(tried), stationary)
        tried += found
    return Outcome(problem, None, tuple(tried), stationary)


def _seems_stationary(dynamics: Dynamics) -> bool:
    """Whether the residual vanishes in index notation; not where a jump would have to be differentiated."""
    try:
        return has_no_defects(dynamics, derived=False)
    except ModelError:
        return False


def _search_candidates(problem: Subject, sets: Iterator[list[Part]], by: str) -> Recovery | list[str]:
    """Return the first verified Q in the span of growing sets of candidates, or what was tried."""
    dynamics = problem.dynamics
    declarations, parts, tried = dynamics.declarations, list[Part](), ""
    without = replace(dynamics, Q=zeros(declarations.blocks))
    for more in sets:
        parts += [part for part in more if _has_slopes(part, declarations)]
        ansatz = Ansatz(without, tuple(parts), derived=True)
        values = next(ansatz.solutions(ansatz.system.sparsest()), None)
        if values is not None:
            new = {entry: simplest(place, declarations) for entry, place in ansatz.written(values).items()}
            found = verify_candidate(problem, with_entries(without, new).Q or (), by)
            return found if isinstance(found, Recovery) else [found]
        tried = f"{by}: no combination of {len(parts)} terms gives the claimed drift"
    return [tried] if tried else []


def _skew_candidate(row: Block, col: Block, X: Formula) -> Part:
    """Return the skew matrix with X at Q[a, b] and -X.T at Q[b, a]; X - X.T where a = b."""
    opposite = build.negate(build.transpose(X))
    return Part(((f"Q[{row.name},{col.name}]", X), (f"Q[{col.name},{row.name}]", opposite)), own=False)


def _has_slopes(part: Part, declarations: Declarations) -> bool:
    """Whether a candidate has derivatives: a step has none."""
    c = calculus(declarations)
    try:
        X = tensor_of(part.terms[0][1], declarations)
        gradient(c, declarations.blocks, X)
    except ModelError:
        return False
    return True


def _list_candidates(dynamics: Dynamics) -> Iterator[list[Part]]:
    """Yield the candidates of each level, taking the entries of Q in turn so that none uses up the limit."""
    blocks = dynamics.declarations.blocks
    found = material(dynamics)
    for level in range(3):
        shapes = dict.fromkeys(place_shape(row, col) for a, row in enumerate(blocks) for col in blocks[a:])
        made = {shape: list(islice(found.candidates(shape, level), limits.CANDIDATES)) for shape in shapes}
        turns: list[list[Part]] = []
        for a, row in enumerate(blocks):
            new = Material(dynamics.declarations)  # a symmetric X adds nothing to Q[a, a]
            square = [x for x in made[place_shape(row, row)] if new.is_new(_skew_part(x))]
            others = [made[place_shape(row, col)] for col in blocks[a + 1 :]]
            turns += [
                [_skew_candidate(row, col, x) for x in kept]
                for col, kept in zip(blocks[a:], [square, *others], strict=True)
            ]
        yield [one for turn in zip_longest(*turns) for one in turn if one is not None][: limits.CANDIDATES]


def _skew_part(X: Formula) -> Formula:
    """Return X - X.T."""
    return build.add([X, build.negate(build.transpose(X))], X.shape)


def _list_polynomials(dynamics: Dynamics, kernel: int) -> Iterator[list[Part]]:
    """Yield single polynomial entries above Q's diagonal, simplest first; nothing where a size is symbolic."""
    blocks = dynamics.declarations.blocks
    if dynamics.declarations.sizes:
        return
    pairs = list(combinations([(block, x) for block in blocks for x in coordinates(block)], 2))
    entries = (
        _skew_candidate(row[0], col[0], _unit_entry_matrix(monomial, row, col))
        for monomial in monomials(material(dynamics), kernel)
        for row, col in pairs
    )
    for _ in range(limits.CASES):
        if more := list(islice(entries, limits.CANDIDATES)):
            yield more


def _unit_entry_matrix(entry: Formula, row: tuple[Block, Formula], col: tuple[Block, Formula]) -> Formula:
    """Return the block e_i x e_j.T, with x at (i, j) and zeros elsewhere."""
    units = [ex.Apply("grad", (x, x.arg), block.shape) for block, x in (row, col) if isinstance(x, ex.Entry)]
    shape = place_shape(row[0], col[0])
    if len(units) == 2:
        return build.multiply(entry, ex.Apply("outer", tuple(units), shape), shape)
    if not units:
        return entry
    return build.multiply(entry, units[0] if row[0].shape.sizes else build.transpose(units[0]), shape)


WAYS: tuple[tuple[str, Callable[[Dynamics], Iterator[list[Part]]]], ...] = (
    ("a library of tensors", _list_candidates),
    ("polynomials, some by transcendentals", partial(_list_polynomials, kernel=2)),
    ("transcendentals, some by polynomials", partial(_list_polynomials, kernel=0)),
)
"""Sets of candidates in words, from the smallest to the largest."""

"""A skew Q for a claimed drift: an exact linear solve over candidates, each result verified before it is believed.

`represented` is the equation a document is about, as D, Q and H: as written, or with the Q that its claimed drift has.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations, islice, zip_longest

from recipe_compiler.ansatz.candidates import Material, coordinates, material, monomials
from recipe_compiler.ansatz.equations import constant_names, equations, with_unknowns
from recipe_compiler.ansatz.simplify import simplest
from recipe_compiler.ansatz.solve import System
from recipe_compiler.ansatz.sums import constants, total
from recipe_compiler.derive.recipe import Derivation, Vector, col_slots, row_slots, vector
from recipe_compiler.derive.stationarity import residual
from recipe_compiler.errors import ModelError
from recipe_compiler.formula import build
from recipe_compiler.formula import expression as ex
from recipe_compiler.formula.block_matrices import Matrix, place_shape
from recipe_compiler.formula.declaration import Block
from recipe_compiler.formula.expression import Formula
from recipe_compiler.formula.show import text
from recipe_compiler.spec.model import Claims, Dynamics
from recipe_compiler.tensor.atoms import ONE
from recipe_compiler.tensor.calculus import calculus
from recipe_compiler.tensor.convert import convert
from recipe_compiler.tensor.terms import Component, Coordinate, Tensor
from recipe_compiler.verdict import Answer, Proved, Refuted, Undecided
from recipe_compiler.verify.core.stratonovich import NotConvertedError, ito_drift
from recipe_compiler.verify.core.subject import Subject, once, subject_of
from recipe_compiler.verify.equation.claimed_drift import claimed_drift
from recipe_compiler.verify.equation.periodic import on_circles, periodic
from recipe_compiler.verify.equation.symmetry import q_skew
from recipe_compiler.verify.stationarity.stationary import claimed_stationary

NO_NOISE = "neither D nor claims.diffusion is given: the noise of the claimed equation is not known"
UNKNOWN = "Q is not given, and no Q was found that gives the claimed drift"
LEVELS = (60, 90, 60)
"""So many candidates are taken of each level of `Material.candidates`, for every size."""
ENTRIES = (40, 110, 150)
"""So many more entries of Q are tried one after the other at fixed sizes."""
NEEDED: tuple[tuple[str, Callable[[Subject], Answer]], ...] = (
    ("Q is skew", q_skew),
    ("the claimed drift equals the derived drift", claimed_drift),
    ("all formulas are periodic in each circular coordinate", periodic),
)
"""The claims that a Q has to pass, in the words of the table; the last where a block is on a circle."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A formula X, n_a x n_b, for the place (a, b) of Q; Q[b, a] is -X.T. Where a = b, Q[a, a] is X - X.T."""

    a: int
    b: int
    formula: Formula


@dataclass(frozen=True, slots=True)
class SkewProblem:
    """The problem: find a skew Q with div Q - Q grad H = f + D grad H - div D, f the claimed drift in Ito's sense."""

    subject: Subject
    derivation: Derivation
    """With Q = 0."""
    drift: Vector

    @property
    def dynamics(self) -> Dynamics:
        """The document of the claimed equation alone."""
        return self.subject.dynamics

    def matrix(self, terms: Sequence[Candidate]) -> Matrix:
        """Return the Q that is the sum of some terms."""
        blocks = self.dynamics.declarations.blocks
        places: dict[tuple[int, int], list[Formula]] = {}
        for term in terms:
            places.setdefault((term.a, term.b), []).append(term.formula)
            places.setdefault((term.b, term.a), []).append(build.negate(build.transpose(term.formula)))
        sums = [
            [total(places.get((a, b), ()), place_shape(x, y)) for b, y in enumerate(blocks)]
            for a, x in enumerate(blocks)
        ]
        return tuple(tuple(simplest(place, self.dynamics.declarations) for place in row) for row in sums)

    def added_drift(self, candidate: Candidate) -> Vector | None:
        """Return what a candidate adds to the drift, div Q - Q grad H, a vector over z; None without a derivative.

        With Q[theta,r] = X: div_r X - X dH/dr in the row of theta, X.T dH/dtheta - div_theta X.T in that of r.
        """
        declarations = self.dynamics.declarations
        c, blocks = calculus(declarations), declarations.blocks
        row, col = blocks[candidate.a], blocks[candidate.b]
        found = [c.zero(*row_slots(block)) for block in blocks]
        try:
            X = convert(candidate.formula, declarations, *row_slots(row), *col_slots(col))
            swap = dict(zip((*row_slots(row), *col_slots(col)), (*col_slots(row), *row_slots(col)), strict=True))
            opposite = c.scale(c.rename(X, swap), -1)
            for place, other, entry in ((candidate.a, col, X), (candidate.b, row, opposite)):
                moves = dict(zip(row_slots(other), col_slots(other), strict=True))
                slope = c.rename(self.derivation.grad_H[blocks.index(other)], moves)
                spread = c.diff(entry, Coordinate(other.name, col_slots(other)))
                acted = c.total(c.subtract(spread, c.multiply(entry, slope)), *col_slots(other))
                found[place] = c.add(found[place], acted)
        except ModelError:
            return None
        return tuple(found)

    def wanted(self) -> Vector:
        """Return W = f + D grad H - div D, which Q has to contribute to the drift, block by block, for every size."""
        c = calculus(self.dynamics.declarations)
        return tuple(c.settled(c.subtract(f, g)) for f, g in zip(self.drift, self.derivation.drift, strict=True))

    def seems_stationary(self) -> bool:
        """Whether the residual vanishes in index notation; not where a jump would have to be differentiated."""
        try:
            return residual(self.derivation, self.drift, self.derivation.D).is_zero
        except ModelError:
            return False


def problem_of(subject: Subject) -> SkewProblem | None:
    """Return the problem of finding Q for the claimed drift of a subject; None without a drift or noise.

    div Q - Q grad H = f + D grad H - div D (from Ma, Chen, Fox 2015, Eq. 3).

    Raises:
        stratonovich.NotConvertedError: what is stated does not determine the Ito drift.
    """
    dynamics = subject.dynamics
    D = dynamics.D or dynamics.claims.diffusion
    if D is None or dynamics.claims.drift is None:
        return None
    drift = ito_drift(dynamics, D)
    claims = Claims(drift=tuple(zip(subject.names, drift, strict=True)))
    alone = subject_of(replace(dynamics, D=D, Q=None, claims=claims))
    if alone.derivation is None:
        return None
    return SkewProblem(alone, alone.derivation, vector(drift, dynamics.declarations))


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
def represented(subject: Subject) -> Represented | None:
    """Return the subject with D and Q; Q recovered if only a drift is claimed. None where D or Q is not known.

    Claims about f = -(D + Q) grad H + Gamma can then be decided of a document that states f and D only.
    """
    if subject.derivation is None or not states_equation(subject.dynamics):
        return None
    if subject.dynamics.Q is not None:
        return Represented(subject)
    outcome = search(subject)
    if outcome.problem is None or outcome.found is None:
        return None
    whole = subject_of(replace(outcome.problem.dynamics, Q=outcome.found.Q))
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
    def entries(self) -> tuple[tuple[str, str], ...]:
        """The places of Q as text, those that are zero left out."""
        lines = zip(self.names, self.Q, strict=True)
        named = [
            (f"Q[{row},{col}]", text(place)) for row, line in lines for col, place in zip(self.names, line, strict=True)
        ]
        return tuple((name, written) for name, written in named if written != "0") or (("Q", "0"),)


def verified(problem: SkewProblem, Q: Matrix, by: str) -> Recovery | str:
    """Return the recovery, if a proposed Q is proved to be skew and to give the claimed drift; otherwise why not.

    Q + Q.T = 0 and f = -(D + Q) grad H + Gamma, Q: [n, n], by both engines, as if the author had written Q (Ma, Chen,
    Fox 2015, Theorem 2); on circles Q also has to be periodic.
    """
    shown = "; ".join(text(place) for row in Q for place in row)
    try:
        subject = subject_of(replace(problem.dynamics, Q=Q))
        needed = NEEDED if on_circles(subject.dynamics.declarations) else NEEDED[:2]
        answers = [(says, decide(subject)) for says, decide in needed]
    except ModelError as error:
        return f"{by}: found Q = [{shown}], which has no meaning at every size: {error}"
    given: set[str] = set()
    for says, answer in answers:
        if not isinstance(answer.decision, Proved):
            why = "; ".join(answer.decision.tried) if isinstance(answer.decision, Undecided) else ""
            return f"{by}: found Q = [{shown}], but not that {says}: {why or 'refuted'}"
        given |= set(answer.decision.given)
    by = f"{by}; both engines then proved that Q is skew and gives the claimed drift"
    return Recovery(Q, by, tuple(sorted(given)), answers[1][1].checked_at, subject.names)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a search for Q."""

    problem: SkewProblem | None
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
    stationary = None if problem.seems_stationary() else claimed_stationary(problem.subject)
    tried: list[str] = []
    for by, sets in WAYS if stationary is None or not isinstance(stationary.decision, Refuted) else ():
        found = _first(problem, sets(problem.dynamics), f"exact linear solve over {by}")
        if isinstance(found, Recovery):
            return Outcome(problem, found, tuple(tried), stationary)
        tried += found
    return Outcome(problem, None, tuple(tried), stationary)


def _first(problem: SkewProblem, sets: Iterator[list[Candidate]], by: str) -> Recovery | list[str]:
    """Return the first Q in the span of ever larger sets of candidates that is verified, otherwise what was tried."""
    listed: list[tuple[Candidate, Vector]] = []
    wanted, tried = problem.wanted(), ""
    for more in sets:
        listed += [(one, added) for one in more if (added := problem.added_drift(one)) is not None]
        solved = _solved(problem, wanted, listed)
        if solved is not None:
            found = verified(problem, problem.matrix(solved), by)
            return found if isinstance(found, Recovery) else [found]
        tried = f"{by}: no combination of {len(listed)} terms gives the claimed drift"
    return [tried] if tried else []


def _solved(problem: SkewProblem, wanted: Vector, listed: list[tuple[Candidate, Vector]]) -> list[Candidate] | None:
    """Return candidates with coefficients that add up to the wanted drift, None if there are none."""
    declarations = problem.dynamics.declarations
    _, names = with_unknowns(declarations, len(listed))
    rows: list[Tensor] = []
    for n, row in enumerate(wanted):
        columns = zip(names, (added[n] for _, added in listed), strict=True)
        terms = [replace(t, factors=(*t.factors, (Component(name), ONE))) for name, own in columns for t in own.terms]
        rows.append(Tensor(row.free, (*terms, *(replace(t, coefficient=-t.coefficient) for t in row.terms))))
    at = constants(declarations)
    found = equations(calculus(declarations), rows, (*constant_names(declarations), *names))
    system = System(found, names, at.field)
    chosen = system.sparsest()
    solutions = [] if chosen is None else system.solutions(chosen)
    if not solutions:
        return None
    pairs = ((one, solutions[0].get(name)) for (one, _), name in zip(listed, names, strict=True))
    return [replace(one, formula=at.scaled(one.formula, value)) for one, value in pairs if value]


def _library(dynamics: Dynamics) -> Iterator[list[Candidate]]:
    """Yield the candidates of each level, one from each place of Q in turn, so that no place uses up the limit."""
    blocks = dynamics.declarations.blocks
    found = material(dynamics)
    for level, most in enumerate(LEVELS):
        shapes = dict.fromkeys(place_shape(row, col) for a, row in enumerate(blocks) for col in blocks[a:])
        made = {shape: list(islice(found.candidates(shape, level), most)) for shape in shapes}
        turns: list[list[Candidate]] = []
        for a, row in enumerate(blocks):
            own = Material(dynamics.declarations)  # a symmetric X adds nothing to Q[a, a]
            square = [x for x in made[place_shape(row, row)] if own.is_new(_skew_part(x))]
            others = [made[place_shape(row, col)] for col in blocks[a + 1 :]]
            turns += [[Candidate(a, b, x) for x in kept] for b, kept in enumerate([square, *others], start=a)]
        yield [one for turn in zip_longest(*turns) for one in turn if one is not None][:most]


def _skew_part(X: Formula) -> Formula:
    """Return X - X.T."""
    return build.add([X, build.negate(build.transpose(X))], X.shape)


def _polynomials(dynamics: Dynamics, kernel: int) -> Iterator[list[Candidate]]:
    """Yield single entries of Q above its diagonal, the simplest first; nothing where a size is a symbol."""
    blocks = dynamics.declarations.blocks
    if dynamics.declarations.sizes:
        return
    z = [(n, x) for n, block in enumerate(blocks) for x in coordinates(block)]
    pairs = list(combinations(z, 2))
    entries = (
        Candidate(a, b, _outer(monomial, (blocks[a], x), (blocks[b], y)))
        for monomial in monomials(material(dynamics), kernel)
        for (a, x), (b, y) in pairs
    )
    for most in ENTRIES:
        if more := list(islice(entries, most)):
            yield more


def _outer(entry: Formula, row: tuple[Block, Formula], col: tuple[Block, Formula]) -> Formula:
    """Return the place of a block matrix, e_i x e_j.T, that holds one entry at (i, j) and zeros."""
    units = [ex.Apply("grad", (x, x.arg), block.shape) for block, x in (row, col) if isinstance(x, ex.Entry)]
    shape = place_shape(row[0], col[0])
    if len(units) == 2:
        return build.multiply(entry, ex.Apply("outer", tuple(units), shape), shape)
    if not units:
        return entry
    return build.multiply(entry, units[0] if row[0].shape.sizes else build.transpose(units[0]), shape)


WAYS: tuple[tuple[str, Callable[[Dynamics], Iterator[list[Candidate]]]], ...] = (
    ("a library of tensors", _library),
    ("polynomials, some by transcendentals", partial(_polynomials, kernel=2)),
    ("transcendentals, some by polynomials", partial(_polynomials, kernel=0)),
)
"""Sets of candidates in words, from the smallest to the largest."""

"""All ways of finding a skew Q, in order, each result verified before it is believed.

In two coordinates, Q_12 = exp(H) int_{-oo}^{z2} W_1 exp(-H) ds, where that integral is a polynomial in z2: the equation
d_2 Q - Q d_2 H = W_1 is solved from the highest power of z2 down, with any functions of z1 as coefficients; then the
result has to satisfy -d_1 Q + Q d_1 H = W_2. The same along z1. (Ma, Chen, Fox 2015, supplement C; their S.11 has the
sign and the brackets wrong.)

`represented` is the equation a document is about, as D, Q and H: as written, or with the Q that its claimed drift has.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache

import sympy
from sympy import Expr, Symbol

from recipe_compiler.algebra.scalars.entries import NotScalarisableError
from recipe_compiler.algebra.scalars.matrices import TooLargeError
from recipe_compiler.algebra.scalars.transcendentals import NoNormalFormError
from recipe_compiler.algebra.zero.zero import is_zero
from recipe_compiler.errors import ModelError
from recipe_compiler.formula.block_matrices import Matrix
from recipe_compiler.formula.show import text
from recipe_compiler.spec.model import Dynamics
from recipe_compiler.verdict import Answer, Proved, Refuted, Undecided
from recipe_compiler.verify.core.stratonovich import NotConvertedError
from recipe_compiler.verify.core.subject import Subject, once, subject_of
from recipe_compiler.verify.equation.claimed_drift import claimed_drift
from recipe_compiler.verify.equation.periodic import on_circles, periodic
from recipe_compiler.verify.equation.symmetry import q_skew
from recipe_compiler.verify.recover.ansatz import from_ansatz
from recipe_compiler.verify.recover.scalar_formulas import NotWrittenError, Writer
from recipe_compiler.verify.recover.skew_problem import Fields, Proposal, SkewProblem, assembled, fields, problem_of
from recipe_compiler.verify.recover.tensors import from_library
from recipe_compiler.verify.stationarity.stationary import claimed_stationary

UNKNOWN = "Q is not given, and no Q was found that gives the claimed drift"
LARGEST_DEGREE = 12
NEEDED: tuple[tuple[str, Callable[[Subject], Answer]], ...] = (
    ("Q is skew", q_skew),
    ("the claimed drift equals the derived drift", claimed_drift),
    ("all formulas are periodic in each circular coordinate", periodic),
)
"""The claims that a Q has to pass, in the words of the table; the last where a block is on a circle."""

Way = Callable[[], Proposal | str]


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

    It is computed once for all claims that need it. Claims about f = -(D + Q) grad H + Gamma can then be decided of a
    document that states f and D only.
    """
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


def from_integral(problem: SkewProblem, at: Fields) -> Proposal | str:
    """Return the Q of two coordinates, 2 x 2, by an integral along one of them; otherwise that none was found.

    Q_12 = exp(H) int W_1 exp(-H) dz_2 solves d_2 Q_12 - Q_12 d_2 H = W_1; the other equation, Q_12 d_1 H - d_1 Q_12 =
    W_2, is then checked. H = (x**2 + r**2)/2 and W = (r, -x) give Q_12 = -1: d_r(-1) + r = r, and -x = W_2. (Ma, Chen,
    Fox 2015, Eq. S.11, has its sign and brackets wrong.)
    """
    x, y = at.z
    (g1, g2), (w1, w2) = at.g, at.W
    for along, slope, wanted in ((y, g2, w1), (x, g1, -w2)):
        try:
            q = integral(along, slope, wanted)
            if q is None or not is_zero(q * g1 - sympy.diff(q, x) - w2) or not is_zero(sympy.diff(q, y) - q * g2 - w1):
                continue
            writer = Writer(problem.dynamics.declarations)
            return Proposal(assembled(problem, writer, {(0, 1): [writer.written(q)]}), f"integral along {along}")
        except (NoNormalFormError, NotWrittenError):
            continue
    return "the integral along neither coordinate is a polynomial in it"


def integral(z: Symbol, slope: Expr, wanted: Expr) -> Expr | None:
    """Return the polynomial q in z with dq/dz - slope q = wanted, if there is one; its coefficients are free of z.

    `slope` and `wanted` are polynomials in z. q is found from its highest power down, and the lowest equations may
    fail: the caller checks them. slope = z and wanted = z give q = -1.
    """
    h, w = _coefficients(slope, z), _coefficients(wanted, z)
    if h is None or w is None or len(h) < 2 or len(w) > LARGEST_DEGREE:
        return None
    m = len(h) - 1
    q: list[Expr] = [sympy.Integer(0)] * (len(w) + 1)
    for k in reversed(range(len(w) - m)):
        known = w[k + m] - (k + m + 1) * q[k + m + 1] if k + m + 1 < len(q) else w[k + m]
        known += sympy.Add(*[h[k + m - b] * q[b] for b in range(k + 1, min(k + m, len(q) - 1) + 1)])
        q[k] = sympy.expand(-known / h[m])
    return sympy.Add(*[q[k] * z**k for k in range(len(q))])


def _coefficients(e: Expr, z: Symbol) -> list[Expr] | None:
    """Return the coefficients of a polynomial in z, lowest first; None if it is none."""
    expanded = sympy.expand(e)
    terms: dict[int, list[Expr]] = {}
    for term in sympy.Add.make_args(expanded):
        rest, power = term.as_independent(z, as_Add=False)
        n = _exponent(power, z)
        if n is None:
            return None
        terms.setdefault(n, []).append(rest)
    top = max(terms, default=0)
    return [sympy.Add(*terms.get(n, [])) for n in range(top + 1)]


def _exponent(power: Expr, z: Symbol) -> int | None:
    if power == 1:
        return 0
    base, n = power.as_base_exp()
    return int(n) if base == z and n.is_Integer and n > 0 else None


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
        named = [
            (f"Q[{row},{col}]", text(place))
            for row, line in zip(self.names, self.Q, strict=True)
            for col, place in zip(self.names, line, strict=True)
        ]
        return tuple((name, written) for name, written in named if written != "0") or (("Q", "0"),)


def verified(problem: SkewProblem, proposal: Proposal) -> Recovery | str:
    """Return the recovery, if the proposed Q is proved to be skew and to give the claimed drift; otherwise why not.

    Q + Q.T = 0 and f = -(D + Q) grad H + Gamma, Q: [n, n], by both engines, as if the author had written Q (Ma, Chen,
    Fox 2015, Theorem 2); on circles Q also has to be periodic.
    """
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
    by = f"{proposal.by}; both engines then proved that Q is skew and gives the claimed drift"
    return Recovery(proposal.Q, by, tuple(sorted(given)), common, subject.names)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a search for Q."""

    found: Recovery | None
    """The first Q that was verified."""
    tried: tuple[str, ...] = ()
    """What was tried without success."""
    stationary: Answer | None = None
    """Whether the claimed equation leaves exp(-H) stationary, where that was decided: if not, nothing is looked for."""


def recover(subject: Subject) -> Recovery | None:
    """Return a skew Q that is proved to give the claimed drift with D and H; None if none was found.

    f = -(D + Q) grad H + Gamma, Gamma_i = sum_j d_j (D + Q)_ij (Ma, Chen, Fox 2015, Theorem 2). It is one of many: Q +
    A exp(H) with any skew A, div A = 0, is another.
    """
    try:
        problem = problem_of(subject)
    except NotConvertedError:
        return None
    return None if problem is None else search(problem).found


def search(problem: SkewProblem) -> Outcome:
    """Look for a Q: for every size over a library of tensors, then at fixed sizes by an ansatz and by an integral.

    Each proposal is verified before it counts. A claimed equation for which exp(-H) is refuted to be stationary has no
    Q, and none is looked for. The result is shared by all that ask for it.
    """
    return _searched(problem.dynamics)


@lru_cache(maxsize=4)
def _searched(dynamics: Dynamics) -> Outcome:
    """Look for a Q of the dynamics of a problem.

    A drift that leaves exp(-H) not stationary has none, which is decided first where index notation sees a residual.
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


def _seems_stationary(problem: SkewProblem) -> bool:
    """Whether the residual vanishes in index notation; not where a jump would have to be differentiated."""
    try:
        return problem.residual().is_zero
    except ModelError:
        return False


def _ways(problem: SkewProblem) -> Iterator[Way]:
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

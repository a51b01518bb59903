"""Non-explosion by a Lyapunov function: of the candidates tried, the one with the fewest premises."""

from collections.abc import Sequence
from dataclasses import dataclass

import sympy
from sympy import Expr

from recipe_compiler.algebra.dynamics.system import state
from recipe_compiler.algebra.polynomial_integrability.leading_form import leading
from recipe_compiler.algebra.scalars.entries import NotScalarisableError, rows
from recipe_compiler.algebra.scalars.matrices import TooLargeError
from recipe_compiler.algebra.structure.definedness import Obligations
from recipe_compiler.derive.recipe import generator
from recipe_compiler.formula.expression import Formula
from recipe_compiler.formula.shapes import DomainName
from recipe_compiler.tensor.convert import convert
from recipe_compiler.tensor.show import text
from recipe_compiler.tensor.terms import Tensor
from recipe_compiler.verdict import Answer, Evidence, Proved, undecided
from recipe_compiler.verify.core.conjunction import is_proved
from recipe_compiler.verify.core.identities import Identity, Question, decide
from recipe_compiler.verify.core.premises import require_almost_everywhere, require_smooth
from recipe_compiler.verify.core.scalars import make_leaf, write_out
from recipe_compiler.verify.core.sizes import Sizes
from recipe_compiler.verify.equation.d_psd import d_psd
from recipe_compiler.verify.equation.equation import Equation, apply_generator
from recipe_compiler.verify.growth.bounds import Terms
from recipe_compiler.verify.infinity.lyapunov import GROWS, LOW, LyapunovFunction, bound_generator, list_candidates

# The inequality L W <= c (1 + W) decided: in index notation for every size, or for polynomials at fixed sizes.


FACTORS = (1, 16, 256)
"""Values of c tried at fixed sizes."""


@dataclass(frozen=True, slots=True)
class NonExplosionProof:
    """A proof that the SDE is non-explosive: the certificate, its premises, and the terms that are open."""

    by: str = ""
    data: Evidence = ()
    premises: tuple[str, ...] = ()
    open: tuple[str, ...] = ()
    identities: tuple[Identity, ...] = ()
    smooth: tuple[Formula, ...] = ()
    """What W is made of: it needs two derivatives."""
    semidefinite: bool = False
    """Whether D has to be positive semidefinite for it."""

    @property
    def rank(self) -> tuple[int, int]:
        """The number of premises: of bounds on L W, and of assumptions that W goes to infinity."""
        of_W = [premise for premise in self.premises if GROWS in premise or LOW in premise]
        return len(self.premises) - len(of_W), len([premise for premise in of_W if GROWS in premise])


def decide_inequality(of: Equation, terms: Terms, candidate: LyapunovFunction) -> NonExplosionProof:
    """Return whether L W <= c (1 + W) and W -> oo, for every size; failing that, at the sizes of the document.

    L W = f . grad W + tr(D Hess W), f: [n], D: [n, n], made in index notation (Khasminskii 2012, Theorem 3.5). At fixed
    sizes, polynomials without abstract functions are decided by leading forms: W and c W - L W must go to infinity for
    some c of `FACTORS`. The identity between the L W of the two engines is decided in `check_obligations`. What is open
    is named, and never refutes.

    Worked, dx = (x - x**3) dt + sqrt(2) dW and W = x**2: L W = 2 x**2 - 2 x**4 + 2 <= 2 (1 + W), -2 x**4 being dropped.
    """
    tensors = (convert(part, terms.declarations) for part in candidate.parts)
    parts = [terms.c.settled(generator(of.derivation, tensor)) for tensor in tensors]
    found = bound_generator(terms, parts, candidate.weight)
    premises = tuple(dict.fromkeys((*candidate.premises, *found.premises)))
    left = f"not shown to be at most c (1 + W) in L W: {', '.join(found.open)}" if found.open else ""
    open_ = tuple(reason for reason in (candidate.open, left) if reason)
    says = f"log(1 + {candidate.says})" if found.logarithm else candidate.says
    if not open_:
        shown = "; ".join(text(part) for part in parts)
        data = (("W", says), ("L W" if len(parts) == 1 else "L of each term of W", shown))
        own = tuple(_compare_engines(of, one, left) for one, left in zip(candidate.parts, parts, strict=True))
        by = f"Lyapunov function {says}"
        return NonExplosionProof(by, data, premises, (), own, candidate.parts, semidefinite=found.logarithm)
    at_sizes = _prove_by_leading_forms(of, candidate)
    if at_sizes is None:
        return NonExplosionProof(open=tuple(f"W = {candidate.says}: {reason}" for reason in open_))
    return NonExplosionProof(f"Lyapunov function {candidate.says}", at_sizes, smooth=candidate.parts)


def _compare_engines(of: Equation, part: Formula, left: Tensor) -> Identity:
    """Return the identity that both engines derive the same L W."""

    def entries(sizes: Sizes) -> Sequence[Expr]:
        leaf = make_leaf(of.subject.declarations, sizes)
        return [write_out(left, sizes, leaf)[0] - apply_generator(of, write_scalar(of, part, sizes), sizes)]

    where = of.subject.place("claims.lyapunov", "claims.drift", "H")
    return Identity("L W in index notation minus L W entry by entry", where, Tensor((), ()), entries)


def write_scalar(of: Equation, part: Formula, sizes: Sizes) -> Expr:
    """Return a function of the state at fixed sizes, by the second engine."""
    return rows(part, of.subject.setting(sizes))[0][0]


def _prove_by_leading_forms(of: Equation, candidate: LyapunovFunction) -> Evidence | None:
    """Return the proof that W and c W - L W go to infinity, as polynomials at fixed sizes; None without one."""
    declarations = of.subject.declarations
    real = all(block.domain.name is DomainName.REAL for block in declarations.blocks)
    if declarations.sizes or declarations.functions or not real or of.subject.contradiction:
        return None
    z = state(declarations, {})
    try:
        W = sympy.Add(*(write_scalar(of, part, {}) for part in candidate.parts))
        left = apply_generator(of, W, {})
    except (NotScalarisableError, TooLargeError):
        return None
    proper = leading(W, z)
    for factor in FACTORS if proper is not None else ():
        found = leading(sympy.expand(factor * W - left), z)
        if proper is not None and found is not None:
            own = ((f"W: {name}", value) for name, value in proper)
            both = ((f"{factor} W - L W: {name}", value) for name, value in found)
            return (("W", str(W)), ("L W", str(sympy.expand(left))), *own, *both)
    return None


def decide_by_lyapunov(of: Equation) -> Answer:
    """Decide that solutions stay finite, by L W <= c (1 + W) for some W -> oo (Khasminskii 2012, Theorem 3.5).

    Then P(sup_(s <= t) W(z_s) >= n) <= exp(c t) (1 + W(z_0))/(1 + n). Of the candidates that show it, the one with the
    fewest premises is the certificate. Undecided lists, for each W, the terms of L W that are not bounded; it never
    refutes. On a bounded domain there is nothing to show.
    """
    terms = Terms.of(of.subject.declarations)
    if not terms.unbounded:
        return check_obligations(of, NonExplosionProof("the domain is bounded"))
    ways: list[NonExplosionProof] = []
    for candidate in list_candidates(of.subject, terms):
        ways.append(decide_inequality(of, terms, candidate))
        if not ways[-1].open and not ways[-1].premises:
            break
    shown = [way for way in ways if not way.open]
    if shown:
        return check_obligations(of, min(shown, key=lambda way: way.rank))
    return undecided(*dict.fromkeys(reason for way in ways for reason in way.open))


def check_obligations(of: Equation, shown: NonExplosionProof) -> Answer:
    """Return a proof once its obligations hold: both engines have one L W, and W, f and D are smooth enough.

    W needs two derivatives. With log(1 + W) in the place of W, D has to be positive semidefinite as well, since the
    term -grad W . D grad W/(1 + W)**2 is then dropped.
    """
    subject = of.subject
    declarations = subject.declarations
    needed = require_smooth(shown.smooth, declarations) | require_almost_everywhere(of.formulas, declarations)
    if shown.semidefinite and not isinstance(d_psd(subject).decision, Proved):
        needed = needed | Obligations(open=("D is positive semidefinite",))
    reads = tuple(of.formulas)
    answer = decide(Question(shown.identities, declarations, subject.sizes, needed, subject.contradiction, reads=reads))
    if not is_proved(answer):
        return answer
    given = tuple(sorted({*answer.decision.given, *shown.premises}))
    return Answer(Proved(shown.by, given, shown.data), answer.for_d, answer.checked_at)

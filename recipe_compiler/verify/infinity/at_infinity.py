"""Integrability against exp(-H) at infinity: it excludes currents through infinity and explosion.

With T_s the mass that solutions started from p = exp(-H) have kept at time s, T_s = u_s p with 0 <= u_s <= 1 and, for
cut-off functions psi_n of |z|/n, by parts

    d/ds T_s(psi_n) = - int grad psi_n . D grad u_s p + int u_s J . grad psi_n p,  int int grad u . D grad u p <= 1/2.

So if |D|/(1 + |z|)**2 and |J|/(1 + |z|) have finite integrals against p, nothing is lost: almost every start stays
finite, and p is the law at all times (Stannat 1999, Proposition 1.10; Bogachev, Krylov, Roeckner, Shaposhnikov 2015,
Chapter 5). A current that is not integrable may go through infinity.

A current from end to end of a line, or through infinity, contradicts stationarity: refuted if shown, else open.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from recipe_compiler.derive.recipe import Derivation, row_coordinate, row_slots
from recipe_compiler.derive.stationarity import current
from recipe_compiler.formula.elementwise import Size, named
from recipe_compiler.tensor.atoms import Factor
from recipe_compiler.tensor.show import text
from recipe_compiler.tensor.signs import is_nonnegative
from recipe_compiler.tensor.terms import Applied, Tensor, Term
from recipe_compiler.verdict import Answer, Assumes, Assumption, Proved, Refuted, Undecided
from recipe_compiler.verify.core.conjunction import is_proved
from recipe_compiler.verify.core.subject import Subject
from recipe_compiler.verify.equation.equation import Equation
from recipe_compiler.verify.growth.bounds import Terms
from recipe_compiler.verify.growth.ends import list_blocks_with_boundary
from recipe_compiler.verify.growth.integral import (
    decide_finite,
    group_coupled_blocks,
    is_coupled_at_face,
    list_abstract_energies,
)
from recipe_compiler.verify.infinity.diffusions_on_line import find_line_current
from recipe_compiler.verify.infinity.lyapunov import has_power_growth
from recipe_compiler.verify.infinity.stays_finite import decide_by_lyapunov
from recipe_compiler.verify.integrability.normalisable import normalisable

HOLDS = "the Fokker-Planck equation holds"
OPEN = f"{HOLDS}, but flux through infinity is not excluded"
CURRENT = "a term of the probability current, may carry flux to infinity"
NOISE = "a term of the noise, may carry solutions to infinity"
NON_EXPLOSIVE = Assumption("the SDE is non-explosive", Assumes.GROWTH)
_EXPONENTIAL = named(lambda row: row.size is Size.EXPONENTIAL)


def exclude_flux_through_infinity(subject: Subject, found: Answer, of: Equation | None) -> Answer:
    """Return the answer about stationarity that a proof of the Fokker-Planck equation gives, with flux at infinity.

    R = 0 says int L phi p dz = 0 for phi of compact support: it does not see what passes through infinity. Refuted
    where a current J p goes along a line from end to end and exp(-H) is a law. Undecided where a known term of J or D
    is not shown to be integrable against exp(-H) and no Lyapunov function keeps solutions finite, or where there is
    such a current and no law is shown. Any other proof is returned; if it needed a Lyapunov function, with the growth
    that this assumes, and if abstract functions decide what is integrable, given that solutions stay finite: then u_s =
    1, above. (Bogachev, Krylov, Roeckner, Shaposhnikov 2015, Chapter 5.)
    """
    if of is None or not is_proved(found):
        return found
    open_ = list_open_terms(of.derivation)
    left = tuple(f"{term.says}, {term.carries}" for term in open_ if term.is_steep)
    current = find_line_current(of) if left or _has_current_and_boundary(of) else None
    if current is not None:
        law = normalisable(subject)
        if is_proved(law):
            by = f"{current.name} is a diffusion on a line, where a stationary distribution has zero current"
            refuted = replace(current.refuted(by), given=found.decision.given)
            return replace(found, decision=refuted, for_d=tuple(current.sizes.items()) or "all", checked_at=())
        if isinstance(law.decision, Refuted):
            return found
        why = f"a current runs along {current.name}, and exp(-H) is not shown to have a finite integral"
        return _make_undecided(found, (f"{HOLDS}, but {why}",))
    if not open_:
        return found
    kept = decide_by_lyapunov(of).decision
    if left and not isinstance(kept, Proved):
        return _make_undecided(found, (OPEN, *left))
    return found.given_also(kept.given if isinstance(kept, Proved) else (NON_EXPLOSIVE,))


def _has_current_and_boundary(of: Equation) -> bool:
    """Whether there is a current and a boundary: such a current need not be steep to cross it."""
    ends = list_blocks_with_boundary(of.subject.declarations)
    return bool(ends) and not all(entry.is_zero for entry in of.current)


def _make_undecided(found: Answer, tried: tuple[str, ...]) -> Answer:
    return replace(found, decision=Undecided(tried, given=found.decision.given), checked_at=())


@dataclass(frozen=True, slots=True)
class OpenTerm:
    """A term of D or of the current J that is not shown to be integrable against exp(-H)."""

    says: str
    carries: str
    is_abstract: bool
    """Whether it holds an abstract function, of which anything may be assumed."""
    is_steep: bool
    """Whether no assumption about abstract functions is known to make it integrable."""


def list_open_terms(of: Derivation) -> tuple[OpenTerm, ...]:
    """Return the terms of J and D that are not shown to be integrable, for a finite integral of exp(-H).

    Wanted are int |J|/(1 + |z|) exp(-H) dz < oo and int |D|/(1 + |z|)**2 exp(-H) dz < oo, term by term; empty if both
    are shown (Stannat 1999, Proposition 1.10). Where H is known, such a term leaves infinity open: for H = y**2 (1 +
    x**2)**2, under which x is Cauchy, the noise D = diag((1 + x**2)**2, 1) carries solutions there. What an abstract
    function makes of the integral is an assumption about it, unless the term is an exponential of known functions, or a
    current that is exponential: with H = x**2/2 the noise D = exp(x**2/2) (1 + x**2) is steep, exp(x**2/4) is not.
    Faces are left out where neither H nor a factor of D or J joins a coordinate there to another
    one: all are then at most sums of products of functions of the one and of the other.
    """
    weighted = (*_list_weighted_terms((current(of, of.drift, of.D),), 1), *_list_weighted_terms(of.D, 2))
    whole = Terms.of(of.dynamics.declarations)
    joined = any(_joins_at_face(whole, factor) for _, term, _ in weighted for factor in term.factors)
    away = not (joined or any(is_coupled_at_face(whole, term) for term in of.H.terms))
    terms = replace(whole, away=away)
    beside_any = list_blocks_of_abstract_energies(terms, of.H)
    found: list[OpenTerm] = []
    for says, term, weight in weighted:
        if is_integrable(terms, of.H, term, weight):
            continue
        abstract = terms.is_abstract(term.factors)
        exponential = bool(_list_exponentials(terms, term.factors)) and not (abstract and weight == 2)
        steep = exponential or not (abstract or terms.blocks(term.factors) & beside_any)
        found.append(OpenTerm(says, NOISE if weight == 2 else CURRENT, abstract, steep))
    return tuple(found)


def list_blocks_of_abstract_energies(terms: Terms, H: Tensor) -> frozenset[str]:
    """Return the blocks that abstract functions in H depend on, and those that terms of H couple to these."""
    of_any = frozenset[str]().union(*(terms.blocks(t.factors) for t in H.terms if terms.is_abstract(t.factors)))
    groups = ({block.name for block in g} for g in group_coupled_blocks(terms, terms.declarations.blocks, H.terms))
    return of_any.union(*(group for group in groups if group & of_any))


def _joins_at_face(terms: Terms, factor: Factor) -> bool:
    """Whether a factor of several blocks, one of them with faces, may be unbounded near these."""
    held, faces = terms.blocks([factor]), {block.name for block in list_blocks_with_boundary(terms.declarations)}
    return len(held) > 1 and bool(held & faces)


def _list_weighted_terms(rows: Iterable[Iterable[Tensor]], weight: int) -> Iterator[tuple[str, Term, int]]:
    """Yield the terms of vectors over z, as text and as terms, with a weight."""
    for entry in (entry for row in rows for entry in row):
        yield from ((text(Tensor(entry.free, (term,))), term, weight) for term in entry.terms)


def is_integrable(terms: Terms, H: Tensor, term: Term, weight: int) -> bool:
    """Return whether int |term|/(1 + |z|)**weight exp(-H) dz < oo is shown, given that int exp(-H) dz is finite.

    Each term of D has the weight 2, each term of J the weight 1 (Stannat 1999, Proposition 1.10).

    Exponentials exp(a) in the term are moved into the energy, H - a, which must still grow like a power, or be
    integrable with the remaining powers; a bounded quotient needs nothing more. For H = x**2/2 the term x exp(x**2/4)
    is integrable, exp(x**2/2) with weight 1 is not.
    """
    unbounded = {block.name for block in terms.unbounded}
    if not terms.blocks(term.factors) & unbounded:
        return True
    c = terms.c
    left, energy = list(term.factors), H
    for factor in _list_exponentials(terms, term.factors):
        raised = _bound_exponent(terms, factor)
        if raised is None:
            return False
        energy = c.subtract(energy, raised)
        left.remove(factor)
    if terms.is_abstract(left):
        return False
    growth = terms.bound(left)
    if growth is None:
        is_some_power = terms.bound_locally(left) is not None and not terms.is_steep(left)
        return is_some_power and has_power_growth(terms, energy)
    power = sum(growth.powers.values(), Fraction(0)) - weight
    if len(left) == len(term.factors) and power + (1 if growth.logs else 0) <= 0:
        return True
    if has_power_growth(terms, energy):
        return True
    room = (max(power, Fraction(0)) + (1 if growth.logs else 0)) / 2
    square = c.constant(1)
    for block in (block for block in terms.unbounded if growth.logs or growth.powers.get(block.name, 0) > 0):
        x = c.atom(row_coordinate(block))
        square = c.add(square, c.total(c.multiply(x, x), *row_slots(block)))
    with_power = c.subtract(energy, c.scale(c.applied("log", square), room))
    abstract = list_abstract_energies(terms.declarations)
    return not decide_finite(c, terms.declarations, with_power, terms.declarations.blocks, abstract).reasons


def _list_exponentials(terms: Terms, factors: Iterable[Factor]) -> list[Factor]:
    """Return the factors that hold an exponential of something unbounded."""
    return [factor for factor in factors if terms.is_steep([factor])]


def _bound_exponent(terms: Terms, factor: Factor) -> Tensor | None:
    """Return a with |factor| <= exp(a): the exponent of exp itself, summed over its index where that only adds."""
    atom, power = factor
    match atom:
        case Applied("exp", (arg,)):
            raised = terms.c.scale(arg, power)
        case Applied(fn, (arg,)) if power > 0 and fn in _EXPONENTIAL:
            size = arg if is_nonnegative(terms.c.rules, arg) else terms.c.applied("abs", arg)
            raised = terms.c.scale(size, power)
        case _:
            return None
    if not raised.free:
        return raised
    return terms.c.total(raised, *raised.free) if is_nonnegative(terms.c.rules, raised) else None

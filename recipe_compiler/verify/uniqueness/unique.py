"""Is exp(-H) the unique invariant distribution of dz = f dt + sqrt(2D) dW? Yes where D and its brackets span all of z.

exp(-H) is a law, stationary and positive everywhere. Where the columns of D and their brackets with b = -Q grad H +
div Q span all directions at *every* state (Hoermander), the semigroup sends bounded functions to continuous ones
(Ichihara, Kunita 1974). On a connected state space two different laws are then impossible: they could be taken singular
to each other, and the probability of a set that tells them apart, after a time t > 0, is a continuous function that is
1 almost everywhere under exp(-H), hence everywhere, under the other law too (Hairer, Mattingly 2006, Theorem 3.16).
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import islice

import sympy

from recipe_compiler import limits
from recipe_compiler.algebra.dynamics.brackets import rank_at, work
from recipe_compiler.algebra.points.sample_fields import NoInstanceError
from recipe_compiler.algebra.points.witness import points
from recipe_compiler.algebra.scalars.entries import NotScalarisableError
from recipe_compiler.algebra.scalars.matrices import TooLargeError
from recipe_compiler.derive.brackets import ReachedBlock, reach
from recipe_compiler.derive.recipe import Derivation
from recipe_compiler.derive.refresh import refreshes
from recipe_compiler.errors import ModelError
from recipe_compiler.facts.semidefinite import semidefinite
from recipe_compiler.verdict import Answer, Evidence, Proved, Verdict, undecided
from recipe_compiler.verify.core.conjunction import is_proved
from recipe_compiler.verify.core.premises import list_state_assumptions, require_smooth
from recipe_compiler.verify.core.sizes import Sizes, format_sizes
from recipe_compiler.verify.core.subject import Subject
from recipe_compiler.verify.equation.d_psd import d_psd
from recipe_compiler.verify.equation.periodic import circle_blocks, periodic
from recipe_compiler.verify.equation.symmetry import d_symmetric, q_skew
from recipe_compiler.verify.growth.ends import list_blocks_with_boundary
from recipe_compiler.verify.recover.search import UNKNOWN, with_recovered_q
from recipe_compiler.verify.uniqueness.noise_reach import compute_kalman_rank, find_spanning_minors
from recipe_compiler.verify.uniqueness.not_unique import find_other_law

NEEDED: tuple[tuple[str, Callable[[Subject], Answer]], ...] = (
    ("D is symmetric", d_symmetric),
    ("Q is skew", q_skew),
    ("D is positive semidefinite", d_psd),
    ("all formulas are periodic in each circular coordinate", periodic),
)
"""The claims without which a refutation by another law says nothing, in the words of the table; the last on circles."""


@dataclass(frozen=True, slots=True)
class SpanningProof:
    """The certificate of a proof that brackets span all directions, or the reasons that it is open."""

    by: str = ""
    data: Evidence = ()
    open: tuple[str, ...] = ()
    checked: tuple[Sizes, ...] = ()


def unique(subject: Subject) -> Answer:
    """Decide that exp(-H) is the unique invariant distribution, for all parameters as declared.

    Proved where D is positive definite, or where its columns and their brackets with b = -Q grad H + div Q, [X, Y]_i =
    sum_j (X_j d_j Y_i - Y_j d_j X_i), span all n directions at every state (Hormander 1967; Ichihara, Kunita 1974;
    Hairer, Mattingly 2006, Theorem 3.16). Refuted by a conserved quantity. It rests on smooth H,
    D and Q, and on the premises in the table of claims: a symmetric D >= 0, a skew Q, a finite integral of exp(-H), and
    solutions that do not explode. Undecided on domains with a boundary.

    Example, underdamped Langevin dynamics with b = (inv(M) r, -grad U): for C > 0 noise reaches r, and the brackets
    [d/dr_j, b] = (inv(M) e_j, 0) reach theta, at every state and for every size. With C = 0 it is refuted: H never
    changes.
    """
    of = with_recovered_q(subject)
    if of is None:
        return undecided(UNKNOWN, where=subject.place("D", "claims.drift"))
    found = _decide_unique(of.subject)
    if not of.given or not is_proved(found):
        return found
    given = dict.fromkeys((*found.decision.given, *sorted(of.given)))
    return found.but(given=tuple(given))


def _decide_unique(subject: Subject) -> Answer:
    where = subject.place("D", "claims.diffusion")
    if subject.derivation is None:
        return undecided(UNKNOWN, where=where)
    premises = require_smooth(subject.formulas, subject.declarations)
    given = tuple(sorted(premises.given))
    shut = [*(f"not shown: {what}" for what in premises.open), *_list_boundaries(subject)]
    if shut:
        return undecided(*shut, given=given, where=where)
    proof = prove_spanning(subject, subject.derivation)
    linear = _prove_linear(subject) if proof.open else None
    proof = proof if linear is None else linear
    if not proof.open:
        checked = tuple(tuple(sizes.items()) for sizes in proof.checked)
        return Answer(Proved(proof.by, given, proof.data), checked_at=checked, where=where)
    not_kept = _list_unproved_premises(subject)
    if not_kept:
        return undecided(*not_kept, given=given, where=where)
    hint = _suggest_refresh(subject.derivation)
    other = find_other_law(subject, hint)
    if other is not None:
        return replace(other, where=where)
    tried = (*proof.open, *((hint.removeprefix("; "),) if hint else ()))
    return undecided(*tried, given=given, where=where)


def _prove_linear(subject: Subject) -> SpanningProof | None:
    """Return the certificate of a linear equation with numbers for all sizes and parameters."""
    try:
        s = None if subject.whole.declarations.sizes else subject.system({})
    except (NotScalarisableError, TooLargeError):
        return None
    if s is None or compute_kalman_rank(s) != len(s.z):
        return None
    says = f"rank of [D, A D, A**2 D, ...] = {len(s.z)}, all of z"
    return SpanningProof(f"Hoermander: the equation is linear, {says}", (("rank", str(len(s.z))),))


def _list_boundaries(subject: Subject) -> list[str]:
    """Return the reasons that the state space has a boundary or may be disconnected."""
    declarations = subject.declarations
    names = [block.name for block in list_blocks_with_boundary(declarations)]
    found = [f"{', '.join(names)} has a boundary, and behaviour there also decides uniqueness"] if names else []
    found += [f"{c} restricts the state, which may be disconnected" for c in list_state_assumptions(declarations)]
    return found + ([subject.contradiction] if subject.contradiction else [])


def _list_unproved_premises(subject: Subject) -> list[str]:
    """Return the premises on D, Q and H, without which exp(-H) need not be stationary, that are not proved."""
    needed = NEEDED if circle_blocks(subject.declarations) else NEEDED[:3]
    return [f"not shown: {says}" for says, decide in needed if decide(subject).verdict is not Verdict.PROVED]


def _suggest_refresh(derivation: Derivation) -> str:
    """Return the advice to add refreshes where D = 0; empty otherwise."""
    if any(not entry.is_zero for row in derivation.D for entry in row):
        return ""
    laws = refreshes(derivation)
    if not laws:
        return (
            "; D = 0: nothing is random, and no block is shown to be conditionally Gaussian, so none can be refreshed"
        )
    return f"; D = 0, so nothing is random: add refreshes from {' and '.join(laws)}"


def prove_spanning(subject: Subject, derivation: Derivation) -> SpanningProof:
    """Return the certificate that noise and its brackets span all directions at every state, or what is open.

    By index calculus for every size, or by a minor at fixed sizes. It depends on D and the drift, not on the Q that
    gives the drift.
    """
    noisy = _find_noisy_blocks(subject, derivation)
    names = subject.names
    try:
        steps = reach(derivation, noisy) if noisy else ()
    except ModelError as error:
        return SpanningProof(open=tuple(fault.problem for fault in error.faults))
    reached = noisy | {step.block for step in steps}
    missing = [name for name in names if name not in reached]
    if missing and subject.declarations.sizes:
        return SpanningProof(open=(_describe_reached(noisy, steps, missing),))
    ranks, seen = _compute_ranks(subject)
    if not missing:
        if not ranks and any(min(sizes.values(), default=2) > 1 for sizes in seen):
            return _write_certificate(noisy, steps, names, seen)
        return SpanningProof(open=ranks or ("second engine: too large beyond a size of 1",))
    if not ranks:
        minors = _find_minors(subject)
        if minors:
            listed = ", ".join(minors)
            shown = f"{listed} is never 0" if len(minors) == 1 else f"{listed} have no common zero"
            by = f"Hoermander: brackets of the columns of D span all directions: {shown}"
            return SpanningProof(by, (("minor" if len(minors) == 1 else "minors", listed),), checked=seen)
    return SpanningProof(open=(_describe_reached(noisy, steps, missing), *ranks))


def _write_certificate(
    noisy: frozenset[str], steps: tuple[ReachedBlock, ...], names: tuple[str, ...], seen: tuple[Sizes, ...]
) -> SpanningProof:
    if not steps:
        return SpanningProof("D is positive definite everywhere", (("noise in", ", ".join(names)),), checked=seen)
    own = ", ".join(name for name in names if name in noisy)
    data = (("noise in", own), *((f"{step.block} by {step.by}", step.is_) for step in steps))
    chain = "; ".join(f"{step.block} by {step.by} = {step.is_}" for step in steps)
    return SpanningProof(f"Hoermander: noise in {own} reaches {chain}, invertible at every state", data, checked=seen)


def _describe_reached(noisy: frozenset[str], steps: tuple[ReachedBlock, ...], missing: list[str]) -> str:
    if not noisy:
        return "no block is shown to have noise in all its directions at every state"
    further = "".join(f", {step.block} by {step.by}" for step in steps)
    return f"Lie brackets reach {', '.join(sorted(noisy))}{further}; not shown at every state: {', '.join(missing)}"


def _find_noisy_blocks(subject: Subject, derivation: Derivation) -> frozenset[str]:
    """Return the blocks that D couples to no other and in which it is positive definite everywhere."""
    declarations, D = subject.declarations, subject.whole.D or ()
    found: set[str] = set()
    for n, block in enumerate(declarations.blocks):
        alone = all(m == n or (row[n].is_zero and derivation.D[n][m].is_zero) for m, row in enumerate(derivation.D))
        place = D[n][n]
        definite = semidefinite(place, declarations)
        if alone and definite is not None and definite.strict:
            found.add(block.name)
    return frozenset(found)


def _compute_ranks(subject: Subject) -> tuple[tuple[str, ...], tuple[Sizes, ...]]:
    """Return, by size, where brackets have too low a rank at all points tried, and where they have full rank."""
    low: list[str] = []
    full: list[Sizes] = []
    for sizes in subject.sizes:
        try:
            scalars = subject.system(sizes)
            n = len(scalars.z)
            if n > limits.COORDINATES or work(scalars) > limits.TERMS:
                continue
            best = 0
            for at in islice(points(subject.declarations, sizes, limits.TRIALS), limits.TRIALS):
                best = max(best, rank_at(scalars, at))
                if best == n:
                    break
        except (NotScalarisableError, TooLargeError, NoInstanceError) as reason:
            low.append(f"second engine: {reason}")
            continue
        if best == n:
            full.append(sizes)
        else:
            at_ = f" at {format_sizes(sizes)}" if sizes else ""
            low.append(f"second engine{at_}: brackets span {best} of {n} directions at the points tried")
    return tuple(low), tuple(full)


def _find_minors(subject: Subject) -> tuple[str, ...]:
    """Return minors of brackets without a common zero, as text; nothing where none are found."""
    sizes = subject.sizes[0]
    try:
        s = subject.system(sizes)
        found = find_spanning_minors(s, tuple(points(subject.declarations, sizes, limits.TRIALS)))
    except (NotScalarisableError, TooLargeError, NoInstanceError, sympy.PolynomialError):
        return ()
    return tuple(str(minor) for minor in found)

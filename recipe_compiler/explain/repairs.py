"""The smallest changes of a document after which its claims hold, each proved before it is shown."""

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial

from recipe_compiler.ansatz.simplify import spelled
from recipe_compiler.ansatz.unknowns import defects, entries
from recipe_compiler.derive.stationarity import skewness_defect, symmetry_defect
from recipe_compiler.errors import DocumentError
from recipe_compiler.explain.changes import CURL, NOISE, Change, proved, unchanged
from recipe_compiler.explain.drift_terms import whole_drift
from recipe_compiler.explain.families import (
    curl_insertions,
    curl_scales,
    drift_changes,
    energy_scales,
    insertions,
    noise_scales,
)
from recipe_compiler.explain.side_effects import Before, standing
from recipe_compiler.explain.symmetry import mirrored
from recipe_compiler.formula.rebuild import is_zero
from recipe_compiler.spec.model import Claims, Dynamics
from recipe_compiler.tensor.calculus import calculus
from recipe_compiler.verdict import Explanation, Finding, Topic, Verdict
from recipe_compiler.verify.core.stratonovich import NotConvertedError
from recipe_compiler.verify.core.subject import Subject
from recipe_compiler.verify.equation.symmetry import d_symmetric, q_skew

Search = Callable[[], Iterator[Change]]

SHOWN = 5
TRIED = 14
"""Proposals that are put to the proof."""
SEARCH_SECONDS, SECONDS = 3.0, 4.5
"""The outer limits of the search and of it all, in processor time; the usual one ends by its counts long before."""


def repairs(subject: Subject, findings: Iterable[Finding] = ()) -> tuple[Explanation, ...]:
    """Return the smallest changes after which the refuted claims hold, each proved; nothing where none is found.

    Order: one factor in the energy, then one in the noise, then terms of Gamma, friction, other terms of the drift,
    places of Q. With D and Q given the claimed drift has to become the recipe's; otherwise its residual has to vanish.
    A change that refutes another required claim is dropped; what it leaves undecided, and what was refuted before and
    is not touched by it, is said. The search has `SEARCH_SECONDS` of processor time.

    Example: SGNHT with H = U + r.T r/2 + (xi - A)**2/(2 d), as Ma, Chen and Fox (2015, Eq. 15) print it, and the
    claimed drift r.T r/d - 1 of xi: multiplying the last term of H by d**2 makes the claim hold.

    Args:
        subject: the document.
        findings: the verdicts on the document as it is.
    """
    if subject.derivation is None:
        return ()
    start = time.process_time()
    try:
        near, farther = _searches(subject)
    except (DocumentError, NotConvertedError):
        return ()
    before = {finding.id: finding for finding in findings}
    found = _gathered(near, start + SEARCH_SECONDS)
    if not any(change.count == 1 for change in found):
        found += _gathered(farther, start + SEARCH_SECONDS)
    shown = _shown(subject.dynamics, sorted(found, key=lambda change: change.order), before, start + SECONDS)
    if not shown and _broken(subject):
        both = _with_the_claim(subject.dynamics, found, start + SEARCH_SECONDS)
        shown = _shown(subject.dynamics, sorted(both, key=lambda change: change.order), before, start + SECONDS)
    return shown or _of_the_matrices(subject, found, before, start + SECONDS)


def _searches(subject: Subject) -> tuple[list[Search], list[Search]]:
    """Return what to look through, and what where no change of one part is found; nothing where the claims hold."""
    if _broken(subject):
        return [lambda: mirrored(subject)], []
    if subject.dynamics.claims.drift is None or _holds(subject.dynamics):
        return [], []
    return _of_the_claim(subject.dynamics), _farther(subject.dynamics)


def _of_the_matrices(subject: Subject, changes: list[Change], before: Before, end: float) -> tuple[Explanation, ...]:
    """Return the changes that at least make Q skew and D symmetric, said to be no more than that."""
    if subject.dynamics.D is None or subject.dynamics.claims.drift is None or not _broken(subject):
        return ()
    alone = replace(subject.dynamics, claims=Claims())
    partly = [replace(change, says=f"{change.says}; the claimed drift then still differs") for change in changes]
    return _shown(alone, sorted(partly, key=lambda change: change.order), before, end)


def _with_the_claim(dynamics: Dynamics, changes: list[Change], end: float) -> list[Change]:
    """Return changes that make Q skew and D symmetric, each with one of the claimed drift that it then needs."""
    if dynamics.claims.drift is None:
        return []
    found: list[Change] = []
    for change in sorted(changes, key=lambda change: change.order):
        changed = change.applied(dynamics)
        search = partial(drift_changes, changed, derived=_derived(changed))
        found += [change.followed_by(more, more.rank) for more in _gathered([search], end)]
    least = min((change.count for change in found), default=0)
    return [change for change in found if change.count <= least + 1]


def _broken(subject: Subject) -> bool:
    """Whether Q is shown not to be skew, or D not to be symmetric."""
    derivation = subject.derivation
    if derivation is None:
        return False
    crooked = any(not place.is_zero for row in skewness_defect(derivation) for place in row)
    uneven = any(not place.is_zero for row in symmetry_defect(derivation) for place in row)
    skew = subject.dynamics.Q is not None and crooked and q_skew(subject).verdict is Verdict.REFUTED
    return skew or (uneven and d_symmetric(subject).verdict is Verdict.REFUTED)


def _holds(dynamics: Dynamics) -> bool:
    """Whether the index calculus shows what a repair would have to bring about."""
    c = calculus(dynamics.declarations)
    return all(c.is_zero(defect) for defect in defects(dynamics, derived=_derived(dynamics)))


def _derived(dynamics: Dynamics) -> bool:
    """Whether the claimed drift is to be the recipe's: D and Q are given."""
    return dynamics.D is not None and dynamics.Q is not None


def _of_the_claim(dynamics: Dynamics) -> list[Search]:
    """Return the searches for changes of one part, and of few terms of the drift."""
    families = (energy_scales, noise_scales, drift_changes)
    found: list[Search] = [partial(family, dynamics, derived=_derived(dynamics)) for family in families]
    return [*found, partial(_agreed, dynamics), *([partial(curl_scales, dynamics)] if _derived(dynamics) else [])]


def _farther(dynamics: Dynamics) -> list[Search]:
    """Return the searches for changes of several parts."""
    derived = _derived(dynamics)
    places: list[Search] = [partial(curl_insertions, dynamics), partial(_followed, dynamics)] if derived else []
    whole: list[Search] = [partial(whole_drift, dynamics)] if derived or _on_a_line(dynamics) else []
    return [partial(insertions, dynamics, derived=derived), *places, *whole]


def _on_a_line(dynamics: Dynamics) -> bool:
    """Whether z is one scalar: then Q = 0, and D and H leave one drift."""
    blocks = dynamics.declarations.blocks
    return len(blocks) == 1 and blocks[0].shape.sizes in {(), (1,)}


def _agreed(dynamics: Dynamics) -> Iterator[Change]:
    """Yield the change that states D as the claimed diffusion, and the other way round."""
    old = entries(dynamics)
    if dynamics.D is None or dynamics.claims.diffusion is None:
        return
    places = [entry.removeprefix("D") for entry in old if entry.startswith("D[")]
    for name, other in (("claims.diffusion", "D"), ("D", "claims.diffusion")):
        new = [(f"{name}{at}", old[f"{other}{at}"]) for at in places]
        new = [(entry, formula) for entry, formula in new if not unchanged(dynamics, entry, formula)]
        if new:
            says = f"take {other} for {', '.join(entry for entry, _ in new)}"
            yield Change(NOISE, len(new), says, tuple(new))


def _followed(dynamics: Dynamics) -> Iterator[Change]:
    """Yield the matrices put into the drift after which the claim is stationary, with the Q that they need."""
    for change in insertions(dynamics, derived=False):
        changed = change.applied(dynamics)
        for more in (*curl_scales(changed), *curl_insertions(changed)):
            yield change.followed_by(more, CURL)


def _gathered(searches: Iterable[Search], end: float) -> list[Change]:
    """Return all proposals; a search that meets what it cannot read ends there."""
    found: list[Change] = []
    for search in searches:
        try:
            for change in search():
                found.append(change)
                if time.process_time() > end:
                    break
        except (DocumentError, NotConvertedError, ZeroDivisionError):
            continue
        if time.process_time() > end:
            break
    return found


def _shown(dynamics: Dynamics, changes: list[Change], before: Before, end: float) -> tuple[Explanation, ...]:
    """Return the first proposals that are proved and refute nothing else, each document once."""
    found: list[Explanation] = []
    seen = {_mark(dynamics)}
    tried = 0
    for change in changes:
        if len(found) == SHOWN or tried == TRIED or time.process_time() > end:
            break
        changed = change.applied(dynamics)
        mark = _mark(changed)
        if mark in seen or _stops(dynamics, change) or any(unchanged(dynamics, *entry) for entry in change.formulas):
            continue
        seen.add(mark)
        tried += 1
        explanation = proved(dynamics, change, Topic.REPAIR, derived=_derived(dynamics))
        entries = [entry for entry, _ in change.formulas]
        explanation = explanation and standing(changed, entries, explanation, before, end)
        if explanation is not None:
            found.append(explanation)
    return tuple(found)


def _stops(dynamics: Dynamics, change: Change) -> bool:
    """Whether a block that moved has no drift left: an answer that is of no use."""
    old = entries(dynamics)
    drifts = [(entry, new) for entry, new in change.formulas if entry.startswith("claims.drift.")]
    return any(is_zero(new) and not is_zero(old[entry]) for entry, new in drifts)


def _mark(dynamics: Dynamics) -> str:
    """Return a text that documents with the same tensors share."""
    return "|".join(spelled(formula, dynamics.declarations) for formula in entries(dynamics).values())

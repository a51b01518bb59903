"""The smallest changes of a document after which its claims hold, each proved before it is shown."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Protocol

from recipe_compiler import limits
from recipe_compiler.ansatz.simplify import canonical_text
from recipe_compiler.ansatz.unknowns import entries, has_no_defects
from recipe_compiler.derive.stationarity import skewness_defect, symmetry_defect
from recipe_compiler.errors import DocumentError
from recipe_compiler.explain.changes import CURL, NOISE, Change, prove_change, unchanged
from recipe_compiler.explain.drift_terms import whole_drift
from recipe_compiler.explain.families import (
    curl_insertions,
    curl_scales,
    drift_changes,
    energy_scales,
    insertions,
    noise_scales,
)
from recipe_compiler.explain.side_effects import Before, note_side_effects
from recipe_compiler.explain.symmetry import mirrored
from recipe_compiler.formula.rebuild import is_zero
from recipe_compiler.spec.model import Claims, Dynamics
from recipe_compiler.verdict import Explanation, Finding, Topic, Verdict
from recipe_compiler.verify.core.stratonovich import NotConvertedError
from recipe_compiler.verify.core.subject import Subject
from recipe_compiler.verify.equation.symmetry import d_symmetric, q_skew


class Family(Protocol):
    """A way to change a document, with what the claim is: the recipe's drift, or any that leaves exp(-H) stationary."""

    def __call__(self, dynamics: Dynamics, *, derived: bool) -> Iterator[Change]:
        """Yield proposals; nothing where it does not apply."""
        ...


def repairs(subject: Subject, findings: Iterable[Finding] = ()) -> tuple[Explanation, ...]:
    """Return the smallest changes after which the refuted claims hold, each proved; nothing where none is found.

    Order: one factor in the energy, then one in the noise, then terms of Gamma, friction, other terms of the drift,
    places of Q. With D and Q given the claimed drift has to become the recipe's; otherwise its residual has to vanish.
    A change that refutes another required claim is dropped; what it leaves undecided, and what was refuted before and
    is not touched by it, is said.

    Example: SGNHT with H = U + r.T r/2 + (xi - A)**2/(2 d), as Ma, Chen and Fox (2015, Eq. 15) print it, and the
    claimed drift r.T r/d - 1 of xi: multiplying the last term of H by d**2 makes the claim hold.

    Args:
        subject: the document.
        findings: the verdicts on the document as it is.
    """
    dynamics = subject.dynamics
    if subject.derivation is None:
        return ()
    before = {finding.id: finding for finding in findings}
    try:
        broken = _has_invalid_matrix(subject)
        if not broken and (
            dynamics.claims.drift is None or has_no_defects(dynamics, derived=_is_recipe_drift_required(dynamics))
        ):
            return ()
    except (DocumentError, NotConvertedError):
        return ()
    found = _collect_proposals((mirrored,) if broken else NEAR, dynamics)
    if not broken and not any(change.count == 1 for change in found):
        found += _collect_proposals(FARTHER, dynamics)
    shown = _prove_proposals(dynamics, found, before)
    if not shown and broken:
        shown = _prove_proposals(dynamics, _add_drift_change(dynamics, found), before)
    return shown or (_repair_matrices(dynamics, found, before) if broken else ())


def _repair_matrices(dynamics: Dynamics, changes: list[Change], before: Before) -> tuple[Explanation, ...]:
    """Return the changes that at least make Q skew and D symmetric, described as no more than that."""
    if dynamics.D is None or dynamics.claims.drift is None:
        return ()
    partly = [replace(change, says=f"{change.says}; the claimed drift then still differs") for change in changes]
    return _prove_proposals(replace(dynamics, claims=Claims()), partly, before)


def _add_drift_change(dynamics: Dynamics, changes: list[Change]) -> list[Change]:
    """Return changes that make Q skew and D symmetric, each with the change of the claimed drift that it requires."""
    if dynamics.claims.drift is None:
        return []
    found = [
        change.followed_by(more, more.rank)
        for change in sorted(changes, key=lambda change: change.order)
        for more in _collect_proposals((drift_changes,), change.applied(dynamics))
    ]
    least = min((change.count for change in found), default=0)
    return [change for change in found if change.count <= least + 1]


def _has_invalid_matrix(subject: Subject) -> bool:
    """Return whether Q is proved not skew, or D not symmetric."""
    derivation = subject.derivation
    if derivation is None:
        return False
    crooked = any(not place.is_zero for row in skewness_defect(derivation) for place in row)
    uneven = any(not place.is_zero for row in symmetry_defect(derivation) for place in row)
    skew = subject.dynamics.Q is not None and crooked and q_skew(subject).verdict is Verdict.REFUTED
    return skew or (uneven and d_symmetric(subject).verdict is Verdict.REFUTED)


def _is_recipe_drift_required(dynamics: Dynamics) -> bool:
    """Return whether the claimed drift must equal the recipe's: D and Q are given."""
    return dynamics.D is not None and dynamics.Q is not None


def _align_diffusion(dynamics: Dynamics, *, derived: bool) -> Iterator[Change]:
    """Yield the change of the claimed diffusion to D, and of D to the claimed diffusion."""
    del derived
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


def _recover_q_after(dynamics: Dynamics, *, derived: bool) -> Iterator[Change]:
    """Yield insertions of matrices into the drift that make the claim stationary, with the Q that they require."""
    for change in insertions(dynamics, derived=False) if derived else ():
        changed = change.applied(dynamics)
        for more in (*curl_scales(changed, derived=True), *curl_insertions(changed, derived=True)):
            yield change.followed_by(more, CURL)


NEAR: tuple[Family, ...] = (energy_scales, noise_scales, _align_diffusion, drift_changes, curl_scales)
"""Changes of one part, and of few terms of the drift."""
FARTHER: tuple[Family, ...] = (insertions, curl_insertions, _recover_q_after, whole_drift)
"""Changes of several parts, where no change of one is found."""


def _collect_proposals(families: Iterable[Family], dynamics: Dynamics) -> list[Change]:
    """Return the proposals of all families; a family stops at a formula it cannot read."""
    found: list[Change] = []
    for family in families:
        try:
            for change in family(dynamics, derived=_is_recipe_drift_required(dynamics)):
                found.append(change)
                if len(found) == limits.CANDIDATES:
                    return found
        except (DocumentError, NotConvertedError, ZeroDivisionError):
            continue
    return found


def _prove_proposals(dynamics: Dynamics, changes: list[Change], before: Before) -> tuple[Explanation, ...]:
    """Return the first proposals that are proved and refute nothing else, each document once."""
    found: list[Explanation] = []
    seen = {_fingerprint(dynamics)}
    tried = 0
    for change in sorted(changes, key=lambda change: change.order):
        if len(found) == limits.SHOWN or tried == 2 * limits.TRIALS:
            break
        changed = change.applied(dynamics)
        mark = _fingerprint(changed)
        if (
            mark in seen
            or _freezes_block(dynamics, change)
            or any(unchanged(dynamics, *entry) for entry in change.formulas)
        ):
            continue
        seen.add(mark)
        tried += 1
        explanation = prove_change(dynamics, change, Topic.REPAIR, derived=_is_recipe_drift_required(dynamics))
        entries = [entry for entry, _ in change.formulas]
        explanation = explanation and note_side_effects(changed, entries, explanation, before)
        if explanation is not None:
            found.append(explanation)
    return tuple(found)


def _freezes_block(dynamics: Dynamics, change: Change) -> bool:
    """Return whether a change removes the whole drift of a block that moved, which makes it useless."""
    old = entries(dynamics)
    drifts = [(entry, new) for entry, new in change.formulas if entry.startswith("claims.drift.")]
    return any(is_zero(new) and not is_zero(old[entry]) for entry, new in drifts)


def _fingerprint(dynamics: Dynamics) -> str:
    """Return a text that documents with the same tensors share."""
    return "|".join(canonical_text(formula, dynamics.declarations) for formula in entries(dynamics).values())

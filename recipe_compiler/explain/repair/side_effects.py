"""What a repair leaves of the other claims: those that it touches are asked again, those that it does not stay."""

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from recipe_compiler.errors import DocumentError
from recipe_compiler.explain.repair.changes import PROVED_FIRST, head
from recipe_compiler.spec.model import Dynamics
from recipe_compiler.verdict import Explanation, Finding, Proved, Refuted, Verdict
from recipe_compiler.verify.claims import DYNAMICS, Claim, asked
from recipe_compiler.verify.core.subject import Subject, find, subject_of

_NOISE = frozenset({"D", "claims.diffusion"})
_COEFFICIENTS = _NOISE | {"Q", "claims.drift"}
"""The claimed drift decides Q where it is not given."""
_READS: Mapping[str, frozenset[str]] = {
    "d_psd": _NOISE,
    "normalisable": frozenset({"H"}),
    "marginal": frozenset({"H"}),
    "claimed_marginal": frozenset({"H"}),
    "regular": _COEFFICIENTS | {"H"},
    "boundary": _COEFFICIENTS | {"H"},
    "claimed_update": _COEFFICIENTS | {"H"},
}
"""What claims read of a document; one that is not listed reads all of it."""

Before = Mapping[str, Finding]
"""The findings about the document as it is, by claim."""


def standing(
    changed: Dynamics, entries: Sequence[str], explanation: Explanation, before: Before, end: float
) -> Explanation | None:
    """Return a repair with what stays undecided or refuted, None if it is what refutes a claim that decides.

    Those that `changes.proved` decides are not asked again. A claim that reads nothing of what is changed is as
    decided or refuted as `before`.
    """
    heads = {head(entry) for entry in entries}
    subject = subject_of(changed)
    open_: list[str] = []
    refuted: list[str] = []
    given = set(explanation.given)
    for claim in asked(DYNAMICS, changed):
        if not claim.required or claim.id in PROVED_FIRST:
            continue
        touched = bool(_READS.get(claim.id, heads) & heads)
        found = _decided(claim, subject, end) if touched else before.get(claim.id)
        if found is None:
            open_ += [claim.says] if touched else []
            continue
        if touched and isinstance(found.decision, Refuted):
            return None
        given |= set(found.decision.given) if touched and isinstance(found.decision, Proved) else set[str]()
        open_ += [claim.says] if found.verdict is Verdict.UNDECIDED else []
        refuted += [claim.says] if found.verdict is Verdict.REFUTED else []
    says = explanation.says + _more("undecided then", open_) + _more("refuted as before", refuted)
    return replace(explanation, says=says, given=tuple(sorted(given)))


def _decided(claim: Claim[Subject, Dynamics], subject: Subject, end: float) -> Finding | None:
    """Return what a claim comes to, None where there is no time left or nothing can be said."""
    if time.process_time() > end:
        return None
    try:
        return find(claim.decide, subject)
    except DocumentError:
        return None


def _more(words: str, claims: Iterable[str]) -> str:
    listed = ", and that ".join(claims)
    return f"; {words}: {listed}" if listed else ""

"""What a repair leaves of the other claims: those that it touches are decided again, those that it does not stay."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from recipe_compiler.errors import DocumentError
from recipe_compiler.explain.changes import head
from recipe_compiler.spec.model import Dynamics
from recipe_compiler.verdict import Explanation, Finding, Proved, Refuted, Verdict
from recipe_compiler.verify.claims import DYNAMICS, Claim, get_decider, list_applicable_claims, state_sizes
from recipe_compiler.verify.core.subject import Subject, decide_claim, prepare_subject

_HEADS: Mapping[str, frozenset[str]] = {
    "D": frozenset({"D", "claims.diffusion"}),
    **{name: frozenset({f"claims.{name}"}) for name in ("diffusion", "drift", "marginal", "update")},
}
"""What claims read to what a change is of, where the two are named differently."""

Before = Mapping[str, Finding]
"""The findings about the document as it is, by claim."""


def note_side_effects(
    changed: Dynamics, entries: Sequence[str], explanation: Explanation, before: Before
) -> Explanation | None:
    """Return a repair with the claims it leaves undecided or refuted; None if the change refutes a required claim.

    Claims that `changes.proved` decides are not decided again. A claim that reads nothing of what is changed keeps its
    verdict.

    Args:
        changed: the changed document.
        entries: what was changed.
        explanation: the repair.
        before: the verdicts on the document as it was.
    """
    heads = frozenset(head(entry) for entry in entries)
    subject = prepare_subject(changed)
    open_: list[str] = []
    refuted: list[str] = []
    given = set(explanation.given)
    for claim in list_applicable_claims(DYNAMICS, changed):
        if not claim.required or claim.rechecked_by_repairs:
            continue
        touched = bool(_select_changed_entries(claim, heads) & heads)
        found = _decide_claim(claim, subject) if touched else before.get(claim.id)
        if found is None:
            open_ += [claim.says] if touched else []
            continue
        if touched and isinstance(found.decision, Refuted):
            return None
        given |= set(found.decision.given) if touched and isinstance(found.decision, Proved) else set[str]()
        open_ += [claim.says] if found.verdict is Verdict.UNDECIDED else []
        refuted += [claim.says] if found.verdict is Verdict.REFUTED else []
    says = explanation.says + _list_claims("undecided then", open_) + _list_claims("still refuted", refuted)
    return replace(explanation, says=says, given=tuple(sorted(given)))


def _select_changed_entries(claim: Claim[Subject, Dynamics], heads: frozenset[str]) -> frozenset[str]:
    """Return those of the changed entries that a claim reads."""
    if claim.reads is None:
        return heads
    return frozenset().union(*(_HEADS.get(entry, {entry}) for entry in (*claim.reads, *claim.also_reads)))


def _decide_claim(claim: Claim[Subject, Dynamics], subject: Subject) -> Finding | None:
    """Return the finding of a claim, None if it cannot be decided."""
    try:
        return claim.finding(state_sizes(claim, subject.dynamics, decide_claim(get_decider(claim), subject)))
    except DocumentError:
        return None


def _list_claims(words: str, claims: Iterable[str]) -> str:
    """Return the clause that lists claims after given words; empty if there are none."""
    listed = ", and that ".join(claims)
    return f"; {words}: {listed}" if listed else ""

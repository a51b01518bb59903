"""Premises: what a proof comes to where a claim that it rests on is refuted, or open.

Which claims rest on which is a column of the table of claims (`Claim.rests_on`). A module that decides a claim takes
its premises for granted; here, where all claims of a document are decided, each proof meets them. Where a premise is
refuted, the proof is none. Where one is open, or was not decided, the proof is given that it holds, and says so. Where
it is proved, the proof rests on what that rests on, and is about no other sizes and values.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from recipe_compiler.verdict import AT_VALUES, Finding, Proved, Undecided, Verdict
from recipe_compiler.verify.claims import Claim

Rows = Sequence[Claim[Any, Any]]


def under_premises(rows: Rows, left: Rows, findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """Return the findings of a document, each proof under its premises.

    Args:
        rows: the claims that were decided.
        left: those that apply to the document, too, and were not; a premise of neither has nothing to say.
        findings: what was found of `rows`, in order.
    """
    premises = _Premises(rows, {row.id: row.says for row in (*rows, *left)}, findings)
    return tuple(premises.of(place) for place in range(len(findings)))


@dataclass(slots=True)
class _Premises:
    rows: Rows
    says: Mapping[str, str]
    findings: Sequence[Finding]
    settled: dict[int, Finding] = field(default_factory=dict[int, Finding])

    def of(self, place: int) -> Finding:
        """Return the finding at a place, once those that it rests on are settled."""
        if place not in self.settled:
            found = self.findings[place]
            for premise in self.rows[place].rests_on:
                if premise in self.says and isinstance(found.decision, Proved):
                    found = self._under(found, found.decision, premise)
            self.settled[place] = found
        return self.settled[place]

    def _under(self, found: Finding, proof: Proved, premise: str) -> Finding:
        """Return a proof under one premise; one id may name claims about several documents of a build."""
        known = [self.of(place) for place, row in enumerate(self.rows) if row.id == premise]
        if any(one.verdict is Verdict.REFUTED for one in known):
            reason = f"it rests on a claim that is refuted: {self.says[premise]} ({premise})"
            return replace(found, decision=Undecided((reason,)), for_d="all", checked_at=())
        proofs = [(one, one.decision) for one in known if isinstance(one.decision, Proved)]
        open_ = () if known and len(proofs) == len(known) else (self.says[premise],)
        given = tuple(dict.fromkeys((*proof.given, *(fact for _, own in proofs for fact in own.given), *open_)))
        at_values = AT_VALUES if any(AT_VALUES in own.by for _, own in proofs) and AT_VALUES not in proof.by else ""
        narrow = next((one.for_d for one, _ in proofs if one.for_d != "all"), "all")
        for_d = narrow if found.for_d == "all" else found.for_d
        return replace(found, decision=replace(proof, by=proof.by + at_values, given=given), for_d=for_d)

"""Proofs under their premises: what follows where a premise is refuted or open.

Which claims rest on which is a column of the table of claims (`Claim.rests_on`), and an assumption that a proof lists
may be decided by a claim of a build (`verify/builds/assumed.py`). A module that decides a claim takes both for granted;
here, where all claims of a document are decided, each proof meets them. Where a premise is refuted, the proof is none.
Where one is open, or was not decided, the proof is given that it holds, and says so. Where it is proved, the proof
rests on what that rests on, and is about no other sizes and values.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from recipe_compiler.verdict import AT_VALUES, Finding, Proved, Undecided, Verdict
from recipe_compiler.verify.claims import Claim

Rows = Sequence[Claim[Any, Any]]
DecidedBy = Callable[[str], str | bool]
"""The claim that decides an assumption of a document, or whether it is shown."""


def apply_premises(rows: Rows, left: Rows, findings: Sequence[Finding], decided_by: DecidedBy) -> tuple[Finding, ...]:
    """Return the findings of a document, each proof under its premises.

    Args:
        rows: the claims that were decided.
        left: those that apply to the document, too, and were not; a premise of neither has nothing to say.
        findings: what was found of `rows`, in order.
        decided_by: what decides an assumption; one that nothing decides stays as it is.
    """
    premises = _Premises(rows, {row.id: row.says for row in (*rows, *left)}, findings, decided_by)
    return tuple(premises.settle(place) for place in range(len(findings)))


@dataclass(slots=True)
class _Premises:
    rows: Rows
    says: Mapping[str, str]
    findings: Sequence[Finding]
    decided_by: DecidedBy
    settled: dict[int, Finding] = field(default_factory=dict[int, Finding])

    def settle(self, place: int) -> Finding:
        """Return the finding at a place, once those that it rests on are settled."""
        if place not in self.settled:
            found = self.findings[place]
            for premise in self.rows[place].rests_on:
                if premise in self.says and isinstance(found.decision, Proved):
                    found = self._apply_premise(found, found.decision, premise)
            self.settled[place] = self._drop_decided(found)
        return self.settled[place]

    def _apply_premise(self, found: Finding, proof: Proved, premise: str) -> Finding:
        """Return a finding given a claim that it rests on: undecided if refuted, with an open claim as a premise."""
        known = [*self._list_known(premise)]
        if any(one.verdict is Verdict.REFUTED for one in known):
            return self._make_undecided(found, premise)
        proofs = [(one, one.decision) for one in known if isinstance(one.decision, Proved)]
        open_ = () if known and len(proofs) == len(known) else (self.says[premise],)
        given = tuple(dict.fromkeys((*proof.given, *(fact for _, own in proofs for fact in own.given), *open_)))
        at_values = AT_VALUES if any(AT_VALUES in own.by for _, own in proofs) and AT_VALUES not in proof.by else ""
        narrow = next((one.for_d for one, _ in proofs if one.for_d != "all"), "all")
        for_d = narrow if found.for_d == "all" else found.for_d
        return replace(found, decision=replace(proof, by=proof.by + at_values, given=given), for_d=for_d)

    def _drop_decided(self, found: Finding) -> Finding:
        """Return a finding without the assumptions that are decided; undecided where one is refuted."""
        left: list[str] = []
        for fact in found.decision.given:
            by = self.decided_by(fact)
            known = [] if isinstance(by, bool) or by not in self.says else [*self._list_verdicts(by, found)]
            if Verdict.REFUTED in known and isinstance(found.decision, Proved) and isinstance(by, str):
                return self._make_undecided(found, by)
            shown = by is True or (bool(known) and all(verdict is Verdict.PROVED for verdict in known))
            left += [] if shown else [fact]
        return replace(found, decision=replace(found.decision, given=tuple(left)))

    def _list_verdicts(self, claim: str, found: Finding) -> Iterator[Verdict]:
        """Yield the verdicts of a claim that decides an assumption; no claim but `bindings` decides its own."""
        if claim != found.id:
            yield from (one.verdict for one in self._list_known(claim))
        elif claim == "bindings":
            yield found.verdict

    def _list_known(self, claim: str) -> Iterator[Finding]:
        """Yield what is found of a claim; one id may name claims about several documents of a build."""
        yield from (self.settle(place) for place, row in enumerate(self.rows) if row.id == claim)

    def _make_undecided(self, found: Finding, premise: str) -> Finding:
        reason = f"it depends on a claim that is refuted: {self.says[premise]} ({premise})"
        return replace(found, decision=Undecided((reason,)), for_d="all", checked_at=())

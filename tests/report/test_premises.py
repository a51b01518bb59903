"""No proof stands beside a premise that is refuted, and none hides one that is open: of every row that has some.

Those of documents are in `tests/documents/verify/premises.yaml`.
"""

import pickle
from dataclasses import replace
from typing import Any

import pytest

from recipe_compiler.report.premises import apply_premises
from recipe_compiler.verdict import (
    AT_VALUES,
    Answer,
    Decision,
    Finding,
    Proved,
    Refuted,
    Undecided,
    Verdict,
    declared_of,
)
from recipe_compiler.verify.claims import DYNAMICS, Claim
from recipe_compiler.verify.claims_in_builds import BUILDS, SCHEMES, TARGETS

ROWS: dict[str, Claim[Any, Any]] = {row.id: row for row in (*TARGETS, *SCHEMES, *BUILDS, *DYNAMICS)}
PAIRS = [(row.id, premise) for row in ROWS.values() for premise in row.rests_on]
PROOF = Proved("shown", ("a is positive",))


def undecided(_: str) -> bool:
    """Decide no assumption."""
    return False


def under(row: Claim[Any, Any], premise: Claim[Any, Any], decision: Decision | None) -> Finding:
    """Return a proof of a row under one premise that is decided so; None: it was not decided."""
    proof = row.finding(Answer(PROOF))
    if decision is None:
        return apply_premises((row,), (premise,), (proof,), undecided)[0]
    return apply_premises((premise, row), (), (premise.finding(Answer(decision)), proof), undecided)[1]


@pytest.mark.parametrize(("id_", "premise"), PAIRS)
def test_a_proof_meets_each_of_its_premises(id_: str, premise: str) -> None:
    row = replace(ROWS[id_], rests_on=(premise,))
    of = replace(ROWS[premise], rests_on=())
    refuted = under(row, of, Refuted("a point", (("x", "1"),)))
    assert refuted.verdict is Verdict.UNDECIDED
    assert of.says in refuted.evidence[-1]
    for left_open in (Undecided(("too large",)), None):
        found = under(row, of, left_open).decision
        assert isinstance(found, Proved)
        assert of.says in found.given
    rests = under(row, of, Proved(f"structure{AT_VALUES}", ("b is positive",))).decision
    assert isinstance(rests, Proved)
    assert (rests.given, rests.by) == (("a is positive", "b is positive"), f"shown{AT_VALUES}")


def test_no_claim_rests_on_itself() -> None:
    def below(id_: str, seen: tuple[str, ...] = ()) -> None:
        assert id_ not in seen
        for premise in ROWS[id_].rests_on:
            below(premise, (*seen, id_))

    for id_ in ROWS:
        below(id_)


def test_a_premise_that_fails_by_its_own_premise_is_open() -> None:
    """D is not semidefinite, so nothing is known of explosions: what rests on both is undecided."""
    rows = [ROWS[id_] for id_ in ("unique", "explosion", "d_psd")]
    shown = [row.finding(Answer(PROOF)) for row in rows[:2]]
    found = apply_premises(rows, (), [*shown, rows[2].finding(Answer(Refuted("a vector", ())))], undecided)
    assert [one.verdict for one in found] == [Verdict.UNDECIDED, Verdict.UNDECIDED, Verdict.REFUTED]


def test_what_is_bound_wrongly_leaves_nothing_of_what_rests_on_its_kind() -> None:
    """`bindings` decides that c is positive: refuted, open, proved."""
    row, binds = ROWS["d_psd"], ROWS["bindings"]
    proof = row.finding(Answer(Proved("shown", (declared_of("c", "is positive"),))))

    def given(decision: Decision) -> Finding:
        found = apply_premises((binds, row), (), (binds.finding(Answer(decision)), proof), lambda _: "bindings")
        return found[1]

    assert given(Refuted("exact value", (("c", "-1"),))).verdict is Verdict.UNDECIDED
    assert given(Undecided(("too large",))).decision.given == ("c is positive",)
    assert given(Proved("exact values")).decision.given == ()


def test_an_assumption_stays_one_on_its_way_from_another_process() -> None:
    said = declared_of("c", "is positive")
    again = pickle.loads(pickle.dumps(said))
    assert (again, again.kind, again.subject) == ("c is positive", said.kind, "c")

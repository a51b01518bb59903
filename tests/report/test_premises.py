"""No proof stands beside a premise that is refuted, and none hides one that is open: of every row that has some."""

import pickle
from dataclasses import replace
from typing import Any

import pytest
from answers import answer, document
from reports import only

from recipe_compiler.report.check import check
from recipe_compiler.report.premises import under_premises
from recipe_compiler.verdict import (
    AT_VALUES,
    Answer,
    Decision,
    Finding,
    Proved,
    Refuted,
    Report,
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
        return under_premises((row,), (premise,), (proof,), undecided)[0]
    return under_premises((premise, row), (), (premise.finding(Answer(decision)), proof), undecided)[1]


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
    found = under_premises(rows, (), [*shown, rows[2].finding(Answer(Refuted("a vector", ())))], undecided)
    assert [one.verdict for one in found] == [Verdict.UNDECIDED, Verdict.UNDECIDED, Verdict.REFUTED]


def decisions(report: Report) -> dict[str, Decision]:
    return {finding.id: finding.decision for finding in report.findings}


IMPROPER = "log(1 + norm2(theta))/2"
LANGEVIN: dict[str, Any] = {"dynamics": "sgld", "bind": "{D: I}", "scheme": "{name: euler}", "asked": ("unique",)}
HMC: dict[str, Any] = {
    "dynamics": "hmc",
    "bind": "{M: m*I}",
    "scheme": "{cycle: [refresh: r, metropolis: {split: [B/2, A, B/2], flip: {r: -r}}]}",
    "asked": ("metropolis", "exact", "irreducible"),
}


def built(potential: str, of: dict[str, Any]) -> Report:
    text = f"""
name: built
dynamics: {of["dynamics"]}
target: target.yaml
bind: {of["bind"]}
{"parameters: {m: {is: positive, value: 2}}" if "m" in of["bind"] else ""}
scheme: {of["scheme"]}
variant: full
sizes: {{d: 2}}
run: {{step_size: 0.1}}
"""
    with only(*of["asked"], "normalisable", "defined"):
        return check(document(text, target=f"state: {{theta: {{shape: 2}}}}\npotential: {potential}\n"))


def test_hmc_on_an_improper_potential_has_no_law() -> None:
    found = decisions(built(IMPROPER, HMC))
    assert isinstance(found["normalisable"], Refuted)
    assert isinstance(found["exact"], Proved)
    assert isinstance(found["irreducible"], Undecided)


def test_langevin_on_an_improper_potential_has_no_law() -> None:
    found = decisions(built(IMPROPER, LANGEVIN))
    assert isinstance(found["normalisable"], Refuted)
    assert isinstance(found["unique"], Undecided)


def test_what_is_open_of_a_pole_is_printed() -> None:
    found = decisions(built("norm2(theta)/2 + 1/theta[0]**2", HMC))
    for id_, needed in (
        ("exact", ("defined",)),
        ("metropolis", ("defined",)),
        ("irreducible", ("defined", "normalisable")),
    ):
        assert isinstance(decision := found[id_], Proved)
        assert {ROWS[one].says for one in needed} <= {*decision.given}


def test_an_open_integral_is_printed() -> None:
    """U grows at least like |theta|**2/6, which no rule sees."""
    found = decisions(built("norm2(theta)/2 + sin(theta[0]**3)*theta[0]**2/3", HMC))
    assert isinstance(found["normalisable"], Undecided)
    assert isinstance(found["irreducible"], Proved)
    assert ROWS["normalisable"].says in found["irreducible"].given


def test_a_marginal_of_no_law_is_none() -> None:
    """int exp(-H) dr is exp(-U) here, of which the integral is infinite."""
    text = "name: m\nstate: {x: {shape: 2}, r: {shape: 2}}\nH: log(1 + norm2(x))/2 + norm2(r)/2\nD: [[0, 0], [0, I]]\n"
    text += "Q: [[0, -I], [I, 0]]\nclaims: {marginal: {x: log(1 + norm2(x))/2}}\n"
    found = decisions(check(document(text)))
    assert isinstance(found["normalisable"], Refuted)
    assert isinstance(found["claimed_marginal"], Undecided)
    proper = document(text.replace("log(1 + norm2(x))/2", "2*log(1 + norm2(x))"))
    assert isinstance(decisions(check(proper))["claimed_marginal"], Proved)


def test_without_a_root_of_D_nothing_is_known_of_solutions() -> None:
    text = "name: s\nstate: {x: {shape: 2}}\nH: norm2(x)/2\nparameters: {A: {shape: [2, 2]}}\nD: [[A]]\nQ: [[0]]\n"
    found = decisions(check(document(text)))
    assert isinstance(found["d_psd"], Refuted)
    assert not isinstance(found["explosion"], Proved)
    assert not isinstance(found["unique"], Proved)


@pytest.mark.parametrize(
    ("potential", "printed"),
    [
        ("norm2(theta)/2", ()),
        ("norm2(theta)/2 + abs(theta[0])", ("U is smooth",)),
        ("norm2(theta)/2 + 1/theta[0]**2", ("U is smooth",)),
    ],
)
def test_a_build_lists_nothing_that_it_decides(potential: str, printed: tuple[str, ...]) -> None:
    """m has a value, U a formula: neither `m is positive` nor a smooth U is an assumption, where U is smooth."""
    asked = {**HMC, "asked": ("d_psd", "stationary", "refresh", "metropolis", "bindings", "gradient")}
    found = decisions(built(potential, asked))
    assert isinstance(found["stationary"], Proved)
    assert isinstance(found["refresh"], Proved)
    listed = {fact for decision in found.values() for fact in decision.given}
    assert "m is positive" not in listed
    assert {fact for fact in listed if fact.endswith("is smooth")} == {*printed}


@pytest.mark.parametrize(
    ("potential", "printed"),
    [
        ("norm2(theta)**2/4 + softplus(theta[0])", False),
        ("norm2(theta)/2 + sin(theta[0]**3)", False),
        ("norm2(theta)/2 + exp(theta[0])", True),
        ("norm2(theta)/2 + log(1 + norm2(theta))", True),
        ("norm2(theta)/2 + abs(theta[0])**3", True),
    ],
)
def test_growth_is_an_assumption_where_the_target_does_not_show_it(potential: str, printed: bool) -> None:
    found = decisions(built(potential, {**LANGEVIN, "asked": ("order",)}))["order"]
    assert ("U and its derivatives grow like powers" in found.given) is (printed and isinstance(found, Proved))


def test_what_is_bound_wrongly_leaves_nothing_of_what_rests_on_its_kind() -> None:
    """`bindings` decides that c is positive: refuted, open, proved."""
    row, binds = ROWS["d_psd"], ROWS["bindings"]
    proof = row.finding(Answer(Proved("shown", (declared_of("c", "is positive"),))))

    def given(decision: Decision) -> Finding:
        found = under_premises((binds, row), (), (binds.finding(Answer(decision)), proof), lambda _: "bindings")
        return found[1]

    assert given(Refuted("exact value", (("c", "-1"),))).verdict is Verdict.UNDECIDED
    assert given(Undecided(("too large",))).decision.given == ("c is positive",)
    assert given(Proved("exact values")).decision.given == ()


def test_an_assumption_stays_one_on_its_way_from_another_process() -> None:
    said = declared_of("c", "is positive")
    again = pickle.loads(pickle.dumps(said))
    assert (again, again.kind, again.subject) == ("c is positive", said.kind, "c")


@pytest.mark.parametrize(("name", "constant"), [("a", "c"), ("c", "c1"), ("c, c1", "c2")])
def test_a_constant_has_a_name_that_the_document_leaves(name: str, constant: str) -> None:
    declared = ", ".join(f"{one}: {{is: positive}}" for one in name.split(", "))
    first = name.split(", ")[0]
    text = f"""
name: named
state: {{theta: {{shape: d}}, r: {{shape: d}}}}
functions: {{U: {{of: theta, role: potential}}}}
parameters: {{{declared}}}
H: U(theta) + {first}*norm2(r)/2
D: [[0, 0], [0, I]]
Q: [[0, -I], [I, 0]]
"""
    found = answer(document(text), "explosion")
    assert f"U >= -{constant} (1 + norm2(theta)) for some {constant}" in found.decision.given

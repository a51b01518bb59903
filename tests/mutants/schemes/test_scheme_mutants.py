"""Words that are wrong, or less than is claimed of them: each fails by name, and the witness can be checked by hand."""

import json
from pathlib import Path

import pytest

from recipe_compiler import recheck
from recipe_compiler.report.as_json import certificate
from recipe_compiler.report.check import check
from recipe_compiler.spec.load import load
from recipe_compiler.verdict import Refuted, Verdict

HERE = Path(__file__).parent
REFUTED = {
    "half_kick_lost": {"shares": "share of B = 1/2", "claimed_order": "coefficient of B = 1/2"},
    "drift_twice": {
        "shares": "share of A = 3/2",
        "claimed_order": "coefficient of A = 3/2",
        "claimed_palindrome": "letter 4 = A/2",
    },
    "half_reversed": {"claimed_order": "coefficient of B A = 3/4", "claimed_palindrome": "letter 5 = A/2"},
    "third_for_half": {"claimed_order": "coefficient of B A = 1/3", "claimed_palindrome": "letter 5 = 2*B/3"},
    "lie_of_order_two": {"claimed_order": "coefficient of B A = 1"},
    "order_four": {"claimed_order": "weak order = 2"},
    "two_gradients": {"claimed_gradients": "gradients = 2"},
    "respa_with_five": {"shares": "share of F = 5/4", "claimed_order": "coefficient of F = 5/4"},
    "piece_left_out": {"shares": "share of O = 0"},
    "obabo_exact": {"claimed_configurational": "omega^2 Var theta = 4/3"},
    "oabao_exact": {"claimed_configurational": "omega^2 Var theta = 3/4"},
    "lie_exact": {"claimed_configurational": "omega^2 Var theta = 9/8"},
    "leapfrog_exact": {"claimed_configurational": "omega^2 Var theta / Var r = 4/3"},
    "uneven_halves_exact": {"claimed_configurational": "eps omega = 1"},
}
"""Mutant to the claims that it fails, each with a part of its witness."""


@pytest.mark.parametrize("name", REFUTED)
def test_a_wrong_word_is_refuted_by_name(name: str) -> None:
    found = check(load(HERE / f"{name}.yaml"))
    refuted = {f.id: f.decision for f in found.findings if f.verdict is Verdict.REFUTED}
    assert refuted.keys() == REFUTED[name].keys()
    assert found.verdict is Verdict.REFUTED
    for claim, witness in REFUTED[name].items():
        decision = refuted[claim]
        assert isinstance(decision, Refuted)
        assert witness in [f"{what} = {value}" for what, value in decision.witness]


def test_every_mutant_is_listed() -> None:
    assert {path.stem for path in HERE.glob("*.yaml")} == REFUTED.keys()


@pytest.mark.parametrize("name", REFUTED)
def test_it_is_refuted_again_without_the_compiler(name: str) -> None:
    document = load(HERE / f"{name}.yaml")
    found = dict(recheck.recheck(json.loads(json.dumps(certificate(document, check(document))))))
    assert set(found.values()) >= {"rechecked: exactly"}
    assert REFUTED[name].keys() <= found.keys()

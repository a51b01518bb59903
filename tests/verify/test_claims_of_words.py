"""Certificates of what schemes claim are rechecked (`documents/verify/words.yaml` holds the verdicts)."""

import json

import pytest
from answers import ROOT, document
from families import read_variants

from recipe_compiler import recheck
from recipe_compiler.report.as_json import make_certificate
from recipe_compiler.report.check import check

SCHEMES = [
    one
    for one in read_variants(ROOT / "tests/documents/verify/words.yaml", "words")
    if "dynamics:" not in one.texts["document.yaml"]
]


def certificate_of(own):
    return json.loads(json.dumps(make_certificate(own, check(own))))


def test_what_schemes_claim_is_rechecked():
    for one in SCHEMES[::3]:
        assert recheck.recheck(certificate_of(document(one.texts["document.yaml"])))


def test_the_checker_refuses_an_order_beyond_that_of_numerical_flows():
    ruth = "[7*A/24, 2*B/3, 3*A/4, -2*B/3, -A/24, B]"
    whole = certificate_of(document(f"name: own\nsplit: {ruth}\nclaims: {{order: 3}}\n"))
    assert dict(recheck.recheck(whole))["claimed_order"].startswith("rechecked: exactly")
    claim = next(one for one in whole["claims"] if one["id"] == "claimed_order")
    stated = {"split": ruth[1:-1].split(", "), "claims": {"order": 3}, "flows": {"A": "midpoint"}}
    with pytest.raises(recheck.FailureError, match="order 2"):
        recheck.of_word(claim, recheck.Documents({"scheme": stated}), None, "")

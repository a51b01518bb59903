"""Domains, signs and assumptions that exclude each other are one fault; those that do not are none."""

import pytest
from answers import document

from recipe_compiler.formula.declaration import Declarations
from recipe_compiler.report.check import check
from recipe_compiler.spec import consistency
from recipe_compiler.spec.model import Dynamics
from recipe_compiler.verdict import Proved

DOCUMENT = """\
name: small
state: {{x: {{domain: "{domain}"}}, v: {{shape: d, domain: "{column}"}}}}
parameters: {{a: {{}}, b: {{}}, c: {{is: positive}}}}
assume: [{assume}]
H: x**2/2 + v.T @ v/2
D: [[1, 0], [0, I]]
Q: [[0, 0], [0, 0]]
"""


def read(domain: str, column: str, assume: str) -> Dynamics:
    return document(DOCUMENT.format(domain=domain, column=column, assume=assume))


def test_what_is_left_open_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(consistency, "MOST", 0)
    assert isinstance(read("real", "real", "a < b, 2*b < 2*c, c - a < 0").declarations, Declarations)


def test_a_draw_that_leaves_a_domain_empty_is_no_contradiction() -> None:
    report = check(read("interval(a + 3, b)", "interval(b, a + 20)", ""))
    found = {finding.id: finding.decision for finding in report.findings}
    assert isinstance(found["stationary"], Proved)
    assert not any("empty" in line for one in found.values() for line in getattr(one, "tried", ()))

"""Domains, signs and assumptions that exclude each other are one fault; those that do not are none."""

import subprocess
import sys
from pathlib import Path

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
    monkeypatch.setattr(consistency, "EFFORT", 1)
    assert isinstance(read("real", "real", "a < b, 2*b < 2*c, c - a < 0").declarations, Declarations)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("assume", "asked"), [("a > 0, b < a + 3", False), ("a > 0, a < 1", True), ("b > x, x > a", True)]
)
def test_z3_is_imported_where_facts_are_tied(assume: str, asked: bool, tmp_path: Path) -> None:
    document = DOCUMENT.format(domain="interval(0, 1)", column="real", assume=assume)
    (tmp_path / "small.yaml").write_text(document, encoding="utf-8")
    program = "import sys\nfrom recipe_compiler.spec.load import load\nload('small.yaml')\nprint('z3' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str(asked)


def test_a_draw_that_leaves_a_domain_empty_is_no_contradiction() -> None:
    report = check(read("interval(a + 3, b)", "interval(b, a + 20)", ""))
    found = {finding.id: finding.decision for finding in report.findings}
    assert isinstance(found["stationary"], Proved)
    assert not any("empty" in line for one in found.values() for line in getattr(one, "tried", ()))

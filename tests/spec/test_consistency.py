"""Domains, signs and assumptions that exclude each other are one fault; those that do not are none."""

import subprocess
import sys
from pathlib import Path

import pytest
from loaders import load_dynamics, load_target

from recipe_compiler.errors import ModelError
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

EMPTY = {
    ("interval(1, 0)", "real", ""): ("state.x.domain", "found `interval(1, 0)`, which no number satisfies"),
    ("interval(0, 0)", "real", ""): ("state.x.domain", "found `interval(0, 0)`, which no number satisfies"),
    ("real", "interval(1, 1/2)", ""): ("state.v.domain", "found `interval(1, 1/2)`"),
    ("real", "real", "a < b, b < a"): ("assume[1]", "found `b < a` beside `a < b`"),
    ("real", "real", "a <= b, b < a"): ("assume[1]", "found `b < a` beside `a <= b`"),
    ("real", "real", "a < b, 2*b < 2*c, c - a < 0"): ("assume[2]", "`2*b < 2*c`"),
    ("real", "real", "c < 0"): ("assume[0]", "found `c < 0` beside `c is positive`"),
    ("real", "real", "c == 0"): ("assume[0]", "beside `c is positive`"),
    ("interval(a, b)", "real", "b < a"): ("assume[0]", "found `b < a` beside `interval(a, b)`"),
    ("interval(a, b)", "interval(b, a)", ""): ("state.x.domain", "interval(b, a)"),
    ("positive", "real", "x < 0"): ("assume[0]", "found `x < 0` beside `positive`"),
    ("interval(0, 1)", "real", "x > 1"): ("assume[0]", "found `x > 1` beside `interval(0, 1)`"),
    ("real", "real", "a*b > 1, a*b < 1"): ("assume[1]", "beside `a*b > 1`"),
    ("real", "real", "1 < 0"): ("assume[0]", "found `1 < 0`, which no number satisfies"),
}

POSSIBLE = [
    ("interval(0, 1)", "interval(a, b)", ""),
    ("real", "real", "a <= b, b <= a"),
    ("real", "real", "a < b, b < c"),
    ("interval(a, b)", "interval(b, c)", ""),
    ("interval(a, b)", "real", "a > 0"),
    ("nonnegative", "real", "x < c"),
    ("real", "real", "a*b > 1, b*a < 2, a == b"),
]


def read(folder: Path, case: tuple[str, str, str]) -> Dynamics:
    domain, column, assume = case
    path = folder / "small.yaml"
    path.write_text(DOCUMENT.format(domain=domain, column=column, assume=assume), encoding="utf-8")
    return load_dynamics(path)


@pytest.mark.parametrize("case", EMPTY)
def test_what_excludes_each_other_is_one_fault_at_its_place(case: tuple[str, str, str], tmp_path: Path) -> None:
    with pytest.raises(ModelError) as raised:
        read(tmp_path, case)
    (fault,) = raised.value.faults
    entry, problem = EMPTY[case]
    assert fault.entry == entry
    assert problem in fault.problem
    assert "the domain is empty" in fault.problem
    assert fault.where.line == (4 if entry.startswith("assume") else 2)


@pytest.mark.parametrize(
    ("domain", "assume", "problem"),
    [
        ("real", "a < b, b < a", "found `b < a` beside `a < b`"),
        ("interval(1, 0)", "", "found `interval(1, 0)`, which no number satisfies"),
        ("interval(a, b)", "b < a", "found `b < a` beside `interval(a, b)`"),
    ],
)
def test_of_an_empty_target_nothing_is_said(domain: str, assume: str, problem: str, tmp_path: Path) -> None:
    text = f"""
name: small
state: {{v: {{shape: d, domain: "{domain}"}}}}
parameters: {{a: {{}}, b: {{}}}}
assume: [{assume}]
potential: v.T @ v/2
"""
    (tmp_path / "small.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(ModelError) as raised:
        load_target(tmp_path / "small.yaml")
    (fault,) = raised.value.faults
    assert problem in fault.problem


def test_of_several_contradictions_one_is_named_and_nothing_else(tmp_path: Path) -> None:
    with pytest.raises(ModelError) as raised:
        read(tmp_path, ("interval(0, 1)", "real", "a < 7, x < 1/2, a < b, 2*b < a + b, x > b"))
    (fault,) = raised.value.faults
    assert fault.problem.startswith("found `2*b < a + b` beside `a < b`, which")


def test_what_is_left_open_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    case = ("real", "real", "a < b, 2*b < 2*c, c - a < 0")
    monkeypatch.setattr(consistency, "EFFORT", 1)
    assert isinstance(read(tmp_path, case).declarations, Declarations)


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


@pytest.mark.parametrize("case", POSSIBLE)
def test_what_can_hold_is_read(case: tuple[str, str, str], tmp_path: Path) -> None:
    assert isinstance(read(tmp_path, case).declarations, Declarations)


def test_a_draw_that_leaves_a_domain_empty_is_no_contradiction(tmp_path: Path) -> None:
    report = check(read(tmp_path, ("interval(a + 3, b)", "interval(b, a + 20)", "")))
    found = {finding.id: finding.decision for finding in report.findings}
    assert isinstance(found["stationary"], Proved)
    assert not any("empty" in line for one in found.values() for line in getattr(one, "tried", ()))

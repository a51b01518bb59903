"""A wrong drift is refuted, and a right one is not, whatever is assumed of parameters: admissible values are found."""

from pathlib import Path

import pytest

from recipe_compiler.report.check import check
from recipe_compiler.spec.load import load
from recipe_compiler.verdict import Refuted, Undecided, Verdict

SCALARS = """name: below
state: {{p: {{shape: d}}}}
parameters:
  kT: {{is: positive}}
  gamma: {{is: positive}}
  rho: {{is: positive}}
assume: {assume}
H: norm2(p)/(2*kT)
D: [[gamma*kT*I]]
Q: [[0]]
claims: {{drift: {{p: -{k}*gamma*p}}}}
"""
MATRICES = """name: below
state: {{p: {{shape: 2}}}}
parameters:
  gamma: {{is: positive}}
  v: {{shape: 2, is: positive}}
  M: {{shape: [2, 2], is: positive definite}}
assume: {assume}
H: p.T @ inv(M) @ p/2
D: [[gamma*M]]
Q: [[0]]
claims: {{drift: {{p: -{k}*gamma*p}}}}
"""
ASSUMED = [
    (SCALARS, "rho < 1"),
    (SCALARS, "rho <= 1/2"),
    (SCALARS, "rho >= 4*kT"),
    (SCALARS, "rho + gamma < 1"),
    (SCALARS, "rho**2 <= kT/4"),
    (SCALARS, "rho < 1/d"),
    (SCALARS, "exp(rho) < 3/2"),
    (SCALARS, "gamma < rho", "rho < kT", "kT < 1/10"),
    (SCALARS, "99/100 < rho", "rho < 1"),
    (SCALARS, "rho + gamma == 1", "abs(rho - gamma) < 1/10"),
    (SCALARS, "rho**2 + gamma**2 == 1"),
    (MATRICES, "trace(M) <= 1/2"),
    (MATRICES, "M[0, 0] < 1", "M[1, 1] > 5"),
    (MATRICES, "v.T @ M @ v < 1/100"),
    (MATRICES, "v[0] < v[1]", "sum(v) < 1/10"),
]


@pytest.mark.parametrize(("text", "assume"), [(text, list(assume)) for text, *assume in ASSUMED])
@pytest.mark.parametrize(("k", "verdict"), [(1, Verdict.PROVED), (2, Verdict.REFUTED)])
def test_a_drift_is_decided(text: str, assume: list[str], k: int, verdict: Verdict, tmp_path: Path) -> None:
    path = tmp_path / "below.yaml"
    path.write_text(text.format(assume=assume, k=k), encoding="utf-8")
    found = {finding.id: finding.verdict for finding in check(load(path), advisory=False).findings}
    assert (found["claimed_drift"], found["claimed_stationary"]) == (verdict, verdict)


def test_what_no_values_are_found_for_is_named(tmp_path: Path) -> None:
    path = tmp_path / "below.yaml"
    path.write_text(SCALARS.format(assume=["exp(rho) < 1"], k=2), encoding="utf-8")
    found = next(f for f in check(load(path), advisory=False).findings if f.id == "claimed_drift")
    assert isinstance(found.decision, Undecided)
    assert (
        "no rational values were found that satisfy `exp(rho) < 1`: claims are not tested at points"
        in found.decision.tried
    )


EQUAL = """name: equal
state: {{p: {{}}}}
parameters: {{a: {{is: positive}}, b: {{is: positive}}, gamma: {{is: positive}}}}
assume: {assume}
H: p**2/2
D: [[gamma]]
Q: [[0]]
claims: {{drift: {{p: "{drift}"}}}}
"""


@pytest.mark.parametrize(
    ("assume", "drift", "verdict"),
    [
        ('["a + b == 1"]', "-gamma*(a + b)*p", Verdict.PROVED),
        ('["a*b == 1"]', "-gamma*a*b*p", Verdict.PROVED),
        ('["a*b + gamma == 1"]', "-gamma*(gamma + a*b)*p", Verdict.PROVED),
        ('["a + b == 1", "a*b == gamma"]', "-2*gamma*p*a", Verdict.REFUTED),  # right at a = 1/2
        ('["a**2 + b**2 == 2"]', "-gamma*a*p", Verdict.REFUTED),  # right at a = b = 1
        ('["a**2 == 2"]', "-gamma*a**2*p/2", Verdict.PROVED),  # at no rational point
        ('["a**2 == 2"]', "-gamma*a*p", Verdict.REFUTED),
        ('["log(a) == b"]', "-gamma*p*b/log(a)", Verdict.PROVED),
        ('["exp(a) == b"]', "-gamma*b*p", Verdict.REFUTED),
        ('["b == log(a)", "a < 1"]', "-2*gamma*p", Verdict.UNDECIDED),  # no b is positive
    ],
)
def test_equalities_are_solved_and_met_at_several_points(
    assume: str, drift: str, verdict: Verdict, tmp_path: Path
) -> None:
    path = tmp_path / "equal.yaml"
    path.write_text(EQUAL.format(assume=assume, drift=drift), encoding="utf-8")
    found = {finding.id: finding.verdict for finding in check(load(path), advisory=False).findings}
    assert found["claimed_drift"] is verdict


def test_an_equality_without_rational_values_is_named_with_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "equal.yaml"
    path.write_text(EQUAL.format(assume='["a**2 == 2", "a < 1"]', drift="-gamma*p"), encoding="utf-8")
    (found,) = (f for f in check(load(path), advisory=False).findings if f.id == "claimed_drift")
    assert isinstance(found.decision, Undecided)
    assert any("solve `a**2 == 2` for a name" in line for line in found.decision.tried)


def test_a_witness_names_parameters_that_an_assumption_makes_irrational(tmp_path: Path) -> None:
    """Formulas are read without b and c, as no rational point meets what is assumed of these."""
    document = """name: equal
state: {x: {}, y: {}}
parameters: {a: {}, b: {}, c: {}}
assume: ["c == 2*b", "b == exp(a)", "a > 1"]
H: x**2/2 + y**2/2
D: [[1, 0], [0, c]]
Q: [[0, -b], [a, 0]]
"""
    (tmp_path / "equal.yaml").write_text(document, encoding="utf-8")
    report = check(load(tmp_path / "equal.yaml"), advisory=False)
    (found,) = (finding.decision for finding in report.findings if finding.id == "q_skew")
    assert isinstance(found, Refuted)
    at = dict(found.witness)
    assert {at["b"], at["c"]} == {f"exp({at['a']})", f"2*exp({at['a']})"}

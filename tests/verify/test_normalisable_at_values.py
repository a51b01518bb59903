"""The finite integral of H = U/T is that of the target's own formulas at the build's T."""

from pathlib import Path

import pytest

from recipe_compiler.report.check import check
from recipe_compiler.spec.load import load
from recipe_compiler.verdict import Verdict

DYNAMICS = """
name: tempered
state: {theta: {shape: d}}
parameters: {T: {is: positive}}
functions: {U: {of: theta, role: potential}}
H: U(theta)/T
D: [[I]]
Q: [[0]]
"""
BUILD = """
name: b
dynamics: dynamics.yaml
target: target.yaml
parameters: {T: {value: TEMPERATURE}}
scheme: {name: euler}
variant: full
run: {step_size: 0.1}
"""
QUADRATIC = """state: {x: {shape: 2}}
parameters: {P: {shape: [2, 2], is: positive definite, default: '[[2, 1], [1, 1]]'}}
potential: x.T @ P @ x/2
"""
CAUCHY = "state: {x: {shape: 2}}\npotential: sum(log(ones + x**2))"
SHARES = "state: {x: {shape: 2, constraint: positive}}\npotential: sum(x) + sum(log(x))/2"


@pytest.mark.parametrize(
    ("target", "temperature", "verdict"),
    [
        (QUADRATIC, "1", Verdict.PROVED),
        (QUADRATIC, "3", Verdict.PROVED),
        (CAUCHY, "1", Verdict.PROVED),
        (CAUCHY, "2", Verdict.REFUTED),  # the integral of 1/sqrt(1 + x**2)
        (SHARES, "1", Verdict.PROVED),
        (SHARES, "3", Verdict.UNDECIDED),  # the Jacobian of log x is in U, and in U/T
    ],
)
def test_a_tempered_potential_is_decided_at_its_temperature(
    tmp_path: Path, target: str, temperature: str, verdict: Verdict
) -> None:
    (tmp_path / "dynamics.yaml").write_text(DYNAMICS, encoding="utf-8")
    (tmp_path / "target.yaml").write_text(f"name: t\n{target}\n", encoding="utf-8")
    (tmp_path / "build.yaml").write_text(BUILD.replace("TEMPERATURE", temperature), encoding="utf-8")
    report = check(load(tmp_path / "build.yaml"), advisory=False)
    (found,) = (finding for finding in report.findings if finding.id == "normalisable")
    assert found.verdict is verdict

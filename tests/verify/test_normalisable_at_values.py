"""The finite integral of H = U/T is that of the target's own formulas at the build's T."""

from dataclasses import replace
from pathlib import Path

import pytest
from loaders import load_build

from recipe_compiler.report.check import check
from recipe_compiler.spec.bind import bind
from recipe_compiler.spec.load import load
from recipe_compiler.spec.model import Value
from recipe_compiler.verdict import Verdict
from recipe_compiler.verify.builds.normalisable import normalisable_build

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


LOGARITHM = "state: {theta: {shape: d}}\npotential: log(1 + norm2(theta))"
ONE_ALONE = "state: {theta: {shape: d}}\nlog_prior: -norm2(theta)/2 + (d - 1)*norm2(theta)"


@pytest.mark.parametrize(
    ("target", "temperature", "sizes", "verdict", "at"),
    [
        ("state: {theta: {shape: d}}\nlog_prior: -norm2(theta)/2", "4", {}, Verdict.PROVED, None),
        ("state: {theta: {shape: d}}\nlog_prior: 0*theta[0]", "1", {}, Verdict.REFUTED, 1),
        ("state: {theta: {shape: d}}\nlog_prior: 0*theta[0]", "1", {"d": 3}, Verdict.REFUTED, 3),
        ("state: {theta: {shape: d}}\nlog_prior: -theta[0]**2", "1", {}, Verdict.REFUTED, 2),
        ("state: {theta: {shape: d}}\nlog_prior: -theta[0]**2", "1", {"d": 1}, Verdict.PROVED, None),
        (ONE_ALONE, "1", {}, Verdict.REFUTED, 2),
        (ONE_ALONE, "1", {"d": 1}, Verdict.PROVED, None),
        (LOGARITHM, "1", {}, Verdict.REFUTED, 2),
        (LOGARITHM, "1", {"d": 1}, Verdict.PROVED, None),
        (LOGARITHM, "2", {"d": 1}, Verdict.REFUTED, 1),
        (LOGARITHM, "1/2", {"d": 3}, Verdict.PROVED, None),
        (LOGARITHM, "1/2", {"d": 4}, Verdict.REFUTED, 4),
    ],
)
def test_an_integral_is_decided_at_the_sizes_of_a_build_and_at_some_of_those_left_free(
    tmp_path: Path, target: str, temperature: str, sizes: dict[str, int], verdict: Verdict, at: int | None
) -> None:
    (tmp_path / "dynamics.yaml").write_text(DYNAMICS, encoding="utf-8")
    (tmp_path / "target.yaml").write_text(f"name: t\n{target}\n", encoding="utf-8")
    text = f"{BUILD.replace('TEMPERATURE', temperature)}sizes: {sizes}\n"
    (tmp_path / "build.yaml").write_text(text, encoding="utf-8")
    build = load_build(tmp_path / "build.yaml")
    found = normalisable_build(build, bind(build))
    assert found.verdict is verdict
    if at is not None:
        assert dict(found.for_d) == {"d": at}


def test_a_size_that_a_file_fixes_is_not_free(tmp_path: Path) -> None:
    """Where the value of P is in a file, the improper integral at d = 2 says nothing about the d that it has."""
    dynamics = DYNAMICS.replace("parameters: {", "parameters: {P: {shape: [d, d], is: positive definite}, ")
    (tmp_path / "dynamics.yaml").write_text(dynamics.replace("[[I]]", "[[P]]"), encoding="utf-8")
    (tmp_path / "target.yaml").write_text(f"name: t\n{ONE_ALONE}\n", encoding="utf-8")
    text = BUILD.replace("TEMPERATURE}", "1}, P: {value: [[1]]}")
    (tmp_path / "build.yaml").write_text(text, encoding="utf-8")
    build = load_build(tmp_path / "build.yaml")
    assert normalisable_build(build, bind(build)).verdict is Verdict.PROVED
    unread = tuple((name, Value(file=tmp_path / "P.npy") if name == "P" else value) for name, value in build.values)
    build = replace(build, values=unread)
    assert normalisable_build(build, bind(build)).verdict is Verdict.UNDECIDED


def test_a_flat_potential_is_not_held_against_an_energy_that_confines_its_blocks(tmp_path: Path) -> None:
    dynamics = DYNAMICS.replace("H: U(theta)/T", "H: U(theta)/T + norm2(theta)")
    (tmp_path / "dynamics.yaml").write_text(dynamics, encoding="utf-8")
    (tmp_path / "target.yaml").write_text(
        "name: t\nstate: {theta: {shape: d}}\nlog_prior: 0*norm2(theta)\n", encoding="utf-8"
    )
    for sizes in ("{}", "{d: 2}"):
        text = f"{BUILD.replace('TEMPERATURE', '1')}sizes: {sizes}\n"
        (tmp_path / "build.yaml").write_text(text, encoding="utf-8")
        build = load_build(tmp_path / "build.yaml")
        assert normalisable_build(build, bind(build)).verdict is Verdict.UNDECIDED

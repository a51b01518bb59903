"""A position that a formula names exists from some size on: what reads it is said for that size and larger ones."""

import json
import runpy
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from loaders import load_build

from recipe_compiler.derive.recipe import derive
from recipe_compiler.derive.show import derivation_latex, derivation_text
from recipe_compiler.errors import DataError, ModelError
from recipe_compiler.pipeline import compile_build
from recipe_compiler.report.as_json import certificate, claim_json
from recipe_compiler.report.check import check
from recipe_compiler.run.data import load_data
from recipe_compiler.run.sizes import resolve_sizes
from recipe_compiler.spec.model import Build, Dynamics
from recipe_compiler.verdict import Report, Undecided, Verdict

SHIFTED = """
state: {theta: {shape: d}, r: {shape: k}}
H: norm2(theta)/2 + norm2(r)/2 + ENERGY
D: [[I, 0], [0, 'NOISE']]
Q: [[0, 0], [0, 0]]
"""


def given(report: Report) -> dict[str, set[str]]:
    """Return what each claim says of sizes."""
    return {f.id: {one for one in f.decision.given if ">=" in one} for f in report.findings}


def shifted(energy: str, noise: str = "I") -> str:
    return SHIFTED.replace("ENERGY", energy).replace("NOISE", noise)


@pytest.mark.parametrize(
    ("energy", "needed"),
    [
        ("theta[1]", {"d >= 2"}),
        ("theta[2] - r[1]", {"d >= 3", "k >= 2"}),
        ("(outer(theta, theta))[0, 1]/4", {"d >= 2"}),
        ("theta[0]", set[str]()),
    ],
)
def test_claims_that_read_a_position_are_given_its_size(
    checked: Callable[[str], Report], energy: str, needed: set[str]
) -> None:
    found = given(checked(shifted(energy)))
    assert found["stationary"] == found["normalisable"] == found["unique"] == found["explosion"] == needed
    assert found["d_symmetric"] == found["q_skew"] == set()


@pytest.mark.slow
def test_an_entry_of_d_concerns_the_claims_about_d(checked: Callable[[str], Report]) -> None:
    found = given(checked(shifted("0", "I*(1 + sin(r[2])**2)")))
    assert found["d_psd"] == found["d_symmetric"] == found["regular"] == {"k >= 3"}
    assert found["q_skew"] == set()


@pytest.mark.parametrize(
    ("more", "claim"),
    [
        ("claims: {marginal: {r: 'norm2(r)/2 + 0*r[1]'}}", "claimed_marginal"),
        ("claims: {lyapunov: 'norm2(theta) + norm2(r) + (r[1])**2'}", "explosion"),
        ("parameters: {a: {shape: k}}\nassume: ['a[1] > 0']", "d_psd"),
    ],
)
def test_every_entry_that_holds_a_position_counts(checked: Callable[[str], Report], more: str, claim: str) -> None:
    report = checked(shifted("0") + more)
    assert given(report)[claim] == {"k >= 2"}
    assert next(f.verdict for f in report.findings if f.id == claim) is Verdict.PROVED


def test_ends_of_domains_count(checked: Callable[[str], Report]) -> None:
    bounded = """
    state: {x: {domain: "interval(a[0], a[1])"}}
    parameters: {a: {shape: k}}
    assume: ["a[0] < a[1]"]
    H: x**2
    D: [[1]]
    Q: [[0]]
    """
    assert given(checked(bounded))["stationary"] == {"k >= 2"}


@pytest.mark.slow
def test_a_size_that_is_a_number_is_no_condition(checked: Callable[[str], Report]) -> None:
    document = shifted("theta[5]").replace("shape: d", "shape: 7")
    assert not any(given(checked(document)).values())


@pytest.mark.slow
def test_reports_certificates_and_derivations_say_it(loaded: Callable[[str], Dynamics]) -> None:
    dynamics = loaded(shifted("theta[1]"))
    report = check(dynamics)
    claims = {finding.id: claim_json(finding) for finding in report.findings}
    assert "d >= 2" in claims["stationary"]["given"]
    assert "given: d >= 2" in str(report)
    assert "d >= 2" in json.loads(json.dumps(certificate(dynamics, report)))["assumptions"]
    assert derivation_text(derive(dynamics)).endswith("given     d >= 2\n")
    assert r"d &\geq 2" in derivation_latex(derive(dynamics))
    assert "given" not in derivation_text(derive(loaded(shifted("theta[0]"))))


DYNAMICS = """
name: langevin
state: {theta: {shape: d}}
functions: {U: {of: theta, role: potential}}
parameters: {a: {shape: k}}
H: U(theta)
D: [["(1 + a[1]**2)*I"]]
Q: [[0]]
"""
TARGET = "name: shifted\nstate: {theta: {shape: d}}\npotential: norm2(theta)/2 + theta[2]\n"
TWO = "name: two\nstate: {theta: {shape: 2}}\npotential: norm2(theta)/2\n"
BUILD = """
name: build
dynamics: langevin.yaml
target: target.yaml
scheme: {name: euler}
variant: full
parameters: {a: {value: [1, 1]}}
run: {step_size: 0.01}
"""


@pytest.fixture
def build(tmp_path: Path) -> Callable[..., Build]:
    def read(text: str = BUILD, target: str = TARGET, dynamics: str = DYNAMICS) -> Build:
        (tmp_path / "langevin.yaml").write_text(dynamics, encoding="utf-8")
        (tmp_path / "target.yaml").write_text(target, encoding="utf-8")
        (tmp_path / "build.yaml").write_text(text, encoding="utf-8")
        return load_build(tmp_path / "build.yaml")

    return read


@pytest.mark.parametrize(
    ("old", "new", "where"),
    [
        ("run:", "sizes: {d: 2}\nrun:", "sizes.d"),
        ("[1, 1]", "[1]", "parameters.a.value"),
    ],
)
def test_a_build_that_fixes_a_smaller_size_is_at_fault(
    build: Callable[..., Build], old: str, new: str, where: str
) -> None:
    with pytest.raises(ModelError) as caught:
        build(BUILD.replace(old, new))
    (fault,) = caught.value.faults
    assert fault.entry == where
    assert "counted from 0; expected" in fault.problem


def test_a_target_of_a_smaller_fixed_size_is_at_fault(build: Callable[..., Build]) -> None:
    with pytest.raises(ModelError) as caught:
        build(dynamics=DYNAMICS.replace("H: U(theta)", "H: U(theta) + theta[2]"), target=TWO)
    (fault,) = caught.value.faults
    assert (fault.entry, fault.problem) == (
        "target", "found d = 2 with a formula that uses position 2, counted from 0; expected d >= 3",
    )  # fmt: skip


@pytest.mark.slow
def test_what_a_build_leaves_open_is_given_and_what_it_fixes_is_not(build: Callable[..., Build]) -> None:
    assert given(check(build()))["unique"] == given(check(build()))["defined"] == {"d >= 3"}
    assert not any(given(check(build(BUILD.replace("run:", "sizes: {d: 3}\nrun:")))).values())


@pytest.mark.slow
def test_a_file_refuses_a_smaller_size(build: Callable[..., Build], tmp_path: Path) -> None:
    path = tmp_path / "emitted.py"
    path.write_text(compile_build(build()).file, encoding="utf-8")
    sample = runpy.run_path(str(path))["sample"]
    with pytest.raises(ValueError, match="d: found 2, expected 3 or more: a formula names position 2"):
        sample(d=2, draws=3)
    assert sample(d=3, draws=3)["theta"].shape == (4, 3, 3)


def test_a_run_refuses_a_smaller_size(build: Callable[..., Build]) -> None:
    fixed = build(BUILD.replace("run:", "sizes: {d: 3}\nrun:"))
    data = load_data(None, fixed.target)
    assert resolve_sizes(fixed, data) == {"d": 3, "k": 2}
    with pytest.raises(DataError, match=r"size d: found 2 by `sizes`, but a formula names position 2"):
        resolve_sizes(replace(fixed, sizes=(("d", 2),)), data)


@pytest.mark.parametrize(("factor", "at"), [("(d - 1)/(d - 1)", "d = 1"), ("(1 + 0*log(3 - d))", "d = 3")])
def test_a_size_at_which_a_formula_has_no_value_is_named(
    checked: Callable[[str], Report], factor: str, at: str
) -> None:
    update = f"claims: {{update: {{x: x - eps*{factor}*x + sqrt(2*eps)*{factor}*N(0, I)}}}}"
    found = checked(f"state: {{x: {{shape: d}}}}\nH: norm2(x)/2\nD: [[I]]\nQ: [[0]]\n{update}\n")
    (claimed,) = (f for f in found.findings if f.id == "claimed_update")
    assert isinstance(claimed.decision, Undecided)
    assert any(f"false at {at}" in line for line in claimed.decision.tried)

"""Large fixed sizes and the sizes of builds: proofs for every size cover them, witnesses at others say nothing."""

from pathlib import Path

import pytest
from loaders import load_dynamics

from recipe_compiler.report.check import check
from recipe_compiler.spec.load import load
from recipe_compiler.spec.model import Build, Dynamics
from recipe_compiler.verdict import Finding, Proved, Undecided, Verdict
from recipe_compiler.verify.core.generalise_size import any_size

pytestmark = pytest.mark.usefixtures("without_explanations")

METRIC = """
name: metric
state: {{theta: {{shape: {n}}}, r: {{shape: {n}}}}}
functions:
  U: {{of: theta, role: potential}}
  G: {{of: theta, shape: [{n}, {n}], is: positive definite}}
H: U(theta) + r.T @ inv(G) @ r/2 {sign} logdet(G)/2
D: [[0, 0], [0, I]]
Q: [[0, -I], [I, 0]]
"""

STUDENT = """
name: student
state: {{x: {{shape: {n}}}}}
parameters: {{nu: {{is: positive}}}}
H: {weight}/2*log(1 + x.T @ x/nu)
D: [[I]]
Q: [[0]]
claims: {{drift: {{x: {drift}}}}}
"""


def report(at: Path, text: str, seconds: float = 20.0) -> dict[str, Finding]:
    (at / "spec.yaml").write_text(text, encoding="utf-8")
    document = load(at / "spec.yaml")
    assert isinstance(document, (Dynamics, Build))
    return {finding.id: finding for finding in check(document, seconds).findings}


@pytest.mark.slow
@pytest.mark.parametrize("n", [12, 1_000_000])
def test_what_holds_for_every_size_is_proved_at_a_large_one(tmp_path: Path, n: int) -> None:
    found = report(tmp_path, METRIC.format(n=n, sign="+"))
    for claim in ("d_symmetric", "d_psd", "q_skew", "stationary", "normalisable", "marginal"):
        assert found[claim].verdict is Verdict.PROVED
    assert {name for sizes in found["stationary"].checked_at for name, _ in sizes} == {f"n_{n}"}


@pytest.mark.slow
@pytest.mark.parametrize("n", [12, 1_000_000])
def test_what_is_wrong_for_every_size_is_not_proved_and_said_to_be_wrong_elsewhere(tmp_path: Path, n: int) -> None:
    found = report(tmp_path, METRIC.format(n=n, sign="-"))["marginal"].decision
    assert isinstance(found, Undecided)
    assert any(what.startswith(f"wrong at n_{n} = 1") for what in found.tried)


@pytest.mark.slow
def test_a_number_that_is_a_size_is_decided_at_that_size(tmp_path: Path) -> None:
    right = report(tmp_path, STUDENT.format(n=12, weight="(nu + 12)", drift="-(nu + 12)*x/(nu + x.T @ x)"))
    assert right["normalisable"].verdict is Verdict.PROVED
    assert right["claimed_drift"].verdict is Verdict.PROVED
    wrong = report(tmp_path, STUDENT.format(n=12, weight="12", drift="-(nu + 12)*x/(nu + x.T @ x)"))
    assert wrong["normalisable"].verdict is Verdict.REFUTED
    assert wrong["claimed_drift"].verdict is Verdict.REFUTED


@pytest.mark.parametrize(
    ("state", "H", "general"),
    [
        ("{x: {shape: 12}}", "x.T @ x/2", True),
        ("{x: {shape: 12}}", "x.T @ x/2 + x[2]", True),
        ("{x: {shape: 12}}", "x.T @ x/2 + x[11]", False),
        ("{x: {shape: 3}}", "x.T @ x/2", False),
        ("{x: {shape: d}}", "x.T @ x/2", False),
    ],
)
def test_only_large_sizes_without_far_positions_have_names(tmp_path: Path, state: str, H: str, general: bool) -> None:
    (tmp_path / "spec.yaml").write_text(f"name: s\nstate: {state}\nH: {H}\nD: [[I]]\nQ: [[0]]\n", encoding="utf-8")
    document = load_dynamics(tmp_path / "spec.yaml")
    wide = any_size(document)
    assert (wide is not None) is general
    assert wide is None or wide.declarations.sizes == ("n_12",)


DYNAMICS = """
name: thermostat
state: {theta: {shape: d}, r: {shape: d}, xi: {}}
parameters: {A: {is: positive}}
functions: {U: {of: theta, role: potential}}
H: U(theta) + r.T @ r/2 + WEIGHT*(xi - A)**2/2
D: [[0, 0, 0], [0, A*I, 0], [0, 0, 0]]
Q: [[0, -I, 0], [I, 0, r/d], [0, -r.T/d, 0]]
claims:
  drift: {theta: r, r: -grad(U, theta) - xi*r, xi: r.T @ r/d - 1}
"""
BUILD = """
name: build
dynamics: dynamics.yaml
target: target.yaml
scheme: {name: euler}
variant: full
sizes: {d: SIZE}
run: {step_size: 0.01}
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("weight", "size", "verdict"),
    [
        ("d", 2, Verdict.PROVED),
        ("1", 1, Verdict.PROVED),
        ("1", 2, Verdict.REFUTED),
        ("1", 5, Verdict.REFUTED),
        ("1", 5000, Verdict.UNDECIDED),
    ],
)
def test_a_build_is_decided_at_its_own_size(tmp_path: Path, weight: str, size: int, verdict: Verdict) -> None:
    (tmp_path / "dynamics.yaml").write_text(DYNAMICS.replace("WEIGHT", weight), encoding="utf-8")
    target = "name: target\nstate: {theta: {shape: d}}\npotential: norm2(theta)/2\n"
    (tmp_path / "target.yaml").write_text(target, encoding="utf-8")
    build = BUILD.replace("SIZE", str(size)) + "parameters: {A: {value: 1}}\n"
    found = report(tmp_path, build, seconds=20.0 if size < 1000 else 1.0)["claimed_drift"]  # that long is never enough
    assert found.verdict is verdict
    assert verdict is not Verdict.REFUTED or found.for_d == (("d", size),)
    assert verdict is not Verdict.PROVED or isinstance(found.decision, Proved)


VANISHING = """
name: v
state: {{theta: {{shape: d}}}}
functions: {{U: {{of: theta, role: potential}}}}
H: U(theta)
D: [[I]]
Q: [[0]]
claims: {{drift: {{theta: "-grad(U, theta) + {factor}*theta"}}}}
"""


@pytest.mark.parametrize(
    ("factor", "fails_at"),
    [("(d - 2)", 1), ("(d - 1)*(d - 2)*(d - 3)", 4), ("(d - 1)*(d - 2)*(d - 3)*(d - 4)*(d - 5)", 6)],
)
def test_what_vanishes_at_the_smallest_sizes_is_refuted_at_the_next(tmp_path: Path, factor: str, fails_at: int) -> None:
    found = report(tmp_path, VANISHING.format(factor=factor))["claimed_drift"]
    assert found.verdict is Verdict.REFUTED
    assert found.for_d == (("d", fails_at),)
    assert [size for ((_, size),) in found.checked_at] == list(range(1, fails_at))


def test_what_cancels_for_every_size_is_proved(tmp_path: Path) -> None:
    found = report(tmp_path, VANISHING.format(factor="(d*(d - 1)*(d - 2) - d**3 + 3*d**2 - 2*d)"))["claimed_drift"]
    assert found.verdict is Verdict.PROVED


@pytest.mark.slow
def test_a_factor_that_vanishes_at_the_size_of_a_build_refutes_nothing(tmp_path: Path) -> None:
    wrong = VANISHING.format(factor="(d - 1)*(d - 2)*(d - 3)")
    (tmp_path / "dynamics.yaml").write_text(wrong, encoding="utf-8")
    (tmp_path / "target.yaml").write_text("name: t\nstate: {theta: {shape: d}}\npotential: norm2(theta)/2\n")
    assert report(tmp_path, BUILD.replace("SIZE", "3"))["claimed_drift"].verdict is Verdict.UNDECIDED
    assert report(tmp_path, BUILD.replace("SIZE", "4"))["claimed_drift"].verdict is Verdict.REFUTED

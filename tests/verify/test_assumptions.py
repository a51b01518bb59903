"""What a proof rests on is decided in a build, and what is stated of a circle must come back to itself."""

from pathlib import Path

import pytest
from loaders import load_build, load_dynamics, load_target

from recipe_compiler.report.check import check
from recipe_compiler.verdict import Finding, Report, Verdict

DYNAMICS = """
name: assuming
state: {theta: {shape: d}}
parameters: {c: {}, a: {}}
functions: {U: {of: theta, role: potentialKIND}}
assume: ["c >= 0"EXTRA]
H: U(theta)
D: [["c*I"]]
Q: [[0]]
"""
TARGET = """
name: normal
state: {theta: {shape: d}}
parameters: {s: {default: 1}}
ASSUMEpotential: theta.T @ theta / 2 + s
"""
BUILD = """
name: assuming_build
dynamics: dynamics.yaml
target: target.yaml
BIND
parameters: {VALUES}
scheme: {name: euler}
variant: full
sizes: {d: 2}
run: {step_size: 0.1}
"""


def report(folder: Path, **changes: str) -> Report:
    """Return the report of a build with parts of its documents filled in."""
    dynamics = DYNAMICS.replace("KIND", changes.get("kind", "")).replace("EXTRA", changes.get("extra", ""))
    (folder / "dynamics.yaml").write_text(dynamics)
    (folder / "target.yaml").write_text(TARGET.replace("ASSUME", changes.get("assume", "")))
    build = BUILD.replace("BIND", changes.get("bind", "")).replace("VALUES", changes.get("values", ""))
    (folder / "build.yaml").write_text(build)
    found = load_build(folder / "build.yaml")
    return check(found)


def finding(report: Report, claim: str) -> Finding:
    return next(f for f in report.findings if f.id == claim)


@pytest.mark.slow
def test_values_that_keep_to_the_assumption_are_proved(tmp_path: Path) -> None:
    found = report(tmp_path, values="c: {value: 3}, a: {value: 1}")
    assert finding(found, "assumptions").verdict is Verdict.PROVED
    assert found.verdict is Verdict.PROVED


@pytest.mark.slow
@pytest.mark.parametrize(
    ("bind", "values"),
    [
        ("", "c: {value: -3}, a: {value: 1}"),
        ("bind: {c: -a**2}", "a: {value: 3}"),
        ("bind: {c: q}", "q: {value: -1/2}, a: {value: 1}"),
    ],
)
def test_values_that_break_the_assumption_refute_the_build(tmp_path: Path, bind: str, values: str) -> None:
    found = report(tmp_path, bind=bind, values=values)
    assert finding(found, "assumptions").verdict is Verdict.REFUTED
    assert found.verdict is Verdict.REFUTED


@pytest.mark.slow
@pytest.mark.parametrize(
    "changes",
    [
        {"assume": 'assume: ["theta[0] > 0"]\n'},
        {"extra": ', "U(theta) >= 0"'},
        {"kind": ", is: positive"},
    ],
    ids=["target restricts the state", "potential assumed", "potential of a kind"],
)
def test_what_no_step_keeps_to_leaves_the_build_undecided(tmp_path: Path, changes: dict[str, str]) -> None:
    found = report(tmp_path, values="c: {value: 3}, a: {value: 1}", **changes)
    assert finding(found, "assumptions").verdict is Verdict.UNDECIDED
    assert found.verdict is Verdict.UNDECIDED


@pytest.mark.slow
def test_an_assumption_of_the_target_is_decided_too(tmp_path: Path) -> None:
    values = "c: {value: 3}, a: {value: 1}, s: {value: 0}"
    assert report(tmp_path, values=values, assume='assume: ["s > 0"]\n').verdict is Verdict.REFUTED


BETWEEN = """
name: between
state: {theta: {shape: d, SET}}
parameters: {a: {}, b: {}}
potential: theta.T @ theta / 2
"""
ENDS = ('constraint: "interval(a, b)"', 'domain: "interval(a, b)", transform: logit')


@pytest.mark.slow
@pytest.mark.parametrize("of", ENDS)
@pytest.mark.parametrize(
    ("a", "b", "expected"), [("-1", "2", Verdict.PROVED), ("2", "-1", Verdict.REFUTED), ("2", "2", Verdict.REFUTED)]
)
def test_ends_that_leave_nothing_between_them_refute_a_build(
    of: str, a: str, b: str, expected: Verdict, tmp_path: Path
) -> None:
    (tmp_path / "between.yaml").write_text(BETWEEN.replace("SET", of))
    text = BUILD.replace("target.yaml", "between.yaml").replace("BIND", 'bind: {c: "1"}')
    (tmp_path / "dynamics.yaml").write_text(DYNAMICS.replace("KIND", "").replace("EXTRA", "").replace(", a: {}", ""))
    (tmp_path / "build.yaml").write_text(text.replace("VALUES", f"a: {{value: {a}}}, b: {{value: {b}}}"))
    assert finding(check(load_build(tmp_path / "build.yaml")), "assumptions").verdict is expected


def circle(folder: Path, H: str, D: str = "1") -> Verdict:
    text = f"name: turn\nstate: {{phi: {{domain: circle}}}}\nparameters: {{k: {{}}}}\nH: {H}\nD: [['{D}']]\nQ: [[0]]\n"
    (folder / "turn.yaml").write_text(text)
    found = load_dynamics(folder / "turn.yaml")
    return check(found).verdict


@pytest.mark.parametrize("H", ["k*cos(phi)", "sin(3*phi + k)**2", "exp(cos(2*phi - phi))"])
def test_periodic_energies_are_proved(tmp_path: Path, H: str) -> None:
    assert circle(tmp_path, H) is Verdict.PROVED


@pytest.mark.parametrize("H", ["phi", "phi**2/2", "cos(phi/2)", "cos(k*phi)", "cos(phi**2)", "cos(phi) + phi"])
def test_energies_that_are_not_shown_to_be_periodic_are_not_proved(tmp_path: Path, H: str) -> None:
    assert circle(tmp_path, H) is not Verdict.PROVED


def test_a_diffusion_must_be_periodic_too(tmp_path: Path) -> None:
    assert circle(tmp_path, "cos(phi)", "1 + phi**2") is Verdict.REFUTED
    assert circle(tmp_path, "cos(phi)", "1 + sin(phi)**2") is Verdict.PROVED


def test_a_target_on_a_circle_must_be_periodic(tmp_path: Path) -> None:
    for potential, verdict in (("cos(phi)", Verdict.PROVED), ("phi/2", Verdict.REFUTED)):
        text = f"name: turn\nstate: {{phi: {{domain: circle}}}}\npotential: {potential}\n"
        (tmp_path / "turn.yaml").write_text(text)
        found = load_target(tmp_path / "turn.yaml")
        assert check(found).verdict is verdict


@pytest.mark.slow
@pytest.mark.parametrize(("D", "said"), [("B @ B.T", True), ("I", False), ("B @ B.T + I", False)])
def test_a_chain_that_may_not_leave_a_plane_is_warned_of(tmp_path: Path, D: str, *, said: bool) -> None:
    text = (
        "name: plane\nstate: {theta: {shape: d}}\nparameters: {B: {shape: [d, k]}}\n"
        f"functions: {{U: {{of: theta, role: potential}}}}\nH: U(theta)\nD: [['{D}']]\nQ: [[0]]\n"
    )
    (tmp_path / "plane.yaml").write_text(text)
    found = load_dynamics(tmp_path / "plane.yaml")
    unique = next(f for f in check(found).findings if f.id == "unique")
    assert (unique.verdict is Verdict.REFUTED) is said


DIAGONAL = """
name: diagonal
state: {theta: {shape: d}}
parameters: {K: {shape: [d, d], is: [diagonal, positive]}}
functions: {U: {of: theta, role: potential}}
H: U(theta)
D: [["K"]]
Q: [[0]]
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("bound", "verdict"),
    [
        ("parameters: {K: {value: [[1, 0], [0, 2]]}}", Verdict.PROVED),
        ("bind: {K: 2*I}", Verdict.PROVED),
        ("bind: {K: diag(w)}\nparameters: {w: {shape: d, is: positive, value: [1, 2]}}", Verdict.PROVED),
        ("bind: {K: -1*I}", Verdict.REFUTED),
    ],
)
def test_a_positive_diagonal_matrix_is_positive_on_its_diagonal(tmp_path: Path, bound: str, verdict: Verdict) -> None:
    (tmp_path / "dynamics.yaml").write_text(DIAGONAL)
    (tmp_path / "target.yaml").write_text("name: t\nstate: {theta: {shape: d}}\npotential: theta.T @ theta / 2\n")
    (tmp_path / "build.yaml").write_text(BUILD.replace("BIND\nparameters: {VALUES}", bound))
    found = load_build(tmp_path / "build.yaml")
    assert check(found).verdict is verdict

"""The cells of the table of obligations (docs/theory.md) that no other test covers."""

from collections.abc import Callable
from pathlib import Path

import pytest
from loaders import load_build, load_target

from recipe_compiler.formula.shapes import Kind
from recipe_compiler.report.check import check
from recipe_compiler.spec.model import Dynamics
from recipe_compiler.verdict import Verdict
from recipe_compiler.verify.claims_in_builds import TARGETS
from recipe_compiler.verify.core.kinds import counterexample, is_of_kind

Said = Callable[[str, str], str]
Loaded = Callable[[str], Dynamics]

LINE = "state: {x: {}}\nparameters: {a: {}, b: {}, p: {is: positive}}\n"


@pytest.mark.parametrize(
    "x",
    [
        "x - eps*x + eps*where(abs(x) - x == 0, 1, 0) + N(0, 2*eps)",
        "x - eps*x + eps*where(x > 0, 1, 0) + N(0, 2*eps)",
        "x - eps*x*sign(x)**2 + N(0, 2*eps)",
        "x - eps*abs(x)*sign(x) + N(0, 2*eps)*sign(x)**2",
    ],
)
def test_what_jumps_in_an_update_is_not_proved(said: Said, x: str) -> None:
    text = f'{LINE}H: x**2/2\nD: [[1]]\nQ: [[0]]\nclaims: {{update: {{x: "{x}"}}}}\n'
    assert said("claimed_update", text) != "proved"


@pytest.mark.parametrize(
    ("x", "enough", "weaker"),
    [
        ("x - eps*a*x + N(0, 2*eps)", "a == 1", "a > 0"),
        ("x - eps*x + N(0, 2*eps*(a - b + 1))", "a == b", "a >= b"),
        ("x - eps*a*x + N(0, 2*eps*b)", "a == b; b >= 0", "a >= b; b >= 0"),
    ],
)
def test_an_update_is_proved_by_what_is_assumed(said: Said, x: str, enough: str, weaker: str) -> None:
    for assumed, proved in ((enough, True), (weaker, False)):
        listed = ", ".join(f'"{each}"' for each in assumed.split("; "))
        text = f'{LINE}assume: [{listed}]\nH: x**2/2\nclaims: {{update: {{x: "{x}"}}}}\n'
        assert (said("claimed_update", text) == "proved") is proved


@pytest.mark.parametrize(
    "f",
    [
        "where(a == 0, 1, 0)*x",
        "(1 - sign(a)**2)*x",
        "where(abs(a) - a == 0, 1, 0)*x",
        "abs(abs(x) - x)*x + maximum(x, 0)",
        "where(sin(a)**2 + cos(a)**2 == 1, x, 0)",
    ],
)
def test_a_turn_is_looked_at_on_kinks_too(said: Said, f: str) -> None:
    text = LINE.replace("x: {}", "x: {domain: circle}") + f'H: "cos(x) + {f}"\nD: [[1]]\nQ: [[0]]\n'
    assert said("periodic", text) == "refuted"


@pytest.mark.parametrize("kink", ["abs(abs(x) - x)", "maximum(x, 0)", "abs(x)*(abs(x) - x)", "minimum(x, 1)*abs(x)"])
def test_a_kink_of_what_is_kept_leaves_the_marginal_open(said: Said, kink: str) -> None:
    text = f'state: {{x: {{}}, r: {{}}}}\nH: "x**2 + r**2/2 + {kink}"\nD: [[0, 0], [0, 1]]\nQ: [[0, -1], [1, 0]]\n'
    assert said("claimed_marginal", f"{text}claims: {{marginal: {{x: x**2}}}}\n") != "proved"


@pytest.mark.parametrize("D", ["abs(x) - x", "maximum(x, 0)", "abs(abs(x) - x)", "maximum(x, 0)**2"])
def test_what_vanishes_on_half_the_space_is_not_regular(said: Said, D: str) -> None:
    text = f'{LINE}H: x**2/2\nD: [["{D}"]]\nQ: [[0]]\n'
    assert said("regular", text) != "proved"
    assert said("unique", text) != "proved"


@pytest.mark.parametrize(
    ("D", "enough", "weaker"),
    [
        ("a + x**2", "a > 0", "a >= 0"),
        ("1 - a + x**2", "a < 1", "a <= 1"),
        ("a - b + x**2", "a > b", "a >= b"),
        ("a + x**2", "a == p", "a == p - 1"),
    ],
)
def test_a_metric_is_regular_by_what_is_assumed(said: Said, D: str, enough: str, weaker: str) -> None:
    for assumed, proved in ((enough, True), (weaker, False)):
        text = f'{LINE}assume: ["{assumed}"]\nH: x**2/2\nD: [["{D}"]]\nQ: [[0]]\n'
        assert (said("regular", text) == "proved") is proved
        assert proved or said("unique", text) != "proved"


@pytest.mark.parametrize(
    ("potential", "assumed", "proved"),
    [
        ("theta.T @ theta", "", True),
        ("(d - 5)/(d - 5)*theta.T @ theta", "", False),
        ("sqrt(d - 1)*theta.T @ theta", "", False),
        ("theta.T @ theta + log(a)", "", False),
        ("theta.T @ theta + log(a)", "a > 0", True),
        ("theta.T @ theta*sqrt(1 - a)", "a < 1", True),
        ("theta.T @ theta*sqrt(1 - a)", "a < 2", False),
        ("theta.T @ theta*sign(a)", "", False),
        ("theta.T @ theta*where(a == 0, 1, 2)", "", False),
    ],
)
def test_what_a_target_reads_at_every_size(tmp_path: Path, potential: str, assumed: str, proved: bool) -> None:
    path = tmp_path / "target.yaml"
    given = f'assume: ["{assumed}"]\n' if assumed else ""
    head = "name: t\nstate: {theta: {shape: d}}\nparameters: {a: {}}\n"
    path.write_text(f'{head}{given}potential: "{potential}"\n', encoding="utf-8")
    target = load_target(path)
    found = [claim.decide(target).verdict for claim in TARGETS if claim.id in {"defined", "gradient"}]
    assert (found == [Verdict.PROVED, Verdict.PROVED]) is proved


@pytest.mark.parametrize(
    ("D", "kind"),
    [
        ("where(a == 0, -1, 1)", Kind.POSITIVE),
        ("sign(a)**2", Kind.POSITIVE),
        ("1 - 2*where(sin(a)**2 + cos(a)**2 == 1, 1, 0)", Kind.NONNEGATIVE),
        ("sign(a)", Kind.NONZERO),
        ("1 - where(abs(a) - a == 0, 1, 0)", Kind.NONZERO),
        ("sign(a)**2 - 1/2", Kind.PSD),
    ],
)
def test_a_kind_on_a_kink_is_not_shown(loaded: Loaded, D: str, kind: Kind) -> None:
    document = loaded(f'{LINE}H: x**2/2\nD: [["{D}"]]\nQ: [[0]]\n')
    assert document.D is not None
    assert not is_of_kind(document.D[0][0], kind, document.declarations)
    assert counterexample(document.D[0][0], kind, document.declarations, ({},)) is not None


DYNAMICS = """
name: m
state: {theta: {shape: d}}
parameters: {a: {}}
functions: {U: {of: theta, role: potential}}
assume: ["ASSUMED"]
H: U(theta)
D: [["(SHARE)*I"]]
Q: [[0]]
"""
TARGET = "name: t\nstate: {theta: {shape: 2}}\ndata: {y: {shape: N}}\n" + (
    "log_prior: -theta.T @ theta/2\nlog_likelihood: -(y - theta[0])**2/2\n"
)
BUILD = """
name: b
dynamics: dynamics.yaml
target: target.yaml
parameters: {a: {value: VALUE}}
scheme: {name: euler}
variant: minibatch
gradient_noise: {V: "I/100"}
sizes: {d: 2}
data: {file: data.csv, y: y}
run: {step_size: 0.01, batch_size: 2}
"""


def verdicts(folder: Path, share: str, assumed: str, value: str) -> dict[str, str]:
    """Return what a build says, claim by claim."""
    (folder / "dynamics.yaml").write_text(DYNAMICS.replace("SHARE", share).replace("ASSUMED", assumed))
    (folder / "target.yaml").write_text(TARGET)
    (folder / "data.csv").write_text("y\n1\n0.5\n-1\n")
    (folder / "build.yaml").write_text(BUILD.replace("VALUE", value))
    build = load_build(folder / "build.yaml")
    return {finding.id: str(finding.verdict) for finding in check(build).findings}


@pytest.mark.slow
@pytest.mark.parametrize("share", ["a/a", "1 + log(a) - log(a)", "exp(log(a)) + 3"])
def test_a_budget_of_what_has_no_value_is_not_proved(tmp_path: Path, share: str) -> None:
    value = "0" if "/" in share else "-1"
    assert verdicts(tmp_path, share, "a >= -2", value)["noise_budget"] != "proved"
    assert verdicts(tmp_path, share, "a >= -2", "2")["noise_budget"] == "proved"


@pytest.mark.slow
@pytest.mark.parametrize("assumed", ["sqrt(a)**2 > -5", "exp(log(a)) >= -3", "a/a == 1"])
def test_an_assumption_without_a_value_does_not_hold(tmp_path: Path, assumed: str) -> None:
    value = "0" if "/" in assumed else "-1"
    assert verdicts(tmp_path, "1", assumed, value)["assumptions"] != "proved"
    assert verdicts(tmp_path, "1", assumed, "2")["assumptions"] == "proved"

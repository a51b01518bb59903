"""Kinds on kinks, noise budgets and assumptions without a value; documents of one kind are in `tests/documents`."""

from collections.abc import Callable
from pathlib import Path

import pytest
from loaders import load_build

from recipe_compiler.formula.shapes import Kind
from recipe_compiler.report.check import check
from recipe_compiler.spec.model import Dynamics
from recipe_compiler.verify.core.kinds import counterexample, is_of_kind

Loaded = Callable[[str], Dynamics]

LINE = "state: {x: {}}\nparameters: {a: {}, b: {}, p: {is: positive}}\n"


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

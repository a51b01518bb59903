"""exp(-H) is the only stationary law only if it is a law, and stationary: else nothing is proved of its uniqueness."""

from pathlib import Path

import pytest
from written import POTENTIAL, case

from recipe_compiler.verdict import Proved, Refuted, Undecided, Verdict
from recipe_compiler.verify.unique import unique

NO_LAW = {
    "Brownian motion": ("x: {shape: d}", "0*sum(x)", "exp(-H) has no finite integral"),
    "a square with a valley": ("x: {}, y: {}", "(x**2 + y)**2", "exp(-H) has no finite integral"),
    "Cauchy's law in two dimensions": (
        "x: {shape: d}",
        "log(1 + norm2(x))",
        "not shown: exp(-H) has a finite integral",
    ),
    "no function on a circle": ("t: {domain: circle}", "t**2/2", "not shown: what is stated of a circle is periodic"),
}


@pytest.mark.parametrize("name", NO_LAW)
def test_what_is_no_law_is_not_the_only_one(tmp_path: Path, name: str) -> None:
    state, H, why = NO_LAW[name]
    found = unique(case(tmp_path, state, H)).decision
    assert isinstance(found, Undecided)
    assert any(reason.startswith(why) for reason in found.tried)


def test_a_written_energy_is_shown_to_be_integrable_not_assumed(tmp_path: Path) -> None:
    found = unique(case(tmp_path, "x: {shape: d}", "norm2(x)/2")).decision
    assert isinstance(found, Proved)
    assert not any("finite integral" in fact for fact in found.given)


def test_an_abstract_one_is_assumed_to_be_by_name(tmp_path: Path) -> None:
    found = unique(case(tmp_path, "theta: {shape: d}", "U(theta)", functions=POTENTIAL)).decision
    assert isinstance(found, Proved)
    assert "exp(-U) has a finite integral" in found.given


def test_what_to_declare_of_noise_that_may_vanish_is_said(tmp_path: Path) -> None:
    kind = "positive semidefinite"
    found = unique(
        case(tmp_path, "x: {shape: d}", "norm2(x)/2", D="[[C]]", parameters=f"C: {{shape: [d, d], is: {kind}}}")
    )
    assert found.verdict is Verdict.REFUTED
    assert isinstance(found.decision, Refuted)
    assert "declare C positive definite" in found.decision.residual

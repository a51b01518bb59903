"""What is said beside a refutation must mean something where the state lives, and be a law if it is called one."""

from pathlib import Path

from written import document

from recipe_compiler.explain.samples.samples import samples_instead
from recipe_compiler.verify.core.subject import subject_of


def test_no_energy_on_a_circle_that_is_not_periodic(tmp_path: Path) -> None:
    found = samples_instead(subject_of(document(tmp_path, "t: {domain: circle}", "cos(t)", D="[[1]]", drift="t: 1")))
    assert "-t" not in [dict(one.formulas).get("H") for one in found]
    (line,) = samples_instead(subject_of(document(tmp_path, "t: {}", "cos(t)", D="[[1]]", drift="t: 1")))
    assert dict(line.formulas)["H"] == "-t"


def test_an_infinite_integral_is_said(tmp_path: Path) -> None:
    (found,) = samples_instead(subject_of(document(tmp_path, "x: {}", "x**2/2", D="[[1]]", drift="x: x")))
    assert dict(found.formulas)["H"] == "-1/2*x**2"
    assert found.says.endswith("its integral is infinite: no law is sampled")

"""Verdicts on targets whose rows pass states on: induction over the rows, and no claim that takes rows apart."""

from pathlib import Path

import pytest
from loaders import load_target

from recipe_compiler.derive.conditional import potential_of
from recipe_compiler.derive.found_laws import found_laws
from recipe_compiler.errors import ModelError, RunError
from recipe_compiler.run.predictive import predictive_of
from recipe_compiler.spec.model import Target
from recipe_compiler.verdict import Proved, Undecided, Verdict
from recipe_compiler.verify.builds.constrained import keeps_law
from recipe_compiler.verify.builds.explosion import _falls_slowly
from recipe_compiler.verify.builds.laws import scalar_potential
from recipe_compiler.verify.builds.normalisable import normalisable_alone
from recipe_compiler.verify.builds.of_data import asked_of_data
from recipe_compiler.verify.builds.recursion import recursion
from recipe_compiler.verify.builds.target import bends, defined, gradient
from recipe_compiler.verify.core.generalise_size import any_size_of_target
from recipe_compiler.verify.equation.periodic import target_periodic

GARCH = """
name: garch
state: {mu: {}, omega: {constraint: positive}, alpha: {constraint: "interval(0, 1)"}, beta: {constraint: positive}}
data: {y: {shape: N}}
recursion:
  sigma2: {is: positive, start: omega, next: omega + alpha*(y - mu)**2 + beta*sigma2}
log_prior: normal(mu, 0, 5) + lognormal(omega, 0, 1) + lognormal(beta, 0, 1)
log_likelihood: normal(y, mu, sqrt(sigma2))
"""
MA = """
name: ma
state: {mu: {}, theta: {constraint: "interval(-1, 1)"}, sigma: {constraint: positive}}
data: {y: {shape: N}}
recursion:
  e: {start: 0, next: y - mu - theta*e}
log_prior: normal(mu, 0, 5) + inverse_gamma(sigma, 2, 1)
log_likelihood: normal(y, mu + theta*e, sigma)
"""


def target(folder: Path, document: str, old: str = "", new: str = "") -> Target:
    assert old in document
    path = folder / "target.yaml"
    path.write_text(document.replace(old, new))
    return load_target(path)


@pytest.mark.parametrize("document", [GARCH, MA], ids=["garch", "ma"])
def test_a_recursion_is_defined_and_smooth_by_induction(tmp_path: Path, document: str) -> None:
    own = target(tmp_path, document)
    for claim in (defined, gradient, recursion, keeps_law):
        found = claim(own) if claim is not keeps_law or own.transforms else None
        assert found is None or isinstance(found.decision, Proved), claim
    assert "induction over the rows" in recursion(own).decision.by  # type: ignore[union-attr]
    assert not any("sigma2" in fact for fact in defined(own).decision.given)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("start: omega,", "start: mu,"),
        ("start: omega,", "start: omega - 1,"),
        ("omega + alpha*(y - mu)**2", "omega - alpha*(y - mu)**2"),
        ("beta*sigma2", "mu*sigma2"),
        ("alpha*(y - mu)**2", "alpha*(y - mu)"),
        ("is: positive, ", ""),
        ("+ beta*sigma2", "+ beta*log(sigma2)"),
        ("+ beta*sigma2", "+ beta*sigma2*sqrt(mu)"),
        ("start: omega,", "start: sqrt(mu),"),
        ("start: omega,", "start: 1/mu**2,"),
    ],
)
def test_what_induction_does_not_show_is_not_proved(tmp_path: Path, old: str, new: str) -> None:
    own = target(tmp_path, GARCH, old, new)
    assert defined(own).verdict is not Verdict.PROVED
    assert gradient(own).verdict is not Verdict.PROVED


@pytest.mark.parametrize("at", ["start", "next"])
def test_a_kink_in_a_state_is_one_of_u(tmp_path: Path, at: str) -> None:
    old, new = ("start: 0", "start: abs(mu)") if at == "start" else ("theta*e}", "theta*abs(e)}")
    own = target(tmp_path, MA, old, new)
    assert isinstance(defined(own).decision, Proved)
    assert isinstance(gradient(own).decision, Undecided)
    assert bends(target(tmp_path, MA, "theta*e}", "theta*where(e > 0, e**2, 0)}"))
    assert not bends(target(tmp_path, MA))


@pytest.mark.parametrize("document", [MA, GARCH])
def test_a_bounded_likelihood_beside_a_proper_prior_is_normalisable(tmp_path: Path, document: str) -> None:
    assert normalisable_alone(target(tmp_path, document)).verdict is Verdict.PROVED


@pytest.mark.parametrize(
    ("document", "old", "new"),
    [
        (MA, "normal(mu, 0, 5) + ", ""),
        (MA, "inverse_gamma(sigma, 2, 1)", "normal(sigma, 0, 1)"),
        (MA, "normal(y, mu + theta*e, sigma)", "e*mu"),
        (MA, "normal(y, mu + theta*e, sigma)", "mu*theta*e"),
        (MA, "normal(y, mu + theta*e, sigma)", "e**2"),
        (GARCH, "next: omega + alpha", "next: alpha"),
        (GARCH, "start: omega,", "start: alpha*beta/100,"),
        (GARCH, "lognormal(omega, 0, 1)", "half_normal(omega, 1)"),
        (GARCH, "normal(mu, 0, 5) + ", ""),
        (GARCH, "normal(y, mu, sqrt(sigma2))", "sigma2"),
        (GARCH, "normal(y, mu, sqrt(sigma2))", "1/sigma2"),
    ],
)
def test_a_likelihood_that_states_may_make_large_is_not(tmp_path: Path, document: str, old: str, new: str) -> None:
    assert normalisable_alone(target(tmp_path, document, old, new)).verdict is Verdict.UNDECIDED


def test_no_reader_of_independent_rows_reads_one(tmp_path: Path) -> None:
    own = target(tmp_path, MA)
    with pytest.raises(ModelError, match="found the recursion of e, expected independent rows"):
        potential_of(own)
    with pytest.raises(ModelError, match="expected independent rows"):
        scalar_potential(own, {"N": 2})
    with pytest.raises(RunError, match="found a recursion"):
        predictive_of(own)
    assert found_laws(own) == ()
    assert asked_of_data(own) == ()
    assert _falls_slowly(own) is None


def test_on_a_circle_the_recursion_is_periodic_too(tmp_path: Path) -> None:
    document = MA.replace("mu: {}", "mu: {domain: circle}").replace("normal(mu, 0, 5) + ", "")
    document = document.replace("mu + theta*e", "sin(mu) + theta*e")
    assert target_periodic(target(tmp_path, document, "y - mu", "y - sin(mu)")).verdict is Verdict.PROVED
    assert target_periodic(target(tmp_path, document)).verdict is not Verdict.PROVED


def test_sizes_of_states_are_generalised_with_all_others(tmp_path: Path) -> None:
    document = """
name: wide
state: {theta: {shape: 5}}
data: {x: {shape: [N, 5]}}
recursion: {s: {shape: 5, start: theta, next: s/2 + x.T}}
log_likelihood: -norm2(s - theta)
"""
    wide = any_size_of_target(target(tmp_path, document))
    assert wide is not None
    assert wide.recursion[0].block.shape.rows == wide.declarations.blocks[0].shape.rows == "n_5"
    assert recursion(target(tmp_path, document)).verdict is Verdict.PROVED

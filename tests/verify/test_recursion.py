"""Verdicts on targets whose rows pass states on: induction over the rows, and no claim that takes rows apart."""

import pytest
from answers import answer, document, expect, said

from recipe_compiler.derive.conditional import potential_of
from recipe_compiler.derive.found_laws import found_laws
from recipe_compiler.errors import ModelError, RunError
from recipe_compiler.run.predictive import predictive_of
from recipe_compiler.verify.builds.explosion import _falls_slowly
from recipe_compiler.verify.builds.laws import scalar_potential
from recipe_compiler.verify.builds.of_data import asked_of_data
from recipe_compiler.verify.builds.target import bends
from recipe_compiler.verify.core.generalise_size import any_size_of_target

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
WIDE = """
name: wide
state: {theta: {shape: 5}}
data: {x: {shape: [N, 5]}}
recursion: {s: {shape: 5, start: theta, next: s/2 + x.T}}
log_likelihood: -norm2(s - theta)
"""
CIRCLE = MA.replace("mu: {}", "mu: {domain: circle}").replace("normal(mu, 0, 5) + ", "")
CIRCLE = CIRCLE.replace("mu + theta*e", "sin(mu) + theta*e")


def target(text, old="", new=""):
    assert old in text
    return document(text.replace(old, new) if old else text)


@pytest.mark.parametrize("text", [GARCH, MA], ids=["garch", "ma"])
def test_a_recursion_is_defined_and_smooth_by_induction(text):
    own = target(text)
    for claim in ("gradient", "normalisable"):
        expect(answer(own, claim), "proved")
    expect(answer(own, "recursion"), "proved", "induction over the rows")
    expect(answer(own, "defined"), "proved")
    assert "sigma2" not in said(answer(own, "defined")).partition("\n")[2]


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
def test_what_induction_does_not_show_is_not_proved(old, new):
    own = target(GARCH, old, new)
    expect(answer(own, "defined"), "not proved")
    expect(answer(own, "gradient"), "not proved")


@pytest.mark.parametrize(("old", "new"), [("start: 0", "start: abs(mu)"), ("theta*e}", "theta*abs(e)}")])
def test_a_kink_in_a_state_is_one_of_u(old, new):
    own = target(MA, old, new)
    expect(answer(own, "defined"), "proved")
    expect(answer(own, "gradient"), "undecided")
    assert bends(target(MA, "theta*e}", "theta*where(e > 0, e**2, 0)}"))
    assert not bends(target(MA))


@pytest.mark.parametrize(
    ("text", "old", "new"),
    [
        (MA, "normal(mu, 0, 5) + ", ""),
        (MA, "inverse_gamma(sigma, 2, 1)", "normal(sigma, 0, 1)"),
        *((MA, "normal(y, mu + theta*e, sigma)", new) for new in ("e*mu", "mu*theta*e", "e**2")),
        (GARCH, "next: omega + alpha", "next: alpha"),
        (GARCH, "start: omega,", "start: alpha*beta/100,"),
        (GARCH, "lognormal(omega, 0, 1)", "half_normal(omega, 1)"),
        (GARCH, "normal(mu, 0, 5) + ", ""),
        *((GARCH, "normal(y, mu, sqrt(sigma2))", new) for new in ("sigma2", "1/sigma2")),
    ],
)
def test_a_likelihood_that_states_may_make_large_is_not_shown_to_be_normalisable(text, old, new):
    expect(answer(target(text, old, new), "normalisable"), "undecided")


def test_no_reader_of_independent_rows_reads_one():
    own = target(MA)
    with pytest.raises(ModelError, match="found the recursion of e, expected independent rows"):
        potential_of(own)
    with pytest.raises(ModelError, match="expected independent rows"):
        scalar_potential(own, {"N": 2})
    with pytest.raises(RunError, match="found a recursion"):
        predictive_of(own)
    assert found_laws(own) == asked_of_data(own) == ()
    assert _falls_slowly(own) is None


def test_on_a_circle_the_recursion_is_periodic_too():
    expect(answer(target(CIRCLE, "y - mu", "y - sin(mu)"), "periodic"), "proved")
    expect(answer(target(CIRCLE), "periodic"), "not proved")


def test_sizes_of_states_are_generalised_with_all_others():
    wide = any_size_of_target(target(WIDE))
    assert wide.recursion[0].block.shape.rows == wide.declarations.blocks[0].shape.rows == "n_5"
    expect(answer(target(WIDE), "recursion"), "proved")

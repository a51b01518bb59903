"""Conditional laws in documents: read by the parser of formulas, checked for shape and domain, written back."""

import pytest

import recipe_compiler as rc
from recipe_compiler.errors import DocumentError
from recipe_compiler.formula.expression import Filled
from recipe_compiler.formula.shapes import SCALAR, Shape
from recipe_compiler.spec.places import digest

TEXT = """
name: target
state:
  beta: {shape: d}
  tau: {domain: positive}
  p: {shape: K, domain: "interval(0, 1)"}
  phi: {domain: circle}
  W: {shape: [K, d]}
data: {x: {shape: [N, d]}, y: {shape: N}}
parameters: {S: {shape: [d, d], is: positive definite}, a: {is: positive}}
log_prior: -norm2(beta)/2 - tau - sum(p) + cos(phi) - trace(W @ W.T)
log_likelihood: -tau*(y - x @ beta)**2/2
laws: {}
"""


def with_law(law: str) -> str:
    return TEXT.replace("laws: {}", f"laws: {{{law}}}")


def test_data_are_all_of_their_rows(load_text) -> None:
    law = load_text(with_law('beta: "N(x.T @ y, inv(x.T @ x + S))", tau: "Gamma(a + N/2, norm2(y))"')).laws
    assert [block for block, _ in law] == ["beta", "tau"]
    assert [argument.shape for argument in law[0][1].arguments] == [Shape("d"), Shape("d", "d")]
    assert [argument.shape for argument in law[1][1].arguments] == [SCALAR, SCALAR]


def test_a_number_is_one_for_all_entries(load_text) -> None:
    ((_, law),) = load_text(with_law('p: "Beta(a, a*ones)"')).laws
    assert [argument.shape for argument in law.arguments] == [Shape("K"), Shape("K")]
    assert law.arguments[0].right == Filled(1, Shape("K"))


SHARES = """
name: target
state:
  w: {shape: K, constraint: simplex}
  v: {shape: K, domain: simplex}
  o: {shape: K, constraint: ordered}
parameters: {a: {shape: K, is: positive}}
potential: norm2(o) - sum((a - ones)*log(w)) - sum((a - ones)*log(v))
laws: {}
"""


def test_one_parameter_is_that_of_every_share(load_text) -> None:
    ((_, law),) = load_text(SHARES.replace("laws: {}", "laws: {w: Dirichlet(1/2)}")).laws
    assert [argument.shape for argument in law.arguments] == [Shape("K")]


def test_a_law_counts_in_the_digest(load_text) -> None:
    one, other = (load_text(with_law(f'tau: "Gamma(a, {rate})"')) for rate in ("1", "2"))
    assert len({digest(one), digest(other), digest(load_text(TEXT))}) == 3
    assert one != other


def test_python_states_them_as_text(load_text) -> None:
    mu, tau, y = rc.scalar("mu"), rc.scalar("tau", domain="positive"), rc.data("y", "N")
    likelihood = "log(tau)/2 - tau*(y - mu)**2/2"
    law = {tau: "Gamma(1 + N/2, 1 + norm2(y - mu*ones)/2)"}
    stated = rc.Target(
        name="t", state=[mu, tau], data=[y], log_prior=-(mu**2) / 2 - tau, log_likelihood=likelihood, laws=law
    )
    text = (
        "name: t\nstate: {mu: {}, tau: {domain: positive}}\ndata: {y: {shape: N}}\n"
        f'log_prior: -mu**2/2 - tau\nlog_likelihood: {likelihood}\nlaws: {{tau: "{law[tau]}"}}\n'
    )
    assert stated.document.laws == load_text(text).laws
    with pytest.raises(DocumentError, match="laws"):
        rc.Target(name="t", state=[mu], potential=mu**2, laws={mu: mu**2})

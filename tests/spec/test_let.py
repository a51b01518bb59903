"""`let:` gives names to parts of a target's formulas."""

import pytest

from recipe_compiler.errors import DocumentError
from recipe_compiler.formula.show import text

HEAD = """
name: t
state: {theta: {shape: d}, a: {}, tau: {domain: positive}}
data: {x: {shape: [N, d]}, y: {shape: N}}
"""
BODY = """
let: {sd: 2*tau, eta: line + a, line: x @ theta}
log_prior: normal(theta, 0, sd) - tau
log_likelihood: normal(y, eta, sd)
"""
WRITTEN = """
log_prior: normal(theta, 0, 2*tau) - tau
log_likelihood: normal(y, x @ theta + a, 2*tau)
"""


def test_a_name_is_its_formula(load_text) -> None:
    named, written = load_text(HEAD + BODY), load_text(HEAD + WRITTEN)
    assert (named.log_prior, named.log_likelihood) == (written.log_prior, written.log_likelihood)
    assert named.stated == written.stated
    assert text(named.stated.densities[1].arguments[1]) == "x @ theta + a"


@pytest.mark.slow
def test_names_that_double_a_formula_each_are_bounded(load_text) -> None:
    """Thirty names, each twice the one before, would be 2**30 parts."""
    lines = "".join(f"  n{k}: n{k - 1} + n{k - 1}\n" for k in range(1, 31))
    with pytest.raises(DocumentError):
        load_text(HEAD + "let:\n  n0: a\n" + lines + "log_likelihood: n30 - y**2")

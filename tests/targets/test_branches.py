"""Log likelihoods of pieces: what conditions imply of the data, and which are laws with zeros."""

from pathlib import Path

import pytest
from loaders import load_target

from recipe_compiler.run.hurdles import probability_above
from recipe_compiler.spec.model import Target

HURDLE = """
state: {a: {}, b: {}, g: {shape: 2}, sigma: {constraint: positive}}
data: {y: {shape: N, is: nonnegative}, x: {shape: N}}
let: {odds: "g[0] + g[1]*x"}
log_prior: normal(a, 0, 5) + normal(b, 0, 5) + normal(g, 0, 5) + half_cauchy(sigma, 2)
log_likelihood: where(y > 0, bernoulli_logit(1, odds) + lognormal(y, a + b*x, sigma), bernoulli_logit(0, odds))
"""


def target(folder: Path, text: str) -> Target:
    (folder / "target.yaml").write_text(f"name: hurdle\n{text}")
    return load_target(folder / "target.yaml")


def test_what_a_condition_does_not_imply_is_looked_at_where_it_holds(tmp_path: Path) -> None:
    text = "state: {a: {constraint: positive}}\ndata: {y: {shape: N}}\nlog_prior: exponential(a, 1)\n"
    own = target(tmp_path, f"{text}log_likelihood: where(y > -1, beta(y, a, 1), -a)\n")
    assert [(c.op, str(c.left)[:5]) for c in own.declarations.assume] == [(">", "Apply"), ("<", "Apply")]


@pytest.mark.parametrize(
    ("pieces", "is_law"),
    [
        ("bernoulli_logit(1, odds) + lognormal(y, a, sigma), bernoulli_logit(0, odds)", True),
        ("gamma(y, 2, sigma) - softplus(odds), -softplus(-odds)", True),
        ("log_ndtr(-odds) + weibull(y, 2, sigma), log_ndtr(odds)", False),  # the normal form does not know Phi
        ("bernoulli_logit(1, odds) + lognormal(y, a, sigma), bernoulli_logit(1, odds)", False),
        ("log(y) + bernoulli_logit(1, odds) + lognormal(y, a, sigma), bernoulli_logit(0, odds)", False),
        ("bernoulli_logit(1, odds) + 2*lognormal(y, a, sigma), bernoulli_logit(0, odds)", False),
        ("bernoulli_logit(1, odds*y) + lognormal(y, a, sigma), bernoulli_logit(0, odds*y)", False),
    ],
)
def test_a_law_with_zeros_is_one_where_its_parts_add_up_to_1(pieces: str, is_law: bool, tmp_path: Path) -> None:
    head, _, _ = HURDLE.partition("log_likelihood: ")
    own = target(tmp_path, f"{head}log_likelihood: where(y > 0, {pieces})\n")
    (density,) = [one for one in own.stated.densities if one.of == "y"]
    assert (probability_above(own, density) is not None) == is_law

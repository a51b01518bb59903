"""Summands of a simplex that count as Dirichlet's, and those that only look like one, whose integral is infinite."""

import re
from pathlib import Path

import pytest
from loaders import load_target

from recipe_compiler.verdict import Proved
from recipe_compiler.verify.builds.normalisable import normalisable_alone
from recipe_compiler.verify.builds.target import defined

TEXT = """
name: shares
state: {{w: {{shape: K, constraint: simplex}}, mu: {{}}}}
parameters: {{c: {{shape: K, is: positive}}, b: {{is: positive}}}}
data: {{y: {{shape: N}}}}
log_prior: {prior} + normal(mu, 0, 1)
log_likelihood: normal(y, mu, 1)
"""


def is_proved(folder: Path, prior: str) -> bool:
    (folder / "t.yaml").write_text(TEXT.format(prior=prior))
    return isinstance(normalisable_alone(load_target(folder / "t.yaml")).decision, Proved)


@pytest.mark.parametrize(
    "prior",
    [
        "sum((c - ones)*log(w))",
        "(c - ones).T @ log(w)",
        "(b - 1)*sum(log(w))",
        "(b - 1)*log(w[0])",
        "dirichlet(w, c)",
    ],
)
def test_powers_of_shares_above_minus_1_have_a_finite_integral(prior: str, tmp_path: Path) -> None:
    assert is_proved(tmp_path, prior)


@pytest.mark.parametrize(
    "prior",
    [
        "sum((c - ones)*log(w[0]))",  # w[0] to the power sum(c) - K, which is below -1 at c = 1/10, K = 3
        "gamma(w[0], c, 1)",
        "beta(w[0], c, 1)",
        "(c - 2*ones).T @ log(w)",
        "(b - 1)*log(w[0]) + (b - 1)*log(w[0])",
    ],
)
def test_a_power_of_one_share_that_may_be_lower_is_not_said_to(prior: str, tmp_path: Path) -> None:
    assert not is_proved(tmp_path, prior)


@pytest.mark.parametrize("rows", ["K", "3"])
@pytest.mark.parametrize("other", ["{constraint: 'interval(0, 1)'}", "{shape: K, constraint: simplex}"])
@pytest.mark.parametrize("likelihood", ["bernoulli(y, {b}*w[g]/2)", "bernoulli_logit(y, {b} + w[g])"])
def test_shares_beside_bounded_blocks_under_an_index_field(
    rows: str, other: str, likelihood: str, tmp_path: Path
) -> None:
    """The size of the shares is known by them and by the index field alone, and both go."""
    b = "b[g]" if "shape" in other else "b"
    prior = "dirichlet(w, ones)" + (" + dirichlet(b, 2*ones)" if "shape" in other else "")
    text = f"""
name: shares
state: {{w: {{shape: K, constraint: simplex}}, b: {other}}}
data: {{y: {{shape: N, in: [0, 1]}}, g: {{shape: N, index_of: K}}}}
log_prior: {prior}
log_likelihood: {likelihood.format(b=b)}
"""
    (tmp_path / "t.yaml").write_text(re.sub(r"\bK\b", rows, text))
    target = load_target(tmp_path / "t.yaml")
    assert isinstance(defined(target).decision, Proved)
    assert isinstance(normalisable_alone(target).decision, Proved)

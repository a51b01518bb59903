"""Summands of a simplex that count as Dirichlet's, and those that only look like one, whose integral is infinite."""

from pathlib import Path

import pytest
from loaders import load_target

from recipe_compiler.verdict import Proved
from recipe_compiler.verify.builds.normalisable import normalisable_alone

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

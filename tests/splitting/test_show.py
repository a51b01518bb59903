"""Words and cycles as `recipe derive` shows them."""

import re

import pytest
from answers import SPECS, written
from command import recipe

BADODAB = """pieces    A   d theta = r dt   (shift)
          B   d r = -grad(U, theta) dt   (shift)
          O   d r = -xi*r dt + sqrt(2*A) dW_r   (Ornstein-Uhlenbeck, entry by entry)
          xi  d xi = (r.T @ r/d - 1) dt   (shift)

word      [B/2, A/2, xi/2, O, xi/2, A/2, B/2]
          weak order 2, a palindrome; noise in O
"""
WITH_NOISE = """word      [B/2, A/2, O, A/2, B/2]
          weak order 2, a palindrome; noise in O

cycle     refresh: {r: 9/10}
            r' = 9/10*r + n, n ~ N(0, 19/100*S), S = M
          metropolis: {split: [B/2, A/2, O, A/2, B/2], steps: "uniform(2, 9)", flip: {r: -r}}
            z' = Psi^L(z) with probability min(1, exp(-W)), else z with r -> -r
            W = what H gains by A, B; Psi the word; L uniform in 2, ..., 9
"""
WITHOUT_NOISE = """          metropolis: {split: [B/2, A, B/2], steps: 10}
            z' = Psi^10(z) with probability min(1, exp(-W)), else z
            W = H(Psi^10(z)) - H(z); Psi the word
"""
AS_IT_COMES = """cycle     split: [B/2, A, B/2], steps: 4
            z' = Psi^4(z); Psi the word
          refresh: r
            r' ~ N(0, M)
"""
DRAWS = """cycle     draw: mu
            mu' ~ N(tau*sum(y)/(N*tau + 1/prior_variance), 1/(N*tau + 1/prior_variance)) REST
          draw: tau
            tau' ~ Gamma(shape + N/2, rate + (y - mu*ones).T @ (y - mu*ones) / 2) REST
""".replace("REST", "(conditional on all other blocks and the data)")
STILL = f"""
name: normal
dynamics: still
target: normal_mean_precision
scheme: {{cycle: []}}
variant: full
sizes: {{d: 2}}
data: {{file: {SPECS}/data/normal_sample.csv, y: y}}
run: {{step_size: 1}}
"""
slow = pytest.mark.slow


@pytest.mark.parametrize(
    ("build", "scheme", "plain", "latex"),
    [
        ("sgnht_gaussian", "{name: badodab}", [BADODAB], [r"\text{O, Ornstein-Uhlenbeck, entry by entry}"]),
        (
            "sghmc_gaussian_baoab",
            '{cycle: [refresh: {r: 0.9}, metropolis: {name: baoab, steps: "uniform(2, 9)", flip: {r: -r}}]}',
            [WITH_NOISE],
            ["\\begin{verbatim}\nrefresh: {r: 9/10}\n  r' = 9/10*r + n, n ~ N(0, 19/100*S), S = M\n"],
        ),
        pytest.param(
            "hmc_gaussian_leapfrog", "{cycle: [refresh: r, metropolis: {name: leapfrog, steps: 10}]}",
            ["  r' ~ N(0, M)\n", WITHOUT_NOISE], ["W = H(Psi^10(z)) - H(z)"], marks=slow,
        ),
        (
            "hmc_gaussian_leapfrog", "{cycle: [{name: leapfrog, steps: 4}, refresh: r]}", [AS_IT_COMES],
            ["% cycle: [{split: [B/2, A, B/2], steps: 4}, refresh: r]\n", "z' = Psi^4(z); Psi the word"],
        ),
        pytest.param(  # xi ~ N(A, 1/d): its mean is not 0
            "sgnht_gaussian_badodab", "{cycle: [refresh: xi, {name: badodab}]}",
            ["not proved: the conditional distribution of xi is normal with mean 0"],
            ["not proved: the conditional distribution of xi"], marks=slow,
        ),
        pytest.param(
            "", "{cycle: [draw: mu, draw: tau]}", [DRAWS],
            ["tau' ~ Gamma(shape + N/2, "], marks=slow,
        ),
    ],
)  # fmt: skip
def test_derive_shows_pieces_words_and_moves(build: str, scheme: str, plain: list[str], latex: list[str]) -> None:
    text = (SPECS / f"builds/{build}.yaml").read_text(encoding="utf-8").replace("../", "SPECS/") if build else STILL
    path = written(re.sub("(?m)^scheme: .*$", f"scheme: {scheme}", text))
    shown = recipe("derive", path).out
    assert [part for part in plain if part not in shown] == [], shown
    assert shown.endswith(plain[-1]) or build in {"hmc_gaussian_leapfrog", "sgnht_gaussian_badodab"}
    if not build:
        assert "word" not in shown
        assert "pieces" not in shown
    shown = recipe("derive", "--latex", path).out
    assert [part for part in latex if part not in shown] == [], shown
    assert shown.count(r"\begin{align*}") == shown.count(r"\end{align*}") == (2 if build else 1)
    assert shown.count(r"\begin{verbatim}") == shown.count(r"\end{verbatim}") == ("cycle" in scheme)

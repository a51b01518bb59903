"""Random laws of counts, beside an energy that is written otherwise: right ones are proved, wrong ones refuted.

The mean, or the odds, is a product of factors; the energy has their logarithms in other words and another order, beside
terms that say nothing of the counts. A wrong energy has one term more that changes the ratio of consecutive counts.
"""

from pathlib import Path
from random import Random

import pytest
from loaders import load_target

from recipe_compiler.verdict import Proved, Refuted
from recipe_compiler.verify.builds.laws import decide_law

DOCUMENT = """
name: drawn
state: {{lam: {{domain: positive}}, p: {{domain: "interval(0, 1)"}}, z: {{shape: N, domain: {domain}}}}}
data: {{y: {{shape: N, is: [integer, nonnegative]}}, area: {{shape: N, is: positive}}}}
log_prior: gamma(lam, 2, 1) + beta(p, 2, 2)
log_likelihood: {likelihood}
laws: {{z: "{law}"}}
"""
FACTORS = {
    "lam": ("log(lam)", "log(2*lam) - log(2)", "log(lam**2)/2"),
    "(1 - p)": ("log1p(-p)", "log(1 - p)", "log(2 - 2*p) - log(2)"),
    "p": ("log(p)", "-log(1/p)"),
    "(1 + p*lam)": ("log1p(p*lam)", "log(1 + p*lam)"),
    "exp(-p)": ("(-p)", "log(exp(-p))"),
    "2": ("log(2)", "log(6) - log(3)"),
}
"""A factor, and its logarithm in other words."""
OF_DATA = {
    "area": ("log(area)", "log(3*area) - log(3)"),
    "(lam*ones + area)": ("log(lam + area)", "log1p(lam + area - 1)"),
}
NOTHING = (
    "y*log(lam)",
    "-lam*p",
    "-area*lam",
    "sin(p)*y",
    "loggamma(y + 1)",
    "(loggamma(z + y + 1) - loggamma(y + z + 1))",
)
"""Terms that say nothing of the counts."""
WRONG = (
    "z*log(3)",
    "-z*p",
    "loggamma(z + 1)",
    "-log(z + 1)",
    "z*y/7",
    "-z**2/9",
    "(loggamma(z + 2) - loggamma(z + 1))",
)


def product(random: Random, known: dict[str, tuple[str, ...]]) -> tuple[str, list[str]]:
    """Return a product of factors, and the logarithms of them."""
    names = [random.choice(list(known)) for _ in range(random.randint(1, 4))]
    return "*".join(names), [random.choice(known[name]) for name in names]


def poisson(random: Random) -> tuple[str, list[str]]:
    """Return a Poisson law, and the terms of its energy."""
    mean, logs = product(random, FACTORS | OF_DATA)
    return f"Poisson(({mean})*ones)", ["-loggamma(z + 1)", *(f"z*({log})" for log in logs)]


def binomial(random: Random) -> tuple[str, list[str]]:
    """Return a binomial law of odds above/below, and the terms of its energy."""
    (above, of_above), (below, of_below) = (product(random, FACTORS) for _ in range(2))
    left = [f"(y - z)*({log})" if random.random() < 0.5 else f"(-z)*({log})" for log in of_below]
    terms = ["-loggamma(z + 1)", "-loggamma(y - z + 1)", *(f"z*({log})" for log in of_above), *left]
    return f"Binomial(y, {above}/({above} + {below})*ones)", terms


@pytest.mark.parametrize("seed", [*range(6), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(6, 200))])
def test_random_laws_of_counts_are_told_apart(seed: int, tmp_path: Path) -> None:
    random = Random(seed)
    is_right, kind = seed % 2 == 0, (poisson, binomial)[seed // 2 % 2]
    law, terms = kind(random)
    terms += [*random.sample(NOTHING, 2), *([] if is_right else [random.choice(WRONG)])]
    random.shuffle(terms)
    domain = "counts" if kind is poisson else "counts(y)"
    text = DOCUMENT.format(domain=domain, likelihood=" + ".join(f"({term})" for term in terms), law=law)
    (tmp_path / "target.yaml").write_text(text, encoding="utf-8")
    decision = decide_law(load_target(tmp_path / "target.yaml"), "z").decision
    assert isinstance(decision, Proved if is_right else Refuted), (text, decision)

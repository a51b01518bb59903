"""Laws of the draws beyond normals against SciPy's, by one statistic.

With x from the law F and v uniform, F(x-) + v (F(x) - F(x-)) is uniform, also where F jumps. Each p-value of Kolmogorov
and Smirnov is of draws from one stated stream, by default of 1500 as plain Python, of 1e5 compiled ones in the slow
tests; below 1e-6 a law is refused: one false alarm in a million streams.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from emitted_draws import drawing
from scipy import special, stats

from recipe_compiler.emit.support.text import support_text

FEW_AND_MANY = pytest.mark.parametrize("size", [1500, pytest.param(100_000, marks=pytest.mark.slow)])
LEAST = 1e-6
Array = np.ndarray
Cdf = Callable[[Array], Array]
Law = tuple[str, tuple[object, ...], Cdf, Cdf]
"""A function, its parameters, F, and F(x-)."""


def p_value(draws: Array, cdf: Cdf, before: Cdf) -> float:
    """Return the p-value of draws that should have a distribution function."""
    v = np.random.default_rng(1).random(draws.size)
    below, above = before(draws), cdf(draws)
    return float(stats.kstest(below + v * (above - below), "uniform").pvalue) if np.isfinite(draws).all() else 0.0


def drawn(name: str, size: int, *parameters: object, rows: int = 1) -> Array:
    return drawing(name, plain=size < 10_000)(size, parameters, rows=rows)


def continuous(name: str, parameters: tuple[object, ...], cdf: Cdf) -> Law:
    return name, parameters, cdf, cdf


def discrete(name: str, parameters: tuple[object, ...], law: Any) -> Law:
    return name, parameters, lambda x: np.where(x == np.floor(x), law.cdf(x), np.nan), lambda x: law.cdf(x - 1.0)


def with_atom(name: str, parameters: tuple[object, ...], least: float, cdf: Cdf) -> Law:
    """Return a law of which all at most `least` is one atom: also what underflows."""
    return name, parameters, lambda x: cdf(np.maximum(x, least)), lambda x: np.where(x <= least, 0.0, cdf(x))


def gamma(a: float) -> Law:
    """Return the law of the logarithm, below -30 by the leading term exp(a x)/Gamma(a + 1)."""

    def cdf(x: Array) -> Array:
        low = np.exp(a * np.minimum(x, -30.0) - special.gammaln(1.0 + a))
        return np.where(x < -30.0, low, special.gammainc(a, np.exp(x)))

    return continuous("_next_log_gamma", (a,), cdf)


def beta(a: float, b: float) -> Cdf:
    """Return the law of log X - log(1 - X), beyond +-30 by the leading terms: both ends of [0, 1] as they are."""

    def cdf(x: Array) -> Array:
        low = np.exp(a * np.minimum(x, -30.0) - math.log(a) - special.betaln(a, b))
        high = 1.0 - np.exp(-b * np.maximum(x, 30.0) - math.log(b) - special.betaln(a, b))
        return np.where(x < -30.0, low, np.where(x > 30.0, high, special.betainc(a, b, special.expit(x))))

    return cdf


def count(name: str, parameters: tuple[float, ...], law: Any, mean: float) -> Law:
    """Return the law of counts, a normal one where the difference from it is far below what is seen."""
    if mean < 1e7:
        return discrete(name, parameters, law)
    return continuous(name, parameters, stats.norm(*law.stats()[:1], law.std()).cdf)


def cir(theta: float, a: float, t: float) -> Law:
    """Cox, Ingersoll and Ross: 2 theta_t/(1 - exp(-t)) is chi2_(2 a)(2 theta exp(-t)/(1 - exp(-t)))."""
    return half_chi_square(2.0 * a, 2.0 * theta * math.exp(-t) / -math.expm1(-t), 1e-300)


def half_chi_square(nu: float, noncentrality: float, least: float = 0.0) -> Law:
    """Return the law of half a noncentral chi-square number; `least`: what underflows."""
    law = stats.ncx2(nu, noncentrality) if noncentrality else stats.chi2(nu)
    return with_atom("_next_gamma_of_count", (nu / 2.0, noncentrality / 2.0), least, lambda x: law.cdf(2.0 * x))


def atom(x: Array) -> Array:
    """Siegel 1979: chi2_0(3) is 0 with probability exp(-3/2), else a mixture of chi2_(2 k), k >= 1."""
    k = np.arange(1, 40)
    return math.exp(-1.5) + (stats.poisson(1.5).pmf(k) * stats.chi2(2 * k).cdf(x[:, None])).sum(1)


def choice(*logits: float) -> Law:
    law = stats.rv_discrete(values=(range(len(logits)), special.softmax(logits)))
    return discrete("_next_categorical", (np.array(logits), np.zeros(len(logits))), law)


LAWS = [
    continuous("_next_uniform", (), stats.uniform.cdf),
    continuous("_next_exponential", (), stats.expon.cdf),
    discrete("_next_integer", (-3, 7), stats.randint(-3, 8)),
    continuous("_next_integer", (-(2**53), 2**53), stats.uniform(-(2.0**53), 2.0**54).cdf),
    choice(0.3, -math.inf, 1.0, -4.0, 0.0, 0.9),
    choice(1000.0, 1001.0, 999.0),
    *map(gamma, (1e-300, 1e-4, 0.05, 0.3, 0.999, 1.0, 1.5, 4.5, 300.0, 1e6, 1e12)),
    *(continuous("_next_gamma", (a,), stats.gamma(a).cdf) for a in (0.3, 2.5)),
    continuous("_next_beta", (0.4, 2.5), stats.beta(0.4, 2.5).cdf),
    *(
        count("_next_poisson", (mean,), stats.poisson(mean), mean)
        for mean in (0.05, 3.0, 9.999, 10.0, 12.5, 30.0, 300.0, 1e5, 1e9, 1e15, 2.0**52)
    ),
    *(
        count("_next_binomial", (n, p), stats.binom(n, p), n * p)
        for n, p in (
            (1, 0.3), (10, 0.05), (10**15, 3e-15), (100, 0.0999), (100, 0.1), (20, 0.5), (100, 0.3), (100, 0.7),
            (10**6, 0.999), (10**9, 0.2), (10**15, 0.25),
        )
    ),
    half_chi_square(0.2, 3.0), half_chi_square(1.0, 0.0), half_chi_square(3.0, 20.0),
    with_atom("_next_gamma_of_count", (0.0, 1.5), 0.0, lambda x: atom(2.0 * x)),
    *map(cir, (0.8, 0.0, 5.0, 0.8, 0.0), (0.1, 0.3, 2.0, 1e-4, 1e-4), (0.5, 0.5, 0.1, 0.5, 2.0)),
]  # fmt: skip


@FEW_AND_MANY
@pytest.mark.parametrize(
    "law", LAWS, ids=lambda law: " ".join(map(repr, (law[0], *(one for one in law[1] if isinstance(one, int | float)))))
)
def test_draws_have_their_law(law: Law, size: int) -> None:
    name, parameters, cdf, before = law
    assert p_value(drawn(name, size, *parameters)[0], cdf, before) > LEAST


@FEW_AND_MANY
@pytest.mark.parametrize(("a", "b"), [(1e-4, 1e-4), (1e-4, 2.0), (0.4, 2.5), (1.0, 1.0), (300.0, 50.0)])
def test_draws_have_a_beta_law(a: float, b: float, size: int) -> None:
    logs = drawn("_next_log_beta", size, a, b, rows=2)
    assert np.abs(np.exp(logs).sum(0) - 1.0).max() < 1e-14
    assert p_value(logs[0] - logs[1], beta(a, b), beta(a, b)) > LEAST


@dataclass(frozen=True)
class Hat:
    """Transformed rejection: k = floor((2 a/(1/2 - |u|) + b) u + c), accepted where v <= f(k) (a/edge**2 + b)/scale."""

    a: float
    b: float
    c: float
    sure: float
    scale: float

    def over_and_under(self, log_f: Callable[[Array], Array], first: int, last: int) -> tuple[float, float]:
        """Return the most of v that is accepted, 1 under a hat, and the least where |u| <= 0.43, less `sure`.

        Where k is the same what is accepted grows with |u|: both are found at the ends, and at 0.
        """
        k = np.arange(first, last + 1.0)
        low, high = np.full(k.size, -0.5 + 1e-15), np.full(k.size, 0.5 - 1e-15)
        for _ in range(60):
            u = (low + high) / 2.0
            before = (2.0 * self.a / (0.5 - np.abs(u)) + self.b) * u + self.c < k
            low, high = np.where(before, u, low), np.where(before, high, u)
        ends = np.abs(np.array([low[:-1], low[1:]]))
        inner = np.where(low[:-1] * low[1:] <= 0.0, 0.0, ends.min(axis=0))
        f = np.exp(log_f(k[:-1]))

        def accepted(u: Array) -> Array:
            return f * (self.a / (0.5 - u) ** 2 + self.b) / self.scale

        return float(accepted(ends).max()), float(accepted(inner)[inner <= 0.43].min()) - self.sure


def poisson_hat(mean: float, slope: float = 1.2, squeeze: float = 3.75) -> tuple[float, float]:
    b = 0.931 + 2.53 * math.sqrt(mean)
    hat = Hat(0.02483 * b - 0.059, b, mean + 0.43, 0.9277 - squeeze / (b - 2.0), 1.1239 + slope / (b - 3.4))
    width = 14.0 * math.sqrt(mean)
    first, last = max(0, math.floor(mean - width)), math.ceil(mean + width + 60)
    return hat.over_and_under(lambda k: stats.poisson.logpmf(k, mean), first, last)


def binomial_hat(n: int, p: float) -> tuple[float, float]:
    spread = math.sqrt(n * p * (1.0 - p))
    b = 1.15 + 2.53 * spread
    hat = Hat(0.0248 * b + 0.01 * p - 0.0873, b, n * p + 0.5, 0.92 - 4.2 / b, (2.83 + 5.1 / b) * spread)
    mode = stats.binom.logpmf(math.floor((n + 1) * p), n, p)
    first, last = max(0, math.floor(n * p - 14.0 * spread)), min(n + 1, math.ceil(n * p + 14.0 * spread + 60))
    return hat.over_and_under(lambda k: stats.binom.logpmf(k, n, p) - mode, first, last)


@pytest.mark.parametrize("share", [0.0, pytest.param(0.01, marks=pytest.mark.slow), 0.5])
def test_hats_are_above_and_squeezes_below(share: float) -> None:
    """Of Poisson draws for the share 0, else of binomial ones; the texts have the constants that are looked at here."""
    means = np.geomspace(10.01, 1000.0, 40)
    hats = [binomial_hat(math.ceil(mean / share), share) if share else poisson_hat(mean) for mean in means]
    assert max(most for most, _ in hats) <= 1.0
    assert min(least for _, least in hats) >= 0.0
    text = support_text(("_next_binomial" if share else "_next_poisson",))
    for constant in ("0.92 - 4.2 / b", "2.83 + 5.1 / b") if share else ("0.9277 - 3.75 / (b - 2.0)", "1.2 / (b - 3.4)"):
        assert constant in text


def test_the_constants_of_the_paper_are_not_quite_above_and_below() -> None:
    assert poisson_hat(14.03, slope=1.1328)[0] > 1.005
    assert poisson_hat(34.44, squeeze=3.6224)[1] < -0.003

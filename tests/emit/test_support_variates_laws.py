"""Laws of the draws beyond normals against SciPy's, and faults planted in them that the same tests must find.

Each p-value is of 1e5 draws from one stated stream; below 1e-6 a law is refused: one false alarm in a million streams.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from emitted_draws import drawing
from scipy import special, stats
from some import some

from recipe_compiler.emit.support.seeds import _seed_words
from recipe_compiler.emit.support.text import support_text

SIZE = 100_000
LEAST = 1e-6
Array = np.ndarray


@dataclass(frozen=True)
class Law:
    """Draws of a function, and the p-values of what they should be."""

    name: str
    parameters: tuple[object, ...]
    p_values: Callable[[Array], list[float]]
    rows: int = 1

    def p(self, old: str = "", new: str = "", size: int = SIZE) -> float:
        """Return the least p-value, of the function or of one with a fault in it."""
        draws = drawing(self.name, old, new)(size, self.parameters, rows=self.rows)
        return min(self.p_values(draws)) if np.isfinite(draws).all() else 0.0


def continuous(cdf: Callable[[Array], Array]) -> Callable[[Array], list[float]]:
    return lambda draws: [float(stats.kstest(draws[0], cdf).pvalue)]


def discrete(law: Any) -> Callable[[Array], list[float]]:
    """Chi-square over cells between quantiles, of at least 10 draws each."""
    levels = np.concatenate([[1e-4, 1e-3], np.linspace(0.0, 1.0, 201)[1:-1], [0.999, 0.9999]])
    edges = np.unique(law.ppf(levels))

    def p_values(draws: Array) -> list[float]:
        assert np.array_equal(draws, np.floor(draws))
        expected = np.diff([0.0, *law.cdf(edges), 1.0]) * draws.shape[1]
        counts = np.bincount(np.searchsorted(edges, draws[0]), minlength=edges.size + 1)
        kept = expected >= 10.0
        both = [[*one[kept], one[~kept].sum()] for one in (counts, expected)]
        cells = [(found, wanted) for found, wanted in zip(*both, strict=True) if wanted >= 1e-9 * draws.shape[1]]
        if counts.sum() - sum(found for found, _ in cells):
            return [0.0]
        if len(cells) == 1:
            return [1.0]
        statistic = sum((found - wanted) ** 2 / wanted for found, wanted in cells)
        return [float(stats.chi2.sf(statistic, len(cells) - 1))]

    return p_values


def log_gamma(a: float) -> Callable[[Array], list[float]]:
    """KS of the logarithm, below -30 by the leading term exp(a x)/Gamma(a + 1); its mean and variance."""

    def cdf(x: Array) -> Array:
        low = np.exp(a * np.minimum(x, -30.0) - special.gammaln(1.0 + a))
        return np.where(x < -30.0, low, special.gammainc(a, np.exp(x)))

    scale = min(a, 1.0)
    mean = scale * special.digamma(a) if a > 1e-100 else -1.0
    variance = scale * scale * special.polygamma(1, a) if a > 1e-100 else 1.0
    fourth = scale**4 * special.polygamma(3, a) + 3.0 * variance**2 if a > 1e-70 else 9.0

    def p_values(draws: Array) -> list[float]:
        scaled = scale * draws[0]
        z = (scaled.mean() - mean) / math.sqrt(variance / scaled.size)
        square = ((scaled - mean) ** 2).mean() - variance
        w = square / math.sqrt((fourth - variance**2) / scaled.size)
        within_5 = [1.0 if abs(one) <= 5.0 else 0.0 for one in (z, w)]
        return [float(stats.kstest(draws[0], cdf).pvalue), *within_5]

    return p_values


def logit_beta(a: float, b: float) -> Callable[[Array], list[float]]:
    """KS of log X - log(1 - X), beyond +-30 by the leading terms: both ends of [0, 1] as they are."""

    def cdf(x: Array) -> Array:
        low = np.exp(a * np.minimum(x, -30.0) - math.log(a) - special.betaln(a, b))
        high = 1.0 - np.exp(-b * np.maximum(x, 30.0) - math.log(b) - special.betaln(a, b))
        middle = special.betainc(a, b, special.expit(x))
        return np.where(x < -30.0, low, np.where(x > 30.0, high, middle))

    def p_values(draws: Array) -> list[float]:
        one = np.abs(np.exp(draws[0]) + np.exp(draws[1]) - 1.0).max()
        return [float(stats.kstest(draws[0] - draws[1], cdf).pvalue), 1.0 if one < 1e-14 else 0.0]

    return p_values


def dirichlet(alpha: Array) -> Callable[[Array], list[float]]:
    """KS of each entry, and of the share of each in what those before leave: these are independent, and say it all."""

    def p_values(logs: Array) -> list[float]:
        draws = np.exp(logs)
        rest = alpha[::-1].cumsum()[::-1]
        shares = draws / draws[::-1].cumsum(axis=0)[::-1]
        last = len(alpha) - 1
        found = [stats.kstest(draws[k], stats.beta(alpha[k], rest[0] - alpha[k]).cdf).pvalue for k in range(last + 1)]
        found += [stats.kstest(shares[k], stats.beta(alpha[k], rest[k + 1]).cdf).pvalue for k in range(last)]
        return [*map(float, found), float(stats.spearmanr(shares[0], shares[1]).pvalue)]

    return p_values


def above(least: float, cdf: Callable[[Array], Array]) -> Callable[[Array], list[float]]:
    """How many are at most `least` (also what underflows, and atoms), and KS of those above."""
    below = float(cdf(np.array([least]))[0])

    def p_values(draws: Array) -> list[float]:
        x = draws[0][draws[0] > least]
        counted = stats.binomtest(draws[0].size - x.size, draws[0].size, below).pvalue
        return [float(counted), float(stats.kstest(x, lambda y: (cdf(y) - below) / (1.0 - below)).pvalue)]

    return p_values


def flown(theta: float, a: float, t: float) -> tuple[float, float, float, float]:
    return theta, a, math.exp(-t), -math.expm1(-t)


def cir_law(theta: float, a: float, t: float) -> Callable[[Array], Array]:
    """Cox, Ingersoll and Ross: 2 theta_t/(1 - exp(-t)) is chi2_(2 a)(2 theta exp(-t)/(1 - exp(-t)))."""
    grown = -math.expm1(-t)
    if theta == 0.0:
        return lambda x: stats.gamma(a).cdf(x / grown)
    return lambda x: stats.ncx2(2.0 * a, 2.0 * theta * math.exp(-t) / grown).cdf(2.0 * x / grown)


def atom(noncentrality: float) -> Callable[[Array], Array]:
    """Siegel 1979: chi2_0 is 0 with probability exp(-noncentrality/2), else a mixture of chi2_(2 k), k >= 1."""
    k = np.arange(1, 40)
    weights = stats.poisson(noncentrality / 2.0).pmf(k)
    return lambda x: math.exp(-noncentrality / 2.0) + (weights * stats.chi2(2 * k).cdf(np.asarray(x)[:, None])).sum(1)


def choice(logits: list[float]) -> Law:
    law = stats.rv_discrete(values=(range(len(logits)), special.softmax(logits)))
    return Law("_next_categorical", (np.array(logits), np.empty(len(logits))), discrete(law))


def poisson(mean: float) -> Law:
    if mean < 1e12:
        return Law("_next_poisson", (mean,), discrete(stats.poisson(mean)))
    return Law("_next_poisson", (mean,), continuous(stats.norm(mean, math.sqrt(mean)).cdf))


def binomial(n: int, p: float) -> Law:
    if n < 1e12 or n * p < 1e3:
        return Law("_next_binomial", (n, p), discrete(stats.binom(n, p)))
    return Law("_next_binomial", (n, p), continuous(stats.norm(n * p, math.sqrt(n * p * (1.0 - p))).cdf))


def chi_square(nu: float, noncentrality: float) -> Law:
    law = stats.ncx2(nu, noncentrality) if noncentrality else stats.chi2(nu)
    return Law("_next_noncentral_chi_square", (nu, noncentrality), continuous(law.cdf))


def cir(theta: float, a: float, t: float) -> Law:
    return Law("_next_cir", flown(theta, a, t), above(1e-300, cir_law(theta, a, t)))


def gamma(a: float) -> Law:
    return Law("_next_log_gamma", (a,), log_gamma(a))


def integer(a: int, b: int) -> Law:
    if b - a < 1000:
        return Law("_next_integer", (a, b), discrete(stats.randint(a, b + 1)))
    return Law("_next_integer", (a, b), continuous(stats.uniform(a, b - a).cdf))


ALPHA = np.array([0.1, 1.0, 3.0])
WEIGHTED = [0.3, -math.inf, 1.0, -4.0, 0.0, 0.9]

LAWS = {
    "uniform": Law("_next_uniform", (), continuous(stats.uniform.cdf)),
    "exponential": Law("_next_exponential", (), continuous(stats.expon.cdf)),
    "integer -3 7": integer(-3, 7),
    "integer of 54 bits": integer(-(2**53), 2**53),
    "categorical": choice(WEIGHTED),
    "categorical, large logits": choice([1000.0, 1001.0, 999.0]),
    **{f"log gamma {a:g}": gamma(a) for a in (1e-300, 1e-4, 0.05, 0.3, 0.999, 1.0, 1.5, 4.5, 300.0, 1e6, 1e12)},
    "gamma 0.3": Law("_next_gamma", (0.3,), continuous(stats.gamma(0.3).cdf)),
    "gamma 2.5": Law("_next_gamma", (2.5,), continuous(stats.gamma(2.5).cdf)),
    **{
        f"log beta {a:g} {b:g}": Law("_next_log_beta", (a, b), logit_beta(a, b), rows=2)
        for a, b in ((1e-4, 1e-4), (1e-4, 2.0), (0.4, 2.5), (1.0, 1.0), (300.0, 50.0))
    },
    "Dirichlet": Law("_fill_log_dirichlet", (ALPHA,), dirichlet(ALPHA), rows=3),
    **{f"Poisson {mean:g}": poisson(mean) for mean in (0.05, 3.0, 9.999, 10.0, 12.5, 30.0, 300.0, 1e5, 1e9)},
    **{f"Poisson {mean:g}": poisson(mean) for mean in (1e15, 2.0**52)},
    **{
        f"binomial {n:g} {p:g}": binomial(n, p)
        for n, p in (
            (1, 0.3), (10, 0.05), (10**15, 3e-15), (100, 0.0999), (100, 0.1), (20, 0.5), (100, 0.3), (100, 0.7),
            (10**6, 0.999), (10**9, 0.2), (10**15, 0.25),
        )
    },
    **{f"noncentral chi-square {nu:g} {n:g}": chi_square(nu, n) for nu, n in ((0.2, 3.0), (1.0, 0.0), (3.0, 20.0))},
    "noncentral chi-square 0 3": Law("_next_noncentral_chi_square", (0.0, 3.0), above(0.0, atom(3.0))),
    **{
        f"CIR {theta:g} {a:g} {t:g}": cir(theta, a, t)
        for theta, a, t in ((0.8, 0.1, 0.5), (0.0, 0.3, 0.5), (5.0, 2.0, 0.1), (0.8, 1e-4, 0.5), (0.0, 1e-4, 2.0))
    },
}  # fmt: skip


@pytest.mark.parametrize("law", LAWS)
def test_draws_have_their_law(law: str) -> None:
    assert LAWS[law].p() > LEAST


MUTANTS = {
    "integer: one too few": ("integer -3 7", "+ np.uint64(1)\n", "\n"),
    "categorical: maximum not subtracted": ("categorical, large logits", "_exp(logits[k] - most)", "_exp(logits[k])"),
    "gamma: d = a - 1/2": ("log gamma 1.5", "d = a - 0.3333333333333333", "d = a - 0.5"),
    "gamma: without the boost": ("log gamma 0.3", "draw += math.log(u) / a", "draw += 0.0 * math.log(u) / a"),
    "Dirichlet: first shape for all": ("Dirichlet", "_next_log_gamma(alpha[k]", "_next_log_gamma(alpha[0]"),
    "Poisson: uniforms squared": ("Poisson 3", "product *= u", "product *= u * u"),
    "Poisson: hat": ("Poisson 10", "1.1239 +", "0.9 +"),
    "binomial: p for odds": ("binomial 10 0.05", "odds = p / (1.0 - p)", "odds = p"),
    "binomial: hat": ("binomial 100 0.3", "2.83 +", "2.0 +"),
    "CIR: not decayed": ("CIR 0.8 0.1 0.5", "theta * decay / grown,", "theta / grown,"),
}
"""By name: the law, and what a fault in the text of its function puts into the place of what."""

MORE_MUTANTS = {
    "binomial: p above 1/2 as it is": ("binomial 100 0.7", "return n - k if p > 0.5", "return k if p > 0.5"),
    "Poisson: surely accepted too often": ("Poisson 10", "0.9277 -", "1.5 -"),
    "beta: 1 - X for X": ("log beta 0.4 2.5", "-_softplus(log_F - log_G), -", "-_softplus(log_G - log_F), -"),
    "gamma: surely accepted too often": ("log gamma 1", "* 0.08333333333333333 or", "* 0.008333333333333333 or"),
    "uniform: of 2**51 parts": ("uniform", "bits >> 12", "bits >> 13"),
    "exponential: of mean 2": ("exponential", "-math.log(u)", "-2.0 * math.log(u)"),
    "categorical: sums forgotten": ("categorical", "sums[k] = total", "sums[k] = sums[k]"),
    "gamma: c of a": ("log gamma 1.5", "c = 1.0 / math.sqrt(9.0 * d)", "c = 1.0 / math.sqrt(9.0 * a)"),
    "gamma: all accepted": ("log gamma 1", "math.log(u) < 3.0 * d", "math.log(u) < 0.0 * d"),
    "gamma: boost of a + 1": ("log gamma 0.3", "draw += math.log(u) / a", "draw += math.log(u) / (a + 1.0)"),
    "gamma: not a + 1": ("log gamma 0.999", "a + 1.0 if a < 1.0 else a", "1.0 if a < 1.0 else a"),
    "gamma: boost of exp": ("gamma 0.3", "math.exp(math.log(u) / a)", "math.exp(math.log(u) / (a + 0.1))"),
    "Poisson: one too many": ("Poisson 0.05", "if product <= least:", "if k > 0 and product <= least:"),
    "Poisson: shifted": ("Poisson 300", "* u + mean + 0.43", "* u + mean + 3.43"),
    "Poisson: (k - 1)! for k!": ("Poisson 10", "math.factorial(k)", "math.factorial(k - 1)"),
    "Poisson: what cancels": (
        "Poisson 4.5036e+15",
        "-_deviance(k, mean) - _stirling_rest(k)",
        "k * math.log(mean) - mean - math.lgamma(k + 1.0)",
    ),
    "binomial: surely accepted too often": ("binomial 100 0.1", "0.92 -", "1.3 -"),
    "binomial: mode": ("binomial 100 0.3", "np.floor((n + 1.0) * p)", "np.floor((n + 20.0) * p)"),
    "noncentral chi-square: not halved": ("noncentral chi-square 3 20", "0.5 * noncentrality,", "noncentrality,"),
    "CIR: not grown": ("CIR 0 0.3 0.5", "return grown * draw", "return draw"),
}  # fmt: skip


@pytest.mark.parametrize("mutant", some([*MUTANTS, *MORE_MUTANTS], 5))
def test_a_planted_fault_is_found(mutant: str) -> None:
    law, old, new = (MUTANTS | MORE_MUTANTS)[mutant]
    assert LAWS[law].p(old, new) <= LEAST


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


@pytest.mark.slow
def test_the_hat_of_poisson_is_above_and_its_squeeze_below() -> None:
    text = support_text(("_next_poisson",))
    assert "0.9277 - 3.75 / (b - 2.0)" in text
    assert "1.1239 + 1.2 / (b - 3.4)" in text
    found = np.array([poisson_hat(mean) for mean in [*np.geomspace(10.0, 1000.0, 500), 1e4, 1e6]])
    assert found[:, 0].max() <= 1.0
    assert found[:, 1].min() >= 0.0


def test_the_constants_of_the_paper_are_not_quite_above_and_below() -> None:
    assert poisson_hat(14.03, slope=1.1328)[0] > 1.005
    assert poisson_hat(34.44, squeeze=3.6224)[1] < -0.003


@pytest.mark.slow
def test_the_hat_of_the_binomial_is_above_and_its_squeeze_below() -> None:
    text = support_text(("_next_binomial",))
    assert "0.92 - 4.2 / b" in text
    assert "(2.83 + 5.1 / b) * spread" in text
    shares = (1e-3, 0.01, 0.1, 0.3, 0.45, 0.5)
    found = np.array([binomial_hat(math.ceil(np_ / p), p) for p in shares for np_ in np.geomspace(10.01, 1000.0, 60)])
    assert found[:, 0].max() <= 1.0
    assert found[:, 1].min() >= 0.0


def test_a_cir_process_forgets_where_it_was_between() -> None:
    """Chapman and Kolmogorov: steps of 0.2 and 0.3 have the law of one of 0.5."""
    theta, a, draw = 1.4, 0.6, drawing("_next_cir")
    between = draw(5000, flown(theta, a, 0.2))[0]
    words = _seed_words(1, between.size, 0, 4)
    after = [draw(1, flown(at, a, 0.3), state=state)[0, 0] for at, state in zip(between, words, strict=True)]
    assert stats.kstest(after, cir_law(theta, a, 0.5)).pvalue > LEAST


@pytest.mark.slow
@pytest.mark.parametrize("law", LAWS)
def test_two_million_draws_have_their_law(law: str) -> None:
    if law in ("Poisson 1e+15", "Poisson 4.5036e+15", "binomial 1e+15 0.25"):
        pytest.skip("compared with a normal law")
    assert LAWS[law].p(size=2_000_000) > LEAST

"""Named densities: values are SciPy's, derivatives those of 50 digits, bounds and draws what their rows say."""

from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest
import sympy as sp
from mpmath import mpf
from scipy import stats
from scipy.special import expit

from recipe_compiler.errors import Place
from recipe_compiler.formula.declaration import Block, Declarations, Domain
from recipe_compiler.formula.densities import DENSITIES
from recipe_compiler.formula.density_terms import type_density
from recipe_compiler.formula.elaborate import Scope, elaborate
from recipe_compiler.formula.expression import Formula
from recipe_compiler.formula.shapes import SCALAR, DomainName
from recipe_compiler.formula.syntax import parse
from recipe_compiler.run.evaluate import Point, evaluate_rows
from recipe_compiler.tensor.atoms import Coordinate
from recipe_compiler.tensor.calculus import calculus
from recipe_compiler.tensor.convert import convert
from recipe_compiler.verify.core.scalars import make_leaf, write_out

REAL, PLUS, UNIT, COUNT, TRIALS = (-3.0, 3.0), (0.1, 4.0), (0.05, 0.95), (0, 6), (6, 9)


class Folded:
    """The law of |x|."""

    def __init__(self, law: Any) -> None:
        self.law = law

    def logpdf(self, x: Any) -> Any:
        return self.law.logpdf(x) + np.log(2)

    def cdf(self, x: Any) -> Any:
        return 2 * self.law.cdf(x) - 1


class Inflated:
    """A law of counts with w more of 0; nan where w is none."""

    def __init__(self, w: Any, law: Any) -> None:
        self.w, self.law = w, law

    def logpmf(self, y: Any) -> Any:
        w = self.w
        return np.log(np.where(w <= 1, w * (y == 0) + (1 - w) * self.law.pmf(y), np.nan))

    def cdf(self, y: Any) -> Any:
        return self.w + (1 - self.w) * self.law.cdf(y)


LAWS: dict[str, tuple[Callable[..., Any], tuple[tuple[float, float], ...]]] = {
    "normal": (lambda m, s: stats.norm(m, s), (REAL, REAL, PLUS)),
    "student_t": (lambda nu, m, s: stats.t(nu, m, s), (REAL, PLUS, REAL, PLUS)),
    "cauchy": (lambda m, s: stats.cauchy(m, s), (REAL, REAL, PLUS)),
    "half_normal": (lambda s: stats.halfnorm(0, s), (PLUS, PLUS)),
    "half_cauchy": (lambda s: stats.halfcauchy(0, s), (PLUS, PLUS)),
    "half_student_t": (lambda nu, s: Folded(stats.t(nu, 0, s)), (PLUS, PLUS, PLUS)),
    "gamma": (lambda a, b: stats.gamma(a, scale=1 / b), (PLUS, PLUS, PLUS)),
    "inverse_gamma": (lambda a, b: stats.invgamma(a, scale=b), (PLUS, PLUS, PLUS)),
    "beta": (lambda a, b: stats.beta(a, b), (UNIT, PLUS, PLUS)),
    "exponential": (lambda rate: stats.expon(scale=1 / rate), (PLUS, PLUS)),
    "lognormal": (lambda m, s: stats.lognorm(s, scale=np.exp(m)), (PLUS, REAL, PLUS)),
    "laplace": (lambda m, s: stats.laplace(m, s), (REAL, REAL, PLUS)),
    "logistic": (lambda m, s: stats.logistic(m, s), (REAL, REAL, PLUS)),
    "weibull": (lambda a, s: stats.weibull_min(a, scale=s), (PLUS, PLUS, PLUS)),
    "uniform": (lambda a, b: stats.uniform(a, b - a), ((0.0, 1.0), (-2.0, -0.5), (1.5, 3.0))),
    "bernoulli": (lambda p: stats.bernoulli(p), ((0, 1), UNIT)),
    "binomial": (lambda n, p: stats.binom(n, p), (COUNT, TRIALS, UNIT)),
    "poisson": (lambda mu: stats.poisson(mu), (COUNT, PLUS)),
    "neg_binomial_2": (lambda mu, phi: stats.nbinom(phi, phi / (phi + mu)), (COUNT, PLUS, PLUS)),
    "beta_binomial": (lambda n, a, b: stats.betabinom(n, a, b), (COUNT, TRIALS, PLUS, PLUS)),
    "zero_inflated_poisson": (lambda w, mu: Inflated(w, stats.poisson(mu)), (COUNT, UNIT, PLUS)),
    "zero_inflated_neg_binomial_2": (
        lambda w, mu, phi: Inflated(w, stats.nbinom(phi, phi / (phi + mu))),
        (COUNT, UNIT, PLUS, PLUS),
    ),
    "zero_inflated_binomial": (lambda w, n, p: Inflated(w, stats.binom(n, p)), (COUNT, UNIT, TRIALS, UNIT)),
    "bernoulli_logit": (lambda eta: stats.bernoulli(expit(eta)), ((0, 1), REAL)),
    "binomial_logit": (lambda n, eta: stats.binom(n, expit(eta)), (COUNT, TRIALS, REAL)),
    "poisson_log": (lambda eta: stats.poisson(np.exp(eta)), (COUNT, REAL)),
    "neg_binomial_2_log": (lambda eta, phi: stats.nbinom(phi, phi / (phi + np.exp(eta))), (COUNT, REAL, PLUS)),
}
"""SciPy's law of all arguments but the first, and where the arguments are tried: whole numbers if both ends are."""
SCALARS = sorted(name for name, row in DENSITIES.items() if row.of_entry)


def log_density(name: str, x: Any, *rest: Any) -> Any:
    law = LAWS[name][0](*rest)
    return law.logpmf(x) if DENSITIES[name].discrete else law.logpdf(x)


def points(name: str, count: int = 5) -> list[list[float]]:
    rng = np.random.default_rng(1)
    return [[_drawn(rng, low, high) for low, high in LAWS[name][1]] for _ in range(count)]


def _drawn(rng: np.random.Generator, low: float, high: float) -> float:
    return float(rng.integers(low, high + 1) if isinstance(low, int) else rng.uniform(low, high))


def typed(text: str, declarations: Declarations) -> Formula:
    where = Place("t")
    return elaborate(
        parse(text, "log_prior", where), Scope(declarations, densities=type_density), SCALAR, "log_prior", where
    )


def declared(name: str) -> Declarations:
    """Return scalar blocks named as the arguments, positive where they have to be."""
    row = DENSITIES[name]
    texts = " ".join((*row.support, *row.needs)).split()
    positive = {texts[k - 1] for k, text in enumerate(texts) if text in (">", ">=") and texts[k + 1] == "0"}
    domains = {n: Domain(DomainName.POSITIVE if n in positive else DomainName.REAL) for n in row.arguments}
    if row.discrete:  # a count may be 0
        domains[row.arguments[0]] = Domain(DomainName.COUNTS)
    return Declarations(tuple(Block(f"{n}_", SCALAR, domains[n]) for n in row.arguments))


def called(name: str) -> str:
    return f"{name}({', '.join(f'{n}_' for n in DENSITIES[name].arguments)})"


def numbers(tensor: Any, declarations: Declarations, at: list[Any]) -> Any:
    """Return a scalar tensor at a point, in the digits that are worked with."""
    leaf = make_leaf(declarations, {})
    (written,) = write_out(tensor, {}, leaf)
    assert not written.atoms(sp.Float)
    known = {leaf(Coordinate(block.name, ())): mpf(x) for block, x in zip(declarations.blocks, at, strict=True)}
    return mpf(written.subs({s: x for s, x in known.items() if s is not None}).evalf(mpmath.mp.dps))


@pytest.mark.parametrize("stated", [False, True])
@pytest.mark.parametrize("name", SCALARS)
def test_values_are_those_of_scipy_and_derivatives_those_of_fifty_digits(name: str, stated: bool) -> None:
    declarations = declared(name)
    c = calculus(declarations, stated=stated)
    tensor = convert(typed(called(name), declarations), declarations, stated=stated)
    for at in points(name):
        found = float(numbers(tensor, declarations, at))
        assert found == pytest.approx(float(log_density(name, *at)), rel=1e-9, abs=1e-9)
    with mpmath.workdps(50):
        for k, block in enumerate(declarations.blocks[DENSITIES[name].discrete :], DENSITIES[name].discrete):
            slope = c.diff(tensor, Coordinate(block.name, ()), almost_everywhere=True)
            for at in points(name, 2):

                def along(x: Any, at: list[float] = at, k: int = k) -> Any:
                    return numbers(tensor, declarations, [*at[:k], x, *at[k + 1 :]])

                moved = mpmath.diff(along, mpf(at[k]))
                assert abs(numbers(slope, declarations, at) - moved) < mpf(10) ** -20 * (1 + abs(moved)), block.name


def named(arguments: tuple[str, ...]) -> Declarations:
    return Declarations(tuple(Block(n) for n in arguments))


@pytest.mark.parametrize(("name", "k"), [(name, k) for name in SCALARS for k in range(len(DENSITIES[name].bounds))])
def test_a_bound_holds_and_is_the_least(name: str, k: int) -> None:
    """Of 200,000 values over many scales none is above it; a density comes near it."""
    row, rng, count = DENSITIES[name], np.random.default_rng(2), 200_000
    bound, at = row.bounds[k], points(name, 1)[0]
    declarations = named(row.arguments)
    limit = float(numbers(convert(typed(bound.at_most, declarations), declarations), declarations, at))
    moved = list(map(np.float64, at))
    for place, argument in enumerate(row.arguments):
        low = LAWS[name][1][place][0]
        if argument in bound.over:
            spread = 10.0 ** rng.uniform(-3, 3, count) * rng.uniform(0 if low >= 0 else -1, 1, count)
            moved[place] = rng.integers(0, 7, count) if isinstance(low, int) else spread
    with np.errstate(all="ignore"):
        values = np.nan_to_num(log_density(name, *moved), nan=-np.inf)
    assert values.max() <= limit + 1e-9
    assert row.discrete or values.max() > limit - 0.01


PEAKS: dict[str, Callable[..., Any]] = {
    "gamma": lambda x, a: a / x, "inverse_gamma": lambda x, a: a * x, "beta": lambda x, a: a * (1 / x - 1),
}  # fmt: skip
"""The last argument at which a density is largest."""


@pytest.mark.parametrize("name", [name for name in SCALARS if DENSITIES[name].ceilings])
def test_a_density_is_nowhere_above_its_ceilings(name: str) -> None:
    """At 200,000 points over many scales, half of them near where it peaks."""
    row, rng, count = DENSITIES[name], np.random.default_rng(4), 200_000
    x = rng.uniform(0, 1, count) if name == "beta" else 10.0 ** rng.uniform(-3, 3, count)
    a, b = 10.0 ** rng.uniform(-3, 4, (2, count))
    b[::2] = PEAKS[name](x, a)[::2] * rng.uniform(0.9, 1.1, count // 2)
    rows = {argument: values.reshape(-1, 1, 1) for argument, values in zip(row.arguments, (x, a, b), strict=True)}
    values = log_density(name, x, a, b)
    for text in row.ceilings:
        ceiling = evaluate_rows(typed(text, named(row.arguments)), Point({}, {}), rows).reshape(-1)
        assert (values <= ceiling + 1e-7 * (1 + abs(values))).all()
        assert (values > ceiling - 2).any()


@pytest.mark.parametrize("name", SCALARS)
def test_draws_have_the_law(name: str) -> None:
    """Kolmogorov's distance of 4000 draws, or of counts of a discrete law, from SciPy's: one false alarm in 10**6."""
    row, at = DENSITIES[name], points(name, 1)[0]
    draws = np.sort(np.asarray(row.draw(np.random.default_rng(3), 4000, *at[1:]), float))
    assert draws.shape == (4000,)
    law = LAWS[name][0](*at[1:])
    if row.discrete:
        assert (draws == np.floor(draws)).all()
        grid = np.arange(draws[-1] + 1)
        distance = np.abs(law.cdf(grid) - np.searchsorted(draws, grid, side="right") / 4000).max()
    else:
        distance = np.abs(law.cdf(draws) - np.arange(0.5, 4000) / 4000).max()
    assert distance < np.sqrt(np.log(2 / 1e-6) / 2 / 4000)


def test_a_draw_far_out_is_certain_and_warns_of_nothing() -> None:
    far, rng = np.array([-800.0, 800.0]), np.random.default_rng(1)
    assert DENSITIES["bernoulli_logit"].draw(rng, (2,), far).tolist() == [0, 1]


@pytest.mark.parametrize(("name", "other"), [("binomial", 0.25), ("binomial_logit", -1.0)])
def test_trials_are_a_column_of_doubles_as_data_are(name: str, other: float) -> None:
    draw, n = DENSITIES[name].draw, np.array([47.0, 3.0, 810.0])
    drawn = draw(np.random.default_rng(0), 3, n, np.full(3, other))
    assert (drawn <= n).all()
    assert drawn[2] > 100
    with pytest.raises(ValueError, match="not whole"):
        draw(np.random.default_rng(0), 1, np.array([2.5]), np.array([other]))

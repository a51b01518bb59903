"""Named densities: values are SciPy's, derivatives those of 50 digits, bounds and draws what their rows say."""

import re
from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest
from mpmath import mpf
from scipy import stats

from recipe_compiler.errors import DocumentError, Place
from recipe_compiler.formula.declaration import Block, Datum, Declarations, Domain, Parameter
from recipe_compiler.formula.densities import DENSITIES
from recipe_compiler.formula.elaborate import Scope, elaborate
from recipe_compiler.formula.expression import Formula
from recipe_compiler.formula.shapes import SCALAR, DomainName, Kind, Shape
from recipe_compiler.formula.syntax import parse
from recipe_compiler.run.evaluate import Point, evaluate, evaluate_rows
from recipe_compiler.tensor.atoms import Coordinate
from recipe_compiler.tensor.calculus import calculus
from recipe_compiler.tensor.convert import convert
from recipe_compiler.verify.core.scalars import leaf_of, written_out

SCALARS = sorted(name for name, row in DENSITIES.items() if row.of_entry)
REAL, PLUS, UNIT, COUNT = (-3.0, 3.0), (0.1, 4.0), (0.05, 0.95), (0, 6)
RANGES = {
    "normal": (REAL, REAL, PLUS), "student_t": (REAL, PLUS, REAL, PLUS), "cauchy": (REAL, REAL, PLUS),
    "half_normal": (PLUS, PLUS), "half_cauchy": (PLUS, PLUS), "gamma": (PLUS, PLUS, PLUS),
    "inverse_gamma": (PLUS, PLUS, PLUS), "beta": (UNIT, PLUS, PLUS), "exponential": (PLUS, PLUS),
    "lognormal": (PLUS, REAL, PLUS), "laplace": (REAL, REAL, PLUS), "logistic": (REAL, REAL, PLUS),
    "weibull": (PLUS, PLUS, PLUS), "uniform": ((0.0, 1.0), (-2.0, -0.5), (1.5, 3.0)),
    "bernoulli_logit": ((0, 1), REAL), "binomial_logit": (COUNT, (6, 9), REAL), "poisson_log": (COUNT, REAL),
    "neg_binomial_2_log": (COUNT, REAL, PLUS), "half_student_t": (PLUS, PLUS, PLUS), "bernoulli": ((0, 1), UNIT),
    "binomial": (COUNT, (6, 9), UNIT), "poisson": (COUNT, PLUS), "neg_binomial_2": (COUNT, PLUS, PLUS),
    "beta_binomial": (COUNT, (6, 9), PLUS, PLUS), "zero_inflated_poisson": (COUNT, UNIT, PLUS),
    "zero_inflated_binomial": (COUNT, UNIT, (6, 9), UNIT),
}  # fmt: skip
"""Where the arguments of each are tried; whole numbers where both ends are."""


def sigmoid(x: float) -> float:
    return 1 / (1 + np.exp(-x))


def inflated(y: Any, w: Any, mass: Any) -> Any:
    """Return the logarithm of a probability with w more of 0; nan where w is none."""
    return np.log(np.where(w <= 1, w * (y == 0) + (1 - w) * mass, np.nan))


SCIPY: dict[str, Callable[..., Any]] = {
    "normal": lambda x, m, s: stats.norm.logpdf(x, m, s),
    "student_t": lambda x, nu, m, s: stats.t.logpdf(x, nu, m, s),
    "cauchy": lambda x, m, s: stats.cauchy.logpdf(x, m, s),
    "half_normal": lambda x, s: stats.halfnorm.logpdf(x, 0, s),
    "half_cauchy": lambda x, s: stats.halfcauchy.logpdf(x, 0, s),
    "half_student_t": lambda x, nu, s: stats.t.logpdf(x, nu, 0, s) + np.log(2),
    "gamma": lambda x, a, b: stats.gamma.logpdf(x, a, scale=1 / b),
    "inverse_gamma": lambda x, a, b: stats.invgamma.logpdf(x, a, scale=b),
    "beta": stats.beta.logpdf,
    "exponential": lambda x, rate: stats.expon.logpdf(x, scale=1 / rate),
    "lognormal": lambda x, m, s: stats.lognorm.logpdf(x, s, scale=np.exp(m)),
    "laplace": lambda x, m, s: stats.laplace.logpdf(x, m, s),
    "logistic": lambda x, m, s: stats.logistic.logpdf(x, m, s),
    "weibull": lambda x, a, s: stats.weibull_min.logpdf(x, a, scale=s),
    "uniform": lambda x, a, b: stats.uniform.logpdf(x, a, b - a),
    "bernoulli": stats.bernoulli.logpmf,
    "binomial": stats.binom.logpmf,
    "poisson": stats.poisson.logpmf,
    "neg_binomial_2": lambda y, mu, phi: stats.nbinom.logpmf(y, phi, phi / (phi + mu)),
    "beta_binomial": stats.betabinom.logpmf,
    "zero_inflated_poisson": lambda y, w, mu: inflated(y, w, stats.poisson.pmf(y, mu)),
    "zero_inflated_binomial": lambda y, w, n, p: inflated(y, w, stats.binom.pmf(y, n, p)),
    "bernoulli_logit": lambda y, eta: stats.bernoulli.logpmf(y, sigmoid(eta)),
    "binomial_logit": lambda y, n, eta: stats.binom.logpmf(y, n, sigmoid(eta)),
    "poisson_log": lambda y, eta: stats.poisson.logpmf(y, np.exp(eta)),
    "neg_binomial_2_log": lambda y, eta, phi: stats.nbinom.logpmf(y, phi, phi / (phi + np.exp(eta))),
}


def log_normal(z: Any) -> Any:
    return -z * z / 2 - mpmath.log(2 * mpmath.pi) / 2


WIDE: dict[str, Callable[..., Any]] = {
    "normal": lambda x, m, s: log_normal((x - m) / s) - mpmath.log(s),
    "student_t": lambda x, nu, m, s: mpmath.log(
        mpmath.gamma((nu + 1) / 2) / mpmath.gamma(nu / 2) / mpmath.sqrt(nu * mpmath.pi) / s
        * (1 + ((x - m) / s) ** 2 / nu) ** (-(nu + 1) / 2)
    ),
    "cauchy": lambda x, m, s: -mpmath.log(mpmath.pi * s * (1 + ((x - m) / s) ** 2)),
    "half_normal": lambda x, s: log_normal(x / s) - mpmath.log(s) + mpmath.log(2),
    "half_cauchy": lambda x, s: -mpmath.log(mpmath.pi * s * (1 + (x / s) ** 2) / 2),
    "half_student_t": lambda x, nu, s: mpmath.log(
        2 * mpmath.gamma((nu + 1) / 2) / mpmath.gamma(nu / 2) / mpmath.sqrt(nu * mpmath.pi) / s
        * (1 + (x / s) ** 2 / nu) ** (-(nu + 1) / 2)
    ),
    "gamma": lambda x, a, b: mpmath.log(b**a / mpmath.gamma(a) * x ** (a - 1)) - b * x,
    "inverse_gamma": lambda x, a, b: mpmath.log(b**a / mpmath.gamma(a) * x ** (-a - 1)) - b / x,
    "beta": lambda x, a, b: mpmath.log(x ** (a - 1) * (1 - x) ** (b - 1) / mpmath.beta(a, b)),
    "exponential": lambda x, rate: mpmath.log(rate) - rate * x,
    "lognormal": lambda x, m, s: log_normal((mpmath.log(x) - m) / s) - mpmath.log(s * x),
    "laplace": lambda x, m, s: -abs(x - m) / s - mpmath.log(2 * s),
    "logistic": lambda x, m, s: mpmath.log(mpmath.sech((x - m) / (2 * s)) ** 2 / (4 * s)),
    "weibull": lambda x, a, s: mpmath.log(a / s * (x / s) ** (a - 1)) - (x / s) ** a,
    "uniform": lambda x, a, b: -mpmath.log(b - a),
    "bernoulli": lambda y, p: mpmath.log(p**y * (1 - p) ** (1 - y)),
    "binomial": lambda y, n, p: mpmath.log(mpmath.binomial(n, y) * p**y * (1 - p) ** (n - y)),
    "poisson": lambda y, mu: mpmath.log(mu**y / mpmath.factorial(y)) - mu,
    "neg_binomial_2": lambda y, mu, phi: mpmath.log(
        mpmath.binomial(y + phi - 1, y) * (mu / (mu + phi)) ** y * (phi / (mu + phi)) ** phi
    ),
    "beta_binomial": lambda y, n, a, b: mpmath.log(
        mpmath.binomial(n, y) * mpmath.beta(y + a, n - y + b) / mpmath.beta(a, b)
    ),
    "zero_inflated_poisson": lambda y, w, mu: mpmath.log(
        w * (y == 0) + (1 - w) * mpmath.exp(-mu) * mu**y / mpmath.factorial(y)
    ),
    "zero_inflated_binomial": lambda y, w, n, p: mpmath.log(
        w * (y == 0) + (1 - w) * mpmath.binomial(n, y) * p**y * (1 - p) ** (n - y)
    ),
    "bernoulli_logit": lambda y, eta: y * eta - mpmath.log(1 + mpmath.exp(eta)),
    "binomial_logit": lambda y, n, eta: mpmath.log(mpmath.binomial(n, y)) + y * eta - n * mpmath.log1p(mpmath.exp(eta)),
    "poisson_log": lambda y, eta: y * eta - mpmath.exp(eta) - mpmath.log(mpmath.factorial(y)),
    "neg_binomial_2_log": lambda y, eta, phi: mpmath.log(
        mpmath.binomial(y + phi - 1, y) * (mpmath.exp(eta) / (mpmath.exp(eta) + phi)) ** y
        * (phi / (mpmath.exp(eta) + phi)) ** phi
    ),
}  # fmt: skip


def points(name: str, count: int = 5) -> list[list[float]]:
    rng = np.random.default_rng(1)
    return [[_drawn(rng, low, high) for low, high in RANGES[name]] for _ in range(count)]


def _drawn(rng: np.random.Generator, low: float, high: float) -> float:
    return float(rng.integers(low, high + 1) if isinstance(low, int) else rng.uniform(low, high))


def typed(text: str, declarations: Declarations) -> Formula:
    where = Place("t")
    return elaborate(parse(text, "log_prior", where), Scope(declarations, densities=True), SCALAR, "log_prior", where)


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


def numbers(tensor: Any, declarations: Declarations, at: list[float]) -> Any:
    """Return a scalar tensor at a point, at 50 digits."""
    leaf = leaf_of(declarations, {})
    (written,) = written_out(tensor, {}, leaf)
    known = {leaf(Coordinate(block.name, ())): mpf(x) for block, x in zip(declarations.blocks, at, strict=True)}
    return mpf(written.subs({s: x for s, x in known.items() if s is not None}).evalf(50))


@pytest.mark.parametrize("name", SCALARS)
def test_the_value_is_that_of_scipy_and_of_fifty_digits(name: str) -> None:
    declarations = declared(name)
    tensor = convert(typed(called(name), declarations), declarations)
    with mpmath.workdps(50):
        for at in points(name):
            found = numbers(tensor, declarations, at)
            assert found == pytest.approx(float(SCIPY[name](*at)), rel=1e-9, abs=1e-9)
            assert abs(found - WIDE[name](*map(mpf, at))) < mpf(10) ** -45 * (1 + abs(found))


@pytest.mark.parametrize("stated", [False, True])
@pytest.mark.parametrize("name", SCALARS)
def test_the_derivative_in_each_argument_is_that_of_fifty_digits(name: str, stated: bool) -> None:
    declarations = declared(name)
    c = calculus(declarations, stated=stated)
    tensor = convert(typed(called(name), declarations), declarations, stated=stated)
    with mpmath.workdps(50):
        for k, block in enumerate(declarations.blocks):
            if DENSITIES[name].discrete and k == 0:
                continue
            slope = c.diff(tensor, Coordinate(block.name, ()), almost_everywhere=True)
            for at in points(name, 3):
                wide = [mpf(x) for x in at]
                moved = mpmath.diff(lambda x, wide=wide, k=k: WIDE[name](*wide[:k], x, *wide[k + 1 :]), wide[k])
                assert abs(numbers(slope, declarations, at) - moved) < mpf(10) ** -20 * (1 + abs(moved)), block.name


@pytest.mark.parametrize(("name", "k"), [(name, k) for name in SCALARS for k in range(len(DENSITIES[name].bounds))])
def test_a_bound_holds_and_is_the_least(name: str, k: int) -> None:
    """Of 200,000 values over many scales none is above it; a density comes near it."""
    row, rng, count = DENSITIES[name], np.random.default_rng(2), 200_000
    bound, at = row.bounds[k], points(name, 1)[0]
    declarations = named(row.arguments)
    limit = float(numbers(convert(typed(bound.at_most, declarations), declarations), declarations, at))
    moved = list(map(np.float64, at))
    for place, argument in enumerate(row.arguments):
        low = RANGES[name][place][0]
        if argument in bound.over:
            spread = 10.0 ** rng.uniform(-3, 3, count) * rng.uniform(0 if low >= 0 else -1, 1, count)
            moved[place] = rng.integers(0, 7, count) if isinstance(low, int) else spread
    with np.errstate(all="ignore"):
        values = np.nan_to_num(SCIPY[name](*moved), nan=-np.inf)
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
    declarations = named(row.arguments)
    rows = {argument: values.reshape(-1, 1, 1) for argument, values in zip(row.arguments, (x, a, b), strict=True)}
    values = SCIPY[name](x, a, b)
    for text in row.ceilings:
        ceiling = evaluate_rows(typed(text, declarations), Point({}, {}), rows).reshape(-1)
        assert (values <= ceiling + 1e-7 * (1 + abs(values))).all()
        assert (values > ceiling - 2).any()


def named(arguments: tuple[str, ...]) -> Declarations:
    return Declarations(tuple(Block(n) for n in arguments))


@pytest.mark.parametrize("name", SCALARS)
def test_draws_have_the_law(name: str) -> None:
    """Kolmogorov's distance of 4000 draws, or of counts of a discrete law, from SciPy's: one false alarm in 10**6."""
    row = DENSITIES[name]
    at = points(name, 1)[0]
    draws = np.asarray(row.draw(np.random.default_rng(3), 4000, *at[1:]), float)
    assert draws.shape == (4000,)
    if row.discrete:
        assert (draws == np.floor(draws)).all()
        grid = np.unique(draws)
        theirs = np.cumsum(np.exp(SCIPY[name](np.arange(0, grid[-1] + 1), *at[1:])))
        ours = np.searchsorted(np.sort(draws), np.arange(0, grid[-1] + 1), side="right") / 4000
        distance = np.abs(theirs - ours).max()
    else:
        distance = np.abs(_below(name, np.sort(draws), at[1:]) - np.arange(0.5, 4000) / 4000).max()
    assert distance < np.sqrt(np.log(2 / 1e-6) / 2 / 4000)


def _below(name: str, x: np.ndarray, given: list[float]) -> np.ndarray:
    laws = {
        "normal": lambda m, s: stats.norm(m, s), "student_t": lambda nu, m, s: stats.t(nu, m, s),
        "cauchy": lambda m, s: stats.cauchy(m, s), "half_normal": lambda s: stats.halfnorm(0, s),
        "half_cauchy": lambda s: stats.halfcauchy(0, s), "gamma": lambda a, b: stats.gamma(a, scale=1 / b),
        "inverse_gamma": lambda a, b: stats.invgamma(a, scale=b), "beta": stats.beta,
        "exponential": lambda rate: stats.expon(scale=1 / rate),
        "lognormal": lambda m, s: stats.lognorm(s, scale=np.exp(m)), "laplace": lambda m, s: stats.laplace(m, s),
        "logistic": lambda m, s: stats.logistic(m, s), "weibull": lambda a, s: stats.weibull_min(a, scale=s),
        "uniform": lambda a, b: stats.uniform(a, b - a),
    }  # fmt: skip
    if name == "half_student_t":  # its square over sigma**2 has Fisher's F
        return stats.f(1, given[0]).cdf((x / given[1]) ** 2)
    return laws[name](*given).cdf(x)


def test_columns_are_summed_and_scalars_are_those_of_every_entry() -> None:
    """d = 3: the sum of entries, whichever arguments are columns."""
    blocks = (Block("x", Shape(3)), Block("mu", Shape(3)), Block("s", SCALAR, Domain(DomainName.POSITIVE)))
    declarations = Declarations(blocks)
    x, mu, s = np.array([0.3, -1.2, 2.5]), np.array([1.0, 0.5, -0.4]), 0.7
    for text, wanted in (
        ("normal(x, mu, s)", stats.norm.logpdf(x, mu, s)),
        ("normal(x, 1/2, s)", stats.norm.logpdf(x, 0.5, s)),
        ("normal(0, mu, 2)", stats.norm.logpdf(0, mu, 2)),
        ("student_t(x, 4, ones, exp(mu))", stats.t.logpdf(x, 4, 1, np.exp(mu))),
        ("gamma(exp(x), s, exp(mu))", stats.gamma.logpdf(np.exp(x), s, scale=np.exp(-mu))),
    ):
        formula = typed(text, declarations)
        tensor = convert(formula, declarations)
        leaf = leaf_of(declarations, {})
        known = {leaf(Coordinate("s", ())): s}
        known |= {leaf(Coordinate(n, (k,))): v[k] for n, v in (("x", x), ("mu", mu)) for k in range(3)}
        (written,) = written_out(tensor, {}, leaf)
        assert float(written.subs(known)) == pytest.approx(wanted.sum(), rel=1e-12)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("normal(x, mu)", "found 2 arguments of normal(), expected 3: normal(x, mu, sigma)"),
        ("gamma(x, 1)", "found 2 arguments of gamma(), expected 3: gamma(x, shape, rate)"),
        ("normal(x, two, 1)", "found a column [2], expected a column [3]"),
        ("multi_normal(s, 0, 1)", "found scalars in multi_normal(x, mu, Sigma), expected columns"),
        ("mixture(s)", "found 0 densities and weights that are a scalar, expected a density for each weight"),
        (
            "mixture([1/2, 1/4, 1/4], normal(s, 0, 1), normal(s, 1, 1))",
            "found 2 densities and weights that are a column",
        ),
        ("dirichlet(W, 1)", "found a matrix [3, 3] in dirichlet(x, alpha), expected scalars or vectors"),
        ("norml(s, 0, 1)", "'norml' is neither declared nor a function of the language"),
    ],
)
def test_what_does_not_fit_is_said(text: str, problem: str) -> None:
    blocks = (Block("x", Shape(3)), Block("two", Shape(2)), Block("mu", Shape(3)), Block("s"), Block("W", Shape(3, 3)))
    declarations = Declarations(blocks, data=(Datum("row", "N", Shape(None, 3)),))
    with pytest.raises(DocumentError) as raised:
        typed(text, declarations)
    assert problem in str(raised.value)


X, MU, S, W = np.array([0.3, -1.2]), np.array([1.0, 0.5]), 0.7, 0.4
SIGMA = np.array([[2.0, 0.3], [0.3, 1.0]])
JOINT = (
    ("multi_normal(x, mu, Sigma)", stats.multivariate_normal(MU, SIGMA).logpdf(X)),
    ("multi_normal(row, mu, Sigma)", stats.multivariate_normal(MU, SIGMA).logpdf(X)),
    ("multi_normal(x, 0, 2*I)", stats.multivariate_normal([0, 0], 2 * np.eye(2)).logpdf(X)),
    ("multi_normal_cholesky(x, mu, L)", stats.multivariate_normal(MU, SIGMA).logpdf(X)),
    ("dirichlet([w, 1 - w], [2, 3])", stats.dirichlet([2, 3]).logpdf([W, 1 - W])),
    ("normal(row, mu, 2)", stats.norm.logpdf(X, MU, 2).sum()),
    (
        "mixture(w, normal(s, 0, 1), cauchy(s, 1, 2))",
        np.log(W * stats.norm.pdf(S, 0, 1) + (1 - W) * stats.cauchy.pdf(S, 1, 2)),
    ),
    (
        "mixture([w, (1 - w)/2, (1 - w)/2], normal(s, 0, 1), cauchy(s, 1, 2), 2*s - 1)",
        np.log(W * stats.norm.pdf(S) + 0.3 * stats.cauchy.pdf(S, 1, 2) + 0.3 * np.exp(2 * S - 1)),
    ),
    (
        "mixture([w, 1 - w], normal(s, mu, 2))",
        np.log(W * stats.norm.pdf(S, MU[0], 2) + (1 - W) * stats.norm.pdf(S, MU[1], 2)),
    ),
    ("sum(softmax(mu)*x)", (np.exp(MU) / np.exp(MU).sum() * X).sum()),
)


@pytest.mark.parametrize(("text", "wanted"), JOINT)
def test_laws_of_vectors_and_mixtures(text: str, wanted: float) -> None:
    blocks = (Block("x", Shape(2)), Block("mu", Shape(2)), Block("s"), Block("w", SCALAR, Domain(DomainName.POSITIVE)))
    matrices = (Parameter("Sigma", Shape(2, 2), (Kind.PD,)), Parameter("L", Shape(2, 2)))
    declarations = Declarations(blocks, matrices, data=(Datum("row", "N", Shape(None, 2)),))
    formula = typed(text, declarations)
    values = {"x": X, "mu": MU, "s": S, "w": W, "Sigma": SIGMA, "L": np.linalg.cholesky(SIGMA), "row": X}
    columns = {
        name: np.asarray(v, float).reshape(-1, 1) if np.ndim(v) == 1 else np.asarray(v) for name, v in values.items()
    }
    assert float(evaluate(formula, Point({**columns, "row": X.reshape(1, -1)}, {}))) == pytest.approx(wanted, rel=1e-12)
    if "row" in text:
        return
    leaf = leaf_of(declarations, {})
    (written,) = written_out(convert(formula, declarations), {}, leaf)
    known = {s: float(_entry(values, str(s))) for s in written.free_symbols}
    assert float(written.subs(known)) == pytest.approx(wanted, rel=1e-12)


def _entry(values: dict[str, Any], symbol: str) -> float:
    name, *at = re.findall(r"[A-Za-z]+|\d+", symbol)
    return values[name][tuple(map(int, at))] if at else values[name]


def test_lists_are_columns_and_matrices() -> None:
    declarations = Declarations((Block("a"), Block("b")))
    for text, other in (("sum([a, b, 2])", "a + b + 2"), ("[1, 2].T @ [[a, 0], [1, b]] @ [3, 4]", "3*a + 6 + 8*b")):
        found, wanted = (
            evaluate(typed(t, declarations), Point({"a": np.asarray(1.5), "b": np.asarray(-2.0)}, {}))
            for t in (text, other)
        )
        assert float(found) == float(wanted)
    with pytest.raises(DocumentError, match="found rows of different lengths in a list"):
        typed("sum([[1, 2], [3]])", declarations)


def test_gamma_and_beta_are_functions_too() -> None:
    """The number of arguments decides."""
    declarations = Declarations((Block("x"), Block("y")))
    tensor = convert(typed("gamma(x) + beta(x, y)", declarations), declarations)
    assert float(numbers(tensor, declarations, [2.5, 1.5])) == pytest.approx(
        float(mpmath.gamma(2.5) + mpmath.beta(2.5, 1.5))
    )


def test_a_density_outside_of_a_target_is_refused() -> None:
    where = Place("t")
    with pytest.raises(DocumentError, match="only log_prior, log_likelihood and potential take densities"):
        elaborate(parse("-normal(x, 0, 1)", "H", where), Scope(Declarations((Block("x"),))), SCALAR, "H", where)


def test_a_declared_name_wins() -> None:
    declarations = Declarations((Block("normal"), Block("x")))
    with pytest.raises(DocumentError, match="hides the density normal"):
        typed("normal(x, 0, 1)", declarations)


def test_a_draw_far_out_is_certain_and_warns_of_nothing() -> None:
    far, rng = np.array([-800.0, 800.0]), np.random.default_rng(1)
    draw = DENSITIES["bernoulli_logit"].draw
    assert draw is not None
    assert draw(rng, (2,), far).tolist() == [0, 1]


@pytest.mark.parametrize(("name", "other"), [("binomial", 0.25), ("binomial_logit", -1.0)])
def test_trials_are_a_column_of_doubles_as_data_are(name: str, other: float) -> None:
    draw = DENSITIES[name].draw
    assert draw is not None
    n = np.array([47.0, 3.0, 810.0])
    drawn = draw(np.random.default_rng(0), 3, n, np.full(3, other))
    assert (drawn <= n).all()
    assert drawn[2] > 100
    with pytest.raises(ValueError, match="not whole"):
        draw(np.random.default_rng(0), 1, np.array([2.5]), np.array([other]))

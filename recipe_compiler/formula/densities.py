"""The named densities of targets, a row each: all that formulas, proofs and draws know of one.

Names, arguments and their order are Stan's; a value is the logarithm of the normalised density. Formulas are written in
the language, of the arguments: of one entry where `of_entry`, else of the whole vector, whose size is `d`. An omitted
fact is never used.

    normal(x, mu, sigma)        log N(x | mu, sigma**2), a scalar
    normal(y, mu, tau)          of columns: the sum over their entries; a scalar among columns is used for each entry

`density_terms` expands a call, and `docs/spec_reference.md` lists the rows.
"""

# Draws are called with arrays of NumPy's, which is not imported here.

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from recipe_compiler.formula.constraints import Constraint
from recipe_compiler.formula.shapes import Kind

if TYPE_CHECKING:
    import numpy as np

    from recipe_compiler.formula.arrays import Array

    Draw = Callable[..., Array]
    """(generator, size of the draw, arguments but the first) to a draw."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """f(x, ...) <= at_most for all admissible values of the arguments `over`, the others fixed; f is the log density.

    log N(x | mu, sigma**2) <= -log(sigma) - log(2*pi)/2 over x and mu.
    """

    over: tuple[str, ...]
    at_most: str


INVERSE, POWERS, EXPONENTIALS = "E x**-k", "E x**k", "E exp(t x)"
"""Moments of a law, for all k > 0 and all t."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Density:
    """A named probability density, or mass, of its first argument."""

    name: str
    arguments: tuple[str, ...]
    words: str
    """What `help` says it is the law of."""
    value: str
    """The logarithm of the density."""
    support: tuple[str, ...] = ()
    """Comparisons that the first argument satisfies; elsewhere the density is 0."""
    discrete: bool = False
    """Whether the support is of whole numbers only: the density is then with respect to counting."""
    values: tuple[int, ...] = ()
    """The support of a discrete law, where it is the same few numbers for all arguments."""
    needs: tuple[str, ...] = ()
    """Comparisons that the other arguments have to satisfy; of a matrix its kind, `Sigma is positive definite`."""
    of_entry: bool = True
    """Whether `value` is of one entry; else the arguments are a column, and columns or matrices of its size."""
    matrices: tuple[str, ...] = ()
    """The arguments that are square matrices."""
    of_set: Constraint | None = None
    """The set that the first argument has to lie in: a block does by its constraint alone."""
    index: bool = False
    """Whether the first argument is an index field of the data, a position among the entries of the others."""
    at_size: Callable[[int], str] | None = None
    """`value` in the language's text where that is written out for each size, which then has to be a number."""
    increasing: str = ""
    """The argument whose entries have to increase, cuts between the positions of the first."""
    factor: str = ""
    """The argument that is a lower triangle. One of the state is solved with, row by row, by the formula itself."""
    proper: bool = True
    """Whether it has the integral (sum) 1 over its support, for all admissible values of the others."""
    bounds: tuple[Bound, ...] = ()
    """The least that there are."""
    ceilings: tuple[str, ...] = ()
    """What the log density is never above, for all admissible arguments; not the least that there is."""
    moments: frozenset[str] = frozenset()
    """Which are finite, whatever the other arguments are, over x > 0: INVERSE, POWERS; of any x: EXPONENTIALS."""
    location: str = ""
    """The argument mu of a density of (x - mu)/sigma; of log(x) less mu where `of_logarithm`."""
    scale: str = ""
    """Its sigma; of vectors a covariance matrix, or its factor."""
    tail: str = ""
    """k, where that density falls as abs(x)**-(k + 1); empty where it falls as exp(-abs(x)) at least."""
    at_zero: str = ""
    """The log probability of 0, of the other arguments."""
    of_logarithm: bool = False
    written: tuple[tuple[str, str], ...] = ()
    """Other ways to write it but for a constant, and what its scale is then, of the same arguments."""
    draw: "Draw"

    @property
    def sized_by(self) -> str:
        """The argument whose rows are the size `d`."""
        return self.increasing or self.arguments[0]

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """What every draw is, almost surely, by the support."""
        x = self.arguments[0]
        nonnegative = f"{x} > 0" in self.support or f"{x} >= 0" in self.support
        whole = self.discrete or self.index
        positive = f"{x} > 0" in self.support or (nonnegative and not whole)
        held = {
            Kind.POSITIVE: positive,
            Kind.NONNEGATIVE: nonnegative or self.index,
            Kind.NONZERO: not whole,
            Kind.INTEGER: whole,
        }
        return (Kind.REAL, *(kind for kind, holds in held.items() if holds))

    @property
    def call(self) -> str:
        """The call as it is written: `normal(x, mu, sigma)`."""
        return f"{self.name}({', '.join(self.arguments)})"


def _lkj(d: int) -> str:
    """Return the log density of Cholesky factors of d rows (Lewandowski, Kurowicka, Joe 2009, Eq. 16, times dR/dL)."""
    return " + ".join(
        f"({d - k - 3} + 2*eta)*log(L[{k}, {k}]) - {k}/2*log(pi)"
        f" - loggamma(eta + {d - 1 - k}/2) + loggamma(eta + {d - 1}/2)"
        for k in range(1, d)
    )


def _grades(d: int) -> str:
    """Return the log probability of a grade: s(a) - s(b) = s(a) s(-b) (1 - exp(b - a)), s the sigmoid."""
    above = ["", *(f" - softplus(c[{k}] - eta)" for k in range(d))]
    below = [*(f" - softplus(eta - c[{k}])" for k in range(d)), ""]
    apart = ["", *(f" + log(-expm1(c[{k}] - c[{k + 1}]))" for k in range(d - 1)), ""]
    grades = ("".join(parts).strip() for parts in zip(above, below, apart, strict=True))
    return " + ".join(f"y[{k}]*({grade})" for k, grade in enumerate(grades))


def _grade_draw(rng: "np.random.Generator", size: Any, eta: Any, c: Any) -> Any:
    """Return how many cuts are below eta and logistic noise; the cuts lie along the last axis."""
    latent = eta.reshape(-1) + rng.logistic(size=size)
    return (latent[:, None] > c).sum(axis=-1)


def _lkj_draw(rng: "np.random.Generator", d: int, eta: Any) -> Any:
    """Return a factor made of its partial correlations, 2 beta(b, b) - 1, b falling from column to column."""
    import numpy as np

    L = np.zeros((d, d))
    for i in range(d):
        left = 1.0
        for j in range(i):
            b = float(eta) + (d - 2 - j) / 2
            z = 2 * rng.beta(b, b) - 1
            L[i, j], left = z * left, left * np.sqrt(1 - z**2)
        L[i, i] = left
    return L


def _row(
    call: str, words: str, value: str, *, support: str = "", needs: str = "", bounds: Mapping[str, str] | None = None,
    moments: tuple[str, ...] = (), discrete: bool = False, **said: Any,
) -> Density:  # fmt: skip
    """Return a row: commas part comparisons, bounds are by the arguments that they are over; a probability is <= 1."""
    name, _, arguments = call.removesuffix(")").partition("(")
    known = bounds or ({arguments.replace(",", ""): "0"} if discrete else {})
    return Density(
        name=name, arguments=_split(arguments), words=words, value=value, support=_split(support), needs=_split(needs),
        bounds=tuple(Bound(over=tuple(over.split()), at_most=text) for over, text in known.items()),
        moments=frozenset(moments), discrete=discrete, **said,
    )  # fmt: skip


def _split(text: str) -> tuple[str, ...]:
    return tuple(filter(None, text.split(", ")))


_ROWS = (
    _row(
        "normal(x, mu, sigma)", "the normal distribution, mean mu, sd sigma",
        "-((x - mu)/sigma)**2/2 - log(sigma) - log(2*pi)/2", needs="sigma > 0",
        bounds={"x mu": "-log(sigma) - log(2*pi)/2"},
        moments=(POWERS, EXPONENTIALS),
        location="mu", scale="sigma",
        written=(
            ("log(sigma)/2 - sigma*(x - mu)**2/2", "sigma**(-1/2)"),
            ("-log(sigma)/2 - (x - mu)**2/(2*sigma)", "sqrt(sigma)"),
            ("-sigma - (x - mu)**2*exp(-2*sigma)/2", "exp(sigma)"),
            ("-sigma/2 - (x - mu)**2*exp(-sigma)/2", "exp(sigma/2)"),
        ),
        draw=lambda rng, size, mu, sigma: rng.normal(mu, sigma, size),
    ),
    _row(
        "student_t(x, nu, mu, sigma)",
        "Student's t distribution, nu degrees of freedom, location mu, scale sigma",
        "loggamma((nu + 1)/2) - loggamma(nu/2) - log(nu*pi)/2 - log(sigma)"
        " - (nu + 1)/2*log1p(((x - mu)/sigma)**2/nu)",
        needs="nu > 0, sigma > 0",
        bounds={
            "x mu": "loggamma((nu + 1)/2) - loggamma(nu/2) - log(nu*pi)/2 - log(sigma)",
            "x nu mu": "-log(sigma) - log(2*pi)/2",  # Gamma(z + 1/2) < sqrt(z) Gamma(z)
        },
        location="mu", scale="sigma", tail="nu",
        draw=lambda rng, size, nu, mu, sigma: mu + sigma * rng.standard_t(nu, size),
    ),
    _row(
        "cauchy(x, mu, sigma)", "the Cauchy distribution, location mu, scale sigma",
        "-log1p(((x - mu)/sigma)**2) - log(sigma) - log(pi)", needs="sigma > 0",
        bounds={"x mu": "-log(sigma) - log(pi)"},
        location="mu", scale="sigma", tail="1",
        draw=lambda rng, size, mu, sigma: mu + sigma * rng.standard_cauchy(size),
    ),
    _row(
        "half_normal(x, sigma)", "abs(z), z ~ normal(0, sigma)",
        "-(x/sigma)**2/2 - log(sigma) + log(2/pi)/2", support="x >= 0", needs="sigma > 0",
        bounds={"x": "log(2/pi)/2 - log(sigma)"},
        moments=(POWERS, EXPONENTIALS),
        draw=lambda rng, size, sigma: abs(rng.normal(0.0, sigma, size)),
    ),
    _row(
        "half_cauchy(x, sigma)", "abs(z), z ~ cauchy(0, sigma)",
        "-log1p((x/sigma)**2) - log(sigma) + log(2/pi)", support="x >= 0", needs="sigma > 0",
        bounds={"x": "log(2/pi) - log(sigma)"},
        draw=lambda rng, size, sigma: abs(sigma * rng.standard_cauchy(size)),
    ),
    _row(
        "half_student_t(x, nu, sigma)", "abs(z), z ~ student_t(nu, 0, sigma)",
        "loggamma((nu + 1)/2) - loggamma(nu/2) - log(nu*pi)/2 + log(2) - log(sigma)"
        " - (nu + 1)/2*log1p((x/sigma)**2/nu)",
        support="x >= 0", needs="nu > 0, sigma > 0",
        bounds={"x": "loggamma((nu + 1)/2) - loggamma(nu/2) - log(nu*pi)/2 + log(2) - log(sigma)"},
        draw=lambda rng, size, nu, sigma: abs(sigma * rng.standard_t(nu, size)),
    ),
    _row(
        "gamma(x, shape, rate)", "the gamma distribution, shape and rate",
        "(shape - 1)*log(x) - rate*x + shape*log(rate) - loggamma(shape)", support="x > 0",
        needs="shape > 0, rate > 0",
        bounds={"rate": "shape*log(shape) - shape - log(x) - loggamma(shape)"},
        ceilings=("log(shape)/2 - log(x) - log(2*pi)/2",),  # log Gamma(a) >= (a - 1/2) log a - a + log(2 pi)/2
        moments=(POWERS,),
        draw=lambda rng, size, shape, rate: rng.gamma(shape, 1 / rate, size),
    ),
    _row(
        "inverse_gamma(x, shape, scale)", "1/z, z ~ gamma(shape, scale)",
        "shape*log(scale) - loggamma(shape) - (shape + 1)*log(x) - scale/x", support="x > 0",
        needs="shape > 0, scale > 0",
        bounds={
            "x": "(shape + 1)*log(shape + 1) - (shape + 1) - log(scale) - loggamma(shape)",
            "scale": "shape*log(shape) - shape - log(x) - loggamma(shape)",
        },
        ceilings=("log(shape)/2 - log(x) - log(2*pi)/2",),
        moments=(INVERSE,),
        draw=lambda rng, size, shape, scale: scale / rng.standard_gamma(shape, size),
    ),
    _row(
        "beta(x, a, b)", "the beta distribution, shapes a and b",
        "(a - 1)*log(x) + (b - 1)*log1p(-x) + loggamma(a + b) - loggamma(a) - loggamma(b)",
        support="x > 0, x < 1", needs="a > 0, b > 0",
        ceilings=tuple(f"log({a})/2 - log(x) - log1p(-x) - log(2*pi)/2" for a in ("a", "b", "a + b")),  # by the same
        moments=(POWERS, EXPONENTIALS),
        draw=lambda rng, size, a, b: rng.beta(a, b, size),
    ),
    _row(
        "exponential(x, rate)", "the exponential distribution, rate",
        "log(rate) - rate*x", support="x >= 0", needs="rate > 0",
        bounds={"x": "log(rate)"},  # at x = 0 there is none over the rate
        moments=(POWERS,),
        draw=lambda rng, size, rate: rng.exponential(1 / rate, size),
    ),
    _row(
        "lognormal(x, mu, sigma)", "exp(z), z ~ normal(mu, sigma)",
        "-((log(x) - mu)/sigma)**2/2 - log(x) - log(sigma) - log(2*pi)/2", support="x > 0",
        needs="sigma > 0",
        bounds={
            "mu": "-log(x) - log(sigma) - log(2*pi)/2",
            "x": "sigma**2/2 - mu - log(sigma) - log(2*pi)/2",
        },
        moments=(INVERSE, POWERS),
        location="mu", scale="sigma", of_logarithm=True,
        draw=lambda rng, size, mu, sigma: rng.lognormal(mu, sigma, size),
    ),
    _row(
        "laplace(x, mu, sigma)", "the Laplace distribution, location mu, scale sigma",
        "-abs(x - mu)/sigma - log(2*sigma)", needs="sigma > 0",
        bounds={"x mu": "-log(2*sigma)"},
        moments=(POWERS,),
        location="mu", scale="sigma", written=(("-abs(x - mu)/sigma - log(sigma)", "sigma"),),
        draw=lambda rng, size, mu, sigma: rng.laplace(mu, sigma, size),
    ),
    _row(
        "logistic(x, mu, sigma)", "the logistic distribution, location mu, scale sigma",
        "(mu - x)/sigma - 2*softplus((mu - x)/sigma) - log(sigma)", needs="sigma > 0",
        bounds={"x mu": "-log(4*sigma)"},
        moments=(POWERS,),
        location="mu", scale="sigma",
        draw=lambda rng, size, mu, sigma: rng.logistic(mu, sigma, size),
    ),
    _row(
        "weibull(x, alpha, sigma)", "the Weibull distribution, shape alpha, scale sigma",
        "(alpha - 1)*log(x/sigma) - exp(alpha*log(x/sigma)) + log(alpha/sigma)", support="x > 0",
        needs="alpha > 0, sigma > 0",
        bounds={"sigma": "log(alpha) - log(x) - 1"},
        moments=(POWERS,),
        draw=lambda rng, size, alpha, sigma: sigma * rng.weibull(alpha, size),
    ),
    _row(
        "uniform(x, a, b)", "the uniform distribution between a and b",
        "-log(b - a)", support="x >= a, x <= b", needs="b > a",
        bounds={"x": "-log(b - a)"},
        moments=(POWERS, EXPONENTIALS),
        draw=lambda rng, size, a, b: rng.uniform(a, b, size),
    ),
    _row(
        "bernoulli(y, p)", "0 or 1, with P(1) = p",
        "y*log(p) + (1 - y)*log1p(-p)", support="y >= 0, y <= 1", values=(0, 1),
        needs="p > 0, p < 1", discrete=True,
        draw=lambda rng, size, p: rng.binomial(1, p, size),
    ),
    _row(
        "bernoulli_logit(y, eta)", "0 or 1, with log odds eta",
        "y*eta - softplus(eta)", support="y >= 0, y <= 1", values=(0, 1), discrete=True,
        draw=lambda rng, size, eta: rng.binomial(1, _sigmoid(eta), size),
    ),
    _row(
        "binomial(y, n, p)", "successes in n trials, each with probability p",
        "y*log(p) + (n - y)*log1p(-p) + loggamma(n + 1) - loggamma(y + 1) - loggamma(n - y + 1)",
        support="y >= 0, y <= n", needs="n >= 0, p > 0, p < 1", discrete=True,
        draw=lambda rng, size, n, p: rng.binomial(_trials(n), p, size),
    ),
    _row(
        "binomial_logit(y, n, eta)", "successes in n trials, each with log odds eta",
        "y*eta - n*softplus(eta) + loggamma(n + 1) - loggamma(y + 1) - loggamma(n - y + 1)",
        support="y >= 0, y <= n", needs="n >= 0", discrete=True,
        draw=lambda rng, size, n, eta: rng.binomial(_trials(n), _sigmoid(eta), size),
    ),
    _row(
        "poisson(y, mu)", "the Poisson distribution, mean mu",
        "y*log(mu) - mu - loggamma(y + 1)", support="y >= 0", needs="mu > 0", discrete=True, at_zero="-mu",
        draw=lambda rng, size, mu: rng.poisson(mu, size),
    ),
    _row(
        "poisson_log(y, eta)", "the Poisson distribution, mean exp(eta)",
        "y*eta - exp(eta) - loggamma(y + 1)", support="y >= 0", discrete=True, at_zero="-exp(eta)",
        draw=lambda rng, size, eta: rng.poisson(_exp(eta), size),
    ),
    _row(
        "neg_binomial_2(y, mu, phi)",
        "the negative binomial distribution, mean mu, variance mu + mu**2/phi",
        "loggamma(y + phi) - loggamma(phi) - loggamma(y + 1) - phi*log1p(mu/phi) - y*log1p(phi/mu)",
        support="y >= 0", needs="mu > 0, phi > 0", discrete=True,
        draw=lambda rng, size, mu, phi: rng.negative_binomial(phi, 1 / (1 + mu / phi), size),
    ),
    _row(
        "neg_binomial_2_log(y, eta, phi)",
        "the negative binomial distribution, mean exp(eta), variance exp(eta) + exp(2*eta)/phi",
        "loggamma(y + phi) - loggamma(phi) - loggamma(y + 1)"
        " - phi*softplus(eta - log(phi)) - y*softplus(log(phi) - eta)",
        support="y >= 0", needs="phi > 0", discrete=True,
        draw=lambda rng, size, eta, phi: rng.negative_binomial(phi, 1 / (1 + _exp(eta) / phi), size),
    ),
    _row(
        "beta_binomial(y, n, a, b)",
        "successes in n trials of one probability p ~ beta(a, b)",
        "loggamma(y + a) + loggamma(n - y + b) - loggamma(n + a + b)"
        " + loggamma(a + b) - loggamma(a) - loggamma(b) + loggamma(n + 1) - loggamma(y + 1) - loggamma(n - y + 1)",
        support="y >= 0, y <= n", needs="n >= 0, a > 0, b > 0", discrete=True,
        draw=lambda rng, size, n, a, b: rng.binomial(_trials(n), rng.beta(a, b, size), size),
    ),
    _row(
        "zero_inflated_poisson(y, w, mu)",
        "0 with probability w, else poisson(mu)",
        "where(y == 0, log(w + (1 - w)*exp(-mu)), log1p(-w) + y*log(mu) - mu - loggamma(y + 1))",
        support="y >= 0", needs="w > 0, w < 1, mu > 0", discrete=True,
        draw=lambda rng, size, w, mu: rng.poisson(mu, size) * rng.binomial(1, 1 - w, size),
    ),
    _row(
        "zero_inflated_neg_binomial_2(y, w, mu, phi)",
        "0 with probability w, else neg_binomial_2(mu, phi)",
        "where(y == 0, log(w + (1 - w)*exp(-phi*log1p(mu/phi))), log1p(-w) + loggamma(y + phi) - loggamma(phi)"
        " - loggamma(y + 1) - phi*log1p(mu/phi) - y*log1p(phi/mu))",
        support="y >= 0", needs="w > 0, w < 1, mu > 0, phi > 0", discrete=True,
        draw=lambda rng, size, w, mu, phi: rng.negative_binomial(phi, 1 / (1 + mu / phi), size)
        * rng.binomial(1, 1 - w, size),
    ),
    _row(
        "zero_inflated_binomial(y, w, n, p)",
        "0 with probability w, else binomial(n, p)",
        "where(y == 0, log(w + (1 - w)*exp(n*log1p(-p))), log1p(-w) + y*log(p) + (n - y)*log1p(-p)"
        " + loggamma(n + 1) - loggamma(y + 1) - loggamma(n - y + 1))",
        support="y >= 0, y <= n", needs="n >= 0, w > 0, w < 1, p > 0, p < 1", discrete=True,
        draw=lambda rng, size, w, n, p: rng.binomial(_trials(n), p, size) * rng.binomial(1, 1 - w, size),
    ),
    _row(
        "multi_normal(x, mu, Sigma)", "the normal distribution, mean mu, covariance Sigma",
        "-(x - mu).T @ inv(Sigma) @ (x - mu)/2 - logdet(Sigma)/2 - d*log(2*pi)/2",
        of_entry=False, matrices=("Sigma",),
        bounds={"x mu": "-logdet(Sigma)/2 - d*log(2*pi)/2"},
        location="mu", scale="Sigma",
        draw=lambda rng, size, mu, Sigma: rng.multivariate_normal(mu, Sigma, size, method="cholesky"),
    ),
    _row(
        "multi_normal_cholesky(x, mu, L)",
        "the normal distribution, mean mu, covariance L @ L.T",
        "-(inv(L) @ (x - mu)).T @ (inv(L) @ (x - mu))/2 - log(abs(det(L))) - d*log(2*pi)/2",
        of_entry=False, matrices=("L",), factor="L",
        bounds={"x mu": "-log(abs(det(L))) - d*log(2*pi)/2"},
        location="mu", scale="L",
        draw=lambda rng, size, mu, L: mu + rng.standard_normal((size, len(mu))) @ L.T,
    ),
    _row(
        "dirichlet(x, alpha)", "the Dirichlet distribution of shares x that sum to 1",
        "sum((alpha - 1)*log(x)) + loggamma(sum(alpha)) - sum(loggamma(alpha))", support="x > 0",
        needs="alpha > 0", of_entry=False, of_set=Constraint.SIMPLEX,
        proper=False,  # over all x: of what is no block it is not looked at that they add up to 1
        draw=lambda rng, size, alpha: rng.dirichlet(alpha, size),
    ),
    _row(
        "categorical_logit(y, eta)", "a position, with log weights eta",
        "y.T @ eta - log(sum(exp(eta)))", of_entry=False, discrete=True, index=True,
        draw=lambda rng, size, eta: (eta + rng.gumbel(size=(size, eta.shape[-1]))).argmax(axis=-1),
    ),
    _row(
        "ordered_logistic(y, eta, c)",
        "a grade: the number of d cuts c[0] < ... < c[d - 1] below eta plus logistic noise",
        "log(sigmoid(c[y] - eta) - sigmoid(c[y - 1] - eta)), c[-1] being -oo and c[d] oo",
        of_entry=False, discrete=True, index=True, increasing="c", at_size=_grades,
        draw=_grade_draw,
    ),
    _row(
        "lkj_cholesky(L, eta)",
        "the Cholesky factor of a correlation matrix with density proportional to det**(eta - 1)",
        "sum over k = 1, ..., d - 1 of (d - k - 3 + 2*eta)*log(L[k, k]) - k/2*log(pi)"
        " - loggamma(eta + (d - 1 - k)/2) + loggamma(eta + (d - 1)/2)",
        needs="eta > 0", of_entry=False, matrices=("L",), of_set=Constraint.CHOLESKY_CORR, at_size=_lkj,
        draw=lambda rng, size, eta: _lkj_draw(rng, size[0], eta),
    ),
)  # fmt: skip


def _exp(x: Any) -> Any:
    import numpy as np

    with np.errstate(over="ignore"):  # oo is right below a fraction, and no rate: NumPy refuses it
        return np.exp(x)


def _trials(n: Any) -> Any:
    """Return numbers of trials as whole numbers, which data are as doubles; ValueError where one is none."""
    import numpy as np

    if not (np.floor(n) == n).all():
        raise ValueError("a number of trials is not whole")
    return np.asarray(n).astype(np.int64)


def _sigmoid(x: Any) -> Any:
    return 1 / (1 + _exp(-x))


DENSITIES: Mapping[str, Density] = {row.name: row for row in _ROWS}

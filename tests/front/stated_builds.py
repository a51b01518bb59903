"""Builds that are shipped, stated in Python as a user would: formulas are objects, or texts of the language.

They run the branches of `front` and `spec` that statements of all shipped builds run.
"""

from fractions import Fraction
from functools import cache

import recipe_compiler as rc
from recipe_compiler import I, grad, inv, log, ones

theta, r = rc.vector("theta", "d"), rc.vector("r", "d")
U = rc.function("U", of=theta, role="potential")
HALF, THIRD, QUARTER = Fraction(1, 2), Fraction(1, 3), Fraction(1, 4)


# dynamics


def sghmc() -> rc.Dynamics:
    M = rc.matrix("M", "d", "d", is_="positive definite")
    C = rc.matrix("C", "d", "d", is_="positive semidefinite")
    return rc.Dynamics(
        name="sghmc",
        title="Stochastic gradient Hamiltonian Monte Carlo",
        references=["chen2014sghmc", "ma2015recipe"],
        state=[theta, r],
        H=U(theta) + r.T @ inv(M) @ r / 2,
        D=[[0, 0], [0, C]],
        Q=[[0, -I], [I, 0]],
        claims={
            "drift": {theta: inv(M) @ r, r: -grad(U, theta) - C @ inv(M) @ r},
            "marginal": {theta: U(theta)},
        },
    )


def hmc() -> rc.Dynamics:
    M = rc.matrix("M", "d", "d", is_="positive definite")
    return rc.Dynamics(
        name="hmc",
        title="Hamiltonian Monte Carlo",
        references=["duane1987hmc", "neal2011hmc", "ma2015recipe"],
        state=[theta, r],
        H=U(theta) + r.T @ inv(M) @ r / 2,
        D=[[0, 0], [0, 0]],
        Q=[[0, -I], [I, 0]],
        claims={"drift": {theta: inv(M) @ r, r: -grad(U, theta)}, "marginal": {theta: U(theta)}},
    )


def still() -> rc.Dynamics:
    return rc.Dynamics(
        name="still",
        title="Exact draws alone",
        references=["geman1984stochastic", "gelfand1990sampling"],
        state=[theta],
        H=U(theta),
        D=[[0]],
        Q=[[0]],
        claims={"drift": {theta: 0}, "marginal": {theta: U(theta)}},
    )


def sgrld() -> rc.Dynamics:
    G = rc.function("G_inverse", of=theta, shape=("d", "d"), is_="positive definite")
    return rc.Dynamics(
        name="sgrld",
        title="Stochastic gradient Riemannian Langevin dynamics",
        references=["patterson2013sgrld", "girolami2011rmhmc", "ma2015recipe"],
        state=[theta],
        H=U(theta),
        D=[[G(theta)]],
        Q=[[0]],
        claims={
            "drift": {theta: -G(theta) @ grad(U, theta) + rc.div(G(theta), theta)},
            "marginal": {theta: U(theta)},
        },
    )


def sgrld_positive() -> rc.Dynamics:
    theta = rc.vector("theta", "d", domain="positive")
    U = rc.function("U", of=theta, role="potential")
    return rc.Dynamics(
        name="sgrld_positive",
        title="SGRLD for positive coordinates",
        references=["patterson2013sgrld", "baker2018"],
        state=[theta],
        H=U(theta),
        D=[[rc.diag(theta)]],
        Q=[[0]],
        claims={"drift": {theta: ones - theta * grad(U, theta)}, "marginal": {theta: U(theta)}},
    )


def sghmc_lognormal_friction() -> rc.Dynamics:
    x = rc.vector("x", "d", domain="positive")
    kappa, v, m = rc.scalar("kappa", is_="positive"), rc.scalar("v", is_="positive"), rc.vector("m", "d")
    return rc.Dynamics(
        name="sghmc_lognormal_friction",
        title="Langevin dynamics with lognormal friction",
        references=["uhlenbeck1930", "ma2015recipe"],
        state=[theta, r, x],
        parameters=[kappa, m, v],
        H=U(theta) + r.T @ r / 2 + rc.norm2(log(x) - m) / (2 * v) + rc.sum_(log(x)),
        D=[[0, 0, 0], [0, rc.diag(x), 0], [0, 0, rc.diag(kappa * v * x**2)]],
        Q=[[0, -I, 0], [I, 0, 0], [0, 0, 0]],
        claims={
            "drift": {theta: r, r: -grad(U, theta) - x * r, x: kappa * x * (m - log(x)) + kappa * v * x},
            "marginal": {theta: U(theta)},
        },
    )


# targets


def positive(name: str, default: object = None) -> object:
    return rc.scalar(name, is_="positive", default=default)


def banana() -> rc.Target:
    theta, spread, bend = rc.vector("theta", 2), positive("spread", 2), rc.scalar("bend", default="1/4")
    return rc.Target(
        name="banana",
        title="Banana in the plane",
        state=[theta],
        potential=theta[0] ** 2 / (2 * spread**2) + (theta[1] - bend * (theta[0] ** 2 - spread**2)) ** 2 / 2,
    )


def categories() -> rc.Target:
    theta = rc.vector("theta", "d", domain="positive")
    alpha, n = rc.vector("alpha", "d", is_="positive"), rc.vector("n", "d", is_="nonnegative")
    return rc.Target(
        name="categories",
        title="Categories in the expanded-mean form",
        references=["patterson2013sgrld", "baker2018"],
        state=[theta],
        potential=rc.sum_(theta) - rc.sum_((alpha - ones + n) * log(theta)) + rc.sum_(n) * log(rc.sum_(theta)),
    )


def varying_intercepts() -> rc.Target:
    mu, alpha, beta = rc.scalar("mu"), rc.vector("alpha", "J"), rc.vector("beta", "p")
    return rc.Target(
        name="varying_intercepts",
        title="Regression with varying intercepts",
        state=[mu, alpha, beta],
        data=[rc.data("g", "N", index_of="J"), rc.data("x", "N", "p"), rc.data("y", "N")],
        parameters=[positive("prior_variance", 25), positive("group_variance", 1), positive("noise_variance", "1/2")],
        log_prior="-mu**2/(2*prior_variance) - norm2(alpha)/(2*group_variance) - norm2(beta)/(2*prior_variance)",
        log_likelihood="-(y - mu - alpha[g] - x @ beta)**2/(2*noise_variance)",
    )


def gaussian() -> rc.Target:
    mu, Sigma = rc.vector("mu", "d"), rc.matrix("Sigma", "d", "d", is_="positive definite")
    return rc.Target(
        name="gaussian",
        title="Gaussian with mean mu and covariance Sigma",
        state=[theta],
        potential=(theta - mu).T @ inv(Sigma) @ (theta - mu) / 2,
    )


def ordered_mixture() -> rc.Target:
    w, mu = rc.vector("w", "K", constraint="simplex"), rc.vector("mu", "K", constraint="ordered")
    y, a = rc.data("y", "N"), positive("a", 2)
    scale, sigma = positive("mean_scale", 5), positive("sigma", 1)
    return rc.Target(
        name="ordered_mixture",
        title="Mixture of K normal laws with unknown weights, in the order of their means",
        state=[w, mu],
        data=[y],
        parameters=[a, scale, sigma],
        log_prior="(a - 1)*sum(log(w)) + normal(mu, 0, mean_scale)",
        log_likelihood=rc.logsumexp(log(w) - (y * ones - mu) ** 2 / (2 * sigma**2)),
    )


def regression_precision() -> rc.Target:
    beta, tau = rc.vector("beta", "p"), rc.scalar("tau", domain="positive", transform="log")
    x, y, m = rc.data("x", "N", "p"), rc.data("y", "N"), rc.vector("m", "p", default=0)
    S = rc.matrix("S", "p", "p", is_="positive definite", default=10 * I)
    shape, rate = positive("shape", "1/2"), positive("rate", "1/2")
    return rc.Target(
        name="regression_precision",
        title="Bayesian linear regression, coefficients and precision",
        references=["lindley1972linear", "gelfand1990sampling"],
        state=[beta, tau],
        data=[x, y],
        parameters=[m, S, shape, rate],
        log_prior="-(beta - m).T @ inv(S) @ (beta - m)/2 + (shape - 1)*log(tau) - rate*tau",
        log_likelihood="log(tau)/2 - tau*(y - x @ beta)**2/2",
        laws={
            beta: "N(inv(tau*x.T @ x + inv(S)) @ (tau*x.T @ y + inv(S) @ m), inv(tau*x.T @ x + inv(S)))",
            tau: "Gamma(shape + N/2, rate + norm2(y - x @ beta)/2)",
        },
    )


def mixture_allocations() -> rc.Target:
    theta = rc.vector("theta", "K", domain="positive", transform="log")
    mu, z = rc.vector("mu", "K"), rc.matrix("z", "N", "K", domain="one_hot")
    y, a = rc.data("y", "N"), positive("a", 1)
    variance, mean_variance = positive("variance", 1), positive("mean_variance", 4)
    S = "inv(diag(z.T @ ones)/variance + I/mean_variance)"
    return rc.Target(
        name="mixture_allocations",
        title="Mixture of K normal laws, with the component of each datum",
        references=["diebolt1994mixture"],
        state=[theta, mu, z],
        data=[y],
        parameters=[a, variance, mean_variance],
        log_prior="(a - 1)*sum(log(theta)) - sum(theta) - norm2(mu)/(2*mean_variance)",
        log_likelihood="z @ log(theta) - (y - z @ mu)**2/(2*variance)",
        laws={
            theta: "Gamma(a*ones + z.T @ ones, 1)",
            mu: f"N({S} @ (z.T @ y/variance), {S})",
            z: "Categorical(ones @ log(theta).T - (y @ ones.T - ones @ mu.T)**2/(2*variance))",
        },
        derived={"weight": "theta/sum(theta)"},
    )


def dp_mixture() -> rc.Target:
    v, p = (rc.vector(name, "J", domain="interval(0, 1)", transform="logit") for name in ("v", "p"))
    alpha, z = rc.scalar("alpha", domain="positive", transform="log"), rc.matrix("z", "N", "J", domain="one_hot")
    one, other = (rc.data(name, "N", is_="nonnegative") for name in ("one", "other"))
    before = rc.matrix("before", "J", "J", is_="nonnegative")
    return rc.Target(
        name="dp_mixture",
        title="Dirichlet process mixture of choices between two items",
        references=["ishwaran2001gibbs"],
        state=[v, alpha, p, z],
        data=[one, other],
        parameters=[before, positive("a", "1/2"), positive("b1", 2), positive("b2", 2)],
        assume=["normalisable"],
        log_prior="J*log(alpha) + (alpha - 1)*sum(log(ones - v)) + gamma(alpha, b1, b2) + beta(p, a, a)",
        log_likelihood="z @ (log(v) + before @ log(ones - v) + one*log(p) + other*log(ones - p))",
        laws={
            v: "Beta(ones + z.T @ ones, alpha*ones + before.T @ z.T @ ones)",
            alpha: "Gamma(b1 + J, b2 - sum(log(ones - v)))",
            p: "Beta(a*ones + z.T @ one, a*ones + z.T @ other)",
            z: "Categorical(ones @ (log(v) + before @ log(ones - v)).T + one @ log(p).T + other @ log(ones - p).T)",
        },
        derived={"left": "exp(sum(log(ones - v)))"},
    )


def softmax_regression() -> rc.Target:
    W, x, y = rc.matrix("W", "K", "p"), rc.data("x", "N", "p"), rc.data("y", "N", "K", values=[0, 1])
    return rc.Target(
        name="softmax_regression",
        title="Bayesian softmax regression",
        state=[W],
        data=[x, y],
        log_prior=-rc.trace(W @ W.T) / (2 * positive("prior_variance", 10)),
        log_likelihood=y @ (W @ x.T) - rc.logsumexp(W @ x.T),
    )


# builds

m, c = rc.scalar("m", is_="positive"), rc.scalar("c", is_="nonnegative")
FIRST_R = {"scheme": "sequential_euler", "order": [r, theta]}
FOUR = {"chains": 4, "seed": 1}


def scalar_sghmc(name: str, title: str, target: rc.Target, friction: int, **more: object) -> rc.Build:
    """State SGHMC with scalar mass and friction."""
    values = {m: 1, c: friction, **more.pop("parameters", {})}
    return rc.Build(
        name=name, title=title, dynamics=sghmc(), target=target, bind={"M": m * I, "C": c * I}, parameters=values,
        **{"draws": 4000, "warmup": 1000, **FIRST_R, **FOUR, **more},
    )  # fmt: skip


LEAPFROG = ["B/2", "A", "B/2"]


SCALED = {"theta": "theta*exp(w)", "w": "-w"}


@cache
def builds() -> tuple[rc.Build, ...]:
    """Return all of them."""
    e_1, e_2, mass = rc.vector("e_1", "d"), rc.vector("e_2", "d"), rc.scalar("mass", is_="positive")
    s, b = rc.scalar("s", is_="positive"), rc.scalar("b")
    bent = e_1 + b * theta[0] * e_2
    return (
        rc.Build(
            name="slice_dp_mixture", title="Slice sampling, Dirichlet process mixture", dynamics=still(),
            references=["walker2007sampling", "neal2003slice"], target=dp_mixture(),
            parameters={"before": [[int(j < k) for j in range(20)] for k in range(20)]}, sizes={"J": 20},
            scheme={
                "cycle": [
                    {"draw": "v"}, {"draw": "p"}, {"draw": "alpha"},
                    {
                        "draw": "z", "slice": "log(v) + before @ log(ones - v)", "left": "sum(log(ones - v))",
                    },
                ]
            },
            data={"file": "../data/few_choices.csv", "one": "one", "other": "other"}, step_size=1, draws=2000,
            warmup=200, thin=20, **FOUR,
        ),
        rc.Build(
            name="gibbs_mixture", title="Gibbs sampling, mixture of two normal laws", dynamics=still(),
            references=["geman1984stochastic", "diebolt1994mixture"], target=mixture_allocations(),
            scheme={"cycle": [{"draw": "theta"}, {"draw": "mu"}, {"draw": "z"}]}, sizes={"K": 2},
            data={"file": "../data/few_of_two_groups.csv", "y": "y"}, step_size=1, draws=2000, warmup=100, thin=5,
            **FOUR,
        ),
        rc.Build(
            name="hmc_within_gibbs", title="HMC of coefficients, exact draws of the precision of a regression",
            references=["duane1987hmc", "neal2011hmc", "gelfand1990sampling"], dynamics=hmc(),
            target=regression_precision(), bind={"M": mass * I}, parameters={mass: 400}, sizes={"p": 4},
            scheme={
                "cycle": [
                    {"draw": "tau"}, {"refresh": r},
                    {
                        "of": {theta: rc.vector("beta", "p")},
                        "metropolis": {"split": LEAPFROG, "steps": "uniform(1, 8)", "flip": {r: -r}},
                    },
                ]
            },
            data={"file": "../data/linear_regression.csv", "x": ["a", "b", "c", "e"], "y": "y"}, step_size="0.5",
            draws=2000, warmup=100, **FOUR,
        ),
        rc.Build(
            name="sghmc_lognormal_friction_gaussian", dynamics=sghmc_lognormal_friction(), target=gaussian(),
            title="Langevin dynamics by splitting, its friction drawn from its exact lognormal law",
            parameters={
                "kappa": HALF, "m": [0, HALF], "v": QUARTER, "mu": [1, -2], "Sigma": [[2, HALF], [HALF, 1]],
            },
            scheme={
                "split": ["B/2", "A/2", "X/2", "O", "X/2", "A/2", "B/2"],
                "pieces": {
                    "A": {"Q": [["theta", "r"]], "H": "r"}, "B": {"Q": [["theta", "r"]], "H": "U"},
                    "O": {"D": [["r", "r"]]}, "X": {"D": [["x", "x"]]},
                },
            },
            sizes={"d": 2}, step_size="0.3", thin=5, draws=4000, warmup=1000, **FOUR,
        ),
        scalar_sghmc("sghmc_ordered_mixture", "SGHMC by BAOAB, full gradient, a mixture with ordered means",
                     ordered_mixture(), 100, parameters={m: 50}, scheme="baoab", order=(),
                     sizes={"K": 2}, step_size=0.05, thin=10, data={"file": "../data/two_groups.csv", "y": "y"}),
        scalar_sghmc("sghmc_softmax_regression", "SGHMC, minibatch, Bayesian softmax regression of three classes",
                     softmax_regression(), 2, parameters={"prior_variance": 1}, variant="minibatch",
                     gradient_noise="estimate", sizes={"K": 3, "p": 3}, step_size=0.0025, batch_size=200, thin=400,
                     draws=1000, warmup=250, data={
                         "file": "../data/three_classes.csv", "x": ["a", "b"], "y": "y", "indicator": ["y"],
                         "intercept": True}),
        scalar_sghmc("sghmc_varying_intercepts",
                     "SGHMC by BAOAB, full gradient, regression with varying intercepts", varying_intercepts(), 2,
                     scheme="baoab", order=(), step_size=0.05, thin=20, draws=2000, warmup=250, data={
                         "file": "../data/groups.csv", "g": "group", "x": ["x"], "y": "y", "from_one": "g"}),
        rc.Build(
            name="sgrld_banana", dynamics=sgrld(), target=banana(), sizes={"d": 2}, step_size=0.01, thin=200,
            title="SGRLD, full gradient, a banana in the plane with a metric that follows its bend",
            bind={"G_inverse": I / 2 + s * (bent @ bent.T)},
            parameters={s: 2, "b": HALF, e_1: [1, 0], e_2: [0, 1]}, draws=4000, warmup=500, **FOUR,
        ),
        rc.Build(
            name="scaled_categories", dynamics=sgrld_positive(), target=categories(), sizes={"d": 3},
            title="Scale moves in the expanded-mean form, three categories with 17 data",
            references=["green1995reversible"], scheme={"cycle": [
                {"involution": SCALED, "draws": {"w": {"shape": "d", "law": "N(0, s**2*I)"}}},
                {"involution": SCALED, "draws": {"w": "N(0, s**2)"}, "log_ratio": "d*w"},
            ]},
            parameters={"alpha": [3, 4, 3], "n": [5, 8, 4], s: "1/2"},
            thin=4, draws=4000, warmup=100, **FOUR,
        ),
    )  # fmt: skip


@cache
def by_name() -> dict[str, rc.Build]:
    """Return all of them by their names."""
    return {build.name: build for build in builds()}

"""Posteriors without a finite integral, at data of a file: never proved; and right ones of the same kinds, proved."""

from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from loaders import load_build
from some import some

from recipe_compiler.run.observed import observed
from recipe_compiler.spec.bind import bind
from recipe_compiler.verdict import Undecided, Verdict
from recipe_compiler.verify.builds.normalisable import normalisable_alone, normalisable_build

HERE = Path(__file__).parent
DYNAMICS = HERE.parents[2] / "specs" / "dynamics" / "sghmc.yaml"

SCALE = "{domain: positive, transform: log}"
BETA = "beta: {shape: p}"
ROW = "x: {shape: [N, p]}, y: {shape: N}"
LABELS = "x: {shape: [N, p]}, y: {shape: N, in: [0, 1]}"
GROUPS = "z: {shape: [N, J], in: [0, 1]}, y: {shape: N}"

NORMAL = "-log(sigma) - ((y - x @ beta)/sigma)**2/2"
KNOWN = "-(y - x @ beta)**2/2"
PRECISION = "log(tau)/2 - tau*(y - x @ beta)**2/2"
LOGISTIC = "y*(x @ beta) - softplus(x @ beta)"
POISSON = "y*(x @ beta) - exp(x @ beta)"
NEGATIVE_BINOMIAL = "y*(x @ beta) - (y + 3)*log(exp(x @ beta) + 3)"
STUDENT = "-log(sigma) - 5/2*log(1 + ((y - x @ beta)/sigma)**2/4)"
CAUCHY = "-log(sigma) - log1p(((y - x @ beta)/sigma)**2)"
LAPLACE = "-log(sigma) - abs(y - x @ beta)/sigma"
SOFTMAX = "y @ (W @ x.T) - logsumexp(W @ x.T)"
PROBIT = "y*log_ndtr(x @ beta) + (1 - y)*log_ndtr(-(x @ beta))"
SURVIVAL = "x @ beta - y*exp(x @ beta)"
IN_GROUPS = "-log(sigma) - ((y - z @ theta)/sigma)**2/2"
OF_GROUPS = "-J*log(tau) - norm2((theta - mu*ones)/tau)/2"
MIXTURE = "logsumexp(a - (y*ones - m)**2/2) - logsumexp(a)"

NAMED_MIXTURE = "mixture([w, 1 - w], normal(y, m, 1), normal(y, k, 1))"
WEIGHT = 'w: {domain: "interval(0, 1)", transform: logit}'

XY = "x: [one, k1, k2], y: "


@dataclass(frozen=True)
class Model:
    """A target at columns of a file."""

    state: str
    data: str
    prior: str
    likelihood: str
    columns: str
    sizes: str = ""
    file: str = "data.csv"
    recursion: str = ""
    parameters: str = ""


def regression(likelihood: str, columns: str, prior: str = "0", scale: str = "sigma", **more: str) -> Model:
    state = BETA + (f", {scale}: {SCALE}" if scale else "")
    return Model(state, LABELS if likelihood in (LOGISTIC, PROBIT) else ROW, prior, likelihood, columns, **more)


def hierarchy(prior: str, groups: str, count: int, **more: str) -> Model:
    state = f"theta: {{shape: J}}, mu: {{}}, tau: {SCALE}, sigma: {SCALE}"
    columns = f"z: {groups}, y: y, indicator: [z]"
    return Model(state, GROUPS, prior, IN_GROUPS, columns, f"J: {count}", **more)


def positions(prior: str, groups: str, count: int) -> Model:
    state = f"theta: {{shape: J}}, mu: {{}}, tau: {SCALE}, sigma: {SCALE}"
    data = "z: {shape: N, index_of: J}, y: {shape: N}"
    return Model(state, data, prior, "normal(y, theta[z], sigma)", f"z: {groups}, y: y", f"J: {count}")


def softmax(prior: str) -> Model:
    data = "x: {shape: [N, p]}, y: {shape: [N, K], in: [0, 1]}"
    return Model("W: {shape: [K, p]}", data, prior, SOFTMAX, "x: [one, k1, k2], y: k, indicator: [y]", "K: 3")


def mixture(prior: str) -> Model:
    return Model("m: {shape: K}, a: {shape: K}", "y: {shape: N}", prior, MIXTURE, "y: y", "K: 2")


COUNTS = "label: {shape: N, in: [0, 1]}"


def overdispersed(prior: str, shares: str = "kappa*sigmoid(-x @ beta)") -> Model:
    one = "kappa*sigmoid(x @ beta)"
    likelihood = (
        f"loggamma(kappa) - loggamma(y + f + kappa) + loggamma(y + {one}) - loggamma({one})"
        f" + loggamma(f + {shares}) - loggamma({shares})"
    )
    data = "x: {shape: [N, p]}, f: {shape: N, is: nonnegative}, y: {shape: N, in: [0, 1]}"
    return Model(f"{BETA}, kappa: {SCALE}", data, prior, likelihood, "x: [one, k1], f: one, y: label")


def zero_inflated(prior: str, weights: str = "-softplus(psi)") -> Model:
    likelihood = f"{weights} + zero*(psi + softplus(-exp(x @ beta) - psi)) + (1 - zero)*poisson_log(y, x @ beta)"
    data = "x: {shape: [N, p]}, y: {shape: N, is: [nonnegative, integer]}, zero: {shape: N, in: [0, 1]}"
    return Model(f"{BETA}, psi: {{}}", data, prior, likelihood, "x: [one], y: none, zero: all")


def two_laws(prior: str, columns: str) -> Model:
    state = f"mu: {{}}, gap: {SCALE}, w: {{}}, sigma: {SCALE}"
    likelihood = (
        "normal(y, mu, sigma) - softplus(w) + softplus(w + ((y - mu)/sigma)**2/2 - ((y - mu - gap)/sigma)**2/2)"
    )
    return Model(state, "y: {shape: N}", prior, likelihood, columns)


def survival(prior: str, power: str) -> Model:
    likelihood = f"event*(log(alpha) + {power}*alpha*(log(t) - x @ beta)) - {power}*exp(alpha*(log(t) - x @ beta))"
    data = "x: {shape: [N, p]}, t: {shape: N, is: positive}, event: {shape: N, in: [0, 1]}"
    return Model(f"{BETA}, alpha: {SCALE}", data, prior, likelihood, "x: [one], t: one, event: label")


def in_rows(y: str, **more: str) -> Model:
    """Effects of groups as rows of a matrix, of one normal law with a factor that is sampled."""
    state = f"B: {{shape: [J, 2]}}, mu: {{shape: 2}}, s: {{shape: 2, domain: positive, transform: log}}, sigma: {SCALE}"
    state += ", L: {shape: [2, 2], constraint: cholesky_factor_corr}"
    scale = more.pop("scale", "half_normal(s, 1)")
    law = more.pop("law", "multi_normal_cholesky(B, mu, diag(s) @ L)")
    prior = f"{law} + normal(mu, 0, 5) + {scale} + lkj_cholesky(L, 2) + half_normal(sigma, 2)"
    data = "x: {shape: [N, 2]}, z: {shape: N, index_of: J}, y: {shape: N}"
    likelihood = more.pop("likelihood", "normal(y, dot(x, B[z]), sigma)")
    z = more.pop("z", "z: g3")
    return Model(state, data, prior, likelihood, f"x: [one, k1], {z}, y: {y}", more.pop("sizes", "J: 3"), **more)


ALIKE = "0*y + ones.T"


def process(columns: str, rho: str = "gamma(rho, 25, 4)", **more: str) -> Model:
    """A Gaussian process at three points, a row of data for each time that it is seen."""
    points, noise, mean = more.pop("points", "[0, 1, 3]"), more.pop("noise", "sigma*I"), more.pop("mean", "0")
    others = more.pop("others", "half_normal(alpha, 2) + half_normal(sigma, 1)")
    state = f"rho: {SCALE}, alpha: {SCALE}, sigma: {SCALE}{more.pop('state', '')}"
    law = f"multi_normal({more.pop('y', 'y')}, {mean}, gp_exp_quad_cov(x, alpha, rho) + {noise})"
    prior = " + ".join(filter(None, (rho, others)))
    own = f"x: {{shape: 3, default: '{points}'}}"
    return Model(state, "y: {shape: [N, 3]}", prior, law, f"y: [{columns}]", parameters=own, **more)


def horseshoe(y: str, columns: str = "x: [one, k1, k2]", location: str = "x @ (eta*lam)*tau") -> Model:
    state = f"eta: {{shape: p}}, lam: {{shape: p, domain: positive, transform: log}}, tau: {SCALE}, sigma: {SCALE}"
    prior = "normal(eta, 0, 1) + half_cauchy(lam, 1) + half_cauchy(tau, 1) + half_normal(sigma, 2)"
    return Model(state, ROW, prior, f"normal(y, {location}, sigma)", f"{columns}, y: {y}")


def effects(law: str, y: str) -> Model:
    data = "z: {shape: N, index_of: J}, y: {shape: N}"
    prior = "normal(theta, 0, 1) + half_normal(sigma, 1)"
    return Model(f"theta: {{shape: J}}, sigma: {SCALE}", data, prior, law, f"z: g8, y: {y}", "J: 8")


def curve(law: str, columns: str) -> Model:
    prior = "normal(a, 0, 5) + normal(b, 0, 5) + half_normal(sigma, 1)"
    return Model(f"a: {{}}, b: {{}}, sigma: {SCALE}", "x: {shape: N}, y: {shape: N}", prior, law, columns)


def factors(law: str) -> Model:
    state = f"{BETA}, c: {{shape: p}}, sigma: {SCALE}"
    prior = "normal(beta, 0, 5) + normal(c, 0, 5) + half_normal(sigma, 1)"
    return Model(state, ROW, prior, law, "x: [one, k1], y: k1")


def shares(prior: str, y: str) -> Model:
    state = f"b: {{shape: p}}, phi: {SCALE}"
    likelihood = "beta((y + 1)/3, sigmoid(x @ b)*phi, (1 - sigmoid(x @ b))*phi)"
    return Model(state, LABELS, f"normal(b, 0, 5) + {prior}", likelihood, f"x: [one, k1], y: {y}")


def times(prior: str, y: str) -> Model:
    data = "x: {shape: [N, p]}, y: {shape: N, is: positive}"
    likelihood = "gamma(y, a, a*exp(-(x @ beta)))"
    return Model(f"{BETA}, a: {SCALE}", data, f"normal(beta, 0, 5) + {prior}", likelihood, f"x: [one, k1], y: {y}")


def components(data: str, first: str, second: str, prior: str = "half_normal(s, 1)", more: str = "") -> Model:
    state = f"m: {{shape: 2, constraint: ordered}}, s: {{shape: 2, domain: positive, transform: log}}, {WEIGHT}{more}"
    law = prior if "normal(m" in prior else f"normal(m, 0, 5) + {prior}"
    fields = "y: {shape: N, is: positive}" if data == "time" else "y: {shape: N}"
    return Model(state, fields, f"{law} + beta(w, 2, 2)", f"mixture([w, 1 - w], {first}, {second})", f"y: {data}")


FIRST, SECOND = "normal(y, m[0], s[0])", "normal(y, m[1], s[1])"


def hurdle(positive: str, zero: str = "log1p(-w)", scale: str = "", data: str = "count") -> Model:
    kinds = "[nonnegative, integer]" if data == "count" else "nonnegative"
    state = f"b: {{shape: p}}, {WEIGHT}" + (f", {scale}: {SCALE}" if scale else "")
    prior = "normal(b, 0, 5) + beta(w, 2, 2)" + (f" + half_normal({scale}, 1)" if scale else "")
    fields = f"x: {{shape: [N, p]}}, y: {{shape: N, is: {kinds}}}"
    return Model(state, fields, prior, f"where(y > 0, {positive}, {zero})", f"x: [one, k1], y: {data}")


def of_times(y: str, prior: str = "half_normal(sigma, 1)", law: str = "lognormal(y, x @ b, sigma)") -> Model:
    fields = "x: {shape: [N, p]}, y: {shape: N, is: positive}"
    return Model(f"b: {{shape: p}}, sigma: {SCALE}", fields, prior, law, f"x: [one, k1], y: {y}")


def spread(scale: str, state: str, prior: str, columns: str = "x: [one, k1], w: k2, y: y") -> Model:
    fields = "x: {shape: [N, p]}, w: {shape: N}, y: {shape: N}"
    law = f"normal(y, x @ b, {scale})"
    return Model(f"b: {{shape: p}}, {state}", fields, f"normal(b, 0, 5) + {prior}", law, columns)


def correlated(columns: str, d: int = 3) -> Model:
    state = f"s: {{shape: {d}, domain: positive, transform: log}}, mu: {{shape: {d}}}"
    state += f", L: {{shape: [{d}, {d}], constraint: cholesky_factor_corr}}"
    prior = "normal(mu, 0, 5) + half_normal(s, 2) + lkj_cholesky(L, 2)"
    law = "multi_normal_cholesky(y, mu, diag(s) @ L)"
    return Model(state, f"y: {{shape: [N, {d}]}}", prior, law, f"y: [{columns}]")


def covariance(columns: str, prior: str, mu: str = "mu", **more: str) -> Model:
    d = columns.count(",") + 1
    state = f"mu: {{shape: {d}}}, S: {{shape: [{d}, {d}], constraint: cov_matrix}}{more.pop('state', '')}"
    fields = f"y: {{shape: [N, {d}]}}{more.pop('data', '')}"
    law = more.pop("law", f"multi_normal(y, {mu}, S)")
    return Model(state, fields, f"normal(mu, 0, 5) + {prior}", law, f"y: [{columns}]{more.pop('fields', '')}", **more)


def around_zero(columns: str, d: int) -> Model:
    own = correlated(columns, d)
    prior = "lognormal(s, 0, 1) + lkj_cholesky(L, 2)"
    state = own.state.replace(f", mu: {{shape: {d}}}", "")
    return replace(own, state=state, prior=prior, likelihood="multi_normal_cholesky(y, 0, diag(s) @ L)")


def of_two(u: str, v: str) -> Model:
    state = f'a: {{}}, c: {{}}, s: {SCALE}, t: {SCALE}, rho: {{domain: "interval(-1, 1)", transform: logit}}'
    prior = "normal(a, 0, 5) + normal(c, 0, 5) + half_normal(s, 5) + half_normal(t, 5)"
    law = "-log(s) - log(t) - log1p(-rho**2)/2 - (((u - a)/s - rho*(v - c)/t)**2/(1 - rho**2) + ((v - c)/t)**2)/2"
    return Model(state, "u: {shape: N}, v: {shape: N}", prior, law, f"u: {u}, v: {v}")


def in_groups(y: str, means: str = "mu[z]", scale: str = "s[z]") -> Model:
    state = f"mu: {{shape: J}}, s: {{shape: J, domain: positive, transform: log}}, sigma: {SCALE}"
    prior = "normal(mu, 0, 5) + half_normal(s, 1) + half_normal(sigma, 1)"
    fields = "z: {shape: N, index_of: J}, y: {shape: N}"
    return Model(state, fields, prior, f"normal(y, {means}, {scale})", f"z: g8, y: {y}", "J: 8")


VOLATILITY = "-h[t]/2 - y**2*exp(-h[t])/2"
STATES = (
    "-log(s) - (1 - first)*((h[t] - mu - phi*(h[before] - mu))/s)**2/2"
    " + first*(log1p(-phi**2)/2 - (1 - phi**2)*((h[t] - mu)/s)**2/2)"
)


def series(
    likelihood: str, columns: str = "t: t, before: before, first: first, y: y", scale: str = "half_normal(s, 1)"
) -> Model:
    state = f'h: {{shape: T}}, mu: {{}}, phi: {{domain: "interval(-1, 1)", transform: logit}}, s: {SCALE}'
    fields = "t: {shape: N, index_of: T}, before: {shape: N, index_of: T}, first: {shape: N, in: [0, 1]}, y: {shape: N}"
    return Model(state, fields, f"normal(mu, 0, 1) + {scale}", likelihood, columns, "T: 6", file="series.csv")


def garch(y: str, prior: str, law: str = "normal(y, m, sqrt(s))", start: str = "omega", **more: str) -> Model:
    state = f"m: {{}}, omega: {SCALE}, w: {{shape: 3, constraint: simplex}}"
    following = more.pop("following", "omega + w[0]*(y - m)**2 + w[1]*s")
    recursion = f's: {{is: positive, start: "{start}", next: "{following}"}}'
    return Model(state, "y: {shape: N}", prior, law, f"y: {y}", recursion=recursion, **more)


PAIR = "normal(m, 0, 5) + dirichlet(w, 1)"


def volatile(
    columns: str, prior: str, law: str = "normal(y, x @ b, sqrt(s))", start: str = "omega", **more: str
) -> Model:
    state = f"b: {{shape: p}}, omega: {SCALE}, w: {{shape: 3, constraint: simplex}}{more.pop('state', '')}"
    following = more.pop("following", "omega + w[0]*(y - x @ b)**2 + w[1]*s")
    recursion = f's: {{is: positive, start: "{start}", next: "{following}"}}'
    return Model(state, more.pop("data", ROW), prior, law, columns, recursion=recursion, **more)


OF_ROW = "normal(b, 0, 5) + dirichlet(w, 1)"


def by_columns(y: str, prior: str, w: str = "w: {shape: 2, constraint: simplex}") -> Model:
    state = f"m: {{shape: 2, constraint: ordered}}, s: {{shape: 2, domain: positive, transform: log}}, {w}"
    law = "mixture(w, normal(y, m, s))"
    return Model(state, "y: {shape: N}", f"normal(m, 0, 5) + dirichlet(w, 2) + {prior}", law, f"y: {y}")


def of_regressions(prior: str, columns: str = "x: [one, k1], y: geometric", **more: str) -> Model:
    state = f"b: {{shape: p}}, c: {{shape: p}}, s: {{shape: 2, domain: positive, transform: log}}, {WEIGHT}"
    law = more.get("law", "mixture([w, 1 - w], normal(y, x @ b, s[0]), normal(y, x @ c, s[1]))")
    state += more.get("state", "")
    return Model(state, more.get("data", ROW), f"{prior} + beta(w, 2, 2)", law, columns)


OF_TWO = "normal(b, 0, 5) + normal(c, 0, 5) + half_normal(s, 1)"


IN_SPAN = (
    "x: [one, time, t], columns: {t: centre(time)}",
    "x: [one, time, t], columns: {t: centre(time)}, dtype: float32",
    "x: [one, time, t], columns: {t: standardise(time)}",
    "x: [one, time, t], columns: {t: time/sd(time)}",
    "x: [one, time, t], columns: {t: 'maximum(time, -time)/3 + 0.1'}",
    "x: [one, time, t], columns: {t: 'where(time > 1, time, time)*0.1'}",
    "x: [one, t, u], columns: {t: time/y, u: (time + 2*y)/y}",
    "x: [one, t, u], columns: {t: centre(log(time)), u: standardise(log(time))}",
    "x: [time, y, t], columns: {t: time + y}",
    "x: [time, y, t], columns: {t: time + y}, shuffle: 3",
    "x: [time, y, t], columns: {t: 0.1*time - y}, intercept: true, standardise: [x]",
    "x: [t, u, v], columns: {t: log(time), u: log(time + 1), v: log(time**2 + time)}",
    "x: [t, u], columns: {t: exp(time), u: exp(time + 1)}",
    "x: [t, u], columns: {t: sqrt(time), u: sqrt(7*time)}",
    "x: [u, v, w, t], columns: {u: time**2, v: y**2, w: time*y, t: (time - y)**2}",
)
"""Columns that the others span as they are written: by rounding alone their doubles do not."""

OUT_OF_SPAN = (
    "x: [one, time, t], columns: {t: centre(time)**2}",
    "x: [one, time, t], columns: {t: centre(time)**2}, dtype: float32",
    "x: [one, time, t], columns: {t: standardise(time*y)}",
    "x: [one, time, t], columns: {t: y/sd(time)}",
    "x: [one, time, t], columns: {t: 'maximum(time, 1)/3 + 0.1'}",
    "x: [one, time, t], columns: {t: 'where(time > 1, log(time), 0)*0.1'}",
    "x: [one, t, u], columns: {t: time/y, u: (time + 2*y)/y**2}",
    "x: [one, t, u], columns: {t: centre(log(time)), u: standardise(log(time)**2)}",
    "x: [time, y, t], columns: {t: time*y}",
    "x: [time, y, t], columns: {t: time*y}, shuffle: 3",
    "x: [time, y, t], columns: {t: 0.1*time - y**2}, intercept: true, standardise: [x]",
    "x: [t, u, v], columns: {t: log(time), u: log(time + 1), v: log(time**2 + 1)}",
    "x: [t, u], columns: {t: exp(time), u: exp(2*time)}",
    "x: [t, u], columns: {t: sqrt(time), u: sqrt(7*time + 1)}",
    "x: [u, v, w, t], columns: {u: time**2, v: y**2, w: time*y, t: (time - y)**3}",
)
"""Columns of the same kinds that the others do not span."""

TIED = "where(k1 > 2, 0.1 + 0.2 + 0*k1, where(k2 > 2, 0.3 + 0*k2, time))"
"""Two data that are 0.3 as they are written."""


def shifted(columns: str) -> Model:
    """A regression whose coefficient is known to be 1."""
    law = "normal(y, x + m, sigma)"
    return Model(f"m: {{}}, sigma: {SCALE}", "x: {shape: N}, y: {shape: N}", "0", law, columns)


IMPROPER = {
    **{f"made in the span: {columns}": regression(NORMAL, f"{columns}, y: k3") for columns in IN_SPAN},
    "made responses in the span": regression(NORMAL, "x: [one, time], y: t, columns: {t: 0.1 - 3*time}"),
    "made responses in the span of logarithms": regression(
        NORMAL, "x: [t, u], y: v, columns: {t: log(time), u: log(all + 2), v: log(time*(all + 2)**3)}"
    ),
    "made columns in the span, beside a law of another coefficient": regression(
        NORMAL, "x: [one, time, t, k1], y: k3, columns: {t: centre(time)}", "normal(beta[3], 0, 1)"
    ),
    "made columns in the span, Student errors": regression(
        STUDENT, "x: [one, time, t], y: k3, columns: {t: centre(time)}"
    ),
    "made columns in the span, labels": regression(
        LOGISTIC, "x: [one, time, t], y: label, columns: {t: standardise(time)}", scale=""
    ),
    "made classes that are separable": regression(
        LOGISTIC, "x: [one, t], y: label, columns: {t: standardise(time + 20*label)}", scale=""
    ),
    "standardised columns that agree": shifted("x: time, y: t, columns: {t: 3*time + 0.1}, standardise: [x, y]"),
    "standardised columns that agree, one made so": shifted(
        "x: time, y: t, columns: {t: standardise(time) + 0.1}, standardise: [x]"
    ),
    "standardised columns that agree, by logarithms": shifted(
        "x: t, y: u, columns: {t: log(time), u: 3*log(time) + 0.1}, standardise: [x, y]"
    ),
    "a mixture of made data at ties, half-normal scales": replace(
        by_columns("t", "half_normal(s, 1)"), columns=f"y: t, columns: {{t: '{TIED}'}}"
    ),
    # In the direction in which data do not differ S is e: e**-12, angles and means give e**(3/2) back.
    "a covariance matrix of collinear data": covariance("k1, k2, k3", "-trace(S)"),
    "a covariance matrix with a constant": covariance("y, one", "-trace(S)"),
    "a covariance matrix of two columns and a sum": covariance("k1, time, one, y", "-trace(S) - trace(S)"),
    "a covariance matrix of data that are multiples of their mean": covariance(
        "y, time", "normal(m, 0, 5) - trace(S)", "m*y", state=", m: {}"
    ),
    "a covariance matrix of a regression on a column of the data": covariance(
        "y, k1",
        "normal(b, 0, 1) - trace(S)",
        "mu + b*x[1]",
        state=", b: {shape: 2}",
        data=", x: {shape: [N, 2]}",
        fields=", x: [one, k1]",
    ),
    # det(S)**(a - N/2) at oo.
    "a flat covariance matrix of three data": covariance("y, k1", "0*trace(S)", file="three.csv"),
    "a covariance matrix with a power of its determinant": covariance("y, time", "10*logdet(S)"),
    "a covariance matrix that grows": covariance("y, time", "2*logdet(S) + trace(S)/1000"),
    "a covariance matrix that grows, in two summands": covariance("y, time", "trace(S) - trace(S)/2"),
    "a covariance matrix that no datum has a law of": covariance(
        "y, time", "-trace(S)", law="normal(y[0], mu[0], 1) + 13*logdet(S) + trace(S)"
    ),
    "a covariance matrix times one that has no law": covariance(
        "y, time", "-trace(S)", state=", c: {}", law="multi_normal(y, mu + 0*c*ones, S)"
    ),
    # Three data on a line, or four on a plane, in one component: int db s**-3 exp(-...) = c/s, and int ds/s.
    # Three data lie on a line as they are written; their doubles, by rounding, do not.
    "a mixture of regressions of half-normal scales, three decimals on a line": of_regressions(
        OF_TWO, "x: [one, k1], y: y"
    ),
    "a mixture of regressions of half-normal scales, three data on a line": of_regressions(
        OF_TWO, "x: [one, k2], y: y"
    ),
    "a mixture of regressions of half-normal scales, four data on a plane": of_regressions(
        OF_TWO, "x: [one, k1, k2], y: time"
    ),
    "a mixture of regressions of half-Cauchy scales, all data on a plane": of_regressions(
        "normal(b, 0, 5) + normal(c, 0, 5) + half_cauchy(s, 1)", "x: [one, k1, k2], y: fit"
    ),
    "a mixture of one regression, three data on a line": of_regressions(
        OF_TWO, "x: [one, k2], y: y", law="mixture([w, 1 - w], student_t(y, 3, x @ b, s[0]), normal(y, 0, s[0] + 1))"
    ),
    "a mixture of slopes times a field, three data on a line": of_regressions(
        f"{OF_TWO} + normal(m, 0, 5)",
        "x: [one], v: k2, y: y",
        data=f"{ROW}, v: {{shape: N}}",
        state=", m: {}",
        law="mixture([w, 1 - w], laplace(y, x @ b + m*v, s[0]), normal(y, x @ c, 1))",
    ),
    "a mixture of regressions of lognormal laws, all data on a line": of_regressions(
        OF_TWO,
        "x: [one, k1], y: geometric",
        data="x: {shape: [N, p]}, y: {shape: N, is: positive}",
        law="mixture([w, 1 - w], lognormal(y, x @ b, s[0]), lognormal(y, x @ c, s[1]))",
    ),
    # log 1 - 0 m = 0 whatever m is: w/s[0] of that datum, and the law of s[0] is positive at 0.
    "a mixture of lognormal laws, a datum 1 that has no location": Model(
        f"m: {{}}, k: {{}}, s: {{shape: 2, domain: positive, transform: log}}, {WEIGHT}",
        "y: {shape: N, is: positive}, z: {shape: N}",
        "normal(m, 0, 5) + normal(k, 0, 5) + half_normal(s, 1) + beta(w, 2, 2)",
        "mixture([w, 1 - w], lognormal(y, z*m, s[0]), lognormal(y, k, s[1]))",
        "y: y, z: z",
        file="one.csv",
    ),
    "a mixture of means of groups, at ties": of_regressions(
        "normal(b, 0, 5) + normal(c, 0, 5) + half_normal(s, 1)",
        "x: [one], z: g8, y: tied",
        data=f"{ROW}, z: {{shape: N, index_of: p}}",
        law="mixture([w, 1 - w], normal(y, b[z], s[0]), normal(y, 0, 1))",
    ),
    "a mixture of a regression on zeros alone, data 0": of_regressions(OF_TWO, "x: [none], y: none"),
    "a mixture of regressions, coefficients about those of the other": of_regressions(
        "normal(b, c, 1) + normal(c, 0, 5) + half_normal(s, 1)", "x: [one, k2], y: y"
    ),
    "a mixture of regressions of one scale, all data on a plane": of_regressions(
        OF_TWO,
        "x: [one, k1, k2], y: fit",
        law="mixture([w, 1 - w], normal(y, x @ b, s[0]), normal(y, x @ c, s[0]))",
    ),
    "a mixture of regressions, flat coefficients of one": of_regressions(
        "normal(b, 0, 5) + half_normal(s, 1)", "x: [one, k1], y: y"
    ),
    "a mixture of regressions, flat scales": of_regressions("normal(b, 0, 5) + normal(c, 0, 5)", "x: [one, k1], y: y"),
    # y = x @ b at some b: omega**-12 there where w is small, int db gives omega**(3/2) back.
    "a regression with a volatility and no residual": volatile(XY + "fit", f"{OF_ROW} + half_normal(omega, 1)"),
    "a regression with a volatility, collinear columns": volatile("x: [one, k1, k2, k3], y: y", "dirichlet(w, 1)"),
    "a regression with a volatility, a column of zeros": volatile("x: [one, none], y: y", "dirichlet(w, 1)"),
    # omega**-(3 - 2)/2 at oo.
    "a regression with a volatility and three data, flat": volatile(
        "x: [one, k1], y: y", "dirichlet(w, 1)", file="three.csv"
    ),
    # A scale of errors of heavy tails is small for 20 equal data, whatever the 4 others are: omega**(-10 + 2).
    "equal data of a series, heavy tails": garch("tied", f"{PAIR} + half_normal(omega, 1)", "cauchy(y, m, sqrt(s))"),
    "equal data of a series, Student's errors of a volatility": volatile(
        "x: [one], y: tied", f"{OF_ROW} + half_normal(omega, 1)", "student_t(y, 3, x @ b, sqrt(s))"
    ),
    # Data that say where the scale is large: it is omega**(1/2) at each of 12 equal ones.
    "a series whose scale data raise": Model(
        f"m: {{}}, omega: {SCALE}",
        "y: {shape: N}, g: {shape: N, is: nonnegative}",
        "normal(m, 0, 5) + half_normal(omega, 1)",
        "normal(y, m, sqrt(s))",
        "y: y, g: before_one",
        file="turns.csv",
        recursion='s: {is: positive, start: "omega", next: "omega + g"}',
    ),
    "a series whose scale residuals of another location raise": garch(
        "y", f"{PAIR} + half_normal(omega, 1)", following="omega + w[0]*(y - 5)**2 + w[1]*s", file="turns.csv"
    ),
    "a series whose scale the square root of a residual raises": garch(
        "y", f"{PAIR} + half_normal(omega, 1)", following="omega + sqrt(abs(y - 5)) + w[1]*s", file="turns.csv"
    ),
    "a regression whose scale residuals of other coefficients raise": volatile(
        "x: [one], y: y",
        f"{OF_ROW} + normal(c, 0, 5) + half_normal(omega, 1)",
        state=", c: {shape: p}",
        following="omega + w[0]*(y - x @ c)**2 + w[1]*s",
        file="turns.csv",
    ),
    # The first scale is known, all other data are equal.
    "a series whose first datum alone differs": garch(
        "late", f"{PAIR} + half_normal(omega, 1)", start="1/4", following="omega + w[1]*(y - m)**2*0", file="turns.csv"
    ),
    "a regression with a volatility, one coefficient without a law or data": volatile(
        "x: [one, k1], y: y",
        f"{OF_ROW} + half_normal(omega, 1)",
        state=", c: {}",
        law="normal(y, x @ b + 0*c, sqrt(s))",
    ),
    "a regression with a volatility, a flat logarithm of its floor": volatile(XY + "y", f"{OF_ROW} - log(omega)"),
    "a mixture by columns, half-normal scales, at ties": by_columns("tied", "half_normal(s, 1)"),
    "a mixture by columns, flat scales": by_columns("time", "0*sum(s)"),
    # log y is a line in k1: all data in one component, s**-24, int db gives s**2 back.
    "a mixture of regressions of half-normal scales, all data on a plane": replace(
        of_regressions("normal(b, 0, 5) + normal(c, 0, 5) + half_normal(s, 1)"), columns="x: [one, k1, k2], y: k1"
    ),
    "a mixture of regressions, one of flat coefficients": of_regressions("normal(b, 0, 5) + lognormal(s, 0, 1)"),
    # 24 equal data: omega**-12 at m, whatever w is; int dm gives a root of it back.
    "a series of equal data, half-normal floor": garch("none", f"{PAIR} + half_normal(omega, 1)"),
    "a series of equal data, flat floor": garch("one", "dirichlet(w, 1)"),
    # The series is as likely as at omega = 0 where the floor is small: int domega/omega.
    "a series with a flat logarithm of its floor": garch("time", f"{PAIR} - log(omega)"),
    "a series with two laws of its floor": garch("time", f"{PAIR} + gamma(omega, 1/2, 1) + gamma(omega, 1/2, 1)"),
    # omega**-3/2 at m of the size of its root: int domega/omega at oo.
    "a series of three data, flat": garch("y", "dirichlet(w, 1)", file="three.csv"),
    # No prior of w on the line, no datum says anything of it.
    "a series with a weight that has no law": Model(
        f"m: {{}}, omega: {SCALE}, c: {{}}",
        "y: {shape: N}",
        "normal(m, 0, 5) + half_normal(omega, 1)",
        "normal(y, m, sqrt(s))",
        "y: time",
        recursion='s: {is: positive, start: "omega", next: "omega + sigmoid(c)*s"}',
    ),
    # Two equal data in one component: int dm s**-2 exp(-((y - m)/s)**2) = c/s, and int ds/s.
    "a mixture of half-normal scales, at ties": components("tied", FIRST, SECOND),
    "a mixture of half-Cauchy scales, two equal data": components("y", FIRST, SECOND, "half_cauchy(s, 1)"),
    "a mixture of Student and Laplace laws, at ties": components(
        "tied", "student_t(y, 3, m[0], s[0])", "laplace(y, m[1], s[1])"
    ),
    "a mixture of locations of a half-normal scale, at ties": components(
        "label", FIRST, SECOND, "normal(m, 0, tau) + half_normal(tau, 1) + half_normal(s, 1)", f", tau: {SCALE}"
    ),
    # One datum is where the location is known to be: s**-1, which no integral over a location takes away.
    "a mixture of a known location and a half-normal scale": Model(
        f"m: {{}}, s: {{shape: 2, domain: positive, transform: log}}, {WEIGHT}",
        "y: {shape: N}",
        "normal(m, 0, 5) + half_normal(s, 1) + beta(w, 2, 2)",
        "mixture([w, 1 - w], normal(y, 1, s[0]), normal(y, m, s[1]))",
        "y: k1",
        file="three.csv",
    ),
    # normal(0, m, m) = c/m for each of 24 data.
    "a location that is its scale": Model(
        f"m: {SCALE}, {WEIGHT}",
        "y: {shape: N}",
        "half_normal(m, 5) + beta(w, 2, 2)",
        "mixture([w, 1 - w], normal(y, m, m), normal(y, 0, 1))",
        "y: none",
    ),
    # 1/(1 - exp(-lam)) for each of 24 data: lam**-24 at 0.
    "zeros divided by the probability of others": Model(
        f"lam: {SCALE}",
        "y: {shape: N, is: [nonnegative, integer]}",
        "half_cauchy(lam, 1)",
        "where(y > 0, poisson(y, lam), -log1p(-exp(-lam)))",
        "y: none",
    ),
    # The same for each of 23 positive counts, lam**y being left out.
    "a hurdle without the power of its mean": Model(
        f"lam: {SCALE}, {WEIGHT}",
        "y: {shape: N, is: [nonnegative, integer]}",
        "half_cauchy(lam, 1) + beta(w, 2, 2)",
        "where(y > 0, log(w) - lam - log1p(-exp(-lam)), log1p(-w))",
        "y: count",
    ),
    # log y = log 3 + k1 log 2: sigma**-24, int db gives sigma**2 back.
    "a hurdle of sizes in the span": hurdle(
        "log(w) + normal(log(maximum(y, 1/1000)), x @ b, sigma)", scale="sigma", data="geometric"
    ),
    "a hurdle of lognormal sizes in the span": hurdle(
        "log(w) + lognormal(y, x @ b, sigma)", scale="sigma", data="geometric"
    ),
    # All 24 are above 0, sigma**-24 at b = log 3.
    "a hurdle of lognormal sizes without a law of their scale": Model(
        f"b: {{}}, {WEIGHT}, sigma: {SCALE}",
        "y: {shape: N, is: nonnegative}",
        "normal(b, 0, 5) + beta(w, 2, 2)",
        "where(y > 0, log(w) + lognormal(y, b, sigma), log1p(-w))",
        "y: one",
    ),
    # None is 0: the odds of being above 0 may be any large ones.
    "a hurdle that all data pass, flat log odds": Model(
        f"g: {{}}, sigma: {SCALE}",
        "y: {shape: N, is: nonnegative}",
        "lognormal(sigma, 0, 1)",
        "where(y > 0, bernoulli_logit(1, g) + lognormal(y, 0, sigma), bernoulli_logit(0, g))",
        "y: time",
    ),
    # The other way round than it is meant: no datum tells of sigma, which has no law.
    "a hurdle with its pieces in each other's place": Model(
        f"g: {{}}, sigma: {SCALE}",
        "y: {shape: N, is: nonnegative}",
        "normal(g, 0, 5)",
        "where(y > 0, bernoulli_logit(0, g), bernoulli_logit(1, g) - log(sigma) - 1/sigma)",
        "y: time",
    ),
    # The second piece does not fall: all m below the least datum.
    "two sides of a location, one flat": Model("m: {}", "y: {shape: N}", "0", "where(y > m, 0, y - m)", "y: y"),
    "residuals that count for nothing far out": Model(
        "m: {}", "y: {shape: N}", "0", "where(abs(y - m) < 1, -(y - m)**2/2, -1/2)", "y: y"
    ),
    "residuals that count less far out, of a flat scale at ties": Model(
        f"m: {{}}, s: {SCALE}",
        "y: {shape: N}",
        "normal(m, 0, 5) - log(s)",
        "where(abs(y - m) < s, -((y - m)/s)**2/2, 1/2 - abs(y - m)/s) - log(s)",
        "y: one",
    ),
    "lognormal times in the span, half-normal scale": of_times("geometric", "normal(b, 0, 5) + half_normal(sigma, 1)"),
    "lognormal times in the span, flat coefficients": of_times("geometric"),
    "logarithms in the span, flat coefficients": of_times("geometric", law="normal(log(y), x @ b, sigma)"),
    # sigma**-3, int db gives sigma**2 back: int dsigma/sigma at oo.
    "lognormal times and one datum too few": Model(
        f"b: {{shape: p}}, sigma: {SCALE}",
        "x: {shape: [N, p]}, y: {shape: N, is: positive}",
        "0",
        "lognormal(y, x @ b, sigma)",
        "x: [one, k1], y: y",
        file="three.csv",
    ),
    # exp(+1/sigma**2) is there, sum (log y)**2 = 0 is not.
    "lognormal times at 1 and a force towards no scale": of_times(
        "one", "normal(b, 0, 5) + 1/sigma**2 - sigma", "lognormal(y, 0*b[0], sigma)"
    ),
    # exp(+c/sigma**2) with c above half the sum of squares, whatever additive numbers come to.
    "lognormal times and a force that is larger": of_times(
        "time", "normal(b, 0, 5) + 1000/sigma**2 - sigma", "lognormal(y, b[0], sigma)"
    ),
    # k3 = k1 + k2: variance e in one direction is (e**-1/2)**24, its prior a power of e below 4.
    "covariance of collinear data": correlated("k1, k2, k3"),
    # s**-24 at mu = 1, int dmu gives s back.
    "covariance with a constant": correlated("one, y", 2),
    "covariance of four columns, three collinear": correlated("y, k1, k2, k3", 4),
    "covariance of five columns with a constant": correlated("y, k1, one, time, count", 5),
    "correlation of a column with itself": of_two("k1", "k1"),
    "correlation with a constant": of_two("k1", "one"),
    # s[z]**-3 of three equal data, int dmu gives s[z] back.
    "a scale for each group of ties, and means": in_groups("tied"),
    "one scale of groups of ties": in_groups("g8", scale="sigma"),
    "a scale for each group that is one number": in_groups("g8", means="mu[0]"),
    # E exp(-h/2) = exp(s**2/8/(1 - phi**2)) at a return of 0, infinite at phi -> 1.
    "log-variances of a series that is 0 at first": series(
        f"{VOLATILITY} + {STATES}", "t: t, before: before, first: first, y: zero"
    ),
    # A state that no datum has a law of is anywhere.
    "a state of a series that has no law": series(
        f"{VOLATILITY} + {STATES}", "t: missed, before: before, first: first, y: y"
    ),
    # s**-6, int dh gives s**3 back; three states have none.
    "states of a series that have two laws each": series(
        "-log(s) - ((h[t] - mu)/s)**2/2 - 0*y", "t: twice, before: before, first: first, y: y"
    ),
    # Each state given the next one, the last given the first: int dh is s**6/(1 - phi**6), infinite over phi.
    "states of a series in a circle": series(
        "normal(h[t], phi*h[before], s) - 0*y", "t: t, before: after, first: first, y: y", "lognormal(s, 0, 1)"
    ),
    # The law of each state has half the precision that its square asks for: s**-6 is left over once more.
    "states of a series whose scale counts twice": series(f"{VOLATILITY} + {STATES} - log(s)"),
    # y = x @ b at some b: sigma**-24 near c = 0, or exp(-24 g), int db gives sigma**3 back.
    "log-linear scales and no residual": spread(
        "sigma*exp(c*w)",
        f"c: {{}}, sigma: {SCALE}",
        "normal(c, 0, 1) + half_normal(sigma, 1)",
        "x: [one, k1, k2], w: k2, y: fit",
    ),
    "scales of a Cauchy exponent and no residual": spread(
        "exp(g)", "g: {}", "cauchy(g, 0, 1)", "x: [one, k1, k2], w: k2, y: fit"
    ),
    "scales of the data times one scale and no residual": spread(
        "sigma*exp(w/10)", f"sigma: {SCALE}", "half_normal(sigma, 1)", "x: [one, k1, k2], w: k2, y: fit"
    ),
    "probit, separable classes": regression(PROBIT, XY + "split", scale=""),
    "probit, a prior of one coefficient alone": regression(PROBIT, XY + "split", "normal(beta[0], 0, 5)", scale=""),
    "a horseshoe whose columns span the data": horseshoe("fit"),
    "a horseshoe on columns whose sum the data are": horseshoe("k3"),
    "a horseshoe on the data themselves": horseshoe("k1", "x: [k1]"),
    "a process of data that are 0": process("y, k1, time", y="0*y"),
    "a process of data that are its mean": process("y, k1, time", y=ALIKE, mean="1"),
    "a process at equal points, of equal data": process("one, all, y", points="[2, 2, 3]"),
    "a process with a half-Cauchy length scale": process("y, k1, time", "half_cauchy(rho, 1)", y=ALIKE),
    "a process with an inverse gamma length scale": process("y, k1, time", "inverse_gamma(rho, 2, 1)", y=ALIKE),
    "a process with a gamma length scale of a rate that has a law": process(
        "y, k1, time", "gamma(rho, 2, tau) + half_normal(tau, 1)", state=f", tau: {SCALE}", y=ALIKE
    ),
    "a process with a flat length scale": process("y, k1, time", ""),
    "a process with an amplitude of law 1/alpha": process("y, k1, time", others="-log(alpha) + half_normal(sigma, 1)"),
    "a process with noise of law 1/sigma": process("y, k1, time", others="half_normal(alpha, 2) - log(sigma)"),
    "a covariance matrix that grows, few data": covariance("y, k1", "trace(S)/100", file="three.csv"),
    "a covariance matrix that grows by more than it falls": covariance(
        "y, k1", "-trace(S) + 2*trace(S)", file="three.csv"
    ),
    "rows of effects that are the data": in_rows("k1"),
    "rows of effects that are the groups": in_rows("g3"),
    "rows of effects, product the other way round, that are the data": in_rows(
        "k1", likelihood="normal(y, B[z] @ x.T, sigma)"
    ),
    "rows of effects, two data a group": in_rows("y", file="three.csv", z="z: g"),
    "rows of effects, 1/scale": in_rows("y", scale="-sum(log(s))"),
    "rows of effects of a flat matrix": in_rows("y", law="multi_normal_cholesky(2*B, 2*B + ones @ mu.T, diag(s) @ L)"),
    "rows of effects around themselves": in_rows("y", law="multi_normal_cholesky(B, B, diag(s) @ L)"),
    "rows of effects whose means have no law": in_rows(
        "y", law="multi_normal_cholesky(B, mu, diag(s) @ L) - normal(mu, 0, 5)", likelihood="normal(y, 0, sigma)"
    ),
    "rows of effects of which one column has a law": in_rows(
        "y", law="normal(B @ [1, 0], mu[0], 1)", likelihood="normal(y, B[z] @ [1, 0], sigma)"
    ),
    "effects of groups that are the data": effects("normal(y, theta[z], sigma)", "g8"),
    "effects of groups that are the data, absolute errors": effects("laplace(y, theta[z], sigma)", "g8"),
    "a scale for each group, at ties": Model(
        "mu: {}, s: {shape: J, domain: positive, transform: log}",
        "z: {shape: N, index_of: J}, y: {shape: N}",
        "normal(mu, 0, 5) + half_normal(s, 1)",
        "normal(y, mu, s[z])",
        "z: g8, y: tied",
        "J: 8",
    ),
    "a curve through the data": curve("normal(y + 1, a*exp(b*x), sigma)", "x: label, y: label"),
    "a square of a sum of columns that is the data": factors("normal(y*y, (x @ beta)**2, sigma)"),
    "products of sums of columns that are the data": factors("normal(y*y, (x @ beta)*(x @ c), sigma)"),
    "a beta law at one point, half-Cauchy precision": shares("half_cauchy(phi, 1)", "all"),
    "a gamma law at one point, half-Cauchy shape": times("half_cauchy(a, 1)", "one"),
    "fewer data than coefficients": regression(KNOWN, "x: [one, k1, k2, k3], y: y", scale="", file="three.csv"),
    "collinear columns": regression(KNOWN, "x: [one, k1, k2, k3], y: y", scale=""),
    "collinear columns, unknown scale": regression(NORMAL, "x: [one, k1, k2, k3], y: y"),
    "a scale and one datum too few": regression(NORMAL, "x: [one, k1], y: y", file="three.csv"),
    "a scale and no residual": regression(NORMAL, "x: [one, k1, k2], y: fit"),
    "a scale with half-Cauchy prior and no residual": regression(NORMAL, XY + "fit", prior="-log(1 + sigma**2)"),
    "sigma**-2 before as many data as coefficients": regression(
        NORMAL, "x: [one, k1, k2], y: y", "-2*log(sigma)", file="three.csv"
    ),
    "a precision and no residual": regression(PRECISION, XY + "fit", prior="-log(tau)", scale="tau"),
    "a flat precision": regression(PRECISION, "x: [one, k1], y: y", "-2*log(tau)", scale="tau", file="three.csv"),
    "Laplace errors and no residual": regression(LAPLACE, XY + "fit"),
    "Student errors and one datum too few": regression(STUDENT, "x: [one, k1], y: y", file="three.csv"),
    "Cauchy errors, most data the same": regression(CAUCHY, "x: [one], y: tied"),
    "separable classes": regression(LOGISTIC, XY + "split", scale=""),
    "classes separable but for ties": regression(LOGISTIC, XY + "quasi", scale=""),
    "one class": regression(LOGISTIC, "x: [one], y: all", scale=""),
    "no counts": regression(POISSON, "x: [one], y: none", scale=""),
    "no counts, negative binomial": regression(NEGATIVE_BINOMIAL, XY + "none", scale=""),
    "a group without counts": Model(
        "beta: {shape: J}", GROUPS, "0", "y*(z @ beta) - exp(z @ beta)", "z: g8, y: part, indicator: [z]", "J: 8"
    ),
    "no survival": regression(SURVIVAL, XY + "none", scale=""),
    "softmax without a class of reference": softmax("0"),
    "softmax with some weights flat": softmax("-W[0, 0]**2 - W[1, 1]**2"),
    "a flat tau of two groups": hierarchy(OF_GROUPS, "g2", 2),
    "tau**-1": hierarchy(f"{OF_GROUPS} - log(tau)", "g8", 8),
    "tau**-2": hierarchy(f"{OF_GROUPS} - 2*log(tau)", "g8", 8),
    "three groups of one": hierarchy(OF_GROUPS, "g", 3, file="three.csv"),
    "a mixture of flat means": mixture("-norm2(a)/2"),
    "a mixture of flat weights": mixture("-norm2(m)/2"),
    "normal laws of each other": Model(
        "a: {}, b: {}", "y: {shape: N}", "normal(a, b, 1) + normal(b, a, 1)", "normal(y, 0, 2)", "y: y"
    ),
    "a uniform law on the whole line": Model(
        "a: {}, b: {}", "y: {shape: N}", "normal(a, 0, 1) + uniform(b, 0, 1)", "normal(y, a, 2)", "y: y"
    ),
    "a half-normal law of a scale, and no residual": regression(
        "normal(y, x @ beta, sigma)", XY + "fit", "normal(beta, 0, 10) + half_normal(sigma, 1)"
    ),
    "positions in two groups, flat tau": positions("normal(theta, mu, tau)", "g2", 2),
    "a mixture with a flat mean, by name": Model(
        f"m: {{}}, k: {{}}, {WEIGHT}", "y: {shape: N}", "normal(m, 0, 5) + beta(w, 2, 2)", NAMED_MIXTURE, "y: y"
    ),
    "a mixture whose scale may vanish": Model(
        f"m: {{}}, k: {{}}, sigma: {SCALE}, {WEIGHT}",
        "y: {shape: N}",
        "normal(m, 0, 5) + normal(k, 0, 5) + beta(w, 2, 2) + gamma(sigma, 1, 1) - 3*log(sigma)",
        "mixture([w, 1 - w], normal(y, m, 1), normal(y, k, sigma))",
        "y: y",
    ),
    "one number with a normal law of each of two scales": Model(
        "mu: {}, s: {shape: 2, domain: positive, transform: log}",
        "y: {shape: N}",
        "normal(mu, 0, s) + gamma(s, 1/10, 1)",
        "normal(y, 0, 1)",
        "y: y",
    ),
    "one number with a gamma law of each of two shapes": Model(
        f"tau: {SCALE}, a: {{shape: 2, domain: positive, transform: log}}",
        "y: {shape: N}",
        "gamma(tau, a, 1) + gamma(a, 1/10, 1)",
        "normal(y, 0, 1)",
        "y: y",
    ),
    "exponential times of length 0": Model(
        f"rate: {SCALE}", "y: {shape: N}", "half_cauchy(rate, 1)", "exponential(y, rate)", "y: none"
    ),
    "a Dirichlet law for every datum": Model(
        "w: {shape: 3, constraint: simplex}", "y: {shape: N}", "0", "dirichlet(w, 1/10) + normal(y, 0, 1)", "y: y"
    ),
    "slopes over pi": Model("m: {}", "y: {shape: N}", "0", "-abs(m - y)/pi + m/2", "y: y"),
    "Laplace errors of scale 2, written as a root": Model(
        "m: {}", "y: {shape: N}", "0", "laplace(y, m, sqrt(4)) + 3/4*m", "y: y"
    ),
    "an autoregression on a constant": regression(NORMAL, "x: [one, all], y: y"),
    "a beta-binomial law of a flat kappa": overdispersed("normal(beta, 0, 5)"),
    "a beta-binomial law whose shares do not add up": overdispersed(
        "normal(beta, 0, 5) + half_cauchy(kappa, 1)", shares="2*kappa*sigmoid(-x @ beta)"
    ),
    "zeros whose weights do not add up": zero_inflated("normal(beta, 0, 5)", weights="-softplus(psi)/2"),
    "zeros of a flat log odds": zero_inflated("normal(beta, 0, 5)"),
    "a mixture of one scale, half-normal, at ties": two_laws(
        "normal(mu, 0, 5) + gamma(gap, 2, 1/2) + normal(w, 0, 3/2) + half_normal(sigma, 1)", "y: tied"
    ),
    "a mixture with a flat scale": two_laws("normal(mu, 0, 5) + gamma(gap, 2, 1/2) + normal(w, 0, 3/2)", "y: one"),
    "a mixture of scales, one half-normal, at ties": Model(
        f"mu: {{}}, sigma: {SCALE}, {WEIGHT}",
        "y: {shape: N}",
        "normal(mu, 0, 5) + half_normal(sigma, 1) + beta(w, 2, 2)",
        "mixture([w, 1 - w], normal(y, mu, sigma), normal(y, 0, 1))",
        "y: tied",
    ),
    "survival times and a flat shape, half of whose power is there": survival("normal(beta, 0, 5)", "1/2"),
    "survival times and a half-Cauchy shape": survival("normal(beta, 0, 5) + half_cauchy(alpha, 1)", "1/2"),
    "Student errors of flat degrees of freedom": Model(
        f"mu: {{}}, nu: {SCALE}", "y: {shape: N}", "normal(mu, 0, 5)", "student_t(y, nu, mu, 1)", "y: y"
    ),
    "log-variances of data that are zero": Model(
        f"h: {{}}, s: {SCALE}", "y: {shape: N}", "student_t(h, 3, 0, 1)", "-h/2 - y**2*exp(-h)/2", "y: none"
    ),
    "moments of a scale that moves": Model(
        f"mu: {{}}, a: {SCALE}",
        "y: {shape: N}",
        "cauchy(mu, 0, 1) + lognormal(a, mu, 1)",
        "log(a) - y**2",
        "y: y",
    ),
    "logs of all entries of a matrix in the prior": Model(
        "t: {}",
        "y: {shape: N, is: nonnegative}",
        "cauchy(t, 0, 1) + sum(log(exp([[0, 0, 0], [t, t, t]])))",
        "-y",
        "y: none",
    ),
    "exponential laws of all entries of a matrix": Model(
        "t: {}",
        "y: {shape: N, is: nonnegative}",
        "cauchy(t, 0, 1)",
        "exponential([[y, y, y], [y, y, y]], exp([[0, 0, 0], [t, t, t]]))",
        "y: none",
    ),
    "a multiple of a block with heavy tails": Model("mu: {}", "y: {shape: N}", "cauchy(mu, 0, 1)", "mu - y**2", "y: y"),
    "log-sum-exp of a large term": Model(
        "mu: {}", "y: {shape: N}", "laplace(mu, 0, 1)", "logsumexp([normal(y, mu, 1), mu])", "y: y"
    ),
}

PROPER = {
    **{f"made, not in the span: {columns}": regression(NORMAL, f"{columns}, y: k3") for columns in OUT_OF_SPAN},
    "made responses, not in the span": regression(NORMAL, "x: [one, time], y: t, columns: {t: 0.1 - 3*time**2}"),
    "made responses, not in the span of logarithms": regression(
        NORMAL, "x: [t, u], y: v, columns: {t: log(time), u: log(all + 2), v: log(time*(all + 2)**3 + 1)}"
    ),
    "made columns, not in the span, Student errors": regression(
        STUDENT, "x: [one, time, t], y: y, columns: {t: standardise(time*k)}"
    ),
    "made columns, labels": regression(
        LOGISTIC, "x: [one, time, t], y: label, columns: {t: standardise(time*k1)}", scale=""
    ),
    "made columns, labels, by logarithms": regression(
        LOGISTIC, "x: [one, t], y: label, columns: {t: standardise(log(time))}", scale=""
    ),
    "made columns, counts": regression(
        POISSON, "x: [one, t], y: count, columns: {t: standardise(log(time))}", scale=""
    ),
    "standardised columns that do not agree": shifted("x: time, y: t, columns: {t: 3*y + 0.1}, standardise: [x, y]"),
    "standardised columns that do not agree, by logarithms": shifted(
        "x: t, y: y, columns: {t: log(time)}, standardise: [x, y]"
    ),
    "a mixture of regressions on a made column": of_regressions(
        OF_TWO, "x: [one, t], y: time, columns: {t: standardise(k2*0.1)}"
    ),
    "a mixture of made data that all differ": replace(
        by_columns("t", "half_normal(s, 1)"), columns="y: t, columns: {t: log(time)}"
    ),
    "horseshoe on made columns": horseshoe("k3", "x: [one, t, u], columns: {t: standardise(time), u: log(time)}"),
    "a process": process("y, k1, time"),
    "a process with a lognormal length scale": process("y, k1, time", "lognormal(rho, 0, 1)"),
    "a process with a squared scale of noise": process("y, k1, time", noise="sigma**2*I"),
    "a process around a number": process("y, k1, time", y=ALIKE, mean="2"),
    "a process seen three times": process("y, k1, k2", file="three.csv"),
    "a covariance matrix with a trace alone, few data": covariance("y, k1", "-trace(S)", file="three.csv"),
    "rows of effects": in_rows("y"),
    "rows of effects, product the other way round": in_rows("y", likelihood="normal(y, B[z] @ x.T, sigma)"),
    "rows of effects, a location of each": in_rows("y", likelihood="normal(y, x @ B[z].T, sigma)"),
    "rows of effects, independent": in_rows("y", law="normal(B, 0, 2)"),
    "rows of effects, bounded likelihood": in_rows("y", likelihood="normal(y, dot(x, B[z]), 2)"),
    "a covariance matrix": covariance("y, time", "-trace(S)"),
    "a covariance matrix of four columns, a power of its determinant": covariance(
        "y, k1, time, count", "-trace(S)/10 - 5/2*logdet(S)"
    ),
    "a flat covariance matrix": covariance("y, k1, time", "0*trace(S)"),
    "a covariance matrix of a regression": covariance(
        "y, time", "normal(b, 0, 1) - trace(S)", "mu + b*x[1]", state=", b: {shape: 2}",
        data=", x: {shape: [N, 2]}", fields=", x: [one, k1]",
    ),
    "a mixture of regressions, half-normal scales": of_regressions(OF_TWO, "x: [one, k2], y: time"),
    "a mixture of a regression on zeros alone, data that are not 0": of_regressions(OF_TWO, "x: [none], y: tied"),
    "a mixture of regressions of three coefficients, half-Cauchy scales": of_regressions(
        "normal(b, 0, 5) + normal(c, 0, 5) + half_cauchy(s, 1)", "x: [one, k2, g8], y: y"
    ),
    "a mixture of regressions of heavy tails": of_regressions(
        OF_TWO, "x: [one, k2], y: time",
        law="mixture([w, 1 - w], student_t(y, 3, x @ b, s[0]), laplace(y, x @ c, s[1]))",
    ),
    "a mixture of slopes times a field": of_regressions(
        f"{OF_TWO} + normal(m, 0, 5)", "x: [one], v: k2, y: time", data=f"{ROW}, v: {{shape: N}}", state=", m: {}",
        law="mixture([w, 1 - w], laplace(y, x @ b + m*v, s[0]), normal(y, x @ c + m*v, 1))",
    ),
    "a mixture of regressions, lognormal scales, data on a plane": of_regressions(
        "normal(b, 0, 5) + normal(c, 0, 5) + lognormal(s, 0, 1)", "x: [one, k1, k2], y: fit"
    ),
    "equal data of a series, flat": garch("tied", "dirichlet(w, 1)"),
    "equal data of a series, half-normal floor": garch("y", f"{PAIR} + half_normal(omega, 1)", file="turns.csv"),
    "a regression with a volatility, flat": volatile(XY + "y", "dirichlet(w, 1)"),
    "a regression with a volatility": volatile(XY + "y", f"{OF_ROW} + half_normal(omega, 1)", start="1/4"),
    "a regression with a volatility, absolute errors": volatile(
        "x: [one, k1], y: tied", f"{OF_ROW} + gamma(omega, 1/2, 1)", "laplace(y, x @ b, s)",
        following="omega + w[0]*abs(x @ b - y) + w[1]*s",
    ),
    "a regression with a volatility, heavy tails": volatile(
        "x: [one, k2], y: time", f"{OF_ROW} + half_cauchy(omega, 1)", "student_t(y, 5, x @ b, sqrt(s))"
    ),
    "an autoregression with a volatility": volatile(
        "x: [one], l: k1, y: y", "dirichlet(w, 1)", "normal(y, x @ b + phi*l, sqrt(s))",
        data=f"{ROW}, l: {{shape: N}}", state=', phi: {domain: "interval(-1, 1)", transform: logit}',
        following="omega + w[0]*(y - x @ b - phi*l)**2 + w[1]*s",
    ),
    "a mixture by columns, lognormal scales, at ties": by_columns("tied", "lognormal(s, 0, 1)"),
    "a mixture by columns, half-normal scales": by_columns("time", "half_normal(s, 1)"),
    "a mixture of regressions": of_regressions("normal(b, 0, 5) + normal(c, 0, 5) + inverse_gamma(s, 3, 1)"),
    "a series whose variance passes on": garch("time", f"{PAIR} + lognormal(omega, 0, 1)"),
    "a series whose variance passes on, half-normal floor": garch("time", f"{PAIR} + half_normal(omega, 1)"),
    "a series whose variance passes on, flat": garch("time", "dirichlet(w, 1)"),
    "a series whose scale passes on, heavy tails": garch(
        "time", "dirichlet(w, 1) + gamma(omega, 1/2, 1)", "student_t(y, 3, m, s)", "2", following="omega + w[0]*abs(y)"
    ),
    "equal data of a series, floor away from 0": garch("none", f"{PAIR} + inverse_gamma(omega, 3, 1)"),
    "a mixture of half-normal scales": components("time", FIRST, SECOND),
    "a mixture of half-Cauchy scales of Student and Laplace laws": components(
        "time", "student_t(y, 3, m[0], s[0])", "laplace(y, m[1], s[1])", "half_cauchy(s, 1)"
    ),
    "a mixture of lognormal laws": components("time", "lognormal(y, m[0], s[0])", "lognormal(y, m[1], s[1])"),
    "a mixture of one half-normal scale": components("time", FIRST, "normal(y, m[1], s[0])"),
    "a mixture of one location": components("time", FIRST, "normal(y, m[0], 10*s[0])"),
    "a mixture of locations of a lognormal scale": components(
        "time", FIRST, SECOND, "normal(m, 0, tau) + lognormal(tau, 0, 1) + half_normal(s, 1)", f", tau: {SCALE}"
    ),
    "a mixture of three laws": Model(
        "m: {shape: 3, constraint: ordered}, s: {shape: 3, domain: positive, transform: log},"
        " w: {shape: 3, constraint: simplex}",
        "y: {shape: N}", "normal(m, 0, 5) + half_cauchy(s, 1) + dirichlet(w, 2)",
        "mixture(w, normal(y, m[0], s[0]), normal(y, m[1], s[1]), normal(y, m[2], s[2]))", "y: time",
    ),
    "stochastic volatility": series(f"{VOLATILITY} + {STATES}"),
    "counts of a series": series(
        f"poisson_log(y, h[t]) + {STATES}", "t: t, before: before, first: first, y: count"
    ),
    "a series by named laws": series(
        "normal(h[t], tanh(h[before]) + mu, s)*(1 - first) + first*normal(h[t], 0, s) - y**2"
    ),
    "a hurdle before counts": hurdle("log(w) + poisson_log(y, x @ b) - log1p(-exp(-exp(x @ b)))"),
    "a hurdle before lognormal sizes": hurdle("log(w) + lognormal(y, x @ b, sigma)", scale="sigma"),
    "a hurdle before gamma sizes": Model(
        f"a: {SCALE}, r: {SCALE}, g: {{}}", "y: {shape: N, is: nonnegative}",
        "gamma(a, 2, 1) + gamma(r, 2, 1) + normal(g, 0, 3)",
        "where(y > 0, bernoulli_logit(1, g) + gamma(y, a, r), bernoulli_logit(0, g))", "y: count",
    ),
    "residuals that count less far out": Model(
        f"m: {{}}, s: {SCALE}", "y: {shape: N}", "normal(m, 0, 5) + lognormal(s, 0, 1)",
        "where(abs(y - m) < s, -((y - m)/s)**2/2, 1/2 - abs(y - m)/s) - log(s)", "y: y",
    ),
    "two sides of a location": Model(
        "m: {}", "y: {shape: N}", "normal(m, 0, 5)", "where(y > m, m - y, 2*(y - m))", "y: y"
    ),
    "a hurdle before sizes": hurdle("log(w) + normal(log(maximum(y, 1)), x @ b, sigma)", scale="sigma"),
    "zeros of two kinds": hurdle("log(w) + poisson_log(y, x @ b)", "log(1 - w + w*exp(-exp(x @ b)))"),
    "zeros of two kinds, negative binomial": hurdle(
        "log(w) + neg_binomial_2_log(y, x @ b, phi)", "log(1 - w + w*exp(neg_binomial_2_log(0, x @ b, phi)))", "phi"
    ),
    "lognormal times, half-normal scale": of_times("time", "normal(b, 0, 5) + half_normal(sigma, 1)"),
    "lognormal times, flat coefficients": of_times("time"),
    "lognormal times, flat coefficients and Jeffreys' scale": of_times("time", "-log(sigma)"),
    "logarithms, flat coefficients": of_times("time", law="normal(log(y), x @ b, sigma)"),
    "covariance of three columns": correlated("y, k1, time"),
    "covariance around 0 of lognormal scales": around_zero("y, k1, time", 3),
    "covariance of five columns": correlated("y, k1, k2, time, count", 5),
    "correlation of two columns": of_two("y", "time"),
    "means and scales of groups": in_groups("time"),
    "scales of groups about one mean": in_groups("y", means="mu[0]"),
    "log-linear scales": spread("exp(x @ g)", "g: {shape: p}", "normal(g, 0, 1)"),
    "scales of the data times one scale": spread("sigma*exp(w/10)", f"sigma: {SCALE}", "half_normal(sigma, 1)"),
    "probit": regression(PROBIT, XY + "split", "normal(beta, 0, 5)", scale=""),
    "classes with a Dirichlet law": Model(
        "w: {shape: 3, constraint: simplex}", "c: {shape: N, index_of: 3}", "dirichlet(w, 2)", "log(w[c])", "c: k"
    ),
    "a horseshoe": horseshoe("y"),
    "a horseshoe of products of columns": horseshoe("y", location="x @ (eta*lam)*tau + x[1]*x[2]*tau"),
    "effects of groups": effects("normal(y, theta[z], sigma)", "y"),
    "effects of groups, absolute errors": effects("laplace(y, theta[z], sigma)", "y"),
    "effects of groups, logistic errors": effects("logistic(y, theta[z], sigma)", "y"),
    "a beta law": shares("gamma(phi, 2, 1/10)", "label"),
    "a gamma law": times("gamma(a, 2, 1/10)", "one"),
    "known scale": regression(KNOWN, XY + "y", scale=""),
    "flat scale": regression(NORMAL, XY + "y"),
    "half-Cauchy scale": regression(NORMAL, XY + "y", "-log(1 + (sigma/5)**2)"),
    "half-Cauchy scale and one datum more": regression(
        NORMAL, "x: [one, k1], y: y", "-log(1 + sigma**2)", file="three.csv"
    ),
    "lognormal scale": regression(NORMAL, XY + "y", "-log(sigma) - (log(sigma) - 1)**2/2"),
    "logarithm of the scale": Model(
        f"{BETA}, s: {{}}", ROW, "0", "-s - (y - x @ beta)**2*exp(-2*s)/2", XY + "y"
    ),
    "Jeffreys' precision": regression(PRECISION, XY + "y", "-log(tau)", scale="tau"),
    "Laplace errors": regression(LAPLACE, XY + "y"),
    "Student errors": regression(STUDENT, XY + "y"),
    "Cauchy errors": regression(CAUCHY, XY + "y"),
    "logistic": regression(LOGISTIC, XY + "label", scale=""),
    "Poisson": regression(POISSON, XY + "count", scale=""),
    "negative binomial": regression(NEGATIVE_BINOMIAL, XY + "count", scale=""),
    "negative binomial by name": regression("neg_binomial_2_log(y, x @ beta, 3)", XY + "count", scale=""),
    "negative binomial, unknown phi": regression(
        "neg_binomial_2_log(y, x @ beta, phi)", XY + "count", "normal(beta, 0, 5) + gamma(phi, 2, 1/10)", "phi"
    ),
    "Student errors by name": regression(
        "student_t(y, 4, x @ beta, sigma)", XY + "y", "half_cauchy(sigma, 5) + normal(beta, 0, 10)"
    ),
    "logistic in groups by name": Model(
        f"theta: {{shape: J}}, mu: {{}}, tau: {SCALE}", GROUPS,
        "normal(theta, mu, tau) + normal(mu, 0, 5) + gamma(tau, 2, 1)",
        "bernoulli_logit(y, z @ theta)", "z: g8, y: label, indicator: [z]", "J: 8",
    ),
    "a mixture by name": Model(
        f"m: {{}}, k: {{}}, {WEIGHT}", "y: {shape: N}", "normal(m, 0, 5) + normal(k, 0, 5) + beta(w, 2, 2)",
        NAMED_MIXTURE, "y: y",
    ),
    "a beta-binomial law": overdispersed("normal(beta, 0, 5) + gamma(kappa, 2, 1/10)"),
    "a Dirichlet-multinomial law of three shares": Model(
        f'kappa: {SCALE}, w: {{domain: "interval(0, 1)", transform: logit}}', COUNTS,
        "half_cauchy(kappa, 1)",
        "loggamma(kappa) - loggamma(kappa + 2*label + 2)"
        " + loggamma(label + kappa*w/2) - loggamma(kappa*w/2)"
        " + loggamma(label + kappa*w/2) - loggamma(kappa*w/2)"
        " + loggamma(2 + kappa*(1 - w)) - loggamma(kappa*(1 - w))",
        "label: label",
    ),
    "zeros beside a Poisson law": zero_inflated("normal(beta, 0, 5) + cauchy(psi, 0, 1)"),
    "a mixture of one scale": two_laws(
        "normal(mu, 0, 5) + gamma(gap, 2, 1/2) + normal(w, 0, 3/2) + lognormal(sigma, 0, 1)", "y: tied"
    ),
    "a mixture of scales": Model(
        f"mu: {{}}, sigma: {SCALE}, {WEIGHT}", "y: {shape: N}",
        "cauchy(mu, 0, 5) + inverse_gamma(sigma, 2, 1) + beta(w, 2, 2)",
        "mixture([w, 1 - w], normal(y, mu, sigma), student_t(y, 3, mu, 2*sigma))", "y: tied",
    ),
    "survival times of a Weibull law": survival("normal(beta, 0, 5) + gamma(alpha, 2, 1)", "1"),
    "a Weibull law by name": Model(
        f"alpha: {SCALE}, sigma: {SCALE}", "y: {shape: N, is: positive}",
        "exponential(alpha, 1) + half_cauchy(sigma, 1)", "weibull(y, alpha, sigma)", "y: one",
    ),
    "Student errors of unknown degrees of freedom": Model(
        f"mu: {{}}, nu: {SCALE}, sigma: {SCALE}", "y: {shape: N}",
        "normal(mu, 0, 5) + gamma(nu, 2, 1/10) + lognormal(sigma, 0, 1)", "student_t(y, nu, mu, sigma)", "y: y",
    ),
    "scales of groups": Model(
        "mu: {}, s: {shape: J, domain: positive, transform: log}", "z: {shape: N, index_of: J}, y: {shape: N}",
        "normal(mu, 0, 5) + inverse_gamma(s, 3, 1)", "normal(y, mu, s[z])", "z: g8, y: tied", "J: 8",
    ),
    "survival": regression(SURVIVAL, XY + "count", scale=""),
    "softmax with a class of reference": softmax("-1000*(W[0, 0]**2 + W[0, 1]**2 + W[0, 2]**2)"),
    "flat tau of eight groups": hierarchy(OF_GROUPS, "g8", 8),
    "half-Cauchy tau of two groups": hierarchy(f"{OF_GROUPS} - log(1 + tau**2) - mu**2/200", "g2", 2),
    "positions in eight groups, flat tau": positions("normal(theta, mu, tau)", "g8", 8),
    "non-centred, flat tau": Model(
        f"eta: {{shape: J}}, mu: {{}}, tau: {SCALE}, sigma: {SCALE}", GROUPS, "-norm2(eta)/2",
        "-log(sigma) - ((y - mu - tau*(z @ eta))/sigma)**2/2", "z: g8, y: y, indicator: [z]", "J: 8",
    ),
    "logistic in groups, flat tau": Model(
        f"theta: {{shape: J}}, mu: {{}}, tau: {SCALE}", "z: {shape: [N, J], in: [0, 1]}, y: {shape: N, in: [0, 1]}",
        OF_GROUPS, "y*(z @ theta) - softplus(z @ theta)", "z: g8, y: label, indicator: [z]", "J: 8",
    ),
    "autoregression": Model(
        f'c: {{}}, rho: {{domain: "interval(-1, 1)", transform: logit}}, sigma: {SCALE}',
        "lag: {shape: N}, y: {shape: N}", "0", "-log(sigma) - ((y - c - rho*lag)/sigma)**2/2", "lag: k1, y: y",
    ),
}  # fmt: skip


OPEN = {
    "a likelihood that is not read": Model("m: {}", "y: {shape: N}", "0", "-sqrt(1 + (y - m)**2)", "y: y"),
    "slopes times pi": Model("m: {}", "y: {shape: N}", "0", "-pi*abs(m - y) + 2*m", "y: y"),
    "a uniform law between scales": Model(
        f"x: {{}}, tau: {SCALE}", "y: {shape: N}", "uniform(x, -tau, tau) + gamma(tau, 2, 1)", "normal(y, 0, 1)", "y: y"
    ),
}
"""Proper, and shown to be where that is in reach."""


def written(model: Model, folder: Path) -> Path:
    """Write a model as a target and a build, and return where the build is."""
    (folder / "target.yaml").write_text(
        f"format: 1\nname: model\nstate: {{{model.state}}}\ndata: {{{model.data}}}\n"
        f'log_prior: "{model.prior}"\nlog_likelihood: "{model.likelihood}"\n'
    )
    further = {"recursion": model.recursion, "parameters": model.parameters}
    with (folder / "target.yaml").open("a") as file:
        file.writelines(f"{entry}: {{{text}}}\n" for entry, text in further.items() if text)
    build = folder / "build.yaml"
    build.write_text(
        f"format: 1\nname: model_build\ndynamics: {DYNAMICS}\ntarget: target.yaml\nscheme: {{name: baoab}}\n"
        f"variant: full\nsizes: {{{model.sizes}}}\ndata: {{file: {HERE / model.file}, {model.columns}}}\n"
        "run: {step_size: auto}\n"
    )
    return build


def verdict(model: Model, folder: Path) -> Verdict:
    """Return whether the integral is shown to be finite."""
    build = load_build(written(model, folder))
    return normalisable_build(observed(build), bind(build)).decision.verdict


@pytest.mark.parametrize("name", some(IMPROPER, 3))
def test_an_improper_posterior_is_never_proved(name: str, tmp_path: Path) -> None:
    assert verdict(IMPROPER[name], tmp_path) is not Verdict.PROVED


@pytest.mark.parametrize("name", OPEN)
def test_a_proper_posterior_is_never_refuted(name: str, tmp_path: Path) -> None:
    assert verdict(OPEN[name], tmp_path) is not Verdict.REFUTED


@pytest.mark.parametrize("name", some(PROPER, 3))
def test_a_proper_posterior_of_the_same_kind_is_proved(name: str, tmp_path: Path) -> None:
    assert verdict(PROPER[name], tmp_path) is Verdict.PROVED


@pytest.mark.parametrize(
    "name", ["a mixture of half-normal scales, at ties", "a mixture by columns, half-normal scales, at ties"]
)
def test_equal_data_are_named_as_what_leaves_a_mixture_open(name: str, tmp_path: Path) -> None:
    build = load_build(written(IMPROPER[name], tmp_path))
    decision = normalisable_build(observed(build), bind(build)).decision
    assert isinstance(decision, Undecided)
    assert any("two data are 2: with m at both" in one and "lognormal" in one for one in decision.tried)


def test_a_mixture_by_itself_says_what_data_have_to_show(tmp_path: Path) -> None:
    build = load_build(written(by_columns("time", "half_normal(s, 1)"), tmp_path))
    decision = normalisable_alone(build.target).decision
    assert isinstance(decision, Undecided)
    assert "the data of a build would decide it: no two equal data at one m" in decision.tried

"""Posterior moments of the textbook models by NUTS of NumPyro, as references.json holds them.

    python -m venv venv && venv/bin/pip install numpyro
    venv/bin/python benchmarks/models/references.py [NAME...]

4 chains of 2,000 draws after 1,000 of warmup, acceptance 0.95. Written for each coordinate: mean, sd, the Monte Carlo
error of the mean, R-hat. Means and sds of `linear` and `ar2` are exact: their posteriors are known in closed form.
"""
# ruff: noqa: D103, E402 - a model says what it is by what it states; devices are told before JAX is loaded

import json
import os
import sys
from pathlib import Path

CHAINS = 4
os.environ.setdefault("XLA_FLAGS", f"--xla_force_host_platform_device_count={CHAINS}")

import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
from jax import random
from jax.nn import log_sigmoid, softplus
from numpyro.diagnostics import effective_sample_size, gelman_rubin
from numpyro.distributions import ImproperUniform, constraints
from numpyro.infer import MCMC, NUTS

numpyro.enable_x64()
HERE = Path(__file__).parent
STORED = HERE / "references.json"
COMMAND = "python benchmarks/models/references.py"


def flat(name, size):
    return numpyro.sample(name, ImproperUniform(constraints.real_vector, (), (size,)))


def normal(name, mean, sd, size=None):
    law = dist.Normal(mean, sd)
    return numpyro.sample(name, law if size is None else law.expand([size]))


def with_ones(*columns):
    return np.column_stack([np.ones(len(columns[0])), *columns])


def robust(a, b, y):
    beta, sigma = normal("beta", 0, 10, 3), numpyro.sample("sigma", dist.HalfCauchy(5))
    numpyro.sample("y", dist.StudentT(4, with_ones(a, b) @ beta, sigma), obs=y)


def logistic(a, b, y):
    numpyro.sample("y", dist.Bernoulli(logits=with_ones(a, b) @ flat("beta", 3)), obs=y)


def poisson(a, b, y):
    numpyro.sample("y", dist.Poisson(jnp.exp(with_ones(a, b) @ flat("beta", 3))), obs=y)


def negative_binomial(a, b, y):
    beta, phi = normal("beta", 0, 5, 3), numpyro.sample("phi", dist.Gamma(2, 0.1))
    numpyro.sample("y", dist.NegativeBinomial2(jnp.exp(with_ones(a, b) @ beta), phi), obs=y)


def beta_binomial(a, n, y):
    beta, kappa = normal("beta", 0, 5, 2), numpyro.sample("kappa", dist.Gamma(2, 0.1))
    mean = 1 / (1 + jnp.exp(-with_ones(a) @ beta))
    numpyro.sample("y", dist.BetaBinomial(mean * kappa, (1 - mean) * kappa, n.astype(int)), obs=y.astype(int))


def ordered_logit(a, b, y, y0, y1, y2):
    beta, c = normal("beta", 0, 5, 2), normal("c", 0, 5)
    gap = numpyro.sample("gap", dist.Gamma(2, 1))
    eta = np.column_stack([a, b]) @ beta
    numpyro.sample("y", dist.OrderedLogistic(eta, jnp.stack([c, c + gap])), obs=y.astype(int))


def softmax(a, b, y):
    W = numpyro.sample("W", dist.Normal(0, 1).expand([3, 3]))
    numpyro.sample("y", dist.Categorical(logits=with_ones(a, b) @ W.T), obs=y.astype(int))


def weibull(a, t, event):
    beta, alpha = normal("beta", 0, 5, 2), numpyro.sample("alpha", dist.Gamma(2, 1))
    u = alpha * (jnp.log(t) - with_ones(a) @ beta)
    numpyro.factor("t", jnp.sum(event * (jnp.log(alpha) - jnp.log(t) + u) - jnp.exp(u)))


def schools_centred(school, effect, error, weight):
    mu, tau = normal("mu", 0, 5), numpyro.sample("tau", dist.HalfCauchy(5))
    eta = numpyro.sample("eta", dist.Normal(0, 1).expand([8]))  # the same posterior, which NUTS samples well only so
    theta = numpyro.deterministic("theta", mu + tau * eta)
    numpyro.sample("y", dist.Normal(theta, error), obs=effect)


def varying_intercepts(g, a, y):
    mu, b = normal("mu", 0, 5), normal("b", 0, 5)
    sigma, tau = numpyro.sample("sigma", dist.HalfNormal(2)), numpyro.sample("tau", dist.HalfNormal(2))
    alpha = normal("alpha", mu, tau, 12)
    numpyro.sample("y", dist.Normal(alpha[g.astype(int)] + b * a, sigma), obs=y)


def varying_slopes(g, a, y):
    means = normal("mu_alpha", 0, 5), normal("mu_beta", 0, 5)
    sigma, *taus = (numpyro.sample(name, dist.HalfNormal(2)) for name in ("sigma", "tau_alpha", "tau_beta"))
    alpha, beta = normal("alpha", means[0], taus[0], 15), normal("beta", means[1], taus[1], 15)
    g = g.astype(int)
    numpyro.sample("y", dist.Normal(alpha[g] + beta[g] * a, sigma), obs=y)


def mixture(y):
    mu, gap = normal("mu", 0, 5), numpyro.sample("gap", dist.Gamma(2, 0.5))
    w, sigma = normal("w", 0, 1.5), numpyro.sample("sigma", dist.LogNormal(0, 1))
    parts = [
        log_sigmoid(-w) + dist.Normal(mu, sigma).log_prob(y),
        log_sigmoid(w) + dist.Normal(mu + gap, sigma).log_prob(y),
    ]
    numpyro.factor("y", jnp.logaddexp(*parts).sum())


def stochastic_volatility(t, before, first, y):
    mu, s = normal("mu", -1, 1), numpyro.sample("s", dist.HalfNormal(0.5))
    phi = numpyro.sample("phi", dist.Uniform(-1, 1))
    h = numpyro.sample("h", ImproperUniform(constraints.real_vector, (), (60,)))
    numpyro.factor("h_0", dist.Normal(mu, s / jnp.sqrt(1 - phi**2)).log_prob(h[0]))
    numpyro.factor("h_t", dist.Normal(mu + phi * (h[:-1] - mu), s).log_prob(h[1:]).sum())
    numpyro.sample("y", dist.Normal(0, jnp.exp(h / 2)), obs=y)


def zero_inflated(a, y, zero):
    beta, psi = normal("beta", 0, 5, 2), normal("psi", 0, 1.5)
    log_rate = with_ones(a) @ beta
    counted = dist.Poisson(jnp.exp(log_rate)).log_prob(y)
    numpyro.factor("y", (jnp.where(y == 0, jnp.logaddexp(psi, -jnp.exp(log_rate)), counted) - softplus(psi)).sum())


def irt(person, item, y):
    theta, b = normal("theta", 0, 1, 40), normal("b", 0, 2, 8)
    a = numpyro.sample("a", dist.LogNormal(0, 0.5).expand([8]))
    i, j = person.astype(int), item.astype(int)
    numpyro.sample("y", dist.Bernoulli(logits=a[j] * (theta[i] - b[j])), obs=y)


def covariance(u, v):
    means = normal("m_u", 0, 5), normal("m_v", 0, 5)
    s = [numpyro.sample(name, dist.HalfNormal(5)) for name in ("s_u", "s_v")]
    rho = numpyro.sample("rho", dist.Uniform(-1, 1))
    numpyro.factor("lkj", jnp.log1p(-(rho**2)))
    cov = jnp.array([[s[0] ** 2, rho * s[0] * s[1]], [rho * s[0] * s[1], s[1] ** 2]])
    numpyro.sample("y", dist.MultivariateNormal(jnp.stack(means), cov), obs=np.column_stack([u, v]))


MODELS = {
    model.__name__: model
    for model in (
        robust, logistic, poisson, negative_binomial, beta_binomial, ordered_logit, softmax, weibull, schools_centred,
        varying_intercepts, varying_slopes, mixture, stochastic_volatility, zero_inflated, irt, covariance,
    )
}  # fmt: skip


def table(name):
    """Return the columns of a model's data."""
    own = HERE.parents[1] / "specs/data/eight_schools.csv" if name.startswith("schools") else HERE / f"data/{name}.csv"
    rows = np.genfromtxt(own, delimiter=",", names=True)
    return {column: rows[column] for column in rows.dtype.names}


def regression(x, y, label):
    """Return the exact moments of a linear regression with flat beta and sigma > 0.

    beta is Student t of N - p - 1 degrees of freedom; 1/sigma**2 is Gamma((N - p - 1)/2, RSS/2), so that E sigma is
    sqrt(RSS/2) Gamma(nu/2 - 1/2)/Gamma(nu/2), E sigma**2 is RSS/(nu - 2).
    """
    from math import exp, lgamma, sqrt

    nu = len(y) - x.shape[1] - 1
    inverse = np.linalg.inv(x.T @ x)
    beta = inverse @ x.T @ y
    rss = float(np.sum((y - x @ beta) ** 2))
    variance = np.diag(inverse) * rss / (nu - 2)
    sigma = sqrt(rss / 2) * exp(lgamma((nu - 1) / 2) - lgamma(nu / 2))
    found = {f"{label}[{k}]": exact(beta[k], sqrt(variance[k])) for k in range(len(beta))}
    return found | {"sigma": exact(sigma, sqrt(rss / (nu - 2) - sigma**2))}


def exact(mean, sd):
    """Return moments without a Monte Carlo error."""
    return {"mean": float(mean), "sd": float(sd), "mcse_mean": 0.0, "r_hat": 1.0}


def sampled(model, data):
    """Return the moments that NUTS finds."""
    kernel = NUTS(model, target_accept_prob=0.95)
    mcmc = MCMC(kernel, num_warmup=1000, num_samples=2000, num_chains=CHAINS, progress_bar=False)
    mcmc.run(random.key(1), **data)
    found = {}
    for name, draws in mcmc.get_samples(group_by_chain=True).items():
        values = np.asarray(draws)
        for at in np.ndindex(values.shape[2:]):
            one = values[(..., *at)]
            place = f"[{','.join(map(str, at))}]" if at else ""
            error = one.std() / np.sqrt(effective_sample_size(one))
            found[name + place] = {
                "mean": float(one.mean()), "sd": float(one.std()), "mcse_mean": float(error),
                "r_hat": float(gelman_rubin(one)),
            }  # fmt: skip
    return found


def main(names):
    """Find moments, and put them beside those that are stored."""
    for name in names or ["linear", "ar2", *MODELS, "schools_noncentred"]:
        if name in ("linear", "ar2"):
            data = table(name)
            columns = ("a", "b") if name == "linear" else ("lag1", "lag2")
            x = with_ones(*(data[column] for column in columns))
            found, by = regression(x, data["y"], "beta" if name == "linear" else "phi"), "exact"
        else:
            of = "schools_centred" if name == "schools_noncentred" else name
            found, by = sampled(MODELS[of], table(of)), f"NUTS, NumPyro {numpyro.__version__}: {COMMAND} {name}"
        stored = json.loads(STORED.read_text()) if STORED.exists() else {}
        stored[name] = {"by": by, "moments": found}
        print(name, max(one["r_hat"] for one in found.values()), flush=True)
        STORED.write_text(json.dumps(dict(sorted(stored.items())), indent=1) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])

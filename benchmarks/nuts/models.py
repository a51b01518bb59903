"""The posteriors of tests/posteriors, and a large logistic regression, as one states them for NumPyro.

What a user writes is a function here; its lines are counted beside those of the build and its target.
"""
# ruff: noqa: D103 - a model says what it is by what it states

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
from numpyro.distributions import ImproperUniform, constraints

flat = ImproperUniform(constraints.real, (), ())
above_zero = ImproperUniform(constraints.positive, (), ())


def regression_flat(x, y):
    with numpyro.plate("k", x.shape[1]):
        beta = numpyro.sample("beta", flat)
    sigma = numpyro.sample("sigma", above_zero)
    numpyro.sample("y", dist.Normal(x @ beta, sigma), obs=y)


def regression_cauchy(x, y):
    with numpyro.plate("k", x.shape[1]):
        beta = numpyro.sample("beta", flat)
    sigma = numpyro.sample("sigma", dist.HalfCauchy(2.5))
    numpyro.sample("y", dist.Normal(x @ beta, sigma), obs=y)


def regression_normal(x, y):
    beta = numpyro.sample("beta", dist.Normal(0, 10).expand([x.shape[1]]))
    sigma = numpyro.sample("sigma", dist.HalfNormal(10))
    numpyro.sample("y", dist.Normal(x @ beta, sigma), obs=y)


def rats(rat, t, y):
    mu_alpha = numpyro.sample("mu_alpha", dist.Normal(0, 100))
    mu_beta = numpyro.sample("mu_beta", dist.Normal(0, 100))
    sigma = numpyro.sample("sigma", above_zero)
    tau_alpha = numpyro.sample("tau_alpha", above_zero)
    tau_beta = numpyro.sample("tau_beta", above_zero)
    with numpyro.plate("J", 30):
        alpha = numpyro.sample("alpha", dist.Normal(mu_alpha, tau_alpha))
        beta = numpyro.sample("beta", dist.Normal(mu_beta, tau_beta))
    numpyro.sample("y", dist.Normal(alpha[rat] + beta[rat] * t, sigma), obs=y)


def diamonds(x, y):
    b = numpyro.sample("b", dist.Normal(0, 1).expand([x.shape[1]]))
    intercept = numpyro.sample("Intercept", dist.StudentT(3, 8, 10))
    sigma = numpyro.sample("sigma", dist.FoldedDistribution(dist.StudentT(3, 0, 10)))
    numpyro.sample("y", dist.Normal(intercept + x @ b, sigma), obs=y)


def hmm(y):
    theta1 = numpyro.sample("theta1", dist.Dirichlet(jnp.ones(2)))
    theta2 = numpyro.sample("theta2", dist.Dirichlet(jnp.ones(2)))
    mu = numpyro.sample("mu", ImproperUniform(constraints.positive_ordered_vector, (), (2,)))
    numpyro.factor("prior", dist.Normal(jnp.array([3.0, 10.0]), 1).log_prob(mu).sum())
    seen = dist.Normal(mu, 1).log_prob(y[:, None])
    passes = jnp.log(jnp.stack([theta1, theta2]))

    def forward(alpha, row):
        return jax.nn.logsumexp(alpha[:, None] + passes, axis=0) + row, None

    numpyro.factor("y", jax.nn.logsumexp(jax.lax.scan(forward, seen[0], seen[1:])[0]))


def logistic(x, y):
    theta = numpyro.sample("theta", dist.Normal(0, np.sqrt(10.0)).expand([x.shape[1]]))
    numpyro.sample("y", dist.Bernoulli(logits=x @ theta), obs=y)


def regression_data(file, columns, of, intercept=True):
    """Return x and y of a regression from a CSV file."""
    names = np.genfromtxt(file, delimiter=",", names=True)
    x = np.column_stack([names[column] for column in columns])
    return {"x": jnp.asarray(np.column_stack([np.ones(len(x)), x]) if intercept else x), "y": jnp.asarray(names[of])}


def rats_data(file):
    """Return group, day and weight."""
    table = np.genfromtxt(file, delimiter=",", names=True)
    return {"rat": table["rat"].astype(int), "t": jnp.asarray(table["day"]), "y": jnp.asarray(table["weight"])}


def diamonds_data(file):
    """Return x and y."""
    table = np.load(file)
    return {"x": jnp.asarray(np.column_stack([table[f"b{k}"] for k in range(1, 25)])), "y": jnp.asarray(table["y"])}


NES = ["real_ideo", "race_adj", "age30_44", "age45_64", "age65up", "educ1", "gender", "income"]
MESQUITE = ["diam1", "diam2", "canopy_height", "total_height", "density", "group"]
POSTERIORS = {
    "diamonds": (diamonds, diamonds_data),
    "earnings": (regression_flat, lambda file: regression_data(file, ["height"], "earn")),
    "hmm": (hmm, lambda file: {"y": jnp.asarray(np.genfromtxt(file, delimiter=",", names=True)["y"])}),
    "kidiq": (regression_cauchy, lambda file: regression_data(file, ["mom_hs", "mom_iq"], "kid_score")),
    "mesquite": (regression_flat, lambda file: regression_data(file, MESQUITE, "weight")),
    "nes": (regression_flat, lambda file: regression_data(file, NES, "partyid7")),
    "rats": (rats, rats_data),
    "sblrc": (regression_normal, lambda file: regression_data(file, [f"x{k}" for k in range(1, 6)], "y", False)),
}

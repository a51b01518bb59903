"""The models of the panel as one states them for NumPyro, run by NUTS with its defaults; and references by NUTS.

    nuts.py NAME FOLDER [--nutpie]   4 chains of 1,000 draws after 1,000 of warmup: draws.npz, what they took as JSON
    nuts.py --reference NAME ...     4 chains of 10,000, acceptance 0.95: moments into references.json

By the interpreter of the environment that `python benchmarks/setup.py` makes. `large` takes 2 chains of 150 draws after
150: each of its gradients reads all data.
"""
# ruff: noqa: D103, E402 - a model says what it is by what it states; devices are set before JAX is loaded

import json
import os
import sys
import time
from pathlib import Path

CHAINS = 4
os.environ.setdefault("XLA_FLAGS", f"--xla_force_host_platform_device_count={CHAINS}")

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
from jax import random
from jax.flatten_util import ravel_pytree
from jax.nn import log_sigmoid, softplus
from numpyro.diagnostics import effective_sample_size, gelman_rubin
from numpyro.distributions import ImproperUniform, constraints
from numpyro.infer import MCMC, NUTS
from numpyro.infer.util import initialize_model

numpyro.enable_x64()
HERE = Path(__file__).parent
POSTERIORS = HERE.parents[1] / "tests" / "posteriors" / "data"
STORED = HERE / "references.json"

unbounded = ImproperUniform(constraints.real, (), ())
positive = ImproperUniform(constraints.positive, (), ())


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
    alpha = normal("alpha", mu, tau, int(g.max()) + 1)
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


def crossed(subject, site, a, y):
    mu, b = normal("mu", 0, 2), normal("b", 0, 2)
    s_u, s_v = (numpyro.sample(name, dist.HalfNormal(1)) for name in ("s_u", "s_v"))
    u, v = normal("u", 0, s_u, 50), normal("v", 0, s_v, 25)
    i, j = subject.astype(int), site.astype(int)
    numpyro.sample("y", dist.Poisson(jnp.exp(mu + b * a + u[i] + v[j])), obs=y)


def exam(person, item, y):
    mu, s_a, s_b = normal("mu", 0, 2), *(numpyro.sample(name, dist.HalfNormal(1)) for name in ("s_a", "s_b"))
    theta, b = normal("theta", 0, 1, 100), normal("b", mu, s_b, 20)
    a = numpyro.sample("a", dist.LogNormal(0, s_a).expand([20]))
    i, j = person.astype(int), item.astype(int)
    numpyro.sample("y", dist.Bernoulli(logits=a[j] * theta[i] - b[j]), obs=y)


def radon(g, floor, u, y):
    mu, b, c = (normal(name, 0, 10) for name in ("mu", "b", "c"))
    sigma, tau = (numpyro.sample(name, dist.HalfNormal(1)) for name in ("sigma", "tau"))
    alpha = normal("alpha", mu, tau, 85)
    numpyro.sample("y", dist.Normal(alpha[g.astype(int)] + b * floor + c * u, sigma), obs=y)


def correlated_slopes(g, a, b, y):
    mu, tau = normal("mu", 0, 2, 3), numpyro.sample("tau", dist.HalfNormal(1).expand([3]))
    sigma, L = numpyro.sample("sigma", dist.HalfNormal(1)), numpyro.sample("L", dist.LKJCholesky(3, 2))
    beta = numpyro.sample("beta", dist.MultivariateNormal(mu, scale_tril=tau[:, None] * L).expand([30]))
    numpyro.sample("y", dist.Normal((with_ones(a, b) * beta[g.astype(int)]).sum(axis=1), sigma), obs=y)


def poll(state, age, education, female, y):
    mu, b = normal("mu", 0, 1), normal("b", 0, 1)
    scales = [numpyro.sample(name, dist.HalfNormal(1)) for name in ("s_u", "s_v", "s_w")]
    u, v, w = (normal(*law) for law in zip("uvw", (0, 0, 0), scales, (50, 6, 5), strict=True))
    i, j, k = (column.astype(int) for column in (state, age, education))
    numpyro.sample("y", dist.Bernoulli(logits=mu + b * female + u[i] + v[j] + w[k]), obs=y)


def regression_flat(x, y):
    with numpyro.plate("k", x.shape[1]):
        beta = numpyro.sample("beta", unbounded)
    sigma = numpyro.sample("sigma", positive)
    numpyro.sample("y", dist.Normal(x @ beta, sigma), obs=y)


def regression_cauchy(x, y):
    with numpyro.plate("k", x.shape[1]):
        beta = numpyro.sample("beta", unbounded)
    sigma = numpyro.sample("sigma", dist.HalfCauchy(2.5))
    numpyro.sample("y", dist.Normal(x @ beta, sigma), obs=y)


def regression_normal(x, y):
    beta = numpyro.sample("beta", dist.Normal(0, 10).expand([x.shape[1]]))
    sigma = numpyro.sample("sigma", dist.HalfNormal(10))
    numpyro.sample("y", dist.Normal(x @ beta, sigma), obs=y)


def rats(rat, t, y):
    mu_alpha = numpyro.sample("mu_alpha", dist.Normal(0, 100))
    mu_beta = numpyro.sample("mu_beta", dist.Normal(0, 100))
    sigma = numpyro.sample("sigma", positive)
    tau_alpha = numpyro.sample("tau_alpha", positive)
    tau_beta = numpyro.sample("tau_beta", positive)
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


def large(x, y):
    theta = numpyro.sample("theta", dist.Normal(0, np.sqrt(10.0)).expand([x.shape[1]]))
    numpyro.sample("y", dist.Bernoulli(logits=x @ theta), obs=y)


TEXTBOOK = (
    robust, logistic, poisson, negative_binomial, beta_binomial, ordered_logit, softmax, weibull, schools_centred,
    varying_intercepts, varying_slopes, mixture, stochastic_volatility, zero_inflated, irt, covariance,
    crossed, exam, radon, correlated_slopes, poll,
)  # fmt: skip
MODELS = {model.__name__: model for model in (*TEXTBOOK, diamonds, hmm, rats, large)} | {
    "schools_noncentred": schools_centred, "counties": varying_intercepts, "linear": regression_flat,
    "earnings": regression_flat, "kidiq": regression_cauchy, "mesquite": regression_flat, "nes": regression_flat,
    "sblrc": regression_normal,
}  # fmt: skip
NES = ("real_ideo", "race_adj", "age30_44", "age45_64", "age65up", "educ1", "gender", "income")
PREDICTORS = {
    "linear": (("a", "b"), "y"), "earnings": (("height",), "earn"), "kidiq": (("mom_hs", "mom_iq"), "kid_score"),
    "mesquite": (("diam1", "diam2", "canopy_height", "total_height", "density", "group"), "weight"),
    "nes": (NES, "partyid7"), "sblrc": (tuple(f"x{k}" for k in range(1, 6)), "y"),
}  # fmt: skip


def data_of(name, folder):
    """Return the data of a model by the names of its arguments."""
    if name == "large":
        table = np.load(folder / "large.npy")
        return {"x": jnp.asarray(table[:, :-1]), "y": jnp.asarray(table[:, -1])}
    if name == "diamonds":
        table = np.load(HERE / "data" / "diamonds_columns.npy")
        return {"x": np.column_stack([table[f"b{k}"] for k in range(1, 25)]), "y": table["y"]}
    own = HERE.parents[1] / "specs/data/eight_schools.csv" if name.startswith("schools") else HERE / f"data/{name}.csv"
    rows = np.genfromtxt(own if own.exists() else POSTERIORS / f"{name}.csv", delimiter=",", names=True)
    columns = {column: rows[column] for column in rows.dtype.names}
    if name in PREDICTORS:
        predictors, of = PREDICTORS[name]
        x = [columns[column] for column in predictors]
        return {"x": np.column_stack(x) if name == "sblrc" else with_ones(*x), "y": columns[of]}
    if name == "rats":
        return {"rat": columns["rat"].astype(int), "t": columns["day"], "y": columns["weight"]}
    return columns


def by_numpyro(name, data):
    """Sample by NUTS of NumPyro with its defaults; return draws, and those drawn once more as three numbers.

    Processor seconds of drawing, the gradients of the draws, and processor seconds of measuring alone: the sampler is
    compiled anew without warmup.
    """
    warmup, draws, chains = (150, 150, 2) if name == "large" else (1000, 1000, CHAINS)
    mcmc = MCMC(NUTS(MODELS[name]), num_warmup=warmup, num_samples=draws, num_chains=chains, progress_bar=False)
    mcmc.run(random.key(1), **data, extra_fields=("num_steps",))
    found = {key: np.asarray(x) for key, x in mcmc.get_samples(group_by_chain=True).items()}
    gradients = int(mcmc.get_extra_fields()["num_steps"].sum())
    ended = time.process_time()
    for seed in (2, 3):
        began = time.process_time()
        mcmc.post_warmup_state = mcmc.last_state
        mcmc.run(random.key(seed), **data, extra_fields=("num_steps",))
        np.asarray(next(iter(mcmc.get_samples().values())))
    again = int(mcmc.get_extra_fields()["num_steps"].sum())
    now = time.process_time()
    return found, (now - began) * gradients / again, gradients, now - ended


def by_nutpie(name, data):
    """Sample by nutpie with its defaults, as it takes a model whose log density is JAX's; return as `by_numpyro`."""
    import nutpie
    from nutpie.compiled_pyfunc import from_pyfunc

    model = initialize_model(random.key(1), MODELS[name], model_kwargs=data)
    start, shaped = ravel_pytree(model.param_info.z)
    sloped = jax.jit(jax.value_and_grad(lambda x: -model.potential_fn(shaped(x))))

    def log_density(x):
        value, slope = sloped(x)
        return float(value), np.asarray(slope, "float64")

    of_all = [np.dtype("float64")], [start.shape], ["x"]
    compiled = from_pyfunc(start.size, lambda: log_density, lambda *_: lambda x: {"x": x}, *of_all)
    log_density(np.asarray(start))
    began = time.process_time()
    tree = nutpie.sample(compiled, chains=CHAINS, seed=1, progress_bar=False)
    spent = time.process_time() - began
    gradients, before = (int(part["n_steps"].sum()) for part in (tree.sample_stats, tree.warmup_sample_stats))
    found = jax.vmap(jax.vmap(lambda x: model.postprocess_fn(shaped(x))))(tree.posterior["x"].to_numpy())
    draws = {key: np.asarray(x) for key, x in found.items()}
    return draws, spent * gradients / (gradients + before), gradients, 0.0


def run(name, folder, by):
    """Sample with the defaults; write the draws, and print what they took."""
    draws, *took = by(name, data_of(name, folder))
    np.savez(folder / "draws.npz", **draws)
    print(json.dumps(dict(zip(("processor_seconds", "gradients", "measuring"), took, strict=True))))


def store_reference(name, draws=10_000):
    """Put the moments that NUTS finds beside those that are stored."""
    kernel = NUTS(MODELS[name], target_accept_prob=0.95)
    mcmc = MCMC(kernel, num_warmup=1000, num_samples=draws, num_chains=CHAINS, progress_bar=False)
    mcmc.run(random.key(1), **data_of(name, HERE))
    found = {}
    for label, values in mcmc.get_samples(group_by_chain=True).items():
        for at in np.ndindex(values.shape[2:]):
            one = np.asarray(values)[(..., *at)]
            if one.std() == 0:  # an entry of a factor that is 0 or 1
                continue
            error = one.std() / np.sqrt(effective_sample_size(one))
            found[label + (f"[{','.join(map(str, at))}]" if at else "")] = {
                "mean": float(one.mean()), "sd": float(one.std()), "mcse_mean": float(error),
                "r_hat": float(gelman_rubin(one)),
            }  # fmt: skip
    stored = json.loads(STORED.read_text())
    by = f"NUTS, NumPyro {numpyro.__version__}: nuts.py --reference {name}"
    stored[name] = {"by": by, "moments": found}
    STORED.write_text(json.dumps(dict(sorted(stored.items())), indent=1) + "\n")


if __name__ == "__main__":
    if sys.argv[1] == "--reference":
        for name in sys.argv[2:]:
            store_reference(name)
    elif sys.argv[1] in MODELS:
        run(sys.argv[1], Path(sys.argv[2]), by_nutpie if sys.argv[3:] == ["--nutpie"] else by_numpyro)
    else:
        sys.exit(f"{sys.argv[1]} has no model for NumPyro")

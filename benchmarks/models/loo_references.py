"""Leave-one-out by draws of NUTS, as `loo.json` holds it: NumPyro draws and gives log likelihoods, ArviZ adds them up.

    venv/bin/pip install "arviz-stats[xarray]"     (the environment of references.py)
    venv/bin/python benchmarks/models/loo_references.py

4 chains of 4,000 draws after 1,000 of warmup, twice, from two seeds: how far the two differ is what a reference is
known within.
"""

import json
from importlib.metadata import version
from pathlib import Path

import arviz_stats
import numpy as np
import references
import xarray
from jax import random
from numpyro.infer import MCMC, NUTS, log_likelihood

NAMES = ("poisson", "robust", "negative_binomial")
STORED = Path(__file__).parent / "loo.json"


def elpd(name: str, seed: int) -> float:
    """Return the sum of log predictive densities, each datum left out once, by the draws of a seed."""
    model, data = references.MODELS[name], references.table(name)
    kernel = NUTS(model, target_accept_prob=0.95)
    mcmc = MCMC(kernel, num_warmup=1000, num_samples=4000, num_chains=references.CHAINS, progress_bar=False)
    mcmc.run(random.key(seed), **data)
    of_data = log_likelihood(model, mcmc.get_samples(group_by_chain=True), batch_ndims=2, **data)["y"]
    dims = ("chain", "draw", "datum")
    groups = {
        "posterior": xarray.Dataset({"x": (dims[:2], np.zeros(of_data.shape[:2]))}),
        "log_likelihood": xarray.Dataset({"y": (dims, np.asarray(of_data))}),
    }
    return float(arviz_stats.loo(xarray.DataTree.from_dict(groups), reff=1.0).elpd)


def main() -> None:
    """Find them, and store them."""
    by = f"NumPyro {version('numpyro')}, ArviZ {version('arviz-stats')}: python benchmarks/models/loo_references.py"
    found = {name: [elpd(name, seed) for seed in (1, 2)] for name in NAMES}
    print(found)
    STORED.write_text(json.dumps({"by": by, "elpd": found}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

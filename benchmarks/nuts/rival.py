"""One posterior by NUTS of NumPyro, in a process of its own; prints what came of it as JSON.

python rival.py NAME DATA.csv OUT.npz          4 chains of 1,000 draws after 1,000 of warmup, as its defaults
python rival.py large ROWS OUT.npz             2 chains of 150 draws after 150: each gradient reads all data
"""

import inspect
import json
import os
import sys
import time

BEGAN = time.time() - time.process_time()
"""When this process began, nearly: what it did before was to load itself."""
CHAINS = 4
os.environ.setdefault("XLA_FLAGS", f"--xla_force_host_platform_device_count={CHAINS}")

import numpy as np  # noqa: E402 - the number of devices is told before JAX is loaded
import numpyro  # noqa: E402
from jax import random  # noqa: E402

numpyro.enable_x64()
from large import large_data  # noqa: E402
from models import POSTERIORS, logistic  # noqa: E402
from numpyro.infer import MCMC, NUTS  # noqa: E402


def main(name: str, source: str, out: str) -> None:
    """Sample, and say how long each part took."""
    if name == "large":
        model, data, warmup, draws, chains = logistic, large_data(int(source)), 150, 150, 2
    else:
        model, read = POSTERIORS[name]
        data, warmup, draws, chains = read(source), 1000, 1000, CHAINS
    mcmc = MCMC(NUTS(model), num_warmup=warmup, num_samples=draws, num_chains=chains, progress_bar=False)
    mcmc.run(random.key(1), **data)
    kept = {key: np.asarray(value) for key, value in mcmc.get_samples(group_by_chain=True).items()}
    ended, spent = time.time(), sum(os.times()[:4])
    for seed in (2, 3):  # the first compiles the loop without warmup, which a user's one run has no need of
        began = time.time()
        mcmc.post_warmup_state = mcmc.last_state
        mcmc.run(random.key(seed), **data)
        np.asarray(next(iter(mcmc.get_samples().values())))
        if name == "large":
            break
    sampling = time.time() - began
    np.savez(out, **kept)
    body = [line for line in inspect.getsource(model).splitlines()[1:] if line.strip()]
    found = {"until_sampling": ended - BEGAN - sampling, "sampling": sampling, "processor": spent}
    print(json.dumps(found | {"lines": len(body) + 1}))


if __name__ == "__main__":
    main(*sys.argv[1:4])

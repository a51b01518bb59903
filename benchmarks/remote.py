"""SGMCMCJax needs an old JAX: it runs in a process with an interpreter of its own, and times itself there."""

import json
import subprocess
import tempfile
from pathlib import Path

import numpy as np
from racing import Contestant

INTERPRETER = Path(__file__).parent / ".rivals" / "sgmcmcjax" / "bin" / "python"

CHILD = """
import json, os, sys, time
os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false"
import jax, jax.numpy as jnp, numpy as np
jax.config.update("jax_enable_x64", True)
from sgmcmcjax.samplers import build_sghmc_sampler
told = json.loads(sys.argv[1])
stored = np.load(told["file"])
x, y = jnp.asarray(stored["x"]), jnp.asarray(stored["y"])

def log_likelihood(theta, row, label):
    predictor = jnp.dot(row, theta)
    return label * predictor - jnp.logaddexp(0.0, predictor)

def log_prior(theta):
    return -0.5 * jnp.dot(theta, theta) / told["prior_variance"]

run = build_sghmc_sampler(
    told["eps"] ** 2, told["inner"], log_likelihood, log_prior, (x, y), told["batch"],
    alpha=told["eps"] * told["C"], pbar=False,
)
key, theta = jax.random.PRNGKey(0), jnp.zeros(x.shape[1])
for line in sys.stdin:
    begin = time.process_time()
    key, now = jax.random.split(key)
    draws = run(now, told["units"], theta).block_until_ready()
    seconds = time.process_time() - begin
    theta = draws[-1]
    np.save(told["draws"], np.asarray(draws))
    print(json.dumps({"seconds": seconds}), flush=True)
"""


def sgmcmcjax_sghmc(x: np.ndarray, y: np.ndarray, batch: int, inner: int, eps: float, C: float, prior_variance: float,
                    units: int) -> Contestant:  # fmt: skip
    """Return `sgmcmcjax.samplers.build_sghmc_sampler`; its step size is eps^2 and its friction eps C.

    Raises ImportError where it is not installed.
    """
    if not INTERPRETER.is_file():
        raise ImportError("sgmcmcjax")
    folder = Path(tempfile.mkdtemp(prefix="race_"))
    np.savez(folder / "data.npz", x=x, y=y)
    told = {
        "file": str(folder / "data.npz"), "draws": str(folder / "draws.npy"), "batch": batch, "inner": inner,
        "eps": eps, "C": C, "prior_variance": prior_variance, "units": units,
    }  # fmt: skip
    child = subprocess.Popen(
        [str(INTERPRETER), "-W", "ignore", "-c", CHILD, json.dumps(told)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )  # fmt: skip

    def seconds() -> float:
        assert child.stdin is not None
        assert child.stdout is not None
        child.stdin.write("go\n")
        child.stdin.flush()
        if not (line := child.stdout.readline()):
            raise ChildProcessError("the process of SGMCMCJax ended")
        return json.loads(line)["seconds"]

    def work() -> np.ndarray:
        seconds()
        return np.load(folder / "draws.npy")

    note = f"its own JAX; momenta are refreshed every {inner} steps"
    return Contestant("sgmcmcjax", units, work, "mean", 0.2, seconds=seconds, note=note)

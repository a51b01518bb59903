"""A logistic regression of many rows by `recipe run` in minibatches, beside NUTS: seconds until every sd is right.

    python benchmarks/setup.py                             # installs nutpie, once
    python benchmarks/large.py [--rows 10000 100000] [--by sghmc nuts] [--draws 16000] [--stop 900] [--nuts PYTHON]

The command takes the build as a user writes it, with nothing set but how many draws there shall be and that no sd be
off by more than 1 %; NUTS is nutpie's with its defaults, one chain, on a log density that JAX compiles. They run in
turn, each as a process, whose processor seconds count from its start to its end. `to 2 %` are those after which all 20
sds of the draws so far are within 2 % of those of the Gaussian at the mode, and stay so: drawing is spread over draws
by the gradients that each took. NUTS reads all rows in a gradient, and is stopped after so many processor seconds of
sampling; the last table says how much sooner the command is there, and how seconds grow with rows.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
NUTS = HERE / ".rivals" / "nuts" / "bin" / "python"
SHARE = 0.02
PRIOR_VARIANCE = 10.0
CHAINS = 4
HEAD = ("rows", "by", "processor s", "of which planning and checks", "draws", "ess", "worst sd", "to 2 %")


def by_nuts(folder: Path, draws: int, stop: float) -> None:
    """Sample by nutpie until `stop` processor seconds at most; write draws, gradients of each and processor seconds."""
    import jax
    import jax.numpy as jnp
    import nutpie
    from nutpie.compiled_pyfunc import from_pyfunc

    jax.config.update("jax_enable_x64", True)
    table = np.load(folder / "large.npy")
    x, y = jnp.asarray(table[:, :-1]), jnp.asarray(table[:, -1])

    def log_density(theta: jax.Array) -> jax.Array:
        eta = x @ theta
        return y @ eta - jnp.logaddexp(0.0, eta).sum() - theta @ theta / (2.0 * PRIOR_VARIANCE)

    sloped = jax.jit(jax.value_and_grad(log_density))

    def both(theta: np.ndarray) -> tuple[float, np.ndarray]:
        value, slope = sloped(theta)
        return float(value), np.asarray(slope, "float64")

    d = x.shape[1]
    compiled = from_pyfunc(d, lambda: both, lambda *_: lambda z: {"theta": z}, [np.dtype("float64")], [(d,)], ["theta"])
    began = time.process_time()
    sampling = nutpie.sample(compiled, chains=1, draws=draws, seed=1, progress_bar=False, blocking=False)
    tree = None
    while tree is None:
        try:
            tree = sampling.wait(timeout=1.0)
        except TimeoutError:
            tree = sampling.abort() if time.process_time() - began > stop else None
    spent = time.process_time() - began
    steps, warmup = (part["n_steps"].to_numpy()[0] for part in (tree.sample_stats, tree.warmup_sample_stats))
    theta = tree.posterior["theta"].to_numpy()
    np.savez(folder / "nuts.npz", theta=theta, gradients=steps, before=warmup.sum(), seconds=spent)


def by_sghmc(folder: Path, draws: int) -> list[str]:
    """Write the build as a user does; return the command that runs it."""
    columns = ", ".join(f'"{k}"' for k in range(20))
    (folder / "large.yaml").write_text(
        f"""name: large
dynamics: sghmc
scheme: {{name: baoab}}
target: {HERE.parent}/specs/targets/logistic_regression.yaml
parameters: {{prior_variance: {{value: {PRIOR_VARIANCE:g}}}}}
variant: minibatch
data: {{file: large.npy, x: [{columns}], y: "20"}}
run: {{step_size: auto, share: 0.01, draws: {draws}, chains: {CHAINS}}}
""",
        encoding="utf-8",
    )
    return [sys.executable, "-m", "recipe_compiler", "run", "large.yaml", "--no-cache", "-o", ".", "--json"]


def drawn(folder: Path, told: str, spent: float) -> tuple[np.ndarray, np.ndarray]:
    """Return draws, chain x draw x coordinate, and the processor seconds after which each was there."""
    if (folder / "nuts.npz").exists():
        with np.load(folder / "nuts.npz") as kept:
            parts = (kept["before"] + np.cumsum(kept["gradients"])) / (kept["before"] + kept["gradients"].sum())
            return kept["theta"], spent - kept["seconds"] * (1.0 - parts)
    import xarray

    found = json.loads(told)
    theta = xarray.open_datatree(folder / found["file"], engine="h5netcdf")["posterior"]["theta"].to_numpy()
    after = np.linspace(0.0, 1.0, theta.shape[1] + 1)[1:]
    return theta, spent - found["processor_seconds"] * (1.0 - after)


def row(rows: int, by: str, draws: int, stop: float, python: Path) -> tuple[list[str], float, bool]:
    """Return what one command comes to, the processor seconds after which it was there, and whether it was."""
    sys.path.insert(0, str(HERE / "models"))
    from arviz_stats.base.array import array_stats
    from make_data import large, large_moments

    with tempfile.TemporaryDirectory() as held:
        folder = Path(held)
        np.save(folder / "large.npy", np.column_stack(large(rows)))
        settings = ["--draws", str(draws), "--stop", str(stop)]
        nuts = [str(python), str(Path(__file__).resolve()), "--worker", str(folder), *settings]
        command = nuts if by == "nuts" else by_sghmc(folder, draws)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        told = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, cwd=folder).stdout
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        theta, seconds = drawn(folder, told, spent)
    known = np.array([one["sd"] for one in large_moments(PRIOR_VARIANCE, rows).values()])
    counts = np.arange(10, theta.shape[1] + 1)
    around = theta - theta.mean(axis=(0, 1))
    first_moment, second = (np.cumsum(one.mean(axis=0), axis=0)[9:] / counts[:, None] for one in (around, around**2))
    worst = np.abs(np.sqrt(second - first_moment**2) / known - 1.0).max(axis=1)
    off = np.flatnonzero(worst > SHARE)
    first = 0 if not off.size else off[-1] + 1
    is_there = bool(first < counts.size)
    after = float(seconds[counts[first] - 1] if is_there else seconds[-1])
    reached = f"{after:.1f}" if is_there else f"not after {after:.1f}"
    least = np.min(array_stats.ess(theta, chain_axis=0, draw_axis=1, method="sd"))
    figures = f"{spent:.1f}", f"{seconds[0]:.1f}", f"{theta[..., 0].size}", f"{least:.0f}", f"{100 * worst[-1]:.2f} %"
    return [f"{rows}", by, *figures, reached], after, is_there


def scaling(rows: Sequence[int], found: Mapping[tuple[int, str], tuple[float, bool]]) -> Iterator[list[str]]:
    """Yield, by the number of rows, what each took in multiples of the fewest rows, and how much sooner one is."""
    yield ["rows", "sghmc, of the fewest", "nuts, of the fewest", "sghmc sooner"]
    for n in rows:
        (own, own_there), (rival, rival_there) = found[n, "sghmc"], found[n, "nuts"]
        multiples = (found[n, by][0] / found[rows[0], by][0] for by in ("sghmc", "nuts"))
        more = "" if rival_there else "more than "
        sooner = f"{more}{rival / own:.1f} x" if own_there else "not there"
        yield [f"{n}", *(f"{one:.1f}" for one in multiples), sooner]


def main() -> None:
    """Print a row for each number of rows and each command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", nargs="+", type=int, default=(10_000, 100_000))
    parser.add_argument("--by", nargs="+", choices=("sghmc", "nuts"), default=("sghmc", "nuts"))
    parser.add_argument("--draws", type=int, default=16_000, help="of a chain: SGHMC has 4, NUTS one (16000)")
    parser.add_argument("--stop", type=float, default=900.0, help="processor seconds that NUTS may sample (900)")
    parser.add_argument("--nuts", type=Path, default=NUTS, help="the interpreter that has nutpie and JAX")
    parser.add_argument("--worker", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.worker:
        return by_nuts(given.worker, given.draws, given.stop)
    if "nuts" in given.by and not given.nuts.is_file():
        parser.error(f"found no {given.nuts}, expected it: python benchmarks/setup.py installs it")
    print(" | ".join(HEAD))
    found = dict[tuple[int, str], tuple[float, bool]]()
    for rows in given.rows:
        for by in given.by:
            cells, *found[rows, by] = row(rows, by, given.draws, given.stop, given.nuts)
            print(" | ".join(cells), flush=True)
    for cells in scaling(given.rows, found) if {*given.by} >= {"sghmc", "nuts"} else ():
        print(" | ".join(cells))
    return None


if __name__ == "__main__":
    main()

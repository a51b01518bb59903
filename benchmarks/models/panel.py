"""Textbook models, hierarchies and published posteriors by `recipe run`, beside NUTS: right, and how long it took.

    python benchmarks/setup.py                                          # installs NumPyro and nutpie, once
    python benchmarks/models/panel.py [NAME ...] [--by hmc sghmc nutpie nuts] [--seconds 150]

The command runs each model as a user types it, by `hmc` and by `sghmc`, nothing set, one after another, in a process
that ends after so many processor seconds; `nuts` is NUTS of NumPyro and `nutpie` that of nutpie, each with its defaults
(`nuts.py`). A run is right where no mean is more than 4 Monte Carlo errors and 0.1 sds from the reference, and no sd
more than 4 errors and 7 %. Processor seconds are those from nothing to the end, and those to 400 effective draws of
every coordinate: of the last part, the drawing, as much as these take. Effective draws per gradient are predicted by
the run, before it draws, and measured: the least of all coordinates, by the gradients of its draws. `large`, logistic
regression of 1,000,000 rows, is run by `sghmc` in minibatches; its reference is the Gaussian at the mode, and NUTS
takes a tenth of the draws there.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
import xarray
from arviz_stats.base.array import array_stats as numbers_of
from make_data import LARGE_ROWS, expand, large, large_moments

array_stats = cast("Any", numbers_of)
HERE = Path(__file__).parent
ROOT = HERE.parents[1]
POSTERIORS = ROOT / "tests" / "posteriors"
NUTS = ROOT / "benchmarks" / ".rivals" / "nuts" / "bin" / "python"

TEXTBOOK = (
    "linear", "robust", "logistic", "poisson", "negative_binomial", "beta_binomial", "ordered_logit", "softmax",
    "weibull", "schools_centred", "schools_noncentred", "varying_intercepts", "varying_slopes", "mixture", "ar2",
    "stochastic_volatility", "zero_inflated", "irt", "covariance", "counties", "garch",
)  # fmt: skip
HIERARCHIES = ("crossed", "exam", "radon", "correlated_slopes", "poll")
"""Of 73 to 143 coordinates."""
PUBLISHED = ("diamonds", "nes", "mesquite", "sblrc", "earnings", "kidiq", "hmm", "gp", "rats")
"""Posteriors of posteriordb; all but `diamonds` are in tests/posteriors."""
NAMES = (*HIERARCHIES, *PUBLISHED, *TEXTBOOK, "large")
NUTS_BY = {"nuts": [], "nutpie": ["--nutpie"]}
WANTED = 400
"""Effective draws."""
HEAD = "model | by | verdict | trusted | right | processor s | to 400 | ess/gradient predicted | measured"
ERRORS, OF_MEAN, OF_SD = 4.0, 0.1, 0.07
"""How many Monte Carlo errors, and what part of an sd, a moment may be off."""
SD_BY_NUTS = 1.5
"""The error of an sd by NUTS, relative, over that of its mean, in sds: by 69 coordinates of three models whose sds are
known exactly (1.5 % and 1.0 %). Its draws alternate, so that of their squares fewer count. Draws of posteriordb, which
has no R-hat beside them, are all but independent: 1/sqrt(2)."""
HMC = """dynamics: hmc
scheme:
  cycle: [refresh: r, metropolis: {split: [B/2, A, B/2], steps: 'uniform(1, longest)', flip: {r: -r}}]
"""
"""What `recipe run hmc TARGET` makes."""
SGHMC = "dynamics: sghmc\nscheme: {name: baoab}\n"
LARGE = f"""target: {ROOT}/specs/targets/logistic_regression.yaml
parameters: {{prior_variance: {{value: 10}}}}
variant: minibatch
data: {{file: large.npy, x: [{", ".join(f'"{k}"' for k in range(20))}], y: "20"}}
run: {{step_size: auto, batch_size: 1000}}
"""

Moments = Mapping[str, Mapping[str, float]]
Draws = Mapping[str, np.ndarray]


@dataclass(frozen=True, slots=True)
class Error:
    """The largest departure from the reference, and its Monte Carlo error."""

    value: float
    known_within: float
    of: str

    def __str__(self) -> str:
        """Return both numbers, and the coordinate."""
        return f"{self.value:+.3f} ± {self.known_within:.3f} ({self.of})"


def build_of(name: str) -> Path:
    """Return the document of a model's build, its data made where they are too large to be kept."""
    if name == "diamonds":
        expand(HERE / "data")
    own = HERE / "builds" / f"{name}.yaml"
    return own if own.exists() else POSTERIORS / "builds" / f"{name}.yaml"


def reference_of(name: str) -> Moments:
    """Return the moments of a model by coordinate, counted from 0."""
    if name == "large":
        return large_moments()
    own = json.loads((HERE / "references.json").read_text(encoding="utf-8"))
    if name in own:
        return own[name]["moments"]
    published = json.loads((POSTERIORS / "references.json").read_text(encoding="utf-8")).get(name, {})
    return {_from_zero(label): moments for label, moments in published.items()}


def _from_zero(label: str) -> str:
    head, bracket, place = label.partition("[")
    return f"{head}[{int(place.rstrip(']')) - 1}]" if bracket else head


def stated(name: str, by: str, folder: Path) -> Path:
    """Write the build of a model by some dynamics, everything else as its own build has it; return its path."""
    if name == "large":
        np.save(folder / "large.npy", np.column_stack(large(LARGE_ROWS)))
        rest = LARGE
    else:
        own = build_of(name)
        lines = own.read_text(encoding="utf-8").replace("../", f"{own.parent}/../").splitlines(keepends=True)
        rest = "".join(line for line in lines if not line.startswith(("name:", "dynamics:", "scheme:", "  cycle:")))
    path = folder / f"{name}_{by}.yaml"
    path.write_text(f"name: {path.stem}\n{HMC if by == 'hmc' else SGHMC}{rest}", encoding="utf-8")
    return path


def coordinates(draws: Draws) -> Iterator[tuple[str, np.ndarray]]:
    """Yield each coordinate's draws (chain, draw)."""
    for name, array in draws.items():
        for at in np.ndindex(array.shape[2:]):
            yield f"{name}[{','.join(map(str, at))}]" if at else name, array[(..., *at)]


def departures(draws: Draws, reference: Moments) -> tuple[Error, Error, float]:
    """Return how far means and sds are from the reference at most, in Monte Carlo errors; and the least of the ess."""
    means, sds, least = [Error(0.0, 1.0, "")], [Error(0.0, 1.0, "")], np.inf
    for name, one in coordinates(draws):
        if name not in reference:
            continue
        known = reference[name]
        ess = float(array_stats.ess(one))
        least = min(least, ess)
        noise = float(np.hypot(1 / np.sqrt(ess), known["mcse_mean"] / known["sd"]))
        means.append(Error(float((one.mean() - known["mean"]) / known["sd"]), noise, name))
        squares = (one - one.mean()) ** 2
        of_sd = float(squares.std() / np.sqrt(float(array_stats.ess(squares))) / (2 * known["sd"] ** 2))
        of_known = (SD_BY_NUTS if "r_hat" in known else 0.5**0.5) * known["mcse_mean"] / known["sd"]
        sds.append(Error(float(one.std() / known["sd"] - 1), float(np.hypot(of_sd, of_known)), name))
    return *(max(some, key=lambda one: abs(one.value) / one.known_within) for some in (means, sds)), least


def compared(draws: Draws, name: str) -> tuple[str, float]:
    """Return whether moments are those of the reference, within Monte Carlo errors, and the least of the ess."""
    means, sds, least = departures(draws, reference_of(name))
    pairs = ((means, OF_MEAN), (sds, OF_SD))
    off = any(abs(one.value) > max(part, ERRORS * one.known_within) for one, part in pairs)
    return f"{'no' if off else 'yes'}: mean {means}, sd {sds}", least


def command_of(name: str, by: str, folder: Path) -> list[str]:
    """Return what a user types."""
    if by not in NUTS_BY:
        build = str(stated(name, by, folder))
        return [sys.executable, "-m", "recipe_compiler", "run", build, "--no-cache", "-o", str(folder), "--json"]
    if name == "large":
        np.save(folder / "large.npy", np.column_stack(large(LARGE_ROWS)))
    return [str(NUTS), str(HERE / "nuts.py"), name, str(folder), *NUTS_BY[by]]


def outcome(told: Mapping[str, Any], by: str, folder: Path) -> tuple[str, str, Draws]:
    """Return verdict, trust and draws."""
    if by in NUTS_BY:
        with np.load(folder / "draws.npz") as kept:
            draws = {key: kept[key] for key in kept.files}
        worst = max(float(array_stats.rhat(one)) for _, one in coordinates(draws) if one.std())
        return "", f"R-hat {worst:.3f}", draws
    posterior = xarray.open_datatree(told["file"], engine="h5netcdf")["posterior"]
    draws = {str(key): value.to_numpy() for key, value in posterior.data_vars.items()}
    return told["verdict"], told["trust"].removeprefix("trust: ").split(",")[0], draws


def row(name: str, by: str, limit: int) -> list[str]:
    """Return what one model comes to by one command."""
    with tempfile.TemporaryDirectory() as held:
        folder = Path(held)
        command = command_of(name, by, folder)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        ended = subprocess.run(
            command, capture_output=True, text=True, check=False, cwd=folder,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (limit, limit)),
        )  # fmt: skip
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        if ended.returncode < 0:
            return [name, by, "", f"ended after {limit} processor seconds", "", f"{spent:.0f}", "", "", ""]
        if not ended.stdout:
            return [name, by, "", ended.stderr.splitlines()[-1], "", f"{spent:.0f}", "", "", ""]
        told = json.loads(ended.stdout.splitlines()[-1] if by in NUTS_BY else ended.stdout)
        if by not in NUTS_BY and "summary" not in told:
            why = told.get("doubts") or [fault["problem"] for fault in told["faults"]]
            drawn = f"not drawn: {' '.join(why)[:300]}"
            return [name, by, str(told["verdict"]), drawn, "", f"{spent:.0f}", "", "", ""]
        verdict, trust, draws = outcome(told, by, folder)
        right, least = compared(draws, name)
        spent -= told.get("measuring", 0.0)
        to_wanted = spent + told["processor_seconds"] * (WANTED / least - 1.0)
        pace = {"measured": least / told["gradients"]} if by in NUTS_BY else told["ess_per_gradient"] or {}
        figures = (f"{pace[key]:.4f}" if key in pace else "" for key in ("predicted", "measured"))
        return [name, by, verdict, trust, right, f"{spent:.0f}", f"{to_wanted:.0f}", *figures]


def main() -> None:
    """Print a row for each model and each command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"some of {', '.join(NAMES)}; all but large if none")
    parser.add_argument("--by", nargs="+", choices=("hmc", "sghmc", *NUTS_BY), default=("hmc", "sghmc"))
    parser.add_argument("--seconds", type=int, default=150, help="processor seconds of a command (150)")
    given = parser.parse_args()
    if unknown := [name for name in given.names if name not in NAMES]:
        parser.error(f"found {', '.join(unknown)}, expected some of {', '.join(NAMES)}")
    if not NUTS_BY.keys().isdisjoint(given.by) and not NUTS.is_file():
        parser.error(f"found no {NUTS.relative_to(ROOT)}, expected it: python benchmarks/setup.py installs it")
    print(HEAD)
    for name in given.names or NAMES[:-1]:
        for by in given.by:
            if (name, by) != ("large", "hmc"):
                print(" | ".join(row(name, by, given.seconds)), flush=True)


if __name__ == "__main__":
    main()

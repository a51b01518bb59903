"""Textbook models and published posteriors, from their documents to draws with nothing set: what each comes to.

    python benchmarks/models/panel.py [NAME ...] [--no-run]

For each: whether it can be stated, its verdict and what is open, processor seconds to decide and to compile it, the
largest error of the emitted gradient against differences of U at 50 digits (relative to the largest entry; 12 rows of
the data), then a run by `step_size: auto`: effective draws a second (the least of all coordinates), how far means are
from the reference in posterior sds and sds from its own in parts, each where it is largest in Monte Carlo errors, with
that error, and whether the run's summary says that it may be believed.
"""

import argparse
import json
import os
import sys
import time
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import mpmath
import numpy as np
from arviz_stats.base.array import array_stats as numbers_of

import recipe_compiler as rc
from recipe_compiler.algebra.scalars.matrices import TooLargeError
from recipe_compiler.errors import RecipeError
from recipe_compiler.planner.plan import trial
from recipe_compiler.run.data import Data, Field, load_data
from recipe_compiler.run.sizes import parameter_values
from recipe_compiler.spec.constraint import constrained
from recipe_compiler.spec.model import Build
from recipe_compiler.verdict import Report, Verdict

array_stats = cast("Any", numbers_of)
HERE = Path(__file__).parent
ROOT = HERE.parents[1]
POSTERIORS = ROOT / "tests" / "posteriors"
sys.path[:0] = [str(ROOT / "tests" / "shared"), str(ROOT / "tests" / "precision"), str(HERE)]

from emitted_gradient import emitted  # noqa: E402 - stands beside the tests of what is emitted
from make_data import expand  # noqa: E402
from test_target_gradients import Energy, point  # noqa: E402

TEXTBOOK = (
    "linear", "robust", "logistic", "poisson", "negative_binomial", "beta_binomial", "ordered_logit", "softmax",
    "weibull", "schools_centred", "schools_noncentred", "varying_intercepts", "varying_slopes", "mixture", "ar2",
    "stochastic_volatility", "zero_inflated", "irt", "covariance",
)  # fmt: skip
FURTHER = ("counties", "garch")
"""Beside them: varying intercepts of many groups, a volatility that passes from row to row."""
PUBLISHED = ("diamonds", "nes", "mesquite", "sblrc", "earnings", "kidiq", "hmm", "gp", "rats")
"""Of posteriordb; those of tests/posteriors are there."""
ROWS = 12
"""Data that the gradient is looked at with: U is added up datum by datum at 50 digits."""
OF_SD = 1.5
"""The error of an sd by NUTS, relative, over that of its mean, in sds: by 69 coordinates of three models whose sds are
known exactly (1.5 % and 1.0 %). Its draws alternate, so that of their squares fewer count. Draws of posteriordb, which
has no R-hat beside them, are all but independent: 1/sqrt(2)."""
COORDINATES = 12
"""Entries of the gradient that are looked at."""


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


def reference_of(name: str) -> Mapping[str, Mapping[str, float]]:
    """Return the moments of a model by coordinate, counted from 0."""
    own = json.loads((HERE / "references.json").read_text(encoding="utf-8"))
    if name in own:
        return own[name]["moments"]
    published = json.loads((POSTERIORS / "references.json").read_text(encoding="utf-8")).get(name, {})
    return {_from_zero(label): moments for label, moments in published.items()}


def _from_zero(label: str) -> str:
    head, bracket, place = label.partition("[")
    return f"{head}[{int(place.rstrip(']')) - 1}]" if bracket else head


def processor_seconds() -> float:
    """Return what this process and its children have taken."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def open_claims(report: Report) -> str:
    """Return the claims that keep a build from being proved."""
    guilty = [f for f in report.findings if f.required and f.verdict is not Verdict.PROVED]
    return "; ".join(f"`{finding.id}` {finding.verdict.value}" for finding in guilty)


def gradient_error(path: Path) -> float | None:
    """Return the largest error of the emitted gradient, relative to its largest entry, at two points.

    None by the variables of blocks that lie in sets, which U at 50 digits knows nothing of, and of inverses with too
    many terms to be written out.
    """
    stated = cast("Build", rc.load(path).document)
    if constrained(stated.target):
        return None
    whole = load_data(stated.data, stated.target)
    data = Data(tuple(Field(f.name, np.ascontiguousarray(f.values[:ROWS]), f.columns) for f in whole.fields))
    try:
        energy = Energy(stated, data)
    except TooLargeError:
        return None
    counted = {datum.size for datum in stated.target.declarations.data}
    sizes = tuple((name, size) for name, size in energy.sizes.items() if name not in counted)
    build = trial(stated, len(energy.z), data.rows)  # a mass and a friction, which the gradient does not ask for
    build = replace(build, sizes=sizes)
    made = emitted(build)
    parameters = parameter_values(build, made.module.parameters, energy.sizes)
    plain = {name: float(value) if value.ndim == 0 else value for name, value in parameters.items()}
    known = plain | made.constants(list(plain.values()), energy.sizes) | {f.name: f.values for f in data.fields}
    rng = np.random.default_rng(3)
    return max(_error_at(point(build, rng, len(energy.z), scale), energy, made, known, data.rows) for scale in (0.3, 1))


def _error_at(z: np.ndarray, energy: Energy, made: Any, known: dict[str, Any], rows: int) -> float:
    found = made.gradients(known, z, rows)["gradient"]
    places = np.unique(np.linspace(0, len(z) - 1, min(len(z), COORDINATES)).astype(int))
    with mpmath.workdps(50):
        at = [mpmath.mpf(float(x)) for x in z]
        exact = [mpmath.diff(energy, at, tuple(int(i == k) for i in range(len(z)))) for k in places]
        errors = [float(abs(mpmath.mpf(float(found[k])) - one)) for k, one in zip(places, exact, strict=True)]
    return max(errors) / float(np.abs(found).max())


def draws_by_name(posterior: Any) -> Iterator[tuple[str, np.ndarray]]:
    """Yield each coordinate's draws (chain, draw)."""
    for name, values in posterior.data_vars.items():
        array = values.to_numpy()
        for at in np.ndindex(array.shape[2:]):
            yield f"{name}[{','.join(map(str, at))}]" if at else str(name), array[(..., *at)]


def departures(posterior: Any, reference: Mapping[str, Mapping[str, float]]) -> tuple[Error, Error, float]:
    """Return how far means and sds are from the reference at most, in Monte Carlo errors; and the least of the ess."""
    means, sds, least = [Error(0.0, 1.0, "")], [Error(0.0, 1.0, "")], np.inf
    for name, draws in draws_by_name(posterior):
        if name not in reference:
            continue
        known = reference[name]
        ess = float(array_stats.ess(draws))
        least = min(least, ess)
        noise = float(np.hypot(1 / np.sqrt(ess), known["mcse_mean"] / known["sd"]))
        means.append(Error(float((draws.mean() - known["mean"]) / known["sd"]), noise, name))
        squares = (draws - draws.mean()) ** 2
        of_sd = float(squares.std() / np.sqrt(float(array_stats.ess(squares))) / (2 * known["sd"] ** 2))
        of_known = (OF_SD if "r_hat" in known else 0.5**0.5) * known["mcse_mean"] / known["sd"]
        of_sd = float(np.hypot(of_sd, of_known))
        sds.append(Error(float(draws.std() / known["sd"] - 1), of_sd, name))
    return *(max(some, key=lambda one: abs(one.value) / one.known_within) for some in (means, sds)), least


def row(name: str, *, run: bool) -> list[str]:
    """Return what one model comes to."""
    path = build_of(name)
    cells = [name, "yes"]
    try:
        began = processor_seconds()
        report = rc.load(path).check(cache=False)
        decided = processor_seconds()
        cells += [report.verdict.value + (f": {why}" if (why := open_claims(report)) else ""), f"{decided - began:.1f}"]
        model = rc.compile(path, allow_undecided=True, cache=False)
        error = gradient_error(path)
        cells += [f"{processor_seconds() - decided:.1f}", "" if error is None else f"{error:.0e}"]
        if run:
            cells += _sampled(model, name)
    except (RecipeError, ValueError) as error:
        cells.append(f"{type(error).__name__}: {str(error).splitlines()[0][:300]}")
    return cells


def _sampled(model: rc.Model, name: str) -> list[str]:
    began = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit = model.sample(progress=False)
    means, sds, least = departures(fit["posterior"], reference_of(name))
    seconds = float(fit.attrs["sampling_seconds"])
    trust = str(fit.attrs["trust"]).removeprefix("trust: ").split(",")[0].split(":")[0]
    return [f"{time.perf_counter() - began:.0f}", f"{least / seconds:.0f}", str(means), str(sds), trust]


def main() -> None:
    """Print a row for each model."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join((*TEXTBOOK, *FURTHER, *PUBLISHED)))
    parser.add_argument("--no-run", action="store_true", help="decide, compile and compare gradients alone")
    given = parser.parse_args()
    headings = ("model", "stated", "verdict", "check s", "compile s", "gradient error")
    sampled = ("plan and run s", "ess/s", "mean off, sds", "sd off", "trust")
    print(" | ".join(headings + (() if given.no_run else sampled)))
    for name in given.names or (*TEXTBOOK, *FURTHER, *PUBLISHED):
        print(" | ".join(row(name, run=not given.no_run)), flush=True)


if __name__ == "__main__":
    main()

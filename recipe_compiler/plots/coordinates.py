"""Draws as pictures take them: one coordinate after another, with its numbers and its forecast."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from recipe_compiler.errors import RunError
from recipe_compiler.formula.arrays import Array
from recipe_compiler.run.posterior_numbers import (
    LEAST_DRAWS,
    coordinates,
    draws_in_time,
    posterior_numbers,
    stored_standing,
    varying,
)

if TYPE_CHECKING:
    from xarray import DataTree


@dataclass(frozen=True, slots=True, eq=False)
class PlottedCoordinate:
    """One coordinate of the posterior."""

    name: str
    """As the summary has it: `theta[2]`, `theta[age]`."""
    warmup: Array
    """Draws thrown away, `[chain, draw]`; not finite where a chain had ended."""
    draws: Array
    """Those kept, `[chain, draw]`."""
    sd: float
    error: float
    """Monte Carlo error of `sd`."""
    ess: float
    """The lesser of the effective sample sizes of bulk and tails."""
    r_hat: float

    in_time: NDArray[np.intp]
    """Places in `draws` at equal intervals of a chain's time: each once, unless the step size falls."""

    @property
    def whole(self) -> Array:
        """The draws that the numbers are over, `[chain, draw]`, at equal intervals of time."""
        return self.draws[:, self.in_time]

    @property
    def count(self) -> int:
        """How many draws these chains have."""
        return self.draws.size


def coordinates_of(tree: "DataTree") -> tuple[PlottedCoordinate, ...]:
    """Return the coordinates of the posterior that have a row in the summary of a run, in its order.

    Raises:
        RunError: no chain has finite draws to its end.
    """
    posterior, over = cast("Any", tree["posterior"]), stored_standing(tree)
    if not over.whole or over.length < LEAST_DRAWS:
        kind = f"a chain whose draws are finite to its end, and {LEAST_DRAWS} of them or more"
        raise RunError(f"found none to make a picture of, expected {kind}")
    chains = list(over.chains)
    warmup = {key: values[chains] for key, values in coordinates(tree, "warmup_posterior").items()}
    none, in_time = np.empty((len(chains), 0)), draws_in_time(tree, posterior.sizes["draw"])
    numbers = posterior_numbers(tree)
    moving = compress(coordinates(tree).items(), varying(tree))
    return tuple(
        PlottedCoordinate(
            row.name, warmup.get(key, none), draws, row.value("sd"), row.value("mcse_sd"), row.effective,
            row.value("r_hat"), in_time,
        )
        for (key, draws), row in zip(moving, numbers.rows, strict=True)
    )  # fmt: skip


def slowest(every: Sequence[PlottedCoordinate], most: int, heading: str) -> tuple[tuple[PlottedCoordinate, ...], str]:
    """Return those with the fewest effective draws, at most so many, in the order that they have, and a heading."""
    order = sorted(range(len(every)), key=lambda k: every[k].ess if np.isfinite(every[k].ess) else 0)[:most]
    if len(order) < len(every):
        heading += f" ({most} of {len(every)} coordinates: those with the fewest effective draws)"
    return tuple(every[k] for k in sorted(order)), heading


@dataclass(frozen=True, slots=True, eq=False)
class Ahead:
    """The forecast of one coordinate (`advise/forecast.py`)."""

    sd: float
    """The sd of the chain, by its step made linear at the mode."""
    sd_of_target: float
    """The sd of exp(-U), made Gaussian at the mode."""
    autocorrelation: Array
    """Between kept draws 0, 1, ... apart."""


def forecast_of(tree: "DataTree") -> Mapping[str, Ahead]:
    """Return the forecast of a run by coordinate; empty where there was none."""
    if "forecast" not in tree.children:
        return {}
    group = cast("Any", tree["forecast"]).to_dataset()
    rows = {name: group[name].to_numpy() for name in ("sd", "sd_of_target", "autocorrelation")}
    return {
        str(name): Ahead(float(rows["sd"][k]), float(rows["sd_of_target"][k]), rows["autocorrelation"][k])
        for k, name in enumerate(group["coordinate"].to_numpy())
    }

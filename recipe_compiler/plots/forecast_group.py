"""What the file of a run keeps of its forecast, by coordinate."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from recipe_compiler.plots.coordinates import Array

if TYPE_CHECKING:
    from xarray import DataTree


@dataclass(frozen=True, slots=True, eq=False)
class Ahead:
    """The forecast of one coordinate (`run/forecast.py`)."""

    sd: float
    """Of the chain, by its step made linear at the mode."""
    sd_of_target: float
    """Of exp(-U), made Gaussian at the mode."""
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

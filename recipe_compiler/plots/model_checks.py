"""What the model says of its draws and of its data: energies, data that it would give, and scores of a build."""

from typing import TYPE_CHECKING, Any, cast

import numpy as np

from recipe_compiler.formula.arrays import Array
from recipe_compiler.plots.panels import COLOURS, GREY, sheet
from recipe_compiler.run.posterior_numbers import SCORES, draws_in_time, final_scores, stored_standing

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from xarray import DataTree

BINS = 50
PREDICTED = 50
"""Draws of the data that are shown."""

MOST_DATA = 2000
"""Steps of a curve: of more data every so many."""


def energies(tree: "DataTree") -> "Figure | None":
    """Return the law of H - E H among draws, beside that of its change from one draw to the next (Betancourt 2016).

    Where the second is much the narrower, chains come to some energies seldom: bfmi, E[(dH)^2]/Var(H), is then small.
    None where H is not known.
    """
    stats = tree["sample_stats"] if "sample_stats" in tree.children else {}
    if "energy" not in stats:
        return None
    energy = cast("Any", stats["energy"]).transpose("chain", "draw").to_numpy()
    energy = energy[np.isfinite(energy).all(axis=1)]
    if energy.shape[0] == 0 or energy.shape[1] < BINS:
        return None
    away, changes = energy - energy.mean(), np.diff(energy, axis=1)
    bfmi = (changes**2).mean(axis=1) / energy.var(axis=1)
    page = sheet(f"Energies; bfmi {', '.join(f'{one:.2f}' for one in bfmi)}, chain by chain", 1, height=3.2)
    panel = page.panels[0]
    low, high = np.quantile(np.concatenate([away.ravel(), changes.ravel()]), [0.0005, 0.9995])
    edges = np.linspace(low, high, BINS + 1).tolist()
    for values, name, colour in (
        (away, "H - E H", COLOURS[0]),
        (changes, "H of a draw - H of the one before", COLOURS[1]),
    ):
        panel.hist(values.ravel(), edges, density=True, histtype="stepfilled", alpha=0.35, color=colour, label=name)
    panel.set_yticks([])
    panel.legend(fontsize=8, loc="best")
    return page.figure


def predictive(tree: "DataTree") -> "Figure | None":
    """Return what part of the data lies below each value: as observed, and as draws of the posterior have it.

    None where no data were drawn.
    """
    if not {"posterior_predictive", "observed_data"} <= set(tree.children):
        return None
    drawn, seen = cast("Any", tree["posterior_predictive"]), cast("Any", tree["observed_data"])
    names = [str(name) for name in drawn.data_vars if name in seen.data_vars]
    in_time = draws_in_time(tree, drawn.sizes["draw"])
    if not names or not stored_standing(tree).whole:
        return None
    page = sheet(
        f"Data as observed (black) and as {PREDICTED} draws of the posterior give them", len(names), height=3.2
    )
    for panel, name in zip(page.panels, names, strict=True):
        values = drawn[name].transpose("chain", "draw", ...).to_numpy()[:, in_time]
        every = values.reshape(-1, *values.shape[2:])
        for one in every[:: max(1, len(every) // PREDICTED)][:PREDICTED]:
            _below(panel, one, COLOURS[0], 0.4)
        _below(panel, seen[name].to_numpy(), "black", 1.6)
        panel.set_title(name, fontsize=9)
        panel.grid(linewidth=0.3, color=GREY, alpha=0.4)
        panel.set_ylim(0.0, 1.0)
    return page.figure


def scores(tree: "DataTree") -> "Figure | None":
    """Return every score of growing parts of the draws, with its errors, against the gradients that these took.

    Against steps where steps take no gradient. None where the build has no scores.
    """
    if SCORES not in tree.children:
        return None
    group = cast("Any", tree[SCORES])
    names = final_scores(tree)
    against = "gradients" if group["gradients"].to_numpy().any() else "steps"
    at = group[against].to_numpy()
    page = sheet(f"Scores of the draws so far, against {against} of a chain, warmup included", len(names), height=3.2)
    for panel, (name, last) in zip(page.panels, names.items(), strict=True):
        value, error = (group[own].to_numpy() for own in (name, f"{name}_error"))
        panel.errorbar(at, value, np.nan_to_num(error), color=COLOURS[0], linewidth=1.2, capsize=2)
        if last.get("floor", 0.0) > 0.0:
            panel.axhline(last["floor"], color=GREY, linestyle="--", linewidth=0.8, label="floor of all draws")
            panel.legend(fontsize=8)
            panel.set_yscale("log")
        panel.set_title(name, fontsize=9)
    return page.figure


def _below(panel: "Axes", values: Array, colour: str, width: float) -> None:
    """Draw the empirical distribution function of numbers."""
    ordered = np.sort(np.asarray(values, dtype=np.float64).ravel())
    share = np.arange(1, ordered.size + 1) / ordered.size
    step = max(1, ordered.size // MOST_DATA)
    panel.step(
        ordered[::step], share[::step], where="post", color=colour, linewidth=width, alpha=min(1.0, 0.4 + width / 2)
    )

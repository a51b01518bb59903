"""All pictures of a run, to look at and to write."""

import base64
import io
from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from recipe_compiler.errors import RunError, shown
from recipe_compiler.plots.chains import autocorrelations, ranks, traces
from recipe_compiler.plots.model_checks import energies, predictive, scores
from recipe_compiler.plots.panels import demand_matplotlib
from recipe_compiler.plots.posterior import forest, pairs, sds
from recipe_compiler.run.atomic_write import written_whole

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from xarray import DataTree

KINDS = {
    "traces": traces,
    "ranks": ranks,
    "forest": forest,
    "pairs": pairs,
    "autocorrelations": autocorrelations,
    "sds": sds,
    "energies": energies,
    "predictive": predictive,
    "scores": scores,
}
"""Picture to what draws it of a run; None of what draws one: there is nothing to show."""

DPI = 110


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Pictures:
    """Pictures of a run, which show themselves in a notebook.

    Attributes:
    ----------
    figures : mapping of str to matplotlib.figure.Figure
        To be changed, or written in another way.
    """

    figures: "Mapping[str, Figure]"

    def write(self, folder: str | PathLike[str]) -> tuple[Path, ...]:
        """Write each as FOLDER/NAME.png, whole or not at all, and return where they are.

        Raises OSError where that cannot be done.
        """
        place, paths = Path(folder), list[Path]()
        place.mkdir(parents=True, exist_ok=True)
        for name, figure in self.figures.items():
            path = place / f"{name}.png"
            with written_whole(path) as beside:
                figure.savefig(beside, format="png", dpi=DPI)
            paths.append(path)
        return tuple(paths)

    def _repr_html_(self) -> str:
        return "".join(f'<p><img alt="{name}" src="{_inline(figure)}"/></p>' for name, figure in self.figures.items())

    def __repr__(self) -> str:
        return f"<Pictures {', '.join(self.figures)}>"


def pictures_of(tree: "DataTree", *kinds: str) -> Pictures:
    """Return pictures of a run, all of them where none is named.

    Raises:
        RunError: one that there is not; draws that no picture can be made of; matplotlib is not installed.
    """
    demand_matplotlib()
    if unknown := [shown(kind) for kind in kinds if kind not in KINDS]:
        raise RunError(f"pictures: found {', '.join(unknown)}, expected some of {', '.join(KINDS)}")
    made = {kind: figure for kind in kinds or KINDS if (figure := KINDS[kind](tree)) is not None}
    for figure in made.values() if tree.attrs.get("refuted") else ():
        figure.text(0.01, 0.99, "refuted: a negative control", color="red", va="top")
    return Pictures(made)


def _inline(figure: "Figure") -> str:
    out = io.BytesIO()
    figure.savefig(out, format="png", dpi=DPI)
    return f"data:image/png;base64,{base64.b64encode(out.getvalue()).decode()}"
